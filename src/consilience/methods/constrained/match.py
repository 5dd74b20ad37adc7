"""Number the clusters of separately clustered views alike, and vote over views."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from scipy.optimize import linear_sum_assignment


def match_view_clusters(view_labels: Mapping[str, np.ndarray], n_clusters: int) -> dict[str, np.ndarray]:
    """Return new cluster numbers per view, such that views agree on as many shared entities as possible.

    Views are matched one by one, next the one that shares most entities with those already matched. A label of -1 means
    that the entity lacks the view.
    """
    names = list(view_labels)
    numbers = {names[0]: np.arange(n_clusters)}
    votes = np.zeros((len(view_labels[names[0]]), n_clusters))  # votes of the views matched so far
    add_votes(votes, view_labels[names[0]])
    while len(numbers) < len(names):
        has_vote = votes.any(axis=1)
        remaining = {name: has_vote & (view_labels[name] >= 0) for name in names if name not in numbers}
        name = max(remaining, key=lambda view: int(np.sum(remaining[view])))
        labels, shared = view_labels[name], remaining[name]
        table = np.zeros((n_clusters, n_clusters))
        np.add.at(table, labels[shared], votes[shared])
        numbers[name] = linear_sum_assignment(-table)[1]
        add_votes(votes, renumber_labels(labels, numbers[name]))
    return {name: numbers[name] for name in names}


def add_votes(votes: np.ndarray, labels: np.ndarray) -> None:
    """Add a vote per label, in place."""
    present = np.flatnonzero(labels >= 0)
    votes[present, labels[present]] += 1


def renumber_labels(labels: np.ndarray, numbers: np.ndarray) -> np.ndarray:
    """Replace labels by new cluster numbers; -1 stays."""
    return np.where(labels >= 0, numbers[np.maximum(labels, 0)], -1)


def vote_labels(view_labels: Mapping[str, np.ndarray], costs: np.ndarray) -> np.ndarray:
    """Return the cluster that most of an entity's views vote for; ties go to the lowest of the costs (n, k)."""
    votes = np.zeros(costs.shape)
    for labels in view_labels.values():
        add_votes(votes, labels)
    leading = votes == votes.max(axis=1, keepdims=True)
    return np.argmin(np.where(leading, costs, np.inf), axis=1)
