"""Widths of Gaussian kernels, from the distances between the rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np

from .base import NoAffinityError

GATHERED = 1 << 22  # so many distances may be held and put in order at once
BINS = 1 << 16

OverTiles = Callable[[Callable[[np.ndarray], Any]], Iterator[Any]]  # a function of all squared distances, in tiles


@dataclass(frozen=True)
class Range:
    """Some of the squared distances: those whose bits, read as a whole number, lie in a range.

    The bits of numbers that are not negative are in the numbers' order.
    """

    over: OverTiles
    dtype: np.dtype
    first: int
    last: int

    def keys(self, tile: np.ndarray) -> np.ndarray:
        bits = tile.ravel().view(f"i{self.dtype.itemsize}")
        return bits[(bits >= self.first) & (bits < self.last)]

    def counts(self, width: int) -> np.ndarray:
        """How many fall into each of some intervals of the range."""
        return reduce(
            np.add, self.over(lambda tile: np.bincount((self.keys(tile) - self.first) // width, minlength=BINS))
        )

    def lowest(self) -> int:
        return int(min(self.over(lambda tile: self.keys(tile).min(initial=self.last))))

    def highest(self) -> int:
        return int(max(self.over(lambda tile: self.keys(tile).max(initial=self.first))))

    def at(self, ranks: np.ndarray) -> list[int]:
        """Those at some places of their order."""
        return np.partition(np.concatenate(list(self.over(self.keys))), ranks)[ranks].tolist()


def median_distance(over: OverTiles, n_rows: int, dtype: np.dtype) -> float:
    """Median of the distances of all rows to all, exactly, from a few passes over them that hold few at a time.

    Those of a row to itself are zero and come first, the others come twice: it is enough to look at each pair once.
    Each pass counts how many fall into each of 65,536 intervals of the range that holds the middle, until those in it
    are few enough to be put in order.
    """
    most = int(np.iinfo(f"i{dtype.itemsize}").max)
    range_ = Range(over, dtype, 0, most)
    below, within = 0, n_rows * (n_rows - 1) // 2  # how many lie below the range, and in it
    ranks = (np.array([(n_rows**2 - 1) // 2, n_rows**2 // 2]) - n_rows) // 2
    if ranks[0] < 0:  # two rows: the lower of the middle ones is a row's distance to itself
        return root_mean(range_.at(ranks[1:]), dtype) / 2
    while within > GATHERED and range_.last - range_.first > 1:
        width = -(-(range_.last - range_.first) // BINS)
        counts = range_.counts(width)
        ends = below + np.cumsum(counts)
        a, b = np.searchsorted(ends, ranks, side="right").tolist()
        below, within = int(ends[a] - counts[a]), int(counts[a])
        first = range_.first + a * width
        range_ = Range(over, dtype, first, first + width)
        if a != b:  # the lower of the two middle ones is the last of its interval, the upper the first beyond
            beyond = Range(over, dtype, range_.last, most)
            return root_mean([range_.highest(), beyond.lowest()], dtype)
    if range_.last - range_.first == 1:
        return root_mean([range_.first], dtype)
    return root_mean(range_.at(ranks - below), dtype)


def root_mean(keys: list[int], dtype: np.dtype) -> float:
    """Mean of the distances whose squares have these bits."""
    return float(np.sqrt(np.array(keys, f"i{dtype.itemsize}").view(dtype).astype(np.float64)).mean())


def local_scales(tiles: Iterator[np.ndarray], neighbour: int) -> np.ndarray:
    """Distance of each row to one of its nearest, itself the zeroth (Zelnik-Manor & Perona 2004: the seventh)."""
    found = []
    for tile in tiles:
        at = min(neighbour, tile.shape[1] - 1)
        found.append(np.sqrt(np.partition(tile, at, axis=1)[:, at]))
    scales = np.concatenate(found)
    if not scales.any():
        raise NoAffinityError(
            f"the {neighbour} nearest rows of every row are its duplicates, which leaves no local bandwidth: give a "
            "number, drop duplicates, or use affinity='nearest-neighbors'"
        )
    return np.where(scales > 0, scales, scales[scales > 0].min())
