"""Both k-means estimators next to those of the same name in mvlearn 0.5.0, on two dense views.

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

One round is timed as in `kernels`, from one random start. All contestants get the same list of arrays. `NMI` is that of
one seed: an indication, not a ranking.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
from mvlearn.cluster import MultiviewKMeans, MultiviewSphericalKMeans

from consilience import MultiViewKMeans, MultiViewSphericalKMeans, Table
from consilience.datasets import make_gaussian_views

from .harness import Contestant, compare, read_nmi

N_CLUSTERS, N_COLUMNS, N_INIT, N_ROUNDS = 10, (50, 50), 5, 5
FEW, MANY = 2, 12  # rounds, where one is timed
PAIRS = {MultiViewKMeans: MultiviewKMeans, MultiViewSphericalKMeans: MultiviewSphericalKMeans}


def run(small: bool, repeats: int) -> Iterator[tuple[str, Table]]:
    for n in (500, 2_000) if small else (2_000, 20_000):
        views, y = make_gaussian_views(n, n_clusters=N_CLUSTERS, n_features=N_COLUMNS, separation=3, random_state=0)
        arrays = [block for _, block in views.items()]
        what = f"{n:,} entities, views of {N_COLUMNS} columns, {N_CLUSTERS} clusters"
        for ours, theirs in PAIRS.items():
            yield (
                f"{ours.__name__}, one fit: {what}, {N_INIT} starts",
                time_mvlearn_fits(ours, theirs, arrays, y, repeats),
            )
            yield f"{ours.__name__}, one round: {what}", time_mvlearn_rounds(ours, theirs, arrays, y, repeats)


def time_mvlearn_fits(ours: type, theirs: type, arrays: list[np.ndarray], y: np.ndarray, repeats: int) -> Table:
    settings = {"n_init": N_INIT, "max_iter": N_ROUNDS, "patience": N_ROUNDS}
    models = {
        f"consilience, {N_ROUNDS} rounds": partial(ours, tol=0, **settings),
        f"consilience, {N_ROUNDS} rounds, n_jobs=1": partial(ours, tol=0, n_jobs=1, **settings),
        f"consilience, defaults ({ours().n_init} starts)": ours,
        f"mvlearn, {N_ROUNDS} rounds": partial(theirs, **settings),
    }
    contestants = [
        Contestant(name, lambda model=model: model(n_clusters=N_CLUSTERS, random_state=0).fit_predict(arrays))
        for name, model in models.items()
    ]
    return compare(contestants, repeats, partial(read_nmi, y))


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
