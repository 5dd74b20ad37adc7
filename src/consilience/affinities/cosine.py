"""Cosine similarity."""

from __future__ import annotations

from dataclasses import dataclass

from .._saving import refer_as, save_as
from ..arrays import Array, RowKernel, namespace, scale_rows, squared_norms
from .kernel import KernelAffinity, has_negative
from .linear import InnerProductKernel


@save_as("affinity-cosine")
@dataclass(frozen=True)
class Cosine(KernelAffinity):
    """Inner product of two rows of unit length; a row of zeros has no direction, so it is missing.

    Rows with negative numbers may have negative cosines: the smallest is taken off all, so that it becomes zero.
    """

    def learn(self, X: Array) -> RowKernel:  # noqa: ARG002
        return InnerProductKernel(scale_to_unit_length)

    def comparable_rows(self, X: Array) -> Array:
        return squared_norms(X) > 0

    def may_be_negative(self, X: Array) -> bool:
        return has_negative(X)


@refer_as("unit-rows")
def scale_to_unit_length(X: Array) -> Array:
    """Rows scaled to unit length; rows of zeros stay."""
    xp = namespace(X)
    lengths = xp.sqrt(squared_norms(X))
    return scale_rows(X, 1 / xp.where(lengths > 0, lengths, 1.0))
