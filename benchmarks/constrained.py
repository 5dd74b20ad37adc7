"""Constrained k-means next to scikit-learn's KMeans without constraints, its growth with the rows, and propagation.

A round of PCKMeans is a round of k-means plus a visit to every entity with constraints. The first tables show the cost
of these visits: all contestants have the same initial centers and number of rounds. `objective` is that of PCK-Means:
squared distances plus the weights of violated constraints.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs

from consilience import Constraints, MPCKMeans, MultiViewConstrainedKMeans, PCKMeans, Table, align
from consilience.arrays import use_threads
from consilience.methods.constrained.cluster_metrics import ClusterMetric
from consilience.methods.constrained.propagate import estimate_shapes, propagate_links

from .harness import Contestant, compare, measure_growth

N_CLUSTERS, N_COLUMNS = 10, 16
FEW, MANY = 2, 12  # rounds, where one is timed


def run(small: bool, repeats: int) -> Iterator[tuple[str, Table]]:
    for n in (2_000,) if small else (10_000, 100_000):
        yield (
            f"one round: {n:,} entities, {n // 10:,} constraints, {N_COLUMNS} columns",
            time_constrained_rounds(n, repeats),
        )
    sizes = (1_000, 2_000) if small else (10_000, 20_000, 50_000, 100_000)
    for model in (PCKMeans, MPCKMeans):
        yield (
            f"{model.__name__}, ten rounds, a constraint for ten entities",
            measure_growth(sizes, partial(make_constrained_fit, model), repeats),
        )
    sizes = (2_000, 4_000) if small else (10_000, 20_000, 50_000)
    for d in (5, 3) if not small else (5,):
        title = f"propagation to so many mapped entities, a constraint for five, {d} columns, {N_CLUSTERS} clusters"
        yield title, measure_growth(sizes if d > 3 else sizes[:-1], partial(make_propagation, d), min(repeats, 3))
    yield (
        "MultiViewConstrainedKMeans, two views, half mapped, a constraint for ten",
        measure_growth((1_000, 2_000) if small else (10_000, 50_000, 100_000), make_multi_view_fit, min(repeats, 3)),
    )


def make_overlapping_blobs(n: int, d: int = N_COLUMNS, std: float = 8.0) -> tuple[np.ndarray, np.ndarray]:
    """Generate overlapping clusters, so that k-means does not converge early."""
    return make_blobs(n, d, centers=N_CLUSTERS, cluster_std=std, random_state=0)


def time_constrained_rounds(n: int, repeats: int) -> Table:
    X, y = make_overlapping_blobs(n)
    constraints = Constraints.sample(y, n // 10, random_state=0)
    centers = X[np.random.default_rng(1).choice(n, N_CLUSTERS, replace=False)]

    def ours(model: Callable[..., PCKMeans], n_rounds: int) -> np.ndarray:
        fitted = model(N_CLUSTERS, init=centers, max_iter=n_rounds, random_state=0).fit(X, constraints=constraints)
        if fitted.n_iter_ < n_rounds:
            raise RuntimeError(f"converged after {fitted.n_iter_} of {n_rounds} rounds: make the clusters harder")
        return fitted.labels_

    def sklearn(n_rounds: int) -> np.ndarray:
        return KMeans(N_CLUSTERS, init=centers, n_init=1, max_iter=n_rounds, tol=0).fit(X).labels_

    contestants = {
        "PCKMeans": partial(ours, PCKMeans),
        "MPCKMeans, diagonal": partial(ours, MPCKMeans),
        "MPCKMeans, full": partial(ours, partial(MPCKMeans, metric="full")),
        "scikit-learn KMeans, no constraints": sklearn,
    }
    per_round = [Contestant.per_round(name, work, FEW, MANY) for name, work in contestants.items()]
    return compare(per_round, repeats, partial(read_objective, X, constraints))


def read_objective(X: np.ndarray, constraints: Constraints, labels: np.ndarray) -> dict[str, str]:
    return {"objective": f"{compute_objective(X, labels, constraints):,.0f}"}


def compute_objective(X: np.ndarray, labels: np.ndarray, constraints: Constraints) -> float:
    """Compute the objective of PCK-Means with the means of the clusters."""
    squares = sum(
        np.sum((members - members.mean(axis=0)) ** 2) for members in (X[labels == h] for h in np.unique(labels))
    )
    must, cannot = (labels[pairs] for pairs in (constraints.must_link, constraints.cannot_link))
    separated = constraints.must_weights[must[:, 0] != must[:, 1]].sum()
    return float(squares + separated + constraints.cannot_weights[cannot[:, 0] == cannot[:, 1]].sum())


def make_constrained_fit(model: Callable[..., PCKMeans], n: int) -> Callable[[], PCKMeans]:
    X, y = make_overlapping_blobs(n)
    constraints = Constraints.sample(y, n // 10, random_state=0)
    return lambda: model(N_CLUSTERS, max_iter=10, random_state=0).fit(X, constraints=constraints)


def make_propagation(d: int, n: int) -> Callable[[], tuple]:
    X, y = make_overlapping_blobs(n, d, 1.0)
    constraints = Constraints.sample(y, n // 5, random_state=0)
    centers = np.stack([X[y == h].mean(axis=0) for h in range(N_CLUSTERS)])
    all_entities = np.arange(n)

    def work() -> tuple:
        with use_threads(None):
            shapes = estimate_shapes(X, y, centers, ClusterMetric.first(N_CLUSTERS, d))
            return propagate_links(X, y, shapes, constraints.must, constraints.cannot, all_entities, 0.5)

    return work


def make_multi_view_fit(n: int) -> Callable[[], MultiViewConstrainedKMeans]:
    X, y = make_overlapping_blobs(2 * n, 5, 1.5)
    half = np.arange(0, n, 2)
    by_class = np.argsort(y, kind="stable")  # both views have the classes in the same order
    blocks = {"a": X[by_class[::2]], "b": X[by_class[1::2]]}
    views = align(blocks, {("a", "b"): np.column_stack([half, half])})
    constraints = {
        name: Constraints(*links, by="row")
        for name, links in {
            "a": get_links(Constraints.sample(y[by_class[::2]], n // 10, random_state=0)),
            "b": get_links(Constraints.sample(y[by_class[1::2]], n // 10, random_state=1)),
        }.items()
    }

    def work() -> MultiViewConstrainedKMeans:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = MultiViewConstrainedKMeans(N_CLUSTERS, max_iter=5, random_state=0)
            return model.fit(views, constraints=constraints)

    return work


def get_links(constraints: Constraints) -> tuple[np.ndarray, np.ndarray]:
    return constraints.must_link, constraints.cannot_link
