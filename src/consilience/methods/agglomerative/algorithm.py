"""Multi-view agglomerative clustering (Bickel & Scheffer 2004, Table 2), for any number of views.

Views take turns to merge the two clusters that are closest in their own eyes, and all work on one dendrogram.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import singledispatch
from typing import Protocol

import numpy as np

from ...arrays import (
    CSR,
    Array,
    add_label_sums,
    build_scorer,
    compute_origin,
    compute_scores,
    map_chunks,
    sample_rows,
    squared_norms,
    take_dense_rows,
)
from ...arrays import split_slice as cut_rows
from ...divergences import Cosine

LINKAGES = ("single", "complete", "average")  # by their numbers in the kernels
MERGES_PER_STATE = 1000  # merges between two looks at what the user wants: Ctrl-C, progress
BLOCK = 1 << 20  # distances computed at a time by a thread
LEAST_ROWS = 32  # a product of fewer rows is slow


Totals = Callable[[slice], np.ndarray]  # some entities -> (entities, clusters)


class ViewDistances(Protocol):
    """How far the entities are from each other in one view."""

    @property
    def present(self) -> np.ndarray:
        """(n,) which entities have the view."""

    @property
    def shape(self) -> tuple[int, int]:
        """(entities, columns that a row is computed from)."""

    @property
    def dtype(self) -> np.dtype:
        """Type of the distances."""

    def block(self, rows: slice, first: int = 0) -> np.ndarray:
        """Distances of some entities to all from `first` on; infinity where one of the two lacks the view."""

    def totals(self, labels: np.ndarray, n_clusters: int) -> Totals:
        """A function that sums up some entities' distances to the members of each cluster; -1 is nobody's label."""


@dataclass(frozen=True, eq=False)
class RowDistances:
    """Distances computed from rows by products, and again one by one for pairs so close that the digits cancel.

    Euclidean where `rooted`; else half its square, which between rows of unit length is one minus the cosine.
    """

    X: Array
    present: np.ndarray
    own: np.ndarray  # squared length of each row; infinite where it is missing
    rooted: bool

    @property
    def shape(self) -> tuple[int, int]:
        return self.X.shape

    @property
    def dtype(self) -> np.dtype:
        return self.X.dtype

    def block(self, rows: slice, first: int = 0) -> np.ndarray:
        near = np.finfo(self.dtype).eps ** (1 / 3)  # two thirds of the digits are left, or it is measured again
        return compute_distance_block(self.X, rows, first, self.own, near, self.rooted)

    def totals(self, labels: np.ndarray, n_clusters: int) -> Totals:
        if self.rooted:
            return sum_blocks(self, labels, n_clusters)
        own = np.where(self.present, self.own, 0)
        members = labels >= 0  # the sum over m of |x - x_m|^2 / 2 asks for sums over m alone
        counts = np.bincount(labels[members], minlength=n_clusters)
        lengths = np.bincount(labels[members], own[members], minlength=n_clusters)
        sums = add_label_sums(self.X, labels, np.zeros((n_clusters, self.X.shape[1])))
        score = build_scorer(self.X, sums, lengths / 2)
        return lambda rows: counts * own[rows, None] / 2 - compute_scores(self.X[rows], score)


@singledispatch
def compute_distance_block(X: Array, rows: slice, first: int, own: np.ndarray, near: float, rooted: bool) -> np.ndarray:
    """Distances of some rows to all rows from `first` on."""
    from .kernels import measure_dense

    products = X[rows] @ X[first:].T
    measure_dense(products, rows.start, first, own, (X,), near, rooted, products)
    return products


@compute_distance_block.register
def _(X: CSR, rows: slice, first: int, own: np.ndarray, near: float, rooted: bool) -> np.ndarray:
    from .kernels import measure_sparse

    some = take_dense_rows(X, np.arange(rows.start, rows.stop))
    products = compute_scores(X[first:], build_scorer(X, some, np.zeros(len(some)))).T
    out = np.empty(products.shape, X.dtype)
    measure_sparse(products, rows.start, first, own, (X.indptr, X.indices, X.data), near, rooted, out)
    return out


def prepare_cosine(X: Array, present: np.ndarray) -> RowDistances:
    """One minus the cosine; a row of zeros has no direction, so it is missing."""
    rows = Cosine().prepare(X, present)
    return _wrap_rows(rows.X, rows.present, rooted=False)


def prepare_euclidean(X: Array, present: np.ndarray) -> RowDistances:
    """Euclidean distance."""
    origin = None if isinstance(X, CSR) else compute_origin(sample_rows(X, present), X.dtype)
    return _wrap_rows(X if origin is None else X - origin.astype(X.dtype), present, rooted=True)


def _wrap_rows(X: Array, present: np.ndarray, *, rooted: bool) -> RowDistances:
    if isinstance(X, np.ndarray):
        X = np.ascontiguousarray(X).view()
        X.flags.writeable = False  # as data mostly comes: one kind of array for the kernels to be compiled for
    return RowDistances(X, present, np.where(present, squared_norms(X), np.inf), rooted)


@dataclass(frozen=True, eq=False)
class PrecomputedDistances:
    """Distances that someone else has measured: a symmetric matrix."""

    D: np.ndarray
    present: np.ndarray

    @property
    def shape(self) -> tuple[int, int]:
        return self.D.shape

    @property
    def dtype(self) -> np.dtype:
        return self.D.dtype

    def block(self, rows: slice, first: int = 0) -> np.ndarray:
        there = self.present[rows][:, None] & self.present[first:]
        return np.where(there, self.D[rows, first:], self.dtype.type(np.inf))

    def totals(self, labels: np.ndarray, n_clusters: int) -> Totals:
        return sum_blocks(self, labels, n_clusters)


def sum_blocks(view: ViewDistances, labels: np.ndarray, n_clusters: int) -> Totals:
    """Totals from the distances themselves, computed again a block at a time."""
    from .kernels import add_to_clusters

    def totals(rows: slice) -> np.ndarray:
        block = view.block(rows)
        sums = np.zeros((len(block), n_clusters))
        add_to_clusters(block, labels, sums)
        return sums

    return totals


METRICS: dict[str, Callable[[Array, np.ndarray], ViewDistances]] = {
    "cosine": prepare_cosine,
    "euclidean": prepare_euclidean,
    "precomputed": PrecomputedDistances,
}


@dataclass(frozen=True, eq=False)
class Dendrogram:
    """The merges so far. Entities are the nodes 0 to n - 1, merge t makes node n + t."""

    children: np.ndarray  # (merges, 2) nodes, the lower first
    distances: np.ndarray  # (merges,) in the view that decided
    deciders: np.ndarray  # (merges,) that view's place, or -1 for clusters that no view can compare
    sizes: np.ndarray  # (merges,) entities under the new node


def iterate_merges(views: Sequence[ViewDistances], linkage: str) -> Iterator[Dendrogram]:
    """One state every thousand merges, the last one whole.

    Merge t belongs to view t modulo V, or to the next in turn that can compare any two clusters. Table 2 (a): it finds
    the pair of closest clusters; equal distances go to the clusters whose first entities come first. (b): they are
    merged, and the linkage distances of *all* views are updated. A distance between clusters is that of their members
    that have the view. Clusters that no view can compare are merged last, those of the lowest numbers first.
    """
    from .kernels import merge_clusters

    n = views[0].shape[0]
    tables, bounds, nearest = fill_tables(views)
    members = np.stack([view.present for view in views]).astype(np.int64)
    sizes, nodes = np.ones(n, np.int64), np.arange(n)
    found = np.empty((n - 1, 2), np.int64), np.empty(n - 1), np.empty(n - 1, np.int64), np.empty(n - 1, np.int64)
    done, n_slots, number = 0, n, LINKAGES.index(linkage)
    for stop in (*range(0, n - 1, MERGES_PER_STATE), n - 1):
        n_slots = merge_clusters(done, stop, n_slots, number, tables, bounds, nearest, members, sizes, nodes, *found)
        done = stop
        yield Dendrogram(*(column[:done] for column in found))


def count_table_bytes(views: Sequence[ViewDistances]) -> int:
    """Memory that the distances of all pairs take."""
    n = views[0].shape[0]
    return len(views) * (n * (n - 1) // 2) * choose_table_dtype(views).itemsize


def choose_table_dtype(views: Sequence[ViewDistances]) -> np.dtype:
    """float32 if that is the type of all views."""
    return np.result_type(*(view.dtype for view in views))


def fill_tables(views: Sequence[ViewDistances]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Each view's distances of all pairs (see `merge_kernels`), and each row's least one and whose it is."""
    from .kernels import STALE, enter_block

    n, dtype = views[0].shape[0], choose_table_dtype(views)
    tables = np.empty((len(views), n * (n - 1) // 2), dtype)
    bounds, nearest = np.full((len(views), n), np.inf, dtype), np.full((len(views), n), STALE, np.int64)
    for v, view in enumerate(views):

        def one_part(rows: slice, v: int = v, view: ViewDistances = view) -> None:
            enter_block(view.block(rows, rows.start), rows.start, tables[v], bounds[v], nearest[v])

        for _ in map_chunks(one_part, split_rows_by_memory(view)):
            pass
    return tables, bounds, nearest


def split_rows_by_memory(view: ViewDistances) -> list[slice]:
    """Cut the entities so that neither the distances of a part nor its rows written out take much memory."""
    n, n_columns = view.shape
    rows = max(LEAST_ROWS, BLOCK // max(n, n_columns))
    return cut_rows(slice(0, n), -(-n // rows))


def cut_dendrogram(children: np.ndarray, n_clusters: int) -> np.ndarray:
    """Labels of the entities before the last merges were made, numbered in the order of their first entities."""
    n = len(children) + 1
    parent = np.arange(2 * n - 1)
    made = children[: n - n_clusters]
    if (made >= n + np.arange(len(made))[:, None]).any():  # a loop would never end
        raise ValueError("a merge names a node that is made later: this is no dendrogram")
    parent[made] = n + np.arange(len(made))[:, None]
    while not np.array_equal(above := parent[parent], parent):  # each round doubles how far a node looks up
        parent = above
    _, first, label = np.unique(parent[:n], return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[label]


def find_nearest_clusters(view: ViewDistances, labels: np.ndarray) -> np.ndarray:
    """The cluster to whose members an entity is nearest on average in one view; -1 where it lacks the view.

    The entity itself does not count among the members. Where that leaves no cluster to compare with, its own stands.
    """
    known = np.where(view.present, labels, -1)
    counts = np.bincount(known[view.present], minlength=labels.max() + 1)
    totals = view.totals(known, len(counts))

    def one_part(rows: slice) -> np.ndarray:
        own = labels[rows]
        others = np.tile(counts, (len(own), 1))
        others[np.arange(len(own)), own] -= 1
        means = np.divide(totals(rows), others, out=np.full(others.shape, np.inf), where=others > 0)
        best = np.where((others > 0).any(axis=1), means.argmin(axis=1), own)
        return np.where(view.present[rows], best, -1)

    return np.concatenate(list(map_chunks(one_part, split_rows_by_memory(view))))
