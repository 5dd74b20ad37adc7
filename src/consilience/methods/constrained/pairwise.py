"""Pairwise constrained k-means: PCK-Means (Basu, Banerjee & Mooney 2004) and MPCK-Means (Bilenko, Basu & Mooney 2004).

One loop serves both: PCK-Means is MPCK-Means with the identity as metric and a penalty factor of 1 for every link.
Rows without links are independent of each other, so only rows with links are visited one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from ...arrays import map_chunks, split_into_blocks, take_dense_rows, take_rows, to_host
from ...data.links import Links, compact_pairs, list_partners
from ...divergences import SquaredEuclidean
from ...rows import ViewRows
from ..common.run import LowestCostTracker, Report, Run, run
from ..common.starts import compute_mean_divergence
from ..common.statistics import NO_LABEL, ClusterSumCollector, ClusterSums
from .cluster_metrics import ClusterMetric, MetricStep
from .farthest import FarthestPair

PATIENCE = 10  # rounds in which an objective that steps may raise is allowed not to fall
VisitOrder = Callable[[int], np.ndarray]  # number of linked rows -> the order in which they are visited


class InfeasibleConstraintsError(ValueError):
    """Raised by clusterers that satisfy all constraints if they find no clustering that does.

    Parameters
    ----------
    message : str
        What could not be satisfied, and what to do.
    pairs : array-like of int, shape (n_pairs, 2), default=()
        Cannot-links, as positions of entities, that could not be satisfied.

    Examples
    --------
    >>> import consilience as cs
    >>> constraints = cs.Constraints(must_link=[(0, 1), (1, 2)], cannot_link=[(0, 2)])
    >>> try:
    ...     cs.COPKMeans(n_clusters=2).fit([[0.0], [1.0], [2.0]], constraints=constraints)
    ... except cs.InfeasibleConstraintsError as error:
    ...     print(error.pairs.tolist())
    [[0, 2]]
    """

    def __init__(self, message: str, pairs: Any = ()) -> None:
        super().__init__(message)
        self.pairs = np.array(pairs, dtype=np.int64).reshape(-1, 2)


@dataclass(frozen=True, eq=False)
class LinkedView:
    """A view and the links between its rows; must-links are numbered before cannot-links."""

    view: ViewRows
    must: Links
    cannot: Links
    uses_length: bool  # whether a penalty depends on the length of the link (MPCK-Means) or not (PCK-Means)

    @property
    def n_rows(self) -> int:
        return self.view.X.shape[0]

    @property
    def patience(self) -> int:
        """Rounds in which the objective may fail to fall.

        With penalties that depend on length it may rise for a while, because the farthest pair, and with it the penalty
        of cannot-links, changes with the metric. Otherwise no step raises it.
        """
        return PATIENCE if self.uses_length else 1

    @cached_property
    def variance(self) -> float:
        """Mean variance of the columns, the unit of squared distances; 1 if all rows are equal."""
        variance = compute_mean_divergence(self.view, SquaredEuclidean()) / self.view.X.shape[1]
        return variance if variance > 0 else 1.0

    @cached_property
    def _numbered(self) -> tuple[np.ndarray, np.ndarray]:
        return compact_pairs(np.vstack([self.must.pairs, self.cannot.pairs]))

    @property
    def rows(self) -> np.ndarray:
        """Indices of the rows that have links."""
        return self._numbered[0]

    @property
    def pairs(self) -> np.ndarray:
        """The links as positions among the rows that have links."""
        return self._numbered[1]

    @cached_property
    def has_links(self) -> np.ndarray:
        mask = np.zeros(self.n_rows, bool)
        mask[self.rows] = True
        return mask

    @cached_property
    def linked_rows(self) -> ViewRows:
        """The rows that have links."""
        return self.view.take(self.rows)

    @cached_property
    def weights(self) -> np.ndarray:
        return np.concatenate([self.must.weights, self.cannot.weights])

    @cached_property
    def link_lists(self) -> tuple[np.ndarray, ...]:
        """The links of each linked row in CSR layout: indptr, partners, weights, whether must-link, and index."""
        indptr, partners, link = list_partners(self.pairs, len(self.rows))
        return indptr, partners, self.weights[link], link < len(self.must.weights), link

    @cached_property
    def differences(self) -> Any:
        """Difference of the two ends of each link; sparse if the rows are."""
        X = to_host(self.linked_rows.X)
        return X[self.pairs[:, 0]] - X[self.pairs[:, 1]]

    def assign_linked_rows(
        self, costs: np.ndarray, labels: np.ndarray, visits: np.ndarray, penalties: Penalties
    ) -> int:
        """Move the linked rows one by one to their cheapest clusters, in place; return how many moved.

        `costs` (rows, k) are without links, `labels` are -1 before the first round.
        """
        from . import kernels

        lengths, largest = penalties.lengths, penalties.largest
        return kernels.assign_linked_rows(
            visits, costs, labels, *self.link_lists, lengths, largest, not self.uses_length
        )

    def penalize(self, metric: ClusterMetric, before: Penalties | None) -> Penalties:
        """Compute the penalties for violating the links under these metrics."""
        if not self.uses_length:
            return before or Penalties(self, np.ones((1, 1)), None)
        lengths = metric.lengths(self.differences)
        farthest = None
        if len(self.cannot.weights):
            # the longest cannot-link is a hint, so that no violated link has a negative penalty
            longest = self.cannot.pairs[np.argmax(lengths[len(self.must.weights) :], axis=0)]
            hints = [[(int(i), int(j))] for i, j in longest]
            if before is not None and before.farthest is not None:
                for cluster_hints, last in zip(hints, before.farthest, strict=True):
                    cluster_hints.append((last.first, last.second))
            farthest = metric.farthest(to_host(self.view.X), hints)
        return Penalties(self, lengths, farthest)


@dataclass(frozen=True, eq=False)
class Penalties:
    """Penalty of a violated link: its weight, times a factor that depends on its length under the clusters' metrics."""

    problem: LinkedView
    lengths: np.ndarray  # (links, k) squared length of each link under each cluster's metric
    farthest: list[FarthestPair] | None  # the two rows farthest apart under each metric

    @property
    def largest(self) -> np.ndarray:
        """Largest squared distance under each metric: (k,)."""
        if self.farthest is None:
            return np.zeros(self.lengths.shape[1])
        return np.array([pair.square for pair in self.farthest])

    def find_violated(self, labels: np.ndarray) -> tuple[np.ndarray, float]:
        """Return which links are violated by these labels (of the linked rows), and the sum of their penalties."""
        problem = self.problem
        first, second = labels[problem.pairs].T
        n_must = len(problem.must.weights)
        violated = np.concatenate([(first != second)[:n_must], (first == second)[n_must:]])
        if not problem.uses_length:
            return violated, float(problem.weights[violated].sum())
        links = np.arange(len(violated))
        must, cannot = violated & (links < n_must), violated & (links >= n_must)
        must_factors = (self.lengths[must, first[must]] + self.lengths[must, second[must]]) / 2
        cannot_factors = self.largest[first[cannot]] - self.lengths[cannot, first[cannot]]
        return violated, float(problem.weights[must] @ must_factors + problem.weights[cannot] @ cannot_factors)

    def compute_scatter(self, metric: ClusterMetric, labels: np.ndarray) -> np.ndarray | float:
        """Compute what violated links add to the scatters of the clusters (Bilenko et al. 2004, update of A_h)."""
        problem = self.problem
        if not problem.uses_length:
            return 0.0
        links = np.flatnonzero(self.find_violated(labels)[0])
        first, second = labels[problem.pairs[links]].T
        k, w = self.lengths.shape[1], problem.weights[links]
        must = links < len(problem.must.weights)
        factors = np.zeros((k, len(links)))
        column = np.arange(len(links))
        factors[first[must], column[must]] = w[must] / 2
        factors[second[must], column[must]] = w[must] / 2
        factors[first[~must], column[~must]] = -w[~must]
        total = metric.products(problem.differences[links], factors)
        if self.farthest is not None:
            cannot_weights = np.bincount(first[~must], w[~must], minlength=k)
            ends = to_host(take_rows(problem.view.X, np.array([(p.first, p.second) for p in self.farthest]).ravel()))
            ends = ends.toarray() if sp.issparse(ends) else ends
            total = total + metric.products(ends[::2] - ends[1::2], np.diag(cannot_weights))
        return total


@dataclass(frozen=True, eq=False)
class ConstrainedState:
    """State after a round: the clusters, their metrics, and the cost including violated links."""

    labels: np.ndarray
    centers: np.ndarray
    metric: ClusterMetric
    cost: float
    n_violations: int
    settled: bool
    penalties: Penalties
    comparable: bool = True

    @property
    def standard_cost(self) -> float:
        """Objective in units in which the data have variance 1, so that tolerances do not depend on their units."""
        return self.metric.standardize(self.cost, len(self.labels), self.penalties.problem.variance)

    def repeats(self, previous: ConstrainedState, tol: float) -> bool:
        """Whether the objective differs by no more than `tol`, or that share of itself, from that of another state."""
        change = abs(self.standard_cost - previous.standard_cost)
        return change <= tol * max(1.0, abs(self.standard_cost))

    @property
    def costs(self) -> dict[str, float]:
        return {"objective": self.standard_cost}

    @property
    def record(self) -> dict[str, float]:
        return {"objective": self.cost, "violations": self.n_violations}


def iterate_constrained_kmeans(
    problem: LinkedView, metric: ClusterMetric, centers: np.ndarray, order: VisitOrder, labels: np.ndarray | None = None
) -> Iterator[ConstrainedState]:
    """Yield one state per round: assign the rows, visiting linked rows one by one, then update centers and metrics.

    `labels`, if given, are the labels before the first round; the centers must belong to them.
    """
    labels = np.full(problem.n_rows, NO_LABEL) if labels is None else labels.copy()
    collector = ClusterSumCollector(problem.view, len(centers))
    penalties = problem.penalize(metric, None)
    cost, is_first = 0.0, True
    while True:
        n_moved, row_costs = assign_to_cheapest(problem, metric, centers, penalties, labels, order, collector)  # E-step
        settled = not n_moved and not is_first
        if not settled:  # M-step
            before, counts = centers, collector.total.counts
            centers = compute_means(problem, collector.total, row_costs)
            step = MetricStep(problem.view.X, labels, counts, before, centers, row_costs.sum())
            metric, cost = metric.update(step, penalties.compute_scatter(metric, labels[problem.rows]))
            penalties = problem.penalize(metric, penalties)
        violated, penalty = penalties.find_violated(labels[problem.rows])
        yield ConstrainedState(labels.copy(), centers, metric, cost + penalty, int(violated.sum()), settled, penalties)
        is_first = False


def assign_to_cheapest(
    problem: LinkedView,
    metric: ClusterMetric,
    centers: np.ndarray,
    penalties: Penalties,
    labels: np.ndarray,
    order: VisitOrder,
    collector: ClusterSumCollector,
) -> tuple[int, np.ndarray]:
    """Assign each row to its cheapest cluster, in place; return how many rows moved and the cost of each without links.

    The statistics of the new clusters are collected on the way.
    """
    find_nearest = metric.nearest(problem.view, centers)
    row_costs = np.empty(problem.n_rows)

    def assign_chunk(rows: slice) -> tuple[int, ClusterSums]:
        n_moved, statistics = 0, collector.borrow()
        for block in split_into_blocks(problem.view.X, rows):
            winner, row_costs[block] = find_nearest(block)
            free = ~problem.has_links[block]
            n_moved += int(np.sum(free & (winner != labels[block])))
            labels[block] = np.where(free, winner, labels[block])
            counted = free & problem.view.present[block]
            statistics.include(problem.view.X[block, ...], np.where(counted, winner, NO_LABEL))
        return n_moved, statistics

    total_moved = 0
    collector.total.clear()
    for n_moved, statistics in map_chunks(assign_chunk, collector.chunks):
        total_moved += n_moved
        collector.take_back(statistics)
    if len(problem.rows):
        linked_rows = problem.linked_rows
        costs = metric.measure(linked_rows, centers)(slice(0, len(problem.rows)))
        linked_labels, visits = labels[problem.rows], order(len(problem.rows))
        total_moved += problem.assign_linked_rows(costs, linked_labels, visits, penalties)
        labels[problem.rows] = linked_labels
        row_costs[problem.rows] = costs[np.arange(len(linked_labels)), linked_labels]
        collector.total.include(linked_rows.X, np.where(linked_rows.present, linked_labels, NO_LABEL))
    return total_moved, row_costs


def compute_means(problem: LinkedView, statistics: ClusterSums, row_costs: np.ndarray) -> np.ndarray:
    """Compute the mean of each cluster; an empty cluster moves to the row with the highest cost."""
    counts = statistics.counts
    centers = statistics.sums / np.maximum(counts, 1)[:, None]
    empty = np.flatnonzero(counts == 0)
    if len(empty):
        costliest = np.argsort(-row_costs, kind="stable")[: len(empty)]
        centers[empty] = take_dense_rows(problem.view.X, np.resize(costliest, len(empty)))
    return centers


def run_until_settled(
    problem: LinkedView,
    states: Iterator[ConstrainedState],
    order: VisitOrder,
    max_iter: int,
    tol: float,
    report: Report,
) -> Run:
    """Run until no row moves; if that does not happen, take the round of lowest cost and assign its rows once more."""
    watched = LowestCostTracker(states)
    finished = run(watched, max_iter=max_iter, tol=tol, patience=problem.patience, report=report)
    if finished.state.settled:
        return finished
    state = watched.best
    labels, penalties = state.labels.copy(), state.penalties
    collector = ClusterSumCollector(problem.view, len(state.centers))
    _, row_costs = assign_to_cheapest(problem, state.metric, state.centers, penalties, labels, order, collector)
    violated, penalty = penalties.find_violated(labels[problem.rows])
    cost = float(row_costs.sum()) + penalty
    return replace(finished, state=replace(state, labels=labels, cost=cost, n_violations=int(violated.sum())))
