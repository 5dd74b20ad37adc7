"""Newton steps over all components of a mixture by conjugate gradients, for proportions that are not sparse."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...arrays import Array, keep_where, namespace
from ...arrays.namespace import fetch_numbers
from .components import (
    LEAST_LIKELIHOOD,
    ROUNDING,
    SUBPROBLEM_GAP,
    SUFFICIENT_GAIN,
    LikelihoodMatrix,
    compute_objective,
    divide_weights,
    replace_nonpositive,
)
from .quadratic import ExchangeRule

HALVINGS = 10  # of a conjugate gradient step
UPDATE_HALVINGS = 40  # of the multiplicative update, which is tried next
FLAT = 1e-12  # curvature along a direction, in the metric, that counts as zero
MAX_STEPS = 100  # of conjugate gradients per system
LEAST_METRIC = 0.01  # for components of zero proportion, relative to the mean proportion
MAX_EXCHANGES = 30  # between components that are free and those fixed at zero
RESIDUAL = 0.1  # of a system solved by conjugate gradients, relative to the first


def take_conjugate_step(A: LikelihoodMatrix, w: Array, q: Array, Q: Array, g: Array) -> tuple[Array, Array]:
    """Take a Newton step over all components; return the new proportions and the likelihood of each point.

    If no step towards the minimum of the quadratic model gains, one towards the multiplicative update does.
    """
    xp = namespace(q)

    def curvature(v: Array) -> Array:
        return A.T @ (divide_weights(w, Q) * divide_weights(A @ v, Q))

    n, gap = q.shape[0], max(float(xp.max(g)) - 1, 0.0)
    # one over the diagonal of the Hessian, but at most the metric of the multiplicative update
    diagonal = A.squared_sums(divide_weights(divide_weights(w, Q), Q))
    metric = xp.minimum(1 / replace_nonpositive(diagonal), q + LEAST_METRIC / n)
    minimum = minimize_by_conjugate_gradients(
        curvature, 2 * g - 1, q, (q > 0) | (g > 1), metric, min(RESIDUAL, gap**0.5), SUBPROBLEM_GAP * gap
    )
    update = xp.where(q > 0, q * g, clip_negative(g - 1) / n)  # a component at zero may return
    before, lowest = compute_objective(w, Q), xp.minimum(LEAST_LIKELIHOOD * Q, w)  # see `search_line`
    rounding = ROUNDING * abs(before) + getattr(A, "noise", 0.0)
    for target, n_lengths in ((minimum, HALVINGS), (update, UPDATE_HALVINGS)):
        step = target / replace_nonpositive(xp.sum(target)) - q
        slope = float(step @ g)
        for length in (0.5 ** np.arange(n_lengths)).tolist():
            moved = q + length * step
            likelihood = A @ moved
            gains = compute_objective(w, likelihood) >= before + SUFFICIENT_GAIN * length * slope - rounding
            if gains and bool(xp.all(likelihood >= lowest)):
                return moved, likelihood
    return q, Q


def minimize_by_conjugate_gradients(
    H: Callable[[Array], Array], b: Array, q: Array, free: Array, metric: Array, residual: float, accuracy: float
) -> Array:
    """Approximate the result of `minimize_nonnegative` using only products with H, starting at q.

    Systems are solved by conjugate gradients in a metric that should be close to one over the diagonal of H.
    """
    xp = namespace(q)
    p, target, exchanges = q, None, ExchangeRule(q.shape[0])
    for _ in range(MAX_EXCHANGES):
        p = keep_where(free, p, 0.0)
        rest = keep_where(free, b - H(p), 0.0)
        scaled = metric * rest
        direction, size = scaled, float(rest @ scaled)
        target = residual**2 * size if target is None else target
        for _ in range(MAX_STEPS):
            curved = keep_where(free, H(direction), 0.0)
            bend, length = fetch_numbers([direction @ curved, direction @ (direction / metric)])
            if size <= target or bend <= FLAT * length:
                break
            p = p + size / bend * direction
            rest = rest - size / bend * curved
            scaled = metric * rest
            size, last = float(rest @ scaled), size
            direction = scaled + size / last * direction
        violating = xp.where(free, p < 0, H(p) < b - accuracy)
        if not bool(xp.any(violating)):
            break
        free = free ^ exchanges.choose(violating)
    return clip_negative(p)


def clip_negative(values: Array) -> Array:
    """Replace negative values by zero."""
    return keep_where(values > 0, values, 0.0)
