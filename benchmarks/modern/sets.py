"""The sets, and one preparation for everybody, fixed beforehand and blind to the classes.

- Counts (words, links) are weighed as our command weighs them: logarithmic counts times the rarity of the term, rows of
  unit length. Reuters comes weighed; there rows are only brought to unit length.
- Measurements are standardised; an empty cell in a row that has others gets the column's median.
- Those who take only dense arrays get 100 columns a view: truncated SVD, seed 0, of the same weighed counts. A view of
  no more than 100 columns is only made dense.
- A row without any term or measurement is a missing view. Those who know missing views are told. The others get zeros,
  which is the mean of standardised columns and an empty bag of words.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.decomposition import TruncatedSVD
from sklearn.preprocessing import normalize

from consilience import Views, datasets
from consilience.files.encoders import CountsEncoder, NumbersEncoder

N_COLUMNS = 100  # of a view that is reduced
N_NEWSGROUPS = 2_000  # messages


@dataclass(frozen=True, eq=False)
class Prepared:
    """A set as its methods take it."""

    weighed: Views  # tf-idf, measurements standardised
    counts: Views  # counts as they are, measurements standardised
    dense: list[np.ndarray]  # the first, reduced; zeros for missing views
    kinds: dict[str, str]  # of each view: counts, weights or numbers
    target: np.ndarray

    @property
    def n_clusters(self) -> int:
        return len(np.unique(self.target))

    @property
    def with_gaps(self) -> list[np.ndarray]:
        """The dense arrays with NaN for missing views."""
        there = self.weighed.present.T
        return [np.where(own[:, None], X, np.nan) for X, own in zip(self.dense, there, strict=True)]


def _newsgroups() -> tuple[Any, np.ndarray]:
    """A hundred messages of each group: a sample with a fixed seed."""
    views, y = datasets.fetch_newsgroups()
    rng = np.random.default_rng(0)
    n_each = N_NEWSGROUPS // len(np.unique(y))
    rows = np.concatenate([rng.choice(np.flatnonzero(y == own), n_each, replace=False) for own in np.unique(y)])
    return views[np.sort(rows)], y[np.sort(rows)]


def _webkb() -> tuple[Any, np.ndarray]:
    """The pages that others link to, by their text and by the words of those links."""
    views, y = datasets.fetch_webkb()
    views = views[["text", "anchor"]]
    linked = np.diff(views["anchor"].indptr) > 0
    return views[linked], y[linked]


SETS: dict[str, Callable[[], Any]] = {
    "BBC sport": lambda: datasets.fetch_bbcsport(),
    "BBC, 4 parts": lambda: datasets.fetch_bbc(n_segments=4),
    "WebKB, links": lambda: datasets.fetch_webkb_linqs(),
    "Reuters 600": lambda: datasets.fetch_reuters(n_samples=600),
    "ads": lambda: datasets.fetch_internet_ads(version="998"),
    "Reuters 1200": lambda: datasets.fetch_reuters(n_samples=1200),
    "digits": lambda: datasets.fetch_digits_views(),
    "BBC, 2 parts": lambda: datasets.fetch_bbc(n_segments=2),
    "newsgroups": _newsgroups,
    "Cora": lambda: datasets.fetch_cora(),
    "WebKB, anchors": _webkb,
    "word senses": lambda: datasets.load_word_senses(),
    "Citeseer": lambda: datasets.fetch_citeseer(),
}


def prepare(views: Views | Mapping[str, Any], target: np.ndarray) -> Prepared:
    """Counts weighed, measurements standardised, wide views reduced; an entity of which no view speaks is left out."""
    blocks = {name: _plain(block) for name, block in views.items()}
    kinds = {name: kind_of(X) for name, X in blocks.items()}
    encoders = {name: NumbersEncoder() if kinds[name] == "numbers" else CountsEncoder(rare=False) for name in blocks}
    raw = {
        name: encoder.fit((blocks[name], None)).transform((blocks[name], None)) for name, encoder in encoders.items()
    }
    weighed = {name: _weighed(raw[name], kind) for name, kind in kinds.items()}
    present = np.stack([encoders[name].present(X) for name, X in raw.items()], axis=1)
    kept = present.any(axis=1)
    weighed, counts = (Views(own, present=present)[kept] for own in (weighed, raw))
    dense = [_reduced(X) for _, X in weighed.items()]
    return Prepared(weighed, counts, dense, kinds, np.asarray(target)[kept])


def kind_of(X: Any) -> str:
    """Dense is measured; sparse and whole is counted; other sparse numbers are weighed already."""
    if not sp.issparse(X):
        return "numbers"
    return "counts" if (X.data >= 0).all() and (X.data == np.floor(X.data)).all() else "weights"


def _plain(X: Any) -> Any:
    """Float64, whatever it came in; sparse with indices of 32 bits, for scikit-learn's k-means takes no others."""
    if not sp.issparse(X):
        return np.asarray(X, dtype=np.float64)
    X = sp.csr_array(X, dtype=np.float64)
    return sp.csr_array((X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32)), shape=X.shape)


def _weighed(X: Any, kind: str) -> Any:
    if kind == "numbers":
        return X
    return normalize(X) if kind == "weights" else CountsEncoder(rare=True).fit((X, None)).transform((X, None))


def _reduced(X: Any) -> np.ndarray:
    if not sp.issparse(X):
        return np.nan_to_num(np.asarray(X))
    if X.shape[1] <= N_COLUMNS:
        return X.toarray()
    return TruncatedSVD(N_COLUMNS, random_state=0).fit_transform(X)


def prepared_file(folder: Path, name: str, load: Callable[[], Any]) -> Path:
    """The set, prepared, in a file; made if it is not there."""
    path = folder / "prepared" / f"{name}.pickle"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        views, target = load()
        path.write_bytes(pickle.dumps(prepare(views, target)))
    return path
