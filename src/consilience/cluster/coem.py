"""Mixture models over several views, by co-EM."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from math import log
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin, _fit_context, clone
from sklearn.utils import ClassifierTags
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from .._backend import Array, generator, like, namespace, threads, to_numpy
from ..algorithms.assign import ASSIGNMENTS, joint_posterior
from ..algorithms.coem import Belief, Part, believe, co_em, view_labels
from ..algorithms.coem_start import Start, chosen_starts, given_start
from ..algorithms.priors import PRIORS
from ..algorithms.progress import announce, progress
from ..algorithms.run import Attempt, best_of, run
from ..algorithms.schedules import SCHEDULES, annealed, fixed
from ..algorithms.start import STRATEGIES
from ..data import Table, Views, per_view
from ..families import FAMILIES, Family, Multinomial, choose
from ._shared import (
    RANDOM_STATE,
    check_n_clusters,
    check_views,
    ready_blocks,
    remember,
    store_agreement,
    warn_of_empty,
    warn_of_lost,
    warn_of_rounds,
)

FATE = "takes no part in the estimates and gets the cluster of the largest prior"  # of an entity without a word


class CoEM(ClusterMixin, BaseEstimator):
    """Mixture model over any number of views, each with a distribution of its own, estimated by co-EM.

    Each view has parameters for every cluster. In turn, each view estimates them from what the *other* views think of
    the entities (Bickel & Scheffer 2005): the views are led to agree, and where they are independent given the cluster,
    agreement bounds their error. `eta` says how much the others count. A view that an entity lacks is left out; rows of
    zeros in a multinomial or von Mises-Fisher view count as missing.

    Parameters
    ----------
    n_clusters : int, default=4
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
    eta : float, default=1.0
        Weight of the consensus, from 0 (every view for itself: plain EM in each) to 1 (a view learns from the others
        alone), which is the paper's choice. 1 needs views that are each nearly sure of their clusters, such as text.
        Weak views blur each other until they agree by knowing nothing: where clusters come out empty, or the views are
        a few columns of measurements, take 0.25 to 0.5.
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
    weights_ : array of shape (n_clusters,)
        The prior of each cluster; with ``priors='view'`` the mean over the views.
    families_ : dict of str to Family
        The family of each view.
    agreement_ : ndarray of shape (n_views, n_views)
        Share of entities that two views put into the same cluster.
    error_bound_ : float
        Upper bound on the error of every view, if the views are independent given the cluster and each is right more
        often than not; see `consilience.metrics.disagreement_bound`. With one view 1.0, which says nothing.
    cost_ : float
        Minus the log-likelihood of all entities under the joint model.
    history_ : Table
        One row a round: `q` (the criterion Q^MV at the round's parameters), `delta` (its disagreement term), each
        view's log-likelihood, agreement, eta.
    n_iter_, converged_ : int, bool
        Rounds taken, and whether they ran out of patience before `max_iter`.
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
        n_clusters: int = 4,
        *,
        families: Any = "auto",
        views: dict[str, Any] | None = None,
        eta: float = 1.0,
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
    def multinomial_2004(cls, n_clusters: int = 4, **options: Any) -> CoEM:
        """The mixture of multinomials of Bickel & Scheffer 2004.

        Views learn from each other alone, one is added to every count, clusters are equally likely beforehand, and the
        views' posteriors are averaged in the end. Of two views the second one's start decides.

        Parameters
        ----------
        n_clusters : int, default=4
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

    @_fit_context(prefer_skip_nested_validation=True)
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
        parts = self._prepare(views)
        with threads(self.n_jobs):
            best, interrupted = best_of(self._attempts(parts, schedule))
        remember(self, X, views)
        self._store(parts, best)
        if interrupted:
            raise KeyboardInterrupt("stopped early: the model holds the best result so far")
        self._warn()
        return self

    def _schedule(self) -> Any:
        """A function that gives eta round by round, from the start."""
        if self.anneal is None:
            return partial(fixed, self.eta)
        etas = np.asarray(SCHEDULES[self.anneal](self.eta) if isinstance(self.anneal, str) else self.anneal)
        if etas.ndim != 1 or not len(etas) or etas.dtype.kind not in "iuf" or not ((etas >= 0) & (etas <= 1)).all():
            raise ValueError(
                f"anneal must be 'linear', 'geometric' or numbers from 0 to 1, one a round, got {self.anneal!r}"
            )
        return partial(annealed, etas.tolist())

    def _prepare(self, views: Views) -> dict[str, Part]:
        """Each view's rows with the family that explains them, which has seen them."""
        chosen = per_view("families", self.families, views.names, some=True)
        parts = {}
        for name, (X, present) in ready_blocks(views).items():
            family, reason = find_family(name, chosen.get(name, "auto"), X)
            announce(f"CoEM: view {name!r}: family {family.name!r}{reason}", bool(self.verbose))
            parts[name] = make_part(name, X, present, family, fitting=True)
        warn_of_lost(views, {name: part.present for name, part in parts.items()}, FATE)
        return parts

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
        return {name: part.family for name, part in self._prepare(check_views(clone(self), X, reset=True)).items()}

    def _attempts(self, parts: dict[str, Part], schedule: Any) -> Iterator[Attempt]:
        """One restart after the other."""
        starts: Iterator[Start]
        prior = PRIORS[self.priors]
        if isinstance(self.init, str):
            n_runs, rngs = self.n_init, generator(self.random_state).spawn(self.n_init)
            starts = chosen_starts(parts, self.n_clusters, self.init, prior, rngs)
        else:
            n_runs, starts = 1, iter([given_start(self.init, parts, self.n_clusters, prior)])
        with progress(type(self).__name__, n_runs, bool(self.verbose)) as show:
            for i, start in enumerate(starts):
                done = run(
                    co_em(parts, start.params, start.weights, schedule(), prior),
                    max_iter=self.max_iter,
                    tol=self.tol,
                    patience=self.patience,
                    report=partial(show, i),
                )
                state = done.state
                beliefs = {name: believe(part, state.params[name], state.weights[name]) for name, part in parts.items()}
                _, evidence = joint_posterior(parts, beliefs, mean_prior(state.weights))
                yield Attempt(done, beliefs, -float(namespace(evidence).sum(evidence)))

    def _store(self, parts: dict[str, Part], best: Attempt) -> None:
        state, beliefs = best.run.state, best.result
        self.families_ = {name: part.family for name, part in parts.items()}
        self.params_ = {name: {"weights": state.weights[name], **own} for name, own in state.params.items()}
        self.weights_ = mean_prior(state.weights)
        self.responsibilities_ = {name: belief.posterior for name, belief in beliefs.items()}
        self.labels_ = to_numpy(ASSIGNMENTS[self.assignment](parts, beliefs, self.weights_)).argmax(axis=1)
        self.cost_ = best.cost
        self.n_iter_, self.converged_ = best.run.n_iter, best.run.converged
        self.history_ = Table.from_rows(best.run.history)
        store_agreement(self, view_labels(beliefs))

    def _warn(self) -> None:
        warn_of_rounds(self)
        remedy = "lower n_clusters or raise n_init"
        if len(self.params_) > 1 and self.anneal is None and self.eta > 0:
            remedy += f". Or the views are weak, and agree by knowing nothing: lower eta (now {self.eta}), or anneal it"
        warn_of_empty(self.labels_, self.n_clusters, remedy)

    def predict(self, X: Any) -> np.ndarray:
        """The cluster of each entity, by the views that it has.

        Parameters
        ----------
        X : Views, mapping or sequence of blocks, or array-like
            Entities, seen before or not, with any of the fitted views.

        Returns
        -------
        ndarray of shape (n_entities,)
            The cluster of each entity.
        """
        return self.predict_proba(X).argmax(axis=1)

    def predict_proba(self, X: Any) -> np.ndarray:
        """Probability of each cluster for each entity, by the views that it has.

        Parameters
        ----------
        X : Views, mapping or sequence of blocks, or array-like
            Entities with any of the fitted views.

        Returns
        -------
        ndarray of shape (n_entities, n_clusters)
            The posterior given all views, or the views' mean posterior with ``assignment='average'``.
        """
        return to_numpy(ASSIGNMENTS[self.assignment](*self._beliefs(X)))

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
        return to_numpy(joint_posterior(*self._beliefs(X))[1])

    def _informed_scores(self, X: Any) -> np.ndarray:
        """Log-likelihoods of the entities that some view says something of."""
        parts, beliefs, prior = self._beliefs(X)
        known = np.any([to_numpy(belief.known) for belief in beliefs.values()], axis=0)
        return to_numpy(joint_posterior(parts, beliefs, prior)[1])[known]

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
        rng = generator(random_state)
        weights = to_numpy(self.weights_)
        y = rng.choice(len(weights), n_samples, p=weights / weights.sum())
        blocks = {name: family.sample(self.params_[name], y, rng) for name, family in self.families_.items()}
        return Views(blocks), y

    def _n_parameters(self) -> int:
        families = (family.n_parameters(without_weights(self.params_[n])) for n, family in self.families_.items())
        return PRIORS[self.priors].n_free(len(self.params_), self.n_clusters) + sum(families)

    def _beliefs(self, X: Any) -> tuple[dict[str, Part], dict[str, Belief], Array]:
        """What each view thinks of new entities, and the prior."""
        check_is_fitted(self)
        views = check_views(self, X, reset=False)
        parts, beliefs = {}, {}
        with threads(self.n_jobs):
            for name, (block, present) in ready_blocks(views).items():
                part = make_part(name, block, present, self.families_[name], fitting=False)
                known = {key: like(to_numpy(value), block) for key, value in self.params_[name].items()}
                parts[name], beliefs[name] = part, believe(part, without_weights(known), known["weights"])
        warn_of_lost(views, {name: part.present for name, part in parts.items()}, FATE)
        first = next(iter(parts.values())).X
        return parts, beliefs, like(to_numpy(self.weights_), first)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags = ClassifierTags()  # scikit-learn's checks ask it of all that predict_proba sparse rows
        return tags


def find_family(name: str, wanted: Any, X: Array) -> tuple[Family, str]:
    """The family object that a name stands for, and why it was taken where that was not the user's choice."""
    if isinstance(wanted, Family):
        return wanted, ""
    if isinstance(wanted, str) and wanted == "auto":
        family, why = choose(X)
        return family, f", since {why}"
    if not isinstance(wanted, str) or wanted not in FAMILIES:
        raise ValueError(
            f"view {name!r}: no family {wanted!r}: give 'auto', one of {', '.join(map(repr, FAMILIES))}, or an object "
            "of consilience.families"
        )
    return FAMILIES[wanted](), ""


def make_part(name: str, X: Array, present: Array, family: Family, *, fitting: bool) -> Part:
    """Rows made ready for a family, refused where it cannot explain them."""
    complaint = family.complaint(X)
    if complaint:
        raise ValueError(f"view {name!r}: family {family.name!r} {complaint}")
    informative = family.informative(X)
    present = present if informative is None else namespace(present).logical_and(present, informative)
    if fitting and not bool(namespace(present).any(present)):
        raise ValueError(f"view {name!r} is all zeros, of which family {family.name!r} learns nothing: leave it out")
    family = family.bind(X, present) if fitting else family
    return Part(X, present, family, family.own_term(X))


def mean_prior(weights: dict[str, Array]) -> Array:
    """One prior for all views: their mean."""
    values = list(weights.values())
    return sum(values[1:], values[0]) / len(values)


def without_weights(params: dict[str, Array]) -> dict[str, Array]:
    """A family's own parameters."""
    return {key: value for key, value in params.items() if key != "weights"}
