"""Kernels of counts and histograms: sums over the columns that two rows share."""

from __future__ import annotations

from dataclasses import dataclass

from .._saving import save_as
from ..arrays import (
    CSR,
    Array,
    KernelRows,
    RowKernel,
    as_csr,
    exp_nonpositive,
    is_on_host,
    keep_where,
    namespace,
    row_sums,
    squared_norms,
    sum_shared_columns,
)
from .base import NoAffinityError, check_positive
from .kernel import KernelAffinity, has_negative


class HistogramAffinity(KernelAffinity):
    """An affinity of nonnegative rows; rows of zeros count as missing."""

    accepts_sparse = True

    def comparable_rows(self, X: Array) -> Array:
        return squared_norms(X) > 0

    def check_rows(self, X: Array) -> None:
        """Refuse negative numbers."""
        if has_negative(X):
            raise NoAffinityError(
                f"{type(self).__name__} compares counts or histograms, and there are negative numbers: use "
                "affinity='gaussian' or 'nearest-neighbors'"
            )


@save_as("affinity-chi-squared")
@dataclass(frozen=True)
class ChiSquared(HistogramAffinity):
    """``exp(-gamma sum_c (x_c - y_c)^2 / (x_c + y_c))``, as scikit-learn's ``chi2_kernel``; sparse rows stay sparse.

    Parameters
    ----------
    gamma : float, default=1.0
        Factor of the distance: the larger, the narrower the kernel. 1.0 suits rows that sum to one.
    """

    gamma: float = 1.0

    def __post_init__(self) -> None:
        check_positive("gamma", self.gamma)

    def learn(self, X: Array) -> RowKernel:
        self.check_rows(X)
        return ChiSquaredKernel(self.gamma)


@save_as("kernel-chi-squared")
@dataclass(frozen=True)
class ChiSquaredKernel:
    """The exponential chi-squared kernel.

    (x - y)^2 / (x + y) is x + y - 4 x y / (x + y), so that only shared columns are needed.
    """

    gamma: float

    def points(self, X: Array) -> KernelRows:
        X = prepare_histograms(X)
        return KernelRows(X, namespace(X).astype(row_sums(X), X.dtype))

    def tile(self, left: KernelRows, right: KernelRows) -> Array:
        exponents = sum_histograms(left.X, right.X, harmonic=True)
        exponents *= 4
        exponents -= left.row_term[:, None]
        exponents -= right.row_term[None, :]
        exponents *= self.gamma
        return exp_nonpositive(exponents)


@save_as("affinity-histogram-intersection")
@dataclass(frozen=True)
class HistogramIntersection(HistogramAffinity):
    """``sum_c min(x_c, y_c)``: what two histograms have in common; sparse rows stay sparse."""

    def learn(self, X: Array) -> RowKernel:
        self.check_rows(X)
        return IntersectionKernel()


@save_as("kernel-histogram-intersection")
@dataclass(frozen=True)
class IntersectionKernel:
    """The histogram intersection kernel."""

    def points(self, X: Array) -> KernelRows:
        return KernelRows(prepare_histograms(X))

    def tile(self, left: KernelRows, right: KernelRows) -> Array:
        return sum_histograms(left.X, right.X, harmonic=False)


def prepare_histograms(X: Array) -> Array:
    """Make rows sparse, except on a device."""
    return as_csr(X) if is_on_host(X) else X


def sum_histograms(X: Array, Y: Array, *, harmonic: bool) -> Array:
    """Sum ``x y / (x + y)``, or ``min(x, y)``, over the columns that two rows share: (rows of X, rows of Y)."""
    if isinstance(X, CSR):
        return sum_shared_columns(X, Y, harmonic=harmonic)
    xp = namespace(X)
    total = 0 * (X[:, :1] + Y[:, :1].T)
    for column in range(X.shape[1]):  # one column keeps a device busy, and all at once would not fit
        x, y = X[:, column][:, None], Y[:, column][None, :]
        total += x * y / keep_where(x + y > 0, x + y, 1.0) if harmonic else xp.minimum(x, y)
    return total
