"""Entities of several views joined by their ids, and checks of ids and of which entity has which view."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from .coerce import ViewInput


def attach_ids(inputs: dict[str, ViewInput], ids: Any) -> dict[str, ViewInput]:
    """Attach the ids that the caller gave, for all views or view by view."""
    if not isinstance(ids, Mapping):
        ids = dict.fromkeys(inputs, ids)
    unknown = [name for name in ids if name not in inputs]
    if unknown:
        raise ValueError(f"ids names view {unknown[0]!r}; the views are {', '.join(map(repr, inputs))}")
    for name, values in ids.items():
        if values is not None:
            row_ids = check_row_ids(name, values, inputs[name].values.shape[0])
            inputs = inputs | {name: replace(inputs[name], ids=row_ids, default_ids=False)}
    return inputs


def check_row_ids(name: str, values: Any, n: int) -> np.ndarray:
    """Check that there is one hashable, unique id per row."""
    try:
        ids = np.asarray(values)
    except ValueError as error:
        raise ValueError(
            f"ids of view {name!r} must be a flat sequence, one id per row, got sequences that differ in length"
        ) from error
    if ids.ndim != 1:
        raise ValueError(f"ids of view {name!r} must be a flat sequence, one id per row, got shape {ids.shape}")
    if len(ids) != n:
        raise ValueError(f"view {name!r} has {n} rows but {len(ids)} ids: give one id per row")
    _check_unique(name, ids)
    return ids


def join_by_ids(inputs: dict[str, ViewInput]) -> tuple[np.ndarray | None, np.ndarray | None]:
    """Ids of the entities, and the row of each in each view (or -1); None for the rows if all views have equal ids."""
    named = {name: block.ids for name, block in inputs.items() if block.ids is not None and not block.default_ids}
    if any(ids.dtype.kind in "iu" for ids in named.values()):
        # if another frame's index holds numbers, a default index 0, 1, ... identifies the rows too
        named = {name: block.ids for name, block in inputs.items() if block.ids is not None}
    for name, ids in named.items():
        _check_unique(name, ids)
    first = next(iter(named.values()), None)
    if first is None or all(ids is first or np.array_equal(ids, first) for ids in named.values()):
        return first, None
    unnamed = [name for name in inputs if name not in named]
    if unnamed:
        raise ValueError(
            f"view {unnamed[0]!r} has no ids, and the other views' ids differ, so it cannot be joined to them: "
            f"give ids={{{unnamed[0]!r}: [...]}}"
        )
    kinds = {ids.dtype.kind for ids in named.values()}
    same_kind = len(kinds) == 1 and "O" not in kinds
    all_ids = np.concatenate([ids if same_kind else ids.astype(object) for ids in named.values()])
    entity_of: dict[Hashable, int] = {}
    entities = np.array([entity_of.setdefault(id_, len(entity_of)) for id_ in all_ids.tolist()], dtype=np.intp)
    rows = np.full((len(entity_of), len(inputs)), -1)
    ends = np.cumsum([len(ids) for ids in named.values()])
    for v, view_entities in enumerate(np.split(entities, ends[:-1])):
        rows[view_entities, v] = np.arange(len(view_entities))
    _check_overlap(named, rows)
    return all_ids[np.unique(entities, return_index=True)[1]], rows


def _check_overlap(named: dict[str, np.ndarray], rows: np.ndarray) -> None:
    """Refuse a view that shares no entity with any other: its ids are of another kind, or of other entities."""
    shared = (rows >= 0).sum(axis=1) > 1
    for name, view_rows in zip(named, rows.T, strict=True):
        if len(named[name]) and not shared[view_rows >= 0].any():
            other = next(ids for view, ids in named.items() if view != name)
            raise ValueError(
                f"view {name!r} shares no id with the other views: it starts with {named[name][:1].tolist()}, another "
                f"with {other[:1].tolist()}. Make them the same kind, or use consilience.align"
            )


def _check_unique(name: str, ids: np.ndarray) -> None:
    values = ids.tolist()
    for row, value in enumerate(values):
        if not isinstance(value, Hashable):
            raise TypeError(
                f"view {name!r} has the id {value!r} in row {row}, a {type(value).__name__}: ids must be hashable, "
                "such as strings, numbers or tuples"
            )
        if value is None or repr(value) == "<NA>" or value != value:
            raise ValueError(f"view {name!r} has no id in row {row} ({value}): give the row an id, or drop it")
    if len(set(values)) < len(values):
        seen: set[Hashable] = set()
        repeated = next(value for value in values if value in seen or seen.add(value))  # type: ignore[func-returns-value]
        raise ValueError(f"view {name!r} has the id {repeated!r} more than once: aggregate or drop the repeated rows")


def check_same_length(inputs: dict[str, ViewInput]) -> None:
    """Refuse views without ids, whose rows are matched by position, if they differ in length."""
    (first_name, first), *others = inputs.items()
    n = first.values.shape[0]
    for name, block in others:
        if block.values.shape[0] != n:
            raise ValueError(
                f"view {name!r} has {block.values.shape[0]} rows, view {first_name!r} {n}: give every view a row for "
                "each entity and say with present= (or a row of NaN) which entities lack it, give ids= to join the "
                "rows, or use consilience.align"
            )


def check_present(present: Any, shape: tuple[int, int]) -> np.ndarray:
    """Check the shape and type of the mask of which entity has which view, and copy it."""
    mask = np.asarray(present)
    if mask.shape != shape:
        raise ValueError(f"present must have shape (entities, views) = {shape}, got {mask.shape}")
    if mask.dtype != bool:
        raise TypeError(f"present must hold True and False, got {mask.dtype}: convert it with astype(bool)")
    return mask.copy()


def check_rows_exist(present: np.ndarray, rows: np.ndarray | None, ids: np.ndarray | None, names: list[str]) -> None:
    """Refuse a mask by which an entity has a view without a row for it."""
    if rows is not None and (present & (rows < 0)).any():
        entity, v = np.argwhere(present & (rows < 0))[0]
        id_ = entity if ids is None else ids[entity]
        raise ValueError(f"present says that entity {id_} has view {names[v]!r}, which has no row with this id")
