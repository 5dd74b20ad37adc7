"""The joint map and the hierarchy of clusters: quality and time.

``python -m benchmarks.maps`` embeds the digits and, if CONSILIENCE_DATA names their folder, more multi-view data (at
most 3,000 entities of each), and prints

- per method of `joint_map` (and scikit-learn's t-SNE; UMAP if umap-learn is installed) the seconds; `purity`, the share
  of the ten nearest entities that have the same class, in the plane and in the embedding; `trust`, scikit-learn's
  trustworthiness; and `kept`, the share of the ten nearest entities in the embedding that are among those in the plane;
- how well fewer groups agree with classes of classes (nested Gaussians; newsgroups by topic and clothes by kind, whose
  true classes are merged), next to Ward's criterion on the embedding and average linkage of means;
- how well ``at(n)`` of 20 clusters agrees with the classes, next to a fit with n clusters; and how well clusters that
  are split by k-means in the embedding agree with the classes, next to a fit with as many clusters;
- the seconds of graph, embedding, map and hierarchy for up to 200,000 entities (``--entities`` for more).

All agreement is normalized mutual information.
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import Any

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage
from sklearn.cluster import KMeans
from sklearn.manifold import TSNE, trustworthiness
from sklearn.metrics import normalized_mutual_info_score
from sklearn.neighbors import NearestNeighbors
from sklearn.preprocessing import StandardScaler

import consilience as cs
from benchmarks.modern import collection
from benchmarks.modern.sets import prepare
from consilience.explain import build_consensus_graph, build_hierarchy, embed_graph, joint_embedding, joint_map

MAX_ENTITIES = 3000
SETS = ("mfeat", "newsgroups20", "fashion_mnist", "scene15", "leaves100", "cora", "wordnet", "msrc_v1", "tcga_breast")
N_NEAREST = 10
KINDS_OF_CLOTHES = ("top", "trousers", "top", "top", "top", "shoe", "top", "shoe", "bag", "shoe")  # of fashion_mnist

TOPICS = {"alt": "religion", "soc": "religion", "talk.religion": "religion", "talk.politics": "politics"}


def scale_digits() -> tuple[cs.Views, np.ndarray]:
    views, y = cs.datasets.load_digits_views()
    return cs.PerView(StandardScaler()).fit_transform(views), np.asarray(y)


def load_sets() -> Iterator[tuple[str, cs.Views, np.ndarray]]:
    yield "digits", *scale_digits()
    if os.environ.get("CONSILIENCE_DATA"):
        collection.MAX_ENTITIES = MAX_ENTITIES
        available = collection.find_sets()
        for name in SETS:
            views, classes = available[name]()
            data = prepare(views, np.unique(classes, return_inverse=True)[1])
            yield name, data.weighed, data.target


def find_nearest(points: np.ndarray) -> np.ndarray:
    return NearestNeighbors(n_neighbors=N_NEAREST).fit(points).kneighbors(return_distance=False)


def list_layouts() -> dict[str, Callable[[np.ndarray], np.ndarray]]:
    layouts: dict[str, Callable[[np.ndarray], np.ndarray]] = {
        "spectral": lambda rows: joint_map(rows, method="spectral"),
        "tsne": joint_map,
        "scikit-learn": lambda rows: TSNE(perplexity=min(30, (len(rows) - 1) / 3), random_state=0).fit_transform(rows),
    }
    if find_spec("umap"):
        layouts["umap"] = lambda rows: joint_map(rows, method="umap")
    return layouts


def print_layouts() -> None:
    print("set             n     k  method        seconds  purity  (embedding)  trust   kept")
    for name, views, y in load_sets():
        rows = joint_embedding(views)
        nearest = find_nearest(rows)
        in_embedding = np.mean(y[nearest] == y[:, None])
        for method, lay_out in list_layouts().items():
            start = time.perf_counter()
            points = lay_out(rows)
            seconds = time.perf_counter() - start
            drawn = find_nearest(points)
            kept = np.mean([len(np.intersect1d(a, b)) for a, b in zip(nearest, drawn, strict=True)]) / N_NEAREST
            purity, trust = np.mean(y[drawn] == y[:, None]), trustworthiness(rows, points, n_neighbors=N_NEAREST)
            print(
                f"{name:14} {len(y):5} {len(np.unique(y)):4}  {method:12} {seconds:8.2f} {purity:7.3f} "
                f"{in_embedding:12.3f} {trust:7.3f} {kept:6.3f}"
            )


def make_nested(n: int, separation: float, seed: int) -> tuple[cs.Views, np.ndarray, np.ndarray]:
    """Five groups of four classes each in two views; groups are two and a half times as far apart as classes."""
    rng = np.random.default_rng(seed)
    coarse = np.arange(n) % 5
    fine = coarse * 4 + rng.integers(4, size=n)
    blocks = []
    for _ in range(2):
        far, near = rng.normal(size=(5, 10)) * separation * 2.5, rng.normal(size=(20, 10)) * separation
        blocks.append(far[coarse] + near[fine] + rng.normal(size=(n, 10)))
    return cs.Views(blocks), fine, coarse


def load_nested() -> Iterator[tuple[str, cs.Views, np.ndarray, np.ndarray]]:
    """Return data with classes, and with classes of classes."""
    for n in (100, 1000):
        for separation in (2.0, 5.0):
            yield f"nested {n} {separation}", *make_nested(n, separation, 0)
    if os.environ.get("CONSILIENCE_DATA"):
        collection.MAX_ENTITIES = MAX_ENTITIES
        for name in ("newsgroups20", "fashion_mnist"):
            views, classes = collection.find_sets()[name]()
            with np.load(collection.get_data_folder() / f"{name}.npz") as file:
                names = file["class_names"].tolist()
            topics = [next((t for start, t in TOPICS.items() if c.startswith(start)), c.split(".")[0]) for c in names]
            kinds = KINDS_OF_CLOTHES if name == "fashion_mnist" else topics
            data = prepare(views, np.asarray(classes))
            yield name, data.weighed, data.target, np.unique(kinds, return_inverse=True)[1][data.target]


def merge_by_means(points: np.ndarray, y: np.ndarray, method: str, n: int) -> np.ndarray:
    """Merge classes by a linkage of scipy of their means, each of which counts once."""
    means = np.stack([points[y == c].mean(axis=0) for c in range(y.max() + 1)])
    return fcluster(linkage(means, method), n, "maxclust")[y]


def print_merges() -> None:
    print("\nclasses merged         groups  graph   ward on means  average of means")
    for name, views, y, coarse in load_nested():
        n, rows = len(np.unique(coarse)), joint_embedding(views)
        merged = [build_hierarchy(y, views).cut(n)[y], *(merge_by_means(rows, y, m, n) for m in ("ward", "average"))]
        scores = [normalized_mutual_info_score(coarse, labels) for labels in merged]
        print(f"{name:22} {n:6} {scores[0]:6.3f} {scores[1]:15.3f} {scores[2]:17.3f}")


def split_clusters(labels: np.ndarray, rows: np.ndarray, n: int) -> np.ndarray:
    """Split the cluster with the most to gain in two by k-means, until there are n."""
    labels = labels.copy()
    halves: dict[int, tuple[float, np.ndarray]] = {}

    def halve(cluster: int) -> None:
        members = np.flatnonzero(labels == cluster)
        gain, second = 0.0, members[:0]
        if len(members) > 1:
            points = rows[members]
            fitted = KMeans(2, n_init=3, random_state=0).fit(points)
            gain, second = (
                float(((points - points.mean(axis=0)) ** 2).sum() - fitted.inertia_),
                members[fitted.labels_ == 1],
            )
        halves[cluster] = gain, second

    for cluster in np.unique(labels).tolist():
        halve(cluster)
    while len(halves) < n:
        cluster = max(halves, key=lambda number: halves[number][0])
        labels[halves[cluster][1]] = number = int(labels.max()) + 1
        halve(cluster)
        halve(number)
    return labels


def fit_default(views: cs.Views, n_clusters: int) -> np.ndarray:
    return np.asarray(cs.Consilience(n_clusters, random_state=0).fit(views).labels_)


def print_levels() -> None:
    print("\nset             n  at(n) of 20 clusters  fit with n     both  |  split of half as many  fit   (number)")
    for name, views, y in load_sets():
        fine, n_classes = fit_default(views, 20), len(np.unique(y))
        hierarchy = build_hierarchy(fine, views)
        half = fit_default(views, max(2, n_classes // 2))
        split = normalized_mutual_info_score(y, split_clusters(half, joint_embedding(views), n_classes))
        fresh = normalized_mutual_info_score(y, fit_default(views, n_classes))
        for n in (5, 10):
            merged, fitted = hierarchy.cut(n)[fine], fit_default(views, n)
            scores = [normalized_mutual_info_score(*pair) for pair in ((y, merged), (y, fitted), (merged, fitted))]
            print(
                f"{name:14} {n:3} {scores[0]:21.3f} {scores[1]:11.3f} {scores[2]:8.3f}  | {split:22.3f} {fresh:6.3f} "
                f"({n_classes})"
            )


def print_seconds(sizes: list[int]) -> None:
    print("\nentities   graph  embedding      map  hierarchy (50 clusters)")
    for n in sizes:
        views, _ = cs.datasets.make_gaussian_views(n, n_clusters=20, n_features=(20, 20), separation=5, random_state=0)
        labels = np.arange(n) % 50
        laps = [time.perf_counter()]
        graph: Any = build_consensus_graph(views)
        laps.append(time.perf_counter())
        rows = embed_graph(graph)
        laps.append(time.perf_counter())
        joint_map(rows)
        laps.append(time.perf_counter())
        build_hierarchy(labels, views, graph=graph)
        laps.append(time.perf_counter())
        seconds = np.diff(laps)
        print(f"{n:8,} {seconds[0]:7.2f} {seconds[1]:10.2f} {seconds[2]:8.2f} {seconds[3]:10.2f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--entities", type=int, nargs="+", default=[300, 5_000, 20_000, 200_000])
    parser.add_argument("--only", choices=["maps", "merges", "levels", "times"], help="print a single table")
    options = parser.parse_args()
    joint_map(np.random.default_rng(0).random((50, 3)))  # compiles
    tables = {
        "maps": print_layouts,
        "merges": print_merges,
        "levels": print_levels,
        "times": lambda: print_seconds(options.entities),
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, print_table in tables.items():
            if options.only in (None, name):
                print_table()


if __name__ == "__main__":
    main()
