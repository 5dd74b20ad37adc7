"""How the cells of a column become numbers: decided once for the whole column, and saved for new rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from .._saving import save_as
from .formats.columns import is_missing

MIN_SHARE = 0.9  # share of cells that can be read, above which the other cells are taken for mistakes


@save_as("column-reading")
@dataclass(frozen=True)
class ColumnReading:
    """How the cells of a column become numbers.

    `form` is the decimal mark of amounts and quantities, the order of day, month and year in dates, or the separator of
    lists. `unit` is the currency of amounts, '%', or the unit of quantities. Cells that cannot be read are empty if
    `lenient`, and an error otherwise. Quantities with `has_plain` have numbers without a unit, as 800 beside 1.2K.
    """

    kind: str  # number, amount, quantity, date, time, truth or list
    form: str = ""
    unit: str = ""
    lenient: bool = False
    has_plain: bool = False


PLAIN_NUMBERS = ColumnReading("number", lenient=True)


class Conversion(NamedTuple):
    """A column as numbers, NaN where a cell is empty or cannot be read; of lists bags of categories, None for empty."""

    numbers: np.ndarray
    example: str  # how a cell was read
    reading: ColumnReading
    unread: Sequence[int] = ()  # rows of cells that cannot be read


class AmbiguousColumnError(ValueError):
    """A column that can be read in several ways, which give different numbers.

    `thousands_reading` is the reading if the table is known to have decimal points, None if that does not decide.
    """

    def __init__(
        self, message: str, readings: Sequence[ColumnReading], thousands_reading: ColumnReading | None = None
    ) -> None:
        super().__init__(message)
        self.readings = readings
        self.thousands_reading = thousands_reading


def list_texts(values: np.ndarray) -> dict[int, str]:
    """List the cells of a text column that are not empty, by row."""
    return {row: cell for row, cell in enumerate(values.tolist()) if cell is not None and not is_missing(cell)}


def check_unread(column: str, what: str, texts: dict[int, str], unread: Sequence[int], lenient: bool) -> None:
    """Refuse cells that cannot be read, unless they may be taken for empty."""
    if unread and not lenient:
        raise ValueError(
            f"column {column!r} holds {what}, but {texts[unread[0]][:40]!r} in row {unread[0] + 1} "
            f"({len(unread)} in all): correct or empty these cells, or declare them as names (--kind)"
        )
