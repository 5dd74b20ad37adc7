"""Minimize a convex quadratic function over nonnegative numbers."""

from __future__ import annotations

import numpy as np
from array_api_compat import device
from scipy.linalg import LinAlgError, cho_factor, cho_solve, solve_triangular
from scipy.optimize import nnls

from ...arrays import Array, keep_where, namespace

MAX_EXCHANGES = 50
PATIENCE = 3  # block exchanges without fewer violations before variables are exchanged one by one
RIDGE = 1e-13  # added to the diagonal, which is scaled to ones
NEGATIVE = 1e-12  # numbers this far below zero, relative to the largest, count as negative


class ExchangeRule:
    """Choose which violating variables switch between positive and zero (Kim & Park 2011).

    All of them at once, which takes few rounds however many there are; one by one if that starts to cycle.
    """

    def __init__(self, n: int) -> None:
        self.fewest, self.patience = n + 1, PATIENCE

    def choose(self, violating: Array) -> Array:
        xp = namespace(violating)
        n_violating = int(xp.count_nonzero(violating))
        if n_violating < self.fewest:
            self.fewest, self.patience = n_violating, PATIENCE
        elif self.patience > 0:
            self.patience -= 1
        else:  # Murty's rule, which cannot cycle: only the last one
            positions = xp.arange(violating.shape[0], device=device(violating))
            violating = positions == xp.max(keep_where(violating, positions, -1))
        return violating


def minimize_nonnegative(H: np.ndarray, b: np.ndarray, free: np.ndarray) -> np.ndarray:
    """Minimize ``p' H p / 2 - b' p`` over p >= 0 by block principal pivoting; H may be singular.

    `free` is a guess which numbers are positive. If rounding keeps the blocks from settling, as with a nearly singular
    H, scipy's `nnls` adds numbers one by one.
    """
    scale = np.sqrt(np.where(H.diagonal() > 0, H.diagonal(), 1.0))  # so that rounding affects all alike
    H, b = H / scale / scale[:, None], b / scale
    exchanges = ExchangeRule(len(b))
    for _ in range(MAX_EXCHANGES):
        chosen = np.flatnonzero(free)
        p = np.zeros(len(b))
        if len(chosen):
            p[chosen] = cho_solve((factorize(H[np.ix_(chosen, chosen)]), True), b[chosen], check_finite=False)
        floor, slack = (NEGATIVE * np.abs(values).max(initial=0.0) for values in (p, b))
        violating = np.where(free, p < -floor, H @ p < b - slack)
        if not violating.any():
            return np.maximum(p, 0.0) / scale
        free = free ^ exchanges.choose(violating)
    factor = factorize(H)
    return nnls(factor.T, solve_triangular(factor, b, lower=True, check_finite=False))[0] / scale


def factorize(H: np.ndarray) -> np.ndarray:
    """Return a lower triangle L with L L' = H, up to the smallest ridge that makes H positive definite."""
    ridge = RIDGE
    while True:
        try:
            return np.tril(cho_factor(H + ridge * np.eye(len(H)), lower=True, check_finite=False)[0])
        except LinAlgError:
            ridge *= 100
