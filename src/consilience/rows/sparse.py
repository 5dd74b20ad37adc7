"""Sparse rows whose numbers are stored in three arrays, as scipy's CSR has them."""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Integral
from pathlib import Path
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from ..arrays.lazy import Source
from .memmap import find_mapping
from .stored import StoredArray


class SparseStorage:
    """Rows ``indptr[i]:indptr[i + 1]`` of stored `indices` and `data`; where each row begins is kept in memory."""

    sparse = True
    edges: np.ndarray | None = None  # chunks of the values end anywhere in a row

    def __init__(self, data: StoredArray, indices: StoredArray, indptr: np.ndarray, shape: tuple[int, int]) -> None:
        self.data: Any = data  # some lend, too
        self.indices: Any = indices
        self.indptr = np.array(indptr)
        self.n_rows, self.n_columns = _check_shape(shape)
        self.dtype, self.source = data.dtype, data.source
        self._check()
        self.size = int(self.indptr[-1] - self.indptr[0])
        self.sound = np.zeros(self.n_rows, bool)

    def _check(self) -> None:
        """What the rows' ends say must fit the rest; the indices are looked at when they are read."""
        if self.indptr.shape != (self.n_rows + 1,) or self.indptr.dtype.kind not in "iu":
            raise ValueError(
                f"wants {self.n_rows + 1} whole numbers in indptr for {self.n_rows} rows, one more than rows"
            )
        if self.dtype.kind not in "biuf":
            raise TypeError(f"data must hold real numbers, got {self.dtype}")
        if self.data.shape != self.indices.shape or len(self.data.shape) != 1 or self.indices.dtype.kind not in "iu":
            raise ValueError(f"wants data and indices of one length, got {self.data.shape} and {self.indices.shape}")
        if self.indptr[0] < 0 or self.indptr[-1] > self.data.shape[0] or np.any(self.indptr[1:] < self.indptr[:-1]):
            raise ValueError(f"indptr must rise from 0 to no more than the {self.data.shape[0]} values there are")

    def read(self, start: int, stop: int) -> sp.csr_array:
        cells = self._cells(start, stop)
        return self._rows(start, stop, self.data.read(*cells), self.indices.read(*cells))

    @property
    def lends(self) -> bool:
        return hasattr(self.data, "lend") and hasattr(self.indices, "lend")

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
        """Where in the stored arrays rows begin and end."""
        return int(self.indptr[start]), int(self.indptr[stop])

    def _rows(self, start: int, stop: int, data: np.ndarray, columns: np.ndarray) -> sp.csr_array:
        known = self.sound[start:stop].all()
        if not known and len(columns) and not 0 <= columns.min() <= columns.max() < self.n_columns:
            raise ValueError(f"an index goes beyond the {self.n_columns} columns")
        narrow = sp.get_index_dtype(maxval=max(len(columns), self.n_columns))
        ends = self.indptr[start : stop + 1]
        parts = data, columns.astype(narrow, copy=False), (ends - ends[0]).astype(narrow, copy=False)
        return sp.csr_array(parts, shape=(stop - start, self.n_columns))


def open_sparse(data: Any, indices: Any, indptr: Any, shape: tuple[int, int]) -> Source:
    """Open sparse rows in three ``.npy`` files, which stay on disk, as a view.

    Up to two thousand million values ``scipy.sparse.csr_array((data, indices, indptr), shape=shape)`` of mapped arrays
    does as well; beyond, scipy wants indices of 64 bits, and copies others into memory.

    Parameters
    ----------
    data, indices : path, or array mapped from a file
        What a CSR matrix stores: its values and their columns.
    indptr : path or array
        Where each row starts, and the end; it is kept in memory.
    shape : tuple of (int, int)
        Rows and columns.

    Returns
    -------
    LazyRows
        Rows that are read when they are needed, to be given to `Views`.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> import scipy.sparse as sp
    >>> import consilience as cs
    >>> X = sp.random_array((500, 40), density=0.1, format="csr", rng=0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     paths = [f"{folder}/{part}.npy" for part in ("data", "indices", "indptr")]
    ...     for path, part in zip(paths, (X.data, X.indices, X.indptr)):
    ...         np.save(path, part)
    ...     words = cs.open_sparse(*paths, shape=X.shape)
    ...     cs.Views({"words": words})["words"].shape
    (500, 40)
    """
    arrays = [find_mapping(_open_array(part, mmap_mode="r")) for part in (data, indices)]
    if arrays[0] is None or arrays[1] is None:
        raise TypeError("data and indices must be .npy files, or arrays mapped from them: np.load(path, mmap_mode='r')")
    return Source.over(SparseStorage(arrays[0], arrays[1], _open_array(indptr), shape))


def _open_array(part: Any, mmap_mode: Literal["r"] | None = None) -> Any:
    """Open an array that is given as a path; return others as they are."""
    if not isinstance(part, str | Path):
        return part
    try:
        return np.load(part, mmap_mode=mmap_mode)
    except (ValueError, EOFError) as error:
        raise ValueError(f"{part} cannot be read as a .npy file: {error}") from error


def _check_shape(shape: Any) -> tuple[int, int]:
    """Convert the shape to two integers, or raise an error."""
    lengths = tuple(shape) if isinstance(shape, Iterable) else (shape,)
    if len(lengths) != 2 or not all(isinstance(length, Integral) and int(length) >= 0 for length in lengths):
        raise ValueError(f"shape must be the numbers of rows and columns, such as (500, 40), got {shape!r}")
    return int(lengths[0]), int(lengths[1])
