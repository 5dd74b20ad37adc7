"""Gaussians with diagonal or spherical covariances."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from math import log, pi
from numbers import Real
from typing import Any, ClassVar

import numpy as np

from .._saving import save_as
from ..arrays import (
    Array,
    as_rows,
    asarray_like,
    build_scorer,
    compute_origin,
    compute_scores,
    count_stored,
    is_on_host,
    is_sparse,
    map_values,
    namespace,
    sample_rows,
    squared_norms,
    to_numpy,
    true_unless_known_false,
    weighted_sums,
)
from .base import Density, DensityFamily, Params, Statistics, convert_params, count_and_sum, pool_empty_clusters


@dataclass(frozen=True, eq=False)
class BaseGaussian(DensityFamily):
    """Base of all Gaussians: the origin of the coordinates, and the floor of the variances.

    Sums of squares of numbers far from zero cancel, above all in float32; measured from the data's center they do not.
    """

    floor: float = 1e-6
    origin: Array | None = None
    spread: Array | None = None  # (columns,) variance estimated from the quartiles, which outliers do not raise
    precision: float = float(np.finfo(np.float64).eps)

    def __post_init__(self) -> None:
        if not isinstance(self.floor, Real) or not 0 < self.floor < 1:
            raise ValueError(f"floor must be a share of the variance, above 0 and below 1, got {self.floor!r}")

    def bind(self, X: Array, present: Array) -> BaseGaussian:
        precision = float(namespace(X).finfo(X.dtype).eps)
        if is_sparse(X):
            return replace(self, origin=None, spread=None, precision=precision)
        sample = sample_rows(X, present)
        low, high = np.quantile(to_numpy(sample), [0.25, 0.75], axis=0)
        spread = asarray_like(((high - low) / 1.349) ** 2, X)  # the variance, if the column is Gaussian
        return replace(self, origin=compute_origin(sample, X.dtype), spread=spread, precision=precision)

    def statistics(self, X: Array, responsibilities: Array) -> Statistics:
        X = subtract_origin(as_rows(X), self.origin)
        return count_and_sum(X, responsibilities, responsibilities) | self.second_moments(X, responsibilities)

    @abstractmethod
    def second_moments(self, X: Array, responsibilities: Array) -> Statistics:
        """Weighted sums of squares, or of products, of the columns."""

    def compute_means(self, statistics: Statistics) -> tuple[Array, Array]:
        """Mean, relative to the origin, and weight of each cluster."""
        sums, counts = pool_empty_clusters(statistics["sums"], statistics["counts"])
        return sums / counts[:, None], counts

    def add_origin(self, means: Array) -> Array:
        return means if self.origin is None else means + self.origin[None, :]

    def variance_floor(self, statistics: Statistics, all_squares: Array, cluster_squares: Array) -> Array:
        """The smallest variance allowed, per cluster and column: a share of the variance over all rows.

        The computed variance of a constant column is rounding noise, in proportion to the squares of the cluster. The
        squares are means, relative to the origin.
        """
        xp = namespace(cluster_squares)
        mean = xp.sum(statistics["sums"], axis=0) / xp.sum(statistics["counts"])
        variance = all_squares - mean * mean
        if self.spread is not None:
            spread = asarray_like(self.spread, variance)
            variance = xp.where(spread > 0, xp.minimum(spread, variance), variance)
        floor = xp.maximum(self.floor * variance, 100 * self.precision * cluster_squares)
        return xp.where(floor > 0, floor, xp.full_like(floor, self.floor))

    def params_complaint(self, params: Params) -> str | None:
        return "'covariances' must be above 0" if (to_numpy(params["covariances"]) <= 0).any() else None

    def values_per_row(self, X: Array, n_clusters: int) -> int:
        columns = count_stored(X) // max(1, X.shape[0])
        if not is_on_host(X):
            return 2 * columns + n_clusters
        # a fifteenth of a row's multiplications: OpenBLAS is faster on blocks of up to a million multiplications
        return max((columns + n_clusters) // 2, columns * n_clusters // 15)

    def sample(self, params: Params, labels: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        means = to_numpy(params["means"])[labels]
        noise = rng.standard_normal(means.shape)
        return means + self.color_noise(noise, to_numpy(params["covariances"]), labels)

    @abstractmethod
    def color_noise(self, noise: np.ndarray, covariances: np.ndarray, labels: np.ndarray) -> np.ndarray:
        """Turn white noise into noise with the covariance of each row's cluster."""


@save_as("family-gaussian")
@dataclass(frozen=True, eq=False)
class Gaussian(BaseGaussian):
    """Gaussian with one variance per column and cluster (a diagonal covariance); accepts sparse rows.

    Parameters
    ----------
    floor : float, default=1e-6
        Smallest variance, as a share of the column's variance over all rows (in `CoEM` the variance estimated from the
        quartiles, if that is smaller, so that outliers do not matter). It keeps clusters from collapsing onto a row.
        Larger variances are maximum likelihood estimates: nothing is added to them.

    Examples
    --------
    >>> import numpy as np
    >>> family = Gaussian()
    >>> statistics = family.statistics(np.array([[1.0], [3.0], [9.0]]), np.array([[1.0, 0], [1, 0], [0, 1]]))
    >>> family.maximize(statistics)["means"].tolist()
    [[2.0], [9.0]]
    """

    name: ClassVar[str] = "gaussian"
    accepts_sparse: ClassVar[bool] = True

    def second_moments(self, X: Array, responsibilities: Array) -> Statistics:
        return {"squares": weighted_sums(map_values(X, square_values), responsibilities)}

    def maximize(self, statistics: Statistics) -> Params:
        xp = namespace(statistics["sums"])
        means, counts = self.compute_means(statistics)
        squares = pool_empty_clusters(statistics["squares"], statistics["counts"])[0] / counts[:, None]
        all_squares = xp.sum(statistics["squares"], axis=0) / xp.sum(statistics["counts"])
        floor = self.variance_floor(statistics, all_squares, squares)
        return {"means": self.add_origin(means), "covariances": xp.maximum(squares - means * means, floor)}

    def build_density(self, X: Array, params: Params) -> Density:
        means, variances = (convert_params(params, X)[name] for name in ("means", "covariances"))
        xp = namespace(X)
        origin = find_density_origin(means, xp.min(variances, axis=0), X)
        shifted = subtract_origin(means, origin)
        bias = xp.sum(xp.log(variances) + shifted * shifted / variances, axis=1) / 2 + X.shape[1] / 2 * log(2 * pi)
        linear = build_scorer(X, shifted / variances, bias)
        quadratic = build_scorer(X, -0.5 / variances)

        def log_prob(rows: Array) -> Array:
            rows = subtract_origin(rows, origin)
            scores = compute_scores(rows, linear)
            scores += compute_scores(map_values(rows, square_values), quadratic)
            return scores

        return log_prob

    def shapes(self, n_clusters: int, n_columns: int) -> dict[str, tuple[int, ...]]:
        return {"means": (n_clusters, n_columns), "covariances": (n_clusters, n_columns)}

    def color_noise(self, noise: np.ndarray, covariances: np.ndarray, labels: np.ndarray) -> np.ndarray:
        return noise * np.sqrt(covariances)[labels]


@save_as("family-gaussian-spherical")
@dataclass(frozen=True, eq=False)
class GaussianSpherical(BaseGaussian):
    """Gaussian with one variance per cluster, as in soft k-means; accepts sparse rows.

    Parameters
    ----------
    floor : float, default=1e-6
        Smallest variance, as a share of the average column's variance over all rows.
    """

    name: ClassVar[str] = "gaussian-spherical"
    accepts_sparse: ClassVar[bool] = True

    def second_moments(self, X: Array, responsibilities: Array) -> Statistics:
        xp = namespace(responsibilities)
        return {"squares": squared_norms(X) @ xp.astype(responsibilities, xp.float64)}

    def maximize(self, statistics: Statistics) -> Params:
        xp = namespace(statistics["sums"])
        means, counts = self.compute_means(statistics)
        d = means.shape[1]
        squares = pool_empty_clusters(statistics["squares"], statistics["counts"])[0] / counts / d
        mean_square = xp.sum(statistics["squares"]) / xp.sum(statistics["counts"]) / d
        # all columns share one variance, so their floors are averaged
        floors = self.variance_floor(statistics, means[0, :] * 0 + mean_square, squares[:, None] + means * 0)
        variances = xp.maximum(squares - xp.vecdot(means, means) / d, xp.mean(floors, axis=1))
        return {"means": self.add_origin(means), "covariances": variances}

    def build_density(self, X: Array, params: Params) -> Density:
        means, variances = (convert_params(params, X)[name] for name in ("means", "covariances"))
        xp = namespace(X)
        origin = find_density_origin(means, xp.min(variances), X)
        shifted = subtract_origin(means, origin)
        bias = X.shape[1] / 2 * xp.log(2 * pi * variances) + xp.vecdot(shifted, shifted) / variances / 2
        linear = build_scorer(X, shifted / variances[:, None], bias)
        half_precisions = xp.astype(0.5 / variances, X.dtype)

        def log_prob(rows: Array) -> Array:
            rows = subtract_origin(rows, origin)
            squares = xp.astype(squared_norms(rows), rows.dtype)
            return compute_scores(rows, linear) - squares[:, None] * half_precisions[None, :]

        return log_prob

    def shapes(self, n_clusters: int, n_columns: int) -> dict[str, tuple[int, ...]]:
        return {"means": (n_clusters, n_columns), "covariances": (n_clusters,)}

    def color_noise(self, noise: np.ndarray, covariances: np.ndarray, labels: np.ndarray) -> np.ndarray:
        return noise * np.sqrt(covariances)[labels][:, None]


def square_values(values: Array) -> Array:
    """Each value times itself."""
    return values * values


def subtract_origin(X: Array, origin: Array | None) -> Array:
    """Rows relative to the origin."""
    return X if origin is None else X - namespace(X).astype(origin, X.dtype)[None, :]


def find_density_origin(means: Array, smallest_variances: Array, X: Any) -> Array | None:
    """Point to measure rows from when they are compared with these means; None if zero serves as well.

    On a device there is always such a point: to ask whether zero serves would force a synchronization.
    """
    if is_sparse(X):
        return None
    xp = namespace(X)
    center = xp.sort(means, axis=0)[means.shape[0] // 2, :]  # the median, because one cluster may be far away
    largest_ratio = float(xp.finfo(X.dtype).eps) ** -0.3
    is_near = xp.all(center * center / largest_ratio <= smallest_variances)  # a quotient by them might overflow
    if not true_unless_known_false(~is_near):
        return None
    return xp.astype(xp.astype(center, X.dtype), xp.float64)
