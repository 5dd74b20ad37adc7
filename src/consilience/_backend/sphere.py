"""The integral that makes a density of directions one."""

from __future__ import annotations

from math import log, pi

import numpy as np
from scipy.special import gammaln, ive

MANY_COLUMNS = 100  # from here on the asymptotic series of the Bessel function is exact to nine digits


def log_sphere_integral(c: np.ndarray, d: int) -> np.ndarray:
    """Log of the integral of ``exp(c <m, x>)`` over the unit sphere."""
    order = d / 2 - 1
    c = np.maximum(c, 1e-12)
    return d / 2 * log(2 * pi) + log_bessel(order, c, d) - order * np.log(c)


def log_bessel(order: float, c: np.ndarray, d: int) -> np.ndarray:
    """Logarithm of the modified Bessel function of the first kind, which itself overflows or vanishes.

    Which formula serves is a matter of the columns, not of the order, so that ratios of two orders are of one making.
    """
    if d < MANY_COLUMNS:
        x = c * c / 4
        small = x < 0.01 * (order + 1)
        series = 1 + x / (order + 1) * (1 + x / (2 * (order + 2)) * (1 + x / (3 * (order + 3))))
        few = order * np.log(c / 2) - gammaln(order + 1) + np.log(np.where(small, series, 1.0))
        return np.where(small, few, np.log(ive(order, np.where(small, order + 1, c))) + c)
    # Abramowitz & Stegun 9.7.7
    root = np.hypot(order, c)
    t = order / root
    series = 1 + (3 * t - 5 * t**3) / (24 * order) + (81 * t**2 - 462 * t**4 + 385 * t**6) / (1152 * order**2)
    series += (30375 * t**3 - 369603 * t**5 + 765765 * t**7 - 425425 * t**9) / (414720 * order**3)
    return root + order * np.log(c / (order + root)) - np.log(2 * pi * root) / 2 + np.log(series)
