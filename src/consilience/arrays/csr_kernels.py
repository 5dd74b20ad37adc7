"""Compiled loops over rows. Importing this file imports numba: the verbs do when they first need a kernel.

A non-zero of column c touches row c of a (columns, clusters) table. The kernels are fast because the clusters of a row
are side by side in memory and their number is a *constant* of the compiled code, so that the running sums of all
clusters stay in vector registers while a data row streams by. numba cannot do that with Python code (an accumulator
array goes through memory), so the two inner loops are written in LLVM's terms below. Kernels are compiled per width and
value type on first use and cached on disk. All release the interpreter lock.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.errors import RequireLiteralValue
from numba.extending import intrinsic

from .compile import compile_kernel

VECTOR_BYTES = 32  # one AVX register; LLVM splits or joins it where the machine has others
MOST_CLUSTERS = 32  # clusters per pass: more running sums would not fit the registers


def block_width(n_clusters: int, itemsize: int) -> tuple[int, int]:
    """Number of passes, and number of clusters per pass (padded to whole vectors)."""
    lanes = VECTOR_BYTES // itemsize
    n_blocks = -(-n_clusters // MOST_CLUSTERS)
    return n_blocks, lanes * -(-n_clusters // (n_blocks * lanes))


class _RowLoop:
    """What the two inner loops share: pointers, vectors of clusters, the loop over the non-zeros of a row."""

    def __init__(self, context, builder, signature, args, table_at, width):
        self.context, self.builder, self.width = context, builder, width
        self.types, self.args = signature.args, args
        self.element = self.types[table_at].dtype
        scalar = context.get_value_type(self.element)
        self.itemsize = self.element.bitwidth // 8
        self.lanes = VECTOR_BYTES // self.itemsize
        self.vector = ir.VectorType(scalar, self.lanes)
        self.intp = context.get_value_type(types.intp)
        self.data, self.indices, self.table = (self.pointer(i) for i in (0, 1, table_at))

    def pointer(self, i):
        return self.context.make_array(self.types[i])(self.context, self.builder, self.args[i]).data

    def vectors(self, base, offset=None):
        """Pointers to the vectors that hold `width` clusters, starting at `base[offset]`."""
        for start in range(0, self.width, self.lanes):
            at = ir.Constant(self.intp, start)
            at = at if offset is None else self.builder.add(offset, at)
            yield self.builder.bitcast(self.builder.gep(base, [at]), self.vector.as_pointer())

    def load(self, pointer):
        value = self.builder.load(pointer)
        value.align = self.itemsize
        return value

    def store(self, value, pointer):
        self.builder.store(value, pointer).align = self.itemsize

    def multiply_add(self, a, b, c):
        product = self.builder.fmul(a, b, flags=["contract"])
        return self.builder.fadd(product, c, flags=["contract"])

    def non_zeros(self):
        """Loop over the row; yields (value in every lane, offset of its column's row in the table)."""
        builder, context = self.builder, self.context
        lo, hi = (context.cast(builder, self.args[i], self.types[i], types.intp) for i in (2, 3))
        with cgutils.for_range_slice(builder, lo, hi, ir.Constant(self.intp, 1)) as (p, _):
            value = builder.load(builder.gep(self.data, [p]))
            value = context.cast(builder, value, self.types[0].dtype, self.element)
            column = builder.load(builder.gep(self.indices, [p]))
            column = context.cast(builder, column, self.types[1].dtype, types.intp)
            undefined = ir.Constant(self.vector, ir.Undefined)
            first = builder.insert_element(undefined, value, ir.Constant(ir.IntType(32), 0))
            mask = ir.Constant(ir.VectorType(ir.IntType(32), self.lanes), [0] * self.lanes)
            everywhere = builder.shuffle_vector(first, undefined, mask)
            yield everywhere, builder.mul(column, ir.Constant(self.intp, self.width))


def require_constant(width):
    """Make numba pass the width as a constant of the code."""
    if not isinstance(width, types.IntegerLiteral):
        raise RequireLiteralValue("the number of clusters must be a constant of the compiled code")


@intrinsic
def gather_row(_, data, indices, lo, hi, table, out, width):
    """``out[:width] = sum over p in lo:hi of data[p] * table[indices[p], :width]``."""
    require_constant(width)

    def generate(context, builder, signature, args):
        loop = _RowLoop(context, builder, signature, args, 4, width.literal_value)
        zero = ir.Constant(loop.vector, [0.0] * loop.lanes)
        sums = [cgutils.alloca_once_value(builder, zero) for _ in range(loop.width // loop.lanes)]
        for value, offset in loop.non_zeros():
            for total, row in zip(sums, loop.vectors(loop.table, offset), strict=True):
                builder.store(loop.multiply_add(value, loop.load(row), builder.load(total)), total)
        for total, cell in zip(sums, loop.vectors(loop.pointer(5)), strict=True):
            loop.store(builder.load(total), cell)
        return context.get_dummy_value()

    return types.void(data, indices, lo, hi, table, out, width), generate


@intrinsic
def spread_row(_, data, indices, lo, hi, weights, table, width):
    """``table[indices[p], :width] += data[p] * weights[:width]`` for p in lo:hi."""
    require_constant(width)

    def generate(context, builder, signature, args):
        loop = _RowLoop(context, builder, signature, args, 5, width.literal_value)
        weights = [loop.load(cell) for cell in loop.vectors(loop.pointer(4))]
        for value, offset in loop.non_zeros():
            for weight, row in zip(weights, loop.vectors(loop.table, offset), strict=True):
                loop.store(loop.multiply_add(value, weight, loop.load(row)), row)
        return context.get_dummy_value()

    return types.void(data, indices, lo, hi, weights, table, width), generate


@cache
def argmax_kernel(width: int):
    """Compile the loop that labels rows by the best of `width` linear scores."""

    @compile_kernel
    def argmax_scores(indptr, indices, data, table, bias, labels, best):
        """labels[i], best[i] = argmax, max over j of ``x_i . table[:, j] - bias[j]`` (the first on ties)."""
        scores = np.empty(width, table.dtype)
        for i in range(len(labels)):
            winner, best_score = 0, -np.inf
            for block in range(table.shape[0]):
                gather_row(data, indices, indptr[i], indptr[i + 1], table[block], scores, width)
                for j in range(width):
                    score = scores[j] - bias[block, j]
                    if score > best_score:
                        winner, best_score = block * width + j, score
            labels[i], best[i] = winner, best_score

    return argmax_scores


@cache
def scores_kernel(width: int):
    """Compile the loop that computes `width` linear scores per row."""

    @compile_kernel
    def compute_scores(indptr, indices, data, table, bias, out):
        """Out = X @ table - bias, one block of clusters at a time."""
        scores = np.empty(width, table.dtype)
        for i in range(out.shape[0]):
            for block in range(table.shape[0]):
                gather_row(data, indices, indptr[i], indptr[i + 1], table[block], scores, width)
                first = block * width
                for j in range(min(width, out.shape[1] - first)):
                    out[i, first + j] = scores[j] - bias[block, j]

    return compute_scores


@cache
def weighted_sums_kernel(width: int):
    """Compile the loop that sums rows under `width` weights."""

    @compile_kernel
    def weighted_sums(indptr, indices, data, weights, table):
        """Table += X.T @ weights, for at most `width` columns of weights.

        A row that belongs to one or two clusters is added to those only; any other row is added to all clusters at
        once, in vectors. Each way is slower for the other kind of row.
        """
        padded = np.zeros(width, table.dtype)
        for i in range(weights.shape[0]):
            members = 0
            for j in range(weights.shape[1]):
                padded[j] = weights[i, j]
                members += weights[i, j] != 0
            if members > 2:
                spread_row(data, indices, indptr[i], indptr[i + 1], padded, table, width)
                continue
            for j in range(weights.shape[1]):
                if padded[j] != 0:
                    for p in range(np.uintp(indptr[i]), np.uintp(indptr[i + 1])):
                        table[np.uintp(indices[p]), j] += padded[j] * data[p]

    return weighted_sums


@compile_kernel
def label_sums(indptr, indices, data, labels, sums):
    """sums[j] += the rows labeled j; rows with a negative label are left out."""
    for i in range(len(labels)):
        if labels[i] >= 0:
            row = sums[labels[i]]
            # unsigned, because numba checks whether signed indices count from the end
            for p in range(np.uintp(indptr[i]), np.uintp(indptr[i + 1])):
                row[np.uintp(indices[p])] += data[p]


@compile_kernel
def add_shared_columns(indptr, indices, data, other_indptr, other_indices, other_data, harmonic, row, out):
    """out[i, j] = sum over shared columns of x y / (x + y) if `harmonic`, else of min(x, y); `row` is a row of zeros.

    A row is laid out dense, so that each stored value of the other rows is read once.
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
