"""The k-means estimators next to scikit-learn's KMeans on concatenated dense views, with the same number of starts.

All other options have their defaults, because users run these, so the work differs: our rounds visit the views in turn
and stop by `patience`; scikit-learn stops when the centers move little. `rounds` (of the best start) and `NMI` (of one
seed: an indication, not a ranking) show the results.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np
from sklearn.cluster import KMeans

from consilience import MultiViewKMeans, MultiViewSphericalKMeans, Table
from consilience.datasets import make_gaussian_views
from consilience.metrics import normalized_mutual_info_score

from .harness import Contestant, compare

N_CLUSTERS, N_COLUMNS, N_INIT = 10, (50, 50), 10


def run(small: bool, repeats: int) -> Iterator[tuple[str, Table]]:
    for n in (500, 2_000) if small else (2_000, 20_000):
        views, y = make_gaussian_views(n, n_clusters=N_CLUSTERS, n_features=N_COLUMNS, separation=3, random_state=0)
        side_by_side = np.hstack([block for _, block in views.items()])
        table = compare(
            [
                Contestant("scikit-learn KMeans", partial(fit_estimator, KMeans, side_by_side)),
                Contestant("MultiViewKMeans", partial(fit_estimator, MultiViewKMeans, views)),
                Contestant("MultiViewSphericalKMeans", partial(fit_estimator, MultiViewSphericalKMeans, views)),
            ],
            repeats,
            partial(read_rounds_and_nmi, y),
        )
        yield f"one fit: {n:,} entities, views of {N_COLUMNS} columns, {N_CLUSTERS} clusters, {N_INIT} starts", table


def fit_estimator(estimator: type, X: Any) -> Any:
    return estimator(n_clusters=N_CLUSTERS, n_init=N_INIT, random_state=0).fit(X)


def read_rounds_and_nmi(y: np.ndarray, model: Any) -> Mapping[str, str]:
    return {"rounds": str(model.n_iter_), "NMI": f"{normalized_mutual_info_score(y, model.labels_):.3f}"}
