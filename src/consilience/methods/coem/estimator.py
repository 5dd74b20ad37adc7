"""Mixture models over several views, by co-EM."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from math import log
from numbers import Integral, Real
from typing import Any, ClassVar, TypeVar

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin, clone
from sklearn.utils import ClassifierTags
from sklearn.utils.validation import check_is_fitted

from ..._saving import save_as
from ...arrays import Array, asarray_like, explain_out_of_memory, make_generator, namespace, to_numpy, use_threads
from ...data import Table, Views, resolve_per_view
from ...families import Family, Multinomial
from ...rows.shards import Shards, join_blocks
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
from ..common.progress import announce, progress
from ..common.run import Attempt, choose_best_attempt, run
from ..common.shards import TOO_LARGE, concluded, prepare_mixture
from ..common.starts import STRATEGIES, sample_seed_entities
from ..common.stepwise import batch_history, brought, check_same_clusters, co_em_memories, co_em_step, joined_labels
from ..common.validation import RANDOM_STATE, Interval, StrOptions, check_parameters
from .algorithm import Model, co_em
from .assign import ASSIGNMENTS, compute_probabilities, log_likelihoods, total_likelihood
from .priors import PRIORS
from .schedules import SCHEDULES, anneal_eta, constant_eta
from .start import start_from_init, start_from_seeds

T = TypeVar("T")


@save_as("co-em")
class CoEM(ClusterMixin, BaseEstimator):
    """Mixture model over any number of views, each with a distribution of its own, estimated by co-EM.

    Each view has parameters for every cluster. In turn, each view estimates them from what the *other* views think of
    the entities (Bickel & Scheffer 2005): the views are led to agree, and where they are independent given the cluster,
    agreement bounds their error. `eta` says how much the others count. A view that an entity lacks is left out; rows of
    zeros in a multinomial or von Mises-Fisher view count as missing.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    families : str, Family, or dict of view name to either, default='auto'
        The distribution of each view: 'multinomial', 'bernoulli', 'poisson', 'categorical', 'gaussian' (diagonal),
        'gaussian-full', 'gaussian-tied', 'gaussian-spherical', 'von-mises-fisher', or an object of
        `consilience.families`, such as ``Multinomial(smoothing=1)``. 'auto' looks at the values: only 0 and 1 is
        'bernoulli'; whole numbers, none negative, are counts: 'multinomial'; all else is 'gaussian'. It never takes one
        of the others: tf-idf, for instance, wants 'von-mises-fisher' or 'multinomial'. `families_` says what was taken,
        and so does `verbose`.
    views : dict of str to columns, optional
        If `fit` is given one array or frame: which of its columns make up which view (slices, positions or names).
    eta : float, default=0.5
        Weight of the consensus, from 0 (plain EM in each view) to 1 (each view learns only from the others, the choice
        of the paper). Use 1 if each view alone is nearly certain of the clusters, as with text. Weak views blur each
        other until the posteriors have become uniform: if clusters come out empty, lower it to 0.25.
    anneal : {'linear', 'geometric'}, sequence of float or None, default=None
        Lower `eta` to 0 over 25 rounds, in equal steps or ratios, or follow the given values, one a round, the last of
        which stays. With the last at 0, the run ends in plain EM, which converges.
    priors : {'global', 'view', 'uniform'}, default='global'
        Sizes of the clusters: one estimate for all views (Eq 17), one a view, or all the same.
    assignment : {'joint', 'average'}, default='joint'
        The cluster of an entity: the most likely one given all its views (Eq 19), or the one of the largest mean
        posterior over its views.
    n_init : int, default=5
        Number of starts; the one of largest likelihood is kept.
    max_iter : int, default=200
        Most rounds a start may take; a round visits every view once.
    tol : float, default=1e-6
        A view's log-likelihood counts as higher only if it rises by more than this share of itself.
    patience : int, default=5
        Stop after so many rounds in which no view's log-likelihood reached a new maximum. It falls now and then, so do
        not stop at the first fall.
    init : {'k-means++', 'random'}, labels, responsibilities or parameters, default='k-means++'
        Where to start. Both strategies choose entities by all their views and start from one partition for all views.
        Given labels (n_entities,), or responsibilities (n_entities, n_clusters) for all views or in a dict by view, the
        run starts from one M-step on them. Given parameters, in a dict by view of dicts like those of `params_`, it
        starts from these; ``init=model.params_`` goes on where a model stopped. A view may be left out: the others
        speak for it in the first round.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the starts.
    n_jobs : int, default=None
        Threads that share the rows; None and -1 take all cores. The result does not depend on it.
    verbose : bool, default=False
        Show progress.

    Attributes
    ----------
    labels_ : ndarray of shape (n_entities,)
        The cluster of each entity.
    view_labels_ : dict of str to ndarray of shape (n_entities,)
        The cluster that each view finds most likely by itself; -1 where the entity lacks it.
    responsibilities_ : dict of str to array of shape (n_entities, n_clusters)
        The posterior of each view by itself (Eq 14); zeros where the entity lacks it.
    params_ : dict of str to dict of str to array
        Parameters of each view: its family's, and 'weights', the prior it used.
    cluster_weights_ : array of shape (n_clusters,)
        The prior of each cluster; with ``priors='view'`` the mean over the views.
    families_ : dict of str to Family
        The family of each view.
    agreement_ : ndarray of shape (n_views, n_views)
        Share of entities that two views put into the same cluster.
    cost_ : float
        Minus the log-likelihood of all entities under the joint model.
    history_ : Table
        One row a round: `q` (the criterion Q^MV at the round's parameters), `delta` (its disagreement term), each
        view's log-likelihood, agreement, eta. After `partial_fit` one row a batch.
    n_iter_, converged_ : int, bool
        Rounds taken, and whether they ran out of patience before `max_iter`.
    n_batches_ : int
        Batches seen, of which `fit` is one.
    statistics_ : dict of str to dict
        What `partial_fit` goes on from: of each view how many entities it had so far ('n_entities'), and per entity the
        statistics of its family and the sums of its blended and of its own posteriors.
    n_features_in_, feature_names_in_ : int, ndarray
        Columns of all views together, and their names where all views came with names.

    Notes
    -----
    The log-likelihood of a multinomial view leaves out the multinomial coefficient, which depends on no parameter. So
    likelihoods, `bic` and `aic` compare models of the same data that have the same families.

    Examples
    --------
    >>> import consilience as cs
    >>> views, y = cs.datasets.make_text_views(200, n_clusters=3, topic_share=0.5, missing=0.2, random_state=0)
    >>> model = cs.CoEM(n_clusters=3, random_state=0).fit(views)
    >>> cs.metrics.normalized_mutual_info_score(y, model.labels_) > 0.9
    True
    >>> model.families_["view0"].name, model.predict_proba(views[:5]).shape
    ('multinomial', (5, 3))
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "families": [str, Family, dict, list, tuple],
        "views": [dict, None],
        "eta": [Interval(Real, 0, 1, closed="both")],
        "anneal": [StrOptions(set(SCHEDULES)), "array-like", None],
        "priors": [StrOptions(set(PRIORS))],
        "assignment": [StrOptions(set(ASSIGNMENTS))],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "patience": [Interval(Integral, 1, None, closed="left")],
        "init": [StrOptions(set(STRATEGIES)), dict, "array-like"],
        "random_state": RANDOM_STATE,
        "n_jobs": [Integral, None],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        families: Any = "auto",
        views: dict[str, Any] | None = None,
        eta: float = 0.5,
        anneal: Any = None,
        priors: str = "global",
        assignment: str = "joint",
        n_init: int = 5,
        max_iter: int = 200,
        tol: float = 1e-6,
        patience: int = 5,
        init: Any = "k-means++",
        random_state: Any = None,
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
        """The mixture of multinomials of Bickel & Scheffer 2004.

        Views learn from each other alone, one is added to every count, clusters are equally likely beforehand, and the
        views' posteriors are averaged in the end. Of two views the second one's start decides.

        Parameters
        ----------
        n_clusters : int, default=8
            Number of clusters.
        **options : dict
            Further arguments of `CoEM`.

        Returns
        -------
        CoEM
            Not fitted yet.
        """
        settings = {
            "families": Multinomial(smoothing=1),
            "eta": 1.0,
            "priors": "uniform",
            "assignment": "average",
        }
        return cls(n_clusters, **{**settings, **options})

    @check_parameters
    def fit(self, X: Any, y: Any = None) -> CoEM:  # noqa: ARG002
        """Estimate the model.

        Parameters
        ----------
        X : Views, mapping or sequence of blocks, or array-like of shape (n_entities, n_columns)
            The data. A plain array is one view, or several if the argument `views` names groups of its columns.
        y : ignored
            Here for scikit-learn.

        Returns
        -------
        self
            The fitted estimator. After Ctrl-C it holds the best result so far.
        """
        views = check_views(self, X, reset=True)
        check_n_clusters(self.n_clusters, len(views))
        schedule = self._schedule()
        with use_threads(self.n_jobs), explain_out_of_memory(*TOO_LARGE):
            shards = self._prepare(views)
            best, interrupted = choose_best_attempt(self._attempts(shards, schedule))
            state = best.run.state
            found = concluded(shards, state.model, mean_prior(state.weights), self.assignment)
            memories = co_em_memories(shards, state.model, state.eta)
        store_input_features(self, X, views)
        self.families_ = {name: part.family for name, part in shards.views.items()}
        self.n_iter_, self.converged_ = best.run.n_iter, best.run.converged
        self.history_ = Table.from_rows(best.run.history)
        self._store(state.params, state.weights, best.cost, found)
        self.statistics_, self.n_batches_ = memories, 1
        if interrupted:
            raise KeyboardInterrupt("stopped early: the model holds the best result so far")
        self._warn()
        return self

    @check_parameters
    def partial_fit(self, X: Any, y: Any = None) -> CoEM:  # noqa: ARG002
        """Go on with a batch of a stream: one round on its entities, averaged with what was seen before.

        The first batch is fitted as `fit` does it, and later ones move the model (stepwise EM: Cappé & Moulines
        2009, Liang & Klein 2009): of batches of one size the t-th counts ``t ** -0.7``, so that newer ones count more
        and the model settles. After `fit` it goes on from the fitted model, whose data count as one batch. The
        attributes of entities, such as `labels_`, are those of the batch. A batch that is refused changes nothing.

        Parameters
        ----------
        X : Views, mapping or sequence of blocks, or array-like of shape (n_entities, n_columns)
            The batch: as in `fit` at first, with at least `n_clusters` entities; then any number with any of the views.
        y : ignored
            Here for scikit-learn.

        Returns
        -------
        self
            The estimator.

        Examples
        --------
        >>> import consilience as cs
        >>> views, y = cs.datasets.make_text_views(600, n_clusters=3, topic_share=0.5, missing=0.2, random_state=0)
        >>> model = cs.CoEM(n_clusters=3, random_state=0)
        >>> for start in range(0, 600, 100):
        ...     model = model.partial_fit(views[start : start + 100])
        >>> model.n_batches_, cs.metrics.normalized_mutual_info_score(y, model.predict(views)) > 0.9
        (6, True)
        """
        if not hasattr(self, "statistics_"):
            self.fit(X)
            self.history_ = batch_history(self.history_, 1)
            return self
        views = check_views(self, X, reset=False)
        views = views[[name for name in self.view_n_features_ if name in views]]
        check_same_clusters(self.n_clusters, self.cluster_weights_.shape[0])
        eta = self._etas()[-1]
        with use_threads(self.n_jobs), explain_out_of_memory(*TOO_LARGE):
            self._step(prepare_mixture(views, self.families_, self.n_clusters, fitting=False)[0], eta)
        return self

    def _step(self, shards: Shards, eta: float) -> None:
        """One round on a batch; nothing is stored before all is done."""
        kind = next(iter(shards.views.values())).present
        known = brought(self.params_, kind)
        weights = {name: own["weights"] for name, own in known.items()}
        params = {name: without_weights(own) for name, own in known.items()}
        model = Model.of({name: params[name] for name in shards.views}, weights)
        memories = brought(self.statistics_, kind)
        state, memories = co_em_step(shards, self.families_, model, memories, eta, PRIORS[self.priors])
        prior = mean_prior(state.weights)
        found = concluded(shards, state.model, prior, self.assignment)
        cost = -float(sum(shards.map(total_likelihood, state.model, prior)))
        self._store(params | state.params, state.weights, cost, found)
        self.statistics_ = memories
        self.history_ = batch_history(self.history_, self.n_batches_, state.record)
        self.n_batches_ += 1
        self.n_iter_, self.converged_ = 1, False

    def _schedule(self) -> Any:
        """A function that gives eta round by round, from the start."""
        etas = self._etas()
        return partial(constant_eta, etas[0]) if self.anneal is None else partial(anneal_eta, etas)

    def _etas(self) -> list[float]:
        """The weight of the consensus round by round; the last one stays."""
        if self.anneal is None:
            return [self.eta]
        etas = np.asarray(SCHEDULES[self.anneal](self.eta) if isinstance(self.anneal, str) else self.anneal)
        if etas.ndim != 1 or not len(etas) or etas.dtype.kind not in "iuf" or not ((etas >= 0) & (etas <= 1)).all():
            raise ValueError(
                f"anneal must be 'linear', 'geometric' or numbers from 0 to 1, one a round, got {self.anneal!r}"
            )
        return etas.tolist()

    def _prepare(self, views: Views) -> Shards:
        """Each view's rows with the family that explains them, which has seen them."""
        chosen = resolve_per_view("families", self.families, views.names, some=True)
        wanted = {name: chosen.get(name, "auto") for name in views.names}
        shards, reasons = prepare_mixture(views, wanted, self.n_clusters)
        for name, reason in reasons.items():
            family = shards.views[name].family
            announce(f"CoEM: view {name!r}: family {family.name!r}{reason}", bool(self.verbose))
        return shards

    def families_for(self, X: Any) -> dict[str, Family]:
        """The families that `fit` would take for these data.

        Parameters
        ----------
        X : Views, mapping or sequence of blocks, or array-like
            The data, as in `fit`.

        Returns
        -------
        dict of str to Family
            One a view, which may be given as `families`, to samples of the data for instance.
        """
        shards = self._prepare(check_views(clone(self), X, reset=True))
        return {name: part.family for name, part in shards.views.items()}

    def _starts(self, shards: Shards) -> tuple[int, Iterator[Model]]:
        """How many restarts, and what each starts from."""
        prior = PRIORS[self.priors]
        if not isinstance(self.init, str):
            return 1, iter([start_from_init(self.init, shards, self.n_clusters, prior)])
        rng = make_generator(self.random_state)
        children, (own,) = rng.spawn(self.n_init), rng.spawn(1)
        parts, _ = sample_seed_entities(shards, self.n_clusters, own)
        return self.n_init, start_from_seeds(parts, self.n_clusters, self.init, prior, children)

    def _attempts(self, shards: Shards, schedule: Any) -> Iterator[Attempt]:
        """One restart after the other."""
        families = {name: part.family for name, part in shards.views.items()}
        n_runs, starts = self._starts(shards)
        with progress(type(self).__name__, n_runs, bool(self.verbose)) as show:
            for i, start in enumerate(starts):
                done = run(
                    co_em(shards, families, start, schedule(), PRIORS[self.priors]),
                    max_iter=self.max_iter,
                    tol=self.tol,
                    patience=self.patience,
                    report=partial(show, i),
                )
                model = done.state.model
                cost = -float(sum(shards.map(total_likelihood, model, mean_prior(model.weights))))
                yield Attempt(done, model, cost)

    def _store(self, params: dict[str, Any], weights: dict[str, Array], cost: float, found: list[Any]) -> None:
        """The model, and what it says of the entities that it was given."""
        self.params_ = {name: {"weights": weights[name], **own} for name, own in params.items()}
        self.cluster_weights_ = mean_prior(weights)
        posteriors = {name: join_blocks([own["posteriors"][name] for own in found]) for name in found[0]["posteriors"]}
        some = next(iter(posteriors.values()))
        self.responsibilities_ = {n: posteriors[n] if n in posteriors else some * 0 for n in self.families_}
        self.labels_ = np.concatenate([to_numpy(own["labels"]) for own in found])
        self.cost_ = cost
        by_view = [own["view_labels"] for own in found]
        store_agreement(self, joined_labels(by_view, self.families_, len(self.labels_)))

    def _warn(self) -> None:
        warn_if_not_converged(self)
        remedy = "lower n_clusters or raise n_init"
        if len(self.params_) > 1 and self.anneal is None and self.eta > 0:
            remedy += f". Or the views are weak, and agree by knowing nothing: lower eta (now {self.eta}), or anneal it"
        warn_about_empty_clusters(self.labels_, self.n_clusters, remedy)

    def predict(self, X: Any, *, out: Any = None) -> np.ndarray:
        """The cluster of each entity, by the views that it has.

        Parameters
        ----------
        X : Views, mapping or sequence of blocks, or array-like
            Entities, seen before or not, with any of the fitted views.
        out : array of shape (n_entities,), optional
            Where to write the labels, some after the other: anything with slices, such as a ``np.memmap`` or a dataset
            of an HDF5 file.

        Returns
        -------
        ndarray of shape (n_entities,)
            The cluster of each entity; `out` where it is given.
        """
        views = check_new_views(self, X)
        check_out(out, (len(views),), self.cluster_weights_.shape[0] - 1)
        with use_threads(self.n_jobs), explain_out_of_memory(*TOO_LARGE):
            found = self._over(views, compute_probabilities, self.assignment)
            return gather_results((namespace(own).argmax(own, axis=1) for own in found), out)

    def predict_proba(self, X: Any, *, out: Any = None) -> np.ndarray:
        """Probability of each cluster for each entity, by the views that it has.

        Parameters
        ----------
        X : Views, mapping or sequence of blocks, or array-like
            Entities with any of the fitted views.
        out : array of shape (n_entities, n_clusters), optional
            Where to write the probabilities, some after the other, as in `predict`.

        Returns
        -------
        ndarray of shape (n_entities, n_clusters)
            The posterior given all views, or the views' mean posterior with ``assignment='average'``.
        """
        views = check_new_views(self, X)
        check_out(out, (len(views), self.cluster_weights_.shape[0]), 0.5)
        with use_threads(self.n_jobs), explain_out_of_memory(*TOO_LARGE):
            return gather_results(self._over(views, compute_probabilities, self.assignment), out)

    def score_samples(self, X: Any) -> np.ndarray:
        """Log-likelihood of each entity under the joint model, over the views that it has.

        Parameters
        ----------
        X : Views, mapping or sequence of blocks, or array-like
            Entities with any of the fitted views.

        Returns
        -------
        ndarray of shape (n_entities,)
            The log-likelihoods; 0 for an entity whose views are all empty.
        """
        with use_threads(self.n_jobs), explain_out_of_memory(*TOO_LARGE):
            return gather_results(own for own, _ in self._over(X, log_likelihoods))

    def _informed_scores(self, X: Any) -> np.ndarray:
        """Log-likelihoods of the entities that some view says something of."""
        with use_threads(self.n_jobs), explain_out_of_memory(*TOO_LARGE):
            found = self._over(X, log_likelihoods)
            return gather_results(to_numpy(own)[to_numpy(known)] for own, known in found)

    def score(self, X: Any, y: Any = None) -> float:  # noqa: ARG002
        """Mean log-likelihood of the entities under the joint model.

        Parameters
        ----------
        X : Views, mapping or sequence of blocks, or array-like
            Entities with any of the fitted views.
        y : ignored
            Here for scikit-learn.

        Returns
        -------
        float
            The mean of `score_samples`, over the entities that have something to say.
        """
        return float(self._informed_scores(X).mean())

    def bic(self, X: Any) -> float:
        """Bayesian information criterion of the joint model on these entities: lower is better.

        Parameters
        ----------
        X : Views, mapping or sequence of blocks, or array-like
            Entities with any of the fitted views.

        Returns
        -------
        float
            Parameters times log of the number of entities, less twice the log-likelihood. Co-EM does not maximise
            this likelihood alone, so take it as a guide.
        """
        own = self._informed_scores(X)
        return self._n_parameters() * log(len(own)) - 2 * float(own.sum())

    def aic(self, X: Any) -> float:
        """Akaike's information criterion of the joint model on these entities: lower is better.

        Parameters
        ----------
        X : Views, mapping or sequence of blocks, or array-like
            Entities with any of the fitted views.

        Returns
        -------
        float
            Twice the parameters, less twice the log-likelihood.
        """
        return 2 * self._n_parameters() - 2 * float(self.score_samples(X).sum())

    def sample(self, n_samples: int = 1, random_state: Any = None) -> tuple[Views, np.ndarray]:
        """Draw new entities from the model.

        Parameters
        ----------
        n_samples : int, default=1
            How many.
        random_state : int, Generator, RandomState or None, default=None
            Seed.

        Returns
        -------
        views : Views
            The entities, with all views.
        y : ndarray of shape (n_samples,)
            The cluster that each was drawn from.
        """
        check_is_fitted(self)
        if not isinstance(n_samples, Integral) or n_samples < 1:
            raise ValueError(f"n_samples must be a whole number from 1 on, got {n_samples!r}")
        rng = make_generator(random_state)
        weights = to_numpy(self.cluster_weights_)
        y = rng.choice(len(weights), n_samples, p=weights / weights.sum())
        blocks = {name: family.sample(self.params_[name], y, rng) for name, family in self.families_.items()}
        return Views(blocks), y

    def _n_parameters(self) -> int:
        families = (family.n_parameters(without_weights(self.params_[n])) for n, family in self.families_.items())
        return PRIORS[self.priors].n_free(len(self.params_), self.n_clusters) + sum(families)

    def _over(self, X: Any, task: Callable[..., T], *more: Any) -> Iterator[T]:
        """A task of new entities, the model and the prior, shard by shard."""
        views = check_new_views(self, X)
        shards, _ = prepare_mixture(views, self.families_, self.n_clusters, fitting=False)
        kind = next(iter(shards.views.values())).present
        known = brought({name: self.params_[name] for name in shards.views}, kind)
        weights = {name: own["weights"] for name, own in known.items()}
        model = Model.of({name: without_weights(own) for name, own in known.items()}, weights)
        return shards.map(task, model, asarray_like(to_numpy(self.cluster_weights_), kind), *more)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags = ClassifierTags()  # scikit-learn's checks ask it of all that predict_proba sparse rows
        return tags


def mean_prior(weights: dict[str, Array]) -> Array:
    """One prior for all views: their mean."""
    values = list(weights.values())
    return sum(values[1:], values[0]) / len(values)


def without_weights(params: dict[str, Array]) -> dict[str, Array]:
    """A family's own parameters."""
    return {key: value for key, value in params.items() if key != "weights"}
