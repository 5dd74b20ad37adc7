"""What answers gain: questions of the workbench next to random pairs, answered by the true classes.

``python -m benchmarks.workbench.answers`` clusters every multi-view set in CONSILIENCE_DATA by the default method,
answers 20 questions, and prints the normalized mutual information before and after. Of the random pairs there is the
mean over several draws. The last columns are the mean probability that the questions state for the answer that changes
groups, the share of the answers that were so, and the longest seconds of a re-clustering. ``--factor .75`` clusters
with .75 times as many clusters as classes.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from sklearn.metrics import normalized_mutual_info_score

import consilience as cs
from benchmarks.modern.collection import find_sets
from consilience.methods.agreement.warm import WarmRefinement
from consilience.workbench.clustering import Clustering, Reclustering
from consilience.workbench.knowledge import DecisionSet
from consilience.workbench.questions import Question, rank_questions

N_DRAWS = 3

ChooseQuestion = Callable[[Reclustering, Clustering, DecisionSet], Question | None]


@dataclass
class Answered:
    """What answers have done."""

    score: float = 0.0  # normalized mutual information
    probabilities: list[float] = field(default_factory=list)  # of the decisive answers
    is_decisive: list[bool] = field(default_factory=list)  # whether the answers were decisive
    longest: float = 0.0  # seconds of a re-clustering


def answer_questions(
    warm: WarmRefinement, labels: np.ndarray, y: np.ndarray, n_answers: int, choose: ChooseQuestion
) -> Answered:
    """Answer questions by the classes, and cluster again after each."""
    reclustering, rows = Reclustering(warm, labels), {str(row): row for row in range(len(y))}
    decisions = DecisionSet([], rows, len(y))
    clustering = reclustering.restore(labels, decisions.knowledge)
    answered = Answered()
    for number in range(1, n_answers + 1):
        question = choose(reclustering, clustering, decisions)
        if question is None:
            break
        is_same = y[question.pair[0]] == y[question.pair[1]]
        action = "together" if is_same else "apart"
        entry = {"number": number, "action": action, "items": [str(row) for row in question.pair]}
        after = DecisionSet([*decisions.entries, entry], rows, len(y))
        start = time.perf_counter()
        clustering = reclustering.apply(clustering, entry, decisions, after)
        answered.longest = max(answered.longest, time.perf_counter() - start)
        answered.probabilities.append(question.probability)
        answered.is_decisive.append(is_same == (question.decisive == "same"))
        decisions = after
    answered.score = float(normalized_mutual_info_score(y, clustering.labels))
    return answered


def load_set_as_views(load: Callable[[], tuple[dict, np.ndarray]]) -> tuple[cs.Views, np.ndarray]:
    """Return the views, in which a row with a missing value counts as missing, and the classes."""
    blocks, y = load()
    for X in blocks.values():
        if type(X) is np.ndarray:
            X[np.isnan(X).any(axis=1)] = np.nan
    return cs.Views(blocks), y


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--answers", type=int, default=20, help="number of answers (default: %(default)s)")
    parser.add_argument("--factor", type=float, default=1.0, help="clusters per class (default: %(default)s)")
    parser.add_argument("sets", nargs="*", help="names of files (default: all)")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    columns = ("before", "asked", "random", "stated", "true", "seconds")
    print(f"{'set':18s}{'n':>6s}{'k':>5s}" + "".join(f"{column:>9s}" for column in columns))
    scores, shares = [], []
    for name, load in find_sets().items():
        if options.sets and name not in options.sets:
            continue
        views, y = load_set_as_views(load)
        n_clusters = max(2, round(options.factor * len(np.unique(y))))
        labels = cs.Consilience(n_clusters, random_state=0).fit(views).labels_
        warm = WarmRefinement(views, dict.fromkeys(views.names, False), n_clusters)
        before = float(normalized_mutual_info_score(y, labels))
        answered = answer_questions(
            warm, labels, y, options.answers, lambda *state: next(iter(rank_questions(*state)), None)
        )
        random_scores = []
        for seed in range(N_DRAWS):
            rng = np.random.default_rng(seed)

            def draw_pair(*_: object, rng: np.random.Generator = rng, n: int = len(y)) -> Question:
                first, second = rng.choice(n, 2, replace=False).tolist()
                return Question((first, second), "same", 0.5, 1, 1, "drawn at random")

            random_scores.append(answer_questions(warm, labels, y, options.answers, draw_pair).score)
        scores.append((before, answered.score, float(np.mean(random_scores))))
        shares.append((np.mean(answered.probabilities), np.mean(answered.is_decisive)))
        values = "".join(f"{value:9.3f}" for value in (*scores[-1], *shares[-1], answered.longest))
        print(f"{name:18s}{len(y):6d}{n_clusters:5d}{values}", flush=True)
    means = "".join(f"{value:9.3f}" for value in np.mean(np.hstack([scores, shares]), axis=0))
    print(f"{'mean':29s}{means}")
    gains = np.array(scores)[:, 1] - np.array(scores)[:, 0]
    print(f"better on {int((gains > 0.002).sum())}, worse on {int((gains < -0.002).sum())} of {len(gains)} sets")


if __name__ == "__main__":
    main()
