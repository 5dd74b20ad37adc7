"""A function of two rows as a matrix: held as a table where it fits, computed in blocks where not.

Both ways go through the same blocks, cut by the shape alone, so that they give the same bits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np

from .namespace import Array, like, namespace, to_numpy
from .parallel import cut, map_chunks
from .rows import as_kind
from .verbs import take_rows

T = TypeVar("T")

TILE = 1 << 20  # similarities computed at a time by a thread
LEAST_ROWS = 16  # a product of fewer rows is slow
HELD = 1 << 30  # bytes: a table up to this size is kept, a larger one computed again for every product


class Points(NamedTuple):
    """Rows made ready for a kernel."""

    X: Array
    own: Array = None  # (n,) a number of the row's own, where the kernel has a use for one
    scale: Array = None  # (n,) another

    def at(self, rows: slice) -> Points:
        own, scale = (None if x is None else x[rows] for x in self[1:])
        return Points(self.X[rows, ...], own, scale)

    def some(self, rows: np.ndarray) -> Points:
        chosen = like(rows, self.X)
        own, scale = (None if x is None else namespace(x).take(x, chosen) for x in self[1:])
        return Points(take_rows(self.X, chosen), own, scale)


class Kernel(Protocol):
    """A function of two rows whose constants (a bandwidth, an origin) are known."""

    def points(self, X: Array) -> Points:
        """Make rows ready."""

    def tile(self, left: Points, right: Points) -> Array:
        """The kernel of some rows with some others: (left, right)."""


@dataclass(frozen=True, eq=False)
class KernelMatrix:
    """The kernel of some rows with others, or with themselves."""

    kernel: Kernel
    left: Points
    right: Points
    held: bool
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
        n, m = self.shape
        return cut(slice(0, n), max(1, min(-(-n * m // TILE), -(-n // LEAST_ROWS))))

    @cached_property
    def _table(self) -> list[Array]:
        return list(map_chunks(self._compute, self.blocks))

    def _compute(self, rows: slice) -> Array:
        tile = self.kernel.tile(self.left.at(rows), self.right)
        return tile - self.shift if self.shift else tile

    def over_tiles(self, function: Callable[[slice, Array], T]) -> Iterator[T]:
        """A function of each block of rows in turn, on the threads allowed."""
        if not self.held:
            yield from map_chunks(lambda rows: function(rows, self._compute(rows)), self.blocks)
            return
        tiles = dict(zip((rows.start for rows in self.blocks), self._table, strict=True))
        yield from map_chunks(lambda rows: function(rows, tiles[rows.start]), self.blocks)

    def __matmul__(self, U: np.ndarray) -> np.ndarray:
        thin = self.like(U)
        return np.concatenate(list(self.over_tiles(lambda _, tile: to_numpy(tile @ thin))))

    @property
    def T(self) -> Transposed:
        return Transposed(self)

    def like(self, U: np.ndarray) -> Array:
        return like(np.ascontiguousarray(U, dtype=self.dtype), self.left.X)

    def columns(self, entities: np.ndarray) -> np.ndarray:
        return to_numpy(self.kernel.tile(self.left, self.right.some(entities))) - self.shift

    def norm(self) -> float:
        return self._norm

    @cached_property
    def _norm(self) -> float:
        return float(np.sqrt(sum(self.over_tiles(lambda _, tile: float(namespace(tile).sum(tile * tile))))))

    def parts(self) -> np.ndarray:
        return np.zeros(self.shape[0], np.int64)

    def least(self) -> float:
        """The smallest entry."""
        return min(self.over_tiles(lambda _, tile: float(namespace(tile).min(tile))))

    def against(self, X: Array) -> KernelMatrix:
        return KernelMatrix(self.kernel, self.kernel.points(as_kind(X, self.right.X)), self.right, False, self.shift)

    def __getstate__(self) -> dict[str, Any]:
        """What is copied and pickled: not the table, which can be computed again."""
        return {name: value for name, value in self.__dict__.items() if name != "_table"}


@dataclass(frozen=True, eq=False)
class Transposed:
    """The same matrix the other way round."""

    matrix: KernelMatrix

    def __matmul__(self, U: np.ndarray) -> np.ndarray:
        thin = self.matrix.like(U)
        parts = self.matrix.over_tiles(lambda rows, tile: to_numpy(tile.T @ thin[rows, ...]))
        return reduce(np.add, parts)


def fits_table(nbytes: int) -> bool:
    """Whether a table of this size is kept."""
    return nbytes <= HELD


def rounding(X: Array) -> float:
    """The unit of rounding of its numbers."""
    return float(namespace(X).finfo(X.dtype).eps)


def itemsize(X: Array) -> int:
    """Bytes of one number."""
    return int(namespace(X).finfo(X.dtype).bits) // 8
