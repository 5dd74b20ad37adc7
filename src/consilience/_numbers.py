"""Checks of single numbers, for arguments that scikit-learn's validation of parameters does not cover."""

from __future__ import annotations

from math import inf
from numbers import Integral, Real
from typing import Any, TypeGuard

import numpy as np


def is_integer(value: Any, least: float = -inf, most: float = inf) -> TypeGuard[int]:
    """Whether a value is a whole number within the bounds; True and False count as 1 and 0."""
    return isinstance(value, Integral) and least <= value <= most  # type: ignore[operator]


def is_real(value: Any) -> bool:
    """Whether a value is a real number, of Python or numpy; NaN, infinity and truth values of Python are."""
    return isinstance(value, Real)


def is_truth_value(value: Any) -> bool:
    """Whether a value is True or False, of Python or numpy."""
    return isinstance(value, bool | np.bool)
