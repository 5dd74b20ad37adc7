"""Sparse rows: the three arrays of a CSR matrix, of which a slice of rows is a view, not a copy."""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import EllipsisType

import numpy as np
import scipy.sparse as sp

from .._saving import save_as


@save_as("sparse-rows")
@dataclass(frozen=True, eq=False)
class CSR:
    """Rows ``indptr[i]:indptr[i + 1]`` of (`indices`, `data`); offsets are absolute, so rows slice for free."""

    indptr: np.ndarray
    indices: np.ndarray
    data: np.ndarray
    n_columns: int

    @classmethod
    def from_scipy(cls, matrix: sp.csr_array) -> CSR:
        """Take over a scipy matrix without copying what is sound; the kernels trust the result blindly."""
        matrix.check_format(full_check=True)
        if not matrix.has_canonical_format:
            matrix = matrix.copy()
            matrix.sum_duplicates()
        return cls(matrix.indptr, matrix.indices, matrix.data, int(matrix.shape[1]))

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.indptr) - 1, self.n_columns

    @property
    def dtype(self) -> np.dtype:
        return self.data.dtype

    @property
    def size(self) -> int:
        """Number of stored values: what one pass over the rows reads."""
        return int(self.indptr[-1] - self.indptr[0])

    def __getitem__(self, key: slice | tuple[slice, EllipsisType]) -> CSR:
        """``X[rows]``, or ``X[rows, ...]`` as the array standard spells it."""
        rows = key[0] if isinstance(key, tuple) else key
        start, stop, _ = rows.indices(self.shape[0])
        return replace(self, indptr=self.indptr[start : stop + 1])

    def with_data(self, data: np.ndarray) -> CSR:
        """The same pattern with other values; only for whole matrices."""
        return replace(self, data=data)

    def to_scipy(self) -> sp.csr_array:
        """The same rows as a scipy matrix; values are not copied."""
        cells = slice(self.indptr[0], self.indptr[-1])
        return sp.csr_array((self.data[cells], self.indices[cells], self.indptr - self.indptr[0]), shape=self.shape)
