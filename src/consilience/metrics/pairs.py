"""Precision, recall and F of the pairs that a clustering puts together."""

from __future__ import annotations

from typing import Any, NamedTuple

from sklearn.metrics.cluster import pair_confusion_matrix


class PairwiseScores(NamedTuple):
    """Scores over pairs of entities."""

    precision: float
    recall: float
    f: float


def pairwise_scores(y: Any, labels: Any) -> PairwiseScores:
    """How many of the pairs put together belong together (precision), how many that belong are (recall), and their F.

    Parameters
    ----------
    y, labels : array-like of shape (n,)
        True classes and clusters.

    Examples
    --------
    >>> pairwise_scores([0, 0, 1, 1], [0, 0, 0, 1])
    PairwiseScores(precision=0.3333333333333333, recall=0.5, f=0.4)
    """
    (_, false), (missed, true) = pair_confusion_matrix(y, labels).tolist()
    # no pair put together is no wrong pair, and likewise for pairs that belong together
    precision = true / (true + false) if true + false else 1.0
    recall = true / (true + missed) if true + missed else 1.0
    f = 2 * true / (2 * true + false + missed) if true + false + missed else 1.0
    return PairwiseScores(precision, recall, f)
