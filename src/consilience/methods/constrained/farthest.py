"""Find the two rows that are farthest apart: exactly, unless the search would take too long."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..._tuning import Tuning

tuning = Tuning(
    block=512,  # rows whose distances are computed at a time
    max_work=4e9,  # multiplications allowed for the exact searches of one round, about a second
)
WIDTH = 8192  # rows that they are compared with at a time


@dataclass(frozen=True)
class FarthestPair:
    """Two rows and their squared distance; `bound` limits the squared distance of any pair (equal if exact)."""

    first: int
    second: int
    square: float
    bound: float


def find_farthest_pair(X: Any, hints: Sequence[tuple[int, int]] = ((0, 0),), work_share: float = 1.0) -> FarthestPair:
    """Find the two rows of X (dense or scipy sparse) that are farthest apart, never closer than the hints.

    Two rows are at most as far apart as the sum of their distances from the mean. Once a distant pair is known, only
    pairs of outlying rows need to be compared. If these are too many for `work_share` of the allowed work, the pair
    known so far is returned and `bound` says how far apart another pair could be.
    """
    mean = np.asarray(X.mean(axis=0)).ravel()
    if sp.issparse(X):
        squares = np.asarray(X.multiply(X).sum(axis=1)).ravel() - 2 * (X @ mean) + mean @ mean
        norms = np.sqrt(np.maximum(squares, 0))
    else:
        centered = X - mean
        norms = np.sqrt(np.einsum("ij,ij->i", centered, centered))
    first, second, square = walk_to_distant_pair(X, hints, int(np.argmax(norms)))
    order = np.argsort(-norms, kind="stable")
    sorted_norms = norms[order]
    # for each row, the number of rows far enough out to be its partner; rounding must not exclude any
    limits = np.searchsorted(-sorted_norms, sorted_norms * (1 + 1e-9) - np.sqrt(square), side="right")
    n_rows = int(np.sum(limits > np.arange(len(norms))))
    work = float(np.sum(np.maximum(limits[:n_rows] - np.arange(n_rows), 0))) * X.shape[1]
    if work > work_share * tuning.max_work:
        return FarthestPair(first, second, square, float(4 * sorted_norms[0] ** 2))
    for start in range(0, n_rows, tuning.block):
        limit = np.searchsorted(-sorted_norms, sorted_norms[start] * (1 + 1e-9) - np.sqrt(square), side="right")
        if limit <= start:
            break
        rows = order[start : min(start + tuning.block, n_rows)]
        for begin in range(start, limit, WIDTH):
            others = order[begin : min(begin + WIDTH, limit)]
            squares = compute_squared_distances(X, rows, others, mean)
            i, j = np.unravel_index(np.argmax(squares), squares.shape)
            row, other = int(rows[i]), int(others[j])
            if (exact := measure_pair(X, row, other)) > square:
                first, second, square = row, other, exact
    return FarthestPair(first, second, square, square)


def walk_to_distant_pair(X: Any, hints: Sequence[tuple[int, int]], start: int) -> tuple[int, int, float]:
    """Go repeatedly from a row to the one farthest from it, until the distance no longer grows."""
    first, second, square = max(((*hint, measure_pair(X, *hint)) for hint in hints), key=lambda pair: pair[2])
    row = start
    while True:
        squares = compute_squared_distances(X, np.array([row]), np.arange(X.shape[0]), dense_row(X, row))[0]
        farthest = int(np.argmax(squares))
        exact = measure_pair(X, row, farthest)
        if not exact > square:
            return first, second, square
        first, second, square = row, farthest, exact
        row = farthest


def compute_squared_distances(X: Any, rows: np.ndarray, others: np.ndarray, origin: np.ndarray) -> np.ndarray:
    """Return squared distances between rows and others; dense rows are centered at `origin` to avoid cancellation."""
    left, right = X[rows], X[others]
    if sp.issparse(X):
        distances = (left @ right.T).toarray()
        left_squares, right_squares = (np.asarray(side.multiply(side).sum(axis=1)).ravel() for side in (left, right))
    else:
        left, right = left - origin, right - origin
        distances = left @ right.T
        left_squares, right_squares = (np.einsum("ij,ij->i", side, side) for side in (left, right))
    distances *= -2
    distances += left_squares[:, None]
    distances += right_squares[None, :]
    return distances


def dense_row(X: Any, row: int) -> np.ndarray:
    """Return one row as a dense array."""
    return X[[row]].toarray()[0] if sp.issparse(X) else X[row]


def measure_pair(X: Any, row: int, other: int) -> float:
    """Return the exact squared distance of two rows."""
    difference = dense_row(X, row).astype(np.float64) - dense_row(X, other)
    return float(difference @ difference)
