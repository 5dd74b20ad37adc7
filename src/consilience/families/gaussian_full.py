"""Gaussians with full covariance matrices, one per cluster or one for all."""

from __future__ import annotations

from dataclasses import dataclass
from math import log, pi
from typing import ClassVar

import numpy as np
from array_api_compat import device

from .._saving import save_as
from ..arrays import Array, build_scorer, compute_scores, is_on_host, namespace, sum_of_squares, to_numpy
from ..arrays.linalg import inverse_cholesky, is_positive_definite, weighted_cross_products
from .base import Density, Params, Statistics, convert_params, pool_empty_clusters
from .gaussian import BaseGaussian, find_density_origin, subtract_origin


@dataclass(frozen=True, eq=False)
class BaseCovariance(BaseGaussian):
    """Base of Gaussians whose covariances are matrices; the floor holds in every direction."""

    def params_complaint(self, params: Params) -> str | None:
        covariances = to_numpy(params["covariances"])
        transposed = np.swapaxes(covariances, -1, -2)
        if not np.allclose(covariances, transposed, rtol=1e-6, atol=1e-9 * np.abs(covariances).max()):
            return "'covariances' must be symmetric"
        try:
            np.linalg.cholesky(covariances)
        except np.linalg.LinAlgError:
            return "'covariances' must be positive definite"
        return None

    def raise_to_floor(self, covariances: Array, floor: Array) -> Array:
        """Maximum likelihood covariances (..., d, d) whose variance is above the floor in every direction.

        `floor` (..., d) holds the smallest variance of each column, which is also the scale of the column.
        """
        xp = namespace(covariances)
        scale = xp.sqrt(floor)
        scales = scale[..., :, None] * scale[..., None, :]
        scaled = covariances / scales
        if is_positive_definite(scaled - xp.eye(scaled.shape[-1], dtype=scaled.dtype, device=device(scaled))):
            return covariances
        values, directions = xp.linalg.eigh(scaled)
        stretched = directions * xp.clip(values, 1.0, None)[..., None, :]
        return xp.where(xp.any(values < 1), stretched @ xp.matrix_transpose(directions) * scales, covariances)


@save_as("family-gaussian-full")
@dataclass(frozen=True, eq=False)
class GaussianFull(BaseCovariance):
    """Gaussian with one covariance matrix per cluster.

    Parameters
    ----------
    floor : float, default=1e-6
        Smallest variance in any direction, as a share of the variance over all rows; it keeps clusters from collapsing.
    """

    name: ClassVar[str] = "gaussian-full"

    def second_moments(self, X: Array, responsibilities: Array) -> Statistics:
        return {"products": weighted_cross_products(X, responsibilities)}

    def maximize(self, statistics: Statistics) -> Params:
        xp = namespace(statistics["sums"])
        means, counts = self.compute_means(statistics)
        products = pool_empty_clusters(statistics["products"], statistics["counts"])[0] / counts[:, None, None]
        all_squares = xp.sum(xp.linalg.diagonal(statistics["products"]), axis=0) / xp.sum(statistics["counts"])
        floor = self.variance_floor(statistics, all_squares, xp.linalg.diagonal(products))
        covariances = products - means[:, :, None] * means[:, None, :]
        return {"means": self.add_origin(means), "covariances": self.raise_to_floor(covariances, floor)}

    def build_density(self, X: Array, params: Params) -> Density:
        means, covariances = (convert_params(params, X)[name] for name in ("means", "covariances"))
        k, d = means.shape
        xp = namespace(X)
        whitening = compute_whitening(covariances)
        origin = find_density_origin(means, xp.min(xp.linalg.diagonal(covariances), axis=0), X)
        # the whitening matrices of all clusters side by side, so that one product serves all
        table = xp.astype(xp.reshape(xp.permute_dims(whitening, (1, 0, 2)), (d, k * d)), X.dtype)
        shift = xp.astype((subtract_origin(means, origin)[:, None, :] @ whitening)[:, 0, :], X.dtype)
        constant = xp.sum(xp.log(xp.linalg.diagonal(whitening)), axis=1) - d / 2 * log(2 * pi)
        constant = xp.astype(constant, X.dtype)

        def log_prob(rows: Array) -> Array:
            white = xp.reshape(subtract_origin(rows, origin) @ table, (rows.shape[0], k, d))
            white -= shift[None, ...]
            return constant[None, :] - sum_of_squares(white) / 2

        return log_prob

    def shapes(self, n_clusters: int, n_columns: int) -> dict[str, tuple[int, ...]]:
        return {"means": (n_clusters, n_columns), "covariances": (n_clusters, n_columns, n_columns)}

    def values_per_row(self, X: Array, n_clusters: int) -> int:
        copies = (
            n_clusters // 10 if is_on_host(X) else n_clusters
        )  # larger blocks are faster on the host even if they exceed the cache
        return max(1, copies) * X.shape[1]

    def work_per_value(self, X: Array, n_clusters: int) -> int:
        return max(1, n_clusters * X.shape[1] // 8)

    def n_parameters(self, params: Params) -> int:
        k, d = params["means"].shape
        return k * d + k * d * (d + 1) // 2

    def color_noise(self, noise: np.ndarray, covariances: np.ndarray, labels: np.ndarray) -> np.ndarray:
        return np.einsum("icd,id->ic", np.linalg.cholesky(covariances)[labels], noise)


@save_as("family-gaussian-tied")
@dataclass(frozen=True, eq=False)
class GaussianTied(BaseCovariance):
    """Gaussian with one covariance matrix that all clusters share.

    Parameters
    ----------
    floor : float, default=1e-6
        Smallest variance in any direction, as a share of the variance over all rows.
    """

    name: ClassVar[str] = "gaussian-tied"

    def second_moments(self, X: Array, responsibilities: Array) -> Statistics:
        weights = namespace(responsibilities).sum(responsibilities, axis=1)[:, None]
        return {"products": weighted_cross_products(X, weights)[0, ...]}

    def maximize(self, statistics: Statistics) -> Params:
        xp = namespace(statistics["sums"])
        means, _ = self.compute_means(statistics)
        counts, products = statistics["counts"], statistics["products"]
        squares = xp.linalg.diagonal(products) / xp.sum(counts)
        covariance = (products - (counts[:, None] * means).T @ means) / xp.sum(counts)
        covariance = self.raise_to_floor(covariance, self.variance_floor(statistics, squares, squares))
        return {"means": self.add_origin(means), "covariances": covariance}

    def build_density(self, X: Array, params: Params) -> Density:
        means, covariance = (convert_params(params, X)[name] for name in ("means", "covariances"))
        d = means.shape[1]
        xp = namespace(X)
        whitening = compute_whitening(covariance)
        origin = find_density_origin(means, xp.linalg.diagonal(covariance), X)
        centers = subtract_origin(means, origin) @ whitening
        constant = xp.sum(xp.log(xp.linalg.diagonal(whitening))) - d / 2 * log(2 * pi)
        table = xp.astype(whitening, X.dtype)
        linear = build_scorer(X, centers, xp.sum(centers * centers, axis=1) / 2 - constant)

        def log_prob(rows: Array) -> Array:
            white = subtract_origin(rows, origin) @ table
            return compute_scores(white, linear) - sum_of_squares(white)[:, None] / 2

        return log_prob

    def shapes(self, n_clusters: int, n_columns: int) -> dict[str, tuple[int, ...]]:
        return {"means": (n_clusters, n_columns), "covariances": (n_columns, n_columns)}

    def values_per_row(self, X: Array, n_clusters: int) -> int:
        return 2 * X.shape[1] + n_clusters

    def work_per_value(self, X: Array, n_clusters: int) -> int:
        return max(1, (n_clusters + X.shape[1]) // 8)

    def n_parameters(self, params: Params) -> int:
        k, d = params["means"].shape
        return k * d + d * (d + 1) // 2

    def color_noise(self, noise: np.ndarray, covariances: np.ndarray, labels: np.ndarray) -> np.ndarray:  # noqa: ARG002
        return noise @ np.linalg.cholesky(covariances).T


def compute_whitening(covariances: Array) -> Array:
    """Upper triangular matrices W such that ``|(x - m) W|`` is the Mahalanobis length of x - m: (..., d, d)."""
    return namespace(covariances).matrix_transpose(inverse_cholesky(covariances))
