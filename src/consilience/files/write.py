"""Write files and folders completely or not at all."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from .deferral import SignalDeferral
from .staging import EXAMPLE, PLACING, Staging, find_staging, is_in_staging, is_locked, remove_leftovers, remove_marks

CANNOT_GROW = (errno.EFBIG, errno.ENOSPC, errno.EDQUOT)  # a limit on the file, the disk or the user's share is reached
OVERWRITE_REMEDY = "choose another name, or pass overwrite=True"  # the command line names its option instead


@contextmanager
def stage_file(path: str | os.PathLike[str], overwrite: bool = False) -> Iterator[Path]:
    """Give a path to write to, and move the file to its final place when the block ends without an error."""
    final = Path(path)
    check_output_file(final, overwrite)
    with _open_staging(final, final.parent) as (staging, deferral):
        temporary = staging.new / final.name
        deferral.lift()
        with _name_unwritten_file(staging.new, final.parent):
            yield temporary
            _flush_to_disk([temporary])
        deferral.hold()
        _take_place(temporary, final, overwrite)


@contextmanager
def stage_folder(path: str | os.PathLike[str], names: tuple[str, ...], overwrite: bool = False) -> Iterator[Path]:
    """Give a folder to write files to, and move them to their final place when the block ends without an error.

    A new folder appears in one step. In a folder that exists, each of the `names` is replaced, or removed if it was not
    written again, and other files stay; a process that is killed between two of them leaves a mark, which
    `check_complete` finds.
    """
    final = Path(path)
    check_output_folder(final, names, overwrite)
    new_parents = [folder for folder in final.absolute().parents if not folder.exists()]
    existed = final.exists()
    if existed:
        remove_leftovers(final.parent)  # of a run that was killed right after it had made the folder
    try:
        with _open_staging(final, final if existed else final.parent) as (staging, deferral):
            deferral.lift()
            with _name_unwritten_file(staging.new, final):
                yield staging.new
                _flush_to_disk([file for file in staging.new.rglob("*") if file.is_file()])
            deferral.hold()
            if existed or not _rename_to_new(staging.new, final):
                _replace_files(staging, final, names, overwrite)
    finally:
        for folder in new_parents:
            with suppress(OSError):
                folder.rmdir()  # fails unless it is empty


@contextmanager
def reserve_folder(path: Path) -> Iterator[Path]:
    """Make a new folder, with a number after its name if that exists, and remove it if it is empty at the end.

    The folder is made at once, so that another process that starts at the same time gets another.
    """
    folder, number = path, 1
    while True:
        try:
            folder.mkdir(parents=True)
            break
        except FileExistsError:
            number += 1
            folder = path.with_name(f"{path.name}-{number}")
        except OSError as error:
            raise type(error)(f"cannot write into {path.absolute().parent}: {error.strerror}; choose --out") from error
    try:
        yield folder
    finally:
        with suppress(OSError):
            folder.rmdir()  # fails unless it is empty


@contextmanager
def _open_staging(final: Path, parent: Path) -> Iterator[tuple[Staging, SignalDeferral]]:
    """Make a staging folder in `parent`, and remove it at the end.

    Signals are postponed unless the block lifts the deferral, so that none can arrive between the making of the folder
    and the start of the ``try`` block, or while the folder is removed. A signal that arrives while the files are moved
    to their final places gets a note that says where they are, unless that is within another staging folder, which is
    removed too.
    """
    published = False
    try:
        with SignalDeferral() as deferral:
            staging = _make_staging(parent)
            try:
                yield staging, deferral
                published = True
            finally:
                deferral.hold()
                staging.remove()
    except KeyboardInterrupt as stop:
        if published and not is_in_staging(final):
            stop.add_note(f"the results are in {final}")
        raise


@contextmanager
def _name_unwritten_file(new: Path, final: Path) -> Iterator[None]:
    """Name the file by its final path if it cannot be written to the end, which the system reports without a name."""
    try:
        yield
    except OSError as error:
        if error.errno in CANNOT_GROW:
            files = [path for path in new.rglob("*") if path.is_file() and not is_in_staging(path.relative_to(new))]
            last = max(files, key=lambda path: path.stat().st_mtime_ns, default=new)
            named = Path(new if error.filename is None else error.filename)
            place = named if named != new and named.is_relative_to(new) else last
            error.filename = str(final / place.relative_to(new))
        raise


def _make_staging(parent: Path) -> Staging:
    try:
        parent.mkdir(parents=True, exist_ok=True)
        return Staging(parent)
    except OSError as error:
        if error.errno == errno.ENOSPC:
            raise
        raise type(error)(f"cannot write into {parent}: {error.strerror}") from error


def _flush_to_disk(files: Sequence[Path]) -> None:
    for path in files:
        with path.open("rb") as file:
            os.fsync(file.fileno())


def _rename_to_new(folder: Path, final: Path) -> bool:
    """Give the folder its final name; return False if another process created a folder with files there."""
    try:
        os.rename(folder, final)
    except OSError as error:
        if error.errno in (errno.ENOTEMPTY, errno.EEXIST):
            return False
        raise
    return True


def _replace_files(staging: Staging, final: Path, names: Sequence[str], overwrite: bool) -> None:
    """Move the new files to the final folder one by one, with a mark in it until the last is in its place.

    Old files among `names` that have no successor are removed.
    """
    new = {path.name for path in staging.new.iterdir()}
    outdated = {name for name in names if name not in new and os.path.lexists(final / name)}
    _keep_old(staging, final, new | outdated)
    staging.begin_placing(final)
    _place_all(staging, final, new, outdated, overwrite)
    staging.end_placing()
    remove_marks(final, new | outdated)


def _keep_old(staging: Staging, final: Path, names: set[str]) -> None:
    """Keep the files that are to be replaced, in case one of the new files cannot be placed."""
    staging.old.mkdir()
    for name in names:
        if os.path.lexists(final / name):
            try:
                os.link(final / name, staging.old / name, follow_symlinks=False)
            except OSError:  # a file system without links
                shutil.copy2(final / name, staging.old / name, follow_symlinks=False)


def _place_all(staging: Staging, final: Path, new: set[str], outdated: set[str], overwrite: bool) -> None:
    """Move the new files to their places and remove outdated ones; if that fails, put the old files back."""
    placed = []
    try:
        for name in sorted(new):
            _take_place(staging.new / name, final / name, overwrite)
            placed.append(name)
        for name in sorted(outdated):
            (final / name).unlink()
            placed.append(name)
    except BaseException:
        for name in placed:
            if os.path.lexists(staging.old / name):
                os.replace(staging.old / name, final / name)
            else:
                (final / name).unlink()
        staging.end_placing()
        raise


def _take_place(temporary: Path, final: Path, overwrite: bool) -> None:
    """Give the file its name, in one step."""
    if overwrite:
        os.replace(temporary, final)
        return
    try:
        os.link(temporary, final)  # unlike a renaming, refuses a file that another process created
    except FileExistsError as error:
        raise FileExistsError(f"{final} was created by another process: choose another name") from error
    except OSError:  # a file system without links
        os.replace(temporary, final)


def check_output_file(path: Path, overwrite: bool) -> None:
    """Refuse a path that cannot be written, before any work is done for it."""
    _check_length(path, path.parent, path.name)
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder: name a file")
    if path.exists() and not path.is_file():
        raise ValueError(f"{path} is a device or a pipe, which cannot be replaced by a file: name a file")
    if os.path.lexists(path) and not overwrite:
        raise FileExistsError(f"{path} already exists: {OVERWRITE_REMEDY}")
    parent = path.parent
    if parent.exists() and not parent.is_dir():
        raise NotADirectoryError(f"cannot write into {parent}: it is a file, not a folder")
    if not parent.exists():
        raise FileNotFoundError(f"{parent} does not exist: create the folder first, or choose another")
    if not os.access(parent, os.W_OK | os.X_OK):
        raise PermissionError(f"cannot write into {parent}: choose another folder, or change its permissions")


def check_output_folder(path: Path, names: tuple[str, ...], overwrite: bool) -> None:
    """Refuse a folder that cannot be written, or whose files would be written over, before any work is done for it."""
    _check_length(path, path, max(names, key=len, default=""))
    for place in (path, *path.parents):
        if place.is_symlink() and not place.exists():
            raise FileNotFoundError(
                f"{place} is a link to {os.readlink(place)}, which does not exist: make that folder, or choose another"
            )
    if path.exists() and not path.is_dir():
        raise NotADirectoryError(f"{path} is a file: name a folder")
    existing = [name for name in names if os.path.lexists(path / name)]
    if existing and not overwrite:
        raise FileExistsError(
            f"{path} holds {', '.join(existing)} already: choose another folder, or write over with --force"
        )
    folders = [name for name in existing if (path / name).is_dir()]
    if folders:
        raise IsADirectoryError(f"{path / folders[0]} is a folder, not a file of an older run: choose another folder")
    parent = path if path.exists() else next(place for place in path.absolute().parents if place.exists())
    if not parent.is_dir() or not os.access(parent, os.W_OK | os.X_OK):
        raise PermissionError(f"cannot write into {parent}: choose another folder, or change its permissions")


def _check_length(path: Path, parent: Path, name: str) -> None:
    """Refuse a path that is too long for the file system, also with that of a staging folder in it."""
    existing = next((place for place in path.parents if os.path.exists(place)), Path())
    missing = path.parts[len(existing.parts) :]
    staged = parent / EXAMPLE / "new" / EXAMPLE / "new" / name  # as where a model is saved to a folder of results
    for place in (path, *(existing / part for part in missing), staged):
        try:
            os.lstat(place)
        except OSError as error:
            if error.errno == errno.ENAMETOOLONG:
                text = str(path)
                shown = text if len(text) <= 80 else f"{text[:40]}...{text[-20:]}"
                raise OSError(f"{shown} has {len(text):,} characters, too many for a file name: shorten it") from error


def check_complete(folder: Path) -> None:
    """Refuse a folder in which a process has replaced some of the files of an older run, but not all."""
    marks = find_staging(folder, PLACING) if folder.is_dir() else []
    if any(is_locked(mark) for mark in marks):
        raise ValueError(f"another process is replacing the files in {folder}: wait until it has ended")
    if any(mark.exists() for mark in marks):
        raise ValueError(
            f"the files in {folder} are of two runs, because one was killed while it replaced those of another: run "
            "the command that wrote them again with --force, or wait if another run is writing to the folder"
        )
