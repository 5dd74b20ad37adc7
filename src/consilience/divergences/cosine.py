"""One minus the cosine: the divergence of spherical k-means."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from .._backend import Array, namespace, scale_rows, squared_norms
from .base import Rows


@dataclass(frozen=True)
class Cosine:
    """``1 - <x, c>`` for rows and centres of unit length; a row of zeros has no direction, so it is missing."""

    scale: ClassVar[float] = 1.0

    def prepare(self, X: Array, present: Array, centres: Array | None = None) -> Rows:  # noqa: ARG002
        xp = namespace(X)
        lengths = xp.sqrt(squared_norms(X))
        present = xp.logical_and(present, lengths > 0)
        already_unit = xp.abs(lengths - 1) <= 4 * xp.finfo(X.dtype).eps
        if not bool(xp.all(xp.logical_or(already_unit, ~present))):
            X = scale_rows(X, 1 / xp.where(lengths > 0, lengths, 1.0))
        return Rows(X, present, xp.ones_like(lengths))

    def centres(self, sums: Array, counts: Array) -> Array:  # noqa: ARG002
        xp = namespace(sums)
        lengths = xp.sqrt(squared_norms(sums))
        return sums / xp.where(lengths > 0, lengths, 1.0)[:, None]

    def affine(self, centres: Array, origin: Array | None) -> tuple[Array, Array, Array | None]:
        return centres, centres[:, 0] * 0, origin

    def distance(self, divergence: Array) -> Array:
        xp = namespace(divergence)
        return xp.acos(xp.clip(1 - divergence, -1.0, 1.0))
