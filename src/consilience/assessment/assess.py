"""Assess a clustering by entities that the models have not seen."""

from __future__ import annotations

import inspect
import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations_with_replacement
from numbers import Integral
from typing import Any, ClassVar, NamedTuple

import numpy as np
from sklearn.metrics import normalized_mutual_info_score
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from .._numbers import is_integer
from .._progress import Task, open_task
from .._tuning import Tuning
from ..affinities import Precomputed
from ..arrays import Seed, make_generator, use_threads
from ..data import Views
from ..data.inputs import resolve_per_view
from ..methods import Consilience
from ..methods.agreement.starts import Restarts
from ..methods.common.constraint_checks import get_entity_ids, resolve_constraints, split_by_view
from ..methods.common.halves import (
    LEAST_PER_CLUSTER,
    HalfFit,
    ModelData,
    check_entities_per_cluster,
    check_fitted_entities,
    clone_quietly,
    digest_rows,
    find_repeated,
    group_identical,
    last_step,
    measure_disagreement,
    reset_start,
    restrict_constraints,
    try_divisions,
)
from ..methods.common.input_checks import holds_views
from ..methods.common.run import announce
from ..methods.common.validation import RANDOM_STATE, HasMethods, Interval, validate_params
from .assessment import Alternative, Assessment, list_views, tabulate_clusters, tabulate_views
from .checkpoint import Checkpoint, compute_fingerprint, describe_parameters
from .left_out import judge_views, measure_left_out_margins, prepare_apart, uses_reference_votes
from .reference import ENTITIES_PER_CLUSTER, LEAST_SHARED

tuning = Tuning(
    most_compared=1_500,  # entities on which views are compared with each other
    least_compared=100,  # of them that have a view or two views, if there are so many
)
LEAST_TWINS = 0.05  # share of entities with an identical twin from which groups of identical ones are kept together
MOST_CHECKED = 500  # entities whose predictions are compared with the labels of the fit
LEAST_SAME = 0.6  # share of them from which the data counts as that of the fit
PER_VIEW = ("affinity", "bandwidth", "divergence", "families", "metric")  # parameters that may be lists by view
JUDGE_UNITS = 0.5  # of progress: predictions take about half as long as fits to two halves
VIEW_NAMES = ("embedding", "view")  # parameters that may be the name of a view


@validate_params(
    {
        "model": [HasMethods("fit")],
        "refit": ["boolean"],
        "max_entities": [Interval(Integral, 10, None, closed="left")],
        "n_splits": [Interval(Integral, 1, None, closed="left")],
        "related": ["array-like"],
        "averaged": ["array-like"],
        "random_state": RANDOM_STATE,
        "checkpoint": [str, os.PathLike, None],
        "verbose": ["verbose"],
    },
    prefer_skip_nested_validation=True,
)
def assess(
    model: Any,
    X: Any,
    *,
    y: Any = None,
    constraints: Any = None,
    refit: bool = False,
    max_entities: int = 5_000,
    n_splits: int = 1,
    related: Sequence[tuple[str, str]] = (),
    averaged: Sequence[str] = (),
    random_state: Seed = 0,
    checkpoint: str | os.PathLike[str] | None = None,
    verbose: bool = False,
) -> Assessment:
    """Assess how far a clustering can be relied on, without labels.

    Views that are fitted together agree on the entities they were fitted to, so that their agreement tells nothing
    about their errors. Everything here comes from entities that a fit, or a view's predictor, has not seen: two fits to
    disjoint halves are compared on entities that one of them has not seen, and each view predicts the clusters of
    entities it has not learned from. See `Assessment` for the figures and docs/trust.md for what they were worth on
    labeled sets.

    Parameters
    ----------
    model : estimator, or Pipeline that ends in one
        Fitted, with `labels_` and `predict`. It is not changed; clones of it are fitted to halves.
    X : Views, or whatever the estimator's `fit` takes
        The data that the model was fitted to, in the same order. Views of a pipeline are judged as its last step sees
        them; halves are fitted with all its steps.
    y : array-like of shape (n_entities,), optional
        The known classes that `fit` was given, -1 where unknown; each half is fitted with those of its entities.
    constraints : Constraints, or mapping of str to Constraints, optional
        What `fit` was given; each half is fitted with the constraints between its entities.
    refit : bool, default=False
        Whether to fit and assess the model without the views that no other view confirms, if there are any. Of a
        pipeline only the last step is fitted again.
    max_entities : int, default=5000
        If there are more entities, a random sample of this size is assessed, which bounds the cost. Views are compared
        with each other on about 1,500 entities at most.
    n_splits : int, default=1
        Divisions into halves, two fits each.
    related : sequence of pairs of str, default=()
        Pairs of views that were made from the same data, such as a text by its words and by its meaning. That they
        agree proves nothing, so they do not confirm each other.
    averaged : sequence of str, default=()
        Views whose rows are averages over several entities, such as texts averaged along links. No entity can be left
        out of them, so that the figures are optimistic: there is no estimate of the impurity, and the verdict is not
        "stable".
    random_state : int, Generator, RandomState or None, default=0
        Seed of the sample, the halves and the fits.
    checkpoint : path, optional
        A file that keeps finished steps. After an interruption a call with the same arguments goes on from there, if
        `random_state` is a number. A file of other data, parameters, constraints or seeds is refused.
    verbose : bool, default=False
        Print each step.

    Returns
    -------
    Assessment
        The verdict, the figures behind it, and tables per view and per cluster.

    Examples
    --------
    >>> import consilience as cs
    >>> views, y = cs.datasets.make_gaussian_views(300, n_clusters=3, separation=12, random_state=0)
    >>> model = cs.Consilience(n_clusters=3, random_state=0).fit(views)
    >>> assessment = cs.assess(model, views)
    >>> assessment.verdict
    'stable'
    >>> assessment.views["confirmed"].tolist()
    [True, True]
    """
    model = getattr(model, "best_estimator_", model)  # of a search over parameters
    if not hasattr(model, "predict"):
        raise TypeError(
            f"{type(last_step(model)).__name__} has no predict, but an assessment needs predictions for entities that "
            "a fit has not seen: assess Consilience, or cs.refine(X, model.labels_), which starts from these clusters"
        )
    check_is_fitted(model)
    pairs = [(str(first), str(second)) for first, second in related]
    options = Options(refit, max_entities, n_splits, verbose, pairs, [str(name) for name in averaged])
    classes = None if y is None else np.asarray(y)
    with open_task(options.n_units) as task:
        return run_assessment(
            model, X, classes, constraints, random_state, options, lambda key: Checkpoint(checkpoint, key), task
        )


class Options(NamedTuple):
    """What to assess, and how much of it."""

    refit: bool
    max_entities: int
    n_splits: int
    verbose: bool
    related: Sequence[tuple[str, str]]
    averaged: Sequence[str]

    @property
    def n_units(self) -> float:
        """Units of progress: the fits to halves, and the predictions of the views."""
        return self.n_splits + JUDGE_UNITS


def run_assessment(
    model: Any,
    X: Any,
    y: np.ndarray | None,
    constraints: Any,
    random_state: Seed,
    options: Options,
    open_steps: Callable[[str], Checkpoint],
    task: Task,
) -> Assessment:
    """Assess a fitted model; `open_steps` returns the finished steps of the computation with a fingerprint."""
    estimator = last_step(model)
    labels = np.asarray(estimator.labels_)
    transformed = model[:-1].transform(X) if len(getattr(model, "steps", ())) > 1 else X
    views = read_views(estimator, transformed)
    check_fitted_entities(labels, len(views))
    n_clusters = int(labels.max()) + 1
    if n_clusters < 2:
        raise ValueError("the model has a single cluster, so nothing can be assessed: fit at least 2 clusters")
    check_entities_per_cluster(len(views), n_clusters, "an assessment")
    precomputed = find_precomputed(estimator, views.names)
    if y is not None and y.shape != labels.shape:
        raise ValueError(
            f"y must have one class per entity, -1 if unknown: {len(labels)} entities, got shape {y.shape}"
        )
    data = ModelData(Views(X) if holds_views(X) else X, locate_constraints(constraints, X, views), y)
    rng = make_generator(random_state)
    sample = draw_sample(labels, options.max_entities, n_clusters, rng)
    seeds = rng.integers(2**31, size=options.n_splits + 1).tolist()
    assessed = views[sample]
    digests = [(name, assessed[name].shape, digest_rows(assessed, name)) for name in views.names]
    described = [*describe_parameters(model), *describe_parameters(data.constraints)]
    described += [] if y is None else ["y", *describe_parameters(y)]
    steps = open_steps(compute_fingerprint(labels, sample, seeds, digests, *described))
    groups = find_twins(assessed, n_clusters)
    halves, half_model = [], prepare_half_model(model)
    task.detail = "fits to halves of the entities"
    for number, seed in enumerate(seeds[:-1], 1):
        announce(f"assess: fits to halves, division {number} of {options.n_splits}", options.verbose)
        halves += fit_halves(steps, f"division {number}", data, half_model, sample, groups, seed)
        task.advance()
    announce("assess: predictions of each view for entities that it has not learned from", options.verbose)
    task.detail = "predictions of each view"
    with use_threads(getattr(estimator, "n_jobs", None)):
        judged = steps.run(
            "views", lambda: judge_sample(estimator, views, precomputed, labels, sample, groups, n_clusters, seeds[-1])
        )
    task.advance(JUDGE_UNITS)
    stability = measure_stability(halves, labels)
    margin = np.full(len(labels), np.nan)
    if groups is None and uses_reference_votes(estimator):  # the fit has left out each entity in its turn
        margin = np.where(labels >= 0, estimator.confidence_, np.nan)
    margin[sample] = judged["margin"]
    counted = sample[labels[sample] >= 0]
    between_halves = np.mean([measure_disagreement(*pair) for pair in zip(halves[::2], halves[1::2], strict=True)])
    n_requested = getattr(estimator, "n_clusters", None)
    n_filled = len(np.unique(labels[labels >= 0]))
    n_missing = max(0, int(n_requested) - n_filled) if is_integer(n_requested) else 0
    assessment = Assessment(
        float(max(between_halves, 1 - np.mean(stability[counted]))),
        1 - float(np.mean(margin[counted])),
        tabulate_clusters(labels[counted], {"stability": stability[counted], "margin": margin[counted]}),
        tabulate_views(views.names, judged, options.related),
        stability,
        margin,
        name_pairs(views.names, judged["copies"]),
        len(sample),
        options.n_splits,
        notes=[
            *write_notes(len(labels), len(sample), n_clusters, n_filled, n_missing, groups),
            *note_other_data(model, data, labels, rng),
        ],
        alike=name_pairs(views.names, judged["alike"]),
        unjudged={
            name: str(reason) for name, reason in zip(views.names, judged["unjudged"].tolist(), strict=True) if reason
        },
        n_missing_clusters=n_missing,
        related=options.related,
        averaged=[name for name in options.averaged if name in views.names],
    )
    if not options.refit or not 0 < len(assessment.unconfirmed) < len(assessment.compared):
        return assessment
    announce(f"assess: the result without {list_views(assessment.unconfirmed)}", options.verbose)
    task.detail = f"the result without {list_views(assessment.unconfirmed)}"
    task.n_units += 1 + options.n_units
    alternative = fit_without(
        model,
        Views(transformed) if holds_views(transformed) else transformed,
        views,
        data,
        tuple(assessment.unconfirmed),
        seeds[-1],
        options._replace(refit=False),
        lambda key: steps.nest(f"without views, {key}"),
        task,
    )
    return replace(assessment, alternative=alternative)


def name_pairs(names: Sequence[str], pairs: np.ndarray) -> list[tuple[str, str]]:
    """Return pairs of views by name."""
    return [(names[first], names[second]) for first, second in pairs.tolist()]


def note_other_data(model: Any, data: ModelData, labels: np.ndarray, rng: np.random.Generator) -> list[str]:
    """Return a note if the model predicts other clusters for the data than it has, as for rows in another order."""
    clustered = np.flatnonzero(labels >= 0)
    rows = np.sort(rng.choice(clustered, min(MOST_CHECKED, len(clustered)), replace=False))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        share = float(np.mean(np.asarray(model.predict(data.take(rows))) == labels[rows]))
    if share >= LEAST_SAME:
        return []
    return [
        f"For {1 - share:.0%} of the entities the model predicts other clusters than it has in labels_: check that "
        "this is the data of the fit, in the same order."
    ]


def read_views(estimator: Any, X: Any) -> Views:
    """Return the data as the views that the estimator sees."""
    if holds_views(X):
        return Views(X)
    columns = getattr(estimator, "views", None)
    return Views([X]) if columns is None else Views.from_columns(X, columns)


def find_precomputed(estimator: Any, names: Sequence[str]) -> dict[str, bool]:
    """Return for each view whether it is a matrix of similarities; refuse matrices of divergences."""
    if hasattr(estimator, "affinity"):
        affinities = resolve_per_view("affinity", estimator.affinity, names)
        return {name: value == "precomputed" or isinstance(value, Precomputed) for name, value in affinities.items()}
    divergences = resolve_per_view("divergence", getattr(estimator, "divergence", None), names)
    for name, value in divergences.items():
        if value == "precomputed":
            raise ValueError(f"view {name!r} holds divergences, which cannot be assessed: give features or a kernel")
    return {name: value == "kernel" for name, value in divergences.items()}


def locate_constraints(constraints: Any, X: Any, views: Views) -> Any:
    """Return constraints by position, by view if they are given so; None if there are none."""
    if constraints is None:
        return None
    ids = get_entity_ids(X, views)
    by_name, joint = split_by_view(constraints, views.names)
    if isinstance(constraints, Mapping):
        return {name: resolve_constraints(links, views, ids, name) for name, links in by_name.items()}
    return resolve_constraints(joint, views, ids, None)


def draw_sample(labels: np.ndarray, max_entities: int, n_clusters: int, rng: np.random.Generator) -> np.ndarray:
    """Return the positions of the entities to assess: all, or a random sample."""
    if len(labels) <= max_entities:
        return np.arange(len(labels))
    least = LEAST_PER_CLUSTER * n_clusters
    if max_entities < least:
        raise ValueError(
            f"max_entities={max_entities} is too few for {n_clusters} clusters: an assessment needs at least "
            f"{LEAST_PER_CLUSTER} entities per cluster, {least}"
        )
    return np.sort(rng.choice(len(labels), max_entities, replace=False))


class HalfConsilience(Consilience):
    """The default method with one start of each kind and few restarts of k-means, which saves most of the time."""

    _restarts: ClassVar[Restarts] = Restarts(views=2, embedding=3)


def prepare_half_model(model: Any) -> Any:
    """Return an unfitted clone that fits halves of the entities from their own starts."""
    fresh = reset_start(model)
    estimator = last_step(fresh)
    if type(estimator) is not Consilience:
        return fresh
    quick = HalfConsilience(**{**estimator.get_params(deep=False), "n_init": 1})
    if fresh is estimator:
        return quick
    return fresh.set_params(**{fresh.steps[-1][0]: quick})


def find_twins(views: Views, n_clusters: int) -> np.ndarray | None:
    """Return the groups of identical entities; None if few entities have an identical one.

    An identical entity tells the cluster of one that was left out, so that noise seems to predict clusters. Data with
    too few different entities is refused.
    """
    groups = group_identical(views)
    if np.mean(np.bincount(groups)[groups] > 1) < LEAST_TWINS:
        return None
    n_different, least = int(groups.max()) + 1, LEAST_PER_CLUSTER * n_clusters
    if n_different < least:
        raise ValueError(
            f"only {n_different} of the entities differ from each other, too few to fit {n_clusters} clusters to each "
            f"half of them: an assessment needs at least {LEAST_PER_CLUSTER} per cluster, {least}"
        )
    return groups


def fit_halves(
    steps: Checkpoint, step: str, data: ModelData, model: Any, sample: np.ndarray, groups: np.ndarray | None, seed: int
) -> list[HalfFit]:
    """Fit the model to two halves of the sample; another division is tried if a half cannot be clustered."""

    def fit_named(name: str, rows: np.ndarray, others: np.ndarray, half_seed: int) -> HalfFit:
        arrays = steps.run(f"{step}, {name}", lambda: vars(data.fit_half(model, rows, others, half_seed)))
        return HalfFit(**arrays)

    return try_divisions(sample, np.random.default_rng(seed), fit_named, groups)


def measure_stability(halves: Sequence[HalfFit], labels: np.ndarray) -> np.ndarray:
    """Return the share of the fits without each entity that repeat its cluster; NaN if it has no cluster or fit."""
    repeated, fits = np.zeros(len(labels)), np.zeros(len(labels))
    for half in halves:
        repeated[half.others] += find_repeated(half, labels)
        fits[half.others] += 1
    return np.where((fits > 0) & (labels >= 0), repeated / np.maximum(fits, 1), np.nan)


def judge_sample(
    estimator: Any,
    views: Views,
    precomputed: Mapping[str, bool],
    labels: np.ndarray,
    sample: np.ndarray,
    groups: np.ndarray | None,
    n_clusters: int,
    seed: int,
) -> dict[str, np.ndarray]:
    """Return the margins of the sample's entities in the left-out vote, and how well views predict clusters.

    With groups of identical entities, both come from one entity per group.
    """
    different = sample
    if groups is not None:  # the first entity of each group, if possible one with a cluster
        order = np.argsort(labels[sample] < 0, kind="stable")
        different = sample[order[np.unique(groups[order], return_index=True)[1]]]
    compared = draw_compared(views, different, np.random.default_rng(seed))
    prepared = prepare_apart(views[compared], precomputed, n_clusters)
    judged = judge_views(prepared, labels[compared], n_clusters, seed)
    is_rare = views.present[compared].sum(axis=0) < LEAST_SHARED
    judged["unjudged"] = np.where((judged["unjudged"] == "constant") & is_rare, "few", judged["unjudged"])
    if groups is None and uses_reference_votes(estimator):  # the margins of the fit come from the predictors used here
        margin = np.where(labels >= 0, estimator.confidence_, np.nan)[sample]
    else:
        if len(compared) < len(different):
            prepared = prepare_apart(views[different], precomputed, n_clusters)
        margin = measure_left_out_margins(prepared, labels[different], n_clusters)
        if groups is not None:
            margin = np.where(labels[sample] >= 0, margin[groups], np.nan)
    return {"margin": margin, **judged}


def draw_compared(views: Views, sample: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return the entities on which views are compared: the sample, or part of it with enough entities per pair."""
    if len(sample) <= tuning.most_compared:
        return sample
    present = views.present[sample]
    chosen = np.zeros(len(sample), bool)
    chosen[rng.choice(len(sample), tuning.most_compared, replace=False)] = True
    for first, second in combinations_with_replacement(present.T, 2):
        both = first & second
        lacking = min(tuning.least_compared, int(both.sum())) - int((chosen & both).sum())
        if lacking > 0:
            chosen[rng.choice(np.flatnonzero(both & ~chosen), lacking, replace=False)] = True
    return sample[chosen]


def write_notes(
    n_entities: int, n_assessed: int, n_clusters: int, n_filled: int, n_missing: int, groups: np.ndarray | None
) -> list[str]:
    """Return sentences about what limits the assessment."""
    notes = []
    if n_missing:
        notes.append(
            f"Only {n_filled} of the {n_filled + n_missing} requested clusters have entities: the data may hold fewer "
            "groups, or another random_state may find more."
        )
    if n_assessed < n_entities:
        notes.append(f"{n_assessed:,} of the {n_entities:,} entities, drawn at random, were assessed.")
    if groups is not None:
        n_twins = int(np.sum(np.bincount(groups)[groups] > 1))
        notes.append(
            f"{n_twins:,} of the assessed entities are identical to another in all views. They were kept in the same "
            "half, and views were compared on one entity of each group of identical ones."
        )
    if n_assessed < ENTITIES_PER_CLUSTER * n_clusters:
        notes.append(
            f"There are fewer than {ENTITIES_PER_CLUSTER} assessed entities per cluster, so that fits to halves "
            "disagree more than fits to all entities would: the result may be better than this assessment."
        )
    return notes


def fit_without(
    model: Any,
    X: Any,
    views: Views,
    whole_data: ModelData,
    names: tuple[str, ...],
    seed: int,
    options: Options,
    open_steps: Callable[[str], Checkpoint],
    task: Task,
) -> Alternative:
    """Fit and assess the model without some views; of a pipeline the last step, whose data and views are given."""
    estimator = last_step(model)
    kept = [name for name in views.names if name not in names]
    rows = np.flatnonzero(views[kept].present.any(axis=1))
    kept_constraints, y = whole_data.constraints, whole_data.y
    if isinstance(kept_constraints, Mapping):
        kept_constraints = {name: links for name, links in kept_constraints.items() if name in kept}
    fresh = drop_views(estimator, views.names, names)
    if len(rows) < len(views):
        fresh = reset_start(fresh)  # labels to start from are those of all entities
    data = ModelData(X[kept] if isinstance(X, Views) else X, kept_constraints, y)
    fitted = data.fit(fresh, rows)
    task.advance()
    if kept_constraints is not None:
        kept_constraints = restrict_constraints(kept_constraints, rows)
    before, after = np.asarray(estimator.labels_)[rows], np.asarray(fitted.labels_)
    clustered = (before >= 0) & (after >= 0)
    similarity = float(normalized_mutual_info_score(before[clustered], after[clustered]))
    kept_y = None if y is None else y[rows]
    with open_task(options.n_units, span=options.n_units) as nested:
        assessment = run_assessment(
            fitted, data.take(rows), kept_y, kept_constraints, seed, options, open_steps, nested
        )
    whole = Pipeline([*model.steps[:-1], (model.steps[-1][0], fitted)]) if hasattr(model, "steps") else fitted
    return Alternative(names, whole, rows, assessment, similarity, after)


def drop_views(estimator: Any, names: Sequence[str], dropped: Sequence[str]) -> Any:
    """Return a clone whose parameters per view lack some views, and none of whose parameters names one of these."""
    fresh = clone_quietly(estimator)
    settings: dict[str, Any] = {}
    for parameter, value in fresh.get_params(deep=False).items():
        if isinstance(value, Mapping) and set(value) & set(dropped):
            settings[parameter] = {name: setting for name, setting in value.items() if name not in dropped}
        elif isinstance(value, list | tuple) and len(value) == len(names) and parameter in PER_VIEW:
            settings[parameter] = [setting for name, setting in zip(names, value, strict=True) if name not in dropped]
        elif parameter in VIEW_NAMES and value in dropped:
            settings[parameter] = inspect.signature(type(fresh)).parameters[parameter].default
    return fresh.set_params(**settings)
