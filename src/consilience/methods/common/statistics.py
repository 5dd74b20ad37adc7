"""Sums of the rows of each cluster, which an M-step of k-means needs, and divergences of rows from centers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ...arrays import (
    Array,
    add_label_sums,
    build_scorer,
    compute_scores,
    count_labels,
    float64_zeros,
    is_on_host,
    keep_where,
    map_chunks,
    namespace,
    split_into_chunks,
)
from ...arrays.fused import WORTH_SCORES
from ...divergences import Divergence
from ...rows import ViewRows, join_blocks

NO_LABEL = -1  # label of an entity that lacks the view, or that has no label yet


@dataclass(eq=False)
class ClusterSums:
    """Sum and number of the rows of each cluster; those of two sets of rows add up."""

    sums: Array  # (k, columns)
    counts: Array  # (k,)

    @classmethod
    def zeros(cls, view: ViewRows, n_clusters: int) -> ClusterSums:
        shape = n_clusters, view.X.shape[1]
        return cls(float64_zeros(shape, view.row_term), float64_zeros(shape[:1], view.row_term))

    def clear(self) -> None:
        self.sums[...] = 0.0
        self.counts[...] = 0.0

    def include(self, X: Array, labels: Array) -> None:
        """Add rows under their labels."""
        self.sums = add_label_sums(X, labels, self.sums)
        self.counts += count_labels(labels, self.counts.shape[0])

    def add(self, other: ClusterSums) -> None:
        self.sums += other.sums
        self.counts += other.counts

    def differs(self, other: ClusterSums) -> Array:
        """Return 1.0 if any number differs in any bit, else 0.0, on the device of the sums."""
        if is_on_host(self.sums):
            return float((self.sums != other.sums).any() or (self.counts != other.counts).any())
        xp = namespace(self.sums)
        differs = xp.logical_or(xp.any(self.sums != other.sums), xp.any(self.counts != other.counts))
        return xp.astype(differs, xp.float64)

    def __add__(self, other: ClusterSums) -> ClusterSums:
        return ClusterSums(self.sums + other.sums, self.counts + other.counts)


class ClusterSumCollector:
    """Cluster sums of one view in memory, collected by threads, each on a chunk of the rows.

    Memory is reused: allocating it in every round would take as long as the sums.
    """

    def __init__(self, view: ViewRows, n_clusters: int) -> None:
        self.view, self.n_clusters = view, n_clusters
        self.chunks = split_into_chunks(view.X, with_sums=True)
        self.total = ClusterSums.zeros(view, n_clusters)
        self._spare: list[ClusterSums] = []

    def borrow(self) -> ClusterSums:
        """Return sums of zeros, in memory that was used before if possible."""
        try:
            partial = self._spare.pop()
        except IndexError:  # checking first would race with the other threads
            return ClusterSums.zeros(self.view, self.n_clusters)
        partial.clear()
        return partial

    def take_back(self, partial: ClusterSums) -> None:
        """Add the sums of a chunk to the total; called in the order of the chunks."""
        self.total.add(partial)
        self._spare.append(partial)

    def collect(self, partition: Array) -> ClusterSums:
        """Return the sums of the whole view under a partition."""

        def sum_chunk(rows: slice) -> ClusterSums:
            partial = self.borrow()
            partial.include(self.view.X[rows, ...], keep_where(self.view.present[rows], partition[rows], NO_LABEL))
            return partial

        self.total.clear()
        for partial in map_chunks(sum_chunk, self.chunks):
            self.take_back(partial)
        return self.total


def compute_divergences(view: ViewRows, divergence: Divergence, centers: Array) -> Array:
    """Compute the divergence of each row from each center, in float64: (n, k)."""
    measure = make_divergence(view, divergence, centers)
    return join_blocks(list(map_chunks(measure, split_into_chunks(view.X))))


def make_divergence(view: ViewRows, divergence: Divergence, centers: Array) -> Callable[..., Array]:
    """Build a function for the divergences of rows, which may have been read already, from each center."""
    xp = namespace(centers)
    score = build_scorer(view.X, *divergence.affine(centers, view.origin))

    def measure(rows: slice, X: Array | None = None) -> Array:
        X = view.X[rows, ...] if X is None else X
        scores, row_term = compute_scores(X, score), view.row_term[rows]
        if is_on_host(scores) and scores.size >= WORTH_SCORES:
            from .divergence_kernels import subtract_scores

            return subtract_scores(scores, row_term, divergence.scale)
        divergences = row_term[:, None] - divergence.scale * xp.astype(scores, xp.float64)
        return keep_where(divergences > 0, divergences, 0.0)

    return measure
