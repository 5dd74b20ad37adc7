"""Mahalanobis distance: squared Euclidean where correlated columns do not count twice."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._saving import save_as
from ..arrays import CSR, Array, KernelRows, asarray_like, namespace, to_numpy
from .pairs import BasePairs, NoDivergenceError, ProductMeasure
from .squared_euclidean import EuclideanMeasure

LEAST = 1e-12  # a direction of correlated columns with less than this share of all variance is not one of its own


@save_as("divergence-mahalanobis")
@dataclass(frozen=True, eq=False)
class Mahalanobis(BasePairs):
    """``(x - y)' C^-1 (x - y)``. As a mixture's component: a Gaussian of covariance C / (2 beta).

    Parameters
    ----------
    covariance : array-like of shape (n_columns, n_columns), optional
        C; by default the covariance of the view's columns. Directions of no variance are left out.
    """

    covariance: Array | None = None

    has_kernel = True

    def learn(self, X: Array) -> MahalanobisMeasure:
        if isinstance(X, CSR):
            raise NoDivergenceError(
                "divergence 'mahalanobis' needs dense rows, got a sparse matrix: reduce the view first (TruncatedSVD), "
                "or use divergence 'cosine'"
            )
        d = X.shape[1]
        if self.covariance is None:
            if X.shape[0] <= d:
                raise NoDivergenceError(
                    f"{X.shape[0]} entities do not tell the covariance of {d} columns: reduce the view first (PCA), or "
                    "use divergence 'squared-euclidean'"
                )
            C = compute_covariance(X)
        else:
            C = np.asarray(self.covariance, dtype=np.float64)
            if C.shape != (d, d) or not np.allclose(C, C.T):
                raise NoDivergenceError(f"covariance= must be a symmetric matrix, {d} x {d}, got shape {C.shape}")
        sizes = np.sqrt(np.where(C.diagonal() > 0, C.diagonal(), 1.0))  # correlations, so that units do not matter
        values, vectors = np.linalg.eigh(C / sizes / sizes[:, None])
        kept = values > LEAST * len(C)
        if values[0] < -LEAST * len(C):
            raise NoDivergenceError("covariance= has negative variances: give a positive definite matrix")
        if not kept.any():
            raise NoDivergenceError("no column varies: leave the view out")
        whiten = vectors[:, kept] / sizes[:, None] / np.sqrt(values[kept])
        axes = vectors[:, kept] * sizes[:, None] * np.sqrt(values[kept])  # C is axes axes'
        return MahalanobisMeasure(whiten, middle_of(X), -float(np.log(np.linalg.svd(axes, compute_uv=False)).sum()))


def middle_of(X: Array) -> np.ndarray:
    """Mean of each column."""
    xp = namespace(X)
    return to_numpy(xp.mean(xp.astype(X, xp.float64, copy=False), axis=0))


def compute_covariance(X: Array) -> np.ndarray:
    """Of the columns: what is fetched from a device is no more than that."""
    xp = namespace(X)
    X = xp.astype(X, xp.float64, copy=False)
    if isinstance(X, np.ndarray):
        return np.atleast_2d(np.cov(X, rowvar=False))
    moved = X - xp.mean(X, axis=0)
    return to_numpy(moved.T @ moved) / (X.shape[0] - 1)


@save_as("measure-mahalanobis")
@dataclass(frozen=True, eq=False)
class MahalanobisMeasure(ProductMeasure):
    """Squared distances of rows whose columns were made independent and of unit variance."""

    whiten: np.ndarray  # (columns, directions)
    middle: np.ndarray  # (columns,)
    log_volume: float

    scale = EuclideanMeasure.scale

    def rows(self, X: Array) -> Array:
        xp = namespace(X)
        middle, whiten = (xp.astype(asarray_like(own, X), X.dtype) for own in (self.middle, self.whiten))
        return (X - middle[None, :]) @ whiten

    @property
    def distances(self) -> EuclideanMeasure:
        return EuclideanMeasure(None, self.log_volume)

    def points(self, X: Array) -> KernelRows:
        return self.distances.points(self.rows(X))

    def exemplars(self, X: Array) -> KernelRows:
        return self.points(X)

    def log_normalizer(self, X: Array, beta: float) -> np.ndarray:
        return self.distances.log_normalizer(self.rows(X), beta)
