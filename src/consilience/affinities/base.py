"""The interface of affinities: how similar two entities are, as a matrix that is only ever multiplied."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Protocol

import numpy as np
from array_api_compat import is_torch_array

from .._numbers import is_integer, is_real, is_truth_value
from ..arrays import Array, is_on_host, namespace, squared_norms, to_numpy


class CrossOperator(Protocol):
    """Similarities of some entities (rows) to others (columns), as a matrix that can be multiplied.

    Products come as arrays of the library, and on the device, of the compared rows; factors may be NumPy arrays.

    Examples
    --------
    >>> import numpy as np
    >>> import consilience as cs
    >>> X = np.array([[3.0, 0.0], [1.0, 0.0], [0.0, 2.0]])
    >>> operator = cs.affinities.Linear().build_operator(X, np.random.default_rng(0))
    >>> similarities = operator.compare_with(np.array([[1.0, 1.0]]))
    >>> similarities.shape, (similarities @ np.eye(3)).tolist()
    ((1, 3), [[3.0, 1.0, 2.0]])
    """

    @property
    def shape(self) -> tuple[int, int]:
        """(rows, columns)."""

    @property
    def dtype(self) -> np.dtype:
        """NumPy's name for the type of the products."""

    def __matmul__(self, U: Array) -> Array:
        """Multiply the matrix by a thin one."""

    def columns(self, entities: np.ndarray) -> Array:
        """Return a few columns, (rows, chosen).

        Parameters
        ----------
        entities : ndarray of int
            Positions of the chosen columns.
        """


class Operator(CrossOperator, Protocol):
    """Similarities of entities to each other: symmetric and nonnegative.

    If the connected components of the similarity graph are easily found, an operator has a method ``components``,
    which labels them.

    Examples
    --------
    >>> import numpy as np
    >>> import consilience as cs
    >>> X = np.array([[3.0, 0.0], [1.0, 0.0], [0.0, 2.0]])
    >>> operator = cs.affinities.Linear().build_operator(X, np.random.default_rng(0))
    >>> operator.exact, operator.columns(np.array([0])).tolist()
    (True, [[9.0], [3.0], [0.0]])
    """

    @property
    def exact(self) -> bool:
        """Whether the entries are those of the affinity, not an approximation."""


class ViewOperator(Operator, Protocol):
    """What an affinity makes of the rows of a view.

    Examples
    --------
    >>> import numpy as np
    >>> import consilience as cs
    >>> X = np.array([[3.0, 0.0], [0.0, 2.0]])
    >>> operator = cs.affinities.Linear().build_operator(X, np.random.default_rng(0))
    >>> round(operator.norm() ** 2, 6)
    97.0
    >>> operator.compare_with(np.array([[1.0, 1.0]])).shape
    (1, 2)
    """

    def norm(self) -> float:
        """Return the Frobenius norm."""

    def compare_with(self, X: Array) -> CrossOperator:
        """Return the similarities of other rows of the view to these.

        Parameters
        ----------
        X : array of shape (n_new_rows, n_columns)
            Rows of the view that are new.
        """


class Affinity(ABC):
    """How to compare the rows of a view: immutable, and without the state of a fit.

    Examples
    --------
    >>> import numpy as np
    >>> import consilience as cs
    >>> affinity = cs.affinities.Gaussian(bandwidth=2.0)
    >>> isinstance(affinity, cs.affinities.Affinity), affinity.accepts_sparse, affinity.options
    (True, True, ('bandwidth',))
    >>> affinity.build_operator(np.arange(6.0).reshape(3, 2), np.random.default_rng(0)).shape
    (3, 3)
    """

    columns_are_entities: ClassVar[bool] = False  #: whether the view is a matrix of similarities already
    accepts_sparse: ClassVar[bool] = False  #: whether `build_operator` takes sparse rows
    options: ClassVar[tuple[str, ...]] = ()  #: parameters of estimators that it uses, such as ``bandwidth``

    @classmethod
    def from_options(cls, **options: Any) -> Affinity:
        """Create the affinity from the parameters of an estimator that `options` declares.

        Parameters
        ----------
        **options : Any
            The parameters that were given, by name.
        """
        return cls(**options)

    def out_of_core(self, n_rows: int) -> bool:  # noqa: ARG002
        """Whether rows that are stored on disk may stay there.

        Parameters
        ----------
        n_rows : int
            Number of rows of the view.
        """
        return False

    def resolve(self, X: Array) -> Affinity:  # noqa: ARG002
        """Return the affinity with everything left open (a metric, a number of neighbors) decided by these rows.

        Parameters
        ----------
        X : array of shape (n_rows, n_columns)
            Rows of the view.
        """
        return self

    def resolve_for_clusters(self, X: Array, n_clusters: int | None) -> Affinity:  # noqa: ARG002
        """Return the affinity decided by these rows and the number of their clusters, None if it is not known.

        Most affinities do not depend on the number of clusters.

        Parameters
        ----------
        X : array of shape (n_rows, n_columns)
            Rows of the view.
        n_clusters : int or None
            Number of clusters.
        """
        return self.resolve(X)

    def comparable_rows(self, X: Array) -> Array:
        """Return a mask of the rows that can be compared; the others count as missing.

        Parameters
        ----------
        X : array of shape (n_rows, n_columns)
            Rows of the view.
        """
        return squared_norms(X) >= 0

    @abstractmethod
    def build_operator(self, X: Array, rng: np.random.Generator) -> ViewOperator:
        """Compare these rows with each other; an approximation may draw rows at random.

        Parameters
        ----------
        X : array of shape (n_rows, n_columns)
            Rows of the view.
        rng : Generator
            Source of the random numbers.
        """

    @abstractmethod
    def nbytes(self, X: Array) -> int:
        """Return the memory that ``build_operator(X)`` takes, in bytes.

        Parameters
        ----------
        X : array of shape (n_rows, n_columns)
            Rows of the view.
        """


class NoAffinityError(ValueError):
    """Rows cannot be compared in this way; the message says why and what to do, the caller adds the view.

    Examples
    --------
    >>> import consilience as cs
    >>> try:
    ...     cs.affinities.Gaussian(bandwidth=-1.0)
    ... except cs.affinities.NoAffinityError as error:
    ...     print(error)
    bandwidth=-1.0 must be a number above 0
    """


def check_positive(name: str, value: Any, *, whole: bool = False) -> None:
    """Refuse a setting that is not a positive number, or not a positive whole number."""
    if not (is_integer(value) if whole else is_real(value)) or is_truth_value(value) or not 0 < float(value) < np.inf:
        expected = "a whole number, 1 or more" if whole else "a number above 0"
        raise NoAffinityError(f"{name}={value!r} must be {expected}")


def cast_to(array: Array, dtype: np.dtype) -> Array:
    """Cast to the array library's dtype of the same name."""
    xp = namespace(array)
    return xp.astype(array, getattr(xp, dtype.name), copy=False)


def nth_smallest(tile: Array, n: int) -> Array:
    """Return the n-th smallest number of each row, counted from 1."""
    if is_on_host(tile):
        return np.partition(tile, n - 1, axis=1)[:, n - 1]
    if is_torch_array(tile):
        return tile.topk(n, dim=1, largest=False).values[:, -1]  # a fraction of the time of a sort
    return namespace(tile).sort(tile, axis=1)[:, n - 1]


def compute_degrees(operator: CrossOperator) -> Array:
    """Sum each row, in float64."""
    return cast_to((operator @ np.ones((operator.shape[1], 1)))[:, 0], np.dtype(np.float64))


def find_components(operator: Operator) -> np.ndarray:
    """Label the connected components if the operator knows them; otherwise put all entities into one."""
    if hasattr(operator, "components"):
        return operator.components()
    return np.zeros(operator.shape[0], np.int64)


class HostOperator:
    """Similarities of rows on a device whose products come as NumPy arrays."""

    def __init__(self, operator: Any) -> None:
        self.operator, self.shape, self.dtype = operator, operator.shape, operator.dtype
        self.exact = getattr(operator, "exact", True)

    def __matmul__(self, U: np.ndarray) -> np.ndarray:
        return to_numpy(self.operator @ U)

    def columns(self, entities: np.ndarray) -> np.ndarray:
        return to_numpy(self.operator.columns(entities))

    def norm(self) -> float:
        return self.operator.norm()

    def components(self) -> np.ndarray:
        return find_components(self.operator)

    def compare_with(self, X: Array) -> HostOperator:
        return HostOperator(self.operator.compare_with(X))
