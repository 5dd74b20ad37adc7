"""Mahalanobis distance: squared Euclidean distance in which correlated columns do not count twice."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._saving import save_as
from ..arrays import Array, KernelRows, asarray_like, is_on_host, is_sparse, namespace, to_numpy
from .base import NoDivergenceError, PairDivergence, ProductMeasure
from .squared_euclidean import EuclideanMeasure

LEAST_VARIANCE = 1e-12  # directions with less than this share of all variance are left out


@save_as("divergence-mahalanobis")
@dataclass(frozen=True, eq=False)
class Mahalanobis(PairDivergence):
    """``(x - y)' C^-1 (x - y)``. As a mixture's component: a Gaussian of covariance C / (2 beta).

    Parameters
    ----------
    covariance : array-like of shape (n_columns, n_columns), optional
        C; by default the covariance of the view's columns. Directions without variance are left out.

    Examples
    --------
    >>> import numpy as np
    >>> import consilience as cs
    >>> X = np.array([[0.0, 0.0], [2.0, 3.0]])
    >>> measure = cs.divergences.Mahalanobis(covariance=[[4.0, 0.0], [0.0, 1.0]]).learn(X)
    >>> divergences = -measure.tile(measure.points(X), measure.exemplars(X))
    >>> round(float(divergences[0, 1]), 4)
    10.0
    """

    covariance: Array | None = None

    has_kernel = True

    def learn(self, X: Array) -> MahalanobisMeasure:
        if is_sparse(X):
            raise NoDivergenceError(
                "divergence 'mahalanobis' needs dense rows, got a sparse matrix: reduce the view first (TruncatedSVD), "
                "or use divergence 'cosine'"
            )
        d = X.shape[1]
        if self.covariance is None:
            if X.shape[0] <= d:
                raise NoDivergenceError(
                    f"{X.shape[0]} entities do not determine the covariance of {d} columns: reduce the view first "
                    "(PCA), or use divergence 'squared-euclidean'"
                )
            C = compute_covariance(X)
        else:
            C = np.asarray(self.covariance, dtype=np.float64)
            if C.shape != (d, d) or not np.allclose(C, C.T):
                raise NoDivergenceError(f"covariance= must be a symmetric matrix, {d} x {d}, got shape {C.shape}")
        sizes = np.sqrt(np.where(C.diagonal() > 0, C.diagonal(), 1.0))
        values, vectors = np.linalg.eigh(C / sizes / sizes[:, None])  # of correlations, so that units do not matter
        kept = values > LEAST_VARIANCE * len(C)
        if values[0] < -LEAST_VARIANCE * len(C):
            raise NoDivergenceError("covariance= has negative variances: give a positive definite matrix")
        if not kept.any():
            raise NoDivergenceError("no column varies: leave the view out")
        whiten = vectors[:, kept] / sizes[:, None] / np.sqrt(values[kept])
        axes = vectors[:, kept] * sizes[:, None] * np.sqrt(values[kept])  # C is axes axes'
        xp = namespace(X)
        mean = to_numpy(xp.mean(xp.astype(X, xp.float64, copy=False), axis=0))
        return MahalanobisMeasure(whiten, mean, -float(np.log(np.linalg.svd(axes, compute_uv=False)).sum()))


def compute_covariance(X: Array) -> np.ndarray:
    """Covariance of the columns; from a device only the result is fetched."""
    xp = namespace(X)
    X = xp.astype(X, xp.float64, copy=False)
    if is_on_host(X):
        return np.atleast_2d(np.cov(X, rowvar=False))
    centered = X - xp.mean(X, axis=0)
    return to_numpy(centered.T @ centered) / (X.shape[0] - 1)


@save_as("measure-mahalanobis")
@dataclass(frozen=True, eq=False)
class MahalanobisMeasure(ProductMeasure):
    """Squared distances of whitened rows."""

    whiten: np.ndarray  # (columns, directions)
    mean: np.ndarray  # (columns,)
    log_volume: float

    scale = EuclideanMeasure.scale

    def whiten_rows(self, X: Array) -> Array:
        xp = namespace(X)
        mean, whiten = (xp.astype(asarray_like(values, X), X.dtype) for values in (self.mean, self.whiten))
        return (X - mean[None, :]) @ whiten

    @property
    def distances(self) -> EuclideanMeasure:
        return EuclideanMeasure(None, self.log_volume)

    def points(self, X: Array) -> KernelRows:
        return self.distances.points(self.whiten_rows(X))

    def log_normalizer(self, X: Array, beta: float) -> np.ndarray:
        return self.distances.log_normalizer(self.whiten_rows(X), beta)
