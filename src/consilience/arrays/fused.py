"""The choice of functions that compute several steps in one pass over the rows."""

from __future__ import annotations

from types import ModuleType

import numpy as np

from . import dense_verbs
from .namespace import Array, can_use_triton

WIDEST = 128  # columns of rows in Triton's kernels for covariances, which must fit the registers


def find_fused_kernels(
    X: Array, n_clusters: int, *, with_covariances: bool = False, worth: int = dense_verbs.WORTH_COMPILED
) -> ModuleType | None:
    """Return the module with loops for rows of this kind: compiled by numba, or by Triton on a GPU; None without any.

    Arrays of fewer than `worth` numbers in main memory are not worth compiled code. The kernels for covariances on a
    GPU are limited to a number of columns.
    """
    if isinstance(X, np.ndarray):
        return dense_verbs if X.size >= worth else None
    if can_use_triton(X, n_clusters) and not (with_covariances and X.shape[1] > WIDEST):
        from . import triton_kernels

        return triton_kernels
    return None
