"""Widths of Gaussian kernels, from the distances between the rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import reduce
from operator import add
from typing import Any

import numpy as np

from ..arrays import Array, keep_where, namespace, to_numpy
from .base import NoAffinityError

MAX_SORTED = 1 << 22  # distances that may be held and sorted at once
N_EDGES = 8  # edges between which distances are counted in one pass
SAMPLE_OFFSETS = (0.3, 0.05, 0.01, 0.002)  # the first edges are these quantiles of a sample around its median

MapTiles = Callable[[Callable[[Array], Any]], Iterator[Any]]  # applies a function to all squared distances, in tiles


def compute_median_distance(
    map_tiles: MapTiles, n_rows: int, dtype: np.dtype, sample: Callable[[], np.ndarray]
) -> float:
    """Compute the exact median of the distances of all rows to all, in a few passes that hold few at a time.

    The distances of rows to themselves are zero and come first, the others come twice, so each pair is counted once.
    Each pass counts how many distances lie below each of some edges, until those between the two edges around the
    median are few enough to be sorted. A sample of the squared distances gives the first edges.
    """
    lower, upper = ((n_rows**2 - 1) // 2 - n_rows) // 2, (n_rows**2 // 2 - n_rows) // 2
    if lower < 0:  # two rows: the lower of the middle ones is a row's distance to itself
        return mean_root(find_smallest_from(map_tiles, 0.0)) / 2
    first, last = dtype.type(0), dtype.type(np.inf)
    below, end = 0, n_rows * (n_rows - 1) // 2
    edges = None
    while end - below > MAX_SORTED and np.nextafter(first, last) < last:
        if edges is None:
            quantiles = [0.5 + sign * offset for offset in SAMPLE_OFFSETS for sign in (-1, 1)]
            edges = np.quantile(sample(), quantiles, method="lower")
        else:
            edges = split_range(first, last)
        edges = np.unique(edges[(edges > first) & (edges < last)])
        counts = [below, *count_below(map_tiles, edges), end]
        at = int(np.searchsorted(counts, lower, side="right"))
        first, last = [first, *edges, last][at - 1 : at + 1]
        below, end = counts[at - 1 : at + 1]
    middle = [first, first]  # if all that are left are equal
    if end - below <= MAX_SORTED:
        places = [lower - below, min(upper, end - 1) - below]
        middle = np.partition(gather_range(map_tiles, first, last), places)[places].tolist()
    return mean_root(middle[0], middle[1] if upper < end else find_smallest_from(map_tiles, last))


def count_below(map_tiles: MapTiles, edges: np.ndarray) -> list[int]:
    """Count the distances below each edge."""

    def count(tile: Array) -> Array:
        xp = namespace(tile)
        return xp.stack([xp.asarray(xp.count_nonzero(tile < float(edge))) for edge in edges])

    return to_numpy(reduce(add, map_tiles(count))).tolist() if len(edges) else []


def gather_range(map_tiles: MapTiles, first: float, last: float) -> np.ndarray:
    """Collect the distances from `first` to below `last`."""
    parts = list(map_tiles(lambda tile: tile[(tile >= float(first)) & (tile < float(last))]))
    return to_numpy(namespace(parts[0]).concat(parts))


def find_smallest_from(map_tiles: MapTiles, lower: float) -> float:
    """Find the smallest distance that is at least `lower`."""
    minima = map_tiles(lambda tile: namespace(tile).min(keep_where(tile >= float(lower), tile, np.inf)))
    return float(reduce(lambda first, second: namespace(first).minimum(first, second), minima))


def split_range(first: np.floating, last: np.floating) -> np.ndarray:
    """Return edges with as many floating-point numbers between each two: their bits are ordered as they are."""
    low, high = (int(end.view(f"i{end.itemsize}")) for end in (first, last))
    steps = sorted({low + (high - low) * i // (N_EDGES + 1) for i in range(1, N_EDGES + 1)})
    return np.array(steps, f"i{first.itemsize}").view(first.dtype)


def mean_root(*squared: float) -> float:
    """Return the mean of the square roots."""
    return float(np.sqrt(np.array(squared, np.float64)).mean())


def compute_local_scales(distances: Array, neighbor: int) -> Array:
    """Use each row's distance to a neighbor as its width (Zelnik-Manor & Perona 2004: the seventh); none is zero."""
    xp = namespace(distances)
    smallest = xp.min(keep_where(distances > 0, distances, np.inf))
    if not bool(xp.isfinite(smallest)):
        raise NoAffinityError(
            f"the {neighbor} nearest rows of every row are its duplicates, which leaves no local bandwidth: give a "
            "number, drop duplicates, or use affinity='nearest-neighbors'"
        )
    return xp.where(distances > 0, distances, smallest)
