"""Similarities that are stored as a matrix, sparse or dense: graphs, and matrices that the user provides."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from .._saving import refer_as, save_as
from ..arrays import Array, asarray_like, float64_zeros, is_on_host, itemsize, namespace, take_rows, to_host, to_numpy
from .base import Affinity, NoAffinityError, cast_to

Matrix = Any  # a sparse matrix of scipy, or a dense one of any library

TOLERANCE = 1e-5  # errors of given similarities that are accepted, as a share of the largest
NEEDED = "affinity='precomputed' needs a symmetric matrix of similarities, none negative"
REMEDY = "turn distances d into similarities (such as exp(-d**2)) first, or average the matrix with its transpose"


@dataclass(frozen=True, eq=False)
class StoredSimilarities:
    """Similarities of some entities to those of a graph. A sparse matrix stays, and multiplies, in main memory."""

    matrix: Matrix
    home: Array = field(default=None, kw_only=True)  # an array on the device that products move to, if any

    @property
    def shape(self) -> tuple[int, int]:
        return self.matrix.shape

    @property
    def dtype(self) -> np.dtype:
        return self.matrix.dtype if sp.issparse(self.matrix) else np.dtype(f"f{itemsize(self.matrix)}")

    @property
    def T(self) -> StoredSimilarities:
        return StoredSimilarities(self.matrix.T, home=self.home)

    def __matmul__(self, U: Array) -> Array:
        if sp.issparse(self.matrix):
            return self._move_home(self.matrix @ to_numpy(U))
        U = asarray_like(U, self.matrix)
        return self.matrix @ (U if is_on_host(U) else cast_to(U, self.dtype))

    def columns(self, entities: np.ndarray) -> Array:
        if sp.issparse(self.matrix):
            return self._move_home(self.matrix[:, entities].toarray())
        return namespace(self.matrix).take(self.matrix, asarray_like(entities, self.matrix), axis=1)

    def _move_home(self, values: np.ndarray) -> Array:
        return values if self.home is None else asarray_like(values, self.home)


@save_as("similarity-graph")
@dataclass(frozen=True, eq=False)
class SimilarityGraph(StoredSimilarities):
    """The symmetric matrix of a graph, and how other rows are joined to it."""

    join: Callable[[Array], Matrix]
    exact: bool = True

    def columns(self, entities: np.ndarray) -> Array:
        # the matrix is symmetric, and rows are faster to extract
        if sp.issparse(self.matrix):
            return self._move_home(self.matrix[entities].toarray().T)
        return take_rows(self.matrix, asarray_like(entities, self.matrix)).T

    def norm(self) -> float:
        squares = self.matrix * self.matrix
        total = squares.sum() if sp.issparse(squares) else namespace(squares).sum(squares)
        return float(namespace(total).sqrt(total))

    def components(self) -> np.ndarray:
        if sp.issparse(self.matrix):
            return connected_components(self.matrix, directed=False)[1]
        return np.zeros(self.shape[0], np.int64)

    def compare_with(self, X: Array) -> StoredSimilarities:
        return StoredSimilarities(self.join(X), home=self.home)


def empty_on_device(X: Array) -> Array:
    """Return an empty array on X's device, used to move results there; None if X is in main memory."""
    return None if is_on_host(X) else float64_zeros((0,), X)


@save_as("affinity-precomputed")
@dataclass(frozen=True)
class Precomputed(Affinity):
    """The view is a square matrix of similarities, dense or sparse: symmetric, none negative.

    New entities come with their similarities to those of the fit.
    """

    columns_are_entities = True
    accepts_sparse = True

    def build_operator(self, X: Array, rng: np.random.Generator) -> SimilarityGraph:  # noqa: ARG002
        matrix = check_nonnegative(X)
        check_similarities(matrix)
        return SimilarityGraph((matrix + matrix.T) / 2, check_nonnegative)

    def nbytes(self, X: Array) -> int:  # noqa: ARG002
        return 0


@refer_as("check-similarities")
def check_nonnegative(X: Array) -> Matrix:
    """Return the matrix of similarities to the entities of the fit; refuse negative ones."""
    matrix = to_host(X) if is_on_host(X) else X
    smallest, largest = compute_extremes(matrix)
    if smallest < -TOLERANCE * largest:
        raise NoAffinityError(f"{NEEDED}, and one is {smallest:.3g}: {REMEDY}")
    return matrix


def check_similarities(matrix: Matrix) -> None:
    """Refuse a matrix that cannot be the similarities of entities to each other."""
    if matrix.shape[0] != matrix.shape[1]:
        raise NoAffinityError(f"{NEEDED}, got shape {matrix.shape}: {REMEDY}")
    _, largest = compute_extremes(matrix)
    if not largest:
        raise NoAffinityError(f"{NEEDED}, and all are zero: leave the view out")
    if compute_extremes(matrix - matrix.T)[1] > TOLERANCE * largest:
        raise NoAffinityError(f"{NEEDED}, and it is not symmetric: {REMEDY}")


def compute_extremes(matrix: Matrix) -> tuple[float, float]:
    """Return the smallest entry and the largest absolute value; zeros for a matrix without rows."""
    if not matrix.shape[0]:
        return 0.0, 0.0
    if sp.issparse(matrix):
        return float(matrix.min()), float(abs(matrix).max())
    xp = namespace(matrix)
    return float(xp.min(matrix)), float(xp.max(xp.abs(matrix)))
