"""Operations on rows that the array standard lacks, with one registration per kind of array, and conversion of rows.

Each verb works on all rows it is given: `parallel` cuts rows into chunks and adds the results up. The definitions here
serve every array-API library, and numpy where it has something better; `csr_verbs`, `device_csr_verbs` and
`consilience.rows` register those for other kinds of rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import singledispatch
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from array_api_compat import device

from .._numbers import is_truth_value
from .csr import CSR
from .device_csr import DeviceCSR
from .namespace import Array, asarray_like, can_use_triton, is_array, is_device_sparse, keep_where, namespace, to_numpy

FEW_ROWS = 200  # about the number of rows whose median says where rows are


@singledispatch
def is_in_memory(X: Array) -> bool:  # noqa: ARG001
    """Whether rows are in memory or on a device, not in a storage that is read one block at a time."""
    return True


def is_on_host(array: Array) -> bool:
    """Whether an array belongs to numpy, or is read as one; arrays of other libraries count as being on a device."""
    return isinstance(array, np.ndarray | np.generic | CSR) or not is_in_memory(array)


def true_unless_known_false(condition: Any) -> bool:
    """Return the condition if it is on the host, and True on a device, where reading it would force a synchronization.

    What follows must be correct, if perhaps needless, where the condition does not hold.
    """
    return bool(condition) if is_truth_value(condition) or is_on_host(condition) else True


@singledispatch
def plan_reads(X: Array) -> list[slice]:
    """Slices of rows to read one at a time: rows in memory are one slice."""
    return [slice(0, X.shape[0])]


@singledispatch
def read_blocks(X: Array, blocks: Sequence[slice]) -> Iterator[Array]:
    """Yield blocks of rows; none may be used after the next one was requested."""
    return (X[block, ...] for block in blocks)


class Scorer(NamedTuple):
    """The k functions ``(x - origin) . weights[j] - bias[j]``, in the layout for one kind of rows."""

    weights: Array
    bias: Array | None  # None: zeros
    origin: Array | None
    n_clusters: int


@singledispatch
def build_scorer(X: Array, weights: Array, bias: Array | None = None, origin: Array | None = None) -> Scorer:
    """Lay out (clusters, columns) weights for rows of the kind of X; scores are ``(X - origin) @ weights.T - bias``.

    Parameters
    ----------
    X : array of shape (n_rows, n_columns)
        Rows of the array library, the type and the layout (dense or sparse) that `compute_scores` will get.
    weights : array of shape (n_clusters, n_columns)
        Weight of each column for each cluster.
    bias : array of shape (n_clusters,), optional
        What is subtracted from the scores of each cluster; by default nothing.
    origin : array of shape (n_columns,), optional
        What is subtracted from each row, which must be dense; by default nothing.

    Examples
    --------
    >>> import numpy as np
    >>> from consilience.arrays import build_scorer, compute_scores
    >>> X = np.array([[0.0, 2.0], [3.0, 4.0]])
    >>> scorer = build_scorer(X, weights=np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 2.0]]), bias=np.array([0.0, 0.0, 1.0]))
    >>> scorer.n_clusters, compute_scores(X, scorer).tolist()
    (3, [[0.0, 2.0, 3.0], [3.0, 7.0, 7.0]])
    """
    xp = namespace(X)
    origin = None if origin is None else xp.astype(origin, X.dtype)
    bias = None if bias is None else xp.astype(bias, X.dtype)
    return Scorer(xp.astype(weights, X.dtype).T, bias, origin, weights.shape[0])


@build_scorer.register
def _(X: np.ndarray, weights: Array, bias: Array | None = None, origin: Array | None = None) -> Scorer:
    # a contiguous transpose: OpenBLAS then has a short cut for products of up to a million multiplications
    table = np.ascontiguousarray(weights.T, dtype=X.dtype)
    bias, origin = (None if values is None else values.astype(X.dtype) for values in (bias, origin))
    return Scorer(table, bias, origin, len(weights))


@singledispatch
def argmax_scores(X: Array, scorer: Scorer) -> tuple[Array, Array]:
    """Index of the largest score of each row (the first on ties), and that score."""
    if can_use_triton(X, scorer.n_clusters):
        from . import triton_kernels

        return triton_kernels.find_largest_scores(X, scorer.weights.T, scorer.bias, scorer.origin)
    return argmax_rows(compute_scores(X, scorer))


def argmax_rows(scores: Array) -> tuple[Array, Array]:
    """Index of the largest score of each row (the first on ties), and that score."""
    xp = namespace(scores)
    labels = xp.argmax(scores, axis=1)
    return labels, xp.take_along_axis(scores, labels[:, None], axis=1)[:, 0]


@singledispatch
def sum_costs(score: Array, row_term: Array, present: Array, scale: float) -> Array:
    """Sum of ``row_term - scale * score`` over the rows that are present, where it is positive, in float64."""
    if can_use_triton(score, 1):
        from . import triton_kernels

        return triton_kernels.sum_row_costs(score, row_term, present, scale)
    xp = namespace(score)
    cost = row_term - scale * xp.astype(score, xp.float64)
    return xp.sum(keep_where(xp.logical_and(present, cost > 0), cost, 0.0))


@singledispatch
def compute_scores(X: Array, scorer: Scorer) -> Array:
    """All scores: (rows, clusters).

    Parameters
    ----------
    X : array of shape (n_rows, n_columns)
        Rows, dense or sparse.
    scorer : Scorer
        The weights, from `build_scorer`.

    Examples
    --------
    >>> import numpy as np
    >>> from consilience.arrays import build_scorer, compute_scores
    >>> X = np.array([[0.0, 2.0], [3.0, 4.0]])
    >>> scorer = build_scorer(X, weights=np.array([[1.0, 0.0], [1.0, 1.0]]), origin=np.array([0.0, 1.0]))
    >>> compute_scores(X, scorer).tolist()
    [[0.0, 1.0], [3.0, 6.0]]
    """
    X = X if scorer.origin is None else X - scorer.origin[None, :]
    scores = X @ scorer.weights
    if scorer.bias is not None:
        scores -= scorer.bias[None, :]
    return scores


@singledispatch
def add_label_sums(X: Array, labels: Array, sums: Array) -> Array:
    """Add each row to ``sums[label]``, in place; rows with a negative label are left out."""
    if can_use_triton(X, sums.shape[0]):
        from . import triton_kernels

        sums += triton_kernels.sum_by_label(X, labels, sums.shape[0])
        return sums
    xp = namespace(X)
    clusters = xp.arange(sums.shape[0], dtype=labels.dtype, device=device(labels))
    members = labels[None, :] == clusters[:, None]
    sums += xp.astype(members, sums.dtype) @ xp.astype(X, sums.dtype)
    return sums


def add_indicated_rows(X: np.ndarray, labels: np.ndarray, sums: np.ndarray) -> np.ndarray:
    """Add rows of numpy to the sums of their labels, in place.

    The product with a sparse indicator reads X once; a dense indicator would cost n x k x d multiplications.
    """
    labeled = labels >= 0
    indptr = np.concatenate([[0], np.cumsum(labeled)])
    indicator = sp.csr_array((np.ones(indptr[-1]), labels[labeled], indptr), shape=(len(labels), len(sums)))
    sums += indicator.T @ X
    return sums


@singledispatch
def count_labels(labels: Array, n_clusters: int) -> Array:
    """Number of rows with each label, as float64; negative labels are not counted."""
    if can_use_triton(labels, n_clusters, "int64"):
        from . import triton_kernels

        return triton_kernels.count_rows(labels, n_clusters)
    xp = namespace(labels)
    clusters = xp.arange(n_clusters, dtype=labels.dtype, device=device(labels))
    return xp.astype(xp.count_nonzero(labels[None, :] == clusters[:, None], axis=1), xp.float64)


@singledispatch
def include_labels(labels: Array, lowest: Array, highest: Array, n_labels: Array) -> None:
    """Include labels, -1 where they are missing, in the range of labels and their number of each row, in place."""
    xp = namespace(labels)
    lowest[...] = xp.where(labels >= 0, xp.minimum(lowest, labels), lowest)
    highest[...] = xp.maximum(highest, labels)
    n_labels += xp.astype(labels >= 0, n_labels.dtype)


@singledispatch
def weighted_sums(X: Array, weights: Array) -> Array:
    """``weights.T @ X`` as float64, multiplied in the type of X: (clusters, columns).

    Parameters
    ----------
    X : array of shape (n_rows, n_columns)
        Rows, dense or sparse.
    weights : array of shape (n_rows, n_clusters)
        Weight of each row in each cluster, dense.

    Examples
    --------
    >>> import numpy as np
    >>> from consilience.arrays import weighted_sums
    >>> X = np.array([[0.0, 2.0], [3.0, 4.0]])
    >>> weighted_sums(X, weights=np.array([[1.0, 0.0], [0.5, 2.0]])).tolist()
    [[1.5, 4.0], [6.0, 8.0]]
    """
    xp = namespace(X)
    return xp.astype(xp.astype(weights, X.dtype, copy=False).T @ X, xp.float64, copy=False)


@singledispatch
def row_sums(X: Array) -> Array:
    """Sum of each row, in float64."""
    xp = namespace(X)
    return xp.sum(X, axis=1, dtype=xp.float64)


@singledispatch
def map_values(X: Array, function: Callable[[Array], Array]) -> Array:
    """Apply a function to the values; it must map 0 to 0."""
    return function(X)


@singledispatch
def stored_values(X: Array) -> Array:
    """The stored values, in any shape: sparse rows store those that are not zero.

    Parameters
    ----------
    X : array of shape (n_rows, n_columns)
        Rows, dense or sparse.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> from consilience.arrays import CSR, stored_values
    >>> stored_values(CSR.from_scipy(sp.csr_array([[0.0, 2.0], [3.0, 4.0]]))).tolist()
    [2.0, 3.0, 4.0]
    """
    return X


def sum_of_squares(values: Array) -> Array:
    """Sum of squares along the last axis, in the type of the values; `vecdot` is slow outside numpy."""
    if isinstance(values, np.ndarray):
        return np.vecdot(values, values)
    return namespace(values).sum(values * values, axis=-1)


@singledispatch
def squared_norms(X: Array) -> Array:
    """Squared Euclidean length of each row, in float64.

    Parameters
    ----------
    X : array of shape (n_rows, n_columns)
        Rows, dense or sparse.

    Examples
    --------
    >>> import numpy as np
    >>> from consilience.arrays import squared_norms
    >>> squared_norms(np.array([[0.0, 2.0], [3.0, 4.0]])).tolist()
    [4.0, 25.0]
    """
    xp = namespace(X)
    return sum_of_squares(xp.astype(X, xp.float64, copy=False))


@singledispatch
def scale_rows(X: Array, factors: Array) -> Array:
    """Each row times its factor, in the type of X."""
    xp = namespace(X)
    return X * xp.astype(factors, X.dtype)[:, None]


@singledispatch
def shift_rows(X: Array, origin: Array) -> Array:
    """Each row minus the origin."""
    return X - origin[None, :]


@singledispatch
def take_dense_rows(X: Array, rows: Array) -> Array:
    """A few rows by position, as a dense float64 array."""
    xp = namespace(X)
    return xp.astype(xp.take(X, rows, axis=0), xp.float64)


@singledispatch
def take_rows(X: Array, rows: Array) -> Array:
    """Rows by position, of the kind of X."""
    return namespace(X).take(X, rows, axis=0)


@singledispatch
def inner_products(X: Array, Y: Array) -> Array:
    """Inner products of the rows of X with those of Y, dense: (rows of X, rows of Y).

    Parameters
    ----------
    X : array of shape (n_rows, n_columns)
        Rows, dense or sparse.
    Y : array of shape (n_other_rows, n_columns)
        Rows with the same columns.

    Examples
    --------
    >>> import numpy as np
    >>> from consilience.arrays import inner_products
    >>> inner_products(np.array([[0.0, 2.0], [3.0, 4.0]]), np.array([[1.0, 1.0]])).tolist()
    [[2.0], [7.0]]
    """
    return X @ Y.T


@singledispatch
def exp_nonpositive(exponents: Array) -> Array:
    """``exp`` of exponents, of which those that rounding made positive count as zero. May overwrite its argument."""
    xp = namespace(exponents)
    return xp.exp(xp.where(exponents < 0, exponents, xp.zeros_like(exponents)))


@exp_nonpositive.register
def _(exponents: np.ndarray) -> np.ndarray:
    np.clip(exponents, -np.inf, 0, out=exponents)  # np.minimum with a number is not vectorized
    return np.exp(exponents, out=exponents)


@singledispatch
def mask_rows(X: Array, kept: Array) -> Array:
    """Replace the rows that are not kept by zeros."""
    xp = namespace(X)
    return xp.where(kept[:, None], X, xp.zeros_like(X))


@singledispatch
def max_abs(X: Array) -> float:
    """The largest absolute value; NaN if there is one."""
    xp = namespace(X)
    return float(xp.max(xp.abs(X))) if X.shape[0] else 0.0


@max_abs.register
def _(X: np.ndarray) -> float:
    return float(np.maximum(X.max(), -X.min())) if X.shape[0] else 0.0


@singledispatch
def row_is_finite(X: Array) -> Array:
    """Mask of the rows without NaN and infinity."""
    xp = namespace(X)
    return xp.all(xp.isfinite(X), axis=1)


@singledispatch
def all_rows_equal(X: Array) -> bool:
    """Whether all rows are equal."""
    return bool(namespace(X).all(X[:1, ...] == X))


def as_rows(X: Any) -> Array:
    """Convert sparse matrices to CSR or DeviceCSR, lists to numpy, and numbers other than float32 to float64.

    Rows are copied only if necessary.
    """
    if sp.issparse(X):
        X = CSR.from_scipy(X.tocsr())
    elif is_device_sparse(X):
        X = DeviceCSR.from_library(X)
    elif not is_array(X) and not is_sparse(X):
        X = np.asarray(X)
    xp = namespace(X)
    floats = X.dtype in (xp.float32, xp.float64)
    return X if floats else map_values(X, lambda values: xp.astype(values, xp.float64))


def is_sparse(X: Array) -> bool:
    """Whether rows are sparse, on the host, on a device or in a storage."""
    return getattr(X, "sparse", False) is True


def to_host(X: Array) -> Any:
    """Convert rows to what other libraries take: scipy if they are sparse, numpy otherwise.

    Parameters
    ----------
    X : array of shape (n_rows, n_columns)
        Rows of any array library on any device, dense or sparse.

    Returns
    -------
    ndarray, or sparse array of scipy
        The rows in the memory of the host.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> from consilience.arrays import CSR, to_host
    >>> X = CSR.from_scipy(sp.csr_array([[0.0, 2.0], [3.0, 4.0]]))
    >>> to_host(X).toarray().tolist()
    [[0.0, 2.0], [3.0, 4.0]]
    """
    if sp.issparse(X):
        return X
    return X.to_scipy() if hasattr(X, "to_scipy") else to_numpy(X)


def as_csr(X: Array) -> CSR:
    """Convert rows to CSR."""
    return X if isinstance(X, CSR) else CSR.from_scipy(sp.csr_array(to_host(X)))


def as_rows_like(X: Array, reference: Array) -> Array:
    """Convert rows to the kind of `reference`: sparse or not, its library, device and dtype."""
    if not is_in_memory(X) and (is_sparse(X), X.dtype) == (is_sparse(reference), reference.dtype):
        return X
    if isinstance(reference, CSR):
        X = as_csr(X)
    else:
        X = to_host(X).toarray() if is_sparse(X) else X
        X = X if namespace(X) is namespace(reference) else asarray_like(to_numpy(X), reference)
    same_type = X.dtype == reference.dtype
    return X if same_type else map_values(X, lambda values: namespace(values).astype(values, reference.dtype))


def sample_rows(X: Array, present: Array) -> Array:
    """Up to two thousand of the present rows, evenly spread, as a dense float64 array."""
    xp = namespace(X)
    rows = xp.nonzero(asarray_like(present, X))[0]
    n = rows.shape[0]
    return take_dense_rows(X, rows[:: max(1, n // 1000)] if n else xp.zeros(1, dtype=rows.dtype, device=device(rows)))


def compute_origin(X: Array, dtype: Any) -> Array | None:
    """Median of the rows, or of some of them, rounded to `dtype`; None if zero serves as well.

    Products of numbers far from zero cancel, above all in float32; relative to the center of the rows they do not. A
    few outliers do not move the median.
    """
    xp, X = namespace(X), X[:: max(1, X.shape[0] // FEW_ROWS), :]
    center = xp.sort(X, axis=0, stable=False)[X.shape[0] // 2, :]  # a stable sort takes ten times as long in numpy
    distances = xp.sort(squared_norms(X - center[None, :]), stable=False)
    if float(xp.vecdot(center, center)) <= float(distances[X.shape[0] // 2]) * xp.finfo(dtype).eps ** -0.3:
        return None
    return xp.astype(xp.astype(center, dtype), xp.float64)


def find_origin(X: Array) -> Array | None:
    """Median of a sample of dense rows, if zero is so far away that digits would cancel; None otherwise."""
    xp = namespace(X)
    if is_sparse(X):
        return None
    return compute_origin(sample_rows(X, xp.ones(X.shape[0], dtype=xp.bool, device=device(X))), X.dtype)


def shift_rows_and_norms(X: Array, origin: Array | None) -> tuple[Array, Array]:
    """Rows relative to the origin, and their squared lengths in the type of X."""
    xp = namespace(X)
    X = X if origin is None else shift_rows(X, xp.astype(origin, X.dtype))
    return X, xp.astype(squared_norms(X), X.dtype)
