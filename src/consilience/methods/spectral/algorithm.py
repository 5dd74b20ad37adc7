"""Co-trained multi-view spectral clustering (Kumar & Daumé 2011, Algorithm 1), for any number of views.

Each round projects a view's similarities K_v onto the other views' eigenvectors, S_v = sym(sum_{i != v} U_i U_i' K_v),
and takes the eigenvectors of that. S_v is never formed: with A = [U_i] (i != v) and B = K_v A it is (A B' + B A') / 2,
of rank twice the columns of A, so that its eigenvectors come exactly from a thin QR decomposition and a small matrix.
All arrays are of the library, and on the device, of what the similarities give; a round brings nothing from there.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import combinations, islice
from typing import Any

import numpy as np
from array_api_compat import device

from ..._saving import save_as
from ...affinities import CrossOperator, Operator, cast_to, compute_degrees
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
    take_rows,
)
from .eigen import N_GUARD_VECTORS, descending_eigh, thin_qr, top_eigenvectors

SEARCH_BLOCK = 1 << 18  # entries of S that a thread looks at in one go; a device looks at more
SHIFT_SAMPLE = 1000  # rows of S in which its smallest entry is sought where the similarities are approximate
NULL_SHARE = 1e-8  # an eigenvalue below this share of the largest (float32: 30 eps) is zero: there is no such dimension


@dataclass(frozen=True, eq=False)
class Embedding(ABC):
    """Where a view puts its entities, and how it places others."""

    U: Array  # (n, p) eigenvectors, of falling eigenvalues; zeros where the matrix has no more dimensions
    values: Array  # (p,)

    @abstractmethod
    def place(self, cross: CrossOperator, others: Array) -> Array:
        """Other entities, by their similarities to these and the other views' places for them a round before."""


@save_as("spectral-view")
@dataclass(frozen=True, eq=False)
class InitialEmbedding(Embedding):
    """Eigenvectors of D^-1/2 K D^-1/2: what the view says by itself."""

    weighted: Array  # D^-1/2 U
    least: Array  # degree: who has no more is like nobody
    isolated: Array  # (n,) who that is
    next_eigenvalue: float  # the eigenvalue after these; it may be larger, not smaller
    settled: bool  # whether the eigenvectors are as exact as they can be

    def place(self, cross: CrossOperator, others: Array) -> Array:  # noqa: ARG002
        """The Nyström extension: u(x) = sum_j K(x, j) d(x)^-1/2 d_j^-1/2 u_j / value."""
        xp = namespace(self.weighted)
        found = cross @ xp.concat([ones_column(self.weighted, xp.float64), self.weighted], axis=1)
        return extend_nystroem(found[:, 0], found[:, 1:], self.values, self.least)


@save_as("spectral-projected-view")
@dataclass(frozen=True, eq=False)
class ProjectedEmbedding(Embedding):
    """Eigenvectors of D^-1/2 (S - c) D^-1/2: what the view says of what the others say."""

    A: Array  # (n, m) the others' eigenvectors of the round before
    least: Array
    into: Array  # (2m + 1, 1 + p): [a b 1] of an entity times this is its degree and its sums

    def place(self, cross: CrossOperator, others: Array) -> Array:
        """The Nyström extension: S(x, j) needs the others' place of x and the similarities of x to all."""
        xp = namespace(others)
        row = xp.concat([others, cross @ self.A, ones_column(others, xp.float64)], axis=1)
        found = row @ self.into
        return extend_nystroem(found[:, 0], found[:, 1:], self.values, self.least)


def run_co_training(
    operators: Sequence[Operator], n_vectors: int, n_projections: int, rng: np.random.Generator
) -> Iterator[list[Embedding]]:
    """The views' embeddings before any round, and after each, of which some eigenvectors are projected onto."""
    views: list[Embedding] = [embed_view(K, n_vectors, rng) for K in operators]
    yield views
    while True:
        # every view from the round before, whatever their order
        U = [first_columns(view.U, n_projections) for view in views]
        views = [project_view(K, concatenate_others(U, v), n_vectors, rng) for v, K in enumerate(operators)]
        yield views


def first_columns(U: Array, number: int) -> Array:
    """The first columns, or all where there are fewer."""
    return U[:, : min(number, U.shape[1])]


def concatenate_others(views: Sequence[Array], v: int) -> Array:
    """What the other views have, side by side."""
    return namespace(views[v]).concat([views[v][:, :0], *(U for i, U in enumerate(views) if i != v)], axis=1)


def ones_column(array: Array, dtype: Any) -> Array:
    """A column of ones as long as a matrix."""
    return namespace(array).ones((array.shape[0], 1), dtype=dtype, device=device(array))


def embed_view(K: Operator, n_vectors: int, rng: np.random.Generator) -> InitialEmbedding:
    """Eigenvectors of the normalised similarities, the algebraically largest first."""
    degree = compute_degrees(K)
    xp, n = namespace(degree), degree.shape[0]
    least = isolated_below(degree)
    root = cast_to(invert_sqrt_degrees(degree, least), K.dtype)[:, None]
    start = asarray_like(rng.standard_normal((n, min(n, n_vectors + N_GUARD_VECTORS))), degree)
    for i, part in enumerate(islice(largest_parts(K.parts()), start.shape[1])):
        # an eigenvector, of the eigenvalue 1
        start[:, i] = xp.sqrt(keep_where(degree > 0, degree, 0.0)) * asarray_like(part.astype(np.float64), degree)
    found = top_eigenvectors(lambda X: root * (K @ (root * X)), cast_to(start, K.dtype), min(n, n_vectors))
    values, U = zero_null_eigenvectors(found.values, keep_where(root > 0, found.vectors, 0.0))
    return InitialEmbedding(U, values, root * U, least, root[:, 0] == 0, found.next_eigenvalue, found.settled)


def largest_parts(parts: np.ndarray) -> Iterator[np.ndarray]:
    """Who belongs to each part, the largest first."""
    for label in np.argsort(-np.bincount(parts), kind="stable"):
        yield parts == label


def project_view(K: Operator, A: Array, n_vectors: int, rng: np.random.Generator) -> ProjectedEmbedding:
    """Eigenvectors of the similarities projected onto the others' eigenvectors, exactly and without the matrix."""
    xp, m = namespace(A), A.shape[1]
    B = K @ A
    shift = find_smallest_entry(A, B, K.exact, rng)
    half = xp.eye(m, dtype=xp.float64, device=device(A)) / 2
    C = float64_zeros((2 * m + 1, 2 * m + 1), A)
    C[:m, m : 2 * m] = C[m : 2 * m, :m] = half
    C[-1, -1] = xp.astype(-keep_where(shift < 0, shift, 0.0), xp.float64)  # S - min(S), only where it is negative
    G = xp.concat([A, B, ones_column(A, A.dtype)], axis=1)  # S - shift = G C G'
    sums = C @ xp.sum(G, axis=0, dtype=xp.float64)
    degree = xp.astype(G, xp.float64, copy=False) @ sums
    least = isolated_below(degree)
    root = xp.astype(invert_sqrt_degrees(degree, least), G.dtype)[:, None]
    Q, R = thin_qr(root * G)
    R = xp.astype(R, xp.float64, copy=False)
    values, Z = descending_eigh(R @ C @ R.T)
    values, Z = (xp.astype(first_columns(own, n_vectors), Q.dtype) for own in (values[None, :], Z))
    values, U = zero_null_eigenvectors(values[0, :], keep_where(root > 0, Q @ Z, 0.0))
    into = C @ xp.astype(G.T @ (root * U), xp.float64, copy=False)
    return ProjectedEmbedding(U, values, A, least, xp.concat([sums[:, None], into], axis=1))


def find_smallest_entry(A: Array, B: Array, exact: bool, rng: np.random.Generator) -> Array:
    """The smallest entry of (A B' + B A') / 2: of all entries, or of a sample of rows, some rows at a time."""
    xp, n = namespace(A), A.shape[0]
    left, right = xp.concat([A, B], axis=1), xp.concat([B, A], axis=1)
    chosen = (
        None
        if exact
        else take_rows(left, asarray_like(np.sort(rng.choice(n, min(n, SHIFT_SAMPLE), replace=False)), left))
    )

    def smallest(rows: slice) -> Array:
        if chosen is not None:
            return xp.min(right[rows, :] @ chosen.T)
        return xp.min(left[rows, :] @ right[rows.start :, :].T)  # symmetric: what lies left of the block has been seen

    size = n * (n if chosen is None else chosen.shape[0])
    parts = split_slice(slice(0, n), max(1, min(n, size // choose_block_size(A, SEARCH_BLOCK))))
    return reduce(xp.minimum, (map_chunks if is_on_host(A) else map)(smallest, parts)) / 2


def isolated_below(degree: Array) -> Array:
    """The degree of an entity that is like nobody, but for rounding."""
    xp = namespace(degree)
    most = float(xp.finfo(degree.dtype).eps) * xp.max(degree)
    most = keep_where(most > 0, most, 0.0)
    return float(most) if is_on_host(most) else most


def invert_sqrt_degrees(degree: Array, least: Array) -> Array:
    """``degree ** -1/2``; 0 for entities that are like nobody."""
    there = degree > least
    return keep_where(there, keep_where(there, degree, 1.0) ** -0.5, 0.0)


def zero_null_eigenvectors(values: Array, U: Array) -> tuple[Array, Array]:
    """Zeros in place of the eigenvectors that belong to no dimension of the matrix, and any could be."""
    xp = namespace(values)
    share = max(NULL_SHARE, 30 * float(xp.finfo(U.dtype).eps))
    real = xp.abs(values) > share * xp.max(xp.abs(values))
    return keep_where(real, values, 0.0), keep_where(real, U, 0.0)


def extend_nystroem(degree: Array, sums: Array, values: Array, least: Array) -> Array:
    """Others placed among the entities: their sums over these, by the root of their degree and the eigenvalue."""
    return invert_sqrt_degrees(degree, least)[:, None] * sums / keep_where(values != 0, values, np.inf)


def place_entities(
    rounds: Sequence[Sequence[Embedding]], crosses: Sequence[CrossOperator], n_projections: int
) -> list[Array]:
    """Where each view puts other entities after the last round: round by round, as the entities of the fit went."""
    found: list[Array] = [np.empty((cross.shape[0], 0)) for cross in crosses]
    for views in rounds:
        known = [first_columns(U, n_projections) for U in found]
        found = [
            view.place(cross, concatenate_others(known, v))
            for v, (view, cross) in enumerate(zip(views, crosses, strict=True))
        ]
    return found


def normalize_embedding(U: Array) -> Array:
    """Rows scaled to unit length; rows of zeros stay."""
    xp = namespace(U)
    most = xp.max(xp.abs(U), axis=1, keepdims=True)
    U = U / keep_where(most > 0, most, 1.0)  # squares may vanish
    lengths = xp.sqrt(xp.sum(U**2, axis=1, keepdims=True))
    return U / keep_where(lengths > 0, lengths, 1.0)


def compute_alignment(views: Sequence[Embedding], n_columns: int) -> float:
    """How far the views' embeddings span the same space: mean squared cosine of their angles, over pairs of views.

    The first eigenvectors, which tell no clusters apart, are left out. 1 for one view.
    """
    xp = namespace(views[0].U)
    pairs = [measure_subspace_overlap(one, other, n_columns) for one, other in combinations(views, 2)]
    return float(xp.mean(xp.stack(pairs))) if pairs else 1.0


def measure_subspace_overlap(one: Embedding, other: Embedding, n_columns: int) -> Array:
    """Mean squared cosine of the angles between the spaces of two views."""
    xp = namespace(one.U)
    (a, n_a), (b, n_b) = (spanning_columns(view, n_columns) for view in (one, other))
    rank = xp.astype(xp.minimum(n_a, n_b), a.dtype)
    return xp.sum(xp.matmul(a.T, b) ** 2) / keep_where(rank > 0, rank, 1.0)


def spanning_columns(view: Embedding, n_columns: int) -> tuple[Array, Array]:
    """A view's eigenvectors after the first, of unit length, and how many there are; on a device zeros beside them."""
    U = first_columns(view.U, n_columns)[:, 1:]
    real = view.values[1 : U.shape[1] + 1] != 0
    xp = namespace(U)
    return U[:, real] if is_on_host(U) else U, xp.sum(xp.astype(real, xp.int64))
