"""Nearest neighbors and spectral clustering on their graphs, for growing numbers of rows up to a million.

The data are two views of 100 columns in float32: 20 overlapping clusters along 12 directions, and noise. Each line is
one run: its seconds, and the peak memory as reported to tracemalloc. Set ``MOST_ROWS`` in the environment to leave
out larger sizes; the exact search is left out above 200,000 rows.

Search: 10 neighbors, next to scikit-learn's brute force up to 20,000 rows. `recall` is the share of the exact nearest
neighbors of a sample of rows that were found. Spectral clustering: whole fits of `CoTrainedSpectral` with one round and
``affinity='auto'``. Graphs: the same with all neighbors and with nearly all, at the largest size of the exact search;
`NMI of both` compares their labels.
"""

from __future__ import annotations

import os
import time
import tracemalloc
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from sklearn.neighbors import NearestNeighbors as SklearnNeighbors

from consilience import CoTrainedSpectral, Table
from consilience.affinities import NearestNeighbors
from consilience.arrays import find_nearest, find_nearly_nearest, use_threads
from consilience.metrics import normalized_mutual_info_score

SIZES = (10_000, 20_000, 50_000, 100_000, 200_000, 500_000, 1_000_000)
MOST_EXACT, MOST_SKLEARN = 200_000, 20_000
N_COLUMNS, N_CLUSTERS, N_DIRECTIONS, N_NEIGHBORS = 100, 20, 12, 10
N_SAMPLED = 500
SEPARATION = 1.0


def run(small: bool, repeats: int) -> Iterator[tuple[str, Table]]:  # noqa: ARG001
    most_rows = int(os.environ.get("MOST_ROWS", "1000000"))
    sizes = (7_000, 10_000) if small else tuple(n for n in SIZES if n <= most_rows)
    find_nearly_nearest(make_overlapping(sizes[0])[0][0], N_NEIGHBORS, np.random.default_rng(0))  # compiles
    yield f"{N_NEIGHBORS} nearest neighbors of rows of {N_COLUMNS} columns", time_searches(sizes)
    yield "Spectral clustering of two views", time_spectral(sizes)
    largest = max(n for n in sizes if n <= MOST_EXACT)
    yield f"All and nearly all neighbors, {largest:,} rows", compare_graphs(largest)


def make_overlapping(n: int) -> tuple[list[np.ndarray], np.ndarray]:
    """Create two views of overlapping clusters along few directions, and the clusters."""
    rng = np.random.default_rng(0)
    y = rng.integers(N_CLUSTERS, size=n)
    views = []
    for _ in range(2):
        centers = SEPARATION * rng.standard_normal((N_CLUSTERS, N_DIRECTIONS), dtype=np.float32)
        places = centers[y] + rng.standard_normal((n, N_DIRECTIONS), dtype=np.float32)
        X = places @ rng.standard_normal((N_DIRECTIONS, N_COLUMNS), dtype=np.float32)
        X += rng.standard_normal((n, N_COLUMNS), dtype=np.float32) / 2
        views.append(X)
    return views, y


def time_searches(sizes: tuple[int, ...]) -> Table:
    rows = []
    for n in sizes:
        X = make_overlapping(n)[0][0]
        sample = np.sort(np.random.default_rng(1).choice(n, N_SAMPLED, replace=False))
        expected = find_nearest(X, N_NEIGHBORS, X[sample]).positions
        searches: dict[str, Callable[[], np.ndarray]] = {
            "exact": lambda X=X: find_nearest(X, N_NEIGHBORS).positions,
            "approximate": lambda X=X: find_nearly_nearest(X, N_NEIGHBORS, np.random.default_rng(0)).positions,
            "scikit-learn": lambda X=X: (
                SklearnNeighbors(n_neighbors=N_NEIGHBORS, algorithm="brute").fit(X).kneighbors(X, return_distance=False)
            ),
        }
        most = {"exact": MOST_EXACT, "scikit-learn": MOST_SKLEARN}
        for name, search in searches.items():
            if n <= most.get(name, n):
                positions, columns = measure_run(search)
                found_shares = [
                    len(set(a) & set(b)) / N_NEIGHBORS
                    for a, b in zip(positions[sample].tolist(), expected.tolist(), strict=True)
                ]
                rows.append({"n": f"{n:,}", "search": name, **columns, "recall": f"{np.mean(found_shares):.4f}"})
    return Table.from_rows(rows)


def time_spectral(sizes: tuple[int, ...]) -> Table:
    rows = []
    for n in sizes:
        views, y = make_overlapping(n)
        labels, columns = measure_run(partial(fit_by_affinity, views, "auto"))
        rows.append({"n": f"{n:,}", **columns, "NMI": f"{normalized_mutual_info_score(y, labels):.3f}"})
    return Table.from_rows(rows)


def compare_graphs(n: int) -> Table:
    views, y = make_overlapping(n)
    fits = {
        name: measure_run(partial(fit_by_affinity, views, NearestNeighbors(approximate=name == "nearly all")))
        for name in ("all", "nearly all")
    }
    return Table.from_rows(
        {
            "neighbors": name,
            **columns,
            "NMI": f"{normalized_mutual_info_score(y, labels):.4f}",
            "NMI of both": f"{normalized_mutual_info_score(fits['all'][0], labels):.4f}",
        }
        for name, (labels, columns) in fits.items()
    )


def fit_by_affinity(views: list[np.ndarray], affinity: Any) -> np.ndarray:
    return CoTrainedSpectral(N_CLUSTERS, affinity=affinity, n_iter=1, n_init=3, random_state=0).fit(views).labels_


def measure_run(work: Callable[[], np.ndarray]) -> tuple[np.ndarray, dict[str, str]]:
    """Return the result of one run on all threads, and columns of its seconds and peak memory."""
    tracemalloc.start()
    started = time.perf_counter()
    with use_threads(None):
        result = work()
    seconds, peak = time.perf_counter() - started, tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return result, {"seconds": f"{seconds:.1f}", "peak MiB": f"{peak / 2**20:.0f}"}
