"""The Gaussian kernel: the affinity of the paper on co-trained spectral clustering."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

import numpy as np

from .._saving import save_as
from ..arrays import (
    Array,
    KernelMatrix,
    KernelRows,
    RowKernel,
    asarray_like,
    exp_nonpositive,
    find_origin,
    inner_products,
    is_on_host,
    itemsize,
    keep_where,
    map_chunks,
    namespace,
    scale_rows,
    shift_rows_and_norms,
    take_rows,
    to_numpy,
)
from .bandwidth import compute_local_scales, compute_median_distance, near_distance
from .base import NoAffinityError, check_positive
from .kernel import KernelAffinity

T = TypeVar("T")

LOCAL_NEIGHBOR = 7  # whose distance is a row's local bandwidth
MEDIAN_SAMPLE = 1000  # rows that tell about where the median distance lies


@save_as("affinity-gaussian")
@dataclass(frozen=True)
class Gaussian(KernelAffinity):
    """``exp(-d^2 / (2 bandwidth^2))`` of the Euclidean distance d between two rows.

    Parameters
    ----------
    bandwidth : float, 'median' or 'local', default='median'
        A number; the median of all distances, those of rows to themselves included; or self-tuning: 2 bandwidth^2 is
        the product of the two rows' distances to their seventh neighbours (Zelnik-Manor & Perona 2004).
    """

    bandwidth: float | str = "median"

    def __post_init__(self) -> None:
        if isinstance(self.bandwidth, str):
            if self.bandwidth not in BANDWIDTHS:
                raise NoAffinityError(
                    f"no bandwidth {self.bandwidth!r}: give a number above 0, or one of "
                    f"{', '.join(map(repr, BANDWIDTHS))}"
                )
        else:
            check_positive("bandwidth", self.bandwidth)

    def learn(self, X: Array) -> RowKernel:
        distances = SquaredDistances(find_origin(X))
        if not isinstance(self.bandwidth, str):
            return GaussianKernel(distances, float(self.bandwidth))
        return BANDWIDTHS[self.bandwidth](distances, X)


@save_as("kernel-squared-distances")
@dataclass(frozen=True, eq=False)
class SquaredDistances:
    """Squared Euclidean distances, as a kernel."""

    origin: Array | None

    def points(self, X: Array) -> KernelRows:
        return KernelRows(*shift_rows_and_norms(X, self.origin))

    def tile(self, left: KernelRows, right: KernelRows) -> Array:
        found = inner_products(left.X, right.X)
        found *= -2.0
        found += left.row_term[:, None]
        found += right.row_term[None, :]
        return keep_where(found > 0, found, 0.0)

    def between(self, X: Array, function: Callable[[Array], T]) -> Iterator[T]:
        """A function of the squared distances of all pairs of different rows, some at a time; inf stands for none."""
        points = self.points(X)

        def apart(rows: slice) -> T:
            tile = self.tile(points.at(rows), points.at(slice(rows.start, None)))
            square = slice(0, tile.shape[0])
            pairs = asarray_like(np.triu(np.ones((tile.shape[0],) * 2, bool), 1), tile)
            tile[:, square] = keep_where(pairs, tile[:, square], np.inf)  # once each, and nobody with itself
            return function(tile)

        blocks = KernelMatrix(self, points, points, cached=False).blocks
        yield from (map_chunks if is_on_host(points.X) else map)(apart, blocks)

    def sample(self, X: Array) -> np.ndarray:
        """The squared distances between some rows, evenly spread."""
        chosen = np.arange(0, X.shape[0], -(-X.shape[0] // MEDIAN_SAMPLE))
        points = self.points(take_rows(X, asarray_like(chosen, X)))
        return to_numpy(self.tile(points, points))[np.triu_indices(len(chosen), 1)]


@save_as("kernel-gaussian")
@dataclass(frozen=True, eq=False)
class GaussianKernel:
    """The kernel of one bandwidth."""

    distances: SquaredDistances
    bandwidth: float

    def points(self, X: Array) -> KernelRows:
        """Rows, and their squared lengths, in units of the bandwidth."""
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
    """The kernel whose bandwidth differs from row to row."""

    distances: SquaredDistances
    known: KernelRows  # the rows whose neighbours count

    def points(self, X: Array) -> KernelRows:
        X, norms, _ = self.distances.points(X)
        points = KernelRows(X, norms)
        matrix = KernelMatrix(self.distances, points, self.known, cached=False)
        near = list(matrix.map_tiles(lambda _, tile: near_distance(tile, LOCAL_NEIGHBOR)))
        return KernelRows(X, norms, compute_local_scales(namespace(norms).concat(near), LOCAL_NEIGHBOR))

    def tile(self, left: KernelRows, right: KernelRows) -> Array:
        apart = self.distances.tile(left, right)
        return exp_nonpositive(-apart / (left.scale[:, None] * right.scale[None, :]))


def make_median_kernel(distances: SquaredDistances, X: Array) -> RowKernel:
    """The kernel as wide as the median distance."""
    if X.shape[0] == 1:
        return GaussianKernel(distances, 1.0)  # alone, a row is like itself whatever the bandwidth
    dtype = np.dtype(f"f{itemsize(X)}")
    bandwidth = compute_median_distance(partial(distances.between, X), X.shape[0], dtype, partial(distances.sample, X))
    if bandwidth == 0:
        raise NoAffinityError(
            "half of the rows' distances are zero (duplicates), so that their median is no bandwidth: give bandwidth= "
            "a number, drop duplicates, or use affinity='nearest-neighbors'"
        )
    return GaussianKernel(distances, bandwidth)


def local_bell(distances: SquaredDistances, X: Array) -> RowKernel:
    """The kernel that tunes itself."""
    return LocalGaussianKernel(distances, distances.points(X))


BANDWIDTHS = {"median": make_median_kernel, "local": local_bell}
