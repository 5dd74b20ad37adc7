"""Where rows are near to each other: the metric of nearest neighbours and landmarks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.stats

from .._saving import save_as
from ..arrays import Array, KernelRows, asarray_like, find_origin, is_sparse, squared_norms, take_rows, to_numpy
from .base import NoAffinityError
from .cosine import scale_to_unit_length
from .gaussian import SquaredDistances
from .search import find_nearest_rows

METRICS = ("euclidean", "cosine")
METRIC_SAMPLE = 1000  # rows that a metric is chosen by


def check_metric(metric: str | None) -> None:
    """Refuse a metric that there is not."""
    if metric is not None and metric not in METRICS:
        raise NoAffinityError(f"no metric {metric!r}: choose from {', '.join(map(repr, METRICS))}, or give none")


def choose_metric(metric: str | None, X: Array) -> str:
    """Choose the metric whose nearest-neighbour graph has fewer hubs, unless one is given.

    Hubs are rows that are among the nearest of far too many others; they join what does not belong together. Short
    documents are such hubs by Euclidean distance, and not by cosine. In a graph with hubs, many rows are neighbours of
    few others and a few rows of many: the skewness of these numbers measures it (Radovanović et al. 2010). Rows of
    zeros are left out: identical rows are each other's neighbours by either metric.
    """
    if metric is not None:
        return metric
    nonzero = np.flatnonzero(to_numpy(squared_norms(X) > 0))
    sample = take_rows(X, asarray_like(nonzero[:: max(1, -(-len(nonzero) // METRIC_SAMPLE))], X))
    if sample.shape[0] < 2:
        return "euclidean"
    return (
        "cosine"
        if compute_hubness(sample) > 2 * max(compute_hubness(scale_to_unit_length(sample)), 1.0)
        else "euclidean"
    )


def compute_hubness(X: Array) -> float:
    """Skewness of how many rows each row is among the nearest of."""
    nearest, _ = find_nearest_rows(X, default_n_neighbors(X.shape[0]))
    counts = np.bincount(nearest.ravel(), minlength=X.shape[0])
    return float(scipy.stats.skew(counts)) if np.ptp(counts) else 0.0


def default_n_neighbors(n_rows: int) -> int:
    """How many nearest of so many rows are joined if nobody says: the square root, at most 30."""
    return min(n_rows, 30, max(2, round(n_rows**0.5)))


def find_comparable_rows(metric: str | None, X: Array) -> Array:
    """Which rows have neighbours: not rows of zeros by cosine, nor rows without entries in sparse views.

    Rows without entries are identical, so that they would be joined to each other and to nothing else.
    """
    lengths = squared_norms(X)
    return lengths > 0 if metric == "cosine" or is_sparse(X) else lengths >= 0


@save_as("metric-space")
@dataclass(frozen=True, eq=False)
class MetricSpace:
    """Squared distances by one of the metrics; cosine is the distance of rows of unit length."""

    cosine: bool
    distances: SquaredDistances

    @classmethod
    def of(cls, metric: str | None, X: Array) -> MetricSpace:
        """The space that these rows lie in."""
        cosine = choose_metric(metric, X) == "cosine"
        return cls(cosine, SquaredDistances(None if cosine else find_origin(X)))

    def points(self, X: Array) -> KernelRows:
        return self.distances.points(scale_to_unit_length(X) if self.cosine else X)

    def tile(self, left: KernelRows, right: KernelRows) -> Array:
        return self.distances.tile(left, right)
