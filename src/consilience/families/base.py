"""What co-EM asks of a family: how a cluster generates the rows of one view.

Statistics and parameters are plain dicts of small arrays in float64. Statistics of two sets of rows add up, key by key,
so that the same code serves threads, blocks from a disk and other machines.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from array_api_compat import size

from ..arrays import Array, as_rows, asarray_like, keep_where, namespace, stored_values, to_numpy, weighted_sums

Statistics = dict[str, Array]
Params = dict[str, Array]
Density = Callable[[Array], Array]  # rows -> (rows, clusters) log-densities


class Family(ABC):
    """One distribution a cluster. Frozen data: what is learned is in the parameters.

    A family of your own needs `statistics`, `maximise`, `log_prob` and `shapes`; all else has a default.
    """

    name: ClassVar[str]
    divergence: ClassVar[str] = "squared-euclidean"  # how far rows are apart, for the choice of starts
    centers: ClassVar[str | None] = None  # the parameter that holds everything, if one does

    def __init_subclass__(cls) -> None:
        cls.name = cls.__dict__.get("name", cls.__name__)

    @abstractmethod
    def statistics(self, X: Array, responsibilities: Array) -> Statistics:
        """What `maximise` needs to know of some rows, weighted by their responsibilities (rows, clusters)."""

    @abstractmethod
    def maximize(self, statistics: Statistics) -> Params:
        """The parameters of largest likelihood. A cluster of no weight gets those of all rows together."""

    @abstractmethod
    def log_prob(self, X: Array, params: Params) -> Array:
        """Log-density of each row under each cluster: (rows, clusters)."""

    @abstractmethod
    def shapes(self, n_clusters: int, n_columns: int) -> dict[str, tuple[int, ...]]:
        """The parameters that `log_prob` needs, and their shapes."""

    def params_complaint(self, params: Params) -> str | None:  # noqa: ARG002
        """What is wrong with parameters that a user gives, of the right shapes and finite; None if nothing is."""
        return None

    def complaint(self, X: Array) -> str | None:  # noqa: ARG002
        """What is wrong with the rows, for the message «family 'x' needs ...»; None if nothing is."""
        return None

    def bind(self, X: Array, present: Array) -> Family:  # noqa: ARG002
        """The family with whatever it must see of the data before the first round."""
        return self

    def extremes(self, X: Array) -> Array | None:  # noqa: ARG002
        """A few rows that tell of all of these what `bind` must know beyond a sample of them; None: nothing."""
        return None

    def informative_rows(self, X: Array) -> Array | None:  # noqa: ARG002
        """Which rows say anything; the others count as missing. None: all do."""
        return None

    def row_term(self, X: Array) -> Array | None:  # noqa: ARG002
        """The part of the log-density that depends on the row alone, which `density` leaves out; None: nothing."""
        return None

    def build_density(self, X: Array, params: Params) -> Density:  # noqa: ARG002
        """A function that gives `log_prob`, less the own term, of rows like those of X: laid out once, called often."""
        return lambda rows: self.log_prob(rows, params)

    def values_per_row(self, X: Array, n_clusters: int) -> int:
        """How many numbers a row needs while it is worked on: what sets the size of the blocks."""
        return X.shape[1] + n_clusters

    def work_per_value(self, X: Array, n_clusters: int) -> int:  # noqa: ARG002
        """What a stored number costs, in eight multiplications: what sets the number of chunks."""
        return max(1, n_clusters // 8)

    def n_parameters(self, params: Params) -> int:
        """How many numbers are free to choose, for information criteria."""
        return sum(np.size(to_numpy(value)) for value in params.values())

    def sample(self, params: Params, labels: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """New rows, one a label."""
        raise NotImplementedError(f"family {self.name!r} has no sample(): define it to draw new rows")


class DensityFamily(Family):
    """A family whose parameters are laid out before rows are put to them."""

    @abstractmethod
    def build_density(self, X: Array, params: Params) -> Density:
        """The parameters laid out for rows like those of X."""

    def log_prob(self, X: Array, params: Params) -> Array:
        X = as_rows(X)
        values, own = self.build_density(X, params)(X), self.row_term(X)
        values = keep_where(is_possible(values), values, -inf)
        return values if own is None else values + namespace(own).astype(own, values.dtype)[:, None]


@dataclass(frozen=True)
class CountingFamily(DensityFamily):
    """A family that learns from weighted sums of the rows, with something added so that nothing is impossible."""

    smoothing: float = 0.01

    def __post_init__(self) -> None:
        check_smoothing(self.smoothing)

    def statistics(self, X: Array, responsibilities: Array) -> Statistics:
        xp = namespace(responsibilities)
        return {
            "counts": xp.astype(xp.sum(responsibilities, axis=0), xp.float64),
            "sums": weighted_sums(as_rows(X), responsibilities),
        }

    def values_per_row(self, X: Array, n_clusters: int) -> int:  # noqa: ARG002
        return n_clusters


def check_smoothing(smoothing: float) -> None:
    """Refuse what cannot be added to counts."""
    if not isinstance(smoothing, Real) or not 0 <= smoothing < inf:
        raise ValueError(f"smoothing must be a number, 0 or more, got {smoothing!r}")


def describe_negative_count(X: Array) -> str | None:
    """The complaint of a family of counts."""
    values = stored_values(X)
    least = float(namespace(values).min(values)) if size(values) else 0.0
    if least < 0:
        return f"needs counts, none of them negative, got {least:.6g}. Use family 'gaussian' for real numbers"
    return None


def first_where(values: Array, wrong: Array) -> float | None:
    """The first value that is wrong, None if none is; looked for where the values lie."""
    xp = namespace(values)
    if not bool(xp.any(wrong)):
        return None
    at = int(xp.argmax(xp.astype(xp.reshape(wrong, (-1,)), xp.int8)))
    return float(xp.reshape(values, (-1,))[at])


def log_zero(dtype: Any) -> float:
    """Log of zero, but finite, so that no word of an impossible kind costs ``0 * never = 0``."""
    return -1e300 if "64" in str(dtype) else -1e30


def is_possible(log_prob: Array) -> Array:
    """Which log-densities are neither minus infinity, nor a few times `never`, nor lost to an overflow."""
    bottom = log_zero(log_prob.dtype)
    return log_prob > -(abs(bottom) ** 0.5)


def safe_log(probabilities: Array, dtype: Any) -> Array:
    """Logarithm, `never` at zero."""
    xp = namespace(probabilities)
    positive = probabilities > 0
    logs = xp.log(xp.where(positive, probabilities, xp.ones_like(probabilities)))
    return xp.where(positive, logs, xp.full_like(logs, log_zero(dtype)))


def convert_params(params: Params, X: Array) -> Params:
    """Parameters as float64 arrays of the library, and on the device, of X."""
    xp = namespace(X)
    return {name: xp.astype(asarray_like(value, X), xp.float64, copy=False) for name, value in params.items()}


def pool_empty_clusters(values: Array, counts: Array) -> tuple[Array, Array]:
    """Sums and counts by cluster, with those of all clusters together where a cluster has no weight."""
    xp = namespace(values)
    alive = counts > 0
    wide = xp.reshape(alive, (-1,) + (1,) * (values.ndim - 1))
    return xp.where(wide, values, xp.sum(values, axis=0)[None, ...]), xp.where(alive, counts, xp.sum(counts))


def describe_bad_probabilities(probabilities: Array) -> str | None:
    """The refusal of a family of probabilities that sum to one."""
    p = to_numpy(probabilities)
    if (p < 0).any() or not np.allclose(p.sum(axis=-1), 1, atol=1e-6):
        return "'probabilities' must be 0 or more and sum to 1"
    return None
