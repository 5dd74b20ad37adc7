"""The search for nearest rows: every one, or nearly every one in a fraction of the time."""

from __future__ import annotations

import numpy as np
import sklearn.neighbors

from ..arrays import Array, to_host


def find_nearest_rows(
    X: Array,
    number: int,
    rng: np.random.Generator | None = None,  # noqa: ARG001
) -> tuple[np.ndarray, np.ndarray]:
    """The `number` nearest rows of each, itself included, by Euclidean distance, and the distance of the last."""
    rows = to_host(X)
    away, nearest = sklearn.neighbors.NearestNeighbors(n_neighbors=number).fit(rows).kneighbors(rows)
    return nearest, away[:, -1].astype(np.float64)


def find_approximate_neighbors(X: Array, number: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """The same by pynndescent, which misses a few."""
    try:
        from pynndescent import NNDescent
    except ImportError as error:
        raise ImportError("approximate neighbours need pynndescent: pip install 'consilience[neighbors]'") from error
    rows = to_host(X)
    nearest, away = NNDescent(rows, n_neighbors=number, random_state=int(rng.integers(2**31))).neighbor_graph
    return nearest, away[:, -1].astype(np.float64)


SEARCHES = {False: find_nearest_rows, True: find_approximate_neighbors}
