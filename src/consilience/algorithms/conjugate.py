"""Newton steps over all components of a mixture, by conjugate gradients: for shares that are not sparse."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .components import AHEAD, LOSS, ROUNDING, SLOPE, Components, objective, positive, ratio
from .quadratic import Exchanges

HALVINGS = 10  # of a step by conjugate gradients
MANY_HALVINGS = 40  # of the step that is left when that gains nothing
FLAT = 1e-12  # curvature along a direction, in that metric, which is none
CONJUGATE_STEPS = 100
LEAST_METRIC = 0.01  # for components without a share, as a part of the mean share
EXCHANGES = 30  # of components that conjugate gradients leave at zero
RESIDUAL = 0.1  # of a system solved by conjugate gradients, as a share of the first


def conjugate_step(
    A: Components, w: np.ndarray, q: np.ndarray, Q: np.ndarray, g: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """A Newton step over all components: new shares, and their likelihood.

    If no step towards the minimum of the quadratic model gains, one towards the multiplicative update does.
    """

    def curvature(v: np.ndarray) -> np.ndarray:
        return A.T @ (ratio(w, Q) * ratio(A @ v, Q))

    gap = max(float(g.max()) - 1, 0.0)
    # one over the diagonal of the Hessian, but no more than the metric of the multiplicative update
    metric = np.minimum(1 / positive(A.squared_sums(ratio(ratio(w, Q), Q))), q + LEAST_METRIC / len(q))
    free = (q > 0) | (g > 1)
    towards = conjugate_minimum(curvature, 2 * g - 1, q, free, metric, min(RESIDUAL, gap**0.5), AHEAD * gap)
    update = np.where(q > 0, q * g, np.maximum(g - 1, 0.0) / len(q))  # a component at zero may come back
    before, lowest = objective(w, Q), np.minimum(LOSS * Q, w)  # see `line_search`
    for target, n_lengths in ((towards, HALVINGS), (update, MANY_HALVINGS)):
        step = target / target.sum() - q if target.any() else -q
        for length in 0.5 ** np.arange(n_lengths):
            moved = q + length * step
            likelihood = A @ moved
            gained = objective(w, likelihood) >= before + SLOPE * length * float(step @ g) - ROUNDING * abs(before)
            if gained and (likelihood >= lowest).all():
                return moved, likelihood
    return q, Q


def conjugate_minimum(
    H: Callable[[np.ndarray], np.ndarray],
    b: np.ndarray,
    q: np.ndarray,
    free: np.ndarray,
    metric: np.ndarray,
    residual: float,
    accuracy: float,
) -> np.ndarray:
    """What `nonnegative_minimum` finds, roughly, from products with H alone, starting at q.

    Systems are solved by conjugate gradients in a metric that should be near to one over the diagonal of H.
    """
    p, enough, exchanges = q, None, Exchanges(len(q))
    for _ in range(EXCHANGES):
        p = np.where(free, p, 0.0)
        rest = np.where(free, b - H(p), 0.0)
        scaled = metric * rest
        direction, size = scaled, float(rest @ scaled)
        enough = residual**2 * size if enough is None else enough
        for _ in range(CONJUGATE_STEPS):
            curved = np.where(free, H(direction), 0.0)
            bend = float(direction @ curved)
            if size <= enough or bend <= FLAT * float(direction @ (direction / metric)):
                break
            p = p + size / bend * direction
            rest = rest - size / bend * curved
            scaled = metric * rest
            size, last = float(rest @ scaled), size
            direction = scaled + size / last * direction
        wrong = np.where(free, p < 0, H(p) < b - accuracy)
        if not wrong.any():
            break
        free = free ^ exchanges.choose(wrong)
    return np.maximum(p, 0.0)
