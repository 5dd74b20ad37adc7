"""Encode columns of texts, names, categories and numbers as views, with scikit-learn's encoders.

They are imported when they are used, because they would delay the import of `Views`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from .frames import list_cells, open_frame
from .inputs import ViewInput

Cells = dict[str, list[Any]]  # of the columns of a view, None where they are empty

MIN_TEXTS = 20  # number of texts from which terms must be in two of them and in at most half


def split_frame(data: Any) -> dict[Any, Any]:
    """Return the columns of a frame, or of a dict of lists, by label."""
    match data:
        case Mapping():
            columns = dict(data)
        case _:
            frame = open_frame("data", data)
            if frame is None:
                raise TypeError(f"from_frame takes a frame or a dict of lists, got {type(data).__name__}")
            columns = {column.name: column for column in frame.iter_columns()}
    lengths = {label: len(column) for label, column in columns.items()}
    if len(set(lengths.values())) != 1 or 0 in lengths.values():
        raise ValueError(f"from_frame takes columns of one length and at least one row, got the lengths {lengths}")
    return columns


def list_groups(kind: str, groups: Any) -> dict[str, list[Any]]:
    """List the columns of each view of a kind; without names for them they make one view, called as the kind."""
    match groups:
        case None:
            return {}
        case Mapping():
            named = dict(groups)
        case _:
            named = {kind: groups}
    return {str(name): [group] if type(group) in (str, int) else list(group) for name, group in named.items()}


def encode_group(kind: str, view: str, labels: list[Any], columns: Mapping[Any, Any]) -> ViewInput:
    """Encode some columns as one view; rows of entities that lack it are NaN, or empty if the view is sparse."""
    unknown = next((label for label in labels if label not in columns), None)
    if unknown is not None or not labels:
        problem = (
            "selects no column" if unknown is None else f"selects column {unknown!r}, which the data does not have"
        )
        raise ValueError(f"view {view!r} {problem}; the columns are {', '.join(map(repr, columns))}")
    values, features = ENCODERS_BY_KIND[kind](view, {str(label): list_cells(columns[label]) for label in labels})
    return ViewInput(values, columns=np.asarray(features, dtype=object))


def _encode_texts(view: str, columns: Cells, **options: Any) -> tuple[Any, Any]:
    """Weight terms by tf-idf; the columns of an entity are one text."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    texts = [" ".join(str(cell) for cell in row if cell is not None) for row in zip(*columns.values(), strict=True)]
    present = [text for text in texts if text.strip()]
    if len(present) >= MIN_TEXTS:
        options |= {"min_df": 2, "max_df": 0.5}
    encoder = TfidfVectorizer(sublinear_tf=True, **options)
    try:
        encoder.fit(present)
    except ValueError as error:
        raise ValueError(
            f"view {view!r}: no word is in two texts, or all are in more than half of them: is this text?"
        ) from error
    return encoder.transform(texts), encoder.get_feature_names_out()


def _encode_categories(view: str, columns: Cells) -> tuple[Any, Any]:
    """Encode each category of each column as a column of 0 and 1."""
    from sklearn.feature_extraction import DictVectorizer

    rows = [
        {label: str(cell) for label, cell in zip(columns, row, strict=True) if cell is not None}
        for row in zip(*columns.values(), strict=True)
    ]
    if not any(rows):
        raise ValueError(f"view {view!r}: every cell is empty")
    encoder = DictVectorizer(sparse=False)
    values = encoder.fit_transform(rows)
    values[[not row for row in rows]] = np.nan
    return values, encoder.get_feature_names_out()


def _encode_numbers(view: str, columns: Cells) -> tuple[Any, Any]:
    """Standardize columns; empty cells in rows that have others get the column's median."""
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    numbers = []
    for label, cells in columns.items():
        try:
            numbers.append([np.nan if cell is None else float(cell) for cell in cells])
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"view {view!r}: column {label!r} holds something that is not a number: {error}"
            ) from error
    X = np.array(numbers).T
    present = ~np.isnan(X).all(axis=1)
    if not present.any() or np.isinf(X).any():
        problem = "has infinite numbers" if present.any() else "every cell is empty"
        raise ValueError(f"view {view!r}: {problem}")
    encoder = make_pipeline(SimpleImputer(strategy="median", keep_empty_features=True), StandardScaler())
    X[present] = encoder.fit_transform(X[present])
    return X, list(columns)


ENCODERS_BY_KIND: dict[str, Callable[[str, Cells], tuple[Any, Any]]] = {
    "text": _encode_texts,
    "names": partial(_encode_texts, analyzer="char_wb", ngram_range=(3, 3)),
    "categories": _encode_categories,
    "numbers": _encode_numbers,
}
