"""Locate input files, and copy pipes to temporary files so that they can be read more than once."""

from __future__ import annotations

import io
import os
import re
import shutil
import stat
import tempfile
import zlib
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

TABLE_SUFFIXES = (".csv", ".tsv", ".txt", ".jsonl", ".ndjson", ".parquet", ".pq")
MATRIX_SUFFIXES = (".npy", ".npz", ".mtx", ".svm", ".svmlight", ".libsvm", ".h5ad", ".h5mu")
STANDARD_INPUT = "/dev/stdin"
SIGNATURES = {
    b"\x93NUMPY": ".npy",
    b"PK\x03\x04": ".npz",
    b"PAR1": ".parquet",
    b"\x89HDF": ".h5ad",
    b"MuData": ".h5mu",  # MuData writes its name into the block before the HDF5 signature
    b"%%MatrixMarket": ".mtx",
    b"{": ".jsonl",
}
SVMLIGHT_LINE = re.compile(rb"[+-]?[\d.]+(e[+-]?\d+)?([ \t]+(qid|\d+):[^\s:]+)+[ \t]*(#.*)?\r?$", re.IGNORECASE)
SNIFFED = 65536  # bytes at the start of a pipe from which its format is detected


@dataclass(frozen=True)
class InputFile:
    """A file to read: the path that the user gave, and the location of its bytes.

    The two differ for pipes, whose content is copied to a temporary file. Messages show the path that was given
    (`str`), and functions that open files get the location (`os.fspath`).
    """

    given: Path
    location: Path

    def __str__(self) -> str:
        return str(self.given)

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


class InputFiles:
    """Locate files; copy each pipe once, however often and under whatever name it is asked for.

    The copies are deleted when the context ends.
    """

    def __init__(self) -> None:
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._copies: dict[tuple[int, int], Path] = {}

    def __enter__(self) -> InputFiles:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._folder is not None:
            self._folder.cleanup()
        self._folder = None
        self._copies = {}

    def locate(self, path: Path) -> InputFile:
        """Check that a path can be read, and copy its content if it is a pipe."""
        if not path.exists():
            raise FileNotFoundError(f"there is no file {path}")
        status = path.stat()
        if stat.S_ISDIR(status.st_mode):
            raise IsADirectoryError(f"{path} is a folder: name a file in it")
        if os.path.samestat(status, os.stat(os.devnull)):
            return InputFile(path, path)
        if not stat.S_ISREG(status.st_mode) and not stat.S_ISFIFO(status.st_mode):
            raise ValueError(f"{path} is a device or a socket, which may never end: name a file or a pipe")
        # /dev/stdin and /dev/fd/3 may also be regular files, whose names do not tell their formats.
        is_unnamed = path.is_relative_to("/dev") and not path.suffix
        if not stat.S_ISFIFO(status.st_mode) and not is_unnamed:
            return InputFile(path, path)
        key = status.st_dev, status.st_ino
        if key not in self._copies:
            self._copies[key] = self._copy(path)
        return InputFile(path, self._copies[key])

    def _copy(self, path: Path) -> Path:
        """Copy everything that comes out of a pipe to a temporary file, and name that by its format."""
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix="consilience-")
        copy = Path(self._folder.name) / f"pipe{len(self._copies)}"
        with path.open("rb") as pipe, copy.open("xb") as file:
            shutil.copyfileobj(pipe, file, 2**20)
        with copy.open("rb") as file:
            start = file.read(SNIFFED)
        given = InputFile(path, path)
        has_format = given.suffix in (*TABLE_SUFFIXES, *MATRIX_SUFFIXES)
        suffix = given.suffix + (".gz" if given.is_gzip else "") if has_format else detect_suffix(start)
        return copy.rename(copy.with_name(copy.name + suffix))


def detect_suffix(start: bytes) -> str:
    """Detect a file's format from its first bytes; a text of no other format is a delimited table."""
    if start.startswith(b"\x1f\x8b"):
        try:
            unpacked = zlib.decompressobj(wbits=31).decompress(start, SNIFFED)
        except zlib.error:
            unpacked = b""
        return f"{detect_suffix(unpacked)}.gz"
    text = start.removeprefix(b"\xef\xbb\xbf").lstrip()
    for signature, suffix in SIGNATURES.items():
        if text.startswith(signature) or start.startswith(signature):
            return suffix
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith(b"#")]
    return ".svm" if lines and SVMLIGHT_LINE.match(lines[0]) else ".csv"


def parse_path(text: str) -> Path:
    """Path that an argument names; - is standard input, as for other commands."""
    return Path(STANDARD_INPUT if text == "-" else text)
