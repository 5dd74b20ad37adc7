"""Columns in which clusters differ from the others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..arrays import available_memory, to_numpy
from ..data import Views
from ..files.encoders import TextEncoder
from ..rows import read_whole


@dataclass(frozen=True)
class Mark:
    """A column in which a cluster differs from the others.

    Examples
    --------
    >>> import consilience as cs
    >>> views = cs.Views.from_columns([[9, 0, 1], [8, 1, 1], [0, 7, 1], [1, 9, 1]], {"words": [0, 1, 2]})
    >>> mark = cs.explain.profile(views, [0, 0, 1, 1])["words"][0][0]
    >>> mark.feature, mark.inside, mark.outside
    ('0', 8.5, 0.5)
    """

    feature: str  #: name of the column, or its position
    strength: float  #: difference of the means inside and outside, in standard errors
    inside: float  #: mean over the entities of the cluster that have the view
    outside: float  #: mean over the others


def profile(
    views: Views, labels: Any, n_top: int = 10, *, texts: Mapping[str, Sequence[Any]] | None = None
) -> dict[str, list[list[Mark]]]:
    """Return the columns of each view whose means differ most within and outside each cluster.

    Parameters
    ----------
    views : Views
        The data.
    labels : array-like of int, shape (n_entities,)
        Clusters, numbered from 0; -1 for none.
    n_top : int, default=10
        Maximum number of columns per cluster.
    texts : mapping of view name to sequence of str, optional
        The texts that views were made of, one per entity, None if there is none. A view whose columns have no names,
        such as an embedding of the texts, is described by their words. A view with the texts of an earlier one is
        left out.

    Returns
    -------
    dict of str to list of list of Mark
        For each view and cluster, the strongest first. In views without negative values (words, links, counts) only
        columns with a larger mean within the cluster are listed; in others also those with a smaller mean. The means
        differ by more than two standard errors.

    Examples
    --------
    >>> import consilience as cs
    >>> views = cs.Views.from_columns([[9, 0, 1], [8, 1, 1], [0, 7, 1], [1, 9, 1]], {"words": [0, 1, 2]})
    >>> [[mark.feature for mark in marks] for marks in cs.explain.profile(views, [0, 0, 1, 1])["words"]]
    [['0'], ['1']]
    """
    labels = np.asarray(labels)
    if labels.shape != (len(views),):
        raise ValueError(f"labels must have one cluster per entity, shape ({len(views)},), got {labels.shape}")
    n_clusters = int(labels.max(initial=-1)) + 1
    profiles: dict[str, list[list[Mark]]] = {}
    described: list[Any] = []
    for (name, block), present in zip(views.items(), views.present.T, strict=True):
        names, view_texts = views.feature_names(name), (texts or {}).get(name)
        if view_texts is not None and names is None:
            if any(view_texts is earlier for earlier in described):
                continue
            block, names = _count_words(view_texts)
        described.append(view_texts)
        rows = read_whole(name, block, available_memory())
        profiles[name] = _marks(rows, present, labels, n_clusters, n_top, names)
    return profiles


def _count_words(texts: Sequence[Any]) -> tuple[Any, np.ndarray]:
    """Return the words of texts, weighted by tf-idf, and their names; none if no two texts share a word."""
    strings = np.array([str(text) if text is not None and text == text else None for text in texts], dtype=object)
    try:
        encoder = TextEncoder("text", rare=True).fit(strings)
    except ValueError:
        return sp.csr_array((len(strings), 1)), np.array([""])
    return encoder.transform(strings), encoder.features


def _marks(
    block: Any, present: np.ndarray, labels: np.ndarray, n_clusters: int, n_top: int, names: np.ndarray | None
) -> list[list[Mark]]:
    """Return the marks of one view, from sums that read the data once."""
    X: Any = sp.csr_array(block, dtype=np.float64) if sp.issparse(block) else to_numpy(block).astype(np.float64)
    rows = np.flatnonzero(present & (labels >= 0))
    X = X[rows] if len(rows) < len(labels) else X
    member = sp.csr_array((np.ones(len(rows)), (labels[rows], np.arange(len(rows)))), shape=(n_clusters, len(rows)))
    count = np.asarray(member.sum(axis=1)).ravel()[:, None]
    smallest = X.data.min(initial=0) if sp.issparse(X) else X.min(initial=0)
    middle = np.zeros(X.shape[1])
    if not sp.issparse(X) and len(rows):
        middle = X.mean(axis=0)
        X = X - middle  # differences of squares of numbers far from 0 would lose their digits
    sums, squares = _to_dense(member @ X), _to_dense(member @ (X.multiply(X) if sp.issparse(X) else X * X))
    total, total_squares, n = sums.sum(axis=0), squares.sum(axis=0), count.sum()
    inside, outside = sums / np.maximum(count, 1), (total - sums) / np.maximum(n - count, 1)
    error = np.sqrt(
        _variance(squares, inside, count) / np.maximum(count, 1)
        + _variance(total_squares - squares, outside, n - count) / np.maximum(n - count, 1)
        + 1e-12 * total_squares / max(n, 1)
    )
    differs = (count > 0) & (count < n) & (error > 0)
    strength = np.where(differs, (inside - outside) / np.where(error > 0, error, 1), 0.0)
    rank = strength if smallest >= 0 else np.abs(strength)
    return [
        [
            Mark(
                str(column if names is None else names[column]),
                float(strength[c, column]),
                float(inside[c, column] + middle[column]),
                float(outside[c, column] + middle[column]),
            )
            for column in _largest(rank[c], n_top)
            if rank[c, column] > 2
        ]
        for c in range(n_clusters)
    ]


def _variance(squares: np.ndarray, mean: np.ndarray, count: np.ndarray) -> np.ndarray:
    return np.maximum(squares / np.maximum(count, 1) - mean * mean, 0)


def _largest(values: np.ndarray, n: int) -> np.ndarray:
    """Return the positions of the n largest values in order; of equal values the first."""
    few = np.argpartition(-values, min(n, len(values) - 1))[:n] if len(values) > n else np.arange(len(values))
    return few[np.lexsort((few, -values[few]))]


def _to_dense(values: Any) -> np.ndarray:
    return values.toarray() if sp.issparse(values) else np.asarray(values)


def typical(labels: Any, typicality: Any, n: int = 5) -> list[np.ndarray]:
    """Return for each cluster the positions of the n most typical entities, the most typical first.

    Parameters
    ----------
    labels : array-like of int, shape (n_entities,)
        Cluster of each entity; -1 for none.
    typicality : array-like of float, shape (n_entities,)
        Numbers that are higher for typical entities, such as `Assessment.confidence` or `consilience.explain.clarity`.
    n : int, default=5
        Number of entities per cluster; a smaller cluster gives all that it has.

    Examples
    --------
    >>> import consilience as cs
    >>> rows = cs.explain.typical([0, 0, 1, 1, 1], [0.5, 0.9, 0.7, 0.6, 0.8], n=2)
    >>> [cluster.tolist() for cluster in rows]
    [[1, 0], [4, 2]]
    """
    labels = np.asarray(labels)
    order = np.lexsort((np.arange(len(labels)), -np.asarray(typicality), labels))
    starts = np.searchsorted(labels[order], np.arange(int(labels.max(initial=-1)) + 2))
    return [order[start:end][:n] for start, end in pairwise(starts.tolist())]
