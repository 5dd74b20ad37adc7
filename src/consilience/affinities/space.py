"""Where rows are near to each other: the metric of nearest neighbours and landmarks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.stats

from .._backend import Array, Points, like, origin_of, squared_norms, take_rows, to_numpy
from .base import NoAffinityError
from .cosine import unit_rows
from .gaussian import SquaredDistances
from .search import exact_neighbours

METRICS = ("euclidean", "cosine")
LOOKED_AT = 1000  # rows that a metric is chosen by


def check_metric(metric: str | None) -> None:
    """Refuse a metric that there is not."""
    if metric is not None and metric not in METRICS:
        raise NoAffinityError(f"no metric {metric!r}: choose from {', '.join(map(repr, METRICS))}, or give none")


def settled_metric(metric: str | None, X: Array) -> str:
    """The metric to compare these rows by: if none was asked for, the one whose graph has fewer hubs.

    Hubs are rows that are among the nearest of far too many others; they join what does not belong together. Short
    documents are such hubs by Euclidean distance, and not by cosine. A graph with hubs has many rows that few find
    near and a few that many do: the skewness of these numbers tells (Radovanović et al. 2010).
    """
    if metric is not None:
        return metric
    sample = some(X, LOOKED_AT)
    there = np.flatnonzero(to_numpy(squared_norms(X) > 0))
    directed = take_rows(X, like(there[:: max(1, -(-len(there) // LOOKED_AT))], X))
    if directed.shape[0] < 2:
        return "euclidean"
    hubs = hubness(unit_rows(directed))
    return "cosine" if hubness(sample) > 2 * max(hubs, 1.0) else "euclidean"


def some(X: Array, number: int) -> Array:
    """So many of the rows, evenly spread."""
    step = -(-X.shape[0] // number)
    return take_rows(X, like(np.arange(0, X.shape[0], step), X)) if step > 1 else X


def hubness(X: Array) -> float:
    """Skewness of how many rows each row is among the nearest of."""
    nearest, _ = exact_neighbours(X, usual_number(X.shape[0]))
    counts = np.bincount(nearest.ravel(), minlength=X.shape[0])
    return float(scipy.stats.skew(counts)) if np.ptp(counts) else 0.0


def usual_number(n_rows: int) -> int:
    """How many nearest of so many rows are joined if nobody says: the square root, at most 30."""
    return min(n_rows, 30, max(2, round(n_rows**0.5)))


def comparable(metric: str | None, X: Array) -> Array:
    """Which rows the metric can compare: by cosine, rows of zeros have no direction."""
    lengths = squared_norms(X)
    return lengths > 0 if metric == "cosine" else lengths >= 0


@dataclass(frozen=True, eq=False)
class Space:
    """Squared distances by one of the metrics; cosine is the distance of rows of unit length."""

    cosine: bool
    distances: SquaredDistances

    @classmethod
    def of(cls, metric: str | None, X: Array) -> Space:
        """The space that these rows lie in."""
        cosine = settled_metric(metric, X) == "cosine"
        return cls(cosine, SquaredDistances(None if cosine else origin_of(X)))

    def points(self, X: Array) -> Points:
        return self.distances.points(unit_rows(X) if self.cosine else X)

    def tile(self, left: Points, right: Points) -> Array:
        return self.distances.tile(left, right)
