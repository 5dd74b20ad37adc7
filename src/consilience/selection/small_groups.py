"""Many small groups, such as duplicates: pairs of entities that two views confirm."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from .._backend import to_numpy
from ..affinities import Auto, Precomputed
from ..algorithms.agreement import search_neighbors
from ..cluster._agreement import prepare_views
from ..cluster._similarities import columns_of, restricted
from ..data import Table, Views
from .selection import Selection

NEIGHBORS = 3  # entities that are each other's nearest count as a pair
CONFIRMED = 2  # views that must show a pair


def find_small_groups(views: Views, precomputed: Mapping[str, bool]) -> Selection:
    """Join the pairs of entities that are among each other's three nearest in at least two views.

    Two independent views hardly ever show the same pair by chance, so that groups need no threshold on distances. An
    entity in no pair is a group of its own.
    """
    if views.n_views < CONFIRMED:
        raise ValueError(
            "small_groups=True needs at least two views: a pair of entities counts if two views show it. Give another "
            "view, or candidates"
        )
    affinities = {name: Precomputed() if is_given else Auto() for name, is_given in precomputed.items()}
    columns = columns_of(views, affinities, chosen=True)
    n = len(views)
    shown = sp.csr_array((n, n))
    for view in prepare_views(restricted(views, columns), precomputed, 2):
        pairs = find_mutual(to_numpy(view.clearest.points))
        shown = shown + sp.csr_array((pairs.data, (view.entities[pairs.row], view.entities[pairs.col])), shape=(n, n))
    n_groups, labels = connected_components(sp.csr_array(shown >= CONFIRMED), directed=False)
    sizes = np.bincount(labels)
    n_single = int((sizes == 1).sum())
    table = Table.from_rows(
        {"size": int(size), "groups": int(count)}
        for size, count in zip(*np.unique(sizes, return_counts=True), strict=True)
    )
    largest = f"the largest has {sizes.max():,} entities" if sizes.max() > 1 else "no two entities belong together"
    reason = f"{n_groups:,} groups, {n_single:,} of them single entities; {largest}."
    return Selection(int(n_groups), reason, table, (int(n_groups),), labels=labels.astype(np.int64))


def find_mutual(points: np.ndarray) -> sp.coo_array:
    """Return the pairs of points that are among each other's nearest, as a matrix of ones."""
    n = len(points)
    number = min(NEIGHBORS + 1, n)  # a point is its own nearest, unless it has several duplicates
    nearest = search_neighbors(np.asarray(points, np.float32), points, number)
    joined = sp.csr_array((np.ones(nearest.size), nearest.ravel(), np.arange(n + 1) * number), shape=(n, n))
    mutual = sp.coo_array(joined.multiply(joined.T))
    apart = mutual.row != mutual.col
    return sp.coo_array((mutual.data[apart], (mutual.row[apart], mutual.col[apart])), shape=(n, n))
