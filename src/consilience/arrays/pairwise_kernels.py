"""Products of vectors with a tile of a symmetric matrix, compiled. Importing this file imports numba."""

from __future__ import annotations

from functools import partial

from .compile import compile_kernel


@partial(compile_kernel, fastmath=True)
def multiply_symmetric_tile(tile, vectors, sums, first_row, first_column):
    """Add the products of vectors with a tile above the diagonal of a symmetric matrix, and its transpose, to sums.

    Vectors and their sums, an even number, are rows; the sums begin at the tile's first row. Four rows of the tile and
    two vectors at a time make few reads for many multiplications: BLAS, which copies the tile first, takes more than
    twice the time for so few vectors.
    """
    n_rows, n_columns = tile.shape
    offset = first_column - first_row
    zero = tile.dtype.type(0)
    for i in range(0, n_rows, 4):
        # the last rows may be fewer than four: the row in place of a missing one counts zero times
        i1, i2, i3 = min(i + 1, n_rows - 1), min(i + 2, n_rows - 1), min(i + 3, n_rows - 1)
        t0, t1, t2, t3 = tile[i], tile[i1], tile[i2], tile[i3]
        for p in range(0, vectors.shape[0], 2):
            x, y = vectors[p, first_column:], vectors[p + 1, first_column:]
            x_sums, y_sums = sums[p, offset:], sums[p + 1, offset:]
            x_left, y_left = vectors[p, first_row:], vectors[p + 1, first_row:]
            x0, y0 = x_left[i], y_left[i]
            x1, y1 = (x_left[i1], y_left[i1]) if i1 == i + 1 else (zero, zero)
            x2, y2 = (x_left[i2], y_left[i2]) if i2 == i + 2 else (zero, zero)
            x3, y3 = (x_left[i3], y_left[i3]) if i3 == i + 3 else (zero, zero)
            a0 = a1 = a2 = a3 = b0 = b1 = b2 = b3 = zero
            for j in range(n_columns):
                u0, u1, u2, u3 = t0[j], t1[j], t2[j], t3[j]
                a0 += u0 * x[j]
                a1 += u1 * x[j]
                a2 += u2 * x[j]
                a3 += u3 * x[j]
                b0 += u0 * y[j]
                b1 += u1 * y[j]
                b2 += u2 * y[j]
                b3 += u3 * y[j]
                x_sums[j] += u0 * x0 + u1 * x1 + u2 * x2 + u3 * x3
                y_sums[j] += u0 * y0 + u1 * y1 + u2 * y2 + u3 * y3
            sums[p, i] += a0
            sums[p + 1, i] += b0
            if i1 == i + 1:
                sums[p, i1] += a1
                sums[p + 1, i1] += b1
            if i2 == i + 2:
                sums[p, i2] += a2
                sums[p + 1, i2] += b2
            if i3 == i + 3:
                sums[p, i3] += a3
                sums[p + 1, i3] += b3
