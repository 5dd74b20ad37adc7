"""Operations on many dense rows in main memory: compiled loops that keep no interpreter lock.

The functions have the names and arguments of those in `triton_kernels`. `find_fused_kernels` chooses.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType

import numpy as np

from . import verbs

WORTH_COMPILED = 1 << 15  # values from which on compiled code is faster, which also lets other threads work meanwhile
BLOCK_VALUES = 1 << 17  # numbers that a block of rows takes
MOST_ROWS = 1024  # rows of a block


def _kernels() -> ModuleType:
    """The compiled kernels, imported when first needed."""
    from . import dense_kernels

    return dense_kernels


def choose_n_rows(X: np.ndarray, values_per_row: int) -> int:
    """Return how many rows to multiply at a time if each takes this many numbers."""
    return max(1, min(len(X), MOST_ROWS, max(16, BLOCK_VALUES // max(1, values_per_row))))


def make_origin(origin: np.ndarray | None, X: np.ndarray) -> np.ndarray:
    """Return the origin in the type of the rows; zeros for None."""
    return np.zeros(X.shape[1], X.dtype) if origin is None else origin.astype(X.dtype)


@verbs.argmax_scores.register
def _(X: np.ndarray, scorer: verbs.Scorer) -> tuple[np.ndarray, np.ndarray]:
    if X.size < WORTH_COMPILED:
        return verbs.argmax_rows(verbs.compute_scores(X, scorer))
    labels, best = np.empty(len(X), np.int64), np.empty(len(X), X.dtype)
    table, bias = _kernels().pack_table(scorer.weights.T, scorer.bias, X.dtype)
    origin = scorer.origin if X.flags.c_contiguous else make_origin(scorer.origin, X)
    kernel = _kernels().largest_scores_kernel(table.shape[-1])
    kernel(X, origin, table, bias, choose_n_rows(X, X.shape[1] + scorer.n_clusters), labels, best)
    return labels, best


@verbs.add_label_sums.register
def _(X: np.ndarray, labels: np.ndarray, sums: np.ndarray) -> np.ndarray:
    if X.size < WORTH_COMPILED:
        return verbs.add_indicated_rows(X, labels, sums)
    block_sums = np.zeros_like(sums)
    _kernels().add_rows_by_label(X, labels, block_sums)
    sums += block_sums
    return sums


@verbs.sum_costs.register
def _(score: np.ndarray, row_term: np.ndarray, present: np.ndarray, scale: float) -> float:
    if len(score) < MOST_ROWS:
        return verbs.sum_costs.dispatch(object)(score, row_term, present, scale)
    return _kernels().sum_costs(row_term, score, present, scale)


@verbs.count_labels.register
def _(labels: np.ndarray, n_clusters: int) -> np.ndarray:
    if len(labels) < MOST_ROWS:
        return np.bincount(labels[labels >= 0], minlength=n_clusters).astype(np.float64)
    counts = np.zeros(n_clusters)
    _kernels().count_labels(labels, counts)
    return counts


@verbs.include_labels.register
def _(labels: np.ndarray, lowest: np.ndarray, highest: np.ndarray, n_labels: np.ndarray) -> None:
    if len(labels) < MOST_ROWS:
        verbs.include_labels.dispatch(object)(labels, lowest, highest, n_labels)
    else:
        _kernels().include_labels(labels, lowest, highest, n_labels)


def compute_quadratic_scores(
    X: np.ndarray, linear: np.ndarray, quadratic: np.ndarray, bias: np.ndarray, origin: np.ndarray | None = None
) -> np.ndarray:
    """Return ``x . linear[j] + x^2 . quadratic[j] - bias[j]`` of the rows relative to the origin: (rows, clusters)."""
    table, padded_bias = _kernels().pack_table(np.concatenate([linear, quadratic], axis=1), bias, X.dtype)
    out = np.empty((len(bias), len(X)), X.dtype)
    kernel = _kernels().quadratic_scores_kernel(table.shape[-1])
    kernel(X, make_origin(origin, X), table, padded_bias, choose_n_rows(X, 2 * X.shape[1] + len(bias)), out)
    return out.T


def compute_whitened_log_prob(
    X: np.ndarray, whitening: np.ndarray, shift: np.ndarray, constant: np.ndarray, origin: np.ndarray | None
) -> np.ndarray:
    """Return ``constant - |(X - origin) @ whitening[j] - shift[j]|^2 / 2``: (rows, clusters)."""
    k, d = shift.shape
    table = np.ascontiguousarray(whitening.transpose(1, 0, 2).reshape(d, k * d), dtype=X.dtype)
    out = np.empty((k, len(X)), X.dtype)
    size = choose_n_rows(X, (k + 1) * d)
    _kernels().compute_whitened_log_prob(X, make_origin(origin, X), table, shift, constant, size, out)
    return out.T


def sum_moments(X: np.ndarray, weights: np.ndarray, origin: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """Return the weighted sums of the rows relative to the origin, and of their squares, in float64."""
    d, k = X.shape[1], weights.shape[1]
    sums, n_padded = np.zeros((k, 2 * d)), _kernels().N_ROWS * -(-k // _kernels().N_ROWS)
    by_cluster = np.zeros((n_padded, len(X)), X.dtype)
    by_cluster[:k] = weights.T
    kernel = _kernels().moments_kernel(_kernels().choose_width(2 * d, X.dtype.itemsize)[1])
    kernel(X, make_origin(origin, X), by_cluster, choose_n_rows(X, 2 * d + k), sums)
    return sums[:, :d], sums[:, d:]


def sum_cross_products(X: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return ``X.T @ diag(w) @ X`` for each column w of the weights, added up in float64: (clusters, d, d)."""
    d, k = X.shape[1], weights.shape[1]
    products = np.zeros((d, k * d))
    by_cluster = np.ascontiguousarray(weights.T, dtype=X.dtype)
    _kernels().sum_cross_products(X, by_cluster, choose_n_rows(X, (k + 1) * d), products)
    products = products.reshape(d, k, d).transpose(1, 0, 2)
    return (products + products.transpose(0, 2, 1)) / 2  # symmetric to the last digit


def blend_views(
    log_probs: np.ndarray,
    active: Sequence[int],
    log_priors: np.ndarray,
    present: Sequence[np.ndarray] | None,
    target_present: np.ndarray,
    fixed_labels: np.ndarray | None,
    target: int,
    eta: float,
    bottom: float,
    rows: slice,
    *,
    with_quality: bool,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Compute the posteriors of views from log-densities (all views, k, n), and blend them for one view, in one pass.

    `dense_kernels.blend_views` describes the parameters. Return the blended posteriors (rows, k), the sums of the
    posteriors of each view and of the blended ones, and the terms of the quality.
    """
    n_views, k = log_priors.shape
    blended = np.empty((k, rows.stop - rows.start), log_probs.dtype)
    sums, quality = np.empty((n_views + 1, k)), np.empty(n_views + 4)
    _kernels().blend_views(
        np.asarray(log_probs),
        np.asarray(active),
        log_priors.astype(log_probs.dtype, copy=False),
        np.empty((0, 0), bool) if present is None else np.stack(present),
        target_present,
        np.empty(0, np.int64) if fixed_labels is None else fixed_labels,
        target,
        float(eta),
        bottom,
        rows.start,
        blended,
        sums,
        quality,
        with_quality,
    )
    return blended.T, sums, quality
