"""CoTrainedSpectral next to scikit-learn's SpectralClustering of the concatenated columns, and its growth with rows.

scikit-learn solves one eigenproblem; consilience solves one per view and computes a projection per view and round. Both
store a Gaussian kernel. `default` is CoTrainedSpectral with its default options: a graph of nearest neighbors, a metric
chosen from the data, and rounds only if the views differ much. In the growth tables "exact" is the paper's Gaussian
kernel with median bandwidth, stored up to 1 GiB per view, which is 23,000 entities in float32, and computed in blocks
beyond.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from sklearn.cluster import SpectralClustering

from consilience import CoTrainedSpectral, Table, Views
from consilience.datasets import make_gaussian_views

from .harness import Contestant, compare, measure_growth, read_nmi

N_CLUSTERS, N_COLUMNS, N_ROUNDS = 6, (20, 20, 20), 5


def run(small: bool, repeats: int) -> Iterator[tuple[str, Table]]:
    n = 500 if small else 2_000
    views, y = make_spectral_views(n)
    yield (
        f"one fit: {n:,} entities, views of {N_COLUMNS} columns, {N_CLUSTERS} clusters",
        time_spectral_fits(views, y, repeats),
    )
    what = f"views of {N_COLUMNS} columns, {N_CLUSTERS} clusters, {N_ROUNDS} rounds, float32"
    for name, affinity, sizes in (
        ("exact", "gaussian", (500, 1_000) if small else (2_500, 5_000, 10_000, 20_000)),
        ("nearest neighbors", "nearest-neighbors", (500, 1_000) if small else (2_500, 5_000, 10_000, 20_000)),
        ("landmarks", "landmarks", (1_000, 10_000) if small else (10_000, 100_000, 1_000_000)),
    ):
        yield f"growth, {name}: {what}", measure_growth(sizes, partial(make_spectral_fit, affinity), 1)


def make_spectral_views(n: int) -> tuple[Views, np.ndarray]:
    """Generate three views with overlapping clusters."""
    return make_gaussian_views(n, n_clusters=N_CLUSTERS, n_features=N_COLUMNS, separation=4, random_state=0)


def convert_to_float32(views: Views) -> Views:
    return views.map(lambda block: block.astype(np.float32))


def fit_paper_setting(views: Views, **options: Any) -> np.ndarray:
    """Fit with the options of the paper."""
    model = CoTrainedSpectral(N_CLUSTERS, affinity="gaussian", n_iter=N_ROUNDS, random_state=0, **options)
    return model.fit_predict(views)


def time_spectral_fits(views: Views, y: np.ndarray, repeats: int) -> Table:
    side_by_side = np.hstack([block for _, block in views.items()])
    contestants = {
        "scikit-learn, side by side": lambda: SpectralClustering(N_CLUSTERS, random_state=0).fit_predict(side_by_side),
        f"consilience, {N_ROUNDS} rounds": partial(fit_paper_setting, views),
        f"consilience, {N_ROUNDS} rounds, float32": partial(fit_paper_setting, convert_to_float32(views)),
        "consilience, default": lambda: CoTrainedSpectral(N_CLUSTERS, random_state=0).fit_predict(views),
    }
    return compare([Contestant(name, work) for name, work in contestants.items()], repeats, partial(read_nmi, y))


def make_spectral_fit(affinity: str, n: int) -> Callable[[], Any]:
    views = convert_to_float32(make_spectral_views(n)[0])
    model = CoTrainedSpectral(N_CLUSTERS, affinity=affinity, n_iter=N_ROUNDS, random_state=0)
    return partial(model.fit, views)
