"""What kernels of counts and histograms share: sums over the columns that two rows share."""

from __future__ import annotations

from .._backend import Array, squared_norms
from .base import NoAffinityError
from .kernel import KernelAffinity, has_negative


class HistogramAffinity(KernelAffinity):
    """An affinity of rows that are not negative; rows of zeros are missing."""

    def comparable(self, X: Array) -> Array:
        return squared_norms(X) > 0

    def check(self, X: Array) -> None:
        """Refuse rows that are no histograms."""
        if has_negative(X):
            raise NoAffinityError(
                f"{type(self).__name__} compares counts or histograms, and there are negative numbers: use "
                "affinity='gaussian' or 'nearest-neighbors'"
            )
