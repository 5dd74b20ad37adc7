"""An origin near the rows, so that products of numbers far from zero do not cancel."""

from __future__ import annotations

from typing import Any

from array_api_compat import device

from .convert import is_sparse
from .namespace import Array, asarray_like, namespace
from .verbs import shift_rows, squared_norms, take_dense_rows


def sample_rows(X: Array, present: Array) -> Array:
    """Up to two thousand of the present rows, evenly spread, as a dense float64 array."""
    xp = namespace(X)
    rows = xp.nonzero(asarray_like(present, X))[0]
    n = rows.shape[0]
    return take_dense_rows(X, rows[:: max(1, n // 1000)] if n else xp.zeros(1, dtype=rows.dtype, device=device(rows)))


def compute_origin(X: Array, dtype: Any) -> Array | None:
    """Median of the rows, rounded to `dtype`; None if zero serves as well.

    Products of numbers far from zero cancel, above all in float32; relative to the center of the rows they do not. A
    few outliers do not move the median.
    """
    xp = namespace(X)
    center = xp.sort(X, axis=0)[X.shape[0] // 2, :]
    distances = xp.sort(squared_norms(X - center[None, :]))
    if float(xp.vecdot(center, center)) <= float(distances[X.shape[0] // 2]) * xp.finfo(dtype).eps ** -0.3:
        return None
    return xp.astype(xp.astype(center, dtype), xp.float64)


def find_origin(X: Array) -> Array | None:
    """Median of a sample of dense rows, if zero is so far away that digits would cancel; None otherwise."""
    xp = namespace(X)
    if is_sparse(X):
        return None
    return compute_origin(sample_rows(X, xp.ones(X.shape[0], dtype=xp.bool, device=device(X))), X.dtype)


def shift_rows_and_norms(X: Array, origin: Array | None) -> tuple[Array, Array]:
    """Rows relative to the origin, and their squared lengths in the type of X."""
    xp = namespace(X)
    X = X if origin is None else shift_rows(X, xp.astype(origin, X.dtype))
    return X, xp.astype(squared_norms(X), X.dtype)
