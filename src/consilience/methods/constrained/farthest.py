"""The two rows that lie farthest from each other: exact, unless the data is so large and round that it takes long."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

BLOCK, WIDTH = 512, 8192  # rows, and others, whose distances are computed in one go
MOST_WORK = 4e9  # multiplications that the exact searches of one round may take, about a second


@dataclass(frozen=True)
class FarthestPair:
    """Two rows and their squared distance; no two are farther than the bound, which is that distance if exact."""

    first: int
    second: int
    square: float
    bound: float


def find_farthest_pair(X: Any, hints: Sequence[tuple[int, int]] = ((0, 0),), share: float = 1.0) -> FarthestPair:
    """The two rows of X, dense or of scipy's sparse kind, that lie farthest apart; never nearer than the hints.

    Two rows are no farther apart than their distances from the mean together. So once a distant pair is known, by
    going from a row to the one farthest from it a few times, only pairs of rows far out need a look. Where even these
    are too many for its share of the work, the pair known is returned, and the bound says how much farther another may
    be.
    """
    norms, mean = compute_lengths(X)
    first, second, square = walk_to_distant_pair(X, hints, int(np.argmax(norms)))
    order = np.argsort(-norms, kind="stable")
    far = norms[order]
    # for each row the rows further out than what its partner must be at least; rounding may not prune
    limits = np.searchsorted(-far, far * (1 + 1e-9) - np.sqrt(square), side="right")
    n_rows = int(np.sum(limits > np.arange(len(far))))
    work = float(np.sum(np.maximum(limits[:n_rows] - np.arange(n_rows), 0))) * X.shape[1]
    if work > share * MOST_WORK:
        return FarthestPair(first, second, square, float(4 * far[0] ** 2))
    for start in range(0, n_rows, BLOCK):
        limit = np.searchsorted(-far, far[start] * (1 + 1e-9) - np.sqrt(square), side="right")
        if limit <= start:
            break
        rows = order[start : min(start + BLOCK, n_rows)]
        for begin in range(start, limit, WIDTH):
            others = order[begin : min(begin + WIDTH, limit)]
            squares = compute_squared_distances(X, rows, others, mean)
            place = np.unravel_index(np.argmax(squares), squares.shape)
            one, other = int(rows[place[0]]), int(others[place[1]])
            if (exact := measure_pair(X, one, other)) > square:
                first, second, square = one, other, exact
    return FarthestPair(first, second, square, square)


def walk_to_distant_pair(X: Any, hints: Sequence[tuple[int, int]], start: int) -> tuple[int, int, float]:
    """A distant pair: from a row to the one farthest from it, until that is no farther."""
    first, second, square = max(((*hint, measure_pair(X, *hint)) for hint in hints), key=lambda own: own[2])
    here = start
    while True:
        there = int(
            np.argmax(compute_squared_distances(X, np.array([here]), np.arange(X.shape[0]), dense_row(X, here))[0])
        )
        found = measure_pair(X, here, there)
        if not found > square:
            return first, second, square
        first, second, square = here, there, found
        here = there


def compute_lengths(X: Any) -> tuple[np.ndarray, np.ndarray]:
    """Distance of each row from the mean, and the mean."""
    mean = np.asarray(X.mean(axis=0)).ravel()
    if sp.issparse(X):
        squares = np.asarray(X.multiply(X).sum(axis=1)).ravel() - 2 * (X @ mean) + mean @ mean
        return np.sqrt(np.maximum(squares, 0)), mean
    moved = X - mean
    return np.sqrt(np.einsum("ij,ij->i", moved, moved)), mean


def compute_squared_distances(X: Any, rows: np.ndarray, others: np.ndarray, origin: np.ndarray) -> np.ndarray:
    """Of some rows from others; measured from a point amid them, so that little cancels."""
    left, right = X[rows], X[others]
    if sp.issparse(X):
        products = (left @ right.T).toarray()
        own, theirs = (np.asarray(part.multiply(part).sum(axis=1)).ravel() for part in (left, right))
    else:
        left, right = left - origin, right - origin
        products = left @ right.T
        own, theirs = (np.einsum("ij,ij->i", part, part) for part in (left, right))
    products *= -2
    products += own[:, None]
    products += theirs[None, :]
    return products


def dense_row(X: Any, row: int) -> np.ndarray:
    """One row."""
    return X[[row]].toarray()[0] if sp.issparse(X) else X[row]


def measure_pair(X: Any, one: int, other: int) -> float:
    """Squared distance of two rows, exact."""
    away = dense_row(X, one).astype(np.float64) - dense_row(X, other)
    return float(away @ away)
