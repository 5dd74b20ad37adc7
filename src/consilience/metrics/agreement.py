"""How far views agree, and what that says about their error (Bickel & Scheffer 2004, Eqs 13 to 16)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np


def agreement_rate(*view_labels: Any) -> float:
    """Share of entities that all their views put into the same component (Eq 16).

    Parameters
    ----------
    *view_labels : array-likes of shape (n,)
        The labels that each view gives; -1 where an entity lacks the view. Entities with fewer than two views do not
        count. Labels must mean the same in all views, as they do after multi-view clustering.

    Returns
    -------
    float
        1.0 where no entity has two views, for there is nothing to disagree on.

    Examples
    --------
    >>> agreement_rate([0, 1, 1, 0], [0, 1, 0, -1])
    0.6666666666666666
    """
    labels = np.stack([np.asarray(own) for own in view_labels])
    there = labels >= 0
    counted = there.sum(axis=0) >= 2
    lowest = np.where(there, labels, np.iinfo(np.int64).max).min(axis=0)
    same = lowest == labels.max(axis=0)
    return float(same[counted].mean()) if counted.any() else 1.0


def agreement_matrix(view_labels: Mapping[str, Any] | Sequence[Any]) -> np.ndarray:
    """Agreement rate of each pair of views: (V, V).

    Parameters
    ----------
    view_labels : mapping or sequence of array-likes of shape (n,)
        As in `agreement_rate`.

    Returns
    -------
    ndarray of shape (V, V)
        NaN for two views that no entity has both of.
    """
    labels = [np.asarray(own) for own in (view_labels.values() if isinstance(view_labels, Mapping) else view_labels)]
    matrix = np.eye(len(labels))
    for a, one in enumerate(labels):
        for b, other in enumerate(labels[:a]):
            both = (one >= 0) & (other >= 0)
            matrix[a, b] = matrix[b, a] = (one == other)[both].mean() if both.any() else np.nan
    return matrix


def disagreement_bound(agreement: Any) -> float:
    """Upper bound on the error rate of every view, found without labels (Eqs 13 to 15).

    Two views that are independent given the cluster, each right more often than not, disagree at least as often as
    either errs. A view's error is therefore at most its smallest disagreement with another; the bound that holds for
    all views is the largest of these. If the views are *not* independent given the cluster, it bounds nothing: two
    copies of one view never disagree.

    Parameters
    ----------
    agreement : array-like of shape (V, V)
        Agreement rates of pairs of views, such as an estimator's ``agreement_``.

    Returns
    -------
    float
        1.0, which says nothing, where some view shares no entity with any other.

    Examples
    --------
    >>> round(disagreement_bound([[1.0, 0.9, 0.8], [0.9, 1.0, 0.7], [0.8, 0.7, 1.0]]), 3)
    0.2
    """
    disagreement = 1 - np.asarray(agreement, dtype=np.float64)
    np.fill_diagonal(disagreement, 1.0)
    return float(np.nan_to_num(disagreement, nan=1.0).min(axis=1).max())
