"""The decisions of a person about the clusters of a run, in an append-only file.

The file ``decisions.jsonl`` is in the folder of the run. Its first line names the run; each further line is one entry,
with a number, the time, and a checksum. An entry is on the disk before `DecisionLog.append` returns, and no entry is
ever changed: an "undo" is an entry of its own. `find_active` says which decisions count after all entries.
"""

from __future__ import annotations

import errno
import json
import os
import sys
import threading
import zlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from typing import Any

from .._tuning import Tuning

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

FILE_NAME, LOCK_NAME = "decisions.jsonl", "decisions.lock"
FORMAT = {"what": "consilience decisions", "version": 1}
tuning = Tuning(max_line_bytes=16_000_000)
LABEL_ONLY = ("rename", "unknown")  # actions of decisions that no group follows from
NOT_DECISIONS = ("undo", "revert", "keep")  # actions that change or name the list of active decisions
LOCKED = (errno.EWOULDBLOCK, errno.EAGAIN, errno.EACCES, errno.EDEADLK)  # the lock belongs to another process
NOT_WRITABLE = (errno.EACCES, errno.EPERM, errno.EROFS)
DISK_FULL = (errno.ENOSPC, errno.EDQUOT)
NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0)
MOVE = "move the file to another folder to start without decisions"


CheckEntry = Callable[[Mapping[str, Any], Sequence[Mapping[str, Any]]], None]


class ReadOnlyError(PermissionError):
    """A decision was made in a log that can only be read."""


class DecisionLog:
    """The decisions about one run.

    A log that another process has open, or that is in a folder without write permission, can be read but not
    changed; `read_only` says why.

    Attributes
    ----------
    entries : list of dict
        All entries, undone or not, in the order of their numbers 1, 2, ...
    read_only : str or None
        Why entries cannot be appended; None if they can.
    """

    def __init__(self, folder: Path, run_key: str, check: CheckEntry | None = None) -> None:
        self.folder, self.path, self.run_key, self.check = folder, folder / FILE_NAME, run_key, check
        self.entries: list[dict[str, Any]] = []
        self.read_only: str | None = None
        self._n_bytes = 0  # length of the header and the entries that have been read or written
        self._prefix = encode_header(run_key)  # what the next append writes before its entry
        self._signature: tuple[int, int] | None = None  # size and time of the file when it was last read
        self._must_truncate = False  # an append failed, and so did removing what it had written
        self._is_closed = False
        self._mutex = threading.RLock()
        self._lock_descriptor: int | None = None

    @classmethod
    def open(cls, folder: Path, run_key: str, check: CheckEntry | None = None) -> DecisionLog:
        """Open the log of a run, for writing if possible.

        Parameters
        ----------
        folder : Path
            Folder of the run.
        run_key : str
            What identifies the run: the decisions of another run are refused.
        check : callable, optional
            Called with each entry that is read and those before it; raises ValueError if the run cannot follow it.

        Returns
        -------
        DecisionLog

        Raises
        ------
        ValueError
            If the file belongs to another run or version, or is damaged.
        """
        log = cls(Path(folder), run_key, check)
        try:
            log._lock_folder()
            log._read()
        except BaseException:
            log.close()
            raise
        return log

    def append(self, entry: Mapping[str, Any]) -> dict[str, Any]:
        """Write an entry to the disk and return it with its number and time.

        If writing fails, the file is left as it was.

        Parameters
        ----------
        entry : mapping
            At least the action, with values that JSON can represent.

        Returns
        -------
        dict

        Raises
        ------
        ReadOnlyError
            If the log cannot be changed.
        OSError
            If the entry could not be written, with the error number of the cause.
        """
        with self._mutex:
            if self.read_only is not None:
                raise ReadOnlyError(self.read_only)
            number = len(self.entries) + 1
            check_entry(entry, number)
            time = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
            complete = json.loads(encode_entry({**entry, "number": number, "time": time}))  # as a later reader sees it
            complete["check"] = compute_check(complete)
            line = encode_entry(complete) + b"\n"
            if len(line) > tuning.max_line_bytes:
                raise ValueError(
                    f"the decision takes {len(line)} bytes, and at most {tuning.max_line_bytes} are allowed"
                )
            self._write(self._prefix + line)
            self._prefix = b""
            self.entries.append(complete)
            return dict(complete)

    def list_active(self) -> list[dict[str, Any]]:
        """Return the decisions that count: those that were neither undone nor replaced."""
        with self._mutex:
            return find_active(self.entries)

    def reload(self) -> bool:
        """Read what another process has appended to a log that is read-only here.

        If the other process has closed the log, it becomes writable here, unless the file is damaged: then `entries`
        stay as they were, and `read_only` describes the damage.

        Returns
        -------
        bool
            Whether the entries or `read_only` have changed.
        """
        with self._mutex:
            if self.read_only is None or self._is_closed:
                return False
            before = (self.entries, self.read_only)
            self._lock_folder()
            try:
                self._read()
            except (ValueError, OSError) as error:
                self._unlock_folder()
                self.read_only = str(error)
            return before != (self.entries, self.read_only)

    def close(self) -> None:
        """Release the lock, so that another process can open the log for writing; entries can still be read."""
        with self._mutex:
            self._is_closed = True
            self.read_only = f"the decisions of {self.folder} have been closed: open the run again to make changes"
            self._unlock_folder()

    def _lock_folder(self) -> None:
        """Take the lock of the folder, and set `read_only`."""
        lock = self.folder / LOCK_NAME
        try:
            descriptor = os.open(lock, os.O_RDWR | os.O_CREAT | NO_FOLLOW, 0o666)
        except OSError as error:
            if error.errno in NOT_WRITABLE:
                self.read_only = f"{self.folder} is not writable: change its permissions to make changes here"
            elif error.errno in DISK_FULL:
                self.read_only = f"{lock} cannot be created: {error.strerror}; free space to make changes here"
            elif lock.is_symlink():
                raise OSError(error.errno, f"{lock} is a symbolic link: delete it") from error
            else:
                raise
            return
        try:
            if sys.platform == "win32":
                msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
            else:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno in LOCKED:
                os.close(descriptor)
                self.read_only = f"another workbench has {self.folder} open: close it to make changes here"
                return
            # The file system has no locks; `_write` notices if another process has written.
        target = self.path if self.path.exists() else self.folder
        if not os.access(target, os.W_OK):
            os.close(descriptor)
            self.read_only = f"{target} is not writable: change its permissions to make changes here"
            return
        self._lock_descriptor = descriptor
        self.read_only = None

    def _unlock_folder(self) -> None:
        """Release the lock, which the end of the process would release too."""
        if self._lock_descriptor is not None:
            os.close(self._lock_descriptor)
            self._lock_descriptor = None

    def _read(self) -> None:
        """Read the file if it has changed; remove an unfinished last line if the log is writable."""
        try:
            status = os.stat(self.path)
        except FileNotFoundError:
            self.entries, self._n_bytes, self._signature, self._prefix = [], 0, None, encode_header(self.run_key)
            return
        signature = status.st_size, status.st_mtime_ns
        if self.read_only is not None and signature == self._signature:
            return
        content = self.path.read_bytes()
        self.entries, self._n_bytes = read_entries(content, self.path, self.run_key, self.check)
        self._signature = signature
        lines = content[: self._n_bytes]
        self._prefix = b"" if lines.endswith(b"\n") else b"\n" if lines else encode_header(self.run_key)
        if self.read_only is None and self._n_bytes < len(content):
            with open(self.path, "r+b") as file:
                file.truncate(self._n_bytes)
                os.fsync(file.fileno())

    def _write(self, content: bytes) -> None:
        """Append bytes to the file; return when they are on the disk, or leave the file as it was and raise."""
        is_new = not os.path.lexists(self.path)
        flags = os.O_WRONLY | os.O_APPEND | getattr(os, "O_BINARY", 0)
        try:
            descriptor = os.open(self.path, flags if self._n_bytes else flags | os.O_CREAT | NO_FOLLOW, 0o666)
            try:
                self._check_end(descriptor)
                try:
                    write_fully(descriptor, content)
                    os.fsync(descriptor)
                    if not self._n_bytes:
                        sync_folder(self.folder)
                except BaseException:
                    self._restore_end(descriptor)
                    raise
            finally:
                os.close(descriptor)
        except ReadOnlyError:
            raise
        except OSError as error:
            if is_new:
                with suppress(OSError):
                    self.path.unlink()
            reason = error.strerror or str(error)
            raise OSError(error.errno, f"the decision was not saved in {self.path}: {reason}") from error
        self._n_bytes += len(content)

    def _check_end(self, descriptor: int) -> None:
        """Raise ReadOnlyError unless the file ends where this process has left it."""
        if self._must_truncate:
            os.ftruncate(descriptor, self._n_bytes)
            self._must_truncate = False
        if os.fstat(descriptor).st_size != self._n_bytes:
            raise ReadOnlyError(f"another program has changed {self.path}: open the run again to make changes")

    def _restore_end(self, descriptor: int) -> None:
        """Remove what a failed append has written; the next append tries again if that fails too."""
        try:
            os.ftruncate(descriptor, self._n_bytes)
            os.fsync(descriptor)
        except OSError:
            self._must_truncate = True


def find_active(entries: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the decisions that count after all entries, in the order in which they were made.

    - ``{"action": "undo", "of": 3}`` cancels entry 3, which may itself be an undo (then it is a redo).
    - ``{"action": "revert", "decisions": [1, 4]}`` replaces the active decisions by these, even if they were
      cancelled before. An undo that comes after the revert still cancels them.
    - ``{"action": "keep"}`` names a version, and is no decision.
    - All other entries are decisions. ``"replaces": [2]`` removes decision 2 as long as the entry is not cancelled.

    Parameters
    ----------
    entries : sequence of mappings
        All entries of a log, numbered 1, 2, ...

    Returns
    -------
    list of dict

    Examples
    --------
    >>> def list_numbers(*entries):
    ...     numbered = [{"number": i, **entry} for i, entry in enumerate(entries, start=1)]
    ...     return [entry["number"] for entry in find_active(numbered)]
    >>> merge = {"action": "merge"}
    >>> list_numbers(merge, merge, {"action": "undo", "of": 1})
    [2]
    >>> list_numbers(merge, merge, {"action": "undo", "of": 1}, {"action": "undo", "of": 3})  # a redo
    [1, 2]
    >>> list_numbers(merge, {"action": "apart", "replaces": [1]})
    [2]
    >>> list_numbers(merge, {"action": "apart", "replaces": [1]}, {"action": "undo", "of": 2})
    [1]
    >>> list_numbers(merge, {"action": "undo", "of": 1}, merge, {"action": "revert", "decisions": [1]})
    [1]
    """
    last_undo = find_undone(entries)
    by_number = {entry["number"]: entry for entry in entries if entry["action"] not in NOT_DECISIONS}
    active: list[int] = []
    for entry in entries:
        number = entry["number"]
        if number in last_undo:
            continue
        if entry["action"] == "revert":
            kept = dict.fromkeys(entry["decisions"])
            active = [other for other in kept if other in by_number and last_undo.get(other, 0) < number]
        elif number in by_number:
            replaced = entry.get("replaces", ())
            active = [*(other for other in active if other not in replaced), number]
    return [dict(by_number[number]) for number in active]


def list_grouping(entries: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the decisions that groups follow from: all but names of groups and answers that leave a pair open."""
    return [entry for entry in entries if entry["action"] not in LABEL_ONLY]


def find_undone(entries: Sequence[Mapping[str, Any]]) -> dict[int, int]:
    """Return for each cancelled entry the number of the last undo that cancels it."""
    undone: dict[int, int] = {}
    for entry in reversed(entries):
        if entry["action"] == "undo" and int(entry["number"]) not in undone:
            undone.setdefault(int(entry["of"]), int(entry["number"]))
    return undone


def read_entries(
    content: bytes, path: Path, run_key: str, check: CheckEntry | None
) -> tuple[list[dict[str, Any]], int]:
    """Return the entries of a file and the length of the lines that they and the header take.

    A last line that is not complete is left out: the process was killed while writing it, and has not reported it as
    saved. An entry that lacks only the newline counts: an editor may have removed it.
    """
    entries: list[dict[str, Any]] = []
    n_bytes = 0
    stream = BytesIO(content)
    while line := stream.readline(tuning.max_line_bytes + 1):
        is_first = n_bytes == 0
        try:
            if len(line) > tuning.max_line_bytes:
                raise ValueError(f"it has more than {tuning.max_line_bytes} bytes")
            values = read_json(line)
            if not is_first:
                entries.append(check_line(values, len(entries) + 1))
        except (ValueError, TypeError, RecursionError) as error:
            is_unfinished = len(line) <= tuning.max_line_bytes and not line.endswith(b"\n")
            if is_unfinished and (not is_first or encode_header(run_key).startswith(line)):
                break
            raise describe_damage(path, 1 if is_first else len(entries) + 2, str(error)) from error
        if is_first:
            check_header(values, path, run_key)
        elif check is not None:
            try:
                check(values, entries[:-1])
            except ValueError as error:
                raise describe_damage(path, len(entries) + 1, f"decision {len(entries)}: {error}") from error
        n_bytes += len(line)
    return entries, n_bytes


def check_line(values: dict[str, Any], number: int) -> dict[str, Any]:
    """Return the entry on a line; raise an error unless its checksum and its number are right."""
    if values.get("check") != compute_check(values):
        raise ValueError("its checksum is wrong")
    if values.get("number") != number:
        raise ValueError(f"it should have the number {number}, got {values.get('number')!r}")
    check_entry(values, number)
    return values


def check_header(header: Mapping[str, Any], path: Path, run_key: str) -> None:
    """Raise ValueError unless a file has decisions about this run, in this format."""
    if header.get("what") != FORMAT["what"]:
        raise ValueError(f"{path} is not a file of decisions: {MOVE}")
    if header.get("version") != FORMAT["version"]:
        raise ValueError(
            f"{path} has version {header.get('version')!r}, and this version of consilience reads version "
            f"{FORMAT['version']}: install the version of consilience that wrote it, or {MOVE}"
        )
    if header.get("run") != run_key:
        raise ValueError(
            f"{path} has decisions about another run: {MOVE}, or restore the files of the run that it belongs to"
        )


def check_entry(entry: Mapping[str, Any], number: int) -> None:
    """Raise ValueError unless an entry has an action and names only entries before its number."""
    if type(entry.get("action")) is not str or not entry["action"]:
        raise ValueError(f"an entry needs the name of an action, got {entry.get('action')!r}")
    named = [entry.get("of")] if entry["action"] == "undo" else []
    lists = ("replaces", "decisions") if entry["action"] == "revert" else ("replaces",)
    for name in lists:
        numbers = entry.get(name, [])
        if type(numbers) not in (list, tuple) or (name == "decisions" and name not in entry):
            raise ValueError(f"{name} of {entry['action']!r} must be a list of numbers, got {numbers!r}")
        named += numbers
    for other in named:
        if type(other) is not int or not 1 <= other < number:
            raise ValueError(f"{entry['action']!r} must name earlier entries, from 1 to {number - 1}, got {other!r}")


def compute_check(entry: Mapping[str, Any]) -> str:
    """Return the checksum of an entry."""
    return f"{zlib.crc32(encode_entry({name: value for name, value in entry.items() if name != 'check'})):08x}"


def encode_entry(entry: Mapping[str, Any]) -> bytes:
    """Return the JSON text of an entry, which is the same for equal entries."""
    return json.dumps(entry, sort_keys=True, separators=(",", ":"), allow_nan=False).encode("ascii")


def encode_header(run_key: str) -> bytes:
    """Return the first line of the file of a run."""
    return (json.dumps({**FORMAT, "run": run_key}) + "\n").encode("ascii")


def read_json(line: bytes) -> dict[str, Any]:
    """Return the object on a line; raise ValueError if there is none."""
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ValueError("it is not UTF-8 text") from error
    try:
        values = json.loads(text)
    except ValueError as error:
        raise ValueError("it is not JSON") from error
    except RecursionError as error:
        raise ValueError("its lists are nested too deeply") from error
    if type(values) is not dict:
        raise ValueError("it is not a JSON object")
    return values


def describe_damage(path: Path, line_number: int, reason: str) -> ValueError:
    """Return the error about a line that cannot be read."""
    remedy = "delete this line and all lines after it to keep the decisions before them"
    return ValueError(
        f"line {line_number} of {path} is damaged ({reason}): restore a copy of the file, or "
        f"{MOVE if line_number == 1 else remedy}"
    )


def write_fully(descriptor: int, content: bytes) -> None:
    """Write all bytes to an open file."""
    remaining = memoryview(content)
    while remaining:
        remaining = remaining[os.write(descriptor, remaining) :]


def sync_folder(folder: Path) -> None:
    """Make the name of a new file in a folder durable, where the system allows it."""
    if sys.platform == "win32":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):  # file systems that cannot sync folders
            raise
    finally:
        os.close(descriptor)
