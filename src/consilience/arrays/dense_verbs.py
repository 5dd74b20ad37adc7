"""Operations on many dense rows in main memory: compiled loops that keep no interpreter lock."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from types import ModuleType

import numpy as np

from . import verbs
from .fused import WORTH_COMPILED, FusedLoops

BLOCK_VALUES = 1 << 13  # numbers that a block of rows takes, which should stay in the nearest cache
BLAS_VALUES = 1 << 18  # numbers of a block that is multiplied by BLAS
MOST_ROWS = 1024  # rows of a block
LEAST_LABELS = 1024  # labels that are worth a compiled loop


@cache
def _loops() -> ModuleType:
    """The compiled loops, imported when first needed."""
    from . import dense_kernels

    return dense_kernels


def choose_n_rows(X: np.ndarray, values_per_row: int, n_values: int = BLOCK_VALUES) -> int:
    """Return how many rows to multiply at a time if each takes so many numbers, and a block `n_values`."""
    return max(1, min(len(X), MOST_ROWS, max(32, n_values // max(1, values_per_row))))


def fill_origin(origin: np.ndarray | None, X: np.ndarray) -> np.ndarray:
    """Return the origin in the type of the rows; zeros for None."""
    return np.zeros(X.shape[1], X.dtype) if origin is None else origin.astype(X.dtype)


@verbs.argmax_scores.register
def _(X: np.ndarray, scorer: verbs.Scorer) -> tuple[np.ndarray, np.ndarray]:
    if X.size < WORTH_COMPILED:
        return verbs.argmax_rows(verbs.compute_scores(X, scorer))
    labels, best = np.empty(len(X), np.int64), np.empty(len(X), X.dtype)
    table, bias = _loops().pack_table(scorer.weights.T, scorer.bias, X.dtype)
    origin = scorer.origin if X.flags.c_contiguous else fill_origin(scorer.origin, X)
    kernel = _loops().largest_scores_loop(table.shape[-1])
    kernel(X, origin, table, bias, choose_n_rows(X, X.shape[1] + scorer.n_clusters), labels, best)
    return labels, best


@verbs.add_label_sums.register
def _(X: np.ndarray, labels: np.ndarray, sums: np.ndarray) -> np.ndarray:
    if X.size < WORTH_COMPILED:
        return verbs.add_indicated_rows(X, labels, sums)
    block_sums = np.zeros_like(sums)
    _loops().label_sums_loop(np.ascontiguousarray(X), labels, block_sums)
    sums += block_sums
    return sums


@verbs.sum_costs.register
def _(score: np.ndarray, row_term: np.ndarray, present: np.ndarray, scale: float) -> float:
    if len(score) < LEAST_LABELS:
        return verbs.sum_costs.dispatch(object)(score, row_term, present, scale)
    return _loops().cost_loop(row_term, score, present, scale)


@verbs.count_labels.register
def _(labels: np.ndarray, n_clusters: int) -> np.ndarray:
    if len(labels) < LEAST_LABELS:
        return np.bincount(labels[labels >= 0], minlength=n_clusters).astype(np.float64)
    counts = np.zeros(n_clusters)
    _loops().count_loop(labels, counts)
    return counts


@verbs.include_labels.register
def _(labels: np.ndarray, lowest: np.ndarray, highest: np.ndarray, n_labels: np.ndarray) -> None:
    if len(labels) < LEAST_LABELS:
        verbs.include_labels.dispatch(object)(labels, lowest, highest, n_labels)
    else:
        _loops().label_range_loop(labels, lowest, highest, n_labels)


class CompiledLoops(FusedLoops):
    """Loops over dense rows and posteriors in main memory, compiled by numba."""

    @staticmethod
    def compute_quadratic_scores(
        X: np.ndarray, linear: np.ndarray, quadratic: np.ndarray, bias: np.ndarray, origin: np.ndarray | None = None
    ) -> np.ndarray:
        table, padded_bias = _loops().pack_table(np.concatenate([linear, quadratic], axis=1), bias, X.dtype)
        out = np.empty((len(bias), len(X)), X.dtype)
        kernel = _loops().quadratic_scores_loop(table.shape[-1])
        kernel(X, fill_origin(origin, X), table, padded_bias, choose_n_rows(X, 2 * X.shape[1] + len(bias)), out)
        return out.T

    @staticmethod
    def compute_whitened_log_prob(
        X: np.ndarray, whitening: np.ndarray, shift: np.ndarray, constant: np.ndarray, origin: np.ndarray | None
    ) -> np.ndarray:
        k, d = shift.shape
        table = np.ascontiguousarray(whitening.transpose(1, 0, 2).reshape(d, k * d), dtype=X.dtype)
        out = np.empty((k, len(X)), X.dtype)
        size = choose_n_rows(X, (k + 1) * d, BLAS_VALUES)
        _loops().whitening_loop(X, fill_origin(origin, X), table, shift, constant, size, out)
        return out.T

    @staticmethod
    def sum_moments(X: np.ndarray, weights: np.ndarray, origin: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
        d, k = X.shape[1], weights.shape[1]
        sums, n_padded = np.zeros((k, 2 * d)), _loops().N_ROWS * -(-k // _loops().N_ROWS)
        by_cluster = np.zeros((n_padded, len(X)), X.dtype)
        by_cluster[:k] = weights.T
        kernel = _loops().moments_loop(_loops().choose_width(d, X.dtype.itemsize)[1])
        kernel(X, fill_origin(origin, X), by_cluster, choose_n_rows(X, 2 * d + k), sums)
        return sums[:, :d], sums[:, d:]

    @staticmethod
    def sum_cross_products(X: np.ndarray, weights: np.ndarray) -> np.ndarray:
        d, k = X.shape[1], weights.shape[1]
        products = np.zeros((d, k * d))
        by_cluster = np.ascontiguousarray(weights.T, dtype=X.dtype)
        _loops().cross_products_loop(X, by_cluster, choose_n_rows(X, (k + 1) * d, BLAS_VALUES), products)
        products = products.reshape(d, k, d).transpose(1, 0, 2)
        return (products + products.transpose(0, 2, 1)) / 2  # symmetric to the last digit

    @staticmethod
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
        n_views, k = log_priors.shape
        blended = np.empty((k, rows.stop - rows.start), log_probs.dtype)
        sums, quality = np.empty((n_views + 1, k)), np.empty(n_views + 4)
        _loops().blend_loop(
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
