"""The few things clustering does to rows that the array standard has no word for, one registration an array kind.

Each verb works on the rows it is given, alone: `parallel` cuts the rows into chunks and adds the results up.
The definitions here serve every array-API library; `numpy_verbs` and `csr_verbs` register what those kinds do better.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import singledispatch
from typing import NamedTuple

from array_api_compat import device

from .linalg import sum_of_squares
from .namespace import Array, namespace


@singledispatch
def is_in_memory(X: Array) -> bool:  # noqa: ARG001
    """Whether rows are in memory or on a device, not in a storage that is read a block at a time."""
    return True


@singledispatch
def plan_reads(X: Array) -> list[slice]:
    """Slices of rows to read one at a time: rows in memory are one slice."""
    return [slice(0, X.shape[0])]


@singledispatch
def read_blocks(X: Array, blocks: Sequence[slice]) -> Iterator[Array]:
    """Yield blocks of rows; none may be used after the next one was requested."""
    return (X[block, ...] for block in blocks)


class Scorer(NamedTuple):
    """k functions ``(x - origin) . weights[j] - bias[j]``, laid out once for the kind of rows they will be put to."""

    weights: Array
    bias: Array | None  # None: zeros
    origin: Array | None
    n_clusters: int


@singledispatch
def build_scorer(X: Array, weights: Array, bias: Array | None = None, origin: Array | None = None) -> Scorer:
    """Lay out (clusters, columns) weights and their biases for rows like those of X."""
    xp = namespace(X)
    origin = None if origin is None else xp.astype(origin, X.dtype)
    bias = None if bias is None else xp.astype(bias, X.dtype)
    return Scorer(xp.astype(weights, X.dtype).T, bias, origin, weights.shape[0])


@singledispatch
def argmax_scores(X: Array, score: Scorer) -> tuple[Array, Array]:
    """For each row the function with the largest value (the first on ties), and that value."""
    xp = namespace(X)
    scores = compute_scores(X, score)
    labels = xp.argmax(scores, axis=1)
    return labels, xp.take_along_axis(scores, labels[:, None], axis=1)[:, 0]


@singledispatch
def compute_scores(X: Array, score: Scorer) -> Array:
    """All values: (rows, clusters)."""
    X = X if score.origin is None else X - score.origin[None, :]
    scores = X @ score.weights
    if score.bias is not None:
        scores -= score.bias[None, :]
    return scores


@singledispatch
def add_label_sums(X: Array, labels: Array, sums: Array) -> Array:
    """Add each row to ``sums[label]``, in place; a negative label belongs nowhere."""
    xp = namespace(X)
    clusters = xp.arange(sums.shape[0], dtype=labels.dtype, device=device(labels))
    members = labels[None, :] == clusters[:, None]
    sums += xp.astype(members, sums.dtype) @ xp.astype(X, sums.dtype)
    return sums


@singledispatch
def count_labels(labels: Array, n_clusters: int) -> Array:
    """How many rows carry each label, as float64; negative labels are not counted."""
    xp = namespace(labels)
    clusters = xp.arange(n_clusters, dtype=labels.dtype, device=device(labels))
    return xp.sum(xp.astype(labels[:, None] == clusters[None, :], xp.float64), axis=0)


@singledispatch
def weighted_sums(X: Array, weights: Array) -> Array:
    """``weights.T @ X`` as float64, multiplied in the type of X: (clusters, columns)."""
    xp = namespace(X)
    return xp.astype(xp.astype(weights, X.dtype, copy=False).T @ X, xp.float64, copy=False)


@singledispatch
def row_sums(X: Array) -> Array:
    """Sum of each row, in float64."""
    xp = namespace(X)
    return xp.sum(X, axis=1, dtype=xp.float64)


@singledispatch
def map_values(X: Array, function: Callable[[Array], Array]) -> Array:
    """The same rows with a function applied to their values; it must leave 0 at 0."""
    return function(X)


@singledispatch
def stored_values(X: Array) -> Array:
    """The values that are stored, in any shape: of sparse rows those that are not left out as zero."""
    return X


@singledispatch
def squared_norms(X: Array) -> Array:
    """Squared Euclidean length of each row, in float64."""
    xp = namespace(X)
    return sum_of_squares(xp.astype(X, xp.float64, copy=False))


@singledispatch
def scale_rows(X: Array, factors: Array) -> Array:
    """Each row times its factor, in the type of X."""
    xp = namespace(X)
    return X * xp.astype(factors, X.dtype)[:, None]


@singledispatch
def shift_rows(X: Array, origin: Array) -> Array:
    """Each row measured from a point."""
    return X - origin[None, :]


@singledispatch
def take_dense_rows(X: Array, rows: Array) -> Array:
    """A few rows as a dense float64 array."""
    xp = namespace(X)
    return xp.astype(xp.take(X, rows, axis=0), xp.float64)


@singledispatch
def take_rows(X: Array, rows: Array) -> Array:
    """Rows by position, of the same kind."""
    return namespace(X).take(X, rows, axis=0)


@singledispatch
def inner_products(X: Array, Y: Array) -> Array:
    """Inner products of the rows of X with those of Y, dense: (rows of X, rows of Y)."""
    return X @ Y.T


@singledispatch
def exp_nonpositive(exponents: Array) -> Array:
    """``exp`` of exponents of which rounding made some positive: these count as zero. May write over what is given."""
    xp = namespace(exponents)
    return xp.exp(xp.where(exponents < 0, exponents, xp.zeros_like(exponents)))


@singledispatch
def mask_rows(X: Array, kept: Array) -> Array:
    """The rows that are kept as they are, zeros in place of the others."""
    xp = namespace(X)
    return xp.where(kept[:, None], X, xp.zeros_like(X))


@singledispatch
def max_abs(X: Array) -> float:
    """The largest absolute value."""
    xp = namespace(X)
    return float(xp.max(xp.abs(X))) if X.shape[0] else 0.0


@singledispatch
def row_is_finite(X: Array) -> Array:
    """Which rows hold neither NaN nor infinity."""
    xp = namespace(X)
    return xp.all(xp.isfinite(X), axis=1)


@singledispatch
def all_rows_equal(X: Array) -> bool:
    """Whether all rows hold the same."""
    return bool(namespace(X).all(X[:1, ...] == X))
