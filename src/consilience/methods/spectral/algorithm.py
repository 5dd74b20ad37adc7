"""Co-trained multi-view spectral clustering (Kumar & Daumé 2011, Algorithm 1), for any number of views.

Each round projects a view's similarities K_v onto the other views' eigenvectors, S_v = sym(sum_{i != v} U_i U_i' K_v),
and takes the eigenvectors of that. S_v is never formed: with A = [U_i] (i != v) and B = K_v A it is (A B' + B A') / 2,
of rank twice the columns of A, so that its eigenvectors come exactly from a thin QR decomposition and a small matrix.
All arrays are of the library, and on the device, of the products with the similarities; a round fetches nothing.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from itertools import combinations
from typing import Any

import numpy as np
import scipy.linalg
from array_api_compat import device

from ..._saving import save_as
from ..._tuning import Tuning
from ...affinities import CrossOperator, Operator
from ...affinities.base import cast_to, compute_degrees, find_components
from ...arrays import (
    Array,
    asarray_like,
    choose_block_size,
    float64_zeros,
    is_on_host,
    keep_where,
    map_chunks,
    namespace,
    split_slice,
    squared_norms,
    take_rows,
    to_numpy,
)
from . import eigen
from .eigen import N_GUARD_VECTORS, decompose_dense, descending_eigh, thin_qr, top_eigenvectors

tuning = Tuning(
    search_block=1 << 18,  # entries of S that a thread searches at a time; a device searches more
    shift_sample=1000,  # rows of S that are searched for the smallest entry if the similarities are approximate
)
RANDOM_SHARE = 1e-3  # of the vectors that eigenvectors are searched from, if they are sums of similarities
NULL_SHARE = 1e-8  # an eigenvalue below this share of the largest (float32: 30 eps) counts as zero


@dataclass(frozen=True, eq=False)
class Embedding(ABC):
    """The embedding of the entities by a view, and how it places new entities."""

    U: Array  # (n, p) eigenvectors by descending eigenvalue; zeros if the matrix has fewer dimensions
    values: Array  # (p,)

    @abstractmethod
    def place(self, cross: CrossOperator, others: Array) -> Array:
        """Place new entities by their similarities to these and the other views' embeddings of the round before."""


@dataclass(frozen=True, eq=False)
class EigenEmbedding(Embedding):
    """An embedding by eigenvectors of similarities, with what tells how reliable it is."""

    min_degree: Array  # an entity of at most this degree is isolated
    isolated: Array  # (n,) mask of isolated entities
    next_eigenvalue: float  # a lower bound of the eigenvalue after these
    converged: bool


@save_as("spectral-view")
@dataclass(frozen=True, eq=False)
class InitialEmbedding(EigenEmbedding):
    """Eigenvectors of D^-1/2 K D^-1/2: the embedding by the view alone."""

    weighted: Array  # D^-1/2 U

    def place(self, cross: CrossOperator, others: Array) -> Array:  # noqa: ARG002
        """Place new entities by the Nyström extension u(x) = sum_j K(x, j) d(x)^-1/2 d_j^-1/2 u_j / value."""
        xp = namespace(self.weighted)
        sums = cross @ xp.concat([ones_column(self.weighted, xp.float64), self.weighted], axis=1)
        return extend_nystroem(sums[:, 0], sums[:, 1:], self.values, self.min_degree)


@save_as("spectral-projected-view")
@dataclass(frozen=True, eq=False)
class ProjectedEmbedding(Embedding):
    """Eigenvectors of D^-1/2 (S - c) D^-1/2: the embedding by similarities projected onto the other views."""

    A: Array  # (n, m) the other views' eigenvectors of the round before
    min_degree: Array
    to_sums: Array  # (2m + 1, 1 + p): the row [a b 1] of an entity times this is its degree and its sums

    def place(self, cross: CrossOperator, others: Array) -> Array:
        """Place new entities by the Nyström extension; S(x, j) needs the other views' embedding of x and K(x, j)."""
        xp = namespace(others)
        row = xp.concat([others, cross @ self.A, ones_column(others, xp.float64)], axis=1)
        sums = row @ self.to_sums
        return extend_nystroem(sums[:, 0], sums[:, 1:], self.values, self.min_degree)


def run_co_training(
    operators: Sequence[Operator], n_vectors: int, n_projections: int, rng: np.random.Generator
) -> Iterator[list[Embedding]]:
    """Yield the views' embeddings before the first round and after each; rounds project onto the first eigenvectors."""
    views: list[Embedding] = [embed_view(K, n_vectors, rng) for K in operators]
    yield views
    while True:
        # every view is projected onto the round before, so that the order of the views does not matter
        U = [first_columns(view.U, n_projections) for view in views]
        views = [project_view(K, concatenate_others(U, v), n_vectors, rng) for v, K in enumerate(operators)]
        yield views


def first_columns(U: Array, number: int) -> Array:
    """Return the first columns, or all if there are fewer."""
    return U[:, : min(number, U.shape[1])]


def concatenate_others(views: Sequence[Array], v: int) -> Array:
    """Put the arrays of the other views side by side."""
    return namespace(views[v]).concat([views[v][:, :0], *(U for i, U in enumerate(views) if i != v)], axis=1)


def ones_column(array: Array, dtype: Any) -> Array:
    """Return a column of ones as long as a matrix."""
    return namespace(array).ones((array.shape[0], 1), dtype=dtype, device=device(array))


def embed_view(
    K: Operator, n_vectors: int, rng: np.random.Generator, *, tolerance: float | None = None
) -> InitialEmbedding:
    """Compute the eigenvectors of the normalized similarities with the algebraically largest eigenvalues.

    With a tolerance, in float32, which takes half of the time.
    """
    degree = compute_degrees(K)
    n = degree.shape[0]
    min_degree = isolated_below(degree)
    dtype = K.dtype if tolerance is None else np.dtype(np.float32)
    root = cast_to(invert_sqrt_degrees(degree, min_degree), dtype)[:, None]
    if n <= eigen.tuning.max_dense and is_on_host(degree):
        matrix = root * cast_to(K.columns(np.arange(n)), dtype) * root.T
        top = decompose_dense(matrix, min(n, n_vectors))
    else:
        start = cast_to(draw_start(K, degree, root, n_vectors, rng), dtype)
        top = top_eigenvectors(
            lambda X: root * cast_to(K @ (root * X), dtype), start, min(n, n_vectors), tolerance=tolerance
        )
    values, U = zero_null_eigenvectors(top.values, keep_where(root > 0, top.vectors, 0.0))
    return InitialEmbedding(U, values, min_degree, root[:, 0] == 0, top.next_eigenvalue, top.converged, root * U)


def draw_start(K: Operator, degree: Array, root: Array, n_vectors: int, rng: np.random.Generator) -> Array:
    """Return vectors to start the search for eigenvectors from, some more than wanted.

    The eigenvectors of the eigenvalue 1 are known: each connected component has one. The others are random, or sums of
    random similarities if these are cheap, which saves the first products. Even those are a little random, so that
    they are as many as wanted if the similarities have fewer dimensions.
    """
    xp, n = namespace(degree), degree.shape[0]
    width = min(n, n_vectors + N_GUARD_VECTORS)
    start = asarray_like(rng.standard_normal((n, width)), degree)
    if hasattr(K, "sketch"):
        start = RANDOM_SHARE * n**-0.5 * start + normalize_columns(root * K.sketch(width, rng))
    components = find_components(K)
    largest = np.argsort(-np.bincount(components), kind="stable")[:width]
    for i, component in enumerate(largest):
        members = asarray_like((components == component).astype(np.float64), degree)
        start[:, i] = xp.sqrt(keep_where(degree > 0, degree, 0.0)) * members
    return start


def normalize_columns(matrix: Array) -> Array:
    """Scale columns to unit length, in float64; columns of zeros stay."""
    xp = namespace(matrix)
    matrix = xp.astype(matrix, xp.float64)
    lengths = xp.sqrt(xp.sum(matrix**2, axis=0))
    return matrix / keep_where(lengths > 0, lengths, 1.0)


def project_view(K: Operator, A: Array, n_vectors: int, rng: np.random.Generator) -> ProjectedEmbedding:
    """Compute the eigenvectors of the similarities projected onto the other views' eigenvectors, exactly."""
    xp, m = namespace(A), A.shape[1]
    B = K @ A
    smallest = find_smallest_entry(A, B, K.exact, rng)
    half = xp.eye(m, dtype=xp.float64, device=device(A)) / 2
    C = float64_zeros((2 * m + 1, 2 * m + 1), A)
    C[:m, m : 2 * m] = C[m : 2 * m, :m] = half
    C[-1, -1] = xp.astype(-keep_where(smallest < 0, smallest, 0.0), xp.float64)  # only negative entries are shifted
    G = xp.concat([A, B, ones_column(A, A.dtype)], axis=1)  # S - shift = G C G'
    sums = C @ xp.sum(G, axis=0, dtype=xp.float64)
    degree = xp.astype(G, xp.float64, copy=False) @ sums
    min_degree = isolated_below(degree)
    root = xp.astype(invert_sqrt_degrees(degree, min_degree), G.dtype)[:, None]
    Q, R = thin_qr(root * G)
    R = xp.astype(R, xp.float64, copy=False)
    values, Z = descending_eigh(R @ C @ R.T)
    values, Z = (xp.astype(first_columns(array, n_vectors), Q.dtype) for array in (values[None, :], Z))
    values, U = zero_null_eigenvectors(values[0, :], keep_where(root > 0, Q @ Z, 0.0))
    to_sums = C @ xp.astype(G.T @ (root * U), xp.float64, copy=False)
    return ProjectedEmbedding(U, values, A, min_degree, xp.concat([sums[:, None], to_sums], axis=1))


def find_smallest_entry(A: Array, B: Array, exact: bool, rng: np.random.Generator) -> Array:
    """Find the smallest entry of (A B' + B A') / 2, among all entries if `exact`, otherwise in a sample of rows."""
    xp, n = namespace(A), A.shape[0]
    left, right = xp.concat([A, B], axis=1), xp.concat([B, A], axis=1)
    sample = None
    if not exact:
        rows = np.sort(rng.choice(n, min(n, tuning.shift_sample), replace=False))
        sample = take_rows(left, asarray_like(rows, left))

    def find_smallest(left: Array, right: Array, rows: slice) -> Array:
        if sample is not None:
            return xp.min(right[rows, :] @ sample.T)
        return xp.min(left[rows, :] @ right[rows.start :, :].T)  # symmetric: earlier blocks cover the other columns

    size = n * (n if sample is None else sample.shape[0])
    blocks = split_slice(slice(0, n), max(1, min(n, size // choose_block_size(A, tuning.search_block))))
    if not is_on_host(A):
        return reduce(xp.minimum, map(partial(find_smallest, left, right), blocks)) / 2
    if exact and left.dtype == np.float64 and len(blocks) > 1:
        blocks = screen_blocks(A, B, find_smallest, blocks)
    return min(map_chunks(partial(find_smallest, left, right), blocks)) / 2


def screen_blocks(
    A: np.ndarray, B: np.ndarray, find_smallest: Callable[..., np.ndarray], blocks: Sequence[slice]
) -> list[slice]:
    """Return the blocks that may contain the smallest entry of A B' + B A', by a search in float32.

    It takes half of the time of float64, which mostly needs to search only one block after it.
    """
    unit_A, unit_B = ((array / (np.abs(array).max() or 1.0)).astype(np.float32) for array in (A, B))
    left, right = np.hstack([unit_A, unit_B]), np.hstack([unit_B, unit_A])
    minima = np.array(list(map_chunks(partial(find_smallest, left, right), blocks)), np.float64)
    # of an inner product of rounded numbers (Higham 2002, section 3.1), with a margin for the rounding of the lengths
    error = 1.1 * (left.shape[1] + 2) * float(np.finfo(np.float32).eps) * float(np.max(squared_norms(left)))
    return [block for block, smallest in zip(blocks, minima, strict=True) if smallest <= minima.min() + 2 * error]


def isolated_below(degree: Array) -> Array:
    """Return the degree below which an entity counts as isolated."""
    xp = namespace(degree)
    limit = float(xp.finfo(degree.dtype).eps) * xp.max(degree)
    limit = keep_where(limit > 0, limit, 0.0)
    return float(limit) if is_on_host(limit) else limit


def invert_sqrt_degrees(degree: Array, min_degree: Array) -> Array:
    """Compute ``degree ** -1/2``; 0 for isolated entities."""
    connected = degree > min_degree
    return keep_where(connected, keep_where(connected, degree, 1.0) ** -0.5, 0.0)


def zero_null_eigenvectors(values: Array, U: Array) -> tuple[Array, Array]:
    """Zero the eigenvectors whose eigenvalue is numerically zero: they are arbitrary."""
    xp = namespace(values)
    share = max(NULL_SHARE, 30 * float(xp.finfo(U.dtype).eps))
    nonzero = xp.abs(values) > share * xp.max(xp.abs(values))
    return keep_where(nonzero, values, 0.0), keep_where(nonzero, U, 0.0)


def extend_nystroem(degree: Array, sums: Array, values: Array, min_degree: Array) -> Array:
    """Place entities by their degree and their weighted sums over the entities of the fit."""
    return invert_sqrt_degrees(degree, min_degree)[:, None] * sums / keep_where(values != 0, values, np.inf)


def place_entities(
    rounds: Sequence[Sequence[Embedding]], crosses: Sequence[CrossOperator], n_projections: int
) -> list[Array]:
    """Place new entities in each view's last embedding, round by round as the entities of the fit."""
    placed: list[Array] = [np.empty((cross.shape[0], 0)) for cross in crosses]
    for views in rounds:
        U = [first_columns(array, n_projections) for array in placed]
        placed = [
            view.place(cross, concatenate_others(U, v))
            for v, (view, cross) in enumerate(zip(views, crosses, strict=True))
        ]
    return placed


def compute_alignment(views: Sequence[Embedding], n_columns: int) -> float:
    """Compute the mean squared cosine of the angles between the views' embeddings, over pairs of views.

    The first eigenvectors, which distinguish no clusters, are left out. 1 for one view.
    """
    xp = namespace(views[0].U)
    spans = []
    for view in views:
        U = first_columns(view.U, n_columns)[:, 1:]
        nonzero = view.values[1 : U.shape[1] + 1] != 0
        # null eigenvectors are columns of zeros, which stay on a device
        spans.append((U[:, nonzero] if is_on_host(U) else U, xp.sum(xp.astype(nonzero, xp.int64))))
    overlaps = []
    for (a, rank_a), (b, rank_b) in combinations(spans, 2):
        rank = xp.astype(xp.minimum(rank_a, rank_b), a.dtype)
        overlaps.append(xp.sum(xp.matmul(a.T, b) ** 2) / keep_where(rank > 0, rank, 1.0))
    return float(xp.mean(xp.stack(overlaps))) if overlaps else 1.0


@save_as("embedding-rotation")
@dataclass(frozen=True, eq=False)
class Rotation:
    """A rotation of the embedding after which each cluster has an axis (Damle, Minden & Ying 2019)."""

    axes: Array  # (columns, k)

    def predict(self, E: Array) -> np.ndarray:
        xp = namespace(E)
        return to_numpy(xp.argmax(xp.abs(E @ asarray_like(self.axes, E)), axis=1))

    def measure_distances(self, E: Array) -> np.ndarray:
        """Return the distance of each row, scaled to unit length, to the nearer end of each axis, (n, k)."""
        xp = namespace(E)
        length = xp.sqrt(xp.sum(E**2, axis=1))[:, None]
        cosine = xp.abs(E @ asarray_like(self.axes, E)) / keep_where(length > 0, length, 1.0)
        return to_numpy(xp.sqrt(xp.clip(2 - 2 * cosine, 0.0, None)))


def fit_rotation(E: Array, n_clusters: int) -> Rotation:
    """Find clusters by a QR decomposition with column pivoting, which needs no random starts.

    If the embedding has more columns than clusters (several views), its leading directions are used.
    """
    _, _, directions = thin_svd(E)
    directions = directions[: min(n_clusters, directions.shape[0]), :].T
    U = E @ directions
    left, _, right = thin_svd(select_pivot_rows(U, n_clusters).T)
    return Rotation(directions @ (left @ right))


def thin_svd(matrix: Array) -> tuple[Array, Array, Array]:
    """Return left singular vectors, singular values and right singular vectors."""
    if is_on_host(matrix):
        return scipy.linalg.svd(matrix, full_matrices=False)
    return namespace(matrix).linalg.svd(matrix, full_matrices=False)


def select_pivot_rows(U: Array, number: int) -> Array:
    """Select rows one after the other, each the farthest from the span of those before it."""
    if is_on_host(U):
        return U[scipy.linalg.qr(U.T, pivoting=True)[2][:number]]
    xp = namespace(U)
    pivots, rest = [], U
    for _ in range(number):
        lengths = xp.sum(rest**2, axis=1)
        farthest = xp.argmax(lengths, keepdims=True)
        pivots.append(xp.take(U, farthest, axis=0))
        axis = xp.take(rest, farthest, axis=0)
        largest = xp.max(lengths)
        rest = rest - (rest @ axis.T) * (axis / keep_where(largest > 0, largest, 1.0))
    return xp.concat(pivots)


def compute_cluster_means(E: Array, labels: np.ndarray, n_clusters: int) -> tuple[Array, Array]:
    """Compute the mean of each cluster in an embedding, zeros if it is empty, and the number of its entities."""
    xp = namespace(E)
    members = labels[:, None] == np.arange(n_clusters)
    members, sizes = (xp.astype(asarray_like(array, E), E.dtype) for array in (members, members.sum(axis=0)))
    return (members.T @ E) / keep_where(sizes > 0, sizes, 1.0)[:, None], sizes


def assign_nearest_mean(E: Array, labels: np.ndarray, n_clusters: int) -> np.ndarray:
    """Label each entity by the nearest mean of a cluster in this embedding; empty clusters get none."""
    xp = namespace(E)
    means, sizes = compute_cluster_means(E, labels, n_clusters)
    score = E @ means.T - xp.sum(means**2, axis=1) / 2
    return to_numpy(xp.argmax(keep_where(sizes > 0, score, -np.inf), axis=1))


def compute_compactness(E: Array, labels: np.ndarray, n_clusters: int) -> float:
    """Compute the share of an embedding's variance that lies between the clusters; 0 if all entities coincide."""
    xp = namespace(E)
    means, sizes = compute_cluster_means(E, labels, n_clusters)
    center = xp.mean(E, axis=0)
    between = float(xp.sum(sizes[:, None] * (means - center) ** 2))
    total = float(xp.sum((E - center) ** 2))
    return min(1.0, between / total) if total > 0 else 0.0
