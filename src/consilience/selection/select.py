"""Choose the number of clusters without labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.metrics import adjusted_rand_score

from .._numbers import is_integer
from .._progress import open_task
from ..affinities.graph import reuse_neighbors
from ..arrays import Seed, make_generator, use_threads
from ..assessment.assess import find_precomputed
from ..assessment.left_out import find_copies
from ..data import Constraints, Table, Views
from ..methods import Consilience
from ..methods.common.constraint_checks import check_constraints, resolve_constraints
from ..methods.common.halves import HalfFit, ModelData, group_identical, last_step
from ..methods.common.input_checks import holds_views
from ..methods.common.run import announce
from ..methods.common.validation import RANDOM_STATE, HasMethods, Interval, StrOptions, validate_params
from .candidates import find_peaks, limit_clusters, propose_coarse, propose_fine
from .clusterings import AgreementClusterings, Clusterings, EstimatorClusterings
from .predictors import LEAST_SHARED, SharedPredictors, measure_agreement, measure_modularity
from .selection import Selection
from .small_groups import find_small_groups
from .source import ViewSource

CHANCE_POINTS = 6  # numbers of clusters at which the information by chance is measured
FINE_NUMBERS = 4  # numbers that are tried around a peak, two on each side
LEAST_EVIDENCE = 2.25  # agreement times the root of the entities; independent views reach less
LEAST_STABILITY = 0.1  # of clusters that count as groups
LEAST_MODULARITY = 0.05  # by which the clusters of one view must be clearer than those of independent columns
MOST_IDENTICAL = 0.05  # share of entities that may be identical to others before these count once
CLUSTERS_OF_COPIES = 16  # at most, within which the neighbors of copies are the same beyond chance
HIGH, MIDDLE = 0.7, 0.35  # values of an index from which it is called high or middle


@validate_params(
    {
        "estimator": [HasMethods(["fit", "get_params", "set_params"]), type],
        "candidates": [StrOptions({"auto"}), "array-like"],
        "small_groups": ["boolean"],
        "constraints": [Constraints, None],
        "max_entities": [Interval(Integral, 16, None, closed="left")],
        "n_splits": [Interval(Integral, 1, None, closed="left")],
        "random_state": RANDOM_STATE,
        "verbose": ["verbose"],
    },
    prefer_skip_nested_validation=True,
)
def select_n_clusters(
    estimator: Any,
    X: Any,
    candidates: Sequence[int] | str = "auto",
    *,
    small_groups: bool = False,
    constraints: Constraints | None = None,
    max_entities: int = 1_200,
    n_splits: int = 2,
    random_state: Seed = 0,
    verbose: bool = False,
) -> Selection:
    """Say which numbers of clusters the data supports, without labels.

    A number is supported if each view predicts the same clusters as the other views for entities that it has not
    learned from, if these predictions carry more information than independent views would, and if fits to disjoint
    halves of the entities give the same clusters. No rule knows the number of clusters: up to three are supported, and
    "no evidence for groups" is an answer, too. docs/trust.md has what this was worth on labeled sets.

    Parameters
    ----------
    estimator : estimator, or Pipeline that ends in one
        Anything with `n_clusters` and `labels_`. It is not changed. For `Consilience` a quick version of it is used,
        which prepares the views once; any other estimator is fitted several times per candidate.
    X : Views, or whatever the estimator's `fit` takes
        The data.
    candidates : 'auto' or sequence of int, default='auto'
        Numbers of clusters to try. 'auto': from 2 to an eighth of the entities, at most 125, first on a coarse grid,
        then around its peaks.
    small_groups : bool, default=False
        Look for many small groups instead, such as duplicates: entities that are among each other's nearest in at least
        two views belong together. `candidates` are then not used, and the groups are in ``labels``.
    constraints : Constraints, optional
        With ``small_groups=True``: pairs that are known to belong together or apart, which always hold.
    max_entities : int, default=1200
        If there are more entities, a random sample of this size is used, which bounds the cost.
    n_splits : int, default=2
        Divisions into halves, two fits each.
    random_state : int, Generator, RandomState or None, default=0
        Seed of the sample, the halves and the fits.
    verbose : bool, default=False
        Print each candidate.

    Returns
    -------
    Selection
        The number with the highest score, all supported numbers with a sentence each, and the table of all candidates.

    Examples
    --------
    >>> import consilience as cs
    >>> views, y = cs.datasets.make_gaussian_views(200, n_clusters=4, separation=8, random_state=0)
    >>> selection = cs.select_n_clusters(cs.Consilience(), views, range(2, 8))
    >>> selection.n_clusters
    4
    """
    if isinstance(estimator, type):
        raise TypeError(f"{estimator.__name__} is a class: give an estimator, {estimator.__name__}()")
    if not any(name.rpartition("__")[2] == "n_clusters" for name in estimator.get_params(deep=True)):
        raise TypeError(f"{type(estimator).__name__} has no parameter n_clusters, which is to be chosen")
    clusterer = last_step(estimator)
    if holds_views(X):
        X = Views(X)
    source = ViewSource(ModelData(X if hasattr(X, "shape") else np.asarray(X)), estimator)
    with use_threads(getattr(clusterer, "n_jobs", None)), reuse_neighbors():
        if small_groups:
            views = source.read()
            links = resolve_constraints(check_constraints(constraints), views, views.ids, None)
            return find_small_groups(views, find_precomputed(clusterer, views.names), links)
        if constraints is not None:
            raise ValueError("constraints are used with small_groups=True only: leave them out")
        return search_numbers(source, candidates, max_entities, n_splits, make_generator(random_state), verbose)


def search_numbers(
    source: ViewSource,
    candidates: Sequence[int] | str,
    max_entities: int,
    n_splits: int,
    rng: np.random.Generator,
    verbose: bool,
) -> Selection:
    """Try numbers of clusters on a sample of distinct entities, and describe which are supported."""
    notes = []
    n_all = source.n_entities
    if n_all > max_entities:
        rows = np.sort(rng.choice(n_all, max_entities, replace=False))
        source = replace(source, data=ModelData(source.data.take(rows)))
        notes.append(f"Judged by {max_entities:,} of the {n_all:,} entities, drawn at random.")
    clusterer = last_step(source.estimator)
    views = source.read()
    precomputed = find_precomputed(clusterer, views.names)
    if not any(precomputed.values()):
        distinct = find_distinct(views)
        if distinct is not None:
            notes.append(
                f"{len(views) - len(distinct):,} entities are identical to others in all views and count once."
            )
            source = replace(source, data=ModelData(source.data.take(distinct)))
            views = source.read()
    tried, is_open = check_candidates(candidates, len(views))
    predictors = SharedPredictors.build(views, precomputed, tried[-1])
    copies = find_copied_views(predictors, tried[-1], rng)
    if copies:
        notes += [f"Views {first!r} and {second!r} are nearly copies, and count as one." for first, second in copies]
        dropped = {second for _, second in copies}
        source = replace(source, names=[name for name in views.names if name not in dropped])
        views = views[list(source.names or ())]
        precomputed = {name: precomputed[name] for name in views.names}
        predictors = SharedPredictors.build(views, precomputed, tried[-1])
    make = AgreementClusterings if isinstance(clusterer, Consilience) else EstimatorClusterings
    clusterings: Clusterings = make(source, views, precomputed, predictors, n_splits, rng)
    # A fit takes time in proportion to the number of clusters. Evidence takes a fit to all entities and fits to halves,
    # chance only one fit. Up to four numbers are tried around each peak, whose place is not known in advance.
    usual = float(np.mean(tried))
    chance_units, fine_units = usual * CHANCE_POINTS / (1 + n_splits), usual * FINE_NUMBERS * is_open
    with open_task(sum(tried) + chance_units + fine_units) as task:
        evidence = collect_evidence(clusterings, tried, verbose, span=sum(tried))
        task.advance(sum(tried))
        judges_agreement = any(np.isfinite(figures["agreement"]) for figures in evidence.values())
        task.detail = "the result of chance"
        chance = measure_chance(clusterings, tried, judges_agreement)
        task.advance(chance_units)
        task.detail = ""
        if is_open:
            table = tabulate(evidence, chance, judges_agreement)
            fine = propose_fine(table["n_clusters"].tolist(), table["score"])
            evidence = {**evidence, **collect_evidence(clusterings, fine, verbose, span=fine_units)}
    table = tabulate(evidence, chance, judges_agreement)
    return write_selection(table, views, judges_agreement, is_open, notes)


def find_distinct(views: Views) -> np.ndarray | None:
    """Return the first of each group of identical entities; None if there are few such groups.

    An identical entity would tell the cluster of the one that is left out.
    """
    _, first = np.unique(group_identical(views), return_index=True)
    return np.sort(first) if len(first) <= (1 - MOST_IDENTICAL) * len(views) else None


def find_copied_views(predictors: SharedPredictors, largest: int, rng: np.random.Generator) -> list[tuple[str, str]]:
    """Return the pairs of views that are nearly copies of each other."""
    if len(predictors.prepared) < 2:
        return []
    labels = predictors.cluster(min(CLUSTERS_OF_COPIES, largest), rng).labels
    names = [view.name for view in predictors.prepared]
    return [(names[first], names[second]) for first, second in find_copies(predictors.prepared, labels)["copies"]]


def check_candidates(candidates: Sequence[int] | str, n_entities: int) -> tuple[list[int], bool]:
    """Return the numbers to try first, sorted, and whether further ones may be tried."""
    if isinstance(candidates, str):
        largest = limit_clusters(n_entities)
        if largest < 2:
            raise ValueError(
                f"{n_entities} entities are too few to choose the number of clusters, which takes at least 16: give "
                "the number, or candidates"
            )
        return propose_coarse(largest), True
    numbers = list(candidates)
    if not numbers:
        raise ValueError("no candidates: give numbers of clusters, such as range(2, 11)")
    if not all(is_integer(number, least=1) for number in numbers):
        raise ValueError(f"candidates must be whole numbers from 1 on, got {numbers}")
    tried = sorted({int(number) for number in numbers} - {1})  # 1 is an answer that needs no trial
    if not tried:
        raise ValueError("the only candidate is 1: give larger numbers, with which it can be compared")
    if tried[-1] > n_entities // 2:
        raise ValueError(
            f"{tried[-1]} clusters are more than the {n_entities // 2} entities of a half of the data: try fewer"
        )
    return tried, False


def collect_evidence(
    clusterings: Clusterings, numbers: Sequence[int], verbose: bool, span: float
) -> dict[int, dict[str, float]]:
    """Return what speaks for each number of clusters; `span` is how much of the progress that is."""
    evidence = {}
    with open_task(max(1, sum(numbers)), span) as task:
        for number in numbers:
            announce(f"select_n_clusters: {number} clusters", verbose)
            task.detail = f"{number} clusters"
            labels = clusterings.cluster(number)
            information, agreement = measure_bits(clusterings.predictors, labels, number)
            evidence[number] = {
                "n_clusters": number,
                "information": information,
                "agreement": agreement,
                "stability": compare_halves(clusterings.cluster_halves(number), labels),
                "modularity": measure_modularity(clusterings.predictors.graph, labels),
            }
            task.advance(number)
    return evidence


def measure_bits(predictors: SharedPredictors, labels: np.ndarray, n_clusters: int) -> tuple[float, float]:
    """Return the bits of the left-out predictions about the clusters, and how far views and others agree."""
    ensemble = predictors.build_ensemble(max(n_clusters, int(labels.max()) + 1))
    vote = ensemble.vote(labels)
    return ensemble.score(vote), measure_agreement(ensemble, vote, labels)


def compare_halves(halves: Sequence[HalfFit], labels: np.ndarray) -> float:
    """Return the mean adjusted Rand index of the predictions of each half's fit for unseen entities and their labels.

    If the estimator cannot predict, the labels of a half are compared with those of the fit to all entities.
    """
    values = []
    for half in halves:
        predicts = (half.predicted >= 0).any()
        first, second = (half.predicted, labels[half.others]) if predicts else (half.labels, labels[half.rows])
        both = (first >= 0) & (second >= 0)
        values.append(adjusted_rand_score(first[both], second[both]))
    return float(np.mean(values))


def measure_chance(clusterings: Clusterings, tried: Sequence[int], judges_agreement: bool) -> np.ndarray:
    """Return a cubic in the logarithm of the number of clusters: information, or modularity, of permuted data."""
    if clusterings.permuted is None:
        return np.zeros(1)
    points = np.unique(np.rint(np.geomspace(tried[0], tried[-1], CHANCE_POINTS)).astype(int)).tolist()
    values = []
    for number in points:
        labels = clusterings.cluster_permuted(number)
        if judges_agreement:
            values.append(measure_bits(clusterings.permuted, labels, number)[0])
        else:
            values.append(measure_modularity(clusterings.permuted.graph, labels))
    return np.polyfit(np.log(points), values, min(3, len(points) - 1))


def tabulate(evidence: Mapping[int, Mapping[str, float]], chance: np.ndarray, judges_agreement: bool) -> Table:
    """Return the table of all numbers in order, with their scores."""
    rows = []
    for number in sorted(evidence):
        figures = evidence[number]
        by_chance = max(0.0, float(np.polyval(chance, np.log(number))))
        stability = max(0.0, figures["stability"])
        if judges_agreement:
            gain = max(0.0, figures["information"] - by_chance)
            score = max(0.0, np.nan_to_num(figures["agreement"])) * np.sqrt(gain * stability)
        else:
            score = max(0.0, figures["modularity"] - by_chance) * np.sqrt(stability)
        rows.append({**figures, "by_chance": by_chance, "score": float(score)})
    return Table.from_rows(rows)


def write_selection(
    table: Table, views: Views, judges_agreement: bool, is_open: bool, notes: Sequence[str]
) -> Selection:
    """Return the supported numbers in words."""
    peaks = find_peaks(table["n_clusters"], table["score"])
    if not judges_agreement:
        reason = "There is one view, so that no other view can confirm a number."
        if views.n_views > 1:
            reason = f"The views share fewer than {LEAST_SHARED} entities, so that their agreement cannot be judged."
        notes = [*notes, reason]
    doubt = find_doubt(table, peaks, views, judges_agreement)
    if doubt is not None:
        return Selection(1, " ".join([f"No evidence for groups: {doubt}", *notes]), table)
    supported = [int(table["n_clusters"][peak]) for peak in peaks]
    edge = describe_edge(supported, table["n_clusters"], is_open and views.n_views > 1)
    reason = " ".join([f"{name_numbers(supported)}.", *edge, *notes])
    sentences = tuple(write_sentence(table, peak, judges_agreement) for peak in peaks)
    return Selection(supported[0], reason, table, tuple(supported), sentences)


def find_doubt(table: Table, peaks: Sequence[int], views: Views, judges_agreement: bool) -> str | None:
    """Return why there is no evidence for groups, or None if there is."""
    if judges_agreement:
        n_shared = int((views.present.sum(axis=1) > 1).sum())
        if not peaks or table["agreement"][peaks[0]] * np.sqrt(n_shared) < LEAST_EVIDENCE:
            return f"views agree no more than independent views do.{describe_unshared(table)}"
    elif not peaks or table["modularity"][peaks[0]] - table["by_chance"][peaks[0]] < LEAST_MODULARITY:
        return "clusters are no clearer than those of independent columns."
    if table["stability"][peaks[0]] < LEAST_STABILITY:
        return "fits to halves of the entities give other clusters."
    return None


def describe_unshared(table: Table) -> str:
    """Return a sentence about clusters that come out again although the views do not share them, if there are any."""
    best = int(np.argmax(table["modularity"] * np.sqrt(np.maximum(table["stability"], 0))))
    stability = float(table["stability"][best])
    if stability < HIGH:
        return ""
    return (
        f" Fits to halves of the entities repeat {table['n_clusters'][best]} clusters (adjusted Rand index "
        f"{stability:.2f}), so that one view may hold groups that the others do not show: cluster each view alone."
    )


def name_numbers(supported: Sequence[int]) -> str:
    """Write the best number and the others: "4 clusters, or in more detail 11"."""
    best = supported[0]
    fewer, more = sorted(k for k in supported if k < best), sorted(k for k in supported if k > best)
    words = [f"{best} clusters"]
    if fewer:
        words.append(f"more coarsely {' or '.join(map(str, fewer))}")
    if more:
        words.append(f"in more detail {' or '.join(map(str, more))}")
    return ", or ".join(words)


def describe_edge(supported: Sequence[int], numbers: np.ndarray, has_remedy: bool) -> list[str]:
    """Return a sentence if the best number is the largest that was tried, or the smallest of given candidates."""
    best = supported[0]
    if best == numbers[-1]:
        remedy = "try small_groups=True (-k small-groups)" if has_remedy else "try larger candidates"
        return [f"{best} is the largest number that was tried, so that more may be supported: {remedy}."]
    if best == numbers[0] and best > 2:
        return [
            f"{best} is the smallest number that was tried, so that fewer may be supported: try smaller candidates."
        ]
    return []


def write_sentence(table: Table, position: int, judges_agreement: bool) -> str:
    """Return the reasons for one supported number."""
    number, stability = int(table["n_clusters"][position]), float(table["stability"][position])
    similar = grade(stability, ("give nearly the same clusters", "give similar clusters", "give clusters that differ"))
    repeated = f"fits to halves of the entities {similar} (adjusted Rand index {stability:.2f})"
    if not judges_agreement:
        return f"{number}: {repeated}; the graph's modularity is {table['modularity'][position]:.2f}."
    agreement = float(table["agreement"][position])
    extent = grade(agreement, ("well", "in part", "a little"))
    predicted = f"views predict each other's clusters {extent} (adjusted mutual information {agreement:.2f})"
    return f"{number}: {predicted}; {repeated}."


def grade(value: float, words: tuple[str, str, str]) -> str:
    """Return the words for a high, a middle and a low value of an index that is 0 by chance and 1 at most."""
    return words[0] if value >= HIGH else words[1] if value >= MIDDLE else words[2]
