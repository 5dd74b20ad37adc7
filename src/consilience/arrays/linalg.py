"""Linear algebra in which array libraries differ: small symmetric matrices, sums of squares, lengths of rows."""

from __future__ import annotations

from functools import singledispatch

import numpy as np
from array_api_compat import device, is_cupy_array, is_torch_array
from scipy.linalg import get_lapack_funcs

from .fused import find_fused_loops
from .namespace import Array, keep_where, namespace


@singledispatch
def inverse_cholesky(matrices: Array) -> Array:
    """Inverses of the Cholesky factors of positive definite matrices: (..., d, d), lower triangular.

    A matrix that is not positive definite gives NaN on torch and cupy, which do not check, and an error elsewhere.
    """
    xp = namespace(matrices)
    if is_torch_array(matrices):  # its cholesky and inverse would force a synchronization
        root, failed = xp.linalg.cholesky_ex(matrices)
        root = xp.where((failed == 0)[..., None, None], root, xp.full_like(root, xp.nan))
        unit = xp.eye(root.shape[-1], dtype=root.dtype, device=device(root))
        return xp.linalg.solve_triangular(root, xp.broadcast_to(unit, root.shape), upper=False)
    return xp.tril(xp.linalg.inv(xp.linalg.cholesky(matrices)))


@inverse_cholesky.register
def _(matrices: np.ndarray) -> np.ndarray:
    inverses = np.linalg.cholesky(matrices)
    (invert,) = get_lapack_funcs(("trtri",), (inverses,))
    for root in inverses.reshape(-1, *matrices.shape[-2:]):
        root[...] = invert(root.T, lower=0)[0].T  # LAPACK stores columns one after the other, which are our rows
    return inverses


@singledispatch
def is_positive_definite(matrices: Array) -> bool:
    """Whether all matrices are positive definite, if that is cheap to find out; False if it is not known.

    On torch and cupy this synchronizes with the device. So does `eigh`, which takes fifty times as long if there are
    many columns.
    """
    xp = namespace(matrices)
    if is_torch_array(matrices):
        return not bool(xp.any(xp.linalg.cholesky_ex(matrices).info != 0))
    if is_cupy_array(matrices):
        return bool(xp.all(xp.isfinite(xp.linalg.cholesky(matrices))))
    return False


@is_positive_definite.register
def _(matrices: np.ndarray) -> bool:
    try:
        np.linalg.cholesky(matrices)
    except np.linalg.LinAlgError:
        return False
    return True


def find_indefinite(matrices: np.ndarray) -> np.ndarray:
    """Return which of the matrices (..., d, d) of numpy are not positive definite."""
    (factorize,) = get_lapack_funcs(("potrf",), (matrices,))
    flat = matrices.reshape(-1, *matrices.shape[-2:])
    return np.array([factorize(matrix.T, clean=False)[1] != 0 for matrix in flat]).reshape(matrices.shape[:-2])


def compute_cross_products(X: Array, weights: Array) -> Array:
    """``X.T @ diag(w) @ X`` for each column w of the weights, as float64, multiplied in the type of X: (k, d, d)."""
    loops = find_fused_loops(X, weights.shape[1], with_covariances=True)
    if loops is not None:
        return loops.sum_cross_products(X, weights)
    xp = namespace(X)
    n, d = X.shape
    k = weights.shape[1]
    # one product for all clusters, which takes memory for k copies of the rows
    wide = xp.reshape(xp.astype(weights, X.dtype, copy=False)[:, :, None] * X[:, None, :], (n, k * d))
    products = xp.astype(xp.reshape(wide.T @ X, (k, d, d)), xp.float64)
    return (products + xp.matrix_transpose(products)) / 2  # symmetric to the last digit


def normalize_rows(X: Array) -> Array:
    """Scale rows to unit length; rows of zeros stay."""
    xp = namespace(X)
    largest = xp.max(xp.abs(X), axis=1, keepdims=True)
    X = X / keep_where(largest > 0, largest, 1.0)  # squares of small numbers may underflow
    lengths = xp.sqrt(xp.sum(X**2, axis=1, keepdims=True))
    return X / keep_where(lengths > 0, lengths, 1.0)
