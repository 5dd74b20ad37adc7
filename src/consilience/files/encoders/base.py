"""What several encoders need: which rows hold data, and columns in the order of the fit."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp


def find_nonzero_rows(values: Any) -> np.ndarray:
    """Find the rows that are not all zero or NaN; the others are missing views, such as empty bags of words."""
    if sp.issparse(values):
        return np.asarray((values != 0).sum(axis=1)).ravel() > 0
    return (np.nan_to_num(values) != 0).any(axis=1)


def find_measured_rows(values: Any) -> np.ndarray:
    """Find the rows that are not all NaN: measurements may all be 0, unless the matrix is sparse."""
    return find_nonzero_rows(values) if sp.issparse(values) else np.logical_not(np.isnan(values).all(axis=1))


def order_columns(data: Any, features: np.ndarray | None) -> Any:
    """Put the columns into the order of the fit if both have names; otherwise they are matched by position."""
    X, names = data
    if names is None or features is None:
        return X
    position = {name: i for i, name in enumerate(names.tolist())}
    check_columns(features.tolist(), position)
    order = [position[name] for name in features.tolist()]
    return X if order == list(range(X.shape[1])) else X[:, order]


def check_columns(expected: list[str], columns: Any) -> None:
    """Refuse new entities that lack a column of the fit."""
    missing = next((name for name in expected if name not in columns), None)
    if missing is not None:
        raise ValueError(f"there is no column {missing!r}, which the model was fitted on")


def check_width(X: Any, n_columns: int) -> None:
    """Refuse new entities that have another number of columns than those of the fit."""
    if X.shape[1] != n_columns:
        raise ValueError(f"{X.shape[1]} columns, but {n_columns} in the model: give the same columns in the same order")
