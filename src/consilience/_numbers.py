"""Checks of single numbers that scikit-learn's validation of parameters does not cover, and the range of an axis."""

from __future__ import annotations

from math import inf
from numbers import Integral, Real
from typing import Any, TypeGuard

import numpy as np

LEAST_SPAN = 0.1  # length of an axis relative to the largest number on it


def is_integer(value: Any, least: float = -inf, most: float = inf) -> TypeGuard[int]:
    """Whether a value is a whole number within the bounds; True and False count as 1 and 0."""
    return isinstance(value, Integral) and least <= value <= most  # type: ignore[operator]


def is_real(value: Any) -> bool:
    """Whether a value is a real number, of Python or numpy; NaN, infinity and truth values of Python are."""
    return isinstance(value, Real)


def is_truth_value(value: Any) -> bool:
    """Whether a value is True or False, of Python or numpy."""
    return isinstance(value, bool | np.bool)


def widen_range(low: float, high: float) -> tuple[float, float]:
    """Return the range of an axis for numbers from low to high, so that a change that is small beside them looks flat.

    Examples
    --------
    >>> widen_range(0.5, 0.75), [round(end, 2) for end in widen_range(2.08, 2.09)]
    ((0.5, 0.75), [1.98, 2.19])
    """
    # The axis is at least a tenth of the values long: 2.08 to 2.09 takes a twentieth of its height, and a change of
    # some percent can still be seen, which an axis from 0 would hide.
    missing = LEAST_SPAN * max(abs(low), abs(high)) - (high - low)
    return (low - missing / 2, high + missing / 2) if missing > 0 else (low, high)
