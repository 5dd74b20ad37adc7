"""Counts: a matrix, or bags of terms."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from ..._saving import save_as
from .numbers import check_width, order_columns
from .presence import find_nonzero_rows
from .weighting import TermWeighting


@save_as("encoder-counts")
class CountsEncoder:
    """A column a term; rows without any are missing views.

    Parameters
    ----------
    rare : bool
        Whether terms are weighed by their rarity.
    """

    kind = "counts"
    present = staticmethod(find_nonzero_rows)

    def __init__(self, rare: bool) -> None:
        self.weighting = TermWeighting(rare)

    def fit(self, data: Any) -> CountsEncoder:
        """Learn the terms and how rare they are."""
        self.features = terms_of(data) if isinstance(data, np.ndarray) else data[1]
        self.weighting.fit(self._matrix(data))
        return self

    def transform(self, data: Any) -> Any:
        """Rows of counts; terms that were not there in `fit` are not looked at."""
        counts = self._matrix(data)
        check_width(counts, len(self.weighting.idf))
        return self.weighting.transform(counts)

    def _matrix(self, data: Any) -> Any:
        if isinstance(data, np.ndarray):
            return bags_to_counts(data, self.features)
        return _without_nan(order_columns(data, self.features))


def terms_of(bags: np.ndarray) -> np.ndarray:
    """All terms, in order."""
    return np.array(sorted({term for bag in bags if bag is not None for term in bag}), dtype=object)


def bags_to_counts(bags: np.ndarray, terms: np.ndarray) -> sp.csr_array:
    """A row a bag, a column a term."""
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


def _without_nan(X: Any) -> Any:
    """Replace NaN by 0: an empty cell counts nothing."""
    if sp.issparse(X):
        X = sp.csr_array(X)
        return sp.csr_array((np.where(np.isnan(X.data), 0, X.data), X.indices, X.indptr), shape=X.shape)
    X = np.asarray(X, dtype=np.float64)
    return np.where(np.isnan(X), 0.0, X)
