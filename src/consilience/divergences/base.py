"""What k-means asks of a divergence: how far a row is from a centre, and where the centre of some rows lies.

But for a term of the row's own it is affine in the row, ``d(x, c) = own(x) + scale * (bias(c) - x . weights(c))``, so
that the nearest of k centres is found by one product, sparse or dense.
"""

from __future__ import annotations

from typing import ClassVar, Protocol

from ..arrays import Array
from ..rows import ViewRows


class Divergence(Protocol):
    """Dissimilarity of a row and a centre; frozen data, no state."""

    scale: ClassVar[float]
    uses_origin: ClassVar[bool]  # whether rows are measured from a point amid them

    def prepare(self, X: Array, present: Array, centres: Array | None = None) -> ViewRows:
        """Lay out the rows once: before the first round, or to be measured against centres that are known."""

    def centers(self, sums: Array, counts: Array) -> Array:
        """Centre of each cluster from the sum and the number of its rows; a cluster of none gets zeros."""

    def affine(self, centres: Array, origin: Array | None) -> tuple[Array, Array, Array | None]:
        """(weights, bias) of each centre and the origin: the arguments of a scorer."""

    def distance(self, divergence: Array) -> Array:
        """What the views add up when they vote: a distance, from the divergence."""
