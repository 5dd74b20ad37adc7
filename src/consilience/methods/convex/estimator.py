"""Convex mixtures of exemplars over several views."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from functools import partial
from numbers import Real
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import ClassifierTags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from ..._numbers import is_real
from ..._saving import save_as
from ..._warnings import find_stack_level
from ...arrays import asarray_like, available_memory, explain_out_of_memory, namespace, to_numpy, use_threads
from ...data import Table, Views
from ...data.inputs import resolve_per_view
from ...divergences import DIVERGENCES, PairDivergence
from ..common.docs import share_docs
from ..common.input_checks import (
    check_n_clusters,
    check_views,
    show_id,
    store_agreement,
    store_input_features,
    warn_about_empty_clusters,
    write_labels,
)
from ..common.run import Run, progress, run
from ..common.similarities import find_precomputed_columns, restrict_columns
from ..common.validation import POSITIVE_INTEGER, HasMethods, Interval, StrOptions, check_parameters, share_constraints
from .algorithm import MixtureProblem, solve_with_learned_weights, solve_with_uniform_weights
from .exemplars import Exemplars, Placement, ViewExemplars, ViewPoints, merge_duplicates
from .inputs import (
    ComparableView,
    FittedDivergence,
    build_likelihoods,
    choose_cached_tables,
    collect_fitted_points,
    collect_new_points,
    prepare_comparisons,
    resolve_divergences,
)
from .kernel_kmeans import (
    DistanceSpace,
    PairwiseDistances,
    RefinedClusters,
    ViewClusterMeans,
    compute_kernel_means,
    iterate_kernel_kmeans,
)

FACTORS = (0.5, 0.7, 1.0, 1.5, 2.0, 3.0)  # that beta='auto' tries
INNER_TOL = 1e-4  # default of inner_tol
LARGEST_GAP = 1e-6  # to which proportions are solved in any case
N_TABLES = 5  # tables of entities and clusters that are in memory at once
MAX_REFINEMENTS = 300  # rounds of kernel k-means
SOLVERS = {"learned": solve_with_learned_weights, "uniform": solve_with_uniform_weights}


class FittedMixture(NamedTuple):
    """A trained convex mixture."""

    run: Run
    q: np.ndarray  # (entities,) the proportions, those of identical entities merged into the first
    support: np.ndarray  # entities of positive proportion, largest first
    model: Exemplars
    points: dict[str, ViewPoints]  # the entities
    likelihood: float  # mean likelihood of an entity: 1 if all are alike, 1 / n if no two are
    placement: Placement


def check_has_probabilities(estimator: ConvexMixture) -> bool:
    """Check that clusters have probabilities and that their number is known beforehand, as scikit-learn expects."""
    if estimator.refine:
        raise AttributeError(f"refine={estimator.refine!r} leaves clusters without probabilities: use predict")
    if estimator.n_clusters is None:
        raise AttributeError(
            "predict_proba needs the number of clusters: call set_params(n_clusters=model.n_clusters_) after fit"
        )
    return True


@share_docs
@save_as(
    "convex-mixture",
    version=2,
    upgrade=lambda attributes, _: {"solver": "newton", "inner_tol": INNER_TOL, **attributes},  # 1 had neither option
)
class ConvexMixture(ClusterMixin, BaseEstimator):
    """Exemplar-based clustering by a convex mixture over any number of views (Tzortzis & Likas 2010).

    Every entity is a candidate exemplar of a cluster. The weight of each exemplar in a mixture of all is learned, and
    with ``weights="learned"`` also the weight of each view. There are no random starts, and no local optima with a
    single view or uniform weights: the exemplar weights are solved for to a certified gap, `gap_`.

    Parameters
    ----------
    n_clusters : int, optional
        Number of clusters: the exemplars of largest weight. By default, all exemplars of positive weight; a lower
        `beta` makes these fewer. ``solver="em"`` needs a number, because it leaves every entity a positive weight.
    weights : {'learned', 'uniform'}, default='learned'
        Whether the weights of views are learned by EM, or all equal. Learned weights can end with one view that takes
        all: see `min_weight`.
    divergence : str, divergence, or one per view in a dict or list, default='squared-euclidean'
        How rows are compared: 'squared-euclidean', 'cosine' (of unit rows; text), 'kl' (counts), 'bernoulli' (binary
        data), 'itakura-saito' (positive numbers, by their ratios), 'mahalanobis'; 'precomputed' if the view is a square
        matrix of divergences (such as *squared* distances), 'kernel' if it is a kernel matrix; or an object of
        `consilience.divergences`.
    beta : float, 'auto', or one per view in a dict or list, default=1.0
        How sharp the components are, in units of ``beta_0 = log(N) / mean divergence`` of the view: larger values give
        more and smaller clusters. 'auto' tries factors from 0.5 to 3 and takes the one whose clusters are best
        separated, without labels: see `beta_search_`.
    beta_unit : {'beta0', 'absolute'}, default='beta0'
        Whether `beta` is that factor, or beta itself.
    normalizer : bool, default=False
        Whether views are weighed by densities, including the constant that makes each component integrate to one, as
        the model says, or without it, as in the paper's experiments. With it, views of many columns outweigh others.
        Only for learned weights; 'kl', 'precomputed' and 'kernel' have none.
    min_weight : float, default=0.0
        Smallest weight of a view among the entities that have it, at most one over the number of views; keeps one view
        from taking all. Only for learned weights.
    refine : {None, 'kernel-kmeans'}, default=None
        Whether kernel k-means on the weighted sum of the views' kernels continues from the clusters. For divergences
        that are squared distances: not 'kl', 'bernoulli' and 'itakura-saito'. The kernels are in the units of their
        views, as in the paper: scale views whose distances differ in size.
    init : dict or list of float, optional
        Weights of the views to start EM from, above zero; by default all are equal.
    solver : {'newton', 'em'}, default='newton'
        How the exemplar weights are computed in each round. 'newton' solves for them to a certified gap. 'em' repeats
        the paper's update until it changes little (`inner_tol`), as its Algorithm 1 is printed: slower, and the result
        depends on where it stops. `converged_` then only says that the stopping rules were met; see `gap_`.
    inner_tol : float, default=1e-4
        Only for ``solver="em"``: the updates of a round end when the absolute changes of all exemplar weights add up to
        less than this (line 21 of Algorithm 1; the paper gives no value). A weight that an early round has made tiny
        grows too little per update to be noticed by this rule, so that `gap_` can stay large however small it is.
    %(views)s
    max_iter : int, default=1000
        Maximum number of rounds: of EM, or of the solver with uniform weights.
    tol : float, default=1e-4
        EM ends when the mean log-likelihood rises by no more than this. The exemplar weights are solved for to a gap of
        this, or 1e-6 if that is less; ``solver="em"`` has `inner_tol` instead.
    %(n_jobs)s
    %(verbose)s

    Attributes
    ----------
    %(labels_)s
    exemplars_ : ndarray of shape (n_clusters,)
        Position of each cluster's exemplar, by descending weight.
    exemplar_weights_ : ndarray of shape (n_entities,)
        The weight of each entity as an exemplar; they sum to one and most are zero. The weights of identical entities
        are merged into the first of them.
    n_clusters_ : int
        Number of clusters.
    view_weights_ : dict of str to float
        The weight of each view: the share of the entities that it explains best. They sum to one.
    betas_ : dict of str to float
        The sharpness of each view's components: beta itself, not the factor.
    cost_ : float
        Minus the mean log-likelihood; with `refine`, the weighted sum of squared distances from the means.
    gap_ : float
        The certificate of the exemplar weights: given which view explains which entity in the last round, no other
        exemplar weights reach a mean log-likelihood higher by more.
    beta_search_ : Table
        With ``beta="auto"``: each factor tried, the number of clusters and their separation: the index of Calinski &
        Harabasz on the mean over views of the clusters' share of the scatter.
    %(view_labels_)s
    %(agreement_)s
    history_ : Table
        Log-likelihood, gap, number of exemplars, and the weight of each view per round.
    %(n_iter_)s
    %(n_features_in_)s

    Notes
    -----
    The paper updates the exemplar weights by a rule that converges very slowly, and stopping it early changes the
    clusters (``solver="em"`` shows how). By default they are solved for by Newton's method on a growing set of
    exemplars (`consilience.mixture_proportions`).

    An entity belongs to the exemplar of the highest posterior (Eq 14); with uniform weights, of the highest mean of the
    views' posteriors. An exemplar, and any entity identical with it, stays in its cluster. An entity that lacks a view
    is neither a point nor an exemplar there.

    All pairs of entities are compared: time grows with the square of their number. Tables up to 1 GiB are kept, larger
    ones are computed again, in blocks, in every round.

    On a GPU (arrays of torch or cupy) everything stays on the device, and tables are kept as far as its memory goes:
    100,000 entities in float32 take 40 GB per view. Float32 numbers are multiplied as such there and summed in float64,
    which limits the accuracy of the gap to about 1e-7. The host receives the clusters, the exemplar weights, and the
    products of the few exemplars considered in a round; whether given similarities are a kernel is checked on the host.

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
        **share_constraints("views", "max_iter", "tol", "n_jobs", "verbose"),
        "n_clusters": [POSITIVE_INTEGER, None],
        "weights": [StrOptions(set(SOLVERS))],
        "divergence": [StrOptions(set(DIVERGENCES)), HasMethods(["learn"]), dict, list, tuple],
        "beta": [Interval(Real, 0, None, closed="neither"), StrOptions({"auto"}), dict, list, tuple],
        "beta_unit": [StrOptions({"beta0", "absolute"})],
        "normalizer": ["boolean"],
        "min_weight": [Interval(Real, 0, 1, closed="both")],
        "refine": [StrOptions({"kernel-kmeans"}), None],
        "init": [dict, list, tuple, np.ndarray, None],
        "solver": [StrOptions({"newton", "em"})],
        "inner_tol": [Interval(Real, 0, None, closed="neither")],
    }

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        weights: Literal["learned", "uniform"] = "learned",
        divergence: Any = "squared-euclidean",
        beta: Any = 1.0,
        beta_unit: Literal["beta0", "absolute"] = "beta0",
        normalizer: bool = False,
        min_weight: float = 0.0,
        refine: Literal["kernel-kmeans"] | None = None,
        init: Any = None,
        solver: Literal["newton", "em"] = "newton",
        inner_tol: float = INNER_TOL,
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
        self.solver = solver
        self.inner_tol = inner_tol
        self.views = views
        self.max_iter = max_iter
        self.tol = tol
        self.n_jobs = n_jobs
        self.verbose = verbose

    @check_parameters
    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002
        """Find exemplars, and assign every entity to one.

        %(fit_parameters)s

        Returns
        -------
        self
            The fitted estimator. After Ctrl-C it holds the last complete round.
        """
        views = check_views(self, X, reset=True)
        if self.n_clusters is not None:
            check_n_clusters(self.n_clusters, len(views))
        divergences = resolve_divergences(self.divergence, views.names)
        factors, start = self._resolve_factors(views.names), self._resolve_init(views.names)
        self._check_compatible(views, divergences)
        columns = find_precomputed_columns(
            views, divergences, source=X, needed="divergence='precomputed' or 'kernel' needs a square matrix"
        )
        with (
            use_threads(self.n_jobs),
            explain_out_of_memory(f"the comparison of {len(views):,} entities with each other"),
        ):
            prepared, usable = prepare_comparisons(restrict_columns(views, columns), divergences)
            mixtures: list[FittedMixture] = []
            for factor in factors:
                units = {name: 1 if self.beta_unit == "absolute" else view.beta_0 for name, view in prepared.items()}
                betas = {name: factor[name] * unit for name, unit in units.items()}
                mixtures.append(self._train(prepared, len(usable), betas, start))
                if mixtures[-1].run.interrupted:
                    break
            separations = [compute_separation(prepared, m) for m in mixtures] if len(mixtures) > 1 else [0.0]
            best = mixtures[int(np.argmax(separations))]
            clusters: Exemplars | RefinedClusters = best.model
            placement, cost, interrupted = best.placement, -best.run.state.log_likelihood, False
            if self.refine:
                clusters, cost, interrupted = refine_clusters(best, prepared, bool(self.verbose))
                placement = clusters.place(best.points, len(usable))
        store_input_features(self, X, views)
        self._store(best, placement, usable, len(views))
        self.cost_ = cost
        self._clusters, self._columns = clusters, columns
        self._divergences = {
            name: FittedDivergence(
                divergences[name], view.measure, self.betas_[name], view.X[:1, ...], self._uses_density
            )
            for name, view in prepared.items()
        }
        self.__dict__.pop("beta_search_", None)  # of an earlier fit
        if len(factors) > 1:
            self.beta_search_ = Table(
                beta=np.array(FACTORS[: len(mixtures)]),
                clusters=np.array([mixture.model.n_clusters for mixture in mixtures]),
                separation=np.array(separations),
            )
        self._warn(best)
        warn_of_unplaced(views, place_values(best.placement.unplaced, usable, len(views), False))
        if interrupted or mixtures[-1].run.interrupted:
            raise KeyboardInterrupt("stopped early: the model holds the best result so far")
        return self

    @property
    def _uses_density(self) -> bool:
        """Whether the normalizer counts; it does not with uniform weights."""
        return bool(self.normalizer) and self.weights == "learned"

    def _check_compatible(self, views: Views, divergences: Mapping[str, PairDivergence]) -> None:
        """Refuse parameters that do not go together."""
        if self.solver == "em" and self.n_clusters is None:
            raise ValueError(
                "solver='em' leaves every entity a positive weight, so the number of clusters does not follow from the "
                "weights: give n_clusters, or use solver='newton'"
            )
        if self.solver == "newton" and self.inner_tol != INNER_TOL:
            raise ValueError(
                f"inner_tol={self.inner_tol} is not used with solver='newton', only with solver='em': leave it out"
            )
        if self.min_weight * views.n_views > 1:
            raise ValueError(
                f"min_weight={self.min_weight} is more than {views.n_views} views can all have: at most "
                f"{1 / views.n_views:.3g}"
            )
        for name, divergence in divergences.items():
            if self.refine and not divergence.has_kernel:
                raise ValueError(
                    f"view {name!r}: refine='kernel-kmeans' needs squared distances, which the divergence {divergence} "
                    "is not: use refine=None, or divergence 'squared-euclidean' or 'cosine'"
                )

    def _resolve_factors(self, names: Sequence[str]) -> list[dict[str, float]]:
        """Return the factors of beta per view; several with beta='auto'."""
        if self.beta == "auto":
            if self.beta_unit == "absolute":
                raise ValueError("beta='auto' tries factors: use beta_unit='beta0'")
            return [dict.fromkeys(names, factor) for factor in FACTORS]
        return [resolve_positive("beta", self.beta, names, "a number above 0")]

    def _resolve_init(self, names: Sequence[str]) -> np.ndarray:
        """Return the view weights to start from."""
        if self.init is None:
            return np.full(len(names), 1 / len(names))
        init = self.init.tolist() if isinstance(self.init, np.ndarray) else self.init
        start = np.array(list(resolve_positive("init", init, names, "a weight, a number above 0").values()))
        return start / start.sum()

    def _train(
        self, views: Mapping[str, ComparableView], n: int, betas: Mapping[str, float], start: np.ndarray
    ) -> FittedMixture:
        """Solve for proportions and view weights, and assign the entities."""
        A = build_likelihoods(views, betas, n)
        points = collect_fitted_points(views, betas, normalizer=self._uses_density)
        log_C = asarray_like(np.concatenate([view.log_normalizer for view in points.values()]), A.reference)
        inner_tol = self.inner_tol if self.solver == "em" else None
        problem = MixtureProblem(A, log_C, start, min(self.tol, LARGEST_GAP), self.tol, self.min_weight, inner_tol)
        with progress(type(self).__name__, 1, bool(self.verbose)) as show:
            # the states decide when they are settled
            finished = run(
                SOLVERS[self.weights](problem),
                max_iter=self.max_iter,
                tol=0.0,
                patience=self.max_iter,
                report=partial(show, 0),
            )
        state = finished.state

        def select_exemplars(support: np.ndarray) -> dict[str, ViewExemplars]:
            return {name: view.select_exemplars(betas[name], support) for name, view in views.items()}

        proportions = to_numpy(state.q)
        q = merge_duplicates(select_exemplars(np.flatnonzero(proportions)), points, proportions)
        support = np.argsort(-q, kind="stable")[: np.count_nonzero(q)]
        n_clusters = min(self.n_clusters or len(support), len(support))
        needed, free = N_TABLES * n * n_clusters * 8, available_memory()
        if free is not None and needed > free:
            raise MemoryError(
                f"the probabilities of {n:,} entities in {n_clusters:,} clusters take {needed / 2**30:.1f} GiB of "
                f"memory, but {free / 2**30:.1f} GiB are free: give n_clusters, or lower beta for fewer exemplars"
            )
        log_weights = state.log_weights if self.weights == "learned" else None
        model = Exemplars(select_exemplars(support), np.log(q[support]), n_clusters, log_weights)
        likelihood = float(namespace(state.q).mean(A @ state.q))
        return FittedMixture(finished, q, support, model, points, likelihood, model.place(points, n))

    def _store(self, mixture: FittedMixture, placement: Placement, usable: np.ndarray, n: int) -> None:
        """Set the attributes; entities without a usable view get the cluster of the largest exemplar weight."""
        state, model = mixture.run.state, mixture.model
        self.labels_ = place_values(placement.P.argmax(axis=1), usable, n, 0)
        self.exemplar_weights_ = place_values(mixture.q, usable, n, 0.0)
        self.exemplars_ = usable[mixture.support[: model.n_clusters]]
        self.n_clusters_ = model.n_clusters
        self.view_weights_ = dict(zip(model.views, state.weights.tolist(), strict=True))
        self.betas_ = {name: view.beta for name, view in model.views.items()}
        self.gap_ = state.gap
        self.history_ = Table.from_rows(mixture.run.history)
        self.n_iter_, self.converged_ = mixture.run.n_iter, mixture.run.converged
        store_agreement(
            self, {name: place_values(labels, usable, n, -1) for name, labels in placement.view_labels.items()}
        )

    def _warn(self, mixture: FittedMixture) -> None:
        """Warn about everything that makes the result worse than it could be."""
        n = len(mixture.q)
        solves = self.solver == "newton"  # the paper's updates leave a gap, and every entity a positive weight
        is_solved = mixture.run.converged and (not solves or self.gap_ <= max(self.tol, LARGEST_GAP))
        if not is_solved and not mixture.run.interrupted:
            tolerance = "tol" if solves or self.weights == "learned" else "inner_tol"
            warnings.warn(
                f"no convergence in {mixture.run.n_iter} rounds, the gap is {self.gap_:.2g}: raise max_iter, or "
                f"{tolerance} (now {getattr(self, tolerance)})",
                ConvergenceWarning,
                stacklevel=find_stack_level(),
            )
        elif solves and len(mixture.support) == n > 1:
            too_small = mixture.likelihood > n**-0.5  # it is 1 if all entities are alike, 1 / n if no two are
            remedy = "small that all are alike. Raise beta" if too_small else "large that no two are alike. Lower beta"
            warnings.warn(
                f"every one of the {n} entities is an exemplar: beta is so {remedy}",
                UserWarning,
                stacklevel=find_stack_level(),
            )
        if self.n_clusters is not None and self.n_clusters_ < self.n_clusters:
            warnings.warn(
                f"only {self.n_clusters_} exemplars have positive weight, so only {self.n_clusters_} of the "
                f"n_clusters={self.n_clusters} requested clusters were found: raise beta for more",
                UserWarning,
                stacklevel=find_stack_level(),
            )
        warn_about_empty_clusters(self.labels_, self.n_clusters_, "lower n_clusters, or use refine=None")

    def predict(self, X: Any, *, out: Any = None) -> np.ndarray:
        """Assign entities to the clusters.

        %(predict_parameters)s
        %(out)s

        %(returns_out)s
        """
        return write_labels(self._place(X).P.argmax(axis=1), out)

    @available_if(check_has_probabilities)
    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probability of each cluster, given that it is one of them: the posterior of Eq 14.

        %(predict_parameters)s

        Returns
        -------
        ndarray of shape (n_entities, n_clusters)
            Rows sum to one. An exemplar belongs to its own cluster for certain.
        """
        return self._place(X).P

    def score(self, X: Any, y: Any = None) -> float:  # noqa: ARG002
        """Return how well the mixture fits these entities; higher is better.

        %(score_parameters)s

        Returns
        -------
        float
            Mean log-likelihood of the entities that have a view; with `refine`, minus the weighted sum of their squared
            distances from the nearest means.
        """
        scores = self._place(X).scores
        scores = scores[~np.isnan(scores)]
        return float(scores.sum() if self.refine else scores.mean())

    def _place(self, X: Any) -> Placement:
        check_is_fitted(self)
        views = restrict_columns(check_views(self, X, reset=False), self._columns)
        task = f"the comparison of {len(views):,} entities with the exemplars"
        with use_threads(self.n_jobs), explain_out_of_memory(task):
            placement = self._clusters.place(collect_new_points(views, self._divergences), len(views))
        warn_of_unplaced(views, placement.unplaced)
        return placement

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags = ClassifierTags()  # scikit-learn's checks need it if predict_proba takes sparse rows
        return tags


def resolve_positive(parameter: str, values: Any, names: Sequence[str], expected: str) -> dict[str, float]:
    """Return a positive finite number per view."""
    by_view = resolve_per_view(parameter, values, names)
    for name, value in by_view.items():
        if not is_real(value) or not 0 < float(value) < np.inf:
            raise ValueError(f"view {name!r}: {parameter}={value!r} must be {expected}")
    return {name: float(value) for name, value in by_view.items()}


def place_values(values: np.ndarray, positions: np.ndarray, n: int, fill: float) -> np.ndarray:
    """Put values at their positions in an array of length n."""
    placed = np.full(n, fill, dtype=values.dtype)
    placed[positions] = values
    return placed


def compute_separation(views: Mapping[str, ComparableView], mixture: FittedMixture) -> float:
    """Compute how well clusters are separated (Calinski & Harabasz 1974), averaging their scatter over views."""
    labels, n_clusters = mixture.placement.P.argmax(axis=1), mixture.model.n_clusters
    shares = []
    for view in views.values():
        if not view.mean:
            continue  # only one entity has the view
        distances = PairwiseDistances.between(view.measure, view.points, view.exemplars, cached=False)
        space = DistanceSpace(view.entities, distances, 1.0)
        means, _ = compute_kernel_means(space, asarray_like(labels, view.points.X), n_clusters)
        sizes = np.bincount(labels[view.entities], minlength=n_clusters)
        shares.append(float(sizes @ to_numpy(means.variance)) / (len(view.entities) * view.mean / 2))
    n = len(labels)
    if n_clusters in (1, n) or not shares:
        return 0.0
    within = float(np.mean(shares))
    return np.inf if within <= 0 else (1 - within) / (n_clusters - 1) / (within / (n - n_clusters))


def refine_clusters(
    mixture: FittedMixture, views: Mapping[str, ComparableView], verbose: bool
) -> tuple[RefinedClusters, float, bool]:
    """Refine clusters by kernel k-means on the weighted views; also return the cost and whether Ctrl-C ended it."""
    weights = mixture.run.state.weights.tolist()
    cached, spaces = choose_cached_tables(views), []
    for (name, view), weight in zip(views.items(), weights, strict=True):
        distances = PairwiseDistances.between(view.measure, view.points, view.exemplars, cached=cached[name])
        spaces.append(DistanceSpace(view.entities, distances, weight))
    labels = asarray_like(mixture.placement.P.argmax(axis=1), next(iter(views.values())).points.X)
    states = iterate_kernel_kmeans(spaces, labels, mixture.model.n_clusters)
    with progress("kernel k-means", 1, verbose) as show:
        finished = run(states, max_iter=MAX_REFINEMENTS, tol=0.0, patience=MAX_REFINEMENTS, report=partial(show, 0))
    view_means = {
        name: ViewClusterMeans(view.measure, view.exemplars, means, weight)
        for (name, view), means, weight in zip(views.items(), finished.state.means, weights, strict=True)
    }
    clusters = RefinedClusters(view_means, mixture.model.n_clusters)
    return clusters, finished.state.cost, finished.interrupted


def warn_of_unplaced(views: Views, unplaced: np.ndarray) -> None:
    """Warn about entities that share no view with any exemplar."""
    positions = np.flatnonzero(unplaced)
    if len(positions):
        warnings.warn(
            f"entity {show_id(views, positions[0])} shares no view with any cluster's exemplar ({len(positions)} "
            "such), and gets the cluster of the largest exemplar weight: ask for more clusters, or give it more views",
            UserWarning,
            stacklevel=find_stack_level(),
        )
