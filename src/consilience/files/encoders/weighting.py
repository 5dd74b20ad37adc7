"""How counts are weighed: as they are, or by how rare a term is."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.preprocessing import normalize

from ..._saving import save_as


@save_as("encoder-weighting")
class TermWeighting:
    """Raw counts, or tf-idf: logarithmic counts times the rarity of the term, rows of unit length.

    Parameters
    ----------
    rare : bool
        Whether terms are weighed by their rarity; raw counts otherwise.
    """

    def __init__(self, rare: bool) -> None:
        self.rare = rare

    def fit(self, counts: Any) -> TermWeighting:
        """Learn how rare each term is."""
        there = np.asarray((counts != 0).sum(axis=0)).ravel()
        self.idf = np.log((1 + counts.shape[0]) / (1 + there)) + 1
        return self

    def transform(self, counts: Any) -> Any:
        """The counts weighed; sparse stays sparse."""
        if not self.rare:
            return counts
        if not sp.issparse(counts):
            return normalize(np.log1p(np.asarray(counts, dtype=np.float64)) * self.idf)
        X = sp.csr_array(counts)
        return normalize(sp.csr_array((np.log1p(X.data) * self.idf[X.indices], X.indices, X.indptr), shape=X.shape))
