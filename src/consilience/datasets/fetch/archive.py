"""Read archives and converted copies into memory; nothing is unpacked to disk.

A converted copy is one ``.npz`` file without Python objects.

It holds ``labels`` (class of each row), ``class_names``, ``view_names``, and for each view either ``NAME__dense`` or
``NAME__data``, ``NAME__indices``, ``NAME__indptr`` and ``NAME__shape``. Names of columns (``NAME__features``) and rows
(``sample_ids``) are bytes of UTF-8, one name per line.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import re
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import IO, Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from ..._tuning import Tuning
from ...data.inputs import ViewInput
from .remote import ParsedData, build_csr, make_unique, to_whole_numbers

tuning = Tuning(
    max_member_bytes=2**28,  # of one file; the largest that is read has a tenth of it
    max_archive_bytes=2**31,  # of all files together, read or not
)
MAX_READ, MAX_POSITION = 2**28, 2**32  # bytes that are read at once, and where a file may be read
READ_FAILURES = (
    *(tarfile.TarError, zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, OSError, RuntimeError),
    *(MemoryError, OverflowError, UnicodeError),
)
OPENERS: dict[bytes, Callable[[Any], Any]] = {b"\x1f\x8b": gzip.open, b"BZh": bz2.open, b"\xfd7zXZ": lzma.open}


class Member(NamedTuple):
    """A regular file in an archive."""

    name: str
    size: int
    read: Callable[[], bytes]


def read_members(path: Path, names: tuple[str, ...] = (), inner: str = "") -> dict[str, bytes]:
    """Read the named files by their names without folders, or all files by their whole names.

    With `inner`, they are in an archive of that name within the archive.
    """
    try:
        with path.open("rb") as file:
            if not inner:
                return _read_archive(file, path.name, names)
            return _read_archive(io.BytesIO(_read_archive(file, path.name, (inner,))[inner]), inner, names)
    except PermissionError:
        raise  # the archive may be intact
    except READ_FAILURES as error:
        reason = str(error).partition("\n")[0].rstrip(":")  # tarfile lists everything that it has tried
        raise ValueError(f"{path} is not a readable archive ({reason}): delete it and get it again") from error


def _read_archive(file: IO[bytes], archive_name: str, names: tuple[str, ...]) -> dict[str, bytes]:
    contents: dict[str, bytes] = {}
    total = 0
    start = file.read(4)
    file.seek(0)
    for member in _list_zip(file) if start == b"PK\x03\x04" else _list_tar(file):
        total += member.size
        key = PurePosixPath(member.name).name if names else member.name
        is_wanted = key in names and key not in contents if names else not PurePosixPath(key).name.startswith("._")
        if total > tuning.max_archive_bytes or (is_wanted and member.size > tuning.max_member_bytes):
            raise ValueError(f"{archive_name} claims to hold more than a data set does ({member.name}): it is not read")
        if is_wanted:
            contents[key] = member.read()
    missing = [name for name in names if name not in contents]
    if missing:
        raise ValueError(f"{archive_name} does not hold {missing[0]}: it is another file, or the published one changed")
    return contents


def _list_zip(file: IO[bytes]) -> Iterator[Member]:
    with zipfile.ZipFile(file) as archive:
        for info in archive.infolist():
            if not info.is_dir():
                yield Member(info.filename, info.file_size, lambda info=info: archive.read(info))  # type: ignore[misc]


def _list_tar(file: IO[bytes]) -> Iterator[Member]:
    """List the regular files; links, devices and folders are skipped."""
    start = file.read(6)
    file.seek(0)
    stream = BoundedStream(
        next((decompress(file) for mark, decompress in OPENERS.items() if start.startswith(mark)), file)
    )
    with tarfile.open(fileobj=stream, mode="r:") as archive:  # type: ignore[call-overload]
        for info in archive:
            if info.isreg():
                yield Member(info.name, info.size, lambda info=info: archive.extractfile(info).read())  # type: ignore[misc]
    stream.finish()


class BoundedStream:
    """A stream that limits how much is read, whatever sizes a header declares."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self.tell = file.tell

    def read(self, size: int) -> bytes:
        self._check(size <= MAX_READ)
        return self._file.read(size)

    def seek(self, position: int) -> int:
        self._check(position <= MAX_POSITION)
        return self._file.seek(position)

    def finish(self) -> None:
        """Read to the end, where the checksum is: a tar archive ends before its stream does."""
        while self._file.read(2**20):
            self._check(self._file.tell() <= MAX_POSITION)

    def _check(self, is_within: bool) -> None:
        if not is_within:
            raise tarfile.ReadError("it declares more than a data set holds")


SIMPLE_NAME = re.compile(r"[\w-][\w.-]*")  # a name that files can have
MAX_INDEX = 2**31 - 1  # for 32 bits


def read_copy(path: Path, view_names: Mapping[str, str] | None = None) -> ParsedData:
    """Read a copy; `view_names` selects views of the copy and gives them other names."""
    try:
        with zipfile.ZipFile(path) as archive:
            sizes = [info.file_size for info in archive.infolist()]
        if max(sizes, default=0) > tuning.max_member_bytes or sum(sizes) > tuning.max_archive_bytes:
            raise ValueError(f"it claims to hold {sum(sizes):,} bytes, more than a data set does")
        with np.load(path, allow_pickle=False) as arrays:
            parsed = _parse_copy(arrays, view_names)
        parsed.check()
    except PermissionError:
        raise  # the copy may be intact
    except Exception as error:  # a damaged file can raise any exception
        message = str(error).partition("\n")[0] or type(error).__name__
        reason = "it holds Python objects" if "allow_pickle" in message else message  # not numpy's advice to load them
        raise ValueError(f"{path} is not a readable converted copy ({reason}): see docs/data.md") from error
    return parsed


def _parse_copy(arrays: Any, view_names: Mapping[str, str] | None) -> ParsedData:
    ids = make_unique(_unpack_names(arrays["sample_ids"])) if "sample_ids" in arrays else None
    view_names = dict(view_names or {str(name): str(name) for name in arrays["view_names"]})
    blocks = {}
    for stored_name, name in view_names.items():
        if not SIMPLE_NAME.fullmatch(name):
            raise ValueError(f"a view is called {name!r}: names have letters, digits, '_', '-', and '.' not first")
        key = f"{stored_name}__features"
        columns = np.array(_unpack_names(arrays[key])) if key in arrays else None
        blocks[name] = ViewInput(_read_block(arrays, stored_name), ids, columns)
    class_names = tuple(str(name) for name in arrays["class_names"])
    return ParsedData(blocks, to_whole_numbers("labels", arrays["labels"]), class_names)


def _read_block(arrays: Any, name: str) -> np.ndarray | sp.csr_array:
    is_dense = f"{name}__dense" in arrays
    values = arrays[f"{name}__dense" if is_dense else f"{name}__data"]
    if values.dtype.kind not in "biuf":
        raise ValueError(f"{values.dtype} are not real numbers")
    if is_dense:
        return values.astype(np.float64)
    indices, indptr, shape = (
        to_whole_numbers(f"{name}__{part}", arrays[f"{name}__{part}"], MAX_INDEX)
        for part in ("indices", "indptr", "shape")
    )
    values = values.astype(np.float64 if values.dtype.kind == "f" else np.int64)
    return build_csr(values, indices.astype(np.int32), indptr.astype(np.int32), tuple(shape.tolist()))


def _unpack_names(packed: np.ndarray) -> list[str]:
    if packed.dtype != np.uint8:
        raise ValueError(f"names are bytes of UTF-8, not {packed.dtype}")
    return packed.tobytes().decode().split("\n")
