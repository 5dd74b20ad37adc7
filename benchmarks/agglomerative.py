"""MultiViewAgglomerative on two views against scipy's linkage of one, so that ours does twice the work and more.

scipy gets the first view alone: its distances (`pdist`) and its dendrogram, on one core, which is all it uses. Ours
computes the distances of both views on all cores, merges on one, and says at the end what each view thinks of the
clusters. scikit-learn's AgglomerativeClustering goes through scipy for these linkages, and is left out.
The column `NMI` is that of ten clusters with the truth (of one seed: a hint, no ranking).
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
from consilience.metrics import normalized_mutual_info_score

from .harness import Contestant, compare

N_CLUSTERS, N_COLUMNS = 10, (50, 50)


def run(small: bool, repeats: int) -> Iterator[tuple[str, Table]]:
    for n in (500, 2_000) if small else (2_000, 5_000, 10_000):
        views, y = make_gaussian_views(n, n_clusters=N_CLUSTERS, n_features=N_COLUMNS, separation=8, random_state=0)
        single = views.map(lambda block: block.astype(np.float32))
        for metric in ("cosine", "euclidean"):
            for linked in LINKAGES:
                table = compare(
                    [
                        Contestant("scipy, one view", partial(scipy_labels, views["view0"], metric, linked)),
                        Contestant("consilience, two views", partial(our_labels, views, metric, linked)),
                        Contestant("consilience, two views, float32", partial(our_labels, single, metric, linked)),
                    ],
                    repeats if n < 5_000 else min(repeats, 3),  # tables of this size are slow to fill
                    lambda labels, y=y: {"NMI": f"{normalized_mutual_info_score(y, labels):.3f}"},
                )
                yield f"{linked} linkage, {metric}: {n:,} entities, views of {N_COLUMNS} columns", table


def scipy_labels(X: np.ndarray, metric: str, linked: str) -> np.ndarray:
    return fcluster(linkage(pdist(X, metric), linked), N_CLUSTERS, "maxclust")


def our_labels(views: Views, metric: str, linked: str) -> np.ndarray:
    return MultiViewAgglomerative(N_CLUSTERS, linkage=linked, metric=metric).fit_predict(views)
