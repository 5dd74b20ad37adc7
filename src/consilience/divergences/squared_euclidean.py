"""Squared Euclidean distance: the divergence of k-means."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from .._backend import CSR, Array, blocks, dense_rows, like, namespace, squared_norms, to_numpy
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


def some_rows(X: Array, present: Array) -> Array:
    """Up to a thousand of the rows that are there, evenly spread."""
    rows = np.flatnonzero(to_numpy(present))
    rows = rows[:: max(1, len(rows) // 1000)] if len(rows) else np.array([0])
    return dense_rows(X, like(rows, X))


def middle(X: Array, dtype: Any) -> Array | None:
    """A point amid the rows, rounded to `dtype`; None where zero serves as well.

    Products of numbers far from zero cancel, in float32 above all; measured from the middle they do not. The median is
    not moved by a few rows that lie far out.
    """
    xp = namespace(X)
    centre = xp.sort(X, axis=0)[X.shape[0] // 2, :]
    distances = xp.sort(squared_norms(X - centre[None, :]))
    if float(xp.vecdot(centre, centre)) <= float(distances[X.shape[0] // 2]) * xp.finfo(dtype).eps ** -0.3:
        return None
    return xp.astype(xp.astype(centre, dtype), xp.float64)
