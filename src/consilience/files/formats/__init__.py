"""Readers of file formats, chosen by the suffix of the file name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from .annotated import read_h5ad, read_h5mu
from .arrays import read_npy, read_npz
from .cells import format_cell, is_missing, is_number
from .delimited import read_delimited
from .inputs import InputFile, InputFiles, parse_path
from .jsonl import read_jsonl
from .market import read_market, read_svmlight
from .parquet import read_parquet
from .source import FileCollection, FileContent, FileMatrix, FileTable

TABLES: dict[str, Callable[..., FileTable]] = {
    ".csv": read_delimited,
    ".tsv": read_delimited,
    ".txt": read_delimited,
    ".jsonl": read_jsonl,
    ".ndjson": read_jsonl,
    ".parquet": read_parquet,
    ".pq": read_parquet,
}
MATRICES: dict[str, Callable[[InputFile], Any]] = {
    ".npy": read_npy,
    ".npz": read_npz,
    ".mtx": read_market,
    ".svm": read_svmlight,
    ".svmlight": read_svmlight,
    ".libsvm": read_svmlight,
    ".h5ad": read_h5ad,
    ".h5mu": read_h5mu,
}


def read_file(path: Path, as_text: frozenset[str] = frozenset(), delimiter: str | None = None) -> FileContent:
    """Read a file; columns named in `as_text` are never taken for numbers."""
    with InputFiles() as inputs:
        return read_input(inputs.locate(path), as_text, delimiter)


def read_input(file: InputFile, as_text: frozenset[str] = frozenset(), delimiter: str | None = None) -> FileContent:
    """Read a file that `InputFiles` has located, such as a pipe that is read more than once."""
    suffix = _find_format(file)
    if suffix in TABLES:
        return TABLES[suffix](file, as_text, delimiter)
    return MATRICES[suffix](file)


def is_table(path: Path, inputs: InputFiles) -> bool:
    """Whether the file has named columns."""
    return _find_format(inputs.locate(path)) in TABLES


def _find_format(file: InputFile) -> str:
    """Return the suffix that tells the format; refuse an empty file and an unknown suffix."""
    if not file.n_bytes:
        raise ValueError(f"{file} is empty")
    if file.suffix not in TABLES and file.suffix not in MATRICES:
        suffixes = ", ".join([*TABLES, *MATRICES])
        raise ValueError(f"{file}: files are known by their ending, which must be one of {suffixes}")
    return file.suffix


__all__ = [
    "FileCollection",
    "FileContent",
    "FileMatrix",
    "FileTable",
    "InputFile",
    "InputFiles",
    "format_cell",
    "is_missing",
    "is_number",
    "is_table",
    "parse_path",
    "read_file",
    "read_input",
]
