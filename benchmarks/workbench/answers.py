"""What answers gain: questions of the workbench next to random pairs, answered by the true classes.

``python -m benchmarks.workbench.answers`` clusters every multi-view set in CONSILIENCE_DATA by the default method,
answers 20 questions, and prints the normalized mutual information before and after. Of the random pairs there is the
mean over several draws. The last columns are the number of items that the questions expected to move, the number that
moved, and the longest seconds of a re-clustering. ``--factor .75`` clusters with .75 times as many clusters as classes.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from sklearn.metrics import normalized_mutual_info_score

import consilience as cs
from benchmarks.modern.collection import find_sets
from consilience.methods.agreement.warm import WarmRefinement
from consilience.workbench.clustering import Clustering, Reclustering
from consilience.workbench.knowledge import DecisionSet
from consilience.workbench.questions import rank_questions

N_DRAWS = 3

ChoosePair = Callable[[Reclustering, Clustering, DecisionSet], tuple[tuple[int, int], float] | None]


@dataclass
class Answered:
    """What answers have done."""

    score: float  # normalized mutual information
    n_expected: float  # items that change their group
    n_moved: int
    longest: float  # seconds of a re-clustering


def choose_best(
    reclustering: Reclustering, clustering: Clustering, decisions: DecisionSet
) -> tuple[tuple[int, int], float] | None:
    """Return the pair whose answer is expected to change most, and the expected number of items."""
    questions = rank_questions(reclustering, clustering, decisions)
    return (questions[0].pair, questions[0].gain) if questions else None


def answer_questions(
    warm: WarmRefinement, labels: np.ndarray, y: np.ndarray, n_answers: int, choose: ChoosePair
) -> Answered:
    """Answer questions by the classes, and cluster again after each."""
    reclustering, rows = Reclustering(warm, labels), {str(row): row for row in range(len(y))}
    decisions = DecisionSet([], rows, len(y))
    clustering = reclustering.restore(labels, decisions.knowledge)
    answered = Answered(0.0, 0.0, 0, 0.0)
    for number in range(1, n_answers + 1):
        chosen = choose(reclustering, clustering, decisions)
        if chosen is None:
            break
        pair, gain = chosen
        action = "together" if y[pair[0]] == y[pair[1]] else "apart"
        entry = {"number": number, "action": action, "items": [str(row) for row in pair]}
        before, after = clustering.labels, DecisionSet([*decisions.entries, entry], rows, len(y))
        start = time.perf_counter()
        clustering = reclustering.apply(clustering, entry, decisions, after)
        answered.longest = max(answered.longest, time.perf_counter() - start)
        answered.n_expected += gain
        answered.n_moved += int(np.sum(before != clustering.labels))
        decisions = after
    answered.score = float(normalized_mutual_info_score(y, clustering.labels))
    return answered


def load_views(load: Callable[[], tuple[dict, np.ndarray]]) -> tuple[cs.Views, np.ndarray]:
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
    columns = ("before", "asked", "random", "expected", "moved", "seconds")
    print(f"{'set':18s}{'n':>6s}{'k':>5s}" + "".join(f"{column:>9s}" for column in columns))
    scores, moved = [], []
    for name, load in find_sets().items():
        if options.sets and name not in options.sets:
            continue
        views, y = load_views(load)
        n_clusters = max(2, round(options.factor * len(np.unique(y))))
        labels = cs.Consilience(n_clusters, random_state=0).fit(views).labels_
        warm = WarmRefinement(views, dict.fromkeys(views.names, False), n_clusters)
        before = float(normalized_mutual_info_score(y, labels))
        asked = answer_questions(warm, labels, y, options.answers, choose_best)
        random_scores = []
        for seed in range(N_DRAWS):
            rng = np.random.default_rng(seed)

            def draw_pair(*_: object, rng: np.random.Generator = rng, n: int = len(y)) -> tuple[tuple[int, int], float]:
                first, second = rng.choice(n, 2, replace=False).tolist()
                return (first, second), 0.0

            random_scores.append(answer_questions(warm, labels, y, options.answers, draw_pair).score)
        scores.append((before, asked.score, float(np.mean(random_scores))))
        moved.append((asked.n_expected, asked.n_moved))
        values = "".join(f"{value:9.3f}" for value in scores[-1])
        counts = f"{asked.n_expected:9.0f}{asked.n_moved:9d}{asked.longest:9.3f}"
        print(f"{name:18s}{len(y):6d}{n_clusters:5d}{values}{counts}", flush=True)
    means = "".join(f"{value:9.3f}" for value in np.mean(scores, axis=0))
    print(f"{'mean':29s}{means}" + "".join(f"{value:9.0f}" for value in np.mean(moved, axis=0)))
    gains = np.array(scores)[:, 1] - np.array(scores)[:, 0]
    print(f"better on {int((gains > 0.002).sum())}, worse on {int((gains < -0.002).sum())} of {len(gains)} sets")


if __name__ == "__main__":
    main()
