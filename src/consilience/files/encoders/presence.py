"""Which rows say something; the others are missing views."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp


def find_nonzero_rows(values: Any) -> np.ndarray:
    """Rows that are not all zeros or NaN: an empty bag of words is a missing view."""
    if sp.issparse(values):
        return np.asarray((values != 0).sum(axis=1)).ravel() > 0
    return (np.nan_to_num(values) != 0).any(axis=1)


def find_measured_rows(values: Any) -> np.ndarray:
    """Rows that are not all NaN: a row of zero measurements is none that is missing. Sparse, zeros are not stored."""
    return find_nonzero_rows(values) if sp.issparse(values) else np.logical_not(np.isnan(values).all(axis=1))
