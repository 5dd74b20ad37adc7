"""How far the cluster of each entity is ahead of the others."""

from __future__ import annotations

import numpy as np


def find_runner_up(scores: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the score of each row's cluster, the best other cluster, and its score: minus infinity without another."""
    rows = np.arange(len(labels))
    others = scores.copy()
    others[rows, labels] = -np.inf
    runner_up = others.argmax(axis=1)
    return scores[rows, labels], runner_up, others[rows, runner_up]


def measure_vote_margins(votes: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Return the margin of each row's cluster over the best other, relative to its votes, from 0 to 1."""
    chosen, _, best_other = find_runner_up(votes, labels)
    margin = chosen - np.maximum(best_other, 0)
    relative = np.where(chosen > 0, margin / np.where(chosen > 0, chosen, 1), 0)
    return np.clip(np.where(np.isfinite(best_other), relative, 1.0), 0, 1)


def measure_distance_margins(distances: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Return how much nearer each row's cluster is than the nearest other, relative to that: 1 without another."""
    nearness, _, other_nearness = find_runner_up(-distances, labels)
    has_other = np.isfinite(other_nearness)
    other = np.where(has_other & (other_nearness < 0), -other_nearness, 1)
    lead = np.where(other_nearness < 0, 1 + nearness / other, 0.0)
    return np.where(has_other, lead, 1.0)
