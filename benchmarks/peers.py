"""Whole fits next to mvlearn 0.5.0, polyview 0.1.0 and scikit-learn on the concatenation, on two dense views.

All contestants of a table have the same numbers of starts and rounds, which are so few that none converges, and the
same list of arrays; scikit-learn gets them concatenated, for spherical k-means with rows of unit length. So set-up
costs show: at 300 entities there is little else. polyview learns weights of the views besides.

Properties of mvlearn 0.5.0 that matter for a fair comparison:

- Its convergence test never succeeds, because it compares with infinity. Every start runs min(patience, max_iter)
  rounds, 5 by default. So consilience runs as many rounds, with ``tol=0``; it stops earlier only if a round changes
  nothing, which does not happen on this data. Another line shows consilience with its defaults.
- For the same reason its first start is returned, whatever the others find. All 5 starts are computed by both
  libraries.
- Its starts run in one process (n_jobs=None) and its distances on one core; another line shows consilience with
  n_jobs=1.
- It takes two views only, and `fit` of its spherical k-means returns None, so `fit_predict` is timed for all
  contestants.

One round is timed as in `kernels`, from one random start. `NMI` is that of one seed: an indication, not a ranking.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from mvlearn.cluster import MultiviewKMeans, MultiviewSphericalKMeans
from polyview.cluster import MultiViewKMeans as PolyviewKMeans
from sklearn.cluster import KMeans
from sklearn.mixture import GaussianMixture
from sklearn.preprocessing import normalize

from consilience import CoEM, MultiViewKMeans, MultiViewSphericalKMeans, Table
from consilience.datasets import make_gaussian_views

from .harness import Contestant, compare, read_nmi

N_CLUSTERS, N_COLUMNS, N_INIT, N_ROUNDS = 10, (50, 50), 5, 5
FEW, MANY = 2, 12  # rounds, where one is timed
PAIRS = {MultiViewKMeans: MultiviewKMeans, MultiViewSphericalKMeans: MultiviewSphericalKMeans}
COVARIANCES = {"diag": "gaussian", "full": "gaussian-full"}


def run(small: bool, repeats: int) -> Iterator[tuple[str, Table]]:
    for n in (300, 500) if small else (300, 2_000, 20_000):
        views, y = make_gaussian_views(n, n_clusters=N_CLUSTERS, n_features=N_COLUMNS, separation=3, random_state=0)
        arrays = [block for _, block in views.items()]
        what = f"{n:,} entities, views of {N_COLUMNS} columns, {N_CLUSTERS} clusters"
        for ours, theirs in PAIRS.items():
            yield (
                f"{ours.__name__}, one fit: {what}, {N_INIT} starts",
                time_kmeans_fits(ours, theirs, arrays, y, repeats),
            )
            yield f"{ours.__name__}, one round: {what}", time_mvlearn_rounds(ours, theirs, arrays, y, repeats)
        for covariance in COVARIANCES:
            title = f"CoEM, {covariance} covariances, one fit: {what}, one start of {N_ROUNDS} rounds"
            yield title, time_mixture_fits(covariance, arrays, y, repeats)


def time_kmeans_fits(ours: type, theirs: type, arrays: list[np.ndarray], y: np.ndarray, repeats: int) -> Table:
    settings = {"n_init": N_INIT, "max_iter": N_ROUNDS}
    stop = {"patience": N_ROUNDS, **settings}
    rows = [normalize(X) for X in arrays] if ours is MultiViewSphericalKMeans else arrays
    models: dict[str, tuple[Any, Any]] = {
        f"consilience, {N_ROUNDS} rounds": (partial(ours, tol=0, **stop), arrays),
        f"consilience, {N_ROUNDS} rounds, n_jobs=1": (partial(ours, tol=0, n_jobs=1, **stop), arrays),
        f"consilience, defaults ({ours().n_init} starts)": (ours, arrays),
        f"mvlearn, {N_ROUNDS} rounds": (partial(theirs, **stop), arrays),
        f"scikit-learn KMeans, {N_ROUNDS} rounds": (partial(KMeans, tol=0, **settings), np.hstack(rows)),
    }
    if ours is MultiViewKMeans:
        models[f"polyview, {N_ROUNDS} rounds"] = (partial(PolyviewKMeans, tol=0, **settings), arrays)
    return compare(make_fits(models), repeats, partial(read_nmi, y))


def time_mixture_fits(covariance: str, arrays: list[np.ndarray], y: np.ndarray, repeats: int) -> Table:
    settings = {"n_init": 1, "max_iter": N_ROUNDS, "tol": 0}
    mixture = partial(GaussianMixture, covariance_type=covariance, **settings)
    models = {
        "consilience": (partial(CoEM, families=COVARIANCES[covariance], patience=N_ROUNDS, **settings), arrays),
        "scikit-learn GaussianMixture": (
            lambda n_clusters, **options: mixture(n_clusters, **options),
            np.hstack(arrays),
        ),
    }
    return compare(make_fits(models), repeats, partial(read_nmi, y))


def make_fits(models: dict[str, tuple[Any, Any]]) -> list[Contestant]:
    """Return contestants that fit estimators, each given with its data."""
    return [
        Contestant(name, lambda model=model, X=X: model(n_clusters=N_CLUSTERS, random_state=0).fit_predict(X))
        for name, (model, X) in models.items()
    ]


def time_mvlearn_rounds(ours: type, theirs: type, arrays: list[np.ndarray], y: np.ndarray, repeats: int) -> Table:
    settings = {"n_clusters": N_CLUSTERS, "n_init": 1, "init": "random", "random_state": 0}

    def consilience(n_rounds: int, n_jobs: int | None = None) -> np.ndarray:
        model = ours(max_iter=n_rounds, patience=n_rounds, tol=0, n_jobs=n_jobs, **settings).fit(arrays)
        if model.n_iter_ < n_rounds:
            raise RuntimeError(f"k-means converged after {model.n_iter_} of {n_rounds} rounds: make the views harder")
        return model.labels_

    def mvlearn(n_rounds: int) -> np.ndarray:
        return theirs(max_iter=n_rounds, patience=n_rounds, **settings).fit_predict(arrays)

    contestants = {
        "consilience": consilience,
        "consilience, n_jobs=1": partial(consilience, n_jobs=1),
        "mvlearn": mvlearn,
    }
    per_round = [Contestant.per_round(name, run, FEW, MANY) for name, run in contestants.items()]
    return compare(per_round, repeats, partial(read_nmi, y))
