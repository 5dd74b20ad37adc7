"""How a cluster measures distances: all alike, or by a metric of its own that is learned (Bilenko et al. 2004).

A metric M_h is the inverse of a covariance: ``||x - mu_h||^2 - log det M_h`` is, but for a constant, minus twice the
log-density of a Gaussian. Rows are numpy's or sparse.

Learned metrics start from the identity in units in which the data have variance 1, that is from the identity divided by
the mean variance of the columns. In exact arithmetic the first assignment is the same from either start, but the
identity itself fails on small numbers: squared distances of 1e-18 are lost when the log-determinant is added to them,
and a cluster that keeps its first metric is compared with others whose log-determinants are 40 per column larger.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import log, pi
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from ..._saving import save_as
from ...arrays import (
    CSR,
    add_label_sums,
    argmax_scores,
    build_scorer,
    cut_into_blocks,
    cut_into_chunks,
    map_chunks,
    map_values,
)
from ...divergences import SquaredEuclidean, ViewRows
from ...families import Gaussian, GaussianFull, GaussianTied
from ..common.distances import make_divergence
from ..common.starts import compute_mean_divergence
from .farthest import FarthestPair, find_farthest_pair

Pairs = Sequence[tuple[int, int]]  # of rows
Measure = Callable[[slice], np.ndarray]  # some rows -> (rows, k) what each costs in each cluster
Nearest = Callable[[slice], tuple[np.ndarray, np.ndarray]]  # -> (rows,) the cheapest cluster, and the cost there

NOTHING = 1e-290  # a scatter so small is none
SINGULAR = 1e-6  # share of the trace: what is added to a scatter whose least eigenvalue is not that large


class MetricStep(NamedTuple):
    """Rows that have just been assigned, and whose centres have moved."""

    X: Any
    labels: np.ndarray
    counts: np.ndarray  # (k,)
    before: np.ndarray  # (k, d) the centres that they were assigned by
    centers: np.ndarray  # (k, d) and the new ones
    cost: float  # of all rows about the centres before


class ClusterMetric(ABC):
    """The metrics of all clusters. A value: learning gives another."""

    @abstractmethod
    def measure(self, view: ViewRows, centres: np.ndarray) -> Measure:
        """Squared distance of rows from each centre under its metric, less the log-determinant."""

    def nearest(self, view: ViewRows, centres: np.ndarray) -> Nearest:
        """The cheapest cluster of rows, and what they cost there."""
        measure = self.measure(view, centres)

        def of(rows: slice) -> tuple[np.ndarray, np.ndarray]:
            costs = measure(rows)
            winner = np.argmin(costs, axis=1)
            return winner, costs[np.arange(len(costs)), winner]

        return of

    @abstractmethod
    def update(self, step: MetricStep, links: np.ndarray | float) -> tuple[ClusterMetric, float]:
        """The metrics of new clusters, and what their rows cost about their new centres.

        `links` is what violated links add to the scatters.
        """

    @abstractmethod
    def products(self, differences: Any, weights: np.ndarray) -> np.ndarray:
        """Sum of d d' over some rows d, weighted for each cluster (k, rows), as far as is needed; (k, ...)."""

    @abstractmethod
    def lengths(self, differences: Any) -> np.ndarray:
        """Squared length of each row under each metric: (rows, k)."""

    @abstractmethod
    def farthest(self, X: Any, hints: Sequence[Pairs]) -> list[FarthestPair]:
        """The two rows that are farthest apart under each metric; never nearer than those that are known of it."""

    @abstractmethod
    def covariances(self) -> np.ndarray | None:
        """(k, d, d) the inverse of each metric; None where nothing is learned."""

    @abstractmethod
    def variance(self, costs: np.ndarray) -> float:
        """What makes one unit of variance, if rows cost so much in their clusters; metrics that are learned have it."""

    @abstractmethod
    def standardize(self, objective: float, n_rows: int, variance: float) -> float:
        """Objective of these rows in units in which the mean variance of their columns, `variance`, is 1."""

    @abstractmethod
    def reorder(self, order: np.ndarray) -> ClusterMetric:
        """The same metrics for clusters in another order."""

    @property
    @abstractmethod
    def values(self) -> np.ndarray:
        """(k, d) or (k, d, d): the metrics."""


@save_as("metric-euclidean")
@dataclass(frozen=True, eq=False)
class IdentityMetric(ClusterMetric):
    """Squared Euclidean distance: nothing is learned."""

    n_clusters: int
    n_columns: int

    def measure(self, view: ViewRows, centres: np.ndarray) -> Measure:
        return make_divergence(view, SquaredEuclidean(), centres)

    def nearest(self, view: ViewRows, centres: np.ndarray) -> Nearest:
        score = build_scorer(view.X, *SquaredEuclidean().affine(centres, view.origin))

        def of(rows: slice) -> tuple[np.ndarray, np.ndarray]:
            winner, value = argmax_scores(view.X[rows, ...], score)
            return winner, np.maximum(view.row_term[rows] - SquaredEuclidean.scale * value, 0)

        return of

    def update(self, step: MetricStep, links: np.ndarray | float) -> tuple[ClusterMetric, float]:  # noqa: ARG002
        gain = float(step.counts @ np.sum((step.centers - step.before) ** 2, axis=1))
        if gain > step.cost / 2:  # from a start so far off, little would be left but rounding
            return self, float(compute_diagonal_scatter(step.X, step.labels, step.centers).sum())
        return self, step.cost - gain

    def products(self, differences: Any, weights: np.ndarray) -> np.ndarray:  # noqa: ARG002
        return np.zeros(len(weights))  # nobody learns from it

    def lengths(self, differences: Any) -> np.ndarray:
        own = np.asarray(square_differences(differences).sum(axis=1)).reshape(-1, 1)
        return np.broadcast_to(own, (len(own), self.n_clusters))

    def farthest(self, X: Any, hints: Sequence[Pairs]) -> list[FarthestPair]:
        return [find_farthest_pair(X, hints[0])] * self.n_clusters

    def covariances(self) -> None:
        return None

    def variance(self, costs: np.ndarray) -> float:
        return float(costs.mean()) / self.n_columns or 1.0

    def standardize(self, objective: float, n_rows: int, variance: float) -> float:  # noqa: ARG002
        return objective / variance

    def reorder(self, order: np.ndarray) -> ClusterMetric:  # noqa: ARG002
        return self

    @property
    def values(self) -> np.ndarray:
        return np.ones((self.n_clusters, self.n_columns))


class LearnedMetric(ClusterMetric):
    """Metrics that follow their clusters."""

    def update(self, step: MetricStep, links: np.ndarray | float) -> tuple[ClusterMetric, float]:
        scatter = self.scatter(step.X, step.labels, step.centers)
        learned = self.learn(scatter + links, step.counts)
        return learned, learned.cost(scatter, step.counts)

    def variance(self, costs: np.ndarray) -> float:  # noqa: ARG002
        return 1.0

    def standardize(self, objective: float, n_rows: int, variance: float) -> float:
        # Squared distances have no units under a learned metric; only its log-determinant depends on those of the data.
        return objective - n_rows * self.values.shape[1] * log(variance)

    @abstractmethod
    def scatter(self, X: Any, labels: np.ndarray, centres: np.ndarray) -> np.ndarray:
        """Sum over each cluster's rows of (x - mu)(x - mu)', as far as the metric needs it; (k, ...)."""

    @abstractmethod
    def learn(self, scatter: np.ndarray, counts: np.ndarray) -> LearnedMetric:
        """The metrics of clusters with these scatters: counts times the inverse."""

    @abstractmethod
    def cost(self, scatter: np.ndarray, counts: np.ndarray) -> float:
        """What all rows cost in their clusters, by the scatters."""


@save_as("metric-diagonal")
@dataclass(frozen=True, eq=False)
class DiagonalMetric(LearnedMetric):
    """A weight for each column, of each cluster or of all."""

    weights: np.ndarray  # (k, d)
    shared: bool = False

    @classmethod
    def first(cls, n_clusters: int, n_columns: int, shared: bool, variance: float = 1.0) -> DiagonalMetric:
        """Return the identity in units in which `variance` is 1."""
        return cls(np.full((n_clusters, n_columns), 1 / variance), shared)

    def measure(self, view: ViewRows, centres: np.ndarray) -> Measure:
        density = Gaussian().build_density(
            to_double(view.X[:1, ...]), {"means": centres, "covariances": 1 / self.weights}
        )
        return partial(measure_density, density, view)

    def learn(self, scatter: np.ndarray, counts: np.ndarray) -> LearnedMetric:
        scatter, counts = pool_scatters(scatter, counts) if self.shared else (scatter, counts)
        weights = self.weights.copy()
        for h, (own, n) in enumerate(zip(scatter, counts, strict=True)):
            if n and own.max() > NOTHING:
                weights[h] = n / condition_eigenvalues(own)
        return replace(self, weights=weights)

    def scatter(self, X: Any, labels: np.ndarray, centres: np.ndarray) -> np.ndarray:
        return compute_diagonal_scatter(X, labels, centres)

    def products(self, differences: Any, weights: np.ndarray) -> np.ndarray:
        return np.asarray((square_differences(differences).T @ weights.T).T)

    def lengths(self, differences: Any) -> np.ndarray:
        return np.asarray(square_differences(differences) @ self.weights.T)

    def cost(self, scatter: np.ndarray, counts: np.ndarray) -> float:
        return float(np.sum(self.weights * scatter) - counts @ np.log(self.weights).sum(axis=1))

    def farthest(self, X: Any, hints: Sequence[Pairs]) -> list[FarthestPair]:
        return find_farthest_pairs(
            [partial(scale_columns, X, np.sqrt(own)) for own in self.weights], hints, self.shared
        )

    def covariances(self) -> np.ndarray:
        return np.stack([np.diag(1 / own) for own in self.weights])

    def reorder(self, order: np.ndarray) -> ClusterMetric:
        return replace(self, weights=self.weights[order])

    @property
    def values(self) -> np.ndarray:
        return self.weights


@save_as("metric-full")
@dataclass(frozen=True, eq=False)
class FullMetric(LearnedMetric):
    """A matrix, of each cluster or of all. Dense rows only."""

    matrices: np.ndarray  # (k, d, d)
    shared: bool = False

    @classmethod
    def first(cls, n_clusters: int, n_columns: int, shared: bool, variance: float = 1.0) -> FullMetric:
        """Return the identity in units in which `variance` is 1."""
        return cls(np.broadcast_to(np.eye(n_columns) / variance, (n_clusters, n_columns, n_columns)), shared)

    def measure(self, view: ViewRows, centres: np.ndarray) -> Measure:
        covariances = np.linalg.inv(self.matrices[:1] if self.shared else self.matrices)
        family, own = (GaussianTied(), covariances[0]) if self.shared else (GaussianFull(), covariances)
        density = family.build_density(to_double(view.X[:1, ...]), {"means": centres, "covariances": own})
        return partial(measure_density, density, view)

    def learn(self, scatter: np.ndarray, counts: np.ndarray) -> LearnedMetric:
        scatter, counts = pool_scatters(scatter, counts) if self.shared else (scatter, counts)
        matrices = self.matrices.copy()
        for h, (own, n) in enumerate(zip(scatter, counts, strict=True)):
            values, directions = np.linalg.eigh(own)
            if n and values.max() > NOTHING:
                matrices[h] = (directions * (n / condition_eigenvalues(values))) @ directions.T
        return replace(self, matrices=matrices)

    def scatter(self, X: Any, labels: np.ndarray, centres: np.ndarray) -> np.ndarray:
        moved = (X[labels == h] - centre for h, centre in enumerate(centres))
        return np.stack([own.T @ own for own in moved]).astype(np.float64)

    def products(self, differences: Any, weights: np.ndarray) -> np.ndarray:
        return np.stack([(differences.T * own) @ differences for own in weights])

    def lengths(self, differences: Any) -> np.ndarray:
        roots = [np.linalg.cholesky(own) for own in self.matrices]
        return np.column_stack([np.sum((differences @ root) ** 2, axis=1) for root in roots])

    def cost(self, scatter: np.ndarray, counts: np.ndarray) -> float:
        return float(np.sum(self.matrices * scatter) - counts @ np.linalg.slogdet(self.matrices)[1])

    def farthest(self, X: Any, hints: Sequence[Pairs]) -> list[FarthestPair]:
        roots = np.linalg.cholesky(self.matrices)
        return find_farthest_pairs([partial(np.matmul, X, root) for root in roots], hints, self.shared)

    def covariances(self) -> np.ndarray:
        return np.linalg.inv(self.matrices)

    def reorder(self, order: np.ndarray) -> ClusterMetric:
        return replace(self, matrices=self.matrices[order])

    @property
    def values(self) -> np.ndarray:
        return self.matrices


def fixed_identity(n_clusters: int, n_columns: int, shared: bool, variance: float = 1.0) -> IdentityMetric:  # noqa: ARG001
    """Return the metric that is never learned, with the signature of those that are."""
    return IdentityMetric(n_clusters, n_columns)


METRICS: dict[str, Callable[..., ClusterMetric]] = {
    "diagonal": DiagonalMetric.first,
    "full": FullMetric.first,
    "identity": fixed_identity,
}


def compute_mean_variance(view: ViewRows) -> float:
    """Mean variance of a view's columns; 1 for rows that are all equal."""
    variance = compute_mean_divergence(view, SquaredEuclidean()) / view.X.shape[1]
    return variance if variance > 0 else 1.0


def measure_density(density: Callable[[Any], np.ndarray], view: ViewRows, rows: slice) -> np.ndarray:
    """Minus twice the log-densities, less the constant that all Gaussians have."""
    X = to_double(view.X[rows, ...])
    return -2 * density(X) - X.shape[1] * log(2 * pi)


def to_double(X: Any) -> Any:
    """Rows in float64: metrics stretch distances so far that float32 would not do."""
    return X.with_data(X.data.astype(np.float64)) if isinstance(X, CSR) else X.astype(np.float64, copy=False)


def pool_scatters(scatter: np.ndarray, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """One scatter for all clusters."""
    return np.broadcast_to(scatter.sum(axis=0), scatter.shape), np.full_like(counts, counts.sum())


def condition_eigenvalues(eigenvalues: np.ndarray) -> np.ndarray:
    """Eigenvalues of a scatter, those below zero clipped, and all raised if the least is next to nothing.

    Cannot-links subtract from the scatter: it may be indefinite.
    """
    values = np.maximum(eigenvalues, 0)
    little = SINGULAR * values.sum()
    return values + little if values.min() < little else values


def compute_diagonal_scatter(X: Any, labels: np.ndarray, centres: np.ndarray) -> np.ndarray:
    """Sums of squares of each column about the mean of each cluster: (k, d)."""
    total = np.zeros(centres.shape)
    if isinstance(X, CSR):
        total = add_label_sums(map_values(X, np.square), labels, total)
        counts = np.bincount(labels[labels >= 0], minlength=len(centres))
        return np.maximum(total - counts[:, None] * centres**2, 0)

    def one_chunk(rows: slice) -> np.ndarray:
        own = np.zeros(centres.shape)
        for block in cut_into_blocks(X, rows):
            own = add_label_sums((X[block] - centres[labels[block]]) ** 2, labels[block], own)
        return own

    for part in map_chunks(one_chunk, cut_into_chunks(X, with_sums=True)):
        total += part
    return total


def square_differences(differences: Any) -> Any:
    """Each number squared, dense or sparse."""
    return differences.multiply(differences).tocsr() if sp.issparse(differences) else differences**2


def scale_columns(X: Any, factors: np.ndarray) -> Any:
    """Columns times their factors."""
    return X @ sp.diags_array(factors, format="csr") if sp.issparse(X) else X * factors


def find_farthest_pairs(spaces: list[Callable[[], Any]], hints: Sequence[Pairs], shared: bool) -> list[FarthestPair]:
    """Of the rows as each metric sees them; one search where all see the same."""
    if shared:
        return [find_farthest_pair(spaces[0](), hints[0])] * len(spaces)
    return [find_farthest_pair(space(), own, 1 / len(spaces)) for space, own in zip(spaces, hints, strict=True)]
