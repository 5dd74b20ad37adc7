"""Categories: one column per category."""

from __future__ import annotations

import numpy as np

from ..._saving import save_as
from ..amounts import convert_amounts
from ..formats import is_number
from .base import check_columns, find_measured_rows
from .numbers import NumbersEncoder

MAX_LEVELS = 1000  # different values of a column


@save_as("encoder-categories")
class CategoriesEncoder:
    """Encode each category of each column as one column of 0 and 1; numbers beside them are standardized."""

    kind = "categories"
    present = staticmethod(find_measured_rows)

    def fit(self, columns: dict[str, np.ndarray]) -> CategoriesEncoder:
        """Learn the categories of each column."""
        self.levels = {
            name: np.array(sorted({cell for cell in cells if cell is not None}), dtype=object)
            for name, cells in columns.items()
            if cells.dtype == object
        }
        for name, levels in self.levels.items():
            if len(levels) > MAX_LEVELS:
                raise ValueError(
                    f"column {name!r} has {len(levels):,} different values, too many for categories: try --kind names"
                )
        self.numeric = [name for name, cells in columns.items() if cells.dtype != object]
        self.numbers = NumbersEncoder().fit((self._stack_numbers(columns), None)) if self.numeric else None
        indicators = [f"{name}={level}" for name, levels in self.levels.items() for level in levels]
        self.features = np.array([*indicators, *self.numeric], dtype=object)
        return self

    def transform(self, columns: dict[str, np.ndarray]) -> np.ndarray:
        """Encode one row per entity; categories not seen in `fit` are 0 everywhere, and empty rows are NaN."""
        check_columns([*self.levels, *self.numeric], columns)
        n_rows = len(next(iter(columns.values())))
        indicators = [
            (columns[name].astype(object)[:, None] == levels[None, :]).astype(float)
            for name, levels in self.levels.items()
        ]
        encoded = np.hstack([np.zeros((n_rows, 0)), *indicators])
        is_empty = ~encoded.any(axis=1)
        if self.numbers is not None:
            standardized = self.numbers.transform((self._stack_numbers(columns), None))
            is_empty &= np.isnan(standardized).all(axis=1)
            encoded = np.hstack([encoded, np.nan_to_num(standardized)])
        encoded[is_empty] = np.nan
        return encoded

    def _stack_numbers(self, columns: dict[str, np.ndarray]) -> np.ndarray:
        return np.stack([_to_numbers(name, columns[name]) for name in self.numeric], axis=1)


def _to_numbers(name: str, column: np.ndarray) -> np.ndarray:
    """Convert a column to numbers; it is read as text if the user says that the view holds categories."""
    if column.dtype != object:
        return column.astype(np.float64)
    if (converted := convert_amounts(name, column)) is not None:
        return converted[0]
    truth = {"true": "1", "false": "0"}
    cells = [truth.get(cell.lower(), cell) if isinstance(cell, str) else "nan" for cell in column]
    return np.array([cell if is_number(cell) else "nan" for cell in cells], dtype=np.float64)
