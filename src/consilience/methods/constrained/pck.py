"""k-means with pairs that belong together and pairs that do not."""

from __future__ import annotations

from typing import Any

from ..._saving import save_as
from .base import BaseConstrainedKMeans
from .cluster_metrics import ClusterMetric, IdentityMetric
from .linked import LinkedView


@save_as("pck-means")
class PCKMeans(BaseConstrainedKMeans):
    """Pairwise constrained k-means (Basu, Banerjee & Mooney 2004).

    The squared distances of entities from the centres of their clusters, plus the weight of every constraint that is
    violated, are made small: constraints are wishes, each with its price. In every round the entities that have
    constraints are visited one by one, and each takes the cluster that is cheapest given where the others are; then
    centres move to the means. Without constraints it is ordinary k-means.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    init : {'largest', 'farthest'}, centres, labels or responsibilities, default='largest'
        Where to start: from the means of the groups that must-links tie together. Of more than `n_clusters` groups the
        largest, as in the paper, or those that are large and far from each other, which is often much better: the
        largest may belong to one cluster. If there are fewer, an entity that cannot-links keep
        apart from all of them comes next, and the rest as in k-means++. Given centres (n_clusters, n_columns) or labels
        (n_entities,), the run is made once.
    order : {'random', 'index'}, default='random'
        In which order entities are visited.
    n_init : int, default=1
        Number of starts; the one of lowest objective is kept. They differ in the order of visits, and where groups
        are too few.
    max_iter : int, default=300
        Most rounds a start may take.
    tol : float, default=0.0
        Stop when the objective falls by no more than this share of itself; 0: when nobody moves.
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
    objective_ : float
        Squared distances plus the weights of violated constraints.
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

    See Also
    --------
    MPCKMeans : learns how to measure distances, too.
    MultiViewConstrainedKMeans : several views, partly mapped to each other.

    Notes
    -----
    Weights are in the units of squared distances, as in the paper, so the result depends on the units of the data:
    divided by 1000, the data give constraints a million times as much weight. Scale the columns (scikit-learn's
    StandardScaler), or the weights (``10 * constraints``). Without constraints the units do not matter, and with
    `MPCKMeans` they never do. In a pipeline: ``pipeline.fit(X, pckmeans__constraints=constraints)``, or with
    scikit-learn's metadata routing ``PCKMeans().set_fit_request(constraints=True)`` and
    ``pipeline.fit(X, constraints=constraints)``.

    Examples
    --------
    Four groups: constraints say that left and right are meant, not above and below.

    >>> import consilience as cs
    >>> views, y = cs.datasets.make_four_quadrants(random_state=0)
    >>> constraints = cs.Constraints.sample(y, 20, random_state=0)
    >>> model = cs.PCKMeans(n_clusters=2, init="farthest", random_state=0).fit(views["a"], constraints=constraints)
    >>> round(cs.metrics.pairwise_scores(y, model.labels_).f, 2)
    1.0
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        init: Any = "largest",
        order: str = "random",
        n_init: int = 1,
        max_iter: int = 300,
        tol: float = 0.0,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.n_clusters = n_clusters
        self.init = init
        self.order = order
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _first_metric(self, problem: LinkedView) -> ClusterMetric:
        return IdentityMetric(self.n_clusters, problem.view.X.shape[1])

    @property
    def _measured(self) -> bool:
        return False
