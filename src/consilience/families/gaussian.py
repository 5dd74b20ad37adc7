"""Real numbers whose columns vary independently within a cluster."""

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
    map_values,
    namespace,
    sample_rows,
    squared_norms,
    to_numpy,
    weighted_sums,
)
from ..arrays.host import true_unless_known_false
from ..arrays.rows import is_sparse
from .base import Density, DensityFamily, Params, Statistics, convert_params, pool_empty_clusters


@dataclass(frozen=True, eq=False)
class BaseGaussian(DensityFamily):
    """What Gaussians of all shapes share: where they are measured from, and how narrow they may get.

    Sums of squares of numbers far from zero cancel, in float32 above all; measured from the data's middle they do not.
    """

    floor: float = 1e-6
    origin: Array | None = None
    spread: Array | None = None  # (columns,) variance of the middle half of the rows, which no far row can raise
    precision: float = float(np.finfo(np.float64).eps)

    def __post_init__(self) -> None:
        if not isinstance(self.floor, Real) or not 0 < self.floor < 1:
            raise ValueError(f"floor must be a share of the variance, above 0 and below 1, got {self.floor!r}")

    def bind(self, X: Array, present: Array) -> BaseGaussian:
        precision = float(namespace(X).finfo(X.dtype).eps)
        if is_sparse(X):
            return replace(self, origin=None, spread=None, precision=precision)
        some = sample_rows(X, present)
        low, high = np.quantile(to_numpy(some), [0.25, 0.75], axis=0)
        spread = asarray_like(((high - low) / 1.349) ** 2, X)  # of a Gaussian this is the variance
        return replace(self, origin=compute_origin(some, X.dtype), spread=spread, precision=precision)

    def statistics(self, X: Array, responsibilities: Array) -> Statistics:
        X = subtract_origin(as_rows(X), self.origin)
        xp = namespace(responsibilities)
        return {
            "counts": xp.astype(xp.sum(responsibilities, axis=0), xp.float64),
            "sums": weighted_sums(X, responsibilities),
            **self.second_moments(X, responsibilities),
        }

    @abstractmethod
    def second_moments(self, X: Array, responsibilities: Array) -> Statistics:
        """Sums of squares, or of products, of the columns."""

    def compute_means(self, statistics: Statistics) -> tuple[Array, Array]:
        """Mean and weight of each cluster, measured from the origin."""
        sums, counts = pool_empty_clusters(statistics["sums"], statistics["counts"])
        return sums / counts[:, None], counts

    def add_origin(self, means: Array) -> Array:
        return means if self.origin is None else means + self.origin[None, :]

    def variance_floor(self, statistics: Statistics, all_squares: Array, own_squares: Array) -> Array:
        """The narrowest that each cluster may get, column by column: a share of the variance of all rows.

        A column that never varies has no scale: what is left of its variance is noise of the products, and as large as
        the cluster's own squares make it. Squares are means, measured from the origin.
        """
        xp = namespace(own_squares)
        mean = xp.sum(statistics["sums"], axis=0) / xp.sum(statistics["counts"])
        variance = all_squares - mean * mean
        if self.spread is not None:
            spread = asarray_like(self.spread, variance)
            variance = xp.where(spread > 0, xp.minimum(spread, variance), variance)
        least = xp.maximum(self.floor * variance, 100 * self.precision * own_squares)
        return xp.where(least > 0, least, xp.full_like(least, self.floor))

    def params_complaint(self, params: Params) -> str | None:
        """Variances must be positive; matrices have more to ask."""
        return "'covariances' must be above 0" if (to_numpy(params["covariances"]) <= 0).any() else None

    def values_per_row(self, X: Array, n_clusters: int) -> int:
        columns = count_stored(X) // max(1, X.shape[0])
        if not is_on_host(X):
            return 2 * columns + n_clusters
        # a fifteenth of a row's multiplications: blocks of up to a million of them have a short cut in OpenBLAS
        return max((columns + n_clusters) // 2, columns * n_clusters // 15)

    def sample(self, params: Params, labels: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        means = to_numpy(params["means"])[labels]
        noise = rng.standard_normal(means.shape)
        return means + self.color_noise(noise, to_numpy(params["covariances"]), labels)

    @abstractmethod
    def color_noise(self, noise: np.ndarray, covariances: np.ndarray, labels: np.ndarray) -> np.ndarray:
        """White noise given the covariances of its rows' clusters."""


@save_as("family-gaussian")
@dataclass(frozen=True, eq=False)
class Gaussian(BaseGaussian):
    """Gaussian with a variance of its own for each column and cluster (a diagonal covariance); sparse stays sparse.

    Parameters
    ----------
    floor : float, default=1e-6
        A variance is at least this share of the column's variance over all rows (in `CoEM` over their middle half, if
        that is less, for far rows should not count), so that no cluster collapses onto a row. Within that bound
        `maximise` is exact: nothing is added to variances that are larger.

    Examples
    --------
    >>> import numpy as np
    >>> family = Gaussian()
    >>> statistics = family.statistics(np.array([[1.0], [3.0], [9.0]]), np.array([[1.0, 0], [1, 0], [0, 1]]))
    >>> family.maximise(statistics)["means"].tolist()
    [[2.0], [9.0]]
    """

    name: ClassVar[str] = "gaussian"

    def second_moments(self, X: Array, responsibilities: Array) -> Statistics:
        return {"squares": weighted_sums(map_values(X, square_values), responsibilities)}

    def maximize(self, statistics: Statistics) -> Params:
        xp = namespace(statistics["sums"])
        means, counts = self.compute_means(statistics)
        squares = pool_empty_clusters(statistics["squares"], statistics["counts"])[0] / counts[:, None]
        all_squares = xp.sum(statistics["squares"], axis=0) / xp.sum(statistics["counts"])
        least = self.variance_floor(statistics, all_squares, squares)
        return {"means": self.add_origin(means), "covariances": xp.maximum(squares - means * means, least)}

    def build_density(self, X: Array, params: Params) -> Density:
        means, variances = (convert_params(params, X)[name] for name in ("means", "covariances"))
        xp = namespace(X)
        origin = find_density_origin(means, xp.min(variances, axis=0), X)
        moved = means if origin is None else means - origin[None, :]
        own = xp.sum(xp.log(variances) + moved * moved / variances, axis=1) / 2 + X.shape[1] / 2 * log(2 * pi)
        linear = build_scorer(X, moved / variances, own)
        quadratic = build_scorer(X, -0.5 / variances)

        def log_prob(rows: Array) -> Array:
            rows = subtract_origin(rows, origin)
            scores = compute_scores(rows, linear)
            scores += compute_scores(map_values(rows, square_values), quadratic)
            return scores

        return log_prob

    def shapes(self, n_clusters: int, n_columns: int) -> dict[str, tuple[int, ...]]:
        return {"means": (n_clusters, n_columns), "covariances": (n_clusters, n_columns)}

    def n_parameters(self, params: Params) -> int:
        k, d = params["means"].shape
        return 2 * k * d

    def color_noise(self, noise: np.ndarray, covariances: np.ndarray, labels: np.ndarray) -> np.ndarray:
        return noise * np.sqrt(covariances)[labels]


@save_as("family-gaussian-spherical")
@dataclass(frozen=True, eq=False)
class GaussianSpherical(BaseGaussian):
    """Gaussian with one variance a cluster, the same in all columns: soft k-means; sparse stays sparse.

    Parameters
    ----------
    floor : float, default=1e-6
        The variance is at least this share of the average column's variance over all rows.
    """

    name: ClassVar[str] = "gaussian-spherical"

    def second_moments(self, X: Array, responsibilities: Array) -> Statistics:
        xp = namespace(responsibilities)
        return {"squares": squared_norms(X) @ xp.astype(responsibilities, xp.float64)}

    def maximize(self, statistics: Statistics) -> Params:
        xp = namespace(statistics["sums"])
        means, counts = self.compute_means(statistics)
        d = means.shape[1]
        squares = pool_empty_clusters(statistics["squares"], statistics["counts"])[0] / counts / d
        mean_square = xp.sum(statistics["squares"]) / xp.sum(statistics["counts"]) / d
        # in a sphere all columns are one: what they have to say is averaged
        least = xp.mean(
            self.variance_floor(statistics, means[0, :] * 0 + mean_square, squares[:, None] + means * 0), axis=1
        )
        return {
            "means": self.add_origin(means),
            "covariances": xp.maximum(squares - xp.vecdot(means, means) / d, least),
        }

    def build_density(self, X: Array, params: Params) -> Density:
        means, variances = (convert_params(params, X)[name] for name in ("means", "covariances"))
        xp = namespace(X)
        origin = find_density_origin(means, xp.min(variances), X)
        moved = means if origin is None else means - origin[None, :]
        own = X.shape[1] / 2 * xp.log(2 * pi * variances) + xp.vecdot(moved, moved) / variances / 2
        linear = build_scorer(X, moved / variances[:, None], own)
        half_precisions = xp.astype(0.5 / variances, X.dtype)

        def log_prob(rows: Array) -> Array:
            rows = subtract_origin(rows, origin)
            squares = xp.astype(squared_norms(rows), rows.dtype)
            return compute_scores(rows, linear) - squares[:, None] * half_precisions[None, :]

        return log_prob

    def shapes(self, n_clusters: int, n_columns: int) -> dict[str, tuple[int, ...]]:
        return {"means": (n_clusters, n_columns), "covariances": (n_clusters,)}

    def n_parameters(self, params: Params) -> int:
        k, d = params["means"].shape
        return k * d + k

    def color_noise(self, noise: np.ndarray, covariances: np.ndarray, labels: np.ndarray) -> np.ndarray:
        return noise * np.sqrt(covariances)[labels][:, None]


def square_values(values: Array) -> Array:
    """Each value times itself."""
    return values * values


def subtract_origin(X: Array, origin: Array | None) -> Array:
    """Rows measured from the origin."""
    return X if origin is None else X - namespace(X).astype(origin, X.dtype)[None, :]


def find_density_origin(means: Array, least: Array, X: Any) -> Array | None:
    """Where to measure rows from when they are compared with these means; None where zero serves as well.

    On a device it is not asked whether zero would serve: the answer would have to be waited for.
    """
    if is_sparse(X):
        return None
    xp = namespace(X)
    centre = xp.sort(means, axis=0)[means.shape[0] // 2, :]  # the median: one cluster may be far away
    most = float(xp.finfo(X.dtype).eps) ** -0.3
    if not true_unless_known_false(
        ~xp.all(centre * centre / most <= least)
    ):  # a quotient by the variances might overflow
        return None
    return xp.astype(xp.astype(centre, X.dtype), xp.float64)
