"""Squared Euclidean distance: the divergence of k-means."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .._saving import save_as
from ..arrays import (
    Array,
    KernelRows,
    compute_origin,
    find_origin,
    is_in_memory,
    is_sparse,
    map_chunks,
    namespace,
    plan_reads,
    sample_rows,
    shift_rows_and_norms,
    split_into_blocks,
    squared_norms,
)
from ..rows import ViewRows
from .base import Divergence, PairDivergence, ProductMeasure


@save_as("divergence-squared-euclidean")
@dataclass(frozen=True)
class SquaredEuclidean(PairDivergence, Divergence):
    """``||x - c||^2``; the center is the mean. As a mixture's component: a Gaussian.

    Examples
    --------
    >>> import numpy as np
    >>> import consilience as cs
    >>> X = np.array([[0.0, 0.0], [3.0, 4.0]])
    >>> measure = cs.divergences.SquaredEuclidean().learn(X)
    >>> divergences = -measure.tile(measure.points(X), measure.exemplars(X))
    >>> round(float(divergences[0, 1]), 4)
    25.0
    """

    scale: ClassVar[float] = 2.0
    uses_origin: ClassVar[bool] = True
    has_kernel: ClassVar[bool] = True

    def prepare(self, X: Array, present: Array, centers: Array | None = None) -> ViewRows:
        if is_sparse(X):
            return ViewRows(X, present, squared_norms(X))
        xp = namespace(X)
        origin = compute_origin(sample_rows(X, present) if centers is None else centers, X.dtype)

        def compute_row_terms(rows: slice) -> Array:
            return squared_norms(X[rows, ...] if origin is None else X[rows, ...] - origin[None, :])

        parts = split_into_blocks(X, slice(0, X.shape[0])) if is_in_memory(X) else plan_reads(X)
        return ViewRows(X, present, xp.concat(list(map_chunks(compute_row_terms, parts))), origin)

    def centers(self, sums: Array, counts: Array) -> Array:
        xp = namespace(sums)
        return sums / xp.where(counts > 0, counts, 1.0)[:, None]

    def affine(self, centers: Array, origin: Array | None) -> tuple[Array, Array, Array | None]:
        shifted = centers if origin is None else centers - origin[None, :]
        return shifted, squared_norms(shifted) / 2, origin

    def distance(self, divergence: Array) -> Array:
        return namespace(divergence).sqrt(divergence)

    def learn(self, X: Array) -> EuclideanMeasure:
        return EuclideanMeasure(find_origin(X))


@save_as("measure-squared-euclidean")
@dataclass(frozen=True, eq=False)
class EuclideanMeasure(ProductMeasure):
    """Squared distances of rows, measured from a point near them."""

    origin: Array | None
    log_volume: float = 0.0  # of a unit volume before the rows were transformed

    scale: ClassVar[float] = 2.0

    def points(self, X: Array) -> KernelRows:
        X, norms = shift_rows_and_norms(X, self.origin)
        return KernelRows(X, -norms)

    def log_normalizer(self, X: Array, beta: float) -> np.ndarray:
        return np.full(X.shape[0], X.shape[1] / 2 * np.log(beta / np.pi) + self.log_volume)
