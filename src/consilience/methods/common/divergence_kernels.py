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


def draw_seeds(Y: np.ndarray, first: int, uniforms: np.ndarray) -> np.ndarray:
    """Draw seeds by greedy k-means++ with squared Euclidean distances, and return the nearest seed of each row.

    Parameters
    ----------
    Y : array of shape (n, n_columns)
    first : int
        The row of the first seed.
    uniforms : array of shape (n_seeds - 1, n_draws)
        Random numbers from 0 to 1, by which the candidates of each further seed are drawn. Once all rows coincide with
        a seed, no more are drawn.
    """
    squares = np.vecdot(Y, Y, dtype=np.float64) if Y.dtype == np.float64 else (Y.astype(np.float64) ** 2).sum(axis=1)
    closest, nearest = np.full(len(Y), np.inf), np.zeros(len(Y), np.int64)
    lower_by_candidates(Y, squares, np.array([first]), closest, nearest, 0)
    draw_further_seeds(Y, squares, uniforms, closest, nearest)
    return nearest


@compile_kernel
def draw_further_seeds(
    Y: np.ndarray, squares: np.ndarray, uniforms: np.ndarray, closest: np.ndarray, nearest: np.ndarray
) -> None:
    """Draw the seeds after the first in proportion to `closest`, the squared distance from the nearest seed so far."""
    n, (n_further, n_draws) = len(Y), uniforms.shape
    cumulated, candidates = np.empty(n), np.empty(n_draws, np.int64)
    for seed in range(n_further):
        total = 0.0
        for i in range(n):
            total += closest[i]
            cumulated[i] = total
        if not total > 0:
            return
        for draw in range(n_draws):
            value = min(uniforms[seed, draw] * total, np.nextafter(total, 0.0))
            candidates[draw] = np.searchsorted(cumulated, value, side="right")
        lower_by_candidates(Y, squares, candidates, closest, nearest, seed + 1)


@partial(compile_kernel, fastmath=SUMMED)
def lower_by_candidates(
    Y: np.ndarray, squares: np.ndarray, candidates: np.ndarray, closest: np.ndarray, nearest: np.ndarray, label: int
) -> None:
    """Make the candidate that lowers the sum of `closest` most the seed `label`."""
    n, d = Y.shape
    rows = np.empty((len(candidates), d), Y.dtype)
    for j in range(len(candidates)):
        rows[j] = Y[candidates[j]]
    products = np.dot(rows, Y.T)
    best, lowest = 0, np.inf
    for j in range(len(candidates)):
        row, square, total = products[j], squares[candidates[j]], 0.0
        for i in range(n):
            value = squares[i] + square - 2.0 * row[i]
            value = value if value > 0 else 0.0
            total += value if value < closest[i] else closest[i]
        if total < lowest:
            best, lowest = j, total
    row, square = products[best], squares[candidates[best]]
    for i in range(n):
        value = squares[i] + square - 2.0 * row[i]
        value = value if value > 0 else 0.0
        if value < closest[i]:
            closest[i], nearest[i] = value, label


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
