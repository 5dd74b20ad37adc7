"""What every file format needs: the input file, the content that a reader returns, and the declaration of a format."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np


@dataclass(frozen=True)
class InputFile:
    """A file to read: the path that the user gave, and the location of its bytes.

    The two differ for pipes, whose content is copied to a temporary file. Messages show the user's path (`str`), and
    functions that open files get the location (`os.fspath`).
    """

    path: Path
    location: Path

    def __str__(self) -> str:
        return str(self.path)

    def __fspath__(self) -> str:
        return str(self.location)

    @property
    def n_bytes(self) -> int:
        """Length of the file."""
        return self.location.stat().st_size

    @property
    def is_gzip(self) -> bool:
        """Whether the name ends in .gz."""
        return self.location.suffix.lower() == ".gz"

    @property
    def suffix(self) -> str:
        """Suffix that names the format, in lower case and without .gz."""
        suffixes = [suffix.lower() for suffix in self.location.suffixes]
        if self.is_gzip:
            suffixes.pop()
        return suffixes[-1] if suffixes else ""

    def open(self) -> io.BufferedReader:
        """Open the file for reading bytes."""
        return self.location.open("rb")


@dataclass(frozen=True, eq=False)
class FileTable:
    """Named columns of one length: numbers (NaN if empty), texts (None if empty), bags of terms, or vectors."""

    columns: dict[str, np.ndarray]


@dataclass(frozen=True, eq=False)
class FileMatrix:
    """A matrix of numbers, dense or sparse, with the names of its rows and columns if the file has any.

    `is_expression` marks the measurements of a single-cell file, which are counts however they are stored.
    """

    values: Any
    ids: np.ndarray | None = None
    features: np.ndarray | None = None
    is_expression: bool = False


@dataclass(frozen=True, eq=False)
class FileCollection:
    """Several matrices over entities with ids, and columns that describe the entities."""

    matrices: dict[str, FileMatrix]
    columns: dict[str, np.ndarray] = field(default_factory=dict)
    ids: np.ndarray | None = None


FileContent = FileTable | FileMatrix | FileCollection


@dataclass(frozen=True)
class TableOptions:
    """How a table is read: columns that are never taken for numbers, and the delimiter (None: detected)."""

    as_text: frozenset[str] = frozenset()
    delimiter: str | None = None


@dataclass(frozen=True)
class FileFormat:
    """Declaration of a file format.

    Parameters
    ----------
    suffixes : tuple of str
        Suffixes of the file names, in lower case and with the dot.
    read : callable
        Reads an `InputFile` and returns a `FileTable`, `FileMatrix` or `FileCollection`. The reader of a table also
        gets `TableOptions`. A file that cannot be read raises a ValueError that names it.
    is_table : bool, default=False
        Whether the files have named columns.
    detect : callable, optional
        Says whether a file that starts with these bytes has the format. Pipes, which have no suffix, are recognized by
        it; bytes of a byte order mark and white space at the start are left out.
    """

    suffixes: tuple[str, ...]
    read: Callable[..., FileContent]
    is_table: bool = False
    detect: Callable[[bytes], bool] | None = None


FORMATS: dict[str, FileFormat] = {}  # by suffix


def register_format(file_format: FileFormat) -> None:
    """Make the files of a format readable, by the command line as well."""
    for suffix in file_format.suffixes:
        if suffix in FORMATS:
            raise ValueError(f"the suffix {suffix!r} belongs to another file format already: choose another suffix")
    FORMATS.update(dict.fromkeys(file_format.suffixes, file_format))
