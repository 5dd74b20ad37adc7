"""Comma-separated values and their relatives."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator
from itertools import chain, islice
from typing import IO

import numpy as np

from .cells import is_missing, is_number
from .inputs import InputFile
from .source import FileTable
from .text import MAX_LINE_LENGTH, open_text, read_lines

DELIMITERS = (",", "\t", ";", "|")
ROWS_AT_A_TIME = 5000


def read_delimited(path: InputFile, as_text: frozenset[str] = frozenset(), delimiter: str | None = None) -> FileTable:
    """A table with a header; columns that hold numbers alone become numbers, but those named in `as_text` do not."""
    words = set(as_text)
    while True:
        columns, failed = _pass(path, words, delimiter)
        if not failed:
            return FileTable(path, columns)
        words |= failed  # looked like numbers in the first rows: read the file again, these as text


def _pass(path: InputFile, words: set[str], delimiter: str | None) -> tuple[dict[str, np.ndarray], set[str]]:
    """Read the whole file once; also the columns that turned out not to be numbers after all."""
    failed: set[str] = set()
    before = csv.field_size_limit(MAX_LINE_LENGTH)
    try:
        with open_text(path) as text:
            rows = _rows(path, text, delimiter)
            header = _header(path, next(rows))
            parts: dict[str, list[np.ndarray]] = {name: [] for name in header}
            first = True
            while some := list(islice(rows, ROWS_AT_A_TIME)):
                for name, column in zip(header, zip(*some, strict=True), strict=True):
                    if name in failed:
                        continue
                    numbers = None if name in words else _as_numbers(column)
                    if numbers is None and name not in words:
                        (words if first else failed).add(name)
                    parts[name].append(_as_texts(column) if numbers is None else numbers)
                first = False
    finally:
        csv.field_size_limit(before)
    if first:
        raise ValueError(f"{path} holds a header and nothing else: no entities")
    return {name: np.concatenate(own) for name, own in parts.items() if name not in failed}, failed


def _rows(path: InputFile, text: IO[str], delimiter: str | None) -> Iterator[list[str]]:
    """Rows of cells, all as long as the header."""
    source = read_lines(path, text)
    first = next((line for line in source if line.strip()), None)
    if first is None:
        raise ValueError(f"{path} is empty: it must start with a line that names the columns")
    likely = _delimiter(path, first)
    if delimiter is not None and delimiter not in first and likely in first:
        raise ValueError(f"{path}: {_named(delimiter)} cuts nothing (--delimiter): is it {_named(likely)}?")
    mark = delimiter or likely
    reader = csv.reader(chain([first], source), delimiter=mark, strict=True)
    width, empty = 0, 0
    try:
        for row in reader:
            if not row:
                empty += 1  # in a table of one column an empty cell, unless nothing follows
                continue
            yield from ([""] for _ in range(empty) if width == 1)
            width, empty = width or len(row), 0
            if len(row) != width:
                raise ValueError(
                    f"{path}: line {reader.line_num} has {len(row)} cells where the header has {width}: "
                    f"is {_named(mark)} the delimiter (--delimiter), and are cells that hold one quoted?"
                )
            yield row
    except csv.Error as error:
        what = "a quote is never closed" if "unexpected end" in str(error) else str(error)
        raise ValueError(f"{path}: line {reader.line_num} cannot be read as a table: {what}") from error


def _delimiter(path: InputFile, header: str) -> str:
    """Delimiter that occurs most often in the header; in a .tsv file a tab, if it has any."""
    if path.suffix == ".tsv" and "\t" in header:
        return "\t"
    return max(DELIMITERS, key=header.count)


def _named(mark: str) -> str:
    return "a tab" if mark == "\t" else repr(mark)


def _header(path: InputFile, names: list[str]) -> list[str]:
    if all(is_number(word) for name in names for word in name.split() or [""]):
        raise ValueError(f"{path}: the first line holds numbers, not the names of the columns: add a header")
    names = [name.strip() or f"column {i + 1}" for i, name in enumerate(names)]
    name, times = Counter(names).most_common(1)[0]
    if times > 1:
        raise ValueError(f"{path} has two columns called {name!r}: rename one")
    return names


def _as_numbers(column: tuple[str, ...]) -> np.ndarray | None:
    """Numbers with NaN for empty cells, or None if some cell holds something else."""
    try:
        return None if "_" in "".join(column) else np.array(column, dtype=np.float64)
    except ValueError:
        pass
    if all(is_missing(cell) or is_number(cell) for cell in column):
        return np.array([np.nan if is_missing(cell) else float(cell) for cell in column])
    return None


def _as_texts(column: tuple[str, ...]) -> np.ndarray:
    texts = np.empty(len(column), dtype=object)
    texts[:] = [cell if cell.strip() else None for cell in column]
    return texts
