"""The verbs on sparse rows on a device: products of its library, or operations on the stored values.

`build_scorer`, `argmax_scores` and `compute_scores` need no registration: they use only ``X @ weights``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from . import verbs
from .device_csr import DeviceCSR
from .namespace import Array, keep_where, namespace, to_numpy


@verbs.stored_values.register
def _(X: DeviceCSR) -> Array:
    return X.data[X.stored]


@verbs.map_values.register
def _(X: DeviceCSR, function: Callable[[Array], Array]) -> DeviceCSR:
    return X.with_data(function(verbs.stored_values(X)))


@verbs.weighted_sums.register
def _(X: DeviceCSR, weights: Array) -> Array:
    xp = namespace(X)
    return xp.astype(X.transposed_product(xp.astype(weights, X.dtype, copy=False)).T, xp.float64, copy=False)


@verbs.add_label_sums.register
def _(X: DeviceCSR, labels: Array, sums: Array) -> Array:
    xp = namespace(X)
    clusters = xp.arange(sums.shape[0], dtype=labels.dtype, device=X.device)
    members = labels[:, None] == clusters[None, :]
    sums += _as_float64(X).transposed_product(xp.astype(members, sums.dtype)).T
    return sums


def _as_float64(X: DeviceCSR) -> DeviceCSR:
    """Convert the values to float64."""
    return verbs.map_values(X, lambda values: namespace(values).astype(values, namespace(values).float64, copy=False))


@verbs.row_sums.register
def _(X: DeviceCSR) -> Array:
    xp = namespace(X)
    return (_as_float64(X) @ xp.ones((X.n_columns, 1), dtype=xp.float64, device=X.device))[:, 0]


@verbs.squared_norms.register
def _(X: DeviceCSR) -> Array:
    return verbs.row_sums(verbs.map_values(_as_float64(X), lambda values: values * values))


@verbs.row_is_finite.register
def _(X: DeviceCSR) -> Array:
    xp = namespace(X)
    return verbs.row_sums(verbs.map_values(X, lambda values: xp.astype(~xp.isfinite(values), X.dtype))) == 0


@verbs.scale_rows.register
def _(X: DeviceCSR, factors: Array) -> DeviceCSR:
    xp = namespace(X)
    return X.with_data(verbs.stored_values(X) * xp.take(xp.astype(factors, X.dtype), X.row_indices(), axis=0))


@verbs.mask_rows.register
def _(X: DeviceCSR, kept: Array) -> DeviceCSR:
    xp = namespace(X)
    return X.with_data(keep_where(xp.take(kept, X.row_indices(), axis=0), verbs.stored_values(X), 0.0))


@verbs.take_rows.register
def _(X: DeviceCSR, rows: Array) -> DeviceCSR:
    xp = namespace(X)
    begin, end = (xp.take(part, rows, axis=0) for part in (X.indptr[:-1], X.indptr[1:]))
    ends = xp.astype(xp.cumulative_sum(end - begin, include_initial=True), X.indptr.dtype)
    taken = replace(X, indptr=ends, starts=to_numpy(ends), first=0, sorted_columns={})
    row = taken.row_indices()
    cells = xp.arange(taken.size, dtype=ends.dtype, device=X.device) + xp.take(begin - ends[:-1], row, axis=0)
    return replace(taken, indices=xp.take(X.indices, cells, axis=0), data=xp.take(X.data, cells, axis=0))


@verbs.take_dense_rows.register
def _(X: DeviceCSR, rows: Array) -> Array:
    return _as_float64(verbs.take_rows(X, rows)).to_dense()


@verbs.max_abs.register
def _(X: DeviceCSR) -> float:
    return float(namespace(X).max(abs(verbs.stored_values(X)))) if X.size else 0.0


@verbs.all_rows_equal.register
def _(X: DeviceCSR) -> bool:
    counts = np.diff(X.starts)
    if np.ptp(counts):
        return False
    xp, shape = namespace(X), (len(counts), int(counts[0]))
    cells = (xp.reshape(part[X.stored], shape) for part in (X.indices, X.data))
    return all(bool(xp.all(part == part[:1, :])) for part in cells)


@verbs.inner_products.register
def _(X: DeviceCSR, Y: DeviceCSR) -> Array:
    return (Y @ X.to_dense().T).T  # X, which becomes dense, is a block of few rows
