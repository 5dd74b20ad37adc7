"""Quality of the encodings of links: rows of neighbors, a graph, and views averaged along links.

``python -m benchmarks.link_encodings`` clusters the word senses, Cora, Citeseer and WebKB (downloaded, or from the
folder that CONSILIENCE_DATA names) and made-up papers by the default method with the true number of clusters. It prints
the normalized mutual information with the classes per encoding, and `support`: how well plain views predict the
clusters, in bits. Support is the mean over the views of words, plus the mean over the rows of links, plus the graph's.
It needs no classes. It can choose between `rows` and `smooth`, but not the other encodings: they let links count
several times, so that their clusters are those of the links even if the links are random.

The papers have words and links. `alike`: links join papers of a class; `random`: any papers; `unlike`: papers of
different classes; `unrelated`: papers of groups that have nothing to do with the classes.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.metrics import normalized_mutual_info_score

import consilience as cs
from consilience.datasets.word_senses import read_word_senses
from consilience.files import EncodedData, ViewContent, fit_and_encode
from consilience.selection.predictors import SharedPredictors

ENCODINGS = ("rows", "graph", "smooth1", "smooth", "rows+smooth", "graph+smooth")
JUDGES = "rows+graph"  # the encoding of links by which support is measured


@dataclass(frozen=True)
class LinkedData:
    """Contents of views, the last of which are links, and the classes."""

    contents: Sequence[ViewContent]
    classes: np.ndarray


def build_contents(counts: dict[str, Any], sources: np.ndarray, targets: np.ndarray) -> list[ViewContent]:
    """Build contents of counts and of links between the positions of entities."""
    n = next(iter(counts.values())).shape[0]
    ids = np.array([str(i) for i in range(n)], dtype=object)
    views = [ViewContent(name, name, "counts", (sp.csr_array(X), None), n, ids) for name, X in counts.items()]
    links = ids[sources], ids[targets], np.ones(len(sources))
    return [*views, ViewContent("links", "links", "links", links, len(sources), None)]


def load_web(fetch: Callable[[], Any]) -> LinkedData:
    """Load pages or papers with counts of words and a matrix of outgoing links."""
    views, y = fetch()
    sources, targets = sp.coo_array(views["outbound"]).coords
    return LinkedData(build_contents({"text": views["text"]}, sources, targets), np.asarray(y))


def load_senses() -> LinkedData:
    """Load the word senses, with links in their direction."""
    views, y = cs.datasets.load_word_senses()
    senses = read_word_senses()
    row = {name: i for i, name in enumerate(senses.ids)}
    sources, targets = np.array([(row[source], row[target]) for source, target in senses.links]).T
    return LinkedData(build_contents({name: views[name] for name in ("gloss", "lemma")}, sources, targets), y)


def make_papers(links: str, n: int = 1200, k: int = 4, seed: int = 1) -> LinkedData:
    """Make papers with 20 words, 6 of them from the words of their class on average, and two links on average."""
    rng = np.random.default_rng(seed)
    y = rng.integers(k, size=n)
    group = rng.integers(k, size=n) if links == "unrelated" else y
    step = (group[:, None] - group[None]) % k
    joined = {"random": step >= 0, "unlike": (step == 1) | (step == k - 1)}.get(links, step == 0)
    likely = np.where(joined, 1.0, 0.1)
    sources, targets = np.nonzero(np.triu(rng.random((n, n)) < likely * 4 * n / likely.sum(), 1))
    n_words, length = 600, 20
    of_class = rng.integers(n_words // k, size=(n, length)) + n_words // k * y[:, None]
    words = np.where(rng.random((n, length)) < 0.3, of_class, rng.integers(n_words, size=(n, length)))
    counts = sp.csr_array((np.ones(words.size), (np.repeat(np.arange(n), length), words.ravel())), shape=(n, n_words))
    return LinkedData(build_contents({"text": counts}, sources, targets), y)


DATA: dict[str, Callable[[], LinkedData]] = {
    "word senses": load_senses,
    "Cora": lambda: load_web(cs.datasets.fetch_cora),
    "Citeseer": lambda: load_web(cs.datasets.fetch_citeseer),
    "WebKB": lambda: load_web(cs.datasets.fetch_webkb_linqs),
    **{f"papers, {links}": partial(make_papers, links) for links in ("alike", "random", "unlike", "unrelated")},
}


def find_similarities(encoded: EncodedData) -> dict[str, bool]:
    """Return for each view whether it holds similarities."""
    return {name: kind == "similarities" for name, kind in encoded.kinds.items()}


def measure_support(judges: EncodedData, predictors: SharedPredictors, labels: np.ndarray, k: int) -> float:
    """Return the bits that left-out predictions share with the labels: words, rows of links and graph count alike."""
    by_source: dict[str, list[float]] = {}
    bits_by_view = predictors.build_ensemble(k).vote(labels).bits
    for kind, bits in zip(judges.kinds.values(), bits_by_view, strict=True):
        by_source.setdefault(kind, []).append(float(np.mean(bits)))
    return sum(float(np.mean(bits)) for bits in by_source.values())


def compare_encodings(data: LinkedData, seeds: int) -> cs.Table:
    """Return one row per encoding: information with the classes, and support by the views that are not averaged."""
    k = len(np.unique(data.classes))
    judges = fit_and_encode(data.contents, rare=True, encode={"links": JUDGES})
    predictors = SharedPredictors.build(judges.views, find_similarities(judges), k)
    rows = []
    for encoding in (None, *ENCODINGS):
        contents = data.contents if encoding else data.contents[:-1]
        encoded = fit_and_encode(contents, rare=True, encode={"links": encoding} if encoding else None)
        affinity = {name: "precomputed" if fixed else "auto" for name, fixed in find_similarities(encoded).items()}
        information, support = [], []
        for seed in range(seeds):
            labels = np.full(len(data.classes), -1)
            labels[encoded.kept] = cs.Consilience(k, affinity=affinity, random_state=seed).fit_predict(encoded.views)
            information.append(normalized_mutual_info_score(data.classes[encoded.kept], labels[encoded.kept]))
            support.append(measure_support(judges, predictors, labels[judges.kept], k))
        rows.append({"links": encoding or "left out", "nmi": np.mean(information), "support": float(np.mean(support))})
    return cs.Table.from_rows(rows)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.link_encodings", description="Encodings of links.")
    parser.add_argument("data", nargs="*", choices=[*DATA, []], help=f"{', '.join(DATA)} (default: all)")
    parser.add_argument("--seeds", type=int, default=2, help="fits per encoding (default: 2)")
    args = parser.parse_args()
    warnings.simplefilter("ignore")  # entities without words or links
    for title in args.data or DATA:
        data = DATA[title]()
        print(f"{title}: {len(data.classes):,} entities, {len(np.unique(data.classes))} classes")
        print(f"{compare_encodings(data, args.seeds)!r}\n", flush=True)


if __name__ == "__main__":
    main()
