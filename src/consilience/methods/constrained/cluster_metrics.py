"""Distance metrics of the clusters: Euclidean, or learned per cluster (Bilenko et al. 2004).

A metric M_h is the inverse of a covariance: ``||x - mu_h||^2 - log det M_h`` is, up to a constant, minus twice the
log-density of a Gaussian. Rows are numpy arrays or CSR.

Learned metrics start from the identity divided by the mean variance of the columns, that is, from the identity in units
in which the data have variance 1. In exact arithmetic the first assignment is the same from the plain identity, but
that fails on small numbers: squared distances of 1e-18 are lost when the log-determinant is added to them, and a
cluster that keeps its first metric is compared with others whose log-determinants are larger by 40 per column.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import log, pi
from typing import Any, NamedTuple, Self

import numpy as np
import scipy.sparse as sp

from ..._saving import save_as
from ...arrays import (
    add_label_sums,
    argmax_scores,
    build_scorer,
    is_sparse,
    map_chunks,
    map_values,
    split_into_blocks,
    split_into_chunks,
)
from ...divergences import SquaredEuclidean
from ...families import Gaussian, GaussianFull, GaussianTied
from ...rows import ViewRows
from ..common.statistics import make_divergence
from .farthest import FarthestPair, find_farthest_pair

RowPairs = Sequence[tuple[int, int]]
MeasureRows = Callable[[slice], np.ndarray]  # rows -> (rows, k) cost of each row in each cluster
FindNearest = Callable[[slice], tuple[np.ndarray, np.ndarray]]  # rows -> (rows,) cheapest cluster and the cost there

NEGLIGIBLE = 1e-290  # a scatter at most this large counts as zero
SINGULAR = 1e-6  # share of the trace that is added to a scatter whose smallest eigenvalue is below it


class MetricStep(NamedTuple):
    """Rows that have just been assigned, with the centers before and after the M-step."""

    X: Any
    labels: np.ndarray
    counts: np.ndarray  # (k,)
    before: np.ndarray  # (k, d) centers that the rows were assigned by
    centers: np.ndarray  # (k, d) new centers
    cost: float  # of all rows about the previous centers


@save_as("metric-euclidean")
@dataclass(frozen=True, eq=False)
class ClusterMetric:
    """The metrics of all clusters; here the identity, which learned metrics override. Learning returns a new object."""

    values: np.ndarray  # the metric of each cluster: (k, d) or (k, d, d)

    @classmethod
    def first(cls, n_clusters: int, n_columns: int, shared: bool = False, variance: float = 1.0) -> Self:  # noqa: ARG003
        """Return the first metrics: the identity, if learned in units in which `variance` is 1."""
        return cls(np.ones((n_clusters, n_columns)))

    def measure(self, view: ViewRows, centers: np.ndarray) -> MeasureRows:
        """Build a function for the squared distance from each center under its metric, less the log-determinant."""
        return make_divergence(view, SquaredEuclidean(), centers)

    def nearest(self, view: ViewRows, centers: np.ndarray) -> FindNearest:
        """Build a function for the cheapest cluster of rows and their cost there."""
        score = build_scorer(view.X, *SquaredEuclidean().affine(centers, view.origin))

        def find_nearest(rows: slice) -> tuple[np.ndarray, np.ndarray]:
            winner, value = argmax_scores(view.X[rows, ...], score)
            return winner, np.maximum(view.row_term[rows] - SquaredEuclidean.scale * value, 0)

        return find_nearest

    def update(self, step: MetricStep, link_scatter: np.ndarray | float) -> tuple[ClusterMetric, float]:  # noqa: ARG002
        """Return the metrics of the new clusters, and the cost of the rows about the new centers.

        `link_scatter` is what violated links add to the scatters.
        """
        gain = float(step.counts @ np.sum((step.centers - step.before) ** 2, axis=1))
        if gain > step.cost / 2:  # after a distant start the difference would be little but rounding
            return self, float(compute_diagonal_scatter(step.X, step.labels, step.centers).sum())
        return self, step.cost - gain

    def products(self, differences: Any, weights: np.ndarray) -> np.ndarray:  # noqa: ARG002
        """Sum d d' over rows d, weighted per cluster by weights (k, rows), as far as the metric needs it: (k, ...)."""
        return np.zeros(len(weights))

    def lengths(self, differences: Any) -> np.ndarray:
        """Squared length of each row under each metric: (rows, k)."""
        squares = np.asarray(square_differences(differences).sum(axis=1)).reshape(-1, 1)
        return np.broadcast_to(squares, (len(squares), len(self.values)))

    def farthest(self, X: Any, hints: Sequence[RowPairs]) -> list[FarthestPair]:
        """Find the two rows farthest apart under each metric, never closer than its hints."""
        return [find_farthest_pair(X, hints[0])] * len(self.values)

    def covariances(self) -> np.ndarray | None:
        """Inverse of each metric, (k, d, d); None if nothing is learned."""
        return None

    def variance(self, costs: np.ndarray) -> float:
        """Unit of variance, given the costs of the rows in their clusters; 1 for learned metrics, which contain it."""
        return float(costs.mean()) / self.values.shape[1] or 1.0

    def standardize(self, objective: float, n_rows: int, variance: float) -> float:  # noqa: ARG002
        """Objective of these rows in units in which the mean variance of their columns, `variance`, is 1."""
        return objective / variance

    def reorder(self, order: np.ndarray) -> Self:
        """Return the metrics of the clusters in another order."""
        return replace(self, values=self.values[order])


@dataclass(frozen=True, eq=False)
class LearnedMetric(ClusterMetric, ABC):
    """Metrics learned from the scatters of the clusters, one per cluster or one shared by all."""

    shared: bool = False

    def nearest(self, view: ViewRows, centers: np.ndarray) -> FindNearest:
        measure = self.measure(view, centers)

        def find_nearest(rows: slice) -> tuple[np.ndarray, np.ndarray]:
            costs = measure(rows)
            winner = np.argmin(costs, axis=1)
            return winner, costs[np.arange(len(costs)), winner]

        return find_nearest

    def update(self, step: MetricStep, link_scatter: np.ndarray | float) -> tuple[ClusterMetric, float]:
        rows_scatter = self.scatter(step.X, step.labels, step.centers)
        scatter, counts = rows_scatter + link_scatter, step.counts
        if self.shared:
            scatter, counts = np.broadcast_to(scatter.sum(axis=0), scatter.shape), np.full_like(counts, counts.sum())
        values = self.values.copy()
        for h, (cluster_scatter, n) in enumerate(zip(scatter, counts, strict=True)):
            if n and (inverse := self.invert(cluster_scatter, n)) is not None:
                values[h] = inverse
        learned = replace(self, values=values)
        return learned, learned.cost(rows_scatter, step.counts)

    def farthest(self, X: Any, hints: Sequence[RowPairs]) -> list[FarthestPair]:
        if self.shared:
            return [find_farthest_pair(self.transform(X, self.values[0]), hints[0])] * len(self.values)
        share = 1 / len(self.values)
        pairs = zip(self.values, hints, strict=True)
        return [find_farthest_pair(self.transform(X, value), known_pairs, share) for value, known_pairs in pairs]

    def variance(self, costs: np.ndarray) -> float:  # noqa: ARG002
        return 1.0

    def standardize(self, objective: float, n_rows: int, variance: float) -> float:
        # squared distances have no units under a learned metric; only its log-determinant depends on those of the data
        return objective - n_rows * self.values.shape[1] * log(variance)

    @abstractmethod
    def transform(self, X: Any, value: np.ndarray) -> Any:
        """Transform rows so that Euclidean distances are those of one cluster's metric."""

    @abstractmethod
    def scatter(self, X: Any, labels: np.ndarray, centers: np.ndarray) -> np.ndarray:
        """Sum (x - mu)(x - mu)' over the rows of each cluster, as far as the metric needs it: (k, ...)."""

    @abstractmethod
    def invert(self, scatter: np.ndarray, n: float) -> np.ndarray | None:
        """Return n times the inverse of a cluster's scatter; None if it is negligible, to keep the metric."""

    @abstractmethod
    def cost(self, scatter: np.ndarray, counts: np.ndarray) -> float:
        """Cost of all rows in their clusters, computed from the scatters."""


@save_as("metric-diagonal")
class DiagonalMetric(LearnedMetric):
    """A weight per column: values (k, d)."""

    @classmethod
    def first(cls, n_clusters: int, n_columns: int, shared: bool = False, variance: float = 1.0) -> Self:
        return cls(np.full((n_clusters, n_columns), 1 / variance), shared)

    def measure(self, view: ViewRows, centers: np.ndarray) -> MeasureRows:
        density = Gaussian().build_density(
            to_double(view.X[:1, ...]), {"means": centers, "covariances": 1 / self.values}
        )
        return partial(measure_density, density, view)

    def scatter(self, X: Any, labels: np.ndarray, centers: np.ndarray) -> np.ndarray:
        return compute_diagonal_scatter(X, labels, centers)

    def invert(self, scatter: np.ndarray, n: float) -> np.ndarray | None:
        return n / condition_eigenvalues(scatter) if scatter.max() > NEGLIGIBLE else None

    def products(self, differences: Any, weights: np.ndarray) -> np.ndarray:
        return np.asarray((square_differences(differences).T @ weights.T).T)

    def lengths(self, differences: Any) -> np.ndarray:
        return np.asarray(square_differences(differences) @ self.values.T)

    def cost(self, scatter: np.ndarray, counts: np.ndarray) -> float:
        return float(np.sum(self.values * scatter) - counts @ np.log(self.values).sum(axis=1))

    def transform(self, X: Any, value: np.ndarray) -> Any:
        return X @ sp.diags_array(np.sqrt(value), format="csr") if sp.issparse(X) else X * np.sqrt(value)

    def covariances(self) -> np.ndarray:
        return np.stack([np.diag(1 / weights) for weights in self.values])


@save_as("metric-full")
class FullMetric(LearnedMetric):
    """A matrix: values (k, d, d). Dense rows only."""

    @classmethod
    def first(cls, n_clusters: int, n_columns: int, shared: bool = False, variance: float = 1.0) -> Self:
        return cls(np.broadcast_to(np.eye(n_columns) / variance, (n_clusters, n_columns, n_columns)), shared)

    def measure(self, view: ViewRows, centers: np.ndarray) -> MeasureRows:
        first_row = to_double(view.X[:1, ...])
        if self.shared:
            params = {"means": centers, "covariances": np.linalg.inv(self.values[:1])[0]}
            return partial(measure_density, GaussianTied().build_density(first_row, params), view)
        params = {"means": centers, "covariances": np.linalg.inv(self.values)}
        return partial(measure_density, GaussianFull().build_density(first_row, params), view)

    def scatter(self, X: Any, labels: np.ndarray, centers: np.ndarray) -> np.ndarray:
        centered = (X[labels == h] - center for h, center in enumerate(centers))
        return np.stack([rows.T @ rows for rows in centered]).astype(np.float64)

    def invert(self, scatter: np.ndarray, n: float) -> np.ndarray | None:
        values, directions = np.linalg.eigh(scatter)
        if values.max() <= NEGLIGIBLE:
            return None
        return (directions * (n / condition_eigenvalues(values))) @ directions.T

    def products(self, differences: Any, weights: np.ndarray) -> np.ndarray:
        return np.stack([(differences.T * cluster_weights) @ differences for cluster_weights in weights])

    def lengths(self, differences: Any) -> np.ndarray:
        roots = [np.linalg.cholesky(matrix) for matrix in self.values]
        return np.column_stack([np.sum((differences @ root) ** 2, axis=1) for root in roots])

    def cost(self, scatter: np.ndarray, counts: np.ndarray) -> float:
        return float(np.sum(self.values * scatter) - counts @ np.linalg.slogdet(self.values)[1])

    def transform(self, X: Any, value: np.ndarray) -> Any:
        return X @ np.linalg.cholesky(value)

    def covariances(self) -> np.ndarray:
        return np.linalg.inv(self.values)


METRICS: dict[str, Callable[..., ClusterMetric]] = {
    "diagonal": DiagonalMetric.first,
    "full": FullMetric.first,
    "identity": ClusterMetric.first,
}


def measure_density(density: Callable[[Any], np.ndarray], view: ViewRows, rows: slice) -> np.ndarray:
    """Minus twice the log-densities, without the constant that all Gaussians share."""
    X = to_double(view.X[rows, ...])
    return -2 * density(X) - X.shape[1] * log(2 * pi)


def to_double(X: Any) -> Any:
    """Convert rows to float64: metrics stretch distances too far for float32."""
    return map_values(X, lambda values: values.astype(np.float64, copy=False))


def condition_eigenvalues(eigenvalues: np.ndarray) -> np.ndarray:
    """Clip negative eigenvalues of a scatter, and raise all of them if the smallest is close to zero.

    The scatter may be indefinite because cannot-links subtract from it.
    """
    values = np.maximum(eigenvalues, 0)
    ridge = SINGULAR * values.sum()
    return values + ridge if values.min() < ridge else values


def compute_diagonal_scatter(X: Any, labels: np.ndarray, centers: np.ndarray) -> np.ndarray:
    """Sum of squares of each column about the mean of each cluster: (k, d)."""
    total = np.zeros(centers.shape)
    if is_sparse(X):
        total = add_label_sums(map_values(X, np.square), labels, total)
        counts = np.bincount(labels[labels >= 0], minlength=len(centers))
        return np.maximum(total - counts[:, None] * centers**2, 0)

    def sum_chunk(rows: slice) -> np.ndarray:
        sums = np.zeros(centers.shape)
        for block in split_into_blocks(X, rows):
            sums = add_label_sums((X[block] - centers[labels[block]]) ** 2, labels[block], sums)
        return sums

    for chunk_sums in map_chunks(sum_chunk, split_into_chunks(X, with_sums=True)):
        total += chunk_sums
    return total


def square_differences(differences: Any) -> Any:
    """Square each value, dense or sparse."""
    return differences.multiply(differences).tocsr() if sp.issparse(differences) else differences**2
