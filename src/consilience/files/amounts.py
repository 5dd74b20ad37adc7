"""Convert columns of prices, percentages and numbers with separators, as spreadsheets write them, to numbers."""

from __future__ import annotations

import re
import unicodedata
from typing import NamedTuple

import numpy as np

from .formats.columns import is_number
from .readings import MIN_SHARE, AmbiguousColumnError, ColumnReading, Conversion, check_unread, list_texts

CODE = r"AUD|BRL|CAD|CHF|CNY|CZK|DKK|EUR|GBP|HKD|INR|JPY|KRW|MXN|NOK|NZD|PLN|SEK|SGD|TRY|USD|ZAR"
SIGNS = "".join(chr(code) for code in range(0x10000) if unicodedata.category(chr(code)) == "Sc")
UNIT = rf"[A-Z]{{1,2}}\$|[{re.escape(SIGNS)}]|%|{CODE}"  # US$, €, %, CHF
CELL = re.compile(
    rf"(?P<open>\()?\s*(?P<sign>[-+\u2212])?\s*(?P<before>{UNIT})?\s*(?P<second>[-+\u2212])?\s*"
    rf"(?P<digits>[\d.,'\u2019\s]*\d[.,]?)\s*(?P<after>{UNIT})?\s*(?P<close>\))?",
    re.IGNORECASE,
)
LOOKS_PRICED = re.compile(rf"(?=.*\d)(?=.*(?:[{re.escape(SIGNS)}]|\b(?:{CODE})\b)).{{1,20}}", re.IGNORECASE)
THOUSANDS = r"\s'\u2019"  # blanks and apostrophes separate thousands with either decimal mark
PATTERNS = {  # decimal mark -> pattern of numbers
    ".": re.compile(rf"(\d+|[1-9]\d{{0,2}}([,{THOUSANDS}]\d{{3}})+)?(\.\d*)?"),
    ",": re.compile(rf"(\d+|[1-9]\d{{0,2}}([.{THOUSANDS}]\d{{3}})+)?(,\d*)?"),
}
COMMA_THOUSANDS = {"$", "£", "¥", "₹", "USD", "GBP", "JPY", "CNY", "INR", "AUD", "CAD", "HKD", "NZD", "SGD", "MXN"}
COMMA_THOUSANDS |= {"US$", "A$", "AU$", "C$", "CA$", "HK$", "NZ$", "S$"}
MAX_LENGTH = 40  # characters of an amount; matching long texts would be slow


class AmountCell(NamedTuple):
    """A cell that may hold an amount."""

    row: int
    text: str
    negative: bool
    unit: str  # a currency, '%', or '' if there is none
    digits: str  # with separators


def convert_amounts(
    column: str, values: np.ndarray, reading: ColumnReading | None = None, lenient: bool = False
) -> Conversion | None:
    """Convert a column such as ``$1,299.00``, ``12,50 €`` or ``7%`` to numbers, with NaN where cells are empty.

    Return None if the column holds something else, or plain numbers. With `reading` the cells are read as it says. A
    column that can be read in two ways is an error, so that the user decides.
    """
    texts = list_texts(values)
    cells = [cell for row, text in texts.items() if (cell := _split(row, text)) is not None]
    if reading is None:
        if all(not cell.unit and is_number(cell.text) for cell in cells) and not _looks_priced(texts):
            return None
        others = set(texts) - {cell.row for cell in cells}
        if len(others) > (1 - MIN_SHARE) * len(texts):
            if not _looks_priced(texts):
                return None
            raise ValueError(
                f"column {column!r} looks like prices, but {texts[min(others)].strip()[:40]!r} cannot be read as a "
                "number: write plain numbers, or declare them as names (--kind)"
            )
        check_unread(column, "amounts", texts, sorted(others), lenient)
    units = {cell.unit for cell in cells} | ({reading.unit} if reading is not None else set())
    if len(units - {""}) > 1 or units == {"", "%"}:
        names = [repr(unit) if unit else "no unit" for unit in sorted(units, reverse=True)]
        problem = f"mixes {' and '.join(names[:2])}"
        if reading is not None:
            other = next(name for name in names if name.strip("'") != reading.unit)
            problem = f"had {reading.unit!r} as its unit in the fit, and now has {other}"
        raise ValueError(
            f"column {column!r} {problem}: convert its numbers to one unit, or declare them as names (--kind)"
        )
    if reading is None:
        unit = max(units)
        reading = ColumnReading("amount", find_decimal_mark(column, cells, unit, lenient), unit, lenient)
    cells = [cell for cell in cells if PATTERNS[reading.form].fullmatch(cell.digits)]
    unread = sorted(set(texts) - {cell.row for cell in cells})
    check_unread(column, "amounts", texts, unread, reading.lenient)
    numbers = np.full(len(values), np.nan)
    for cell in cells:
        numbers[cell.row] = (-1 if cell.negative else 1) * to_number(cell.digits, reading.form)
    if not cells:
        return Conversion(numbers, "", reading, unread)
    example = max(cells, key=lambda cell: sum(not letter.isdigit() for letter in cell.digits))
    return Conversion(numbers, f"{example.text.strip()!r} read as {numbers[example.row]:.15g}", reading, unread)


def _split(row: int, text: str) -> AmountCell | None:
    """Split a cell into sign, unit and digits; None if it is not an amount."""
    match = CELL.fullmatch(text.strip()) if len(text) <= MAX_LENGTH else None
    if match is None or bool(match["open"]) != bool(match["close"]) or (match["before"] and match["after"]):
        return None
    if not any(pattern.fullmatch(match["digits"]) for pattern in PATTERNS.values()):
        return None
    signs = [match["sign"], match["second"]]
    if (match["before"] == "%") or all(signs) or (match["open"] and any(signs)):
        return None
    negative = bool(match["open"]) or any(sign in ("-", "\u2212") for sign in signs)
    return AmountCell(row, text, negative, (match["before"] or match["after"] or "").upper(), match["digits"])


def _looks_priced(texts: dict[int, str]) -> bool:
    """Whether most cells hold digits and a currency, in any format."""
    n_priced = sum(bool(LOOKS_PRICED.fullmatch(text.strip())) for text in texts.values())
    return n_priced > 0 and n_priced >= MIN_SHARE * len(texts)


def find_decimal_mark(column: str, cells: list[AmountCell], unit: str, lenient: bool, kind: str = "amount") -> str:
    """Return the decimal mark with which all cells can be read; if both marks work, the numbers must be the same."""
    marks = [mark for mark, pattern in PATTERNS.items() if all(pattern.fullmatch(cell.digits) for cell in cells)]
    if not marks:
        raise ValueError(
            f"column {column!r} marks decimals by ',' in some cells and by '.' in others: write its numbers with a "
            "decimal point and without thousands separators"
        )
    ambiguous = [cell for cell in cells if len({to_number(cell.digits, mark) for mark in marks}) > 1]
    if not ambiguous:
        return marks[0]
    has_commas_only = all("." not in cell.digits for cell in ambiguous)
    if unit in COMMA_THOUSANDS and has_commas_only:
        return "."
    first, second = (to_number(ambiguous[0].digits, mark) for mark in marks)
    raise AmbiguousColumnError(
        f"column {column!r}: {ambiguous[0].text.strip()!r} in row {ambiguous[0].row + 1} may be {first:.15g} or "
        f"{second:.15g}: write its numbers with a decimal point and without thousands separators",
        [ColumnReading(kind, mark, unit, lenient) for mark in marks],
        ColumnReading(kind, ".", unit, lenient) if has_commas_only else None,
    )


def matches_mark(digits: str, decimal_mark: str) -> bool:
    """Whether digits with separators are a number with this decimal mark."""
    return PATTERNS[decimal_mark].fullmatch(digits) is not None


def to_number(digits: str, decimal_mark: str) -> float:
    """Read digits with separators by their decimal mark."""
    plain = re.sub(rf"[^\d{re.escape(decimal_mark)}]", "", digits)
    return float(plain.replace(decimal_mark, "."))
