"""What a view hands on to the others, and what else it might (Eaton, desJardins & Jacob 2010, section 5)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ...data import Constraints, Links, check_pairs_fit
from .pairwise import ConstrainedState
from .propagate import estimate_shapes, propagate_links


class ClusteredView(NamedTuple):
    """A view that has just been clustered."""

    X: Any
    state: ConstrainedState
    given: Constraints  # its own, and what follows from all
    targets: np.ndarray  # rows that are mapped to other views, in order
    threshold: float  # least weight of what is handed on


Infer = Callable[[ClusteredView], Constraints]  # constraints between targets


def infer_by_propagation(turn: ClusteredView) -> Constraints:
    """What the given constraints say of targets about their ends (section 4.1)."""
    if not len(turn.targets) or not turn.given.size:
        return Constraints()
    state, given = turn.state, turn.given
    shapes = estimate_shapes(turn.X, state.labels, state.centers, state.metric)
    found = propagate_links(turn.X, state.labels, shapes, given.must, given.cannot, turn.targets, turn.threshold)
    return Constraints.from_links(*found)


def infer_directly(turn: ClusteredView) -> Constraints:
    """Those of the given constraints whose ends are both targets."""
    mapped = np.zeros(turn.X.shape[0], bool)
    mapped[turn.targets] = True
    must, cannot = (own.where(mapped[own.pairs].all(axis=1)) for own in (turn.given.must, turn.given.cannot))
    return Constraints.from_links(must, cannot)


def infer_from_membership(turn: ClusteredView) -> Constraints:
    """All pairs of targets, tied or kept apart as they are now."""
    n = len(turn.targets)
    check_pairs_fit(n * (n - 1) // 2, "all pairs of mapped entities (transfer='membership')")
    pairs = turn.targets[np.column_stack(np.triu_indices(n, 1))]
    same = turn.state.labels[pairs[:, 0]] == turn.state.labels[pairs[:, 1]]
    weights = np.ones(len(pairs))
    return Constraints.from_links(Links(pairs[same], weights[same]), Links(pairs[~same], weights[~same]))


def infer_nothing(turn: ClusteredView) -> Constraints:  # noqa: ARG001
    """Each view is alone."""
    return Constraints()


@dataclass(frozen=True)
class Transfer:
    """How constraints come from view to view."""

    infer: Infer
    across: bool = True  # whether views learn of each other's constraints at all
    propagates: bool = False  # whether distances are: they take a threshold, and dense views

    def __call__(self, turn: ClusteredView) -> Constraints:
        return self.infer(turn)


TRANSFERS = {
    "propagate": Transfer(infer_by_propagation, propagates=True),
    "direct": Transfer(infer_directly),
    "membership": Transfer(infer_from_membership),
    "none": Transfer(infer_nothing, across=False),
}
