"""Locate input files, and copy pipes to temporary files so that they can be read more than once."""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
import zlib
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from .base import FORMATS, FileContent, InputFile
from .text import UTF_16_MARKS

STANDARD_INPUT = "/dev/stdin"
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
SNIFFED = 65536  # bytes at the start of a pipe from which its format is detected
MAX_DOCUMENT = 2**26  # bytes of a file that is read and parsed as a whole


class InputFiles:
    """Locate files; copy each pipe once, however often and under whatever name it is requested.

    The copies are deleted when the context ends.

    Parameters
    ----------
    objects : mapping of path to callable, optional
        Objects in memory in place of files, by the path that stands for each: functions that take the names of columns
        to read as text, and return the content.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> from consilience.files import InputFiles
    >>> with tempfile.TemporaryDirectory() as folder, InputFiles() as inputs:
    ...     np.save(f"{folder}/size.npy", np.ones((3, 2)))
    ...     inputs.locate(Path(folder, "size.npy")).suffix
    '.npy'
    """

    def __init__(self, objects: Mapping[Path, Callable[[frozenset[str]], FileContent]] | None = None) -> None:
        self.objects = objects or {}
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._copies: dict[tuple[int, int], Path] = {}

    def __enter__(self) -> InputFiles:
        return self

    def __exit__(self, *_exception: object) -> None:
        if self._folder is not None:
            self._folder.cleanup()
        self._folder = None
        self._copies = {}

    def locate(self, path: Path) -> InputFile:
        """Check that a path can be read, and copy its content if it is a pipe.

        Parameters
        ----------
        path : Path
            Path of the file, perhaps with the name of a sheet after #.
        """
        file, sheet = split_sheet(path)
        if sheet is not None:
            return replace(self.locate(file), path=path, sheet=sheet)
        if not path.exists():
            reason = f": it is a link to {os.readlink(path)}, which leads to no file" if path.is_symlink() else ""
            raise FileNotFoundError(f"there is no file {path}{reason}")
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
        """Copy the content of a pipe to a temporary file, and name that by its format."""
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix="consilience-")
        copy = Path(self._folder.name) / f"pipe{len(self._copies)}"
        with path.open("rb") as pipe, copy.open("xb") as file:
            shutil.copyfileobj(pipe, file, 2**20)
        with copy.open("rb") as file:
            start = file.read(SNIFFED)
        named = InputFile(path, path)
        suffix = named.suffix + ".gz" * named.is_gzip if named.suffix in FORMATS else detect_suffix(start)
        return copy.rename(copy.with_name(copy.name + suffix))


def detect_suffix(start: bytes) -> str:
    """Detect a file's format from its first bytes; text of no other format is a delimited table."""
    if start.startswith(b"\x1f\x8b"):
        try:
            unpacked = zlib.decompressobj(wbits=31).decompress(start, SNIFFED)
        except zlib.error:
            unpacked = b""
        return f"{detect_suffix(unpacked)}.gz"
    if start.startswith(UTF_16_MARKS):
        start = start.decode("utf-16", "ignore").encode()
    content = start.removeprefix(BYTE_ORDER_MARK).lstrip()
    detected = (suffix for suffix, file_format in FORMATS.items() if file_format.detect and file_format.detect(content))
    return next(detected, ".csv")


def split_sheet(path: Path) -> tuple[Path, str | None]:
    """Split FILE#SHEET into the file and the sheet, unless that is the name of a file."""
    name, _, sheet = path.name.partition("#")
    file_format = FORMATS.get(Path(name).suffix.lower())
    if not sheet or ":" in sheet or file_format is None or not file_format.has_sheets or path.exists():
        return path, None
    return path.with_name(name), sheet


def parse_path(text: str) -> Path:
    """Path that an argument names; - is standard input, as for other commands."""
    return Path(STANDARD_INPUT if text == "-" else text)


def read_document(path: Path, parse: Callable[[str], Any], option: str = "") -> Any:
    """Read a file of settings or facts as a whole, and parse its text.

    Parameters
    ----------
    path : Path
        Path of the file, of at most `MAX_DOCUMENT` bytes.
    parse : callable
        Turns the text into values, such as `json.loads`; any ValueError is an error in the file.
    option : str, optional
        The option that names the file, for messages.
    """
    role = f" ({option})" if option else ""
    with InputFiles() as inputs:
        try:
            location = inputs.locate(path).location
        except (FileNotFoundError, IsADirectoryError, ValueError) as error:
            raise type(error)(f"{error}{role}") from None
        try:
            if location.stat().st_size > MAX_DOCUMENT:
                raise ValueError(f"it has {location.stat().st_size:,} bytes, and at most {MAX_DOCUMENT:,} are read")
            return parse(location.read_text(encoding="utf-8"))
        except RecursionError:
            raise ValueError(f"{path}{role} cannot be read: its values are nested too deeply") from None
        except ValueError as error:
            raise ValueError(f"{path}{role} cannot be read: {error}") from error
