"""Two fits to disjoint halves of the entities, compared on the entities that each has not seen."""

from __future__ import annotations

import numpy as np

from ..methods.common.halves import HalfFit, match_clusters


def compute_disagreement(labels: np.ndarray, others: np.ndarray) -> float:
    """Return the share of entities on which two labellings disagree after their clusters are matched one to one."""
    both = (labels >= 0) & (others >= 0)
    if not both.any():
        return 1.0
    return float(np.mean(match_clusters(labels, others)[labels[both]] != others[both]))


def measure_disagreement(first: HalfFit, second: HalfFit) -> float:
    """Return how often each fit's predictions differ from the labels that the other gives to its own entities."""
    return (
        compute_disagreement(first.predicted, second.labels) + compute_disagreement(second.predicted, first.labels)
    ) / 2


def find_repeated(half: HalfFit, labels: np.ndarray) -> np.ndarray:
    """Return for the entities that the fit has not seen whether it puts them into the cluster they have, (others,).

    Its clusters are matched to those of `labels`, the labels of all entities, by the entities it was fitted to.
    """
    counterparts = match_clusters(half.labels, labels[half.rows])
    has_prediction = half.predicted >= 0
    predicted = np.where(has_prediction, counterparts[np.where(has_prediction, half.predicted, 0)], -1)
    return predicted == labels[half.others]
