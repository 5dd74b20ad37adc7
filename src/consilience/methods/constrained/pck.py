"""Pairwise constrained k-means of a single view, and parts that constrained k-means of several views shares."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from functools import partial
from typing import Any, ClassVar, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from ..._saving import save_as
from ..._warnings import find_stack_level
from ...arrays import (
    Seed,
    add_label_sums,
    is_sparse,
    make_generator,
    map_chunks,
    split_into_chunks,
    take_rows,
    to_numpy,
    use_threads,
)
from ...data import Constraints, Table, Views
from ...divergences import SquaredEuclidean
from ...rows import ViewRows
from ..common.constraint_checks import SOFT, check_constraints, get_entity_ids, resolve_constraints, warn_of_conflicts
from ..common.docs import share_docs
from ..common.input_checks import (
    check_n_clusters,
    check_views,
    store_input_features,
    validate_blocks,
    warn_about_empty_clusters,
    warn_if_not_converged,
    write_labels,
)
from ..common.run import Attempt, choose_best_attempt, draws_starts, progress
from ..common.starts import check_init_labels
from ..common.validation import StrOptions, check_parameters, share_constraints
from .cluster_metrics import METRICS, ClusterMetric
from .neighborhoods import START_CHOICES, choose_first_centers
from .pairwise import (
    ConstrainedState,
    InfeasibleConstraintsError,
    LinkedView,
    iterate_constrained_kmeans,
    run_until_settled,
)

EMPTY_REMEDY = "lower n_clusters, or check the must-links"


@share_docs
class ConstrainedKMeansMixin(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin):
    """Methods that follow from `transform`, which returns the cost of each entity in each cluster."""

    n_clusters: int

    def score(self, X: Any, y: Any = None) -> float:  # noqa: ARG002
        """Return minus the cost of these entities, so that higher is better.

        %(score_parameters)s

        Returns
        -------
        float
            Minus the sum of the costs in the cheapest clusters.
        """
        return -float(self.transform(X).min(axis=1).sum())

    @property
    def _n_features_out(self) -> int:
        return self.n_clusters

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = []
        return tags


@share_docs
@save_as("pck-means")
class PCKMeans(ConstrainedKMeansMixin, BaseEstimator):
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

    views: ClassVar[None] = None  #: None, because there is only one view
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **share_constraints("n_clusters", "n_init", "max_iter", "tol", "random_state", "n_jobs", "verbose"),
        "init": [StrOptions(set(START_CHOICES)), "array-like"],
        "order": [StrOptions({"random", "index"})],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        init: Any = "largest",
        order: Literal["random", "index"] = "random",
        n_init: int = 1,
        max_iter: int = 300,
        tol: float = 0.0,
        random_state: Seed = None,
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
        """Return the metric of all clusters before anything is learned."""
        return METRICS["identity"](self.n_clusters, problem.view.X.shape[1])

    def _link_rows(self, rows: ViewRows, links: Constraints, ids: np.ndarray | None) -> LinkedView:  # noqa: ARG002
        """Return the rows with their constraints; `ids` name the entities in messages."""
        return LinkedView(rows, links.must, links.cannot, uses_length=False)

    @check_parameters
    def fit(self, X: Any, y: Any = None, *, constraints: Constraints | None = None) -> Self:  # noqa: ARG002
        """Cluster the entities.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_entities, n_columns), or Views with one view
            The data.
        %(y)s
        %(constraints)s

        %(returns_self_interruptible)s
        """
        views = check_views(self, X, reset=True)
        rows = self._select_rows(views)
        check_n_clusters(self.n_clusters, len(views))
        ids = get_entity_ids(X, views)
        links = resolve_constraints(check_constraints(constraints), views, ids, None)
        problem = self._link_rows(rows, links, ids)
        with use_threads(self.n_jobs):
            best, interrupted = choose_best_attempt(self._attempt_starts(problem, links))
        state: ConstrainedState = best.result
        store_input_features(self, X, views)
        self.labels_ = state.labels
        self.cluster_centers_ = state.centers
        self.cost_ = state.cost
        self.n_violations_ = state.n_violations
        self.input_constraints_ = links
        self.n_iter_, self.converged_ = best.run.n_iter, best.run.converged
        self.history_ = Table.from_rows(best.run.history)
        self._metric = state.metric
        if interrupted:
            raise KeyboardInterrupt("stopped early: the model holds the best result so far")
        warn_of_conflicts(links.conflicts, links.must.pairs, ids, SOFT)
        warn_if_not_converged(self)
        warn_about_empty_clusters(self.labels_, self.n_clusters, EMPTY_REMEDY)
        warn_of_inexact_farthest(state)
        return self

    def _attempt_starts(self, problem: LinkedView, links: Constraints) -> Iterator[Attempt]:
        """Run from one start after the other, each with its own random generator."""
        n_runs = self.n_init if draws_starts(self.init) else 1
        n_infeasible = 0
        metric = self._first_metric(problem)
        with progress(type(self).__name__, n_runs, bool(self.verbose)) as show:
            for i, rng in enumerate(make_generator(self.random_state).spawn(n_runs)):
                if draws_starts(self.init):
                    centers = choose_first_centers(problem.view, links, links, self.n_clusters, self.init, rng)
                    labels = None
                else:
                    centers, labels = parse_start(self.init, problem.view, self.n_clusters)
                order = rng.permutation if self.order == "random" else np.arange
                states = iterate_constrained_kmeans(problem, metric, centers, order, labels)
                try:
                    finished = run_until_settled(problem, states, order, self.max_iter, self.tol, partial(show, i))
                except InfeasibleConstraintsError:
                    n_infeasible += 1
                    show.finish(i)
                    if n_infeasible == n_runs:
                        raise
                    continue
                show.finish(i)
                yield Attempt(finished, finished.state, finished.state.cost)

    def predict(self, X: Any, *, out: Any = None) -> np.ndarray:
        """Assign each entity to the nearest cluster by its metric; constraints play no part.

        %(predict_parameters)s
        %(out)s

        %(returns_out)s
        """
        return write_labels(self.transform(X).argmin(axis=1), out)

    def transform(self, X: Any) -> np.ndarray:
        """Return the cost of each entity in each cluster: squared distance by its metric, less the log-determinant.

        %(predict_parameters)s

        Returns
        -------
        ndarray of shape (n_entities, n_clusters)
            The costs.
        """
        check_is_fitted(self)
        rows = self._select_rows(check_views(self, X, reset=False), self.cluster_centers_)
        with use_threads(self.n_jobs):
            return compute_costs(rows, self._metric, self.cluster_centers_)

    def _select_rows(self, views: Views, centers: np.ndarray | None = None) -> ViewRows:
        """Return the prepared rows of the only view."""
        if views.n_views > 1:
            names = ", ".join(map(repr, views.names))
            raise ValueError(
                f"{type(self).__name__} clusters one view, got {views.n_views} ({names}): use "
                "MultiViewConstrainedKMeans, or choose one with views[['name']]"
            )
        (rows,) = collect_present_rows(views).values()
        return prepare_euclidean_rows(rows, centers)


def collect_present_rows(views: Views) -> dict[str, Any]:
    """Return the rows of the entities that have each view, as numpy arrays or CSR."""
    rows = {}
    for name, (X, is_present) in validate_blocks(views).items():
        block, present = (X if is_sparse(X) else to_numpy(X)), to_numpy(is_present)
        rows[name] = block if present.all() else take_rows(block, np.flatnonzero(present))
    return rows


def prepare_euclidean_rows(X: Any, centers: np.ndarray | None = None) -> ViewRows:
    """Prepare rows, none of them missing, for squared Euclidean distances."""
    return SquaredEuclidean().prepare(X, np.ones(X.shape[0], bool), centers)


def compute_costs(rows: ViewRows, metric: ClusterMetric, centers: np.ndarray) -> np.ndarray:
    """Compute the cost of each row in each cluster: (n, k)."""
    return np.concatenate(list(map_chunks(metric.measure(rows, centers), split_into_chunks(rows.X))))


def parse_start(init: Any, view: ViewRows, n_clusters: int, name: str = "X") -> tuple[np.ndarray, np.ndarray | None]:
    """Return the centers that a user gave as start, or the labels with their means; responsibilities become labels."""
    values, shape = to_numpy(init), view.X.shape
    if values.dtype.kind not in "iuf":
        raise ValueError(f"init for view {name!r} holds no numbers: give centers, labels or responsibilities")
    if not np.isfinite(values).all():
        raise ValueError(f"init for view {name!r} holds NaN or infinity: give finite numbers")
    if values.shape == (shape[0], n_clusters) != (n_clusters, shape[1]):
        values = values.argmax(axis=1)
    if values.ndim == 1:
        labels = check_init_labels(values, shape[0], n_clusters)
        sums = add_label_sums(view.X, labels, np.zeros((n_clusters, shape[1])))
        counts = np.bincount(labels, minlength=n_clusters)
        overall_mean = sums.sum(axis=0) / len(labels)  # for empty clusters
        return np.where(counts[:, None] > 0, sums / np.maximum(counts, 1)[:, None], overall_mean), labels
    if values.shape != (n_clusters, shape[1]):
        raise ValueError(
            f"init for view {name!r} has shape {values.shape}: give centers {(n_clusters, shape[1])}, {shape[0]} "
            f"labels, or responsibilities {(shape[0], n_clusters)}"
        )
    return values.astype(np.float64), None


def warn_of_inexact_farthest(state: ConstrainedState, where: str = "") -> None:
    """Warn if the search for the two farthest rows was cut short."""
    for pair in state.penalties.farthest or []:
        if pair.bound > pair.square:
            warnings.warn(
                f"the search for the two farthest entities{where} was cut short because it would take too long: others "
                f"may be up to {(pair.bound / pair.square) ** 0.5 - 1:.0%} farther apart, and cannot-links should cost "
                "slightly more. The search is short in fewer columns; PCKMeans and penalty='unit' do not need it",
                UserWarning,
                stacklevel=find_stack_level(),
            )
            return
