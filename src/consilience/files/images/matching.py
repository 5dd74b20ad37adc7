"""Match the files of a folder of pictures with the ids of the other views."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import PurePosixPath

import numpy as np

from ..kinds import ViewContent
from ..mapping import list_content_ids

# How a file can be called in a table, from its path within the folder.
NAMINGS: tuple[Callable[[PurePosixPath], str], ...] = (
    lambda path: str(path.with_suffix("")),
    str,
    lambda path: path.stem,
    lambda path: path.name,
)


def name_pictures(contents: Sequence[ViewContent], class_ids: Sequence[np.ndarray]) -> list[ViewContent]:
    """Give the pictures of folders ids: with or without folder and suffix, whichever most ids of other files match.

    These are the ids of the other views and those of known classes. Without any match the ids are paths within the
    folder without suffix, or with it if two files differ in it alone.
    """
    is_folder = [content.kind == "images" and content.columns is None for content in contents]
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
