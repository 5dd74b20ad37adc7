"""The smallest value of a convex quadratic function of numbers that must not be negative."""

from __future__ import annotations

import numpy as np
from array_api_compat import device
from scipy.linalg import LinAlgError, cho_factor, cho_solve, solve_triangular
from scipy.optimize import nnls

from ...arrays import Array, keep_where, namespace

MOST_EXCHANGES = 50
PATIENCE = 3  # exchanges of whole blocks without fewer violations, before they go one by one
RIDGE = 1e-13  # added to the diagonal of ones
NEGATIVE = 1e-12  # a number this far below zero, as a share of the largest, counts as negative


class ExchangeRule:
    """Which numbers change sides, above zero or at zero, of those that are on the wrong one (Kim & Park 2011).

    All at once, which takes few rounds however many they are; one by one where that goes round in circles.
    """

    def __init__(self, n: int) -> None:
        self.fewest, self.patience = n + 1, PATIENCE

    def choose(self, wrong: Array) -> Array:
        xp = namespace(wrong)
        n_wrong = int(xp.count_nonzero(wrong))
        if n_wrong < self.fewest:
            self.fewest, self.patience = n_wrong, PATIENCE
        elif self.patience > 0:
            self.patience -= 1
        else:  # Murty's rule cannot go round in circles
            places = xp.arange(wrong.shape[0], device=device(wrong))
            wrong = places == xp.max(keep_where(wrong, places, -1))  # the last
        return wrong


def minimize_nonnegative(H: np.ndarray, b: np.ndarray, free: np.ndarray) -> np.ndarray:
    """Minimise ``p' H p / 2 - b' p`` over p >= 0 by block principal pivoting; H may be singular.

    `free` guesses which numbers are above zero. Where rounding keeps the blocks from settling, as with an H that is
    nearly singular, scipy's `nnls` adds numbers one by one.
    """
    sizes = np.sqrt(np.where(H.diagonal() > 0, H.diagonal(), 1.0))  # then rounding treats all alike
    H, b = H / sizes / sizes[:, None], b / sizes
    exchanges = ExchangeRule(len(b))
    for _ in range(MOST_EXCHANGES):
        p = solve_free(H, b, free)
        floor, slack = (NEGATIVE * np.abs(values).max(initial=0.0) for values in (p, b))
        wrong = np.where(free, p < -floor, H @ p < b - slack)
        if not wrong.any():
            return np.maximum(p, 0.0) / sizes
        free = free ^ exchanges.choose(wrong)
    factor = factorize(H)
    return nnls(factor.T, solve_triangular(factor, b, lower=True, check_finite=False))[0] / sizes


def solve_free(H: np.ndarray, b: np.ndarray, free: np.ndarray) -> np.ndarray:
    """The minimum over the free numbers, the others zero."""
    chosen = np.flatnonzero(free)
    p = np.zeros(len(b))
    if len(chosen):
        p[chosen] = cho_solve((factorize(H[np.ix_(chosen, chosen)]), True), b[chosen], check_finite=False)
    return p


def factorize(H: np.ndarray) -> np.ndarray:
    """A lower triangle L with L L' = H, but for a ridge as small as it can be."""
    ridge = RIDGE
    while True:
        try:
            return np.tril(cho_factor(H + ridge * np.eye(len(H)), lower=True, check_finite=False)[0])
        except LinAlgError:
            ridge *= 100
