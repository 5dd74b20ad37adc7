"""The data sets, with one preparation for all methods, which was fixed beforehand and does not use the classes.

- Counts (words, links) are weighted as on the command line: logarithmic counts times the rarity of the term, rows of
  unit length. Reuters is weighted already; its rows are only normalized.
- Measurements are standardized; an empty cell in a row with other values gets the median of the column.
- Methods that take only dense arrays get 100 columns per view: truncated SVD with seed 0 of the weighted counts. Views
  with at most 100 columns are only made dense.
- A row without any term or measurement is a missing view. Methods that support missing views are told. The others get
  zeros: the mean of standardized columns, or a document without words.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.decomposition import TruncatedSVD
from sklearn.preprocessing import normalize

from consilience import Views, datasets
from consilience.files import ViewContent
from consilience.files.encoders import CountsEncoder, NumbersEncoder

N_COLUMNS = 100  # columns of a reduced view
N_NEWSGROUPS = 2_000  # messages


@dataclass(frozen=True, eq=False)
class Links:
    """The links that are stored as matrices of views, as a file of links would list them."""

    views: tuple[str, ...]  # names of the matrices
    ids: np.ndarray  # of the entities
    sources: np.ndarray
    targets: np.ndarray

    def __getitem__(self, rows: np.ndarray) -> Links:
        """Select entities; links stay, because those of other entities are ignored."""
        return Links(self.views, self.ids[rows], self.sources, self.targets)

    def replace_matrices(self, contents: Sequence[ViewContent]) -> list[ViewContent]:
        """Replace the matrices among the contents by a list of links; the other contents get ids."""
        links = self.sources, self.targets, np.ones(len(self.sources))
        others = [replace(content, ids=self.ids) for content in contents if content.name not in self.views]
        return [*others, ViewContent("links", "links", "links", links, len(self.sources), None)]


@dataclass(frozen=True, eq=False)
class Prepared:
    """A data set as input of the methods."""

    weighed: Views  # weighted counts, standardized measurements
    counts: Views  # raw counts, standardized measurements
    dense: list[np.ndarray]  # reduced `weighed`, with zeros for missing views
    kinds: dict[str, str]  # kind per view: counts, weights or numbers
    target: np.ndarray
    links: Links | None = None

    @property
    def n_clusters(self) -> int:
        return len(np.unique(self.target))

    @property
    def with_gaps(self) -> list[np.ndarray]:
        """The dense arrays with NaN for missing views."""
        present = self.weighed.present.T
        return [np.where(is_present[:, None], X, np.nan) for X, is_present in zip(self.dense, present, strict=True)]


def _load_newsgroups() -> tuple[Any, np.ndarray]:
    """Sample a hundred messages of each group with a fixed seed."""
    views, y = datasets.fetch_newsgroups()
    rng = np.random.default_rng(0)
    n_each = N_NEWSGROUPS // len(np.unique(y))
    rows = np.concatenate([rng.choice(np.flatnonzero(y == label), n_each, replace=False) for label in np.unique(y)])
    return views[np.sort(rows)], y[np.sort(rows)]


def _load_webkb() -> tuple[Any, np.ndarray]:
    """Load the pages with anchor text, by their text and anchor text."""
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
    "newsgroups": _load_newsgroups,
    "Cora": lambda: datasets.fetch_cora(),
    "WebKB, anchors": _load_webkb,
    "word senses": lambda: datasets.load_word_senses(),
    "Citeseer": lambda: datasets.fetch_citeseer(),
}


def prepare(views: Views | Mapping[str, Any], target: np.ndarray, links: Links | None = None) -> Prepared:
    """Weight counts, standardize measurements, and reduce wide views; entities without any view are dropped."""
    blocks = {name: _convert_block(block) for name, block in views.items()}
    kinds = {name: detect_kind(X) for name, X in blocks.items()}
    encoders = {name: NumbersEncoder() if kinds[name] == "numbers" else CountsEncoder(rare=False) for name in blocks}
    raw = {
        name: encoder.fit((blocks[name], None)).transform((blocks[name], None)) for name, encoder in encoders.items()
    }
    weighed = {name: _weight_counts(raw[name], kind) for name, kind in kinds.items()}
    present = np.stack([encoders[name].present(X) for name, X in raw.items()], axis=1)
    kept = present.any(axis=1)
    weighed, counts = (Views(blocks_of_kind, present=present)[kept] for blocks_of_kind in (weighed, raw))
    dense = [_reduce_columns(X) for _, X in weighed.items()]
    return Prepared(weighed, counts, dense, kinds, np.asarray(target)[kept], None if links is None else links[kept])


def detect_kind(X: Any) -> str:
    """Detect the kind: dense numbers, sparse whole counts, or other sparse weights."""
    if not sp.issparse(X):
        return "numbers"
    return "counts" if (X.data >= 0).all() and (X.data == np.floor(X.data)).all() else "weights"


def _convert_block(X: Any) -> Any:
    """Convert to float64; sparse indices to 32 bits, because scikit-learn's k-means takes no others."""
    if not sp.issparse(X):
        return np.asarray(X, dtype=np.float64)
    X = sp.csr_array(X, dtype=np.float64)
    return sp.csr_array((X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32)), shape=X.shape)


def _weight_counts(X: Any, kind: str) -> Any:
    if kind == "numbers":
        return X
    return normalize(X) if kind == "weights" else CountsEncoder(rare=True).fit((X, None)).transform((X, None))


def _reduce_columns(X: Any) -> np.ndarray:
    if not sp.issparse(X):
        return np.nan_to_num(np.asarray(X))
    if X.shape[1] <= N_COLUMNS:
        return X.toarray()
    return TruncatedSVD(N_COLUMNS, random_state=0).fit_transform(X)


def get_prepared_file(folder: Path, name: str, load: Callable[[], Any]) -> Path:
    """Return the file of the prepared data set; write it if it does not exist."""
    path = folder / "prepared" / f"{name}.pickle"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(pickle.dumps(prepare(*load())))
    return path
