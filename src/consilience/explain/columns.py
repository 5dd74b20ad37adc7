"""Columns of the user's data in their units."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from .._saving import save_as

ColumnKind = Literal["number", "date", "category", "text"]


@save_as("original-column")
@dataclass(frozen=True, eq=False)
class OriginalColumn:
    """A column of the user's data in its units, with a cell per entity.

    Attributes
    ----------
    name : str
        Name of the column.
    values : ndarray of shape (n_entities,)
        Numbers, NaN for empty cells; dates as days since 1970-01-01, NaN for empty cells; of categories and texts
        strings, None for empty cells.
    kind : {'number', 'date', 'category', 'text'}
        What the cells are.
    unit : str
        Unit of numbers, such as '$' or '%'.
    is_description : bool
        Whether the column describes the clusters only, and was not used to find them.
    event : ndarray of bool, shape (n_entities,), optional
        Of times until an event: whether the event has happened at the time. Otherwise the time is censored: the event
        had not happened when the entity was last observed.

    Examples
    --------
    >>> import numpy as np
    >>> import consilience as cs
    >>> price = cs.explain.OriginalColumn("price", np.array([12.5, np.nan, 3.0]), "number", unit="$")
    >>> price.select([0, 2]).values.tolist()
    [12.5, 3.0]
    """

    name: str
    values: np.ndarray
    kind: ColumnKind
    unit: str = ""
    is_description: bool = False
    event: np.ndarray | None = None

    def select(self, rows: np.ndarray) -> OriginalColumn:
        """Return the column of some entities, by position or as a mask.

        Parameters
        ----------
        rows : array-like of int or bool
            Positions of the entities, or a mask with an entry per entity.
        """
        return replace(self, values=self.values[rows], event=None if self.event is None else self.event[rows])
