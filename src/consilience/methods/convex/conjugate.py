"""Newton steps over all components of a mixture by conjugate gradients, for proportions that are not sparse."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..._tuning import Tuning
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
    multiply_twice,
    replace_nonpositive,
)
from .quadratic import ExchangeRule

HALVINGS = 10  # of a conjugate gradient step
UPDATE_HALVINGS = 40  # of the multiplicative update, which is tried next
FLAT = 1e-12  # curvature along a direction, in the metric, that counts as zero
tuning = Tuning(
    max_steps=300  # of conjugate gradients, and exchanges between components that are free and those fixed at zero
)
MAX_DAMPED_STEPS = 3000
LEAST_METRIC = 0.01  # of damped steps for components of zero proportion, relative to the mean proportion
RESIDUAL = 0.1  # of a system solved by conjugate gradients, relative to the first


def take_conjugate_step(
    A: LikelihoodMatrix, w: Array, q: Array, Q: Array, g: Array, *, damped: bool = False
) -> tuple[Array, Array, bool]:
    """Take a Newton step over all components; return the new proportions and the likelihood of each point.

    If no step towards the minimum of the quadratic model gains, as when conjugate gradients do not come close to it,
    one towards the multiplicative update does; the last result says which of the two it was. Damped steps move small
    proportions little, which helps if the components are hard to tell apart, and take longer.
    """
    xp = namespace(q)

    scale = divide_weights(divide_weights(w, Q), Q)

    def curvature(v: Array) -> Array:
        return multiply_twice(A, v, scale, False)[1]

    n, gap = q.shape[0], max(float(xp.max(g)) - 1, 0.0)
    diagonal = A.squared_sums(scale)
    free = (q > 0) | (g > 1) if damped else g - 1 > -diagonal * q  # the latter: those that a diagonal step leaves
    metric, n_steps = 1 / replace_nonpositive(diagonal), tuning.max_steps
    if damped:
        metric, n_steps = xp.minimum(metric, q + LEAST_METRIC / n), MAX_DAMPED_STEPS
    minimum = minimize_by_conjugate_gradients(
        curvature, 2 * g - 1, q, free, metric, min(RESIDUAL, gap**0.5), SUBPROBLEM_GAP * gap, n_steps
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
                return moved, likelihood, target is minimum
    return q, Q, False


def minimize_by_conjugate_gradients(
    H: Callable[[Array], Array],
    b: Array,
    q: Array,
    free: Array,
    metric: Array,
    residual: float,
    accuracy: float,
    n_steps: int,
) -> Array:
    """Approximate the result of `minimize_nonnegative` using only products with H, starting at q.

    Systems are solved by conjugate gradients in a metric that should be close to one over the diagonal of H.
    """
    xp = namespace(q)
    p, target, exchanges = q, None, ExchangeRule(q.shape[0])
    while n_steps > 0:
        p = keep_where(free, p, 0.0)
        rest = b - H(p)
        direction = scaled = keep_where(free, metric * rest, 0.0)
        size = float(rest @ scaled)
        target = residual**2 * size if target is None else target
        while size > target and n_steps > 0:
            n_steps -= 1
            curved = H(direction)
            bend, length = fetch_numbers([direction @ curved, direction @ (direction / metric)])
            if bend <= FLAT * length:
                break
            p = p + size / bend * direction
            rest = rest - size / bend * curved
            scaled = keep_where(free, metric * rest, 0.0)
            size, last = float(rest @ scaled), size
            direction = scaled + size / last * direction
        violating = xp.where(free, p < 0, rest > accuracy)
        if not bool(xp.any(violating)):
            break
        free = free ^ exchanges.choose(violating)
        n_steps -= 1
    return clip_negative(p)


def clip_negative(values: Array) -> Array:
    """Replace negative values by zero."""
    return keep_where(values > 0, values, 0.0)
