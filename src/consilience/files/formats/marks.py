"""Numbers as people write them, and the decimal mark that the cells of a table show."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from .base import FileTable, WrittenNumbers
from .columns import has_codes, is_missing, is_number, to_objects

CODE = r"AUD|BRL|CAD|CHF|CNY|CZK|DKK|EUR|GBP|HKD|INR|JPY|KRW|MXN|NOK|NZD|PLN|SEK|SGD|TRY|USD|ZAR|zł|Kč|S?Fr\.?|Rs\.?"
SIGNS = "".join(chr(code) for code in range(0x10000) if unicodedata.category(chr(code)) == "Sc")
UNIT = rf"[A-Z]{{1,2}}\$|[{re.escape(SIGNS)}]|%|{CODE}"  # US$, €, %, CHF
SCALES = {"k": 1e3, "m": 1e6, "mio": 1e6, "mn": 1e6, "b": 1e9, "bn": 1e9, "mrd": 1e9}  # of amounts with a unit
NO_CENTS = r"(?:/-|(?<=[.,])[-\u2013\u2014]{1,2})?"  # as in 12,- and 500/-
# Nothing but one number with one sign, bound or unit: other words, two numbers and dates are no amounts.
CELL = re.compile(
    rf"(?:[<>≤≥~≈]\s*)?(?P<open>\()?\s*(?P<sign>[-+\u2212])?\s*(?P<before>{UNIT})?\s*(?P<second>[-+\u2212])?\s*"
    rf"(?P<digits>[\d.,'\u2019\s]*\d[.,]?){NO_CENTS}(?P<last>[-\u2212])?\s*(?P<scale>{'|'.join(SCALES)})?\s*"
    rf"(?P<after>{UNIT})?\s*(?P<close>\))?",
    re.IGNORECASE,
)
THOUSANDS = r"\s'\u2019"  # blanks and apostrophes separate thousands with either decimal mark
LAKHS = r"|[1-9]\d?(,\d\d)+,\d{3}"  # as in India
PATTERNS = {  # decimal mark -> pattern of numbers
    ".": re.compile(rf"(\d+|[1-9]\d{{0,2}}([,{THOUSANDS}]\d{{3}})+{LAKHS})?(\.\d*)?"),
    ",": re.compile(rf"(\d+|[1-9]\d{{0,2}}([.{THOUSANDS}]\d{{3}})+)?(,\d*)?"),
}
MEASURED = re.compile(r"(\d[\d.,]*)\s*[^\W\d_]{1,12}\.?[²³]?")  # 1,5 kg
SHOWS_MARK = re.compile(r"[.,]\d")
MAX_LENGTH = 40  # characters of an amount; matching long texts would be slow
AMOUNT_SHARE = 0.9  # of the cells of a column that are amounts, from which they show a decimal mark
SAMPLED = 200  # cells of a column that are looked at first
GROUP = r"[1-9]\d{0,2}\.\d{3}"  # the point of such a number may separate thousands
HAS_GROUP = re.compile(rf"^[ \t]*([-+]?{GROUP})[ \t]*$", re.MULTILINE)
HAS_POINT = re.compile(rf"^(?![ \t]*[-+]?{GROUP}[ \t]*$)[ \t]*(.*\.\d.*?)[ \t]*$", re.MULTILINE)


class AmountCell(NamedTuple):
    """A cell that may hold an amount."""

    row: int
    text: str
    negative: bool
    unit: str  # a currency, '%', or '' if there is none
    digits: str  # with separators
    scale: float = 1.0  # 1e6 in $1.2M

    @property
    def marks(self) -> list[str]:
        """Decimal marks with which the cell can be read."""
        return [mark for mark, pattern in PATTERNS.items() if pattern.fullmatch(self.digits)]


def split_amount(row: int, text: str) -> AmountCell | None:
    """Split a cell into sign, unit and digits; None if it is not an amount."""
    match = CELL.fullmatch(text.strip()) if len(text) <= MAX_LENGTH else None
    if match is None or bool(match["open"]) != bool(match["close"]) or (match["before"] and match["after"]):
        return None
    signs = [sign for sign in (match["sign"], match["second"], match["last"], match["open"]) if sign]
    # A minus at the end is that of accountants (12,50-); 2- without a fraction is a grade, or begins a range.
    is_grade = bool(match["last"]) and not SHOWS_MARK.search(match["digits"])
    if match["before"] == "%" or len(signs) > 1 or is_grade:
        return None
    negative = any(sign in ("-", "\u2212", "(") for sign in signs)
    unit = (match["before"] or match["after"] or "").upper()
    if match["scale"] and unit in ("", "%"):
        return None
    scale = SCALES[match["scale"].lower()] if match["scale"] else 1.0
    cell = AmountCell(row, text, negative, unit, match["digits"], scale)
    return cell if cell.marks else None


def _split_number(text: str) -> AmountCell | None:
    """Split an amount, or a number with a unit of measurement, both of which show a decimal mark."""
    match = MEASURED.fullmatch(text) if len(text) <= MAX_LENGTH else None
    if match is None:
        return split_amount(0, text)
    cell = AmountCell(0, text, False, text[match.end(1) :].strip(), match[1])
    return cell if cell.marks else None


def to_number(digits: str, decimal_mark: str) -> float:
    """Convert digits with separators to a number."""
    plain = re.sub(rf"[^\d{re.escape(decimal_mark)}]", "", digits)
    return float(plain.replace(decimal_mark, "."))


def parse_cells(cells: Sequence[str]) -> np.ndarray | None:
    """Parse numbers, with NaN for empty cells; return None if a cell holds something else."""
    try:
        return None if "_" in "".join(cells) else np.array(cells, dtype=np.float64)
    except ValueError:
        pass
    if all(is_missing(cell) or is_number(cell) for cell in cells):
        return np.array([np.nan if is_missing(cell) else float(cell) for cell in cells])
    return None


def parse_column(cells: tuple[str, ...], as_text: bool) -> np.ndarray:
    """Return a column of numbers if all cells are, unless it is to be read as text."""
    numbers = None if as_text else parse_cells(cells)
    return to_objects([cell if cell.strip() else None for cell in cells]) if numbers is None else numbers


def join_groups(cells: Iterable[str]) -> list[str]:
    """Leave out the points of numbers in which they separate thousands."""
    return [cell.replace(".", "") for cell in cells]


@dataclass(eq=False)
class MarkEvidence:
    """What the cells of a table say about its decimal mark.

    Each entry is the column and the text of the first cell that can be read with one mark only. Cells with a unit count
    only if no others show a mark (`plain or priced`): a program may write prices as people read them, and other numbers
    with points.
    """

    plain: dict[str, tuple[str, str]] = field(default_factory=dict)  # by decimal mark
    priced: dict[str, tuple[str, str]] = field(default_factory=dict)  # of cells with a currency or '%'
    grouped: dict[str, str] = field(default_factory=dict)  # column -> a number whose point may separate thousands
    comma_columns: set[str] = field(default_factory=set)  # with cells without a unit that show a decimal comma
    _decided: set[str] = field(default_factory=set)  # columns whose points are decimal marks

    def add_numbers(self, column: str, cells: Sequence[str]) -> None:
        """Take account of cells that are all numbers with points, or empty."""
        if column in self._decided or "." not in (text := "\n".join(cells)):
            return
        if point := HAS_POINT.search(text):
            self.plain.setdefault(".", (column, point[1]))
            self.grouped.pop(column, None)
            self._decided.add(column)
        elif group := HAS_GROUP.search(text):
            self.grouped.setdefault(column, group[1])

    def add_texts(self, column: str, values: np.ndarray) -> None:
        """Take account of a column of texts, if nearly all of them are amounts."""
        sample = [cell for cell in values[:: max(1, len(values) // SAMPLED)] if type(cell) is str]
        sample = [cell for cell in sample if not is_missing(cell)]
        if sum(_split_number(cell) is not None for cell in sample) < len(sample) / 2:
            return  # which saves the time to look at all of them
        cells = values.tolist()
        if {type(cell) for cell in cells} - {str, type(None)} or not SHOWS_MARK.search("\n".join(filter(None, cells))):
            return
        counts = Counter(cell for cell in cells if cell is not None and not is_missing(cell))
        n_others, max_others, amounts = 0, (1 - AMOUNT_SHARE) * counts.total(), []
        for text, times in counts.items():
            cell = _split_number(text)
            n_others += times * (cell is None)
            if n_others > max_others:
                return
            if cell is not None and SHOWS_MARK.search(cell.digits) and len(cell.marks) == 1:
                amounts.append(cell)
        for cell in amounts:
            (self.priced if cell.unit else self.plain).setdefault(cell.marks[0], (column, cell.text.strip()))
            if cell.marks == [","] and not cell.unit:
                self.comma_columns.add(column)

    def conclude(self, columns: Collection[str], *, suggests_comma: bool) -> WrittenNumbers:
        """Return what is known of the columns of numbers; `suggests_comma` if the delimiter is a semicolon."""
        shown = self.plain or self.priced
        # A column such as 3,4 may hold pairs of whole numbers: alone it does not outweigh numbers with points.
        if len(shown) > 1 and not suggests_comma and len(self.comma_columns) == 1:
            shown = {".": shown["."]}
        mark = next(iter(shown)) if len(shown) == 1 else "?" if shown or suggests_comma else ""
        grouped = dict(self.grouped) if mark in (",", "?") else {}
        return WrittenNumbers(frozenset(columns), mark, shown.get(mark, ("", "")), grouped)


def interpret_marks(
    columns: Mapping[str, np.ndarray], cells: Mapping[str, Iterable[Any]], as_text: frozenset[str]
) -> tuple[dict[str, np.ndarray], WrittenNumbers]:
    """Return columns as numbers with the decimal mark that their texts show; `cells` are what they were made of.

    Numbers that were numbers, not texts, stay as they are.
    """
    evidence = MarkEvidence()
    texts: dict[str, list[str]] = {}  # of columns of numbers, '' in place of cells that are no texts
    for name, values in columns.items():
        if values.dtype != object:
            texts[name] = [cell if type(cell) in (str, np.str_) else "" for cell in cells.get(name, ())]
            evidence.add_numbers(name, texts[name])
        elif name not in as_text:
            evidence.add_texts(name, values)
    written = evidence.conclude([name for name in texts if any(texts[name])], suggests_comma=False)
    interpreted = dict(columns)
    if written.mark == ",":
        for name in written.grouped:
            joined = [float(cell) if is_number(cell) else np.nan for cell in join_groups(texts[name])]
            interpreted[name] = np.where(np.isnan(joined), columns[name], joined)
    return interpreted, written


def interpret_texts(columns: Mapping[str, np.ndarray], as_text: frozenset[str]) -> FileTable:
    """Build a table in which columns of texts are read as in a CSV file: numbers if all cells are, with their mark."""
    texts = {
        name: ["" if cell is None else cell for cell in values]
        for name, values in columns.items()
        if name not in as_text and values.dtype == object and {type(cell) for cell in values} - {type(None)} == {str}
    }
    numbers = {name: parsed for name, cells in texts.items() if (parsed := parse_cells(cells)) is not None}
    codes = frozenset(name for name in numbers if has_codes(texts[name]))
    interpreted, written = interpret_marks({**columns, **numbers}, {name: texts[name] for name in numbers}, as_text)
    return FileTable(interpreted, codes=codes, written=written)
