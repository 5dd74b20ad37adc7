"""Compiled loops over divergences of rows from centers. Importing this file imports numba.

In those of k-means++, arrays with one column per candidate have a multiple of `WIDTH` columns: loops of so few columns
are fast only if their length is constant.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from ...arrays.compile import compile_kernel

WIDTH = 4
SUMMED = {"reassoc", "contract", "nsz"}  # sums in any order, which vector registers need


def draw_seeds(Y: np.ndarray, first: np.ndarray, uniforms: np.ndarray) -> np.ndarray:
    """Draw seeds by greedy k-means++ with squared Euclidean distances, for several starts at a time.

    Parameters
    ----------
    Y : array of shape (n, n_columns)
    first : array of shape (n_starts,)
        The row of the first seed of each start.
    uniforms : array of shape (n_starts, n_seeds - 1, n_draws)
        Random numbers from 0 to 1, by which the candidates of each further seed are drawn.

    Returns
    -------
    nearest : array of shape (n_starts, n)
        The nearest seed of each row. If all rows coincide with some of the seeds, the others are nearest to none.
    """
    squares = np.vecdot(Y.astype(np.float64, copy=False), Y.astype(np.float64, copy=False))
    closest, nearest = np.full((len(first), len(Y)), np.inf), np.zeros((len(first), len(Y)), np.int64)
    lower_by_candidates(Y, squares, first[:, None], closest, nearest, 0)
    draw_further_seeds(Y, squares, uniforms, closest, nearest)
    return nearest


@compile_kernel
def draw_further_seeds(
    Y: np.ndarray, squares: np.ndarray, uniforms: np.ndarray, closest: np.ndarray, nearest: np.ndarray
) -> None:
    """Draw the seeds after the first in proportion to `closest`, the squared distance from the nearest seed so far."""
    n, (n_starts, n_further, n_draws) = len(Y), uniforms.shape
    cumulated, candidates = np.empty(n), np.zeros((n_starts, n_draws), np.int64)
    for seed in range(n_further):
        for start in range(n_starts):
            total = 0.0
            for i in range(n):
                total += closest[start, i]
                cumulated[i] = total
            for draw in range(n_draws if total > 0 else 0):
                value = min(uniforms[start, seed, draw] * total, np.nextafter(total, 0.0))
                candidates[start, draw] = min(np.searchsorted(cumulated, value, side="right"), n - 1)
        lower_by_candidates(Y, squares, candidates, closest, nearest, seed + 1)


@partial(compile_kernel, fastmath=SUMMED)
def lower_by_candidates(
    Y: np.ndarray, squares: np.ndarray, candidates: np.ndarray, closest: np.ndarray, nearest: np.ndarray, label: int
) -> None:
    """Make the candidate of each start that lowers the sum of its `closest` most the seed `label`."""
    n, (n_starts, n_draws) = len(Y), candidates.shape
    rows = np.empty((n_starts * n_draws, Y.shape[1]), Y.dtype)
    for start in range(n_starts):
        for draw in range(n_draws):
            rows[start * n_draws + draw] = Y[candidates[start, draw]]
    products = np.dot(rows, Y.T)
    for start in range(n_starts):
        best, lowest, distances = 0, np.inf, closest[start]
        for draw in range(n_draws):
            row, square, total = products[start * n_draws + draw], squares[candidates[start, draw]], 0.0
            for i in range(n):
                value = squares[i] + square - 2.0 * row[i]
                value = value if value > 0 else 0.0
                total += value if value < distances[i] else distances[i]
            if total < lowest:
                best, lowest = draw, total
        row, square = products[start * n_draws + best], squares[candidates[start, best]]
        for i in range(n):
            value = squares[i] + square - 2.0 * row[i]
            value = value if value > 0 else 0.0
            if value < distances[i]:
                distances[i], nearest[start, i] = value, label


@compile_kernel
def subtract_scores(scores: np.ndarray, row_term: np.ndarray, scale: float) -> np.ndarray:
    """Compute divergences from scores, (rows, centers); rounding errors below zero become zero."""
    n_rows, n_centers = scores.shape
    divergences = np.empty((n_rows, n_centers))
    for i in range(n_rows):
        for j in range(n_centers):
            divergences[i, j] = max(row_term[i] - scale * scores[i, j], 0.0)
    return divergences


@compile_kernel
def find_smallest(values: np.ndarray) -> np.ndarray:
    """Return the column of the smallest value of each row, the first on ties."""
    n_rows, n_columns = values.shape
    columns = np.zeros(n_rows, np.int64)
    for i in range(n_rows):
        smallest = values[i, 0]
        for j in range(1, n_columns):
            if values[i, j] < smallest:
                smallest = values[i, j]
                columns[i] = j
    return columns


@compile_kernel
def add_divergences(
    products: np.ndarray, bias: np.ndarray, row_term: np.ndarray, scale: float, unit: float, total: np.ndarray
) -> None:
    """Add a view's divergences from all candidates, in multiples of `unit`."""
    n_rows, n_candidates = products.shape
    for i in range(n_rows):
        for first in range(0, n_candidates, WIDTH):
            for j in range(first, first + WIDTH):
                value = (row_term[i] + scale * (bias[j] - products[i, j])) * unit
                value = value if value > 0 else 0.0
                total[i, j] += value


@compile_kernel
def add_shared_divergences(
    products: np.ndarray,
    bias: np.ndarray,
    row_term: np.ndarray,
    scale: float,
    unit: float,
    present: np.ndarray,
    has_view: np.ndarray,
    total: np.ndarray,
    n_shared: np.ndarray,
) -> None:
    """Add a view's divergences where the entity and the candidate both have the view, and count these views."""
    n_rows, n_candidates = products.shape
    for i in range(n_rows):
        for first in range(0, n_candidates, WIDTH):
            for j in range(first, first + WIDTH):
                both = present[i] and has_view[j]
                value = (row_term[i] + scale * (bias[j] - products[i, j])) * unit
                value = value if both and value > 0 else 0.0
                total[i, j] += value
                n_shared[i, j] += both


@compile_kernel
def average_shared(total: np.ndarray, n_shared: np.ndarray) -> None:
    """Divide by the number of shared views; without one, the divergence is 1, the average."""
    n_rows, n_candidates = total.shape
    for i in range(n_rows):
        for first in range(0, n_candidates, WIDTH):
            for j in range(first, first + WIDTH):
                total[i, j] = total[i, j] / n_shared[i, j] if n_shared[i, j] > 0 else 1.0


@compile_kernel
def lower_to_closest(divergences: np.ndarray, closest: np.ndarray) -> np.ndarray:
    """Replace divergences that exceed that from the closest seed by it; return the sum over the entities."""
    n_rows, n_candidates = divergences.shape
    potentials = np.zeros(n_candidates)
    for i in range(n_rows):
        for first in range(0, n_candidates, WIDTH):
            for j in range(first, first + WIDTH):
                value = min(divergences[i, j], closest[i])
                divergences[i, j] = value
                potentials[j] += value
    return potentials


@compile_kernel
def accept_candidate(
    divergences: np.ndarray, column: int, label: int, closest: np.ndarray, nearest: np.ndarray, may_draw: np.ndarray
) -> float:
    """Make a candidate the seed `label`; return the sum of `closest` over the entities that may be drawn."""
    total = 0.0
    for i in range(len(closest)):
        if divergences[i, column] < closest[i]:
            closest[i] = divergences[i, column]
            nearest[i] = label
        if may_draw[i]:
            total += closest[i]
    return total
