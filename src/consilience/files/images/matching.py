"""Match the files of a folder of pictures with the ids of the other views, or with a column that names them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import PurePosixPath
from urllib.parse import unquote, urlsplit

import numpy as np

from ..kinds import ViewContent
from ..mapping import list_content_ids
from .reading import SUFFIXES

# How a file can be called in a table, from its path within the folder.
NAMINGS: tuple[Callable[[PurePosixPath], str], ...] = (
    lambda path: str(path.with_suffix("")),
    str,
    lambda path: path.stem,
    lambda path: path.name,
)


MIN_NAMED = 0.5  # share of the cells of a column that must be names of pictures if they have no suffix


@dataclass(frozen=True, eq=False)
class NamingColumn:
    """A column of a table that names the pictures of a folder."""

    name: str
    pictures: np.ndarray  # by row the path within the folder, None where it has no such picture
    has_suffixes: bool  # whether its cells say that they are names of pictures

    @property
    def n_matched(self) -> int:
        """Number of rows with a picture."""
        return sum(picture is not None for picture in self.pictures)

    @property
    def rank(self) -> tuple[bool, int]:
        """Key by which the best of several columns is first."""
        return not self.has_suffixes, -self.n_matched


def find_naming_columns(columns: Mapping[str, np.ndarray], names: Sequence[str]) -> list[NamingColumn]:
    """Find the columns that name pictures by their paths within the folder, in any case and with any folders before."""
    index = _index_pictures(names)
    namings = []
    for column, values in columns.items():
        if values.dtype != object or {type(cell) for cell in values} - {str, type(None)}:
            continue
        cells = [None if cell is None or not cell.strip() else _normalize(cell) for cell in values]
        pictures = np.array([None if cell is None else _find_name(cell, index) for cell in cells], dtype=object)
        filled = [cell for cell in cells if cell is not None]
        naming = NamingColumn(column, pictures, have_suffixes(filled))
        if naming.n_matched >= max(1, 0 if naming.has_suffixes else MIN_NAMED * len(filled)):
            namings.append(naming)
    return namings


def have_suffixes(names: Sequence[str | None]) -> bool:
    """Whether most names end as those of image files do."""
    return sum(PurePosixPath(name or "").suffix.lower() in SUFFIXES for name in names) > len(names) / 2


def count_matching_ids(ids: Sequence[str], names: Sequence[str]) -> int:
    """Count the ids that are names of pictures, in the form that fits most of them."""
    paths = [PurePosixPath(name) for name in names]
    return max(len({naming(path) for path in paths}.intersection(ids)) for naming in NAMINGS)


def _index_pictures(names: Sequence[str]) -> dict[str, str | None]:
    """Return what each way to call a picture means, None if it can be several: as written, or in lower case."""
    index: dict[str, str | None] = {}
    for fold in (str, str.lower):  # names as they are written count more
        level: dict[str, str | None] = {}
        for name in names:
            for called in {fold(naming(PurePosixPath(name))) for naming in NAMINGS}:
                level[called] = None if called in level else name
        index = level | index
    return index


def _normalize(cell: str) -> str:
    """Return a path with slashes, also of an address."""
    text = cell.strip()
    return (unquote(urlsplit(text).path) if "://" in text else text.replace("\\", "/")).strip("/")


def _find_name(cell: str, index: Mapping[str, str | None]) -> str | None:
    """Find the picture that a path names, as it is or from any of its folders on."""
    parts = cell.split("/")
    for start in range(len(parts)):
        called = "/".join(parts[start:])
        for form in (called, called.lower()):
            name = index.get(form)
            if name is not None and (start == 0 or form.startswith(name[: name.rfind("/") + 1].lower())):
                return name
    return None


def name_pictures(contents: Sequence[ViewContent], class_ids: Sequence[np.ndarray]) -> list[ViewContent]:
    """Give the pictures of folders ids: with or without folder and suffix, whichever most ids of other files match.

    These are the ids of the other views and those of known classes. Without any match the ids are paths within the
    folder without suffix, or with it if two files differ in it alone. Pictures that a column of a table names have the
    ids of its rows already.
    """
    is_folder = [content.kind == "images" and content.ids is content.data.names for content in contents]
    others = set(chain.from_iterable(ids.tolist() for ids in class_ids))
    for content, is_named in zip(contents, is_folder, strict=True):
        if not is_named and (content.ids is not None or content.kind == "links"):
            others |= set(list_content_ids(content).tolist())
    return [
        replace(content, ids=_choose_ids(content.data.names.tolist(), others)) if is_named else content
        for content, is_named in zip(contents, is_folder, strict=True)
    ]


def _choose_ids(names: Sequence[str], others: set[str]) -> np.ndarray:
    """Return the names by the first naming that is unique and shares most ids with other views."""
    paths = [PurePosixPath(name) for name in names]
    candidates = [[naming(path) for path in paths] for naming in NAMINGS]
    unique = [ids for ids in candidates if len(set(ids)) == len(ids)]
    return np.array(max(unique, key=lambda ids: len(others.intersection(ids))), dtype=object)
