"""Constrained k-means that learns the distance metric."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np

from ..._saving import save_as
from ...arrays import Seed, is_sparse
from ...data import Constraints
from ...rows import ViewRows
from ..common.docs import share_docs
from ..common.validation import StrOptions
from .cluster_metrics import METRICS, ClusterMetric
from .pairwise import LinkedView
from .pck import PCKMeans


@share_docs
@save_as("mpck-means")
class MPCKMeans(PCKMeans):
    """Pairwise constrained k-means with a learned metric (Bilenko, Basu & Mooney 2004).

    Like `PCKMeans`, but each cluster has its own metric, a weight per column or a whole matrix, which is learned from
    its entities and from the violated constraints. A violated must-link costs more the farther its ends are apart, a
    violated cannot-link costs more the closer they are.

    Parameters
    ----------
    %(n_clusters)s
    metric : {'diagonal', 'full', 'identity'}, default='diagonal'
        What is learned: a weight per column, a matrix (dense data only), or nothing.
    shared_metric : bool, default=False
        Whether all clusters share one metric; by default each has its own.
    penalty : {'distance', 'unit'}, default='distance'
        Cost of a violated constraint: its weight times a factor that depends on the distance between its ends, or its
        weight. With ``metric='identity'`` and ``penalty='unit'`` this is `PCKMeans`.
    init : {'farthest', 'largest'}, centers, labels or responsibilities, default='farthest'
        Where to start, as in `PCKMeans`.
    order : {'random', 'index'}, default='random'
        Order in which entities are visited.
    %(n_init)s
    %(max_iter)s
    tol : float, default=0.0
        Stop when for ten rounds the cost, in units in which the data have variance 1, has not fallen by more than this
        share of itself.
    %(random_state)s
    %(n_jobs)s
    %(verbose)s

    Attributes
    ----------
    %(labels_)s
    cluster_centers_ : ndarray of shape (n_clusters, n_columns)
        The centers.
    metrics_ : ndarray of shape (n_clusters, n_columns) or (n_clusters, n_columns, n_columns)
        The metric of each cluster: weights of the columns, or matrices.
    cost_ : float
        Squared distances by the metrics, less their log-determinants, plus the cost of violated constraints.
    n_violations_ : int
        Number of violated constraints.
    input_constraints_ : Constraints
        The constraints given to `fit`, by position.
    history_ : Table
        Objective and number of violations per round.
    %(n_iter_)s
    %(n_features_in_)s

    Notes
    -----
    The result does not depend on the units of the data. The paper starts from the identity as the metric of every
    cluster; here it is the identity in units in which the columns have a mean variance of 1. The first assignment is
    the same from both. They differ where a cluster of one entity keeps its first metric, and with ``penalty='unit'``,
    where weights are in units of that variance in the first round. With ``metric='identity'`` and ``penalty='unit'``
    nothing is learned, and weights are in the units of squared distances, as in `PCKMeans`.

    The penalty of a cannot-link depends on the distance of the two entities that are farthest apart under the metric.
    They are found exactly by a search among outlying entities; if even that would take too long, a warning says how far
    off the distance may be. If the scatter of a cluster is nearly zero in some direction, a small amount is added in
    all directions; a cluster with zero scatter keeps its metric. Because the farthest pair changes with the metric, the
    cost may rise occasionally; if the rounds do not settle, the one of lowest cost is kept.

    Examples
    --------
    >>> import consilience as cs
    >>> views, y = cs.datasets.make_four_quadrants(random_state=0)
    >>> constraints = cs.Constraints.sample(y, 20, random_state=0)
    >>> model = cs.MPCKMeans(n_clusters=2, random_state=0).fit(views["a"], constraints=constraints)
    >>> bool((model.metrics_[:, 0] > model.metrics_[:, 1]).all())  # the first column matters more than the second
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **PCKMeans._parameter_constraints,
        "metric": [StrOptions(set(METRICS))],
        "shared_metric": ["boolean"],
        "penalty": [StrOptions({"distance", "unit"})],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        metric: Literal["diagonal", "full", "identity"] = "diagonal",
        shared_metric: bool = False,
        penalty: Literal["distance", "unit"] = "distance",
        init: Any = "farthest",
        order: Literal["random", "index"] = "random",
        n_init: int = 1,
        max_iter: int = 300,
        tol: float = 0.0,
        random_state: Seed = None,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        super().__init__(
            n_clusters,
            init=init,
            order=order,
            n_init=n_init,
            max_iter=max_iter,
            tol=tol,
            random_state=random_state,
            n_jobs=n_jobs,
            verbose=verbose,
        )
        self.metric = metric
        self.shared_metric = shared_metric
        self.penalty = penalty

    @property
    def metrics_(self) -> np.ndarray:
        if not hasattr(self, "_metric"):
            raise AttributeError("this MPCKMeans is not fitted yet: call fit first")
        return self._metric.values

    def _first_metric(self, problem: LinkedView) -> ClusterMetric:
        X = problem.view.X
        if self.metric == "full" and is_sparse(X):
            raise ValueError(
                f"metric='full' needs dense rows, got a sparse matrix {X.shape}: use metric='diagonal', or reduce the "
                "data first (scikit-learn's TruncatedSVD)"
            )
        return METRICS[self.metric](self.n_clusters, X.shape[1], self.shared_metric, problem.variance)

    def _link_rows(self, rows: ViewRows, links: Constraints, ids: np.ndarray | None) -> LinkedView:  # noqa: ARG002
        return LinkedView(rows, links.must, links.cannot, uses_length=self.penalty == "distance")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.metric != "full"
        return tags
