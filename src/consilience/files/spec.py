"""The names of views on the command line: NAME=FILE:COLUMNS."""

from __future__ import annotations

import fnmatch
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from .formats import parse_path


@dataclass(frozen=True)
class ViewSpec:
    """Where a view comes from."""

    name: str | None  # None: the name of the file, or those of the matrices in it
    path: Path
    columns: tuple[str, ...] | None = None  # names or patterns such as pixel_*; None: all

    @property
    def view_name(self) -> str:
        """Name of the view: as the user gave it, or the file name up to its first dot."""
        return self.path.name.partition(".")[0] if self.name is None else self.name

    @property
    def origin(self) -> str:
        """The file and the columns, as the user gave them."""
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
    try:
        spec.view_name.encode()  # for labels.csv and the report
    except UnicodeEncodeError:
        remedy = "name the view, as in NAME=FILE" if spec.name is None else "choose another name"
        raise ValueError(f"the name of the view {spec.view_name!r} is not valid UTF-8: {remedy}") from None
    return spec


def split_columns(text: str) -> tuple[Path, tuple[str, ...] | None]:
    """Split an argument into a file and the columns after the last colon, unless that is part of the file's name."""
    before, colon, after = text.rpartition(":")
    drive = len(before) == 1 and after.startswith(("\\", "/"))
    if not colon or not before or drive or is_file(Path(text)):
        return parse_path(text), None
    columns = tuple(name.strip() for name in after.split(",") if name.strip())
    if not columns:
        raise ValueError(f"{text!r} ends in a colon: name the columns after it, or leave it out")
    return parse_path(before), columns


def is_file(path: Path) -> bool:
    """Whether there is such a file, pipe or device; not if the name is too long to be one."""
    try:
        return path.exists() and not path.is_dir()
    except OSError:
        return False


def is_same_file(first: Path, second: Path) -> bool:
    """Whether two paths name the same file."""
    return first == second or (is_file(first) and is_file(second) and first.samefile(second))


def select_columns(
    path: Path, patterns: Sequence[str] | None, available: Sequence[str], excluded: set[str]
) -> list[str]:
    """Select the columns that match the patterns; without patterns, all that are not excluded."""
    if patterns is None:
        return [name for name in available if name not in excluded]
    selected: dict[str, None] = {}
    for pattern in patterns:
        matching = [pattern] if pattern in available else fnmatch.filter(available, pattern)
        matching = [name for name in matching if name not in excluded or name == pattern]
        if not matching:
            raise ValueError(f"{path} has no column {pattern!r}; it has {list_names(available)}")
        selected |= dict.fromkeys(matching)
    return list(selected)


def list_names(names: Sequence[str], limit: int = 12) -> str:
    """List names for a message, not more than `limit` of them."""
    listed = ", ".join(repr(name) for name in names[:limit])
    return listed if len(names) <= limit else f"{listed} and {len(names) - limit} more"
