"""What each view by itself says of clusters that were not found view by view."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from sklearn.metrics import pairwise_distances_argmin

from ._side_by_side import Matrix

NO_CLUSTER = -1


def label_by_nearest_mean(X: Matrix, there: np.ndarray, labels: np.ndarray, asked: np.ndarray) -> np.ndarray:
    """The cluster whose mean in these columns is nearest to each entity that is asked for; -1 for the others.

    A cluster's mean is that of its members that are there; a cluster without any is nobody's.
    """
    found = np.full(len(labels), NO_CLUSTER)
    asked = asked & there
    members = np.flatnonzero(there & (labels >= 0))
    if not len(members) or not asked.any():
        return found
    clusters, at = np.unique(labels[members], return_inverse=True)
    indicator = sp.csr_array((np.ones(len(members)), (at, members)), shape=(len(clusters), len(labels)))
    sums = indicator @ X
    means = (sums.toarray() if sp.issparse(sums) else sums) / np.bincount(at)[:, None]
    found[asked] = clusters[pairwise_distances_argmin(X[asked], means)]
    return found
