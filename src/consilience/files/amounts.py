"""Convert columns of prices, percentages and numbers with separators, as spreadsheets write them, to numbers."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np

from .formats.columns import is_number
from .formats.marks import CODE, PATTERNS, SAMPLED, SIGNS, AmountCell, split_amount, to_number
from .readings import MIN_SHARE, AmbiguousColumnError, ColumnReading, Conversion, check_unread, list_texts

LOOKS_PRICED = re.compile(rf"(?=.*\d)(?=.*(?:[{re.escape(SIGNS)}]|\b(?:{CODE})\b)).{{1,20}}", re.IGNORECASE)
BOUNDS = set("<>≤≥~≈")
COMMA_THOUSANDS = {"$", "£", "¥", "₹", "USD", "GBP", "JPY", "CNY", "INR", "AUD", "CAD", "HKD", "NZD", "SGD", "MXN"}
COMMA_THOUSANDS |= {"mi", "mile", "miles", "ft", "lb", "lbs", "oz", "gal", "mph"}  # where decimals have points
COMMA_THOUSANDS |= {"RS", "RS.", "US$", "A$", "AU$", "C$", "CA$", "HK$", "NZ$", "S$"}


def convert_amounts(
    column: str, values: np.ndarray, reading: ColumnReading | None = None, lenient: bool = False, mark: str = ""
) -> Conversion | None:
    """Convert a column such as ``$1,299.00``, ``12,50 €`` or ``7%`` to numbers, with NaN where cells are empty.

    Return None if the column holds something else, or plain numbers. With `reading` the cells are read as it says. A
    column that can be read in two ways is an error, so that the user decides. `mark` is the decimal mark that the whole
    table shows, as in `WrittenNumbers`; it matters for plain numbers, which are amounts if it may be a comma.
    """
    texts = list_texts(values)
    sample = list(texts.values())[:: max(1, len(texts) // SAMPLED)]  # which saves the time to look at all cells
    n_likely = sum(split_amount(0, text) is not None or bool(LOOKS_PRICED.fullmatch(text.strip())) for text in sample)
    if reading is None and 2 * n_likely < len(sample):
        return None
    cells = [cell for row, text in texts.items() if (cell := split_amount(row, text)) is not None]
    if reading is None:
        is_plain = all(not cell.unit and is_number(cell.text) for cell in cells)
        if is_plain and not _may_have_commas(cells, mark) and not _looks_priced(texts):
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
        mark = find_decimal_mark(column, cells, ColumnReading("amount", unit=unit, lenient=lenient), mark)
        reading = ColumnReading("amount", mark, unit, lenient)
    cells = [cell for cell in cells if PATTERNS[reading.form].fullmatch(cell.digits)]
    unread = sorted(set(texts) - {cell.row for cell in cells})
    check_unread(column, "amounts", texts, unread, reading.lenient)
    numbers = np.full(len(values), np.nan)
    for cell in cells:
        numbers[cell.row] = (-1 if cell.negative else 1) * cell.scale * to_number(cell.digits, reading.form)
    if all(cell.digits.isdecimal() and not cell.unit for cell in cells):
        return Conversion(numbers, "", reading, unread)
    # A bound such as <0.5 is read as the number, which the user must know.
    example = max(cells, key=lambda cell: (cell.text.strip()[:1] in BOUNDS, sum(not c.isdigit() for c in cell.digits)))
    return Conversion(numbers, f"{example.text.strip()!r} read as {numbers[example.row]:.15g}", reading, unread)


def _may_have_commas(cells: list[AmountCell], mark: str) -> bool:
    """Whether plain numbers can be those of a table with decimal commas."""
    may_group = mark == "," or (mark == "?" and any("." in cell.digits for cell in cells))
    return may_group and bool(cells) and all("," in cell.marks for cell in cells)


def _looks_priced(texts: dict[int, str]) -> bool:
    """Whether most cells hold digits and a currency, in any format."""
    n_priced = sum(bool(LOOKS_PRICED.fullmatch(text.strip())) for text in texts.values())
    return n_priced > 0 and n_priced >= MIN_SHARE * len(texts)


def find_decimal_mark(column: str, cells: list[AmountCell], reading: ColumnReading, mark: str) -> str:
    """Return the decimal mark with which all cells can be read; if both marks work, the numbers must be the same."""
    marks = [mark for mark, pattern in PATTERNS.items() if all(pattern.fullmatch(cell.digits) for cell in cells)]
    if not marks:
        raise ValueError(
            f"column {column!r} marks decimals by ',' in some cells and by '.' in others: write its numbers with a "
            "decimal point and without thousands separators"
        )
    ambiguous = [cell for cell in cells if len({to_number(cell.digits, mark) for mark in marks}) > 1]
    if not ambiguous:
        return "," if mark == "," in marks else marks[0]
    has_commas_only = all("." not in cell.digits for cell in ambiguous)
    if reading.unit in COMMA_THOUSANDS and has_commas_only:
        return "."
    first, second = (to_number(ambiguous[0].digits, mark) for mark in marks)
    is_plain = is_number(ambiguous[0].text)  # with another digit its point can only be a decimal mark
    example = f" ({second:.15g} or {ambiguous[0].digits}0)" if is_plain else ""
    raise AmbiguousColumnError(
        f"column {column!r}: {ambiguous[0].text.strip()!r} in row {ambiguous[0].row + 1} may be {first:.15g} or "
        f"{second:.15g}: write its numbers with a decimal point and without thousands separators{example}",
        [replace(reading, form=mark) for mark in marks],
        replace(reading, form=".") if has_commas_only else None,
    )
