"""Affinities by name, and the choice of one by the number of rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from .._saving import save_as
from ..arrays import Array
from .base import Affinity, ViewOperator
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

EXACT_UP_TO = 20_000  # rows: beyond, "auto" takes landmarks


@save_as("affinity-auto")
@dataclass(frozen=True)
class Auto:
    """Nearest neighbours up to 20,000 rows, landmarks beyond: every row compared with every other takes too long."""

    columns_are_entities: ClassVar[bool] = False

    def resolve(self, X: Array) -> Affinity:
        chosen = NearestNeighbors() if X.shape[0] <= EXACT_UP_TO else Landmarks()
        return chosen.resolve(X)

    def comparable_rows(self, X: Array) -> Array:
        return self.resolve(X).comparable_rows(X)

    def build_operator(self, X: Array, rng: np.random.Generator) -> ViewOperator:
        return self.resolve(X).build_operator(X, rng)

    def nbytes(self, X: Array) -> int:
        return self.resolve(X).nbytes(X)


AFFINITIES: dict[str, Callable[[Any], Affinity]] = {  # each takes the bandwidth, which most have no use for
    "auto": lambda _: Auto(),
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
