"""The shell of both constrained k-means of one view: check, start, run, store."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    ClusterMixin,
    TransformerMixin,
)
from sklearn.utils.validation import check_is_fitted

from ...arrays import CSR, add_label_sums, cut_into_chunks, make_generator, map_chunks, take_rows, to_numpy, use_threads
from ...data import Constraints, Table, Views
from ...divergences import SquaredEuclidean, ViewRows
from ..common.constraint_checks import check_constraints, get_entity_ids, resolve_constraints, warn_of_conflicts
from ..common.input_checks import (
    check_n_clusters,
    check_views,
    store_input_features,
    validate_blocks,
    warn_about_empty_clusters,
    warn_if_not_converged,
)
from ..common.progress import progress
from ..common.run import Attempt, choose_best_attempt
from ..common.starts import check_init_labels
from ..common.validation import RANDOM_STATE, Interval, StrOptions, check_parameters
from .cluster_metrics import ClusterMetric
from .linked import LinkedView, Order
from .neighbourhoods import START_CHOICES, choose_first_centers
from .pairwise import ConstrainedState, iterate_constrained_kmeans, run_until_settled


class BaseConstrainedKMeans(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, BaseEstimator, ABC):
    """Everything but how clusters measure distances, and what constraints cost."""

    views: ClassVar[None] = None  # there is one
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "init": [StrOptions(set(START_CHOICES)), "array-like"],
        "order": [StrOptions({"random", "index"})],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "random_state": RANDOM_STATE,
        "n_jobs": [Integral, None],
        "verbose": ["verbose"],
    }

    n_clusters: int
    init: Any
    order: str
    n_init: int
    max_iter: int
    tol: float
    random_state: Any
    n_jobs: int | None
    verbose: bool

    @abstractmethod
    def _first_metric(self, problem: LinkedView) -> ClusterMetric:
        """Metric of all clusters before anything is learned."""

    @property
    @abstractmethod
    def _measured(self) -> bool:
        """Whether a constraint's price depends on how far its ends are apart."""

    @check_parameters
    def fit(self, X: Any, y: Any = None, *, constraints: Any = None) -> Any:  # noqa: ARG002
        """Cluster the entities.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_entities, n_columns), or Views with one view
            The data.
        y : ignored
            Here for scikit-learn.
        constraints : Constraints, optional
            Pairs that belong together and pairs that do not.

        Returns
        -------
        self
            The fitted estimator. After Ctrl-C it holds the best result so far.
        """
        views = check_views(self, X, reset=True)
        rows = select_only_view(self, views)
        check_n_clusters(self.n_clusters, len(views))
        ids = get_entity_ids(X, views)
        given = resolve_constraints(check_constraints(constraints), views, ids, None)
        problem = LinkedView(rows, given.must, given.cannot, self._measured)
        with use_threads(self.n_jobs):
            best, interrupted = choose_best_attempt(self._attempts(problem, given))
        state: ConstrainedState = best.result
        store_input_features(self, X, views)
        self.labels_ = state.labels
        self.cluster_centers_ = state.centers
        self.objective_ = state.cost
        self.n_violations_ = state.n_violations
        self.given_ = given
        self.n_iter_, self.converged_ = best.run.n_iter, best.run.converged
        self.history_ = Table.from_rows(best.run.history)
        self._metric = state.metric
        if interrupted:
            raise KeyboardInterrupt("stopped early: the model holds the best result so far")
        self._warn(ids, state)
        return self

    def _warn(self, ids: np.ndarray | None, state: ConstrainedState) -> None:
        warn_of_conflicts(self.given_.conflicts, ids)
        warn_if_not_converged(self)
        warn_about_empty_clusters(self.labels_, self.n_clusters, "lower n_clusters, or check the must-links")
        warn_of_inexact_farthest(state)

    def _attempts(self, problem: LinkedView, given: Constraints) -> Any:
        """One restart after the other, each from centres and a child generator of its own."""
        n_runs = self.n_init if isinstance(self.init, str) else 1
        metric = self._first_metric(problem)
        with progress(type(self).__name__, n_runs, bool(self.verbose)) as show:
            for i, rng in enumerate(make_generator(self.random_state).spawn(n_runs)):
                centres, labels = self._start(problem, given, rng)
                order = choose_visit_order(self.order, rng)
                states = iterate_constrained_kmeans(problem, metric, centres, order, labels)
                done = run_until_settled(problem, states, order, self.max_iter, self.tol, partial(show, i))
                yield Attempt(done, done.state, done.state.cost)

    def _start(
        self, problem: LinkedView, given: Constraints, rng: np.random.Generator
    ) -> tuple[np.ndarray, np.ndarray | None]:
        """Centres, and labels if these are given."""
        if isinstance(self.init, str):
            return choose_first_centers(problem.view, given, given, self.n_clusters, self.init, rng), None
        return parse_start(self.init, problem.view, self.n_clusters)

    def predict(self, X: Any) -> np.ndarray:
        """Give each entity to the cluster that is nearest by its metric; constraints play no part.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_entities, n_columns), or Views
            Entities, seen before or not.

        Returns
        -------
        ndarray of shape (n_entities,)
            The cluster of each entity.
        """
        return self.transform(X).argmin(axis=1)

    def transform(self, X: Any) -> np.ndarray:
        """What each entity costs in each cluster: the squared distance by its metric, less the log-determinant.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_entities, n_columns), or Views
            Entities, seen before or not.

        Returns
        -------
        ndarray of shape (n_entities, n_clusters)
            The costs.
        """
        check_is_fitted(self)
        rows = select_only_view(self, check_views(self, X, reset=False), self.cluster_centers_)
        with use_threads(self.n_jobs):
            return compute_costs(rows, self._metric, self.cluster_centers_)

    def score(self, X: Any, y: Any = None) -> float:  # noqa: ARG002
        """How well the clusters fit: minus what these entities cost, so that more is better.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_entities, n_columns), or Views
            Entities, seen before or not.
        y : ignored
            Here for scikit-learn.

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


def select_only_view(estimator: Any, views: Views, centres: np.ndarray | None = None) -> ViewRows:
    """The rows of the one view there may be, made ready; with centres, to be measured against those."""
    if views.n_views > 1:
        raise ValueError(
            f"{type(estimator).__name__} clusters one view, got {views.n_views} ({', '.join(map(repr, views.names))}): "
            "use MultiViewConstrainedKMeans, or choose one with views[['name']]"
        )
    (rows,) = collect_present_rows(views).values()
    return prepare_euclidean_rows(rows, centres)


def collect_present_rows(views: Views) -> dict[str, Any]:
    """The rows of the entities that have each view, of numpy's or our sparse kind."""
    found = {}
    for name, (X, present) in validate_blocks(views).items():
        rows, there = (X if isinstance(X, CSR) else to_numpy(X)), to_numpy(present)
        found[name] = rows if there.all() else take_rows(rows, np.flatnonzero(there))
    return found


def prepare_euclidean_rows(X: Any, centres: np.ndarray | None = None) -> ViewRows:
    """Rows made ready to be measured; all of them are there."""
    return SquaredEuclidean().prepare(X, np.ones(X.shape[0], bool), centres)


def compute_costs(rows: ViewRows, metric: ClusterMetric, centres: np.ndarray) -> np.ndarray:
    """What each row costs in each cluster: (n, k)."""
    return np.concatenate(list(map_chunks(metric.measure(rows, centres), cut_into_chunks(rows.X))))


def choose_visit_order(order: str, rng: np.random.Generator) -> Order:
    """In which order linked rows are visited: another in every round, or always by their number."""
    return rng.permutation if order == "random" else np.arange


def parse_start(init: Any, view: ViewRows, n_clusters: int, name: str = "X") -> tuple[np.ndarray, np.ndarray | None]:
    """Centres that a user gave, or labels with their means; responsibilities stand for labels."""
    values, shape = to_numpy(init), view.X.shape
    if values.dtype.kind not in "iuf":
        raise ValueError(f"init for view {name!r} holds no numbers: give centres, labels or responsibilities")
    if not np.isfinite(values).all():
        raise ValueError(f"init for view {name!r} holds NaN or infinity: give finite numbers")
    if values.shape == (shape[0], n_clusters) != (n_clusters, shape[1]):
        values = values.argmax(axis=1)
    if values.ndim == 1:
        labels = check_init_labels(values, shape[0], n_clusters)
        return compute_label_means(view, labels, n_clusters), labels
    if values.shape != (n_clusters, shape[1]):
        raise ValueError(
            f"init for view {name!r} has shape {values.shape}: give centres {(n_clusters, shape[1])}, {shape[0]} "
            f"labels, or responsibilities {(shape[0], n_clusters)}"
        )
    return values.astype(np.float64), None


def compute_label_means(view: ViewRows, labels: np.ndarray, n_clusters: int) -> np.ndarray:
    """The mean of each cluster; one of no rows gets the mean of all."""
    sums = add_label_sums(view.X, labels, np.zeros((n_clusters, view.X.shape[1])))
    counts = np.bincount(labels, minlength=n_clusters)
    everywhere = sums.sum(axis=0) / len(labels)
    return np.where(counts[:, None] > 0, sums / np.maximum(counts, 1)[:, None], everywhere)


def warn_of_inexact_farthest(state: ConstrainedState, where: str = "") -> None:
    """Say if the farthest pair of rows may not be the farthest."""
    for own in state.prices.farthest or []:
        if own.bound > own.square:
            warnings.warn(
                f"the two farthest entities{where} were not searched for to the end, for it would take too long: "
                f"others may be up to {(own.bound / own.square) ** 0.5 - 1:.0%} farther apart, and cannot-links should "
                "cost a little more. In fewer columns the search is short; PCKMeans and penalty='unit' do without it",
                UserWarning,
                stacklevel=5,
            )
            return
