"""The polynomial kernel."""

from __future__ import annotations

from dataclasses import dataclass
from math import log

from .._saving import save_as
from ..arrays import Array, KernelRows, RowKernel, inner_products, namespace, squared_norms
from .base import NoAffinityError, check_positive
from .kernel import KernelAffinity, has_negative


@save_as("affinity-polynomial")
@dataclass(frozen=True)
class Polynomial(KernelAffinity):
    """``(gamma <x, y> + offset) ** degree``. Where it is negative for some, the smallest is taken off all.

    Parameters
    ----------
    degree : int, default=3
        The power.
    gamma : float, optional
        Factor of the inner product; one over the number of columns if not given, as in scikit-learn.
    offset : float, default=1.0
        What is added before the power is taken.
    """

    degree: int = 3
    gamma: float | None = None
    offset: float = 1.0

    def __post_init__(self) -> None:
        check_positive("degree", self.degree, whole=True)
        if self.gamma is not None:
            check_positive("gamma", self.gamma)

    def learn(self, X: Array) -> RowKernel:
        gamma = 1 / X.shape[1] if self.gamma is None else self.gamma
        most = gamma * float(namespace(X).max(squared_norms(X))) + abs(self.offset)
        if self.degree * log(max(most, 1.0)) > log(float(namespace(X).finfo(X.dtype).max)) / 2:
            raise NoAffinityError(f"numbers so large have no power {self.degree} in {X.dtype}: rescale the view")
        return PolynomialKernel(self.degree, gamma, self.offset)

    def may_be_negative(self, X: Array) -> bool:
        return self.degree % 2 == 1 and (has_negative(X) or self.offset < 0)


@save_as("kernel-polynomial")
@dataclass(frozen=True)
class PolynomialKernel:
    """The kernel with its factor known."""

    degree: int
    gamma: float
    offset: float

    def points(self, X: Array) -> KernelRows:
        return KernelRows(X)

    def tile(self, left: KernelRows, right: KernelRows) -> Array:
        return (inner_products(left.X, right.X) * self.gamma + self.offset) ** self.degree
