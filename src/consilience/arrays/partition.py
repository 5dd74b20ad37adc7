"""Search for nearly all nearest rows among many: rows are compared with those of the cells of a partition near to them.

Cells are found by k-means. How many cells each row must be compared with is measured: the nearest rows of a sample are
searched exactly, and their cells tell how many of the nearest cells contain nearly all of them.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from .._tuning import Tuning
from .csr import CSR
from .namespace import Array
from .nearest import (
    MOST_TREE_COLUMNS,
    N_SPARE,
    Nearest,
    SearchedPoints,
    cast_rows,
    divide_rows,
    find_nearest,
    rank_by_differences,
    recover_distances,
)
from .parallel import map_chunks
from .verbs import find_origin, is_on_host, is_sparse, shift_rows, squared_norms, take_rows, to_host

RECALL = 0.98  # share of the nearest rows that the cells are to contain
CELLS_PER_ROOT = 2  # number of cells divided by the square root of the number of rows
N_ROUNDS, ROWS_PER_CELL = 6, 40  # of k-means
N_MEASURED = 1000  # rows whose nearest rows are searched exactly
SEARCHED_ROWS = 1 << 14  # rows that a thread searches at a time
tuning = Tuning(most_searched=1 / 4)  # share of the cells beyond which comparing all rows is faster


def find_nearly_nearest(points: Array, n_neighbors: int, rng: np.random.Generator) -> Nearest:
    """Find nearly all nearest rows of each row, itself included.

    The result does not depend on the number of threads. Rows on a device, few rows, rows of few columns, and rows whose
    nearest are spread over many cells are searched exactly.
    """
    n = points.shape[0]
    n_cells = round(CELLS_PER_ROOT * n**0.5)
    if not is_on_host(points) or n < ROWS_PER_CELL * n_cells or points.shape[1] <= MOST_TREE_COLUMNS:
        return find_nearest(points, n_neighbors)
    origin = find_origin(points)
    points = points if origin is None else shift_rows(points, origin.astype(points.dtype))
    centers = find_centers(points, n_cells, rng)
    n_cells = centers.shape[0]
    cells = find_nearest(centers, 1, points).positions[:, 0]
    n_searched = count_searched_cells(points, centers, cells, n_neighbors, rng)
    if n_searched > tuning.most_searched * n_cells:
        return find_nearest(points, n_neighbors)
    order = np.argsort(cells, kind="stable")
    starts = np.searchsorted(cells[order], np.arange(n_cells + 1))
    sorted_points = take_rows(points, order)
    dtype = np.float64 if is_sparse(points) else np.float32
    searched = SearchedPoints.prepare(sorted_points, dtype, compiled=True, indexed=False)
    searched_centers = SearchedPoints.prepare(centers, dtype, compiled=True)
    positions, distances = np.empty((n, n_neighbors), np.int32), np.empty((n, n_neighbors))

    def search(rows: slice) -> None:
        queries = sorted_points[rows, ...]
        nearest_cells, _ = searched_centers.propose(queries, n_searched)
        nearest = _search_cells(searched, sorted_points, queries, nearest_cells, starts, n_neighbors)
        positions[order[rows]], distances[order[rows]] = order[nearest.positions], nearest.distances

    for _ in map_chunks(search, divide_rows(n, SEARCHED_ROWS)):
        pass
    return Nearest(positions, distances)


def find_centers(points: Array, n_cells: int, rng: np.random.Generator) -> Array:
    """Find centers of cells by k-means on a sample of the rows; cells that become empty are dropped."""
    n = points.shape[0]
    sample = take_rows(points, np.sort(rng.choice(n, min(n, ROWS_PER_CELL * n_cells), replace=False)))
    centers = take_rows(sample, np.sort(rng.choice(sample.shape[0], n_cells, replace=False)))
    matrix = to_host(sample)
    for _ in range(N_ROUNDS):
        cells = find_nearest(centers, 1, sample).positions[:, 0]
        filled, cells, sizes = np.unique(cells, return_inverse=True, return_counts=True)
        weights = (1 / sizes)[cells].astype(points.dtype)
        members = sp.csr_array((weights, (cells, np.arange(len(cells)))), shape=(len(filled), len(cells)))
        means = members @ matrix
        centers = CSR.from_scipy(sp.csr_array(means)) if is_sparse(points) else means
    return centers


def count_searched_cells(
    points: Array, centers: Array, cells: np.ndarray, n_neighbors: int, rng: np.random.Generator
) -> int:
    """Return how many of the nearest cells of a row contain nearly all of its nearest rows, measured on a sample."""
    sample = take_rows(points, np.sort(rng.choice(points.shape[0], N_MEASURED, replace=False)))
    nearest = find_nearest(points, n_neighbors, sample).positions
    nearest_cells = find_nearest(centers, centers.shape[0], sample).positions
    ranks = np.argsort(nearest_cells, axis=1)  # rank of each cell among those of a row
    needed = np.sort(np.take_along_axis(ranks, cells[nearest], axis=1), axis=None)
    return int(needed[int(np.ceil(RECALL * len(needed))) - 1]) + 1


def _search_cells(
    searched: SearchedPoints, points: Array, queries: Array, cells: np.ndarray, starts: np.ndarray, n_neighbors: int
) -> Nearest:
    """Find the nearest points of each query among those of its cells, (queries, cells); points are sorted by cell."""
    is_ranked = not is_sparse(points)
    n_candidates = n_neighbors + N_SPARE * is_ranked
    values = np.full((queries.shape[0], n_candidates), np.inf, searched.X.dtype)
    positions = np.tile(np.arange(n_candidates, dtype=np.int32), (len(values), 1))
    rows = cast_rows(queries, searched.X.dtype)
    order = np.argsort(cells, axis=None, kind="stable")
    visited, first = np.unique(cells.ravel()[order], return_index=True)
    for cell, visitors in zip(visited, np.split(order // cells.shape[1], first[1:]), strict=True):
        kept = values[visitors], positions[visitors]
        searched.update(take_rows(rows, visitors), slice(starts[cell], starts[cell + 1]), *kept)
        values[visitors], positions[visitors] = kept
    if is_ranked:
        positions, squares = rank_by_differences(queries, points, positions, n_neighbors)
        distances = np.sqrt(squares)
    else:
        distances = recover_distances(values, squared_norms(queries))
    lonely = np.flatnonzero(np.isinf(values).any(axis=1))  # the cells have too few points, as those of outliers may
    if len(lonely):
        nearest = find_nearest(points, n_neighbors, take_rows(queries, lonely))
        positions[lonely], distances[lonely] = nearest.positions, nearest.distances
    return Nearest(positions, distances)
