"""Sparse rows on a device: a CSR matrix of torch or cupy, sliced and multiplied without leaving the device."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from types import EllipsisType
from typing import Any, ClassVar, NamedTuple

import numpy as np
import scipy.sparse as sp
from array_api_compat import array_namespace, device, is_torch_array, to_device

from .csr import row_range


class Columns(NamedTuple):
    """The pattern of rows by column; `order` sorts their stored values by column."""

    indptr: Any
    rows: Any
    order: Any


@dataclass(frozen=True, eq=False)
class DeviceCSR:
    """Row i is ``indptr[i]:indptr[i + 1]`` of (`indices`, `data`), all on a device, as in `CSR`.

    The host knows the offsets too, so that a slice of rows does not wait for the device. The columns of each slice that
    is summed are sorted once, and the order is kept: it takes about as much memory as the rows.
    """

    sparse: ClassVar[bool] = True

    indptr: Any
    indices: Any
    data: Any
    n_columns: int
    starts: np.ndarray  # `indptr`, on the host
    first: int = 0  # first of these rows in the matrix that `sorted_columns` belongs to
    sorted_columns: dict[tuple[int, int], Columns] = field(default_factory=dict)

    @classmethod
    def from_library(cls, matrix: Any) -> DeviceCSR:
        """Check a sparse matrix of torch or cupy and wrap it, without a copy if it is canonical."""
        if is_torch_array(matrix):
            matrix = matrix.detach().to_sparse_csr()
            parts = matrix.crow_indices(), matrix.col_indices(), matrix.values()
            array_namespace(parts[2]).sparse_csr_tensor(*parts, matrix.shape, check_invariants=True)
        else:
            matrix = matrix.tocsr()
            if not matrix.has_canonical_format:
                matrix = matrix.copy()
                matrix.sum_duplicates()
            parts = matrix.indptr, matrix.indices, matrix.data
        return cls(*parts, int(matrix.shape[1]), _fetch(parts[0]))

    @classmethod
    def from_scipy(cls, matrix: sp.csr_array, array: Any) -> DeviceCSR:
        """Copy a canonical scipy matrix to the library and device of `array`."""
        xp = array_namespace(array)
        indptr, indices, data = (
            xp.asarray(part, device=device(array)) for part in (matrix.indptr, matrix.indices, matrix.data)
        )
        return cls(indptr, indices, data, int(matrix.shape[1]), matrix.indptr)

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.starts) - 1, self.n_columns

    @property
    def ndim(self) -> int:
        return 2

    @property
    def dtype(self) -> Any:
        return self.data.dtype

    @property
    def device(self) -> Any:
        return device(self.data)

    @property
    def size(self) -> int:
        """Number of stored values: what one pass over the rows reads."""
        return int(self.starts[-1] - self.starts[0])

    @property
    def stored(self) -> slice:
        """Where the values of these rows are stored."""
        return slice(int(self.starts[0]), int(self.starts[-1]))

    def __getitem__(self, key: slice | tuple[slice, EllipsisType]) -> DeviceCSR:
        """``X[rows]``, or ``X[rows, ...]`` as the array standard spells it."""
        start, stop = row_range(key, self.shape[0])
        offsets = slice(start, stop + 1)
        return replace(self, indptr=self.indptr[offsets], starts=self.starts[offsets], first=self.first + start)

    def with_data(self, data: Any) -> DeviceCSR:
        """Replace the stored values and keep the pattern."""
        offset = int(self.starts[0])
        pattern = {"indptr": self.indptr - offset, "indices": self.indices[self.stored], "starts": self.starts - offset}
        return replace(self, data=data, **pattern)

    def to_library(self) -> Any:
        """Convert to a matrix of torch or cupy; values are not copied."""
        cells = self.data[self.stored], self.indices[self.stored]
        return _library_csr(*cells, self.indptr - int(self.starts[0]), self.shape)

    def to_scipy(self) -> sp.csr_array:
        """Fetch as a scipy matrix."""
        data, indices = (_fetch(values[self.stored]) for values in (self.data, self.indices))
        return sp.csr_array((data, indices, self.starts - self.starts[0]), shape=self.shape)

    def to_dense(self) -> Any:
        """Convert to a dense array on the device."""
        matrix = self.to_library()
        return matrix.to_dense() if is_torch_array(matrix) else matrix.toarray()

    def __matmul__(self, dense: Any) -> Any:
        return self.to_library() @ dense

    def transposed_product(self, weights: Any) -> Any:
        """``X.T @ weights`` with sorted columns, so that no two threads add to the same number."""
        columns = self._columns()
        xp = array_namespace(self.data)
        data = xp.take(self.data[self.stored], columns.order, axis=0)
        return _library_csr(data, columns.rows, columns.indptr, self.shape[::-1]) @ weights

    def row_indices(self) -> Any:
        """Row of each stored value."""
        xp = array_namespace(self.indptr)
        places = xp.arange(self.stored.start, self.stored.stop, dtype=self.indptr.dtype, device=self.device)
        return xp.searchsorted(self.indptr, places, side="right") - 1

    def _columns(self) -> Columns:
        key = self.first, self.shape[0]
        if key not in self.sorted_columns:
            xp = array_namespace(self.indices)
            dtype = self.indices.dtype
            order = xp.argsort(self.indices[self.stored], stable=True)
            sorted_columns = xp.take(self.indices[self.stored], order, axis=0)
            edges = xp.arange(self.n_columns + 1, dtype=dtype, device=self.device)
            indptr = xp.astype(xp.searchsorted(sorted_columns, edges), dtype)
            self.sorted_columns[key] = Columns(
                indptr, xp.astype(xp.take(self.row_indices(), order, axis=0), dtype), order
            )
        return self.sorted_columns[key]


def _fetch(array: Any) -> np.ndarray:
    return np.from_dlpack(to_device(array, "cpu"))


def _library_csr(data: Any, indices: Any, indptr: Any, shape: tuple[int, ...]) -> Any:
    """Build a CSR matrix of torch or cupy."""
    if is_torch_array(data):
        return array_namespace(data).sparse_csr_tensor(indptr, indices, data, shape, check_invariants=False)
    from cupyx.scipy.sparse import csr_matrix

    matrix = csr_matrix((data, indices, indptr), shape=shape)
    matrix.has_canonical_format = True  # or cupy would check, which forces a synchronization
    return matrix
