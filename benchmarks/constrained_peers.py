"""Constrained k-means next to active-semi-supervised-clustering 0.0.1.

Differences of the peer that matter for a fair comparison:

- It computes the closure of the constraints first, so consilience gets the closure, too, and the objective is over it.
- Its PCKMeans weights half the squared distance against `w`: weight 1 of consilience is `w=0.5`.
- It discards the labels at the start of every round, so its objective oscillates and it rarely converges: it runs all
  of its 100 rounds (MPCKMeans 10). One round is timed; the fits show the results of complete runs.
- Its MPCKMeans learns one diagonal metric for all clusters (`shared_metric=True` in consilience), its MPCKMeansMF a
  full metric per cluster. It finds the farthest pair by a loop over all pairs.
- Importing it makes numpy raise errors at underflow, which is reverted here.

`objective` is that of PCK-Means with the means of the clusters: lower is better.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from sklearn.datasets import make_blobs

with np.errstate():
    from active_semi_clustering.semi_supervised.pairwise_constraints import MPCKMeans as TheirMPCKMeans
    from active_semi_clustering.semi_supervised.pairwise_constraints import MPCKMeansMF as TheirFullMPCKMeans
    from active_semi_clustering.semi_supervised.pairwise_constraints import PCKMeans as TheirPCKMeans

from consilience import Constraints, MPCKMeans, PCKMeans, Table

from .constrained import read_objective
from .harness import Contestant, compare

N_CLUSTERS, N_COLUMNS, STD = 5, 10, 4.0
FEW, MANY = 1, 3


def run(small: bool, repeats: int) -> Iterator[tuple[str, Table]]:
    n = 1_000 if small else 10_000
    pair = {
        "consilience": partial(PCKMeans, N_CLUSTERS, random_state=0),
        "active-semi-supervised-clustering": partial(TheirPCKMeans, N_CLUSTERS, w=0.5),
    }
    yield f"PCKMeans, one round: {n:,} entities, {n // 10:,} constraints", time_peer_rounds(n, pair, min(repeats, 3))
    yield f"PCKMeans, one fit: {n:,} entities, {n // 10:,} constraints", time_peer_fits(n, pair)
    n = 200 if small else 600
    pair = {
        "consilience, diagonal": partial(MPCKMeans, N_CLUSTERS, shared_metric=True, random_state=0),
        "consilience, full": partial(MPCKMeans, N_CLUSTERS, metric="full", random_state=0),
        "active-semi-supervised-clustering": partial(TheirMPCKMeans, N_CLUSTERS),
        "active-semi-supervised-clustering, full": partial(TheirFullMPCKMeans, N_CLUSTERS),
    }
    yield f"MPCKMeans, one round: {n:,} entities, {n // 10:,} constraints", time_peer_rounds(n, pair, min(repeats, 3))


def make_blobs_and_constraints(n: int) -> tuple[np.ndarray, Constraints]:
    X, y = make_blobs(n, N_COLUMNS, centers=N_CLUSTERS, cluster_std=STD, random_state=0)
    return X, Constraints.sample(y, n // 10, random_state=0).closure()


def fit_labels(model: Any, X: np.ndarray, constraints: Constraints) -> np.ndarray:
    """Fit a model of either library and return its labels; the peer uses numpy's global random state."""
    if hasattr(model, "get_params"):
        return model.fit(X, constraints=constraints).labels_
    np.random.seed(0)  # noqa: NPY002
    with np.errstate():
        model.fit(X, ml=constraints.must_link.tolist(), cl=constraints.cannot_link.tolist())
    return model.labels_


def time_peer_rounds(n: int, models: dict[str, Any], repeats: int) -> Table:
    X, constraints = make_blobs_and_constraints(n)

    def work(model: Any, n_rounds: int) -> np.ndarray:
        return fit_labels(model(max_iter=n_rounds), X, constraints)

    per_round = [Contestant.per_round(name, partial(work, model), FEW, MANY) for name, model in models.items()]
    return compare(per_round, repeats, partial(read_objective, X, constraints))


def time_peer_fits(n: int, models: dict[str, Any]) -> Table:
    X, constraints = make_blobs_and_constraints(n)
    contestants = [
        Contestant(name, lambda model=model: fit_labels(model(), X, constraints)) for name, model in models.items()
    ]
    return compare(contestants, 1, partial(read_objective, X, constraints))
