"""The user's columns in their units, with a cell for each entity that has data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.feature_extraction import DictVectorizer

from .._tuning import Tuning
from ..data.frames import find_free_name
from ..explain import OriginalColumn, profile
from ..files import ViewContent
from ..files.splitting import find_blocks
from .descriptions import interpret_cells, take_cells
from .loading import LoadedData

tuning = Tuning(
    max_features=200,  # columns of a matrix
    min_features=20,
)
MAX_CELLS = 10_000_000  # of the columns of a matrix
N_MARKS = 8  # features per cluster from which those of a wide matrix are chosen


def collect_columns(data: LoadedData, labels: np.ndarray) -> list[OriginalColumn]:
    """Return the columns that were clustered, and those that describe the clusters.

    Of matrices with many named columns, such as genes, those are taken in which clusters differ most. Numbered columns,
    such as the dimensions of an embedding, links, similarities and pictures are left out.
    """
    columns: dict[str, OriginalColumn] = {}
    for content in data.reading.contents:
        for column in _list_content(content, data, labels):
            name = column.name if column.name not in columns else f"{column.name} ({content.name})"
            name = find_free_name(name, columns)
            columns[name] = replace(column, name=name)
    for column in data.descriptions:
        name = find_free_name(column.name, columns)
        columns[name] = replace(column, name=name)
    return list(columns.values())


def _list_content(content: ViewContent, data: LoadedData, labels: np.ndarray) -> Iterator[OriginalColumn]:
    """Yield the columns of a content."""
    entities, kept = data.prepared.entities, data.prepared.kept
    rows = entities.rows[content.name][kept]
    match content.kind:
        case "text" | "names":
            yield OriginalColumn(content.name, take_cells(content.data, rows), "text")
        case "categories":
            for name, values in content.data.items():
                yield interpret_cells(name, take_cells(values, rows), content.readings.get(name), is_category=True)
        case "numbers" | "counts" | "expression" | "proteins":
            matrix, features = _get_matrix(content)
            if features is None:
                return
            names = [str(feature) for feature in features]
            for i in _choose_features(content, names, matrix, data, labels):
                cells = matrix[:, [i]]
                numbers = np.asarray(cells.toarray() if sp.issparse(cells) else cells, dtype=np.float64).ravel()
                yield interpret_cells(names[i], take_cells(numbers, rows), content.readings.get(names[i]))


def _get_matrix(content: ViewContent) -> tuple[Any, Sequence[str] | None]:
    """Return the matrix of a content and the names of its columns; of bags the counts of their terms."""
    if type(content.data) is tuple:
        matrix, features = content.data
        return (sp.csc_array(matrix) if sp.issparse(matrix) else matrix), features
    vectorizer = DictVectorizer()
    counts = vectorizer.fit_transform([bag or {} for bag in content.data])
    return sp.csc_array(counts), vectorizer.get_feature_names_out().tolist()


def _choose_features(
    content: ViewContent, names: Sequence[str], matrix: Any, data: LoadedData, labels: np.ndarray
) -> list[int]:
    """Choose columns of a matrix: all that are not only numbered, or the strongest of very many."""
    n_most = int(np.clip(MAX_CELLS // max(len(labels), 1), tuning.min_features, tuning.max_features))
    numbered = find_blocks(dict.fromkeys(names, np.zeros(1)), ())
    anonymous = {name for block in numbered.values() for name in block}
    readable = [i for i, name in enumerate(names) if name not in anonymous]
    if len(readable) <= n_most and not sp.issparse(matrix):
        return readable
    encodings = data.prepared.encodings
    views = [name for name in data.views.names if encodings[name].content == content.name]
    views = [name for name in views if encodings[name].smoothed is None][:1]
    if not views or not readable:
        return []
    marks = profile(data.views[views], labels, N_MARKS)[views[0]]
    position = {names[i]: i for i in readable}
    ranked = [marks_of[rank] for rank in range(N_MARKS) for marks_of in marks if rank < len(marks_of)]
    chosen = dict.fromkeys(position[mark.feature] for mark in ranked if mark.feature in position)
    return sorted(list(chosen)[:n_most])


def list_times(data: LoadedData) -> dict[str, list[str]]:
    """Return the columns of each view that hold dates or times of day."""
    readings = {content.name: content.readings for content in data.reading.contents}
    return {
        name: [column for column, reading in readings[encoding.content].items() if reading.kind in ("date", "time")]
        for name, encoding in data.prepared.encodings.items()
    }
