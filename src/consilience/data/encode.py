"""Encode columns of texts, names, categories and numbers as views, with scikit-learn."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
from sklearn.feature_extraction import DictVectorizer
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import StandardScaler

from .frames import is_default_index, list_cells, open_frame
from .inputs import ViewInput, check_row_ids, find_all_nan_rows

MIN_TEXTS = 20  # number of texts from which terms must be in two of them and in at most half
ANALYZERS: dict[str, dict[str, Any]] = {
    "text": {"analyzer": "word"},
    "names": {"analyzer": "char_wb", "ngram_range": (3, 3)},
}


class FrameColumns:
    """Columns of a frame, or of a mapping of lists, as lists of cells with None where they are empty."""

    def __init__(self, data: Any) -> None:
        columns = data if hasattr(data, "keys") and not hasattr(data, "iloc") else open_frame("data", data)
        if columns is None or not hasattr(columns, "__getitem__") or not hasattr(data, "__len__"):
            raise TypeError(f"from_frame wants a frame or a dict of lists, got {type(data).__name__}")
        self.labels = {str(label): label for label in (columns if columns is data else columns.columns)}
        self._columns = columns

    def read(self, view: str, label: str) -> list[Any]:
        """Return the cells of a column; refuse an unknown one."""
        if label not in self.labels:
            raise ValueError(
                f"view {view!r} names the column {label!r}; the columns are {', '.join(map(repr, self.labels))}"
            )
        return list_cells(self._columns[self.labels[label]])
