"""Affinities by name, and the default choice by the number of rows."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from .._saving import save_as
from .._tuning import Tuning
from ..arrays import Array, is_in_memory
from .base import Affinity, NoAffinityError, ViewOperator
from .gaussian import Gaussian
from .graph import NearestNeighbors, Precomputed
from .kernels import ChiSquared, Cosine, HistogramIntersection, Linear, Polynomial
from .landmarks import Landmarks, Nystroem

EXACT_UP_TO = 100_000  # rows in memory: beyond, "auto" searches nearly all nearest neighbors
tuning = Tuning(
    exact_up_to=EXACT_UP_TO,
    read_up_to=20_000,  # rows on disk: beyond, "auto" leaves them there and takes landmarks
)


@save_as("affinity-auto")
@dataclass(frozen=True)
class Auto(Affinity):
    """Nearest neighbors: all of them up to 100,000 rows, and nearly all beyond, because the search takes too long.

    More than 20,000 rows that are not in memory are compared through landmarks, which are read in blocks.

    Examples
    --------
    >>> import numpy as np
    >>> import consilience as cs
    >>> X = np.random.default_rng(0).random((100, 3))
    >>> affinity = cs.affinities.Auto().resolve(X)
    >>> type(affinity).__name__, affinity.n_neighbors, affinity.approximate
    ('NearestNeighbors', 10, False)
    """

    accepts_sparse = True

    def out_of_core(self, n_rows: int) -> bool:
        return n_rows > tuning.read_up_to

    def resolve(self, X: Array) -> Affinity:
        return self.resolve_for_clusters(X, None)

    def resolve_for_clusters(self, X: Array, n_clusters: int | None) -> Affinity:
        affinity = NearestNeighbors(approximate=X.shape[0] > tuning.exact_up_to) if is_in_memory(X) else Landmarks()
        return affinity.resolve_for_clusters(X, n_clusters)

    def comparable_rows(self, X: Array) -> Array:
        return self.resolve(X).comparable_rows(X)

    def build_operator(self, X: Array, rng: np.random.Generator) -> ViewOperator:
        return self.resolve(X).build_operator(X, rng)

    def nbytes(self, X: Array) -> int:
        return self.resolve(X).nbytes(X)


AFFINITIES: dict[str, type[Affinity]] = {
    "auto": Auto,
    "gaussian": Gaussian,
    "nearest-neighbors": NearestNeighbors,
    "landmarks": Landmarks,
    "nystroem": Nystroem,
    "cosine": Cosine,
    "linear": Linear,
    "polynomial": Polynomial,
    "chi2": ChiSquared,
    "intersection": HistogramIntersection,
    "precomputed": Precomputed,
}


def make_affinity(value: Any, parameter: str = "affinity", **options: Any) -> Affinity:
    """Return the affinity that is given by name or as an object.

    Parameters
    ----------
    value : str or Affinity
        A name of `AFFINITIES`, or an affinity, which has its own options.
    parameter : str, default='affinity'
        What messages call the value.
    **options
        Parameters of an estimator for an affinity given by name. An affinity that does not declare one refuses it.

    Examples
    --------
    >>> import consilience as cs
    >>> cs.affinities.make_affinity("gaussian", bandwidth=2.0)
    Gaussian(bandwidth=2.0)
    >>> cs.affinities.make_affinity(cs.affinities.Polynomial(degree=2)).degree
    2
    """
    if isinstance(value, Affinity):
        if options:
            raise NoAffinityError(
                f"{parameter}={value!r} has its own options: set {', '.join(options)} there, not in the estimator"
            )
        return value
    if not isinstance(value, str):
        raise TypeError(
            f"{parameter}={value!r} is neither a name nor an affinity: give an object such as "
            "consilience.affinities.NearestNeighbors(n_neighbors=15)"
        )
    if value not in AFFINITIES:
        raise NoAffinityError(f"no {parameter} {value!r}; choose from {', '.join(map(repr, AFFINITIES))}")
    kind = AFFINITIES[value]
    for option in options:
        if option not in kind.options:
            users = " or ".join(repr(name) for name, affinity in AFFINITIES.items() if option in affinity.options)
            valid = ", ".join(field.name for field in fields(kind)) or "none"  # type: ignore[arg-type]
            raise NoAffinityError(
                f"{parameter}={value!r} does not use {option}; the options of {kind.__name__} are: {valid}. Leave "
                f"{option} out, or use {parameter}={users}"
            )
    return kind.from_options(**options) if options else kind()
