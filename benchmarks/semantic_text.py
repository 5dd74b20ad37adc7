"""Clusters of texts that are encoded by words, by latent semantic analysis and by meaning.

``python -m benchmarks.semantic_text [--rows N] [--seeds N]`` prints the normalized mutual information of the default
method with the classes, with their true number, for each column of text alone and for all views of its set together.
The word senses are included; the other sets are downloaded or come from the folder that CONSILIENCE_DATA names. Those
have only counts of words, so that the texts are made of the words in alphabetical order, and words that the set leaves
out (such as those in one text only) are missing. The scores are means over the seeds, of a random sample of the rows,
over entities that every encoding describes.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.metrics import normalized_mutual_info_score

import consilience as cs
from consilience.files import fit_and_encode
from consilience.files.kinds import MAX_NAME_WORDS, ViewContent, interpret_columns

ENCODINGS = ("words", "lsa", "semantic", "words+semantic")


@dataclass(frozen=True, eq=False)
class TextSet:
    """Views of a data set, and its classes."""

    texts: Mapping[str, np.ndarray]  # columns of strings, None where there is none
    classes: np.ndarray
    links: np.ndarray | None = None  # pairs of ids
    ids: np.ndarray | None = None


def load_word_senses(_: np.random.Generator, n_rows: int) -> TextSet:
    senses = cs.datasets.read_word_senses()
    texts = {name: np.array(getattr(senses, name)[:n_rows], dtype=object) for name in ("glosses", "lemmas")}
    links = np.array(senses.links, dtype=object)
    return TextSet(texts, np.array(senses.kinds[:n_rows]), links, np.array(senses.ids[:n_rows], dtype=object))


def sample_bags(load: Callable[[], Any], *names: str) -> Callable[[np.random.Generator, int], TextSet]:
    """Return a function that samples rows with the first of these views, and writes out the words that it counts."""

    def sample(rng: np.random.Generator, n_rows: int) -> TextSet:
        views, classes = load()
        described = np.flatnonzero(np.diff(views[names[0]].indptr) > 0)
        rows = np.sort(rng.permutation(described)[:n_rows])
        texts = {name: write_words(views[name][rows], views.feature_names(name)) for name in names}
        return TextSet(texts, np.asarray(classes)[rows])

    return sample


def write_words(counts: Any, words: np.ndarray) -> np.ndarray:
    """Write each word as often as it is counted."""
    texts = np.full(counts.shape[0], None, dtype=object)
    for row, (start, stop) in enumerate(zip(counts.indptr[:-1], counts.indptr[1:], strict=True)):
        columns, times = counts.indices[start:stop], counts.data[start:stop].astype(int)
        texts[row] = " ".join(np.repeat(words[columns], times)) or None
    return texts


SETS: dict[str, Callable[[np.random.Generator, int], TextSet]] = {
    "word senses": load_word_senses,
    "newsgroups": sample_bags(lambda: cs.datasets.fetch_newsgroups(), "subject", "body"),
    "WebKB": sample_bags(lambda: cs.datasets.fetch_webkb(), "anchor", "text"),
    "ads": sample_bags(lambda: cs.datasets.fetch_internet_ads(version="998"), "alt", "caption"),
    "BBC": sample_bags(lambda: cs.datasets.fetch_bbc(n_segments=2), "seg1", "seg2"),
}


def make_contents(data: TextSet) -> dict[str, ViewContent]:
    contents = {}
    for name, column in data.texts.items():
        kind = "names" if count_words(column) < MAX_NAME_WORDS else "text"
        contents[name] = interpret_columns(name, "benchmark", {name: column}, data.ids, kind)
    if data.links is not None:
        ends = {"source": data.links[:, 0], "target": data.links[:, 1]}
        contents["links"] = interpret_columns("links", "benchmark", ends, None, "links")
    return contents


def count_words(texts: np.ndarray) -> float:
    return float(np.mean([len(text.split()) for text in texts if text is not None]))


def score_encodings(contents: list[ViewContent], text: str, classes: np.ndarray, n_seeds: int) -> list[float]:
    """Return the scores of all encodings of one text, beside the other contents as they are by default."""
    n_clusters = len(np.unique(classes))
    encoded = [fit_and_encode(contents, rare=True, encode={text: encoding}) for encoding in ENCODINGS]
    kept_by_all = np.logical_and.reduce([data.kept for data in encoded])
    scores = []
    for data in encoded:
        scored = kept_by_all[data.kept]
        labels = [cs.Consilience(n_clusters, random_state=seed).fit(data.views).labels_ for seed in range(n_seeds)]
        nmi = [normalized_mutual_info_score(classes[kept_by_all], clusters[scored]) for clusters in labels]
        scores.append(float(np.mean(nmi)))
    return scores


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.semantic_text", description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=3_015, help="largest number of rows per set (default: 3015)")
    parser.add_argument("--seeds", type=int, default=3, help="number of seeds of the method (default: 3)")
    parser.add_argument("--sets", nargs="*", default=list(SETS), choices=list(SETS), help="default: all")
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    print("| text | words per text | " + " | ".join(ENCODINGS) + " |\n|---|---|" + "---|" * len(ENCODINGS))
    for title in args.sets:
        data = SETS[title](np.random.default_rng(0), args.rows)
        contents = make_contents(data)
        for name, column in data.texts.items():
            groups = {f"{title}: {name}": [contents[name]], f"{title}: {name}, all views": list(contents.values())}
            for row, group in groups.items():
                scores = score_encodings(group, name, data.classes, args.seeds)
                numbers = " | ".join(f"{score:.3f}" for score in scores)
                print(f"| {row} | {count_words(column):.1f} | {numbers} |", flush=True)


if __name__ == "__main__":
    main()
