"""Likelihoods of points under components, and the arithmetic that every step of the solvers needs.

Arrays with one value per point or component may be of any library and on any device, and stay there.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from array_api_compat import device
from scipy.special import logsumexp

from ..._numbers import is_integer
from ...arrays import Array, asarray_like, is_on_host, keep_where, namespace

SUBPROBLEM_GAP = 0.05  # share of the overall gap to which the maximum over a set of components is solved
SUFFICIENT_GAIN = 1e-4  # share of the gain predicted by the slope that a step must achieve
LEAST_LIKELIHOOD = 0.05  # share of its likelihood that every point must keep in a step
ROUNDING = 1e-15  # of objectives, relative to their size


LikelihoodMatrix = Any  # (points, components) in float64, with the operations that `mixture_proportions` describes


def compute_objective(w: Array, Q: Array) -> float:
    """Weighted mean log-likelihood; points of zero weight may have zero likelihood."""
    with np.errstate(divide="ignore"):
        return float(w @ namespace(Q).log(keep_where(w > 0, Q, 1.0)))


def divide_weights(w: Array, Q: Array) -> Array:
    """Compute w / Q, and zero where w is zero."""
    return w / keep_where(w != 0, Q, 1.0)


def multiply_twice(A: LikelihoodMatrix, v: Array, weights: Array, divide: bool) -> tuple[Array, Array]:
    """Compute ``s = A @ v`` and ``A.T @ (weights * s)``, or ``A.T @ (weights / s)``: in one pass if A can."""
    if hasattr(A, "multiply_twice"):
        return A.multiply_twice(v, weights, divide)
    s = A @ v
    return s, A.T @ (weights / replace_nonpositive(s) if divide else weights * s)


def replace_nonpositive(values: Array) -> Array:
    """Replace values that are not positive by one, so that they can divide."""
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


def check_max_iter(max_iter: Any) -> None:
    """Refuse a number of rounds that is not a positive integer."""
    if not is_integer(max_iter, least=1):
        raise ValueError(f"max_iter={max_iter!r} must be a whole number from 1 on")


def take_few_columns(table: Array, columns: np.ndarray) -> Array:
    """Take columns by position; numpy's indexing makes each of them contiguous."""
    if is_on_host(table):
        return table[:, columns]
    return namespace(table).take(table, asarray_like(columns, table), axis=1)


def number_present(present: np.ndarray) -> np.ndarray:
    """Return for each element its position among those present; for the others, the number of those present."""
    return np.where(present, np.cumsum(present) - 1, np.count_nonzero(present))


def expand_to_all(values: Array, numbers: Array, fill: float, axis: int = 0) -> Array:
    """Expand values of those present to all elements, given their numbers from `number_present`."""
    xp = namespace(values)
    shape = tuple(1 if i == axis else length for i, length in enumerate(values.shape))
    filler = xp.full(shape, fill, dtype=values.dtype, device=device(values))
    return xp.take(xp.concat([values, filler], axis=axis), asarray_like(numbers, values), axis=axis)


def as_float64(values: Array) -> Array:
    """Convert to float64."""
    xp = namespace(values)
    return xp.astype(values, xp.float64, copy=False)


def log_sum_exp(table: Array) -> Array:
    """Log of the sum of each row's exponentials; all of a row may be minus infinity."""
    if is_on_host(table):
        return logsumexp(table, axis=1)
    xp = namespace(table)
    largest = xp.max(table, axis=1)
    offset = keep_where(xp.isfinite(largest), largest, 0.0)
    return xp.log(xp.sum(xp.exp(table - offset[:, None]), axis=1)) + offset
