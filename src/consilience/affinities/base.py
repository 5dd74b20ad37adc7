"""What spectral methods ask of an affinity: how alike two entities are, as a matrix that nobody holds all of."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, Protocol

import numpy as np

from .._backend import Array


class Cross(Protocol):
    """Similarities of some entities (rows) to others (columns): a matrix that multiplies.

    Thin matrices go in and come out as numpy arrays; what is inside may live elsewhere.
    """

    @property
    def shape(self) -> tuple[int, int]:
        """(rows, columns)."""

    @property
    def dtype(self) -> np.dtype:
        """The type that products come in."""

    def __matmul__(self, U: np.ndarray) -> np.ndarray:
        """The matrix times a thin one."""

    def columns(self, entities: np.ndarray) -> np.ndarray:
        """A few columns: (rows, chosen)."""


class Operator(Cross, Protocol):
    """Similarities of entities to each other: symmetric, none negative. All that spectral methods ask for."""

    @property
    def exact(self) -> bool:
        """Whether the entries are the affinity's own, not an approximation."""

    def parts(self) -> np.ndarray:
        """(n,) a number for each group of entities that no similarity connects, where that is easily seen: a hint."""


class ViewOperator(Operator, Protocol):
    """What an affinity makes of a view's rows."""

    def norm(self) -> float:
        """Frobenius norm: root of the sum of all squared entries."""

    def against(self, X: Array) -> Cross:
        """Similarities of other rows of the view to these."""


class Affinity(Protocol):
    """How to compare the rows of a view; frozen data, no state."""

    columns_are_entities: ClassVar[bool]  # whether the view is a matrix of similarities already

    def settle(self, X: Array) -> Affinity:
        """The same with what it leaves open (a metric, a number of neighbours) decided by a look at these rows."""

    def comparable(self, X: Array) -> Array:
        """Which rows can be compared at all; the others count as missing."""

    def over(self, X: Array, rng: np.random.Generator) -> ViewOperator:
        """The similarities of these rows to each other; an approximation may draw rows at random."""

    def nbytes(self, X: Array) -> int:
        """Memory that ``over(X)`` will hold on to."""


class NoAffinityError(ValueError):
    """Rows cannot be compared in this way; the message says why and what to do, the caller names the view."""


def check_setting(name: str, value: Any, *, whole: bool = False) -> None:
    """Refuse a setting that is no number above zero, or no whole number from 1 on."""
    kind = Integral if whole else Real
    if not isinstance(value, kind) or isinstance(value, bool) or not 0 < float(value) < np.inf:
        wanted = "a whole number from 1 on" if whole else "a number above 0"
        raise NoAffinityError(f"{name}={value!r} must be {wanted}")


def degrees(operator: Cross) -> np.ndarray:
    """Sum of each row, in float64."""
    return (operator @ np.ones((operator.shape[1], 1)))[:, 0].astype(np.float64)


def one_part(operator: Cross) -> np.ndarray:
    """No parts that are easily seen."""
    return np.zeros(operator.shape[0], np.int64)


def chosen_columns(operator: Cross, entities: np.ndarray) -> np.ndarray:
    """A few columns of a matrix that multiplies."""
    chosen = np.zeros((operator.shape[1], len(entities)))
    chosen[entities, np.arange(len(entities))] = 1
    return operator @ chosen
