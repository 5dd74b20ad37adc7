"""Write the items and groups of a run as a workbook, by XlsxWriter."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from io import BytesIO
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from .._tuning import Tuning
from .sheet_columns import ITEMS, WORKBOOK, SheetColumn, SheetTables, clean_cell

tuning = Tuning(
    max_rows=1_048_575,  # of a sheet, without its header
    max_columns=16_384,  # of a sheet
)
COLORS = (  # of the clusters in the report, on a light background
    *("#0072b2", "#c07a00", "#008a64", "#b0508a", "#d04f00"),
    *("#6b4fc0", "#7d7200", "#50565d", "#2f95cf", "#8a4b3a"),
)
TINT = 0.25  # share of a color in the background of a cell, on which black text is readable
TINTS = [
    "#" + "".join(f"{round(255 - TINT * (255 - int(color[i : i + 2], 16))):02x}" for i in (1, 3, 5)) for color in COLORS
]
MIN_WIDTH, MAX_WIDTH, MAX_WRAPPED_WIDTH, TEXT_WIDTH = 8, 32, 60, 100  # characters of a column
N_MEASURED = 200  # rows from which the width of a column is chosen
HEADER = {"bold": True, "bg_color": "#e8eaed", "bottom": 1, "valign": "top", "text_wrap": True}
WRAPPED = {"valign": "top", "text_wrap": True}
# Strings stay strings: none becomes a formula, a link or a number. Rows go to a temporary file as they are written.
OPTIONS = {"strings_to_formulas": False, "strings_to_urls": False, "strings_to_numbers": False, "constant_memory": True}


def write_workbook(path: Path, tables: SheetTables) -> list[str]:
    """Write the sheets "items", "groups" and "about"; return notes about what a workbook cannot hold.

    Items go on in the sheets "items 2", "items 3", ... if there are more than a sheet can hold.
    """
    try:
        import xlsxwriter
    except ImportError as error:
        raise ImportError("workbooks need XlsxWriter: pip install 'consilience[excel]'") from error
    notes = []
    if len(tables.items) > tuning.max_columns:
        notes.append(
            f"{WORKBOOK} lacks the last {len(tables.items) - tuning.max_columns:,} of {len(tables.items):,} columns, "
            f"because a sheet has at most {tuning.max_columns:,}: {ITEMS} has them."
        )
    content = BytesIO()  # XlsxWriter would leave files open if the disk became full
    try:
        with TemporaryDirectory() as folder, xlsxwriter.Workbook(content, {**OPTIONS, "tmpdir": folder}) as book:
            book.set_properties({"title": clean_cell(tables.title), "created": datetime.fromisoformat(tables.when)})
            write_table(book, "items", tables.items[: tuning.max_columns], n_frozen=2 if tables.n_ids == 1 else 1)
            write_table(book, "groups", tables.groups, n_frozen=2, wraps=True)
            write_lines(book, "about", [*tables.about, *(("note", note) for note in (*tables.notes, *notes))])
    except xlsxwriter.exceptions.FileCreateError as error:  # contains an OSError, such as a full temporary folder
        for sheet in book.worksheets():
            sheet.row_data_fh.close()  # XlsxWriter leaves its temporary files open
        error.args[0].filename = str(path)
        raise error.args[0] from error
    except OSError as error:  # of a temporary file
        error.filename = str(path)
        raise
    path.write_bytes(content.getbuffer())
    return notes


def write_table(book: Any, name: str, columns: Sequence[SheetColumn], *, n_frozen: int, wraps: bool = False) -> None:
    """Write columns below a header that stays in sight, with filters; groups have the colors of the report."""
    from xlsxwriter.utility import xl_range

    look = WRAPPED if wraps else {}
    header_format, plain_format = book.add_format(HEADER), book.add_format(look) if wraps else None
    codes = {column.number_format for column in columns} - {""}
    number_formats = {code: book.add_format({**look, "num_format": code}) for code in codes} | {"": plain_format}
    tints = [book.add_format({**look, "bg_color": color}) for color in TINTS]
    fills = {
        i: [plain_format if color is None else tints[color % len(tints)] for color in colors]
        for i, colors in enumerate(column.colors for column in columns)
        if colors is not None
    }
    values = zip(*map(_list_values, columns), strict=True)
    n_rows = len(columns[0].cells)
    for first in range(0, max(n_rows, 1), tuning.max_rows):
        n_written = min(n_rows - first, tuning.max_rows)
        sheet = book.add_worksheet(f"{name} {first // tuning.max_rows + 1}" if first else name)
        sheet.freeze_panes(1, n_frozen)
        sheet.autofilter(0, 0, n_written, len(columns) - 1)
        sheet.ignore_errors({"number_stored_as_text": xl_range(0, 0, n_written, len(columns) - 1)})  # codes, as 007
        sheet.set_landscape()
        sheet.repeat_rows(0)
        for i, column in enumerate(columns):
            sheet.set_column(i, i, _choose_width(column, MAX_WRAPPED_WIDTH if wraps else MAX_WIDTH))
            sheet.write_string(0, i, _keep_plain(column.heading), header_format)
        formats = [number_formats[column.number_format] for column in columns]
        for row, cells in enumerate(islice(values, n_written), 1):
            for i, cell in enumerate(cells):
                if type(cell) is str:
                    cell_format = fills[i][first + row - 1] if i in fills else plain_format
                    sheet.write_string(row, i, cell, cell_format)
                elif cell is not None:
                    sheet.write_number(row, i, cell, formats[i])


def write_lines(book: Any, name: str, lines: Sequence[tuple[str, str]]) -> None:
    """Write a sheet of texts, each with a word for what it is about."""
    sheet = book.add_worksheet(name)
    wrapped, bold = book.add_format(WRAPPED), book.add_format({**WRAPPED, "bold": True})
    sheet.set_column(0, 0, MAX_WIDTH)
    sheet.set_column(1, 1, TEXT_WIDTH)
    for row, (label, text) in enumerate(lines):
        sheet.write_string(row, 0, _keep_plain(clean_cell(label)), bold)
        sheet.write_string(row, 1, _keep_plain(clean_cell(text)), wrapped)


def _list_values(column: SheetColumn) -> list[Any]:
    """List what the cells of a workbook contain: numbers, texts, and None where they are empty."""
    texts = ["\n".join(cell) if type(cell) is list else cell for cell in column.cells]
    values = [_keep_plain(text) or None if type(text) is str else text for text in texts]
    if column.numbers is not None:
        values = [value if number != number else number for value, number in zip(values, column.numbers, strict=True)]
    return values


def _keep_plain(text: str) -> str:
    """Return a text that XlsxWriter escapes: it writes what is between <r> and </r> as tags of the sheet."""
    return f" {text}" if text.startswith("<r>") and text.endswith("</r>") else text


def _choose_width(column: SheetColumn, largest: int) -> int:
    """Return the number of characters that most cells of a column need, within limits."""
    cells = [column.heading, *(cell for cell in islice(column.cells, N_MEASURED) if cell is not None)]
    lines = [line for cell in cells for line in (cell if type(cell) is list else str(cell)[:largest].splitlines())]
    return min(max(MIN_WIDTH, *(len(line) + 3 for line in lines)), largest)  # 3: the button of the filter
