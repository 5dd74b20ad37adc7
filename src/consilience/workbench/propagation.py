"""How far decisions about two items reach in each view: propagation by Eaton, desJardins & Jacob 2010, section 4.1.

A Gaussian around each item of a pair has the shape of the item's group in the view, and is the narrower the farther the
item is from the center of the group (Figure 3 of the paper shows such bells). Items under the bell around one end of a
pair are likely to be related to the other end as the pair is. So they get a vote accordingly, as large as the mean
height of the bell over the views; the vote of a view is about 1.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..methods.agreement.inputs import PreparedView
from ..methods.constrained.cluster_metrics import ClusterMetric
from ..methods.constrained.propagate import compute_influence, estimate_shapes

N_FEATURES = 5  # eigenvectors of the graph of each view, as in the constrained start of `Consilience`
THRESHOLD = 0.5  # least height at which an item is reached, as in `MultiViewConstrainedKMeans`
LEAST_HEIGHT = 0.1  # heights below it count as 0 in a mean over views
NO_ITEMS: Mapping[str, np.ndarray] = {}


@dataclass(frozen=True, eq=False)
class Bell:
    """The items under the bell around an item, and its height at each of them."""

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

    rows: np.ndarray  # items under the bell around one end of a pair
    partners: np.ndarray  # the other end of that pair
    weights: np.ndarray  # heights of the bells, negative for pairs that do not belong together
    shape: tuple[int, int]  # numbers of items and groups

    def __call__(self, labels: np.ndarray) -> np.ndarray:
        """Return the votes for each item and group, (n, k); labels are numbered from 0, -1 for none."""
        votes = np.zeros(self.shape)
        groups = labels[self.partners]
        is_placed = groups >= 0
        np.add.at(votes, (self.rows[is_placed], groups[is_placed]), self.weights[is_placed])
        return votes


def build_features(view: PreparedView) -> np.ndarray:
    """Return the leading eigenvectors of a view's graph, of mean square 1, for the items that have the view."""
    vectors = view.clearest.features.vectors[:, 1 : N_FEATURES + 1]
    if not vectors.shape[1]:
        return np.zeros((len(view.entities), 1))
    scale = np.sqrt(np.mean(vectors**2, axis=0))
    return vectors / np.where(scale > 0, scale, 1.0)


def find_used_items(view: PreparedView, labels: np.ndarray, ignored: Mapping[str, np.ndarray]) -> np.ndarray:
    """Return a mask of the items that are in a group and have a view that is not ignored for them, (n,)."""
    is_used = np.zeros(len(labels), bool)
    is_used[view.entities] = True
    is_used &= labels >= 0
    return is_used & ~ignored[view.name] if view.name in ignored else is_used


def measure_bells(
    view: PreparedView,
    rows: Iterable[int],
    labels: np.ndarray,
    n_groups: int,
    ignored: Mapping[str, np.ndarray] = NO_ITEMS,
    threshold: float = THRESHOLD,
) -> dict[int, Bell]:
    """Measure the bells around items in a view, where they are at least as high as the threshold.

    `labels` are numbered from 0. Items in no group (-1), those that lack the view, and those for which it is `ignored`
    (a mask per view) have no bell and are under none.
    """
    is_used = find_used_items(view, labels, ignored)
    sources = np.array(sorted({row for row in rows if is_used[row]}), np.int64)
    if not len(sources):
        return {}
    entities, X = np.flatnonzero(is_used), build_features(view)[is_used[view.entities]]
    view_labels = labels[entities]
    centers = np.zeros((n_groups, X.shape[1]))
    np.add.at(centers, view_labels, X)
    centers /= np.maximum(np.bincount(view_labels, minlength=n_groups), 1)[:, None]
    shapes = estimate_shapes(X, view_labels, centers, ClusterMetric.first(*centers.shape))
    odds = np.full(len(sources), 1 / threshold)
    positions = np.searchsorted(entities, sources)
    influence = compute_influence(X, view_labels, shapes, positions, odds, np.arange(len(X)))
    bells = {}
    for row, start, stop in zip(sources.tolist(), influence.indptr[:-1], influence.indptr[1:], strict=True):
        bells[row] = Bell(entities[influence.reached[start:stop]], influence.heights[start:stop])
    return bells


def combine_bells(
    views: Sequence[PreparedView],
    rows: Iterable[int],
    labels: np.ndarray,
    n_groups: int,
    ignored: Mapping[str, np.ndarray] = NO_ITEMS,
) -> dict[int, Bell]:
    """Return for each item the mean of its bells over the views that both items have, where it reaches `THRESHOLD`.

    A single view may put unrelated items side by side, so an item must be near in most views. The item itself is left
    out.
    """
    rows = set(rows)
    bells_by_view = [measure_bells(view, rows, labels, n_groups, ignored, LEAST_HEIGHT) for view in views]
    is_used = np.column_stack([find_used_items(view, labels, ignored) for view in views])
    combined = {}
    for row in rows:
        total = np.zeros(len(labels))
        for bells in bells_by_view:
            if row in bells:
                total[bells[row].rows] += bells[row].heights
        mean = total / np.maximum(is_used[:, is_used[row]].sum(axis=1), 1)
        mean[row] = 0.0
        reached = np.flatnonzero(mean >= THRESHOLD)
        combined[row] = Bell(reached, mean[reached])
    return combined


def propagate_statements(
    views: Sequence[PreparedView],
    statements: Sequence[PairStatement],
    labels: np.ndarray,
    n_groups: int,
    ignored: Mapping[str, np.ndarray] = NO_ITEMS,
) -> PropagatedVotes | None:
    """Return the votes that statements propagate to other items; None if there are no statements."""
    if not statements:
        return None
    ends = [row for statement in statements for row in (statement.first, statement.second)]
    bells = combine_bells(views, ends, labels, n_groups, ignored)
    rows, partners, weights = [], [], []
    for statement in statements:
        sign = 1.0 if statement.is_together else -1.0
        for end, other in ((statement.first, statement.second), (statement.second, statement.first)):
            bell = bells[end]
            is_third = bell.rows != other
            rows.append(bell.rows[is_third])
            partners.append(np.full(int(is_third.sum()), other))
            weights.append(sign * bell.heights[is_third])
    shape = len(labels), n_groups
    return PropagatedVotes(np.concatenate(rows), np.concatenate(partners), np.concatenate(weights), shape)
