"""Compiled loops over dense rows and posteriors in main memory. Importing this file imports numba.

A call works through all rows of a chunk without the interpreter lock: blocks of rows are multiplied by BLAS, and
everything between two products happens while the block is in the cache. So a thread needs the interpreter a few times
per chunk. Sums have a fixed order, which depends on the shape of the data alone.
"""

from __future__ import annotations

from functools import cache, partial
from math import factorial, inf, log
from typing import Any, NamedTuple

import numpy as np
from numba import types
from numba.extending import overload

from .compile import compile_kernel
from .vectors import N_ROWS, add_row, choose_width, label_rows, multiply_rows

LINE = 64  # bytes of a cache line
TILE = 256  # rows whose posteriors in all views are computed at a time
SUMMED = {"reassoc", "contract", "arcp", "nsz"}  # sums in any order; infinity and NaN keep their meaning
LOG2_E = 1.4426950408889634


def align_zeros(shape: tuple[int, ...], dtype: Any) -> np.ndarray:
    """Return zeros that begin with a cache line, so that no vector of them is in two lines."""
    n_bytes = int(np.prod(shape)) * np.dtype(dtype).itemsize
    data = np.zeros(n_bytes + LINE, np.uint8)
    start = -data.ctypes.data % LINE
    return data[start : start + n_bytes].view(dtype).reshape(shape)


def pack_table(weights: np.ndarray, bias: np.ndarray | None, dtype: Any) -> tuple[np.ndarray, np.ndarray]:
    """Lay out (clusters, columns) weights in panels (n_panels, columns, width), and their bias; padding never wins."""
    k, length = weights.shape
    n_panels, width = choose_width(k, np.dtype(dtype).itemsize)
    table, padded_bias = align_zeros((n_panels, length, width), dtype), align_zeros((n_panels, width), dtype)
    padded_bias += np.inf
    for panel in range(n_panels):
        clusters = slice(panel * width, (panel + 1) * width)
        n_clusters = len(weights[clusters])
        table[panel, :, :n_clusters] = weights[clusters].T
        padded_bias[panel, :n_clusters] = 0 if bias is None else bias[clusters]
    return table, padded_bias


compile_sums = partial(compile_kernel, fastmath=SUMMED)


def exp_fast(x):
    """``exp(x)`` for x of at most 0, without subnormal results, as arithmetic that LLVM computes for many x at once."""
    raise NotImplementedError("for compiled code only")


def log_fast(x):
    """``log(x)`` for normal numbers x above 0, as arithmetic that LLVM computes for many x at once."""
    raise NotImplementedError("for compiled code only")


class FloatType(NamedTuple):
    """What the logarithm and the exponential need to know of a type of numbers."""

    number: Any
    whole: Any  # integers of the same size
    shift: Any  # bits of the mantissa
    bias: Any  # of the exponent
    high: Any  # log 2 in two parts, of which the first has so few digits that its products with exponents are exact
    low: Any
    n_terms: int  # of the series of the exponential
    n_log_terms: int


def describe_float(kind):
    """Return the type of numbers of a type of numba."""
    number: Any
    whole: Any
    if kind == types.float32:
        number, whole, parts, n_terms, n_log_terms = np.float32, np.int32, (0.693359375, -2.12194440e-4), 8, 5
    else:
        number, whole, n_terms, n_log_terms = np.float64, np.int64, 14, 11
        parts = 0.693145751953125, 1.42860682030941723212e-6
    limits = np.finfo(number)
    shift, bias = whole(limits.nmant), whole(limits.maxexp - 1)
    return FloatType(number, whole, shift, bias, number(parts[0]), number(parts[1]), n_terms, n_log_terms)


@overload(exp_fast, jit_options={"fastmath": {"contract"}})
def _(x):
    number, whole, shift, bias, high, low, n_terms, _ = describe_float(x)
    least = number(np.finfo(number).minexp * log(2))
    log2_e, half, zero, first = number(LOG2_E), number(0.5), number(0), number(1 / factorial(n_terms - 1))
    coefficients = tuple(number(1 / factorial(i)) for i in range(n_terms - 2, -1, -1))

    def exp_impl(x):
        y = x if x > least else least
        exponent = np.floor(y * log2_e + half)
        rest = y - exponent * high - exponent * low
        total = first
        for coefficient in coefficients:
            total = total * rest + coefficient
        power = whole((whole(exponent) + bias) << shift).view(number)
        return total * power if x > least else zero

    return exp_impl


@overload(log_fast, jit_options={"fastmath": {"contract"}})
def _(x):
    number, whole, shift, bias, high, low, _, n_terms = describe_float(x)
    mask, one_bits = whole((1 << int(shift)) - 1), whole(int(bias) << int(shift))
    root, half, zero, unit, double = number(2**0.5), number(0.5), number(0), number(1), number(2)
    first, coefficients = (
        number(1 / (2 * n_terms - 1)),
        tuple(number(1 / (2 * i + 1)) for i in range(n_terms - 2, -1, -1)),
    )

    def log_impl(x):
        bits = number(x).view(whole)
        mantissa = whole((bits & mask) | one_bits).view(number)  # from 1 up to 2
        is_large = mantissa > root
        exponent = number((bits >> shift) - bias) + (unit if is_large else zero)
        mantissa = mantissa * half if is_large else mantissa
        ratio = (mantissa - unit) / (mantissa + unit)
        square = ratio * ratio
        total = first
        for coefficient in coefficients:
            total = total * square + coefficient
        return exponent * high + (double * ratio * total + exponent * low)

    return log_impl


@compile_kernel
def copy_block(X, origin, start, n_rows, out):
    """out[i] = X[start + i] - origin."""
    # unsigned, because numba checks whether signed indices count from the end
    first, d = np.uintp(start), np.uintp(X.shape[1])
    for i in range(np.uintp(n_rows)):
        for c in range(d):
            out[i, c] = X[first + i, c] - origin[c]


def load_block(X, origin, start, n_rows, out):
    """Contiguous rows ``X[start : start + n_rows] - origin``, copied to `out` only if necessary."""
    raise NotImplementedError("for compiled code only")


@overload(load_block)
def _(X, origin, start, n_rows, out):  # noqa: ARG001
    if isinstance(origin, types.NoneType) and X.layout == "C":
        return lambda X, origin, start, n_rows, out: X[start : start + n_rows]  # noqa: ARG005

    def load_copy(X, origin, start, n_rows, out):
        copy_block(X, origin, start, n_rows, out)
        return out[:n_rows]

    return load_copy


@compile_kernel
def copy_block_and_squares(X, origin, start, n_rows, out):
    """Write X[start + i] - origin and its squares side by side to out[i]."""
    first, d = np.uintp(start), np.uintp(X.shape[1])
    for i in range(np.uintp(n_rows)):
        for c in range(d):
            value = X[first + i, c] - origin[c]
            out[i, c] = value
            out[i, d + c] = value * value


@compile_kernel
def copy_panel(X, origin, start, n_rows, column, values, squares):
    """Write the columns of X[start + i] - origin from `column` on to values[i], and their squares to squares[i]."""
    first, at = np.uintp(start), np.uintp(column)
    for i in range(np.uintp(n_rows)):
        for c in range(np.uintp(min(values.shape[1], X.shape[1] - column))):
            value = X[first + i, at + c] - origin[at + c]
            values[i, c] = value
            squares[i, c] = value * value


@cache
def label_block_loop(width: int):
    """Compile the loop that labels a block of rows by the best of linear scores, `width` per panel of the table."""

    @compile_kernel
    def label_block(rows, table, bias, labels, best):
        """labels[i], best[i] = argmax, max of ``rows[i] @ table - bias`` (the first on ties)."""
        n, d = rows.shape
        winners, largest = np.empty(N_ROWS, np.int64), np.empty(N_ROWS, rows.dtype)
        for first in range(0, n, N_ROWS):
            m = min(N_ROWS, n - first)
            for panel in range(table.shape[0]):
                if m == N_ROWS:
                    label_rows(rows, first, d, table[panel], bias[panel], winners, largest, N_ROWS, width)
                else:
                    for i in range(m):
                        label_rows(rows, first + i, d, table[panel], bias[panel], winners[i:], largest[i:], 1, width)
                for i in range(m):
                    if panel == 0 or largest[i] > best[first + i]:
                        labels[first + i], best[first + i] = panel * width + winners[i], largest[i]

    return label_block


@cache
def largest_scores_loop(width: int):
    """Compile the loop that labels all rows of a chunk."""
    label_block = label_block_loop(width)

    @compile_kernel
    def find_largest_scores(X, origin, table, bias, size, labels, best):
        """labels[i], best[i] = argmax, max of ``(X[i] - origin) @ table - bias`` (the first on ties)."""
        block = np.empty((size, X.shape[1]), X.dtype)
        for start in range(0, len(labels), size):
            stop = min(len(labels), start + size)
            rows = load_block(X, origin, start, stop - start, block)
            label_block(rows, table, bias, labels[start:stop], best[start:stop])

    return find_largest_scores


@cache
def sweep_loop(width: int):
    """Compile a sweep of k-means: the E-step of one view, and the sums of the next view."""
    label_block = label_block_loop(width)

    @compile_kernel
    def sweep_rows(X, origin, table, bias, row_term, present, scale, size, turns, labels, start_labels, Y, next_present,
                   summed, sums, counts, with_agreement):  # fmt: skip
        """Label the rows of one view, and update the sums of the next view's rows by their newest labels.

        Only rows whose newest label is not the one that they were summed under are read.

        Parameters
        ----------
        X, origin, table, bias : arrays
            The rows of the view, and its centers as linear scores.
        row_term, present : arrays of shape (n,)
            The part of the cost that depends on the row alone, and which rows have the view.
        scale : float
            The cost of a row is ``row_term - scale * score``.
        size : int
            The number of rows to work on at a time.
        turns : array of shape (n_turns,)
            The positions of the views that had their turn in `labels`, the last one first.
        labels : array of shape (n_views, n)
            The labels by view, -1 where a view is missing; receives those of the first of the turns.
        start_labels : array of shape (n,)
            The labels of rows that have none of these views.
        Y, next_present : arrays
            The rows of the next view, and which are present.
        summed : array of shape (n,)
            The label that each row is summed under, -1 if none.
        sums, counts : arrays of shape (k, n_columns) and (k,)
            The sums and numbers of the rows of each label.
        with_agreement : bool
            Whether to count the rows with several labels.

        Returns
        -------
        The cost, the number of rows with several labels, and of those of them whose labels are equal.
        """
        n, d = len(start_labels), Y.shape[1]
        block = np.empty((size, X.shape[1]), X.dtype)
        winners, best = np.empty(size, np.int64), np.empty(size, X.dtype)
        cost, n_several, n_agreed, last = 0.0, 0.0, 0.0, turns[0]
        for start in range(0, n, size):
            m = min(size, n - start)
            label_block(load_block(X, origin, start, m, block), table, bias, winners[:m], best[:m])
            for i in range(m):
                at = start + i
                row_cost = row_term[at] - scale * np.float64(best[i])
                cost += row_cost if row_cost > 0 and present[at] else 0.0
                newest = winners[i] if present[at] else -1
                labels[last, at] = newest
                if newest < 0:
                    newest = start_labels[at]
                    for turn in turns[:0:-1]:
                        newest = labels[turn, at] if labels[turn, at] >= 0 else newest
                newest, before = newest if next_present[at] else -1, summed[at]
                if newest != before:
                    summed[at] = newest
                    if before >= 0:
                        add_row(Y, at, d, -1.0, sums, before)
                        counts[before] -= 1
                    if newest >= 0:
                        add_row(Y, at, d, 1.0, sums, newest)
                        counts[newest] += 1
            if with_agreement:
                for i in range(start, start + m):
                    lowest, highest, n_labels = len(counts), -1, 0
                    for turn in turns:
                        label = labels[turn, i]
                        if label >= 0:
                            lowest, highest, n_labels = min(lowest, label), max(highest, label), n_labels + 1
                    n_several += n_labels > 1
                    n_agreed += n_labels > 1 and lowest == highest
        return cost, n_several, n_agreed

    return sweep_rows


@compile_sums
def cost_loop(row_term, best, present, scale):
    """Sum of ``row_term - scale * best`` over the rows that are present, where it is positive."""
    total = 0.0
    for i in range(len(best)):
        cost = row_term[i] - scale * np.float64(best[i])
        total += cost if cost > 0 and present[i] else 0.0
    return total


@compile_kernel
def label_sums_loop(X, labels, sums):
    """sums[j] += the contiguous rows labeled j, in their order; rows with a negative label are left out."""
    n, d = X.shape
    for i in range(n):
        if labels[i] >= 0:
            add_row(X, i, d, 1.0, sums, labels[i])


@compile_kernel
def count_loop(labels, counts):
    """counts[j] += the number of labels j; negative labels are not counted."""
    for i in range(len(labels)):
        if labels[i] >= 0:
            counts[labels[i]] += 1


@compile_kernel
def label_range_loop(labels, lowest, highest, n_labels):
    """Include the labels of a view, -1 where it is missing, in the range of labels and their number of each row."""
    for i in range(len(labels)):
        label = labels[i]
        is_present = label >= 0
        lowest[i] = label if is_present and label < lowest[i] else lowest[i]
        highest[i] = label if label > highest[i] else highest[i]
        n_labels[i] += is_present


@cache
def quadratic_scores_loop(width: int):
    """Compile the loop that computes scores that are quadratic in the rows, `width` per panel of the table."""

    @compile_kernel
    def compute_quadratic_scores(X, origin, table, bias, size, out):
        """out[j, i] = ``([x, x^2] @ table - bias)[j]`` with x = X[i] - origin."""
        n, k, length = X.shape[0], out.shape[0], 2 * X.shape[1]
        size = N_ROWS * -(-size // N_ROWS)
        rows, scores = np.zeros((size, length), X.dtype), np.empty((size, width), X.dtype)
        for start in range(0, n, size):
            m = min(size, n - start)
            copy_block_and_squares(X, origin, start, m, rows)
            for panel in range(table.shape[0]):
                for i in range(0, m, N_ROWS):
                    multiply_rows(rows, i, length, table[panel], bias[panel], scores[i:], N_ROWS, width)
                for j in range(min(width, k - panel * width)):
                    target = out[panel * width + j, start : start + m]
                    for i in range(m):
                        target[i] = scores[i, j]

    return compute_quadratic_scores


@compile_sums
def whitening_loop(X, origin, table, shift, constant, size, out):
    """out[j, i] = ``constant[j] - |(X[i] - origin) @ W_j - shift[j]|^2 / 2``; the W_j stand side by side in `table`."""
    (n, d), k = X.shape, len(constant)
    rows = np.empty((size, d), X.dtype)
    white = np.empty((size, k * d), X.dtype)
    half = X.dtype.type(0.5)
    for start in range(0, n, size):
        m = min(size, n - start)
        copy_block(X, origin, start, m, rows)
        np.dot(rows[:m], table, white[:m])
        for i in range(m):
            for j in range(k):
                values, center, total = white[i, j * d : (j + 1) * d], shift[j], X.dtype.type(0)
                for c in range(d):
                    difference = values[c] - center[c]
                    total += difference * difference
                out[j, start + i] = constant[j] - half * total


@cache
def moments_loop(width: int):
    """Compile the loop that sums rows and their squares under weights, `width` columns at a time."""

    @compile_kernel
    def sum_moments(X, origin, weights, size, out):
        """Add the weighted sums of the rows relative to the origin, and of their squares, to `out` (k, 2 columns).

        `weights` has one row per cluster; their number is padded to a multiple of `N_ROWS`.
        """
        (n, d), n_padded, k = X.shape, weights.shape[0], out.shape[0]
        n_panels = -(-d // width)
        panels, zeros = np.zeros((2 * n_panels, size, width), X.dtype), np.zeros(width, X.dtype)
        block, sums = np.zeros((n_padded, size), X.dtype), np.empty((N_ROWS, width), X.dtype)
        for start in range(0, n, size):
            m = min(size, n - start)
            for panel in range(n_panels):
                copy_panel(X, origin, start, m, panel * width, panels[panel], panels[n_panels + panel])
            for j in range(k):
                block[j, :m] = weights[j, start : start + m]
                block[j, m:] = 0
            for panel in range(2 * n_panels):
                first = (panel % n_panels) * width
                n_columns = min(width, d - first)
                at = first if panel < n_panels else d + first
                for j in range(0, n_padded, N_ROWS):
                    multiply_rows(block, j, size, panels[panel], zeros, sums, N_ROWS, width)
                    for r in range(min(N_ROWS, k - j)):
                        for c in range(n_columns):
                            out[j + r, at + c] += sums[r, c]

    return sum_moments


@compile_kernel
def cross_products_loop(X, weights, size, out):
    """Add ``X.T @ diag(w) @ X`` of each row w of the weights to `out` (columns, clusters * columns)."""
    (n, d), k = X.shape, weights.shape[0]
    rows = np.empty((size, d), X.dtype)
    wide = np.empty((size, k * d), X.dtype)
    products = np.empty((d, k * d), X.dtype)
    origin = np.zeros(d, X.dtype)
    for start in range(0, n, size):
        m = min(size, n - start)
        if m < size:
            rows, wide = np.empty((m, d), X.dtype), np.empty((m, k * d), X.dtype)
        copy_block(X, origin, start, m, rows)
        for i in range(m):
            row = rows[i]
            for j in range(k):
                weight, target = weights[j, start + i], wide[i, j * d : (j + 1) * d]
                for c in range(d):
                    target[c] = weight * row[c]
        np.dot(rows.T, wide, products)
        for a in range(d):
            for c in range(k * d):
                out[a, c] += products[a, c]


@compile_sums
def compute_tile_posteriors(log_prob, prior, at, m, bottom, joint, posteriors, top, total):
    """Compute the posteriors of a tile of rows in one view, not yet divided by their `total`.

    The posterior of a row that is impossible in every cluster is the prior.
    """
    k = len(prior)
    top[:m] = log_prob[0, at : at + m] + prior[0]
    for j in range(k):
        values, sums = log_prob[j, at : at + m], joint[j]
        for i in range(m):
            sums[i] = values[i] + prior[j]
            top[i] = max(top[i], sums[i])
    total[:m] = 0
    for j in range(k):
        sums, powers = joint[j], posteriors[j]
        for i in range(m):
            powers[i] = exp_fast(sums[i] - top[i])
            total[i] += powers[i]
    if top[:m].min() > bottom:
        return
    largest = prior.max()
    for i in range(m):
        if top[i] <= bottom:
            total[i] = 0
            for j in range(k):
                posteriors[j, i] = exp_fast(prior[j] - largest)
                total[i] += posteriors[j, i]


@compile_sums
def blend_tile(posteriors, factors, shares, m, first, blended, sums):
    """Multiply the posteriors of a tile by the factors of the rows; add their shares to `blended`, and sum them up."""
    smallest = np.finfo(posteriors.dtype).tiny
    for j in range(len(sums)):
        powers, target, total = posteriors[j], blended[j, first : first + m], 0.0
        for i in range(m):
            value = powers[i] * factors[i]
            value = value if value >= smallest else 0 * value  # arithmetic with subnormal numbers is slow
            powers[i] = value
            target[i] += value * shares[i]
            total += value
        sums[j] += total


@compile_sums
def compute_tile_evidence(joint, prior, bottom, labels, m, top, total, evidence):
    """Compute the log-density of each row of a tile, or of the row and its class, if that is known.

    Where it is minus infinity, `joint` receives the prior, so that it has the logarithms of the posteriors.
    """
    for i in range(m):
        evidence[i] = np.float64(top[i]) + np.float64(log_fast(total[i]))
    for i in range(m):
        if top[i] <= bottom:
            evidence[i] = -inf
    for i in range(len(labels)):
        if labels[i] >= 0:
            value = joint[labels[i], i]
            evidence[i] = np.float64(value) if value > bottom else -inf
    for i in range(m):
        if evidence[i] == -inf:
            joint[:, i] = prior


@compile_sums
def add_tile_logs(posteriors, joint, evidence, has_view, m, all_posteriors, all_logs, certainty, best, winner):
    """Add the posteriors of a view, and their logarithms, to those of all views; find the most likely clusters."""
    best[:m], winner[:m] = posteriors[0, :m], 0
    for j in range(len(posteriors)):
        powers, values, powers_of_all, logs_of_all = posteriors[j], joint[j], all_posteriors[j], all_logs[j]
        for i in range(m):
            value = (values[i] - evidence[i]) * has_view[i]
            certainty[i] += powers[i] * value
            powers_of_all[i] += powers[i]
            logs_of_all[i] += value
            is_larger = powers[i] > best[i]
            winner[i] = j if is_larger else winner[i]
            best[i] = powers[i] if is_larger else best[i]


@compile_sums
def sum_tile_disagreement(
    all_posteriors, all_logs, certainty, n_present, labels, bottom, m, lowest, highest, crossed, contradicted, quality
):  # fmt: skip
    """Add minus the entropy of a tile's posteriors, their disagreement, and the rows that count and that agree."""
    crossed[:m], contradicted[:m] = 0.0, 0.0
    for j in range(len(all_logs)):
        powers, logs = all_posteriors[j], all_logs[j]
        for i in range(m):
            is_possible = logs[i] > bottom
            product = powers[i] * logs[i]
            crossed[i] += product if is_possible else 0.0
            contradicted[i] += 0.0 if is_possible else powers[i]  # possible in one view, impossible in another
    for i in range(m):
        quality[0] += certainty[i]
        if contradicted[i] > 0:
            quality[1] += inf
        if n_present[i] > 1:
            quality[1] += (n_present[i] * certainty[i] - crossed[i]) / (n_present[i] - 1)
            if len(labels) == 0 or labels[i] < 0:
                quality[2] += 1
                quality[3] += lowest[i] == highest[i]


@compile_sums
def blend_loop(
    log_probs, active, log_priors, present, target_present, fixed_labels, target, eta, bottom, start, blended, sums,
    quality, with_quality,
):  # fmt: skip
    """Compute the posteriors of rows in each view, blend them for one view, and sum what an M-step and a state need.

    `FusedLoops.blend_views` describes the arguments and results, except that `active` is an array, `present` has shape
    (n_views, n), or (0, 0) if no row lacks a view, and `fixed_labels` is empty if no class is known. The rows are those
    from `start` on, as many as `blended` (k, n_rows) has; `blended`, `sums` and `quality` receive the results.
    """
    n_views, k = log_priors.shape
    number, has_missing = log_probs.dtype.type, present.shape[0] > 0
    bottom, zero, unit, eta = number(bottom), number(0), number(1), number(eta)
    joint, posteriors = np.empty((k, TILE), log_probs.dtype), np.empty((k, TILE), log_probs.dtype)
    all_posteriors, all_logs = np.empty_like(posteriors), np.empty_like(posteriors)
    top, total = np.empty(TILE, log_probs.dtype), np.empty(TILE, log_probs.dtype)
    best, factors = np.empty_like(top), np.empty_like(top)
    n_present, has_view, kept, shared = np.empty_like(top), np.ones_like(top), np.empty_like(top), np.empty_like(top)
    winner, lowest, highest = np.empty(TILE, np.int32), np.empty(TILE, np.int32), np.empty(TILE, np.int32)
    evidence, certainty, crossed, contradicted = np.empty(TILE), np.empty(TILE), np.empty(TILE), np.empty(TILE)
    sums[:], quality[:], blended[:] = 0.0, 0.0, zero
    for first in range(0, blended.shape[1], TILE):
        m, at = min(TILE, blended.shape[1] - first), start + first
        labels = fixed_labels[at : at + m]
        n_present[:m], kept[:m] = n_views, target >= 0
        if has_missing:
            n_present[:m] = 0
            for v in range(n_views):
                n_present[:m] += present[v, at : at + m]
            if target >= 0:
                kept[:m] = present[target, at : at + m]
        for i in range(m):
            n_others = n_present[i] - kept[i]
            alone = unit if n_others == 0 else zero
            shared[i] = target_present[at + i] * (unit - alone) * (unit - kept[i] * (unit - eta)) / (n_others + alone)
            kept[i] *= unit - eta + eta * alone
        certainty[:m], lowest[:m], highest[:m] = 0.0, k, -1
        all_posteriors[:], all_logs[:] = zero, zero
        for v in range(n_views):
            if has_missing:
                has_view[:m] = present[v, at : at + m]
            compute_tile_posteriors(log_probs[active[v]], log_priors[v], at, m, bottom, joint, posteriors, top, total)
            for i in range(m):
                factors[i] = has_view[i] / total[i]
            for i in range(len(labels)):
                if labels[i] >= 0:
                    factors[i] = has_view[i]
                    for j in range(k):
                        posteriors[j, i] = unit if j == labels[i] else zero
            blend_tile(posteriors, factors, kept if v == target else shared, m, first, blended, sums[v])
            if not with_quality:
                continue
            compute_tile_evidence(joint, log_priors[v], bottom, labels, m, top, total, evidence)
            for i in range(m):
                quality[v] += evidence[i] if has_view[i] > 0 else 0.0
                factors[i] = evidence[i] if evidence[i] > -inf else 0.0
            add_tile_logs(posteriors, joint, factors, has_view, m, all_posteriors, all_logs, certainty, best, winner)
            for i in range(m):
                lowest[i] = min(lowest[i], winner[i]) if has_view[i] > 0 else lowest[i]
                highest[i] = max(highest[i], winner[i]) if has_view[i] > 0 else highest[i]
        for i in range(len(labels)):  # known classes count also in a view without parameters
            if labels[i] >= 0:
                for j in range(k):
                    blended[j, first + i] = target_present[at + i] if j == labels[i] else zero
        for j in range(k):
            sums[n_views, j] += blended[j, first : first + m].sum()
        if with_quality:
            sum_tile_disagreement(
                all_posteriors,
                all_logs,
                certainty,
                n_present,
                labels,
                bottom,
                m,
                lowest,
                highest,
                crossed,
                contradicted,
                quality[n_views:],
            )
