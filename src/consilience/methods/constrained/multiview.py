"""Constrained clustering of views that are only partly mapped to each other."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from numbers import Real
from typing import Any, ClassVar, Literal, Self

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from ..._numbers import is_real
from ..._saving import save_as
from ..._warnings import find_stack_level
from ...arrays import Seed, is_sparse, make_generator, take_rows, to_host, use_threads
from ...data import Constraints, Table, Views
from ...data.inputs import resolve_per_view
from ..common.constraint_checks import SOFT, get_entity_ids, resolve_constraints, split_by_view, warn_of_conflicts
from ..common.docs import share_docs
from ..common.input_checks import (
    check_n_clusters,
    check_views,
    store_agreement,
    store_input_features,
    warn_about_empty_clusters,
    write_labels,
)
from ..common.run import LowestCostTracker, Run, announce, draws_starts, progress, run
from ..common.starts import split_init_by_view
from ..common.validation import HasMethods, Interval, StrOptions, check_parameters, share_constraints
from .base_clusterer import BaseClusterer, check_base, check_base_labels
from .cluster_metrics import METRICS, ClusterMetric
from .co_constrained import (
    DEFAULT_THRESHOLD,
    ClosedConstraints,
    Clusterer,
    CoConstrainedState,
    MappedViews,
    ViewClusterer,
    ViewInstances,
    choose_threshold,
    cluster_separately,
    iterate_co_constrained,
)
from .cop import COPKMeans
from .neighborhoods import START_CHOICES
from .pairwise import ConstrainedState, LinkedView
from .pck import (
    EMPTY_REMEDY,
    ConstrainedKMeansMixin,
    collect_present_rows,
    compute_costs,
    parse_start,
    prepare_euclidean_rows,
    warn_of_inexact_farthest,
)
from .propagate import GAMMA, TRANSFERS, Transfer

DEFAULT_STARTS = {"pck": "largest", "mpck": "farthest", "cop": "farthest"}


@save_as(
    "constrained-view",
    version=2,
    upgrade=lambda attributes, _: {"model": None, "numbers": None, **attributes},  # 1 had no estimator as base
)
@dataclass(frozen=True, eq=False)
class FittedView:
    """What `predict` needs of a view: its clusters, and the squared distance that is one unit of variance.

    If an estimator clustered the view, it is there as `model`, with the number that each of its clusters has here.
    """

    centers: np.ndarray
    metric: ClusterMetric
    unit: float
    model: Any = None
    numbers: np.ndarray | None = None

    def compute_costs(self, X: Any) -> np.ndarray:
        """Compute the cost of each row in each cluster, in units that are the same in all views: (n, k)."""
        return compute_costs(prepare_euclidean_rows(X, self.centers), self.metric, self.centers) / self.unit

    def assign(self, X: Any, costs: np.ndarray) -> np.ndarray:
        """Return the cluster of each row: by the model's `predict` if it has one, otherwise that of lowest cost."""
        if self.numbers is None or not hasattr(self.model, "predict"):
            return costs.argmin(axis=1)
        what = f"base {type(self.model).__name__}: the result of predict"
        n, n_clusters = costs.shape
        return self.numbers[check_base_labels(self.model.predict(to_host(X)), n, n_clusters, what)]


@share_docs
@save_as(
    "constrained-k-means",
    version=2,
    upgrade=lambda attributes, _: {"gamma": GAMMA, "shared_metric": False, **attributes},  # 1 had neither option
)
class MultiViewConstrainedKMeans(ConstrainedKMeansMixin, BaseEstimator):
    """Constrained clustering across views that are only partly mapped to each other (Eaton, desJardins & Jacob 2010).

    Each view is clustered by constrained k-means. Constraints between entities in one view are transferred to the
    others through the entities that have both views: directly if both ends of a constraint are such entities, and by
    propagation if such entities lie near its ends, with a weight that falls with the distance. Views take turns until
    the transferred constraints change nothing. So a few constraints, given in any view, serve all of them, even if most
    entities have only one view.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters, in every view.
    base : {'pck', 'mpck', 'cop'} or estimator, default='pck'
        The algorithm for each view: `PCKMeans`, `MPCKMeans`, which learns the metric, or `COPKMeans`, which satisfies
        all constraints of the view; or any object with ``fit(X, constraints=...)`` that stores `labels_`, see Notes.
    transfer : {'propagate', 'direct', 'membership', 'none'}, default='propagate'
        What views pass on: constraints propagated to entities with several views ('propagate'); only constraints
        between such entities ('direct'); whether any two of these are currently in the same cluster ('membership'); or
        nothing, each view on its own ('none').
    threshold : float, mapping of view to float, or 'auto', default=0.5
        The smallest weight of a propagated constraint; weaker ones are dropped. From about 0.9 on nothing is
        propagated. ``'auto'`` chooses one for all views by cross-validation: the one under which held-out constraints
        are satisfied best; see `thresholds_`.
    gamma : float, default=1e-6
        What ``transfer='propagate'`` adds to the variances of each cluster so that none is zero, in units of the mean
        variance of the view's columns. The paper's value; larger ones let constraints reach farther in directions in
        which a cluster is narrow.
    metric : {'diagonal', 'full'}, default='diagonal'
        What ``base='mpck'`` learns: a weight per column, or a matrix.
    shared_metric : bool, default=False
        Whether all clusters of a view share one metric with ``base='mpck'``; by default each has its own.
    init : {'largest', 'farthest'}, labels, centers, responsibilities or None, default=None
        Where the views start, as in `PCKMeans`; None means ``'largest'`` for ``'pck'``, otherwise ``'farthest'``. An
        estimator as base has its own start, so that this must be None.
        Groups that given constraints tie together are always kept; constraints received from other views enlarge them
        unless stronger ones contradict. Given labels (n_entities,), or centers (n_clusters, n_columns) or
        responsibilities (n_entities, n_clusters) per view in a dict, every round starts from these.
    order : {'random', 'index'}, default='random'
        Order in which the entities of a view are visited. ``'random'`` draws it from `random_state` and the values of
        the rows, so that the result does not depend on the order of the rows; ``'index'`` visits them in that order.
    view_order : {'auto', 'given'}, default='auto'
        Order in which the views take turns. The paper does not say which comes first. ``'auto'`` starts with the view
        whose clusters are most compact when each is clustered separately, whatever the order of the views; ``'given'``
        takes them as they come.
    max_iter : int, default=30
        Maximum number of rounds; a round clusters every view once. Some runs alternate forever; then the round of
        lowest cost among the later ones is kept.
    tol : float, default=1e-6
        Stop when no view's cost, in units in which the view has variance 1, has changed by more than this or by more
        than this share of itself.
    %(views)s
    %(random_state)s
    %(n_jobs)s
    %(verbose)s

    Attributes
    ----------
    labels_ : ndarray of shape (n_entities,)
        The cluster of each entity: the one that most of its views say, the nearest of these in case of a tie.
    view_labels_ : dict of str to ndarray of shape (n_entities,)
        The cluster in each view; -1 where the entity lacks it. Clusters are numbered so that views agree on the
        entities they share as far as possible.
    cluster_centers_ : dict of str to ndarray of shape (n_clusters, n_columns)
        The centers in each view.
    metrics_ : dict of str to ndarray
        The metric of each cluster in each view, as in `MPCKMeans`; all ones if the base learns none.
    estimators_ : dict of str to estimator
        The fitted base of each view, if it is ``'cop'`` or an estimator; its clusters have other numbers.
    propagated_ : dict of str to Constraints
        The constraints that each view passes on to the others, between entities, with weights.
        ``propagated_[view].table()`` lists them, ``propagated_[view].precision(y)`` says how many are right if the
        classes are known.
    constraints_ : dict of str to Constraints
        The constraints of each view in the last round: its own, what follows from them, and those received.
    input_constraints_ : Constraints
        All constraints given to `fit`, between entities.
    thresholds_ : dict of str to float
        The thresholds used.
    cost_ : float
        Sum of the costs of all views; `history_` has them by view. The cost of a view is that of the base; if it has no
        `cost_`, the squared distances plus the weights of violated constraints.
    n_violations_ : int
        Number of constraints in `constraints_` that are violated.
    agreement_ : ndarray of shape (n_views, n_views)
        Share of the entities with both views that two views put into the same cluster.
    history_ : Table
        Objective in total and by view, violations, and number of propagated constraints per round.
    %(n_iter_)s
    %(n_features_in_)s

    Notes
    -----
    In many dimensions all points are far from each other, and nothing is propagated: reduce views first, for instance
    with ``PerView(SpectralFeatures(5))``. Entities that share a row of a view, as `align` produces from a mapping that
    is not one to one, are one point in that view; so are those that ``views[rows]`` takes twice.

    The result does not depend on the order of the views or the rows, although each step of the algorithm depends on an
    order: the views take turns, entities with constraints are visited one after the other, and starts are drawn at
    random. Therefore views are sorted by how compact their clusters are, the rows of each view are sorted by their
    values before they are shuffled, and random draws are the same in each view. Two exceptions remain:
    ``order='index'`` and ``view_order='given'`` use the order of the rows and views, and of entities that are equal in
    all their views, the first is visited first. Another seed gives another order of visits and other starts, and so may
    find other clusters.

    An estimator as base is cloned for each view and round. Its `n_clusters` and `random_state` are set if it has them;
    it keeps its other options, as in ``base=MPCKMeans(metric="full", penalty="unit", n_init=5)``. After
    ``fit(X, constraints=...)`` it must have `labels_`, from 0 to ``n_clusters - 1``. Propagation uses its
    `cluster_centers_` and `metrics_` (as in `MPCKMeans`) if it has them, and otherwise the means and covariances of
    the rows with each label. Rounds end when its `cost_` no longer changes or, if it has none, its labels. `predict`
    uses the base's `predict` if it has one, and otherwise the nearest center. Unlike ``base='pck'``, an estimator
    cannot distinguish given constraints from received ones when it chooses its start.

    ``base='cop'`` satisfies all constraints of a view, those that follow from other views included, and refuses them if
    it cannot. Constraints received from other views may be wrong, and are satisfied as far as possible: if not all of
    them can be, those are left out that contradict constraints of the view or stronger received ones; if that is not
    enough, the weaker half of them, three quarters and so on. A base of your own takes part in this if it raises
    `InfeasibleConstraintsError`. `labels_` combines the clusters of the views by a vote, which may violate constraints
    that every view satisfies.

    With ``base='mpck'`` the units of a view do not matter. With ``base='pck'`` they do, because the weights of
    constraints are in units of squared distances (see `PCKMeans`): standardize the views.

    If many rows lie close together in two or three columns, constraints propagate to a large share of all pairs of
    mapped rows, and time and memory grow with the square of their number.

    Examples
    --------
    >>> import consilience as cs
    >>> views, y = cs.datasets.make_four_quadrants(mapped=0.5, random_state=0)
    >>> entities = {name: views.present[:, v].nonzero()[0] for v, name in enumerate(views.names)}
    >>> constraints = {
    ...     name: cs.Constraints.sample(y[rows], 20, random_state=0).renumbered(rows) for name, rows in entities.items()
    ... }
    >>> model = cs.MultiViewConstrainedKMeans(n_clusters=2, random_state=0).fit(views, constraints=constraints)
    >>> round(cs.metrics.pairwise_scores(y, model.labels_).f, 1)
    1.0
    >>> model.propagated_["a"].precision(y).must_link > 0.95
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **share_constraints("n_clusters", "max_iter", "tol", "views", "random_state", "n_jobs", "verbose"),
        "base": [StrOptions(set(DEFAULT_STARTS)), HasMethods("fit")],
        "transfer": [StrOptions(set(TRANSFERS))],
        "threshold": [Interval(Real, 0, None, closed="neither"), StrOptions({"auto"}), dict, list, tuple],
        "gamma": [Interval(Real, 0, None, closed="neither")],
        "metric": [StrOptions({"diagonal", "full"})],
        "shared_metric": ["boolean"],
        "init": [StrOptions(set(START_CHOICES)), dict, "array-like", None],
        "order": [StrOptions({"random", "index"})],
        "view_order": [StrOptions({"auto", "given"})],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        base: Any = "pck",
        transfer: Literal["propagate", "direct", "membership", "none"] = "propagate",
        threshold: Any = 0.5,
        gamma: float = GAMMA,
        metric: Literal["diagonal", "full"] = "diagonal",
        shared_metric: bool = False,
        init: Any = None,
        order: Literal["random", "index"] = "random",
        view_order: Literal["auto", "given"] = "auto",
        max_iter: int = 30,
        tol: float = 1e-6,
        views: dict[str, Any] | None = None,
        random_state: Seed = None,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.n_clusters = n_clusters
        self.base = base
        self.transfer = transfer
        self.threshold = threshold
        self.gamma = gamma
        self.metric = metric
        self.shared_metric = shared_metric
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
    def fit(
        self,
        X: Any,
        y: Any = None,  # noqa: ARG002
        *,
        constraints: Mapping[str, Constraints] | Constraints | None = None,
    ) -> Self:
        """Cluster the entities.

        Parameters
        ----------
        X : Views, mapping or sequence of blocks, or array-like of shape (n_entities, n_columns)
            The data; `consilience.align` makes Views of collections that are partly mapped to each other. A plain
            array is one view, or several if the parameter `views` names groups of its columns.
        %(y)s
        constraints : mapping of view to Constraints, or Constraints, optional
            Pairs of entities that must, or cannot, be in the same cluster: in some views, or of the entities as such.

        Returns
        -------
        self
            The fitted estimator. After Ctrl-C it holds the result of the last complete round.
        """
        self._check_options()
        views = check_views(self, X, reset=True)
        check_n_clusters(self.n_clusters, len(views))
        rng = make_generator(self.random_state)
        mapped = self._map_views(views, rng)
        by_view, common = split_by_view(constraints, views.names)
        ids = get_entity_ids(X, views)
        common = resolve_constraints(common, views, ids, None)
        view_links = {}  # constraints between the rows of each view
        for name, instances in mapped.views.items():
            entity_links = resolve_constraints(by_view[name], views, ids, name)
            view_links[name] = restrict_to_view(entity_links | common, instances)
        with use_threads(self.n_jobs):
            closed = mapped.close_constraints(view_links, common)
            self._check_sparse(mapped, closed)
            clusterer = self._make_clusterer(mapped, rng, ids)
            separate: dict[str, ConstrainedState] = {}
            if self.view_order == "auto" and len(mapped.views) > 1:
                separate = cluster_separately(mapped, clusterer, closed)
                mapped = replace(mapped, views={name: mapped.views[name] for name in separate})
                view_links = {name: view_links[name] for name in separate}
            thresholds = self._choose_thresholds(mapped, clusterer, view_links, rng)
            finished = self._run(mapped, clusterer, closed, thresholds, separate)
        store_input_features(self, X, views)
        self.thresholds_ = thresholds
        self.input_constraints_ = mapped.join_constraints(view_links, common).renumbered(mapped.entities)
        self._store(views, mapped, finished)
        if finished.interrupted:
            raise KeyboardInterrupt("stopped early: the model holds the result of the last whole round")
        conflicts = mapped.find_conflicts(view_links, common)
        warn_of_conflicts(conflicts, self.input_constraints_.must.pairs, ids, SOFT)
        self._warn(mapped, finished.state)
        return self

    @property
    def _transfer(self) -> Transfer:
        return TRANSFERS[self.transfer]

    @property
    def _uses_estimator(self) -> bool:
        """Whether the base is an object, not the name of one."""
        return hasattr(self.base, "fit")

    def _check_options(self) -> None:
        """Refuse an unsuitable base, and options that would not be used."""
        shown = f"base={self.base!r}"
        if self._uses_estimator:
            check_base(self.base)
            shown = f"base={type(self.base).__name__}"
            if self.init is not None:
                raise ValueError(f"init is not used with {shown}, which has its own start: set it there")
        for option, default in (("metric", "diagonal"), ("shared_metric", False)):
            if self.base != "mpck" and (value := getattr(self, option)) != default:
                where = "set it there" if self._uses_estimator else "use base='mpck'"
                raise ValueError(
                    f"{option}={value!r} is not used with {shown}, only with base='mpck': {where}, or leave it out"
                )
        if self.gamma != GAMMA and not self._transfer.propagates:
            raise ValueError(
                f"gamma={self.gamma!r} is not used with transfer={self.transfer!r}, only with transfer='propagate': "
                "leave it out"
            )

    def _map_views(self, views: Views, rng: np.random.Generator) -> MappedViews:
        """Collect the distinct rows of each view; refuse views that are too small or have no entity in common."""
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
        mapped = MappedViews(instances, self._transfer.across)
        if views.n_views > 1 and self._transfer.across and not any(map(len, mapped.targets.values())):
            raise ValueError(
                "no entity has two views, so nothing can be transferred between them: give consilience.align a "
                "mapping, Views with ids in common, or cluster each by itself with transfer='none'"
            )
        return mapped

    def _check_sparse(self, mapped: MappedViews, closed: Mapping[str, ClosedConstraints]) -> None:
        """Refuse options that sparse views do not support."""
        sparse = {name: view.view.X for name, view in mapped.views.items() if is_sparse(view.view.X)}
        for name, X in sparse.items():
            if self._transfer.propagates and closed[name].consistent.size:
                raise ValueError(
                    f"view {name!r} is sparse {X.shape}: constraints propagate in dense views of few columns. Reduce "
                    "it first, PerView(SpectralFeatures()), or use transfer='direct'"
                )
            if self.base == "mpck" and self.metric == "full":
                raise ValueError(
                    f"view {name!r} is sparse {X.shape}, and metric='full' needs dense rows: use metric='diagonal', or "
                    "reduce the view first, PerView(SpectralFeatures())"
                )

    def _make_clusterer(self, mapped: MappedViews, rng: np.random.Generator, ids: np.ndarray | None) -> Clusterer:
        """Return the clusterer of a single view; it makes the same random draws in every view and round."""
        order_seed, start_seed = rng.integers(2**63, size=2)
        centers = {}
        is_drawn = self.init is None or draws_starts(self.init)
        if not is_drawn:
            n = len(next(iter(mapped.views.values())).row)
            for name, start in split_init_by_view(self.init, list(mapped.views), n, self.n_clusters).items():
                instances = mapped.views[name]
                if len(start) == n and np.shape(start) != (self.n_clusters, instances.view.X.shape[1]):
                    start = np.asarray(start)[instances.entity]  # labels or responsibilities of the view's rows
                centers[name] = parse_start(start, instances.view, self.n_clusters, name)[0]
        base, start = self.base, self.init
        if not self._uses_estimator and (start is None or not is_drawn):
            start = DEFAULT_STARTS[self.base]
        if self.base == "cop":
            base = COPKMeans(init=start, order=self.order)
        if hasattr(base, "fit"):
            return BaseClusterer(
                base,
                self.n_clusters,
                seed=int(start_seed % 2**31),
                centers=centers,
                entities={name: instances.entity for name, instances in mapped.views.items()},
                ids=ids,
            )
        return ViewClusterer(
            n_clusters=self.n_clusters,
            metric=self._first_metric,
            uses_length=self.base == "mpck",
            start=start,
            order=partial(draw_order, int(order_seed)) if self.order == "random" else np.arange,
            seed=int(start_seed),
            centers=centers,
        )

    def _first_metric(self, problem: LinkedView) -> ClusterMetric:
        kind = "identity" if self.base == "pck" else self.metric
        return METRICS[kind](self.n_clusters, problem.view.X.shape[1], self.shared_metric, problem.variance)

    def _choose_thresholds(
        self, mapped: MappedViews, clusterer: Clusterer, view_links: Mapping[str, Constraints], rng: np.random.Generator
    ) -> dict[str, float]:
        if self.threshold != "auto":
            thresholds = resolve_per_view("threshold", self.threshold, mapped.views)
            for name, threshold in thresholds.items():
                if not is_real(threshold) or not float(threshold) > 0:
                    raise ValueError(f"the threshold of view {name!r} must be a number above 0, got {threshold!r}")
            return {name: float(threshold) for name, threshold in thresholds.items()}
        if not self._transfer.propagates:
            return dict.fromkeys(mapped.views, DEFAULT_THRESHOLD)

        def cluster(closed: Mapping[str, ClosedConstraints], threshold: float) -> dict[str, np.ndarray]:
            announce(f"threshold={threshold}, some constraints held out:", bool(self.verbose))
            finished = self._run(mapped, clusterer, closed, dict.fromkeys(mapped.views, threshold), {})
            if finished.interrupted:
                raise KeyboardInterrupt
            return {name: state.labels for name, state in finished.state.views.items()}

        return dict.fromkeys(mapped.views, choose_threshold(mapped, view_links, cluster, rng))

    def _run(
        self,
        mapped: MappedViews,
        clusterer: Clusterer,
        closed: Mapping[str, ClosedConstraints],
        thresholds: Mapping[str, float],
        separate: Mapping[str, ConstrainedState],
    ) -> Run:
        states = iterate_co_constrained(
            mapped, clusterer, closed, self._transfer.infer, thresholds, self.gamma, self.tol, separate
        )
        watched = LowestCostTracker(states, skip=self.max_iter // 2)  # by then constraints have reached all views
        with progress(type(self).__name__, 1, bool(self.verbose)) as show:
            # the states decide when they are settled: objectives under different constraints are hardly comparable
            finished = run(watched, max_iter=self.max_iter, tol=0.0, patience=self.max_iter, report=partial(show, 0))
        return finished if finished.converged or finished.interrupted else replace(finished, state=watched.best)

    def _store(self, views: Views, mapped: MappedViews, finished: Run) -> None:
        """Number clusters alike in all views and set the attributes, with the views in the order given."""
        state: CoConstrainedState = finished.state
        labels = {name: view.label_entities(state.views[name].labels) for name, view in mapped.views.items()}
        numbers = match_view_clusters(labels, self.n_clusters)
        view_labels, self._views, self.propagated_, self.constraints_ = {}, {}, {}, {}
        for name in views.names:
            clusters, instances = state.views[name], mapped.views[name]
            order = np.argsort(numbers[name])
            costs = compute_costs(instances.view, clusters.metric, clusters.centers)
            unit = clusters.metric.variance(costs[np.arange(instances.n_rows), clusters.labels])
            model = getattr(clusters, "model", None)
            self._views[name] = FittedView(
                clusters.centers[order], clusters.metric.reorder(order), unit, model, numbers[name]
            )
            view_labels[name] = renumber_labels(labels[name], numbers[name])
            self.propagated_[name] = state.propagated[name].renumbered(instances.entity)
            self.constraints_[name] = state.links[name].renumbered(instances.entity)
        self.cluster_centers_ = {name: fitted.centers for name, fitted in self._views.items()}
        self.metrics_ = {name: fitted.metric.values for name, fitted in self._views.items()}
        self.estimators_ = {name: fitted.model for name, fitted in self._views.items() if fitted.model is not None}
        self.labels_ = vote_labels(view_labels, np.nansum(list(self._compute_view_costs(views).values()), axis=0))
        self.cost_ = state.objective
        self.n_violations_ = sum(clusters.n_violations for clusters in state.views.values())
        self.n_iter_, self.converged_ = finished.n_iter, finished.converged
        self.history_ = Table.from_rows([order_record(record, views.names) for record in finished.history])
        store_agreement(self, view_labels)

    def _compute_view_costs(self, views: Views) -> dict[str, np.ndarray]:
        """Compute the cost of each entity in each cluster of each view, NaN where it lacks the view: (n, k)."""
        costs = {}
        for (name, X), present in zip(collect_present_rows(views).items(), views.present.T, strict=True):
            costs[name] = np.full((len(views), self.n_clusters), np.nan)
            costs[name][present] = self._views[name].compute_costs(X)
        return costs

    def _warn(self, mapped: MappedViews, state: CoConstrainedState) -> None:
        if not self.converged_:
            warnings.warn(
                f"the views still changed each other after {self.max_iter} rounds; the round of lowest cost among the "
                "later ones is kept: raise max_iter, or, if history_ alternates, try a higher threshold",
                ConvergenceWarning,
                stacklevel=find_stack_level(),
            )
        for name, clusters in state.views.items():
            where = f" in view {name!r}"
            warn_about_empty_clusters(clusters.labels, self.n_clusters, EMPTY_REMEDY, where)
            warn_of_inexact_farthest(clusters, where)
        n_constraints = sum(links.size for links in self.constraints_.values())
        n_propagated = sum(links.size for links in self.propagated_.values())
        if self._transfer.propagates and len(mapped.views) > 1 and n_constraints and not n_propagated:
            n_columns = {name: centers.shape[1] for name, centers in self.cluster_centers_.items()}
            widest = max(n_columns, key=n_columns.__getitem__)
            warnings.warn(
                "no constraint reaches entities with several views, so none is transferred: lower threshold, or reduce "
                f"the views (view {widest!r} has {n_columns[widest]} columns) to a few columns, "
                "PerView(SpectralFeatures(5))",
                UserWarning,
                stacklevel=find_stack_level(),
            )

    def predict(self, X: Any, *, out: Any = None) -> np.ndarray:
        """Assign each entity to the cluster that most of its views are nearest to; constraints play no part.

        If the base is an estimator with `predict`, that decides in each view.

        %(predict_parameters)s
        %(out)s

        %(returns_out)s
        """
        check_is_fitted(self)
        views = check_views(self, X, reset=False)
        with use_threads(self.n_jobs):
            costs = self._compute_view_costs(views)
            labels = {name: np.full(len(views), -1) for name in costs}
            for (name, X), present in zip(collect_present_rows(views).items(), views.present.T, strict=True):
                labels[name][present] = self._views[name].assign(X, costs[name][present])
        return write_labels(vote_labels(labels, np.nansum(list(costs.values()), axis=0)), out)

    def transform(self, X: Any) -> np.ndarray:
        """Return the cost of each entity in each cluster: squared distances over the variance, summed over its views.

        %(predict_parameters)s

        Returns
        -------
        ndarray of shape (n_entities, n_clusters)
            The costs.
        """
        check_is_fitted(self)
        with use_threads(self.n_jobs):
            costs = self._compute_view_costs(check_views(self, X, reset=False))
        return np.nansum(list(costs.values()), axis=0)


def restrict_to_view(constraints: Constraints, instances: ViewInstances) -> Constraints:
    """Convert constraints between entities to constraints between rows of a view; entities that lack it are dropped."""
    present = np.flatnonzero(instances.row >= 0)
    return constraints.transfer(np.column_stack([present, instances.row[present]]))


def order_record(record: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """Return a round's record with the objectives of the views in the order of their names in `names`."""
    by_view = [f"objective_{name}" for name in names if len(names) > 1]
    columns = ["round", "objective", *by_view]
    return {column: record[column] for column in [*columns, *(key for key in record if key not in columns)]}


def draw_order(seed: int, n: int) -> np.ndarray:
    """Draw a permutation that depends only on the seed."""
    return np.random.default_rng(seed).permutation(n)


def compute_content_keys(blocks: Mapping[str, Any], present: np.ndarray) -> dict[str, np.ndarray]:
    """Compute the keys by which the rows of each view are sorted: (2, n_present), the primary key last.

    The primary key is a linear combination of the columns with fixed coefficients. If rows of the view are equal, the
    sum of the combinations of all views decides. Neither depends on the order of rows or views.
    """
    combinations = {}
    for name, X in blocks.items():
        coefficients = np.random.default_rng(0).uniform(1, 2, X.shape[1])
        # einsum rounds equal rows alike
        combinations[name] = X.to_scipy() @ coefficients if is_sparse(X) else np.einsum("ij,j->i", X, coefficients)
    by_entity = np.full(present.shape, np.inf)
    for v, values in enumerate(combinations.values()):
        by_entity[present[:, v], v] = values
    ordered = np.sort(by_entity, axis=1)
    totals = np.sum(ordered, axis=1, where=np.isfinite(ordered))
    return {name: np.stack([totals[present[:, v]], values]) for v, (name, values) in enumerate(combinations.items())}


def number_distinct_rows(
    X: Any, row: np.ndarray, present: np.ndarray, keys: np.ndarray | None, seed: int
) -> ViewInstances:
    """Number the distinct rows of a view by their keys and a seed, or, without keys, by their first entities.

    X has the rows of the entities that have the view; `row` is the row of every entity in the block. Rows sorted by
    their keys are shuffled: among equally large groups the starts are those of the lowest rows, and neighbors in the
    sorted order may well belong to one cluster.
    """
    _, first, inverse = np.unique(row[present], return_index=True, return_inverse=True)
    chosen = np.sort(first)
    if keys is not None:
        chosen = chosen[np.lexsort(keys[:, chosen])][draw_order(seed, len(chosen))]
    number = np.empty(X.shape[0], np.int64)
    number[chosen] = np.arange(len(chosen))
    entity_rows = np.full(len(present), -1)
    entity_rows[present] = number[first[inverse]]
    unchanged = np.array_equal(chosen, np.arange(X.shape[0]))
    return ViewInstances(prepare_euclidean_rows(X if unchanged else take_rows(X, chosen)), entity_rows)


def match_view_clusters(view_labels: Mapping[str, np.ndarray], n_clusters: int) -> dict[str, np.ndarray]:
    """Return new cluster numbers per view, such that views agree on as many shared entities as possible.

    Views are matched one by one, next the one that shares most entities with those already matched. A label of -1 means
    that the entity lacks the view.
    """
    names = list(view_labels)
    numbers = {names[0]: np.arange(n_clusters)}
    votes = np.zeros((len(view_labels[names[0]]), n_clusters))  # votes of the views matched so far
    add_votes(votes, view_labels[names[0]])
    while len(numbers) < len(names):
        has_vote = votes.any(axis=1)
        remaining = {name: has_vote & (view_labels[name] >= 0) for name in names if name not in numbers}
        name = max(remaining, key=lambda view: int(np.sum(remaining[view])))
        labels, shared = view_labels[name], remaining[name]
        table = np.zeros((n_clusters, n_clusters))
        np.add.at(table, labels[shared], votes[shared])
        numbers[name] = linear_sum_assignment(-table)[1]
        add_votes(votes, renumber_labels(labels, numbers[name]))
    return {name: numbers[name] for name in names}


def add_votes(votes: np.ndarray, labels: np.ndarray) -> None:
    """Add a vote per label, in place."""
    present = np.flatnonzero(labels >= 0)
    votes[present, labels[present]] += 1


def renumber_labels(labels: np.ndarray, numbers: np.ndarray) -> np.ndarray:
    """Replace labels by new cluster numbers; -1 stays."""
    return np.where(labels >= 0, numbers[np.maximum(labels, 0)], -1)


def vote_labels(view_labels: Mapping[str, np.ndarray], costs: np.ndarray) -> np.ndarray:
    """Return the cluster that most of an entity's views vote for; ties go to the lowest of the costs (n, k)."""
    votes = np.zeros(costs.shape)
    for labels in view_labels.values():
        add_votes(votes, labels)
    leading = votes == votes.max(axis=1, keepdims=True)
    return np.argmin(np.where(leading, costs, np.inf), axis=1)
