"""Comma-separated values and their relatives."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import numpy as np

from .source import Frame
from .text import LONGEST, lines, opened

DELIMITERS = (",", "\t", ";", "|")
MISSING = frozenset({"", "na", "n/a", "nan", "null", "none", "?"})
ROWS_AT_A_TIME = 5000


def read_delimited(path: Path, as_text: frozenset[str] = frozenset(), delimiter: str | None = None) -> Frame:
    """A table with a header; columns that hold numbers alone become numbers, but those named in `as_text` do not."""
    words = set(as_text)
    while True:
        columns, failed = _pass(path, words, delimiter)
        if not failed:
            return Frame(path, columns)
        words |= failed  # looked like numbers in the first rows: read the file again, these as text


def _pass(path: Path, words: set[str], delimiter: str | None) -> tuple[dict[str, np.ndarray], set[str]]:
    """Read the whole file once; also the columns that turned out not to be numbers after all."""
    parts: dict[str, list[np.ndarray]] = {}
    failed: set[str] = set()
    with opened(path) as text:
        rows = _rows(path, text, delimiter)
        header = _header(path, next(rows, []))
        parts = {name: [] for name in header}
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
    if first:
        raise ValueError(f"{path} holds a header and nothing else: no entities")
    return {name: np.concatenate(own) for name, own in parts.items() if name not in failed}, failed


def _rows(path: Path, text: object, delimiter: str | None) -> Iterator[list[str]]:
    """Rows of cells, all as long as the header."""
    source = lines(path, text)  # type: ignore[arg-type]
    first = next(source, None)
    if first is None or not first.strip():
        raise ValueError(f"{path} is empty: it must start with a line that names the columns")
    mark = delimiter or _delimiter(path, first)
    csv.field_size_limit(LONGEST)
    reader = csv.reader(_again(first, source), delimiter=mark, strict=False)
    width = None
    try:
        for row in reader:
            if not row:
                continue  # an empty line
            width = width or len(row)
            if len(row) != width:
                raise ValueError(
                    f"{path}: line {reader.line_num} has {len(row)} cells where the header has {width}: "
                    f"is {_spoken(mark)} the delimiter (--delimiter), and are cells that hold one quoted?"
                )
            yield row
    except csv.Error as error:
        raise ValueError(f"{path}: line {reader.line_num} cannot be read as a table: {error}") from error


def _again(first: str, rest: Iterator[str]) -> Iterator[str]:
    yield first
    yield from rest


def _delimiter(path: Path, header: str) -> str:
    """The mark that cuts the header into most cells; by the file's name where none does."""
    if ".tsv" in path.suffixes:
        return "\t"
    counts = [len(next(csv.reader([header], delimiter=mark))) for mark in DELIMITERS]
    return DELIMITERS[int(np.argmax(counts))]


def _spoken(mark: str) -> str:
    return "a tab" if mark == "\t" else repr(mark)


def _header(path: Path, names: list[str]) -> list[str]:
    names = [name.strip() for name in names]
    names = [name or f"column {i + 1}" for i, name in enumerate(names)]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ValueError(f"{path} has two columns called {twice!r}: rename one")
    return names


def _as_numbers(column: tuple[str, ...]) -> np.ndarray | None:
    """Numbers with NaN for empty cells, or None if some cell holds something else."""
    try:
        return np.array(column, dtype=np.float64)
    except ValueError:
        pass
    try:
        return np.array([np.nan if cell.strip().lower() in MISSING else float(cell) for cell in column])
    except ValueError:
        return None


def _as_texts(column: tuple[str, ...]) -> np.ndarray:
    texts = np.empty(len(column), dtype=object)
    texts[:] = [cell if cell.strip() else None for cell in column]
    return texts
