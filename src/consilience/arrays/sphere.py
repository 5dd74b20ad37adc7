"""The integral that makes a density of directions one."""

from __future__ import annotations

from functools import singledispatch
from math import log, pi

import numpy as np
from array_api_compat import device
from scipy.special import gammaln, ive

from .namespace import Array, namespace

MANY_COLUMNS = 100  # from here on the asymptotic series of the Bessel function is exact to nine digits
FAR = 600.0  # from here on it is exact to twelve, whatever the columns
TERMS = 448  # of the power series, which serves up to there


def log_sphere_integral(c: Array, d: int) -> Array:
    """Log of the integral of ``exp(c <m, x>)`` over the unit sphere."""
    xp = namespace(c)
    order = d / 2 - 1
    c = xp.clip(c, 1e-12, None)
    return d / 2 * log(2 * pi) + log_bessel(order, c, d) - order * xp.log(c)


def log_bessel(order: float, c: Array, d: int) -> Array:
    """Logarithm of the modified Bessel function of the first kind, which itself overflows or vanishes.

    Which formula serves is a matter of the columns, not of the order, so that ratios of two orders are of one making.
    """
    return log_bessel_small_order(c, order) if d < MANY_COLUMNS else log_bessel_asymptotic(c, order)


def log_bessel_asymptotic(c: Array, order: float) -> Array:
    """The same where the order, or what it is asked of, is large (Abramowitz & Stegun 9.7.7)."""
    xp = namespace(c)
    root = xp.hypot(xp.full_like(c, order), c)
    t = order / root
    series = 1 + (3 * t - 5 * t**3) / (24 * order) + (81 * t**2 - 462 * t**4 + 385 * t**6) / (1152 * order**2)
    series += (30375 * t**3 - 369603 * t**5 + 765765 * t**7 - 425425 * t**9) / (414720 * order**3)
    return root + order * xp.log(c / (order + root)) - xp.log(2 * pi * root) / 2 + xp.log(series)


@singledispatch
def log_bessel_small_order(c: Array, order: float) -> Array:
    """The same for few columns: all terms of the power series at once (9.6.10), or from FAR on the asymptotic one."""
    xp = namespace(c)
    near = xp.clip(c, None, FAR)
    m = xp.arange(1, TERMS + 1, dtype=c.dtype, device=device(c))
    logs = xp.cumulative_sum(2 * xp.log(near / 2)[:, None] - xp.log(m * (m + order))[None, :], axis=1)
    power = order * xp.log(near / 2) - float(gammaln(order + 1)) + xp.log1p(xp.sum(xp.exp(logs), axis=1))
    return xp.where(
        c < FAR, power, log_bessel_asymptotic(xp.clip(c, FAR, None), max(order, 1e-6))
    )  # an order of 0 divides


@log_bessel_small_order.register
def _(c: np.ndarray, order: float) -> np.ndarray:
    x = c * c / 4
    small = x < 0.01 * (order + 1)
    series = 1 + x / (order + 1) * (1 + x / (2 * (order + 2)) * (1 + x / (3 * (order + 3))))
    few = order * np.log(c / 2) - gammaln(order + 1) + np.log(np.where(small, series, 1.0))
    return np.where(small, few, np.log(ive(order, np.where(small, order + 1, c))) + c)
