"""Both estimators against those of the same name in mvlearn 0.5.0: two dense views, which is all that mvlearn takes.

To compare like with like one has to know what mvlearn 0.5.0 does:

- Its test of convergence never fires, for it compares with infinity. Every start runs min(patience, max_iter) rounds,
  5 by default. So ours gets as many: ``max_iter = patience`` of mvlearn, ``tol=0``. It may stop sooner only where a
  round has changed nothing, and these data take longer to settle. A line more shows ours at its own defaults.
- For the same reason the first of its starts is the one that is kept, whatever the others find. They take their time
  all the same, as ours do: both make 5.
- Its starts run in one process (n_jobs=None) and its distances on one core, ours on all: a line more shows ours with
  n_jobs=1.
- The spherical `fit` returns None, hence `fit_predict` for everyone.

One round is timed as in `kernels`, from one random start. Everyone is given the same list of arrays. `NMI` is that of
one seed: a hint, no ranking.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial

import numpy as np
from mvlearn.cluster import MultiviewKMeans, MultiviewSphericalKMeans

from consilience import MultiViewKMeans, MultiViewSphericalKMeans, Table
from consilience.datasets import make_gaussian_views
from consilience.metrics import normalized_mutual_info_score

from .harness import Contestant, compare

N_CLUSTERS, N_COLUMNS, N_INIT, N_ROUNDS = 10, (50, 50), 5, 5
FEW, MANY = 2, 12  # rounds, where one is timed
PAIRS = {MultiViewKMeans: MultiviewKMeans, MultiViewSphericalKMeans: MultiviewSphericalKMeans}


def run(small: bool, repeats: int) -> Iterator[tuple[str, Table]]:
    for n in (500, 2_000) if small else (2_000, 20_000):
        views, y = make_gaussian_views(n, n_clusters=N_CLUSTERS, n_features=N_COLUMNS, separation=3, random_state=0)
        arrays = [block for _, block in views.items()]
        what = f"{n:,} entities, views of {N_COLUMNS} columns, {N_CLUSTERS} clusters"
        for ours, theirs in PAIRS.items():
            yield f"{ours.__name__}, one fit: {what}, {N_INIT} starts", fits(ours, theirs, arrays, y, repeats)
            yield f"{ours.__name__}, one round: {what}", rounds(ours, theirs, arrays, y, repeats)


def fits(ours: type, theirs: type, arrays: list[np.ndarray], y: np.ndarray, repeats: int) -> Table:
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
    return compare(contestants, repeats, partial(outcome, y))


def rounds(ours: type, theirs: type, arrays: list[np.ndarray], y: np.ndarray, repeats: int) -> Table:
    settings = {"n_clusters": N_CLUSTERS, "n_init": 1, "init": "random", "random_state": 0}

    def consilience(n_rounds: int, n_jobs: int | None = None) -> np.ndarray:
        model = ours(max_iter=n_rounds, patience=n_rounds, tol=0, n_jobs=n_jobs, **settings).fit(arrays)
        if model.n_iter_ < n_rounds:
            raise RuntimeError(f"k-means settled after {model.n_iter_} of {n_rounds} rounds: make the views harder")
        return model.labels_

    def mvlearn(n_rounds: int) -> np.ndarray:
        return theirs(max_iter=n_rounds, patience=n_rounds, **settings).fit_predict(arrays)

    contestants = {
        "consilience": consilience,
        "consilience, n_jobs=1": partial(consilience, n_jobs=1),
        "mvlearn": mvlearn,
    }
    per_round = [Contestant.per_round(name, run, FEW, MANY) for name, run in contestants.items()]
    return compare(per_round, repeats, partial(outcome, y))


def outcome(y: np.ndarray, labels: np.ndarray) -> Mapping[str, str]:
    return {"NMI": f"{normalized_mutual_info_score(y, labels):.3f}"}
