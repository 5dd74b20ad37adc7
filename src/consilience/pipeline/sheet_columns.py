"""Columns of tables for spreadsheets: cells that spreadsheets can hold and never run, as CSV files."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..files.conversion import convert_column
from ..files.readings import ColumnReading
from .frame import JoinedColumn
from .outputs import guard

WORKBOOK, ITEMS, GROUPS = SHEETS = ("groups.xlsx", "items.csv", "groups.csv")
MAX_UNITS = 32_767  # characters of a cell in a spreadsheet, counted as UTF-16 does
MAX_WHOLE = 10**15  # above which spreadsheets round whole numbers
UNREADABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")  # characters that XML does not have
SURROGATES = re.compile("[\ud800-\udfff]")
WHOLE_NUMBER = re.compile(r"0|[1-9]\d{0,14}")
EPOCH_SERIAL = 25_569  # 1 January 1970 in the spreadsheets' count of days,
FIRST_SERIAL, END_SERIAL = 61, 2_958_466  # which is right from March 1900 to the year 9999
LINE_MARK = " | "  # between the lines of a cell of a CSV file


@dataclass(frozen=True, eq=False)
class SheetColumn:
    """A column of a table for spreadsheets.

    Attributes
    ----------
    name : str
        Name in the CSV file.
    heading : str
        Name in the workbook.
    cells : sequence
        Numbers, texts, or lists of texts, one per line; None for empty cells.
    numbers : sequence of float, optional
        What the workbook has in place of texts such as '$1,299.00' and '31/3/2020'; NaN where the text stays.
    number_format : str
        How the workbook shows numbers, such as '0%'.
    colors : sequence of int or None, optional
        Number of the color that each cell of the workbook has; None for none.
    meaning : str
        What the column holds, for the sheet "about"; empty for columns of the user.
    n_shortened : int
        How many cells were too long for a spreadsheet.
    """

    name: str
    heading: str
    cells: Sequence[Any]
    numbers: Sequence[float] | None = None
    number_format: str = ""
    colors: Sequence[int | None] | None = None
    meaning: str = ""
    n_shortened: int = 0


@dataclass(frozen=True, eq=False)
class SheetTables:
    """The items and groups of a run, and what a reader must know about them."""

    title: str
    when: str  # date and time of the run in ISO format
    items: list[SheetColumn]
    n_ids: int  # number of the first columns of `items` that are ids
    groups: list[SheetColumn]
    about: list[tuple[str, str]]
    notes: list[str]  # about what spreadsheets cannot hold


def build_id_column(name: str, ids: Sequence[Any]) -> SheetColumn:
    """Return a column of ids, which the workbook has as numbers if all are whole numbers without leading zeros."""
    cells = [clean_cell(str(entity_id)) for entity_id in ids]
    numbers = [float(cell) for cell in cells] if all(map(WHOLE_NUMBER.fullmatch, cells)) else None
    return SheetColumn(clean_cell(name), clean_cell(name), cells, numbers, meaning="id of the item")


def build_original_column(column: JoinedColumn) -> SheetColumn:
    """Return a column of the user's data: numbers as numbers, dates and amounts with their format, texts as texts."""
    name, values = clean_cell(column.name), column.values
    if values.dtype != object:
        return SheetColumn(name, name, [_tidy_number(value) for value in values.astype(np.float64).tolist()])
    texts = [_write_text(cell) for cell in values.tolist()]
    cells = [None if text is None else clean_cell(text) for text in texts]
    n_shortened = sum(text is not None and is_too_long(text) for text in texts)
    numbers, number_format = None, ""
    if column.reading is not None and column.reading.kind in FORMATS:
        conversion = convert_column(column.name, values, column.reading)
        if conversion is not None:
            numbers, number_format = FORMATS[column.reading.kind](conversion.numbers, cells, column.reading)
    return SheetColumn(name, name, cells, numbers, number_format, n_shortened=n_shortened)


def _tidy_number(value: float) -> Any:
    """Return a number without the decimal point of a whole one; None for NaN, and a text for infinity."""
    if value != value:
        return None
    if value.is_integer():
        return int(value) if abs(value) <= MAX_WHOLE else value
    return str(value) if np.isinf(value) else value


def _write_text(cell: Any) -> str | None:
    """Write a cell as a text; of a bag of terms, those that occur several times have their number."""
    if type(cell) is dict:
        return ", ".join(term if count == 1 else f"{term}: {count:g}" for term, count in cell.items())
    return None if cell is None else str(cell)


def _format_dates(days: np.ndarray, cells: Sequence[Any], reading: ColumnReading) -> tuple[list[float], str]:  # noqa: ARG001
    """Return dates as spreadsheets count them; those that spreadsheets do not have stay texts."""
    serials = days + EPOCH_SERIAL
    is_valid = (serials >= FIRST_SERIAL) & (serials < END_SERIAL)
    has_times = not np.array_equal(days[is_valid], np.floor(days[is_valid]))
    return np.where(is_valid, serials, np.nan).tolist(), "yyyy-mm-dd hh:mm" if has_times else "yyyy-mm-dd"


def _format_amounts(amounts: np.ndarray, cells: Sequence[Any], reading: ColumnReading) -> tuple[list[float], str]:
    """Return amounts and their format: the unit where the first amount has it, and cents if any amount has them."""
    finite = amounts[np.isfinite(amounts)]
    digits = "#,##0" if np.array_equal(finite, np.floor(finite)) else "#,##0.00"
    unit = f'"{reading.unit}"'
    rows = np.flatnonzero(np.isfinite(amounts))
    is_after = reading.unit == "%" or (len(rows) > 0 and not cells[rows[0]].strip(" )")[-1].isdigit())
    if not reading.unit:
        return amounts.tolist(), digits
    return amounts.tolist(), f"{digits}{unit}" if is_after else f"{unit}{digits}"


FORMATS = {"date": _format_dates, "amount": _format_amounts}


def clean_cell(text: str) -> str:
    """Return a text that a cell of a spreadsheet can hold: no control characters, and shortened if it is too long."""
    is_long = is_too_long(text)
    if text.isprintable() and not is_long:
        return text
    lines = text[:MAX_UNITS].replace("\r\n", "\n").replace("\r", "\n")
    cleaned = UNREADABLE.sub("", SURROGATES.sub("\ufffd", lines))
    if not is_long:
        return cleaned
    return cleaned.encode("utf-16-le")[: 2 * (MAX_UNITS - 1)].decode("utf-16-le", "ignore") + "…"


def is_too_long(text: str) -> bool:
    """Whether a text has more characters than a cell of a spreadsheet can hold."""
    if 2 * len(text) <= MAX_UNITS or len(text) > MAX_UNITS:
        return len(text) > MAX_UNITS
    return len(text) + sum(letter > "\uffff" for letter in text) > MAX_UNITS


def write_csv(path: Path, columns: Sequence[SheetColumn]) -> int:
    """Write columns as a CSV file that spreadsheets read as UTF-8; return how many cells look like formulas.

    These cells are quoted. Texts that were read as numbers, such as -$5, are no formulas.
    """
    n_guarded = 0
    table = []
    for column in columns:
        texts = [LINE_MARK.join(cell) if type(cell) is list else cell for cell in column.cells]
        guarded = [guard(text) if type(text) is str else text for text in texts]
        if column.numbers is not None:
            triples = zip(texts, guarded, column.numbers, strict=True)
            guarded = [text if number == number else safe for text, safe, number in triples]
        n_guarded += sum(safe is not text for text, safe in zip(texts, guarded, strict=True))
        table.append(guarded)
    with path.open("w", newline="", encoding="utf-8-sig") as file:
        rows = csv.writer(file)
        rows.writerow(guard(column.name) for column in columns)
        rows.writerows(zip(*table, strict=True))
    return n_guarded
