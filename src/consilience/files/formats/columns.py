"""Cells and columns: numbers, texts, vectors and bags of terms."""

from __future__ import annotations

import json
import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from .base import FileTable, InputFile

DASHES = frozenset({"-", "--", "\u2013", "\u2014"})
MISSING = frozenset({"", "na", "n/a", "#n/a", "<na>", "nan", "null", "none", "?", "."}) | DASHES
NO_VALUE = MISSING - {"none"}  # which may be a category, as of a therapy
INVISIBLE = dict.fromkeys(map(ord, "\u00ad\u200b\u2060\ufeff"))  # not the joiners of Persian letters and of emoji
PLAIN_CHARACTERS = INVISIBLE | dict.fromkeys(map(ord, "\u00a0\u2007\u202f"), " ")  # blanks that do not break lines
NUMBER_TYPES = {bool, int, float}
LOSES_DIGITS = re.compile(r"^[ \t]*(?:0\d+|[-+]?\d{16,})[ \t]*$", re.MULTILINE)
CODE_WITH_E = re.compile(r"^[ \t]*\d+[eE]\d+[ \t]*$", re.MULTILINE)  # programs write a number as 2e+03
SODIUM = "Na"
LETTER_CODE = re.compile("[A-Z]{2}")
MAX_DIGITS = 15  # that a floating-point number keeps
MIN_CODES = 0.1  # share of the cells of a column, below which they are odd cells among numbers
FRACTION = re.compile(r"[.+-]")
WHOLE = re.compile(r"(-?)0*(\d+)(?:\.0*)?")


def is_missing(text: str) -> bool:
    """Whether a cell among numbers says that there is none."""
    return text.strip().lower() in MISSING


def is_number(text: str) -> bool:
    """Whether a cell is a number as people write it; Python would also accept 1_2."""
    try:
        float(text)
    except ValueError:
        return False
    return "_" not in text


def strip_invisible(text: str) -> str:
    """Remove what readers cannot see: blanks at the ends, special blanks, zero-width characters, split accents.

    Examples
    --------
    >>> strip_invisible("re\u0301d\u00a0wine ") == "r\u00e9d wine"
    True
    """
    if not text.isascii():
        text = unicodedata.normalize("NFC", text).translate(PLAIN_CHARACTERS)
    return text.strip()


def clean_table(table: FileTable, values_of_model: Mapping[str, Collection[str]] | None = None) -> FileTable:
    """Clean the texts of a table, and empty the cells whose word stands for a missing value, such as NA.

    The other cells of a column decide whether such a word is a value. In the columns of a model those of its fit have
    decided that: `values_of_model` are the words that are values, by column.
    """
    decided = values_of_model or {}
    columns, emptied = dict(table.columns), {}
    for name, values in table.columns.items():
        if values.dtype != object:
            continue
        cells = [strip_invisible(cell) or None if isinstance(cell, str) else cell for cell in values]
        words = _count_no_values(cells, decided.get(name))
        if words:
            cells = [None if isinstance(cell, str) and cell in words else cell for cell in cells]
            emptied[name] = dict(words)
        columns[name] = to_objects(cells)
    return replace(table, columns=columns, emptied=emptied)


def list_value_words(values: np.ndarray) -> tuple[str, ...]:
    """List the words in a cleaned column that stand for a missing value elsewhere, such as NA for Namibia."""
    cells = values.tolist() if values.dtype == object else []
    return tuple(sorted({cell for cell in cells if isinstance(cell, str) and cell.lower() in NO_VALUE}))


def _count_no_values(cells: list[Any], values_of_model: Collection[str] | None) -> Counter[str]:
    """Count the words in a column that stand for a missing value, unless they are values in the model or among others.

    `values_of_model` is None for a column that no model has.
    """
    words = Counter(cell for cell in cells if isinstance(cell, str) and cell.lower() in NO_VALUE and cell != SODIUM)
    if values_of_model is not None:
        return Counter({word: times for word, times in words.items() if word not in values_of_model})
    others = {cell for cell in cells if isinstance(cell, str) and cell not in words}
    if "+" in others:  # as - is beside it
        words = Counter({word: times for word, times in words.items() if word not in DASHES})
    # NA is North America or Namibia among codes of two letters, and a name among names that are all different.
    if len(others) > 1 and all(LETTER_CODE.fullmatch(cell) for cell in others):
        del words["NA"]
    are_names = words.total() == 1 and None not in cells and len(set(map(str, cells))) == len(cells)
    return Counter() if are_names else words


def has_codes(cells: Iterable[str]) -> bool:
    """Whether a cell would be another text as a number: it starts with 0, has more than 15 digits, or is like 2e3."""
    lines = "\n".join(cells)
    if LOSES_DIGITS.search(lines):
        return True
    return CODE_WITH_E.search(lines) is not None and not FRACTION.search(lines)


def are_codes(values: np.ndarray) -> bool:
    """Whether the texts of whole numbers in a column are codes, such as 00012 or 2e3, and not a few odd cells.

    Codes have no sign and no fraction. Codes that start with 0 have the same length or are frequent. Numbers of two
    digits, such as 05 minutes, are none.
    """
    cells = [cell for cell in values if cell is not None and not is_missing(cell)]
    if not cells or any(FRACTION.search(cell) for cell in cells):
        return False
    n_zero = sum(cell[0] == "0" and len(cell) > 2 for cell in cells)
    n_same_length = max(Counter(map(len, cells)).values())
    n_lossy = sum(len(cell) > MAX_DIGITS or CODE_WITH_E.fullmatch(cell) is not None for cell in cells)
    has_zeros = n_zero > 0 and (n_zero >= MIN_CODES * len(cells) or n_same_length >= (1 - MIN_CODES) * len(cells))
    return has_zeros or n_lossy >= MIN_CODES * len(cells)


def drop_zeros(text: str) -> str:
    """Drop the zeros around a whole number, which programs add and remove, and return other texts as they are.

    Examples
    --------
    >>> [drop_zeros(text) for text in ("007", "7.0", "A07", "10")]
    ['7', '7', 'A07', '10']
    """
    return match[1] + match[2] if (match := WHOLE.fullmatch(text)) else text


def format_cell(value: Any) -> str:
    """Format a value as a table would: 1.0 becomes 1, and no digit is lost."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() else repr(value)
    return str(value)


def to_column(values: list[Any], as_text: bool) -> np.ndarray:
    """Build a column from values as JSON has them: numbers, vectors, bags of terms, or texts.

    Blank strings are missing values, and so are strings such as "NA" among values of another type.

    Parameters
    ----------
    values : list
        The values of the column; None for missing ones.
    as_text : bool
        Whether numbers remain texts, such as in a column of ids.

    Returns
    -------
    ndarray of shape (n_rows,), or of shape (n_rows, n_numbers) for vectors
        Numbers are floats, with NaN for missing values; texts and bags are objects, with None for missing values.

    Examples
    --------
    >>> from consilience.files import to_column
    >>> to_column([1, None, 2.5], as_text=False).tolist()
    [1.0, nan, 2.5]
    >>> to_column([["red", "blue", "red"], []], as_text=False).tolist()
    [{'red': 2.0, 'blue': 1.0}, {}]
    """
    values = [None if isinstance(value, str) and not value.strip() else value for value in values]
    types = {type(value) for value in values} - {type(None)}
    if as_text or types <= {str}:
        return to_objects([None if value is None else _to_text(value) for value in values])
    if all(is_missing(value) for value in values if isinstance(value, str)):
        values = [None if isinstance(value, str) else value for value in values]
        types -= {str}
    if types <= NUMBER_TYPES:
        return np.array([_to_float(value) for value in values])
    if types == {list}:
        elements = {type(element) for value in values if value for element in value}
        lengths = {len(value) for value in values if value}
        if elements <= {*NUMBER_TYPES, type(None)} and len(lengths) == 1:  # lists of several lengths are bags of codes
            empty = [None] * lengths.pop()
            return np.array([[_to_float(element) for element in (value or empty)] for value in values])
    counts = (count for value in values if type(value) is dict for count in value.values())
    are_bags = types <= {list, dict} and {type(count) for count in counts} <= NUMBER_TYPES
    convert = _to_bag if are_bags else _to_text
    return to_objects([None if value is None else convert(value) for value in values])


def to_objects(values: list[Any]) -> np.ndarray:
    """Convert a list to an array of objects, whatever its elements are."""
    column = np.empty(len(values), dtype=object)
    column[:] = values
    return column


def check_unique_columns(path: InputFile, names: Iterable[str]) -> None:
    """Refuse a table that has two columns of the same name."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise ValueError(f"{path} has two columns called {name!r}: rename one")
        seen.add(name)


def _to_float(value: Any) -> float:
    try:
        return np.nan if value is None else float(value)
    except OverflowError:
        return np.inf if value > 0 else -np.inf


def _to_text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False) if type(value) in (list, dict, bool) else format_cell(value)


def _to_bag(value: Any) -> dict[str, float]:
    counts = value.items() if isinstance(value, dict) else ((term, 1.0) for term in map(_to_text, value))
    bag: dict[str, float] = {}
    for term, count in counts:
        term = strip_invisible(str(term))
        bag[term] = bag.get(term, 0.0) + _to_float(count)
    return bag
