"""Convex mixtures of exemplars over several views."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import ClassifierTags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from ..._saving import save_as
from ...arrays import asarray_like, available_memory, explain_out_of_memory, namespace, to_numpy, use_threads
from ...data import Table, Views, resolve_per_view
from ...divergences import DIVERGENCES
from ..common.input_checks import (
    check_n_clusters,
    check_views,
    show_id,
    store_agreement,
    store_input_features,
    warn_about_empty_clusters,
)
from ..common.progress import progress
from ..common.run import Run, run
from ..common.similarities import find_precomputed_columns, restrict_columns
from ..common.validation import HasMethods, Interval, StrOptions, check_parameters
from .algorithm import ConvexState, MixtureProblem, solve_with_learned_weights, solve_with_uniform_weights
from .exemplars import (
    Combination,
    Exemplars,
    Placement,
    ViewExemplars,
    ViewPoints,
    combine_mean,
    combine_weighted,
    merge_duplicates,
)
from .inputs import (
    ComparableView,
    FittedDivergence,
    build_likelihoods,
    choose_tables_in_memory,
    collect_fitted_points,
    collect_new_points,
    prepare_comparisons,
    resolve_divergences,
)
from .kernel_kmeans import DistanceSpace, compute_kernel_means, iterate_kernel_kmeans
from .refined import PairwiseDistances, RefinedClusters, ViewClusterMeans

FACTORS = (0.5, 0.7, 1.0, 1.5, 2.0, 3.0)  # that beta='auto' tries
GAP = 1e-6  # that shares reach at the latest
TABLES = 5  # of entities and clusters that stand in memory at once
ROUNDS = 300  # of kernel k-means at most


class ViewWeighting(NamedTuple):
    """How views are weighed: in training, and when an entity is given to a cluster."""

    states: Callable[[MixtureProblem], Iterator[ConvexState]]
    combine: Combination


WEIGHTS = {
    "learned": ViewWeighting(solve_with_learned_weights, combine_weighted),
    "uniform": ViewWeighting(solve_with_uniform_weights, combine_mean),
}
NEEDED = "divergence='precomputed' or 'kernel' needs a square matrix"


class FittedMixture(NamedTuple):
    """A convex mixture once it is trained."""

    run: Run
    q: np.ndarray  # (entities,) the shares, of identical entities all with the first
    support: np.ndarray  # who has a share, largest first
    model: Exemplars
    seen: dict[str, ViewPoints]  # the entities
    likelihood: float  # of an entity, a mean: 1 if all are alike, 1 / n if none is like another
    placement: Placement


def check_has_probabilities(estimator: ConvexMixture) -> bool:
    """Whether clusters have probabilities, and their number is known beforehand, as scikit-learn expects."""
    if estimator.refine:
        raise AttributeError(f"refine={estimator.refine!r} leaves clusters without probabilities: use predict")
    if estimator.n_clusters is None:
        raise AttributeError(
            "predict_proba needs the number of clusters: call set_params(n_clusters=model.n_clusters_) after fit"
        )
    return True


@save_as("convex-mixture")
class ConvexMixture(ClusterMixin, BaseEstimator):
    """Exemplars of the clusters, found by a convex mixture over any number of views (Tzortzis & Likas 2010).

    Every entity is a candidate to stand for a cluster. What is learned is the share of each in a mixture of all, and
    with ``weights="learned"`` how far each view is to be trusted. There are no starts to draw and no local optima
    within a view or with uniform weights: the shares are solved for to a certificate, `gap_`.

    Parameters
    ----------
    n_clusters : int, optional
        Number of clusters: the exemplars of the largest shares. By default as many as have a share at all; a lower
        `beta` makes these fewer.
    weights : {'learned', 'uniform'}, default='learned'
        Whether views get weights of their own, learned by EM, or all count the same. Learned weights can end with one
        view that takes all: see `min_weight`.
    divergence : str, divergence, or one a view in a dict or list, default='squared-euclidean'
        How rows are compared: 'squared-euclidean', 'cosine' (of unit rows; text), 'kl' (counts), 'bernoulli' (yes or
        no), 'itakura-saito' (positive numbers, by their ratios), 'mahalanobis'; 'precomputed' if the view is a square
        matrix of divergences (such as *squared* distances), 'kernel' if it is a kernel matrix; or an object of
        `consilience.divergences`.
    beta : float, 'auto', or a number a view in a dict or list, default=1.0
        How sharp the components are, in units of ``beta_0 = log(N) / mean divergence`` of the view: more makes more and
        smaller clusters. 'auto' tries factors from 0.5 to 3 and takes the one whose clusters are best separated,
        without labels: see `beta_search_`.
    beta_unit : {'beta0', 'absolute'}, default='beta0'
        Whether `beta` is that factor, or beta itself.
    normalizer : bool, default=False
        Whether views are weighed by densities, with the constant that makes each component integrate to one, as the
        model says, or without it, as in the paper's experiments. With it views of many columns outweigh others. Only
        for learned weights; 'kl', 'precomputed' and 'kernel' have none.
    min_weight : float, default=0.0
        Least weight of a view among the entities that have it, at most one over the number of views; keeps one view
        from taking all. Only for learned weights.
    refine : {None, 'kernel-kmeans'}, default=None
        Whether kernel k-means on the weighted sum of the views' kernels goes on from the clusters found. For
        divergences that are squared distances: not 'kl', 'bernoulli' and 'itakura-saito'. The kernels are in the units
        of their views, as in the paper: scale views whose distances differ in size.
    init : dict or list of float, optional
        Weights of the views to start EM from, above zero, where something is known of them; by default all the same.
    views : dict of str to columns, optional
        If `fit` is given one array or frame: which of its columns make up which view (slices, positions or names).
    max_iter : int, default=1000
        Rounds at most: of EM, or of the solver with uniform weights.
    tol : float, default=1e-4
        EM ends when the mean log-likelihood of an entity rises by no more than this. The shares themselves are solved
        for to a gap of this, or 1e-6 if that is less.
    n_jobs : int, default=None
        Threads; None and -1 take all cores. The result does not depend on it.
    verbose : bool, default=False
        Show progress.

    Attributes
    ----------
    labels_ : ndarray of shape (n_entities,)
        The cluster of each entity.
    exemplars_ : ndarray of shape (n_clusters,)
        Position of each cluster's exemplar, those of the largest shares first.
    exemplar_weights_ : ndarray of shape (n_entities,)
        The share of each entity, which sum to one. Most are zero. Of identical entities the first has the share of all.
    n_clusters_ : int
        Number of clusters.
    view_weights_ : dict of str to float
        How far each view is trusted: the share of the entities that it explains best. They sum to one.
    betas_ : dict of str to float
        The sharpness of each view's components: beta itself, not the factor.
    gap_ : float
        The certificate of the shares: given which view explains which entity, as the last round had it, no others
        reach a mean log-likelihood higher by more.
    beta_search_ : Table
        With ``beta="auto"``: each factor tried, the number of clusters and how well they are separated: the index of
        Calinski & Harabasz on the mean over views of the clusters' scatter as a share of all scatter.
    view_labels_ : dict of str to ndarray of shape (n_entities,)
        The cluster that each view alone would give; -1 where the entity lacks the view.
    agreement_ : ndarray of shape (n_views, n_views)
        Share of entities that two views put into the same cluster.
    history_ : Table
        One row a round: log-likelihood, gap, exemplars, and the weight of each view.
    n_iter_ : int
        Rounds.
    converged_ : bool
        Whether they ended by `tol`, not by `max_iter`.
    n_features_in_, feature_names_in_ : int, ndarray
        Columns of all views together, and their names where all views came with names.

    Notes
    -----
    The paper updates the shares by a rule that crawls, and stopping it early changes the clusters. Here they are solved
    for by Newton's method on a growing set of exemplars (`consilience.mixture_proportions`).

    An entity goes to the exemplar of the highest posterior (Eq 14); with uniform weights, of the highest mean over the
    views' own posteriors. An exemplar, and whatever is the same as one, stays in its own cluster. An entity that lacks
    a view is neither a point nor an exemplar there.

    All pairs of entities are compared: time grows with the square of their number. Tables up to 1 GiB are held, larger
    ones are computed again, in blocks, for every round.

    On a GPU (arrays of torch or cupy) all of it stays on the device, and tables are held as far as its memory goes:
    100,000 entities in float32 take 40 GB a view. Float32 numbers are multiplied as such there, and summed up in
    float64, which lets the gap be told to about 1e-7. What comes back are the clusters, the shares, and the products of
    the few exemplars that are looked at in a round; the check whether given similarities are a kernel is made on the
    host.

    Examples
    --------
    >>> import consilience as cs
    >>> views, y = cs.datasets.make_corrupted_views(n_views=2, n_noisy=1, random_state=0)
    >>> model = cs.ConvexMixture(n_clusters=3).fit(views)
    >>> {name: round(weight, 1) for name, weight in model.view_weights_.items()}
    {'view0': 0.5, 'view1': 0.5, 'noisy0': 0.0}
    >>> sorted(y[model.exemplars_].tolist()), model.gap_ < 1e-6
    ([0, 1, 2], True)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left"), None],
        "weights": [StrOptions(set(WEIGHTS))],
        "divergence": [StrOptions(set(DIVERGENCES)), HasMethods(["learn"]), dict, list, tuple],
        "beta": [Interval(Real, 0, None, closed="neither"), StrOptions({"auto"}), dict, list, tuple],
        "beta_unit": [StrOptions({"beta0", "absolute"})],
        "normalizer": ["boolean"],
        "min_weight": [Interval(Real, 0, 1, closed="both")],
        "refine": [StrOptions({"kernel-kmeans"}), None],
        "init": [dict, list, tuple, np.ndarray, None],
        "views": [dict, None],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "n_jobs": [Integral, None],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        weights: str = "learned",
        divergence: Any = "squared-euclidean",
        beta: Any = 1.0,
        beta_unit: str = "beta0",
        normalizer: bool = False,
        min_weight: float = 0.0,
        refine: str | None = None,
        init: Any = None,
        views: dict[str, Any] | None = None,
        max_iter: int = 1000,
        tol: float = 1e-4,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.n_clusters = n_clusters
        self.weights = weights
        self.divergence = divergence
        self.beta = beta
        self.beta_unit = beta_unit
        self.normalizer = normalizer
        self.min_weight = min_weight
        self.refine = refine
        self.init = init
        self.views = views
        self.max_iter = max_iter
        self.tol = tol
        self.n_jobs = n_jobs
        self.verbose = verbose

    @check_parameters
    def fit(self, X: Any, y: Any = None) -> ConvexMixture:  # noqa: ARG002
        """Find exemplars, and give every entity to one.

        Parameters
        ----------
        X : Views, mapping or sequence of blocks, or array-like of shape (n_entities, n_columns)
            The data. A plain array is one view, or several if the argument `views` names groups of its columns.
        y : ignored
            Here for scikit-learn.

        Returns
        -------
        self
            The fitted estimator. After Ctrl-C it holds the last whole round.
        """
        views = check_views(self, X, reset=True)
        if self.n_clusters is not None:
            check_n_clusters(self.n_clusters, len(views))
        divergences = resolve_divergences(self.divergence, views.names)
        factors, start = self._factors(views.names), self._start(views.names)
        self._check(views, divergences)
        columns = find_precomputed_columns(views, divergences, selected=isinstance(X, Views), needed=NEEDED)
        with (
            use_threads(self.n_jobs),
            explain_out_of_memory(f"the comparison of {len(views):,} entities with each other"),
        ):
            found, kept = prepare_comparisons(restrict_columns(views, columns), divergences)
            tried = self._try(found, len(kept), factors, start)
            separations = [compute_separation(found, fitted) for fitted in tried] if len(tried) > 1 else [0.0]
            best = tried[int(np.argmax(separations))]
            placer, interrupted = REFINEMENTS[self.refine](best, found, bool(self.verbose))
            placement = best.placement if placer is best.model else placer.place(best.seen, len(kept))
        store_input_features(self, X, views)
        self._store(best, placement, kept, len(views))
        self._placer, self._columns = placer, columns
        self._known = {
            name: FittedDivergence(divergences[name], own.measure, self.betas_[name], own.X[:1, ...], self._normalizes)
            for name, own in found.items()
        }
        self.__dict__.pop("beta_search_", None)  # of an earlier fit
        if isinstance(self.beta, str):
            self.beta_search_ = Table(
                beta=np.array(FACTORS[: len(tried)]),
                clusters=np.array([fitted.model.n_clusters for fitted in tried]),
                separation=np.array(separations),
            )
        self._warn(best)
        warn_of_unplaced(views, place_values(best.placement.strangers, kept, len(views), False))
        if interrupted or tried[-1].run.interrupted:
            raise KeyboardInterrupt("stopped early: the model holds the best result so far")
        return self

    @property
    def _normalizes(self) -> bool:
        """Whether densities are compared: uniform weights compare none."""
        return bool(self.normalizer) and self.weights == "learned"

    def _check(self, views: Views, divergences: Mapping[str, Any]) -> None:
        """Refuse what does not go together."""
        if self.min_weight * views.n_views > 1:
            raise ValueError(
                f"min_weight={self.min_weight} is more than {views.n_views} views can all have: at most "
                f"{1 / views.n_views:.3g}"
            )
        spaceless = [name for name, own in divergences.items() if not own.has_kernel]
        if self.refine and spaceless:
            raise ValueError(
                f"view {spaceless[0]!r}: refine='kernel-kmeans' needs squared distances, which the divergence "
                f"{divergences[spaceless[0]]} is not: use refine=None, or divergence 'squared-euclidean' or 'cosine'"
            )

    def _factors(self, names: Sequence[str]) -> list[dict[str, float]]:
        """What to multiply the unit of beta by in each view; several to try."""
        if isinstance(self.beta, str):
            if self.beta_unit == "absolute":
                raise ValueError("beta='auto' tries factors: use beta_unit='beta0'")
            return [dict.fromkeys(names, factor) for factor in FACTORS]
        factors = resolve_per_view("beta", self.beta, names)
        for name, factor in factors.items():
            if not isinstance(factor, Real) or not 0 < float(factor) < np.inf:
                raise ValueError(f"view {name!r}: beta={factor!r} must be a number above 0")
        return [{name: float(factor) for name, factor in factors.items()}]

    def _start(self, names: Sequence[str]) -> np.ndarray:
        """The weights to start from."""
        if self.init is None:
            return np.full(len(names), 1 / len(names))
        given = self.init.tolist() if isinstance(self.init, np.ndarray) else self.init
        weights = resolve_per_view("init", given, names)
        for name, weight in weights.items():
            if not isinstance(weight, Real) or not 0 < float(weight) < np.inf:
                raise ValueError(f"view {name!r}: init={weight!r} must be a weight, a number above 0")
        start = np.array(list(weights.values()), dtype=np.float64)
        return start / start.sum()

    def _try(
        self, found: Mapping[str, ComparableView], n: int, factors: Sequence[Mapping[str, float]], start: np.ndarray
    ) -> list[FittedMixture]:
        """A mixture for each sharpness; Ctrl-C ends it with those that there are."""
        tried = []
        for own in factors:
            betas = {name: own[name] * (1 if self.beta_unit == "absolute" else found[name].reference) for name in found}
            tried.append(self._train(found, n, betas, start))
            if tried[-1].run.interrupted:
                break
        return tried

    def _train(
        self, found: Mapping[str, ComparableView], n: int, betas: Mapping[str, float], start: np.ndarray
    ) -> FittedMixture:
        """Find the shares and the weights, and who belongs to whom."""
        A = build_likelihoods(found, betas, n)
        seen = collect_fitted_points(found, betas, normalizer=self._normalizes)
        log_C = asarray_like(np.concatenate([own.log_normalizer for own in seen.values()]), A.kind)
        weighting = WEIGHTS[self.weights]
        states = weighting.states(MixtureProblem(A, log_C, start, min(self.tol, GAP), self.tol, self.min_weight))
        with progress(type(self).__name__, 1, bool(self.verbose)) as show:
            # states say themselves when they are settled
            ended = run(states, max_iter=self.max_iter, tol=0.0, patience=self.max_iter, report=partial(show, 0))

        def views(support: np.ndarray) -> dict[str, ViewExemplars]:
            return {name: own.exemplars_at(betas[name], support) for name, own in found.items()}

        shares = to_numpy(ended.state.q)
        q = merge_duplicates(views(np.flatnonzero(shares)), seen, shares)
        support = np.argsort(-q, kind="stable")[: np.count_nonzero(q)]
        n_clusters = min(self.n_clusters or len(support), len(support))
        check_probability_memory(n, n_clusters)
        model = Exemplars(views(support), np.log(q[support]), n_clusters, ended.state.log_weights, weighting.combine)
        likelihood = float(namespace(ended.state.q).mean(A @ ended.state.q))
        return FittedMixture(ended, q, support, model, seen, likelihood, model.place(seen, n))

    def _store(self, fitted: FittedMixture, placement: Placement, kept: np.ndarray, n: int) -> None:
        """Set the attributes; whoever has no view that says something goes to the largest cluster's exemplar."""
        state, model = fitted.run.state, fitted.model
        self.labels_ = place_values(placement.P.argmax(axis=1), kept, n, 0)
        self.exemplar_weights_ = place_values(fitted.q, kept, n, 0.0)
        self.exemplars_ = kept[fitted.support[: model.n_clusters]]
        self.n_clusters_ = model.n_clusters
        self.view_weights_ = dict(zip(model.views, state.weights.tolist(), strict=True))
        self.betas_ = {name: view.beta for name, view in model.views.items()}
        self.gap_ = state.gap
        self.history_ = Table.from_rows(fitted.run.history)
        self.n_iter_, self.converged_ = fitted.run.n_iter, fitted.run.converged
        store_agreement(self, {name: place_values(own, kept, n, -1) for name, own in placement.view_labels.items()})

    def _warn(self, fitted: FittedMixture) -> None:
        """Say what makes the result less than it should be."""
        problems: list[tuple[str, type[Warning]]] = []
        if not (fitted.run.converged and self.gap_ <= max(self.tol, GAP)) and not fitted.run.interrupted:
            problems.append((
                f"no convergence in {fitted.run.n_iter} rounds, the gap is {self.gap_:.2g}: raise max_iter, or tol "
                f"(now {self.tol})",
                ConvergenceWarning,
            ))  # fmt: skip
        elif len(fitted.support) == len(fitted.q) > 1:
            small = fitted.likelihood > len(fitted.q) ** -0.5  # between that of all alike, 1, and of none, 1 / n
            problems.append((
                f"every one of the {len(fitted.q)} entities is an exemplar: beta is so "
                + ("small that all are alike. Raise beta" if small else "large that none is like another. Lower beta"),
                UserWarning,
            ))  # fmt: skip
        if self.n_clusters is not None and self.n_clusters_ < self.n_clusters:
            problems.append((
                f"only {self.n_clusters_} entities have a share in the mixture, fewer than n_clusters="
                f"{self.n_clusters}: there are so many clusters. Raise beta for more",
                UserWarning,
            ))  # fmt: skip
        for problem, kind in problems:
            warnings.warn(problem, kind, stacklevel=4)
        warn_about_empty_clusters(self.labels_, self.n_clusters_, "lower n_clusters, or use refine=None")

    def predict(self, X: Any) -> np.ndarray:
        """Give entities, seen before or not, to the clusters.

        Parameters
        ----------
        X : Views, mapping or sequence of blocks, or array-like
            Entities with any of the fitted views.

        Returns
        -------
        ndarray of shape (n_entities,)
            The cluster of each entity.
        """
        return self._place(X).P.argmax(axis=1)

    @available_if(check_has_probabilities)
    def predict_proba(self, X: Any) -> np.ndarray:
        """Probability of each cluster, given that it is one of them: the posterior of Eq 14.

        Parameters
        ----------
        X : Views, mapping or sequence of blocks, or array-like
            Entities with any of the fitted views.

        Returns
        -------
        ndarray of shape (n_entities, n_clusters)
            Rows sum to one. An exemplar belongs to its own cluster for certain.
        """
        return self._place(X).P

    def _place(self, X: Any) -> Placement:
        check_is_fitted(self)
        views = restrict_columns(check_views(self, X, reset=False), self._columns)
        with (
            use_threads(self.n_jobs),
            explain_out_of_memory(f"the comparison of {len(views):,} entities with the exemplars"),
        ):
            seen = collect_new_points(views, self._known)
            placement = self._placer.place(seen, len(views))
        warn_of_unplaced(views, placement.strangers)
        return placement

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags = ClassifierTags()  # scikit-learn's checks ask it of all that predict_proba sparse rows
        return tags


def place_values(values: np.ndarray, kept: np.ndarray, n: int, otherwise: float) -> np.ndarray:
    """Values of those that are kept among all."""
    found = np.full(n, otherwise, dtype=values.dtype)
    found[kept] = values
    return found


def compute_separation(found: Mapping[str, ComparableView], fitted: FittedMixture) -> float:
    """How well clusters are separated (Calinski & Harabasz 1974), by their scatter in all views alike."""
    labels, n_clusters = fitted.placement.P.argmax(axis=1), fitted.model.n_clusters
    shares = []
    for own in found.values():
        if not own.mean:
            continue  # the view of one entity
        distances = PairwiseDistances.between(own.measure, own.points, own.exemplars, cached=False)
        of_clusters, _ = compute_kernel_means(
            DistanceSpace(own.entities, distances, 1.0), asarray_like(labels, own.points.X), n_clusters
        )
        sizes = np.bincount(labels[own.entities], minlength=n_clusters)
        shares.append(float(sizes @ to_numpy(of_clusters.spread)) / (len(own.entities) * own.mean / 2))
    n = len(labels)
    if n_clusters in (1, n) or not shares:
        return 0.0
    within = float(np.mean(shares))
    return np.inf if within <= 0 else (1 - within) / (n_clusters - 1) / (within / (n - n_clusters))


def check_probability_memory(n: int, n_clusters: int) -> None:
    """Refuse so many clusters that the probabilities of all entities in them would not fit."""
    needed, free = TABLES * n * n_clusters * 8, available_memory()
    if free is not None and needed > free:
        raise MemoryError(
            f"the probabilities of {n:,} entities in {n_clusters:,} clusters take {needed / 2**30:.1f} GiB of memory, "
            f"but {free / 2**30:.1f} GiB are free: give n_clusters, or lower beta for fewer exemplars"
        )


class Placer(Protocol):
    """What gives entities to clusters."""

    def place(self, seen: Mapping[str, ViewPoints], n: int) -> Placement:
        """Of n entities, as they are seen in each view."""


def as_they_are(fitted: FittedMixture, found: Mapping[str, ComparableView], verbose: bool) -> tuple[Placer, bool]:  # noqa: ARG001
    """The exemplars decide."""
    return fitted.model, False


def by_kernel_kmeans(fitted: FittedMixture, found: Mapping[str, ComparableView], verbose: bool) -> tuple[Placer, bool]:
    """Kernel k-means from these clusters, on the weighted sum of the views' kernels; also whether Ctrl-C ended it."""
    weights = fitted.run.state.weights.tolist()
    held, spaces = choose_tables_in_memory(found), []
    for (name, own), weight in zip(found.items(), weights, strict=True):
        distances = PairwiseDistances.between(own.measure, own.points, own.exemplars, cached=held[name])
        spaces.append(DistanceSpace(own.entities, distances, weight))
    n_clusters, labels = fitted.model.n_clusters, fitted.placement.P.argmax(axis=1)
    states = iterate_kernel_kmeans(spaces, asarray_like(labels, next(iter(found.values())).points.X), n_clusters)
    with progress("kernel k-means", 1, verbose) as show:
        ended = run(states, max_iter=ROUNDS, tol=0.0, patience=ROUNDS, report=partial(show, 0))
    views = {
        name: ViewClusterMeans(own.measure, own.exemplars, means, weight)
        for (name, own), means, weight in zip(found.items(), ended.state.means, weights, strict=True)
    }
    return RefinedClusters(views, n_clusters), ended.interrupted


REFINEMENTS: dict[str | None, Callable[[FittedMixture, Mapping[str, ComparableView], bool], tuple[Placer, bool]]] = {
    None: as_they_are,
    "kernel-kmeans": by_kernel_kmeans,
}


def warn_of_unplaced(views: Views, strangers: np.ndarray) -> None:
    """Say who shares no view with any exemplar."""
    lost = np.flatnonzero(strangers)
    if len(lost):
        warnings.warn(
            f"entity {show_id(views, lost[0])} shares no view with any cluster's exemplar ({len(lost)} such), and gets "
            "the cluster of the largest prior: ask for more clusters, or give it more views",
            UserWarning,
            stacklevel=4,
        )
