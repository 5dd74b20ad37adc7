"""Similarities that are stored: a symmetric matrix, sparse or dense."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from .._backend import Array
from .base import one_part

Matrix = Any  # sparse or dense
Rows = Callable[[Array], Matrix]  # other rows -> their similarities to the graph's


@dataclass(frozen=True, eq=False)
class Stored:
    """Similarities of some entities to those of a graph."""

    matrix: Matrix

    @property
    def shape(self) -> tuple[int, int]:
        return self.matrix.shape

    @property
    def dtype(self) -> np.dtype:
        return self.matrix.dtype

    def __matmul__(self, U: np.ndarray) -> np.ndarray:
        return self.matrix @ U

    def columns(self, entities: np.ndarray) -> np.ndarray:
        chosen = self.matrix[:, entities]
        return chosen.toarray() if sp.issparse(chosen) else chosen


@dataclass(frozen=True, eq=False)
class Graph(Stored):
    """A graph's matrix, and how others are joined to it."""

    join: Rows
    exact: bool = True

    def columns(self, entities: np.ndarray) -> np.ndarray:
        rows = self.matrix[entities]  # the matrix is symmetric, and its rows are at hand
        return (rows.toarray() if sp.issparse(rows) else rows).T

    def norm(self) -> float:
        return float(np.sqrt((self.matrix * self.matrix).sum()))

    def parts(self) -> np.ndarray:
        return connected_components(self.matrix, directed=False)[1] if sp.issparse(self.matrix) else one_part(self)

    def against(self, X: Array) -> Stored:
        return Stored(self.join(X))
