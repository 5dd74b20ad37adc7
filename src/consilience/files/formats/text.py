"""Lines of text files; binary, damaged and endless files are refused with their names."""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

from .base import InputFile

MAX_LINE_LENGTH = 64 * 2**20  # characters; a longer line means a file without line ends
READ_ERRORS = (EOFError, OSError, zlib.error)  # raised by truncated and damaged compressed files
FOREIGN_SIGNATURES = {
    b"PK\x03\x04": "a zip archive (an .xlsx or .npz file?)",
    b"\x1f\x8b": "compressed by gzip: let its name end in .gz",
    b"\x93NUMPY": "a numpy array: let its name end in .npy",
    b"PAR1": "a Parquet file: let its name end in .parquet",
    b"\x89HDF": "an HDF5 file: let its name end in .h5ad or .h5mu",
    b"%PDF": "a PDF",
    b"\xff\xfe": "UTF-16 text: save it as UTF-8",
    b"\xfe\xff": "UTF-16 text: save it as UTF-8",
}


@contextmanager
def open_text(path: InputFile) -> Iterator[IO[str]]:
    """Open a file as text, decompressed if its name ends in .gz.

    Parameters
    ----------
    path : InputFile
        The file, as `InputFiles.locate` returns it.

    Yields
    ------
    text file
        The decoded text. Bytes that are not text raise a ValueError that names the file.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> from consilience.files import InputFiles, open_text
    >>> with tempfile.TemporaryDirectory() as folder, InputFiles() as inputs:
    ...     np.savetxt(f"{folder}/size.txt.gz", [[1, 2], [3, 4]], fmt="%d")
    ...     with open_text(inputs.locate(Path(folder, "size.txt.gz"))) as text:
    ...         text.read().split()
    ['1', '2', '3', '4']
    """
    with gzip.open(path, "rb") if path.is_gzip else path.open() as raw:
        try:
            start = raw.peek(4096)[:4096]
        except gzip.BadGzipFile as error:
            raise ValueError(f"{path} ends in .gz but is not compressed by gzip: rename it") from error
        except READ_ERRORS as error:
            raise ValueError(f"{path} is truncated or damaged: {error}") from error
        _check_text(path, start)
        with io.TextIOWrapper(raw, encoding="utf-8-sig", newline="") as text:
            yield text


def _check_text(path: InputFile, start: bytes) -> None:
    foreign = next((name for signature, name in FOREIGN_SIGNATURES.items() if start.startswith(signature)), None)
    if foreign is not None or b"\x00" in start:
        raise ValueError(f"{path} is not text but {foreign or 'binary'}")


def read_lines(path: InputFile, text: IO[str]) -> Iterator[str]:
    """Yield the lines; refuse a line that is too long, and name the line of bytes that are not UTF-8.

    Parameters
    ----------
    path : InputFile
        The file, which messages name.
    text : text file
        The open file, from `open_text`.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> from consilience.files import InputFiles, open_text, read_lines
    >>> with tempfile.TemporaryDirectory() as folder, InputFiles() as inputs:
    ...     np.savetxt(f"{folder}/size.txt", [[1, 2], [3, 4]], fmt="%d")
    ...     path = inputs.locate(Path(folder, "size.txt"))
    ...     with open_text(path) as text:
    ...         [line.split() for line in read_lines(path, text)]
    [['1', '2'], ['3', '4']]
    """
    number = 0
    while True:
        number += 1
        try:
            line = text.readline(MAX_LINE_LENGTH)
        except UnicodeDecodeError as error:  # text is decoded ahead of the line that is read
            bad_line = number + error.object[: error.start].count(b"\n")
            raise ValueError(f"{path} is not UTF-8 near line {bad_line}: save it as UTF-8") from error
        except READ_ERRORS as error:
            raise ValueError(f"{path} is truncated or damaged near line {number}: {error}") from error
        if not line:
            return
        if len(line) == MAX_LINE_LENGTH and not line.endswith("\n"):
            raise ValueError(f"{path}: line {number} is longer than 64 MiB: is this a text file with line ends?")
        if "\x00" in line:
            raise ValueError(f"{path} is not text: line {number} holds a zero byte")
        yield line
