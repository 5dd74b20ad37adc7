"""Rows that stay where they are stored and are read when asked for, some at a time."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import islice, pairwise
from types import EllipsisType
from typing import Any, NoReturn, Protocol

import numpy as np
import scipy.sparse as sp

from .csr import CSR
from .cuts import split_slice
from .namespace import Array
from .rows import as_rows, to_host

BLOCK_BYTES = 1 << 24  # stored values of a block: reading one at a time is as fast as the disk, and a few fit anywhere
LARGEST_UNIT = 16 * BLOCK_BYTES  # a unit of storage above this is cut, though each part then costs reading all of it
GAP_BYTES = 1 << 16  # reading what lies between two rows so near costs less than asking twice


class Reader(Protocol):
    """Where rows come from. It can be pickled where the storage can be opened again by name.

    One that can give rows where they are, without a copy, has besides `lends` (True), `lend` (as `read`), `release` of
    rows that were lent, and `hasten`, to have rows read that will be wanted soon. One of sparse rows may have `sound`,
    (n_rows,), to remember which of them are as the kernels want them.
    """

    n_rows: int
    n_columns: int
    dtype: np.dtype  # of the numbers as they are stored
    sparse: bool
    size: int  # stored numbers
    source: str  # what to call it in a message: the file

    @property
    def edges(self) -> np.ndarray | None:
        """First rows of the storage's own units, and `n_rows` at last; None where any cut is as good."""

    def read(self, start: int, stop: int) -> np.ndarray | sp.csr_array:
        """Rows of numbers, in memory and owned by the caller."""


@dataclass(frozen=True, eq=False)
class Step:
    """A function of a block, and what it takes from arrays with an entry a row."""

    function: Callable[..., Array]
    per_row: tuple[np.ndarray, ...]

    def __call__(self, block: Array, rows: slice) -> Array:
        done = self.function(block, *(own[rows] for own in self.per_row))
        if (done.shape, done.dtype) != (block.shape, block.dtype):
            raise ValueError(f"a block of {block.shape} {block.dtype} became one of {done.shape} {done.dtype}")
        return done

    def slice_rows(self, start: int, stop: int) -> Step:
        return replace(self, per_row=tuple(own[start:stop] for own in self.per_row))


@dataclass(frozen=True, eq=False)
class Source:
    """Rows ``start:stop`` of a reader: ``X[rows, ...]`` reads them into a numpy array or CSR of float32 or float64."""

    storage: Reader
    start: int
    stop: int
    name: str = ""  # of the view, for messages
    steps: tuple[Step, ...] = ()

    @classmethod
    def over(cls, reader: Reader, name: str = "") -> Source:
        """All rows of a reader."""
        return cls(reader, 0, reader.n_rows, name)

    @property
    def shape(self) -> tuple[int, int]:
        return self.stop - self.start, self.storage.n_columns

    @property
    def ndim(self) -> int:
        return 2

    @property
    def dtype(self) -> np.dtype:
        """What the rows are once read: float32 stays, other numbers become float64, as in `as_rows`."""
        return np.dtype(np.float32 if self.storage.dtype == np.float32 else np.float64)

    @property
    def sparse(self) -> bool:
        return self.storage.sparse

    @property
    def size(self) -> int:
        """Stored numbers; of some rows of a sparse reader their share of it."""
        return self.storage.size * self.shape[0] // max(1, self.storage.n_rows)

    @property
    def nbytes(self) -> int:
        """About what all rows would take in memory."""
        per_row = np.dtype(np.int64).itemsize * self.shape[0] if self.sparse else 0
        return self.size * (self.dtype.itemsize + (np.dtype(np.int32).itemsize if self.sparse else 0)) + per_row

    @property
    def edges(self) -> np.ndarray | None:
        """Rows where units of the storage begin, from 0 to the number of rows; None where it has no units."""
        if self.storage.edges is None:
            return None
        own = self.storage.edges - self.start
        return np.concatenate([[0], own[(own > 0) & (own < self.shape[0])], [self.shape[0]]])

    @property
    def device(self) -> str:
        return "cpu"

    def __array_namespace__(self, api_version: str | None = None) -> Any:
        """What is read belongs to numpy."""
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
        return self._changed(slice(start, max(start, stop)), self.storage.read)

    @property
    def lends(self) -> bool:
        """Whether rows can be had without a copy."""
        return getattr(self.storage, "lends", False)

    def lend(self, rows: slice) -> Array:
        """Rows without a copy, not to be used any more once they are released."""
        return self._changed(rows, self.storage.lend)  # type: ignore[attr-defined]

    def prefetch(self, rows: slice) -> None:
        """Have rows read that will be wanted soon."""
        self.storage.prefetch(self.start + rows.start, self.start + rows.stop)  # type: ignore[attr-defined]

    def release(self, rows: slice) -> None:
        """Let go of rows that were lent."""
        self.storage.release(self.start + rows.start, self.start + rows.stop)  # type: ignore[attr-defined]

    def _changed(self, rows: slice, read: Callable[[int, int], Any]) -> Array:
        block = self._read(rows.start, rows.stop, read) if rows.stop > rows.start else self._nothing()
        for change in self.steps:
            block = change(block, rows)
        return block

    def __array__(self, dtype: Any = None, copy: Any = None) -> NoReturn:
        whose = f" of view {self.name!r}" if self.name else ""
        raise TypeError(
            f"the rows{whose} are not in memory ({self.storage.source}): read some with X[start:stop], or X.take(rows)"
        )

    def _read(self, start: int, stop: int, read: Callable[[int, int], Any]) -> Array:
        start, stop = self.start + start, self.start + stop
        wanted = stop - start, self.storage.n_columns
        try:
            block = as_rows(self._sound(read(start, stop), slice(start, stop)))
            if block.shape != wanted:
                raise ValueError(f"wanted {wanted} numbers, got {block.shape}")
        except Exception as error:  # of any library that reads
            whose = f"view {self.name!r}: " if self.name else ""
            what = (str(error).splitlines() or [type(error).__name__])[0]
            raise OSError(
                f"{whose}rows {start} to {stop} of {self.storage.source} cannot be read ({what}): the file must "
                "stay as it is, and open if you opened it, until the work is done"
            ) from error
        return block

    def _sound(self, found: Any, rows: slice) -> Any:
        """Sparse rows are checked when they come for the first time; what was sound then is taken to be so still."""
        known = getattr(self.storage, "sound", None)
        if not self.sparse or known is None:
            return found
        if known[rows].all():
            return CSR(found.indptr, found.indices, found.data, self.storage.n_columns)
        checked = CSR.from_scipy(found)
        known[rows] = checked.data is found.data  # or duplicates had to be added up
        return checked

    def _nothing(self) -> Array:
        """No rows, of the right kind."""
        shape = 0, self.storage.n_columns
        return as_rows(sp.csr_array(shape, dtype=self.dtype) if self.sparse else np.zeros(shape, self.dtype))

    def slice_rows(self, start: int, stop: int) -> Source:
        """Some of the rows, not read yet."""
        steps = tuple(step.slice_rows(start, stop) for step in self.steps)
        return replace(self, start=self.start + start, stop=self.start + stop, steps=steps)

    def mapped(self, function: Callable[..., Array], *per_row: np.ndarray) -> Source:
        """The same rows with ``function(block, *own)`` applied to each block once read; `own` are entries of `per_row`.

        It must keep shape and type, and give each row what it would give it in any other block.
        """
        return replace(self, steps=(*self.steps, Step(function, per_row)))

    def take(self, rows: np.ndarray) -> Array:
        """A few rows by position, read into memory in the order asked for."""
        chosen, back = np.unique(np.asarray(rows, np.intp), return_inverse=True)
        if not len(chosen):
            return self[:0]
        if chosen[0] < 0 or chosen[-1] >= self.shape[0]:
            wrong = chosen[0] if chosen[0] < 0 else chosen[-1]
            raise IndexError(f"row {wrong} is out of range: there are {self.shape[0]}")
        parts = [_rows_of(self[own[0] : own[-1] + 1], own - own[0]) for own in self._runs(chosen)]
        return as_rows(sp.vstack(parts, format="csr")[back] if self.sparse else np.concatenate(parts)[back])

    def _runs(self, chosen: np.ndarray) -> list[np.ndarray]:
        """Ascending rows in groups to be read at once: in one block, and near each other or in one unit of storage."""
        starts = np.array([block.start for block in plan_reads(self)])
        apart = np.diff(np.searchsorted(starts, chosen, side="right")) > 0
        far = np.diff(chosen) > GAP_BYTES * self.shape[0] / max(1, self.size * self.dtype.itemsize)
        if self.edges is not None:
            far &= np.diff(np.searchsorted(self.edges, chosen, side="right")) > 0
        return np.split(chosen, np.flatnonzero(apart | far) + 1)


def _rows_of(block: Array, rows: np.ndarray) -> Any:
    """Rows of a block that was read, of numpy or scipy."""
    return to_host(block)[rows]


def plan_reads(X: Source) -> list[slice]:
    """Cut rows into blocks to be read one at a time, where the storage has units at their edges."""
    whole, edges = slice(0, X.shape[0]), X.edges
    parts = _cut_to(X, whole, BLOCK_BYTES)
    if edges is None or len(parts) == 1:
        return parts
    at = np.searchsorted(edges, [part.stop for part in parts])
    units = [slice(int(a), int(b)) for a, b in pairwise(np.unique([0, *edges[at]]))]
    return [part for unit in units for part in _cut_to(X, unit, LARGEST_UNIT)]


def _cut_to(X: Source, rows: slice, most: int) -> list[slice]:
    """Neighbouring slices of about `most` bytes of stored values or fewer."""
    n = rows.stop - rows.start
    n_bytes = X.size * X.dtype.itemsize * n // max(1, X.shape[0])
    return split_slice(rows, max(1, min(n, -(-n_bytes // most))))


def _lent(rows: Sequence[Array], blocks: Sequence[slice]) -> Iterator[list[Array]]:
    """Blocks of rows that are in memory, or lent: the system reads the next meanwhile."""
    lazy = [X for X in rows if isinstance(X, Source)]
    for block, following in zip(blocks, [*blocks[1:], slice(0, 0)], strict=True):
        for X in lazy:
            X.prefetch(following)
        yield [X.lend(block) if isinstance(X, Source) else X[block, ...] for X in rows]
        for X in lazy:
            X.release(block)


def read_ahead(rows: Sequence[Array], blocks: Sequence[slice], n: int = 1) -> Iterator[list[Array]]:
    """``[X[block, ...] for X in rows]`` of each block; a thread reads the next `n` while the caller works on one.

    What a block holds may be lent: it is not to be used any more when the next is asked for.
    """

    def read(block: slice) -> list[Array]:
        return [X[block, ...] for X in rows]

    if all(X.lends for X in rows if isinstance(X, Source)):
        yield from _lent(rows, blocks)
        return
    rest, pool = iter(blocks), ThreadPoolExecutor(1)
    try:
        running = deque(pool.submit(read, block) for block in islice(rest, n + 1))
        while running:
            yield running.popleft().result()
            running.extend(pool.submit(read, block) for block in islice(rest, 1))
    finally:
        pool.shutdown(cancel_futures=True)  # waits for the read that is under way
