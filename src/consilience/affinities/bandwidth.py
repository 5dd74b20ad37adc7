"""Widths of Gaussian kernels, from the distances between the rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import reduce
from operator import add
from typing import Any

import numpy as np

from ..arrays import Array, keep_where, namespace, to_numpy
from .base import NoAffinityError, nth_smallest

MAX_SORTED = 1 << 22  # so many distances may be held and put in order at once
N_EDGES = 8  # between which distances are counted in one pass
SAMPLE_OFFSETS = (0.3, 0.05, 0.01, 0.002)  # how far from the middle of a sample the first edges lie, in shares of it

MapTiles = Callable[[Callable[[Array], Any]], Iterator[Any]]  # a function of all squared distances, in tiles


def compute_median_distance(over: MapTiles, n_rows: int, dtype: np.dtype, sample: Callable[[], np.ndarray]) -> float:
    """Median of the distances of all rows to all, exactly, from a few passes over them that hold few at a time.

    Those of a row to itself are zero and come first, the others come twice: it is enough to look at each pair once.
    Each pass counts how many lie below each of some edges, until those between the two around the middle are few
    enough to be put in order. A sample of the squared distances says where to look first.
    """
    lower, upper = ((n_rows**2 - 1) // 2 - n_rows) // 2, (n_rows**2 // 2 - n_rows) // 2
    if lower < 0:  # two rows: the lower of the middle ones is a row's distance to itself
        return mean_root(find_smallest_from(over, 0.0)) / 2
    first, last = dtype.type(0), dtype.type(np.inf)
    below, end = 0, n_rows * (n_rows - 1) // 2
    edges = None
    while end - below > MAX_SORTED and np.nextafter(first, last) < last:
        edges = around_the_middle(sample()) if edges is None else split_range(first, last)
        edges = np.unique(edges[(edges > first) & (edges < last)])
        counts = [below, *count_below(over, edges), end]
        at = int(np.searchsorted(counts, lower, side="right"))
        first, last = [first, *edges, last][at - 1 : at + 1]
        below, end = counts[at - 1 : at + 1]
    found = [first, first]  # where all that are left are the same
    if end - below <= MAX_SORTED:
        places = [lower - below, min(upper, end - 1) - below]
        found = np.partition(gather_range(over, first, last), places)[places].tolist()
    return mean_root(found[0], found[1] if upper < end else find_smallest_from(over, last))


def around_the_middle(sample: np.ndarray) -> np.ndarray:
    """Numbers of a sample near to its median, on either side."""
    return np.quantile(sample, [0.5 + sign * share for share in SAMPLE_OFFSETS for sign in (-1, 1)], method="lower")


def count_below(over: MapTiles, edges: np.ndarray) -> list[int]:
    """How many distances lie below each of some edges."""

    def counts(tile: Array) -> Array:
        xp = namespace(tile)
        return xp.stack([xp.asarray(xp.count_nonzero(tile < float(edge))) for edge in edges])

    return to_numpy(reduce(add, over(counts))).tolist() if len(edges) else []


def gather_range(over: MapTiles, first: float, last: float) -> np.ndarray:
    """The distances of a range, the last apart."""
    parts = list(over(lambda tile: tile[(tile >= float(first)) & (tile < float(last))]))
    return to_numpy(namespace(parts[0]).concat(parts))


def find_smallest_from(over: MapTiles, first: float) -> float:
    """The smallest distance from one on."""
    found = over(lambda tile: namespace(tile).min(keep_where(tile >= float(first), tile, np.inf)))
    return float(reduce(lambda one, other: namespace(one).minimum(one, other), found))


def split_range(first: np.floating, last: np.floating) -> np.ndarray:
    """Edges of which each leaves the same number of numbers to its left: the bits of numbers are in their order."""
    low, high = (int(own.view(f"i{own.itemsize}")) for own in (first, last))
    steps = sorted({low + (high - low) * i // (N_EDGES + 1) for i in range(1, N_EDGES + 1)})
    return np.array(steps, f"i{first.itemsize}").view(first.dtype)


def mean_root(*squared: float) -> float:
    """Mean of the distances whose squares these are."""
    return float(np.sqrt(np.array(squared, np.float64)).mean())


def near_distance(tile: Array, neighbour: int) -> Array:
    """Distance of each row to one of its nearest, itself the zeroth, of the squares to all."""
    return namespace(tile).sqrt(nth_smallest(tile, min(neighbour + 1, tile.shape[1])))


def compute_local_scales(distances: Array, neighbour: int) -> Array:
    """The rows' distances to a neighbour as widths (Zelnik-Manor & Perona 2004: the seventh); none is zero."""
    xp = namespace(distances)
    least = xp.min(keep_where(distances > 0, distances, np.inf))
    if not bool(xp.isfinite(least)):
        raise NoAffinityError(
            f"the {neighbour} nearest rows of every row are its duplicates, which leaves no local bandwidth: give a "
            "number, drop duplicates, or use affinity='nearest-neighbors'"
        )
    return xp.where(distances > 0, distances, least)
