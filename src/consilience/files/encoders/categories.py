"""Categories: a column for each that there is."""

from __future__ import annotations

import numpy as np

from ..._saving import save_as
from ..amounts import convert_amounts
from ..formats import is_number
from .numbers import NumbersEncoder
from .presence import find_measured_rows

MOST_LEVELS = 1000  # of a column


@save_as("encoder-categories")
class CategoriesEncoder:
    """One column a category of each column; numbers among them are standardised."""

    kind = "categories"
    present = staticmethod(find_measured_rows)

    def fit(self, columns: dict[str, np.ndarray]) -> CategoriesEncoder:
        """Learn which categories there are."""
        self.levels = {
            name: np.array(sorted({one for one in own if one is not None}), dtype=object)
            for name, own in columns.items()
            if own.dtype == object
        }
        wide = next((name for name, levels in self.levels.items() if len(levels) > MOST_LEVELS), None)
        if wide is not None:
            n = len(self.levels[wide])
            raise ValueError(f"column {wide!r} has {n:,} different values, which are no categories: try --kind names")
        self.numeric = [name for name, own in columns.items() if own.dtype != object]
        self.numbers = NumbersEncoder().fit((self._table(columns), None)) if self.numeric else None
        parts = [f"{name}={level}" for name, levels in self.levels.items() for level in levels]
        self.features = np.array([*parts, *self.numeric], dtype=object)
        return self

    def transform(self, columns: dict[str, np.ndarray]) -> np.ndarray:
        """A row an entity; a category not seen in `fit` is none of the known, and an empty row is missing."""
        lacking = next((name for name in (*self.levels, *self.numeric) if name not in columns), None)
        if lacking is not None:
            raise ValueError(f"there is no column {lacking!r}, which the model was fitted on")
        blocks = [
            (columns[name].astype(object)[:, None] == levels[None, :]).astype(float)
            for name, levels in self.levels.items()
        ]
        known = np.hstack([np.zeros((self._n(columns), 0)), *blocks])
        lost = ~known.any(axis=1)
        if self.numbers is not None:
            measured = self.numbers.transform((self._table(columns), None))
            lost &= np.isnan(measured).all(axis=1)
            known = np.hstack([known, np.nan_to_num(measured)])
        known[lost] = np.nan
        return known

    def _table(self, columns: dict[str, np.ndarray]) -> np.ndarray:
        return np.stack([_as_numbers(name, columns[name]) for name in self.numeric], axis=1)

    def _n(self, columns: dict[str, np.ndarray]) -> int:
        return len(next(iter(columns.values())))


def _as_numbers(name: str, column: np.ndarray) -> np.ndarray:
    """Numbers, also where they came as texts, as they do if the view is said to be one of categories."""
    if column.dtype != object:
        return column.astype(np.float64)
    if (converted := convert_amounts(name, column)) is not None:
        return converted[0]
    truth = {"true": "1", "false": "0"}
    cells = [truth.get(cell.lower(), cell) if isinstance(cell, str) else "nan" for cell in column]
    return np.array([cell if is_number(cell) else "nan" for cell in cells], dtype=np.float64)
