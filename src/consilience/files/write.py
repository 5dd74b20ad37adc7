"""Files and folders that appear whole, or not at all."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def whole_file(path: str | os.PathLike[str], overwrite: bool = False) -> Iterator[Path]:
    """A path to write to, beside the final one, which it becomes when the block ends well; else nothing is left."""
    final = Path(path)
    check_free(final, overwrite)
    temporary = _beside(final)
    try:
        yield temporary
        _to_disk(temporary)
        _take_place(temporary, final, overwrite)
    finally:
        temporary.unlink(missing_ok=True)


def check_free(path: Path, overwrite: bool) -> None:
    """Refuse a path that cannot be written, before any work is done for it."""
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder: name a file")
    if path.exists() and not overwrite:
        raise FileExistsError(f"{path} is there already: choose another name, or ask to write over it")


def _beside(final: Path) -> Path:
    """An empty file in the same folder, under a name that says what it is."""
    try:
        number, name = tempfile.mkstemp(prefix=f".{final.name}.", suffix=".partial", dir=final.parent)
    except FileNotFoundError as error:
        raise FileNotFoundError(f"{final.parent} is no folder: make it first, or choose another") from error
    except OSError as error:
        raise type(error)(f"cannot write into {final.parent}: {error.strerror}") from error
    mask = os.umask(0)
    os.umask(mask)
    os.chmod(number, 0o666 & ~mask)  # as any new file; mkstemp's is for its owner alone
    os.close(number)
    return Path(name)


def _to_disk(path: Path) -> None:
    with path.open("rb") as file:
        os.fsync(file.fileno())


def _take_place(temporary: Path, final: Path, overwrite: bool) -> None:
    """Give the file its name, in one step."""
    if overwrite:
        os.replace(temporary, final)
        return
    try:
        os.link(temporary, final)  # unlike a renaming, refuses a file that has come up meanwhile
    except FileExistsError as error:
        raise FileExistsError(f"{final} has come up meanwhile: choose another name") from error
    except OSError:  # a file system without links
        os.replace(temporary, final)


@contextmanager
def whole_folder(path: str | os.PathLike[str], names: tuple[str, ...], overwrite: bool = False) -> Iterator[Path]:
    """A folder to write files to, beside the final one, which it becomes when the block ends well.

    A folder that is there already, empty or to be written over, keeps what else it holds: then each of the `names`
    takes its place whole.
    """
    final = Path(path)
    check_folder(final, names, overwrite)
    above = [one for one in final.absolute().parents if not one.exists()]  # the nearest first
    try:
        final.parent.mkdir(parents=True, exist_ok=True)
        temporary = Path(tempfile.mkdtemp(prefix=f".{final.name}.", suffix=".partial", dir=final.parent))
    except OSError as error:
        raise type(error)(f"cannot write into {final.parent}: {error.strerror}") from error
    try:
        yield temporary
        for file in temporary.rglob("*"):
            if file.is_file():
                _to_disk(file)
        mask = os.umask(0)
        os.umask(mask)
        temporary.chmod(0o777 & ~mask)
        if final.exists() and any(final.iterdir()):
            _place_all(sorted(temporary.iterdir()), final, overwrite)
        else:
            os.rename(temporary, final)  # an empty folder gives way
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
        for made in above:
            with suppress(OSError):
                made.rmdir()  # which fails if there is something in it, as there should be


def _place_all(files: list[Path], folder: Path, overwrite: bool) -> None:
    """Files that belong together take their places; if one cannot, the others give theirs back."""
    placed: list[tuple[Path, Path]] = []
    try:
        for file in files:
            target, before = folder / file.name, file.with_name(f"{file.name}.before")
            if target.exists():
                shutil.copy2(target, before)
            placed.append((target, before))
            _take_place(file, target, overwrite)
    except BaseException as error:
        if isinstance(error, FileExistsError):
            placed.pop()  # what has come up there is not ours to take away
        for target, before in placed:
            if before.exists():
                os.replace(before, target)
            else:
                target.unlink(missing_ok=True)
        raise


def check_folder(path: Path, names: tuple[str, ...], overwrite: bool) -> None:
    """Refuse a folder whose files would be written over, before any work is done for it."""
    if path.exists() and not path.is_dir():
        raise NotADirectoryError(f"{path} is a file: name a folder")
    there = [name for name in names if (path / name).exists()]
    if there and not overwrite:
        raise FileExistsError(
            f"{path} holds {', '.join(there)} already: choose another folder, or write over with --force"
        )
    parent = path if path.exists() else next(one for one in path.absolute().parents if one.exists())
    if not parent.is_dir() or not os.access(parent, os.W_OK):
        raise PermissionError(f"cannot write into {parent}: choose another folder, or change its permissions")
