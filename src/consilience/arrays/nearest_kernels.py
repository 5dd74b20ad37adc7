"""Compiled loops of the search for nearest rows. Importing this file imports numba."""

from __future__ import annotations

import numpy as np

from .compile import compile_kernel

STEP = 64  # values that are compared at a time: mostly none of them is small enough to keep


@compile_kernel
def keep_smallest(products, norms, first, values, positions):
    """Keep the smallest ``norms[j] - 2 products[i, j]`` of each row i, ascending, and ``first + j``.

    `values` and `positions` contain what was kept of earlier columns; on ties the earlier column stays.
    """
    n_columns, n_kept = products.shape[1], values.shape[1]
    for i in range(products.shape[0]):
        row, kept, kept_positions = products[i], values[i], positions[i]
        largest = kept[n_kept - 1]
        for start in range(0, n_columns, STEP):
            stop = min(n_columns, start + STEP)
            n_smaller = 0
            for j in range(start, stop):
                n_smaller += norms[j] - 2 * row[j] < largest
            if not n_smaller:
                continue
            for j in range(start, stop):
                value = norms[j] - 2 * row[j]
                if value < largest:
                    place = n_kept - 1
                    while place > 0 and kept[place - 1] > value:
                        kept[place], kept_positions[place] = kept[place - 1], kept_positions[place - 1]
                        place -= 1
                    kept[place], kept_positions[place] = value, first + j
                    largest = kept[n_kept - 1]


@compile_kernel
def keep_smallest_of_sparse(indptr, indices, data, starts, rows, numbers, norms, first, values, positions):
    """Keep the smallest ``norms[j] - 2 x_i . y_j`` of each sparse row x_i; the points y are stored by column.

    Column c of the points has `numbers` in `rows`, both from ``starts[c]`` to ``starts[c + 1]``.
    """
    products = np.zeros((1, len(norms)), values.dtype)
    for i in range(values.shape[0]):
        products[:] = 0
        row = products[0]
        for p in range(indptr[i], indptr[i + 1]):
            number = data[p]
            column = np.uintp(indices[p])
            for q in range(starts[column], starts[column + 1]):
                row[np.uintp(rows[q])] += number * numbers[q]
        keep_smallest(products, norms, first, values[i : i + 1], positions[i : i + 1])


@compile_kernel
def rank_candidates(queries, points, candidates, positions, squares):
    """Rank the candidates of each query by their squared distance, computed from differences; keep the nearest."""
    n_kept = positions.shape[1]
    distances = np.empty(candidates.shape[1])
    order = np.empty(candidates.shape[1], np.int64)
    for i in range(candidates.shape[0]):
        for c in range(candidates.shape[1]):
            point, total = points[candidates[i, c]], 0.0
            for column in range(queries.shape[1]):
                difference = np.float64(queries[i, column]) - np.float64(point[column])
                total += difference * difference
            position = candidates[i, c]
            place = c
            while place > 0 and (
                distances[place - 1] > total or (distances[place - 1] == total and order[place - 1] > position)
            ):
                distances[place], order[place] = distances[place - 1], order[place - 1]
                place -= 1
            distances[place], order[place] = total, position
        for c in range(n_kept):
            squares[i, c], positions[i, c] = distances[c], order[c]
