"""Steps of kernel matrices, tile by tile, compiled. Importing this file imports numba."""

from __future__ import annotations

from functools import partial

from .compile import compile_kernel


@partial(compile_kernel, fastmath=True)
def multiply_symmetric_tile(tile, vectors, sums, first_row, first_column):
    """Add the products of vectors with a tile above the diagonal of a symmetric matrix, and its transpose, to sums.

    Vectors and their sums, a multiple of three, are rows; the sums begin at the tile's first row. Four rows of the tile
    and three vectors at a time make few reads for many multiplications: BLAS, which copies the tile first, takes more
    than twice the time for so few vectors.
    """
    n_rows, n_columns = tile.shape
    offset = first_column - first_row
    zero = tile.dtype.type(0)
    for i in range(0, n_rows, 4):
        # the last rows may be fewer than four: the row in place of a missing one counts zero times
        i1, i2, i3 = min(i + 1, n_rows - 1), min(i + 2, n_rows - 1), min(i + 3, n_rows - 1)
        t0, t1, t2, t3 = tile[i], tile[i1], tile[i2], tile[i3]
        for p in range(0, vectors.shape[0], 3):
            x, y, z = vectors[p, first_column:], vectors[p + 1, first_column:], vectors[p + 2, first_column:]
            x_sums, y_sums, z_sums = sums[p, offset:], sums[p + 1, offset:], sums[p + 2, offset:]
            x_left, y_left, z_left = vectors[p, first_row:], vectors[p + 1, first_row:], vectors[p + 2, first_row:]
            x0, y0, z0 = x_left[i], y_left[i], z_left[i]
            x1, y1, z1 = (x_left[i1], y_left[i1], z_left[i1]) if i1 == i + 1 else (zero, zero, zero)
            x2, y2, z2 = (x_left[i2], y_left[i2], z_left[i2]) if i2 == i + 2 else (zero, zero, zero)
            x3, y3, z3 = (x_left[i3], y_left[i3], z_left[i3]) if i3 == i + 3 else (zero, zero, zero)
            a0 = a1 = a2 = a3 = b0 = b1 = b2 = b3 = c0 = c1 = c2 = c3 = zero
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
                c0 += u0 * z[j]
                c1 += u1 * z[j]
                c2 += u2 * z[j]
                c3 += u3 * z[j]
                x_sums[j] += u0 * x0 + u1 * x1 + u2 * x2 + u3 * x3
                y_sums[j] += u0 * y0 + u1 * y1 + u2 * y2 + u3 * y3
                z_sums[j] += u0 * z0 + u1 * z1 + u2 * z2 + u3 * z3
            sums[p, i] += a0
            sums[p + 1, i] += b0
            sums[p + 2, i] += c0
            if i1 == i + 1:
                sums[p, i1] += a1
                sums[p + 1, i1] += b1
                sums[p + 2, i1] += c1
            if i2 == i + 2:
                sums[p, i2] += a2
                sums[p + 1, i2] += b2
                sums[p + 2, i2] += c2
            if i3 == i + 3:
                sums[p, i3] += a3
                sums[p + 1, i3] += b3
                sums[p + 2, i3] += c3


@partial(compile_kernel, fastmath=True)
def multiply_diagonal_tile(tile, vectors, sums, first_row):
    """Write the products of vectors with a tile on the diagonal, which is stored whole, to the first sums.

    The sums are those of `multiply_symmetric_tile`, which adds to them.
    """
    n = tile.shape[0]
    zero = tile.dtype.type(0)
    for i in range(0, n, 4):
        i1, i2, i3 = min(i + 1, n - 1), min(i + 2, n - 1), min(i + 3, n - 1)
        t0, t1, t2, t3 = tile[i], tile[i1], tile[i2], tile[i3]
        for p in range(0, vectors.shape[0], 3):
            x, y, z = vectors[p, first_row:], vectors[p + 1, first_row:], vectors[p + 2, first_row:]
            a0 = a1 = a2 = a3 = b0 = b1 = b2 = b3 = c0 = c1 = c2 = c3 = zero
            for j in range(n):
                a0 += t0[j] * x[j]
                a1 += t1[j] * x[j]
                a2 += t2[j] * x[j]
                a3 += t3[j] * x[j]
                b0 += t0[j] * y[j]
                b1 += t1[j] * y[j]
                b2 += t2[j] * y[j]
                b3 += t3[j] * y[j]
                c0 += t0[j] * z[j]
                c1 += t1[j] * z[j]
                c2 += t2[j] * z[j]
                c3 += t3[j] * z[j]
            # the row in place of a missing one has the same sums, written twice
            sums[p, i3], sums[p + 1, i3], sums[p + 2, i3] = a3, b3, c3
            sums[p, i2], sums[p + 1, i2], sums[p + 2, i2] = a2, b2, c2
            sums[p, i1], sums[p + 1, i1], sums[p + 2, i1] = a1, b1, c1
            sums[p, i], sums[p + 1, i], sums[p + 2, i] = a0, b0, c0


@compile_kernel
def add_terms_and_clip(tile, row_terms, column_terms, lower, upper):
    """Add a term per row and per column to a tile, and clip it to bounds, in place."""
    n_rows, n_columns = tile.shape
    for i in range(n_rows):
        row = tile[i]
        for j in range(n_columns):
            row[j] = min(max(row[j] + row_terms[i] + column_terms[j], lower), upper)


@compile_kernel
def keep_between(tile, lower, upper, kept):
    """Write the entries from `lower` on and below `upper` to `kept`; return their number and that of smaller ones."""
    n_kept = n_below = 0
    for i in range(tile.shape[0]):
        row = tile[i]
        for j in range(tile.shape[1]):
            kept[n_kept] = row[j]  # overwritten unless it is counted
            n_kept += (row[j] >= lower) & (row[j] < upper)
            n_below += row[j] < lower
    return n_kept, n_below
