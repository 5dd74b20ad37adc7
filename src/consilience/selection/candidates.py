"""Which numbers of clusters are tried: first a coarse grid, then the gaps around its peaks."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

MOST_CLUSTERS = 125
ENTITIES_PER_CLUSTER = 8  # fewer cannot be divided into halves that still show the cluster
SINGLE_STEPS = 8  # up to this number every number is tried, then every second one ...
DOUBLE_STEPS = 16  # ... and beyond this number steps grow by a factor
STEP = 1.25
MOST_SUPPORTED = 3
NEAR = 1.5  # a peak has the largest score among all numbers within this factor
LEAST_SCORE = 0.5  # share of the largest score that a supported number reaches


def limit_clusters(n_entities: int) -> int:
    """Return the largest number of clusters that is tried for so many entities."""
    return min(MOST_CLUSTERS, n_entities // ENTITIES_PER_CLUSTER)


def propose_coarse(largest: int) -> list[int]:
    """Return the numbers of the coarse grid, from 2 to the largest."""
    numbers = [*range(2, SINGLE_STEPS + 1), *range(SINGLE_STEPS + 2, DOUBLE_STEPS + 1, 2)]
    while numbers[-1] < largest:
        numbers.append(round(numbers[-1] * STEP))
    return sorted({min(number, largest) for number in numbers})


def propose_fine(tried: Sequence[int], scores: np.ndarray) -> list[int]:
    """Return untried numbers next to the supported ones: all if there are few between two tried, otherwise two."""
    proposed: set[int] = set()
    for peak in find_peaks(np.asarray(tried), scores):
        for first, second in ((peak - 1, peak), (peak, peak + 1)):
            if first >= 0 and second < len(tried):
                between = np.arange(tried[first] + 1, tried[second])
                if len(between) > 2:
                    between = np.rint(np.linspace(tried[first], tried[second], 4)[1:-1]).astype(int)
                proposed.update(between.tolist())
    return sorted(proposed)


def find_peaks(numbers: np.ndarray, scores: np.ndarray) -> list[int]:
    """Return the positions of the supported numbers, the highest score first.

    A number is supported if no number within a factor of 1.5 has a higher score, and if its score is at least half of
    the highest; at most three are.
    """
    scores = np.nan_to_num(scores, nan=0.0)
    if scores.max(initial=0) <= 0:
        return []
    peaks = []
    for position, (number, score) in enumerate(zip(numbers, scores, strict=True)):
        near = (numbers >= number / NEAR) & (numbers <= number * NEAR)
        if score >= scores[near].max() and score >= LEAST_SCORE * scores.max():
            peaks.append(position)
    return sorted(peaks, key=lambda position: -scores[position])[:MOST_SUPPORTED]
