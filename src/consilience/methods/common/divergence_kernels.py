"""Compiled loops over divergences of rows from centers. Importing this file imports numba.

In those of k-means++, arrays with one column per candidate have a multiple of `WIDTH` columns: loops of so few columns
are fast only if their length is constant.
"""

from __future__ import annotations

import numpy as np

from ...arrays.compile import compile_kernel

WIDTH = 4


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
