"""Constraints as a user gives them, checked against the data and turned into numbers of entities."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from numbers import Integral
from typing import Any

import numpy as np

from ...data import Constraints, Views, coerce_view, is_frame
from .input_checks import find_stack_level, show_id


def check_constraints(given: Any, where: str = "constraints") -> Constraints:
    """What a user gave, if it is what it should be; None is nothing."""
    if given is None:
        return Constraints()
    if not isinstance(given, Constraints):
        raise TypeError(f"{where} must be Constraints(must_link=[...], cannot_link=[...]), got {type(given).__name__}")
    return given


def split_by_view(given: Any, names: tuple[str, ...]) -> tuple[dict[str, Constraints], Constraints]:
    """Constraints view by view, and those that are given for the entities, in no view."""
    if not isinstance(given, Mapping):
        return {name: Constraints() for name in names}, check_constraints(given)
    unknown = [name for name in given if name not in names]
    if unknown:
        raise ValueError(f"constraints name view {unknown[0]!r}; the views are {', '.join(map(repr, names))}")
    return {name: check_constraints(given.get(name), f"constraints of view {name!r}") for name in names}, Constraints()


def get_entity_ids(X: Any, views: Views) -> np.ndarray | None:
    """The ids of the entities: those of Views, or of a frame's index."""
    if views.ids is None and is_frame(X):
        return coerce_view("X", X).ids
    return views.ids


def resolve_constraints(
    constraints: Constraints, views: Views, ids: np.ndarray | None, view: str | None
) -> Constraints:
    """The constraints by position among the entities, each of which must have the view that they were given in."""
    where = "" if view is None else f", given in view {view!r},"
    if constraints.by == "id":
        if ids is None:
            raise ValueError(
                "constraints name entities by id, but the data has no ids: give Views(..., ids=...), a frame with an "
                "index, or positions"
            )
        try:
            found = constraints.positions(ids)
        except ValueError as error:
            raise ValueError(f"{error}{where.rstrip(',')}") from error
    elif constraints.by == "row":
        found = _from_rows(constraints, views, view)
    else:
        found = constraints
    for kind, links in (("must-link", found.must), ("cannot-link", found.cannot)):
        wrong = np.flatnonzero((links.pairs >= len(views)).any(axis=1))
        if len(wrong):
            pair = tuple(links.pairs[wrong[0]].tolist())
            by_id = ", or say by='id'" if ids is not None and len(ids) and isinstance(ids[0], Integral) else ""
            raise ValueError(
                f"{kind} {pair}{where} names entity {max(pair)}, but there are {len(views)}: give positions from 0 to "
                f"{len(views) - 1}{by_id}"
            )
        if view is not None:
            lacking = ~views.present[:, views.names.index(view)][links.pairs]
            wrong = np.flatnonzero(lacking.any(axis=1))
            if len(wrong):
                pair = links.pairs[wrong[0]]
                entity = pair[lacking[wrong[0]]][0]
                raise ValueError(
                    f"{kind} {tuple(pair.tolist())} is given in view {view!r}, which entity {show_id(views, entity)} "
                    "lacks: give it in a view that both have, or for all views at once, constraints=Constraints(...); "
                    "rows of the view's own block are Constraints(..., by='row')"
                )
    return found


def _from_rows(constraints: Constraints, views: Views, view: str | None) -> Constraints:
    """Rows of the block that a view came from, as entities."""
    if view is None:
        if views.n_views > 1:
            raise ValueError("constraints by row are of one view: give constraints={'view': Constraints(...)}")
        view = views.names[0]
    rows = views.rows[:, views.names.index(view)]
    there = np.flatnonzero(rows >= 0)[::-1]
    entity = np.full(rows.max(initial=-1) + 1, -1)
    entity[rows[there]] = there
    for kind, links in (("must-link", constraints.must), ("cannot-link", constraints.cannot)):
        known = np.zeros(links.pairs.shape, bool)
        inside = links.pairs < len(entity)
        known[inside] = entity[links.pairs[inside]] >= 0
        wrong = np.flatnonzero(~known.all(axis=1))
        if len(wrong):
            pair = links.pairs[wrong[0]]
            raise ValueError(
                f"{kind} {tuple(pair.tolist())} names row {pair[~known[wrong[0]]][0]} of view {view!r}, which no "
                f"entity has: rows run from 0 to {len(entity) - 1}"
            )
    return constraints.renumber(entity)


def warn_of_conflicts(conflicts: np.ndarray, ids: np.ndarray | None) -> None:
    """Say which cannot-links contradict must-links."""
    if len(conflicts):
        one, other = conflicts[0] if ids is None else ids[conflicts[0]]
        warnings.warn(
            f"cannot-links contradict must-links ({len(conflicts)} such), as ({one}, {other}), which must-links tie "
            "together: they count as they are, and nothing is inferred from them. See Constraints.conflicts",
            UserWarning,
            stacklevel=find_stack_level(),
        )
