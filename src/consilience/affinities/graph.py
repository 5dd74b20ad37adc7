"""Similarities that are stored: a symmetric matrix, sparse or dense."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from .._backend import Array

Rows = Callable[[Array], sp.csr_array | np.ndarray]  # other rows -> their similarities to the graph's


@dataclass(frozen=True, eq=False)
class Graph:
    """A graph's matrix, and how others are joined to it."""

    matrix: sp.csr_array | np.ndarray
    join: Rows
    exact: bool = True

    @property
    def shape(self) -> tuple[int, int]:
        return self.matrix.shape

    @property
    def dtype(self) -> np.dtype:
        return self.matrix.dtype

    def __matmul__(self, U: np.ndarray) -> np.ndarray:
        return self.matrix @ U

    def columns(self, entities: np.ndarray) -> np.ndarray:
        rows = self.matrix[entities]  # the matrix is symmetric, and its rows are at hand
        return (rows.toarray() if sp.issparse(rows) else rows).T

    def norm(self) -> float:
        return float(np.sqrt((self.matrix * self.matrix).sum()))

    def n_parts(self) -> int:
        return int(connected_components(self.matrix, directed=False, return_labels=False))

    def against(self, X: Array) -> sp.csr_array | np.ndarray:
        return self.join(X)
