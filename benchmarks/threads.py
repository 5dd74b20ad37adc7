"""How rounds and whole fits scale with the number of threads, next to scikit-learn on the concatenated views.

`round` times one round by the difference of many and few rounds, which cancels the setup. `ratio` compares consilience
with scikit-learn in the same turn, and below 1 is faster; both are limited to the number of threads of the line.
`speed-up` is the time of consilience with one thread divided by its time. Behind each median are the quartiles. `same
labels` tells whether the labels equal those of one thread.

A round of consilience does more: it passes results from view to view and records costs and agreement. scikit-learn has
no contestant for multinomials; for full covariances its mixture of the concatenation has larger matrices.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from sklearn.cluster import KMeans
from sklearn.mixture import GaussianMixture
from threadpoolctl import threadpool_limits

from consilience import CoEM, MultiViewKMeans, Table, Views
from consilience.arrays.parallel import available_threads
from consilience.datasets import make_text_views

from .harness import time_call

N_CLUSTERS = 10
SPREAD = 0.4  # of the centers where rows have spread 1: so small that no method converges within the rounds timed
FIXED_ROUNDS = {"tol": 0, "patience": 10_000}


@dataclass(frozen=True)
class Race:
    """Two fits as functions of the number of rounds and of threads; `few` and `many` rounds if rounds are timed."""

    title: str
    ours: Callable[[int, int], Any]
    peer: Callable[[int, int], Any] | None = None
    few: int = 0
    many: int = 300  # rounds of a whole fit

    def time_ours(self, n_threads: int) -> float:
        return self._time(partial(self.ours, n_threads=n_threads))

    def time_peer(self, n_threads: int) -> float:
        if self.peer is None:
            return float("nan")
        with threadpool_limits(n_threads):
            return self._time(partial(self.peer, n_threads=n_threads))

    def _time(self, fit: Callable[[int], Any]) -> float:
        if not self.few:
            return time_call(partial(fit, self.many))
        fit(self.few)  # not timed: the first call after the other contestant is slower
        return (time_call(partial(fit, self.many)) - time_call(partial(fit, self.few))) / (self.many - self.few)


def run(small: bool, repeats: int) -> Iterator[tuple[str, Table]]:
    thread_counts = [2**i for i in range(available_threads().bit_length())]
    for race in make_races(small):
        yield race.title, time_race(race, thread_counts, repeats)


def time_race(race: Race, thread_counts: list[int], repeats: int) -> Table:
    """Return one row per number of threads; contestants take turns."""
    rows: list[dict[str, str]] = []
    first = labels = None  # times and labels of one thread
    for n_threads in thread_counts:
        fitted = race.ours(race.few + 1 if race.few else race.many, n_threads)  # warm-up
        race.time_peer(n_threads)
        turns = np.array([[race.time_ours(n_threads), race.time_peer(n_threads)] for _ in range(repeats)])
        ours, peer = turns.T
        if first is None:
            first, labels = ours, fitted.labels_
        row = {"threads": str(n_threads), "consilience ms": format_quartiles(1e3 * ours)}
        if race.peer is not None:
            row |= {"scikit-learn ms": format_quartiles(1e3 * peer), "ratio": format_quartiles(ours / peer, 2)}
        row["speed-up"] = f"{np.median(first) / np.median(ours):.1f}"
        row["same labels"] = str(bool((fitted.labels_ == labels).all()))
        rows.append(row)
    return Table.from_rows(rows)


def format_quartiles(values: np.ndarray, digits: int = 1) -> str:
    low, middle, high = np.quantile(values, [0.25, 0.5, 0.75])
    return f"{middle:.{digits}f} ({low:.{digits}f} to {high:.{digits}f})"


def make_races(small: bool) -> Iterator[Race]:
    """Yield the races one at a time, so that the data of either kind can be freed before the next is made."""
    yield from make_dense_races(4_000 if small else 400_000)
    yield make_text_race(*((2_000, 1_000) if small else (200_000, 30_000)))


def make_dense_races(n: int) -> Iterator[Race]:
    blocks, y = make_blocks(n, 32)
    views, rows = Views(blocks), np.hstack(blocks)
    start = np.random.default_rng(1).integers(N_CLUSTERS, size=n)
    shape = f"{n:,} x 32 x 2 views, {N_CLUSTERS} clusters, float32"
    yield Race(f"k-means, round: {shape}", partial(fit_kmeans, views, start), partial(fit_peer, rows, start), 2, 22)
    yield Race(
        f"k-means, whole fit, one start: {shape}",
        lambda _, n_threads: MultiViewKMeans(N_CLUSTERS, n_init=1, random_state=0, n_jobs=n_threads).fit(views),
        lambda *_, **__: KMeans(N_CLUSTERS, n_init=1, random_state=0).fit(rows),
    )
    mixture = partial(fit_concatenation, rows, y, "diag")
    yield Race(f"co-EM, diagonal, round: {shape}", partial(fit_views_of_mixture, views, y, "gaussian"), mixture, 2, 12)
    half = slice(n // 2)
    yield Race(
        f"co-EM, full covariances, round: {n // 2:,} x 32 x 2 views, {N_CLUSTERS} clusters, float32",
        partial(fit_views_of_mixture, views[half], y[half], "gaussian-full"),
        partial(fit_concatenation, rows[half], y[half], "full"),
        few=1,
        many=3,
    )


def make_text_race(n: int, n_words: int) -> Race:
    texts, topics = make_text_views(n, n_clusters=20, n_words=(n_words, n_words), length=100, random_state=0)
    return Race(
        f"co-EM, multinomials, round: {n:,} x {n_words:,} x 2 sparse views, 20 clusters",
        partial(fit_views_of_mixture, texts, topics, "multinomial"),
        few=2,
        many=7,
    )


def make_blocks(n: int, n_columns: int) -> tuple[list[np.ndarray], np.ndarray]:
    """Return two views of Gaussian clusters that overlap, in float32, and the clusters."""
    rng = np.random.default_rng(0)
    y = rng.integers(N_CLUSTERS, size=n)
    blocks = []
    for _ in range(2):
        centers = SPREAD * rng.standard_normal((N_CLUSTERS, n_columns), dtype=np.float32)
        blocks.append(centers[y] + rng.standard_normal((n, n_columns), dtype=np.float32))
    return blocks, y


def fit_kmeans(views: Views, start: np.ndarray, n_rounds: int, n_threads: int) -> MultiViewKMeans:
    return MultiViewKMeans(N_CLUSTERS, init=start, max_iter=n_rounds, n_jobs=n_threads, **FIXED_ROUNDS).fit(views)


def fit_peer(rows: np.ndarray, start: np.ndarray, n_rounds: int, n_threads: int) -> KMeans:  # noqa: ARG001
    centers = np.stack([rows[start == cluster].mean(axis=0) for cluster in range(N_CLUSTERS)])
    return KMeans(N_CLUSTERS, init=centers, n_init=1, max_iter=n_rounds, tol=0).fit(rows)


def fit_views_of_mixture(views: Views, y: np.ndarray, families: str, n_rounds: int, n_threads: int) -> CoEM:
    k = int(y.max()) + 1
    return CoEM(k, families=families, init=y, max_iter=n_rounds, n_jobs=n_threads, **FIXED_ROUNDS).fit(views)


def fit_concatenation(rows: np.ndarray, y: np.ndarray, covariance: str, n_rounds: int, n_threads: int) -> Any:  # noqa: ARG001
    model = GaussianMixture(N_CLUSTERS, covariance_type=covariance, tol=0, max_iter=n_rounds, init_params="random")
    # the common start; the first round of scikit-learn is an E-step on it
    model._initialize_parameters = lambda X, *_, **__: model._initialize(X, np.eye(N_CLUSTERS, dtype=X.dtype)[y])
    return model.fit(rows)
