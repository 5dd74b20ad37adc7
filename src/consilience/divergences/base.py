"""The interface that k-means needs: the dissimilarity of a row and a center, and the center of rows.

Except for a term that depends only on the row, a divergence is affine in the row,
``d(x, c) = row_term(x) + scale * (bias(c) - x . weights(c))``, so that one product, sparse or dense, finds the nearest
of k centers.
"""

from __future__ import annotations

from typing import ClassVar, Protocol

from ..arrays import Array
from ..rows import ViewRows


class Divergence(Protocol):
    """Dissimilarity of a row and a center; immutable."""

    scale: ClassVar[float]
    uses_origin: ClassVar[bool]  # whether rows are measured from a point near them

    def prepare(self, X: Array, present: Array, centers: Array | None = None) -> ViewRows:
        """Prepare rows once, before the first round or for comparison with `centers`."""

    def centers(self, sums: Array, counts: Array) -> Array:
        """Center of each cluster from the sum and the number of its rows; an empty cluster gets zeros."""

    def affine(self, centers: Array, origin: Array | None) -> tuple[Array, Array, Array | None]:
        """Weights and bias of each center, and the origin: the arguments of `build_scorer`."""

    def distance(self, divergence: Array) -> Array:
        """Turn divergences into the distances that views add up when they vote."""
