"""Canonical correlations of any number of views, through the principal components of each.

A view, or its kernel, is first reduced to its principal components: scores F_v with orthogonal columns. What the
views' scores have in common are the leading eigenvectors of the matrix of blocks ``B_v^-1/2 F_v' F_w B_w^-1/2``, with
zeros on the diagonal; ``B_v`` holds the view's variances with the ridge added. For two views the eigenvalues are the
canonical correlations; for more it is the generalization that maximizes the sum of all correlations.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from .._saving import save_as
from ..affinities import CrossOperator, ViewOperator
from ..methods.spectral.eigen import N_GUARD_VECTORS, top_eigenvectors
from .wrapping import Matrix

ALL_COLUMNS = 1000  # all components of a view with up to this many columns are used
DEFAULT_RANK = 100  # number of components of wider views, and of kernels
NULL_VARIANCE = 1e-10  # a variance below this share of the largest is a rounding error


@save_as("cca-linear-components")
@dataclass(frozen=True, eq=False)
class PrincipalComponents:
    """Principal components of columns."""

    mean: np.ndarray  # (columns,)
    directions: np.ndarray  # (columns, components)

    def place(self, X: Matrix) -> np.ndarray:
        """Return the scores of rows."""
        return X @ self.directions - self.mean @ self.directions


@save_as("cca-kernel-components")
@dataclass(frozen=True, eq=False)
class KernelPrincipalComponents:
    """Principal components of a kernel."""

    mean: np.ndarray  # (n,) of each column of the kernel
    weights: np.ndarray  # (n, components)

    def place(self, X: CrossOperator) -> np.ndarray:
        """Return the scores of new entities from their similarities to the entities of the fit."""
        # the row means that centering subtracts cancel out, because the weights sum to zero
        return X @ self.weights - self.mean @ self.weights


def fit_principal_components(
    X: Matrix, rank: int | None, rng: np.random.Generator
) -> tuple[PrincipalComponents, np.ndarray]:
    """Compute all or the leading principal components of the columns, and the scores of the rows."""
    mean = np.asarray(X.mean(axis=0), np.float64).ravel()
    if X.shape[1] <= ALL_COLUMNS:
        variances, directions = scipy.linalg.eigh(compute_view_covariance(X, mean))
        kept = slice(None) if rank is None else slice(-min(rank, len(variances)), None)
        variances, directions = variances[kept][::-1], directions[:, kept][:, ::-1]
    else:
        variances, directions = find_leading_directions(X, mean, rank or DEFAULT_RANK, rng)
    directions = directions[:, variances > NULL_VARIANCE * max(variances[0], np.finfo(np.float64).tiny)]
    components = PrincipalComponents(mean, directions)
    return components, components.place(X)


def compute_view_covariance(X: Matrix, mean: np.ndarray) -> np.ndarray:
    """Compute the covariance of the columns."""
    if sp.issparse(X):
        return (X.T @ X).toarray().astype(np.float64) / X.shape[0] - np.outer(mean, mean)
    centered = X - mean
    return centered.T @ centered / X.shape[0]


def find_leading_directions(
    X: Matrix, mean: np.ndarray, rank: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Compute the variances and principal axes of many columns without their covariance matrix."""
    n, d = X.shape
    rank = min(rank, n, d)

    def multiply(U: np.ndarray) -> np.ndarray:
        scores = X @ U - mean @ U
        return (X.T @ scores - np.outer(mean, scores.sum(axis=0))) / n

    top = top_eigenvectors(multiply, rng.standard_normal((d, min(d, rank + N_GUARD_VECTORS))), rank)
    return top.values, top.vectors


def fit_kernel_components(
    K: ViewOperator, rank: int | None, rng: np.random.Generator
) -> tuple[KernelPrincipalComponents, np.ndarray]:
    """Compute the leading principal components of a kernel, and the scores of the entities."""
    n = K.shape[0]
    rank = min(rank or DEFAULT_RANK, n)
    mean = (K @ np.full((n, 1), 1 / n))[:, 0].astype(np.float64)

    def center(U: np.ndarray) -> np.ndarray:
        return U - U.mean(axis=0, keepdims=True)

    start = rng.standard_normal((n, min(n, rank + N_GUARD_VECTORS))).astype(K.dtype)
    values, U, _, _ = top_eigenvectors(lambda X: center(K @ center(X)), start, rank)
    nonzero = values > np.sqrt(np.finfo(K.dtype).eps) * max(values[0], np.finfo(K.dtype).tiny)
    values, U = values[nonzero].astype(np.float64), center(U[:, nonzero].astype(np.float64))
    return KernelPrincipalComponents(mean, U / np.sqrt(values)), U * np.sqrt(values)


@save_as("cca-directions")
@dataclass(frozen=True, eq=False)
class CanonicalCorrelations:
    """The directions in which the views are correlated."""

    correlations: np.ndarray  # (components,), descending
    weights: Sequence[np.ndarray]  # one (dimensions, components) per view

    def compute_features(self, scores: Sequence[np.ndarray], present: np.ndarray) -> np.ndarray:
        """Average each entity's canonical variates over the views that it has."""
        total = sum(F @ W for F, W in zip(scores, self.weights, strict=True))
        return total / np.maximum(present.sum(axis=1, keepdims=True), 1)


def fit_canonical(
    scores: Sequence[np.ndarray],
    present: np.ndarray,
    n_components: int,
    regularization: float,
) -> CanonicalCorrelations:
    """Find the most correlated directions of the views' scores, which are zeros where an entity lacks the view.

    Covariances of two views are those of the entities that have both.
    """
    if len(scores) == 1:  # one view has no correlations: the principal components themselves
        width = scores[0].shape[1]
        return CanonicalCorrelations(np.full(min(width, n_components), np.nan), [np.eye(width)[:, :n_components]])
    variances = [np.sum(F**2, axis=0) / has_view.sum() for F, has_view in zip(scores, present.T, strict=True)]
    # A view may be zero for all entities that are in two views; it has no correlations.
    ridged = [variance + regularization * variance.mean() for variance in variances]
    scales = [np.where(variance > 0, variance, np.inf) ** -0.5 for variance in ridged]
    G = np.hstack([F * scale for F, scale in zip(scores, scales, strict=True)])
    widths = [len(scale) for scale in scales]
    view_of = np.repeat(np.arange(len(scores)), widths)
    shared = np.maximum(present.T.astype(float) @ present, 1)
    M = np.where(view_of[:, None] == view_of, 0.0, (G.T @ G) / shared[np.ix_(view_of, view_of)])
    n_components = min(n_components, max(widths))
    try:
        values, vectors = scipy.linalg.eigh(M, subset_by_index=[len(M) - n_components, len(M) - 1])
    except np.linalg.LinAlgError:  # LAPACK's subset driver fails on some matrices that are nearly zero
        values, vectors = (part[..., -n_components:] for part in scipy.linalg.eigh(M, driver="evd"))
    values, vectors = values[::-1], vectors[:, ::-1] * np.sqrt(len(scores))
    parts = np.split(vectors, np.cumsum(widths)[:-1])
    weights = [scale[:, None] * part for scale, part in zip(scales, parts, strict=True)]
    return CanonicalCorrelations(values / (len(scores) - 1), weights)
