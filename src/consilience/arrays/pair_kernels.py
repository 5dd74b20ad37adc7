"""Compiled sums over the columns that two sparse rows share. Importing this file imports numba."""

from __future__ import annotations

import numpy as np

from .compile import compile_kernel


@compile_kernel
def add_shared_columns(indptr, indices, data, other_indptr, other_indices, other_data, harmonic, row, out):
    """out[i, j] = sum over shared columns of x y / (x + y) if `harmonic`, else of min(x, y); `row` is a row of zeros.

    A row is laid out dense, so that each stored value of the others is looked at once.
    """
    for i in range(out.shape[0]):
        for p in range(indptr[i], indptr[i + 1]):
            row[np.uintp(indices[p])] = data[p]
        for j in range(out.shape[1]):
            total = 0.0
            for p in range(other_indptr[j], other_indptr[j + 1]):
                x, y = row[np.uintp(other_indices[p])], other_data[p]
                if x > 0 and y > 0:
                    total += x * y / (x + y) if harmonic else min(x, y)
            out[i, j] = total
        for p in range(indptr[i], indptr[i + 1]):
            row[np.uintp(indices[p])] = 0
