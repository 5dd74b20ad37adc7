"""Statistical tests and preconditions shared by the claims of all papers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from scipy.stats import ttest_ind, ttest_rel

from .outcome import Panel
from .study import Evidence, Untestable

MIN_RUNS = 5  # least number of runs for a significance test


def compute_p_value(first: np.ndarray, second: np.ndarray, paired: bool = False, greater: bool = False) -> float:
    """Return the p-value of equal means; with `greater`, of the alternative that the first mean is larger.

    Uses Welch's t-test for independent runs and the paired t-test for runs on the same draw.
    """
    require_runs(first, second)
    if np.array_equal(first, second):
        return 1.0
    alternative = "greater" if greater else "two-sided"
    if paired:
        return float(ttest_rel(first, second, alternative=alternative).pvalue)
    return float(ttest_ind(first, second, equal_var=False, alternative=alternative).pvalue)


def round_as_printed(values: Any, digits: int) -> Any:
    """Round a number or an array to the decimals that the paper prints; halves are rounded away from zero.

    Claims about printed tables compare at this precision: methods whose numbers would be printed alike are equal.

    Examples
    --------
    >>> [float(round_as_printed(value, 2)) for value in (0.125, 0.1249, -0.125, 0.145)]
    [0.13, 0.12, -0.13, 0.15]
    """
    steps = np.floor(np.abs(values) * 10**digits + 0.5 + 1e-9)  # 1e-9 because .145 is stored as .14499999999999999
    return np.copysign(steps / 10**digits, values)


def require_runs(*values: np.ndarray) -> None:
    """Raise `Untestable` if there are too few runs for a significance test."""
    if (n := min(map(len, values))) < MIN_RUNS:
        raise Untestable(f"a significance test needs {MIN_RUNS} runs, there are {n}")


def require_panels(panels: Sequence[Panel], wanted: Iterable[str]) -> None:
    """Raise `Untestable` unless all data sets that the claim is about were run."""
    names = {panel.name for panel in panels}
    if lacking := [name for name in wanted if name not in names]:
        raise Untestable(f"the claim is about data sets that were not run: {'; '.join(lacking)}")


def select_panel(index: int, check: Callable[[Panel], Evidence]) -> Callable[[Sequence[Panel]], Evidence]:
    """Return a check of one panel, for a claim with ``across=True`` about one of the data sets of its study."""
    return lambda panels: check(panels[index])
