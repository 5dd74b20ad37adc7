"""What kernels of counts and histograms share: sums over the columns that two rows share."""

from __future__ import annotations

from ..arrays import CSR, Array, as_csr, is_on_host, keep_where, namespace, squared_norms, sum_shared_columns
from .base import NoAffinityError
from .kernel import KernelAffinity, has_negative


class HistogramAffinity(KernelAffinity):
    """An affinity of rows that are not negative; rows of zeros are missing."""

    def comparable_rows(self, X: Array) -> Array:
        return squared_norms(X) > 0

    def check(self, X: Array) -> None:
        """Refuse rows that are no histograms."""
        if has_negative(X):
            raise NoAffinityError(
                f"{type(self).__name__} compares counts or histograms, and there are negative numbers: use "
                "affinity='gaussian' or 'nearest-neighbors'"
            )


def prepare_histograms(X: Array) -> Array:
    """Rows as sums over shared columns want them: sparse, but on a device as they are."""
    return as_csr(X) if is_on_host(X) else X


def sum_histograms(X: Array, Y: Array, *, harmonic: bool) -> Array:
    """Sum over the columns that two rows share of ``x y / (x + y)``, or of ``min(x, y)``: (rows of X, rows of Y)."""
    if isinstance(X, CSR):
        return sum_shared_columns(X, Y, harmonic=harmonic)
    xp = namespace(X)
    total = 0 * (X[:, :1] + Y[:, :1].T)
    for column in range(X.shape[1]):  # a device is busy with one, and has no room for all at once
        x, y = X[:, column][:, None], Y[:, column][None, :]
        total += x * y / keep_where(x + y > 0, x + y, 1.0) if harmonic else xp.minimum(x, y)
    return total
