"""Where the data lies: a point to measure from."""

from __future__ import annotations

from typing import Any

from array_api_compat import device

from .namespace import Array, asarray_like, namespace
from .rows import is_sparse
from .verbs import shift_rows, squared_norms, take_dense_rows


def sample_rows(X: Array, present: Array) -> Array:
    """Up to a thousand of the rows that are there, evenly spread."""
    xp = namespace(X)
    rows = xp.nonzero(asarray_like(present, X))[0]
    n = rows.shape[0]
    return take_dense_rows(X, rows[:: max(1, n // 1000)] if n else xp.zeros(1, dtype=rows.dtype, device=device(rows)))


def compute_origin(X: Array, dtype: Any) -> Array | None:
    """A point amid the rows, rounded to `dtype`; None where zero serves as well.

    Products of numbers far from zero cancel, in float32 above all; measured from the middle they do not. The median is
    not moved by a few rows that lie far out.
    """
    xp = namespace(X)
    centre = xp.sort(X, axis=0)[X.shape[0] // 2, :]
    distances = xp.sort(squared_norms(X - centre[None, :]))
    if float(xp.vecdot(centre, centre)) <= float(distances[X.shape[0] // 2]) * xp.finfo(dtype).eps ** -0.3:
        return None
    return xp.astype(xp.astype(centre, dtype), xp.float64)


def find_origin(X: Array) -> Array | None:
    """A point amid the rows to measure from, where zero is so far off that digits would cancel; dense rows only."""
    xp = namespace(X)
    if is_sparse(X):
        return None
    return compute_origin(sample_rows(X, xp.ones(X.shape[0], dtype=xp.bool, device=device(X))), X.dtype)


def shift_rows_and_norms(X: Array, origin: Array | None) -> tuple[Array, Array]:
    """Rows measured from there, and their squared lengths in the same type."""
    xp = namespace(X)
    X = X if origin is None else shift_rows(X, xp.astype(origin, X.dtype))
    return X, xp.astype(squared_norms(X), X.dtype)
