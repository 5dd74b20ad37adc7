"""Hidden folders in which files are written before they take their places.

A staging folder holds a locked file as long as its process lives. Folders that a killed process left are recognised
by a lock that is free, and the next process that writes to the same place removes them.
"""

from __future__ import annotations

import os
import platform
import shutil
import tempfile
import time
import zlib
from contextlib import suppress
from pathlib import Path
from types import ModuleType

fcntl: ModuleType | None
try:
    import fcntl
except ImportError:  # Windows: folders that killed processes left stay where they are
    fcntl = None

PREFIX, WRITING, PLACING = ".consilience-", ".partial", ".placing"
LOCK = "lock"
ONE_DAY = 86_400  # seconds; writing results takes minutes at most
EXAMPLE = f"{PREFIX}00000000-00000000{WRITING}"  # as long as every name

_cleaned: set[tuple[int, int]] = set()  # device and inode of the folders that this process has looked into


class Staging:
    """A staging folder: `new` for the files to be placed, `old` for copies of those that they replace.

    Its name ends in ``.partial`` while it is written, and in ``.placing`` while its files take their places one by
    one. A folder in which a ``.placing`` is left has files of two runs.
    """

    def __init__(self, parent: Path) -> None:
        remove_leftovers(parent)
        self.folder, self._lock = _make_locked(parent)
        self.new, self.old = self.folder / "new", self.folder / "old"
        try:
            self.new.mkdir()
        except BaseException:
            self.remove()
            raise

    def begin_placing(self, final: Path) -> None:
        """Mark the final folder as being changed."""
        self._rename(final / f"{self.folder.stem}{PLACING}")

    def end_placing(self) -> None:
        """Take the mark away: all files are from one run again."""
        self._rename(self.folder.with_suffix(WRITING))

    def _rename(self, folder: Path) -> None:
        os.rename(self.folder, folder)
        self.folder, self.new, self.old = folder, folder / "new", folder / "old"

    def remove(self) -> None:
        """Remove the folder, unless it marks files of two runs."""
        if self.folder.suffix != PLACING:
            _remove(self.folder)
        if self._lock is not None:
            os.close(self._lock)


def _make_locked(parent: Path) -> tuple[Path, int | None]:
    """Make a folder with a locked file in it; no lock where there are none."""
    host = f"{zlib.crc32(platform.node().encode()):08x}"
    while True:
        folder = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{host}-", suffix=WRITING, dir=parent))
        try:
            lock = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        except FileNotFoundError:  # another process took the empty folder for a leftover
            continue
        except BaseException:
            folder.rmdir()
            raise
        try:
            if _lock_now(lock, folder / LOCK):
                return folder, lock
        except OSError:  # a file system without locks
            os.close(lock)
            return folder, None
        os.close(lock)


def _lock_now(descriptor: int, path: Path) -> bool:
    """Lock an open file; return False if another process has locked or removed it."""
    if fcntl is None:
        raise OSError("there are no file locks on this system")
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return os.path.samestat(os.fstat(descriptor), os.stat(path))
    except (BlockingIOError, FileNotFoundError):
        return False


def _remove(folder: Path) -> None:
    """Remove a staging folder, and its lock last, so that a folder without a lock is always empty."""
    with suppress(OSError):
        for path in folder.iterdir():
            if path.name != LOCK:
                shutil.rmtree(path, ignore_errors=True)
        (folder / LOCK).unlink(missing_ok=True)
        folder.rmdir()


def remove_leftovers(parent: Path) -> None:
    """Remove staging folders that killed processes have left in a folder; look into each folder once per process."""
    with suppress(OSError):
        status = os.stat(parent)
        if (status.st_dev, status.st_ino) not in _cleaned:
            for folder in find_staging(parent, WRITING):
                _remove_if_abandoned(folder)
            _cleaned.add((status.st_dev, status.st_ino))


def remove_marks(folder: Path, names: set[str]) -> None:
    """Remove the marks of killed processes whose files are all among `names`, which have just been replaced."""
    with suppress(OSError):
        for mark in find_staging(folder, PLACING):
            if {path.name for kind in ("new", "old") for path in (mark / kind).glob("*")} <= names:
                _remove_if_abandoned(mark)


def find_staging(parent: Path, suffix: str) -> list[Path]:
    """List the staging folders of one kind that are in a folder."""
    with os.scandir(parent) as entries:
        return [
            Path(entry.path)
            for entry in entries
            if entry.name.startswith(PREFIX) and entry.name.endswith(suffix) and entry.is_dir(follow_symlinks=False)
        ]


def is_in_staging(path: Path) -> bool:
    """Whether a path lies in a staging folder."""
    return any(part.startswith(PREFIX) and part.endswith((WRITING, PLACING)) for part in path.absolute().parent.parts)


def is_locked(folder: Path) -> bool:
    """Whether the process that made a staging folder is still running; False if that cannot be told."""
    if fcntl is None:
        return False
    try:
        descriptor = os.open(folder / LOCK, os.O_RDWR | os.O_NOFOLLOW)
    except OSError:
        return False
    try:
        return not _lock_now(descriptor, folder / LOCK)
    except OSError:  # a file system without locks
        return False
    finally:
        os.close(descriptor)


def _remove_if_abandoned(folder: Path) -> None:
    """Remove a folder of this user whose process is gone.

    Locks of other machines do not reach every network folder: their folders must also be older than a day.
    """
    if fcntl is None or os.lstat(folder).st_uid != os.geteuid():
        return
    try:
        descriptor = os.open(folder / LOCK, os.O_RDWR | os.O_NOFOLLOW)
    except FileNotFoundError:
        with suppress(OSError):
            folder.rmdir()  # fails unless it is empty
        return
    try:
        same_host = folder.name.startswith(f"{PREFIX}{zlib.crc32(platform.node().encode()):08x}-")
        old = time.time() - os.fstat(descriptor).st_mtime > ONE_DAY
        if (same_host or old) and _lock_now(descriptor, folder / LOCK):
            _remove(folder)
    finally:
        os.close(descriptor)
