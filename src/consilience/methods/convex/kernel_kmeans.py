"""Kernel k-means (Schoelkopf, Smola & Mueller 1998) over several views, each known only by its squared distances."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any, NamedTuple

import numpy as np

from ..._saving import save_as
from ...arrays import Array, KernelMatrix, KernelRows, asarray_like, count_labels, keep_where, namespace, to_numpy
from ...divergences import Measure
from ..common.run import run
from ..common.statistics import NO_LABEL
from .components import as_float64, as_real_array, check_max_iter, expand_to_all, number_present, replace_nonpositive
from .exemplars import NegativeDivergence, Placement, ViewPoints

TIE = 1e-13  # share of the largest distance below which a difference does not count
ASYMMETRY = 1e-5  # of a kernel, relative to its largest entry, that is tolerated


class DistanceSpace(NamedTuple):
    """One view."""

    entities: np.ndarray  # positions of those that have it
    distances: PairwiseDistances | KernelDistances  # between these: (n of the view, n of the view)
    weight: float


@save_as("kernel-means")
@dataclass(frozen=True, eq=False)
class KernelMeans:
    """The mean of each cluster in one view, represented by its members."""

    members: Array  # (n of the view, clusters) one over the cluster's size for its members, otherwise zero
    variance: Array  # (clusters,) mean squared distance of members from the mean
    farthest: float  # largest mean squared distance of an entity from the members of a cluster

    def measure(self, distances: PairwiseDistances) -> Array:
        """Squared distance of each row from each mean."""
        return self.measure_from_members(distances @ self.members)

    def measure_from_members(self, to_members: Array) -> Array:
        """Squared distance of each row from each mean, given the mean squared distances from the members.

        A cluster without members in the view has no mean there, and is farther than all others.
        """
        xp = namespace(to_members)
        distances = to_members - self.variance
        absent = ~xp.any(self.members != 0, axis=0)
        largest = xp.max(keep_where(~absent, distances, -np.inf), axis=1, keepdims=True)
        return xp.where(absent, largest + self.farthest, distances)


def compute_kernel_means(space: DistanceSpace, labels: Array, n_clusters: int) -> tuple[KernelMeans, Array]:
    """Compute the means of a partition in one view, and each entity's squared distances from them."""
    xp = namespace(labels)
    view_labels = xp.take(labels, asarray_like(space.entities, labels))
    members = as_float64(view_labels[:, None] == asarray_like(np.arange(n_clusters), labels))
    members = members / replace_nonpositive(xp.sum(members, axis=0))
    to_members = space.distances @ members
    farthest = float(xp.max(to_members)) or 1.0
    means = KernelMeans(members, xp.sum(members * to_members, axis=0) / 2, farthest)
    return means, means.measure_from_members(to_members)


@dataclass(frozen=True, eq=False)
class KernelKMeansState:
    """A partition and its cost: the weighted sum of squared distances from the means."""

    labels: Array
    means: list[KernelMeans]
    cost: float
    settled: bool
    comparable: bool = True

    @property
    def costs(self) -> dict[str, float]:
        return {"all": self.cost}

    @property
    def record(self) -> dict[str, float]:
        return {"cost": self.cost}


def iterate_kernel_kmeans(
    spaces: Sequence[DistanceSpace], labels: Array, n_clusters: int
) -> Iterator[KernelKMeansState]:
    """Move entities to the nearest mean; yield one state per round, the first for the given partition."""
    xp, entities = namespace(labels), np.arange(labels.shape[0])
    numbers = [number_present(np.isin(entities, space.entities)) for space in spaces]
    while True:
        means, view_distances = zip(*(compute_kernel_means(space, labels, n_clusters) for space in spaces), strict=True)
        weighted = (space.weight * distances for space, distances in zip(spaces, view_distances, strict=True))
        distances = reduce(
            add, (expand_to_all(table, rows, 0.0) for table, rows in zip(weighted, numbers, strict=True))
        )
        current, nearest = take_labeled(distances, labels), xp.argmin(distances, axis=1)
        # ties, also those up to rounding, are no reason to move: two entities could swap forever
        gains = take_labeled(distances, nearest) < current - TIE * xp.max(distances)
        following = refill_empty(xp.where(gains, nearest, labels), current, n_clusters)
        settled = bool(xp.all(following == labels))
        yield KernelKMeansState(labels, list(means), float(xp.sum(current)), settled)
        labels = following


def take_labeled(table: Array, labels: Array) -> Array:
    """Take from each row the value of its label."""
    return namespace(table).take_along_axis(table, labels[:, None], axis=1)[:, 0]


def refill_empty(labels: Array, distances: Array, n_clusters: int) -> Array:
    """Move the entities farthest from their means into empty clusters."""
    sizes = to_numpy(count_labels(labels, n_clusters))
    if sizes.all():
        return labels
    # one by one on the host, because few rounds leave a cluster empty
    refilled = to_numpy(labels).copy()
    by_distance = iter(np.argsort(-to_numpy(distances), kind="stable"))
    for empty in np.flatnonzero(sizes == 0):
        moved = next((i for i in by_distance if sizes[refilled[i]] > 1), None)
        if moved is None:
            break
        sizes[refilled[moved]] -= 1
        refilled[moved] = empty
        sizes[empty] = 1
    return asarray_like(refilled, labels)


class PairwiseDistances(NamedTuple):
    """A divergence that is a squared distance, as a matrix that multiplies."""

    exponents: KernelMatrix

    @classmethod
    def between(cls, measure: Measure, points: KernelRows, exemplars: KernelRows, *, cached: bool) -> PairwiseDistances:
        return cls(KernelMatrix(NegativeDivergence(measure), points, exemplars, cached))

    def __matmul__(self, U: Array) -> Array:
        return -as_float64(self.exponents @ U)


@save_as("refined-view-means")
@dataclass(frozen=True, eq=False)
class ViewClusterMeans:
    """The means of the clusters in one view."""

    measure: Measure
    exemplars: KernelRows  # all entities of the fit that have the view
    means: KernelMeans
    weight: float

    def compute_distances(self, points: KernelRows) -> np.ndarray:
        """Squared distance of points from each mean, on the host."""
        distances = PairwiseDistances.between(self.measure, points, self.exemplars, cached=False)
        return to_numpy(self.means.measure(distances))


@save_as("refined-means")
@dataclass(frozen=True, eq=False)
class RefinedClusters:
    """Clusters of a convex mixture after kernel k-means: entities belong to the nearest mean."""

    views: Mapping[str, ViewClusterMeans]
    n_clusters: int

    def place(self, points: Mapping[str, ViewPoints], n: int) -> Placement:
        """Assign entities to the nearest mean by the weighted sum over the views that they have."""
        total, has_view, view_labels = np.zeros((n, self.n_clusters)), np.zeros(n, dtype=bool), {}
        for name, (entities, view_points, _) in points.items():
            distances = self.views[name].compute_distances(view_points)
            total[entities] += self.views[name].weight * distances
            has_view[entities] = True
            view_labels[name] = np.full(n, NO_LABEL)
            view_labels[name][entities] = distances.argmin(axis=1)
        P = np.eye(self.n_clusters)[total.argmin(axis=1)]
        return Placement(P, np.zeros(n, dtype=bool), view_labels, np.where(has_view, -total.min(axis=1), np.nan))


@dataclass(frozen=True, eq=False)
class KernelKMeans:
    """Result of kernel k-means."""

    labels: np.ndarray  #: the cluster of each entity
    cost: float  #: sum of squared distances from the clusters' means
    n_iter: int  #: number of rounds
    converged: bool  #: whether no entity moved in the last round


def kernel_kmeans(kernel: Any, init: Any, *, max_iter: int = 300) -> KernelKMeans:
    """Move entities to the cluster whose mean is nearest in the space of a kernel, until none moves.

    Parameters
    ----------
    kernel : array-like of shape (n_entities, n_entities)
        Inner products of all entities: symmetric, positive semidefinite. For several kernels give their weighted sum.
    init : array-like of int, shape (n_entities,)
        The partition to start from: numbers of clusters from 0 on.
    max_iter : int, default=300
        Maximum number of rounds.

    Returns
    -------
    KernelKMeans
        ``labels``, ``cost``, ``n_iter``, ``converged``.

    Notes
    -----
    The cost never rises if the kernel is positive semidefinite. A cluster that becomes empty gets the entity that lies
    farthest from its mean.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [1.0], [9.0], [10.0]])
    >>> result = kernel_kmeans(X @ X.T, init=[0, 1, 1, 1])
    >>> result.labels.tolist(), result.cost
    ([0, 0, 1, 1], 1.0)
    """
    K = as_real_array("kernel", kernel)
    if K.ndim != 2 or K.shape[0] != K.shape[1] or not K.size:
        raise ValueError(f"kernel must be a square matrix of inner products, got shape {K.shape}: give X @ X.T")
    if not np.isfinite(K).all() or np.abs(K - K.T).max() > ASYMMETRY * np.abs(K).max():
        raise ValueError("kernel must be symmetric and finite: average it with its transpose, or drop what is NaN")
    labels = np.asarray(init)
    if labels.shape != (len(K),) or labels.dtype.kind not in "iu" or labels.min() < 0:
        raise ValueError(f"init must be {len(K)} whole numbers from 0 on, got {labels.dtype} of shape {labels.shape}")
    check_max_iter(max_iter)
    space = DistanceSpace(np.arange(len(K)), KernelDistances(K), 1.0)
    states = iterate_kernel_kmeans([space], labels, int(labels.max()) + 1)
    finished = run(states, max_iter=max_iter, tol=0.0, patience=max_iter, report=lambda *_: None)
    return KernelKMeans(finished.state.labels, finished.state.cost, finished.n_iter, finished.converged)


class KernelDistances(NamedTuple):
    """Squared distances computed from inner products."""

    K: np.ndarray

    def __matmul__(self, U: np.ndarray) -> np.ndarray:
        squares = self.K.diagonal()
        return squares[:, None] * U.sum(axis=0) + squares @ U - 2 * (self.K @ U)
