"""Affinities that are a function of two rows: linear, cosine, polynomial, chi-squared and histogram intersection."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import log

import numpy as np

from .._numbers import is_real
from .._saving import save_as
from ..arrays import (
    Array,
    KernelMatrix,
    KernelRows,
    RowKernel,
    SymmetricKernelMatrix,
    as_csr,
    exp_nonpositive,
    fits_in_memory,
    inner_products,
    is_in_memory,
    is_on_host,
    is_sparse,
    itemsize,
    keep_where,
    list_upper_tiles,
    namespace,
    plan_reads,
    read_blocks,
    row_sums,
    squared_norms,
    stored_values,
    sum_shared_columns,
)
from .base import Affinity, NoAffinityError, check_positive
from .distances import scale_to_unit_length


class KernelAffinity(Affinity):
    """An affinity that is a kernel. A subclass is the kernel itself (``points``, ``tile``), or `learn` returns it.

    Examples
    --------
    >>> import numpy as np
    >>> import consilience as cs
    >>> class Laplacian(cs.affinities.KernelAffinity):
    ...     def points(self, X):
    ...         return cs.affinities.KernelRows(X)
    ...
    ...     def tile(self, left, right):
    ...         return np.exp(-np.abs(left.X[:, None] - right.X[None, :]).sum(axis=2))
    >>> operator = Laplacian().build_operator(np.array([[0.0], [1.0]]))
    >>> (operator @ np.eye(2)).round(3).tolist()
    [[1.0, 0.368], [0.368, 1.0]]
    """

    def learn(self, X: Array) -> RowKernel:  # noqa: ARG002
        """Return the kernel, with what it learns from these rows, such as a bandwidth.

        Parameters
        ----------
        X : array of shape (n_rows, n_columns)
            Rows of the view.
        """
        return self  # type: ignore[return-value]

    def may_be_negative(self, X: Array) -> bool:  # noqa: ARG002
        """Whether the kernel of these rows may have negative entries, which are then shifted.

        Parameters
        ----------
        X : array of shape (n_rows, n_columns)
            Rows of the view.
        """
        return False

    def build_operator(
        self,
        X: Array,
        rng: np.random.Generator | None = None,  # noqa: ARG002
        *,
        others: Array | None = None,
        learn_from: Array | None = None,
    ) -> KernelMatrix | SymmetricKernelMatrix:
        """Compare rows with others, by default with themselves.

        A kernel with negative entries is shifted by its smallest entry, as the paper does within its rounds: a graph
        has no edges of negative weight.

        Parameters
        ----------
        X : array of shape (n_rows, n_columns)
            Rows of the view.
        rng : Generator, optional
            Not used: a kernel is not approximated.
        others : array of shape (n_others, n_columns), optional
            Rows to compare with; by default `X`.
        learn_from : array of shape (n_learned, n_columns), optional
            Rows that `learn` gets; by default `X`.
        """
        kernel = self.learn(X if learn_from is None else learn_from)
        points = kernel.points(X)
        right = points if others is None else kernel.points(others)
        matrix: KernelMatrix | SymmetricKernelMatrix
        if others is None and computes_half(points.X):
            matrix = SymmetricKernelMatrix(kernel, points, self.nbytes(X) > 0)
        else:
            cached = fits_in_memory(points.X.shape[0] * right.X.shape[0] * itemsize(X), points.X)
            matrix = KernelMatrix(kernel, points, right, cached)
        if self.may_be_negative(X) and (shift := matrix.least()) < 0:
            matrix = replace(matrix, shift=shift)
        return matrix

    def nbytes(self, X: Array) -> int:
        n_rows = X.shape[0]
        n_entries = n_rows**2
        if computes_half(X):
            n_entries = sum((rows.stop - rows.start) * (n_rows - rows.start) for rows, _ in list_upper_tiles(X))
        table = n_entries * itemsize(X)
        return table if fits_in_memory(table, X) else 0


def computes_half(X: Array) -> bool:
    """Whether only half of the kernel of rows with themselves is computed, because it is symmetric."""
    return is_on_host(X) and is_in_memory(X)


def has_negative(X: Array) -> bool:
    """Whether any number is negative."""
    parts = map(stored_values, read_blocks(X, plan_reads(X)))
    return any(bool(namespace(values).any(values < 0)) for values in parts)


@save_as("affinity-linear")
@dataclass(frozen=True)
class Linear(KernelAffinity, RowKernel):
    """Inner product of two rows; if some are negative, the smallest is subtracted from all.

    Examples
    --------
    >>> import numpy as np
    >>> import consilience as cs
    >>> X = np.array([[3.0, 0.0], [1.0, 0.0], [0.0, 2.0]])
    >>> operator = cs.affinities.Linear().build_operator(X, np.random.default_rng(0))
    >>> (operator @ np.eye(3)).tolist()
    [[9.0, 3.0, 0.0], [3.0, 1.0, 0.0], [0.0, 0.0, 4.0]]
    """

    accepts_sparse = True

    def learn(self, X: Array) -> Linear:
        xp = namespace(X)
        largest = float(xp.max(squared_norms(X)))
        if 4 * X.shape[0] * largest > float(xp.finfo(X.dtype).max):
            raise NoAffinityError(
                f"rows up to length {largest**0.5:.3g} have inner products whose sums do not fit {X.dtype}: rescale "
                "the view"
            )
        return self

    def may_be_negative(self, X: Array) -> bool:
        return has_negative(X)

    def points(self, X: Array) -> KernelRows:
        return KernelRows(X)

    def tile(self, left: KernelRows, right: KernelRows) -> Array:
        return inner_products(left.X, right.X)


@save_as("affinity-cosine")
@dataclass(frozen=True)
class Cosine(KernelAffinity, RowKernel):
    """Inner product of two rows of unit length. A row of zeros has no direction, so it counts as missing.

    Rows with negative numbers may have negative cosines: then the smallest is subtracted from all.

    Examples
    --------
    >>> import numpy as np
    >>> import consilience as cs
    >>> X = np.array([[2.0, 0.0], [3.0, 3.0], [0.0, 5.0]])
    >>> operator = cs.affinities.Cosine().build_operator(X, np.random.default_rng(0))
    >>> (operator @ np.eye(3)).round(3).tolist()
    [[1.0, 0.707, 0.0], [0.707, 1.0, 0.707], [0.0, 0.707, 1.0]]
    """

    accepts_sparse = True

    def comparable_rows(self, X: Array) -> Array:
        return squared_norms(X) > 0

    def may_be_negative(self, X: Array) -> bool:
        return has_negative(X)

    def points(self, X: Array) -> KernelRows:
        return KernelRows(scale_to_unit_length(X))

    def tile(self, left: KernelRows, right: KernelRows) -> Array:
        return inner_products(left.X, right.X)


@save_as("affinity-polynomial")
@dataclass(frozen=True)
class Polynomial(KernelAffinity, RowKernel):
    """``(gamma <x, y> + offset) ** degree``; if some are negative, the smallest is subtracted from all.

    Parameters
    ----------
    degree : int, default=3
        The power.
    gamma : float, optional
        Factor of the inner product; if not given, one over the number of columns, as in scikit-learn.
    offset : float, default=1.0
        What is added before the power is taken.

    Examples
    --------
    >>> import numpy as np
    >>> import consilience as cs
    >>> X = np.array([[3.0, 0.0], [0.0, 2.0]])
    >>> operator = cs.affinities.Polynomial(degree=2, gamma=1.0).build_operator(X, np.random.default_rng(0))
    >>> (operator @ np.eye(2)).tolist()
    [[100.0, 1.0], [1.0, 25.0]]
    """

    degree: int = 3
    gamma: float | None = None
    offset: float = 1.0

    accepts_sparse = True

    def __post_init__(self) -> None:
        check_positive("degree", self.degree, whole=True)
        if self.gamma is not None:
            check_positive("gamma", self.gamma)
        if not is_real(self.offset):
            raise NoAffinityError(f"offset={self.offset!r} must be a number")

    def learn(self, X: Array) -> Polynomial:
        gamma = 1 / X.shape[1] if self.gamma is None else self.gamma
        largest = gamma * float(namespace(X).max(squared_norms(X))) + abs(self.offset)
        if self.degree * log(max(largest, 1.0)) > log(float(namespace(X).finfo(X.dtype).max)) / 2:
            raise NoAffinityError(
                f"the numbers are too large for the power {self.degree} in {X.dtype}: rescale the view"
            )
        return replace(self, gamma=gamma)

    def may_be_negative(self, X: Array) -> bool:
        return self.degree % 2 == 1 and (has_negative(X) or self.offset < 0)

    def points(self, X: Array) -> KernelRows:
        return KernelRows(X)

    def tile(self, left: KernelRows, right: KernelRows) -> Array:
        return (inner_products(left.X, right.X) * self.gamma + self.offset) ** self.degree


class HistogramAffinity(KernelAffinity, RowKernel):
    """An affinity of nonnegative rows by sums over the columns that two rows share; rows of zeros are missing."""

    accepts_sparse = True

    def learn(self, X: Array) -> RowKernel:
        if has_negative(X):
            raise NoAffinityError(
                f"{type(self).__name__} compares counts or histograms, and there are negative numbers: use "
                "affinity='gaussian' or 'nearest-neighbors'"
            )
        return super().learn(X)

    def comparable_rows(self, X: Array) -> Array:
        return squared_norms(X) > 0

    def points(self, X: Array) -> KernelRows:
        X = as_csr(X) if is_on_host(X) and is_in_memory(X) else X
        return KernelRows(X, namespace(X).astype(row_sums(X), X.dtype))

    def sum_histograms(self, X: Array, Y: Array, *, harmonic: bool) -> Array:
        """Sum ``x y / (x + y)``, or ``min(x, y)``, over the columns that two rows share: (rows of X, rows of Y).

        Parameters
        ----------
        X, Y : array of shape (n_rows, n_columns)
            Rows to compare, nonnegative.
        harmonic : bool
            Whether to sum ``x y / (x + y)`` instead of ``min(x, y)``.
        """
        X = as_csr(X) if is_on_host(X) else X  # blocks that were read from disk may be dense
        if is_sparse(X):
            return sum_shared_columns(X, Y, harmonic=harmonic)
        xp = namespace(X)
        total = 0 * (X[:, :1] + Y[:, :1].T)
        for column in range(X.shape[1]):  # one column keeps a device busy, and all at once would not fit
            x, y = X[:, column][:, None], Y[:, column][None, :]
            total += x * y / keep_where(x + y > 0, x + y, 1.0) if harmonic else xp.minimum(x, y)
        return total


@save_as("affinity-chi-squared")
@dataclass(frozen=True)
class ChiSquared(HistogramAffinity):
    """``exp(-gamma sum_c (x_c - y_c)^2 / (x_c + y_c))``, as scikit-learn's ``chi2_kernel``; sparse rows stay sparse.

    Parameters
    ----------
    gamma : float, default=1.0
        Factor of the distance: the larger, the narrower the kernel. 1.0 suits rows that sum to one.

    Examples
    --------
    >>> import numpy as np
    >>> import consilience as cs
    >>> X = np.array([[0.5, 0.5], [1.0, 0.0]])
    >>> operator = cs.affinities.ChiSquared().build_operator(X, np.random.default_rng(0))
    >>> (operator @ np.eye(2)).round(3).tolist()
    [[1.0, 0.513], [0.513, 1.0]]
    """

    gamma: float = 1.0

    def __post_init__(self) -> None:
        check_positive("gamma", self.gamma)

    def tile(self, left: KernelRows, right: KernelRows) -> Array:
        # (x - y)^2 / (x + y) is x + y - 4 x y / (x + y), so that only shared columns are needed
        exponents = self.sum_histograms(left.X, right.X, harmonic=True)
        exponents *= 4
        exponents -= left.row_term[:, None]
        exponents -= right.row_term[None, :]
        exponents *= self.gamma
        return exp_nonpositive(exponents)


@save_as("affinity-histogram-intersection")
@dataclass(frozen=True)
class HistogramIntersection(HistogramAffinity):
    """``sum_c min(x_c, y_c)``: what two histograms have in common; sparse rows stay sparse.

    Examples
    --------
    >>> import numpy as np
    >>> import consilience as cs
    >>> X = np.array([[3.0, 1.0], [1.0, 2.0]])
    >>> operator = cs.affinities.HistogramIntersection().build_operator(X, np.random.default_rng(0))
    >>> (operator @ np.eye(2)).tolist()
    [[4.0, 2.0], [2.0, 3.0]]
    """

    def tile(self, left: KernelRows, right: KernelRows) -> Array:
        return self.sum_histograms(left.X, right.X, harmonic=False)
