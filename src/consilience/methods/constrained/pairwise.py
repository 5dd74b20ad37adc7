"""Pairwise constrained k-means: PCK-Means (Basu, Banerjee & Mooney 2004) and MPCK-Means (Bilenko, Basu & Mooney 2004).

One loop serves both: PCK-Means is MPCK-Means with the identity for a metric and a price of 1 for every link.
Rows without links do not see each other, so only those that have some are visited one by one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from ...arrays import cut_into_blocks, map_chunks, take_dense_rows
from ..common.run import LowestCostTracker, Report, Run, run
from ..common.statistics import NO_LABEL, ClusterSumCollector, ClusterSums
from .cluster_metrics import ClusterMetric, MetricStep
from .linked import LinkedView, Order, Penalties

# Rounds in which the objective may fail to fall. With prices that are measured it may rise for a while: the farthest
# pair changes with the metric, and with it what cannot-links cost. With fixed prices no step ever raises it.
PATIENCE = {True: 10, False: 1}


@dataclass(frozen=True, eq=False)
class ConstrainedState:
    """After a round: the clusters, how they measure, and what they and the violated constraints cost."""

    labels: np.ndarray
    centers: np.ndarray
    metric: ClusterMetric
    cost: float
    n_violations: int
    settled: bool
    prices: Penalties  # of violated links
    comparable: bool = True

    @property
    def standard_cost(self) -> float:
        """Objective in units in which the data have variance 1, so that tolerances do not depend on their units."""
        return self.metric.standardize(self.cost, len(self.labels), self.prices.problem.variance)

    @property
    def costs(self) -> dict[str, float]:
        return {"objective": self.standard_cost}

    @property
    def record(self) -> dict[str, float]:
        return {"objective": self.cost, "violations": self.n_violations}


def iterate_constrained_kmeans(
    problem: LinkedView, metric: ClusterMetric, centres: np.ndarray, order: Order, labels: np.ndarray | None = None
) -> Iterator[ConstrainedState]:
    """One state a round: an E-step that visits the linked rows one by one, then the means, then the metrics.

    Given labels are where the rows are before the first visit; the centres must be theirs.
    """
    labels = np.full(problem.n_rows, NO_LABEL) if labels is None else labels.copy()
    collector = ClusterSumCollector(problem.view, len(centres))
    prices = problem.prices(metric, None)
    cost, first = 0.0, True
    while True:
        moved, own = assign_rows(problem, metric, centres, prices, labels, order, collector)  # E-step
        settled = not moved and not first
        if not settled:  # M-step
            before, counts = centres, collector.total.counts
            centres = compute_means(problem, collector.total, own)
            step = MetricStep(problem.view.X, labels, counts, before, centres, own.sum())
            metric, cost = metric.update(step, prices.scatter(metric, labels[problem.rows]))
            prices = problem.prices(metric, prices)
        violated, penalty = prices.violated(labels[problem.rows])
        yield ConstrainedState(labels.copy(), centres, metric, cost + penalty, int(violated.sum()), settled, prices)
        first = False


def assign_rows(
    problem: LinkedView,
    metric: ClusterMetric,
    centres: np.ndarray,
    prices: Penalties,
    labels: np.ndarray,
    order: Order,
    collector: ClusterSumCollector,
) -> tuple[int, np.ndarray]:
    """Give each row to the cheapest cluster, in place; returns how many moved, and what each costs by itself.

    The statistics of the new clusters are collected on the way.
    """
    from . import kernels as link_kernels

    nearest = metric.nearest(problem.view, centres)
    own = np.empty(problem.n_rows)

    def one_chunk(rows: slice) -> tuple[int, ClusterSums]:
        moved, partial = 0, collector.borrow()
        for block in cut_into_blocks(problem.view.X, rows):
            winner, own[block] = nearest(block)
            free = ~problem.has_links[block]
            moved += int(np.sum(free & (winner != labels[block])))
            labels[block] = np.where(free, winner, labels[block])
            counted = free & problem.view.present[block]
            partial.include(problem.view.X[block, ...], np.where(counted, winner, NO_LABEL))
        return moved, partial

    moved = 0
    collector.total.clear()
    for changed, partial in map_chunks(one_chunk, collector.chunks):
        moved += changed
        collector.take_back(partial)
    if len(problem.rows):
        costs = metric.measure(problem.own, centres)(slice(0, len(problem.rows)))
        theirs, visits = labels[problem.rows], order(len(problem.rows))
        moved += link_kernels.assign_linked_rows(
            visits, costs, theirs, *problem.link_lists, prices.lengths, prices.largest, not problem.uses_length
        )
        labels[problem.rows], own[problem.rows] = theirs, costs[np.arange(len(theirs)), theirs]
        collector.total.include(problem.own.X, np.where(problem.own.present, theirs, NO_LABEL))
    return moved, own


def compute_means(problem: LinkedView, statistics: ClusterSums, own: np.ndarray) -> np.ndarray:
    """The mean of each cluster; a cluster of no rows moves to the row that costs most where it is."""
    counts = statistics.counts
    centres = statistics.sums / np.maximum(counts, 1)[:, None]
    empty = np.flatnonzero(counts == 0)
    if len(empty):
        far = np.argsort(-own, kind="stable")[: len(empty)]
        centres[empty] = take_dense_rows(problem.view.X, np.resize(far, len(empty)))
    return centres


def run_until_settled(
    problem: LinkedView, states: Iterator[ConstrainedState], order: Order, max_iter: int, tol: float, report: Report
) -> Run:
    """Run until nobody moves; if that does not come, take the round of lowest cost, and let its labels follow."""
    watched = LowestCostTracker(states)
    done = run(watched, max_iter=max_iter, tol=tol, patience=PATIENCE[problem.uses_length], report=report)
    return done if done.state.settled else replace(done, state=reassign_rows(problem, watched.best, order))


def reassign_rows(problem: LinkedView, state: ConstrainedState, order: Order) -> ConstrainedState:
    """The rows visited once more, for a run that was ended before they had settled: labels follow from the centres."""
    labels, prices = state.labels.copy(), state.prices
    collector = ClusterSumCollector(problem.view, len(state.centers))
    _, own = assign_rows(problem, state.metric, state.centers, prices, labels, order, collector)
    violated, penalty = prices.violated(labels[problem.rows])
    return replace(state, labels=labels, cost=float(own.sum()) + penalty, n_violations=int(violated.sum()))
