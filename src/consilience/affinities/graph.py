"""Similarities that are stored: a symmetric matrix, sparse or dense."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from .._saving import save_as
from ..arrays import Array, asarray_like, float64_zeros, is_on_host, itemsize, namespace, take_rows, to_numpy
from .base import cast_to, single_component

Matrix = Any  # sparse, of scipy, or dense, of any library
Rows = Callable[[Array], Matrix]  # other rows -> their similarities to the graph's


@dataclass(frozen=True, eq=False)
class StoredSimilarities:
    """Similarities of some entities to those of a graph. A sparse matrix stays in our memory, and multiplies there."""

    matrix: Matrix
    home: Array = field(default=None, kw_only=True)  # of the library and device that products come to; None: here

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
            return self._brought(self.matrix @ to_numpy(U))
        U = asarray_like(U, self.matrix)
        return self.matrix @ (U if is_on_host(U) else cast_to(U, self.dtype))

    def columns(self, entities: np.ndarray) -> Array:
        if sp.issparse(self.matrix):
            return self._brought(self.matrix[:, entities].toarray())
        return namespace(self.matrix).take(self.matrix, asarray_like(entities, self.matrix), axis=1)

    def _brought(self, found: np.ndarray) -> Array:
        return found if self.home is None else asarray_like(found, self.home)


@save_as("similarity-graph")
@dataclass(frozen=True, eq=False)
class SimilarityGraph(StoredSimilarities):
    """A graph's matrix, and how others are joined to it."""

    join: Rows
    exact: bool = True

    def columns(self, entities: np.ndarray) -> Array:
        # the matrix is symmetric, and its rows are at hand
        if sp.issparse(self.matrix):
            return self._brought(self.matrix[entities].toarray().T)
        return take_rows(self.matrix, asarray_like(entities, self.matrix)).T

    def norm(self) -> float:
        squares = self.matrix * self.matrix
        total = squares.sum() if sp.issparse(squares) else namespace(squares).sum(squares)
        return float(namespace(total).sqrt(total))

    def parts(self) -> np.ndarray:
        return (
            connected_components(self.matrix, directed=False)[1] if sp.issparse(self.matrix) else single_component(self)
        )

    def compare_with(self, X: Array) -> StoredSimilarities:
        return StoredSimilarities(self.join(X), home=self.home)


def empty_on_device(X: Array) -> Array:
    """Nothing, of the library and on the device of rows; None for rows in our memory."""
    return None if is_on_host(X) else float64_zeros((0,), X)
