"""What spectral methods ask of an affinity: how alike two entities are, as a matrix that nobody holds all of."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, Protocol

import numpy as np
from array_api_compat import is_torch_array

from ..arrays import Array, is_on_host, namespace, to_numpy


class CrossOperator(Protocol):
    """Similarities of some entities (rows) to others (columns): a matrix that multiplies.

    Thin matrices come out as arrays of the library, and on the device, of the rows that are compared, be they numpy
    arrays or such arrays when they go in.
    """

    @property
    def shape(self) -> tuple[int, int]:
        """(rows, columns)."""

    @property
    def dtype(self) -> np.dtype:
        """The type that products come in."""

    def __matmul__(self, U: Array) -> Array:
        """The matrix times a thin one."""

    def columns(self, entities: np.ndarray) -> Array:
        """A few columns: (rows, chosen)."""


class Operator(CrossOperator, Protocol):
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

    def compare_with(self, X: Array) -> CrossOperator:
        """Similarities of other rows of the view to these."""


class Affinity(Protocol):
    """How to compare the rows of a view; frozen data, no state."""

    columns_are_entities: ClassVar[bool]  # whether the view is a matrix of similarities already

    def resolve(self, X: Array) -> Affinity:
        """The same with what it leaves open (a metric, a number of neighbours) decided by a look at these rows."""

    def comparable_rows(self, X: Array) -> Array:
        """Which rows can be compared at all; the others count as missing."""

    def build_operator(self, X: Array, rng: np.random.Generator) -> ViewOperator:
        """The similarities of these rows to each other; an approximation may draw rows at random."""

    def nbytes(self, X: Array) -> int:
        """Memory that ``over(X)`` will hold on to."""


class NoAffinityError(ValueError):
    """Rows cannot be compared in this way; the message says why and what to do, the caller names the view."""


def check_positive(name: str, value: Any, *, whole: bool = False) -> None:
    """Refuse a setting that is no number above zero, or no whole number from 1 on."""
    kind = Integral if whole else Real
    if not isinstance(value, kind) or isinstance(value, bool) or not 0 < float(value) < np.inf:
        wanted = "a whole number from 1 on" if whole else "a number above 0"
        raise NoAffinityError(f"{name}={value!r} must be {wanted}")


def cast_to(array: Array, dtype: np.dtype) -> Array:
    """An array in the type of its own library that numpy calls so."""
    xp = namespace(array)
    return xp.astype(array, getattr(xp, dtype.name), copy=False)


def nth_smallest(tile: Array, n: int) -> Array:
    """The number of each row that n - 1 others come before."""
    if is_on_host(tile):
        return np.partition(tile, n - 1, axis=1)[:, n - 1]
    if is_torch_array(tile):
        return tile.topk(n, dim=1, largest=False).values[:, -1]  # a fraction of the time of a sort
    return namespace(tile).sort(tile, axis=1)[:, n - 1]


def compute_degrees(operator: CrossOperator) -> Array:
    """Sum of each row, in float64."""
    return cast_to((operator @ np.ones((operator.shape[1], 1)))[:, 0], np.dtype(np.float64))


def single_component(operator: CrossOperator) -> np.ndarray:
    """No parts that are easily seen."""
    return np.zeros(operator.shape[0], np.int64)


def extract_columns(operator: CrossOperator, entities: np.ndarray) -> Array:
    """A few columns of a matrix that multiplies."""
    chosen = np.zeros((operator.shape[1], len(entities)))
    chosen[entities, np.arange(len(entities))] = 1
    return operator @ chosen


@dataclass(frozen=True, eq=False)
class HostOperator:
    """Similarities whose products come as numpy arrays, wherever the rows that are compared lie."""

    own: Any

    @property
    def shape(self) -> tuple[int, int]:
        return self.own.shape

    @property
    def dtype(self) -> np.dtype:
        return self.own.dtype

    @property
    def exact(self) -> bool:
        return self.own.exact

    def __matmul__(self, U: np.ndarray) -> np.ndarray:
        return to_numpy(self.own @ U)

    def columns(self, entities: np.ndarray) -> np.ndarray:
        return to_numpy(self.own.columns(entities))

    def norm(self) -> float:
        return self.own.norm()

    def parts(self) -> np.ndarray:
        return self.own.parts()

    def compare_with(self, X: Array) -> HostOperator:
        return HostOperator(self.own.compare_with(X))
