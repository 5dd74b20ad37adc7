"""Where rows are near to each other: the metric of nearest neighbours and landmarks."""

from __future__ import annotations

from dataclasses import dataclass

from .._backend import CSR, Array, squared_norms
from .cosine import unit_rows
from .gaussian import SquaredDistances, origin_of
from .kernel import Points

METRICS = ("euclidean", "cosine")


def check_metric(metric: str | None) -> None:
    """Refuse a metric that there is not."""
    if metric is not None and metric not in METRICS:
        raise ValueError(f"no metric {metric!r}: choose from {', '.join(map(repr, METRICS))}, or give none")


def metric_for(metric: str | None, X: Array) -> str:
    """The metric for these rows: if none was asked for, cosine for sparse rows, Euclidean for dense ones."""
    return metric or ("cosine" if isinstance(X, CSR) else "euclidean")


def comparable(metric: str | None, X: Array) -> Array:
    """Which rows the metric can compare: by cosine, rows of zeros have no direction."""
    lengths = squared_norms(X)
    return lengths > 0 if metric_for(metric, X) == "cosine" else lengths >= 0


@dataclass(frozen=True, eq=False)
class Space:
    """Squared distances by one of the metrics; cosine is the distance of rows of unit length."""

    cosine: bool
    distances: SquaredDistances

    @classmethod
    def of(cls, metric: str | None, X: Array) -> Space:
        """The space that these rows lie in."""
        cosine = metric_for(metric, X) == "cosine"
        return cls(cosine, SquaredDistances(None if cosine else origin_of(X)))

    def points(self, X: Array) -> Points:
        return self.distances.points(unit_rows(X) if self.cosine else X)

    def tile(self, left: Points, right: Points) -> Array:
        return self.distances.tile(left, right)
