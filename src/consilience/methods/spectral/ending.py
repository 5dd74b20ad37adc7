"""From an embedding to clusters: the last step of every spectral method."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg

from ..._saving import save_as
from ...arrays import Array, asarray_like, is_on_host, keep_where, namespace, to_numpy


@save_as("embedding-rotation")
@dataclass(frozen=True, eq=False)
class Rotation:
    """A turn of the embedding after which each cluster has an axis of its own (Damle, Minden & Ying 2019)."""

    axes: Array  # (columns, k)

    def predict(self, E: Array) -> np.ndarray:
        xp = namespace(E)
        return to_numpy(xp.argmax(xp.abs(E @ asarray_like(self.axes, E)), axis=1))

    def measure_distances(self, E: Array) -> np.ndarray:
        """Return the distance of each row, scaled to unit length, to the nearer end of each axis, (n, k)."""
        xp = namespace(E)
        length = xp.sqrt(xp.sum(E**2, axis=1))[:, None]
        cosine = xp.abs(E @ asarray_like(self.axes, E)) / keep_where(length > 0, length, 1.0)
        return to_numpy(xp.sqrt(xp.clip(2 - 2 * cosine, 0.0, None)))


def fit_rotation(E: Array, n_clusters: int) -> Rotation:
    """Clusters by a QR decomposition with column pivoting: nothing random, no restarts.

    Of an embedding wider than there are clusters (views side by side), the directions that matter most are kept.
    """
    _, _, directions = thin_svd(E)
    directions = directions[: min(n_clusters, directions.shape[0]), :].T
    U = E @ directions
    left, _, right = thin_svd(select_pivot_rows(U, n_clusters).T)
    return Rotation(directions @ (left @ right))


def thin_svd(matrix: Array) -> tuple[Array, Array, Array]:
    """Left vectors, sizes and right vectors."""
    if is_on_host(matrix):
        return scipy.linalg.svd(matrix, full_matrices=False)
    return namespace(matrix).linalg.svd(matrix, full_matrices=False)


def select_pivot_rows(U: Array, number: int) -> Array:
    """Rows that stand apart: each the one that sticks out farthest from what those before it span."""
    if is_on_host(U):
        return U[scipy.linalg.qr(U.T, pivoting=True)[2][:number]]
    xp = namespace(U)
    chosen, rest = [], U
    for _ in range(number):
        lengths = xp.sum(rest**2, axis=1)
        farthest = xp.argmax(lengths, keepdims=True)
        chosen.append(xp.take(U, farthest, axis=0))
        axis = xp.take(rest, farthest, axis=0)
        most = xp.max(lengths)
        rest = rest - (rest @ axis.T) * (axis / keep_where(most > 0, most, 1.0))
    return xp.concat(chosen)


def assign_nearest_mean(E: Array, labels: np.ndarray, n_clusters: int) -> np.ndarray:
    """The cluster whose mean in this embedding is nearest to each entity; empty clusters are nobody's."""
    xp = namespace(E)
    there = labels[:, None] == np.arange(n_clusters)
    members, sizes = (xp.astype(asarray_like(own, E), E.dtype) for own in (there, there.sum(axis=0)))
    means = (members.T @ E) / keep_where(sizes > 0, sizes, 1.0)[:, None]
    score = E @ means.T - xp.sum(means**2, axis=1) / 2
    return to_numpy(xp.argmax(keep_where(sizes > 0, score, -np.inf), axis=1))
