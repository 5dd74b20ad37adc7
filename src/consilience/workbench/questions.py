"""Questions whose answers are expected to change the groups most."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, islice

import numpy as np
from sklearn.cluster import KMeans

from ..arrays import get_thread_controller
from ..methods.constrained.suggest import Answers, generate_questions
from .clustering import LEAST_SPLIT, NEEDED, Clustering, Reclustering, count_merge_evidence, count_split_evidence
from .knowledge import DecisionSet

EVIDENCE = 3.0  # factor by which an answer about typical items changes the odds that it holds for their groups
MOST_MERGE, MOST_SPLIT, LEAST_SPLIT_PROBABILITY = 0.3, 0.6, 0.02  # probabilities before any answer
N_PARTS = 4  # of a group, among which differences are looked for
MAX_TRIED = 12  # typical items of a group from which the next question is taken
N_SUGGESTED = 10  # pairs of `suggest_constraints` that are considered
LEAST_GAIN = 1.0  # items that the best question is expected to move, below which asking can stop


@dataclass(frozen=True)
class Question:
    """Two items to compare, and what the answers are expected to change."""

    pair: tuple[int, int]
    gain: float  # expected number of items that change their group
    if_same: int  # items that change their group if the two are the same, once enough answers say so
    if_different: int
    reason: str


def rank_questions(
    reclustering: Reclustering, clustering: Clustering, decisions: DecisionSet, skipped: Collection[frozenset[int]] = ()
) -> list[Question]:
    """Return questions, that with the largest expected gain first.

    Three kinds of pairs are considered: typical items of groups that the views confuse, which may be one group;
    items of two parts of a group, which may be two; and what `consilience.suggest_constraints` proposes, contested
    items and typical ones. Groups are merged or divided when two more answers say so than not, so that the gain of
    a question is divided by the number of answers that are lacking.
    """
    asked_rows = frozenset(
        row for link in (*decisions.must_links, *decisions.cannot_links) for row in (link.first, link.second)
    ) | frozenset(row for pair in skipped for row in pair)
    questions = [
        *_compare_groups(clustering, decisions, asked_rows),
        *_divide_groups(reclustering, clustering, decisions, asked_rows),
        *_compare_contested(reclustering, clustering, decisions),
    ]
    decided = {frozenset((link.first, link.second)) for link in (*decisions.must_links, *decisions.cannot_links)}
    open_questions = [question for question in questions if frozenset(question.pair) not in decided | set(skipped)]
    open_questions.sort(key=lambda question: (-question.gain, question.pair))
    return list({frozenset(question.pair): question for question in reversed(open_questions)}.values())[::-1]


def measure_confusion(clustering: Clustering) -> np.ndarray:
    """Return the mean share of votes that members of each group (row) have for each group (column)."""
    votes = np.maximum(clustering.balanced, 0)
    shares = votes / np.maximum(votes.sum(axis=1, keepdims=True), 1e-12)
    return np.stack([shares[clustering.compact == group].mean(axis=0) for group in range(clustering.n_groups)])


def update_probability(prior: float, evidence: int) -> float:
    """Return the probability of a statement about groups after answers about typical items, for minus against."""
    odds = prior / (1 - prior) * EVIDENCE**evidence
    return odds / (1 + odds)


def _compare_groups(clustering: Clustering, decisions: DecisionSet, asked_rows: frozenset[int]) -> Iterator[Question]:
    """Yield typical items of each group and the group that it is most often confused with."""
    if clustering.n_groups < 2:
        return
    shares = measure_confusion(clustering)
    confusion = (shares + shares.T) / 2
    np.fill_diagonal(confusion, -1.0)
    nearest = confusion.argmax(axis=1)
    for first, second in combinations(range(clustering.n_groups), 2):
        if nearest[first] != second and nearest[second] != first:
            continue
        evidence = count_merge_evidence(clustering, decisions, (first, second))
        rows = [clustering.find_typical(group, 1, asked_rows) for group in (first, second)]
        if evidence >= NEEDED or not all(rows):
            continue
        prior = float(np.clip(confusion[first, second], 0.001, MOST_MERGE))
        size = int(min(clustering.sizes[first], clustering.sizes[second]))
        yield Question(
            (rows[0][0], rows[1][0]),
            update_probability(prior, evidence) * size / (NEEDED - evidence),
            size,
            0,
            "They are typical of two groups that the views confuse. If they are the same, the groups may be one.",
        )


def _divide_groups(
    reclustering: Reclustering, clustering: Clustering, decisions: DecisionSet, asked_rows: frozenset[int]
) -> Iterator[Question]:
    """Yield central items of two parts of each group."""
    shares = measure_confusion(clustering)
    for group in range(clustering.n_groups):
        members = np.flatnonzero(clustering.voted == group)
        n_parts = min(N_PARTS, len(members) // 5)
        if len(members) < LEAST_SPLIT or n_parts < 2:
            continue
        points = reclustering.embedding[members]
        with get_thread_controller().limit(limits=1, user_api="openmp"):
            parts = KMeans(n_parts, n_init=2, random_state=0).fit(points)
        distances = parts.transform(points)
        prior = float(np.clip(1 - shares[group, group], LEAST_SPLIT_PROBABILITY, MOST_SPLIT))
        for i, j in combinations(range(n_parts), 2):
            side = np.full(len(clustering.labels), -1)
            side[members] = distances[:, i] >= distances[:, j]
            evidence = count_split_evidence(decisions, side)
            rows = [_find_central(members, distances[:, part], parts.labels_ == part, asked_rows) for part in (i, j)]
            if evidence >= NEEDED or not all(rows):
                continue
            size = int(min((side == 0).sum(), (side == 1).sum()))
            yield Question(
                (rows[0][0], rows[1][0]),
                update_probability(prior, evidence) * size / (NEEDED - evidence),
                0,
                size,
                "They are in two parts of one group. If they are different, the group may be divided.",
            )


def _find_central(
    members: np.ndarray, distances: np.ndarray, is_part: np.ndarray, asked_rows: frozenset[int]
) -> list[int]:
    """Return the item nearest to the center of a part that was not asked about, as a list of one or none."""
    order = np.argsort(np.where(is_part, distances, np.inf), kind="stable")[: min(MAX_TRIED, int(is_part.sum()))]
    return [row for row in members[order].tolist() if row not in asked_rows][:1]


def _compare_contested(
    reclustering: Reclustering, clustering: Clustering, decisions: DecisionSet
) -> Iterator[Question]:
    """Yield what `suggest_constraints` proposes: contested items, compared with typical ones."""
    votes = np.maximum(clustering.balanced, 1e-12)
    costs = -np.log(votes / votes.sum(axis=1, keepdims=True))
    labels = np.maximum(clustering.compact, 0)
    order = np.lexsort((clustering.confidence, ~clustering.is_contested))
    contested = order[clustering.compact[order] >= 0]
    answers = Answers(decisions.constraints, labels, costs)

    def measure_from(rows: np.ndarray) -> np.ndarray:
        differences = reclustering.embedding[:, None, :] - reclustering.embedding[rows][None]
        return (differences**2).sum(axis=2)

    proposed = generate_questions(answers, measure_from, contested, clustering.n_groups)
    for first, second in islice(proposed, N_SUGGESTED):
        is_same_group = labels[first] == labels[second]
        doubt = 1 - min(clustering.confidence[first], clustering.confidence[second])
        yield Question(
            (first, second),
            float(np.clip(doubt / 2, 0, 0.5)),
            0 if is_same_group else 1,
            1 if is_same_group else 0,
            "The views disagree about one of them, or put it between two groups.",
        )


def summarize_end(questions: Sequence[Question]) -> str | None:
    """Say that asking can stop, if no answer is expected to change much; None otherwise."""
    if not questions:
        return "There is nothing left to ask."
    if questions[0].gain < LEAST_GAIN:
        return "No answer is expected to change the group of more than one item. You can stop here."
    return None
