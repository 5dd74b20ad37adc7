"""Multi-view k-means (Bickel & Scheffer 2004, Table 1 with the steps of section 4.3), for any number of views.

Spherical k-means with the cosine divergence, ordinary k-means with the squared Euclidean one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import reduce
from operator import add

import numpy as np

from .._backend import (
    Array,
    add_label_sums,
    blocks,
    chunks,
    count_labels,
    dense_rows,
    like,
    map_chunks,
    namespace,
    nearest,
    scorer,
    scores_of,
    to_numpy,
    where,
    zeros,
)
from ..divergences import Divergence, Rows
from ..metrics import agreement_rate

NOWHERE = -1  # label of an entity in a view that it does not have, or that nobody has labelled yet


@dataclass(frozen=True, eq=False)
class KMeansState:
    """After a round: each view's centres and labels, and what they cost."""

    centres: dict[str, Array]
    labels: dict[str, Array]
    costs: dict[str, float]
    settled: bool
    comparable: bool = True

    @property
    def record(self) -> dict[str, float]:
        by_view = {f"cost_{name}": cost for name, cost in self.costs.items()} if len(self.costs) > 1 else {}
        agreement = agreement_rate(*(to_numpy(labels) for labels in self.labels.values()))
        return {"cost": sum(self.costs.values()), **by_view, "agreement": agreement}


def multi_view_kmeans(
    views: Mapping[str, Rows], divergence: Divergence, partition: Array, n_clusters: int
) -> Iterator[KMeansState]:
    """One state a round: in each view in turn an M-step on the partition handed over, and an E-step that hands on.

    An entity that a view lacks keeps its label meanwhile: a view trains on the newest label each of its entities has
    from another view, or on its own where it is the entity's only view.
    """
    names = list(views)
    following = dict(zip(names, names[1:] + names[:1], strict=True))
    collectors = {name: Collector(view, n_clusters) for name, view in views.items()}
    collectors[names[0]].collect(partition)
    centres, labels, costs = {}, {}, {}
    while True:
        before = partition
        for name, view in views.items():
            centres[name] = maximise(view, divergence, collectors[name].total, partition)  # M-step, Eq 9
            labels[name], costs[name], partition = sweep(
                view, divergence, centres[name], partition, collectors[following[name]]
            )  # E-step, Eqs 8 and 10
        settled = bool(namespace(partition).all(partition == before))
        yield KMeansState(dict(centres), dict(labels), dict(costs), settled)


@dataclass(eq=False)
class Statistics:
    """Sum and number of the rows of each cluster: what an M-step needs. Those of two sets of rows add up."""

    sums: Array  # (k, columns)
    counts: Array  # (k,)

    def clear(self) -> None:
        self.sums[...] = 0.0
        self.counts[...] = 0.0

    def include(self, view: Rows, rows: slice, labels: Array) -> None:
        """Add some rows of a view under their labels."""
        labels = where(view.present[rows], labels, NOWHERE)
        self.sums = add_label_sums(view.X[rows, ...], labels, self.sums)
        self.counts += count_labels(labels, self.counts.shape[0])

    def add(self, other: Statistics) -> None:
        self.sums += other.sums
        self.counts += other.counts


class Collector:
    """Statistics of one view, collected by threads, each on a chunk of the rows.

    Memory is kept and used again: fresh memory every round would cost as much as the sums.
    """

    def __init__(self, view: Rows, n_clusters: int) -> None:
        self.view, self.n_clusters = view, n_clusters
        self.chunks = chunks(view.X, with_sums=True)
        self.total = self.partial()
        self._spare: list[Statistics] = []

    def partial(self) -> Statistics:
        """Empty statistics for a thread to fill."""
        shape = self.n_clusters, self.view.X.shape[1]
        return Statistics(zeros(shape, self.view.own), zeros(shape[:1], self.view.own))

    def borrow(self) -> Statistics:
        """Empty statistics, in used memory if there is some."""
        try:
            partial = self._spare.pop()
        except IndexError:  # asked in one step: between a look and a pop another thread could take the last
            return self.partial()
        partial.clear()
        return partial

    def take_back(self, partial: Statistics) -> None:
        """Add up what a thread has filled; called in the order of the chunks."""
        self.total.add(partial)
        self._spare.append(partial)

    def collect(self, partition: Array) -> Statistics:
        """Those of the whole view under a partition."""

        def one_chunk(rows: slice) -> Statistics:
            partial = self.borrow()
            partial.include(self.view, rows, partition[rows])
            return partial

        self.total.clear()
        for partial in map_chunks(one_chunk, self.chunks):
            self.take_back(partial)
        return self.total


def sweep(
    view: Rows, divergence: Divergence, centres: Array, partition: Array, following: Collector
) -> tuple[Array, float, Array]:
    """E-step in one view, its labels handed over for the next view's M-step: one pass over the rows of both.

    Returns the view's labels, its cost and the new partition; `following` has collected the next view's statistics.
    """
    xp = namespace(partition)
    score = scorer(view.X, *divergence.affine(centres, view.origin))

    def one_chunk(rows: slice) -> tuple[list[Array], list[Array], list[Array], Statistics]:
        labels, handed, costs, partial = [], [], [], following.borrow()
        for block in blocks(view.X, rows):
            present = view.present[block]
            winner, value = nearest(view.X[block, ...], score)
            labels.append(where(present, winner, NOWHERE))
            handed.append(xp.where(present, winner, partition[block]))
            cost = view.own[block] - divergence.scale * xp.astype(value, xp.float64)
            costs.append(xp.sum(where(xp.logical_and(present, cost > 0), cost, 0.0)))
            partial.include(following.view, block, handed[-1])
        return labels, handed, costs, partial

    labels, handed, costs = [], [], []
    following.total.clear()
    for own, passed_on, cost, partial in map_chunks(one_chunk, following.chunks):
        following.take_back(partial)
        labels += own
        handed += passed_on
        costs += cost
    return xp.concat(labels), float(reduce(add, costs)), xp.concat(handed)


def maximise(view: Rows, divergence: Divergence, statistics: Statistics, partition: Array) -> Array:
    """The centres of a partition; a cluster of no rows moves to the row that lies farthest from its own centre."""
    centres = divergence.centres(statistics.sums, statistics.counts)
    empty = np.flatnonzero(to_numpy(statistics.counts) == 0)
    if not len(empty):
        return centres
    labels = to_numpy(where(view.present, partition, NOWHERE))
    away = divergences_to(view, divergence, centres)
    own = to_numpy(away)[np.arange(len(labels)), np.maximum(labels, 0)]
    candidates = np.flatnonzero(to_numpy(view.present))
    cost = np.where(labels[candidates] >= 0, own[candidates], -1.0)
    farthest = candidates[np.argsort(-cost, kind="stable")[: len(empty)]]
    moved = to_numpy(centres).copy()
    moved[empty] = to_numpy(dense_rows(view.X, like(np.resize(farthest, len(empty)), partition)))
    return like(moved, centres)


def divergences_to(view: Rows, divergence: Divergence, centres: Array) -> Array:
    """Divergence of each row from each centre, in float64: (n, k)."""
    measure = measuring(view, divergence, centres)
    return namespace(centres).concat(list(map_chunks(measure, chunks(view.X))))


def measuring(view: Rows, divergence: Divergence, centres: Array) -> Callable[[slice], Array]:
    """A function that gives the divergences of some of the rows from each centre."""
    xp = namespace(centres)
    score = scorer(view.X, *divergence.affine(centres, view.origin))

    def measure(rows: slice) -> Array:
        away = view.own[rows][:, None] - divergence.scale * xp.astype(scores_of(view.X[rows, ...], score), xp.float64)
        return where(away > 0, away, 0.0)

    return measure
