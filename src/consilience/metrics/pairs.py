"""Precision, recall and F of the pairs of entities that a clustering joins."""

from __future__ import annotations

from typing import Any, NamedTuple

from sklearn.metrics.cluster import pair_confusion_matrix


class PairwiseScores(NamedTuple):
    """Scores over pairs of entities."""

    precision: float
    recall: float
    f: float


def pairwise_scores(y: Any, labels: Any) -> PairwiseScores:
    """Return precision and recall of the pairs of entities in one cluster, where pairs in one class are right, and F.

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
    # without any pair in one cluster no pair is wrong, and without any pair in one class none is missed
    precision = true / (true + false) if true + false else 1.0
    recall = true / (true + missed) if true + missed else 1.0
    f = 2 * true / (2 * true + false + missed) if true + false + missed else 1.0
    return PairwiseScores(precision, recall, f)
