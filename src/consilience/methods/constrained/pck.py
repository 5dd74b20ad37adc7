"""Pairwise constrained k-means."""

from __future__ import annotations

from typing import Any, Literal

from ..._saving import save_as
from ..common.docs import share_docs
from .base import BaseConstrainedKMeans


@share_docs
@save_as("pck-means")
class PCKMeans(BaseConstrainedKMeans):
    """Pairwise constrained k-means (Basu, Banerjee & Mooney 2004).

    Minimizes the squared distances of entities from the centers of their clusters plus the weights of the violated
    constraints: a constraint may be violated at a price. In every round the entities that have constraints are visited
    one by one, and each moves to the cheapest cluster given the clusters of the others; then centers move to the means.
    Without constraints this is ordinary k-means.

    Parameters
    ----------
    %(n_clusters)s
    init : {'largest', 'farthest'}, centers, labels or responsibilities, default='largest'
        Where to start: from the means of the groups that must-links tie together. Of more than `n_clusters` groups,
        take the largest, as in the paper, or with 'farthest' those that are large and far from each other, which is
        often much better because the largest may belong to one cluster. If there are fewer groups, an entity that
        cannot-links separate from all of them comes next, and the rest as in k-means++. Given centers
        (n_clusters, n_columns) or labels (n_entities,), there is only one start.
    order : {'random', 'index'}, default='random'
        Order in which entities are visited.
    %(n_init)s
        They differ in the order of visits, and in the centers if there are too few groups.
    %(max_iter)s
    tol : float, default=0.0
        Stop when the cost falls by no more than this share of itself; 0: when no entity moves.
    %(random_state)s
    %(n_jobs)s
    %(verbose)s

    Attributes
    ----------
    %(labels_)s
    cluster_centers_ : ndarray of shape (n_clusters, n_columns)
        The centers.
    cost_ : float
        Squared distances plus the weights of violated constraints.
    n_violations_ : int
        Number of violated constraints.
    input_constraints_ : Constraints
        The constraints given to `fit`, by position.
    history_ : Table
        Objective and number of violations per round.
    %(n_iter_)s
    %(n_features_in_)s

    See Also
    --------
    MPCKMeans : also learns the distance metric.
    MultiViewConstrainedKMeans : several views, partly mapped to each other.

    Notes
    -----
    Weights are in the units of squared distances, as in the paper, so the result depends on the units of the data: if
    the data are divided by 1000, constraints have a million times as much weight. Scale the columns (scikit-learn's
    StandardScaler) or the weights (``10 * constraints``). Without constraints the units do not matter, and with
    `MPCKMeans` they never do. In a pipeline: ``pipeline.fit(X, pckmeans__constraints=constraints)``, or with
    scikit-learn's metadata routing ``PCKMeans().set_fit_request(constraints=True)`` and
    ``pipeline.fit(X, constraints=constraints)``.

    Examples
    --------
    Four groups; the constraints say that left and right should be separated, not top and bottom.

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
        order: Literal["random", "index"] = "random",
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
