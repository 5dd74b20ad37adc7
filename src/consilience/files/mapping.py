"""Mappings: tables that say which ids of two views mean the same entity."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from .._saving import save_as
from .formats import FileTable, InputFiles, parse_path, read_path
from .formats.columns import clean_table
from .kinds import ViewContent
from .spec import list_names

EXPECTED = "two columns, called like two views, with the ids that mean the same entity"


@save_as("id-mapping")
@dataclass(frozen=True)
class IdMapping:
    """Ids of two views that mean the same entity."""

    views: tuple[str, str]
    pairs: list[tuple[str, str]]


@contextmanager
def name_option(option: str) -> Iterator[None]:
    """Name the option that names a file in errors about the file."""
    try:
        yield
    except (ValueError, FileNotFoundError) as error:
        kind = FileNotFoundError if isinstance(error, FileNotFoundError) else ValueError
        raise kind(f"{error} ({option})") from error


def read_table(path: Path, option: str, expected: str, inputs: InputFiles) -> dict[str, np.ndarray]:
    """Read the table that an option names, with its first five columns as text even where they look like numbers."""
    first_columns = list(_read_columns(path, option, expected, inputs))[:5]
    return _read_columns(path, option, expected, inputs, frozenset(first_columns))


def _read_columns(
    path: Path, option: str, expected: str, inputs: InputFiles, as_text: frozenset[str] = frozenset()
) -> dict[str, np.ndarray]:
    with name_option(option):
        source = read_path(path, inputs, as_text)
    if not isinstance(source, FileTable):
        raise ValueError(f"{path} ({option}) must be a table: {expected}")
    return clean_table(source).columns


def list_content_ids(content: ViewContent) -> np.ndarray:
    """List the ids of a view's rows, or of the ends of its links, each once."""
    if content.kind == "links":
        ends = (entity_id for column in content.data[:2] for entity_id in column.tolist())
        return np.array(list(dict.fromkeys(ends)), dtype=object)
    if content.ids is None:
        raise ValueError(
            f"view {content.name!r} ({content.origin}) has no ids, which --mapping needs: give --id COLUMN or, in an "
            ".npz file, an array 'ids'"
        )
    return content.ids


def read_mappings(
    texts: Sequence[str], contents: Sequence[ViewContent], inputs: InputFiles
) -> tuple[list[IdMapping], list[str]]:
    """Read the files of --mapping and check them against the ids of the views; return them and notes for the user."""
    names = [content.name for content in contents]
    if texts and len(names) < 2:
        raise ValueError(f"--mapping joins two views, but {names[0]!r} is the only view: give another --view")
    ids = {content.name: list_content_ids(content).tolist() for content in contents} if texts else {}
    mappings, notes = [], []
    for path in map(parse_path, texts):
        columns = read_table(path, "--mapping", EXPECTED, inputs)
        if len(columns) != 2:
            raise ValueError(
                f"{path} (--mapping) has {len(columns)} column{'s' * (len(columns) != 1)}: give {EXPECTED}"
            )
        views = _find_views(path, list(columns), ids)
        if set(views) != set(columns):
            first, second = columns
            notes.append(
                f"{path}: column {first!r} holds ids of view {views[0]!r}, column {second!r} those of {views[1]!r}. "
                "Call the columns like the views if this is wrong."
            )
        pairs, n_repeated = _read_pairs(path, views, columns, ids)
        if n_repeated:
            notes.append(f"{path} lists pairs more than once ({n_repeated:,} in all): they count once.")
        mappings.append(IdMapping(views, pairs))
    mapped = {name for mapping in mappings for name in mapping.views}
    unmapped = next((name for name in names if texts and name not in mapped), None)
    if unmapped is not None:
        raise ValueError(
            f"no --mapping names view {unmapped!r}: add one between it and another view. If the two have the same ids, "
            "the file lists each id twice"
        )
    return mappings, notes


def _find_views(path: Path, columns: list[str], ids: dict[str, list[str]]) -> tuple[str, str]:
    """Return the views whose ids the two columns hold; with two views, their order decides if the header does not."""
    names = list(ids)
    unknown = [column for column in columns if column not in names]
    if not unknown:
        return columns[0], columns[1]
    if len(names) > 2:
        raise ValueError(
            f"{path} (--mapping) has a column {unknown[0]!r}, which is no view: call the columns like two of the views "
            f"{list_names(names)}"
        )
    first, second = names
    for views in ((first, second), (second, first)):
        if all(column in ids[view] for column, view in zip(columns, views, strict=True)):
            raise ValueError(
                f"{path} (--mapping) has no header: {columns[0]!r} and {columns[1]!r} in its first line are ids. Add "
                f"the line {views[0]},{views[1]}"
            )
    return (second, first) if columns[0] == second or columns[1] == first else (first, second)


def _read_pairs(
    path: Path, views: tuple[str, str], columns: dict[str, np.ndarray], ids: dict[str, list[str]]
) -> tuple[list[tuple[str, str]], int]:
    """Return the pairs of ids, each once, and how many are listed again; an empty cell means no partner."""
    cells = []
    for view, column in zip(views, columns.values(), strict=True):
        texts = ["" if cell is None else str(cell).strip() for cell in column.tolist()]
        view_ids = set(ids[view])
        unknown = [row for row, text in enumerate(texts) if text and text not in view_ids]
        if unknown:
            raise ValueError(
                f"{path} (--mapping) names {texts[unknown[0]]!r} in row {unknown[0] + 1}, which view {view!r} does not "
                f"have ({len(unknown):,} such in all): correct the id, or delete the row"
            )
        cells.append(texts)
    pairs = [pair for pair in zip(*cells, strict=True) if all(pair)]
    if not pairs:
        raise ValueError(
            f"{path} (--mapping) maps nothing: no row has an id of {views[0]!r} and one of {views[1]!r}. Fill in both, "
            "or leave out --mapping if the views have the same ids"
        )
    distinct = dict.fromkeys(pairs)
    return list(distinct), len(pairs) - len(distinct)
