"""Compiled loops of t-SNE: weights of neighbors, and the repulsion of points by cells of a grid."""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from ..arrays.compile import compile_kernel

NEAR = 2  # cells on each side of a point's cell whose points repel it one by one
N_BISECTIONS = 50
ENTROPY_ERROR = 1e-5


@compile_kernel
def weight_neighbors(squares: np.ndarray, perplexity: float) -> np.ndarray:
    """Weight the neighbors of each point by a Gaussian whose width gives the weights this perplexity; they sum to 1."""
    n_points, n_neighbors = squares.shape
    weights = np.full((n_points, n_neighbors), 1.0 / n_neighbors)
    target = math.log(perplexity)
    for i in range(n_points):
        nearest = squares[i].min()
        scale = squares[i].mean() - nearest
        if scale <= 0:  # all neighbors are equally far
            continue
        low, high, precision = 0.0, np.inf, 1.0
        for _ in range(N_BISECTIONS):
            total, moment = 0.0, 0.0
            for j in range(n_neighbors):
                excess = (squares[i, j] - nearest) / scale
                weight = math.exp(-precision * excess)
                weights[i, j] = weight
                total += weight
                moment += weight * excess
            error = math.log(total) + precision * moment / total - target
            if abs(error) < ENTROPY_ERROR:
                break
            if error > 0:
                low = precision
                precision = 2 * precision if high == np.inf else (low + high) / 2
            else:
                high = precision
                precision = (low + high) / 2
        weights[i] /= total
    return weights


@partial(compile_kernel, fastmath=True)
def repel_points(points, columns, rows, sources, starts, sizes, centers, forces, totals):  # type: ignore[no-untyped-def]
    """Sum what the sources do to each point: q = 1 / (1 + squared distance), and q**2 times the difference.

    The sources are sorted by cell, row by row: those of a cell c are starts[c] to starts[c + 1], with this size and
    center of mass. Far cells act like `size` sources at their center, as in Barnes and Hut's method with the ratio
    1 / NEAR. `columns` and `rows` are the cells of the points.
    """
    side = round(math.sqrt(len(sizes)))
    unit = np.float32(1.0)
    source_x, source_y = sources[:, 0].copy(), sources[:, 1].copy()
    center_x, center_y = centers[:, 0].copy(), centers[:, 1].copy()
    for i in range(len(points)):
        x, y = points[i, 0], points[i, 1]
        total, force_x, force_y = np.float32(0.0), np.float32(0.0), np.float32(0.0)
        first, last = max(columns[i] - NEAR, 0), min(columns[i] + NEAR, side - 1)
        for row in range(side):
            is_near = abs(row - rows[i]) <= NEAR
            left_end = row * side + (first if is_near else side)  # cells before it are far
            for c in range(row * side, left_end):
                dx, dy = x - center_x[c], y - center_y[c]
                q = unit / (unit + dx * dx + dy * dy)
                weighted = sizes[c] * q
                total += weighted
                force_x += weighted * q * dx
                force_y += weighted * q * dy
            if not is_near:
                continue
            for c in range(row * side + last + 1, (row + 1) * side):
                dx, dy = x - center_x[c], y - center_y[c]
                q = unit / (unit + dx * dx + dy * dy)
                weighted = sizes[c] * q
                total += weighted
                force_x += weighted * q * dx
                force_y += weighted * q * dy
            for j in range(starts[row * side + first], starts[row * side + last + 1]):
                dx, dy = x - source_x[j], y - source_y[j]
                q = unit / (unit + dx * dx + dy * dy)
                total += q
                force_x += q * q * dx
                force_y += q * q * dy
        totals[i] = total
        forces[i, 0], forces[i, 1] = force_x, force_y


@compile_kernel
def attract_points(points, sources, starts, neighbors, weights, forces):  # type: ignore[no-untyped-def]
    """Sum weight * q times the difference over the neighbors of each point, with q = 1 / (1 + squared distance)."""
    unit = np.float32(1.0)
    for i in range(len(points)):
        force_x, force_y = np.float32(0.0), np.float32(0.0)
        for e in range(starts[i], starts[i + 1]):
            dx, dy = points[i, 0] - sources[neighbors[e], 0], points[i, 1] - sources[neighbors[e], 1]
            weighted = weights[e] / (unit + dx * dx + dy * dy)
            force_x += weighted * dx
            force_y += weighted * dy
        forces[i, 0], forces[i, 1] = force_x, force_y
