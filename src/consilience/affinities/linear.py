"""The linear kernel."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from .._backend import Array, Kernel, Points, products
from .kernel import KernelAffinity, has_negative


@dataclass(frozen=True)
class Linear(KernelAffinity):
    """Inner product of two rows. Where it is negative for some, the smallest is taken off all."""

    def learn(self, X: Array) -> Kernel:  # noqa: ARG002
        return Product()

    def negative(self, X: Array) -> bool:
        return has_negative(X)


@dataclass(frozen=True)
class Product:
    """Inner products of rows, which may be changed first."""

    change: Callable[[Array], Array] | None = None

    def points(self, X: Array) -> Points:
        return Points(X if self.change is None else self.change(X))

    def tile(self, left: Points, right: Points) -> Array:
        return products(left.X, right.X)
