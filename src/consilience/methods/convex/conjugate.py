"""Newton steps over all components of a mixture, by conjugate gradients: for shares that are not sparse."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...arrays import Array, keep_where, namespace
from ...arrays.pairwise import fetch_numbers
from .components import (
    AHEAD,
    LOSS,
    ROUNDING,
    SLOPE,
    LikelihoodMatrix,
    compute_objective,
    divide_weights,
    replace_nonpositive,
)
from .quadratic import ExchangeRule

HALVINGS = 10  # of a step by conjugate gradients
MANY_HALVINGS = 40  # of the step that is left when that gains nothing
FLAT = 1e-12  # curvature along a direction, in that metric, which is none
CONJUGATE_STEPS = 100
LEAST_METRIC = 0.01  # for components without a share, as a part of the mean share
EXCHANGES = 30  # of components that conjugate gradients leave at zero
RESIDUAL = 0.1  # of a system solved by conjugate gradients, as a share of the first


def take_conjugate_step(A: LikelihoodMatrix, w: Array, q: Array, Q: Array, g: Array) -> tuple[Array, Array]:
    """A Newton step over all components: new shares, and their likelihood.

    If no step towards the minimum of the quadratic model gains, one towards the multiplicative update does.
    """
    xp = namespace(q)

    def curvature(v: Array) -> Array:
        return A.T @ (divide_weights(w, Q) * divide_weights(A @ v, Q))

    n, gap = q.shape[0], max(float(xp.max(g)) - 1, 0.0)
    # one over the diagonal of the Hessian, but no more than the metric of the multiplicative update
    metric = xp.minimum(
        1 / replace_nonpositive(A.squared_sums(divide_weights(divide_weights(w, Q), Q))), q + LEAST_METRIC / n
    )
    free = (q > 0) | (g > 1)
    towards = minimize_by_conjugate_gradients(
        curvature, 2 * g - 1, q, free, metric, min(RESIDUAL, gap**0.5), AHEAD * gap
    )
    update = xp.where(q > 0, q * g, clip_negative(g - 1) / n)  # a component at zero may come back
    before, lowest = compute_objective(w, Q), xp.minimum(LOSS * Q, w)  # see `line_search`
    rounding = ROUNDING * abs(before) + getattr(A, "noise", 0.0)
    for target, n_lengths in ((towards, HALVINGS), (update, MANY_HALVINGS)):
        step = target / replace_nonpositive(xp.sum(target)) - q
        slope = float(step @ g)
        for length in (0.5 ** np.arange(n_lengths)).tolist():
            moved = q + length * step
            likelihood = A @ moved
            gained = compute_objective(w, likelihood) >= before + SLOPE * length * slope - rounding
            if gained and bool(xp.all(likelihood >= lowest)):
                return moved, likelihood
    return q, Q


def minimize_by_conjugate_gradients(
    H: Callable[[Array], Array],
    b: Array,
    q: Array,
    free: Array,
    metric: Array,
    residual: float,
    accuracy: float,
) -> Array:
    """What `nonnegative_minimum` finds, roughly, from products with H alone, starting at q.

    Systems are solved by conjugate gradients in a metric that should be near to one over the diagonal of H.
    """
    xp = namespace(q)
    p, enough, exchanges = q, None, ExchangeRule(q.shape[0])
    for _ in range(EXCHANGES):
        p = keep_where(free, p, 0.0)
        rest = keep_where(free, b - H(p), 0.0)
        scaled = metric * rest
        direction, size = scaled, float(rest @ scaled)
        enough = residual**2 * size if enough is None else enough
        for _ in range(CONJUGATE_STEPS):
            curved = keep_where(free, H(direction), 0.0)
            bend, length = fetch_numbers([direction @ curved, direction @ (direction / metric)])
            if size <= enough or bend <= FLAT * length:
                break
            p = p + size / bend * direction
            rest = rest - size / bend * curved
            scaled = metric * rest
            size, last = float(rest @ scaled), size
            direction = scaled + size / last * direction
        wrong = xp.where(free, p < 0, H(p) < b - accuracy)
        if not bool(xp.any(wrong)):
            break
        free = free ^ exchanges.choose(wrong)
    return clip_negative(p)


def clip_negative(values: Array) -> Array:
    """Zero in place of what is negative."""
    return keep_where(values > 0, values, 0.0)
