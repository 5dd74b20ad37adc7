"""Mixture models over several views, by co-EM."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import reduce
from math import log
from numbers import Real
from operator import add
from typing import Any, ClassVar, Literal, Self, TypeVar

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils import ClassifierTags
from sklearn.utils.validation import check_is_fitted

from ..._numbers import is_integer
from ..._saving import save_as
from ...arrays import (
    Array,
    Seed,
    asarray_like,
    create_scratch_array,
    explain_out_of_memory,
    make_generator,
    namespace,
    to_numpy,
    use_threads,
)
from ...data import Table, Views
from ...data.inputs import resolve_per_view
from ...families import Family, Multinomial
from ...rows import Shards, join_blocks
from ..common.input_checks import (
    check_n_clusters,
    check_new_views,
    check_out,
    check_views,
    gather_results,
    store_agreement,
    store_input_features,
    warn_about_empty_clusters,
    warn_if_not_converged,
)
from ..common.known_classes import KnownClassesMixin, check_classes
from ..common.run import StartRace, announce, draws_starts, run_starts
from ..common.shards import OUT_OF_MEMORY_ADVICE
from ..common.starts import NAMED_STARTS, count_starts, sample_seed_entities
from ..common.stream import append_batch, check_same_clusters, convert_arrays, join_view_labels, share_stream_docs
from ..common.validation import Interval, SequenceOf, StrOptions, check_parameters, share_constraints
from .algorithm import Model, co_em
from .assign import (
    ASSIGNMENTS,
    compute_log_likelihoods,
    compute_shard_probabilities,
    conclude_posteriors,
    sum_log_likelihoods,
)
from .prepare import exceeds_memory, prepare_mixture
from .priors import PRIORS
from .start import start_from_init, start_from_seeds
from .stream import co_em_step, remember_sums

T = TypeVar("T")

N_ANNEALED = 25  # rounds from the first eta to zero
SCHEDULES = {  # factors of eta per round (Bickel & Scheffer 2005, step 2b of Table 1)
    "linear": [1 - t / N_ANNEALED for t in range(N_ANNEALED + 1)],
    "geometric": [*(0.01 ** (t / (N_ANNEALED - 1)) for t in range(N_ANNEALED)), 0.0],
}


@save_as("co-em")
@share_stream_docs
class CoEM(KnownClassesMixin, BaseEstimator):
    """Mixture model over any number of views, each with a distribution of its own, estimated by co-EM.

    Each view has parameters for every cluster. In turn, each view estimates them from the posteriors of the *other*
    views (Bickel & Scheffer 2005). So the views come to agree, and if they are independent given the cluster, their
    agreement bounds their error. `eta` is the weight of the other views. A view that an entity lacks is left out; rows
    of zeros in a multinomial or von Mises-Fisher view count as missing.

    Parameters
    ----------
    %(n_clusters)s
    families : str, Family, or dict of view name to either, default='auto'
        The distribution of each view: 'multinomial', 'bernoulli', 'poisson', 'categorical', 'gaussian' (diagonal),
        'gaussian-full', 'gaussian-tied', 'gaussian-spherical', 'von-mises-fisher', or an object of
        `consilience.families`, such as ``Multinomial(smoothing=1)``. 'auto' uses 'bernoulli' if all values are 0 or 1,
        'multinomial' if they are whole numbers, none negative (counts), and 'gaussian' otherwise. It never uses one of
        the others: for tf-idf, for instance, choose 'von-mises-fisher' or 'multinomial'. `families_` has the result,
        and `verbose` shows it.
    %(views)s
    eta : float, default=0.5
        Weight of the consensus, from 0 (plain EM in each view) to 1 (each view learns only from the others, the choice
        of the paper). Use 1 if each view alone is nearly certain of the clusters, as with text. Weak views blur each
        other until the posteriors have become uniform: if clusters come out empty, lower it to 0.25.
    anneal : {'linear', 'geometric'}, sequence of float or None, default=None
        Lower `eta` to 0 over 25 rounds, in equal steps or ratios, or use the given values, one per round, the last of
        which stays. If the last is 0, the run ends in plain EM, which converges.
    priors : {'global', 'view', 'uniform'}, default='global'
        Prior of each cluster: one estimate for all views (Eq 17), one per view, or equal for all clusters.
    assignment : {'joint', 'average'}, default='joint'
        The cluster of an entity: the most likely one given all its views (Eq 19), or the one with the largest mean
        posterior over its views.
    n_init : int, default=12
        Number of starts; the one with the largest likelihood is kept. Starts that are behind end early: after rounds 2,
        4, 8, ... a run goes on if its likelihood is in the better half of those that it and the runs before it had
        then. More starts never raise the cost.
    %(max_iter)s
        A round visits every view once.
    tol : float, default=1e-6
        A view's log-likelihood counts as higher only if it rises by more than this share of itself.
    patience : int, default=5
        Stop after this many rounds in which no view's log-likelihood reached a new maximum. It may fall now and then,
        so do not stop at the first fall.
    init : {'k-means++', 'random', 'random-responsibilities'}, array-like or dict, default='k-means++'
        Where to start: 'k-means++' and 'random' choose an entity per cluster, assign the others to the nearest by all
        their views, and start from this partition in all views; 'random-responsibilities' starts as the papers do, from
        posteriors drawn at random, the same in all views. They are uniform among all that sum to 1. With labels
        (n_entities,),
        or responsibilities (n_entities, n_clusters) for all views or in a dict by view, the run starts from one M-step
        on them. With parameters, in a dict by view of dicts like those of `params_`, it starts from these;
        ``init=model.params_`` continues where a model stopped. A view may be left out: the others determine it in the
        first round.
    %(random_state)s
    %(n_jobs)s
    %(verbose)s

    Attributes
    ----------
    %(labels_)s
    view_labels_ : dict of str to ndarray of shape (n_entities,)
        The cluster that each view alone finds most likely; -1 where the entity lacks the view.
    responsibilities_ : dict of str to array of shape (n_entities, n_clusters)
        The posterior of each view alone (Eq 14); zeros where the entity lacks the view.
    params_ : dict of str to dict of str to array
        Parameters of each view: its family's, and 'weights', the prior it used.
    cluster_weights_ : array of shape (n_clusters,)
        The prior of each cluster; with ``priors='view'`` the mean over the views.
    families_ : dict of str to Family
        The family of each view.
    %(agreement_unknown_)s
    %(seed_classes_)s
    cost_ : float
        Minus the log-likelihood of all entities under the joint model; that of an entity of known class is the density
        of its views and its class.
    history_ : Table
        One row per round: ``q`` (the criterion Q^MV at the round's parameters), ``delta`` (its disagreement term), each
        view's log-likelihood, agreement, eta. After `partial_fit` one row per batch.
    n_iter_, converged_ : int, bool
        Number of rounds, and whether patience ended them before `max_iter`.
    n_batches_ : int
        Number of batches, of which `fit` is one.
    statistics_ : dict of str to dict
        What `partial_fit` continues from: per view the number of entities so far ('n_entities'), and per entity the
        statistics of its family and the sums of its blended and of its own posteriors.
    %(n_features_in_)s

    Notes
    -----
    If `init` chooses entities and every cluster has a class in the y of `fit`, there is one start: from the entities of
    known class alone (Nigam & Ghani 2000) if all families smooth, otherwise from the partition by the nearest class
    mean. If there are more clusters than classes, class means take the place of chosen entities, and the others are
    drawn as `init` says.

    The log-likelihood of a multinomial view leaves out the multinomial coefficient, which depends on no parameter. So
    likelihoods, `bic` and `aic` compare models of the same data that have the same families.

    Examples
    --------
    >>> import consilience as cs
    >>> views, y = cs.datasets.make_text_views(200, n_clusters=3, topic_share=0.5, missing=0.2, random_state=0)
    >>> model = cs.CoEM(n_clusters=3, random_state=0).fit(views)
    >>> bool(cs.metrics.normalized_mutual_info_score(y, model.labels_) > 0.9)
    True
    >>> model.families_["view0"].name, model.predict_proba(views[:5]).shape
    ('multinomial', (5, 3))
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **share_constraints(
            "n_clusters", "views", "n_init", "max_iter", "tol", "patience", "random_state", "n_jobs", "verbose"
        ),
        "families": [str, Family, dict, list, tuple],
        "eta": [Interval(Real, 0, 1, closed="both")],
        "anneal": [StrOptions(set(SCHEDULES)), SequenceOf(Interval(Real, 0, 1, closed="both")), None],
        "priors": [StrOptions(set(PRIORS))],
        "assignment": [StrOptions(set(ASSIGNMENTS))],
        "init": [StrOptions(NAMED_STARTS), dict, "array-like"],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        families: Any = "auto",
        views: dict[str, Any] | None = None,
        eta: float = 0.5,
        anneal: Any = None,
        priors: Literal["global", "view", "uniform"] = "global",
        assignment: Literal["joint", "average"] = "joint",
        n_init: int = 12,
        max_iter: int = 200,
        tol: float = 1e-6,
        patience: int = 5,
        init: Any = "k-means++",
        random_state: Seed = None,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.n_clusters = n_clusters
        self.families = families
        self.views = views
        self.eta = eta
        self.anneal = anneal
        self.priors = priors
        self.assignment = assignment
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.patience = patience
        self.init = init
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @classmethod
    def multinomial_2004(cls, n_clusters: int = 8, **options: Any) -> CoEM:
        """Return the mixture of multinomials of Bickel & Scheffer 2004.

        Views learn from each other alone, one is added to every count, the prior is uniform, and the views' posteriors
        are averaged in the end. With two views the start of the second one decides.

        Parameters
        ----------
        n_clusters : int, default=8
            Number of clusters.
        **options : dict
            Further parameters of `CoEM`.

        Returns
        -------
        CoEM
            An estimator that is not fitted.
        """
        settings = {"families": Multinomial(smoothing=1), "eta": 1.0, "priors": "uniform", "assignment": "average"}
        return cls(n_clusters, **{**settings, **options})

    @check_parameters
    def fit(self, X: Any, y: Any = None) -> Self:
        """Estimate the model.

        %(fit_parameters_classes)s

        %(returns_self_interruptible)s
        """
        views = check_views(self, X, reset=True)
        check_n_clusters(self.n_clusters, len(views))
        fixed_labels, seed_classes = check_classes(y, len(views), self.n_clusters)
        etas = self._make_etas()
        with use_threads(self.n_jobs), explain_out_of_memory(*OUT_OF_MEMORY_ADVICE):
            shards, families = self._prepare(views)
            if fixed_labels is not None:
                shards = shards.with_labels(fixed_labels, "fixed_labels")
            best, interrupted = run_starts(
                self,
                self._make_starts(shards, families, fixed_labels),
                count_starts(self, fixed_labels),
                lambda start: co_em(shards, start, etas, PRIORS[self.priors]),
                lambda _, state: (state.model, self._compute_cost(shards, state.model)),
                StartRace(),
            )
            state = best.run.state
            results = self._conclude(shards, state.model, state.eta)
            sums = {name: reduce(add, (result["sums"][name] for result in results)) for name in families}
            memories = remember_sums(shards, sums)
        store_input_features(self, X, views)
        self.families_, self.seed_classes_ = families, seed_classes
        self.n_iter_, self.converged_ = best.run.n_iter, best.run.converged
        self.history_ = Table.from_rows(best.run.history)
        self._store(state.model.params, state.model.weights, best.cost, results, fixed_labels)
        self.statistics_, self.n_batches_ = memories, 1
        if interrupted:
            raise KeyboardInterrupt("stopped early: the model holds the best result so far")
        warn_if_not_converged(self)
        remedy = "lower n_clusters or raise n_init"
        if len(self.params_) > 1 and self.anneal is None and self.eta > 0:
            remedy += (
                f". The views may carry too little signal and have converged to uniform posteriors: lower eta (now "
                f"{self.eta}), or anneal it"
            )
        warn_about_empty_clusters(self.labels_, self.n_clusters, remedy)
        return self

    @check_parameters
    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Continue with a batch of a stream: one round on its entities, averaged with the batches before.

        %(partial_fit)s

        Examples
        --------
        >>> import consilience as cs
        >>> views, y = cs.datasets.make_text_views(600, n_clusters=3, topic_share=0.5, missing=0.2, random_state=0)
        >>> model = cs.CoEM(n_clusters=3, random_state=0)
        >>> for start in range(0, 600, 100):
        ...     model = model.partial_fit(views[start : start + 100])
        >>> model.n_batches_, bool(cs.metrics.normalized_mutual_info_score(y, model.predict(views)) > 0.9)
        (6, True)
        """
        if not hasattr(self, "statistics_"):
            self.fit(X, y)
            self.history_ = append_batch(self.history_, 1)
            return self
        views = check_views(self, X, reset=False)
        views = views[[name for name in self.view_n_features_ if name in views]]
        check_same_clusters(self.n_clusters, self.cluster_weights_.shape[0])
        fixed_labels, _ = check_classes(y, len(views), self.n_clusters, self)
        eta = self._make_etas()[-1]
        with use_threads(self.n_jobs), explain_out_of_memory(*OUT_OF_MEMORY_ADVICE):
            shards, model = self._prepare_new(views)
            if fixed_labels is not None:
                shards = shards.with_labels(fixed_labels, "fixed_labels")
            reference = next(iter(shards.views.values())).present
            params, memories = (convert_arrays(tree, reference) for tree in (self.params_, self.statistics_))
            state, memories = co_em_step(shards, model, memories, eta, PRIORS[self.priors])
            results = self._conclude(shards, state.model)
            cost = self._compute_cost(shards, state.model)
        params = {name: _drop_weights(values) for name, values in params.items()} | state.model.params
        self._store(params, state.model.weights, cost, results, fixed_labels)
        self.statistics_ = memories
        self.history_ = append_batch(self.history_, self.n_batches_, state.record)
        self.n_batches_ += 1
        self.n_iter_, self.converged_ = 1, False
        return self

    def _make_etas(self) -> list[float]:
        """Return the weight of the consensus per round; the last one stays."""
        if self.anneal is None:
            return [self.eta]
        if isinstance(self.anneal, str):
            return [self.eta * factor for factor in SCHEDULES[self.anneal]]
        return np.asarray(self.anneal).tolist()

    def _prepare(self, views: Views) -> tuple[Shards, dict[str, Family]]:
        """Prepare the rows for a fit, and choose the family of each view."""
        families = resolve_per_view("families", self.families, views.names, partial=True)
        requested = {name: families.get(name, "auto") for name in views.names}
        shards, families, reasons = prepare_mixture(views, requested, self.n_clusters)
        for name, reason in reasons.items():
            announce(f"CoEM: view {name!r}: family {families[name].name!r}{reason}", bool(self.verbose))
        return shards, families

    def families_for(self, X: Any) -> dict[str, Family]:
        """Return the families that `fit` would choose for these data.

        Parameters
        ----------
        %(X)s

        Returns
        -------
        dict of str to Family
            One per view; pass them as `families`, to fit samples of the data for instance.
        """
        return self._prepare(check_views(clone(self), X, reset=True))[1]

    def _make_starts(
        self, shards: Shards, families: Mapping[str, Family], fixed_labels: np.ndarray | None
    ) -> Iterator[Model]:
        """Yield the model that each run starts from."""
        prior = PRIORS[self.priors]
        if not draws_starts(self.init):
            return iter([start_from_init(self.init, shards, families, self.n_clusters, prior)])
        rng = make_generator(self.random_state)
        generators, (sample_rng,) = rng.spawn(self.n_init), rng.spawn(1)
        generators = generators[: count_starts(self, fixed_labels)]
        views, rows = sample_seed_entities(shards, self.n_clusters, sample_rng, fixed_labels)
        if fixed_labels is not None and rows is not None:
            fixed_labels = fixed_labels[rows]
        return start_from_seeds(views, families, self.n_clusters, self.init, prior, generators, fixed_labels)

    def _compute_cost(self, shards: Shards, model: Model) -> float:
        return -float(sum(shards.map(sum_log_likelihoods, model, _average_priors(model.weights))))

    def _conclude(self, shards: Shards, model: Model, eta: float | None = None) -> list[dict[str, Any]]:
        """Compute the final results of each shard; posteriors that exceed the memory are stored in files."""
        prior, results = _average_priors(model.weights), []
        spills = exceeds_memory(shards.views, prior.shape[0])
        for result in shards.map(conclude_posteriors, model, prior, self.assignment, eta):
            if spills:
                for name, posterior in result["posteriors"].items():
                    result["posteriors"][name] = create_scratch_array(posterior.shape, posterior.dtype)
                    result["posteriors"][name][...] = posterior
            results.append(result)
        return results

    def _store(
        self,
        params: Mapping[str, Any],
        weights: Mapping[str, Array],
        cost: float,
        results: Sequence[dict[str, Any]],
        fixed_labels: np.ndarray | None,
    ) -> None:
        """Store the model, and the results of the entities that it was fitted on."""
        self.params_ = {name: {"weights": weights[name], **values} for name, values in params.items()}
        self.cluster_weights_ = _average_priors(weights)
        names = list(results[0]["posteriors"])
        posteriors = {name: join_blocks([result["posteriors"][name] for result in results]) for name in names}
        absent = posteriors[names[0]] * 0 if len(names) < len(self.families_) else None
        self.responsibilities_ = {name: posteriors.get(name, absent) for name in self.families_}
        self.labels_ = np.concatenate([to_numpy(result["labels"]) for result in results])
        self.cost_ = cost
        view_labels = [result["view_labels"] for result in results]
        store_agreement(self, join_view_labels(view_labels, self.families_, len(self.labels_)), fixed_labels)

    def predict(self, X: Any, *, out: Any = None) -> np.ndarray:
        """Return the cluster of each entity, by the views that it has.

        %(predict_parameters)s
        %(out)s

        %(returns_out)s
        """
        views = check_new_views(self, X)
        check_out(out, (len(views),), self.cluster_weights_.shape[0] - 1)
        with use_threads(self.n_jobs), explain_out_of_memory(*OUT_OF_MEMORY_ADVICE):
            blocks = self._map_new(views, compute_shard_probabilities, self.assignment)
            return gather_results((namespace(block).argmax(block, axis=1) for block in blocks), out)

    def predict_proba(self, X: Any, *, out: Any = None) -> np.ndarray:
        """Return the probability of each cluster for each entity, by the views that it has.

        %(predict_parameters)s
        %(out_proba)s

        Returns
        -------
        ndarray of shape (n_entities, n_clusters)
            The posterior given all views, or the views' mean posterior with ``assignment='average'``.
        """
        views = check_new_views(self, X)
        check_out(out, (len(views), self.cluster_weights_.shape[0]), 0.5)
        with use_threads(self.n_jobs), explain_out_of_memory(*OUT_OF_MEMORY_ADVICE):
            return gather_results(self._map_new(views, compute_shard_probabilities, self.assignment), out)

    def score_samples(self, X: Any) -> np.ndarray:
        """Return the log-likelihood of each entity under the joint model, over the views that it has.

        %(predict_parameters)s

        Returns
        -------
        ndarray of shape (n_entities,)
            The log-likelihoods; 0 for an entity whose views are all empty.
        """
        with use_threads(self.n_jobs), explain_out_of_memory(*OUT_OF_MEMORY_ADVICE):
            return gather_results(values for values, _ in self._map_new(X, compute_log_likelihoods))

    def _score_informative(self, X: Any) -> np.ndarray:
        """Return the log-likelihoods of the entities that have a view that is not empty."""
        with use_threads(self.n_jobs), explain_out_of_memory(*OUT_OF_MEMORY_ADVICE):
            blocks = self._map_new(X, compute_log_likelihoods)
            return gather_results(to_numpy(values)[to_numpy(present)] for values, present in blocks)

    def score(self, X: Any, y: Any = None) -> float:  # noqa: ARG002
        """Return the mean log-likelihood of the entities under the joint model.

        %(score_parameters)s

        Returns
        -------
        float
            The mean of `score_samples`, over the entities that have a view that is not empty.
        """
        return float(self._score_informative(X).mean())

    def bic(self, X: Any) -> float:
        """Return the Bayesian information criterion of the joint model on these entities: lower is better.

        %(predict_parameters)s

        Returns
        -------
        float
            Parameters times log of the number of entities, less twice the log-likelihood. Co-EM does not maximize
            this likelihood alone, so use it as a guide.
        """
        scores = self._score_informative(X)
        return self._count_parameters() * log(len(scores)) - 2 * float(scores.sum())

    def aic(self, X: Any) -> float:
        """Return Akaike's information criterion of the joint model on these entities: lower is better.

        %(predict_parameters)s

        Returns
        -------
        float
            Twice the parameters, less twice the log-likelihood.
        """
        return 2 * self._count_parameters() - 2 * float(self.score_samples(X).sum())

    def sample(self, n_samples: int = 1, random_state: Seed = None) -> tuple[Views, np.ndarray]:
        """Draw new entities from the model.

        Parameters
        ----------
        n_samples : int, default=1
            Number of entities.
        %(random_state)s

        Returns
        -------
        views : Views
            The entities, with all views.
        y : ndarray of shape (n_samples,)
            The cluster that each was drawn from.
        """
        check_is_fitted(self)
        if not is_integer(n_samples, least=1):
            raise ValueError(f"n_samples must be a whole number from 1 on, got {n_samples!r}")
        rng = make_generator(random_state)
        weights = to_numpy(self.cluster_weights_)
        y = rng.choice(len(weights), n_samples, p=weights / weights.sum())
        blocks = {name: family.sample(self.params_[name], y, rng) for name, family in self.families_.items()}
        return Views(blocks), y

    def _count_parameters(self) -> int:
        counts = (family.n_parameters(_drop_weights(self.params_[n])) for n, family in self.families_.items())
        return PRIORS[self.priors].count_parameters(len(self.params_), self.n_clusters) + sum(counts)

    def _prepare_new(self, views: Views) -> tuple[Shards, Model]:
        """Prepare the rows of new entities, and the model for their views in their library and on their device."""
        families = {name: self.families_[name] for name in views.names}
        shards, families, _ = prepare_mixture(views, families, self.n_clusters, fitting=False)
        converted = convert_arrays(self.params_, next(iter(shards.views.values())).present)
        weights = {name: values["weights"] for name, values in converted.items()}
        return shards, Model(families, {name: _drop_weights(converted[name]) for name in shards.views}, weights)

    def _map_new(self, X: Any, task: Callable[..., T], *more: Any) -> Iterator[T]:
        """Map a task of new entities, the model and the prior over the shards."""
        shards, model = self._prepare_new(check_new_views(self, X))
        prior = asarray_like(to_numpy(self.cluster_weights_), next(iter(shards.views.values())).present)
        return shards.map(task, model, prior, *more)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags = ClassifierTags()  # scikit-learn's checks ask it of all that predict_proba sparse rows
        return tags


def _average_priors(weights: Mapping[str, Array]) -> Array:
    values = list(weights.values())
    return sum(values[1:], values[0]) / len(values)


def _drop_weights(params: Mapping[str, Array]) -> dict[str, Array]:
    """Return the parameters of the family."""
    return {key: value for key, value in params.items() if key != "weights"}
