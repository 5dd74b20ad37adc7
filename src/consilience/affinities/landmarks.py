"""Similarities through landmarks, for millions of rows: the graph of nearest landmarks, and Nyström's approximation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
import scipy.linalg
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
    float64_zeros,
    is_on_host,
    itemsize,
    keep_where,
    namespace,
    take_rows,
    to_numpy,
)
from .base import Affinity, NoAffinityError, check_positive, nth_smallest
from .distances import SquaredDistances, check_metric, choose_metric, find_comparable_rows
from .gaussian import Gaussian
from .graph import StoredSimilarities
from .kernels import KernelAffinity

LEARN_SAMPLE = 2000  # rows that a bandwidth is learned from


@save_as("low-rank-similarities")
@dataclass(frozen=True, eq=False)
class LowRank:
    """Similarities through a few landmarks: F M F' with a thin F and a small M."""

    factor: Any  # (n, landmarks): can be multiplied, and so can its .T
    core: Any  # (landmarks, landmarks)
    join: Callable[[Array], Any]  # other rows of the view -> their factor
    dtype: np.dtype
    fitted_factor: Any = None  # of the entities of the fit, if these are similarities of new entities to them
    exact = False

    @property
    def _right(self) -> Any:
        return self.factor if self.fitted_factor is None else self.fitted_factor

    @property
    def shape(self) -> tuple[int, int]:
        return self.factor.shape[0], self._right.shape[0]

    def __matmul__(self, U: Array) -> Array:
        return self.factor @ (self.core @ (self._right.T @ U))

    def columns(self, entities: np.ndarray) -> Array:
        indicator = np.zeros((self.shape[1], len(entities)))
        indicator[entities, np.arange(len(entities))] = 1
        return self @ indicator

    def norm(self) -> float:
        small = self.core @ (self.factor.T @ (self.factor @ np.eye(self.factor.shape[1], dtype=self.dtype)))
        xp = namespace(small)
        return float(xp.sqrt(xp.sum(small * small.T)))

    def compare_with(self, X: Array) -> LowRank:
        return replace(self, factor=self.join(X), fitted_factor=self.factor)


def choose_landmarks(n_rows: int, n_landmarks: int, rng: np.random.Generator) -> np.ndarray:
    """Draw rows to serve as landmarks, in ascending order."""
    return np.sort(rng.choice(n_rows, min(n_rows, n_landmarks), replace=False))


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

    Examples
    --------
    >>> import numpy as np
    >>> import consilience as cs
    >>> X = np.random.default_rng(0).random((300, 2))
    >>> operator = cs.affinities.Landmarks(n_landmarks=50, n_neighbors=5).build_operator(X, np.random.default_rng(0))
    >>> operator.shape, operator.exact
    ((300, 300), False)
    >>> bool(np.allclose(operator @ np.ones((300, 1)), 1))
    True
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
        space = SquaredDistances.of(self.metric, X)
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
        home = float64_zeros((0,), X)
        factor, core = (StoredSimilarities(matrix, home=home) for matrix in (Z, core))
        return LowRank(factor, core, partial(join, home=home), Z.dtype)

    def nbytes(self, X: Array) -> int:
        n_landmarks = min(X.shape[0], self.n_landmarks)
        weights = X.shape[0] * min(self.n_neighbors, n_landmarks) * (itemsize(X) + 4)
        return landmark_table_bytes(X, n_landmarks) or weights


def landmark_table_bytes(X: Array, n_landmarks: int) -> int:
    """Return the memory of a table of all rows with all landmarks on a device that has room for it; otherwise 0."""
    needed = X.shape[0] * n_landmarks * itemsize(X)
    return needed if available_device_memory(X) is not None and fits_in_memory(needed, X) else 0


@refer_as("nearest-landmarks")
def compute_landmark_weights(
    space: SquaredDistances, landmarks: KernelRows, n_neighbors: int, X: Array, home: Array = None
) -> Any:
    """Weight each row's nearest landmarks by a Gaussian as wide as their mean distance; rows sum to 1.

    Products with the sparse weights move to the device of `home`, if that is given.
    """
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
    Z = sp.csr_array((weights.ravel(), nearest.ravel(), starts), shape=matrix.shape)
    return Z if home is None else StoredSimilarities(Z, home=home)


@dataclass(frozen=True, eq=False)
class LandmarkKernel:
    """The weights of `compute_landmark_weights` as a dense kernel of rows with landmarks, which is fast on a device."""

    space: SquaredDistances
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


@save_as("affinity-nystroem")
@dataclass(frozen=True)
class Nystroem(Affinity):
    """The kernel ``C W^-1 C'`` of n rows from its columns C at some of them, drawn at random, and its entries W there.

    Memory and time grow with n, not with its square. Entries may come out a little below zero. A bandwidth is learned
    from 2,000 rows.

    Parameters
    ----------
    kernel : affinity that is a kernel, default=Gaussian()
        What is approximated.
    n_landmarks : int, default=500
        Number of rows that serve as landmarks.

    Examples
    --------
    >>> import numpy as np
    >>> import consilience as cs
    >>> X = np.random.default_rng(0).random((300, 2))
    >>> affinity = cs.affinities.Nystroem(cs.affinities.Linear(), n_landmarks=10)
    >>> operator = affinity.build_operator(X, np.random.default_rng(0))
    >>> bool(np.allclose(operator @ np.eye(300), X @ X.T))
    True
    """

    kernel: KernelAffinity = field(default_factory=Gaussian)
    n_landmarks: int = 500

    options = Gaussian.options

    def __post_init__(self) -> None:
        check_positive("n_landmarks", self.n_landmarks, whole=True)
        if not isinstance(self.kernel, KernelAffinity):
            raise NoAffinityError(
                f"kernel={self.kernel!r} is not a kernel: give a kernel, such as consilience.affinities.Gaussian()"
            )

    @classmethod
    def from_options(cls, **options: Any) -> Nystroem:
        return cls(Gaussian(**options))

    @property
    def accepts_sparse(self) -> bool:  # type: ignore[override]
        return self.kernel.accepts_sparse

    def out_of_core(self, n_rows: int) -> bool:  # noqa: ARG002
        return True

    def comparable_rows(self, X: Array) -> Array:
        return self.kernel.comparable_rows(X)

    def build_operator(self, X: Array, rng: np.random.Generator) -> LowRank:
        sample = take_rows(X, asarray_like(choose_landmarks(X.shape[0], LEARN_SAMPLE, rng), X))
        landmarks = take_rows(sample, asarray_like(choose_landmarks(sample.shape[0], self.n_landmarks, rng), X))
        C = self.kernel.build_operator(X, others=landmarks, learn_from=sample)
        W = to_numpy(C.kernel.tile(C.right, C.right)).astype(np.float64) - C.shift
        values, vectors = scipy.linalg.eigh((W + W.T) / 2)
        kept = values > values[-1] * np.finfo(C.dtype).eps ** 0.5  # smaller ones would amplify rounding errors
        core = (vectors[:, kept] / values[kept]) @ vectors[:, kept].T
        return LowRank(C, asarray_like(core.astype(C.dtype), C.right.X), C.compare_with, C.dtype)

    def nbytes(self, X: Array) -> int:
        table = X.shape[0] * min(X.shape[0], self.n_landmarks) * itemsize(X)
        return table if fits_in_memory(table, X) else 0
