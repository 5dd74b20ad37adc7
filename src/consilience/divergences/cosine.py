"""One minus the cosine: the divergence of spherical k-means."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .._saving import save_as
from ..arrays import Array, KernelRows, log_sphere_integral, namespace, scale_rows, squared_norms
from ..rows import ViewRows
from .base import Divergence, NoDivergenceError, PairDivergence, ProductMeasure


@save_as("divergence-cosine")
@dataclass(frozen=True)
class Cosine(PairDivergence, Divergence):
    """``1 - <x, c>`` for rows and centers of unit length; a row of zeros has no direction and counts as missing.

    As a mixture's component: von Mises-Fisher.

    Examples
    --------
    >>> import numpy as np
    >>> import consilience as cs
    >>> X = np.array([[2.0, 0.0], [3.0, 3.0]])
    >>> measure = cs.divergences.Cosine().learn(X)
    >>> divergences = -measure.tile(measure.points(X), measure.exemplars(X))
    >>> round(float(divergences[0, 1]), 4)
    0.2929
    """

    scale: ClassVar[float] = 1.0
    uses_origin: ClassVar[bool] = False
    has_kernel: ClassVar[bool] = True

    def prepare(self, X: Array, present: Array, centers: Array | None = None) -> ViewRows:  # noqa: ARG002
        xp = namespace(X)
        lengths = xp.sqrt(squared_norms(X))
        present = xp.logical_and(present, lengths > 0)
        already_unit = xp.abs(lengths - 1) <= 4 * xp.finfo(X.dtype).eps
        if not bool(xp.all(xp.logical_or(already_unit, ~present))):
            X = scale_rows(X, 1 / xp.where(lengths > 0, lengths, 1.0))
        return ViewRows(X, present, xp.ones_like(lengths))

    def centers(self, sums: Array, counts: Array) -> Array:  # noqa: ARG002
        xp = namespace(sums)
        lengths = xp.sqrt(squared_norms(sums))
        return sums / xp.where(lengths > 0, lengths, 1.0)[:, None]

    def affine(self, centers: Array, origin: Array | None) -> tuple[Array, Array, Array | None]:
        return centers, centers[:, 0] * 0, origin

    def distance(self, divergence: Array) -> Array:
        xp = namespace(divergence)
        return xp.acos(xp.clip(1 - divergence, -1.0, 1.0))

    def comparable(self, X: Array) -> Array:
        return squared_norms(X) > 0

    def learn(self, X: Array) -> CosineMeasure:  # noqa: ARG002
        return CosineMeasure()


@save_as("measure-cosine")
@dataclass(frozen=True, eq=False)
class CosineMeasure(ProductMeasure):
    """One minus the cosine of two rows."""

    def points(self, X: Array) -> KernelRows:
        xp = namespace(X)
        lengths = xp.sqrt(squared_norms(X))
        units = scale_rows(X, 1 / xp.where(lengths > 0, lengths, 1.0))
        return KernelRows(units, xp.full_like(xp.astype(lengths, X.dtype), -0.5))

    def log_normalizer(self, X: Array, beta: float) -> np.ndarray:
        if X.shape[1] < 2:
            raise NoDivergenceError("one column has no direction to spread over: use normalizer=False")
        return np.full(X.shape[0], beta - float(log_sphere_integral(np.array([beta]), X.shape[1])[0]))
