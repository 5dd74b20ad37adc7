"""Similarities that are stored as a matrix: the graph of nearest neighbors, and matrices that the user provides."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from array_api_compat import is_cupy_array, is_torch_array
from scipy.sparse.csgraph import connected_components

from .._saving import refer_as, save_as
from .._tuning import Tuning
from ..arrays import (
    CSR,
    Array,
    DeviceCSR,
    KernelMatrix,
    KernelRows,
    Nearest,
    as_rows_like,
    asarray_like,
    count_stored,
    find_nearest,
    find_nearly_nearest,
    float64_zeros,
    is_on_host,
    is_sparse,
    itemsize,
    map_chunks,
    namespace,
    split_slice,
    take_rows,
    to_host,
    to_numpy,
)
from .base import Affinity, NoAffinityError, cast_to, check_positive
from .distances import SquaredDistances, check_metric, choose_metric, default_n_neighbors, find_comparable_rows

Matrix = Any  # a sparse matrix of scipy, or a dense one of any library

BYTES_PER_NEIGHBOR = 60  # positions, distances and edges, of which building the graph has three copies
BYTES_PER_VALUE = 12  # rows in the order of their cells, and in float32
BYTES_PER_SPARSE_VALUE = 24  # rows and their transpose, in float64 with columns
tuning = Tuning(product_block=1 << 20)  # products of stored numbers that a thread computes at a time
MOST_BLOCKS = 64
ROUNDING = 8  # units in the last place of the squared lengths by which distances may differ
TOLERANCE = 1e-5  # errors of given similarities that are accepted, as a share of the largest
NEEDED = "affinity='precomputed' needs a symmetric matrix of similarities, none negative"
REMEDY = "turn distances d into similarities (such as exp(-d**2)) first, or average the matrix with its transpose"

_searches: ContextVar[dict[Any, Nearest] | None] = ContextVar("consilience_searches", default=None)


@dataclass(frozen=True, eq=False)
class StoredSimilarities:
    """Similarities of some entities to those of a graph.

    A sparse matrix stays in main memory, and has a copy on the device of the views if their library has sparse
    matrices.
    """

    matrix: Matrix
    home: Array = field(default=None, kw_only=True)  # an array on the device that products move to, if any

    @property
    def shape(self) -> tuple[int, int]:
        return self.matrix.shape

    @property
    def dtype(self) -> np.dtype:
        return self.matrix.dtype if sp.issparse(self.matrix) else np.dtype(f"f{itemsize(self.matrix)}")

    @property
    def T(self) -> StoredSimilarities:
        return StoredSimilarities(self.matrix.T, home=self.home)

    def __matmul__(self, U: Array) -> Array:
        if sp.issparse(self.matrix):
            if self._device_matrix is not None:
                return self._device_matrix @ cast_to(asarray_like(U, self.home), self.dtype)
            return self._move_home(multiply_sparse(self.matrix, to_numpy(U)))
        U = asarray_like(U, self.matrix)
        return self.matrix @ (U if is_on_host(U) else cast_to(U, self.dtype))

    def columns(self, entities: np.ndarray) -> Array:
        if sp.issparse(self.matrix):
            return self._move_home(self.matrix[:, entities].toarray())
        return namespace(self.matrix).take(self.matrix, asarray_like(entities, self.matrix), axis=1)

    @cached_property
    def _device_matrix(self) -> Matrix | None:
        if self.home is None or not (is_torch_array(self.home) or is_cupy_array(self.home)):
            return None
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Sparse CSR tensor support is in beta", UserWarning)
            return DeviceCSR.from_scipy(sp.csr_array(self.matrix), self.home).to_library()

    def __getstate__(self) -> dict[str, Any]:
        """Leave the copy on the device out of copies and pickles."""
        return {name: value for name, value in self.__dict__.items() if name != "_device_matrix"}

    def _move_home(self, values: np.ndarray) -> Array:
        return values if self.home is None else asarray_like(values, self.home)


def multiply_sparse(matrix: Matrix, U: np.ndarray) -> np.ndarray:
    """Multiply a sparse matrix by a thin one, on the threads allowed."""
    n_blocks = min(MOST_BLOCKS, matrix.nnz * U.shape[1] // tuning.product_block)
    if matrix.format != "csr" or n_blocks < 2:
        return matrix @ U
    rows = CSR(matrix.indptr, matrix.indices, matrix.data, matrix.shape[1])
    blocks = split_slice(slice(0, matrix.shape[0]), n_blocks)
    return np.concatenate(list(map_chunks(lambda block: rows[block].to_scipy() @ U, blocks)))


@save_as("similarity-graph")
@dataclass(frozen=True, eq=False)
class SimilarityGraph(StoredSimilarities):
    """The symmetric matrix of a graph, and how other rows are joined to it."""

    join: Callable[[Array], Matrix]
    exact: bool = True

    def columns(self, entities: np.ndarray) -> Array:
        # the matrix is symmetric, and rows are faster to extract
        if sp.issparse(self.matrix):
            return self._move_home(self.matrix[entities].toarray().T)
        return take_rows(self.matrix, asarray_like(entities, self.matrix)).T

    def norm(self) -> float:
        squares = self.matrix * self.matrix
        total = squares.sum() if sp.issparse(squares) else namespace(squares).sum(squares)
        return float(namespace(total).sqrt(total))

    def components(self) -> np.ndarray:
        if sp.issparse(self.matrix):
            return connected_components(self.matrix, directed=False)[1]
        return np.zeros(self.shape[0], np.int64)

    def compare_with(self, X: Array) -> StoredSimilarities:
        rows, home = self.join(X), self.home
        if not sp.issparse(self.matrix):  # rows may come from another array library than the matrix
            home = self.matrix[:0, :]
            rows = rows if sp.issparse(rows) else asarray_like(rows, home)
        return StoredSimilarities(rows, home=home)


@save_as("affinity-precomputed")
@dataclass(frozen=True)
class Precomputed(Affinity):
    """The view is a square matrix of similarities, dense or sparse: symmetric, none negative.

    New entities come with their similarities to those of the fit.

    Examples
    --------
    >>> import numpy as np
    >>> import consilience as cs
    >>> X = np.array([[1.0, 0.5], [0.5, 1.0]])
    >>> operator = cs.affinities.Precomputed().build_operator(X, np.random.default_rng(0))
    >>> (operator.compare_with(np.array([[0.0, 0.8]])) @ np.eye(2)).tolist()
    [[0.0, 0.8]]
    """

    columns_are_entities = True
    accepts_sparse = True

    def build_operator(self, X: Array, rng: np.random.Generator) -> SimilarityGraph:  # noqa: ARG002
        matrix = check_nonnegative(X)
        if matrix.shape[0] != matrix.shape[1]:
            raise NoAffinityError(f"{NEEDED}, got shape {matrix.shape}: {REMEDY}")
        _, largest = compute_extremes(matrix)
        if not largest:
            raise NoAffinityError(f"{NEEDED}, and all are zero: leave the view out")
        if compute_extremes(matrix - matrix.T)[1] > TOLERANCE * largest:
            raise NoAffinityError(f"{NEEDED}, and it is not symmetric: {REMEDY}")
        return SimilarityGraph((matrix + matrix.T) / 2, check_nonnegative)

    def nbytes(self, X: Array) -> int:  # noqa: ARG002
        return 0


@refer_as("check-similarities")
def check_nonnegative(X: Array) -> Matrix:
    """Return the matrix of similarities to the entities of the fit; refuse negative ones."""
    matrix = to_host(X) if is_on_host(X) else X
    smallest, largest = compute_extremes(matrix)
    if smallest < -TOLERANCE * largest:
        raise NoAffinityError(f"{NEEDED}, and one is {smallest:.3g}: {REMEDY}")
    return matrix


def compute_extremes(matrix: Matrix) -> tuple[float, float]:
    """Return the smallest entry and the largest absolute value; zeros for a matrix without rows."""
    if not matrix.shape[0]:
        return 0.0, 0.0
    if sp.issparse(matrix):
        return float(matrix.min()), float(abs(matrix).max())
    xp = namespace(matrix)
    return float(xp.min(matrix)), float(xp.max(xp.abs(matrix)))


@save_as("affinity-nearest-neighbors")
@dataclass(frozen=True)
class NearestNeighbors(Affinity):
    """The graph that joins each row to its nearest rows, itself included.

    1 where each of two rows is among the other's nearest, 1/2 where only one is, as in scikit-learn. The graph has no
    other weights, so it does not depend on units, on outliers, or on the density of the rows.

    Parameters
    ----------
    n_neighbors : int, optional
        Number of nearest rows, the row itself included. If not given, the square root of the number of rows, at most
        30, and at most half of the mean size of a cluster (but at least 5) if the number of clusters is known.
    metric : {'euclidean', 'cosine'}, optional
        If not given, the one whose graph has fewer hubs, rows that are among the nearest of far too many others: cosine
        for most text, Euclidean for most measurements. Rows of zeros count as missing by cosine; rows without entries
        in sparse views count as missing by either metric. Give the view as a dense array if such rows mean something.
    approximate : bool, default=False
        Find nearly all nearest rows, about 98%, in a fraction of the time: each row is compared with those in the cells
        of a partition that are near to it. Worth it from about 50,000 rows on. On a device the search is always exact.

    Examples
    --------
    >>> import numpy as np
    >>> import consilience as cs
    >>> X = np.array([[0.0], [1.0], [3.0]])
    >>> operator = cs.affinities.NearestNeighbors(n_neighbors=2).build_operator(X, np.random.default_rng(0))
    >>> (operator @ np.eye(3)).tolist()
    [[1.0, 1.0, 0.0], [1.0, 1.0, 0.5], [0.0, 0.5, 1.0]]
    """

    n_neighbors: int | None = None
    metric: str | None = None
    approximate: bool = False

    accepts_sparse = True

    def __post_init__(self) -> None:
        check_metric(self.metric)
        if self.n_neighbors is not None:
            check_positive("n_neighbors", self.n_neighbors, whole=True)
        if self.approximate not in (True, False):
            raise NoAffinityError(f"approximate={self.approximate!r} must be True or False")

    def resolve(self, X: Array) -> NearestNeighbors:
        return self.resolve_for_clusters(X, None)

    def resolve_for_clusters(self, X: Array, n_clusters: int | None) -> NearestNeighbors:
        metric = choose_metric(self.metric, X)
        n_comparable = int(np.count_nonzero(to_numpy(find_comparable_rows(metric, X))))
        n_neighbors = self.n_neighbors or default_n_neighbors(max(n_comparable, 1), n_clusters)
        return replace(self, n_neighbors=n_neighbors, metric=metric)

    def comparable_rows(self, X: Array) -> Array:
        return find_comparable_rows(self.metric, X)

    def build_operator(self, X: Array, rng: np.random.Generator) -> SimilarityGraph:
        n_neighbors = self._count_neighbors(X)
        space = SquaredDistances.of(self.metric, X)
        points = space.points(X)
        nearest = find_or_reuse(points.X, n_neighbors, int(rng.integers(2**63)) if self.approximate else None)
        starts = np.arange(0, nearest.positions.size + 1, n_neighbors)
        weights = np.full(nearest.positions.size, 0.5)
        edges = sp.csr_array((weights, nearest.positions.ravel(), starts), shape=(X.shape[0],) * 2)
        matrix = sp.csr_array(edges + edges.T)
        matrix.setdiag(1.0)  # a row with many duplicates may not be among its own nearest
        join = partial(join_new_rows, space, points, nearest.distances[:, -1], n_neighbors)
        return SimilarityGraph(
            matrix, join, exact=not self.approximate, home=None if is_on_host(X) else float64_zeros((0,), X)
        )

    def nbytes(self, X: Array) -> int:
        graph = X.shape[0] * self._count_neighbors(X) * BYTES_PER_NEIGHBOR
        return graph + count_stored(X) * (BYTES_PER_SPARSE_VALUE if is_sparse(X) else BYTES_PER_VALUE)

    def _count_neighbors(self, X: Array) -> int:
        return min(X.shape[0], self.n_neighbors or default_n_neighbors(X.shape[0]))


@contextmanager
def reuse_neighbors() -> Iterator[None]:
    """Search the neighbors of the same rows only once within this context, as for several numbers of clusters."""
    token = _searches.set({})
    try:
        yield
    finally:
        _searches.reset(token)


def find_or_reuse(X: Array, n_neighbors: int, seed: int | None) -> Nearest:
    """Find the nearest rows of each row, itself included: exactly, or nearly all of them if there is a seed."""
    searches = _searches.get() if is_on_host(X) else None
    key = None if searches is None else (digest_values(X), seed)
    nearest = None if searches is None else searches.get(key)
    if nearest is None or nearest.positions.shape[1] < n_neighbors:
        if seed is None:
            nearest = find_nearest(X, n_neighbors)
        else:
            nearest = find_nearly_nearest(X, n_neighbors, np.random.default_rng(seed))
        if searches is not None:
            searches[key] = nearest
    return Nearest(*(values[:, :n_neighbors] for values in nearest))


def digest_values(X: Array) -> bytes:
    """Return a digest of rows, which is equal for equal rows."""
    parts = (X.indptr - X.indptr[0], X.indices[X.stored], X.data[X.stored]) if is_sparse(X) else (X,)
    digest = hashlib.blake2b(repr((X.shape, str(X.dtype))).encode())
    for part in parts:
        digest.update(np.ascontiguousarray(part).data)
    return digest.digest()


@refer_as("join-neighbors")
def join_new_rows(
    space: SquaredDistances, fitted: KernelRows, radii: np.ndarray, n_neighbors: int, X: Array
) -> sp.csr_array:
    """Join new rows to those of the fit as those are joined to each other."""
    points = space.points(as_rows_like(X, fitted.X))
    matrix = KernelMatrix(space, points, fitted, cached=False)
    lengths, fitted_lengths = to_numpy(points.row_term), to_numpy(fitted.row_term)
    slack = ROUNDING * np.finfo(matrix.dtype).eps

    def find_edges(rows: slice, tile: Array) -> sp.csr_array:
        squared = to_numpy(tile)
        edges = np.zeros(squared.shape)
        nearest = np.argpartition(squared, n_neighbors - 1, axis=1)[:, :n_neighbors]
        np.put_along_axis(edges, nearest, 0.5, axis=1)
        edges += 0.5 * (squared <= radii**2 + slack * (lengths[rows, None] + fitted_lengths))
        return sp.csr_array(edges)

    return sp.vstack(list(matrix.map_tiles(find_edges)), format="csr")
