"""Distances between rows, Euclidean or of their directions, and the choice between the two."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import scipy.stats

from .._saving import save_as
from ..arrays import (
    Array,
    KernelMatrix,
    KernelRows,
    add_terms,
    asarray_like,
    find_nearest,
    find_origin,
    inner_products,
    is_on_host,
    is_sparse,
    keep_where,
    map_chunks,
    namespace,
    scale_rows,
    shift_rows_and_norms,
    squared_norms,
    take_rows,
    to_numpy,
)
from .base import NoAffinityError

T = TypeVar("T")

METRICS = ("euclidean", "cosine")
METRIC_SAMPLE = 1000  # rows that a metric is chosen by
LEAST_NEIGHBORS, NEIGHBORS_PER_CLUSTER = 5, 2
MEDIAN_SAMPLE = 1000  # rows that give a first estimate of the median distance


@save_as("kernel-squared-distances")
@dataclass(frozen=True, eq=False)
class SquaredDistances:
    """Squared Euclidean distances, as a kernel; by cosine, those of rows scaled to unit length."""

    origin: Array | None
    cosine: bool = False

    @classmethod
    def of(cls, metric: str | None, X: Array) -> SquaredDistances:
        """Return the distances of these rows by a metric."""
        cosine = choose_metric(metric, X) == "cosine"
        return cls(None if cosine else find_origin(X), cosine)

    def points(self, X: Array) -> KernelRows:
        return KernelRows(*shift_rows_and_norms(scale_to_unit_length(X) if self.cosine else X, self.origin))

    def tile(self, left: KernelRows, right: KernelRows) -> Array:
        squared = inner_products(left.X, right.X)
        squared *= -2.0
        return add_terms(squared, left.row_term, right.row_term, lower=0.0)

    def map_pairs(self, X: Array, function: Callable[[Array], T]) -> Iterator[T]:
        """Apply a function to the squared distances of all pairs of different rows, one tile after the other.

        Each pair comes once; entries of a tile that are no such pair are infinite.
        """
        points = self.points(X)

        def compute(rows: slice) -> T:
            tile = self.tile(points.slice_rows(rows), points.slice_rows(slice(rows.start, None)))
            square = slice(0, tile.shape[0])
            pairs = asarray_like(np.triu(np.ones((tile.shape[0],) * 2, bool), 1), tile)
            tile[:, square] = keep_where(pairs, tile[:, square], np.inf)
            return function(tile)

        blocks = KernelMatrix(self, points, points, cached=False).blocks
        yield from (map_chunks if is_on_host(points.X) else map)(compute, blocks)

    def sample(self, X: Array) -> np.ndarray:
        """Return the squared distances between some evenly spread rows."""
        rows = np.arange(0, X.shape[0], -(-X.shape[0] // MEDIAN_SAMPLE))
        points = self.points(take_rows(X, asarray_like(rows, X)))
        return to_numpy(self.tile(points, points))[np.triu_indices(len(rows), 1)]


def scale_to_unit_length(X: Array) -> Array:
    """Scale rows to unit length; rows of zeros stay."""
    xp = namespace(X)
    lengths = xp.sqrt(squared_norms(X))
    return scale_rows(X, 1 / xp.where(lengths > 0, lengths, 1.0))


def check_metric(metric: str | None) -> None:
    """Refuse an unknown metric."""
    if metric is not None and metric not in METRICS:
        raise NoAffinityError(f"no metric {metric!r}: choose from {', '.join(map(repr, METRICS))}, or give none")


def choose_metric(metric: str | None, X: Array) -> str:
    """Choose the metric whose nearest-neighbor graph has fewer hubs, unless one is given.

    Hubs are rows that are among the nearest of far too many others; they connect clusters. Short documents are such
    hubs by Euclidean distance, but not by cosine. In a graph with hubs, many rows are neighbors of few others and a
    few rows of many: the skewness of these numbers measures it (Radovanović et al. 2010). Rows of zeros are left out:
    identical rows are each other's neighbors by either metric.
    """
    if metric is not None:
        return metric
    nonzero = np.flatnonzero(to_numpy(squared_norms(X) > 0))
    sample = take_rows(X, asarray_like(nonzero[:: max(1, -(-len(nonzero) // METRIC_SAMPLE))], X))
    if sample.shape[0] < 2:
        return "euclidean"
    hubness = []
    for rows in (sample, scale_to_unit_length(sample)):
        nearest = find_nearest(rows, default_n_neighbors(rows.shape[0]))
        counts = np.bincount(nearest.positions.ravel(), minlength=rows.shape[0])
        hubness.append(float(scipy.stats.skew(counts)) if np.ptp(counts) else 0.0)
    return "cosine" if hubness[0] > 2 * max(hubness[1], 1.0) else "euclidean"


def default_n_neighbors(n_rows: int, n_clusters: int | None = None) -> int:
    """Return the default number of neighbors: the square root of the number of rows, at most 30.

    If the number of clusters is known, it is also at most half of the mean size of a cluster, but at least 5: rows
    with more neighbors than their cluster has members are joined to other clusters.
    """
    number = min(30, max(2, round(n_rows**0.5)))
    if n_clusters is not None:
        number = min(number, max(LEAST_NEIGHBORS, round(n_rows / (NEIGHBORS_PER_CLUSTER * n_clusters))))
    return min(n_rows, number)


def find_comparable_rows(metric: str | None, X: Array) -> Array:
    """Return a mask of the rows that have neighbors: no rows of zeros by cosine or in sparse views.

    Rows without entries are identical, so that they would be joined to each other and to nothing else.
    """
    lengths = squared_norms(X)
    return lengths > 0 if metric == "cosine" or is_sparse(X) else lengths >= 0
