"""The graph of nearest landmarks: nearest neighbours for rows in millions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

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
from .base import check_positive, nth_smallest
from .graph import StoredSimilarities, empty_on_device
from .low_rank import LowRank, choose_landmarks
from .space import MetricSpace, check_metric, choose_metric, find_comparable_rows


@save_as("affinity-landmarks")
@dataclass(frozen=True)
class Landmarks:
    """Two rows are alike if they are near to the same landmarks (the anchor graph of Liu, He & Chang 2010).

    Each row is joined to the few landmarks nearest to it, ``K = Z diag(Z' 1)^-1 Z'``: never negative, every degree is
    one, and memory and time grow with the rows, not with their square.

    Parameters
    ----------
    n_landmarks : int, default=1000
        How many rows, drawn at random, serve as landmarks.
    n_neighbors : int, default=20
        How many landmarks each row is joined to.
    metric : {'euclidean', 'cosine'}, optional
        If not given, chosen as for `NearestNeighbors`.
    """

    n_landmarks: int = 1000
    n_neighbors: int = 20
    metric: str | None = None

    columns_are_entities: ClassVar[bool] = False
    out_of_core: ClassVar[bool] = True  # rows may stay on a disk

    def __post_init__(self) -> None:
        check_metric(self.metric)
        check_positive("n_landmarks", self.n_landmarks, whole=True)
        check_positive("n_neighbors", self.n_neighbors, whole=True)

    def resolve(self, X: Array) -> Landmarks:
        return replace(self, metric=choose_metric(self.metric, X))

    def comparable_rows(self, X: Array) -> Array:
        return find_comparable_rows(self.metric, X)

    def build_operator(self, X: Array, rng: np.random.Generator) -> LowRank:
        space = MetricSpace.of(self.metric, X)
        landmarks = space.points(take_rows(X, asarray_like(choose_landmarks(X.shape[0], self.n_landmarks, rng), X)))
        number = min(self.n_neighbors, landmarks.X.shape[0])
        if landmark_table_bytes(X, landmarks.X.shape[0]):
            return build_from_table(LandmarkKernel(space, number), X, landmarks)
        join = partial(compute_landmark_weights, space, landmarks, number)
        Z = join(X)
        sizes = np.asarray(Z.sum(axis=0)).ravel()
        core = sp.diags_array(1 / np.where(sizes > 0, sizes, 1)).astype(Z.dtype)
        if is_on_host(X):
            return LowRank(Z, core, join, Z.dtype)
        home = empty_on_device(X)
        return LowRank(
            StoredSimilarities(Z, home=home),
            StoredSimilarities(core, home=home),
            partial(join_on_device, home, join),
            Z.dtype,
        )

    def nbytes(self, X: Array) -> int:
        n_landmarks = min(X.shape[0], self.n_landmarks)
        return landmark_table_bytes(X, n_landmarks) or X.shape[0] * min(self.n_neighbors, n_landmarks) * (
            itemsize(X) + 4
        )


def landmark_table_bytes(X: Array, n_landmarks: int) -> int:
    """Memory of a table of all rows with all landmarks, on a device that has room for it; 0: sparse weights serve."""
    needed = X.shape[0] * n_landmarks * itemsize(X)
    return needed if available_device_memory(X) is not None and fits_in_memory(needed, X) else 0


def join_on_device(home: Array, join: Callable[[Array], Any], X: Array) -> StoredSimilarities:
    """Sparse weights of other rows, whose products come to a device."""
    return StoredSimilarities(join(X), home=home)


@refer_as("nearest-landmarks")
def compute_landmark_weights(space: MetricSpace, landmarks: KernelRows, number: int, X: Array) -> sp.csr_array:
    """Each row's nearest landmarks, weighted by a Gaussian as wide as they are far; a row's weights add up to 1."""
    points = space.points(as_rows_like(X, landmarks.X))
    matrix = KernelMatrix(space, points, landmarks, cached=False)

    def nearest(_: slice, tile: Array) -> tuple[np.ndarray, np.ndarray]:
        apart = to_numpy(tile)
        chosen = np.argpartition(apart, number - 1, axis=1)[:, :number]
        near = np.take_along_axis(apart, chosen, axis=1)
        width = np.mean(near, axis=1, keepdims=True)
        weights = np.exp(-near / np.where(width > 0, width, 1.0))
        return chosen.astype(np.int32), weights / np.sum(weights, axis=1, keepdims=True)

    chosen, weights = (np.concatenate(parts) for parts in zip(*matrix.map_tiles(nearest), strict=True))
    starts = np.arange(0, chosen.size + 1, number, dtype=np.int32 if chosen.size < 2**31 else np.int64)
    return sp.csr_array((weights.ravel(), chosen.ravel(), starts), shape=matrix.shape)


@dataclass(frozen=True, eq=False)
class LandmarkKernel:
    """The same weights as a kernel of rows with landmarks, zero for those that are not near: a device likes a table."""

    space: MetricSpace
    number: int

    def points(self, X: Array) -> KernelRows:
        return self.space.points(X)

    def tile(self, left: KernelRows, right: KernelRows) -> Array:
        apart = self.space.tile(left, right)
        xp = namespace(apart)
        last = nth_smallest(apart, self.number)[:, None]
        before, level = (xp.astype(own, xp.int32) for own in (apart < last, apart == last))
        room = self.number - xp.sum(before, axis=1, keepdims=True, dtype=xp.int32)  # of those as far as the last
        near = (apart < last) | ((apart == last) & (xp.cumulative_sum(level, axis=1, dtype=xp.int32) <= room))
        width = xp.sum(keep_where(near, apart, 0.0), axis=1, keepdims=True) / self.number
        weights = keep_where(near, xp.exp(-apart / keep_where(width > 0, width, 1.0)), 0.0)
        return weights / xp.sum(weights, axis=1, keepdims=True)


def build_from_table(kernel: LandmarkKernel, X: Array, landmarks: KernelRows) -> LowRank:
    """Similarities through landmarks by a table of all rows' weights."""
    Z = KernelMatrix(kernel, kernel.points(X), landmarks, cached=True)
    sizes = Z.T @ np.ones((X.shape[0], 1))
    xp = namespace(sizes)
    core = xp.eye(sizes.shape[0], dtype=sizes.dtype, device=device(sizes)) / keep_where(sizes > 0, sizes, 1.0)
    return LowRank(Z, core, Z.compare_with, Z.dtype)
