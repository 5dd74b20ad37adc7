"""MultiViewAgglomerative on two views next to scipy's linkage of one view; ours does more than twice the work.

scipy gets the first view only and computes its distances (`pdist`) and dendrogram on one core. Consilience computes the
distances of both views on all cores, merges on one core, and also computes the labels of each view. scikit-learn's
AgglomerativeClustering calls scipy for these linkages and is omitted. `NMI` compares ten clusters with the true
classes, for one seed: an indication, not a ranking.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import pdist

from consilience import MultiViewAgglomerative, Table, Views
from consilience.datasets import make_gaussian_views
from consilience.methods.agglomerative.algorithm import LINKAGES

from .harness import Contestant, compare, read_nmi

N_CLUSTERS, N_COLUMNS = 10, (50, 50)


def run(small: bool, repeats: int) -> Iterator[tuple[str, Table]]:
    for n in (500, 2_000) if small else (2_000, 5_000, 10_000):
        views, y = make_gaussian_views(n, n_clusters=N_CLUSTERS, n_features=N_COLUMNS, separation=8, random_state=0)
        single = views.map(lambda block: block.astype(np.float32))
        for metric in ("cosine", "euclidean"):
            for linked in LINKAGES:
                table = compare(
                    [
                        Contestant("scipy, one view", partial(cluster_by_scipy, views["view0"], metric, linked)),
                        Contestant("consilience, two views", partial(cluster_by_consilience, views, metric, linked)),
                        Contestant(
                            "consilience, two views, float32", partial(cluster_by_consilience, single, metric, linked)
                        ),
                    ],
                    repeats if n < 5_000 else min(repeats, 3),  # larger tables are slow
                    partial(read_nmi, y),
                )
                yield f"{linked} linkage, {metric}: {n:,} entities, views of {N_COLUMNS} columns", table


def cluster_by_scipy(X: np.ndarray, metric: str, linked: str) -> np.ndarray:
    return fcluster(linkage(pdist(X, metric), linked), N_CLUSTERS, "maxclust")


def cluster_by_consilience(views: Views, metric: str, linked: str) -> np.ndarray:
    return MultiViewAgglomerative(N_CLUSTERS, linkage=linked, metric=metric).fit_predict(views)
