"""Real numbers whose columns vary together within a cluster."""

from __future__ import annotations

from dataclasses import dataclass
from math import log, pi
from typing import ClassVar

import numpy as np
from scipy.linalg import solve_triangular

from .._backend import CSR, Array, like, namespace, to_numpy
from .base import Density, Params, Statistics, pool_dead
from .gaussian import BaseGaussian, centred, origin_of


@dataclass(frozen=True, eq=False)
class BaseCovariance(BaseGaussian):
    """Gaussians whose covariances are matrices: never narrower, in any direction, than the floor allows."""

    def complaint(self, X: Array) -> str | None:
        if isinstance(X, CSR):
            return (
                f"needs dense rows, got a sparse matrix {X.shape}. Use family 'gaussian', 'multinomial' or "
                "'von-mises-fisher', or reduce the view first (scikit-learn's TruncatedSVD)"
            )
        return None

    def refusal(self, params: Params) -> str | None:
        covariances = to_numpy(params["covariances"])
        turned = np.swapaxes(covariances, -1, -2)
        if not np.allclose(covariances, turned, rtol=1e-6, atol=1e-9 * np.abs(covariances).max()):
            return "'covariances' must be symmetric"
        try:
            np.linalg.cholesky(covariances)
        except np.linalg.LinAlgError:
            return "'covariances' must be positive definite"
        return None

    def raised(self, covariances: np.ndarray, least: np.ndarray) -> np.ndarray:
        """Covariances (..., d, d) with no direction below the floor: the largest likelihood within that bound.

        `least` (..., d) holds the smallest variance of each column, which is also the scale of its directions.
        """
        scale = np.sqrt(least)
        scales = scale[..., :, None] * scale[..., None, :]
        scaled = covariances / scales
        try:
            np.linalg.cholesky(scaled - np.eye(scaled.shape[-1]))  # succeeds where all directions are above
        except np.linalg.LinAlgError:
            values, directions = np.linalg.eigh(scaled)
            return (directions * np.maximum(values, 1.0)[..., None, :]) @ np.swapaxes(directions, -1, -2) * scales
        return covariances


@dataclass(frozen=True, eq=False)
class GaussianFull(BaseCovariance):
    """Gaussian with a covariance matrix of its own for each cluster.

    Parameters
    ----------
    floor : float, default=1e-6
        No direction's variance is below this share of the variance over all rows, so that no cluster collapses.
    """

    name: ClassVar[str] = "gaussian-full"

    def scatter(self, X: Array, responsibilities: Array) -> Statistics:
        xp = namespace(X)
        roots = xp.sqrt(xp.astype(responsibilities, X.dtype, copy=False))
        return {"products": xp.stack([products(X * roots[:, j][:, None]) for j in range(roots.shape[1])])}

    def maximise(self, statistics: Statistics) -> Params:
        means, counts = self.means(statistics)
        pooled, _ = pool_dead(statistics["products"], statistics["counts"])
        m, products = to_numpy(means), to_numpy(pooled) / to_numpy(counts)[:, None, None]
        small = {name: to_numpy(statistics[name]) for name in ("counts", "sums")}
        all_squares = np.einsum("jcc->c", to_numpy(statistics["products"])) / small["counts"].sum()
        least = self.least(small, all_squares, np.einsum("jcc->jc", products))
        covariances = products - m[:, :, None] * m[:, None, :]
        return {"means": self.absolute(means), "covariances": like(self.raised(covariances, least), means)}

    def density(self, X: Array, params: Params) -> Density:
        means, covariances = (to_numpy(params[name]).astype(np.float64) for name in ("means", "covariances"))
        k, d = means.shape
        whitening = np.stack([whitener(own) for own in covariances])
        least = np.einsum("jcc->jc", covariances).min(axis=0)
        origin = origin_of(like(means, X), like(least, X), X)
        moved = means if origin is None else means - to_numpy(origin)
        xp = namespace(X)
        # all clusters' whiteners side by side: one product for all of them
        table = xp.astype(like(whitening.transpose(1, 0, 2).reshape(d, k * d), X), X.dtype)
        shift = xp.astype(like(np.einsum("jc,jce->je", moved, whitening), X), X.dtype)
        constant = np.log(np.einsum("jcc->jc", whitening)).sum(axis=1) - d / 2 * log(2 * pi)
        constant = xp.astype(like(constant, X), X.dtype)

        def log_prob(rows: Array) -> Array:
            white = xp.reshape(centred(rows, origin) @ table, (rows.shape[0], k, d)) - shift[None, ...]
            return constant[None, :] - xp.vecdot(white, white) / 2

        return log_prob

    def shapes(self, n_clusters: int, n_columns: int) -> dict[str, tuple[int, ...]]:
        return {"means": (n_clusters, n_columns), "covariances": (n_clusters, n_columns, n_columns)}

    def width(self, X: Array, n_clusters: int) -> int:
        return max(1, n_clusters // 10) * X.shape[1]  # the product is large: it pays to let it leave the cache

    def work(self, X: Array, n_clusters: int) -> int:
        return max(1, n_clusters * X.shape[1] // 8)

    def n_parameters(self, params: Params) -> int:
        k, d = params["means"].shape
        return k * d + k * d * (d + 1) // 2

    def coloured(self, noise: np.ndarray, covariances: np.ndarray, labels: np.ndarray) -> np.ndarray:
        return np.einsum("icd,id->ic", np.linalg.cholesky(covariances)[labels], noise)


@dataclass(frozen=True, eq=False)
class GaussianTied(BaseCovariance):
    """Gaussian with one covariance matrix that all clusters share.

    Parameters
    ----------
    floor : float, default=1e-6
        No direction's variance is below this share of the variance over all rows.
    """

    name: ClassVar[str] = "gaussian-tied"

    def scatter(self, X: Array, responsibilities: Array) -> Statistics:
        xp = namespace(X)
        weights = xp.astype(xp.sum(responsibilities, axis=1), X.dtype, copy=False)
        return {"products": products(X * xp.sqrt(weights)[:, None])}

    def maximise(self, statistics: Statistics) -> Params:
        means, _ = self.means(statistics)
        small = {name: to_numpy(statistics[name]) for name in ("counts", "sums")}
        m, n, products = to_numpy(means), small["counts"], to_numpy(statistics["products"])
        squares = np.diag(products) / n.sum()
        covariance = (products - (n[:, None] * m).T @ m) / n.sum()
        raised = self.raised(covariance, self.least(small, squares, squares))
        return {"means": self.absolute(means), "covariances": like(raised, means)}

    def density(self, X: Array, params: Params) -> Density:
        means, covariance = (to_numpy(params[name]).astype(np.float64) for name in ("means", "covariances"))
        d = means.shape[1]
        whitening = whitener(covariance)
        origin = origin_of(like(means, X), like(np.diag(covariance), X), X)
        moved = (means if origin is None else means - to_numpy(origin)) @ whitening
        xp = namespace(X)
        table, centres = (xp.astype(like(values, X), X.dtype) for values in (whitening, np.ascontiguousarray(moved.T)))
        constant = np.log(np.diag(whitening)).sum() - d / 2 * log(2 * pi) - (moved * moved).sum(axis=1) / 2
        constant = xp.astype(like(constant, X), X.dtype)

        def log_prob(rows: Array) -> Array:
            white = centred(rows, origin) @ table
            return white @ centres + constant[None, :] - xp.vecdot(white, white)[:, None] / 2

        return log_prob

    def shapes(self, n_clusters: int, n_columns: int) -> dict[str, tuple[int, ...]]:
        return {"means": (n_clusters, n_columns), "covariances": (n_columns, n_columns)}

    def width(self, X: Array, n_clusters: int) -> int:
        return 2 * X.shape[1] + n_clusters

    def work(self, X: Array, n_clusters: int) -> int:
        return max(1, (n_clusters + X.shape[1]) // 8)

    def n_parameters(self, params: Params) -> int:
        k, d = params["means"].shape
        return k * d + d * (d + 1) // 2

    def coloured(self, noise: np.ndarray, covariances: np.ndarray, labels: np.ndarray) -> np.ndarray:  # noqa: ARG002
        return noise @ np.linalg.cholesky(covariances).T


def products(rows: Array) -> Array:
    """``rows.T @ rows`` as float64, multiplied in the type of the rows."""
    xp = namespace(rows)
    return xp.astype(rows.T @ rows, xp.float64, copy=False)


def whitener(covariance: np.ndarray) -> np.ndarray:
    """The upper triangular matrix W with ``|(x - m) W|`` the Mahalanobis length of x - m."""
    return solve_triangular(np.linalg.cholesky(covariance), np.eye(len(covariance)), lower=True).T
