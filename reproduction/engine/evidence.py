"""What papers' claims are tested by alike."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from scipy.stats import ttest_ind, ttest_rel

from .outcome import Panel
from .study import Untestable

ENOUGH = 5  # runs for a test of significance


def p_value(one: np.ndarray, other: np.ndarray, paired: bool = False, greater: bool = False) -> float:
    """That both have the same mean, or, with `greater`, that the first is not above.

    Welch's t-test for runs that are drawn apart, the paired one for runs on the same draw.
    """
    enough(one, other)
    if np.array_equal(one, other):
        return 1.0
    alternative = "greater" if greater else "two-sided"
    if paired:
        return float(ttest_rel(one, other, alternative=alternative).pvalue)
    return float(ttest_ind(one, other, equal_var=False, alternative=alternative).pvalue)


def enough(*values: np.ndarray) -> None:
    """Refuse to say from a few runs what is significant."""
    if (n := min(map(len, values))) < ENOUGH:
        raise Untestable(f"what is significant takes {ENOUGH} runs, there are {n}")


def all_there(panels: Sequence[Panel], wanted: Iterable[str]) -> None:
    """Refuse to count over other sets than those that the claim counts over."""
    found = {panel.name for panel in panels}
    if lacking := [name for name in wanted if name not in found]:
        raise Untestable(f"the claim is about sets that were not run: {'; '.join(lacking)}")
