"""What a view hands on to the others, and what else it might (Eaton, desJardins & Jacob 2010, section 5)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ...data import Constraints, Links, check_pairs_fit
from .pairwise import ConstrainedState
from .propagate import cluster_shapes, propagate


class Turn(NamedTuple):
    """A view that has just been clustered."""

    X: Any
    state: ConstrainedState
    given: Constraints  # its own, and what follows from all
    targets: np.ndarray  # rows that are mapped to other views, in order
    threshold: float  # least weight of what is handed on


Infer = Callable[[Turn], Constraints]  # constraints between targets


def by_propagation(turn: Turn) -> Constraints:
    """What the given constraints say of targets about their ends (section 4.1)."""
    if not len(turn.targets) or not turn.given.size:
        return Constraints()
    state, given = turn.state, turn.given
    shapes = cluster_shapes(turn.X, state.labels, state.centres, state.metric)
    found = propagate(turn.X, state.labels, shapes, given.must, given.cannot, turn.targets, turn.threshold)
    return Constraints.from_links(*found)


def as_given(turn: Turn) -> Constraints:
    """Those of the given constraints whose ends are both targets."""
    mapped = np.zeros(turn.X.shape[0], bool)
    mapped[turn.targets] = True
    must, cannot = (own.where(mapped[own.pairs].all(axis=1)) for own in (turn.given.must, turn.given.cannot))
    return Constraints.from_links(must, cannot)


def by_membership(turn: Turn) -> Constraints:
    """All pairs of targets, tied or kept apart as they are now."""
    n = len(turn.targets)
    check_pairs_fit(n * (n - 1) // 2, "all pairs of mapped entities (transfer='membership')")
    pairs = turn.targets[np.column_stack(np.triu_indices(n, 1))]
    same = turn.state.labels[pairs[:, 0]] == turn.state.labels[pairs[:, 1]]
    weights = np.ones(len(pairs))
    return Constraints.from_links(Links(pairs[same], weights[same]), Links(pairs[~same], weights[~same]))


def nothing(turn: Turn) -> Constraints:  # noqa: ARG001
    """Each view is alone."""
    return Constraints()


@dataclass(frozen=True)
class Transfer:
    """How constraints come from view to view."""

    infer: Infer
    across: bool = True  # whether views learn of each other's constraints at all
    weighed: bool = False  # whether distances are: they take a threshold, and dense views

    def __call__(self, turn: Turn) -> Constraints:
        return self.infer(turn)


TRANSFERS = {
    "propagate": Transfer(by_propagation, weighed=True),
    "direct": Transfer(as_given),
    "membership": Transfer(by_membership),
    "none": Transfer(nothing, across=False),
}
