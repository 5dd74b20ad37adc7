"""Multi-view agglomerative clustering (Bickel & Scheffer 2004, Table 2), for any number of views.

Views take turns to merge the two clusters that are closest in the view, and all build one dendrogram.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..._tuning import Tuning
from ...arrays import (
    Array,
    add_label_sums,
    build_scorer,
    compute_origin,
    compute_scores,
    is_sparse,
    map_chunks,
    sample_rows,
    split_slice,
    squared_norms,
    take_dense_rows,
)
from ...divergences import Cosine

LINKAGES = ("single", "complete", "average")  # in the order of their numbers in the kernels
tuning = Tuning(
    merges_per_state=1000,  # between checks for Ctrl-C and progress reports
    block=1 << 18,  # distances that a thread computes at a time, which fit the cache
    least_rows=32,  # a product of fewer rows is slow
)
LEAST_BLOCKS = 4  # of which each has distances to the entities of later blocks only


class ViewDistances(ABC):
    """Distances between the entities in one view."""

    present: np.ndarray  # (n,) which entities have the view

    @property
    @abstractmethod
    def matrix(self) -> Array:
        """What the distances are taken or computed from: (entities, columns)."""

    @abstractmethod
    def compute_block(self, rows: slice, first: int = 0) -> np.ndarray:
        """Distances of rows to all entities from `first` on; infinity where one of the two lacks the view."""

    def sum_by_cluster(self, labels: np.ndarray, n_clusters: int) -> np.ndarray:
        """Sum the distances of each entity to the members of each cluster, (n, n_clusters); -1 is in no cluster."""
        from .kernels import add_to_clusters

        parts, sums = self.split_rows(), np.zeros((n_clusters, len(labels)))
        blocks = map_chunks(lambda rows: self.compute_block(rows, rows.start), parts)
        for rows, block in zip(parts, blocks, strict=True):
            add_to_clusters(block, rows.start, labels, sums)
        return sums.T

    def split_rows(self) -> list[slice]:
        """Split the entities so that neither a block of distances nor its dense rows take much memory."""
        n, n_columns = self.matrix.shape
        n_rows = max(tuning.least_rows, min(tuning.block // max(n, n_columns), n // LEAST_BLOCKS))
        return split_slice(slice(0, n), -(-n // n_rows))


@dataclass(frozen=True, eq=False)
class RowDistances(ViewDistances):
    """Distances computed from rows by products; pairs so close that digits cancel are computed one by one.

    Euclidean distances if `is_euclidean`; else half their squares, which for unit rows is one minus the cosine.
    """

    X: Array
    present: np.ndarray
    squares: np.ndarray  # squared length of each row; infinite where it is missing
    is_euclidean: bool

    @property
    def matrix(self) -> Array:
        return self.X

    def compute_block(self, rows: slice, first: int = 0) -> np.ndarray:
        from .kernels import measure_dense, measure_sparse

        X = self.X
        near = np.finfo(X.dtype).eps ** (1 / 3)  # distances with fewer than two thirds of the digits are recomputed
        if is_sparse(X):
            dense = take_dense_rows(X, np.arange(rows.start, rows.stop))
            products = compute_scores(X[first:], build_scorer(X, dense, np.zeros(len(dense)))).T
            arrays, distances = (X.indptr, X.indices, X.data), np.empty(products.shape, X.dtype)
            measure_sparse(products, rows.start, first, self.squares, arrays, near, self.is_euclidean, distances)
            return distances
        products = X[rows] @ X[first:].T
        measure_dense(products, rows.start, first, self.squares, (X,), near, self.is_euclidean, products)
        return products

    def sum_by_cluster(self, labels: np.ndarray, n_clusters: int) -> np.ndarray:
        if self.is_euclidean:
            return super().sum_by_cluster(labels, n_clusters)
        squares = np.where(self.present, self.squares, 0)
        members = labels >= 0  # the sum over m of |x - x_m|^2 / 2 depends only on sums over m
        counts = np.bincount(labels[members], minlength=n_clusters)
        cluster_squares = np.bincount(labels[members], squares[members], minlength=n_clusters)
        sums = add_label_sums(self.X, labels, np.zeros((n_clusters, self.X.shape[1])))
        score = build_scorer(self.X, sums, cluster_squares / 2)
        blocks = list(map_chunks(lambda rows: compute_scores(self.X[rows], score), self.split_rows()))
        return counts * squares[:, None] / 2 - np.concatenate(blocks)


@dataclass(frozen=True, eq=False)
class PrecomputedDistances(ViewDistances):
    """A symmetric matrix of distances."""

    D: np.ndarray
    present: np.ndarray

    @property
    def matrix(self) -> np.ndarray:
        return self.D

    def compute_block(self, rows: slice, first: int = 0) -> np.ndarray:
        both_present = self.present[rows][:, None] & self.present[first:]
        return np.where(both_present, self.D[rows, first:], self.D.dtype.type(np.inf))


def prepare_cosine(X: Array, present: np.ndarray) -> RowDistances:
    """Prepare rows for one minus the cosine; a row of zeros has no direction and counts as missing."""
    rows = Cosine().prepare(X, present)
    return prepare_row_distances(rows.X, rows.present, is_euclidean=False)


def prepare_euclidean(X: Array, present: np.ndarray) -> RowDistances:
    """Prepare rows for Euclidean distances."""
    if not is_sparse(X):
        origin = compute_origin(sample_rows(X, present), X.dtype)
        X = X if origin is None else X - origin.astype(X.dtype)
    return prepare_row_distances(X, present, is_euclidean=True)


def prepare_row_distances(X: Array, present: np.ndarray, *, is_euclidean: bool) -> RowDistances:
    """Compute the squared lengths of the rows."""
    if not is_sparse(X):
        X = np.ascontiguousarray(X).view()
        X.flags.writeable = False  # data is usually read-only, so kernels are compiled only for such arrays
    return RowDistances(X, present, np.where(present, squared_norms(X), np.inf), is_euclidean)


METRICS: dict[str, Callable[[Array, np.ndarray], ViewDistances]] = {
    "cosine": prepare_cosine,
    "euclidean": prepare_euclidean,
    "precomputed": PrecomputedDistances,
}


class Dendrogram(NamedTuple):
    """The merges so far. Entities are the nodes 0 to n - 1, merge t makes node n + t."""

    children: np.ndarray  # (merges, 2) nodes, the lower first
    distances: np.ndarray  # (merges,) in the view that decided
    deciders: np.ndarray  # (merges,) index of that view, or -1 for clusters that no view can compare
    sizes: np.ndarray  # (merges,) entities under the new node


def iterate_merges(views: Sequence[ViewDistances], linkage: str) -> Iterator[Dendrogram]:
    """Yield the dendrogram every thousand merges, the complete one last.

    Merge t belongs to view t modulo V, or to the next in turn that can compare any two clusters. Table 2 (a): it finds
    the pair of closest clusters; ties go to the clusters whose first entities come first. (b): they are merged, and the
    linkage distances of *all* views are updated. A distance between clusters is that of their members that have the
    view. Clusters that no view can compare are merged last, those of the lowest numbers first.
    """
    from .kernels import merge_clusters

    n = views[0].matrix.shape[0]
    tables, bounds, nearest = compute_tables(views)
    members = np.stack([view.present for view in views]).astype(np.int64)
    sizes, nodes = np.ones(n, np.int64), np.arange(n)
    merges = np.empty((n - 1, 2), np.int64), np.empty(n - 1), np.empty(n - 1, np.int64), np.empty(n - 1, np.int64)
    start, n_slots, number = 0, n, LINKAGES.index(linkage)
    for stop in (*range(0, n - 1, tuning.merges_per_state), n - 1):
        n_slots = merge_clusters(start, stop, n_slots, number, tables, bounds, nearest, members, sizes, nodes, *merges)
        start = stop
        yield Dendrogram(*(column[:stop] for column in merges))


def count_table_bytes(views: Sequence[ViewDistances]) -> int:
    """Memory that the distances of all pairs take."""
    n, dtype = views[0].matrix.shape[0], np.result_type(*(view.matrix.dtype for view in views))
    return len(views) * (n * (n - 1) // 2) * dtype.itemsize


def compute_tables(views: Sequence[ViewDistances]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Compute each view's distances of all pairs (see `kernels`), and each row's smallest distance and its column."""
    from .kernels import STALE, enter_block

    n, dtype = views[0].matrix.shape[0], np.result_type(*(view.matrix.dtype for view in views))
    tables = np.empty((len(views), n * (n - 1) // 2), dtype)
    bounds, nearest = np.full((len(views), n), np.inf, dtype), np.full((len(views), n), STALE, np.int64)
    for v, view in enumerate(views):

        def fill_rows(rows: slice, v: int = v, view: ViewDistances = view) -> None:
            enter_block(view.compute_block(rows, rows.start), rows.start, tables[v], bounds[v], nearest[v])

        for _ in map_chunks(fill_rows, view.split_rows()):
            pass
    return tables, bounds, nearest


def cut_dendrogram(children: np.ndarray, n_clusters: int) -> np.ndarray:
    """Label the entities as of the merge that leaves `n_clusters`, numbered in the order of their first entities."""
    n = len(children) + 1
    parent = np.arange(2 * n - 1)
    merges = children[: n - n_clusters]
    if (merges >= n + np.arange(len(merges))[:, None]).any():  # the loop below would not end
        raise ValueError("a merge names a node of a later merge: this is not a dendrogram")
    parent[merges] = n + np.arange(len(merges))[:, None]
    while not np.array_equal(ancestor := parent[parent], parent):  # the distance to the ancestor doubles in each round
        parent = ancestor
    _, first, label = np.unique(parent[:n], return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[label]


def find_nearest_clusters(view: ViewDistances, labels: np.ndarray) -> np.ndarray:
    """Find the cluster whose other members are nearest on average in one view; -1 where the entity lacks the view.

    If there is no other member of any cluster to compare with, the entity keeps its label.
    """
    view_labels = np.where(view.present, labels, -1)
    counts = np.bincount(view_labels[view.present], minlength=labels.max() + 1)
    n_others = np.tile(counts, (len(labels), 1))
    n_others[np.arange(len(labels)), labels] -= 1
    sums = view.sum_by_cluster(view_labels, len(counts))
    means = np.divide(sums, n_others, out=np.full(n_others.shape, np.inf), where=n_others > 0)
    best = np.where((n_others > 0).any(axis=1), means.argmin(axis=1), labels)
    return np.where(view.present, best, -1)
