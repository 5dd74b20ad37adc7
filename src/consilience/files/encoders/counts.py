"""Counts: a matrix, or bags of terms; raw or weighted by tf-idf."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.preprocessing import normalize

from ..._saving import save_as
from .base import check_width, find_nonzero_rows, order_columns


@save_as("encoder-weighting")
class TermWeighting:
    """Raw counts, or tf-idf: logarithmic counts times the rarity of the term, in rows of unit length.

    Parameters
    ----------
    rare : bool
        Whether terms are weighted by their rarity; raw counts otherwise.
    """

    def __init__(self, rare: bool) -> None:
        self.rare = rare

    def fit(self, counts: Any) -> TermWeighting:
        """Learn how rare each term is."""
        n_documents = np.asarray((counts != 0).sum(axis=0)).ravel()
        self.idf = np.log((1 + counts.shape[0]) / (1 + n_documents)) + 1
        return self

    def transform(self, counts: Any) -> Any:
        """Weight the counts; sparse counts stay sparse."""
        if not self.rare:
            return counts
        if not sp.issparse(counts):
            return normalize(np.log1p(np.asarray(counts, dtype=np.float64)) * self.idf)
        X = sp.csr_array(counts)
        return normalize(sp.csr_array((np.log1p(X.data) * self.idf[X.indices], X.indices, X.indptr), shape=X.shape))


@save_as("encoder-counts")
class CountsEncoder:
    """Encode counts with one column per term; rows without any are missing views.

    Parameters
    ----------
    rare : bool
        Whether terms are weighted by their rarity.
    """

    kind = "counts"
    present = staticmethod(find_nonzero_rows)

    def __init__(self, rare: bool) -> None:
        self.weighting = TermWeighting(rare)

    def fit(self, data: Any) -> CountsEncoder:
        """Learn the terms and how rare they are."""
        if isinstance(data, np.ndarray):
            self.features = np.array(sorted({term for bag in data if bag is not None for term in bag}), dtype=object)
        else:
            self.features = data[1]
        self.weighting.fit(self._to_matrix(data))
        return self

    def transform(self, data: Any) -> Any:
        """Encode rows of counts; terms that were not seen in `fit` are ignored."""
        counts = self._to_matrix(data)
        check_width(counts, len(self.weighting.idf))
        return self.weighting.transform(counts)

    def _to_matrix(self, data: Any) -> Any:
        """Count the terms of bags, or put the columns of a matrix in order, with 0 for empty cells."""
        if isinstance(data, np.ndarray):
            return _count_terms(data, self.features)
        X = order_columns(data, self.features)
        if sp.issparse(X):
            X = sp.csr_array(X)
            return sp.csr_array((np.where(np.isnan(X.data), 0, X.data), X.indices, X.indptr), shape=X.shape)
        X = np.asarray(X, dtype=np.float64)
        return np.where(np.isnan(X), 0.0, X)


def _count_terms(bags: np.ndarray, terms: np.ndarray) -> sp.csr_array:
    """Build the matrix of counts with one row per bag and one column per term."""
    position = {term: i for i, term in enumerate(terms.tolist())}
    cells = [
        (row, position[term], count)
        for row, bag in enumerate(bags)
        if bag is not None
        for term, count in bag.items()
        if term in position
    ]
    rows, columns, values = np.array(cells).reshape(-1, 3).T if cells else np.zeros((3, 0))
    return sp.csr_array((values, (rows.astype(int), columns.astype(int))), shape=(len(bags), len(terms)))
