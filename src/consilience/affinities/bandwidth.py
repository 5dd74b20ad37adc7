"""Widths of Gaussian kernels, from the distances between the rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from .base import NoAffinityError

GATHERED = 1 << 22  # so many distances may be held and put in order at once
BINS = 1 << 16
MOST = (1 << 63) - 1

Tiles = Callable[[], Iterator[np.ndarray]]  # every call goes through all squared distances, some at a time


def median_distance(tiles: Tiles, n_pairs: int) -> float:
    """Median of all distances, exactly, from a few passes over them that hold few at a time.

    Bits of numbers that are not negative, read as whole numbers, are in the numbers' order: each pass counts how many
    fall into each of 65,536 intervals of the range that holds the middle, until they are few enough to be put in order.
    """
    ranks = np.array([(n_pairs - 1) // 2, n_pairs // 2])
    first, last, below, within = 0, MOST, 0, n_pairs  # the range, and how many lie below it and in it
    while within > GATHERED and last - first > 1:
        width = -(-(last - first) // BINS)
        counts = np.zeros(BINS, np.int64)
        for keys in keys_between(tiles(), first, last):
            counts += np.bincount((keys - first) // width, minlength=BINS)
        ends = below + np.cumsum(counts)
        a, b = (int(bin) for bin in np.searchsorted(ends, ranks, side="right"))
        first, last, below, within = (
            first + a * width,
            first + (a + 1) * width,
            int(ends[a] - counts[a]),
            int(counts[a]),
        )
        if a != b:  # the lower of the two middle ones is the last of its interval
            lower = max(keys.max(initial=0) for keys in keys_between(tiles(), first, last))
            upper = min(keys.min(initial=MOST) for keys in keys_between(tiles(), last, MOST))
            return root_mean(np.array([lower, upper]))
    if last - first == 1:
        return root_mean(np.array([first]))
    ranks = ranks - below
    return root_mean(np.partition(np.concatenate(list(keys_between(tiles(), first, last))), ranks)[ranks])


def root_mean(keys: np.ndarray) -> float:
    """Mean of the distances whose squares have these bits."""
    return float(np.sqrt(keys.astype(np.int64).view(np.float64)).mean())


def keys_between(tiles: Iterator[np.ndarray], first: int, last: int) -> Iterator[np.ndarray]:
    """The bits of the squared distances within a range."""
    for tile in tiles:
        keys = tile.ravel().astype(np.float64).view(np.int64)
        yield keys[(keys >= first) & (keys < last)]


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
