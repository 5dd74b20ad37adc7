"""The exponential chi-squared kernel of counts and histograms."""

from __future__ import annotations

from dataclasses import dataclass

from .._saving import save_as
from ..arrays import Array, KernelRows, RowKernel, exp_nonpositive, namespace, row_sums
from .base import check_positive
from .histograms import HistogramAffinity, prepare_histograms, sum_histograms


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
        self.check(X)
        return ChiSquaredKernel(self.gamma)


@save_as("kernel-chi-squared")
@dataclass(frozen=True)
class ChiSquaredKernel:
    """The kernel itself: (x - y)^2 / (x + y) is x + y - 4 x y / (x + y), which only shared columns need."""

    gamma: float

    def points(self, X: Array) -> KernelRows:
        X = prepare_histograms(X)
        return KernelRows(X, namespace(X).astype(row_sums(X), X.dtype))

    def tile(self, left: KernelRows, right: KernelRows) -> Array:
        apart = sum_histograms(left.X, right.X, harmonic=True)
        apart *= 4
        apart -= left.row_term[:, None]
        apart -= right.row_term[None, :]
        apart *= self.gamma
        return exp_nonpositive(apart)
