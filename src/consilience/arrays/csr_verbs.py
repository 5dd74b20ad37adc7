"""The verbs on sparse rows: the heavy ones compiled, the others in numpy on the stored values."""

from __future__ import annotations

import numpy as np

from . import verbs
from .csr import CSR


def _kernels():
    """The compiled kernels, imported when first needed."""
    from . import csr_kernels

    return csr_kernels


@verbs.build_scorer.register
def _(X: CSR, weights, bias=None, origin=None):
    assert origin is None, "scores of sparse rows have no origin"
    # (blocks, columns, width): the clusters of a column side by side, padded with clusters that never win
    n_blocks, width = _kernels().block_width(len(weights), X.dtype.itemsize)
    table = np.zeros((n_blocks, X.n_columns, width), X.dtype)
    for block in range(n_blocks):
        block_weights = weights[block * width : (block + 1) * width]
        table[block, :, : len(block_weights)] = block_weights.T
    padded_bias = np.full((n_blocks, width), np.inf, X.dtype)
    padded_bias.reshape(-1)[: len(weights)] = 0 if bias is None else bias
    return verbs.Scorer(table, padded_bias, None, len(weights))


@verbs.argmax_scores.register
def _(X: CSR, scorer):
    labels, best = np.empty(X.shape[0], np.int64), np.empty(X.shape[0], X.dtype)
    kernel = _kernels().argmax_kernel(scorer.weights.shape[-1])
    kernel(X.indptr, X.indices, X.data, scorer.weights, scorer.bias, labels, best)
    return labels, best


@verbs.compute_scores.register
def _(X: CSR, scorer):
    out = np.empty((X.shape[0], scorer.n_clusters), X.dtype)
    kernel = _kernels().scores_kernel(scorer.weights.shape[-1])
    kernel(X.indptr, X.indices, X.data, scorer.weights, scorer.bias, out)
    return out


@verbs.add_label_sums.register
def _(X: CSR, labels, sums):
    _kernels().label_sums(X.indptr, X.indices, X.data, labels, sums)
    return sums


@verbs.weighted_sums.register
def _(X: CSR, weights):
    k = weights.shape[1]
    n_blocks, width = _kernels().block_width(k, np.dtype(np.float64).itemsize)
    table = np.zeros((n_blocks, X.n_columns, width))
    for block in range(n_blocks):
        block_weights = weights[:, block * width : (block + 1) * width]
        _kernels().weighted_sums_kernel(width)(X.indptr, X.indices, X.data, block_weights, table[block])
    return table.transpose(0, 2, 1).reshape(n_blocks * width, X.n_columns)[:k]  # no copy if there is one block


def _sum_by_row(X: CSR, values: np.ndarray) -> np.ndarray:
    """Sum of `values`, which belong to the stored values, over each row; reduceat alone mishandles empty rows."""
    totals = np.zeros(X.shape[0])
    filled = np.flatnonzero(np.diff(X.indptr))
    if len(filled):
        starts = X.indptr[filled] - X.indptr[0]
        totals[filled] = np.add.reduceat(values, starts, dtype=np.float64)
    return totals


@verbs.stored_values.register
def _(X: CSR):
    return X.data[X.stored]


@verbs.squared_norms.register
def _(X: CSR):
    data = X.data[X.stored].astype(np.float64)
    return _sum_by_row(X, data * data)


@verbs.row_sums.register
def _(X: CSR):
    return _sum_by_row(X, X.data[X.stored])


@verbs.row_is_finite.register
def _(X: CSR):
    return _sum_by_row(X, ~np.isfinite(X.data[X.stored])) == 0


@verbs.max_abs.register
def _(X: CSR):
    return float(np.abs(X.data[X.stored]).max(initial=0))


@verbs.map_values.register
def _(X: CSR, function):
    return CSR(X.indptr - X.indptr[0], X.indices[X.stored], function(X.data[X.stored]), X.n_columns)


@verbs.scale_rows.register
def _(X: CSR, factors):
    return X.with_data(X.data * np.repeat(factors.astype(X.dtype), np.diff(X.indptr)))


@verbs.mask_rows.register
def _(X: CSR, kept):
    value_is_kept = np.repeat(kept, np.diff(X.indptr))
    return X if value_is_kept.all() else X.with_data(np.where(value_is_kept, X.data, X.dtype.type(0)))


@verbs.take_dense_rows.register
def _(X: CSR, rows):
    out = np.zeros((len(rows), X.n_columns))
    for row, i in zip(out, rows, strict=True):
        cells = slice(X.indptr[i], X.indptr[i + 1])
        row[X.indices[cells]] = X.data[cells]
    return out


@verbs.take_rows.register
def _(X: CSR, rows):
    return CSR.from_scipy(X.to_scipy()[rows])


@verbs.inner_products.register
def _(X: CSR, Y):
    return (X.to_scipy() @ Y.to_scipy().T).toarray() if verbs.is_sparse(Y) else X.to_scipy() @ Y.T


@verbs.all_rows_equal.register
def _(X: CSR):
    counts = np.diff(X.indptr)
    if np.ptp(counts):
        return False
    shape = len(counts), counts[0]
    cells = (part[X.stored].reshape(shape) for part in (X.indices, X.data))
    return all(bool(np.all(part == part[:1])) for part in cells)


def sum_shared_columns(X: CSR, Y: CSR, *, harmonic: bool) -> np.ndarray:
    """Sum over the columns that two rows share of ``x y / (x + y)``, or of ``min(x, y)``: (rows of X, rows of Y)."""
    if X.n_columns != Y.n_columns:  # the kernel looks up columns in a scratch row
        raise ValueError(f"rows of {X.n_columns} columns cannot be compared with rows of {Y.n_columns}")
    out = np.empty((X.shape[0], Y.shape[0]), X.dtype)
    _kernels().add_shared_columns(
        X.indptr, X.indices, X.data, Y.indptr, Y.indices, Y.data, harmonic, np.zeros(X.n_columns, X.dtype), out
    )
    return out
