"""What answers gain: questions of the workbench next to random pairs, answered by the true classes.

``python -m benchmarks.workbench.answers`` clusters every multi-view set in CONSILIENCE_DATA by the default method with
the true number of clusters, answers 20 questions, and prints the normalized mutual information before and after. Of
the random pairs there is the mean over several draws.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable

import numpy as np
from sklearn.metrics import normalized_mutual_info_score

import consilience as cs
from benchmarks.modern.collection import find_sets
from consilience.methods.agreement.warm import WarmRefinement
from consilience.workbench.clustering import Clustering, Reclustering
from consilience.workbench.knowledge import DecisionSet
from consilience.workbench.questions import rank_questions

N_DRAWS = 3

ChoosePair = Callable[[Reclustering, Clustering, DecisionSet], tuple[int, int] | None]


def choose_best(reclustering: Reclustering, clustering: Clustering, decisions: DecisionSet) -> tuple[int, int] | None:
    """Return the pair whose answer is expected to change most."""
    questions = rank_questions(reclustering, clustering, decisions)
    return questions[0].pair if questions else None


def answer_questions(
    warm: WarmRefinement, labels: np.ndarray, y: np.ndarray, n_answers: int, choose: ChoosePair
) -> tuple[float, float]:
    """Return the normalized mutual information after the answers, and the longest seconds of a re-clustering."""
    reclustering, rows = Reclustering(warm, labels), {str(row): row for row in range(len(y))}
    decisions = DecisionSet([], rows, len(y))
    clustering = reclustering.restore(labels, decisions.knowledge)
    longest = 0.0
    for number in range(1, n_answers + 1):
        pair = choose(reclustering, clustering, decisions)
        if pair is None:
            break
        action = "together" if y[pair[0]] == y[pair[1]] else "apart"
        entry = {"number": number, "action": action, "items": [str(row) for row in pair]}
        after = DecisionSet([*decisions.entries, entry], rows, len(y))
        start = time.perf_counter()
        clustering = reclustering.apply(clustering, entry, decisions, after)
        longest = max(longest, time.perf_counter() - start)
        decisions = after
    return float(normalized_mutual_info_score(y, clustering.labels)), longest


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--answers", type=int, default=20, help="number of answers (default: %(default)s)")
    parser.add_argument("sets", nargs="*", help="names of files (default: all)")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    print(f"{'set':18s}{'n':>6s}{'k':>5s}{'before':>9s}{'asked':>9s}{'random':>9s}{'seconds':>9s}")
    scores = []
    for name, load in find_sets().items():
        if options.sets and name not in options.sets:
            continue
        blocks, y = load()
        views, n_clusters = cs.Views(blocks), len(np.unique(y))
        labels = cs.Consilience(n_clusters, random_state=0).fit(views).labels_
        warm = WarmRefinement(views, dict.fromkeys(views.names, False), n_clusters)
        before = float(normalized_mutual_info_score(y, labels))
        after, seconds = answer_questions(warm, labels, y, options.answers, choose_best)
        random_scores = []
        for seed in range(N_DRAWS):
            rng = np.random.default_rng(seed)

            def draw_pair(*_: object, rng: np.random.Generator = rng, n: int = len(y)) -> tuple[int, int]:
                first, second = rng.choice(n, 2, replace=False).tolist()
                return first, second

            random_scores.append(answer_questions(warm, labels, y, options.answers, draw_pair)[0])
        scores.append((before, after, float(np.mean(random_scores))))
        values = "".join(f"{value:9.3f}" for value in (*scores[-1], seconds))
        print(f"{name:18s}{len(y):6d}{n_clusters:5d}{values}", flush=True)
    means = np.mean(scores, axis=0)
    print(f"{'mean':18s}{'':11s}" + "".join(f"{value:9.3f}" for value in means))
    gains = np.array(scores)[:, 1] - np.array(scores)[:, 0]
    print(f"better on {int((gains > 0.002).sum())}, worse on {int((gains < -0.002).sum())} of {len(gains)} sets")


if __name__ == "__main__":
    main()
