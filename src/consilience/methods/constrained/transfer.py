"""Constraints that a clustered view passes on to the others (Eaton, desJardins & Jacob 2010, section 5)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ...data import Constraints
from ...data.links import Links, check_pairs_fit
from .pairwise import ConstrainedState
from .propagate import estimate_shapes, propagate_links


class ClusteredView(NamedTuple):
    """A view that has just been clustered."""

    X: Any
    state: ConstrainedState
    constraints: Constraints  # its own, and what follows from all
    targets: np.ndarray  # sorted indices of the rows that are mapped to other views
    threshold: float  # smallest weight of a constraint that is passed on


InferConstraints = Callable[[ClusteredView], Constraints]  # constraints between targets


def infer_by_propagation(view: ClusteredView) -> Constraints:
    """Propagate the view's constraints to targets near their ends (section 4.1)."""
    if not len(view.targets) or not view.constraints.size:
        return Constraints()
    state, links = view.state, view.constraints
    shapes = estimate_shapes(view.X, state.labels, state.centers, state.metric)
    propagated = propagate_links(view.X, state.labels, shapes, links.must, links.cannot, view.targets, view.threshold)
    return Constraints.from_links(*propagated)


def infer_directly(view: ClusteredView) -> Constraints:
    """Return the view's constraints between two targets."""
    is_target = np.zeros(view.X.shape[0], bool)
    is_target[view.targets] = True
    kinds = view.constraints.must, view.constraints.cannot
    return Constraints.from_links(*(links.select(is_target[links.pairs].all(axis=1)) for links in kinds))


def infer_from_membership(view: ClusteredView) -> Constraints:
    """Link all pairs of targets: must-links within the current clusters, cannot-links between them."""
    n = len(view.targets)
    check_pairs_fit(n * (n - 1) // 2, "all pairs of mapped entities (transfer='membership')")
    pairs = view.targets[np.column_stack(np.triu_indices(n, 1))]
    same = view.state.labels[pairs[:, 0]] == view.state.labels[pairs[:, 1]]
    weights = np.ones(len(pairs))
    return Constraints.from_links(Links(pairs[same], weights[same]), Links(pairs[~same], weights[~same]))


@dataclass(frozen=True)
class Transfer:
    """A way to pass constraints from view to view."""

    infer: InferConstraints
    across: bool = True  # whether views learn of each other's constraints at all
    propagates: bool = False  # whether distances matter, which takes a threshold and dense views


TRANSFERS = {
    "propagate": Transfer(infer_by_propagation, propagates=True),
    "direct": Transfer(infer_directly),
    "membership": Transfer(infer_from_membership),
    "none": Transfer(lambda _: Constraints(), across=False),
}
