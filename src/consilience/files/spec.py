"""How a view is named on the command line: NAME=FILE:COLUMNS."""

from __future__ import annotations

import fnmatch
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from .formats import parse_path


@dataclass(frozen=True)
class ViewSpec:
    """Where a view comes from."""

    name: str | None  # None: the file's own name, or those of the blocks in it
    path: Path
    columns: tuple[str, ...] | None = None  # names or patterns such as pixel_*; None: all

    @property
    def view_name(self) -> str:
        """The view's name: as given, or the file's up to its first dot."""
        return self.path.name.partition(".")[0] if self.name is None else self.name

    @property
    def where(self) -> str:
        return str(self.path) if self.columns is None else f"{self.path}:{','.join(self.columns)}"


def parse_view(text: str) -> ViewSpec:
    """Read ``NAME=FILE``, ``NAME=FILE:COLUMN``, ``NAME=FILE:COLUMN,COLUMN``, or a file alone; - is standard input.

    Examples
    --------
    >>> parse_view("text=papers.csv:title,abstract").columns
    ('title', 'abstract')
    """
    name: str | None
    name, equals, rest = text.partition("=")
    if not equals or "/" in name or "\\" in name or is_file(split_columns(text)[0] if rest else Path(text)):
        name, rest = None, text
    if name is not None and not name.strip():
        raise ValueError(f"a view is named as NAME=FILE, got {text!r}: the name is missing")
    if not rest.strip():
        raise ValueError(f"a view is named as NAME=FILE, got {text!r}: the file is missing")
    path, columns = split_columns(rest)
    spec = ViewSpec(None if name is None else name.strip(), path, columns)
    _check_name(spec)
    return spec


def _check_name(spec: ViewSpec) -> None:
    """Refuse a name that is not UTF-8, because labels.csv and the report could not hold it."""
    try:
        spec.view_name.encode()
    except UnicodeEncodeError:
        remedy = "name the view, as in NAME=FILE" if spec.name is None else "choose another name"
        raise ValueError(f"the name of the view {spec.view_name!r} is not valid UTF-8: {remedy}") from None


def split_columns(text: str) -> tuple[Path, tuple[str, ...] | None]:
    """Split an argument into a file and the columns after the last colon, unless that is part of the file's name."""
    before, colon, after = text.rpartition(":")
    drive = len(before) == 1 and after.startswith(("\\", "/"))
    if not colon or not before or drive or is_file(Path(text)):
        return parse_path(text), None
    columns = tuple(one.strip() for one in after.split(",") if one.strip())
    if not columns:
        raise ValueError(f"{text!r} ends in a colon: name the columns after it, or leave it out")
    return parse_path(before), columns


def is_file(path: Path) -> bool:
    """Whether there is such a file, pipe or device; not if the name is too long to be one."""
    try:
        return path.exists() and not path.is_dir()
    except OSError:
        return False


def select_columns(path: Path, asked: Sequence[str] | None, there: Sequence[str], apart: set[str]) -> list[str]:
    """The columns that are asked for, patterns resolved; all but those kept `apart` if none are."""
    if asked is None:
        return [name for name in there if name not in apart]
    found: list[str] = []
    for one in asked:
        matching = [one] if one in there else fnmatch.filter(there, one)
        matching = [name for name in matching if name not in apart or name == one]
        if not matching:
            raise ValueError(f"{path} has no column {one!r}; it has {_listed(there)}")
        found += [name for name in matching if name not in found]
    return found


def _listed(names: Sequence[str], most: int = 12) -> str:
    some = ", ".join(repr(name) for name in names[:most])
    return some if len(names) <= most else f"{some} and {len(names) - most} more"
