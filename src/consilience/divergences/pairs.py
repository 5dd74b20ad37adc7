"""The interface that exemplar-based mixtures need: the divergences between all rows, as a matrix.

Except for terms that depend on one row only, a divergence is a product,
``d(x, y) = term(x) + term(y) - scale * a(x) . b(y)``, so that all divergences come from one product, sparse or dense.
It need not be symmetric: x is a point, y an exemplar.
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
    """A divergence with what it has learned from the rows of the fit."""

    @property
    def caveat(self) -> str | None:
        """What the user should know about these rows."""

    def points(self, X: Array) -> KernelRows:
        """Prepare the rows of the fit as points."""

    def new_points(self, X: Array) -> KernelRows:
        """Prepare rows that were not part of the fit as points."""

    def exemplars(self, X: Array) -> KernelRows:
        """Prepare the rows of the fit as exemplars."""

    def tile(self, points: KernelRows, exemplars: KernelRows) -> Array:
        """Minus the divergence of each point from each exemplar; rounding may make it positive."""

    def total(self, points: KernelRows, exemplars: KernelRows) -> float:
        """Sum of all divergences."""

    def log_normalizer(self, X: Array, beta: float) -> np.ndarray:
        """Log C(x) of each row, where ``C(x) exp(-beta d(x, y))`` is a density in x."""


class PairDivergence(Protocol):
    """How to compare the rows of a view; immutable."""

    columns_are_entities: ClassVar[bool]  # whether the view is already a matrix of distances or similarities
    has_kernel: ClassVar[bool]  # whether it is a squared distance in some space, where clusters have means

    def comparable(self, X: Array) -> Array:
        """Mask of the rows that can be compared; the others count as missing."""

    def learn(self, X: Array) -> Measure:
        """Return the measure for the rows of the fit; unsuitable rows are refused."""


class NoDivergenceError(ValueError):
    """Rows cannot be compared in this way; the message says why and what to do, the caller adds the view."""


class BasePairs:
    """Defaults of divergences between rows of features, all of which can be compared."""

    columns_are_entities: ClassVar[bool] = False
    has_kernel: ClassVar[bool] = False

    def comparable(self, X: Array) -> Array:
        return squared_norms(X) >= 0


class ProductMeasure(ABC):
    """A measure that is a product, except for terms of the rows (which are stored negated)."""

    caveat: str | None = None
    scale: ClassVar[float] = 1.0

    @abstractmethod
    def points(self, X: Array) -> KernelRows:
        """Prepare rows as points: a(x) and minus their terms."""

    def new_points(self, X: Array) -> KernelRows:
        return self.points(X)

    def exemplars(self, X: Array) -> KernelRows:
        """Prepare rows as exemplars: b(y) and minus their terms."""
        return self.points(X)

    def products(self, points: KernelRows, exemplars: KernelRows) -> Array:
        """The products a(x) . b(y), in a new array."""
        return inner_products(points.X, exemplars.X)

    def sum_products(self, points: KernelRows, exemplars: KernelRows) -> float:
        """Sum of all products."""
        a, b = (sum_columns(rows.X) for rows in (points, exemplars))
        return float(a @ b)

    def tile(self, points: KernelRows, exemplars: KernelRows) -> Array:
        tile = self.products(points, exemplars)
        if self.scale != 1:
            tile *= self.scale
        tile += points.row_term[:, None]
        tile += exemplars.row_term[None, :]
        return tile

    def total(self, points: KernelRows, exemplars: KernelRows) -> float:
        n_points, n_exemplars = points.X.shape[0], exemplars.X.shape[0]
        row_terms = n_exemplars * sum_row_terms(points) + n_points * sum_row_terms(exemplars)
        return -(self.scale * self.sum_products(points, exemplars) + row_terms)

    @abstractmethod
    def log_normalizer(self, X: Array, beta: float) -> np.ndarray:
        """Log C(x) of each row."""


class Likelihood:
    """The kernel ``exp(-beta d(x, y))`` of a measure."""

    def __init__(self, measure: Measure, beta: float) -> None:
        self.measure, self.beta = measure, beta

    def points(self, X: Array) -> KernelRows:
        return self.measure.points(X)

    def tile(self, left: KernelRows, right: KernelRows) -> Array:
        exponents = self.measure.tile(left, right)
        exponents *= self.beta
        return exp_nonpositive(exponents)


def sum_columns(X: Array) -> np.ndarray:
    """Sum of each column, in float64."""
    ones = asarray_like(np.ones((X.shape[0], 1), dtype=f"f{itemsize(X)}"), X)
    return to_numpy(weighted_sums(X, ones))[0]


def sum_row_terms(rows: KernelRows) -> float:
    """Sum of the row terms, in float64."""
    xp = namespace(rows.row_term)
    return float(xp.sum(rows.row_term, dtype=xp.float64))


def to_float64(X: Array) -> Array:
    """Convert rows to float64, because products of counts and logarithms cancel and no origin helps."""
    xp = namespace(X)
    return map_values(X, lambda x: xp.astype(x, xp.float64, copy=False))


def normalizer_error(reason: str) -> NoDivergenceError:
    """The error of a divergence without a normalizing constant."""
    return NoDivergenceError(f"{reason}, so that normalizer=True has no constant to put in: use normalizer=False")
