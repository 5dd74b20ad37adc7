"""k-means of the rows of one array in memory."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np

from ..._saving import save_as
from ...arrays import Array, Seed, as_rows, asarray_like, to_numpy, use_threads
from ...divergences import SquaredEuclidean
from ...rows import LocalShards
from ..common.input_checks import gather_results, warn_about_empty_clusters, warn_if_not_converged
from .combine import compute_distances, fit_shards, vote

DIVERGENCE = SquaredEuclidean()


@save_as("nearest-center")
@dataclass(frozen=True, eq=False)
class PointClusters:
    """Clusters of points by the nearest center."""

    centers: Array  # (k, n_columns)
    n_jobs: int | None = None

    def predict(self, points: Array) -> np.ndarray:
        """Return the nearest center of each point."""
        return self._map(points, lambda *arguments: vote(*arguments)[0])

    def measure_distances(self, points: Array) -> np.ndarray:
        """Return the distance of each point to each center, (n, k)."""
        return self._map(points, compute_distances)

    def _map(self, points: Array, task: Callable[..., Array]) -> np.ndarray:
        centers = asarray_like(to_numpy(self.centers), points)
        with use_threads(self.n_jobs):
            shards = prepare_points(points, centers)
            return gather_results(shards.map(task, DIVERGENCE, {"points": centers}))


def prepare_points(points: Array, centers: Array | None = None) -> LocalShards:
    """Prepare points as shards of one view; with `centers`, to be compared with these."""
    X = as_rows(points)
    present = asarray_like(np.ones(X.shape[0], bool), X)
    return LocalShards({"points": DIVERGENCE.prepare(X, present, centers)}).cut()


def cluster_points(
    points: Array, n_clusters: int, *, n_init: int, init: Any, random_state: Seed, n_jobs: int | None = None
) -> PointClusters:
    """Cluster points as `MultiViewKMeans` with one view does."""
    options = SimpleNamespace(
        n_clusters=n_clusters,
        n_init=n_init,
        init=init,
        random_state=random_state,
        max_iter=300,
        tol=1e-6,
        patience=5,
        verbose=False,
    )
    with use_threads(n_jobs):
        best, interrupted = fit_shards(prepare_points(points), DIVERGENCE, options)
    if interrupted:
        raise KeyboardInterrupt
    options.converged_ = best.run.converged
    warn_if_not_converged(options)
    labels, centers, *_ = best.result
    warn_about_empty_clusters(labels, n_clusters)
    return PointClusters(centers["points"], n_jobs)
