"""The graph of nearest landmarks: nearest neighbours for rows in millions."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar

import numpy as np
import scipy.sparse as sp

from .._backend import Array, KernelMatrix, Points, as_kind, itemsize, like, take_rows, to_numpy
from .base import check_setting
from .low_rank import LowRank, choose_landmarks
from .space import Space, check_metric, comparable, settled_metric


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

    def __post_init__(self) -> None:
        check_metric(self.metric)
        check_setting("n_landmarks", self.n_landmarks, whole=True)
        check_setting("n_neighbors", self.n_neighbors, whole=True)

    def settle(self, X: Array) -> Landmarks:
        return replace(self, metric=settled_metric(self.metric, X))

    def comparable(self, X: Array) -> Array:
        return comparable(self.metric, X)

    def over(self, X: Array, rng: np.random.Generator) -> LowRank:
        space = Space.of(self.metric, X)
        landmarks = space.points(take_rows(X, like(choose_landmarks(X.shape[0], self.n_landmarks, rng), X)))
        join = partial(nearest_landmarks, space, landmarks, min(self.n_neighbors, landmarks.X.shape[0]))
        Z = join(X)
        sizes = np.asarray(Z.sum(axis=0)).ravel()
        core = sp.diags_array(1 / np.where(sizes > 0, sizes, 1)).astype(Z.dtype)
        return LowRank(Z, core, join, Z.dtype)

    def nbytes(self, X: Array) -> int:
        return X.shape[0] * min(self.n_neighbors, self.n_landmarks) * (itemsize(X) + 4)


def nearest_landmarks(space: Space, landmarks: Points, number: int, X: Array) -> sp.csr_array:
    """Each row's nearest landmarks, weighted by a Gaussian as wide as they are far; a row's weights add up to 1."""
    points = space.points(as_kind(X, landmarks.X))
    matrix = KernelMatrix(space, points, landmarks, held=False)

    def nearest(_: slice, tile: Array) -> tuple[np.ndarray, np.ndarray]:
        apart = to_numpy(tile)
        chosen = np.argpartition(apart, number - 1, axis=1)[:, :number]
        near = np.take_along_axis(apart, chosen, axis=1)
        width = np.mean(near, axis=1, keepdims=True)
        weights = np.exp(-near / np.where(width > 0, width, 1.0))
        return chosen.astype(np.int32), weights / np.sum(weights, axis=1, keepdims=True)

    chosen, weights = (np.concatenate(parts) for parts in zip(*matrix.over_tiles(nearest), strict=True))
    starts = np.arange(0, chosen.size + 1, number, dtype=np.int32 if chosen.size < 2**31 else np.int64)
    return sp.csr_array((weights.ravel(), chosen.ravel(), starts), shape=matrix.shape)
