"""Sparse rows: the three arrays of a CSR matrix, sliced without a copy."""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import EllipsisType
from typing import ClassVar

import numpy as np
import scipy.sparse as sp

from .._saving import save_as


@save_as("sparse-rows")
@dataclass(frozen=True, eq=False)
class CSR:
    """Row i is ``indptr[i]:indptr[i + 1]`` of (`indices`, `data`); the offsets of a slice stay those of the whole."""

    sparse: ClassVar[bool] = True

    indptr: np.ndarray
    indices: np.ndarray
    data: np.ndarray
    n_columns: int

    @classmethod
    def from_scipy(cls, matrix: sp.csr_array) -> CSR:
        """Check a scipy matrix and wrap it, without a copy if it is canonical; kernels do not check again."""
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

    @property
    def stored(self) -> slice:
        """Where the values of these rows are stored."""
        return slice(self.indptr[0], self.indptr[-1])

    def __getitem__(self, key: slice | tuple[slice, EllipsisType]) -> CSR:
        """``X[rows]``, or ``X[rows, ...]`` as the array standard spells it."""
        start, stop = row_range(key, self.shape[0])
        return replace(self, indptr=self.indptr[start : stop + 1])

    def with_data(self, data: np.ndarray) -> CSR:
        """Replace the values and keep the pattern; only for matrices that are not slices."""
        return replace(self, data=data)

    def to_scipy(self) -> sp.csr_array:
        """Convert to a scipy matrix; values are not copied."""
        cells = self.data[self.stored], self.indices[self.stored], self.indptr - self.indptr[0]
        return sp.csr_array(cells, shape=self.shape)


def row_range(key: slice | tuple[slice, EllipsisType], n_rows: int) -> tuple[int, int]:
    """First row and end of ``X[rows]`` or ``X[rows, ...]``."""
    rows = key[0] if isinstance(key, tuple) else key
    start, stop, _ = rows.indices(n_rows)
    return start, stop
