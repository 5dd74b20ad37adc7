"""The cluster of each entity by all its views: consensus centers and votes (Bickel & Scheffer 2004, Eqs 11 and 12)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any

import numpy as np

from ...arrays import Array, asarray_like, is_on_host, keep_where, make_generator, namespace, to_numpy
from ...arrays.fused import WORTH_SCORES
from ...divergences import Divergence
from ...rows import Shard, Shards, join_blocks
from ..common.known_classes import clamp_labels
from ..common.run import Attempt, draws_starts, run_starts
from ..common.starts import (
    RANDOM_RESPONSIBILITIES,
    count_starts,
    expand_labels,
    make_seeder,
    partition_from_init,
    sample_seed_entities,
)
from ..common.statistics import NO_LABEL, ClusterSums, make_divergence
from .algorithm import Centers, KMeansState, choose_row_span, find_label_range, iterate_labels, multi_view_kmeans


@dataclass(frozen=True, eq=False)
class ConsensusSums:
    """Each view's sums of the entities that all views agree on; those of two sets add up."""

    by_view: dict[str, ClusterSums]

    def __add__(self, other: ConsensusSums) -> ConsensusSums:
        return ConsensusSums({name: sums + other.by_view[name] for name, sums in self.by_view.items()})


def collect_consensus(shard: Shard, centers: Centers, names: Sequence[str]) -> ConsensusSums:
    """Sum the rows of a shard's entities whose views agree."""
    by_view = {name: ClusterSums.zeros(shard.views[name], centers.values[name].shape[0]) for name in names}
    for rows, X, _ in iterate_labels(shard, centers, names, names):
        agreed = find_unanimous(shard, names, rows)
        for name, sums in by_view.items():
            sums.include(X[name], keep_where(shard.views[name].present[rows], agreed, NO_LABEL))
    return ConsensusSums(by_view)


def find_unanimous(shard: Shard, names: Sequence[str], rows: slice) -> Array:
    """Return the label that all views of an entity agree on; NO_LABEL where they do not."""
    lowest, highest, _ = find_label_range(shard, names, rows)
    return keep_where(lowest == highest, highest, NO_LABEL)


def compute_consensus_centers(
    sums: Mapping[str, ClusterSums], divergence: Divergence, view_centers: Mapping[str, Array]
) -> dict[str, Array]:
    """Compute the centers of the entities whose views agree (Eq 11).

    If the views agree on no entity of a cluster that has the view, the view keeps its center.
    """
    centers = {}
    for name, view_sums in sums.items():
        values = divergence.centers(view_sums.sums, view_sums.counts)
        centers[name] = namespace(values).where(view_sums.counts[:, None] > 0, values, view_centers[name])
    return centers


def iterate_divergences(
    shard: Shard, divergence: Divergence, centers: Mapping[str, Array]
) -> Iterator[tuple[slice, list[Array]]]:
    """Yield slices of the entities and, per view, their divergence from each center; 0 where they lack the view."""
    measures = {name: make_divergence(view, divergence, centers[name]) for name, view in shard.views.items()}
    for rows, X in shard.read(list(shard.views), choose_row_span(shard.views.values(), len(shard))):
        divergences = []
        for name, view in shard.views.items():
            values = measures[name](rows, X[name])
            divergences.append(values if view.complete else keep_where(view.present[rows][:, None], values, 0.0))
        yield rows, divergences


def vote(shard: Shard, divergence: Divergence, centers: Mapping[str, Array]) -> tuple[Array, Array]:
    """Assign each entity to the cluster with the smallest distance, summed over the views it has (Eq 12).

    Return the labels and their cost: the divergence of each entity from its cluster, summed over entities and views.
    """
    labels, costs = [], []
    for rows, divergences in iterate_divergences(shard, divergence, centers):
        nearest = find_nearest_cluster(reduce(add, map(divergence.distance, divergences)))
        xp = namespace(nearest)
        labels.append(clamp_labels(nearest, shard.fixed(rows)))
        costs += [xp.sum(xp.take_along_axis(values, labels[-1][:, None], axis=1)) for values in divergences]
    return join_blocks(labels), reduce(add, costs)


def find_nearest_cluster(distances: Array) -> Array:
    """Return the cluster of the smallest distance per row, the first on ties."""
    if is_on_host(distances) and distances.size >= WORTH_SCORES:
        from ..common.divergence_kernels import find_smallest

        return find_smallest(distances)
    return namespace(distances).argmin(distances, axis=1)


def vote_all(shards: Shards, divergence: Divergence, centers: Mapping[str, Array]) -> tuple[np.ndarray, float]:
    """Return the cluster of each entity by all its views, and the cost."""
    votes = list(shards.map(vote, divergence, centers))
    return np.concatenate([to_numpy(labels) for labels, _ in votes]), float(sum(cost for _, cost in votes))


def fit_shards(
    shards: Shards, divergence: Divergence, options: Any, fixed_labels: np.ndarray | None = None
) -> tuple[Attempt, bool]:
    """Run k-means from each start and choose the best, with the parameters of an estimator as `options`.

    The result of an attempt is its labels, the consensus centers, the sums of the rows on which all views agree, and
    the shards, which have cached the labels of each view. `fixed_labels` are those of the shards.
    """
    n_clusters, n_starts = options.n_clusters, count_starts(options, fixed_labels)

    def make_starts() -> Iterator[np.ndarray]:
        if not draws_starts(options.init):
            yield partition_from_init(options.init, shards, divergence, n_clusters)
            return
        rng = make_generator(options.random_state)
        generators, (sample_rng,) = rng.spawn(options.n_init)[:n_starts], rng.spawn(1)
        if options.init == RANDOM_RESPONSIBILITIES:
            yield from (generator.integers(n_clusters, size=len(shards)) for generator in generators)
            return
        views, rows = sample_seed_entities(shards, n_clusters, sample_rng, fixed_labels)
        fixed_sample = fixed_labels if fixed_labels is None or rows is None else fixed_labels[rows]
        seed = make_seeder(views, dict.fromkeys(views, divergence), n_clusters, options.init, fixed_sample)
        for partition in seed(generators):
            yield expand_labels(to_numpy(partition), rows, len(shards))

    def finish(started: Shards, state: KMeansState) -> tuple[Any, float]:
        agreed = started.total(collect_consensus, state.centers, list(shards.views)).by_view
        centers = compute_consensus_centers(agreed, divergence, state.centers.values)
        labels, cost = vote_all(started, divergence, centers)
        return (labels, centers, agreed, started), cost

    starts = (shards.with_labels(clamp_labels(labels, fixed_labels)) for labels in make_starts())
    return run_starts(options, starts, n_starts, lambda start: multi_view_kmeans(start, divergence, n_clusters), finish)


def compute_distances(shard: Shard, divergence: Divergence, centers: Mapping[str, Array]) -> Array:
    """Compute the distance of each entity to each cluster, summed over the views it has, (n, k)."""
    blocks = iterate_divergences(shard, divergence, centers)
    return join_blocks([reduce(add, map(divergence.distance, divergences)) for _, divergences in blocks])


def compute_relative_distances(
    shard: Shard, divergence: Divergence, centers: Mapping[str, Array], units: Mapping[str, float]
) -> Array:
    """Compute the distance of each entity to each cluster, in units of the average over its views, (n, k).

    An entity that lacks every view is at distance NaN from every cluster.
    """
    distance = compute_distances(shard, divergence, centers)
    xp = namespace(distance)
    unit = reduce(add, (xp.astype(view.present, distance.dtype) * units[name] for name, view in shard.views.items()))
    return distance / keep_where(unit > 0, unit, np.nan)[:, None]


def conclude_partition(
    shard: Shard, view_centers: Centers, centers: Mapping[str, Array], with_sums: bool, labels: np.ndarray
) -> dict[str, Any]:
    """Compute the labels per view and the distance from the cluster per view, (n, n_views), of a shard's entities.

    `labels` are the clusters by all views.

    The distance is 0 in a view that the entity lacks. With sums, also those of each view under the labels that the
    views before it hand over: `partial_fit` continues from them.
    """
    names, divergence, distances = list(shard.views), view_centers.divergence, []
    sums = {name: ClusterSums.zeros(view, view_centers.values[name].shape[0]) for name, view in shard.views.items()}
    measures = {name: make_divergence(view, divergence, centers[name]) for name, view in shard.views.items()}
    clusters = asarray_like(labels, next(iter(shard.views.values())).present)[:, None]
    xp = namespace(clusters)
    for rows, X, _ in iterate_labels(shard, view_centers, names, names):
        present = [view.present[rows] for view in shard.views.values()]
        by_view = [
            xp.take_along_axis(measure(rows, X[name]), clusters[rows, :], axis=1) for name, measure in measures.items()
        ]
        distances.append(divergence.distance(keep_where(xp.stack(present, axis=1), xp.concat(by_view, axis=1), 0.0)))
        for i, name in enumerate(names if with_sums else []):
            handed = shard.cache.arrays[name][rows]
            for other in (*names[i + 1 :], *names[:i]):  # the last is the view just before
                newer = shard.cache.arrays[other][rows]
                handed = xp.where(newer == NO_LABEL, handed, newer)
            sums[name].include(X[name], keep_where(present[i], handed, NO_LABEL))
    return {
        "view_labels": {name: shard.cache.arrays[name] + 0 for name in names},
        "distances": np.asfortranarray(to_numpy(join_blocks(distances))),  # numpy is slow on sums over so few columns
        "present": np.stack([to_numpy(view.present) for view in shard.views.values()]).T,
        "sums": ConsensusSums(sums),
    }
