"""Distances of entities from the means of their clusters in each view."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.preprocessing import normalize

from ..._saving import save_as
from ...arrays import Array, is_sparse, plan_reads, to_host, to_numpy
from ...data import Views
from .input_checks import validate_blocks
from .membership import LEAST_RATIO, measure_spreads

ROWS_AT_A_TIME = 4_096  # dense rows that are compared with means


@save_as("cluster-means")
@dataclass(frozen=True, eq=False)
class ClusterMeans:
    """The means of the clusters in each view, and the typical distance of their members from them.

    Rows of sparse views are compared by their directions.
    """

    means: dict[str, np.ndarray]  # (k, columns) each
    spreads: dict[str, np.ndarray]  # (k,) each

    @classmethod
    def fit(cls, views: Views, labels: np.ndarray, n_clusters: int) -> ClusterMeans:
        """Average the rows of each cluster."""
        means, spreads = {}, {}
        for name, (X, present) in validate_blocks(views, stored=True).items():
            has_view = to_numpy(present)
            means[name] = average_rows(X, np.where(has_view, labels, -1), n_clusters)
            distances = leave_out(measure_distances(X, means[name], labels), labels, has_view)[has_view]
            unit = max(float(distances.mean()), np.finfo(float).tiny)
            spreads[name] = unit * measure_spreads(distances / unit, labels[has_view], n_clusters)
        return cls(means, spreads)

    def measure(self, views: Views, labels: np.ndarray, of_fit: bool = False) -> np.ndarray:
        """Return the logarithm of the distance from its cluster over the typical one, mean over views, (n,).

        It is 0 for an entity that has none of the views. Entities of the fit are compared with the means of the others.
        """
        total, n_views = np.zeros(len(labels)), np.zeros(len(labels))
        names = [name for name in views.names if name in self.means]
        for name, (X, present) in (validate_blocks(views[names], stored=True) if names else {}).items():
            has_view = to_numpy(present)
            distances = measure_distances(X, self.means[name], labels)
            distances = leave_out(distances, labels, has_view) if of_fit else distances
            # a difference of logarithms, because the ratio may be beyond the range of floats
            log_distances = np.log(distances, where=distances > 0, out=np.full(len(distances), -np.inf))
            log_ratio = log_distances - np.log(self.spreads[name][labels])
            total += np.where(has_view, np.maximum(log_ratio, np.log(LEAST_RATIO)), 0.0)
            n_views += has_view
        return total / np.maximum(n_views, 1)


def average_rows(X: Array, labels: np.ndarray, n_clusters: int) -> np.ndarray:
    """Return the mean row of each cluster; rows with a negative label do not count."""
    sums = np.zeros((n_clusters, X.shape[1]))
    for rows, block in read_rows(X):
        labeled = np.flatnonzero(labels[rows] >= 0)
        members = sp.csr_array(
            (np.ones(len(labeled)), (labels[rows][labeled], labeled)), shape=(n_clusters, block.shape[0])
        )
        product = members @ block
        sums += product.toarray() if sp.issparse(product) else product
    counts = np.bincount(labels[labels >= 0], minlength=n_clusters)
    return sums / np.maximum(counts, 1)[:, None]


def measure_distances(X: Array, means: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Return the distance of each row from the mean of its cluster, (n,)."""
    parts = []
    for rows, block in read_rows(X):
        centers = labels[rows]
        if sp.issparse(block):
            products = (block @ means.T)[np.arange(block.shape[0]), centers]
            squares = (block * block).sum(axis=1) - 2 * products + (means**2).sum(axis=1)[centers]
            parts.append(np.sqrt(np.maximum(squares, 0)))
        else:
            parts.append(np.linalg.norm(block - means[centers], axis=1))
    return np.concatenate(parts)


def leave_out(distances: np.ndarray, labels: np.ndarray, has_view: np.ndarray) -> np.ndarray:
    """Return the distances from the means of the other entities, from the distances from the means of all."""
    counts = np.maximum(np.bincount(labels[has_view], minlength=int(labels.max(initial=0)) + 1), 2)
    return distances * (counts / (counts - 1))[labels]


def read_rows(X: Array) -> Iterator[tuple[slice, Any]]:
    """Yield blocks of rows with their positions; sparse rows are scaled to unit length."""
    for large in plan_reads(X):
        block = to_host(X[large, ...])
        if is_sparse(X):
            yield large, sp.csr_array(normalize(block))
            continue
        for start in range(0, max(1, block.shape[0]), ROWS_AT_A_TIME):
            part = block[start : start + ROWS_AT_A_TIME]
            yield slice(large.start + start, large.start + start + part.shape[0]), part
