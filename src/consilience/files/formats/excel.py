"""Sheets of workbooks: .xlsx, .xlsb, .xls and .ods, read by python-calamine."""

from __future__ import annotations

import difflib
import re
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from datetime import date, datetime, time, timedelta
from typing import Any

from ..._tuning import Tuning
from .base import FileFormat, FileTable, InputFile, TableOptions
from .columns import check_unique_columns, has_codes, is_number
from .marks import interpret_marks, parse_column

tuning = Tuning(min_allowed_bytes=2**28)  # decompressed size that a workbook of any length may have
MAX_RATIO = 100  # decompressed size of a larger one per byte of the file; repetitive sheets have 10 to 30
MAX_EMPTY_CELLS = 2**25  # area of a sheet beyond its cells: one stray cell at the end of a sheet takes up all memory
HEADER_SHARE = 0.5  # of the columns that have names in the header; a row with fewer cells above it is a title
CELL_PLACES = re.compile(rb'<c(?= )[^>]*? r="([A-Z]{1,3})(\d{1,7})"|<row(?= )[^>]*? r="(\d{1,7})"')
SHARED_STRING = re.compile(rb"<(?:\w+:)?si\b[^<>]*>")  # starts a text that several cells may show
SHARED_CELL = re.compile(  # with the number of its text
    rb"""<(?:\w+:)?c\s[^<>]{0,200}?\bt=["']s["'][^<>]{0,200}>\s*<(?:\w+:)?v\b[^<>]{0,200}>\s*(\d{1,9})"""
)
TAG = re.compile(rb"<[^<>]*>")
ZIP, OLE = b"PK\x03\x04", b"\xd0\xcf\x11\xe0"  # first bytes of the two kinds of files
MIN_CELL_BYTES = len('<c t="s"><v>0</v></c>')  # of a cell that shows a shared text
CHUNK = 2**20  # bytes
OVERLAP = 2**10  # bytes of the previous chunk, in which a cell may begin
ERRORS = {"#N/A", "#DIV/0!", "#REF!", "#VALUE!", "#NAME?", "#NUM!", "#NULL!", "#GETTING_DATA", "#SPILL!", "#CALC!"}


def read_workbook(path: InputFile, options: TableOptions) -> FileTable:
    """Read a sheet as a table whose header is its first row with a name for most of the columns.

    Titles above the header, empty rows and empty columns are left out. Formulas have the values that were saved with
    them; errors such as #N/A are empty cells.
    """
    values = _read_sheet(path)
    formatted = [[_format_value(value) for value in row] for row in values]
    values = [row for row, cells in zip(values, formatted, strict=True) if any(cells)]
    rows = [cells for cells in formatted if any(cells)]
    if not rows:
        raise ValueError(f"{path} is empty: it must hold a row that names the columns")
    used = [column for column in range(max(map(len, rows))) if any(row[column] for row in rows)]
    rows = [[row[column] for column in used] for row in rows]
    values = [[row[column] for column in used] for row in values]
    n_named = max(1, HEADER_SHARE * len(used))
    start = next(i for i, row in enumerate(rows) if sum(map(bool, row)) >= n_named or i == len(rows) - 1)
    header, body = rows[start], rows[start + 1 :]
    if all(is_number(name) for name in header if name):
        raise ValueError(f"{path}: row {start + 1} holds numbers, not the names of the columns: add a header")
    if not body:
        raise ValueError(f"{path} has a header, but no rows")
    kept = [i for i in range(len(header)) if any(row[i] for row in body)]
    names = [header[i].strip() or f"column {i + 1}" for i in kept]
    check_unique_columns(path, names)
    cells = {name: tuple(row[i] for row in body) for name, i in zip(names, kept, strict=True)}
    columns = {name: parse_column(texts, name in options.as_text) for name, texts in cells.items()}
    typed = {name: [row[i] for row in values[start + 1 :]] for name, i in zip(names, kept, strict=True)}
    columns, written = interpret_marks(columns, typed, options.as_text)
    codes = frozenset(name for name, values in columns.items() if values.dtype != object and has_codes(cells[name]))
    return FileTable(columns, codes=codes, written=written)


def _read_sheet(path: InputFile) -> list[list[Any]]:
    """Read the cells of the sheet that the user names, or of the first visible one that is not empty."""
    try:
        import python_calamine as calamine
    except ImportError as error:
        raise ImportError(f"{path}: workbooks need python-calamine: pip install 'consilience[excel]'") from error
    with path.open() as file:
        if file.read(4) == ZIP:
            _check_archive(path)
    try:
        with path.open() as file:
            book = calamine.CalamineWorkbook.from_filelike(file)
            if path.sheet is not None and path.sheet not in book.sheet_names:
                similar = difflib.get_close_matches(path.sheet, book.sheet_names, n=1)
                question = f". Did you mean {similar[0]!r}?" if similar else ""
                raise ValueError(
                    f"{path}: there is no sheet {path.sheet!r}; there are {', '.join(map(repr, book.sheet_names))}"
                    f"{question}"
                )
            visible = [
                sheet.name
                for sheet in book.sheets_metadata
                if sheet.visible == calamine.SheetVisibleEnum.Visible and sheet.typ == calamine.SheetTypeEnum.WorkSheet
            ]
            names = [path.sheet] if path.sheet is not None else visible
            for name in names:
                if rows := [row for row in book.get_sheet_by_name(name).iter_rows() if any(cell != "" for cell in row)]:
                    return rows
            return []
    except calamine.PasswordError as error:
        raise ValueError(f"{path} is protected by a password: save it without one") from error
    except ValueError:
        raise
    except BaseException as error:  # a panic of the library is no Exception
        if type(error).__name__ in ("KeyboardInterrupt", "SystemExit", "MemoryError"):
            raise
        raise ValueError(f"{path} cannot be read as a workbook, and is probably damaged: {str(error)[:200]}") from error


def _check_archive(path: InputFile) -> None:
    """Refuse a damaged archive, and one that would take up far more memory than the file has bytes."""
    damages = (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, NotImplementedError)
    try:
        with zipfile.ZipFile(path.location) as archive:
            n_bytes = sum(member.file_size for member in archive.infolist())
            allowed = max(tuning.min_allowed_bytes, MAX_RATIO * path.n_bytes)
            if n_bytes > allowed:
                raise ValueError(
                    f"{path} would unpack to {n_bytes:,} bytes, which is not plausible for a file of {path.n_bytes:,} "
                    "bytes: export the sheet as CSV"
                )
            lengths = _measure_shared_strings(archive)
            for member in archive.infolist():
                _check_area(path, archive, member)
                _check_texts(path, archive, member, lengths, allowed)
    except damages as error:
        raise ValueError(f"{path} cannot be read as a workbook, and is probably damaged: {error}") from error


def _check_area(path: InputFile, archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> None:
    """Read a member to its end, which checks it, and refuse a sheet that is nearly all empty but huge."""
    n_cells, last_row, last_column = 0, 0, 0
    for chunk in _read_chunks(archive, member):
        for match in CELL_PLACES.finditer(chunk):
            letters, row, only_row = match.groups()
            n_cells += letters is not None
            last_row = max(last_row, int(row or only_row))
            last_column = max(last_column, _count_columns(letters or b"A"))
    if last_row * last_column > max(MAX_EMPTY_CELLS, 100 * n_cells):
        raise ValueError(
            f"{path}: a sheet has {n_cells:,} cells, but extends over {last_row:,} rows and {last_column:,} columns: "
            "delete the stray cells far from the table, or export the sheet as CSV"
        )


def _measure_shared_strings(archive: zipfile.ZipFile) -> dict[int, int]:
    """Return the length in bytes of each text that an .xlsx file stores once for all cells, by its number."""
    parts: list[bytes] = []
    for member in archive.infolist():
        if member.filename.lower().endswith("sharedstrings.xml"):
            parts += SHARED_STRING.split(archive.read(member))[1:]
    return {number: len(TAG.sub(b"", part)) for number, part in enumerate(parts)}


def _check_texts(
    path: InputFile, archive: zipfile.ZipFile, member: zipfile.ZipInfo, lengths: Mapping[int, int], allowed: int
) -> None:
    """Refuse a sheet whose cells repeat long texts so often that they would take up far more memory than allowed."""
    if member.file_size // MIN_CELL_BYTES * max(lengths.values(), default=0) <= allowed:
        return
    n_bytes = sum(
        lengths.get(int(number), 0) for chunk in _read_chunks(archive, member) for number in SHARED_CELL.findall(chunk)
    )
    if n_bytes > allowed:
        raise ValueError(
            f"{path}: a sheet repeats long texts so often that they would take up {n_bytes:,} bytes of memory: shorten "
            "the texts, or delete their column"
        )


def _read_chunks(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> Iterator[bytes]:
    """Yield the content of a member up to the end of the last complete tag of each chunk."""
    rest = b""
    with archive.open(member) as file:
        while chunk := file.read(CHUNK):
            whole, mark, rest = (rest + chunk).rpartition(b">")
            yield whole + mark
            rest = rest[-OVERLAP:]
    yield rest


def _count_columns(letters: bytes) -> int:
    """Return the number of a column called A, B, ..., Z, AA, ..."""
    number = 0
    for letter in letters:
        number = 26 * number + letter - ord("A") + 1
    return number


def _format_value(value: Any) -> str:
    """Format a cell as a CSV file would contain it."""
    match value:
        case bool():
            return "true" if value else "false"
        case float():
            return str(int(value)) if value.is_integer() and abs(value) < 2**53 else repr(value)
        case datetime():
            return value.date().isoformat() if value.time() == time() else value.isoformat(" ")
        case date() | time():
            return value.isoformat()
        case timedelta():
            return repr(value.total_seconds() / 3600)
        case str() if value in ERRORS:
            return ""
        case None:
            return ""
    return str(value).strip() and str(value)


def is_workbook(start: bytes) -> bool:
    """Whether bytes are the start of a workbook: an OLE file, or an archive whose first member belongs to one."""
    names = (b"[Content_Types]", b"mimetype", b"xl/", b"_rels/", b"docProps/")
    return start.startswith(OLE) or (start.startswith(ZIP) and start[30:].startswith(names))


FORMAT = FileFormat(
    (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods"), read_workbook, is_table=True, has_sheets=True, detect=is_workbook
)
