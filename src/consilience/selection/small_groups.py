"""Many small groups, such as duplicates: pairs of entities that several views confirm."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import scipy.sparse as sp

from ..arrays import find_nearest, to_numpy
from ..data import Constraints, Table, Views
from ..data.links import label_components
from ..methods.agreement.inputs import find_similarity_columns, prepare_views
from ..methods.common.similarities import restrict_columns
from .selection import Selection

NEIGHBORS = 15  # nearest entities among which the members of a group are looked for
GAP = 1.6  # ratio of two successive distances from which the nearer neighbors are a group
ROUNDING = 1e-6  # of the median distance, below which two entities are the same
LEAST_CONFIRMED = 2  # views that must show a pair


def find_small_groups(views: Views, precomputed: Mapping[str, bool], constraints: Constraints) -> Selection:
    """Join pairs of entities that are near to each other in at least two views, and in half of the views they share.

    Two entities are near to each other in a view if each is among the nearest of the other before the first clear gap
    in the distances. Independent views hardly ever show the same pair by chance. An entity in no pair is a group of
    its own. Constraints, by position, always hold.
    """
    if views.n_views < LEAST_CONFIRMED:
        raise ValueError(
            "small groups need at least two views: a pair of entities counts if two views show it. Give another view, "
            "or a number of clusters"
        )
    columns = find_similarity_columns(views, precomputed, source=views)
    n = len(views)
    shown = sp.csr_array((n, n))
    has_view = np.zeros((n, views.n_views), bool)
    for v, view in enumerate(prepare_views(restrict_columns(views, columns), precomputed, 2)):
        first, second = find_mutual_neighbors(to_numpy(view.clearest.points).astype(np.float64))
        shown = shown + sp.csr_array((np.ones(len(first)), (view.entities[first], view.entities[second])), shape=(n, n))
        has_view[view.entities, v] = True
    pairs = sp.coo_array(shown)
    n_shared = (has_view[pairs.row] & has_view[pairs.col]).sum(axis=1)
    confirmed = (pairs.data >= LEAST_CONFIRMED) & (2 * pairs.data >= n_shared)
    by_views = np.argsort(-pairs.data[confirmed], kind="stable")
    candidates = np.column_stack([pairs.row, pairs.col])[confirmed][by_views]
    labels = join_pairs(n, candidates, constraints)
    n_groups = int(labels.max()) + 1
    sizes = np.bincount(labels)
    largest = f"the largest has {sizes.max():,} entities" if sizes.max() > 1 else "no two entities belong together"
    reason = f"{n_groups:,} groups, {int((sizes == 1).sum()):,} of them single entities; {largest}."
    table = Table(dict(zip(("size", "groups"), np.unique(sizes, return_counts=True), strict=True)))
    return Selection(n_groups, reason, table, (n_groups,), labels=labels)


def join_pairs(n_entities: int, pairs: np.ndarray, constraints: Constraints) -> np.ndarray:
    """Return the groups that must-links and pairs make; a pair whose groups a cannot-link separates is left out.

    The surest pairs come first. Where must-links contradict a cannot-link, the must-links hold.
    """
    groups = label_components(constraints.must_link, n_entities)
    apart = constraints.cannot_link
    for pair in pairs:
        kept, dropped = sorted(groups[pair].tolist())
        if kept != dropped and not (np.sort(groups[apart], axis=1) == (kept, dropped)).all(axis=1).any():
            groups[groups == dropped] = kept
    return np.unique(groups, return_inverse=True)[1].astype(np.int64)


def find_mutual_neighbors(points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the pairs of points that are near to each other, the smaller position first."""
    n = len(points)
    number = min(NEIGHBORS + 1, n)
    nearest, _ = find_nearest(points.astype(np.float32), number)
    distances = np.linalg.norm(points[:, None, :] - points[nearest], axis=2)  # the search rounds small distances
    distances[nearest == np.arange(n)[:, None]] = np.inf  # a point is no neighbor of itself
    order = np.argsort(distances, axis=1, kind="stable")
    nearest, distances = np.take_along_axis(nearest, order, axis=1), np.take_along_axis(distances, order, axis=1)
    near = np.arange(number)[None, :] < count_before_gap(distances[:, : number - 1])[:, None]
    rows = np.repeat(np.arange(n), near.sum(axis=1))
    directed = sp.csr_array((np.ones(len(rows)), (rows, nearest[near])), shape=(n, n))
    mutual = sp.coo_array(sp.triu(directed.multiply(directed.T), k=1))
    finite = distances[np.isfinite(distances)]
    same_first, same_second = find_duplicates(points, float(finite.mean()) if len(finite) else 0.0)
    pairs = np.unique(
        np.concatenate([np.stack([mutual.row, mutual.col]), np.stack([same_first, same_second])], axis=1), axis=1
    )
    return pairs[0], pairs[1]


def count_before_gap(distances: np.ndarray) -> np.ndarray:
    """Return for sorted distances how many come before the widest gap, 0 for rows without a clear gap."""
    if distances.shape[1] < 2:
        return np.zeros(len(distances), np.int64)
    floor = ROUNDING * np.median(distances)
    ratios = (distances[:, 1:] + floor) / (distances[:, :-1] + floor) if floor > 0 else np.ones_like(distances[:, 1:])
    widest = ratios.argmax(axis=1)
    return np.where(ratios.max(axis=1) >= GAP, widest + 1, 0)


def find_duplicates(points: np.ndarray, scale: float) -> tuple[np.ndarray, np.ndarray]:
    """Return pairs of each point and the first that is the same up to rounding."""
    step = ROUNDING * scale if scale > 0 else 1.0
    _, first, group = np.unique(np.rint(points / step), axis=0, return_index=True, return_inverse=True)
    second = np.flatnonzero(first[group.ravel()] != np.arange(len(points)))
    return first[group.ravel()[second]], second
