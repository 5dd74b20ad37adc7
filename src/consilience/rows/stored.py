"""An array in storage, whoever stores it, and dense rows made of one, or some of their columns."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from ..arrays.lazy import Reader


class StoredArray(Protocol):
    """An array of one or two dimensions of which a range of rows can be read."""

    shape: tuple[int, ...]
    dtype: np.dtype
    unit: int | None  # rows that are stored together; None where any range is as good as another
    source: str  # what to call it in a message: the file

    def read(self, start: int, stop: int) -> np.ndarray:
        """A copy of these rows, in memory."""


class StorageColumns:
    """Some columns of what another reader reads whole."""

    def __init__(self, reader: Reader, columns: slice | list[int]) -> None:
        self.storage, self.columns = reader, columns
        self.n_rows, self.n_columns = reader.n_rows, len(np.arange(reader.n_columns)[columns])
        self.dtype, self.sparse, self.edges, self.source = reader.dtype, reader.sparse, reader.edges, reader.source
        self.size = reader.size if reader.sparse else self.n_rows * self.n_columns

    def read(self, start: int, stop: int) -> Any:
        return self.storage.read(start, stop)[:, self.columns]


class DenseReader:
    """Dense rows of a stored array of two dimensions."""

    sparse = False

    def __init__(self, array: StoredArray) -> None:
        self.array: Any = array  # some lend, too
        self.n_rows, self.n_columns = (int(length) for length in array.shape)
        self.dtype, self.source = array.dtype, array.source
        self.size = self.n_rows * self.n_columns

    @property
    def edges(self) -> np.ndarray | None:
        return None if self.array.unit is None else np.append(np.arange(0, self.n_rows, self.array.unit), self.n_rows)

    def read(self, start: int, stop: int) -> np.ndarray:
        return self.array.read(start, stop)

    @property
    def lends(self) -> bool:
        return hasattr(self.array, "lend")

    def lend(self, start: int, stop: int) -> np.ndarray:
        return self.array.lend(start, stop)

    def prefetch(self, start: int, stop: int) -> None:
        self.array.prefetch(start, stop)

    def release(self, start: int, stop: int) -> None:
        self.array.release(start, stop)
