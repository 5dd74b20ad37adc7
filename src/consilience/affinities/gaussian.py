"""The Gaussian kernel: the affinity of the paper on co-trained spectral clustering."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import TypeVar

import numpy as np

from .._saving import save_as
from .._tuning import Tuning
from ..arrays import (
    Array,
    KernelMatrix,
    KernelRows,
    RowKernel,
    add_terms,
    asarray_like,
    exp_nonpositive,
    find_origin,
    inner_products,
    is_on_host,
    is_sparse,
    itemsize,
    keep_where,
    list_upper_tiles,
    map_chunks,
    namespace,
    scale_rows,
    to_numpy,
)
from ..arrays.namespace import fetch_numbers
from ..arrays.pairwise import TileBand
from .base import NoAffinityError, check_positive, nth_smallest
from .distances import SquaredDistances
from .kernels import KernelAffinity

T = TypeVar("T")

BANDWIDTHS = ("median", "local")
LOCAL_NEIGHBOR = 7  # its distance is a row's local bandwidth (Zelnik-Manor & Perona 2004)
tuning = Tuning(
    max_sorted=1 << 24,  # distances that may be held and sorted at once
    max_unsampled=1 << 16,  # distances that are all sorted; of more, a sample shows which are near the median
    median_sample=1000,  # rows of the sample, at most
)
MAX_KEPT_SHARE = 0.1  # share of the distances that are kept around the median of the sample, at most
N_EDGES = 8  # edges between which distances are counted in one pass


@save_as("affinity-gaussian")
@dataclass(frozen=True)
class Gaussian(KernelAffinity):
    """``exp(-d^2 / (2 bandwidth^2))`` of the Euclidean distance d between two rows.

    Parameters
    ----------
    bandwidth : float, 'median' or 'local', default='median'
        A number; the median of all distances, those of rows to themselves included; or self-tuning: 2 bandwidth^2 is
        the product of the two rows' distances to their seventh neighbors (Zelnik-Manor & Perona 2004).

    Examples
    --------
    >>> import numpy as np
    >>> import consilience as cs
    >>> X = np.array([[0.0], [1.0], [3.0]])
    >>> operator = cs.affinities.Gaussian(bandwidth=1.0).build_operator(X, np.random.default_rng(0))
    >>> (operator @ np.eye(3)).round(3).tolist()
    [[1.0, 0.607, 0.011], [0.607, 1.0, 0.135], [0.011, 0.135, 1.0]]
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
        exponents = add_terms(exponents, left.row_term, right.row_term, upper=0.0)
        return np.exp(exponents, out=exponents) if is_on_host(exponents) else namespace(exponents).exp(exponents)


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
    """Compute the exact median of the distances of all rows to all, in one pass or a few, which hold few at a time.

    The distances of rows to themselves are zero and come first, the others come twice, so each pair is counted once.
    A pass counts the distances below each of some edges, and keeps those between the edges if they are not too many. A
    sample gives the edges of the first pass; if the median is not between them, further passes narrow it down.
    """
    n_rows, dtype = X.shape[0], np.dtype(f"f{itemsize(X)}")
    if n_rows == 1:
        return 1.0  # a single row is similar to itself whatever the bandwidth
    pairs = RowPairs(distances, distances.points(X))
    lower, upper = ((n_rows**2 - 1) // 2 - n_rows) // 2, (n_rows**2 // 2 - n_rows) // 2
    if lower < 0:  # two rows: the lower of the middle ones is a row's distance to itself
        return pairs.find_smallest(0.0) ** 0.5 / 2
    first, last, below, end = dtype.type(0), dtype.type(np.inf), 0, n_rows * (n_rows - 1) // 2
    edges, share = np.array([first, last]), 1.0
    if end > tuning.max_unsampled:
        share = min(tuning.max_sorted / end, 4 * MAX_KEPT_SHARE)  # at most; a quarter of it is expected
        edges = np.quantile(pairs.sample(), [0.5 - share / 8, 0.5 + share / 8], method="lower")
    while True:
        counts, kept = pairs.tally(edges, share)
        bounds, ranks = [first, *edges, last], [below, *counts, end]
        at = int(np.searchsorted(ranks, lower, side="right"))
        first, last = bounds[at - 1 : at + 1]
        below, end = ranks[at - 1 : at + 1]
        if kept is not None and edges[0] <= first and last <= edges[-1]:
            place = lower - counts[0]
            ordered = np.partition(kept, place)  # by several places it would take many times as long
            middle = [ordered[place], ordered[place + 1 :].min() if lower < upper < counts[-1] else ordered[place]]
            break
        if np.nextafter(first, last) >= last:
            middle = [first, first]  # all that are left are equal
            break
        edges, share = np.array([first, last]), 1.0
        if end - below > tuning.max_sorted:
            # as many floating-point numbers between each two edges, whose bits are ordered as they are; the first edge
            # separates those that are equal to the lower bound
            low, high = (int(limit.view(f"i{limit.itemsize}")) for limit in (first, last))
            steps = sorted({low + 1, *(low + (high - low) * i // (N_EDGES + 1) for i in range(1, N_EDGES + 1))} - {low})
            edges, share = np.array(steps, f"i{first.itemsize}").view(first.dtype), 0.0
    if upper >= end:
        middle[1] = pairs.find_smallest(last)
    median = float(np.sqrt(np.array(middle, np.float64)).mean())
    if median == 0:
        raise NoAffinityError(
            "half of the rows' distances are zero (duplicates), so their median cannot be the bandwidth: give "
            "bandwidth= a number, drop duplicates, or use affinity='nearest-neighbors'"
        )
    return median


@dataclass(frozen=True, eq=False)
class RowPairs:
    """The squared distances of all pairs of different rows, computed in tiles for each pass over them."""

    distances: SquaredDistances
    points: KernelRows

    def tally(self, edges: np.ndarray, share: float) -> tuple[list[int], np.ndarray | None]:
        """Count the distances below each edge, and return those from the first edge on and below the last.

        None instead if they are more than a share of all distances, in a part of the pairs.
        """
        limits, dtype, on_host = [float(edge) for edge in edges], edges.dtype, is_on_host(self.points.X)

        def tally_band(band: TileBand) -> tuple[Array, list[Array] | None]:
            counts, kept, n_kept = [], [], 0
            height, widths = band.rows.stop - band.rows.start, [part.stop - part.start for part in band.columns]
            most = share * height * sum(widths)
            scratch = np.empty(height * max(widths), dtype) if on_host else None
            for tile in self._compute(band):
                tile_counts, entries = tally_tile(tile, limits, scratch, keep=n_kept <= most and share > 0)
                counts.append(tile_counts)
                kept.append(entries)
                n_kept += entries.shape[0]
            return reduce(add, counts), kept if n_kept <= most and share else None

        counts, kept = zip(*self._map(tally_band), strict=True)
        total = to_numpy(reduce(add, counts)).tolist()
        if any(parts is None for parts in kept):
            return total, None
        tiles = [tile for parts in kept for tile in parts]
        return total, to_numpy(namespace(tiles[0]).concat(tiles))

    def find_smallest(self, lower: float) -> float:
        """Find the smallest distance that is at least `lower`."""

        def find(band: TileBand) -> Array:
            minima = (
                namespace(tile).min(keep_where(tile >= float(lower), tile, np.inf)) for tile in self._compute(band)
            )
            return reduce(lambda first, second: namespace(first).minimum(first, second), minima)

        return min(fetch_numbers(self._map(find)))

    def sample(self) -> np.ndarray:
        """Return the distances between some evenly spread rows."""
        n = self.points.X.shape[0]
        rows = np.arange(0, n, -(-n // min(n // 8 + 2, tuning.median_sample)))
        points = self.points.take(rows)
        return to_numpy(self.distances.tile(points, points))[mask_upper_triangle(len(rows))]

    def _map(self, function: Callable[[TileBand], T]) -> Iterator[T]:
        X = self.points.X
        return (map_chunks if is_on_host(X) else map)(function, list_upper_tiles(X))

    def _compute(self, band: TileBand) -> Iterator[Array]:
        """Yield the tiles of a band, each of which may overwrite the one before.

        Entries that are not a pair of different rows, or repeat one, are infinite.
        """
        X, norms, _ = self.points.slice_rows(band.rows)
        factors = scale_rows(X, namespace(norms).full_like(norms, -2.0))
        height, width = X.shape[0], max(columns.stop - columns.start for columns in band.columns)
        # new memory for every tile would take longer than the product
        memory = np.empty(height * width, X.dtype) if is_on_host(X) and not is_sparse(X) else None
        for columns in band.columns:
            right = self.points.slice_rows(columns)
            if memory is None:
                tile = inner_products(factors, right.X)
            else:
                tile = memory[: height * right.X.shape[0]].reshape(height, -1)
                np.matmul(factors, right.X.T, out=tile)
            tile = add_terms(tile, norms, right.row_term, lower=0.0)
            if columns == band.rows:
                tile = keep_where(asarray_like(mask_upper_triangle(tile.shape[0]), tile), tile, np.inf)
            yield tile


def tally_tile(tile: Array, limits: Sequence[float], scratch: np.ndarray | None, *, keep: bool) -> tuple[Array, Array]:
    """Count the entries below each limit, and return those from the first limit on and below the last if `keep`.

    `scratch` is memory for as many numbers as a tile on the host has.
    """
    xp = namespace(tile)
    if keep and scratch is not None and len(limits) == 2:
        from ..arrays.pairwise_kernels import keep_between

        n_kept, n_below = keep_between(tile, *map(tile.dtype.type, limits), scratch)
        return np.array([n_below, n_below + n_kept]), scratch[:n_kept].copy()
    below = [tile < limit for limit in limits]
    counts = xp.stack([xp.asarray(xp.count_nonzero(mask)) for mask in below])
    return counts, tile[below[0] ^ below[-1]] if keep else tile[:0, 0]


def mask_upper_triangle(n: int) -> np.ndarray:
    """Return a mask of the entries above the diagonal of a square matrix."""
    return np.arange(n)[:, None] < np.arange(n)
