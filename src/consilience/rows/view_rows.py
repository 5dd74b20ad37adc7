"""The rows of one view, with what an algorithm needs to know about each row."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ..arrays import Array, asarray_like, namespace, take_rows
from .source import Source


@dataclass(frozen=True, eq=False)
class ViewRows:
    """Rows of one view, prepared for a divergence or a family."""

    X: Array
    present: Array  # (n,) which rows count
    row_term: Array = None  # (n,) the part of a divergence or log-density that depends on the row alone
    origin: Array = None  # (n_columns,) the point that divergences are measured from; None: zero

    @cached_property
    def complete(self) -> bool:
        """Whether all rows count."""
        return bool(namespace(self.present).all(self.present))

    def slice_rows(self, start: int, stop: int) -> ViewRows:
        """Return neighboring rows, without reading or copying them."""
        X = self.X.slice_rows(start, stop) if isinstance(self.X, Source) else self.X[start:stop, ...]
        row_term = None if self.row_term is None else self.row_term[start:stop]
        return replace(self, X=X, present=self.present[start:stop], row_term=row_term)

    def take(self, rows: np.ndarray) -> ViewRows:
        """Return a few rows by position, in memory."""
        positions = asarray_like(rows, self.present)
        present, row_term = (
            None if values is None else namespace(values).take(values, positions)
            for values in (self.present, self.row_term)
        )
        return replace(self, X=take_rows(self.X, asarray_like(rows, self.X)), present=present, row_term=row_term)
