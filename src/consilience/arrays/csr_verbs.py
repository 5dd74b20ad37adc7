"""The verbs on sparse rows: the heavy ones compiled, the others a line of numpy on the stored values."""

from __future__ import annotations

import numpy as np

from .csr import CSR
from .verbs import (
    Scorer,
    add_label_sums,
    all_rows_equal,
    argmax_scores,
    build_scorer,
    compute_scores,
    inner_products,
    map_values,
    mask_rows,
    max_abs,
    row_is_finite,
    row_sums,
    scale_rows,
    squared_norms,
    stored_values,
    take_dense_rows,
    take_rows,
    weighted_sums,
)


@build_scorer.register
def _(X: CSR, weights, bias=None, origin=None):
    assert origin is None, "sparse rows are measured from zero"
    from . import kernels

    # (blocks, columns, width): the clusters of a column side by side, padded with some that never win
    n_blocks, width = kernels.block_width(len(weights), X.dtype.itemsize)
    table = np.zeros((n_blocks, X.n_columns, width), X.dtype)
    for block in range(n_blocks):
        part = weights[block * width : (block + 1) * width]
        table[block, :, : len(part)] = part.T
    padded = np.full((n_blocks, width), np.inf, X.dtype)
    padded.reshape(-1)[: len(weights)] = 0 if bias is None else bias
    return Scorer(table, padded, None, len(weights))


@argmax_scores.register
def _(X: CSR, score):
    from . import kernels

    labels, best = np.empty(X.shape[0], np.int64), np.empty(X.shape[0], X.dtype)
    kernel = kernels.nearest_kernel(score.weights.shape[-1])
    kernel(X.indptr, X.indices, X.data, score.weights, score.bias, labels, best)
    return labels, best


@compute_scores.register
def _(X: CSR, score):
    from . import kernels

    out = np.empty((X.shape[0], score.n_clusters), X.dtype)
    kernel = kernels.scores_kernel(score.weights.shape[-1])
    kernel(X.indptr, X.indices, X.data, score.weights, score.bias, out)
    return out


@add_label_sums.register
def _(X: CSR, labels, sums):
    from . import kernels

    kernels.label_sums(X.indptr, X.indices, X.data, labels, sums)
    return sums


@weighted_sums.register
def _(X: CSR, weights):
    from . import kernels

    k = weights.shape[1]
    n_blocks, width = kernels.block_width(k, np.dtype(np.float64).itemsize)
    table = np.zeros((n_blocks, X.n_columns, width))
    for block in range(n_blocks):
        part = weights[:, block * width : (block + 1) * width]
        kernels.weighted_sums_kernel(width)(X.indptr, X.indices, X.data, part, table[block])
    return table.transpose(0, 2, 1).reshape(n_blocks * width, X.n_columns)[:k]  # of one block a view, not a copy


def _row_totals(X: CSR, values: np.ndarray) -> np.ndarray:
    """Sum of `values` (one a stored value) over each row; reduceat alone mishandles empty rows."""
    totals = np.zeros(X.shape[0])
    filled = np.flatnonzero(np.diff(X.indptr))
    if len(filled):
        starts = X.indptr[filled] - X.indptr[0]
        totals[filled] = np.add.reduceat(values, starts, dtype=np.float64)
    return totals


def _stored_slice(X: CSR) -> slice:
    return slice(X.indptr[0], X.indptr[-1])


@squared_norms.register
def _(X: CSR):
    data = X.data[_stored_slice(X)].astype(np.float64)
    return _row_totals(X, data * data)


@scale_rows.register
def _(X: CSR, factors):
    return X.with_data(X.data * np.repeat(factors.astype(X.dtype), np.diff(X.indptr)))


@take_dense_rows.register
def _(X: CSR, rows):
    out = np.zeros((len(rows), X.n_columns))
    for row, i in zip(out, rows, strict=True):
        cells = slice(X.indptr[i], X.indptr[i + 1])
        row[X.indices[cells]] = X.data[cells]
    return out


@take_rows.register
def _(X: CSR, rows):
    return CSR.from_scipy(X.to_scipy()[rows])


@inner_products.register
def _(X: CSR, Y):
    found = X.to_scipy() @ (Y.to_scipy() if isinstance(Y, CSR) else Y).T
    return found.toarray() if isinstance(Y, CSR) else found


@mask_rows.register
def _(X: CSR, kept):
    stored_kept = np.repeat(kept, np.diff(X.indptr))
    return X if stored_kept.all() else X.with_data(np.where(stored_kept, X.data, X.dtype.type(0)))


@max_abs.register
def _(X: CSR):
    return float(np.abs(X.data[_stored_slice(X)]).max(initial=0))


@row_is_finite.register
def _(X: CSR):
    return _row_totals(X, ~np.isfinite(X.data[_stored_slice(X)])) == 0


@row_sums.register
def _(X: CSR):
    return _row_totals(X, X.data[_stored_slice(X)])


@map_values.register
def _(X: CSR, function):
    here = _stored_slice(X)
    return CSR(X.indptr - X.indptr[0], X.indices[here], function(X.data[here]), X.n_columns)


@stored_values.register
def _(X: CSR):
    return X.data[_stored_slice(X)]


@all_rows_equal.register
def _(X: CSR):
    counts, here = np.diff(X.indptr), _stored_slice(X)
    if np.ptp(counts):
        return False
    shape = len(counts), counts[0]
    cells = X.indices[here].reshape(shape), X.data[here].reshape(shape)
    return all(bool(np.all(own == own[:1])) for own in cells)


def sum_shared_columns(X: CSR, Y: CSR, *, harmonic: bool) -> np.ndarray:
    """Sum over the columns that two rows share of ``x y / (x + y)``, or of ``min(x, y)``: (rows of X, rows of Y)."""
    from . import pair_kernels

    if X.n_columns != Y.n_columns:  # compiled code looks up one row's columns in a scratch row of the other's width
        raise ValueError(f"rows of {X.n_columns} columns cannot be compared with rows of {Y.n_columns}")
    out = np.empty((X.shape[0], Y.shape[0]), X.dtype)
    pair_kernels.add_shared_columns(
        X.indptr, X.indices, X.data, Y.indptr, Y.indices, Y.data, harmonic, np.zeros(X.n_columns, X.dtype), out
    )
    return out
