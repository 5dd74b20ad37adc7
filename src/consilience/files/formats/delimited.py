"""Tables with delimiters: CSV, TSV and the like."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import IO

import numpy as np

from .base import FileFormat, FileTable, InputFile, TableOptions
from .columns import check_unique_columns, has_codes, is_number, to_objects
from .marks import MarkEvidence, join_groups, parse_cells
from .text import open_text, read_lines, tuning

DELIMITERS = (",", "\t", ";", "|")
SEPARATOR = re.compile(r'"?sep=(.)\1*"?\s*', re.IGNORECASE)  # Excel's statement of the delimiter, before the header
ROWS_AT_A_TIME = 5000


def read_delimited(path: InputFile, options: TableOptions) -> FileTable:
    """Read a table with a header; a column becomes numbers if all its cells are, unless it is to be read as text.

    If other cells show that the decimal mark is a comma, 1.157 is 1157.
    """
    text_columns = set(options.as_text)
    grouped: frozenset[str] = frozenset()
    while True:
        table, failed = _read_once(path, text_columns, grouped, options)
        if failed:
            text_columns |= failed  # these looked like numbers in the first rows: read the file again
        elif table.written.mark == "," and grouped != table.written.grouped.keys():
            grouped = frozenset(table.written.grouped)
        else:
            return table


def _read_once(
    path: InputFile, text_columns: set[str], grouped: frozenset[str], options: TableOptions
) -> tuple[FileTable, set[str]]:
    """Read the whole file; also return the columns that are no numbers after all.

    Points separate thousands in the columns `grouped`.
    """
    failed: set[str] = set()
    codes: set[str] = set()
    evidence = MarkEvidence()
    previous_limit = csv.field_size_limit(tuning.max_line_length)
    try:
        with open_text(path) as text:
            delimiter, rows = _split_lines(path, text, options.delimiter)
            names = [name.strip() for name in next(rows)]
            if all(is_number(word) for name in names for word in name.split() or [""]):
                raise ValueError(f"{path}: the first line holds numbers, not the names of the columns: add a header")
            header = [name or f"column {i + 1}" for i, name in enumerate(names)]
            check_unique_columns(path, header)
            chunks: dict[str, list[np.ndarray]] = {name: [] for name in header}
            is_first = True
            while block := list(islice(rows, ROWS_AT_A_TIME)):
                for name, cells in zip(header, zip(*block, strict=True), strict=True):
                    if name in failed or (options.columns is not None and name not in options.columns):
                        continue
                    numbers = join_groups(cells) if name in grouped else cells
                    column = None if name in text_columns else parse_cells(numbers)
                    if column is None:
                        if name not in text_columns:
                            (text_columns if is_first else failed).add(name)
                        column = to_objects([cell if cell.strip() else None for cell in cells])
                    else:
                        evidence.add_numbers(name, cells)
                        if name not in codes and has_codes(numbers):
                            codes.add(name)
                    chunks[name].append(column)
                is_first = False
    finally:
        csv.field_size_limit(previous_limit)
    if is_first:
        raise ValueError(f"{path} has a header, but no rows")
    columns = {name: np.concatenate(arrays) for name, arrays in chunks.items() if arrays and name not in failed}
    columns = _drop_unnamed(columns, [column for name, column in zip(names, header, strict=True) if not name])
    if failed:
        return FileTable(columns), failed
    for name, values in columns.items():
        if name in text_columns and name not in options.as_text:
            evidence.add_texts(name, values)
    numeric = [name for name, values in columns.items() if values.dtype != object]
    written = evidence.conclude(numeric, suggests_comma=delimiter == ";")
    return FileTable(columns, codes=frozenset(codes), written=written), failed


def _drop_unnamed(columns: dict[str, np.ndarray], unnamed: Sequence[str]) -> dict[str, np.ndarray]:
    """Leave out empty columns without a name, as a delimiter at the end of each line makes one."""
    kept = {
        name: values
        for name, values in columns.items()
        if name not in unnamed or values.dtype == object or not np.isnan(values).all()
    }
    return kept or columns


def _split_lines(path: InputFile, text: IO[str], delimiter: str | None) -> tuple[str, Iterator[list[str]]]:
    """Return the delimiter, and rows of cells that are all as long as the header, which is the first."""
    lines = read_lines(path, text)
    n_skipped, first, stated = 0, "", None
    for first in lines:
        stated = stated or SEPARATOR.fullmatch(first)
        if first.strip() and not SEPARATOR.fullmatch(first):
            break
        n_skipped += 1
    else:
        raise ValueError(f"{path} is empty: it must start with a line that names the columns")
    likely = "\t" if path.suffix == ".tsv" and "\t" in first else max(DELIMITERS, key=first.count)
    if delimiter is not None and delimiter not in first and likely in first:
        raise ValueError(
            f"{path}: the header has no {_describe(delimiter)} (--delimiter): is the delimiter {_describe(likely)}?"
        )
    mark = delimiter or (stated[1] if stated is not None else likely)
    return mark, _read_rows(path, chain([first], lines), mark, n_skipped)


def _read_rows(path: InputFile, lines: Iterable[str], mark: str, n_skipped: int) -> Iterator[list[str]]:
    """Yield rows of cells, all as long as the header; `n_skipped` lines of the file come before it."""
    reader = csv.reader(lines, delimiter=mark, strict=True)
    width, n_empty = 0, 0
    has_trailing: bool | None = None  # whether the first row, but not the header, ends with a delimiter
    try:
        for row in reader:
            if not row:
                n_empty += 1  # in a table of one column an empty cell, unless nothing follows
                continue
            yield from ([""] for _ in range(n_empty) if width == 1)
            n_empty = 0
            if not width:
                width = len(row)
            elif has_trailing is None:
                has_trailing = len(row) == width + 1 and not row[-1].strip()
            if has_trailing and len(row) == width + 1 and not row[-1].strip():
                row.pop()
            if len(row) != width:
                raise ValueError(
                    f"{path}: line {reader.line_num + n_skipped} has {len(row)} cells, but the header has {width}: is "
                    f"{_describe(mark)} the delimiter (--delimiter), and are cells that contain one quoted?"
                )
            yield row
    except csv.Error as error:
        reason = "a quote is never closed" if "unexpected end" in str(error) else str(error)
        line = reader.line_num + n_skipped
        raise ValueError(f"{path}: line {line} cannot be read as a table: {reason}") from error


def _describe(mark: str) -> str:
    return "tab" if mark == "\t" else repr(mark)


FORMAT = FileFormat((".csv", ".tsv", ".txt"), read_delimited, is_table=True)
