"""Clusters of views that were clustered apart, numbered alike where they share entities."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from scipy.optimize import linear_sum_assignment


def match_view_clusters(view_labels: Mapping[str, np.ndarray], n_clusters: int) -> dict[str, np.ndarray]:
    """For each view the new number of each cluster, so that as many entities as can be have one in all their views.

    Views join one by one, first the one that shares most entities with those that are in. -1 labels are no labels.
    """
    names = list(view_labels)
    numbers = {names[0]: np.arange(n_clusters)}
    counts = np.zeros((len(next(iter(view_labels.values()))), n_clusters))  # votes of the views that are in
    add_votes(counts, view_labels[names[0]])
    while len(numbers) < len(names):
        voted = counts.any(axis=1)
        left = [name for name in names if name not in numbers]
        name = max(left, key=lambda own: int(np.sum(voted & (view_labels[own] >= 0))))
        labels = view_labels[name]
        shared = voted & (labels >= 0)
        table = np.zeros((n_clusters, n_clusters))
        np.add.at(table, labels[shared], counts[shared])
        numbers[name] = linear_sum_assignment(-table)[1]
        add_votes(counts, renumber_labels(labels, numbers[name]))
    return {name: numbers[name] for name in names}


def add_votes(counts: np.ndarray, labels: np.ndarray) -> None:
    """Add a vote for each label."""
    there = np.flatnonzero(labels >= 0)
    counts[there, labels[there]] += 1


def renumber_labels(labels: np.ndarray, numbers: np.ndarray) -> np.ndarray:
    """Labels with new numbers; -1 stays."""
    return np.where(labels >= 0, numbers[np.maximum(labels, 0)], -1)


def vote_labels(view_labels: Mapping[str, np.ndarray], costs: np.ndarray) -> np.ndarray:
    """The cluster that most of an entity's views say; of those with as many votes the cheapest, costs being (n, k)."""
    counts = np.zeros(costs.shape)
    for labels in view_labels.values():
        add_votes(counts, labels)
    leading = counts == counts.max(axis=1, keepdims=True)
    return np.argmin(np.where(leading, costs, np.inf), axis=1)
