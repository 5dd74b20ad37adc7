"""Sparse rows on a device: what a CSR matrix of torch or cupy holds, sliced and multiplied without leaving it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from types import EllipsisType
from typing import Any, ClassVar, NamedTuple

import numpy as np
import scipy.sparse as sp
from array_api_compat import array_namespace, device, is_torch_array, to_device


def is_device_sparse(X: Any) -> bool:
    """Whether this is a sparse matrix of torch or cupy, of any layout."""
    if is_torch_array(X):
        return str(X.layout) != "torch.strided"
    return type(X).__module__.startswith("cupyx.scipy.sparse")


class Columns(NamedTuple):
    """The pattern of some rows column by column; `order` sorts their stored values so."""

    indptr: Any
    rows: Any
    order: Any


@dataclass(frozen=True, eq=False)
class DeviceCSR:
    """Rows ``indptr[i]:indptr[i + 1]`` of (`indices`, `data`), all on a device; offsets are absolute, as in `CSR`.

    Where rows start is known to the host too: a slice of rows need not wait for the device. The columns of each slice
    that is summed up are sorted once, and the order is kept: it takes about as much memory as the rows themselves.
    """

    sparse: ClassVar[bool] = True

    indptr: Any
    indices: Any
    data: Any
    n_columns: int
    starts: np.ndarray  # `indptr`, on the host
    first: int = 0  # where these rows are in the matrix that `sorted_columns` is of
    sorted_columns: dict[tuple[int, int], Columns] = field(default_factory=dict)

    @classmethod
    def from_library(cls, matrix: Any) -> DeviceCSR:
        """Take over a sparse matrix of torch or cupy, without copying what is sound; products trust the result."""
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
        """Where the values of these rows are."""
        return slice(int(self.starts[0]), int(self.starts[-1]))

    def __getitem__(self, key: slice | tuple[slice, EllipsisType]) -> DeviceCSR:
        """``X[rows]``, or ``X[rows, ...]`` as the array standard spells it."""
        rows = key[0] if isinstance(key, tuple) else key
        start, stop, _ = rows.indices(self.shape[0])
        here = slice(start, stop + 1)
        return replace(self, indptr=self.indptr[here], starts=self.starts[here], first=self.first + start)

    def with_data(self, data: Any) -> DeviceCSR:
        """These rows with other values, one for each that is stored."""
        offset = int(self.starts[0])
        pattern = {"indptr": self.indptr - offset, "indices": self.indices[self.stored], "starts": self.starts - offset}
        return replace(self, data=data, **pattern)

    def to_library(self) -> Any:
        """The same rows as a matrix of torch or cupy; values are not copied."""
        cells = self.data[self.stored], self.indices[self.stored]
        return _library_csr(*cells, self.indptr - int(self.starts[0]), self.shape)

    def to_scipy(self) -> sp.csr_array:
        """The same rows on the host."""
        data, indices = (_fetch(part[self.stored]) for part in (self.data, self.indices))
        return sp.csr_array((data, indices, self.starts - self.starts[0]), shape=self.shape)

    def to_dense(self) -> Any:
        """All of it as a dense array."""
        matrix = self.to_library()
        return matrix.to_dense() if is_torch_array(matrix) else matrix.toarray()

    def __matmul__(self, dense: Any) -> Any:
        return self.to_library() @ dense

    def column_sums(self, weights: Any) -> Any:
        """``X.T @ weights``, as the product of columns that are sorted: no two threads add to the same number."""
        columns = self._columns()
        xp = array_namespace(self.data)
        data = xp.take(self.data[self.stored], columns.order, axis=0)
        return _library_csr(data, columns.rows, columns.indptr, self.shape[::-1]) @ weights

    def row_of_each(self) -> Any:
        """The row of each stored value."""
        xp = array_namespace(self.indptr)
        places = xp.arange(self.stored.start, self.stored.stop, dtype=self.indptr.dtype, device=self.device)
        return xp.searchsorted(self.indptr, places, side="right") - 1

    def _columns(self) -> Columns:
        key = self.first, self.shape[0]
        if key not in self.sorted_columns:
            xp = array_namespace(self.indices)
            kind = self.indices.dtype
            order = xp.argsort(self.indices[self.stored], stable=True)
            sorted_columns = xp.take(self.indices[self.stored], order, axis=0)
            edges = xp.arange(self.n_columns + 1, dtype=kind, device=self.device)
            indptr = xp.astype(xp.searchsorted(sorted_columns, edges), kind)
            self.sorted_columns[key] = Columns(
                indptr, xp.astype(xp.take(self.row_of_each(), order, axis=0), kind), order
            )
        return self.sorted_columns[key]


def _fetch(array: Any) -> np.ndarray:
    return np.from_dlpack(to_device(array, "cpu"))


def _library_csr(data: Any, indices: Any, indptr: Any, shape: tuple[int, ...]) -> Any:
    """A CSR matrix of the library."""
    if is_torch_array(data):
        return array_namespace(data).sparse_csr_tensor(indptr, indices, data, shape, check_invariants=False)
    from cupyx.scipy.sparse import csr_matrix

    matrix = csr_matrix((data, indices, indptr), shape=shape)
    matrix.has_canonical_format = True  # it would look, and wait for the answer
    return matrix
