"""How the views of a k-means speak with one voice in the end (Bickel & Scheffer 2004, Eqs 11 and 12)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add

import numpy as np

from ...arrays import Array, keep_where, namespace, to_numpy
from ...divergences import Divergence
from ...rows.shards import Shard, join_blocks
from ...rows.source import iterate_rows
from ..common.distances import make_divergence
from ..common.statistics import NO_LABEL, ClusterSums
from .algorithm import Centers, e_step, extremes, rows_at_a_time


def find_unanimous(shard: Shard, names: Sequence[str], rows: slice) -> Array:
    """The label that all views of an entity agree on; NOWHERE where they do not."""
    lowest, highest, _ = extremes(shard, names, rows)
    return keep_where(lowest == highest, highest, NO_LABEL)


def compute_consensus_centers(agreed: Agreed, divergence: Divergence, centres: Centers) -> dict[str, Array]:
    """Compute the centres of the entities on which all their views agree (Eq 11).

    Where the views agree on no entity of a cluster that has the view, the view keeps its centre.
    """
    result = {}
    for name, statistics in agreed.by_view.items():
        view_centres = centres.values[name]
        values = divergence.centers(statistics.sums, statistics.counts)
        result[name] = namespace(view_centres).where(statistics.counts[:, None] > 0, values, view_centres)
    return result


@dataclass(frozen=True, eq=False)
class Agreed:
    """Each view's statistics of the entities that all agree on; those of two sets add up."""

    by_view: dict[str, ClusterSums]

    def __add__(self, other: Agreed) -> Agreed:
        return Agreed({name: own + other.by_view[name] for name, own in self.by_view.items()})


def collect_consensus(shard: Shard, divergence: Divergence, centres: Centers, names: Sequence[str]) -> Agreed:
    """The same for the entities of a shard."""
    found = {name: ClusterSums.zeros(shard.views[name], centres.values[name].shape[0]) for name in names}
    for rows, X, _ in e_step(shard, divergence, centres, names, *names):
        agreed = find_unanimous(shard, names, rows)
        for name, own in found.items():
            own.include(X[name], keep_where(shard.views[name].present[rows], agreed, NO_LABEL))
    return Agreed(found)


def vote(shard: Shard, divergence: Divergence, centres: Mapping[str, Array]) -> tuple[Array, Array]:
    """Eq 12: each entity to the cluster at the smallest distance, summed over the views it has.

    Returns the labels and their cost: the divergence of each entity from its cluster, summed over entities and views.
    """
    labels, costs = [], []
    for away in divergences_by_view(shard, divergence, centres):
        distance = reduce(add, (divergence.distance(own) for own in away))
        xp = namespace(distance)
        labels.append(xp.argmin(distance, axis=1))
        costs.append(xp.sum(xp.take_along_axis(reduce(add, away), labels[-1][:, None], axis=1)))
    return join_blocks(labels), reduce(add, costs)


def distances_to(shard: Shard, divergence: Divergence, centres: Mapping[str, Array]) -> Array:
    """What `vote` compares: the distance of each entity to each cluster, summed over the views it has (n, k)."""
    found = divergences_by_view(shard, divergence, centres)
    return join_blocks([reduce(add, (divergence.distance(own) for own in away)) for away in found])


def relative_distances(
    shard: Shard, divergence: Divergence, centres: Mapping[str, Array], units: Mapping[str, float]
) -> Array:
    """Return the distance of each entity to each cluster, in units of what its views have on average, (n, k).

    A row that lacks every view is at distance NaN from every cluster.
    """
    distance = distances_to(shard, divergence, centres)
    xp = namespace(distance)
    weighted = (xp.astype(part.present, distance.dtype) * units[name] for name, part in shard.views.items())
    unit = reduce(add, weighted)
    return distance / keep_where(unit > 0, unit, np.nan)[:, None]


def distances_from_cluster(
    shard: Shard, divergence: Divergence, centres: Mapping[str, Array]
) -> tuple[np.ndarray, np.ndarray]:
    """Return the distance of each entity from its cluster in each view, and which views it has, (n, n_views) each.

    The distance is 0 in a view that the entity lacks.
    """
    chosen = []
    for divergences in divergences_by_view(shard, divergence, centres):
        by_view = [divergence.distance(values) for values in divergences]
        total = reduce(add, by_view)
        xp = namespace(total)
        labels = xp.argmin(total, axis=1)[:, None]
        chosen.append(xp.concat([xp.take_along_axis(values, labels, axis=1) for values in by_view], axis=1))
    present = [to_numpy(part.present) for part in shard.views.values()]
    return to_numpy(join_blocks(chosen)), np.stack(present, axis=1)


def divergences_by_view(shard: Shard, divergence: Divergence, centres: Mapping[str, Array]) -> Iterator[list[Array]]:
    """Some entities after the other: for each view their divergence from each centre, 0 where they lack the view."""
    measures = {name: make_divergence(view, divergence, centres[name]) for name, view in shard.views.items()}
    blocks = {name: view.X for name, view in shard.views.items()}
    for rows, X in iterate_rows(blocks, shard.n, rows_at_a_time(blocks, shard.n)):
        there = {name: view.present[rows][:, None] for name, view in shard.views.items()}
        yield [keep_where(there[name], measure(rows, X[name]), 0.0) for name, measure in measures.items()]
