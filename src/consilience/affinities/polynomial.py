"""The polynomial kernel."""

from __future__ import annotations

from dataclasses import dataclass

from .._backend import Array, products
from .kernel import Kernel, KernelAffinity, Points, has_negative


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

    def learn(self, X: Array) -> Kernel:
        return Power(self.degree, 1 / X.shape[1] if self.gamma is None else self.gamma, self.offset)

    def negative(self, X: Array) -> bool:
        return self.degree % 2 == 1 and (has_negative(X) or self.offset < 0)


@dataclass(frozen=True)
class Power:
    """The kernel with its factor known."""

    degree: int
    gamma: float
    offset: float

    def points(self, X: Array) -> Points:
        return Points(X)

    def tile(self, left: Points, right: Points) -> Array:
        return (products(left.X, right.X) * self.gamma + self.offset) ** self.degree
