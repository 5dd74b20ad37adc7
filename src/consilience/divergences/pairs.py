"""What exemplar-based mixtures ask of a divergence: how far each row is from each other row, as a matrix.

But for a term of either row's own it is a product, ``d(x, y) = own(x) + own(y) - scale * a(x) . b(y)``, so that all
distances come from one product, sparse or dense. It need not be symmetric: x is a point, y an exemplar.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar, Protocol

import numpy as np

from ..arrays import (
    Array,
    KernelRows,
    asarray_like,
    exp_nonpositive,
    inner_products,
    itemsize,
    map_values,
    namespace,
    squared_norms,
    to_numpy,
    weighted_sums,
)


class Measure(Protocol):
    """A divergence with what it takes from the rows of the fit."""

    @property
    def caveat(self) -> str | None:
        """What the user should know about these rows."""

    def points(self, X: Array) -> KernelRows:
        """The rows of the fit made ready, as points."""

    def others(self, X: Array) -> KernelRows:
        """Rows that were not there in the fit, as points."""

    def exemplars(self, X: Array) -> KernelRows:
        """The rows of the fit as exemplars."""

    def tile(self, points: KernelRows, exemplars: KernelRows) -> Array:
        """Minus the divergence of some points from some exemplars; rounding may make it positive."""

    def total(self, points: KernelRows, exemplars: KernelRows) -> float:
        """The sum of all divergences."""

    def log_normalizer(self, X: Array, beta: float) -> np.ndarray:
        """Log C(x) of each row: what makes ``C(x) exp(-beta d(x, y))`` a density in x."""


class PairDivergence(Protocol):
    """How to compare the rows of a view; frozen data, no state."""

    columns_are_entities: ClassVar[bool]  # whether the view is a matrix of distances or similarities already
    has_kernel: ClassVar[bool]  # whether it is a squared distance in some space, where clusters have means

    def comparable(self, X: Array) -> Array:
        """Which rows can be compared at all; the others count as missing."""

    def learn(self, X: Array) -> Measure:
        """The measure that these rows, those of the fit, give; rows that it is not made for are refused."""


class NoDivergenceError(ValueError):
    """Rows cannot be compared in this way; the message says why and what to do, the caller names the view."""


class BasePairs:
    """What most divergences share: features, all of which can be compared."""

    columns_are_entities: ClassVar[bool] = False
    has_kernel: ClassVar[bool] = False

    def comparable(self, X: Array) -> Array:
        return squared_norms(X) >= 0


class ProductMeasure(ABC):
    """A measure that is a product, but for terms of the rows' own (which are kept with a minus)."""

    caveat: str | None = None
    scale: ClassVar[float] = 1.0

    @abstractmethod
    def points(self, X: Array) -> KernelRows:
        """Rows ready as points: a(x) and minus their own terms."""

    def others(self, X: Array) -> KernelRows:
        return self.points(X)

    @abstractmethod
    def exemplars(self, X: Array) -> KernelRows:
        """Rows ready as exemplars: b(y) and minus their own terms."""

    def tile(self, points: KernelRows, exemplars: KernelRows) -> Array:
        found = inner_products(points.X, exemplars.X)
        if self.scale != 1:
            found *= self.scale
        found += points.row_term[:, None]
        found += exemplars.row_term[None, :]
        return found

    def total(self, points: KernelRows, exemplars: KernelRows) -> float:
        a, b = (column_sums(side.X) for side in (points, exemplars))
        own = exemplars.X.shape[0] * sum_row_terms(points) + points.X.shape[0] * sum_row_terms(exemplars)
        return -(self.scale * float(a @ b) + own)

    @abstractmethod
    def log_normalizer(self, X: Array, beta: float) -> np.ndarray:
        """Log C(x) of each row."""


class Likelihood:
    """``exp(-beta d(x, y))``: the kernel of a measure and its sharpness."""

    def __init__(self, measure: Measure, beta: float) -> None:
        self.measure, self.beta = measure, beta

    def points(self, X: Array) -> KernelRows:
        return self.measure.points(X)

    def tile(self, left: KernelRows, right: KernelRows) -> Array:
        exponents = self.measure.tile(left, right)
        exponents *= self.beta
        return exp_nonpositive(exponents)


def column_sums(X: Array) -> np.ndarray:
    """Sum of each column, in float64."""
    ones = asarray_like(np.ones((X.shape[0], 1), dtype=f"f{itemsize(X)}"), X)
    return to_numpy(weighted_sums(X, ones))[0]


def sum_row_terms(side: KernelRows) -> float:
    """Sum of the rows' own terms."""
    xp = namespace(side.row_term)
    return float(xp.sum(side.row_term, dtype=xp.float64))


def to_float64(X: Array) -> Array:
    """Rows in float64: products of counts and logarithms cancel, and nothing can be moved to the middle first."""
    xp = namespace(X)
    return map_values(X, lambda x: xp.astype(x, xp.float64, copy=False))


def constant(value: float, X: Array) -> np.ndarray:
    """The same number for each row."""
    return np.full(X.shape[0], value)


def normalizer_error(why: str) -> NoDivergenceError:
    """The error of a divergence without a constant."""
    return NoDivergenceError(f"{why}, so that normalizer=True has no constant to put in: use normalizer=False")
