"""The graph of nearest landmarks: nearest neighbors for millions of rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from array_api_compat import device

from .._saving import refer_as, save_as
from ..arrays import (
    Array,
    KernelMatrix,
    KernelRows,
    as_rows_like,
    asarray_like,
    available_device_memory,
    fits_in_memory,
    is_on_host,
    itemsize,
    keep_where,
    namespace,
    take_rows,
    to_numpy,
)
from .base import Affinity, check_positive, nth_smallest
from .distances import MetricSpace, check_metric, choose_metric, find_comparable_rows
from .graph import StoredSimilarities, empty_on_device
from .low_rank import LowRank, choose_landmarks


@save_as("affinity-landmarks")
@dataclass(frozen=True)
class Landmarks(Affinity):
    """Two rows are similar if they are near to the same landmarks (the anchor graph of Liu, He & Chang 2010).

    Each row is joined to the few landmarks nearest to it, ``K = Z diag(Z' 1)^-1 Z'``: never negative, every degree is
    one, and memory and time grow with the rows, not with their square.

    Parameters
    ----------
    n_landmarks : int, default=1000
        Number of rows, drawn at random, that serve as landmarks.
    n_neighbors : int, default=20
        Number of landmarks each row is joined to.
    metric : {'euclidean', 'cosine'}, optional
        If not given, chosen as for `NearestNeighbors`.
    """

    n_landmarks: int = 1000
    n_neighbors: int = 20
    metric: str | None = None

    accepts_sparse = True

    def __post_init__(self) -> None:
        check_metric(self.metric)
        check_positive("n_landmarks", self.n_landmarks, whole=True)
        check_positive("n_neighbors", self.n_neighbors, whole=True)

    def resolve(self, X: Array) -> Landmarks:
        return replace(self, metric=choose_metric(self.metric, X))

    def out_of_core(self, n_rows: int) -> bool:  # noqa: ARG002
        return True

    def comparable_rows(self, X: Array) -> Array:
        return find_comparable_rows(self.metric, X)

    def build_operator(self, X: Array, rng: np.random.Generator) -> LowRank:
        space = MetricSpace.of(self.metric, X)
        landmarks = space.points(take_rows(X, asarray_like(choose_landmarks(X.shape[0], self.n_landmarks, rng), X)))
        n_neighbors = min(self.n_neighbors, landmarks.X.shape[0])
        if landmark_table_bytes(X, landmarks.X.shape[0]):
            return build_from_table(LandmarkKernel(space, n_neighbors), X, landmarks)
        join = partial(compute_landmark_weights, space, landmarks, n_neighbors)
        Z = join(X)
        sizes = np.asarray(Z.sum(axis=0)).ravel()
        core = sp.diags_array(1 / np.where(sizes > 0, sizes, 1)).astype(Z.dtype)
        if is_on_host(X):
            return LowRank(Z, core, join, Z.dtype)
        home = empty_on_device(X)
        factor, core = (StoredSimilarities(matrix, home=home) for matrix in (Z, core))
        return LowRank(factor, core, partial(join_on_device, home, join), Z.dtype)

    def nbytes(self, X: Array) -> int:
        n_landmarks = min(X.shape[0], self.n_landmarks)
        weights = X.shape[0] * min(self.n_neighbors, n_landmarks) * (itemsize(X) + 4)
        return landmark_table_bytes(X, n_landmarks) or weights


def landmark_table_bytes(X: Array, n_landmarks: int) -> int:
    """Return the memory of a table of all rows with all landmarks on a device that has room for it; otherwise 0."""
    needed = X.shape[0] * n_landmarks * itemsize(X)
    return needed if available_device_memory(X) is not None and fits_in_memory(needed, X) else 0


def join_on_device(home: Array, join: Callable[[Array], Any], X: Array) -> StoredSimilarities:
    """Compute sparse weights of other rows whose products move to a device."""
    return StoredSimilarities(join(X), home=home)


@refer_as("nearest-landmarks")
def compute_landmark_weights(space: MetricSpace, landmarks: KernelRows, n_neighbors: int, X: Array) -> sp.csr_array:
    """Weight each row's nearest landmarks by a Gaussian as wide as their mean distance; rows sum to 1."""
    points = space.points(as_rows_like(X, landmarks.X))
    matrix = KernelMatrix(space, points, landmarks, cached=False)

    def weight_nearest(_: slice, tile: Array) -> tuple[np.ndarray, np.ndarray]:
        squared = to_numpy(tile)
        nearest = np.argpartition(squared, n_neighbors - 1, axis=1)[:, :n_neighbors]
        squared = np.take_along_axis(squared, nearest, axis=1)
        width = np.mean(squared, axis=1, keepdims=True)
        weights = np.exp(-squared / np.where(width > 0, width, 1.0))
        return nearest.astype(np.int32), weights / np.sum(weights, axis=1, keepdims=True)

    nearest, weights = (np.concatenate(parts) for parts in zip(*matrix.map_tiles(weight_nearest), strict=True))
    starts = np.arange(0, nearest.size + 1, n_neighbors, dtype=np.int32 if nearest.size < 2**31 else np.int64)
    return sp.csr_array((weights.ravel(), nearest.ravel(), starts), shape=matrix.shape)


@dataclass(frozen=True, eq=False)
class LandmarkKernel:
    """The weights of `compute_landmark_weights` as a dense kernel of rows with landmarks, which is fast on a device."""

    space: MetricSpace
    n_neighbors: int

    def points(self, X: Array) -> KernelRows:
        return self.space.points(X)

    def tile(self, left: KernelRows, right: KernelRows) -> Array:
        squared = self.space.tile(left, right)
        xp = namespace(squared)
        last = nth_smallest(squared, self.n_neighbors)[:, None]
        nearer, tied = squared < last, squared == last
        room = self.n_neighbors - xp.sum(xp.astype(nearer, xp.int32), axis=1, keepdims=True, dtype=xp.int32)
        near = nearer | (tied & (xp.cumulative_sum(xp.astype(tied, xp.int32), axis=1, dtype=xp.int32) <= room))
        width = xp.sum(keep_where(near, squared, 0.0), axis=1, keepdims=True) / self.n_neighbors
        weights = keep_where(near, xp.exp(-squared / keep_where(width > 0, width, 1.0)), 0.0)
        return weights / xp.sum(weights, axis=1, keepdims=True)


def build_from_table(kernel: LandmarkKernel, X: Array, landmarks: KernelRows) -> LowRank:
    """Build the similarities from a table of the weights of all rows."""
    Z = KernelMatrix(kernel, kernel.points(X), landmarks, cached=True)
    sizes = Z.T @ np.ones((X.shape[0], 1))
    xp = namespace(sizes)
    core = xp.eye(sizes.shape[0], dtype=sizes.dtype, device=device(sizes)) / keep_where(sizes > 0, sizes, 1.0)
    return LowRank(Z, core, Z.compare_with, Z.dtype)
