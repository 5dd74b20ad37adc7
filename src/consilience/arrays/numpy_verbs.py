"""What numpy arrays do better than the array standard says."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from .verbs import Scorer, add_label_sums, build_scorer, count_labels, exp_nonpositive

WORTH_COMPILED = 1 << 17  # numbers from which on compiled code pays, which lets other threads work meanwhile


@build_scorer.register
def _(X: np.ndarray, weights, bias=None, origin=None):
    # columns one after the other: OpenBLAS then has a short cut for products of up to a million multiplications
    table = np.ascontiguousarray(weights.T, dtype=X.dtype)
    bias, origin = (None if own is None else own.astype(X.dtype) for own in (bias, origin))
    return Scorer(table, bias, origin, len(weights))


@add_label_sums.register
def _(X: np.ndarray, labels, sums):
    if X.size >= WORTH_COMPILED:
        from . import kernels

        found = np.zeros_like(sums)
        kernels.dense_label_sums(X, labels, found)
        sums += found
        return sums
    # the product with a sparse indicator reads X once; a dense indicator would cost n x k x d multiplications
    kept = labels >= 0
    ends = np.concatenate([[0], np.cumsum(kept)])
    indicator = sp.csr_array((np.ones(ends[-1]), labels[kept], ends), shape=(len(labels), len(sums)))
    sums += indicator.T @ X
    return sums


@count_labels.register
def _(labels: np.ndarray, n_clusters):
    return np.bincount(labels[labels >= 0], minlength=n_clusters).astype(np.float64)


@exp_nonpositive.register
def _(exponents: np.ndarray):
    np.clip(exponents, -np.inf, 0, out=exponents)  # np.minimum with a number is not vectorised
    return np.exp(exponents, out=exponents)
