"""Kernels of the inner product of two rows: linear, cosine and polynomial."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import log

from .._saving import save_as
from ..arrays import Array, KernelRows, RowKernel, inner_products, namespace, squared_norms
from .base import NoAffinityError, check_positive
from .distances import scale_to_unit_length
from .kernel import KernelAffinity, has_negative


@save_as("affinity-linear")
@dataclass(frozen=True)
class Linear(KernelAffinity):
    """Inner product of two rows; if some are negative, the smallest is subtracted from all."""

    accepts_sparse = True

    def learn(self, X: Array) -> RowKernel:
        xp = namespace(X)
        largest = float(xp.max(squared_norms(X)))
        if 4 * X.shape[0] * largest > float(xp.finfo(X.dtype).max):
            raise NoAffinityError(
                f"rows up to length {largest**0.5:.3g} have inner products whose sums do not fit {X.dtype}: rescale "
                "the view"
            )
        return InnerProductKernel()

    def may_be_negative(self, X: Array) -> bool:
        return has_negative(X)


@save_as("affinity-cosine")
@dataclass(frozen=True)
class Cosine(KernelAffinity):
    """Inner product of two rows of unit length. A row of zeros has no direction, so it counts as missing.

    Rows with negative numbers may have negative cosines: then the smallest is subtracted from all.
    """

    accepts_sparse = True

    def learn(self, X: Array) -> RowKernel:  # noqa: ARG002
        return InnerProductKernel(scale_to_unit_length)

    def comparable_rows(self, X: Array) -> Array:
        return squared_norms(X) > 0

    def may_be_negative(self, X: Array) -> bool:
        return has_negative(X)


@save_as("kernel-linear")
@dataclass(frozen=True)
class InnerProductKernel:
    """Inner products of rows, which may be transformed first."""

    change: Callable[[Array], Array] | None = None

    def points(self, X: Array) -> KernelRows:
        return KernelRows(X if self.change is None else self.change(X))

    def tile(self, left: KernelRows, right: KernelRows) -> Array:
        return inner_products(left.X, right.X)


@save_as("affinity-polynomial")
@dataclass(frozen=True)
class Polynomial(KernelAffinity):
    """``(gamma <x, y> + offset) ** degree``; if some are negative, the smallest is subtracted from all.

    Parameters
    ----------
    degree : int, default=3
        The power.
    gamma : float, optional
        Factor of the inner product; if not given, one over the number of columns, as in scikit-learn.
    offset : float, default=1.0
        What is added before the power is taken.
    """

    degree: int = 3
    gamma: float | None = None
    offset: float = 1.0

    accepts_sparse = True

    def __post_init__(self) -> None:
        check_positive("degree", self.degree, whole=True)
        if self.gamma is not None:
            check_positive("gamma", self.gamma)

    def learn(self, X: Array) -> RowKernel:
        gamma = 1 / X.shape[1] if self.gamma is None else self.gamma
        largest = gamma * float(namespace(X).max(squared_norms(X))) + abs(self.offset)
        if self.degree * log(max(largest, 1.0)) > log(float(namespace(X).finfo(X.dtype).max)) / 2:
            raise NoAffinityError(
                f"the numbers are too large for the power {self.degree} in {X.dtype}: rescale the view"
            )
        return PolynomialKernel(self.degree, gamma, self.offset)

    def may_be_negative(self, X: Array) -> bool:
        return self.degree % 2 == 1 and (has_negative(X) or self.offset < 0)


@save_as("kernel-polynomial")
@dataclass(frozen=True)
class PolynomialKernel:
    """The polynomial kernel with its factor."""

    degree: int
    gamma: float
    offset: float

    def points(self, X: Array) -> KernelRows:
        return KernelRows(X)

    def tile(self, left: KernelRows, right: KernelRows) -> Array:
        return (inner_products(left.X, right.X) * self.gamma + self.offset) ** self.degree
