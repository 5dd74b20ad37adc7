"""The names of views on the command line: NAME=FILE:COLUMNS."""

from __future__ import annotations

import difflib
import fnmatch
import json
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from .formats import parse_path, split_sheet


@dataclass(frozen=True)
class ViewSpec:
    """Where a view comes from."""

    name: str | None  # None: the name of the file, or those of the matrices in it
    path: Path
    columns: tuple[str, ...] | None = None  # names, patterns such as pixel_*, or -NAME to leave out; None: all

    @property
    def view_name(self) -> str:
        """Name of the view: as the user gave it, or that of the sheet, or the file name up to its first dot."""
        if self.name is not None:
            return self.name
        file, sheet = split_sheet(self.path)
        return sheet or file.name.partition(".")[0]

    @property
    def selects_columns(self) -> bool:
        """Whether the user has selected columns, and not only left some out."""
        return self.columns is not None and not all(name.startswith("-") for name in self.columns)

    @property
    def origin(self) -> str:
        """The file and the columns, as the user gave them."""
        return str(self.path) if self.columns is None else f"{self.path}:{','.join(self.columns)}"


def parse_view(text: str) -> ViewSpec:
    """Read ``NAME=FILE``, ``NAME=FILE:COLUMN``, ``NAME=FILE:COLUMN,COLUMN``, or a file alone; - is standard input.

    ``FILE:-COLUMN`` leaves a column out, and ``FILE.xlsx#SHEET`` is a sheet of a workbook. A name with an equals sign
    or a slash is put in double quotes.

    Parameters
    ----------
    text : str
        The value of ``--view``.

    Returns
    -------
    ViewSpec
        The name of the view, its file and its columns.

    Examples
    --------
    >>> parse_view("text=papers.csv:title,abstract").columns
    ('title', 'abstract')
    """
    name: str | None
    name, rest = split_pair(text)
    is_quoted = rest is not None and text.startswith('"')
    is_path = not is_quoted and ("/" in name or "\\" in name)
    if rest is None or is_path or is_file(split_columns(text)[0] if rest else Path(text)):
        name, rest = None, text
    elif not is_quoted:
        name = name.strip()
    if name == "":
        raise ValueError(f"a view is named as NAME=FILE, got {text!r}: the name is missing")
    if not rest.strip():
        raise ValueError(f"a view is named as NAME=FILE, got {text!r}: the file is missing")
    path, columns = split_columns(rest)
    spec = ViewSpec(name, path, columns)
    try:
        spec.view_name.encode()  # for labels.csv and the report
    except UnicodeEncodeError:
        remedy = "name the view, as in NAME=FILE" if spec.name is None else "choose another name"
        raise ValueError(f"the name of the view {spec.view_name!r} is not valid UTF-8: {remedy}") from None
    return spec


def split_pair(text: str) -> tuple[str, str | None]:
    """Split NAME=VALUE at the first equals sign after the name; the value is None if there is none.

    A name that contains an equals sign itself is written in double quotes, as `join_pair` does.

    Examples
    --------
    >>> split_pair("title=text"), split_pair('"x=y"=numbers')
    (('title', 'text'), ('x=y', 'numbers'))
    """
    if text.startswith('"'):
        try:
            name, end = json.JSONDecoder().raw_decode(text)
        except ValueError:
            end = 0
        if text[end : end + 1] == "=" and end:
            return name, text[end + 1 :]
    name, equals, value = text.partition("=")
    return name, value if equals else None


def join_pair(name: str, value: object) -> str:
    """Write NAME=VALUE so that `split_pair` reads the same name and value, whatever the name contains."""
    is_plain = name.isprintable() and name == name.strip() and not set(name) & set('="/\\')
    return f"{name if is_plain and name else json.dumps(name, ensure_ascii=False)}={value}"


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
    """Whether there is such a file, pipe, device or sheet; not if the name is too long to be one."""
    try:
        file, _ = split_sheet(path)
        return file.exists() and not file.is_dir()
    except OSError:
        return False


def is_same_file(first: Path, second: Path) -> bool:
    """Whether two paths name the same file, or the same sheet of it."""
    if first == second or not (is_file(first) and is_file(second)):
        return first == second
    (first_file, first_sheet), (second_file, second_sheet) = split_sheet(first), split_sheet(second)
    return first_sheet == second_sheet and first_file.samefile(second_file)


def select_columns(
    path: Path, patterns: Sequence[str] | None, available: Sequence[str], excluded: set[str]
) -> list[str]:
    """Select the columns that match the patterns; without patterns, all that are not excluded.

    Patterns that start with - leave columns out.
    """
    patterns = patterns or ()
    dropped = [pattern for pattern in patterns if pattern.startswith("-") and pattern not in available]
    chosen = [pattern for pattern in patterns if pattern not in dropped]
    excluded = excluded.union(*(_match_columns(path, pattern[1:], available) for pattern in dropped))
    if not chosen:
        return [name for name in available if name not in excluded]
    selected: dict[str, None] = {}
    for pattern in chosen:
        selected |= dict.fromkeys(_match_columns(path, pattern, available, excluded))
    return list(selected)


def _match_columns(path: Path, pattern: str, available: Sequence[str], excluded: Collection[str] = ()) -> list[str]:
    """Return the columns that a pattern names; refuse a pattern that names none beside those that are excluded."""
    matching = [pattern] if pattern in available else fnmatch.filter(available, pattern)
    matching = [name for name in matching if name not in excluded or name == pattern]
    if not matching:
        raise ValueError(
            f"{path} has no column {pattern!r}; it has {list_names(available)}{suggest(pattern, available)}"
        )
    return matching


def suggest(name: str, available: Iterable[str]) -> str:
    """Return a question about the most similar name for the end of a message, '' if there is none."""
    by_lower = {other.lower(): other for other in available}
    similar = difflib.get_close_matches(name.lower(), by_lower, n=1)
    return f". Did you mean {by_lower[similar[0]]!r}?" if similar else ""


def list_names(names: Sequence[str], limit: int = 12) -> str:
    """List names for a message, not more than `limit` of them."""
    listed = ", ".join(repr(name) for name in names[:limit])
    return listed if len(names) <= limit else f"{listed} and {len(names) - limit} more"
