"""Files within an archive, read into memory: nothing is unpacked, so nothing can be put where it should not be."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath
from typing import IO, Any, NamedTuple

MAX_MEMBER_BYTES = 2**28  # bytes of one file; the largest that is read has a tenth of it
MAX_ARCHIVE_BYTES = 2**31  # bytes of all files together, read or not
BROKEN = (
    *(tarfile.TarError, zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, OSError, RuntimeError),
    *(MemoryError, OverflowError, UnicodeError),
)
PACKED: dict[bytes, Callable[[Any], Any]] = {b"\x1f\x8b": gzip.open, b"BZh": bz2.open, b"\xfd7zXZ": lzma.open}


class Member(NamedTuple):
    """A plain file in an archive."""

    name: str
    size: int
    read: Callable[[], bytes]


def read_members(path: Path, names: tuple[str, ...] = (), inner: str = "") -> dict[str, bytes]:
    """The contents of the named files by their last name, or of all files by their whole name.

    With `inner`, they lie in an archive of that name within the archive.
    """
    try:
        with path.open("rb") as file:
            if not inner:
                return _read(file, path.name, names)
            return _read(io.BytesIO(_read(file, path.name, (inner,))[inner]), inner, names)
    except PermissionError:
        raise  # the archive may well be sound
    except BROKEN as error:
        reason = str(error).partition("\n")[0].rstrip(":")  # tar lists all that it has tried
        raise ValueError(f"{path} is no archive that can be read ({reason}): delete it and get it again") from error


def _read(file: IO[bytes], called: str, names: tuple[str, ...]) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    total = 0
    for member in _members(file):
        total += member.size
        key = PurePosixPath(member.name).name if names else member.name
        asked = key in names and key not in found if names else not PurePosixPath(key).name.startswith("._")
        if total > MAX_ARCHIVE_BYTES or (asked and member.size > MAX_MEMBER_BYTES):
            raise ValueError(f"{called} says it holds more than a data set does ({member.name}): it is not read")
        if asked:
            found[key] = member.read()
    lacking = [name for name in names if name not in found]
    if lacking:
        raise ValueError(f"{called} does not hold {lacking[0]}: it is another file, or its home has changed")
    return found


def _members(file: IO[bytes]) -> Iterator[Member]:
    """The plain files; links, devices and folders are passed by."""
    start = file.read(4)
    file.seek(0)
    return _zipped(file) if start == b"PK\x03\x04" else _tarred(file)


def _zipped(file: IO[bytes]) -> Iterator[Member]:
    with zipfile.ZipFile(file) as archive:
        for info in archive.infolist():
            if not info.is_dir():
                yield Member(info.filename, info.file_size, lambda info=info: archive.read(info))  # type: ignore[misc]


def _tarred(file: IO[bytes]) -> Iterator[Member]:
    start = file.read(6)
    file.seek(0)
    stream = BoundedStream(next((opened(file) for mark, opened in PACKED.items() if start.startswith(mark)), file))
    with tarfile.open(fileobj=stream, mode="r:") as archive:  # type: ignore[call-overload]
        for info in archive:
            if info.isreg():
                yield Member(info.name, info.size, lambda info=info: _content(archive, info))  # type: ignore[misc]
    stream.finish()


class BoundedStream:
    """A stream that is not read on without end, whatever sizes a header declares."""

    def __init__(self, file: IO[bytes], once: int = MAX_MEMBER_BYTES, end: int = 2 * MAX_ARCHIVE_BYTES) -> None:
        self._file, self._once, self._end = file, once, end
        self.tell = file.tell

    def read(self, size: int) -> bytes:
        self._check(size <= self._once)
        return self._file.read(size)

    def seek(self, to: int) -> int:
        self._check(to <= self._end)
        return self._file.seek(to)

    def finish(self) -> None:
        """Read to the end, where the checksum is: a tar archive ends before its stream does."""
        while self._file.read(2**20):
            self._check(self._file.tell() <= self._end)

    def _check(self, within: bool) -> None:
        if not within:
            raise tarfile.ReadError("it declares more than a data set holds")


def _content(archive: tarfile.TarFile, info: tarfile.TarInfo) -> bytes:
    file = archive.extractfile(info)
    return b"" if file is None else file.read()
