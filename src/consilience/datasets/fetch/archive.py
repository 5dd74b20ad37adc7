"""Read files of an archive into memory; nothing is unpacked to disk, so nothing can be written to a wrong place."""

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

MAX_MEMBER_BYTES = 2**28  # of one file; the largest that is read has a tenth of it
MAX_ARCHIVE_BYTES = 2**31  # of all files together, read or not
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
        if total > MAX_ARCHIVE_BYTES or (is_wanted and member.size > MAX_MEMBER_BYTES):
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

    def __init__(self, file: IO[bytes], max_read: int = MAX_MEMBER_BYTES, end: int = 2 * MAX_ARCHIVE_BYTES) -> None:
        self._file, self._max_read, self._end = file, max_read, end
        self.tell = file.tell

    def read(self, size: int) -> bytes:
        self._check(size <= self._max_read)
        return self._file.read(size)

    def seek(self, position: int) -> int:
        self._check(position <= self._end)
        return self._file.seek(position)

    def finish(self) -> None:
        """Read to the end, where the checksum is: a tar archive ends before its stream does."""
        while self._file.read(2**20):
            self._check(self._file.tell() <= self._end)

    def _check(self, is_within: bool) -> None:
        if not is_within:
            raise tarfile.ReadError("it declares more than a data set holds")
