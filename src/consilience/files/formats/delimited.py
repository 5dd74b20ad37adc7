"""Tables with delimiters: CSV, TSV and the like."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from itertools import chain, islice
from typing import IO

import numpy as np

from .base import FileFormat, FileTable, InputFile, TableOptions
from .columns import check_unique_columns, has_codes, is_missing, is_number, to_objects
from .text import MAX_LINE_LENGTH, open_text, read_lines

DELIMITERS = (",", "\t", ";", "|")
ROWS_AT_A_TIME = 5000


def read_delimited(path: InputFile, options: TableOptions) -> FileTable:
    """Read a table with a header; a column becomes numbers if all its cells are, unless it is to be read as text."""
    text_columns = set(options.as_text)
    while True:
        table, failed = _read_once(path, text_columns, options.delimiter)
        if not failed:
            return table
        text_columns |= failed  # these looked like numbers in the first rows: read the file again


def _read_once(path: InputFile, text_columns: set[str], delimiter: str | None) -> tuple[FileTable, set[str]]:
    """Read the whole file; also return the columns that are no numbers after all."""
    failed: set[str] = set()
    codes: set[str] = set()
    previous_limit = csv.field_size_limit(MAX_LINE_LENGTH)
    try:
        with open_text(path) as text:
            rows = _read_rows(path, text, delimiter)
            header = next(rows)
            if all(is_number(word) for name in header for word in name.split() or [""]):
                raise ValueError(f"{path}: the first line holds numbers, not the names of the columns: add a header")
            header = [name.strip() or f"column {i + 1}" for i, name in enumerate(header)]
            check_unique_columns(path, header)
            chunks: dict[str, list[np.ndarray]] = {name: [] for name in header}
            is_first = True
            while block := list(islice(rows, ROWS_AT_A_TIME)):
                for name, cells in zip(header, zip(*block, strict=True), strict=True):
                    if name in failed:
                        continue
                    column = None if name in text_columns else parse_cells(cells)
                    if column is None:
                        if name not in text_columns:
                            (text_columns if is_first else failed).add(name)
                        column = to_objects([cell if cell.strip() else None for cell in cells])
                    elif name not in codes and has_codes(cells):
                        codes.add(name)
                    chunks[name].append(column)
                is_first = False
    finally:
        csv.field_size_limit(previous_limit)
    if is_first:
        raise ValueError(f"{path} has a header, but no rows")
    columns = {name: np.concatenate(arrays) for name, arrays in chunks.items() if name not in failed}
    return FileTable(columns, codes=frozenset(codes)), failed


def _read_rows(path: InputFile, text: IO[str], delimiter: str | None) -> Iterator[list[str]]:
    """Yield rows of cells, all as long as the header."""
    lines = read_lines(path, text)
    first = next((line for line in lines if line.strip()), None)
    if first is None:
        raise ValueError(f"{path} is empty: it must start with a line that names the columns")
    likely = "\t" if path.suffix == ".tsv" and "\t" in first else max(DELIMITERS, key=first.count)
    if delimiter is not None and delimiter not in first and likely in first:
        raise ValueError(
            f"{path}: the header has no {_describe(delimiter)} (--delimiter): is the delimiter {_describe(likely)}?"
        )
    mark = delimiter or likely
    reader = csv.reader(chain([first], lines), delimiter=mark, strict=True)
    width, n_empty = 0, 0
    try:
        for row in reader:
            if not row:
                n_empty += 1  # in a table of one column an empty cell, unless nothing follows
                continue
            yield from ([""] for _ in range(n_empty) if width == 1)
            width, n_empty = width or len(row), 0
            if len(row) != width:
                raise ValueError(
                    f"{path}: line {reader.line_num} has {len(row)} cells, but the header has {width}: is "
                    f"{_describe(mark)} the delimiter (--delimiter), and are cells that contain one quoted?"
                )
            yield row
    except csv.Error as error:
        reason = "a quote is never closed" if "unexpected end" in str(error) else str(error)
        raise ValueError(f"{path}: line {reader.line_num} cannot be read as a table: {reason}") from error


def _describe(mark: str) -> str:
    return "tab" if mark == "\t" else repr(mark)


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


FORMAT = FileFormat((".csv", ".tsv", ".txt"), read_delimited, is_table=True)
