"""CoTrainedSpectral beside scikit-learn's SpectralClustering of the columns side by side, and how both forms grow.

Scikit-learn solves one eigenproblem, ours one a view and a projection a view and round; both hold a Gaussian kernel.
`default` is ours as it comes: a graph of nearest neighbours, the metric chosen by a look, rounds only where views are
strangers. In the tables of growth "exact" is the paper's Gaussian kernel with its median bandwidth, held as a table
where it fits 1 GiB and computed in blocks beyond: the step from 10,000 to 20,000 entities is one from the first to the
second, which costs time and saves memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np
from sklearn.cluster import SpectralClustering

from consilience import CoTrainedSpectral, Table, Views
from consilience.datasets import make_gaussian_views
from consilience.metrics import normalized_mutual_info_score

from .harness import Contestant, compare, growth

N_CLUSTERS, N_COLUMNS, N_ROUNDS = 6, (20, 20, 20), 5


def run(small: bool, repeats: int) -> Iterator[tuple[str, Table]]:
    n = 500 if small else 2_000
    views, y = data(n)
    yield f"one fit: {n:,} entities, views of {N_COLUMNS} columns, {N_CLUSTERS} clusters", fits(views, y, repeats)
    what = f"views of {N_COLUMNS} columns, {N_CLUSTERS} clusters, {N_ROUNDS} rounds, float32"
    for name, affinity, sizes in (
        ("exact", "gaussian", (500, 1_000) if small else (2_500, 5_000, 10_000, 20_000)),
        ("nearest neighbours", "nearest-neighbors", (500, 1_000) if small else (2_500, 5_000, 10_000, 20_000)),
        ("landmarks", "landmarks", (1_000, 10_000) if small else (10_000, 100_000, 1_000_000)),
    ):
        yield f"growth, {name}: {what}", growth(sizes, partial(work_on, affinity), 1)


def data(n: int) -> tuple[Views, np.ndarray]:
    """Three views whose clusters overlap."""
    return make_gaussian_views(n, n_clusters=N_CLUSTERS, n_features=N_COLUMNS, separation=4, random_state=0)


def single(views: Views) -> Views:
    return views.map(lambda block: block.astype(np.float32))


def papers(views: Views, **options: Any) -> np.ndarray:
    """The paper's setting."""
    model = CoTrainedSpectral(N_CLUSTERS, affinity="gaussian", n_iter=N_ROUNDS, random_state=0, **options)
    return model.fit_predict(views)


def fits(views: Views, y: np.ndarray, repeats: int) -> Table:
    side_by_side = np.hstack([block for _, block in views.items()])
    contestants = {
        "scikit-learn, side by side": lambda: SpectralClustering(N_CLUSTERS, random_state=0).fit_predict(side_by_side),
        f"consilience, {N_ROUNDS} rounds": partial(papers, views),
        f"consilience, {N_ROUNDS} rounds, float32": partial(papers, single(views)),
        "consilience, default": lambda: CoTrainedSpectral(N_CLUSTERS, random_state=0).fit_predict(views),
    }
    return compare([Contestant(name, work) for name, work in contestants.items()], repeats, partial(outcome, y))


def work_on(affinity: str, n: int) -> Callable[[], Any]:
    views = single(data(n)[0])
    model = CoTrainedSpectral(N_CLUSTERS, affinity=affinity, n_iter=N_ROUNDS, random_state=0)
    return partial(model.fit, views)


def outcome(y: np.ndarray, labels: np.ndarray) -> Mapping[str, str]:
    return {"NMI": f"{normalized_mutual_info_score(y, labels):.3f}"}
