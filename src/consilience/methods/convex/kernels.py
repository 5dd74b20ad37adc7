"""Products with tables of likelihoods in float32 or float64, summed in float64. Importing this file imports numba.

Converting a table to float64 for a product of BLAS would take longer than the product.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from ...arrays.compile import compile_kernel


@partial(compile_kernel, fastmath=True)
def multiply_table(table, v, products):  # type: ignore[no-untyped-def]
    """Write ``table @ v`` into the products, four rows at a time."""
    n, m = table.shape
    for i in range(0, n, 4):
        a, b, c, d = table[i], table[min(i + 1, n - 1)], table[min(i + 2, n - 1)], table[min(i + 3, n - 1)]
        sa = sb = sc = sd = 0.0
        for j in range(m):
            sa += a[j] * v[j]
            sb += b[j] * v[j]
            sc += c[j] * v[j]
            sd += d[j] * v[j]
        products[i] = sa
        if i + 1 < n:
            products[i + 1] = sb
        if i + 2 < n:
            products[i + 2] = sc
        if i + 3 < n:
            products[i + 3] = sd


@partial(compile_kernel, fastmath=True)
def add_rows(r, table, sums):  # type: ignore[no-untyped-def]
    """Add ``r @ table`` to the sums, four rows at a time."""
    n, m = table.shape
    for i in range(0, n, 4):
        a, b, c, d = table[i], table[min(i + 1, n - 1)], table[min(i + 2, n - 1)], table[min(i + 3, n - 1)]
        ra = r[i]
        rb = r[i + 1] if i + 1 < n else 0.0
        rc = r[i + 2] if i + 2 < n else 0.0
        rd = r[i + 3] if i + 3 < n else 0.0
        for j in range(m):
            sums[j] += ra * a[j] + rb * b[j] + rc * c[j] + rd * d[j]


@partial(compile_kernel, fastmath=True)
def add_squared_rows(r, table, sums):  # type: ignore[no-untyped-def]
    """Add ``r @ table**2`` to the sums."""
    n, m = table.shape
    for i in range(n):
        for j in range(m):
            value = np.float64(table[i, j])
            sums[j] += r[i] * value * value


@compile_kernel
def multiply_table_twice(table, v, weights, divide):  # type: ignore[no-untyped-def]
    """Compute ``s = table @ v`` and ``(weights * s) @ table``, or ``(weights / s) @ table``, reading the table once.

    A row of zero weight or, if divided by, of zero s adds nothing.
    """
    n, m = table.shape
    products, r, sums = np.empty(n), np.zeros(n), np.zeros(m)
    for start in range(0, n, 4):
        rows = slice(start, start + 4)
        multiply_table(table[rows], v, products[rows])
        for i in range(start, min(start + 4, n)):
            if not divide:
                r[i] = weights[i] * products[i]
            elif products[i] != 0:
                r[i] = weights[i] / products[i]
        add_rows(r[rows], table[rows], sums)
    return products, sums
