"""Constrained k-means that learns how to measure distances."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from ..._saving import save_as
from ...arrays import CSR
from ..common.validation import StrOptions
from .base import BaseConstrainedKMeans
from .cluster_metrics import METRICS, ClusterMetric
from .linked import LinkedView


@save_as("mpck-means")
class MPCKMeans(BaseConstrainedKMeans):
    """Pairwise constrained k-means with a metric that is learned (Bilenko, Basu & Mooney 2004).

    As `PCKMeans`, but each cluster measures distances in its own way, by a weight for each column or a whole matrix,
    which is learned from its entities and from the constraints that are violated. A violated must-link costs the more
    the farther its ends are apart, a violated cannot-link the more the nearer they are.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    metric : {'diagonal', 'full', 'identity'}, default='diagonal'
        What is learned: a weight for each column, a matrix (dense data only), or nothing.
    shared_metric : bool, default=False
        Whether all clusters share one metric; by default each has its own.
    penalty : {'distance', 'unit'}, default='distance'
        What a violated constraint costs: its weight times a factor that depends on how far its ends are apart, or its
        weight. With ``metric='identity'`` and ``penalty='unit'`` this is `PCKMeans`.
    init : {'farthest', 'largest'}, centres, labels or responsibilities, default='farthest'
        Where to start, as in `PCKMeans`.
    order : {'random', 'index'}, default='random'
        In which order entities are visited.
    n_init : int, default=1
        Number of starts; the one of lowest objective is kept.
    max_iter : int, default=300
        Most rounds a start may take.
    tol : float, default=0.0
        Stop when for ten rounds the objective, in units in which the data have variance 1, has not fallen by more than
        this share of itself.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the starts and of the order.
    n_jobs : int, default=None
        Threads that share the rows; None and -1 take all cores. The result does not depend on it.
    verbose : bool, default=False
        Show progress.

    Attributes
    ----------
    labels_ : ndarray of shape (n_entities,)
        The cluster of each entity.
    cluster_centers_ : ndarray of shape (n_clusters, n_columns)
        The centres.
    metrics_ : ndarray of shape (n_clusters, n_columns) or (n_clusters, n_columns, n_columns)
        The metric of each cluster: weights of the columns, or matrices.
    objective_ : float
        Squared distances by the metrics, less their log-determinants, plus what violated constraints cost.
    n_violations_ : int
        Number of constraints that are violated.
    given_ : Constraints
        Those given, by position.
    history_ : Table
        One row a round: objective and violations.
    n_iter_, converged_ : int, bool
        Rounds taken, and whether they settled before `max_iter`.
    n_features_in_, feature_names_in_ : int, ndarray
        Columns, and their names where they had any.

    Notes
    -----
    The result does not depend on the units of the data. The paper starts from the identity as the metric of every
    cluster; here it is the identity in units in which the columns have a mean variance of 1. The first assignment is
    the same from both. A difference remains where a cluster of one entity keeps its first metric, and with
    ``penalty='unit'``, where weights are in units of that variance in the first round. With ``metric='identity'`` and
    ``penalty='unit'`` nothing is learned, and weights are in the units of squared distances, as in `PCKMeans`.

    Cannot-links are paid for by the distance of the two entities farthest apart under the metric. These are found
    exactly, by a search that looks only at entities far out; should even that be too long, a warning says how far off
    the distance may be. Where the scatter of a cluster has next to no extent in some direction, a little is added in
    all directions; a cluster whose scatter is nothing keeps its metric. As the farthest two change with the metric, the
    objective may rise now and then; if rounds do not settle, the one of lowest objective is kept.

    Examples
    --------
    >>> import consilience as cs
    >>> views, y = cs.datasets.make_four_quadrants(random_state=0)
    >>> constraints = cs.Constraints.sample(y, 20, random_state=0)
    >>> model = cs.MPCKMeans(n_clusters=2, random_state=0).fit(views["a"], constraints=constraints)
    >>> bool((model.metrics_[:, 0] > model.metrics_[:, 1]).all())  # left and right matter more than above and below
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BaseConstrainedKMeans._parameter_constraints,
        "metric": [StrOptions(set(METRICS))],
        "shared_metric": ["boolean"],
        "penalty": [StrOptions({"distance", "unit"})],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        metric: str = "diagonal",
        shared_metric: bool = False,
        penalty: str = "distance",
        init: Any = "farthest",
        order: str = "random",
        n_init: int = 1,
        max_iter: int = 300,
        tol: float = 0.0,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.n_clusters = n_clusters
        self.metric = metric
        self.shared_metric = shared_metric
        self.penalty = penalty
        self.init = init
        self.order = order
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @property
    def metrics_(self) -> np.ndarray:
        if not hasattr(self, "_metric"):
            raise AttributeError("this MPCKMeans is not fitted yet: call fit first")
        return self._metric.values

    def _first_metric(self, problem: LinkedView) -> ClusterMetric:
        X = problem.view.X
        if self.metric == "full" and isinstance(X, CSR):
            raise ValueError(
                f"metric='full' needs dense rows, got a sparse matrix {X.shape}: use metric='diagonal', or reduce the "
                "data first (scikit-learn's TruncatedSVD)"
            )
        return METRICS[self.metric](self.n_clusters, X.shape[1], self.shared_metric, problem.variance)

    @property
    def _measured(self) -> bool:
        return self.penalty == "distance"

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.metric != "full"
        return tags
