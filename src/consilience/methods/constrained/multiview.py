"""Constrained clustering of views that are only partly mapped to each other."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
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
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from ..._saving import save_as
from ...arrays import CSR, make_generator, take_rows, use_threads
from ...data import Constraints, Table, Views, resolve_per_view
from ..common.constraint_checks import get_entity_ids, resolve_constraints, split_by_view, warn_of_conflicts
from ..common.input_checks import (
    check_n_clusters,
    check_views,
    store_agreement,
    store_input_features,
    warn_about_empty_clusters,
)
from ..common.progress import announce, progress
from ..common.run import LowestCostTracker, Run, run
from ..common.starts import split_init_by_view
from ..common.validation import RANDOM_STATE, Interval, StrOptions, check_parameters
from .base import collect_present_rows, compute_costs, parse_start, prepare_euclidean_rows, warn_of_inexact_farthest
from .cluster_metrics import METRICS, ClusterMetric, IdentityMetric
from .co_constrained import (
    ClosedConstraints,
    CoConstrainedState,
    MappedViews,
    ViewClusterer,
    ViewInstances,
    cluster_separately,
    iterate_co_constrained,
)
from .linked import LinkedView, Order
from .match import match_view_clusters, renumber_labels, vote_labels
from .neighbourhoods import START_CHOICES
from .pairwise import ConstrainedState
from .thresholds import USUAL, choose_threshold
from .transfer import TRANSFERS, Transfer

BASES = {"pck": "largest", "mpck": "farthest"}  # and how they start unless told otherwise


@save_as("constrained-view")
@dataclass(frozen=True, eq=False)
class FittedView:
    """What `predict` needs of a view: its clusters, and how many of its squared distances make one unit of variance."""

    centers: np.ndarray
    metric: ClusterMetric
    unit: float

    def costs(self, X: Any) -> np.ndarray:
        """What each row costs in each cluster, in units that are the same in all views: (n, k)."""
        return compute_costs(prepare_euclidean_rows(X, self.centers), self.metric, self.centers) / self.unit


@save_as("constrained-k-means")
class MultiViewConstrainedKMeans(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, BaseEstimator):
    """Constrained clustering across views that are only partly mapped to each other (Eaton, desJardins & Jacob 2010).

    Each view is clustered by constrained k-means. What is known of pairs of entities in one view is carried over to
    the others through the entities that have both: directly where a constraint's ends are such entities, and by
    propagation where such entities lie near its ends, with a weight that falls with their distance. Views take turns
    until what they hand on changes nothing. So a few constraints, given in any view, serve all of them, though most
    entities have one view only.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters, in every view.
    base : {'pck', 'mpck'}, default='pck'
        What clusters each view: `PCKMeans`, or `MPCKMeans`, which learns how to measure distances.
    transfer : {'propagate', 'direct', 'membership', 'none'}, default='propagate'
        What views hand on: constraints propagated to entities with several views; only constraints between such
        entities; whether any two of these are in one cluster now; or nothing, each view being alone.
    threshold : float, mapping of view to float, or 'auto', default=0.5
        The least weight of a constraint that is handed on: what is propagated farther counts as nothing. From about 0.9
        on nothing is propagated. ``'auto'`` chooses, for all views, the one under which constraints that are left out
        are kept best (cross-validation); see `thresholds_`.
    metric : {'diagonal', 'full'}, default='diagonal'
        What ``base='mpck'`` learns.
    init : {'largest', 'farthest'}, labels, centres, responsibilities or None, default=None
        Where the views start, as in `PCKMeans`; None takes ``'largest'`` for ``'pck'``, ``'farthest'`` for ``'mpck'``.
        Groups that given constraints tie together are kept whatever others say; constraints handed over by other views
        make them larger, unless stronger ones say otherwise. Given labels (n_entities,), or centres
        (n_clusters, n_columns) or responsibilities (n_entities, n_clusters) view by view in a dict, every round starts
        from these.
    order : {'random', 'index'}, default='random'
        Order in which the entities of a view are visited. ``'random'`` draws it from `random_state` and the values of
        the rows, so that the result does not depend on where they stand; ``'index'`` takes them as they stand.
    view_order : {'auto', 'given'}, default='auto'
        Order in which the views take turns. The paper does not say which comes first. ``'auto'`` starts with the view
        whose clusters are most compact when each is clustered alone, whatever the order of the views; ``'given'`` takes
        them as they come.
    max_iter : int, default=30
        Most rounds; a round clusters every view once. Some runs go to and fro for ever: of the later rounds that of
        lowest objective is then kept.
    tol : float, default=1e-6
        Stop when no view's objective, in units in which the view has variance 1, has changed by more than this, or
        this share of itself.
    views : dict of str to columns, optional
        If `fit` is given one array or frame: which of its columns make up which view (slices, positions or names).
    random_state : int, Generator, RandomState or None, default=None
        Seed of starts, order and cross-validation.
    n_jobs : int, default=None
        Threads that share the rows; None and -1 take all cores. The result does not depend on it.
    verbose : bool, default=False
        Show progress.

    Attributes
    ----------
    labels_ : ndarray of shape (n_entities,)
        The cluster of each entity: that which most of its views say, of several the nearest.
    view_labels_ : dict of str to ndarray of shape (n_entities,)
        The cluster that each view gives; -1 where the entity lacks it. Clusters are numbered so that views agree on
        the entities they share as far as they can.
    cluster_centers_ : dict of str to ndarray of shape (n_clusters, n_columns)
        The centres in each view.
    metrics_ : dict of str to ndarray
        The metric of each cluster in each view, as in `MPCKMeans`; of ones with ``base='pck'``.
    propagated_ : dict of str to Constraints
        What each view hands on to the others, between entities, with weights. ``propagated_[view].table()`` lists it,
        ``propagated_[view].precision(y)`` says how much of it is right where the classes are known.
    constraints_ : dict of str to Constraints
        What each view was clustered under in the last round: its own, what follows, and what it was handed.
    given_ : Constraints
        All that was given, between entities.
    thresholds_ : dict of str to float
        The thresholds used.
    objective_ : float
        The objectives of all views together; by view in `history_`.
    n_violations_ : int
        Number of constraints violated in the views, among those of `constraints_`.
    agreement_ : ndarray of shape (n_views, n_views)
        Share of the entities with both views that two views put into the same cluster.
    history_ : Table
        One row a round: objective in total and by view, violations, number of constraints handed on.
    n_iter_, converged_ : int, bool
        Rounds taken, and whether they settled before `max_iter`.
    n_features_in_, feature_names_in_ : int, ndarray
        Columns of all views together, and their names where all views came with names.

    Notes
    -----
    In many dimensions everything is far from everything, and nothing is propagated: reduce views first, for instance
    by ``PerView(SpectralFeatures(5))``. Entities that share a row of a view, as `align` makes of a mapping that is not
    one to one, are one point in that view; so are those that ``views[rows]`` takes twice.

    The result does not depend on the order of the views or the rows. Each step of the algorithm depends on an order:
    the views take turns, entities with constraints are visited one after the other, and starts are drawn at random. So
    views are sorted by how compact their clusters are, and the rows of each view by their values before they are
    shuffled; random draws are the same in each view. Two exceptions remain: ``order='index'`` and
    ``view_order='given'`` take rows and views as they stand, and where entities are equal in all their views, the one
    that stands first is visited first. Another seed gives another order of visits and other starts, and so may find
    other clusters.

    With ``base='mpck'`` the units of a view do not matter. With ``base='pck'`` they do, because the weights of
    constraints are in units of squared distances (see `PCKMeans`): standardise the views.

    Where many rows lie close together, in two or three columns, constraints propagate to a share of all pairs of mapped
    rows, and time and memory grow with the square of their number.

    Examples
    --------
    >>> import consilience as cs
    >>> views, y = cs.datasets.make_four_quadrants(mapped=0.5, random_state=0)
    >>> given = {name: views.present[:, v].nonzero()[0] for v, name in enumerate(views.names)}
    >>> constraints = {
    ...     name: cs.Constraints.sample(y[own], 20, random_state=0).renumbered(own) for name, own in given.items()
    ... }
    >>> model = cs.MultiViewConstrainedKMeans(n_clusters=2, random_state=0).fit(views, constraints=constraints)
    >>> round(cs.metrics.pairwise_scores(y, model.labels_).f, 1)
    1.0
    >>> model.propagated_["a"].precision(y).must_link > 0.95
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "base": [StrOptions(set(BASES))],
        "transfer": [StrOptions(set(TRANSFERS))],
        "threshold": [Interval(Real, 0, None, closed="neither"), StrOptions({"auto"}), dict, list, tuple],
        "metric": [StrOptions({"diagonal", "full"})],
        "init": [StrOptions(set(START_CHOICES)), dict, "array-like", None],
        "order": [StrOptions({"random", "index"})],
        "view_order": [StrOptions({"auto", "given"})],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "views": [dict, None],
        "random_state": RANDOM_STATE,
        "n_jobs": [Integral, None],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        base: str = "pck",
        transfer: str = "propagate",
        threshold: Any = 0.5,
        metric: str = "diagonal",
        init: Any = None,
        order: str = "random",
        view_order: str = "auto",
        max_iter: int = 30,
        tol: float = 1e-6,
        views: dict[str, Any] | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.n_clusters = n_clusters
        self.base = base
        self.transfer = transfer
        self.threshold = threshold
        self.metric = metric
        self.init = init
        self.order = order
        self.view_order = view_order
        self.max_iter = max_iter
        self.tol = tol
        self.views = views
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @check_parameters
    def fit(self, X: Any, y: Any = None, *, constraints: Any = None) -> MultiViewConstrainedKMeans:  # noqa: ARG002
        """Cluster the entities.

        Parameters
        ----------
        X : Views, mapping or sequence of blocks, or array-like of shape (n_entities, n_columns)
            The data; `consilience.align` makes Views of collections that are partly mapped to each other. A plain
            array is one view, or several if the argument `views` names groups of its columns.
        y : ignored
            Here for scikit-learn.
        constraints : mapping of view to Constraints, or Constraints, optional
            What is known of pairs of entities: in some views, or of the entities as such.

        Returns
        -------
        self
            The fitted estimator. After Ctrl-C it holds the result of the last whole round.
        """
        views = check_views(self, X, reset=True)
        check_n_clusters(self.n_clusters, len(views))
        rng = make_generator(self.random_state)
        mapped = self._mapped(views, rng)
        given, common = split_by_view(constraints, views.names)
        ids = get_entity_ids(X, views)
        common = resolve_constraints(common, views, ids, None)
        by_name = {name: resolve_constraints(own, views, ids, name) for name, own in given.items()}
        known = {name: restrict_to_view(by_name[name] | common, own) for name, own in mapped.views.items()}
        with use_threads(self.n_jobs):
            closed = self._closed(mapped, known, common)
            self._check_sparse(mapped, closed)
            base = self._base(mapped, rng)
            alone = {}
            if self.view_order == "auto" and len(mapped.views) > 1:
                alone = cluster_separately(mapped, base, closed)
                mapped = MappedViews({name: mapped.views[name] for name in alone})
                known = {name: known[name] for name in alone}
            thresholds = self._thresholds(mapped, base, known, rng)
            done = self._run(mapped, base, closed, thresholds, alone)
        store_input_features(self, X, views)
        self.thresholds_ = thresholds
        self.given_ = mapped.join_constraints(known, common).renumber(mapped.entities)
        self._store(views, mapped, done)
        if done.interrupted:
            raise KeyboardInterrupt("stopped early: the model holds the result of the last whole round")
        self._warn(mapped, done.state, self._conflicts(mapped, known, common), ids)
        return self

    @property
    def _transfer(self) -> Transfer:
        return TRANSFERS[self.transfer]

    def _mapped(self, views: Views, rng: np.random.Generator) -> MappedViews:
        """The rows of each view, and who they are; refuse what cannot be clustered, or has nothing to hand on."""
        blocks = collect_present_rows(views)
        keys = compute_content_keys(blocks, views.present) if self.order == "random" else {}
        seed = int(rng.integers(2**63))
        instances = {}
        for (name, X), row, present in zip(blocks.items(), views.rows.T, views.present.T, strict=True):
            instances[name] = number_distinct_rows(X, row, present, keys.get(name), seed)
            n_rows = instances[name].n_rows
            if n_rows < self.n_clusters:
                raise ValueError(
                    f"view {name!r} has {n_rows} entities (n_samples={n_rows}), fewer than "
                    f"n_clusters={self.n_clusters}: ask for fewer clusters, or leave the view out"
                )
        mapped = MappedViews(instances)
        if views.n_views > 1 and self._transfer.across and not any(map(len, mapped.targets.values())):
            raise ValueError(
                "no entity has two views, so nothing can be transferred between them: give consilience.align a "
                "mapping, Views whose ids meet, or cluster each by itself with transfer='none'"
            )
        return mapped

    def _check_sparse(self, mapped: MappedViews, given: Mapping[str, ClosedConstraints]) -> None:
        """Refuse what sparse views cannot do."""
        sparse = {name: own.view.X for name, own in mapped.views.items() if isinstance(own.view.X, CSR)}
        for name, X in sparse.items():
            if self._transfer.propagates and given[name].sound.size:
                raise ValueError(
                    f"view {name!r} is sparse {X.shape}: constraints propagate in dense views of few columns. Reduce "
                    "it first, PerView(SpectralFeatures()), or use transfer='direct'"
                )
            if self.base == "mpck" and self.metric == "full":
                raise ValueError(
                    f"view {name!r} is sparse {X.shape}, and metric='full' needs dense rows: use metric='diagonal', or "
                    "reduce the view first, PerView(SpectralFeatures())"
                )

    def _closed(
        self, mapped: MappedViews, known: Mapping[str, Constraints], common: Constraints
    ) -> dict[str, ClosedConstraints]:
        """Each view's constraints and what follows: from those of all views, or, if each is alone, from its own."""
        if not self._transfer.across:
            return {name: ClosedConstraints(own.closure(), Constraints()) for name, own in known.items()}
        return mapped.closed(known, common)

    def _conflicts(self, mapped: MappedViews, known: Mapping[str, Constraints], common: Constraints) -> np.ndarray:
        """Entities that are tied and kept apart; views that are alone cannot contradict each other."""
        if not self._transfer.across:
            return np.vstack([mapped.views[name].entity[own.conflicts] for name, own in known.items()])
        return mapped.conflicts(known, common)

    def _base(self, mapped: MappedViews, rng: np.random.Generator) -> ViewClusterer:
        """Return the clusterer of a single view; it makes the same random draws in every view and round."""
        order_seed, start_seed = rng.integers(2**63, size=2)
        centres = {}
        for name, own in self._given_starts(mapped).items():
            view = mapped.views[name].view
            centres[name] = parse_start(own, view, self.n_clusters, name)[0]
        order: Order = partial(draw_order, int(order_seed)) if self.order == "random" else np.arange
        return ViewClusterer(
            n_clusters=self.n_clusters,
            metric=self._first_metric,
            uses_length=self.base == "mpck",
            start=self.init if isinstance(self.init, str) else BASES[self.base],
            order=order,
            seed=int(start_seed),
            centers=centres,
        )

    def _given_starts(self, mapped: MappedViews) -> dict[str, Any]:
        """What a given `init` has for each view: labels and responsibilities of the rows it has, or centres."""
        if self.init is None or isinstance(self.init, str):
            return {}
        n = len(next(iter(mapped.views.values())).row)
        starts = split_init_by_view(self.init, list(mapped.views), n, self.n_clusters)
        for name, own in starts.items():
            view = mapped.views[name]
            if len(own) == n and np.shape(own) != (self.n_clusters, view.view.X.shape[1]):
                starts[name] = np.asarray(own)[view.entity]
        return starts

    def _first_metric(self, problem: LinkedView) -> ClusterMetric:
        n_columns = problem.view.X.shape[1]
        if self.base == "pck":
            return IdentityMetric(self.n_clusters, n_columns)
        return METRICS[self.metric](self.n_clusters, n_columns, False, problem.variance)

    def _thresholds(
        self,
        mapped: MappedViews,
        base: ViewClusterer,
        known: Mapping[str, Constraints],
        rng: np.random.Generator,
    ) -> dict[str, float]:
        if self.threshold != "auto":
            asked = resolve_per_view("threshold", self.threshold, mapped.views)
            for name, own in asked.items():
                if not isinstance(own, Real) or not float(own) > 0:
                    raise ValueError(f"the threshold of view {name!r} must be a number above 0, got {own!r}")
            return {name: float(own) for name, own in asked.items()}
        if not self._transfer.propagates:
            return dict.fromkeys(mapped.views, USUAL)

        def cluster(closed: Mapping[str, ClosedConstraints], threshold: float) -> dict[str, np.ndarray]:
            announce(f"threshold={threshold}, some constraints left out:", bool(self.verbose))
            done = self._run(mapped, base, closed, dict.fromkeys(mapped.views, threshold), {})
            if done.interrupted:
                raise KeyboardInterrupt
            return {name: own.labels for name, own in done.state.views.items()}

        chosen = choose_threshold(mapped, known, cluster, rng)
        return dict.fromkeys(mapped.views, chosen)

    def _run(
        self,
        mapped: MappedViews,
        base: ViewClusterer,
        closed: Mapping[str, ClosedConstraints],
        thresholds: Mapping[str, float],
        alone: Mapping[str, ConstrainedState],
    ) -> Run:
        states = iterate_co_constrained(mapped, base, closed, self._transfer, thresholds, self.tol, alone)
        watched = LowestCostTracker(states, skip=self.max_iter // 2)  # by then constraints have gone round
        with progress(type(self).__name__, 1, bool(self.verbose)) as show:
            # settled or not is for the states to say: objectives under other constraints hardly compare
            done = run(watched, max_iter=self.max_iter, tol=0.0, patience=self.max_iter, report=partial(show, 0))
        return done if done.converged or done.interrupted else replace(done, state=watched.best)

    def _store(self, views: Views, mapped: MappedViews, done: Run) -> None:
        """Number clusters alike in all views and set the attributes, with the views in the order given."""
        state: CoConstrainedState = done.state
        labels = {name: rows.of_entities(state.views[name].labels) for name, rows in mapped.views.items()}
        numbers = match_view_clusters(labels, self.n_clusters)
        view_labels, self._views, self.propagated_, self.constraints_ = {}, {}, {}, {}
        for name in views.names:
            clusters, rows = state.views[name], mapped.views[name]
            order = np.argsort(numbers[name])
            costs = compute_costs(rows.view, clusters.metric, clusters.centers)[np.arange(rows.n_rows), clusters.labels]
            metric = clusters.metric.reorder(order)
            self._views[name] = FittedView(clusters.centers[order], metric, clusters.metric.variance(costs))
            view_labels[name] = renumber_labels(labels[name], numbers[name])
            self.propagated_[name] = state.propagated[name].renumber(rows.entity)
            self.constraints_[name] = state.links[name].renumber(rows.entity)
        self.cluster_centers_ = {name: fitted.centers for name, fitted in self._views.items()}
        self.metrics_ = {name: fitted.metric.values for name, fitted in self._views.items()}
        self.labels_ = vote_labels(view_labels, self._costs(views))
        self.objective_ = state.objective
        self.n_violations_ = sum(clusters.n_violations for clusters in state.views.values())
        self.n_iter_, self.converged_ = done.n_iter, done.converged
        self.history_ = Table.from_rows([order_record(record, views.names) for record in done.history])
        store_agreement(self, view_labels)

    def _costs(self, views: Views) -> np.ndarray:
        """What each entity costs in each cluster, summed over the views that it has: (n, k)."""
        return np.nansum(list(self._view_costs(views).values()), axis=0)

    def _view_costs(self, views: Views) -> dict[str, np.ndarray]:
        """What each entity costs in each cluster of each view, NaN where it lacks the view: (n, k)."""
        found = {}
        for (name, X), there in zip(collect_present_rows(views).items(), views.present.T, strict=True):
            found[name] = np.full((len(views), self.n_clusters), np.nan)
            found[name][there] = self._views[name].costs(X)
        return found

    def _warn(
        self, mapped: MappedViews, state: CoConstrainedState, conflicts: np.ndarray, ids: np.ndarray | None
    ) -> None:
        warn_of_conflicts(conflicts, ids)
        if not self.converged_:
            warnings.warn(
                f"the views still changed each other after {self.max_iter} rounds; of the later ones that of lowest "
                "objective is kept: raise max_iter, or, if history_ goes to and fro, try a higher threshold",
                ConvergenceWarning,
                stacklevel=4,
            )
        for name, own in state.views.items():
            where = f" in view {name!r}"
            warn_about_empty_clusters(own.labels, self.n_clusters, "lower n_clusters, or check the must-links", where)
            warn_of_inexact_farthest(own, where)
        given = sum(own.size for own in self.constraints_.values())
        if (
            self._transfer.propagates
            and len(mapped.views) > 1
            and given
            and not any(own.size for own in self.propagated_.values())
        ):
            widest = max(self.cluster_centers_, key=lambda name: mapped.views[name].view.X.shape[1])
            warnings.warn(
                "no constraint reaches entities with several views, so none is transferred: lower threshold, or reduce "
                f"the views (view {widest!r} has {mapped.views[widest].view.X.shape[1]} columns) to a few columns, "
                "PerView(SpectralFeatures(5))",
                UserWarning,
                stacklevel=4,
            )

    def predict(self, X: Any) -> np.ndarray:
        """Give each entity to the cluster that most of its views are nearest to; constraints play no part.

        Parameters
        ----------
        X : Views, mapping or sequence of blocks, or array-like
            Entities, seen before or not, with any of the fitted views.

        Returns
        -------
        ndarray of shape (n_entities,)
            The cluster of each entity.
        """
        check_is_fitted(self)
        views = check_views(self, X, reset=False)
        with use_threads(self.n_jobs):
            costs = self._view_costs(views)
        there = dict(zip(costs, views.present.T, strict=True))
        labels = {name: np.where(there[name], own.argmin(axis=1), -1) for name, own in costs.items()}
        return vote_labels(labels, np.nansum(list(costs.values()), axis=0))

    def score(self, X: Any, y: Any = None) -> float:  # noqa: ARG002
        """How well the clusters fit: minus what these entities cost, so that more is better.

        Parameters
        ----------
        X : Views, mapping or sequence of blocks, or array-like
            Entities with any of the fitted views.
        y : ignored
            Here for scikit-learn.

        Returns
        -------
        float
            Minus the sum of the costs in the cheapest clusters.
        """
        return -float(self.transform(X).min(axis=1).sum())

    def transform(self, X: Any) -> np.ndarray:
        """What each entity costs in each cluster: squared distances over the variance, summed over its views.

        Parameters
        ----------
        X : Views, mapping or sequence of blocks, or array-like
            Entities with any of the fitted views.

        Returns
        -------
        ndarray of shape (n_entities, n_clusters)
            The costs.
        """
        check_is_fitted(self)
        with use_threads(self.n_jobs):
            return self._costs(check_views(self, X, reset=False))

    @property
    def _n_features_out(self) -> int:
        return self.n_clusters

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = []
        return tags


def restrict_to_view(constraints: Constraints, own: ViewInstances) -> Constraints:
    """Constraints between entities as constraints between rows of a view; of entities that lack it there are none."""
    there = np.flatnonzero(own.row >= 0)
    return constraints.transfer(np.column_stack([there, own.row[there]]))


def order_record(record: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """Return a round's record with the objectives of the views in the order of their names in `names`."""
    by_view = [f"objective_{name}" for name in names if len(names) > 1]
    columns = ["round", "objective", *by_view]
    return {column: record[column] for column in [*columns, *(key for key in record if key not in columns)]}


def draw_order(seed: int, n: int) -> np.ndarray:
    """Draw a permutation that depends on the seed alone."""
    return np.random.default_rng(seed).permutation(n)


def compute_content_keys(blocks: Mapping[str, Any], present: np.ndarray) -> dict[str, np.ndarray]:
    """Return for each view the keys by which its rows are sorted: (2, n_present), the last of them first.

    The first key is a linear combination of the columns with fixed coefficients. Where rows of the view are equal, the
    sum of the combinations of all views decides. Neither depends on the order of rows or views.
    """
    combinations = {name: combine_columns(X) for name, X in blocks.items()}
    by_entity = np.full(present.shape, np.inf)
    for v, values in enumerate(combinations.values()):
        by_entity[present[:, v], v] = values
    ordered = np.sort(by_entity, axis=1)
    totals = np.sum(ordered, axis=1, where=np.isfinite(ordered))
    return {name: np.stack([totals[present[:, v]], own]) for v, (name, own) in enumerate(combinations.items())}


def combine_columns(X: Any) -> np.ndarray:
    """Return a linear combination of the columns, rounded the same way wherever a row stands."""
    coefficients = np.random.default_rng(0).uniform(1, 2, X.shape[1])
    return X.to_scipy() @ coefficients if isinstance(X, CSR) else np.einsum("ij,j->i", X, coefficients)


def number_distinct_rows(
    X: Any, row: np.ndarray, present: np.ndarray, keys: np.ndarray | None, seed: int
) -> ViewInstances:
    """Number the distinct rows of a view by their keys and a seed, or, without keys, by their first entities.

    X holds the rows of the entities that have the view; `row` says of every entity which row of the block it has. Rows
    that are sorted by their keys are shuffled: of equally large groups those of the lowest rows are the starts, and
    neighbours in the sorted order may well be of one cluster.
    """
    _, first, place = np.unique(row[present], return_index=True, return_inverse=True)
    chosen = np.sort(first)
    if keys is not None:
        chosen = chosen[np.lexsort(keys[:, chosen])][draw_order(seed, len(chosen))]
    number = np.empty(X.shape[0], np.int64)
    number[chosen] = np.arange(len(chosen))
    of_entities = np.full(len(present), -1)
    of_entities[present] = number[first[place]]
    in_place = np.array_equal(chosen, np.arange(X.shape[0]))
    return ViewInstances(prepare_euclidean_rows(X if in_place else take_rows(X, chosen)), of_entities)
