"""Functions that the array standard has no word for, made of those it has."""

from __future__ import annotations

from functools import singledispatch
from math import log, pi

import numpy as np
from scipy.special import gammaln

from .namespace import Array, namespace

STEPS = 8  # up from which Stirling's series is exact to all digits


@singledispatch
def log_factorial(counts: Array) -> Array:
    """Logarithm of x! of numbers that are 0 or more; in between whole numbers, of the gamma function of x + 1.

    It is (x + n)! over (x + 1) ... (x + n), the first by Stirling's series, worked out in float64.
    """
    xp = namespace(counts)
    x = xp.astype(counts, xp.float64, copy=False)
    steps = xp.log(x + 1)
    for i in range(2, STEPS + 1):
        steps += xp.log(x + i)
    z = x + STEPS + 1
    w = 1 / (z * z)
    series = (1 / 12 - w * (1 / 360 - w * (1 / 1260 - w * (1 / 1680 - w * (1 / 1188 - w * (691 / 360360)))))) / z
    return xp.astype((z - 0.5) * xp.log(z) - z + (log(2 * pi) / 2 + series) - steps, counts.dtype, copy=False)


@log_factorial.register
def _(counts: np.ndarray) -> np.ndarray:
    return gammaln(counts + 1)
