"""How far decisions about two items reach in each view: propagation by Eaton, desJardins & Jacob 2010, section 4.1.

A Gaussian around each item of a pair has the shape of the item's group in the view, and is the narrower the farther the
item is from the center of the group (Figure 3 of the paper shows such bells). Items under the bells around one end of a
pair are likely to be related to the other end as the pair is. So they get a vote accordingly, as large as the mean
height of the bells over the views; the vote of a view is about 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..methods.agreement.inputs import PreparedView
from ..methods.constrained.cluster_metrics import ClusterMetric
from ..methods.constrained.propagate import compute_influence, estimate_shapes

N_FEATURES = 5  # eigenvectors of the graph of each view, as in the constrained start of `Consilience`
THRESHOLD = 0.5  # least height of a bell that counts, as in `MultiViewConstrainedKMeans`


@dataclass(frozen=True, eq=False)
class Bell:
    """The items near one item in a view, and the height of its bell there."""

    rows: np.ndarray
    heights: np.ndarray


@dataclass(frozen=True)
class PairStatement:
    """Two items that belong together, or do not."""

    first: int
    second: int
    is_together: bool


@dataclass(frozen=True, eq=False)
class PropagatedVotes:
    """The votes that statements about pairs propagate to other items, given the groups of the pairs."""

    rows: np.ndarray  # items that are reached
    partners: np.ndarray  # the other end of the pair that reaches each
    weights: np.ndarray  # heights of the bells, negative for pairs that do not belong together
    shape: tuple[int, int]

    def __call__(self, labels: np.ndarray) -> np.ndarray:
        """Return the votes for each item and group, (n, k); labels are numbered from 0, -1 for none."""
        votes = np.zeros(self.shape)
        groups = labels[self.partners]
        is_placed = groups >= 0
        np.add.at(votes, (self.rows[is_placed], groups[is_placed]), self.weights[is_placed])
        return votes


def build_features(view: PreparedView) -> np.ndarray:
    """Return the leading eigenvectors of a view's graph, scaled to variance 1, for the items that have it."""
    vectors = view.clearest.features.vectors[:, 1 : N_FEATURES + 1]
    if not vectors.shape[1]:
        return np.zeros((len(view.entities), 1))
    scale = np.sqrt(np.mean(vectors**2, axis=0))
    return vectors / np.where(scale > 0, scale, 1.0)


def measure_bells(view: PreparedView, rows: Sequence[int], labels: np.ndarray, n_groups: int) -> dict[int, Bell]:
    """Measure the bells around items in a view; those that lack the view, or are in no group, have none.

    `labels` are numbered from 0; negative ones count for no group.
    """
    position = np.full(len(labels), -1)
    position[view.entities] = np.arange(len(view.entities))
    present = np.array(sorted({row for row in rows if position[row] >= 0 and labels[row] >= 0}), np.int64)
    if not len(present):
        return {}
    X, view_labels = build_features(view), labels[view.entities]
    counts = np.bincount(view_labels[view_labels >= 0], minlength=n_groups)
    centers = np.zeros((n_groups, X.shape[1]))
    np.add.at(centers, view_labels[view_labels >= 0], X[view_labels >= 0])
    centers /= np.maximum(counts, 1)[:, None]
    shapes = estimate_shapes(X, view_labels, centers, ClusterMetric.first(*centers.shape))
    odds = np.full(len(present), 1 / THRESHOLD)
    influence = compute_influence(X, view_labels, shapes, position[present], odds, np.arange(len(X)))
    bells = {}
    for i, row in enumerate(present.tolist()):
        reached = slice(influence.indptr[i], influence.indptr[i + 1])
        bells[row] = Bell(view.entities[influence.reached[reached]], influence.heights[reached])
    return bells


def combine_bells(
    views: Sequence[PreparedView], rows: Sequence[int], labels: np.ndarray, n_groups: int
) -> dict[int, Bell]:
    """Return for each item the mean of its bells over the views that both items have, where it is high enough.

    A single view may put unrelated items side by side, so that an item is reached if it is near in most views.
    """
    n_entities = len(labels)
    present = np.zeros((n_entities, len(views)), bool)
    for v, view in enumerate(views):
        present[view.entities, v] = True
    heights = {row: np.zeros(n_entities) for row in rows}
    for view in views:
        for row, bell in measure_bells(view, rows, labels, n_groups).items():
            heights[row][bell.rows] += bell.heights
    combined = {}
    for row, total in heights.items():
        mean = total / np.maximum((present & present[row]).sum(axis=1), 1)
        reached = np.flatnonzero((mean >= THRESHOLD) & (np.arange(n_entities) != row))
        combined[row] = Bell(reached, mean[reached])
    return combined


def propagate_statements(
    views: Sequence[PreparedView], statements: Sequence[PairStatement], labels: np.ndarray, n_groups: int
) -> PropagatedVotes | None:
    """Return the votes that statements propagate to other items; None if there are none."""
    if not statements:
        return None
    ends = [row for statement in statements for row in (statement.first, statement.second)]
    bells = combine_bells(views, ends, labels, n_groups)
    rows, partners, weights = [], [], []
    for statement in statements:
        sign = 1.0 if statement.is_together else -1.0
        for near, other in ((statement.first, statement.second), (statement.second, statement.first)):
            bell = bells[near]
            is_third = bell.rows != other
            rows.append(bell.rows[is_third])
            partners.append(np.full(int(is_third.sum()), other))
            weights.append(sign * bell.heights[is_third])
    shape = len(labels), n_groups
    return PropagatedVotes(np.concatenate(rows), np.concatenate(partners), np.concatenate(weights), shape)
