"""Sparse rows stored as three arrays, like scipy's CSR format."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from .._numbers import is_integer
from .source import Storage


class SparseStorage(Storage):
    """Rows ``indptr[i]:indptr[i + 1]`` of stored `indices` and `data`; `indptr` is kept in memory."""

    sparse = True
    checked: np.ndarray

    def __init__(self, data: Storage, indices: Storage, indptr: np.ndarray, shape: tuple[int, int]) -> None:
        self.data, self.indices, self.indptr = data, indices, np.array(indptr)
        self.shape = _check_shape(shape)
        self.dtype, self.description = data.dtype, data.description
        self.lends = data.lends and indices.lends
        self._check()
        self.checked = np.zeros(self.shape[0], bool)

    @property
    def size(self) -> int:
        return int(self.indptr[-1] - self.indptr[0])

    def _check(self) -> None:
        """Check that the three arrays fit each other; the indices are checked when they are read."""
        n_rows = self.shape[0]
        if self.indptr.shape != (n_rows + 1,) or self.indptr.dtype.kind not in "iu":
            raise ValueError(f"indptr must be {n_rows + 1} whole numbers for {n_rows} rows, one more than rows")
        if self.dtype.kind not in "biuf":
            raise TypeError(f"data must hold real numbers, got {self.dtype}")
        if self.data.shape != self.indices.shape or len(self.data.shape) != 1 or self.indices.dtype.kind not in "iu":
            raise ValueError(f"data and indices must have one length, got {self.data.shape} and {self.indices.shape}")
        if self.indptr[0] < 0 or self.indptr[-1] > self.data.shape[0] or np.any(self.indptr[1:] < self.indptr[:-1]):
            raise ValueError(f"indptr must rise from 0 to at most {self.data.shape[0]}, the number of values")

    def read(self, start: int, stop: int) -> sp.csr_array:
        cells = self._cells(start, stop)
        return self._rows(start, stop, self.data.read(*cells), self.indices.read(*cells))

    def lend(self, start: int, stop: int) -> sp.csr_array:
        cells = self._cells(start, stop)
        return self._rows(start, stop, self.data.lend(*cells), self.indices.lend(*cells))

    def prefetch(self, start: int, stop: int) -> None:
        for array in (self.data, self.indices):
            array.prefetch(*self._cells(start, stop))

    def release(self, start: int, stop: int) -> None:
        for array in (self.data, self.indices):
            array.release(*self._cells(start, stop))

    def _cells(self, start: int, stop: int) -> tuple[int, int]:
        """Where rows begin and end in the stored arrays."""
        return int(self.indptr[start]), int(self.indptr[stop])

    def _rows(self, start: int, stop: int, data: np.ndarray, columns: np.ndarray) -> sp.csr_array:
        n_columns = self.shape[1]
        if len(columns) and not self.checked[start:stop].all() and not 0 <= columns.min() <= columns.max() < n_columns:
            raise ValueError(f"an index goes beyond the {n_columns} columns")
        narrow = sp.get_index_dtype(maxval=max(len(columns), n_columns))
        ends = self.indptr[start : stop + 1]
        parts = data, columns.astype(narrow, copy=False), (ends - ends[0]).astype(narrow, copy=False)
        return sp.csr_array(parts, shape=(stop - start, n_columns))


def _check_shape(shape: Any) -> tuple[int, int]:
    """Convert the shape to two integers, or raise an error."""
    lengths = tuple(shape) if np.iterable(shape) else (shape,)
    if len(lengths) != 2 or not all(is_integer(length, least=0) for length in lengths):
        raise ValueError(f"shape must be the numbers of rows and columns, such as (500, 40), got {shape!r}")
    return int(lengths[0]), int(lengths[1])
