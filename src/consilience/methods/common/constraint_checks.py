"""Check a user's constraints against the data, and convert them to positions of entities."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..._numbers import is_integer
from ..._warnings import find_stack_level
from ...data import Constraints, Views
from ...data.inputs import coerce_view, is_frame
from ...data.links import trace_path
from .input_checks import show_id

MAX_SHOWN = 8  # entities of a chain in a message
SOFT = "each counts with its weight, clusters break some of them, and nothing is inferred from these cannot-links"


def check_constraints(constraints: Any, name: str = "constraints") -> Constraints:
    """Return the constraints, none for None; refuse other types."""
    if constraints is None:
        return Constraints()
    if not isinstance(constraints, Constraints):
        wrong = type(constraints).__name__
        raise TypeError(f"{name} must be Constraints(must_link=[...], cannot_link=[...]), got {wrong}")
    return constraints


def split_by_view(constraints: Any, names: tuple[str, ...]) -> tuple[dict[str, Constraints], Constraints]:
    """Return the constraints of each view, and those that belong to no view."""
    if not isinstance(constraints, Mapping):
        return {name: Constraints() for name in names}, check_constraints(constraints)
    unknown = [name for name in constraints if name not in names]
    if unknown:
        raise ValueError(f"constraints name view {unknown[0]!r}; the views are {', '.join(map(repr, names))}")
    by_view = {name: check_constraints(constraints.get(name), f"constraints of view {name!r}") for name in names}
    return by_view, Constraints()


def get_entity_ids(X: Any, views: Views) -> np.ndarray | None:
    """Return the ids of the entities: those of Views, or of a frame's index."""
    if views.ids is None and is_frame(X):
        return coerce_view("X", X).ids
    return views.ids


def resolve_constraints(
    constraints: Constraints, views: Views, ids: np.ndarray | None, view: str | None
) -> Constraints:
    """Convert constraints to positions of entities, which must have the view that the constraints were given in."""
    where = "" if view is None else f", given in view {view!r}"
    resolved = constraints
    if constraints.by == "id":
        if ids is None:
            raise ValueError(
                "constraints name entities by id, but the data has no ids: give Views(..., ids=...), a frame with an "
                "index, or positions"
            )
        try:
            resolved = constraints.positions(ids)
        except ValueError as error:
            raise ValueError(f"{error}{where}") from error
    elif constraints.by == "row":
        resolved = convert_rows(constraints, views, view)
    for kind, links in (("must-link", resolved.must), ("cannot-link", resolved.cannot)):
        too_large = links.pairs >= len(views)
        if too_large.any():
            pair = find_first_pair(links.pairs, too_large)[0]
            by_id = ", or say by='id'" if ids is not None and len(ids) and is_integer(ids[0]) else ""
            raise ValueError(
                f"{kind} {pair}{where and where + ','} names entity {max(pair)}, but there are {len(views)}: give "
                f"positions from 0 to {len(views) - 1}{by_id}"
            )
        if view is not None:
            lacking = ~views.present[:, views.names.index(view)][links.pairs]
            if lacking.any():
                pair, entity = find_first_pair(links.pairs, lacking)
                raise ValueError(
                    f"{kind} {pair} is given in view {view!r}, which entity {show_id(views, entity)} lacks: give it in "
                    "a view that both have, or for all views at once, constraints=Constraints(...); rows of the view's "
                    "own block are Constraints(..., by='row')"
                )
    return resolved


def find_first_pair(pairs: np.ndarray, wrong: np.ndarray) -> tuple[tuple[int, int], int]:
    """Return the first pair with a wrong end, and that end."""
    position = np.flatnonzero(wrong.any(axis=1))[0]
    first, second = pairs[position].tolist()
    return (first, second), first if wrong[position, 0] else second


def convert_rows(constraints: Constraints, views: Views, view: str | None) -> Constraints:
    """Convert constraints between rows of a view's block to constraints between entities."""
    if view is None:
        if views.n_views > 1:
            raise ValueError("constraints by row are of one view: give constraints={'view': Constraints(...)}")
        view = views.names[0]
    rows = views.rows[:, views.names.index(view)]
    present = np.flatnonzero(rows >= 0)[::-1]
    entity = np.full(rows.max(initial=-1) + 1, -1)
    entity[rows[present]] = present
    for kind, links in (("must-link", constraints.must), ("cannot-link", constraints.cannot)):
        unknown = ~np.isin(links.pairs, np.flatnonzero(entity >= 0))
        if unknown.any():
            pair, row = find_first_pair(links.pairs, unknown)
            raise ValueError(
                f"{kind} {pair} names row {row} of view {view!r}, which no entity has: rows run from 0 to "
                f"{len(entity) - 1}"
            )
    return constraints.renumbered(entity)


def warn_of_conflicts(conflicts: np.ndarray, must: np.ndarray, ids: np.ndarray | None, effect: str) -> None:
    """Warn about cannot-links that contradict must-links; `effect` says what the method does with them."""
    if len(conflicts):
        first, second = conflicts[0] if ids is None else ids[conflicts[0]]
        warnings.warn(
            f"cannot-links contradict must-links ({len(conflicts)} such), as ({first}, {second}), which must-links tie "
            f"together{show_chain(conflicts[0], must, ids)}: {effect}. See Constraints.conflicts",
            UserWarning,
            stacklevel=find_stack_level(),
        )


def show_chain(pair: np.ndarray, must: np.ndarray, ids: np.ndarray | None) -> str:
    """Return the shortest chain of must-links between two entities, for messages; nothing if only a mapping has one."""
    chain = trace_path(must, *pair.tolist())
    names = [str(entity if ids is None else ids[entity]) for entity in chain]
    shown = names if len(names) <= MAX_SHOWN else [*names[: MAX_SHOWN - 2], "...", names[-1]]
    return f" ({' = '.join(shown)})" if chain else ""
