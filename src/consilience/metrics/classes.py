"""Scores of clusterings against true classes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score
from sklearn.metrics.cluster import contingency_matrix, pair_confusion_matrix
from sklearn.utils import check_array

from ..data import Table


def evaluate(y: Any, labels: Any) -> Table:
    """Score clusterings against true classes.

    Parameters
    ----------
    y : array-like of shape (n,)
        True classes.
    labels : array-like of shape (n,), or mapping of name to array-like
        One clustering, or several by name.

    Returns
    -------
    Table
        One row per clustering: entropy (bits, lower is better), F, precision and recall over pairs, NMI, ARI, clusters.

    Examples
    --------
    >>> evaluate([0, 0, 1, 1], {"good": [1, 1, 0, 0], "poor": [0, 1, 0, 1]})
    clustering  entropy       f  precision  recall     nmi      ari  clusters
    good         0.0000  1.0000     1.0000  1.0000  1.0000   1.0000         2
    poor         1.0000  0.0000     0.0000  0.0000  0.0000  -0.5000         2
    """
    named = labels if isinstance(labels, Mapping) else {"labels": labels}
    rows = []
    for name, clusters in named.items():
        pairs = pairwise_scores(y, clusters)
        rows.append(
            {
                "clustering": name,
                "entropy": average_entropy(y, clusters),
                "f": pairs.f,
                "precision": pairs.precision,
                "recall": pairs.recall,
                "nmi": float(normalized_mutual_info_score(y, clusters)),
                "ari": float(adjusted_rand_score(y, clusters)),
                "clusters": len(np.unique(clusters)),
            }
        )
    return Table.from_rows(rows)


def number_classes(classes: Iterable[Any]) -> tuple[list[str], np.ndarray]:
    """Return the names of classes in their order, and the position of each entity's class among them.

    Scores are computed from the positions: an array of strings reserves the length of the longest for every entity, so
    that a single long text would fill the memory.

    Parameters
    ----------
    classes : iterable of object
        The class of each entity.

    Examples
    --------
    >>> number_classes(["red", "blue", "red"])
    (['blue', 'red'], array([1, 0, 1]))
    """
    texts = [str(value) for value in classes]
    names = sorted(set(texts))
    position = {name: i for i, name in enumerate(names)}
    return names, np.array([position[text] for text in texts], dtype=np.intp)


def average_entropy(y: Any, labels: Any, base: float = 2) -> float:
    """Entropy of the true classes within a cluster, averaged over entities: 0 if clusters are pure.

    Parameters
    ----------
    y : array-like of shape (n,)
        True classes.
    labels : array-like of shape (n,)
        Clusters.
    base : float, default=2
        Base of the logarithm: 2 for bits, ``math.e`` for nats.

    Examples
    --------
    >>> average_entropy([0, 0, 1, 1], [0, 0, 0, 0])
    1.0
    """
    if not base > 1:
        raise ValueError(f"base must be larger than 1 (2 for bits, e for nats), got {base}")
    y, labels = (check_array(values, ensure_2d=False, ensure_min_samples=0, dtype=None) for values in (y, labels))
    if y.ndim != 1 or y.shape != labels.shape:
        raise ValueError(f"y and labels need one entry per entity, got shapes {y.shape} and {labels.shape}")
    counts = contingency_matrix(y, labels).T.astype(np.float64)  # clusters x classes
    if not counts.size:
        raise ValueError("there are no entities: give at least one label")
    sizes = counts.sum(axis=1)
    shares = counts / sizes[:, None]
    logs = np.log(shares, where=shares > 0, out=np.zeros_like(shares)) / np.log(base)
    return float(abs(sizes @ (shares * logs).sum(axis=1) / sizes.sum()))


class PairwiseScores(NamedTuple):
    """Scores over pairs of entities, of which those in one cluster are predicted to be in one class.

    Attributes
    ----------
    precision : float
        Share of the pairs in one cluster that are in one class, 0 to 1.
    recall : float
        Share of the pairs in one class that are in one cluster, 0 to 1.
    f : float
        Harmonic mean of precision and recall.

    Examples
    --------
    >>> import consilience as cs
    >>> scores = cs.metrics.pairwise_scores([0, 0, 1, 1], [0, 0, 0, 1])
    >>> scores.recall, scores.f
    (0.5, 0.4)
    """

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
