"""The histogram intersection kernel."""

from __future__ import annotations

from dataclasses import dataclass

from .._saving import save_as
from ..arrays import Array, KernelRows, RowKernel
from .histograms import HistogramAffinity, prepare_histograms, sum_histograms


@save_as("affinity-histogram-intersection")
@dataclass(frozen=True)
class HistogramIntersection(HistogramAffinity):
    """``sum_c min(x_c, y_c)``: what two histograms have in common; sparse rows stay sparse."""

    def learn(self, X: Array) -> RowKernel:
        self.check(X)
        return IntersectionKernel()


@save_as("kernel-histogram-intersection")
@dataclass(frozen=True)
class IntersectionKernel:
    """The kernel itself."""

    def points(self, X: Array) -> KernelRows:
        return KernelRows(prepare_histograms(X))

    def tile(self, left: KernelRows, right: KernelRows) -> Array:
        return sum_histograms(left.X, right.X, harmonic=False)
