"""Exact search for the nearest rows, in blocks of products.

Products in float32 propose a few more points than are asked for, and differences in float64 decide between them. Where
rounding of the products could have hidden one of the nearest points, the query is searched again with products in
float64. Sparse rows, which have few products, are multiplied in float64 only.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from array_api_compat import device, is_torch_array
from scipy.spatial import KDTree

from .._tuning import Tuning
from .namespace import Array, namespace, to_numpy
from .parallel import choose_block_size, map_chunks, split_slice
from .verbs import find_origin, inner_products, is_on_host, is_sparse, map_values, shift_rows, squared_norms, take_rows

N_SPARE = 8  # points that are proposed beyond those asked for
QUERY_BLOCK, POINT_BLOCK = 512, 1024  # dense rows whose products fit a cache
SPARSE_QUERY_BLOCK, SPARSE_POINT_BLOCK = 256, 1 << 15
TILE = 1 << 20  # numbers that are computed at a time without compiled code
tuning = Tuning(worth_compiled=1 << 22)  # pairs of rows from which on compiled code is worth loading
MOST_TREE_COLUMNS = 6  # up to which a tree is faster than comparing all pairs


class Nearest(NamedTuple):
    """The nearest points of each query, the nearest first."""

    positions: np.ndarray  # (queries, neighbors)
    distances: np.ndarray  # (queries, neighbors), Euclidean, float64


class SearchedPoints(NamedTuple):
    """Points prepared for products with queries of the same dtype."""

    X: Array
    norms: Array  # squared length of each point
    is_compiled: bool
    columns: tuple[Any, ...] = ()  # the transpose of each block of sparse points, for compiled code

    @classmethod
    def prepare(cls, X: Array, dtype: Any, *, compiled: bool, indexed: bool = True) -> SearchedPoints:
        """Convert points to a dtype; `indexed` unless only parts of them are searched at a time."""
        X = cast_rows(X, dtype)
        norms = namespace(X).astype(squared_norms(X), dtype)
        columns = ()
        if compiled and indexed and is_sparse(X):
            columns = tuple(X[rows].to_scipy().T.tocsr() for rows in divide_rows(X.shape[0], SPARSE_POINT_BLOCK))
        return cls(X, norms, compiled, columns)

    def propose(self, queries: Array, n_candidates: int) -> tuple[Array, Array]:
        """Return the points with the smallest ``|y|^2 - 2 x . y``, and these values; the largest value is the last."""
        queries = cast_rows(queries, self.X.dtype)
        if self.is_compiled:
            values = np.full((queries.shape[0], n_candidates), np.inf, self.X.dtype)
            positions = np.tile(np.arange(n_candidates, dtype=np.int32), (len(values), 1))
            self.update(queries, slice(0, self.X.shape[0]), values, positions)
            return positions, values
        products = inner_products(queries, self.X)
        products *= -2
        products += self.norms[None, :]
        return select_smallest(products, n_candidates)

    def update(self, queries: Array, searched: slice, values: np.ndarray, positions: np.ndarray) -> None:
        """Replace values and positions by those of a slice of the points if they are smaller; compiled."""
        from . import nearest_kernels

        if is_sparse(queries):
            blocks = self.columns or (self.X[searched].to_scipy().T.tocsr(),)
            first = searched.start
            for block in blocks:
                nearest_kernels.keep_smallest_of_sparse(
                    *(queries.indptr, queries.indices, queries.data, block.indptr, block.indices, block.data),
                    *(self.norms[first : first + block.shape[1]], first, values, positions),
                )
                first += block.shape[1]
            return
        products = np.empty((len(queries), min(POINT_BLOCK, searched.stop - searched.start)), self.X.dtype)
        for first in range(searched.start, searched.stop, POINT_BLOCK):
            block = slice(first, min(first + POINT_BLOCK, searched.stop))
            tile = np.matmul(queries, self.X[block].T, out=products[:, : block.stop - first])
            nearest_kernels.keep_smallest(tile, self.norms[block], first, values, positions)


def find_nearest(points: Array, n_neighbors: int, queries: Array | None = None) -> Nearest:
    """Find the nearest points of each query by Euclidean distance, exactly.

    Parameters
    ----------
    points : rows, dense or sparse, of any library
        Where to search.
    n_neighbors : int
        Number of nearest points, at most as many as there are points.
    queries : rows of the kind of `points`, optional
        What to search for, converted to the dtype of the points. If not given, the points themselves, which count among
        their own nearest.

    Returns
    -------
    Nearest
        Positions and distances, in host memory.
    """
    queries = points if queries is None else cast_rows(queries, points.dtype)
    if not queries.shape[0]:
        return Nearest(np.empty((0, n_neighbors), np.int64), np.empty((0, n_neighbors)))
    if is_sparse(points):
        return _find_among_sparse(points, queries, n_neighbors)
    if is_on_host(points) and points.shape[1] <= MOST_TREE_COLUMNS:
        return _find_by_tree(points, queries, n_neighbors)
    origin = find_origin(points)
    if origin is not None:
        origin = namespace(points).astype(origin, points.dtype)
        points, queries = shift_rows(points, origin), shift_rows(queries, origin)
    return _find_among_dense(points, queries, n_neighbors)


def _find_by_tree(points: np.ndarray, queries: np.ndarray, n_neighbors: int) -> Nearest:
    """Search a tree, on the threads allowed."""
    tree = KDTree(points)
    ranks = list(range(1, n_neighbors + 1))
    blocks = divide_rows(len(queries), QUERY_BLOCK)
    distances, positions = zip(*map_chunks(lambda rows: tree.query(queries[rows], ranks), blocks), strict=True)
    return Nearest(np.concatenate(positions), np.concatenate(distances))


def _find_among_sparse(points: Array, queries: Array, n_neighbors: int) -> Nearest:
    """Search by products in float64."""
    xp = namespace(points)
    compiled = use_compiled_code(points, queries)
    searched = SearchedPoints.prepare(points, xp.float64, compiled=compiled)

    def search(rows: slice) -> tuple[np.ndarray, np.ndarray]:
        block = queries[rows, ...]
        positions, values = searched.propose(block, n_neighbors)
        return to_numpy(positions), recover_distances(to_numpy(values), to_numpy(squared_norms(block)))

    size = SPARSE_QUERY_BLOCK if compiled else choose_block_size(points, TILE) // max(points.shape)
    positions, distances = zip(*_search_in_blocks(search, queries, size), strict=True)
    return Nearest(np.concatenate(positions), np.concatenate(distances))


def _find_among_dense(points: Array, queries: Array, n_neighbors: int) -> Nearest:
    """Search by products in float32, and again by products in float64 where rounding leaves it uncertain."""
    xp = namespace(points)
    positions, squares, certain = _search_dense(points, queries, n_neighbors, xp.float32)
    again = np.flatnonzero(~certain)
    if len(again):
        rows = take_rows(queries, again if is_on_host(queries) else xp.asarray(again, device=device(queries)))
        positions[again], squares[again], _ = _search_dense(points, rows, n_neighbors, xp.float64)
    return Nearest(positions, np.sqrt(squares))


def _search_dense(
    points: Array, queries: Array, n_neighbors: int, dtype: Any
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return positions and squared distances of the nearest points, and whether rounding cannot have hidden a point."""
    compiled = use_compiled_code(points, queries)
    with np.errstate(over="ignore"):  # what overflows in float32 is searched again
        searched = SearchedPoints.prepare(points, dtype, compiled=compiled)
    n_candidates = min(points.shape[0], n_neighbors + N_SPARE)

    @np.errstate(over="ignore", invalid="ignore")
    def search(rows: slice) -> tuple[np.ndarray, ...]:
        block = queries[rows, ...]
        candidates, values = searched.propose(block, n_candidates)
        positions, squares = rank_by_differences(block, points, candidates, n_neighbors)
        last = to_numpy(values[:, -1]).astype(np.float64)
        return positions, squares, is_certain(last, squares[:, -1], to_numpy(squared_norms(block)), searched.X)

    most_rows = choose_block_size(points, TILE) // max(points.shape[0], n_candidates * points.shape[1])
    blocks = _search_in_blocks(search, queries, QUERY_BLOCK if compiled else most_rows)
    positions, squares, certain = (np.concatenate(parts) for parts in zip(*blocks, strict=True))
    return positions, squares, certain | (n_candidates == points.shape[0])


def is_certain(last: np.ndarray, farthest: np.ndarray, norms: np.ndarray, points: Array) -> np.ndarray:
    """Return whether no point outside the candidates can be nearer than the farthest neighbor, rounding included.

    `last` is the largest ``|y|^2 - 2 x . y`` of the candidates of x, `farthest` the squared distance of the last
    neighbor, and `norms` the squared length of x. Only points y at most as far as the last neighbor matter, whose
    length is therefore at most ``reach``. Rounding errors of a product add up like a random walk.
    """
    lengths = np.sqrt(norms)
    reach = lengths + np.sqrt(farthest)
    units = (8 + 4 * points.shape[1] ** 0.5) * float(namespace(points).finfo(points.dtype).eps) / 2
    return np.isfinite(last) & (last - units * reach * (reach + 2 * lengths) > farthest - norms)


def rank_by_differences(queries: Array, points: Array, candidates: Array, n_kept: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the nearest of the candidates of each query, and their squared distances, from differences in float64."""
    if is_on_host(candidates) and candidates.dtype == np.int32:
        from . import nearest_kernels

        positions, squares = np.empty((len(queries), n_kept), np.int32), np.empty((len(queries), n_kept))
        nearest_kernels.rank_candidates(queries, points, candidates, positions, squares)
        return positions, squares
    xp = namespace(points)
    candidates = xp.sort(candidates, axis=1)  # ties go to the first point
    rows = xp.reshape(take_rows(points, xp.reshape(candidates, (-1,))), (*candidates.shape, points.shape[1]))
    differences = xp.astype(rows, xp.float64) - xp.astype(queries, xp.float64)[:, None, :]
    squares = xp.sum(differences * differences, axis=2)
    order = xp.argsort(squares, axis=1, stable=True)[:, :n_kept]
    return tuple(to_numpy(xp.take_along_axis(values, order, axis=1)) for values in (candidates, squares))  # type: ignore[return-value]


def recover_distances(values: np.ndarray, norms: np.ndarray) -> np.ndarray:
    """Return distances from ``|y|^2 - 2 x . y`` and the squared lengths of the x."""
    return np.sqrt(np.maximum(values + norms[:, None], 0.0))


def select_smallest(table: Array, number: int) -> tuple[Array, Array]:
    """Return the positions of the smallest numbers of each row, and these numbers, ascending."""
    xp = namespace(table)
    if is_torch_array(table):
        smallest = table.topk(number, dim=1, largest=False, sorted=True)
        return smallest.indices, smallest.values
    if is_on_host(table) and number < table.shape[1]:
        positions = np.argpartition(table, number - 1, axis=1)[:, :number]
        order = np.argsort(np.take_along_axis(table, positions, axis=1), axis=1, kind="stable")
        positions = np.take_along_axis(positions, order, axis=1)
    else:
        positions = xp.argsort(table, axis=1, stable=True)[:, :number]
    return positions, xp.take_along_axis(table, positions, axis=1)


def use_compiled_code(points: Array, queries: Array) -> bool:
    """Whether rows are in host memory, and so many that loading compiled code is worth it."""
    return is_on_host(points) and queries.shape[0] * points.shape[0] >= tuning.worth_compiled


def cast_rows(X: Array, dtype: Any) -> Array:
    """Convert the numbers of dense or sparse rows; rows of numpy are contiguous afterwards."""
    if is_on_host(X) and not is_sparse(X):
        return np.ascontiguousarray(X, dtype=dtype)
    return map_values(X, lambda values: namespace(values).astype(values, dtype, copy=False))


def divide_rows(n_rows: int, most_rows: int) -> list[slice]:
    """Cut rows into slices of nearly equal length."""
    return split_slice(slice(0, n_rows), -(-n_rows // max(1, most_rows)))


def _search_in_blocks(search: Any, queries: Array, most_rows: int) -> Any:
    """Search blocks of queries, on the threads allowed; on a device one block after the other."""
    return (map_chunks if is_on_host(queries) else map)(search, divide_rows(queries.shape[0], most_rows))
