"""Co-trained multi-view spectral clustering (Kumar & Daumé 2011, Algorithm 1), for any number of views.

Each round projects a view's similarities K_v onto the other views' eigenvectors, S_v = sym(sum_{i != v} U_i U_i' K_v),
and takes the eigenvectors of that. S_v is never formed: with A = [U_i] (i != v) and B = K_v A it is (A B' + B A') / 2,
of rank twice the columns of A, so that its eigenvectors come exactly from a thin QR decomposition and a small matrix.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import scipy.linalg

from .._backend import cut, map_chunks
from ..affinities import Cross, Operator, degrees
from .eigen import SPARE, top_eigenvectors

SEARCHED = 1 << 18  # entries of S that a thread looks at in one go
SAMPLED = 1000  # rows of S in which its smallest entry is sought where the similarities are approximate
NOTHING = 1e-8  # an eigenvalue below this share of the largest (float32: 30 eps) is zero: there is no such dimension


@dataclass(frozen=True, eq=False)
class Embedding(ABC):
    """Where a view puts its entities, and how it places others."""

    U: np.ndarray  # (n, p) eigenvectors, of falling eigenvalues; zeros where the matrix has no more dimensions
    values: np.ndarray  # (p,)

    @abstractmethod
    def place(self, cross: Cross, others: np.ndarray) -> np.ndarray:
        """Other entities, by their similarities to these and the other views' places for them a round before."""


@dataclass(frozen=True, eq=False)
class First(Embedding):
    """Eigenvectors of D^-1/2 K D^-1/2: what the view says by itself."""

    weighted: np.ndarray  # D^-1/2 U
    least: float  # degree: who has no more is like nobody
    lonely: np.ndarray  # (n,) who that is
    beyond: float  # the eigenvalue after these; it may be larger, not smaller
    settled: bool  # whether the eigenvectors are as exact as they can be

    def place(self, cross: Cross, others: np.ndarray) -> np.ndarray:  # noqa: ARG002
        """The Nyström extension: u(x) = sum_j K(x, j) d(x)^-1/2 d_j^-1/2 u_j / value."""
        found = cross @ np.column_stack([np.ones(len(self.weighted)), self.weighted])
        return extended(found[:, 0], found[:, 1:], self.values, self.least)


@dataclass(frozen=True, eq=False)
class Projected(Embedding):
    """Eigenvectors of D^-1/2 (S - c) D^-1/2: what the view says of what the others say."""

    A: np.ndarray  # (n, m) the others' eigenvectors of the round before
    least: float
    into: np.ndarray  # (2m + 1, 1 + p): [a b 1] of an entity times this is its degree and its sums

    def place(self, cross: Cross, others: np.ndarray) -> np.ndarray:
        """The Nyström extension: S(x, j) needs the others' place of x and the similarities of x to all."""
        row = np.column_stack([others, cross @ self.A, np.ones(len(others))])
        found = row @ self.into
        return extended(found[:, 0], found[:, 1:], self.values, self.least)


def co_trained_spectral(
    operators: Sequence[Operator], n_vectors: int, n_projections: int, rng: np.random.Generator
) -> Iterator[list[Embedding]]:
    """The views' embeddings before any round, and after each, of which some eigenvectors are projected onto."""
    views: list[Embedding] = [embed(K, n_vectors, rng) for K in operators]
    yield views
    while True:
        # every view from the round before, whatever their order
        U = [view.U[:, :n_projections] for view in views]
        views = [project(K, others(U, v), n_vectors, rng) for v, K in enumerate(operators)]
        yield views


def others(views: Sequence[np.ndarray], v: int) -> np.ndarray:
    """What the other views have, side by side."""
    return np.hstack([views[v][:, :0], *(U for i, U in enumerate(views) if i != v)])


def embed(K: Operator, n_vectors: int, rng: np.random.Generator) -> First:
    """Eigenvectors of the normalised similarities, the algebraically largest first."""
    degree = degrees(K)
    least = nobody(degree)
    root = inverse_root(degree, least).astype(K.dtype)[:, None]
    start = rng.standard_normal((len(root), min(len(root), n_vectors + SPARE)))
    for column, part in zip(start.T, largest_parts(K.parts()), strict=False):
        column[:] = np.sqrt(np.maximum(degree, 0)) * part  # an eigenvector, of the eigenvalue 1
    found = top_eigenvectors(lambda X: root * (K @ (root * X)), start.astype(K.dtype), min(len(root), n_vectors))
    values, U = without_nothing(found.values, np.where(root > 0, found.vectors, 0))
    return First(U, values, root * U, least, root[:, 0] == 0, found.beyond, found.settled)


def largest_parts(parts: np.ndarray) -> Iterator[np.ndarray]:
    """Who belongs to each part, the largest first."""
    for label in np.argsort(-np.bincount(parts), kind="stable"):
        yield parts == label


def project(K: Operator, A: np.ndarray, n_vectors: int, rng: np.random.Generator) -> Projected:
    """Eigenvectors of the similarities projected onto the others' eigenvectors, exactly and without the matrix."""
    n, m = A.shape
    B = K @ A
    shift = min(0.0, least_entry(A, B, K.exact, rng))  # S - min(S), only where it is negative
    C = np.zeros((2 * m + 1, 2 * m + 1))
    C[:m, m : 2 * m] = C[m : 2 * m, :m] = np.eye(m) / 2
    C[-1, -1] = -shift
    G = np.column_stack([A, B, np.ones(n, A.dtype)])  # S - shift = G C G'
    sums = C @ G.sum(axis=0, dtype=np.float64)
    degree = G @ sums
    least = nobody(degree)
    root = inverse_root(degree, least).astype(G.dtype)[:, None]
    Q, R = scipy.linalg.qr(root * G, mode="economic", check_finite=False)
    values, Z = scipy.linalg.eigh(R @ C @ R.T)
    values, Z = values[::-1][:n_vectors], Z[:, ::-1][:, :n_vectors]
    values, U = without_nothing(values.astype(Q.dtype), np.where(root > 0, Q @ Z.astype(Q.dtype), 0))
    return Projected(U, values, A, least, np.column_stack([sums, C @ (G.T @ (root * U))]))


def least_entry(A: np.ndarray, B: np.ndarray, exact: bool, rng: np.random.Generator) -> float:
    """The smallest entry of (A B' + B A') / 2: of all entries, or of a sample of rows, some rows at a time."""
    n = len(A)
    left, right = np.hstack([A, B]), np.hstack([B, A])
    if exact:
        parts = cut(slice(0, n), max(1, min(n, n * n // SEARCHED)))
        # the matrix is symmetric: what lies left of the block has been seen
        return min(map_chunks(lambda rows: float((left[rows] @ right[rows.start :].T).min()), parts)) / 2
    chosen = left[np.sort(rng.choice(n, min(n, SAMPLED), replace=False))]
    parts = cut(slice(0, n), max(1, min(n, n * len(chosen) // SEARCHED)))
    return min(map_chunks(lambda rows: float((right[rows] @ chosen.T).min()), parts)) / 2


def nobody(degree: np.ndarray) -> float:
    """The degree of an entity that is like nobody, but for rounding."""
    return float(np.finfo(degree.dtype).eps * np.max(degree, initial=0))


def inverse_root(degree: np.ndarray, least: float) -> np.ndarray:
    """``degree ** -1/2``; 0 for entities that are like nobody."""
    there = degree > least
    return np.where(there, np.where(there, degree, 1.0) ** -0.5, 0.0)


def without_nothing(values: np.ndarray, U: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Zeros in place of the eigenvectors that belong to no dimension of the matrix, and any could be."""
    share = max(NOTHING, 30 * float(np.finfo(U.dtype).eps))
    real = np.abs(values) > share * np.abs(values).max()
    return np.where(real, values, 0.0), np.where(real, U, 0.0)


def extended(degree: np.ndarray, sums: np.ndarray, values: np.ndarray, least: float) -> np.ndarray:
    """Others placed among the entities: their sums over these, by the root of their degree and the eigenvalue."""
    return inverse_root(degree, least)[:, None] * sums / np.where(values != 0, values, np.inf)


def place(rounds: Sequence[Sequence[Embedding]], crosses: Sequence[Cross], n_projections: int) -> list[np.ndarray]:
    """Where each view puts other entities after the last round: round by round, as the entities of the fit went."""
    found = [np.empty((cross.shape[0], 0)) for cross in crosses]
    for views in rounds:
        known = [U[:, :n_projections] for U in found]
        found = [
            view.place(cross, others(known, v)) for v, (view, cross) in enumerate(zip(views, crosses, strict=True))
        ]
    return found


def unit_rows(U: np.ndarray) -> np.ndarray:
    """Rows scaled to unit length; rows of zeros stay."""
    U = U / np.where((most := np.abs(U).max(axis=1, initial=0, keepdims=True)) > 0, most, 1)  # squares may vanish
    lengths = np.sqrt(np.sum(U**2, axis=1, keepdims=True))
    return U / np.where(lengths > 0, lengths, 1)


def alignment(views: Sequence[Embedding], n_columns: int) -> float:
    """How far the views' embeddings span the same space: mean squared cosine of their angles, over pairs of views.

    The first eigenvectors, which tell no clusters apart, are left out. 1 for one view.
    """
    spans = [view.U[:, 1:n_columns][:, view.values[1:n_columns] != 0] for view in views]  # columns of unit length
    pairs = [np.sum((a.T @ b) ** 2) / max(1, min(a.shape[1], b.shape[1])) for a, b in combinations(spans, 2)]
    return float(np.mean(pairs)) if pairs else 1.0
