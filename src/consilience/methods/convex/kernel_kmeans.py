"""Kernel k-means (Schoelkopf, Smola & Mueller 1998) over several views, each a space known by its distances alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from numbers import Integral
from operator import add
from typing import Any, NamedTuple, Protocol

import numpy as np

from ..._saving import save_as
from ...arrays import Array, asarray_like, count_labels, keep_where, namespace, to_numpy
from ..common.run import run
from .components import as_float64, as_real_array, expand_to_all, number_present, replace_nonpositive

TIE = 1e-13  # share of the largest distance: what is no difference
ROUNDING = 1e-5  # asymmetry of a kernel, as a share of its largest entry, that is let pass


class DistanceProduct(Protocol):
    """Squared distances between entities (columns) and some entities (rows): a matrix that multiplies."""

    def __matmul__(self, U: Array) -> Array:
        """The matrix times a thin one."""


class DistanceSpace(NamedTuple):
    """One view."""

    entities: np.ndarray  # who has it, by position
    distances: DistanceProduct  # of theirs: (n of the view, n of the view)
    weight: float


@save_as("kernel-means")
@dataclass(frozen=True, eq=False)
class KernelMeans:
    """The mean of each cluster in one view, known by the partition."""

    members: Array  # (n of the view, clusters) one over the cluster's size for its members
    spread: Array  # (clusters,) mean squared distance of members from the mean
    far: float  # the largest mean squared distance of an entity from members of a cluster

    def away(self, distances: DistanceProduct) -> Array:
        """Squared distance of each row from each mean."""
        return self.away_by(distances @ self.members)

    def away_by(self, to_members: Array) -> Array:
        """The same from the mean squared distances to members.

        A cluster that nobody of the view is in has no mean there, and is farther than all others.
        """
        xp = namespace(to_members)
        away = to_members - self.spread
        absent = ~xp.any(self.members != 0, axis=0)
        farthest = xp.max(keep_where(~absent, away, -np.inf), axis=1, keepdims=True)
        return xp.where(absent, farthest + self.far, away)


def compute_kernel_means(space: DistanceSpace, labels: Array, n_clusters: int) -> tuple[KernelMeans, Array]:
    """The means of a partition in one view, and each entity's squared distances from them."""
    xp = namespace(labels)
    own, clusters = xp.take(labels, asarray_like(space.entities, labels)), asarray_like(np.arange(n_clusters), labels)
    members = as_float64(own[:, None] == clusters)
    members = members / replace_nonpositive(xp.sum(members, axis=0))
    to_members = space.distances @ members
    far = float(xp.max(to_members)) or 1.0
    found = KernelMeans(members, xp.sum(members * to_members, axis=0) / 2, far)
    return found, found.away_by(to_members)


@dataclass(frozen=True, eq=False)
class KernelKMeansState:
    """A partition and what it costs: the weighted sum of squared distances from the means."""

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
    """One state a round, the first that of the partition given: everybody goes to the nearest mean."""
    xp, everybody = namespace(labels), np.arange(labels.shape[0])
    at = [number_present(np.isin(everybody, space.entities)) for space in spaces]
    while True:
        found, distances = zip(*(compute_kernel_means(space, labels, n_clusters) for space in spaces), strict=True)
        weighted = (space.weight * own for space, own in zip(spaces, distances, strict=True))
        away = reduce(add, (expand_to_all(own, rows, 0.0) for own, rows in zip(weighted, at, strict=True)))
        current, nearest = take_labeled(away, labels), xp.argmin(away, axis=1)
        # a tie is no reason to move, nor is what rounding makes of one: two might change places for ever
        gains = take_labeled(away, nearest) < current - TIE * xp.max(away)
        following = refill_empty(xp.where(gains, nearest, labels), current, n_clusters)
        settled = bool(xp.all(following == labels))
        yield KernelKMeansState(labels, list(found), float(xp.sum(current)), settled)
        labels = following


def take_labeled(table: Array, labels: Array) -> Array:
    """In each row the number of its cluster."""
    return namespace(table).take_along_axis(table, labels[:, None], axis=1)[:, 0]


def refill_empty(given: Array, distances: Array, n_clusters: int) -> Array:
    """The same partition, with whoever lies farthest from their mean moved into clusters that nobody is in."""
    sizes = to_numpy(count_labels(given, n_clusters))
    if sizes.all():
        return given
    # one by one, on the host: few rounds leave a cluster empty
    labels, away = to_numpy(given).copy(), to_numpy(distances)
    farthest = iter(np.argsort(-away, kind="stable"))
    for empty in np.flatnonzero(sizes == 0):
        moved = next((i for i in farthest if sizes[labels[i]] > 1), None)
        if moved is None:
            break
        sizes[labels[moved]] -= 1
        labels[moved] = empty
        sizes[empty] = 1
    return asarray_like(labels, given)


@dataclass(frozen=True, eq=False)
class KernelKMeans:
    """What kernel k-means found."""

    labels: np.ndarray  #: the cluster of each entity
    cost: float  #: sum of squared distances from the clusters' means
    n_iter: int  #: rounds
    converged: bool  #: whether the last round moved nobody


def kernel_kmeans(kernel: Any, init: Any, *, max_iter: int = 300) -> KernelKMeans:
    """Move entities to the cluster whose mean is nearest in the space of a kernel, until nobody moves.

    Parameters
    ----------
    kernel : array-like of shape (n_entities, n_entities)
        Inner products of all entities: symmetric, positive semidefinite. For several kernels give their weighted sum.
    init : array-like of int, shape (n_entities,)
        The partition to start from: numbers of clusters from 0 on.
    max_iter : int, default=300
        Rounds at most.

    Returns
    -------
    KernelKMeans
        ``labels``, ``cost``, ``n_iter``, ``converged``.

    Notes
    -----
    The cost never rises if the kernel is positive semidefinite. A cluster that everybody leaves gets the entity that
    lies farthest from its own mean.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [1.0], [9.0], [10.0]])
    >>> found = kernel_kmeans(X @ X.T, init=[0, 1, 1, 1])
    >>> found.labels.tolist(), found.cost
    ([0, 0, 1, 1], 1.0)
    """
    K = as_real_array("kernel", kernel)
    if K.ndim != 2 or K.shape[0] != K.shape[1] or not K.size:
        raise ValueError(f"kernel must be a square matrix of inner products, got shape {K.shape}: give X @ X.T")
    if not np.isfinite(K).all() or np.abs(K - K.T).max() > ROUNDING * np.abs(K).max():
        raise ValueError("kernel must be symmetric and finite: average it with its transpose, or drop what is NaN")
    labels = np.asarray(init)
    if labels.shape != (len(K),) or labels.dtype.kind not in "iu" or labels.min() < 0:
        raise ValueError(f"init must be {len(K)} whole numbers from 0 on, got {labels.dtype} of shape {labels.shape}")
    if not isinstance(max_iter, Integral) or max_iter < 1:
        raise ValueError(f"max_iter={max_iter!r} must be a whole number from 1 on")
    states = iterate_kernel_kmeans(
        [DistanceSpace(np.arange(len(K)), KernelDistances(K), 1.0)], labels, int(labels.max()) + 1
    )
    ended = run(states, max_iter=max_iter, tol=0.0, patience=max_iter, report=lambda *_: None)
    return KernelKMeans(ended.state.labels, ended.state.cost, ended.n_iter, ended.converged)


@dataclass(frozen=True, eq=False)
class KernelDistances:
    """Squared distances from inner products."""

    K: np.ndarray

    def __matmul__(self, U: np.ndarray) -> np.ndarray:
        own = self.K.diagonal()
        return own[:, None] * U.sum(axis=0) + own @ U - 2 * (self.K @ U)
