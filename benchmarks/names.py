"""Names of clusters: whether their terms mark them, whether they differ, how stable they are, and their time.

``python -m benchmarks.names`` clusters the word senses, wine and digits that ship with consilience and scikit-learn,
and messages to newsgroups, news of the BBC and pages of WebKB (downloaded, or from the folder that CONSILIENCE_DATA
names) by the default method, and names the clusters. Columns of the tables:

- `named`: share of the clusters that have a name of terms, not only a number.
- `marking`: share of the named clusters whose terms all occur in a larger share of the entities inside than outside. It
  is counted anew: words in the texts or in the columns of words, "high price" by the means of the column.
- `coincide`: number of names that another cluster has, too.
- `seconds`: time to name the clusters.
- `moved`, `moved terms`: share of names, and of terms in names, that stay if 2% of the entities move to random
  clusters; `moved kept` if the first names are passed as `previous`.
- `refit`, `refit terms`, `refit kept`: the same for a fit with another seed, whose clusters are matched with those of
  the first; `overlap` is the share of entities in matched clusters. `steady` is the number of clusters that have hardly
  changed (Jaccard index of 0.8 or more), and `steady names` the share of these with the same name without `previous`.

The last table has the seconds for made-up titles of up to 200,000 products.
"""

from __future__ import annotations

import argparse
import re
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linear_sum_assignment
from sklearn.datasets import load_wine
from sklearn.metrics.cluster import contingency_matrix

import consilience as cs
from consilience.datasets.word_senses import read_word_senses
from consilience.explain import name_clusters

MOVED = 0.02  # share of the entities that move to random clusters
STEADY = 0.8  # Jaccard index of two clusters from which a cluster has hardly changed
MAX_ENTITIES = 3000  # of a data set; of more, a random sample is clustered


@dataclass(frozen=True)
class NamedData:
    """Views, texts of the entities, and the number of clusters."""

    views: cs.Views
    n_clusters: int
    texts: Mapping[str, Sequence[str]] = field(default_factory=dict)


def load_senses() -> NamedData:
    data, senses = cs.datasets.load_word_senses(), read_word_senses()
    return NamedData(data.views, 20, {"gloss": senses.glosses})


def load_numbers() -> NamedData:
    wine = load_wine(as_frame=True)
    return NamedData(cs.Views.from_frame(wine.data, numbers=list(wine.data.columns)), 3)


def load_fetched(fetch: Callable[[], Any], n_clusters: int) -> NamedData:
    views = fetch().views
    rows = np.sort(np.random.default_rng(0).permutation(len(views))[:MAX_ENTITIES])
    return NamedData(views[rows], n_clusters)


DATA: dict[str, Callable[[], NamedData]] = {
    "word senses (texts)": load_senses,
    "newsgroups (words)": lambda: load_fetched(cs.datasets.fetch_newsgroups, 20),
    "bbc (words)": lambda: load_fetched(lambda: cs.datasets.fetch_bbc(n_segments=2), 8),
    "webkb (words, links)": lambda: load_fetched(cs.datasets.fetch_webkb, 12),
    "wine (numbers)": load_numbers,
    "digits (anonymous)": lambda: load_fetched(cs.datasets.load_digits_views, 10),
}


def fit_labels(data: NamedData, seed: int) -> np.ndarray:
    """Cluster the views by the default method."""
    return cs.cluster(data.views, data.n_clusters, assess=False, random_state=seed).labels


def split_name(name: str) -> list[str]:
    """Return the terms of a name, none if it is only a number."""
    return [] if re.fullmatch(r"cluster \d+", name) else re.sub(r" \(\d+\)$", "", name).split(", ")


def find_occurrence(data: NamedData, term: str) -> np.ndarray:
    """Return how much of a term each entity has, the largest over texts and views."""
    stem = re.escape(re.sub("(?<![sui])s$", "", term.lower()))
    occurs = np.zeros(len(data.views))
    for texts in data.texts.values():
        pattern = re.compile(rf"\b{stem}", re.IGNORECASE)
        occurs = np.maximum(occurs, [pattern.search(text) is not None for text in texts])
    level, _, column = term.partition(" ")
    for name, X in data.views.items():
        for j, feature in enumerate([] if data.views.feature_names(name) is None else data.views.feature_names(name)):
            if re.fullmatch(rf"{stem}(?:e?s|ies)?", feature.lower()):
                values = X[:, [j]]
                occurs = np.maximum(occurs, np.asarray(values.todense() if sp.issparse(X) else values).ravel() > 0)
            if level in ("high", "low") and feature.replace("_", " ") == column:
                return np.asarray(X)[:, j] * (1 if level == "high" else -1)
    return occurs


def measure_marking(data: NamedData, labels: np.ndarray, names: Sequence[str]) -> float:
    """Return the share of named clusters whose terms all occur more often inside than outside."""
    is_marking = []
    for cluster, name in enumerate(names):
        occurrences = [find_occurrence(data, term) for term in split_name(name)]
        if occurrences:
            inside = labels == cluster
            is_marking.append(all(values[inside].mean() > values[~inside].mean() for values in occurrences))
    return float(np.mean(is_marking)) if is_marking else float("nan")


def compare_names(first: Sequence[str], second: Sequence[str]) -> tuple[float, float]:
    """Return the share of named clusters that have the same name, and of terms that are in both names."""
    pairs = [(set(split_name(a)), set(split_name(b))) for a, b in zip(first, second, strict=True)]
    pairs = [(a, b) for a, b in pairs if a]
    if not pairs:
        return float("nan"), float("nan")
    return float(np.mean([a == b for a, b in pairs])), sum(len(a & b) for a, b in pairs) / sum(len(a) for a, _ in pairs)


def match_labels(first: np.ndarray, second: np.ndarray) -> tuple[np.ndarray, float]:
    """Renumber the second clusters like the first that they share most entities with, and return the shared share."""
    table = contingency_matrix(second, first)
    rows, columns = linear_sum_assignment(-table)
    return np.array(columns)[np.searchsorted(np.unique(second), second)], float(table[rows, columns].sum() / len(first))


def measure_names(title: str, data: NamedData) -> dict[str, Any]:
    """Return a row of the table."""
    labels = fit_labels(data, seed=0)
    started = time.perf_counter()
    names = name_clusters(labels, data.views, data.texts)
    seconds = time.perf_counter() - started
    rng = np.random.default_rng(0)
    moved = labels.copy()
    rows = rng.permutation(len(labels))[: round(MOVED * len(labels))]
    moved[rows] = rng.integers(data.n_clusters, size=len(rows))
    refit, overlap = match_labels(labels, fit_labels(data, seed=1))
    row: dict[str, Any] = {
        "data": title,
        "entities": len(labels),
        "clusters": data.n_clusters,
        "named": float(np.mean([bool(split_name(name)) for name in names])),
        "marking": measure_marking(data, labels, names),
        "coincide": len(names) - len({name.casefold() for name in names}),
        "seconds": seconds,
        "overlap": overlap,
    }
    steady = [
        np.sum((labels == c) & (refit == c)) >= STEADY * np.sum((labels == c) | (refit == c)) for c in range(len(names))
    ]
    pairs = zip(names, name_clusters(refit, data.views, data.texts), steady, strict=True)
    same = [a == b for a, b, is_steady in pairs if is_steady and split_name(a)]
    row |= {"steady": sum(steady), "steady names": float(np.mean(same)) if same else float("nan")}
    for change, other in (("moved", moved), ("refit", refit)):
        row[change], row[f"{change} terms"] = compare_names(names, name_clusters(other, data.views, data.texts))
        row[f"{change} kept"], _ = compare_names(names, name_clusters(other, data.views, data.texts, previous=names))
    for cluster, name in enumerate(names):
        print(f"  {cluster:2}  {np.sum(labels == cluster):5,}  {name}")
    return row


def measure_times(sizes: Sequence[tuple[int, int]]) -> cs.Table:
    """Time the names of clusters of made-up titles with ten words each."""
    rng = np.random.default_rng(0)
    vocabulary = np.array(["".join(rng.choice(list("abcdefghiklmnoprstuw"), 6)) for _ in range(20_000)])
    rows = []
    for n, n_clusters in sizes:
        labels = rng.integers(n_clusters, size=n)
        words = np.where(rng.random((n, 10)) < 0.3, labels[:, None] * 5 % 19_000, rng.integers(19_000, size=(n, 10)))
        texts = [" ".join(row) for row in vocabulary[words + rng.integers(5, size=(n, 10))]]
        views = cs.Views.from_frame({"price": rng.normal(size=n) + labels % 3}, numbers="price")
        started = time.perf_counter()
        names = name_clusters(labels, views, {"title": texts})
        seconds = time.perf_counter() - started
        rows.append({"entities": n, "clusters": n_clusters, "different": len(set(names)), "seconds": seconds})
    return cs.Table.from_rows(rows)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.names", description="Names of clusters.")
    parser.add_argument("data", nargs="*", choices=[*DATA, []], help=f"{', '.join(DATA)} (default: all)")
    args = parser.parse_args()
    warnings.simplefilter("ignore")  # entities without words or links, and fits that do not converge
    rows = []
    for title in args.data or DATA:
        print(title)
        rows.append(measure_names(title, DATA[title]()))
    quality = ("named", "marking", "coincide", "seconds")
    moved = ("moved", "moved terms", "moved kept")
    refit = ("overlap", "refit", "refit terms", "refit kept", "steady", "steady names")
    for columns in (("entities", "clusters", *quality), moved, refit):
        print(f"\n{cs.Table.from_rows([{name: row[name] for name in ('data', *columns)} for row in rows])!r}")
    print(f"\n{measure_times([(20_000, 20), (200_000, 20), (200_000, 500)])!r}")


if __name__ == "__main__":
    main()
