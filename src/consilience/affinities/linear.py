"""The linear kernel."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from .._saving import save_as
from ..arrays import Array, KernelRows, RowKernel, inner_products, namespace, squared_norms
from .base import NoAffinityError
from .kernel import KernelAffinity, has_negative


@save_as("affinity-linear")
@dataclass(frozen=True)
class Linear(KernelAffinity):
    """Inner product of two rows. Where it is negative for some, the smallest is taken off all."""

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


@save_as("kernel-linear")
@dataclass(frozen=True)
class InnerProductKernel:
    """Inner products of rows, which may be changed first."""

    change: Callable[[Array], Array] | None = None

    def points(self, X: Array) -> KernelRows:
        return KernelRows(X if self.change is None else self.change(X))

    def tile(self, left: KernelRows, right: KernelRows) -> Array:
        return inner_products(left.X, right.X)
