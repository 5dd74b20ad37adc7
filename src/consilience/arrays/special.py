"""Special functions that the array standard lacks."""

from __future__ import annotations

from functools import singledispatch
from math import log, pi

import numpy as np
from array_api_compat import device
from scipy.special import gammaln, ive

from .namespace import Array, namespace

STIRLING_SHIFT = 8  # from here on Stirling's series is exact to all digits
MANY_COLUMNS = 100  # from here on the asymptotic series of the Bessel function is exact to nine digits
LARGE_ARGUMENT = 600.0  # from here on it is exact to twelve digits for any number of columns
N_TERMS = 448  # terms of the power series, which serves up to LARGE_ARGUMENT


@singledispatch
def log_factorial(counts: Array) -> Array:
    """Logarithm of x!, for x of at least 0; of the gamma function of x + 1 if x is not a whole number.

    Computed in float64 as (x + n)! over (x + 1) ... (x + n), the former by Stirling's series.
    """
    xp = namespace(counts)
    x = xp.astype(counts, xp.float64, copy=False)
    steps = xp.log(x + 1)
    for i in range(2, STIRLING_SHIFT + 1):
        steps += xp.log(x + i)
    z = x + STIRLING_SHIFT + 1
    w = 1 / (z * z)
    series = (1 / 12 - w * (1 / 360 - w * (1 / 1260 - w * (1 / 1680 - w * (1 / 1188 - w * (691 / 360360)))))) / z
    return xp.astype((z - 0.5) * xp.log(z) - z + (log(2 * pi) / 2 + series) - steps, counts.dtype, copy=False)


@log_factorial.register
def _(counts: np.ndarray) -> np.ndarray:
    return gammaln(counts + 1)


def log_sphere_integral(c: Array, d: int) -> Array:
    """Log of the integral of ``exp(c <m, x>)`` over the unit sphere."""
    xp = namespace(c)
    order = d / 2 - 1
    c = xp.clip(c, 1e-12, None)
    return d / 2 * log(2 * pi) + log_bessel(order, c, d) - order * xp.log(c)


def log_bessel(order: float, c: Array, d: int) -> Array:
    """Logarithm of the modified Bessel function of the first kind, which would itself overflow or underflow.

    The number of columns `d`, not the order, decides on the formula, so that ratios of two orders are consistent.
    """
    return log_bessel_small_order(c, order) if d < MANY_COLUMNS else log_bessel_asymptotic(c, order)


def log_bessel_asymptotic(c: Array, order: float) -> Array:
    """Log Bessel function by its asymptotic series for large orders or arguments (Abramowitz & Stegun 9.7.7)."""
    xp = namespace(c)
    root = xp.hypot(xp.full_like(c, order), c)
    t = order / root
    series = 1 + (3 * t - 5 * t**3) / (24 * order) + (81 * t**2 - 462 * t**4 + 385 * t**6) / (1152 * order**2)
    series += (30375 * t**3 - 369603 * t**5 + 765765 * t**7 - 425425 * t**9) / (414720 * order**3)
    return root + order * xp.log(c / (order + root)) - xp.log(2 * pi * root) / 2 + xp.log(series)


@singledispatch
def log_bessel_small_order(c: Array, order: float) -> Array:
    """Log Bessel function by its power series (9.6.10), or by the asymptotic one for large arguments."""
    xp = namespace(c)
    near = xp.clip(c, None, LARGE_ARGUMENT)
    m = xp.arange(1, N_TERMS + 1, dtype=c.dtype, device=device(c))
    logs = xp.cumulative_sum(2 * xp.log(near / 2)[:, None] - xp.log(m * (m + order))[None, :], axis=1)
    power = order * xp.log(near / 2) - float(gammaln(order + 1)) + xp.log1p(xp.sum(xp.exp(logs), axis=1))
    asymptotic = log_bessel_asymptotic(xp.clip(c, LARGE_ARGUMENT, None), max(order, 1e-6))  # it divides by the order
    return xp.where(c < LARGE_ARGUMENT, power, asymptotic)


@log_bessel_small_order.register
def _(c: np.ndarray, order: float) -> np.ndarray:
    x = c * c / 4
    small = x < 0.01 * (order + 1)
    series = 1 + x / (order + 1) * (1 + x / (2 * (order + 2)) * (1 + x / (3 * (order + 3))))
    few = order * np.log(c / 2) - gammaln(order + 1) + np.log(np.where(small, series, 1.0))
    return np.where(small, few, np.log(ive(order, np.where(small, order + 1, c))) + c)
