"""Cross-fitted agreement, the default method."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, combinations
from math import ceil
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.metrics import normalized_mutual_info_score

from ..._numbers import is_real
from ..._progress import Task, open_task
from ..._saving import save_as
from ..._warnings import find_stack_level
from ...affinities import Auto, Precomputed
from ...arrays import Array, Seed, explain_out_of_memory, make_generator, to_numpy, use_threads
from ...data import Constraints, Table, Views
from ..common.constraint_checks import check_constraints, get_entity_ids, resolve_constraints, warn_of_conflicts
from ..common.docs import share_docs
from ..common.input_checks import (
    check_n_clusters,
    check_new_views,
    check_out,
    check_views,
    gather_results,
    store_agreement,
    store_input_features,
    validate_blocks,
    warn_about_empty_clusters,
    warn_about_zero_rows,
)
from ..common.margins import measure_vote_margins
from ..common.membership import (
    LEAST_DEVIATION,
    LEAST_RATIO,
    ClusterScores,
    MembershipMixin,
    Misfit,
    OutlierLabelsMixin,
    score_gaps,
)
from ..common.run import Attempt, Run, choose_best_attempt, draws_starts, progress, run
from ..common.similarities import resolve_affinities, restrict_columns, select_rows
from ..common.validation import Interval, SequenceOf, StrOptions, check_parameters, share_constraints
from .ensemble import Ensemble, balance_votes, choose_clusters, encode_labels, mutual_information
from .inputs import (
    PREDICTORS,
    PreparedView,
    build_ensemble,
    build_rule,
    find_similarity_columns,
    find_usable_rows,
    map_views,
    prepare_views,
)
from .model import SpaceModel, ViewModel
from .refine import Round, count_broken, drop_outweighed, refine_labels
from .starts import Restarts, agree_on_labels, propose_constrained_start, propose_starts
from .warm import Knowledge, WarmRefinement

ENTITIES_PER_CLUSTER = 4  # with fewer, predictions from the other entities mean little
N_PERMUTATIONS = 5  # of the labels, for the information that a view seems to have by chance
# what becomes of constraints that contradict each other
OUTWEIGHED = "of a pair with both the heavier counts, and otherwise clusters break as little weight as they can"
DIFFERENT = 0.5  # normalized mutual information below which two partitions count as different
EQUALLY_SUPPORTED = 0.97  # share of the best score from which a partition counts as equally supported
LEAST_SAMPLED = 50  # entities of each view, pair of views and given label in a sample, if there are so many
CONSENSUS = 5  # best partitions whose majority is refined once more
VOTE_LIMIT = 1.0  # of the gap between votes, which is about 1 between a clear cluster and others
LEAST_ERROR = 0.15  # deviation of squared errors of the votes, which are 0 at best: smaller ones are no misfit
LEAST_SAMPLE = 10  # smallest sample_size
ROWS_AT_A_TIME = 20_000  # entities that are predicted in one block
FIT_UNITS, PREPARE_UNITS, BLOCK_UNITS = 4, 2, 2  # of progress: half of a fit prepares, as long as a block is predicted
REMEDY = "use a smaller sample_size, or numbers in float32"


@save_as("consilience")
@share_docs
class Consilience(MembershipMixin, OutlierLabelsMixin, ClusterMixin, BaseEstimator):
    """Clusters that every view predicts for entities it has not learned from: the default method.

    Views learn from each other, as in co-EM, but a view only votes on entities it has not learned from. Each view
    predicts the cluster of each entity from the *other* entities, by ridge regressions on its leading components and on
    the eigenvectors of its graph of nearest neighbors, both with exact leave-one-out predictions. The predictions are
    added up, every entity moves to the cluster with most votes, and so on until few entities change. This is done from
    several starts (k-means of all views, spectral clustering of each view and of all, and finally the consensus of the
    five best). The partition is kept about which the views' left-out predictions carry most information.

    Rows of sparse views are compared by their directions. Columns of dense views are standardized, and rows are
    compared both by their directions and as they are. So units do not matter, and views need no preparation but the
    weighting of words by rarity (tf-idf).

    Parameters
    ----------
    %(n_clusters)s
    affinity : {'auto', 'precomputed'} or one per view in a dict or list, default='auto'
        'precomputed': the view is a square matrix of similarities, dense or sparse.
    predictors : sequence of {'components', 'graph', 'neighbors'}, default=('components', 'graph')
        What predicts clusters in each view: a ridge regression on leading components, a ridge regression on
        eigenvectors of the graph of nearest neighbors, the vote of the nearest neighbors.
    %(views)s
    init : 'auto' or array-like of shape (n_entities,), default='auto'
        Labels to start from instead of the starts described above; a negative label is left open.
    n_init : int, default=2
        Number of random starts of each kind.
    %(max_iter)s
    tol : float, default=1e-3
        Stop when at most this share of the entities changes its cluster.
    penalty : float, default=0.05
        Penalty of the ridge regressions, in units of the mean eigenvalue.
    balance : float, default=0.5
        Power of the cluster sizes that votes are divided by: 0 favors large clusters, 1 clusters of equal size.
    sample_size : int, default=20000
        If there are more entities, a random sample of about this size is clustered and the others are predicted from
        it; `view_information_`, `scores_`, `history_` and `cost_` are then those of the sample. Similarities that are
        given are never sampled.
    %(outliers)s
        Constraints on an outlier are not satisfied.
    %(random_state)s
    %(n_jobs)s
    %(verbose)s

    Attributes
    ----------
    %(labels_outliers_)s
    confidence_ : ndarray of shape (n_entities,)
        Margin of each entity's cluster over the second in the left-out vote, relative to its own votes: 0 for a tie, 1
        if no other cluster has a vote. It orders entities by how doubtful they are, as `explain.clarity` does; it is
        not a probability, and not the confidence of the report, which is `Assessment.confidence`.
    %(temperature_)s
    %(outlier_scores_)s
        It is the larger of two: how far the left-out votes of the views are from certainty of the cluster, which is
        large where views contradict each other, and how far the entity is from its nearest entities.
    %(outlier_limit_)s
    view_labels_ : dict of str to ndarray of shape (n_entities,)
        The cluster that each view alone predicts, the entity left out; -1 where the entity lacks the view.
    view_information_ : Table
        Per view: ``bits``, the mutual information of its left-out predictions and the clusters; ``baseline``, what it
        is on average after the labels were permuted; ``share``, what is beyond the baseline as a share of the
        maximum, which is the entropy of the clusters. A view whose share is near 0 does not support the clusters.
    scores_ : Table
        Per start: its origin, the score of its refined partition in ``bits`` (mean information of all predictors),
        rounds, and ``similarity`` to the chosen partition (normalized mutual information).
    runner_up_ : ndarray of shape (n_entities,) or None
        The best partition of another kind (normalized mutual information with `labels_` below 0.5) if it is about as
        well supported (97% of the score): then the views hold two groupings, and only the user can say which is meant.
        None if there is none, or if only a sample was clustered.
    cost_ : float
        Minus the score of `labels_`, in bits.
    history_ : Table
        One row per round of the chosen start: score in bits, and share of the entities that changed their cluster.
    %(n_iter_)s
    %(agreement_)s
    %(n_features_in_)s

    Notes
    -----
    **One view.** The method is then plain clustering: the starts of k-means and spectral clustering, refined until the
    view predicts its own clusters best. There is no second view to confirm them.

    **Missing views.** An entity is predicted by the views that it has, and teaches only these. Rows of zeros in sparse
    views count as missing.

    **New entities** are predicted by the same regressions, fitted to all entities. For an entity of the fit `predict`
    may differ from `labels_`, for which the entity itself was left out.

    **Weights of entities** are not offered: a weight of two would mean a duplicate, and a duplicate would tell the
    regressions the cluster of the entity that was left out.

    **Devices.** Arrays of torch or cupy stay where they are for components and regressions. Nearest neighbors and
    eigenvectors of their graph are computed by the processor.

    Examples
    --------
    >>> import consilience as cs
    >>> views, y = cs.datasets.make_gaussian_views(200, n_clusters=3, separation=12, random_state=0)
    >>> model = cs.Consilience(n_clusters=3, random_state=0).fit(views[:150])
    >>> bool(cs.metrics.adjusted_rand_score(y[:150], model.labels_) > 0.95)
    True
    >>> bool(cs.metrics.adjusted_rand_score(y[150:], model.predict(views[150:])) > 0.9)
    True
    >>> model.view_information_["view"].tolist()
    ['view0', 'view1']
    """

    _reference_temperature = 0.065
    _restarts: ClassVar[Restarts] = Restarts()
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **share_constraints("n_clusters", "views", "n_init", "max_iter"),
        **share_constraints("outliers", "random_state", "n_jobs", "verbose"),
        "affinity": [StrOptions({"auto", "precomputed"}), dict, list, tuple],
        "predictors": [SequenceOf(StrOptions(set(PREDICTORS)))],
        "init": [StrOptions({"auto"}), "array-like"],
        "tol": [Interval(Real, 0, 1, closed="left")],
        "penalty": [Interval(Real, 0, None, closed="neither")],
        "balance": [Interval(Real, 0, 1, closed="both")],
        "sample_size": [Interval(Integral, LEAST_SAMPLE, None, closed="left")],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        affinity: Literal["auto", "precomputed"] | Mapping[str, str] | Sequence[str] = "auto",
        predictors: Sequence[str] = ("components", "graph"),
        views: dict[str, Any] | None = None,
        init: Any = "auto",
        n_init: int = 2,
        max_iter: int = 15,
        tol: float = 1e-3,
        penalty: float = 0.05,
        balance: float = 0.5,
        sample_size: int = 20_000,
        outliers: float | Literal["auto"] | None = None,
        random_state: Seed = None,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.n_clusters = n_clusters
        self.affinity = affinity
        self.predictors = predictors
        self.views = views
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.penalty = penalty
        self.balance = balance
        self.sample_size = sample_size
        self.outliers = outliers
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @check_parameters
    def fit(self, X: Any, y: Any = None, *, constraints: Constraints | None = None) -> Self:  # noqa: ARG002
        """Cluster the entities.

        %(fit_parameters)s
        %(constraints)s
            `MultiViewConstrainedKMeans` makes a further start. Must-links are always satisfied unless cannot-links
            contradict them, refinement breaks no cannot-link that its start satisfies, and the best is kept of the
            refined starts that break fewest constraints.

        %(returns_self)s
            After Ctrl-C it holds the best result so far, or nothing if entities outside a sample were being predicted.
        """
        views = check_views(self, X, reset=True)
        init = None if draws_starts(self.init) else check_start_labels(self.init, len(views), self.n_clusters)
        check_n_clusters(self.n_clusters, len(views))
        precomputed = self._find_precomputed(views.names)
        columns = find_similarity_columns(views, precomputed, source=X)
        ids = get_entity_ids(X, views)
        links = resolve_constraints(check_constraints(constraints), views, ids, None)
        if len(links.conflicts):
            warn_of_conflicts(links.conflicts, links.must.pairs, ids, OUTWEIGHED)
            links = drop_outweighed(links)
        rng = make_generator(self.random_state)
        sample = self._sample(views, any(precomputed.values()), init, rng)
        if sample is not None and links.size:
            raise ValueError(
                f"constraints need all {len(views):,} entities at once, more than sample_size={self.sample_size:,}: "
                "raise sample_size"
            )
        n_blocks = 0 if sample is None else ceil(len(views) / ROWS_AT_A_TIME)
        with open_task(FIT_UNITS + BLOCK_UNITS * n_blocks) as task:
            with use_threads(self.n_jobs), explain_out_of_memory(f"predictors of {len(views):,} entities", REMEDY):
                chosen = views if sample is None else views[sample]
                init = init if init is None or sample is None else init[sample]
                fitted = self._fit(restrict_columns(chosen, columns), precomputed, init, links, rng, task)
            store_input_features(self, X, views)
            self._columns = columns
            misfit, by_view = self._store(fitted, chosen)
            if sample is not None:
                try:
                    with use_threads(self.n_jobs):
                        misfit = self._extend(views, sample, misfit, task)
                except BaseException:  # a row outside the sample was refused, or Ctrl-C was pressed
                    for name in [name for name in vars(self) if name.endswith("_")]:
                        delattr(self, name)
                    raise
        labels = self.labels_
        self._reset_probabilities()
        self._mark_outliers(misfit, by_view, (LEAST_ERROR, LEAST_DEVIATION))
        if fitted.interrupted:
            raise KeyboardInterrupt("stopped early: the model holds the best result so far")
        if len(chosen) < ENTITIES_PER_CLUSTER * self.n_clusters and self.n_clusters > 1:
            warnings.warn(
                f"{len(chosen)} entities are fewer than {ENTITIES_PER_CLUSTER} per cluster, too few to predict each "
                f"cluster from the others: the result is little better than its starts. Lower "
                f"n_clusters={self.n_clusters}",
                UserWarning,
                stacklevel=find_stack_level(),
            )
        warn_about_empty_clusters(labels, self.n_clusters)
        return self

    def _find_precomputed(self, names: Sequence[str]) -> dict[str, bool]:
        """Return for each view whether it is a matrix of similarities."""
        affinities = resolve_affinities("affinity", self.affinity, None, names)
        for name, affinity in affinities.items():
            if not isinstance(affinity, Auto | Precomputed):
                raise ValueError(f"view {name!r}: affinity={affinity!r} must be 'auto' or 'precomputed'")
        return {name: affinity.columns_are_entities for name, affinity in affinities.items()}

    def _sample(
        self, views: Views, precomputed: bool, init: np.ndarray | None, rng: np.random.Generator
    ) -> np.ndarray | None:
        """Return the entities to cluster, or None for all.

        Besides the random entities there are some of each view, of each pair of views and of each given label.
        """
        n = len(views)
        if n <= self.sample_size or precomputed:
            return None
        chosen = np.zeros(n, bool)
        chosen[rng.choice(n, max(self.sample_size, self.n_clusters), replace=False)] = True
        groups = [*views.present.T]
        groups += [first & second for first, second in combinations(views.present.T, 2)]
        groups += [] if init is None else [init == label for label in range(self.n_clusters)]
        for group in groups:
            lacking = min(LEAST_SAMPLED, int(group.sum())) - int((chosen & group).sum())
            if lacking > 0:
                chosen[rng.choice(np.flatnonzero(group & ~chosen), lacking, replace=False)] = True
        return np.flatnonzero(chosen)

    def _fit(
        self,
        views: Views,
        precomputed: Mapping[str, bool],
        init: np.ndarray | None,
        links: Constraints,
        rng: np.random.Generator,
        task: Task,
    ) -> AgreementFit:
        n, k = len(views), int(self.n_clusters)
        task.detail = "comparing entities within views"
        prepared = prepare_views(views, precomputed, k)
        ensemble = build_ensemble(prepared, n, k, self.predictors, self.penalty, self.balance)
        task.advance(PREPARE_UNITS)
        task.detail = "making starts"
        if init is not None:
            starts = [("given labels", init)]
        else:
            proposed = propose_starts(prepared, n, k, self.n_init, rng, self._restarts)
            constrained = propose_constrained_start(prepared, n, k, links, rng) if links.size else ()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of the methods that make the starts
                starts = list(chain(proposed, constrained))
        task.advance()
        task.detail = ""  # the progress of the starts is shown
        attempts: list[Attempt] = []
        best, interrupted = choose_best_attempt(self._refine_starts(ensemble, starts, links, attempts))
        if len(attempts) > CONSENSUS and not interrupted:
            leading = sorted(attempts, key=lambda attempt: attempt.cost)[:CONSENSUS]
            labels = agree_on_labels([attempt.result for attempt in leading], k)
            starts = [*starts, ("consensus of the best", labels)]
            last = self._refine_starts(ensemble, starts[-1:], links, attempts)
            best, interrupted = choose_best_attempt(chain([best], last))
        task.set_done(FIT_UNITS)
        information = measure_information(ensemble, best.run.state, rng)
        return AgreementFit(prepared, ensemble, [name for name, _ in starts], attempts, best, information, interrupted)

    def _refine_starts(
        self, ensemble: Ensemble, starts: Sequence[tuple[str, np.ndarray]], links: Constraints, attempts: list[Attempt]
    ) -> Iterator[Attempt]:
        """Refine each start, several at a time, and append the attempts to a list."""
        most_bits = np.log2(max(2, ensemble.n_clusters))  # no score is higher
        with progress(type(self).__name__, len(starts), bool(self.verbose)) as show:

            def refine_start(i: int) -> Run:
                finished = run(
                    refine_labels(ensemble, starts[i][1], self.tol, links if links.size else None),
                    max_iter=self.max_iter,
                    tol=0,
                    patience=self.max_iter + 1,
                    report=partial(show, i),
                )
                show.finish(i)
                return finished

            for finished in map_views(refine_start, list(range(len(starts))), ensemble.like):
                labels = finished.state.labels
                cost = count_broken(links, labels) * most_bits - finished.state.score
                attempts.append(Attempt(finished, labels, cost))
                yield attempts[-1]

    def _store(self, fitted: AgreementFit, views: Views) -> tuple[Misfit, dict[str, list[np.ndarray]]]:
        """Store the result, and return how poorly their clusters predict the entities, by all views and by each.

        The state has the label -1 for entities that no view learned from, for which the result has a cluster.
        """
        state: Round = fitted.best.run.state
        self.labels_ = fitted.best.result
        self.cost_ = -state.score
        self.n_iter_, self.converged_ = fitted.best.run.n_iter, fitted.best.run.converged
        self.history_ = Table.from_rows(fitted.best.run.history)
        self.scores_, self.runner_up_ = compare_attempts(fitted)
        self.view_information_ = fitted.information
        self._sizes, self._balance = fitted.ensemble.sizes(state.labels), float(self.balance)
        self._models = build_models(fitted, self.predictors)
        self.confidence_ = measure_vote_margins(to_numpy(state.vote.total) / self._sizes**self._balance, self.labels_)
        view_labels, votes, self._usual_distances = {}, {}, {}
        for view, predictors, by_row in zip(fitted.prepared, fitted.ensemble.views, state.vote.by_view, strict=True):
            is_used = predictors.is_used
            entities, view_votes = view.entities[is_used], to_numpy(by_row)[is_used]
            has_view, all_votes = np.zeros(len(views), bool), np.zeros((len(views), len(self._sizes)))
            has_view[entities], all_votes[entities] = True, view_votes
            distances = [space.distances for space in view.spaces] if "graph" in self.predictors else []
            medians = [float(np.median(values)) or float(np.mean(values)) for values in distances]
            self._usual_distances[view.name] = [median if median > 0 else 1.0 for median in medians]
            votes[view.name] = ViewVotes(has_view, all_votes, [values[is_used] for values in distances])
            view_labels[view.name] = np.full(len(views), -1)
            view_labels[view.name][entities] = choose_clusters(view_votes, self._sizes, self._balance)
        store_agreement(self, view_labels)
        by_view = {}
        for name, view_votes in votes.items():
            alone = self._combine_misfit({name: view_votes}, np.maximum(view_labels[name], 0))
            by_view[name] = [values[view_votes.has_view] for values in alone.quantities]
        return self._combine_misfit(votes, self.labels_), by_view

    def _combine_misfit(self, votes: Mapping[str, ViewVotes], labels: np.ndarray) -> Misfit:
        """Return how far the votes of each view are from the cluster, and how far entities are from their neighbors.

        The first is the squared difference of the votes of each view, in units of its weight, from 1 for the cluster
        and 0 for others. It is large where views contradict each other. The second is the logarithm of the mean
        distance from the nearest entities over the usual one. It is large where an entity is like no other, also if
        such entities form a cluster. Both are means over the views that an entity has.
        """
        n = len(labels)
        error, weights, sparsity, n_graphs = np.zeros(n), np.zeros(n), np.zeros(n), np.zeros(n)
        for name, view in votes.items():
            rows, weight = np.flatnonzero(view.has_view), self._models[name].weight
            shares = view.votes[rows] / weight
            error[rows] += weight * (1 - 2 * shares[np.arange(len(rows)), labels[rows]] + (shares**2).sum(axis=1))
            weights[rows] += weight
            for distances, usual in zip(view.distances, self._usual_distances[name], strict=True):
                sparsity[rows] += np.log(np.maximum(distances / usual, LEAST_RATIO))
                n_graphs[rows] += 1
        is_known = weights > 0
        quantities = [np.where(is_known, error / np.where(is_known, weights, 1), np.inf)]
        if any(self._usual_distances.values()):
            quantities.append(np.where(is_known, sparsity / np.maximum(n_graphs, 1), np.inf))
        return Misfit(quantities, np.stack([view.has_view for view in votes.values()], axis=1), list(votes))

    def _choose(self, votes: Mapping[str, ViewVotes]) -> np.ndarray:
        """Return the cluster with most votes of all views for each entity."""
        return choose_clusters(sum_votes(votes), self._sizes, self._balance)

    def _measure_misfit(self, views: Views) -> Misfit:
        with use_threads(self.n_jobs):
            return join_misfit([self._combine_misfit(votes, self._choose(votes)) for votes in self._blocks(views)])

    def _score_clusters(self, views: Views) -> ClusterScores:
        """Score clusters by balanced votes, divided by the weight of the views that an entity has."""
        scores, labels, is_known = [], [], []
        with use_threads(self.n_jobs):
            for votes in self._blocks(views):
                total = sum_votes(votes)
                weights = np.sum([self._models[name].weight * view.has_view for name, view in votes.items()], axis=0)
                # Sizes in units of the mean size, so that the votes for a clear cluster are about 1.
                balanced = balance_votes(total, self._sizes * len(self._sizes), self._balance)
                balanced = balanced / np.where(weights > 0, weights, 1)[:, None]
                scores.append(score_gaps(balanced.max(axis=1, keepdims=True) - balanced, VOTE_LIMIT))
                labels.append(self._choose(votes))
                is_known.append((total != 0).any(axis=1))
        return ClusterScores(np.concatenate(scores), np.concatenate(labels), np.concatenate(is_known), self._sizes)

    def _extend(self, views: Views, sample: np.ndarray, misfit: Misfit, task: Task) -> Misfit:
        """Predict the entities that were not in the sample, block by block, and store what is known of all.

        Returns how poorly their clusters predict the entities.
        """
        n = len(views)
        task.detail = "predicting the other entities"
        labels, confidence = np.empty(n, self.labels_.dtype), np.empty(n)
        parts = []
        view_labels = {name: np.full(n, -1) for name in views.names}
        start = 0
        for votes in self._blocks(views):
            chosen = self._choose(votes)
            rows = slice(start, start + len(chosen))
            labels[rows], confidence[rows] = chosen, self._measure_margins(votes, chosen)
            parts.append(self._combine_misfit(votes, labels[rows]))
            for name, view in votes.items():
                by_view = choose_clusters(view.votes[view.has_view], self._sizes, self._balance)
                view_labels[name][rows][view.has_view] = by_view
            start = rows.stop
            task.advance(BLOCK_UNITS)
        labels[sample], confidence[sample] = self.labels_, self.confidence_
        extended = join_misfit(parts)
        for values, sampled in zip(extended.quantities, misfit.quantities, strict=True):
            values[sample] = sampled
        for name, sampled_labels in self.view_labels_.items():
            view_labels[name][sample] = sampled_labels
        self.runner_up_ = None
        self.labels_, self.confidence_ = labels, confidence
        store_agreement(self, view_labels)
        return extended

    def predict(self, X: Any, *, out: Any = None) -> np.ndarray:
        """Predict the clusters of entities, seen before or not.

        %(predict_parameters)s
        %(out)s

        %(returns_out)s
        """
        views = check_new_views(self, X)
        check_out(out, (len(views),), len(self._sizes) - 1)
        with use_threads(self.n_jobs):
            return gather_results(map(self._choose, self._blocks(views)), out)

    def predict_confidence(self, X: Any) -> np.ndarray:
        """Margin of the predicted cluster of each entity over the second, relative to its votes.

        For entities that were not in the fit it is what `confidence_` is for those of the fit.

        %(predict_parameters)s

        Returns
        -------
        ndarray of shape (n_entities,)
            From 0 for a tie to 1 if no other cluster has a vote. It orders entities by how doubtful they are, as
            `explain.clarity` does; it is not a probability, and not the confidence of the report and of
            `Assessment.estimate_confidence`.
        """
        views = check_new_views(self, X)
        with use_threads(self.n_jobs):
            margins = [self._measure_margins(votes, self._choose(votes)) for votes in self._blocks(views)]
        return np.concatenate(margins)

    def _measure_margins(self, votes: Mapping[str, ViewVotes], labels: np.ndarray) -> np.ndarray:
        """Return the margin of each entity's cluster over the second."""
        return measure_vote_margins(sum_votes(votes) / self._sizes**self._balance, labels)

    def _blocks(self, views: Views) -> Iterator[dict[str, ViewVotes]]:
        """Yield the votes of each view for some entities at a time."""
        for start in range(0, max(1, len(views)), ROWS_AT_A_TIME):
            block = restrict_columns(views[start : min(start + ROWS_AT_A_TIME, len(views))], self._columns)
            votes: dict[str, ViewVotes] = {}
            for name, (X, has_view) in validate_blocks(block).items():
                has_row, model = find_usable_rows(X, has_view), self._models[name]
                scores, distances = np.zeros((len(block), len(self._sizes))), [np.empty(0)] * model.n_graphs
                if has_row.any():
                    view_votes, distances = model.predict(select_rows(X, has_row))
                    scores[has_row] = to_numpy(view_votes)
                votes[name] = ViewVotes(has_row, scores, distances)
            warn_about_zero_rows(
                block, {name: view.has_view for name, view in votes.items()}, "gets the largest cluster"
            )
            yield votes

    def score(self, X: Any, y: Any = None) -> float:  # noqa: ARG002
        """Information that the views' predictions share with the predicted clusters, in bits; more is better.

        It grows with the number of clusters: do not choose `n_clusters` by it.

        %(score_parameters)s

        Returns
        -------
        float
            Mean over the views, by the number of their entities, of the mutual information.
        """
        views = check_new_views(self, X)
        with use_threads(self.n_jobs):
            blocks = list(self._blocks(views))
        labels = np.concatenate([self._choose(votes) for votes in blocks])
        bits, n_entities = [], []
        for name in blocks[0]:
            has_view = np.concatenate([votes[name].has_view for votes in blocks])
            view_votes = np.concatenate([votes[name].votes for votes in blocks])[has_view]
            guesses = choose_clusters(view_votes, self._sizes, self._balance)
            bits.append(mutual_information(labels[has_view], guesses, len(self._sizes)))
            n_entities.append(int(has_view.sum()))
        return float(np.average(bits, weights=n_entities)) if sum(n_entities) else 0.0

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def refine(X: Any, labels: Any, *, constraints: Any = None, random_state: Seed = 0, **options: Any) -> Consilience:
    """Refine the labels of any clustering, such as the result of another tool.

    Parameters
    ----------
    X : Views, mapping or sequence of blocks, or array-like of shape (n_entities, n_columns)
        The data.
    labels : array-like of shape (n_entities,)
        The cluster of each entity, as numbers or names; None, NaN, an empty string or a negative number leave the
        entity open. There must be at least two clusters.
    constraints : Constraints, default=None
        Pairs of entities that must, or cannot, be in the same cluster. Must-links are satisfied, and cannot-links that
        the labels satisfy are not broken.
    random_state : int, Generator, RandomState or None, default=0
        Seed of the permutations behind `view_information_`, and of the sample of large data.
    **options
        Other parameters of `Consilience`.

    Returns
    -------
    Consilience
        The fitted estimator. Its `labels_` number the clusters in the order of the sorted names of the given labels;
        ``classes_`` has these names.

    Examples
    --------
    >>> import numpy as np
    >>> import consilience as cs
    >>> views, y = cs.datasets.make_gaussian_views(200, n_clusters=3, separation=12, random_state=0)
    >>> noisy = np.where(np.arange(200) % 5 == 0, 0, y)  # every fifth label is wrong, or right by chance
    >>> bool(cs.metrics.adjusted_rand_score(y, noisy) < 0.7)
    True
    >>> bool(cs.metrics.adjusted_rand_score(y, cs.refine(views, noisy).labels_) > 0.95)
    True
    """
    if "n_clusters" in options or "init" in options:
        raise TypeError("refine takes n_clusters and init from the labels: leave them out")
    array = np.asarray(labels, dtype=object)
    if array.ndim != 1:
        raise ValueError(f"labels must have one dimension, one label per entity, got shape {array.shape}")
    is_open = np.array([is_open_label(value) for value in array], dtype=bool)
    kinds = {isinstance(value, str) for value in array[~is_open]}
    if len(kinds) > 1 or not all(isinstance(value, Real | str) for value in array[~is_open]):
        raise TypeError("labels must be all numbers or all names (text), not both: convert them to one type")
    names, inverse = np.unique(np.asarray(array[~is_open].tolist()), return_inverse=True)
    if len(names) < 2:
        number = "only 1 cluster" if len(names) else "no cluster"
        raise ValueError(f"labels name {number}, but refinement needs at least 2: give labels of 2 clusters or more")
    numbers = np.full(len(array), -1)
    numbers[~is_open] = inverse
    model = Consilience(len(names), init=numbers, random_state=random_state, **options).fit(X, constraints=constraints)
    model.classes_ = names
    return model


def build_refined_model(
    views: Views, warm: WarmRefinement, state: Round, n_clusters: int, knowledge: Knowledge
) -> Consilience:
    """Return a fitted estimator with the clusters of a warm refinement.

    Outliers have the label -1, no view learns from them, and `assign_outliers` gives them the cluster with most votes.
    A view for which an entity is ignored counts as missing there.
    """
    precomputed = {view.name: view.is_precomputed for view in warm.prepared}
    affinity = {name: "precomputed" if is_square else "auto" for name, is_square in precomputed.items()}
    model = Consilience(
        n_clusters,
        affinity=affinity if any(precomputed.values()) else "auto",
        sample_size=max(LEAST_SAMPLE, len(views)),
        random_state=0,
    )
    check_views(model, views, reset=True)
    ensemble = warm.build_ensemble(n_clusters, knowledge)
    is_outlier = state.labels < 0
    labels = np.where(is_outlier, ensemble.choose(state.vote.total, state.labels), state.labels)
    finished = Run(state, [{"round": 1, **state.record}], 1, True, False)
    attempt = Attempt(finished, labels, -state.score)
    information = measure_information(ensemble, state, make_generator(0))
    fitted = AgreementFit(warm.prepared, ensemble, ["decisions"], [attempt], attempt, information, False)
    store_input_features(model, views, views)
    model._columns = find_similarity_columns(views, precomputed, source=views)
    misfit, by_view = model._store(fitted, views)
    model._reset_probabilities()
    model._mark_outliers(misfit, by_view, (LEAST_ERROR, LEAST_DEVIATION))
    model._unassigned = np.stack([np.flatnonzero(is_outlier), labels[is_outlier]])
    model.labels_ = state.labels
    return model


def is_open_label(value: Any) -> bool:
    """Return whether a label leaves its entity open: None, NaN or another missing value, empty text, or below 0."""
    if is_real(value):
        return not float(value) >= 0
    return value is None or type(value).__name__ in ("NAType", "NaTType") or value == ""


@dataclass(frozen=True, eq=False)
class ViewVotes:
    """The votes of a view on entities."""

    has_view: np.ndarray  # (n,)
    votes: np.ndarray  # (n, k), zeros where an entity lacks the view
    distances: Sequence[np.ndarray]  # mean distance from the neighbors in each graph, of the entities with the view


@dataclass(frozen=True, eq=False)
class AgreementFit:
    """The outcome of all starts."""

    prepared: Sequence[PreparedView]
    ensemble: Ensemble
    origins: Sequence[str]
    attempts: Sequence[Attempt]
    best: Attempt
    information: Table
    interrupted: bool


def join_misfit(parts: Sequence[Misfit]) -> Misfit:
    """Return how poorly clusters predict the entities of several blocks."""
    quantities = [np.concatenate(values) for values in zip(*(part.quantities for part in parts), strict=True)]
    return Misfit(quantities, np.concatenate([part.present for part in parts]), parts[0].names)


def check_start_labels(init: Any, n_entities: int, n_clusters: int) -> np.ndarray:
    """Return labels to start from as whole numbers, checked."""
    labels = np.asarray(init)
    if labels.shape != (n_entities,):
        raise ValueError(
            f"the labels to start from (init) must be one per entity, shape ({n_entities},), got shape {labels.shape}"
        )
    if not np.issubdtype(labels.dtype, np.integer):
        raise ValueError(
            f"init must hold whole numbers below n_clusters={n_clusters}, got numbers of type {labels.dtype}"
        )
    if labels.max(initial=-1) >= n_clusters:
        raise ValueError(f"init has label {labels.max()}, but n_clusters={n_clusters}: labels run from 0 to one less")
    if (labels < 0).all():
        raise ValueError("init has no label from 0 on: give at least one")
    return labels.astype(np.int64)


def measure_information(ensemble: Ensemble, state: Round, rng: np.random.Generator) -> Table:
    """Return the information of each view's left-out predictions about the clusters, and its mean by permutation."""

    def measure(labels: np.ndarray, by_view: Sequence[Array]) -> list[float]:
        bits = []
        for view, votes in zip(ensemble.views, by_view, strict=True):
            view_labels, guesses = labels[view.entities], ensemble.choose(votes, labels)
            labeled = view.is_used & (view_labels >= 0)
            bits.append(mutual_information(view_labels[labeled], guesses[labeled], ensemble.n_clusters))
        return bits

    permuted = [rng.permutation(state.labels) for _ in range(N_PERMUTATIONS)]
    baselines = np.mean([measure(labels, ensemble.vote(labels).by_view) for labels in permuted], axis=0)
    rows = []
    for view, bits, baseline in zip(ensemble.views, measure(state.labels, state.vote.by_view), baselines, strict=True):
        view_labels = state.labels[view.entities]
        view_labels = view_labels[view.is_used & (view_labels >= 0)]
        entropy = mutual_information(view_labels, view_labels, ensemble.n_clusters)
        share = max(0.0, bits - baseline) / (entropy - baseline) if entropy > baseline else 0.0
        rows.append({"view": view.name, "bits": bits, "baseline": float(baseline), "share": share})
    return Table.from_rows(rows)


def compare_attempts(fitted: AgreementFit) -> tuple[Table, np.ndarray | None]:
    """Return the table of starts, and the best partition that differs from the chosen one if it is as good."""
    rows, runner_up, runner_up_score = [], None, EQUALLY_SUPPORTED * -fitted.best.cost
    for origin, attempt in zip(fitted.origins, fitted.attempts, strict=False):
        similarity = float(normalized_mutual_info_score(attempt.result, fitted.best.result))
        bits = attempt.run.state.score
        rows.append({"start": origin, "bits": bits, "rounds": attempt.run.n_iter, "similarity": similarity})
        if similarity < DIFFERENT and -attempt.cost >= runner_up_score > 0:
            runner_up, runner_up_score = attempt.result, -attempt.cost
    return Table.from_rows(rows), runner_up


def build_models(fitted: AgreementFit, kinds: Sequence[str]) -> dict[str, ViewModel]:
    """Fit the rules that predict new entities to the final clusters of all entities."""
    state: Round = fitted.best.run.state
    models = {}
    for view, predictors, weights in zip(fitted.prepared, fitted.ensemble.views, state.vote.weights, strict=True):
        view_labels = np.where(predictors.is_used, state.labels[view.entities], -1)
        members = encode_labels(view_labels, fitted.ensemble.n_clusters, fitted.ensemble.like)
        remaining = iter(zip(predictors.predictors, weights.tolist(), strict=True))
        spaces = []
        for space in view.spaces:
            rules = [build_rule(kind, *next(remaining), space, members) for kind in kinds]
            spaces.append(SpaceModel(space.geometry, rules))
        models[view.name] = ViewModel(spaces)
    return models


def sum_votes(votes: Mapping[str, ViewVotes]) -> np.ndarray:
    """Return the votes of all views, (n, k)."""
    return np.sum([view.votes for view in votes.values()], axis=0)
