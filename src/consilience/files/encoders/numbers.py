"""Measurements: standardized, with empty cells filled."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from ..._saving import save_as
from .base import check_width, find_measured_rows, order_columns


@save_as("encoder-numbers")
class NumbersEncoder:
    """Standardize columns to mean 0 and variance 1; empty cells in rows that have others get the column's median.

    Sparse matrices stay as they are, because subtracting the mean would fill them.
    """

    kind = "numbers"
    present = staticmethod(find_measured_rows)
    fill: Any  # per column, as mean and scale; None for a sparse matrix
    mean: Any
    scale: Any

    def fit(self, data: Any) -> NumbersEncoder:
        """Learn median, mean and standard deviation of each column."""
        X, self.features = data
        self.n_columns = X.shape[1]
        if sp.issparse(X):
            self.fill = self.mean = self.scale = None
            return self
        X = np.asarray(X, dtype=np.float64)
        rows = X[~np.isnan(X).all(axis=1)]
        if not len(rows):
            raise ValueError("every cell is empty")
        empty = np.isnan(rows).all(axis=0)
        # Sums and squares of huge or tiny numbers would overflow or vanish: scale columns by powers of two.
        _, exponents = np.frexp(np.abs(np.where(np.isnan(rows), 0.0, rows)).max(axis=0))
        scaled = np.ldexp(rows, -exponents)
        fill = np.zeros(X.shape[1])
        fill[~empty] = np.nanmedian(scaled[:, ~empty], axis=0)
        scaled = np.where(np.isnan(scaled), fill, scaled)
        mean, deviation = scaled.mean(axis=0), scaled.std(axis=0)
        varies = deviation > 1e-12 * np.abs(mean)
        self.fill, self.mean = np.ldexp(fill, exponents), np.ldexp(mean, exponents)
        scale = np.where(varies, np.ldexp(deviation, exponents), 1.0)
        self.scale = np.maximum(scale, 2 * np.finfo(np.float64).smallest_subnormal)  # half of it is not 0
        return self

    def transform(self, data: Any) -> Any:
        """Standardize the rows; rows without any value become NaN."""
        X = order_columns(data, self.features)
        check_width(X, self.n_columns)
        if self.fill is None:
            return sp.csr_array(X)
        X = np.asarray(X.toarray() if sp.issparse(X) else X, dtype=np.float64)
        missing = np.isnan(X).all(axis=1)
        filled = np.where(np.isnan(X), self.fill, X)
        standardized = (filled / 2 - self.mean / 2) / (self.scale / 2)  # a difference of huge numbers may overflow
        return np.where(missing[:, None], np.nan, standardized)
