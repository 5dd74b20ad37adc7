"""Kernel matrices: cached as a table if it fits in memory, computed in blocks otherwise.

Both ways use the same blocks, cut by the shape alone, so that they give the same bits. Products belong to the library
and the device of the rows that are compared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from math import hypot, isqrt
from operator import add
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np
from array_api_compat import device

from .._saving import refer_as, save_as
from .._tuning import Tuning
from .memory import available_device_memory
from .namespace import Array, asarray_like, concat_blocks, fetch_numbers, itemsize, keep_where, namespace, to_numpy
from .parallel import choose_block_size, map_chunks, split_slice
from .verbs import as_rows_like, is_in_memory, is_on_host, plan_reads, read_blocks, take_rows

T = TypeVar("T")

tuning = Tuning(
    tile=1 << 20,  # entries that a thread computes at a time; a device computes more
    symmetric_tile=1 << 17,  # entries of a tile of a symmetric matrix, which stay in the cache of a core
    max_cached_bytes=1 << 30,  # larger tables are computed again for every product
)
LEAST_ROWS = 16  # products of fewer rows are slow
COLUMNS_PER_SKETCH = 8
VECTORS_AT_ONCE = 3  # that a compiled product with a symmetric tile multiplies
DEVICE_SHARE = 0.8  # share of the free memory of a device that tables may take


@save_as("kernel-points")
class KernelRows(NamedTuple):
    """Rows prepared for a kernel.

    Parameters
    ----------
    X : array of shape (n_rows, n_columns)
        The rows, dense or sparse.
    row_term : array of shape (n_rows,), optional
        A term of the kernel that depends on this row only, if it has one.
    scale : array of shape (n_rows,), optional
        A factor per row, if the kernel has one.

    Examples
    --------
    >>> import numpy as np
    >>> import consilience as cs
    >>> X = np.array([[3.0, 4.0], [1.0, 0.0], [0.0, 2.0]])
    >>> rows = cs.affinities.KernelRows(X, row_term=(X**2).sum(axis=1))
    >>> rows.slice_rows(slice(0, 2)).row_term.tolist()
    [25.0, 1.0]
    """

    X: Array
    row_term: Array = None
    scale: Array = None

    def slice_rows(self, rows: slice) -> KernelRows:
        """The rows of a slice.

        Parameters
        ----------
        rows : slice
            Positions of the rows.
        """
        return KernelRows(self.X[rows, ...], *(None if x is None else x[rows] for x in self[1:]))

    def take(self, rows: Array) -> KernelRows:
        """Rows by position.

        Parameters
        ----------
        rows : array of int
            Positions of the rows.
        """
        rows = asarray_like(rows, self.X)
        per_row = (None if x is None else namespace(x).take(x, rows) for x in self[1:])
        return KernelRows(take_rows(self.X, rows), *per_row)


class RowKernel(Protocol):
    """A function of two rows with all its constants (a bandwidth, an origin)."""

    def points(self, X: Array) -> KernelRows:
        """Prepare rows, which may be sparse or in a storage; functions of `consilience.arrays` take all kinds.

        Parameters
        ----------
        X : array of shape (n_rows, n_columns)
            Rows of the view.
        """

    def tile(self, left: KernelRows, right: KernelRows) -> Array:
        """The kernel of each row on the left with each on the right: (left, right).

        Parameters
        ----------
        left, right : KernelRows
            Rows that `points` has prepared.
        """


@save_as("kernel-matrix")
@dataclass(frozen=True, eq=False)
class KernelMatrix:
    """The kernel of rows with other rows, or with themselves."""

    kernel: RowKernel
    left: KernelRows
    right: KernelRows
    cached: bool
    shift: float = 0.0  # subtracted from every entry
    exact = True

    @property
    def shape(self) -> tuple[int, int]:
        return self.left.X.shape[0], self.right.X.shape[0]

    @property
    def dtype(self) -> np.dtype:
        return np.dtype(f"f{itemsize(self.left.X)}")

    @property
    def blocks(self) -> list[slice]:
        return [block for read in plan_reads(self.left.X) for block in self._cut_tiles(read)]

    def _cut_tiles(self, rows: slice) -> list[slice]:
        n = rows.stop - rows.start
        n_tiles = -(-n * self.shape[1] // choose_block_size(self.left.X, tuning.tile))
        return split_slice(rows, max(1, min(n_tiles, -(-n // LEAST_ROWS))))

    @cached_property
    def _table(self) -> list[Array]:
        """The blocks; on a device they are slices of one array."""
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
        """Map on the threads allowed; on a device one block at a time, to save memory."""
        return map_chunks(function, blocks) if is_on_host(self.left.X) else map(function, blocks)

    def _compute(self, rows: slice) -> Array:
        tile = compute_tile(self.kernel, self.left.slice_rows(rows), self.right)
        return tile - self.shift if self.shift else tile

    def map_tiles(self, function: Callable[[slice, Array], T], *, whole: bool = False) -> Iterator[T]:
        """Map a function of (rows, tile) over the blocks, on the threads allowed.

        With `whole`, a table that is cached on a device is one block: for functions that need little memory.
        """
        if not self.cached and not is_in_memory(self.left.X):
            yield from self._map_reads(function)
            return
        if whole and self.cached and not is_on_host(self.left.X):
            yield function(slice(0, self.shape[0]), self._whole)
            return
        if not self.cached:
            yield from self._map(lambda rows: function(rows, self._compute(rows)), self.blocks)
            return
        tiles = dict(zip((rows.start for rows in self.blocks), self._table, strict=True))
        yield from self._map(lambda rows: function(rows, tiles[rows.start]), self.blocks)

    def _map_reads(self, function: Callable[[slice, Array], T]) -> Iterator[T]:
        """Map over the tiles of rows in a storage, as many at a time as are read at once."""
        X, *per_row = self.left
        reads = plan_reads(X)
        for read, block in zip(reads, read_blocks(X, reads), strict=True):
            block_rows = KernelRows(block, *(None if values is None else values[read] for values in per_row))

            def call_shifted(rows: slice, tile: Array, start: int = read.start) -> T:
                return function(slice(start + rows.start, start + rows.stop), tile)

            yield from replace(self, left=block_rows).map_tiles(call_shifted)

    def __matmul__(self, U: Array) -> Array:
        thin = self.convert(U)
        return concat_blocks(self.map_tiles(lambda _, tile: tile @ thin, whole=True))

    @property
    def T(self) -> TransposedKernelMatrix:
        return TransposedKernelMatrix(self)

    def convert(self, U: Array) -> Array:
        """Convert a thin matrix to the kind and type of the compared rows."""
        U = asarray_like(U, self.left.X)
        if is_on_host(U):
            return np.ascontiguousarray(U, dtype=self.dtype)
        return namespace(U).astype(U, self.left.X.dtype, copy=False)

    def columns(self, entities: Array) -> Array:
        return self.kernel.tile(self.left, self.right.take(entities)) - self.shift

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
        """Leave the table out of copies and pickles, because it can be computed again."""
        return {name: value for name, value in self.__dict__.items() if name not in ("_table", "_whole")}


@save_as("symmetric-kernel-matrix")
@dataclass(frozen=True, eq=False)
class SymmetricKernelMatrix:
    """The kernel of rows in main memory with themselves: only the tiles on and above the diagonal are computed.

    A product reads each tile once, and uses it for its rows and for its columns while it is in the cache.
    """

    kernel: RowKernel
    points: KernelRows
    cached: bool
    shift: float = 0.0  # subtracted from every entry
    exact = True

    @property
    def shape(self) -> tuple[int, int]:
        return self.points.X.shape[0], self.points.X.shape[0]

    @property
    def dtype(self) -> np.dtype:
        return np.dtype(f"f{itemsize(self.points.X)}")

    @property
    def right(self) -> KernelRows:
        return self.points

    @cached_property
    def _bands(self) -> list[TileBand]:
        return list_upper_tiles(self.points.X)

    @cached_property
    def _table(self) -> dict[int, list[Array]]:
        """The tiles of each band, by its first row."""
        heights = [band.rows.stop - band.rows.start for band in self._bands]
        sizes = [height * (self.shape[0] - band.rows.start) for height, band in zip(heights, self._bands, strict=True)]
        numbers = np.empty(sum(sizes), self.dtype)  # in one piece, for which the system gives large pages
        bands = np.split(numbers, np.cumsum(sizes)[:-1])

        def fill(part: tuple[TileBand, np.ndarray]) -> list[np.ndarray]:
            band, memory = part
            height = band.rows.stop - band.rows.start
            ends = height * (np.array([columns.stop for columns in band.columns]) - band.rows.start)
            tiles = [tile.reshape(height, -1) for tile in np.split(memory, ends[:-1])]
            for tile, values in zip(tiles, self._compute(band), strict=True):
                tile[...] = values
            return tiles

        tiles = map_chunks(fill, list(zip(self._bands, bands, strict=True)))
        return {band.rows.start: row for band, row in zip(self._bands, tiles, strict=True)}

    def _compute(self, band: TileBand) -> Iterator[Array]:
        left = self.points.slice_rows(band.rows)
        for columns in band.columns:
            tile = compute_tile(self.kernel, left, self.points.slice_rows(columns))
            yield tile - self.shift if self.shift else tile

    def _map_bands(self, function: Callable[[TileBand, Iterable[Array]], T]) -> Iterator[T]:
        """Map a function of a band and its tiles, the one on the diagonal first, on the threads allowed."""
        table = self._table if self.cached else None

        def call(band: TileBand) -> T:
            return function(band, self._compute(band) if table is None else table[band.rows.start])

        return map_chunks(call, self._bands)

    def __matmul__(self, U: Array) -> Array:
        from .pairwise_kernels import multiply_diagonal_tile, multiply_symmetric_tile

        thin = to_numpy(U)
        n_vectors = thin.shape[1]
        vectors = np.zeros((n_vectors + -n_vectors % VECTORS_AT_ONCE, self.shape[0]), self.dtype)
        vectors[:n_vectors] = thin.T

        def multiply(band: TileBand, tiles: Iterable[Array]) -> np.ndarray:
            rows = band.rows
            sums = np.zeros((vectors.shape[0], self.shape[0] - rows.start), self.dtype)
            for columns, tile in zip(band.columns, tiles, strict=True):
                if columns == rows:
                    multiply_diagonal_tile(tile, vectors, sums, rows.start)
                else:
                    multiply_symmetric_tile(tile, vectors, sums, rows.start, columns.start)
            return sums

        product = np.zeros_like(vectors)
        for band, sums in zip(self._bands, self._map_bands(multiply), strict=True):
            product[:, band.rows.start :] += sums
        return product[:n_vectors].T

    def columns(self, entities: Array) -> Array:
        return self.kernel.tile(self.points, self.points.take(entities)) - self.shift

    def sketch(self, number: int, rng: np.random.Generator) -> np.ndarray:
        """Return weighted sums of a few random columns: vectors near the first eigenvectors, for little work."""
        entities = rng.choice(self.shape[0], min(self.shape[0], COLUMNS_PER_SKETCH * number), replace=False)
        return self.columns(entities) @ rng.standard_normal((len(entities), number)).astype(self.dtype)

    def norm(self) -> float:
        return self._norm

    @cached_property
    def _norm(self) -> float:
        def measure(_: TileBand, tiles: Iterable[Array]) -> float:
            diagonal, *others = map(frobenius_norm, tiles)
            return hypot(diagonal, *others, *others)

        return hypot(*self._map_bands(measure))

    def least(self) -> float:
        """The smallest entry."""
        return float(min(self._map_bands(lambda _, tiles: min(map(np.min, tiles)))))

    def compare_with(self, X: Array) -> KernelMatrix:
        rows = self.kernel.points(as_rows_like(X, self.points.X))
        return KernelMatrix(self.kernel, rows, self.points, False, self.shift)

    def __getstate__(self) -> dict[str, Any]:
        """Leave the table out of copies and pickles, because it can be computed again."""
        return {name: value for name, value in self.__dict__.items() if name not in ("_table", "_bands")}


class TileBand(NamedTuple):
    """Adjacent tiles of a square matrix, from the diagonal to the right."""

    rows: slice
    columns: list[slice]  # the first is that of the diagonal, equal to the rows


def list_upper_tiles(X: Array) -> list[TileBand]:
    """List the tiles on and above the diagonal of the square matrix of rows with themselves, by the shape alone."""
    n = X.shape[0]
    height = max(LEAST_ROWS, isqrt(choose_block_size(X, tuning.symmetric_tile) // 2))  # tiles are twice as wide as high
    bands = []
    for rows in split_slice(slice(0, n), -(-n // height)):
        n_tiles = -(-(n - rows.stop) // (2 * height))
        bands.append(TileBand(rows, [rows, *(split_slice(slice(rows.stop, n), n_tiles) if n_tiles else [])]))
    return bands


def compute_tile(kernel: RowKernel, left: KernelRows, right: KernelRows) -> Array:
    """Return the kernel of rows with others, checked to have the right shape."""
    tile = kernel.tile(left, right)
    expected = left.X.shape[0], right.X.shape[0]
    if tile.shape != expected:
        name = type(kernel).__name__
        raise ValueError(f"{name}.tile returned shape {tile.shape}, but must return (left, right), here {expected}")
    return tile


def add_terms(
    tile: Array, row_terms: Array, column_terms: Array, *, lower: float = -np.inf, upper: float = np.inf
) -> Array:
    """Add a term per row and per column to a tile, and clip it to bounds. May overwrite the tile."""
    if is_on_host(tile):
        from .pairwise_kernels import add_terms_and_clip

        kind = tile.dtype.type
        add_terms_and_clip(tile, row_terms, column_terms, kind(lower), kind(upper))
        return tile
    tile += row_terms[:, None]
    tile += column_terms[None, :]
    return namespace(tile).clip(tile, lower, upper)


@dataclass(frozen=True, eq=False)
class TransposedKernelMatrix:
    """The transpose of a kernel matrix."""

    matrix: KernelMatrix

    def __matmul__(self, U: Array) -> Array:
        thin = self.matrix.convert(U)
        return reduce(add, self.matrix.map_tiles(lambda rows, tile: tile.T @ thin[rows, ...], whole=True))


def frobenius_norm(tile: Array) -> Array:
    """Root of the sum of squares, scaled by the largest number so that squares do not overflow."""
    xp = namespace(tile)
    largest = xp.max(xp.abs(tile))
    scaled = tile / keep_where(largest > 0, largest, 1.0)
    return largest * xp.sqrt(xp.sum(scaled * scaled))


def fits_in_memory(nbytes: int, X: Array = None) -> bool:
    """Whether a table of this size is cached for rows of the kind of X: on a device the free memory decides."""
    free = None if X is None else available_device_memory(X)
    return nbytes <= (tuning.max_cached_bytes if free is None else DEVICE_SHARE * free)
