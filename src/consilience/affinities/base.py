"""What spectral methods ask of an affinity: how alike two entities are, as a matrix that nobody holds all of."""

from __future__ import annotations

from typing import Protocol

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


class Operator(Cross, Protocol):
    """Similarities of entities to each other: symmetric, none negative. All that spectral methods ask for."""

    @property
    def exact(self) -> bool:
        """Whether the entries are the affinity's own, not an approximation."""

    def columns(self, entities: np.ndarray) -> np.ndarray:
        """A few columns: (entities, chosen)."""


class ViewOperator(Operator, Protocol):
    """What an affinity makes of a view's rows."""

    def norm(self) -> float:
        """Frobenius norm: root of the sum of all squared entries."""

    def n_parts(self) -> int:
        """How many groups there are that no similarity connects, as far as it can be told from what is stored."""

    def against(self, X: Array) -> Cross:
        """Similarities of other rows of the view to these."""


class Affinity(Protocol):
    """How to compare the rows of a view; frozen data, no state."""

    def settle(self, X: Array) -> Affinity:
        """The same with what it leaves open (a metric, a number of neighbours) decided by a look at these rows."""

    def comparable(self, X: Array) -> Array:
        """Which rows can be compared at all; the others count as missing."""

    def over(self, X: Array, rng: np.random.Generator) -> ViewOperator:
        """The similarities of these rows to each other; an approximation may draw rows at random."""

    def nbytes(self, X: Array) -> int:
        """Memory that ``over(X)`` will hold on to."""


class NoAffinityError(ValueError):
    """These rows cannot be compared in this way; the message says why and what to do, the caller names the view."""


def degrees(operator: Cross) -> np.ndarray:
    """Sum of each row, in float64."""
    return (operator @ np.ones((operator.shape[1], 1)))[:, 0].astype(np.float64)


def chosen_columns(operator: Cross, entities: np.ndarray) -> np.ndarray:
    """A few columns of a matrix that multiplies."""
    chosen = np.zeros((operator.shape[1], len(entities)))
    chosen[entities, np.arange(len(entities))] = 1
    return operator @ chosen
