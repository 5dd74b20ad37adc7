"""Averages and measures that leave out what is missing."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np


def average_known(values: Iterable[float]) -> float:
    """Return the mean of the values that are not NaN; NaN if there are none."""
    numbers = [value for value in values if not np.isnan(value)]
    return float(np.mean(numbers)) if numbers else np.nan


def measure_common_entities(
    measure: Callable[[np.ndarray, np.ndarray], float], first: np.ndarray, second: np.ndarray
) -> float:
    """Return a measure of two labellings over the entities that both label; NaN if there are none."""
    both = (first >= 0) & (second >= 0)
    return measure(first[both], second[both]) if both.any() else np.nan
