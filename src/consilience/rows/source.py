"""Rows that stay where they are stored and are read when they are needed, a block at a time."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import islice, pairwise
from math import prod
from types import EllipsisType
from typing import Any, NoReturn

import numpy as np
import scipy.sparse as sp

from .._tuning import Tuning
from ..arrays import CSR, Array, as_rows, is_in_memory, is_sparse, plan_reads, read_blocks, split_slice, to_host

tuning = Tuning(
    block_bytes=1 << 24,  # stored values of a block: one at a time is as fast as the disk and needs little memory
    largest_unit=1 << 28,  # a larger unit of storage is cut, though each part then costs reading all of it
    gap_bytes=1 << 16,  # reading what lies between two rows this close costs less than reading twice
)


class Storage:
    """Where the rows of a `Source` are stored: a dataset of a file, columns of a table, chunks of dask.

    A storage can be pickled if it can be opened again by name. One that `lends` gives access to rows without a copy.
    """

    shape: tuple[int, ...]
    dtype: np.dtype  # of the stored numbers
    description: str  # what messages call it, such as the path of the file
    location: str = "on disk"
    sparse: bool = False
    edges: np.ndarray | None = None  # first rows of the storage's units, then the number of rows; None: no units
    lends: bool = False
    checked: np.ndarray | None = None  # (n_rows,) which sparse rows are known to be valid

    @property
    def size(self) -> int:
        """Number of stored values."""
        return prod(self.shape)

    def read(self, start: int, stop: int) -> Any:
        """Return rows as a numpy array or scipy CSR array that the caller owns."""
        raise NotImplementedError

    def select_columns(self, columns: slice | list[int]) -> Storage:
        """Return the storage of some of the columns."""
        return StorageColumns(self, columns)

    def find_all_nan(self) -> np.ndarray | None:
        """Return which rows contain only NaN; None if the rows have to be read."""
        return None

    def lend(self, start: int, stop: int) -> Any:
        """Return rows without a copy, valid until they are released."""
        return self.read(start, stop)

    def prefetch(self, start: int, stop: int) -> None:
        """Start reading rows that are needed soon."""

    def release(self, start: int, stop: int) -> None:
        """Free the memory of rows that were lent."""


def regular_edges(n_rows: int, unit: int | None) -> np.ndarray | None:
    """Edges of a storage whose units have `unit` rows each."""
    return None if unit is None else np.append(np.arange(0, n_rows, unit), n_rows)


class StorageColumns(Storage):
    """Some columns of another storage, which is read whole."""

    def __init__(self, storage: Storage, columns: slice | list[int]) -> None:
        self.storage, self.columns = storage, columns
        self.shape = storage.shape[0], len(np.arange(storage.shape[1])[columns])
        self.dtype, self.sparse, self.edges = storage.dtype, storage.sparse, storage.edges
        self.description = storage.description

    @property
    def size(self) -> int:
        return self.storage.size if self.sparse else prod(self.shape)

    def read(self, start: int, stop: int) -> Any:
        return self.storage.read(start, stop)[:, self.columns]


@dataclass(frozen=True, eq=False)
class Step:
    """A function to apply to each block after reading, and its arguments with one entry per row."""

    function: Callable[..., Array]
    per_row: tuple[np.ndarray, ...]

    def __call__(self, block: Array, rows: slice) -> Array:
        result = self.function(block, *(values[rows] for values in self.per_row))
        if (result.shape, result.dtype) != (block.shape, block.dtype):
            raise ValueError(f"a block of {block.shape} {block.dtype} became one of {result.shape} {result.dtype}")
        return result


@dataclass(frozen=True, eq=False)
class Source:
    """Rows ``start:stop`` of a storage: ``X[rows, ...]`` reads them as a numpy array or CSR of float32 or float64."""

    storage: Storage
    start: int
    stop: int
    name: str = ""  # of the view, for messages
    steps: tuple[Step, ...] = ()

    ndim = 2
    device = "cpu"

    @classmethod
    def over(cls, storage: Storage, name: str = "") -> Source:
        """All rows of a storage."""
        return cls(storage, 0, storage.shape[0], name)

    @property
    def shape(self) -> tuple[int, int]:
        return self.stop - self.start, self.storage.shape[1]

    @property
    def dtype(self) -> np.dtype:
        """Type of the rows once read: float32 stays, other numbers become float64, as in `as_rows`."""
        return np.dtype(np.float32 if self.storage.dtype == np.float32 else np.float64)

    @property
    def sparse(self) -> bool:
        return self.storage.sparse

    @property
    def size(self) -> int:
        """Number of stored values; for a part of sparse rows, its share."""
        return self.storage.size * self.shape[0] // max(1, self.storage.shape[0])

    @property
    def nbytes(self) -> int:
        """About the memory that all rows would take."""
        per_value = self.dtype.itemsize + (np.dtype(np.int32).itemsize if self.sparse else 0)
        return self.size * per_value + (np.dtype(np.int64).itemsize * self.shape[0] if self.sparse else 0)

    @property
    def edges(self) -> np.ndarray | None:
        """Rows at which units of the storage begin, from 0 to the number of rows; None if it has no units."""
        if self.storage.edges is None:
            return None
        edges = self.storage.edges - self.start
        return np.concatenate([[0], edges[(edges > 0) & (edges < self.shape[0])], [self.shape[0]]])

    def __array_namespace__(self, api_version: str | None = None) -> Any:
        """Rows are read as numpy arrays."""
        import array_api_compat.numpy

        return array_api_compat.numpy

    def __getitem__(self, key: slice | tuple[slice, EllipsisType]) -> Array:
        """Read rows: ``X[rows]``, or ``X[rows, ...]`` as the array standard spells it."""
        rows = key[0] if isinstance(key, tuple) else key
        if not isinstance(rows, slice):
            raise TypeError(f"rows that are not in memory are read by slice, got {key!r}: use take for positions")
        start, stop, step = rows.indices(self.shape[0])
        if step != 1:
            raise ValueError(f"rows that are not in memory are read in their order, got {rows}: use take for positions")
        return self._read(slice(start, max(start, stop)), self.storage.read)

    def lend(self, rows: slice) -> Array:
        """Read rows without a copy if the storage lends them; they are valid until released."""
        return self._read(rows, self.storage.lend)

    def _read(self, rows: slice, read: Callable[[int, int], Any]) -> Array:
        if rows.stop > rows.start:
            block = self._read_checked(self.start + rows.start, self.start + rows.stop, read)
        else:
            shape = 0, self.shape[1]
            block = as_rows(sp.csr_array(shape, dtype=self.dtype) if self.sparse else np.zeros(shape, self.dtype))
        for step in self.steps:
            block = step(block, rows)
        return block

    def _read_checked(self, start: int, stop: int, read: Callable[[int, int], Any]) -> Array:
        expected = stop - start, self.shape[1]
        try:
            block = as_rows(self._check_sparse(read(start, stop), slice(start, stop)))
            if block.shape != expected:
                raise ValueError(f"wanted {expected} numbers, got {block.shape}")
        except Exception as error:  # of any library that reads
            view = f"view {self.name!r}: " if self.name else ""
            reason = (str(error).splitlines() or [type(error).__name__])[0]
            raise OSError(
                f"{view}rows {start} to {stop} of {self.storage.description} cannot be read ({reason}): the file must "
                "stay unchanged, and open if you opened it, until the work is done"
            ) from error
        return block

    def _check_sparse(self, block: Any, rows: slice) -> Any:
        """Check sparse rows when they are read for the first time only."""
        checked = self.storage.checked
        if not self.sparse or checked is None:
            return block
        if checked[rows].all():
            return CSR(block.indptr, block.indices, block.data, self.shape[1])
        csr = CSR.from_scipy(block)
        checked[rows] = csr.data is block.data  # otherwise duplicates were added up
        return csr

    def __array__(self, dtype: Any = None, copy: Any = None) -> NoReturn:
        view = f" of view {self.name!r}" if self.name else ""
        raise TypeError(
            f"the rows{view} are not in memory ({self.storage.description}): read some with X[start:stop], or "
            "X.take(rows)"
        )

    def slice_rows(self, start: int, stop: int) -> Source:
        """Return some of the rows, without reading them."""
        steps = tuple(Step(step.function, tuple(v[start:stop] for v in step.per_row)) for step in self.steps)
        return replace(self, start=self.start + start, stop=self.start + stop, steps=steps)

    def map_blocks(self, function: Callable[..., Array], *per_row: np.ndarray) -> Source:
        """Apply ``function(block, *values)`` to each block after reading; `values` are the block's part of `per_row`.

        The function must keep shape and type, and its result for a row must not depend on the other rows.
        """
        return replace(self, steps=(*self.steps, Step(function, per_row)))

    def take(self, rows: np.ndarray) -> Array:
        """Read a few rows by position, in the order given."""
        positions, inverse = np.unique(np.asarray(rows, np.intp), return_inverse=True)
        if not len(positions):
            return self[:0]
        if positions[0] < 0 or positions[-1] >= self.shape[0]:
            wrong = positions[0] if positions[0] < 0 else positions[-1]
            raise IndexError(f"row {wrong} is out of range: there are {self.shape[0]}")
        blocks = [to_host(self[run[0] : run[-1] + 1])[run - run[0]] for run in self._split_runs(positions)]
        return as_rows(sp.vstack(blocks, format="csr")[inverse] if self.sparse else np.concatenate(blocks)[inverse])

    def _split_runs(self, positions: np.ndarray) -> list[np.ndarray]:
        """Split ascending rows into runs to read at once: in one block, and close together or in one unit."""
        starts = np.array([rows.start for rows in plan_reads(self)])
        apart = np.diff(np.searchsorted(starts, positions, side="right")) > 0
        far = np.diff(positions) > tuning.gap_bytes * self.shape[0] / max(1, self.size * self.dtype.itemsize)
        if self.edges is not None:
            far &= np.diff(np.searchsorted(self.edges, positions, side="right")) > 0
        return np.split(positions, np.flatnonzero(apart | far) + 1)


def stack_rows(blocks: Sequence[Array]) -> Array:
    """Stack blocks of rows, dense or sparse."""
    if is_sparse(blocks[0]):
        return CSR.from_scipy(sp.csr_array(sp.vstack([to_host(block) for block in blocks], format="csr")))
    return np.concatenate(blocks)


@is_in_memory.register
def _(X: Source) -> bool:  # noqa: ARG001
    return False


@plan_reads.register
def _(X: Source) -> list[slice]:
    """Cut rows into blocks to read one at a time, at edges of the storage's units if it has units."""
    edges = X.edges
    blocks = _split_by_bytes(X, slice(0, X.shape[0]), tuning.block_bytes)
    if edges is None or len(blocks) == 1:
        return blocks
    ends = edges[np.searchsorted(edges, [block.stop for block in blocks])]
    units = [slice(int(a), int(b)) for a, b in pairwise(np.unique([0, *ends]))]
    return [block for unit in units for block in _split_by_bytes(X, unit, tuning.largest_unit)]


def _split_by_bytes(X: Source, rows: slice, n_bytes: int) -> list[slice]:
    """Cut rows into slices of at most about `n_bytes` of stored values."""
    n = rows.stop - rows.start
    total = X.size * X.dtype.itemsize * n // max(1, X.shape[0])
    return split_slice(rows, max(1, min(n, -(-total // n_bytes))))


@read_blocks.register
def _(X: Source, blocks: Sequence[slice]) -> Iterator[Array]:
    return (block for (block,) in read_ahead([X], blocks))


def read_ahead(arrays: Sequence[Array], blocks: Sequence[slice], n: int = 1) -> Iterator[list[Array]]:
    """Yield ``[X[block, ...] for X in arrays]`` for each block; a thread reads the next `n` meanwhile.

    A block may be lent: it must not be used after the next one was requested.
    """
    sources = [X for X in arrays if not is_in_memory(X)]
    if all(X.storage.lends for X in sources):
        yield from _lend_blocks(arrays, sources, blocks)
        return
    remaining, pool = iter(blocks), ThreadPoolExecutor(1)

    def read(block: slice) -> list[Array]:
        return [X[block, ...] for X in arrays]

    try:
        running = deque(pool.submit(read, block) for block in islice(remaining, n + 1))
        while running:
            yield running.popleft().result()
            running.extend(pool.submit(read, block) for block in islice(remaining, 1))
    finally:
        pool.shutdown(cancel_futures=True)  # waits for the read in progress


def _lend_blocks(arrays: Sequence[Array], sources: Sequence[Source], blocks: Sequence[slice]) -> Iterator[list[Array]]:
    """Yield blocks without copies; the system reads the next one meanwhile."""
    for block, following in zip(blocks, [*blocks[1:], slice(0, 0)], strict=True):
        for X in sources:
            X.storage.prefetch(X.start + following.start, X.start + following.stop)
        yield [X[block, ...] if is_in_memory(X) else X.lend(block) for X in arrays]
        for X in sources:
            X.storage.release(X.start + block.start, X.start + block.stop)


def iterate_rows(views: Mapping[str, Array], n: int, n_rows: int) -> Iterator[tuple[slice, dict[str, Array]]]:
    """Yield slices of about `n_rows` of n rows, and these rows of each view; the next ones are read ahead."""
    loads = plan_loads(views, n, n_rows)
    for load, blocks in zip(loads, read_ahead(list(views.values()), loads), strict=True):
        for rows in split_spans(slice(0, load.stop - load.start), n_rows):
            block = {name: X[rows, ...] for name, X in zip(views, blocks, strict=True)}
            yield slice(load.start + rows.start, load.start + rows.stop), block


def split_spans(rows: slice, n_rows: int) -> list[slice]:
    """Cut rows into slices of about `n_rows`."""
    n = rows.stop - rows.start
    return split_slice(rows, max(1, min(n, n // max(1, n_rows))))


def plan_loads(views: Mapping[str, Array], n: int, n_rows: int) -> list[slice]:
    """Cut rows on disk into loads to read at a time, for all views: whole units of the storage, or a few spans."""
    plans = [(X, plan_reads(X)) for X in views.values() if not is_in_memory(X)]
    most = max(len(plan) for _, plan in plans)
    for X, plan in plans:
        if X.edges is not None and len(plan) == most:
            return plan
    spans = split_spans(slice(0, n), n_rows)
    groups = split_slice(slice(0, len(spans)), min(most, len(spans)))
    return [slice(spans[group.start].start, spans[group.stop - 1].stop) for group in groups]
