"""Squared Euclidean distance: the divergence of k-means."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from .._backend import CSR, Array, add_label_sums, blocks, count_labels, namespace, squared_norms, zeros
from .base import Rows


@dataclass(frozen=True)
class SquaredEuclidean:
    """``||x - c||^2``; the centre is the mean."""

    scale: ClassVar[float] = 2.0

    def prepare(self, X: Array, present: Array) -> Rows:
        if isinstance(X, CSR):
            return Rows(X, present, squared_norms(X))
        # Measured from the mean, products do not cancel when the data lie far from zero, which float32 feels first.
        xp = namespace(X)
        one_cluster = xp.astype(present, xp.int64) - 1
        sums = add_label_sums(X, one_cluster, zeros((1, X.shape[1]), X))
        origin = self.centres(sums, count_labels(one_cluster, 1))[0, :]
        own = xp.concat([squared_norms(X[block, ...] - origin[None, :]) for block in blocks(X, slice(0, X.shape[0]))])
        return Rows(X, present, own, origin)

    def centres(self, sums: Array, counts: Array) -> Array:
        xp = namespace(sums)
        return sums / xp.where(counts > 0, counts, 1.0)[:, None]

    def affine(self, centres: Array, origin: Array | None) -> tuple[Array, Array]:
        if origin is None:
            return centres, squared_norms(centres) / 2
        moved = centres - origin[None, :]
        return moved, squared_norms(moved) / 2 + moved @ origin

    def distance(self, divergence: Array) -> Array:
        return namespace(divergence).sqrt(divergence)
