"""The interface of a family: how a cluster generates the rows of one view.

Statistics and parameters are dicts of small float64 arrays. The statistics of two sets of rows add up key by key, so
that the same code serves threads, blocks read from disk and dask workers.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from typing import Any, ClassVar

import numpy as np
from array_api_compat import size

from .._numbers import is_real
from ..arrays import (
    Array,
    as_rows,
    asarray_like,
    is_on_host,
    is_sparse,
    keep_where,
    map_slices,
    namespace,
    stored_values,
    to_numpy,
    true_unless_known_false,
    weighted_sums,
)

FLOAT64 = np.dtype(np.float64)  # to recognize it quickly
Statistics = dict[str, Array]
Params = dict[str, Array]
Density = Callable[[Array], Array]  # rows -> (rows, clusters) log-densities


class Family(ABC):
    """One distribution per cluster. Instances are immutable: what is learned is in the parameters.

    A family of your own needs `statistics`, `maximize`, `log_prob` and `shapes`; everything else has a default.

    Examples
    --------
    >>> import consilience as cs
    >>> family = cs.families.GaussianFull()
    >>> isinstance(family, cs.families.Family), family.name, family.accepts_sparse
    (True, 'gaussian-full', False)
    >>> family.shapes(n_clusters=3, n_columns=2)
    {'means': (3, 2), 'covariances': (3, 2, 2)}
    """

    name: ClassVar[str]  #: what messages call the family; by default the name of the class
    accepts_sparse: ClassVar[bool] = False  #: whether the methods take the sparse rows of ``consilience.arrays.CSR``
    #: name of the divergence that compares rows to choose starts, of `divergences.DIVERGENCES`
    divergence: ClassVar[str] = "squared-euclidean"
    #: the parameter that cluster centers determine, if it is the only one
    centers: ClassVar[str | None] = None

    def __init_subclass__(cls) -> None:
        cls.name = cls.__dict__.get("name", cls.__name__)

    @abstractmethod
    def statistics(self, X: Array, responsibilities: Array) -> Statistics:
        """Sufficient statistics of rows, weighted by their responsibilities (rows, clusters).

        Parameters
        ----------
        X : array of shape (n_rows, n_columns)
            Rows of the view.
        responsibilities : array of shape (n_rows, n_clusters)
            Weight of each row in each cluster, 0 or more.
        """

    @abstractmethod
    def maximize(self, statistics: Statistics) -> Params:
        """Maximum likelihood parameters. A cluster without weight gets those of all rows together.

        Parameters
        ----------
        statistics : dict of str to array
            What `statistics` returns, or the sum of it over several sets of rows.
        """

    @abstractmethod
    def log_prob(self, X: Array, params: Params) -> Array:
        """Log-density of each row under each cluster: (rows, clusters).

        Parameters
        ----------
        X : array of shape (n_rows, n_columns)
            Rows of the view.
        params : dict of str to array
            The parameters of all clusters, as `maximize` returns them.
        """

    @abstractmethod
    def shapes(self, n_clusters: int, n_columns: int) -> dict[str, tuple[int, ...]]:
        """Names and shapes of the parameters that `log_prob` needs.

        Parameters
        ----------
        n_clusters : int
            Number of clusters.
        n_columns : int
            Number of columns of the view.
        """

    def params_complaint(self, params: Params) -> str | None:  # noqa: ARG002
        """What is wrong with parameters of the right shapes that a user gives; None if nothing is.

        Parameters
        ----------
        params : dict of str to array
            The parameters of all clusters.
        """
        return None

    def complaint(self, X: Array) -> str | None:  # noqa: ARG002
        """What is wrong with the rows, to complete the message «family 'x' needs ...»; None if nothing is.

        Parameters
        ----------
        X : array of shape (n_rows, n_columns)
            Rows of the view.
        """
        return None

    def bind(self, X: Array, present: Array) -> Family:  # noqa: ARG002
        """Return the family with what it must know about the data before the first round.

        Parameters
        ----------
        X : array of shape (n_rows, n_columns)
            Rows of the view, or a sample of them.
        present : array of bool, shape (n_rows,)
            Which entities have the view; the other rows do not count.
        """
        return self

    def extremes(self, X: Array) -> Array | None:  # noqa: ARG002
        """Rows that `bind` must see besides a sample of X; None if the sample is enough.

        Parameters
        ----------
        X : array of shape (n_rows, n_columns)
            Rows of the view.
        """
        return None

    def informative_rows(self, X: Array) -> Array | None:  # noqa: ARG002
        """Mask of the rows that carry information; the others count as missing. None means all do.

        Parameters
        ----------
        X : array of shape (n_rows, n_columns)
            Rows of the view.
        """
        return None

    def row_term(self, X: Array) -> Array | None:  # noqa: ARG002
        """The part of the log-density that depends only on the row, which `build_density` omits; None means zero.

        Parameters
        ----------
        X : array of shape (n_rows, n_columns)
            Rows of the view.
        """
        return None

    def build_density(self, X: Array, params: Params) -> Density:  # noqa: ARG002
        """Return a function that computes `log_prob` without `row_term` for rows of the kind of X.

        Parameters
        ----------
        X : array of shape (n_rows, n_columns)
            Rows of the array library, the type and the layout (dense or sparse) that the function will get.
        params : dict of str to array
            The parameters of all clusters.
        """
        return lambda rows: self.log_prob(rows, params)

    def values_per_row(self, X: Array, n_clusters: int) -> int:
        """How many values are in use per row during a round, which sets the size of blocks.

        Parameters
        ----------
        X : array of shape (n_rows, n_columns)
            Rows of the view.
        n_clusters : int
            Number of clusters.
        """
        return X.shape[1] + n_clusters

    def works_in_blocks(self, X: Array, n_clusters: int) -> bool:  # noqa: ARG002
        """Whether `statistics` and the log-densities take any number of rows without large intermediate arrays.

        Parameters
        ----------
        X : array of shape (n_rows, n_columns)
            Rows of the view.
        n_clusters : int
            Number of clusters.
        """
        return False

    def work_per_value(self, X: Array, n_clusters: int) -> int:  # noqa: ARG002
        """Cost per stored value in units of eight multiplications, which sets the number of chunks.

        Parameters
        ----------
        X : array of shape (n_rows, n_columns)
            Rows of the view.
        n_clusters : int
            Number of clusters.
        """
        return max(1, n_clusters // 8)

    def n_parameters(self, params: Params) -> int:
        """Number of free parameters, for information criteria.

        Parameters
        ----------
        params : dict of str to array
            The parameters of all clusters.
        """
        return sum(np.size(to_numpy(value)) for value in params.values())

    def sample(self, params: Params, labels: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Draw one new row per label.

        Parameters
        ----------
        params : dict of str to array
            The parameters of all clusters.
        labels : ndarray of int, shape (n_rows,)
            The cluster of each row to draw.
        rng : Generator
            Source of the random numbers.
        """
        raise NotImplementedError(f"family {self.name!r} has no sample(): define it to draw new rows")


class DensityFamily(Family):
    """A family that prepares its parameters once per round, in `build_density`."""

    @abstractmethod
    def build_density(self, X: Array, params: Params) -> Density:
        """Return a function that computes `log_prob` without `row_term` for rows of the kind of X.

        Parameters
        ----------
        X : array of shape (n_rows, n_columns)
            Rows of the array library, the type and the layout (dense or sparse) that the function will get.
        params : dict of str to array
            The parameters of all clusters.
        """

    def log_prob(self, X: Array, params: Params) -> Array:
        X = as_rows(X)
        values, row_term = self.build_density(X, params)(X), self.row_term(X)
        values = keep_where(is_possible(values), values, -inf)
        return values if row_term is None else values + namespace(row_term).astype(row_term, values.dtype)[:, None]


@dataclass(frozen=True)
class CountingFamily(DensityFamily):
    """A family that learns from smoothed weighted sums of the rows."""

    smoothing: float = 0.01

    accepts_sparse: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_smoothing(self.smoothing)

    def statistics(self, X: Array, responsibilities: Array) -> Statistics:
        return count_and_sum(as_rows(X), responsibilities, responsibilities)

    def complaint(self, X: Array) -> str | None:
        values = stored_values(X)
        smallest = float(namespace(values).min(values)) if size(values) else 0.0
        if smallest < 0:
            return f"needs counts, none of them negative, got {smallest:.6g}. Use family 'gaussian' for real numbers"
        return None

    def values_per_row(self, X: Array, n_clusters: int) -> int:  # noqa: ARG002
        return n_clusters

    def works_in_blocks(self, X: Array, n_clusters: int) -> bool:  # noqa: ARG002
        return is_sparse(X) and is_on_host(X)


def count_and_sum(X: Array, responsibilities: Array, weights: Array) -> Statistics:
    """Total responsibility of each cluster, and its weighted sum of the rows."""
    return {"counts": sum_responsibilities(responsibilities), "sums": weighted_sums(X, weights)}


def sum_responsibilities(responsibilities: Array) -> Array:
    """Total responsibility of each cluster, in float64."""
    xp = namespace(responsibilities)
    return xp.astype(xp.sum(responsibilities, axis=0), xp.float64)


def check_smoothing(smoothing: float) -> None:
    """Refuse a smoothing that is not a finite number of at least 0."""
    if not is_real(smoothing) or not 0 <= smoothing < inf:
        raise ValueError(f"smoothing must be a number, 0 or more, got {smoothing!r}")


def first_where(values: Array, mask: Array) -> float | None:
    """The first value where the mask holds, None if it holds nowhere; the search runs on the device of the values."""
    xp = namespace(values)
    if not bool(xp.any(mask)):
        return None
    first = int(xp.argmax(xp.astype(xp.reshape(mask, (-1,)), xp.int8)))
    return float(xp.reshape(values, (-1,))[first])


def log_zero(dtype: Any) -> float:
    """A finite stand-in for the logarithm of zero, so that a count of 0 times it is 0."""
    return -1e300 if dtype is FLOAT64 or "64" in str(dtype) else -1e30


def is_possible(log_prob: Array) -> Array:
    """Mask of the log-densities that are neither minus infinity, nor a few times `log_zero`, nor overflown."""
    bottom = log_zero(log_prob.dtype)
    return log_prob > -(abs(bottom) ** 0.5)


def safe_log(probabilities: Array, dtype: Any) -> Array:
    """Logarithm, with `log_zero` at zero."""
    xp = namespace(probabilities)

    def log_slice(values: Array) -> Array:
        positive = values > 0
        if not true_unless_known_false(~xp.all(positive)):
            return xp.log(values)
        logs = xp.log(xp.where(positive, values, xp.ones_like(values)))
        return xp.where(positive, logs, xp.full_like(logs, log_zero(dtype)))

    return map_slices(log_slice, probabilities)


def convert_params(params: Params, X: Array) -> Params:
    """Parameters as float64 arrays of the library and on the device of X."""
    xp = namespace(X)
    return {name: xp.astype(asarray_like(value, X), xp.float64, copy=False) for name, value in params.items()}


def pool_empty_clusters(values: Array, counts: Array) -> tuple[Array, Array]:
    """Sums and counts per cluster, with those of all clusters together where a cluster has no weight."""
    xp = namespace(values)
    has_weight = counts > 0
    if not true_unless_known_false(~xp.all(has_weight)):
        return values, counts
    mask = xp.reshape(has_weight, (-1,) + (1,) * (values.ndim - 1))
    return xp.where(mask, values, xp.sum(values, axis=0)[None, ...]), xp.where(has_weight, counts, xp.sum(counts))


def describe_bad_probabilities(probabilities: Array) -> str | None:
    """Complaint about parameters that should be probabilities that sum to one."""
    p = to_numpy(probabilities)
    if (p < 0).any() or not np.allclose(p.sum(axis=-1), 1, atol=1e-6):
        return "'probabilities' must be 0 or more and sum to 1"
    return None
