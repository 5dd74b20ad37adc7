"""Choose the number of clusters without labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.metrics import adjusted_rand_score
from sklearn.utils import _safe_indexing
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions, validate_params

from .._backend import generator, threads
from ..algorithms.progress import announce
from ..assessment.assess import find_precomputed, read_views
from ..cluster import Consilience
from ..cluster._halves import HalfFit, last_step
from ..cluster._shared import RANDOM_STATE, holds_views
from ..data import Table
from .candidates import find_peaks, limit_clusters, propose_coarse, propose_fine
from .clusterings import AgreementClusterings, Clusterings, EstimatorClusterings
from .predictors import SharedPredictors, measure_agreement, measure_modularity
from .selection import Selection
from .small_groups import find_small_groups

CHANCE_POINTS = 6  # numbers of clusters at which the information by chance is measured
LEAST_EVIDENCE = 2.25  # agreement times the root of the entities; independent views reach less
LEAST_STABILITY = 0.1  # of clusters that count as groups
HIGH, MIDDLE = 0.7, 0.35  # values of an index from which it is called high or middle
FEW_ENTITIES = 1_000  # up to which two divisions into halves are made by default, one otherwise


@dataclass(frozen=True)
class Evidence:
    """What speaks for a number of clusters."""

    n_clusters: int
    information: float
    agreement: float
    stability: float
    modularity: float


@validate_params(
    {
        "estimator": [HasMethods(["fit", "set_params"])],
        "candidates": [StrOptions({"auto"}), "array-like"],
        "small_groups": ["boolean"],
        "max_entities": [Interval(Integral, 16, None, closed="left")],
        "n_splits": [Interval(Integral, 1, None, closed="left"), None],
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
    max_entities: int = 1_200,
    n_splits: int | None = None,
    random_state: Any = 0,
    verbose: bool = False,
) -> Selection:
    """Say which numbers of clusters the data supports, without labels.

    A number is supported if each view predicts the same clusters as the other views for entities that it has not
    learned from, if these predictions carry more information than independent views would, and if fits to disjoint
    halves of the entities give the same clusters. No rule knows the number of clusters: up to three are supported, and
    "no evidence for groups" is an answer, too. docs/trust.md has what this was worth on labelled sets.

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
    max_entities : int, default=1200
        If there are more entities, a random sample of this size is used, which bounds the cost.
    n_splits : int, optional
        Divisions into halves. Default: 2 for up to 1,000 entities, 1 for more.
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
    if not any(name.rpartition("__")[2] == "n_clusters" for name in estimator.get_params(deep=True)):
        raise TypeError(f"{type(estimator).__name__} has no parameter n_clusters, which is to be chosen")
    views = read_views(last_step(estimator), X)
    precomputed = find_precomputed(last_step(estimator), views.names)
    if small_groups:
        with threads(getattr(last_step(estimator), "n_jobs", None)):
            return find_small_groups(views, precomputed)
    rng = generator(random_state)
    data: Any = views if holds_views(X) else X
    n_all = len(views)
    if n_all > max_entities:
        sample = np.sort(rng.choice(n_all, max_entities, replace=False))
        views, data = views[sample], _safe_indexing(data, sample)
    tried, is_open = check_candidates(candidates, len(views))
    if n_splits is None:
        n_splits = 2 if len(views) <= FEW_ENTITIES else 1
    with threads(getattr(last_step(estimator), "n_jobs", None)):
        arguments = (views, precomputed, tried[-1], n_splits, rng)
        clusterings: Clusterings = (
            AgreementClusterings(*arguments)
            if isinstance(estimator, Consilience)
            else EstimatorClusterings(estimator, data, *arguments)
        )
        evidence = collect_evidence(clusterings, tried, verbose)
        chance = measure_chance(clusterings, tried, views.n_views)
        if is_open:
            table = tabulate(evidence, chance, views.n_views)
            fine = propose_fine(table["n_clusters"].tolist(), table["score"])
            evidence = {**evidence, **collect_evidence(clusterings, fine, verbose)}
    table = tabulate(evidence, chance, views.n_views)
    n_shared = int((views.present.sum(axis=1) > 1).sum())
    return describe(table, views.n_views, n_shared, n_all, len(views), is_open)


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
    if not all(isinstance(number, Integral) and number >= 1 for number in numbers):
        raise ValueError(f"candidates must be whole numbers from 1 on, got {numbers}")
    tried = sorted({int(number) for number in numbers} - {1})  # 1 is an answer that needs no trial
    if not tried:
        raise ValueError("the only candidate is 1: give larger numbers, with which it can be compared")
    if tried[-1] > n_entities // 2:
        raise ValueError(
            f"{tried[-1]} clusters are more than the {n_entities // 2} entities of a half of the data: try fewer"
        )
    return tried, False


def collect_evidence(clusterings: Clusterings, numbers: Sequence[int], verbose: bool) -> dict[int, Evidence]:
    """Return what speaks for each number of clusters."""
    evidence = {}
    for number in numbers:
        announce(f"select_n_clusters: {number} clusters", verbose)
        labels = clusterings.cluster(number)
        information, agreement = measure_information(clusterings.predictors, labels, number)
        stability = measure_stability(clusterings.cluster_halves(number), labels)
        labelled = labels >= 0
        modularity = measure_modularity(clusterings.predictors.graph[labelled][:, labelled], labels[labelled])
        evidence[number] = Evidence(number, information, agreement, stability, modularity)
    return evidence


def measure_information(predictors: SharedPredictors, labels: np.ndarray, n_clusters: int) -> tuple[float, float]:
    """Return the bits of the left-out predictions about the clusters, and how far views and others agree."""
    ensemble = predictors.build_ensemble(max(n_clusters, int(labels.max()) + 1))
    vote = ensemble.vote(labels)
    return ensemble.score(vote), measure_agreement(ensemble, vote, labels)


def measure_stability(halves: Sequence[HalfFit], labels: np.ndarray) -> float:
    """Return the mean adjusted Rand index of each fit's predictions and the labels of the fit to the other half.

    If the estimator cannot predict, its labels of a half are compared with its labels of all entities.
    """
    values = []
    for first, second in zip(halves[::2], halves[1::2], strict=True):
        for half, other in ((first, second), (second, first)):
            predicts = (half.predicted >= 0).any()
            pair = (half.predicted, other.labels) if predicts else (half.labels, labels[half.rows])
            both = (pair[0] >= 0) & (pair[1] >= 0)
            values.append(adjusted_rand_score(pair[0][both], pair[1][both]))
    return float(np.mean(values))


def measure_chance(clusterings: Clusterings, tried: Sequence[int], n_views: int) -> np.ndarray:
    """Return a cubic in the logarithm of the number of clusters: the information if the views are independent."""
    if n_views < 2:
        return np.zeros(1)
    points = np.unique(np.rint(np.geomspace(tried[0], tried[-1], CHANCE_POINTS)).astype(int)).tolist()
    bits = [measure_information(clusterings.permuted, clusterings.cluster_permuted(k), k)[0] for k in points]
    return np.polyfit(np.log(points), bits, min(3, len(points) - 1))


def tabulate(evidence: dict[int, Evidence], chance: np.ndarray, n_views: int) -> Table:
    """Return the table of all numbers in order, with their scores."""
    rows = []
    for number in sorted(evidence):
        figures = evidence[number]
        by_chance = max(0.0, float(np.polyval(chance, np.log(number))))
        stability = max(0.0, figures.stability)
        if n_views > 1:
            gain, agreement = max(0.0, figures.information - by_chance), max(0.0, figures.agreement)
            score = gain * np.sqrt(agreement * stability**3)
        else:
            score = max(0.0, figures.modularity) * np.sqrt(stability)
        rows.append({**asdict(figures), "by_chance": by_chance, "score": float(score)})
    columns = ("n_clusters", "information", "by_chance", "agreement", "stability", "modularity", "score")
    return Table.from_rows({name: row[name] for name in columns} for row in rows)


def describe(table: Table, n_views: int, n_shared: int, n_entities: int, n_sampled: int, is_open: bool) -> Selection:
    """Return the supported numbers in words."""
    notes = ""
    if n_sampled < n_entities:
        notes = f" Judged by {n_sampled:,} of the {n_entities:,} entities, drawn at random."
    numbers = table["n_clusters"]
    peaks = find_peaks(numbers, table["score"])
    if n_views > 1 and (not peaks or table["agreement"][peaks[0]] * np.sqrt(n_shared) < LEAST_EVIDENCE):
        return Selection(1, f"No evidence for groups: views agree no more than independent views do.{notes}", table)
    if not peaks or table["stability"][peaks[0]] < LEAST_STABILITY:
        return Selection(
            1, f"No evidence for groups: fits to halves of the entities give other clusters.{notes}", table
        )
    supported = [int(numbers[peak]) for peak in peaks]
    reason = f"{name_numbers(supported)}.{describe_edge(supported, numbers, is_open)}{notes}"
    sentences = tuple(write_sentence(table, peak, n_views) for peak in peaks)
    return Selection(supported[0], reason, table, tuple(supported), sentences)


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


def describe_edge(supported: Sequence[int], numbers: np.ndarray, is_open: bool) -> str:
    """Return a sentence if the best number is the largest that was tried, or the smallest of given candidates."""
    best = supported[0]
    if best == numbers[-1]:
        remedy = "try small_groups=True (-k small-groups)" if is_open else "try larger candidates"
        return f" {best} is the largest number that was tried, so that more may be supported: {remedy}."
    if best == numbers[0] and best > 2:
        return f" {best} is the smallest number that was tried, so that fewer may be supported: try smaller candidates."
    return ""


def write_sentence(table: Table, position: int, n_views: int) -> str:
    """Return the reasons for one supported number."""
    number, stability = int(table["n_clusters"][position]), float(table["stability"][position])
    similar = grade(stability, ("give nearly the same clusters", "give similar clusters", "give clusters that differ"))
    repeated = f"fits to halves of the entities {similar} (adjusted Rand index {stability:.2f})"
    if n_views < 2:
        return f"{number}: {repeated}; the graph's modularity is {table['modularity'][position]:.2f}."
    agreement = float(table["agreement"][position])
    extent = grade(agreement, ("well", "in part", "a little"))
    predicted = f"views predict each other's clusters {extent} (adjusted mutual information {agreement:.2f})"
    return f"{number}: {predicted}; {repeated}."


def grade(value: float, words: tuple[str, str, str]) -> str:
    """Return the words for a high, a middle and a low value of an index that is 0 by chance and 1 at most."""
    return words[0] if value >= HIGH else words[1] if value >= MIDDLE else words[2]
