"""Join the contents of views: which rows of the files describe the same entity."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np

from .._saving import save_as
from ..data.align import align_rows
from .kinds import ViewContent
from .mapping import IdMapping, list_content_ids

SEPARATOR = " / "  # between the ids of an entity in its name


@save_as("entities")
@dataclass(frozen=True, eq=False)
class Entities:
    """The entities that the files describe, and the row of each in the content of each view."""

    ids: np.ndarray | None  # their names; None if rows are matched by position
    rows: dict[str, np.ndarray]  # by content: the row of each entity, -1 if it has none
    row_ids: dict[str, Any]  # by content: the ids of its rows; None if it has none
    is_mapped: bool = False  # whether mappings join the contents, each of which then has its own ids

    def __len__(self) -> int:
        return len(next(iter(self.rows.values())))

    @cached_property
    def view_ids(self) -> dict[str, np.ndarray]:
        """The id of each entity in each content, '' where it has none; empty if the contents share their ids."""
        if not self.is_mapped:
            return {}
        padded = {name: np.append(ids, "") for name, ids in self.row_ids.items()}  # '' at index -1
        return {name: padded[name][rows] for name, rows in self.rows.items()}

    def find(self, entity_id: str, view: str | None = None) -> tuple[int, ...]:
        """Return the positions of the entities that have an id in a view, or, without a view, in any of them.

        A mapping that is not one to one makes several entities of a row. An id that means different entities in
        different views is refused if no view is named.
        """
        if view is not None and self.is_mapped:
            return self._positions[view].get(entity_id, ())
        matches = {name: index[entity_id] for name, index in self._positions.items() if entity_id in index}
        if len(set(matches.values())) > 1:
            views = ", ".join(repr(name) for name in matches if name is not None)
            raise ValueError(f"{entity_id!r} means different entities in the views {views}")
        return next(iter(matches.values()), ())

    def list_unknown(self, ids: Iterable[str], views: Sequence[str] = ()) -> list[str]:
        """List the ids that no entity has in the views, or, without views, in any of them."""
        return [entity_id for entity_id in ids if not any(self.find(entity_id, view) for view in views or (None,))]

    @cached_property
    def _positions(self) -> dict[str | None, dict[str, tuple[int, ...]]]:
        """The positions of entities by their names (None), and by their ids in each view if there are mappings."""
        names = range(len(self)) if self.ids is None else self.ids.tolist()
        positions: dict[str | None, dict[str, tuple[int, ...]]] = {
            None: {str(name): (i,) for i, name in enumerate(names)}
        }
        for view, ids in self.view_ids.items():
            positions[view] = {}
            for i, entity_id in enumerate(ids.tolist()):
                if entity_id:
                    positions[view][entity_id] = (*positions[view].get(entity_id, ()), i)
        return positions


def join_contents(contents: Sequence[ViewContent], mappings: Sequence[IdMapping] = ()) -> Entities:
    """Find the entities: by the mappings if there are any, otherwise by common ids or by the position of rows."""
    if mappings:
        return _join_by_mappings(contents, mappings)
    ids = collect_ids(contents)
    n = contents[0].n_rows if ids is None else len(ids)
    rows, row_ids = {}, {}
    for content in contents:
        by_position = content.kind == "links" or content.ids is None or ids is None
        rows[content.name] = np.arange(n) if by_position else _find_rows(content.ids, ids)
        row_ids[content.name] = ids if content.kind == "links" else content.ids
    return Entities(ids, rows, row_ids)


def match_by_position(contents: Sequence[ViewContent]) -> tuple[list[ViewContent], list[str]]:
    """Give contents without ids the ids of the content that has as many rows; return them and notes for the user.

    Nothing changes if no content has ids. Contents with as many rows in different orders, or none, are refused.
    """
    with_ids = [content for content in contents if content.kind != "links" and content.ids is not None]
    matched, notes = [], []
    for content in contents:
        if content.kind == "links" or content.ids is not None or not with_ids:
            matched.append(content)
            continue
        partners = [other for other in with_ids if other.n_rows == content.n_rows]
        if not partners:
            other = with_ids[0]
            raise ValueError(
                f"view {content.name!r} ({content.origin}) has {content.n_rows:,} rows without ids, but view "
                f"{other.name!r} ({other.origin}) has {other.n_rows:,} rows with ids: give one row per id in the same "
                "order, or add the ids (a column of a table, or an array 'ids' in an .npz file)"
            )
        orders = [list_content_ids(other).tolist() for other in partners]
        if any(order != orders[0] for order in orders):
            raise ValueError(
                f"view {content.name!r} ({content.origin}) has no ids, and the views "
                f"{' and '.join(repr(other.name) for other in partners[:2])} have as many rows ({content.n_rows:,}) in "
                "different orders: add the ids (a column of a table, or an array 'ids' in an .npz file)"
            )
        matched.append(replace(content, ids=partners[0].ids))
        notes.append(
            f"View {content.name!r} has no ids: its {content.n_rows:,} rows are matched by position with those of view "
            f"{partners[0].name!r}."
        )
    return matched, notes


def _find_rows(row_ids: Any, ids: Any) -> np.ndarray:
    """Find the row of each id, -1 if it has none."""
    position = {entity_id: row for row, entity_id in enumerate(row_ids.tolist())}
    return np.array([position.get(entity_id, -1) for entity_id in ids.tolist()], dtype=np.intp)


def _join_by_mappings(contents: Sequence[ViewContent], mappings: Sequence[IdMapping]) -> Entities:
    """Join rows that the mappings pair; ids that occur in several views mean nothing."""
    names = [content.name for content in contents]
    row_ids = {content.name: list_content_ids(content) for content in contents}
    position = {name: {entity_id: row for row, entity_id in enumerate(ids.tolist())} for name, ids in row_ids.items()}
    pairs: dict[tuple[str, str], list[tuple[int, int]]] = {}
    for mapping in mappings:
        first, second = mapping.views
        listed = [(position[first][a], position[second][b]) for a, b in mapping.pairs]
        pairs.setdefault(mapping.views, []).extend(listed)
    aligned = align_rows({name: len(ids) for name, ids in row_ids.items()}, pairs)
    is_link = np.array([content.kind == "links" for content in contents])
    if not is_link.all():  # an end of a link is an entity only if another view describes it
        aligned = aligned[(aligned[:, ~is_link] >= 0).any(axis=1)]
    rows = dict(zip(names, aligned.T, strict=True))
    for content in contents:
        if content.kind == "links":
            mapped = np.unique(rows[content.name][rows[content.name] >= 0])
            if not len(mapped):
                raise ValueError(
                    f"view {content.name!r} ({content.origin}): no --mapping connects its ids with a view that is not "
                    "of links"
                )
            row_ids[content.name] = row_ids[content.name][mapped]
            rows[content.name] = np.where(rows[content.name] >= 0, np.searchsorted(mapped, rows[content.name]), -1)
    return Entities(_name_entities(rows, row_ids), rows, dict(row_ids), is_mapped=True)


def _name_entities(rows: dict[str, np.ndarray], row_ids: dict[str, np.ndarray]) -> np.ndarray:
    """Name entities by their ids in all views, with the names of the views if the ids alone are ambiguous."""
    n = len(next(iter(rows.values())))
    parts: list[list[tuple[str, str]]] = [[] for _ in range(n)]
    for view, view_rows in rows.items():
        ids = row_ids[view].tolist()
        for entity in np.flatnonzero(view_rows >= 0).tolist():
            parts[entity].append((view, ids[view_rows[entity]]))
    names = [SEPARATOR.join(dict.fromkeys(entity_id for _, entity_id in pairs)) for pairs in parts]
    if len(set(names)) < n:
        names = [SEPARATOR.join(f"{view}:{entity_id}" for view, entity_id in pairs) for pairs in parts]
    if len(set(names)) < n:  # ids that contain the separator
        names = [str(pairs) for pairs in parts]
    return np.array(names, dtype=object)


def collect_ids(contents: Sequence[ViewContent]) -> np.ndarray | None:
    """Collect the ids of all entities in the order of the files; None if rows are matched by position."""
    links = [content for content in contents if content.kind == "links"]
    others = [content for content in contents if content.kind != "links"]
    if not others:
        return _list_unique(chain.from_iterable(list_content_ids(content).tolist() for content in links))
    without_ids = [content for content in others if content.ids is None]
    if len(without_ids) == len(others):
        first = others[0]
        for content in others:
            if content.n_rows != first.n_rows:
                raise ValueError(
                    f"view {content.name!r} ({content.origin}) has {content.n_rows} rows, view {first.name!r} "
                    f"{first.n_rows}: without ids rows are matched by position. Give --id COLUMN to join them"
                )
        if links:
            raise ValueError(f"view {links[0].name!r} links ids, but the other views have none: give --id COLUMN")
        return None
    if without_ids:
        raise ValueError(
            f"view {without_ids[0].name!r} ({without_ids[0].origin}) has no ids, but other views have: add the column "
            "or, in an .npz file, an array 'ids'"
        )
    ids = {content.name: content.ids.tolist() for content in others if content.ids is not None}
    for content in others if len(ids) > 1 else ():
        rest = {name: view_ids for name, view_ids in ids.items() if name != content.name}
        if set(ids[content.name]).isdisjoint(chain.from_iterable(rest.values())):
            other, other_ids = next(iter(rest.items()))
            raise ValueError(
                f"view {content.name!r} ({content.origin}) shares no id with the other views: its first is "
                f"{ids[content.name][0]!r}, the first of {other!r} is {other_ids[0]!r}. Do these files describe the "
                "same entities, and is the id column right (--id)? For files with different ids give --mapping FILE"
            )
    return _list_unique(chain.from_iterable(ids.values()))


def _list_unique(ids: Iterable[str]) -> np.ndarray:
    """List ids, each once and in the order of first occurrence."""
    return np.array(list(dict.fromkeys(ids)), dtype=object)
