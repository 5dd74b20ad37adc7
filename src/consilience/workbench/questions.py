"""Questions whose answers are expected to change the groups most."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, islice, zip_longest

import numpy as np
from sklearn.metrics.pairwise import euclidean_distances

from .._tuning import Tuning
from ..arrays import to_numpy
from ..data import Constraints
from ..data.links import label_components
from ..methods.constrained.suggest import Answers, generate_questions
from .clustering import LEAST_EVIDENCE, Clustering, Division, Reclustering, count_merge_evidence, count_split_evidence
from .knowledge import DecisionSet

EVIDENCE = 3.0  # factor by which an answer about typical items changes the odds that it holds for their groups
# Logistic regressions of whether two items had different classes (split) or the same (merge), on 28 labeled sets, each
# clustered with .75, 1 and 1.4 times as many clusters as classes. The constants are lowered by .4, because questions
# are asked where the estimate is high.
SPLIT_WEIGHTS = (-7.9, 2.3, 4.4, 7.7)  # constant, difference of votes, lowest accuracy of a view, doubt in the group
MERGE_WEIGHTS = (4.0, 2.5)  # constant, log-odds of the share of votes for the other group
N_NEAREST = 3  # groups that each group is compared with
MAX_TRIED = 12  # typical items of a group from which the next question is taken
N_SUGGESTED = 10  # pairs of `suggest_constraints` that are considered
tuning = Tuning(
    max_links=20  # must-links of a component that `suggest_constraints` is given, which makes all pairs of them
)
LEAST_GAIN = 1.0  # items that the best question is expected to move, below which asking can stop


@dataclass(frozen=True)
class Question:
    """Two items to compare, and what the answers are expected to change."""

    pair: tuple[int, int]
    decisive: str  # the answer that changes groups: "same" or "different"
    probability: float  # of this answer
    n_items: int  # that change their group then
    n_lacking: int  # answers that must say so before the groups change, this one included
    reason: str

    @property
    def gain(self) -> float:
        """Expected number of items that change their group, per answer."""
        return self.probability * self.n_items / self.n_lacking

    @property
    def sentence(self) -> str:
        """What may change, without the probability, which orders questions well but is often too high."""
        if self.n_items <= 1:
            return "The answer is unlikely to change other items."
        answer = "yes" if self.decisive == "same" else "no"
        n_others = self.n_lacking - 1
        more = (
            ("", ", and another answer agrees")[n_others] if n_others <= 1 else f", and {n_others} other answers agree"
        )
        return f"If {answer}{more}, about {self.n_items:,} items change their group."


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
    best: dict[frozenset[int], Question] = {}
    for question in open_questions:
        best.setdefault(frozenset(question.pair), question)
    return list(best.values())


def measure_confusion(clustering: Clustering) -> np.ndarray:
    """Return the mean share of votes that members of each group (row) have for each group (column)."""
    shares = compute_vote_shares(clustering)
    return np.stack([shares[clustering.compact == group].mean(axis=0) for group in range(clustering.n_groups)])


def compute_vote_shares(clustering: Clustering) -> np.ndarray:
    """Return the share of the votes that each item has for each group."""
    votes = np.maximum(clustering.balanced, 0)
    return votes / np.maximum(votes.sum(axis=1, keepdims=True), 1e-12)


def update_probability(prior: float, evidence: int) -> float:
    """Return the probability of a statement about groups after answers about typical items, for minus against."""
    odds = prior / (1 - prior) * EVIDENCE**evidence
    return odds / (1 + odds)


def _compare_groups(clustering: Clustering, decisions: DecisionSet, asked_rows: frozenset[int]) -> Iterator[Question]:
    """Yield typical items of each group and the groups that it is most often confused with."""
    if clustering.n_groups < 2:
        return
    shares = measure_confusion(clustering)
    confusion = (shares + shares.T) / 2
    np.fill_diagonal(confusion, -1.0)
    nearest = [set(np.argsort(-row, kind="stable")[:N_NEAREST].tolist()) for row in confusion]
    for first, second in combinations(range(clustering.n_groups), 2):
        if second not in nearest[first] and first not in nearest[second]:
            continue
        evidence = count_merge_evidence(clustering, decisions, (first, second))
        rows = [clustering.find_typical(group, 1, asked_rows) for group in (first, second)]
        if evidence >= LEAST_EVIDENCE or not all(rows):
            continue
        share = float(np.clip(confusion[first, second], 0.001, 0.999))
        prior = estimate_probability(MERGE_WEIGHTS, np.log(share / (1 - share)))
        size = int(min(clustering.sizes[first], clustering.sizes[second]))
        yield Question(
            (rows[0][0], rows[1][0]),
            "same",
            update_probability(prior, evidence),
            size,
            LEAST_EVIDENCE - evidence,
            "They are typical of two groups that the views confuse. If they are the same, the groups may be one.",
        )


def _divide_groups(
    reclustering: Reclustering, clustering: Clustering, decisions: DecisionSet, asked_rows: frozenset[int]
) -> Iterator[Question]:
    """Yield central items of two parts of each group."""
    divisions = [
        division for group in range(clustering.n_groups) for division in reclustering.find_divisions(clustering, group)
    ]
    accuracy = measure_division_accuracy(reclustering, clustering, decisions, divisions)
    shares = compute_vote_shares(clustering)
    for division, lowest_accuracy in zip(divisions, accuracy, strict=True):
        evidence = count_split_evidence(decisions, division.side)
        new_items = [[row for row in items[:MAX_TRIED].tolist() if row not in asked_rows] for items in division.central]
        if evidence >= LEAST_EVIDENCE or not all(new_items):
            continue
        pair = new_items[0][0], new_items[1][0]
        doubt = 1 - float(clustering.clarity[division.side >= 0].mean())
        difference = float(np.abs(shares[pair[0]] - shares[pair[1]]).sum())
        prior = estimate_probability(SPLIT_WEIGHTS, difference, lowest_accuracy, doubt)
        yield Question(
            pair,
            "different",
            update_probability(prior, evidence),
            division.size,
            LEAST_EVIDENCE - evidence,
            "They are in two parts of one group. If they are different, the group may be divided.",
        )


def measure_division_accuracy(
    reclustering: Reclustering, clustering: Clustering, decisions: DecisionSet, divisions: Sequence[Division]
) -> list[float]:
    """Return for each division how well the worst view predicts the sides: .5 is chance, 1 is perfect.

    The view predicts the side of each item from the other items. One division of each group is measured at a time.
    """
    by_group: dict[int, list[int]] = {}
    for number, division in enumerate(divisions):
        by_group.setdefault(division.group, []).append(number)
    accuracy = [0.5] * len(divisions)
    ensemble = reclustering.warm.build_ensemble(2 * clustering.n_groups, decisions.knowledge)
    for numbers in zip_longest(*by_group.values()):
        measured = [number for number in numbers if number is not None]
        labels = np.full(len(clustering.labels), -1)
        for number in measured:
            side, group = divisions[number].side, divisions[number].group
            labels[side >= 0] = 2 * group + side[side >= 0]
        lowest = dict.fromkeys(measured, 1.0)
        for view, votes in zip(reclustering.warm.prepared, ensemble.vote(labels).by_view, strict=True):
            votes = to_numpy(votes)
            for number in measured:
                side, first = divisions[number].side[view.entities], 2 * divisions[number].group
                is_right = (votes[:, first + 1] > votes[:, first]) == side
                shares = [is_right[side == value].mean() for value in (0, 1) if (side == value).any()]
                if len(shares) == 2:
                    lowest[number] = min(lowest[number], float(np.mean(shares)))
        for number, value in lowest.items():
            accuracy[number] = value
    return accuracy


def estimate_probability(weights: Sequence[float], *measures: float) -> float:
    """Return the probability of a statement before any answer, by logistic regression."""
    return float(1 / (1 + np.exp(-np.dot(weights, [1.0, *measures]))))


def _compare_contested(
    reclustering: Reclustering, clustering: Clustering, decisions: DecisionSet
) -> Iterator[Question]:
    """Yield what `suggest_constraints` proposes: contested items, compared with typical ones."""
    votes = np.maximum(clustering.balanced, 1e-12)
    costs = -np.log(votes / votes.sum(axis=1, keepdims=True))
    labels = np.maximum(clustering.compact, 0)
    order = np.lexsort((clustering.clarity, ~clustering.is_contested))
    must_link, cannot_link = decisions.constraints.must_link, decisions.constraints.cannot_link
    component = label_components(must_link, len(labels))
    is_open = (clustering.compact >= 0) & (np.bincount(component)[component] == 1)
    contested = order[is_open[order]]
    answers = Answers(Constraints(thin_links(must_link, component), cannot_link, by="position"), labels, costs)

    def measure_from(rows: np.ndarray) -> np.ndarray:
        return euclidean_distances(reclustering.embedding, reclustering.embedding[rows], squared=True)

    proposed = generate_questions(answers, measure_from, contested, clustering.n_groups)
    new_pairs = (pair for pair in proposed if component[pair[0]] != component[pair[1]])
    for first, second in islice(new_pairs, N_SUGGESTED):
        is_same_group = labels[first] == labels[second]
        doubt = 1 - min(clustering.clarity[first], clustering.clarity[second])
        yield Question(
            (first, second),
            "different" if is_same_group else "same",
            float(np.clip(doubt / 2, 0, 0.5)),
            1,
            1,
            "The views disagree about one of them, or put it between two groups.",
        )


def thin_links(must_link: np.ndarray, component: np.ndarray) -> np.ndarray:
    """Return the first `tuning.max_links` must-links of each component of the items that they connect."""
    ordered = must_link[np.argsort(component[must_link[:, 0]], kind="stable")]
    first_of_component = np.searchsorted(component[ordered[:, 0]], component[ordered[:, 0]])
    return ordered[np.arange(len(ordered)) - first_of_component < tuning.max_links]


def summarize_end(questions: Sequence[Question]) -> str | None:
    """Say that asking can stop, if no answer is expected to change much; None otherwise."""
    if not questions:
        return "There is nothing left to ask."
    if questions[0].gain < LEAST_GAIN:
        return "No answer is expected to change the group of more than one item. You can stop here."
    return None
