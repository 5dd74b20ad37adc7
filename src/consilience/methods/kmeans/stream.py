"""k-means on a stream: each batch is one round, whose M-steps use averages over the batches."""

from __future__ import annotations

from collections.abc import Mapping

from ...arrays import Array, namespace
from ...arrays.namespace import fetch_numbers
from ...rows import Shards
from ..common.statistics import ClusterSums
from ..common.stream import Memories, Memory, average_memory, count_present, map_leaves, start_memory
from .algorithm import Centers, KMeansRound, KMeansState, run_kmeans_round, run_sweep
from .combine import collect_consensus


def remember_clusters(
    shards: Shards, handed: Mapping[str, ClusterSums], agreed: Mapping[str, ClusterSums]
) -> dict[str, Memory]:
    """Return what to remember of the entities that k-means was fitted on."""
    return {
        name: start_memory(n, {"handed": vars(handed[name]), "agreed": vars(agreed[name])})
        for name, n in count_present(shards).items()
    }


def kmeans_step(shards: Shards, centers: Centers, memories: Memories) -> tuple[KMeansState, dict[str, Memory]]:
    """Run a round of k-means on a batch, from the views' own centers; return the state and what to remember."""
    n_present, updated = count_present(shards), dict(memories)
    names = list(n_present)
    n_clusters, turns = centers.values[names[0]].shape[0], names[::-1]

    def average(name: str, sums: ClusterSums) -> ClusterSums:
        means = average_clusters(memories[name], n_present[name], "handed", sums)
        updated[name] = {**updated[name], **means}
        return ClusterSums(**updated[name]["handed"])

    start = KMeansRound(centers, turns, run_sweep(shards, centers, turns, names[0], n_clusters))
    current = run_kmeans_round(shards, start, names, n_clusters, average)
    for name, sums in shards.total(collect_consensus, current.centers, names).by_view.items():
        updated[name] = {**updated[name], **average_clusters(memories[name], n_present[name], "agreed", sums)}
    sweep = current.sweep
    *per_view, n_several, n_agreed = fetch_numbers([*current.costs.values(), sweep.n_several, sweep.n_agreed])
    costs = dict.fromkeys(memories, 0.0) | dict(zip(names, per_view, strict=True))
    return KMeansState(current.centers, costs, n_agreed / n_several if n_several else 1.0, settled=False), updated


def average_clusters(memory: Memory, n: int, key: str, sums: ClusterSums) -> Memory:
    """Average the sums of clusters; an empty one keeps its statistics, so that its step does not depend on others."""
    filled = sums.counts > 0
    xp = namespace(filled)

    def choose(new: Array, old: Array) -> Array:
        return xp.where(xp.reshape(filled, (-1,) + (1,) * (old.ndim - 1)), new, old)

    averaged = average_memory(memory, n, {key: vars(sums)})
    return {**averaged, key: map_leaves(choose, averaged[key], memory[key])}
