"""Gaussians with diagonal, spherical, full or shared covariances."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from functools import cache
from math import log, pi
from typing import ClassVar

import numpy as np
from array_api_compat import device

from .._numbers import is_real
from .._saving import save_as
from ..arrays import (
    Array,
    Scorer,
    as_rows,
    asarray_like,
    build_scorer,
    compute_origin,
    compute_scores,
    count_stored,
    find_fused_loops,
    is_on_host,
    is_sparse,
    map_values,
    namespace,
    sample_rows,
    squared_norms,
    sum_of_squares,
    to_numpy,
    true_unless_known_false,
    weighted_sums,
)
from ..arrays.linalg import compute_cross_products, find_indefinite, inverse_cholesky, is_positive_definite
from .base import (
    Density,
    DensityFamily,
    Params,
    Statistics,
    convert_params,
    count_and_sum,
    pool_empty_clusters,
    sum_responsibilities,
)


@dataclass(frozen=True, eq=False)
class BaseGaussian(DensityFamily):
    """Base of all Gaussians: the origin of the coordinates, and the floor of the variances.

    Sums of squares of numbers far from zero cancel, above all in float32; measured from the data's center they do not.
    """

    floor: float = 1e-6
    origin: Array | None = None  #: (n_columns,) point near the rows that they are measured from; `bind` sets it
    #: (n_columns,) variance estimated from the quartiles, which outliers do not raise; `bind` sets it
    spread: Array | None = None
    precision: float = float(np.finfo(np.float64).eps)  #: machine epsilon of the rows; `bind` sets it

    def __post_init__(self) -> None:
        if not is_real(self.floor) or not 0 < self.floor < 1:
            raise ValueError(f"floor must be a share of the variance, above 0 and below 1, got {self.floor!r}")

    def bind(self, X: Array, present: Array) -> BaseGaussian:
        precision = float(namespace(X).finfo(X.dtype).eps)
        if is_sparse(X):
            return replace(self, origin=None, spread=None, precision=precision)
        sample = sample_rows(X, present)
        low, high = interpolate_quartiles(np.sort(to_numpy(sample), axis=0))
        spread = asarray_like(((high - low) / 1.349) ** 2, X)  # the variance, if the column is Gaussian
        return replace(self, origin=compute_origin(sample, X.dtype), spread=spread, precision=precision)

    def statistics(self, X: Array, responsibilities: Array) -> Statistics:
        X = subtract_origin(as_rows(X), self.origin)
        return count_and_sum(X, responsibilities, responsibilities) | self.second_moments(X, responsibilities)

    @abstractmethod
    def second_moments(self, X: Array, responsibilities: Array) -> Statistics:
        """Weighted sums of squares, or of products, of the columns.

        Parameters
        ----------
        X : array of shape (n_rows, n_columns)
            Rows of the view, relative to the origin.
        responsibilities : array of shape (n_rows, n_clusters)
            Weight of each row in each cluster.
        """

    def maximize(self, statistics: Statistics) -> Params:
        sums, counts = pool_empty_clusters(statistics["sums"], statistics["counts"])
        means = sums / counts[:, None]
        covariances = self.estimate_covariances(statistics, means, counts)
        return {"means": means if self.origin is None else means + self.origin[None, :], "covariances": covariances}

    @abstractmethod
    def estimate_covariances(self, statistics: Statistics, means: Array, counts: Array) -> Array:
        """Maximum likelihood covariances above the floor, for means relative to the origin.

        Parameters
        ----------
        statistics : dict of str to array
            What `statistics` returns.
        means : array of shape (n_clusters, n_columns)
            Mean of each cluster, relative to the origin.
        counts : array of shape (n_clusters,)
            Sum of the responsibilities of each cluster.
        """

    def variance_floor(self, statistics: Statistics, all_squares: Array, cluster_squares: Array) -> Array:
        """The smallest variance allowed, per cluster and column: a share of the variance over all rows.

        The computed variance of a constant column is rounding noise, in proportion to the squares of the cluster. The
        squares are means, relative to the origin.

        Parameters
        ----------
        statistics : dict of str to array
            What `statistics` returns.
        all_squares : array of shape (n_columns,)
            Mean of the squares over all rows.
        cluster_squares : array of shape (n_clusters, n_columns)
            Mean of the squares over the rows of each cluster.
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
        """Turn white noise into noise with the covariance of each row's cluster.

        Parameters
        ----------
        noise : ndarray of shape (n_rows, n_columns)
            Independent standard normal numbers.
        covariances : ndarray
            The covariances of all clusters, in the shape of the parameter ``covariances``.
        labels : ndarray of int, shape (n_rows,)
            The cluster of each row.
        """


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

    def statistics(self, X: Array, responsibilities: Array) -> Statistics:
        X = as_rows(X)
        loops = find_fused_loops(X, responsibilities.shape[1])
        if loops is None:
            return super().statistics(X, responsibilities)
        sums, squares = loops.sum_moments(X, responsibilities, self.origin)
        return {"counts": sum_responsibilities(responsibilities), "sums": sums, "squares": squares}

    def works_in_blocks(self, X: Array, n_clusters: int) -> bool:
        return find_fused_loops(X, n_clusters) is not None

    def second_moments(self, X: Array, responsibilities: Array) -> Statistics:
        return {"squares": weighted_sums(map_values(X, lambda x: x * x), responsibilities)}

    def estimate_covariances(self, statistics: Statistics, means: Array, counts: Array) -> Array:
        xp = namespace(means)
        squares = pool_empty_clusters(statistics["squares"], statistics["counts"])[0] / counts[:, None]
        all_squares = xp.sum(statistics["squares"], axis=0) / xp.sum(statistics["counts"])
        return xp.maximum(squares - means * means, self.variance_floor(statistics, all_squares, squares))

    def build_density(self, X: Array, params: Params) -> Density:
        means, variances = (convert_params(params, X)[name] for name in ("means", "covariances"))
        xp = namespace(X)
        origin = find_density_origin(means, xp.min(variances, axis=0), X)
        shifted = subtract_origin(means, origin)
        bias = xp.sum(xp.log(variances) + shifted * shifted / variances, axis=1) / 2 + X.shape[1] / 2 * log(2 * pi)
        tables = shifted / variances, -0.5 / variances, bias

        @cache
        def build_scorers() -> tuple[Scorer, Scorer]:
            return build_scorer(X, tables[0], bias), build_scorer(X, tables[1])

        if find_fused_loops(X, means.shape[0]) is None:
            build_scorers()  # once, not by each of the threads

        def log_prob(rows: Array) -> Array:
            loops = find_fused_loops(rows, means.shape[0])
            if loops is not None:
                return loops.compute_quadratic_scores(rows, *tables, origin)
            linear, quadratic = build_scorers()
            rows = subtract_origin(rows, origin)
            scores = compute_scores(rows, linear)
            scores += compute_scores(map_values(rows, lambda x: x * x), quadratic)
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

    Examples
    --------
    >>> import numpy as np
    >>> import consilience as cs
    >>> family = cs.families.GaussianSpherical()
    >>> X = np.array([[0.0, 0.0], [2.0, 0.0], [8.0, 2.0], [12.0, 2.0]])
    >>> statistics = family.statistics(X, np.array([[1.0, 0], [1, 0], [0, 1], [0, 1]]))
    >>> family.maximize(statistics)["covariances"].round(6).tolist()
    [0.5, 2.0]
    """

    name: ClassVar[str] = "gaussian-spherical"
    accepts_sparse: ClassVar[bool] = True

    def second_moments(self, X: Array, responsibilities: Array) -> Statistics:
        xp = namespace(responsibilities)
        return {"squares": squared_norms(X) @ xp.astype(responsibilities, xp.float64)}

    def estimate_covariances(self, statistics: Statistics, means: Array, counts: Array) -> Array:
        xp, d = namespace(means), means.shape[1]
        squares = pool_empty_clusters(statistics["squares"], statistics["counts"])[0] / counts / d
        mean_square = xp.sum(statistics["squares"]) / xp.sum(statistics["counts"]) / d
        # all columns share one variance, so their floors are averaged
        floors = self.variance_floor(statistics, means[0, :] * 0 + mean_square, squares[:, None] + means * 0)
        return xp.maximum(squares - xp.vecdot(means, means) / d, xp.mean(floors, axis=1))

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

        Parameters
        ----------
        covariances : array of shape (..., n_columns, n_columns)
            Maximum likelihood covariances.
        floor : array of shape (..., n_columns)
            The smallest variance of each column, which is also the scale of the column.
        """
        xp = namespace(covariances)
        scale = xp.sqrt(floor)
        scales = scale[..., :, None] * scale[..., None, :]
        scaled = covariances / scales
        excess = scaled - xp.eye(scaled.shape[-1], dtype=scaled.dtype, device=device(scaled))
        if is_positive_definite(excess):
            return covariances
        if is_on_host(covariances):  # eigenvalues take most of the time of an M-step
            below, raised = find_indefinite(excess), covariances.copy()
            raised[below] = raise_eigenvalues(scaled[below]) * scales[below]
            return raised
        return raise_eigenvalues(scaled) * scales


@save_as("family-gaussian-full")
@dataclass(frozen=True, eq=False)
class GaussianFull(BaseCovariance):
    """Gaussian with one covariance matrix per cluster.

    Parameters
    ----------
    floor : float, default=1e-6
        Smallest variance in any direction, as a share of the variance over all rows; it keeps clusters from collapsing.

    Examples
    --------
    >>> import numpy as np
    >>> import consilience as cs
    >>> family = cs.families.GaussianFull()
    >>> X = np.array([[0.0, 0.0], [2.0, 1.0], [2.0, 3.0], [4.0, 4.0]])
    >>> family.maximize(family.statistics(X, np.ones((4, 1))))["covariances"].round(6).tolist()
    [[[2.0, 2.0], [2.0, 2.5]]]
    """

    name: ClassVar[str] = "gaussian-full"

    def second_moments(self, X: Array, responsibilities: Array) -> Statistics:
        return {"products": compute_cross_products(X, responsibilities)}

    def estimate_covariances(self, statistics: Statistics, means: Array, counts: Array) -> Array:
        xp = namespace(means)
        products = pool_empty_clusters(statistics["products"], statistics["counts"])[0] / counts[:, None, None]
        all_squares = xp.sum(xp.linalg.diagonal(statistics["products"]), axis=0) / xp.sum(statistics["counts"])
        floor = self.variance_floor(statistics, all_squares, xp.linalg.diagonal(products))
        return self.raise_to_floor(products - means[:, :, None] * means[:, None, :], floor)

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
            loops = find_fused_loops(rows, k, with_covariances=True)
            if loops is not None:
                return loops.compute_whitened_log_prob(rows, whitening, shift, constant, origin)
            white = xp.reshape(subtract_origin(rows, origin) @ table, (rows.shape[0], k, d))
            white -= shift[None, ...]
            return constant[None, :] - sum_of_squares(white) / 2

        return log_prob

    def shapes(self, n_clusters: int, n_columns: int) -> dict[str, tuple[int, ...]]:
        return {"means": (n_clusters, n_columns), "covariances": (n_clusters, n_columns, n_columns)}

    def values_per_row(self, X: Array, n_clusters: int) -> int:
        return n_clusters * X.shape[1]

    def works_in_blocks(self, X: Array, n_clusters: int) -> bool:
        return find_fused_loops(X, n_clusters, with_covariances=True) is not None

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

    Examples
    --------
    >>> import numpy as np
    >>> import consilience as cs
    >>> family = cs.families.GaussianTied()
    >>> X = np.array([[0.0, 0.0], [2.0, 4.0], [8.0, 4.0], [10.0, 4.0]])
    >>> statistics = family.statistics(X, np.array([[1.0, 0], [1, 0], [0, 1], [0, 1]]))
    >>> family.maximize(statistics)["covariances"].round(6).tolist()
    [[1.0, 1.0], [1.0, 2.0]]
    """

    name: ClassVar[str] = "gaussian-tied"

    def second_moments(self, X: Array, responsibilities: Array) -> Statistics:
        weights = namespace(responsibilities).sum(responsibilities, axis=1)[:, None]
        return {"products": compute_cross_products(X, weights)[0, ...]}

    def estimate_covariances(self, statistics: Statistics, means: Array, counts: Array) -> Array:
        xp = namespace(means)
        counts, products = statistics["counts"], statistics["products"]
        squares = xp.linalg.diagonal(products) / xp.sum(counts)
        covariance = (products - (counts[:, None] * means).T @ means) / xp.sum(counts)
        return self.raise_to_floor(covariance, self.variance_floor(statistics, squares, squares))

    def build_density(self, X: Array, params: Params) -> Density:
        means, covariance = (convert_params(params, X)[name] for name in ("means", "covariances"))
        xp = namespace(X)
        whitening = compute_whitening(covariance)
        origin = find_density_origin(means, xp.linalg.diagonal(covariance), X)
        centers = subtract_origin(means, origin) @ whitening
        constant = xp.sum(xp.log(xp.linalg.diagonal(whitening))) - means.shape[1] / 2 * log(2 * pi)
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


def raise_eigenvalues(matrices: Array) -> Array:
    """Replace the eigenvalues of symmetric matrices that are below 1 by 1."""
    xp = namespace(matrices)
    values, directions = xp.linalg.eigh(matrices)
    stretched = directions * xp.clip(values, 1.0, None)[..., None, :]
    return xp.where(xp.any(values < 1), stretched @ xp.matrix_transpose(directions), matrices)


def interpolate_quartiles(ordered: np.ndarray) -> np.ndarray:
    """Return the lower and the upper quartile of columns in rising order, (2, columns); np.quantile is slow."""
    positions = np.array([0.25, 0.75]) * (len(ordered) - 1)
    below = np.floor(positions).astype(np.intp)
    lower, upper = ordered[below], ordered[np.ceil(positions).astype(np.intp)]
    return lower + (positions - below)[:, None] * (upper - lower)


def subtract_origin(X: Array, origin: Array | None) -> Array:
    """Rows relative to the origin."""
    return X if origin is None else X - namespace(X).astype(origin, X.dtype)[None, :]


def find_density_origin(means: Array, smallest_variances: Array, X: Array) -> Array | None:
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
