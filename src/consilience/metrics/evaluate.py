"""All scores of one or more clusterings in a table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

from ..data import Table
from .entropy import average_entropy
from .pairs import pairwise_scores


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
