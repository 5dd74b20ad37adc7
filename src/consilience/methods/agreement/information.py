"""How much predictions tell about clusters, in bits."""

from __future__ import annotations

import math

import numpy as np


def mutual_information(first: np.ndarray, second: np.ndarray, n_clusters: int) -> float:
    """Return the mutual information of two labellings with labels below `n_clusters`, in bits."""
    if not len(first):
        return 0.0
    counts = np.bincount(first * n_clusters + second, minlength=n_clusters**2)
    joint = counts.reshape(n_clusters, n_clusters) / len(first)
    product = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0, keepdims=True)
    positive = joint > 0
    return float(max(0.0, np.sum(joint[positive] * np.log2(joint[positive] / product[positive]))))


def compute_chance_bits(n_entities: int, n_clusters: int) -> float:
    """Return the information that unrelated labellings of so many entities seem to share, to first order.

    Twice the sample size times their mutual information in nats is about chi-squared with (k - 1)^2 degrees of freedom.
    """
    return (n_clusters - 1) ** 2 / (2 * n_entities * math.log(2))
