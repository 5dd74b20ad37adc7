"""From an embedding to clusters: the last step of every spectral method."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg


@dataclass(frozen=True, eq=False)
class Rotation:
    """A turn of the embedding after which each cluster has an axis of its own (Damle, Minden & Ying 2019)."""

    axes: np.ndarray  # (columns, k)

    def predict(self, E: np.ndarray) -> np.ndarray:
        return np.argmax(np.abs(E @ self.axes), axis=1)


def cluster_qr(E: np.ndarray, n_clusters: int) -> Rotation:
    """Clusters by a QR decomposition with column pivoting: nothing random, no restarts.

    Of an embedding wider than there are clusters (views side by side), the directions that matter most are kept.
    """
    _, _, directions = scipy.linalg.svd(E, full_matrices=False)
    directions = directions[:n_clusters].T
    U = E @ directions
    _, _, pivots = scipy.linalg.qr(U.T, pivoting=True)
    left, _, right = scipy.linalg.svd(U[pivots[:n_clusters]].T, full_matrices=False)
    return Rotation(directions @ (left @ right))


def nearest_mean(E: np.ndarray, labels: np.ndarray, n_clusters: int) -> np.ndarray:
    """The cluster whose mean in this embedding is nearest to each entity; empty clusters are nobody's."""
    members = (labels[:, None] == np.arange(n_clusters)).astype(E.dtype)
    sizes = members.sum(axis=0)
    means = (members.T @ E) / np.maximum(sizes, 1)[:, None]
    score = E @ means.T - np.sum(means**2, axis=1) / 2
    return np.argmax(np.where(sizes > 0, score, -np.inf), axis=1)
