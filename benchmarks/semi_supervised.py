"""Learning curves: clusters when the classes of 1, 2, 5 or 10 entities per class are known.

``python -m benchmarks.semi_supervised`` fits the digits, Cora and 20 Newsgroups (downloaded, or from the folder that
CONSILIENCE_DATA names) with the known classes of some entities, drawn at random several times, and prints the accuracy
and the normalized mutual information on the *other* entities. Methods of scikit-learn have the views side by side:
LabelSpreading, SelfTrainingClassifier, and its base classifier on the known entities alone. They have text as tf-idf,
and MultinomialNB the smoothing of `CoEM`, 0.01, with which self-training is better here than with 1 if 10 entities per
class are known. All other settings are defaults. With 0 labels clusters have no names, so that they are matched with
the classes as well as possible, which flatters them.

20 Newsgroups is a random sample of 3,000 messages. ``--figure FILE`` draws the curves.
"""

from __future__ import annotations

import argparse
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linear_sum_assignment
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import normalized_mutual_info_score
from sklearn.metrics.cluster import contingency_matrix
from sklearn.naive_bayes import MultinomialNB
from sklearn.preprocessing import StandardScaler
from sklearn.semi_supervised import LabelSpreading, SelfTrainingClassifier

import consilience as cs

N_KNOWN = (0, 1, 2, 5, 10)  # known entities per class
N_MESSAGES = 3_000
CLASSIFIERS = (LogisticRegression, MultinomialNB)  # which need the class of every entity
Curves = dict[str, dict[int, list[float]]]  # by method and number of known entities per class: one value per draw


def load_digits() -> tuple[cs.Views, np.ndarray]:
    views, y = cs.datasets.load_digits_views()
    return cs.PerView(StandardScaler()).fit_transform(views), y


def load_newsgroups() -> tuple[cs.Views, np.ndarray]:
    views, y = cs.datasets.fetch_newsgroups()
    rows = np.sort(np.random.default_rng(0).choice(len(y), N_MESSAGES, replace=False))
    views, y = views[rows], np.asarray(y)[rows]
    has_both = np.flatnonzero(views.present.all(axis=1))
    return views[has_both], y[has_both]


DATA: dict[str, Callable[[], Any]] = {
    "digits": load_digits,
    "Cora": lambda: cs.datasets.fetch_cora(),
    "20 Newsgroups": load_newsgroups,
}


def make_methods(is_text: bool, k: int) -> dict[str, Any]:
    """Return the methods: clusterers of the views, and classifiers of the views side by side."""
    family = "multinomial" if is_text else "gaussian"
    base = MultinomialNB(alpha=0.01) if is_text else LogisticRegression(max_iter=1_000)
    methods: dict[str, Any] = {
        "CoEM": cs.CoEM(k, families=family, random_state=0),
        "MultiViewKMeans": cs.MultiViewKMeans(k, random_state=0),
        "MultiViewSphericalKMeans": cs.MultiViewSphericalKMeans(k, random_state=0),
        "LabelSpreading": LabelSpreading(kernel="knn"),
        f"SelfTraining({type(base).__name__})": SelfTrainingClassifier(base),
        f"{type(base).__name__}, known entities alone": base,
    }
    if is_text:
        del methods["MultiViewKMeans"]  # squared distances of word counts mostly measure the length of a text
    return methods


def draw_known(y: np.ndarray, n_per_class: int, rng: np.random.Generator) -> np.ndarray:
    """Return y with the classes of `n_per_class` random entities of each class, and -1 elsewhere."""
    known_classes = np.full(len(y), -1)
    for label in np.unique(y):
        rows = rng.choice(np.flatnonzero(y == label), n_per_class, replace=False)
        known_classes[rows] = label
    return known_classes


def predict_unknown(method: Any, views: cs.Views, joined: Any, known_classes: np.ndarray) -> np.ndarray | None:
    """Return the clusters or classes of the entities of unknown class; None if the method needs known ones."""
    is_known = known_classes >= 0
    if hasattr(method, "n_clusters"):
        return np.asarray(method.fit(views, known_classes).labels_)[~is_known]
    if not is_known.any():
        return None
    rows = is_known if type(method) in CLASSIFIERS else slice(None)  # the others take -1 as unknown
    return method.fit(joined[rows], known_classes[rows]).predict(joined[~is_known])


def measure_accuracy(y: np.ndarray, labels: np.ndarray, matched: bool) -> float:
    """Return the share of right labels; `matched` first gives clusters the best classes, one each."""
    if not matched:
        return float((labels == y).mean())
    counts = contingency_matrix(y, labels)
    return float(counts[linear_sum_assignment(-counts)].sum() / len(y))


def trace_curves(
    views: cs.Views, y: np.ndarray, numbers: tuple[int, ...], n_draws: int
) -> Iterator[tuple[str, int, float, float]]:
    """Yield method, number of known entities per class, accuracy and normalized mutual information of each draw."""
    blocks = [block for _, block in views.items()]
    is_text = any(map(sp.issparse, blocks))
    joined = TfidfTransformer().fit_transform(sp.hstack(blocks)) if is_text else np.hstack(blocks)
    for n_per_class in numbers:
        for draw in range(n_draws):
            known_classes = draw_known(y, n_per_class, np.random.default_rng(draw))
            for name, method in make_methods(is_text, len(np.unique(y))).items():
                if hasattr(method, "random_state"):
                    method.set_params(random_state=draw)
                labels = predict_unknown(method, views, joined, known_classes)
                if labels is not None:
                    truth = y[known_classes < 0]
                    accuracy = measure_accuracy(truth, labels, matched=n_per_class == 0)
                    yield name, n_per_class, accuracy, float(normalized_mutual_info_score(truth, labels))


def tabulate(accuracies: Curves, information: Curves) -> cs.Table:
    """Return one row per method: accuracy / normalized mutual information per number of known entities."""
    numbers = sorted({number for curve in accuracies.values() for number in curve})
    columns: dict[str, list[str]] = {"method": list(accuracies)}
    for number in numbers:
        columns[f"{number} per class"] = [
            f"{np.mean(accuracies[name][number]):.2f} / {np.mean(information[name][number]):.2f}"
            if number in accuracies[name]
            else ""
            for name in accuracies
        ]
    return cs.Table({name: np.array(values) for name, values in columns.items()})


def draw_figure(panels: Mapping[str, Curves], path: str) -> None:
    """Write the curves of the accuracy as an image."""
    display = cs.plot.CurvesDisplay(panels, x="known entities per class", y="accuracy on the others").plot()
    display.figure_.savefig(path, dpi=100)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.semi_supervised", description="Learning curves.")
    parser.add_argument("data", nargs="*", choices=[*DATA, []], help=f"{', '.join(DATA)} (default: all)")
    parser.add_argument("--draws", type=int, default=5, help="draws of the known entities (default: 5)")
    parser.add_argument("--known", type=int, nargs="+", default=N_KNOWN, help="numbers of known entities per class")
    parser.add_argument("--figure", metavar="FILE", help="write the curves as an image")
    args = parser.parse_args()
    warnings.simplefilter("ignore")  # classifiers that know one entity per class warn in many ways
    panels: dict[str, Curves] = {}
    for title in args.data or DATA:
        views, y = DATA[title]()
        accuracies: Curves = defaultdict(lambda: defaultdict(list))
        information: Curves = defaultdict(lambda: defaultdict(list))
        for name, number, accuracy, shared in trace_curves(views, np.asarray(y), tuple(args.known), args.draws):
            accuracies[name][number].append(accuracy)
            information[name][number].append(shared)
        panels[title] = accuracies
        print(f"{title}: {len(y):,} entities, {len(np.unique(y))} classes; accuracy / NMI of entities of unknown class")
        print(f"{tabulate(accuracies, information)!r}\n", flush=True)
    if args.figure:
        draw_figure(panels, args.figure)


if __name__ == "__main__":
    main()
