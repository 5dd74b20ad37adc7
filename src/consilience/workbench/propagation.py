"""How far a decision about two items reaches in each view: the bells of Eaton, desJardins & Jacob 2010, section 4.1."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..methods.agreement.inputs import PreparedView
from ..methods.constrained.cluster_metrics import ClusterMetric
from ..methods.constrained.propagate import compute_influence, estimate_shapes

N_FEATURES = 5  # eigenvectors of the graph of each view, as in the constrained start of `Consilience`
THRESHOLD = 0.5  # least weight of a propagated constraint, as in `MultiViewConstrainedKMeans`


@dataclass(frozen=True, eq=False)
class ViewReach:
    """The heights of the bells around the ends of a pair in one view."""

    name: str
    heights: np.ndarray  # (n,), of the higher bell; 0 below the threshold
    side: np.ndarray  # (n,): 1 near the first item, 2 near the second, 0 elsewhere
    n_reached: int  # items other than the two
    is_present: tuple[bool, bool]  # whether the two items have the view


def build_features(view: PreparedView) -> np.ndarray:
    """Return the leading eigenvectors of a view's graph, scaled to variance 1, for the items that have it."""
    vectors = view.clearest.features.vectors[:, 1 : N_FEATURES + 1]
    if not vectors.shape[1]:
        return np.zeros((len(view.entities), 1))
    scale = np.sqrt(np.mean(vectors**2, axis=0))
    return vectors / np.where(scale > 0, scale, 1.0)


def measure_reach(view: PreparedView, pair: Sequence[int], labels: np.ndarray, n_clusters: int) -> ViewReach:
    """Measure how far a constraint between two items reaches in a view.

    A Gaussian around each item has the shape of the item's cluster in this view, and is the narrower the farther the
    item is from the center of the cluster. `labels` are numbered from 0; negative ones count for no cluster.
    """
    n_entities = len(labels)
    position = np.full(n_entities, -1)
    position[view.entities] = np.arange(len(view.entities))
    heights, side = np.zeros(n_entities), np.zeros(n_entities, np.int64)
    is_present = tuple(bool(position[row] >= 0 and labels[row] >= 0) for row in pair)
    present = [row for row, has_view in zip(pair, is_present, strict=True) if has_view]
    if present:
        X, view_labels = build_features(view), labels[view.entities]
        centers = np.stack([
            X[view_labels == cluster].mean(axis=0) if (view_labels == cluster).any() else X.mean(axis=0)
            for cluster in range(n_clusters)
        ])  # fmt: skip
        sources = np.array(sorted({int(position[row]) for row in present}))
        shapes = estimate_shapes(X, view_labels, centers, ClusterMetric.first(*centers.shape))
        targets = np.arange(len(X))
        odds = np.full(len(sources), 1 / THRESHOLD)
        influence = compute_influence(X, view_labels, shapes, sources, odds, targets)
        for s, source in enumerate(sources.tolist()):
            reached = slice(influence.indptr[s], influence.indptr[s + 1])
            rows, values = view.entities[influence.reached[reached]], influence.heights[reached]
            number = 1 + [int(position[row]) for row in pair].index(source)
            is_higher = values > heights[rows]
            heights[rows[is_higher]], side[rows[is_higher]] = values[is_higher], number
    n_reached = int(np.count_nonzero(heights) - sum(heights[row] > 0 for row in set(pair)))
    return ViewReach(view.name, heights, side, n_reached, (is_present[0], is_present[1]))
