"""Pairwise constrained k-means: PCK-Means (Basu, Banerjee & Mooney 2004) and MPCK-Means (Bilenko, Basu & Mooney 2004).

One loop serves both: PCK-Means is MPCK-Means with the identity as metric and a penalty factor of 1 for every link.
Rows without links are independent of each other, so only rows with links are visited one by one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from ...arrays import map_chunks, split_into_blocks, take_dense_rows
from ..common.run import LowestCostTracker, Report, Run, run
from ..common.statistics import NO_LABEL, ClusterSumCollector, ClusterSums
from .cluster_metrics import ClusterMetric, MetricStep
from .linked import LinkedView, Penalties, VisitOrder

# Rounds in which the objective may fail to fall. With penalties that depend on length it may rise for a while, because
# the farthest pair, and with it the penalty of cannot-links, changes with the metric. Otherwise no step raises it.
PATIENCE = {True: 10, False: 1}


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

    @property
    def costs(self) -> dict[str, float]:
        return {"objective": self.standard_cost}

    @property
    def record(self) -> dict[str, float]:
        return {"objective": self.cost, "violations": self.n_violations}


def iterate_constrained_kmeans(
    problem: LinkedView,
    metric: ClusterMetric,
    centers: np.ndarray,
    order: VisitOrder,
    labels: np.ndarray | None = None,
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
    from . import kernels

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
        lengths, largest = penalties.lengths, penalties.largest
        total_moved += kernels.assign_linked_rows(
            visits, costs, linked_labels, *problem.link_lists, lengths, largest, not problem.uses_length
        )
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
    finished = run(watched, max_iter=max_iter, tol=tol, patience=PATIENCE[problem.uses_length], report=report)
    if finished.state.settled:
        return finished
    state = watched.best
    labels, penalties = state.labels.copy(), state.penalties
    collector = ClusterSumCollector(problem.view, len(state.centers))
    _, row_costs = assign_to_cheapest(problem, state.metric, state.centers, penalties, labels, order, collector)
    violated, penalty = penalties.find_violated(labels[problem.rows])
    cost = float(row_costs.sum()) + penalty
    return replace(finished, state=replace(state, labels=labels, cost=cost, n_violations=int(violated.sum())))
