"""From an embedding to clusters: the last step of every spectral method."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg

from ..._saving import save_as
from ...arrays import Array, asarray_like, is_on_host, keep_where, namespace, to_numpy
from ..common.input_checks import warn_about_empty_clusters
from ..kmeans.points import PointClusters, cluster_points


@save_as("embedding-rotation")
@dataclass(frozen=True, eq=False)
class Rotation:
    """A rotation of the embedding after which each cluster has an axis (Damle, Minden & Ying 2019)."""

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


def fit_assigner(E: Array, estimator: Any) -> PointClusters | Rotation:
    """Cluster an embedding as the parameters of a spectral estimator say."""
    if estimator.assign_labels == "kmeans":
        options = {name: getattr(estimator, name) for name in ("n_init", "init", "n_jobs", "random_state")}
        return cluster_points(E, estimator.n_clusters, **options)
    rotation = fit_rotation(E, estimator.n_clusters)
    remedy = "lower n_clusters, or use assign_labels='kmeans'"
    warn_about_empty_clusters(rotation.predict(E), estimator.n_clusters, remedy)
    return rotation


def fit_rotation(E: Array, n_clusters: int) -> Rotation:
    """Find clusters by a QR decomposition with column pivoting, which needs no random starts.

    If the embedding has more columns than clusters (several views), its leading directions are used.
    """
    _, _, directions = thin_svd(E)
    directions = directions[: min(n_clusters, directions.shape[0]), :].T
    U = E @ directions
    left, _, right = thin_svd(select_pivot_rows(U, n_clusters).T)
    return Rotation(directions @ (left @ right))


def thin_svd(matrix: Array) -> tuple[Array, Array, Array]:
    """Return left singular vectors, singular values and right singular vectors."""
    if is_on_host(matrix):
        return scipy.linalg.svd(matrix, full_matrices=False)
    return namespace(matrix).linalg.svd(matrix, full_matrices=False)


def select_pivot_rows(U: Array, number: int) -> Array:
    """Select rows one after the other, each the farthest from the span of those before it."""
    if is_on_host(U):
        return U[scipy.linalg.qr(U.T, pivoting=True)[2][:number]]
    xp = namespace(U)
    pivots, rest = [], U
    for _ in range(number):
        lengths = xp.sum(rest**2, axis=1)
        farthest = xp.argmax(lengths, keepdims=True)
        pivots.append(xp.take(U, farthest, axis=0))
        axis = xp.take(rest, farthest, axis=0)
        largest = xp.max(lengths)
        rest = rest - (rest @ axis.T) * (axis / keep_where(largest > 0, largest, 1.0))
    return xp.concat(pivots)


def assign_nearest_mean(E: Array, labels: np.ndarray, n_clusters: int) -> np.ndarray:
    """Label each entity by the nearest mean of a cluster in this embedding; empty clusters get none."""
    xp = namespace(E)
    members = labels[:, None] == np.arange(n_clusters)
    members, sizes = (xp.astype(asarray_like(array, E), E.dtype) for array in (members, members.sum(axis=0)))
    means = (members.T @ E) / keep_where(sizes > 0, sizes, 1.0)[:, None]
    score = E @ means.T - xp.sum(means**2, axis=1) / 2
    return to_numpy(xp.argmax(keep_where(sizes > 0, score, -np.inf), axis=1))
