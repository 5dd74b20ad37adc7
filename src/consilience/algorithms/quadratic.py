"""The smallest value of a convex quadratic function of numbers that must not be negative."""

from __future__ import annotations

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

MOST_EXCHANGES = 200
PATIENCE = 3  # exchanges of whole blocks without fewer violations, before they go one by one
RIDGE = 1e-13  # added to the diagonal of ones
NEGATIVE = 1e-12  # a number this far below zero, as a share of the largest, counts as negative


def nonnegative_minimum(H: np.ndarray, b: np.ndarray, free: np.ndarray) -> np.ndarray:
    """Minimise ``p' H p / 2 - b' p`` over p >= 0 by block principal pivoting (Kim & Park 2011); H may be singular.

    `free` guesses which numbers are above zero: all that guess wrong change sides at once, which takes few rounds
    however many they are. What is left after many is near enough: the caller looks at the value it gets.
    """
    sizes = np.sqrt(np.where(H.diagonal() > 0, H.diagonal(), 1.0))  # then rounding treats all alike
    return scaled_minimum(H / sizes / sizes[:, None], b / sizes, free) / sizes


def scaled_minimum(H: np.ndarray, b: np.ndarray, free: np.ndarray) -> np.ndarray:
    """The same for an H with ones on its diagonal."""
    ridge = RIDGE
    fewest, patience = len(b) + 1, PATIENCE
    for _ in range(MOST_EXCHANGES):
        p, ridge = solved(H, b, free, ridge)
        slope = H @ p - b
        wrong = np.where(
            free, p < -NEGATIVE * np.abs(p).max(initial=0.0), slope < -NEGATIVE * np.abs(b).max(initial=0.0)
        )
        n_wrong = int(np.count_nonzero(wrong))
        if n_wrong == 0:
            break
        if n_wrong < fewest:
            fewest, patience = n_wrong, PATIENCE
        elif patience > 0:
            patience -= 1
        else:  # Murty's rule cannot go round in circles
            wrong[: np.flatnonzero(wrong)[-1]] = False
        free = free ^ wrong
    return np.maximum(p, 0.0)


def solved(H: np.ndarray, b: np.ndarray, free: np.ndarray, ridge: float) -> tuple[np.ndarray, float]:
    """The minimum over the free numbers, the others zero; also the ridge that it took."""
    chosen = np.flatnonzero(free)
    p = np.zeros(len(b))
    part = H[np.ix_(chosen, chosen)]
    while len(chosen):
        try:
            factor = cho_factor(part + ridge * np.eye(len(chosen)), lower=True, check_finite=False)
        except LinAlgError:
            ridge *= 100
            continue
        p[chosen] = cho_solve(factor, b[chosen], check_finite=False)
        break
    return p, ridge
