"""A function of two rows as a matrix: held as a table where it fits, computed in blocks where not.

Both ways go through the same blocks, cut by the shape alone, so that they give the same bits. What a matrix makes of an
array is of the library, and on the device, of the rows that it compares.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial, reduce
from math import hypot
from operator import add
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np
from array_api_compat import device

from .._saving import refer_as, save_as
from .cuts import split_slice
from .host import is_on_host
from .memory import available_device_memory
from .namespace import Array, asarray_like, keep_where, namespace, to_numpy
from .parallel import choose_block_size, map_chunks
from .rows import as_rows_like
from .verbs import is_in_memory, plan_reads, read_blocks, take_rows

T = TypeVar("T")

TILE = 1 << 20  # similarities computed at a time by a thread; a device computes more
LEAST_ROWS = 16  # a product of fewer rows is slow
MAX_CACHED_BYTES = 1 << 30  # bytes: a table up to this size is kept, a larger one computed again for every product
DEVICE_SHARE = 0.8  # of the memory that is free on a device, which tables may take there


@save_as("kernel-points")
class KernelRows(NamedTuple):
    """Rows made ready for a kernel."""

    X: Array
    row_term: Array = None  # (n,) a number of the row's own, where the kernel has a use for one
    scale: Array = None  # (n,) another

    def at(self, rows: slice) -> KernelRows:
        own, scale = (None if x is None else x[rows] for x in self[1:])
        return KernelRows(self.X[rows, ...], own, scale)

    def some(self, rows: Array) -> KernelRows:
        chosen = asarray_like(rows, self.X)
        own, scale = (None if x is None else namespace(x).take(x, chosen) for x in self[1:])
        return KernelRows(take_rows(self.X, chosen), own, scale)


class RowKernel(Protocol):
    """A function of two rows whose constants (a bandwidth, an origin) are known."""

    def points(self, X: Array) -> KernelRows:
        """Make rows ready."""

    def tile(self, left: KernelRows, right: KernelRows) -> Array:
        """The kernel of some rows with some others: (left, right)."""


@save_as("kernel-matrix")
@dataclass(frozen=True, eq=False)
class KernelMatrix:
    """The kernel of some rows with others, or with themselves."""

    kernel: RowKernel
    left: KernelRows
    right: KernelRows
    cached: bool
    shift: float = 0.0  # taken off every entry
    exact = True

    @property
    def shape(self) -> tuple[int, int]:
        return self.left.X.shape[0], self.right.X.shape[0]

    @property
    def dtype(self) -> np.dtype:
        return np.dtype(f"f{itemsize(self.left.X)}")

    @property
    def blocks(self) -> list[slice]:
        return [block for load in plan_reads(self.left.X) for block in self._tiled(load)]

    def _tiled(self, rows: slice) -> list[slice]:
        n = rows.stop - rows.start
        n_tiles = -(-n * self.shape[1] // choose_block_size(self.left.X, TILE))
        return split_slice(rows, max(1, min(n_tiles, -(-n // LEAST_ROWS))))

    @cached_property
    def _table(self) -> list[Array]:
        """The blocks; on a device they are parts of one array."""
        if not is_in_memory(self.left.X):
            return list(replace(self, cached=False).map_tiles(lambda _, tile: tile))
        if is_on_host(self.left.X):
            return list(self._map(self._compute, self.blocks))
        return [self._whole[rows, ...] for rows in self.blocks]

    @cached_property
    def _whole(self) -> Array:
        X = self.left.X
        table = namespace(X).empty(self.shape, dtype=X.dtype, device=device(X))
        for rows in self.blocks:
            table[rows, ...] = self._compute(rows)
        return table

    def _map(self, function: Callable[[slice], T], blocks: list[slice]) -> Iterator[T]:
        """On the threads allowed; a device has its own, and memory for one block at a time."""
        return map_chunks(function, blocks) if is_on_host(self.left.X) else map(function, blocks)

    def _compute(self, rows: slice) -> Array:
        tile = self.kernel.tile(self.left.at(rows), self.right)
        return tile - self.shift if self.shift else tile

    def map_tiles(self, function: Callable[[slice, Array], T], *, whole: bool = False) -> Iterator[T]:
        """A function of each block of rows in turn, on the threads allowed.

        With `whole` a table that a device holds is one block: for functions that take no memory of that size.
        """
        if not self.cached and not is_in_memory(self.left.X):
            yield from self._over_loads(function)
            return
        if whole and self.cached and not is_on_host(self.left.X):
            yield function(slice(0, self.shape[0]), self._whole)
            return
        if not self.cached:
            yield from self._map(lambda rows: function(rows, self._compute(rows)), self.blocks)
            return
        tiles = dict(zip((rows.start for rows in self.blocks), self._table, strict=True))
        yield from self._map(lambda rows: function(rows, tiles[rows.start]), self.blocks)

    def _over_loads(self, function: Callable[[slice, Array], T]) -> Iterator[T]:
        """The same of rows that are on a disk, as many at a time as are read at once."""
        X, own, scale = self.left
        loads = plan_reads(X)
        for load, block in zip(loads, read_blocks(X, loads), strict=True):
            numbers = (None if values is None else values[load] for values in (own, scale))
            here = replace(self, left=KernelRows(block, *numbers))
            yield from here.map_tiles(partial(_further_down, function, load.start))

    def __matmul__(self, U: Array) -> Array:
        thin = self.like(U)
        return concat_blocks(self.map_tiles(lambda _, tile: tile @ thin, whole=True))

    @property
    def T(self) -> TransposedKernelMatrix:
        return TransposedKernelMatrix(self)

    def like(self, U: Array) -> Array:
        """A thin matrix of the kind and type of what is compared."""
        U = asarray_like(U, self.left.X)
        if isinstance(U, np.ndarray):
            return np.ascontiguousarray(U, dtype=self.dtype)
        return namespace(U).astype(U, self.left.X.dtype, copy=False)

    def columns(self, entities: Array) -> Array:
        return self.kernel.tile(self.left, self.right.some(entities)) - self.shift

    def norm(self) -> float:
        return self._norm

    @cached_property
    def _norm(self) -> float:
        return hypot(*fetch_numbers(self.map_tiles(lambda _, tile: frobenius_norm(tile))))

    def least(self) -> float:
        """The smallest entry."""
        return min(fetch_numbers(self.map_tiles(lambda _, tile: namespace(tile).min(tile))))

    @refer_as("kernel-against")
    def compare_with(self, X: Array) -> KernelMatrix:
        return KernelMatrix(
            self.kernel, self.kernel.points(as_rows_like(X, self.right.X)), self.right, False, self.shift
        )

    def __getstate__(self) -> dict[str, Any]:
        """What is copied and pickled: not the table, which can be computed again."""
        return {name: value for name, value in self.__dict__.items() if name not in ("_table", "_whole")}


def _further_down(function: Callable[[slice, Array], T], start: int, rows: slice, tile: Array) -> T:
    return function(slice(start + rows.start, start + rows.stop), tile)


@dataclass(frozen=True, eq=False)
class TransposedKernelMatrix:
    """The same matrix the other way round."""

    matrix: KernelMatrix

    def __matmul__(self, U: Array) -> Array:
        thin = self.matrix.like(U)
        return reduce(add, self.matrix.map_tiles(lambda rows, tile: tile.T @ thin[rows, ...], whole=True))


def frobenius_norm(tile: Array) -> Array:
    """Root of the sum of squares, in units of the largest number so that squares do not overflow."""
    xp = namespace(tile)
    largest = xp.max(xp.abs(tile))
    scaled = tile / keep_where(largest > 0, largest, 1.0)
    return largest * xp.sqrt(xp.sum(scaled * scaled))


def concat_blocks(parts: Iterable[Array]) -> Array:
    """Arrays of one kind one below the other."""
    found = list(parts)
    return namespace(found[0]).concat(found)


def fetch_numbers(numbers: Iterable[Array]) -> list[float]:
    """Single numbers of one kind, fetched from where they are all at once."""
    found = list(numbers)
    xp = namespace(found[0])
    return to_numpy(xp.stack([xp.asarray(number) for number in found])).tolist()


def fits_in_memory(nbytes: int, X: Array = None) -> bool:
    """Whether a table of this size is kept, of rows like X: on a device as far as its memory goes."""
    free = None if X is None else available_device_memory(X)
    return nbytes <= (MAX_CACHED_BYTES if free is None else DEVICE_SHARE * free)


def machine_epsilon(X: Array) -> float:
    """The unit of rounding of its numbers."""
    return float(namespace(X).finfo(X.dtype).eps)


def itemsize(X: Array) -> int:
    """Bytes of one number."""
    return int(namespace(X).finfo(X.dtype).bits) // 8
