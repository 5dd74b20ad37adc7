"""Inner loops over dense rows in terms of LLVM's vectors, for compiled code. Importing this file imports numba.

numba cannot keep an array of running sums in vector registers: it goes through memory. So the two loops that take most
of the time of a round are written in LLVM's terms: products of a few rows with a table, and sums of rows by label.
"""

from __future__ import annotations

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.errors import RequireLiteralValue
from numba.extending import intrinsic

VECTOR_BYTES = 64  # one AVX-512 register; LLVM splits it where the machine has smaller ones
N_ROWS = 4  # rows per call of `multiply_rows`: enough running sums that no addition waits for the one before
MOST_VECTORS = 2  # vectors of columns of the table


def choose_width(n_columns: int, itemsize: int) -> tuple[int, int]:
    """Return the number of panels of a table with so many columns, and the columns of a panel, padded."""
    lanes = VECTOR_BYTES // itemsize
    n_panels = -(-n_columns // (MOST_VECTORS * lanes))
    return n_panels, lanes * -(-n_columns // (n_panels * lanes))


class _Vectors:
    """Loads and stores of vectors at offsets of arrays."""

    def __init__(self, context, builder, signature, args, element_at):
        self.context, self.builder, self.types, self.args = context, builder, signature.args, args
        self.element = self.types[element_at].dtype
        self.itemsize = self.element.bitwidth // 8
        self.lanes = VECTOR_BYTES // self.itemsize
        self.vector = ir.VectorType(context.get_value_type(self.element), self.lanes)
        self.intp = context.get_value_type(types.intp)

    def pointer(self, i):
        return self.context.make_array(self.types[i])(self.context, self.builder, self.args[i]).data

    def integer(self, i):
        return self.context.cast(self.builder, self.args[i], self.types[i], types.intp)

    def constant(self, value):
        return ir.Constant(self.intp, value)

    def load(self, base, offset, vector=None, itemsize=None):
        """Load the vector at ``base[offset]``, which need not be aligned."""
        vector = self.vector if vector is None else vector
        pointer = self.builder.bitcast(self.builder.gep(base, [offset]), vector.as_pointer())
        value = self.builder.load(pointer)
        value.align = itemsize or self.itemsize
        return value, pointer

    def store(self, value, pointer, itemsize=None):
        self.builder.store(value, pointer).align = itemsize or self.itemsize

    def repeat(self, value):
        """Return a vector with a number in every lane."""
        undefined = ir.Constant(self.vector, ir.Undefined)
        first = self.builder.insert_element(undefined, value, ir.Constant(ir.IntType(32), 0))
        return self.builder.shuffle_vector(first, undefined, self.lane_numbers([0] * self.lanes))

    def lane_numbers(self, numbers):
        return ir.Constant(ir.VectorType(ir.IntType(32), self.lanes), numbers)


def require_constants(*values):
    """Make numba pass numbers as constants of the code."""
    if not all(isinstance(value, types.IntegerLiteral) for value in values):
        raise RequireLiteralValue("numbers of rows and columns must be constants of the compiled code")


def generate_products(v, length, n_rows, n_columns):
    """Generate the loop for ``rows[first + r, :length] @ table - bias``; return the vectors of each of the rows."""
    builder, X, table_data, bias_data = v.builder, v.pointer(0), v.pointer(3), v.pointer(4)
    begin = builder.mul(v.integer(1), length)
    starts = [v.constant(j) for j in range(0, n_columns, v.lanes)]
    zero = ir.Constant(v.vector, [0.0] * v.lanes)
    sums = [
        [cgutils.alloca_once_value(builder, builder.fsub(zero, v.load(bias_data, j)[0])) for j in starts]
        for _ in range(n_rows)
    ]
    with cgutils.for_range(builder, length) as loop:
        at = builder.mul(loop.index, v.constant(n_columns))
        columns = [v.load(table_data, builder.add(at, j))[0] for j in starts]
        for r, row_sums in enumerate(sums):
            offset = builder.add(begin, builder.mul(v.constant(r), length))
            x = v.repeat(builder.load(builder.gep(X, [builder.add(offset, loop.index)])))
            for column, total in zip(columns, row_sums, strict=True):
                product = builder.fmul(x, column, flags=["contract"])
                builder.store(builder.fadd(product, builder.load(total), flags=["contract"]), total)
    return [[builder.load(total) for total in row_sums] for row_sums in sums]


def generate_largest(v, parts):
    """Generate the search for the largest number of vectors; return its position, the first on ties, and the number."""
    builder = v.builder

    def take_larger(a, b):
        return builder.select(builder.fcmp_ordered(">", b, a), b, a)

    top = parts[0]
    for part in parts[1:]:
        top = take_larger(top, part)
    half = v.lanes // 2
    while half:  # the larger of each lane and the one `half` lanes on
        order = [(lane + half) % v.lanes for lane in range(v.lanes)]
        top = take_larger(top, builder.shuffle_vector(top, top, v.lane_numbers(order)))
        half //= 2
    whole = ir.IntType(64)
    bits = ir.Constant(whole, 0)
    for i, part in enumerate(parts):
        equal = builder.bitcast(builder.fcmp_ordered("==", part, top), ir.IntType(v.lanes))
        bits = builder.or_(bits, builder.shl(builder.zext(equal, whole), ir.Constant(whole, i * v.lanes)))
    largest = builder.extract_element(top, ir.Constant(ir.IntType(32), 0))
    position = builder.cttz(bits, ir.Constant(ir.IntType(1), 0))
    zero = ir.Constant(whole, 0)
    return builder.select(builder.icmp_unsigned("==", bits, zero), zero, position), largest  # NaN equals nothing


@intrinsic
def multiply_rows(_, rows, first, length, table, bias, out, n_rows, width):
    """out[r, :width] = ``rows[first + r, :length] @ table - bias`` for r below `n_rows`; all arrays are contiguous."""
    require_constants(n_rows, width)

    def generate(context, builder, signature, args):
        v = _Vectors(context, builder, signature, args, 3)
        n_columns = width.literal_value
        for r, parts in enumerate(generate_products(v, v.integer(2), n_rows.literal_value, n_columns)):
            for j, part in enumerate(parts):
                v.store(part, v.load(v.pointer(5), v.constant(r * n_columns + j * v.lanes))[1])
        return context.get_dummy_value()

    return types.void(rows, first, length, table, bias, out, n_rows, width), generate


@intrinsic
def label_rows(_, rows, first, length, table, bias, winners, best, n_rows, width):
    """winners[r], best[r] = argmax, max of ``rows[first + r, :length] @ table - bias`` for r below `n_rows`.

    The first of equal scores wins. All arrays are contiguous, and the scores never leave the registers.
    """
    require_constants(n_rows, width)

    def generate(context, builder, signature, args):
        v = _Vectors(context, builder, signature, args, 3)
        products = generate_products(v, v.integer(2), n_rows.literal_value, width.literal_value)
        for r, (winner, largest) in enumerate([generate_largest(v, parts) for parts in products]):
            builder.store(winner, builder.gep(v.pointer(5), [v.constant(r)]))
            builder.store(largest, builder.gep(v.pointer(6), [v.constant(r)]))
        return context.get_dummy_value()

    return types.void(rows, first, length, table, bias, winners, best, n_rows, width), generate


@intrinsic
def add_row(_, X, row, n_columns, factor, sums, label):
    """sums[label] += factor * X[row], in float64; both arrays are contiguous."""

    def generate(context, builder, signature, args):
        v = _Vectors(context, builder, signature, args, 4)
        itemsize, n_columns = signature.args[0].dtype.bitwidth // 8, v.integer(2)
        source = builder.gep(v.pointer(0), [builder.mul(v.integer(1), n_columns)])
        target = builder.gep(v.pointer(4), [builder.mul(v.integer(5), n_columns)])
        factor = context.cast(builder, args[3], signature.args[3], types.float64)
        factors = v.repeat(factor)
        narrow = ir.VectorType(context.get_value_type(signature.args[0].dtype), v.lanes)

        def widen(value, kind):
            return value if value.type == kind else builder.fpext(value, kind)

        n_whole = builder.mul(builder.udiv(n_columns, v.constant(v.lanes)), v.constant(v.lanes))
        with cgutils.for_range_slice(builder, v.constant(0), n_whole, v.constant(v.lanes)) as (c, _):
            value = widen(v.load(source, c, narrow, itemsize)[0], v.vector)
            total, pointer = v.load(target, c)
            v.store(builder.fadd(total, builder.fmul(value, factors)), pointer)
        with cgutils.for_range_slice(builder, n_whole, n_columns, v.constant(1)) as (c, _):
            pointer = builder.gep(target, [c])
            value = widen(builder.load(builder.gep(source, [c])), v.vector.element)
            builder.store(builder.fadd(builder.load(pointer), builder.fmul(value, factor)), pointer)
        return context.get_dummy_value()

    return types.void(X, row, n_columns, factor, sums, label), generate
