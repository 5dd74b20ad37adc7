"""The Gaussian kernel: the affinity of the paper on co-trained spectral clustering."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from .._saving import save_as
from ..arrays import (
    Array,
    KernelMatrix,
    KernelRows,
    RowKernel,
    exp_nonpositive,
    find_origin,
    inner_products,
    itemsize,
    namespace,
    scale_rows,
)
from .bandwidth import compute_local_scales, compute_median_distance
from .base import NoAffinityError, check_positive, nth_smallest
from .distances import SquaredDistances
from .kernel import KernelAffinity

BANDWIDTHS = ("median", "local")
LOCAL_NEIGHBOR = 7  # its distance is a row's local bandwidth


@save_as("affinity-gaussian")
@dataclass(frozen=True)
class Gaussian(KernelAffinity):
    """``exp(-d^2 / (2 bandwidth^2))`` of the Euclidean distance d between two rows.

    Parameters
    ----------
    bandwidth : float, 'median' or 'local', default='median'
        A number; the median of all distances, those of rows to themselves included; or self-tuning: 2 bandwidth^2 is
        the product of the two rows' distances to their seventh neighbors (Zelnik-Manor & Perona 2004).
    """

    bandwidth: float | str = "median"

    accepts_sparse = True
    options = ("bandwidth",)

    def __post_init__(self) -> None:
        if not isinstance(self.bandwidth, str):
            check_positive("bandwidth", self.bandwidth)
        elif self.bandwidth not in BANDWIDTHS:
            raise NoAffinityError(
                f"no bandwidth {self.bandwidth!r}: give a number above 0, or one of {', '.join(map(repr, BANDWIDTHS))}"
            )

    def learn(self, X: Array) -> RowKernel:
        distances = SquaredDistances(find_origin(X))
        if self.bandwidth == "local":
            return LocalGaussianKernel(distances, distances.points(X))
        bandwidth = compute_median_bandwidth(distances, X) if self.bandwidth == "median" else float(self.bandwidth)
        return GaussianKernel(distances, bandwidth)


@save_as("kernel-gaussian")
@dataclass(frozen=True, eq=False)
class GaussianKernel:
    """The Gaussian kernel with one bandwidth."""

    distances: SquaredDistances
    bandwidth: float

    def points(self, X: Array) -> KernelRows:
        """Return rows and their squared lengths in units of the bandwidth."""
        X, norms, _ = self.distances.points(X)
        xp = namespace(norms)
        farthest = float(xp.max(norms)) ** 0.5 / self.bandwidth if norms.shape[0] else 0.0
        if farthest > float(xp.finfo(norms.dtype).max) ** 0.5 / 4:
            raise NoAffinityError(
                f"rows lie up to {farthest:.3g} bandwidths from the origin, whose squares do not fit {norms.dtype}: "
                f"raise bandwidth (now {self.bandwidth:.3g}), or rescale the view"
            )
        scale = xp.full_like(norms, 1 / self.bandwidth)
        return KernelRows(scale_rows(X, scale), norms * (-0.5 / self.bandwidth**2))

    def tile(self, left: KernelRows, right: KernelRows) -> Array:
        exponents = inner_products(left.X, right.X)
        exponents += left.row_term[:, None]
        exponents += right.row_term[None, :]
        return exp_nonpositive(exponents)


@save_as("kernel-gaussian-local")
@dataclass(frozen=True, eq=False)
class LocalGaussianKernel:
    """The Gaussian kernel with one bandwidth per row."""

    distances: SquaredDistances
    fitted: KernelRows  # the rows among which neighbors are searched

    def points(self, X: Array) -> KernelRows:
        X, norms, _ = self.distances.points(X)
        points = KernelRows(X, norms)
        matrix = KernelMatrix(self.distances, points, self.fitted, cached=False)

        def measure(_: slice, tile: Array) -> Array:
            nearest = min(LOCAL_NEIGHBOR + 1, tile.shape[1])  # a row is its own zeroth neighbor
            return namespace(tile).sqrt(nth_smallest(tile, nearest))

        distances = namespace(norms).concat(list(matrix.map_tiles(measure)))
        return KernelRows(X, norms, compute_local_scales(distances, LOCAL_NEIGHBOR))

    def tile(self, left: KernelRows, right: KernelRows) -> Array:
        squared = self.distances.tile(left, right)
        return exp_nonpositive(-squared / (left.scale[:, None] * right.scale[None, :]))


def compute_median_bandwidth(distances: SquaredDistances, X: Array) -> float:
    """Return the median of all distances between rows."""
    if X.shape[0] == 1:
        return 1.0  # a single row is similar to itself whatever the bandwidth
    dtype = np.dtype(f"f{itemsize(X)}")
    bandwidth = compute_median_distance(
        partial(distances.map_pairs, X), X.shape[0], dtype, partial(distances.sample, X)
    )
    if bandwidth == 0:
        raise NoAffinityError(
            "half of the rows' distances are zero (duplicates), so that their median is no bandwidth: give bandwidth= "
            "a number, drop duplicates, or use affinity='nearest-neighbors'"
        )
    return bandwidth
