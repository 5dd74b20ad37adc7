"""Likelihoods of points under components, and what every step of a mixture's solver asks about them.

Numbers of all points or components are arrays of any library, on any device, and stay there.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from array_api_compat import device
from scipy.special import logsumexp

from ...arrays import Array, asarray_like, keep_where, namespace

AHEAD = 0.05  # a set's own maximum is sought until it is nearer than this share of the whole gap
SLOPE = 1e-4  # share of the slope that a step must gain
LOSS = 0.05  # the part of its likelihood that a step must leave a point
ROUNDING = 1e-15  # of objectives, as a share of their size


class LikelihoodMatrix(Protocol):
    """How likely each point is under each component: (points, components), none negative, in float64."""

    @property
    def shape(self) -> tuple[int, int]:
        """(points, components)."""

    def __matmul__(self, q: Array) -> Array:
        """The mixture's likelihood of each point."""

    @property
    def T(self) -> Any:
        """What multiplies a number a point: (components,)."""

    def squared_sums(self, r: Array) -> Array:
        """What the squares of the likelihoods, transposed, make of a number a point: (components,)."""

    def columns(self, components: np.ndarray) -> Array:
        """The likelihoods of all points under a few components."""


def compute_objective(w: Array, Q: Array) -> float:
    """Weighted mean log-likelihood; a point that counts for nothing may be impossible."""
    counts = w > 0
    with np.errstate(divide="ignore"):
        return float(w[counts] @ namespace(Q).log(Q[counts]))


def divide_weights(w: Array, Q: Array) -> Array:
    """W / Q, zero where w is."""
    return w / keep_where(w != 0, Q, 1.0)


def replace_nonpositive(values: Array) -> Array:
    """To divide by: one in place of zero."""
    return keep_where(values > 0, values, 1.0)


def as_real_array(name: str, values: Any) -> np.ndarray:
    """Convert an argument to an array of float64, or raise an error that names it."""
    try:
        array = np.asarray(values)
        if array.dtype.kind != "c":
            return array.astype(np.float64, copy=False)
    except (ValueError, TypeError) as error:
        raise ValueError(f"{name} must hold real numbers: {error}") from error
    raise ValueError(f"{name} must hold real numbers, got {array.dtype}")


def take_few_columns(table: Array, chosen: np.ndarray) -> Array:
    """A few columns, by position; numpy's way to index puts each of them in one piece."""
    if isinstance(table, np.ndarray):
        return table[:, chosen]
    return namespace(table).take(table, asarray_like(chosen, table), axis=1)


def number_present(there: np.ndarray) -> np.ndarray:
    """Where each of all is among those that are there; behind them if it is not."""
    return np.where(there, np.cumsum(there) - 1, np.count_nonzero(there))


def expand_to_all(values: Array, at: Array, otherwise: float, axis: int = 0) -> Array:
    """Values of those that are there, for all, by their places (see `places`)."""
    xp = namespace(values)
    shape = tuple(1 if i == axis else length for i, length in enumerate(values.shape))
    nothing = xp.full(shape, otherwise, dtype=values.dtype, device=device(values))
    return xp.take(xp.concat([values, nothing], axis=axis), asarray_like(at, values), axis=axis)


def as_float64(values: Array) -> Array:
    """In float64."""
    xp = namespace(values)
    return xp.astype(values, xp.float64, copy=False)


def log_sum_exp(table: Array) -> Array:
    """Log of the sum of each row's exponentials; a row may be minus infinity throughout."""
    if isinstance(table, np.ndarray):
        return logsumexp(table, axis=1)
    xp = namespace(table)
    largest = xp.max(table, axis=1)
    unit = keep_where(xp.isfinite(largest), largest, 0.0)
    return xp.log(xp.sum(xp.exp(table - unit[:, None]), axis=1)) + unit
