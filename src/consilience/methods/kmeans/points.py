"""k-means of the rows of one array in memory, such as an embedding."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial, reduce
from math import log
from operator import add, attrgetter
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from ..._saving import save_as
from ...arrays import (
    Array,
    Seed,
    as_rows,
    asarray_like,
    is_on_host,
    make_generator,
    map_chunks,
    namespace,
    split_into_chunks,
    squared_norms,
    to_numpy,
    use_threads,
)
from ...divergences import SquaredEuclidean
from ...rows import LocalShards
from ..common.input_checks import warn_about_empty_clusters, warn_if_not_converged
from ..common.run import draws_starts, is_improvement
from ..common.starts import partition_from_init, tuning
from .combine import fit_shards

DIVERGENCE = SquaredEuclidean()
MAX_ITER, TOL, PATIENCE = 300, 1e-6, 5


@save_as("nearest-center")
@dataclass(frozen=True, eq=False)
class PointClusters:
    """Clusters of points by the nearest center."""

    centers: Array  # (k, n_columns)
    n_jobs: int | None = None

    def predict(self, points: Array) -> np.ndarray:
        """Return the nearest center of each point."""
        return self._map(points, lambda distances: namespace(distances).argmin(distances, axis=1))

    def measure_distances(self, points: Array) -> np.ndarray:
        """Return the distance of each point to each center, (n, k)."""
        return self._map(points, lambda distances: namespace(distances).sqrt(distances))

    def _map(self, points: Array, function: Callable[[Array], Array]) -> np.ndarray:
        """Apply a function to the squared distances of chunks of points."""
        X = as_rows(points)
        xp, centers = namespace(X), asarray_like(to_numpy(self.centers), X)
        origin = xp.mean(centers, axis=0)  # digits would cancel far from zero
        centers = xp.astype(centers - origin, X.dtype)
        origin = xp.astype(origin, X.dtype)

        def apply(rows: slice) -> np.ndarray:
            shifted = X[rows, ...] - origin
            squared = squared_norms(shifted)[:, None] + squared_norms(centers)[None, :] - 2 * (shifted @ centers.T)
            return to_numpy(function(xp.clip(squared, 0.0, None)))

        with use_threads(self.n_jobs):
            return np.concatenate(list(map_chunks(apply, split_into_chunks(X))))


def cluster_points(
    points: Array, n_clusters: int, *, n_init: int, init: Any, random_state: Seed, n_jobs: int | None = None
) -> PointClusters:
    """Cluster points by k-means as `MultiViewKMeans` with one view does."""
    with use_threads(n_jobs):
        cluster = cluster_on_host if is_on_host(points) else cluster_on_device
        centers, labels, converged = cluster(as_rows(points), n_clusters, n_init, init, random_state)
    warn_if_not_converged(SimpleNamespace(converged_=converged, max_iter=MAX_ITER, tol=TOL))
    warn_about_empty_clusters(labels, n_clusters)
    return PointClusters(centers, n_jobs)


def cluster_on_device(
    X: Array, n_clusters: int, n_init: int, init: Any, random_state: Seed
) -> tuple[Array, np.ndarray, bool]:
    """Return centers, labels, and whether k-means converged, for points on a device, which stay there."""
    options = SimpleNamespace(
        n_clusters=n_clusters,
        n_init=n_init,
        init=init,
        random_state=random_state,
        max_iter=MAX_ITER,
        tol=TOL,
        patience=PATIENCE,
        verbose=False,
    )
    best, interrupted = fit_shards(prepare_points(X), DIVERGENCE, options)
    if interrupted:
        raise KeyboardInterrupt
    labels, centers, *_ = best.result
    return centers["points"], labels, best.run.converged


def prepare_points(X: Array) -> LocalShards:
    """Prepare points as shards of one view."""
    present = asarray_like(np.ones(X.shape[0], bool), X)
    return LocalShards({"points": DIVERGENCE.prepare(X, present)}).cut()


def cluster_on_host(
    X: np.ndarray, n_clusters: int, n_init: int, init: Any, random_state: Seed
) -> tuple[np.ndarray, np.ndarray, bool]:
    """Return centers, labels, and whether k-means converged, from the start of lowest cost; a thread runs a start."""
    mean = X.mean(axis=0, dtype=np.float64).astype(X.dtype)
    points = CenteredPoints(np.ascontiguousarray(X - mean), squared_norms(X - mean))
    starts: list[Callable[[], np.ndarray]]
    if draws_starts(init):
        rng = make_generator(random_state)
        generators, (sample_rng,) = rng.spawn(n_init), rng.spawn(1)
        sample = points.sample(max(tuning.most_sampled, tuning.least_sampled * n_clusters), sample_rng)
        starts = [partial(draw_centers, sample, n_clusters, init, generator) for generator in generators]
    else:
        labels = partition_from_init(init, prepare_points(X), DIVERGENCE, n_clusters)
        members = (labels[:, None] == np.arange(n_clusters)).astype(X.dtype)
        starts = [partial(update_centers, points, members.T @ points.X, members.sum(axis=0), labels)]
    best = min(map_chunks(lambda start: run_lloyd(points, start()), starts), key=attrgetter("cost"))
    return best.centers + mean, best.labels, best.converged


class CenteredPoints(NamedTuple):
    """Points with mean zero, because digits would cancel far from zero, and their squared lengths."""

    X: np.ndarray
    norms: np.ndarray

    def sample(self, number: int, rng: np.random.Generator) -> CenteredPoints:
        """Return this many points drawn at random, or all if there are no more."""
        if len(self.X) <= number:
            return self
        rows = np.sort(rng.choice(len(self.X), number, replace=False))
        return CenteredPoints(self.X[rows], self.norms[rows])

    def measure(self, rows: np.ndarray) -> np.ndarray:
        """Return the squared distance of the points at `rows` to every point, (rows, n)."""
        squared = self.norms - 2 * (self.X[rows] @ self.X.T)
        squared += self.norms[rows, None]
        return np.maximum(squared, 0, out=squared)


class LloydRun(NamedTuple):
    """The outcome of a start."""

    centers: np.ndarray
    labels: np.ndarray
    cost: float
    converged: bool


def run_lloyd(points: CenteredPoints, centers: np.ndarray) -> LloydRun:
    """Run k-means from these centers until no label changes, or the cost has stopped falling."""
    labels, best_scores = np.full(len(points.X), -1), np.empty(len(points.X))
    total_norm = float(points.norms.sum())
    lowest, n_waited = None, 0
    for _ in range(MAX_ITER):
        sums, counts, n_changed = assign_points(points, centers, labels, best_scores)
        cost = max(total_norm - 2 * float(best_scores.sum()), 0.0)
        lowest, n_waited = (cost, 0) if is_improvement(cost, lowest, TOL) else (lowest, n_waited + 1)
        if not n_changed or n_waited >= PATIENCE:
            return LloydRun(centers, labels, cost, True)
        centers = update_centers(points, sums, counts, labels)
    return LloydRun(centers, labels, cost, False)


def assign_points(
    points: CenteredPoints, centers: np.ndarray, labels: np.ndarray, best_scores: np.ndarray
) -> tuple[np.ndarray, np.ndarray, int]:
    """Assign points to the nearest centers, and return their sums and number per cluster and the number of new labels.

    Labels and scores, half of what a point's squared length exceeds its squared distance by, are written in place.
    """
    from ...arrays.point_kernels import assign_to_clusters

    table, bias = np.ascontiguousarray(centers.T, dtype=points.X.dtype), squared_norms(centers) / 2

    def assign(rows: slice) -> tuple[np.ndarray, np.ndarray, int]:
        X, sums, counts = points.X[rows], np.zeros(centers.shape), np.zeros(len(centers))
        return sums, counts, assign_to_clusters(X, X @ table, bias, labels[rows], best_scores[rows], sums, counts)

    chunks = map_chunks(assign, split_into_chunks(points.X, with_sums=True))
    return tuple(reduce(add, parts) for parts in zip(*chunks, strict=True))


def update_centers(points: CenteredPoints, sums: np.ndarray, counts: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Return the means of the clusters; an empty cluster moves to the point that is farthest from its center."""
    centers = sums / np.maximum(counts, 1)[:, None]
    empty = np.flatnonzero(counts == 0)
    if len(empty):
        farthest = np.argsort(-squared_norms(points.X - centers[labels]), kind="stable")[: len(empty)]
        centers[empty] = points.X[np.resize(farthest, len(empty))]
    return centers


def draw_centers(points: CenteredPoints, n_clusters: int, strategy: str, rng: np.random.Generator) -> np.ndarray:
    """Draw points, all equally likely ("random") or by greedy k-means++ (Arthur & Vassilvitskii 2007).

    There, each is drawn with a probability in proportion to the squared distance from those so far; of a few draws the
    one that lowers the cost most is kept.
    """
    n_points = len(points.X)
    if strategy == "random":
        return points.X[rng.choice(n_points, n_clusters, replace=False)].astype(np.float64)
    chosen = [int(rng.integers(n_points))]
    closest = points.measure(np.array(chosen))[0]
    while len(chosen) < n_clusters:
        cumulated = np.cumsum(closest)
        if cumulated[-1] == 0:  # every point coincides with one that was drawn
            others = np.setdiff1d(np.arange(n_points), chosen)
            chosen.extend(rng.choice(others, n_clusters - len(chosen), replace=False).tolist())
            break
        draws = np.searchsorted(cumulated, rng.random(2 + int(log(n_clusters))) * cumulated[-1])
        draws = np.minimum(draws, n_points - 1)
        reduced = np.minimum(closest, points.measure(draws))
        best = int(np.argmin(reduced.sum(axis=1)))
        chosen.append(int(draws[best]))
        closest = reduced[best]
    return points.X[chosen].astype(np.float64)
