"""Squared Euclidean distance: the divergence of k-means."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from .._backend import CSR, Array, blocks, middle, namespace, some_rows, squared_norms
from .base import Rows


@dataclass(frozen=True)
class SquaredEuclidean:
    """``||x - c||^2``; the centre is the mean."""

    scale: ClassVar[float] = 2.0

    def prepare(self, X: Array, present: Array, centres: Array | None = None) -> Rows:
        if isinstance(X, CSR):
            return Rows(X, present, squared_norms(X))
        xp = namespace(X)
        origin = middle(some_rows(X, present) if centres is None else centres, X.dtype)
        parts = [X[block, ...] for block in blocks(X, slice(0, X.shape[0]))]
        moved = parts if origin is None else (part - origin[None, :] for part in parts)
        return Rows(X, present, xp.concat([squared_norms(part) for part in moved]), origin)

    def centres(self, sums: Array, counts: Array) -> Array:
        xp = namespace(sums)
        return sums / xp.where(counts > 0, counts, 1.0)[:, None]

    def affine(self, centres: Array, origin: Array | None) -> tuple[Array, Array, Array | None]:
        moved = centres if origin is None else centres - origin[None, :]
        return moved, squared_norms(moved) / 2, origin

    def distance(self, divergence: Array) -> Array:
        return namespace(divergence).sqrt(divergence)
