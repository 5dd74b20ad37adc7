"""Average entropy of clusters given classes (Bickel & Scheffer 2004, Eq 1)."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.metrics.cluster import contingency_matrix
from sklearn.utils import check_array


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
