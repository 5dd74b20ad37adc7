"""A stream in 20 batches next to a fit of all entities.

The entities come in random order; `partial_fit` sees each once, `fit` once per round, with the same number of starts
(`partial_fit` makes them on the first batch). `ratio` is the ratio of times; `score ratio` is the ratio of the scores
of all entities, which are negative, so that values above 1.00 are worse than the fit; `NMI` compares with the true
clusters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np

from consilience import CoEM, MultiViewKMeans, MultiViewSphericalKMeans, Table, Views
from consilience.datasets import make_gaussian_views, make_text_views
from consilience.metrics import normalized_mutual_info_score

from .harness import Contestant, compare

N_BATCHES, N_CLUSTERS = 20, 10
Make = Callable[[], Any]


def run(small: bool, repeats: int) -> Iterator[tuple[str, Table]]:
    n = 4_000 if small else 40_000
    measurements = make_gaussian_views(n, n_clusters=N_CLUSTERS, n_features=(20, 20), separation=3, random_state=0)
    text = make_text_views(n, n_clusters=N_CLUSTERS, n_words=(1_000, 1_000), topic_share=0.3, random_state=0)
    kinds: dict[str, tuple[Make, tuple[Views, np.ndarray]]] = {
        "CoEM, Gaussians": (partial(CoEM, N_CLUSTERS, eta=0.25, random_state=0), measurements),
        "CoEM, multinomials": (partial(CoEM, N_CLUSTERS, random_state=0, eta=1.0), text),
        "MultiViewKMeans": (partial(MultiViewKMeans, N_CLUSTERS, random_state=0), measurements),
        "MultiViewSphericalKMeans": (partial(MultiViewSphericalKMeans, N_CLUSTERS, random_state=0), text),
    }
    for name, (make, (views, y)) in kinds.items():
        shape = " + ".join(f"{block.shape[1]:,}" for _, block in views.items())
        title = f"{name}: {n:,} x ({shape}), {N_CLUSTERS} clusters, {N_BATCHES} batches"
        yield title, time_streams(make, views, y, repeats)


def time_streams(make: Make, views: Views, y: np.ndarray, repeats: int) -> Table:
    order = np.random.default_rng(0).permutation(len(views))
    views, y = views[order], y[order]
    whole = make().fit(views).score(views)
    batches = [views[rows] for rows in np.array_split(np.arange(len(views)), N_BATCHES)]
    contestants = [
        Contestant("fit", lambda: make().fit(views)),
        Contestant("partial_fit", lambda: fit_in_batches(make(), batches)),
        Contestant("fit on the first batch", lambda: make().fit(batches[0])),
    ]
    return compare(contestants, repeats, partial(read_quality, views, y, whole))


def fit_in_batches(model: Any, batches: list[Views]) -> Any:
    for batch in batches:
        model.partial_fit(batch)
    return model


def read_quality(views: Views, y: np.ndarray, whole: float, model: Any) -> Mapping[str, str]:
    nmi = normalized_mutual_info_score(y, model.predict(views))
    return {"score ratio": f"{model.score(views) / whole:.4f}", "NMI": f"{nmi:.3f}"}
