"""The Gaussian kernel: the affinity of the paper on co-trained spectral clustering."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial, reduce
from operator import add
from typing import Any

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
    keep_where,
    namespace,
    scale_rows,
    to_numpy,
)
from .base import NoAffinityError, check_positive, nth_smallest
from .distances import SquaredDistances
from .kernels import KernelAffinity

BANDWIDTHS = ("median", "local")
LOCAL_NEIGHBOR = 7  # its distance is a row's local bandwidth (Zelnik-Manor & Perona 2004)
MAX_SORTED = 1 << 22  # distances that may be held and sorted at once
N_EDGES = 8  # edges between which distances are counted in one pass
SAMPLE_OFFSETS = (0.3, 0.05, 0.01, 0.002)  # the first edges are these quantiles of a sample around its median

MapPairs = Callable[[Callable[[Array], Any]], Iterator[Any]]  # applies a function to all squared distances, in tiles


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
        bandwidth = compute_median_distance(distances, X) if self.bandwidth == "median" else float(self.bandwidth)
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
        xp = namespace(distances)
        smallest = xp.min(keep_where(distances > 0, distances, np.inf))
        if not bool(xp.isfinite(smallest)):
            raise NoAffinityError(
                f"the {LOCAL_NEIGHBOR} nearest rows of every row are its duplicates, which leaves no local bandwidth: "
                "give a number, drop duplicates, or use affinity='nearest-neighbors'"
            )
        return KernelRows(X, norms, xp.where(distances > 0, distances, smallest))

    def tile(self, left: KernelRows, right: KernelRows) -> Array:
        squared = self.distances.tile(left, right)
        return exp_nonpositive(-squared / (left.scale[:, None] * right.scale[None, :]))


def compute_median_distance(distances: SquaredDistances, X: Array) -> float:
    """Compute the exact median of the distances of all rows to all, in a few passes that hold few at a time.

    The distances of rows to themselves are zero and come first, the others come twice, so each pair is counted once.
    Each pass counts how many distances lie below each of some edges, until those between the two edges around the
    median are few enough to be sorted. A sample of the squared distances gives the first edges.
    """
    n_rows, dtype, map_pairs = X.shape[0], np.dtype(f"f{itemsize(X)}"), partial(distances.map_pairs, X)
    if n_rows == 1:
        return 1.0  # a single row is similar to itself whatever the bandwidth
    lower, upper = ((n_rows**2 - 1) // 2 - n_rows) // 2, (n_rows**2 // 2 - n_rows) // 2
    if lower < 0:  # two rows: the lower of the middle ones is a row's distance to itself
        return float(np.sqrt(np.float64(find_smallest_from(map_pairs, 0.0)))) / 2
    first, last = dtype.type(0), dtype.type(np.inf)
    below, end = 0, n_rows * (n_rows - 1) // 2
    edges = None
    while end - below > MAX_SORTED and np.nextafter(first, last) < last:
        if edges is None:
            quantiles = [0.5 + sign * offset for offset in SAMPLE_OFFSETS for sign in (-1, 1)]
            edges = np.quantile(distances.sample(X), quantiles, method="lower")
        else:
            # as many floating-point numbers between each two edges: their bits are ordered as they are
            low, high = (int(limit.view(f"i{limit.itemsize}")) for limit in (first, last))
            steps = sorted({low + (high - low) * i // (N_EDGES + 1) for i in range(1, N_EDGES + 1)})
            edges = np.array(steps, f"i{first.itemsize}").view(first.dtype)
        edges = np.unique(edges[(edges > first) & (edges < last)])
        counts = [below, *count_below(map_pairs, edges), end]
        at = int(np.searchsorted(counts, lower, side="right"))
        first, last = [first, *edges, last][at - 1 : at + 1]
        below, end = counts[at - 1 : at + 1]
    middle = [first, first]  # if all that are left are equal
    if end - below <= MAX_SORTED:
        smallest, largest = float(first), float(last)
        parts = list(map_pairs(lambda tile: tile[(tile >= smallest) & (tile < largest)]))
        places = [lower - below, min(upper, end - 1) - below]
        middle = np.partition(to_numpy(namespace(parts[0]).concat(parts)), places)[places].tolist()
    if upper >= end:
        middle[1] = find_smallest_from(map_pairs, last)
    median = float(np.sqrt(np.array(middle, np.float64)).mean())
    if median == 0:
        raise NoAffinityError(
            "half of the rows' distances are zero (duplicates), so their median cannot be the bandwidth: give "
            "bandwidth= a number, drop duplicates, or use affinity='nearest-neighbors'"
        )
    return median


def count_below(map_pairs: MapPairs, edges: np.ndarray) -> list[int]:
    """Count the distances below each edge."""

    def count(tile: Array) -> Array:
        xp = namespace(tile)
        return xp.stack([xp.asarray(xp.count_nonzero(tile < float(edge))) for edge in edges])

    return to_numpy(reduce(add, map_pairs(count))).tolist() if len(edges) else []


def find_smallest_from(map_pairs: MapPairs, lower: float) -> float:
    """Find the smallest distance that is at least `lower`."""
    minima = map_pairs(lambda tile: namespace(tile).min(keep_where(tile >= float(lower), tile, np.inf)))
    return float(reduce(lambda first, second: namespace(first).minimum(first, second), minima))
