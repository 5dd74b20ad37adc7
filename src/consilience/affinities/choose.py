"""Affinities by name, and the choice of one by the number of rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .base import Affinity
from .chi_squared import ChiSquared
from .cosine import Cosine
from .gaussian import Gaussian
from .histogram_intersection import HistogramIntersection
from .landmarks import Landmarks
from .linear import Linear
from .nearest_neighbors import NearestNeighbors
from .nystroem import Nystroem
from .polynomial import Polynomial
from .precomputed import Precomputed

AFFINITIES: dict[str, Callable[[Any], Affinity]] = {  # each takes the bandwidth, which most have no use for
    "gaussian": Gaussian,
    "nearest-neighbors": lambda _: NearestNeighbors(),
    "landmarks": lambda _: Landmarks(),
    "nystroem": lambda bandwidth: Nystroem(Gaussian(bandwidth)),
    "cosine": lambda _: Cosine(),
    "linear": lambda _: Linear(),
    "polynomial": lambda _: Polynomial(),
    "chi2": lambda _: ChiSquared(),
    "intersection": lambda _: HistogramIntersection(),
    "precomputed": lambda _: Precomputed(),
}

EXACT_UP_TO = 20_000  # rows: beyond, "auto" takes landmarks


def choose(n_rows: int) -> tuple[Affinity, str]:
    """What ``affinity="auto"`` takes for so many rows, and why."""
    if n_rows <= EXACT_UP_TO:
        return NearestNeighbors(), "few enough rows to compare all with all"
    return Landmarks(), f"more than {EXACT_UP_TO:,} rows, too many to compare all with all: an approximation"
