"""Convert columns of a table that are written as text: amounts, quantities, dates, times, truth values, lists."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from .amounts import convert_amounts
from .dates import convert_dates, hold_compact_dates
from .formats.base import NOTHING_WRITTEN, WrittenNumbers
from .formats.columns import format_cell, has_codes, is_number, to_objects
from .formats.marks import SAMPLED, MarkEvidence
from .lists import convert_lists
from .quantities import convert_quantities
from .readings import MIN_SHARE, AmbiguousColumnError, ColumnReading, Conversion, check_unread, list_texts

YES = ("true", "yes", "y", "t", "1", "ja", "oui", "sí", "si", "sì", "sim", "tak")
NO = ("false", "no", "n", "f", "0", "nein", "non", "não", "nao", "nie")
TRUTHS = dict.fromkeys(YES, 1.0) | dict.fromkeys(NO, 0.0)


def convert_truths(
    column: str, values: np.ndarray, reading: ColumnReading | None = None, lenient: bool = False
) -> Conversion | None:
    """Convert yes and no, or true and false, to 1 and 0; None unless the column holds both and nothing else."""
    texts = list_texts(values)
    if reading is None and not all(text.strip().lower() in TRUTHS for text in texts.values()):
        return None  # after the first such cell, which saves time
    words = {row: text.strip().lower() for row, text in texts.items()}
    if reading is None:
        if {TRUTHS.get(word) for word in set(words.values())} != {0.0, 1.0}:
            return None
        reading = ColumnReading("truth", lenient=lenient)
    unread = [row for row, word in words.items() if word not in TRUTHS]
    check_unread(column, "yes and no", texts, unread, reading.lenient)
    numbers = np.full(len(values), np.nan)
    for row, word in words.items():
        numbers[row] = TRUTHS.get(word, np.nan)
    examples = [f"{texts[row].strip()!r} read as 1" for row in words if numbers[row] == 1]
    return Conversion(numbers, next(iter(examples), ""), reading, unread)


def convert_numbers(
    column: str, values: np.ndarray, reading: ColumnReading | None = None, lenient: bool = False
) -> Conversion | None:
    """Convert plain numbers with a few other cells among them, which are taken for empty; None for other columns."""
    texts = list_texts(values) if lenient or reading is not None else {}
    sample = list(texts.values())[:: max(1, len(texts) // SAMPLED)]  # which saves the time to look at all cells
    if reading is None and 2 * sum(map(is_number, sample)) < len(sample):
        return None
    unread = [row for row, text in texts.items() if not is_number(text)]
    if reading is None:
        if not texts or len(unread) > (1 - MIN_SHARE) * len(texts) or has_codes(texts.values()):
            return None
        reading = ColumnReading("number", lenient=lenient)
    check_unread(column, "numbers", texts, unread, reading.lenient)
    numbers = np.full(len(values), np.nan)
    for row in texts.keys() - unread:
        numbers[row] = float(texts[row])
    return Conversion(numbers, "", reading, unread)


CONVERTERS: dict[str, Callable[..., Conversion | None]] = {
    "truth": convert_truths,
    "date": convert_dates,
    "time": convert_dates,
    "amount": convert_amounts,
    "quantity": convert_quantities,
    "number": convert_numbers,
    "list": convert_lists,
}


PLURALS = {kind: f"{kind}s" for kind in CONVERTERS} | {"quantity": "quantities", "truth": "yes and no"}
MARKED_KINDS = ("amount", "quantity")  # whose numbers have a decimal mark


def convert_column(
    column: str, values: np.ndarray, reading: ColumnReading | None = None, lenient: bool = False, mark: str = ""
) -> Conversion | None:
    """Convert a column of texts to numbers, as `reading` says or as its cells suggest; None for any other column.

    `mark` is the decimal mark that the table shows, as in `WrittenNumbers`.
    """
    if hold_compact_dates(values):  # 20200331 was read as a number
        values = to_objects([None if np.isnan(number) else format_cell(number) for number in values.tolist()])
    if values.dtype != object or {type(cell) for cell in values} - {str, type(None)}:
        return None
    if reading is not None:
        return CONVERTERS[reading.kind](column, values, reading)
    takes_mark = (convert_amounts, convert_quantities)
    conversions = (
        convert(column, values, lenient=lenient, **({"mark": mark} if convert in takes_mark else {}))
        for convert in dict.fromkeys(CONVERTERS.values())
    )
    return next((conversion for conversion in conversions if conversion is not None), None)


def convert_columns(
    columns: Mapping[str, np.ndarray],
    readings: Mapping[str, ColumnReading] | None = None,
    *,
    lenient: bool = False,
    written: WrittenNumbers = NOTHING_WRITTEN,
) -> dict[str, Conversion]:
    """Convert the columns of a table that hold amounts, quantities, dates, times, truth values or lists.

    The other columns decide how a column is read that could be read in two ways: by their orders of day and month, and
    by the decimal mark of the table. `written` says which mark that is, and which numbers were read with it. Numbers
    of a table with decimal commas are amounts, too, so that those of new rows are read in the same way.
    """
    conversions: dict[str, Conversion] = {}
    ambiguous: dict[str, AmbiguousColumnError] = {}
    for column, values in columns.items():
        has_commas = values.dtype != object and values.ndim == 1 and written.mark == "," and column in written.columns
        if has_commas and not hold_compact_dates(values):
            conversions[column] = Conversion(values, "", ColumnReading("amount", ","))
            continue
        try:
            conversion = convert_column(column, values, (readings or {}).get(column), lenient, written.mark)
        except AmbiguousColumnError as error:
            ambiguous[column] = error
            continue
        if conversion is not None:
            conversions[column] = conversion
    forms = {(conversion.reading.kind, conversion.reading.form) for conversion in conversions.values()}
    for column, refusal in ambiguous.items():
        fitting = [reading for reading in refusal.readings if (reading.kind, reading.form) in forms]
        if refusal.readings[0].kind in MARKED_KINDS:
            fitting = _list_fitting_amounts(refusal, columns, written)
        if len(fitting) != 1:
            raise refusal
        conversion = convert_column(column, columns[column], fitting[0])
        assert conversion is not None
        conversions[column] = conversion
    return {column: conversions[column] for column in columns if column in conversions}


def _list_fitting_amounts(
    refusal: AmbiguousColumnError, columns: Mapping[str, np.ndarray], written: WrittenNumbers
) -> list[ColumnReading]:
    """Return the readings of an ambiguous column that fit the table: one, unless the table does not decide.

    Prices with a currency are read like others if there are any, because programs may write prices as people read them,
    and other numbers with a decimal point. For the same reason points of other numbers do not tell that 1.202 € is not
    1202.
    """
    evidence = MarkEvidence()
    for column, values in columns.items():
        if values.dtype == object:
            evidence.add_texts(column, values)
    if refusal.readings[0].unit and evidence.priced:
        return [reading for reading in refusal.readings if reading.form in evidence.priced]
    mark = written.mark or evidence.conclude((), suggests_comma=False).mark
    if mark == "." and refusal.readings[0].kind == "amount":
        return [reading for reading in (refusal.thousands_reading,) if reading is not None]
    return [reading for reading in refusal.readings if reading.form == mark]


def describe_unread(origin: str, columns: Mapping[str, np.ndarray], conversions: Mapping[str, Conversion]) -> list[str]:
    """Note the cells that could not be read and count as empty, one sentence per column."""
    notes = []
    for column, conversion in conversions.items():
        if conversion.unread:
            row, n_more = conversion.unread[0], len(conversion.unread) - 1
            others = f" and {n_more} more cell{'s' * (n_more > 1)}" if n_more else ""
            if columns[column][row].startswith("="):
                others += " (a formula: export the file with its values)"
            cell, kinds = columns[column][row][:40], PLURALS[conversion.reading.kind]
            notes.append(
                f"{origin}: column {column!r} holds {kinds}; {cell!r} in row {row + 1}{others} cannot be read, and "
                f"{'count' if n_more else 'counts'} as empty."
            )
    return notes
