"""Lines of text files; binary, damaged and endless files are refused with their names."""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

from ..._tuning import Tuning
from .base import InputFile

tuning = Tuning(max_line_length=64 * 2**20)  # characters; a longer line means a file without line ends
READ_ERRORS = (EOFError, OSError, zlib.error)  # raised by truncated and damaged compressed files
FOREIGN_SIGNATURES = {
    b"PK\x03\x04": "a zip archive (an .xlsx or .npz file?)",
    b"\x1f\x8b": "compressed by gzip: let its name end in .gz",
    b"\x93NUMPY": "a numpy array: let its name end in .npy",
    b"PAR1": "a Parquet file: let its name end in .parquet",
    b"\x89HDF": "an HDF5 file: let its name end in .h5ad or .h5mu",
    b"%PDF": "a PDF",
    b"\xff\xfe\x00\x00": "UTF-32 text: save it as UTF-8",
}
UTF_16_MARKS = (b"\xff\xfe", b"\xfe\xff")  # at the start of Excel's "Unicode text", for example


@contextmanager
def open_text(path: InputFile) -> Iterator[IO[str]]:
    """Open a file as text, decompressed if its name ends in .gz: UTF-8, or UTF-16 with a byte order mark.

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
        encoding = "utf-16" if start.startswith(UTF_16_MARKS) else "utf-8-sig"
        with io.TextIOWrapper(raw, encoding=encoding, newline="") as text:
            yield text


def _check_text(path: InputFile, start: bytes) -> None:
    foreign = next((name for signature, name in FOREIGN_SIGNATURES.items() if start.startswith(signature)), None)
    if foreign is not None or (b"\x00" in start and not start.startswith(UTF_16_MARKS)):
        raise ValueError(f"{path} is not text but {foreign or 'binary'}")


def read_lines(path: InputFile, text: IO[str]) -> Iterator[str]:
    """Yield the lines; refuse a line that is too long, and name the line of bytes that are no text.

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
            line = text.readline(tuning.max_line_length)
        except (UnicodeDecodeError, *READ_ERRORS) as error:
            raise _explain_error(path, number, error) from error
        if not line:
            return
        if len(line) == tuning.max_line_length and not line.endswith("\n"):
            raise ValueError(f"{path}: line {number} is longer than 64 MiB: is this a text file with line ends?")
        if "\x00" in line:
            raise ValueError(f"{path} is not text: line {number} holds a zero byte")
        yield line


def read_text(path: InputFile, text: IO[str]) -> str:
    """Return the whole content, whose lines may be of any length."""
    try:
        return text.read()
    except (UnicodeDecodeError, *READ_ERRORS) as error:
        raise _explain_error(path, 1, error) from error


def _explain_error(path: InputFile, number: int, error: Exception) -> ValueError:
    """Return an error with the line near which a file is damaged; `number` is that of the line to read."""
    if type(error) is not UnicodeDecodeError:
        return ValueError(f"{path} is truncated or damaged near line {number}: {error}")
    number += error.object[: error.start].count(b"\n")  # text is decoded ahead of the line that is read
    if error.encoding.startswith("utf-16"):
        return ValueError(f"{path} is UTF-16 text, but truncated or damaged near line {number}: save it as UTF-8")
    return ValueError(
        f"{path} is not UTF-8 near line {number}: save it as UTF-8 (in Excel: CSV UTF-8). To convert text of Windows: "
        "iconv -f WINDOWS-1252 -t UTF-8"
    )
