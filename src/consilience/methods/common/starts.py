"""Starts: one partition common to all views, so that cluster j means the same in each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial, reduce
from math import log
from operator import add
from typing import Any

import numpy as np

from ...arrays import (
    Array,
    asarray_like,
    count_stored,
    float64_zeros,
    keep_where,
    map_chunks,
    namespace,
    split_into_chunks,
    take_dense_rows,
    to_numpy,
)
from ...data.inputs import resolve_per_view
from ...divergences import Divergence
from ...rows import Shard, Shards, ViewRows
from .statistics import NO_LABEL, ClusterSums, compute_divergences

MOST_SAMPLED = 1 << 18  # entities that seeds are chosen from: more are no better, and each seed takes a pass over them
MOST_VALUES = 1 << 27  # numbers that the rows of these entities may have
LEAST_SAMPLED = 10  # entities per cluster, however many values they have
N_SEEDS = 8  # seeds that entities are compared with at a time
Measure = Callable[[np.ndarray], Array]  # positions of seeds -> divergence of all entities from each seed


def make_seeder(
    views: Mapping[str, ViewRows], divergences: Mapping[str, Divergence], n_clusters: int, strategy: str
) -> Callable[[np.random.Generator], Array]:
    """Return a function that draws k seeds and assigns every entity to the nearest of them by all its views."""
    scales = {name: compute_mean_divergence(view, divergences[name]) for name, view in views.items()}
    measure = partial(compute_seed_divergences, views, divergences, scales)
    has_any = np.any([to_numpy(view.present) for view in views.values()], axis=0)
    entities = np.flatnonzero(has_any) if has_any.sum() >= n_clusters else np.arange(len(has_any))

    def draw_partition(rng: np.random.Generator) -> Array:
        return assign_to_nearest_seed(measure, STRATEGIES[strategy](measure, entities, n_clusters, rng))

    return draw_partition


def assign_to_nearest_seed(measure: Measure, seeds: np.ndarray) -> Array:
    """Return the nearest seed of each entity, a few seeds at a time so that no (entities, clusters) array is needed."""
    divergence = measure(seeds[:N_SEEDS])
    xp = namespace(divergence)
    partition, least = xp.argmin(divergence, axis=1), xp.min(divergence, axis=1)
    for first in range(N_SEEDS, len(seeds), N_SEEDS):
        divergence = measure(seeds[first : first + N_SEEDS])
        closer = xp.min(divergence, axis=1) < least
        partition = xp.where(closer, xp.argmin(divergence, axis=1) + first, partition)
        least = xp.where(closer, xp.min(divergence, axis=1), least)
    return partition


def compute_mean_divergence(view: ViewRows, divergence: Divergence) -> float:
    """Return the mean divergence of a view's rows from their common center, by which views become comparable."""
    xp = namespace(view.row_term)

    def sum_chunk(rows: slice) -> ClusterSums:
        sums = ClusterSums.zeros(view, 1)
        sums.include(view.X[rows, ...], xp.astype(view.present[rows], xp.int64) - 1)  # labels 0, or -1 if missing
        return sums

    total = reduce(add, map_chunks(sum_chunk, split_into_chunks(view.X, with_sums=True)))
    from_center = compute_divergences(view, divergence, divergence.centers(total.sums, total.counts))[:, 0]
    return float(xp.sum(keep_where(view.present, from_center, 0.0))) / max(1.0, float(total.counts[0]))


def compute_seed_divergences(
    views: Mapping[str, ViewRows], divergences: Mapping[str, Divergence], scales: Mapping[str, float], seeds: np.ndarray
) -> Array:
    """Return the divergence of all entities from seeds: the mean over the views that both have, in units of `scales`.

    Two entities without a common view count as being at the average distance. A view whose rows are all alike is
    ignored.
    """
    first = next(iter(views.values())).row_term
    total = float64_zeros((first.shape[0], len(seeds)), first)
    n_shared = float64_zeros((first.shape[0], len(seeds)), first)
    for name, view in views.items():
        if scales[name] == 0:
            continue
        xp = namespace(view.row_term)
        at = asarray_like(seeds, view.row_term)
        divergence = compute_divergences(view, divergences[name], take_dense_rows(view.X, at)) / scales[name]
        both = xp.logical_and(view.present[:, None], xp.take(view.present, at)[None, :])
        total = total + keep_where(both, divergence, 0.0)
        n_shared = n_shared + xp.astype(both, xp.float64)
    if not any(scales.values()):
        return total
    return keep_where(n_shared > 0, total / keep_where(n_shared > 0, n_shared, 1.0), 1.0)


def draw_random_seeds(_: Measure, entities: np.ndarray, n_clusters: int, rng: np.random.Generator) -> np.ndarray:
    """Draw different entities, all equally likely."""
    return rng.choice(entities, n_clusters, replace=False)


def draw_plus_plus_seeds(
    measure: Measure, entities: np.ndarray, n_clusters: int, rng: np.random.Generator
) -> np.ndarray:
    """Draw seeds by greedy k-means++ (Arthur & Vassilvitskii 2007) over several views.

    Each seed is drawn with a probability in proportion to the divergence from the seeds so far; of a few draws the one
    that lowers the total most is kept.
    """
    first = int(rng.choice(entities))
    closest = measure(np.array([first]))[:, 0]
    return np.array([first, *draw_further_seeds(measure, entities, n_clusters, rng, closest, {first})])


def draw_further_seeds(
    measure: Measure, entities: np.ndarray, n_clusters: int, rng: np.random.Generator, closest: Array, taken: set[int]
) -> list[int]:
    """Draw the seeds beside those already taken; `closest` is each entity's divergence from the nearest of these."""
    n_draws = 2 + int(log(n_clusters))
    seeds: list[int] = []
    xp = namespace(closest)
    at = asarray_like(entities, closest)
    while len(taken) + len(seeds) < n_clusters:
        cumulated = xp.cumulative_sum(xp.take(closest, at))
        total = float(cumulated[-1])
        if total == 0:  # every entity coincides with a seed
            others = np.setdiff1d(entities, [*taken, *seeds])
            return seeds + rng.choice(others, n_clusters - len(taken) - len(seeds), replace=False).tolist()
        draws = to_numpy(xp.searchsorted(cumulated, asarray_like(rng.random(n_draws) * total, closest)))
        draws = entities[np.minimum(draws, len(entities) - 1)]
        reduced = xp.minimum(closest[:, None], measure(draws))
        best = int(xp.argmin(xp.sum(reduced, axis=0)))
        seeds.append(int(draws[best]))
        closest = reduced[:, best]
    return seeds


STRATEGIES = {"k-means++": draw_plus_plus_seeds, "random": draw_random_seeds}
RANDOM_RESPONSIBILITIES = "random-responsibilities"
NAMED_STARTS = {*STRATEGIES, RANDOM_RESPONSIBILITIES}


def draw_responsibilities(n: int, n_clusters: int, rng: np.random.Generator) -> np.ndarray:
    """Draw the responsibilities of n entities, uniformly from all that sum to 1 (the flat Dirichlet distribution)."""
    responsibilities = rng.standard_exponential((n, n_clusters))
    responsibilities /= responsibilities.sum(axis=1)[:, None]
    return responsibilities


def sample_seed_entities(
    shards: Shards, n_clusters: int, rng: np.random.Generator
) -> tuple[Mapping[str, ViewRows], np.ndarray | None]:
    """Return the rows that seeds are chosen from, in memory, and their positions: None for all, else a random sample.

    The size of the sample depends on the shape of the data alone.
    """
    n, n_values = len(shards), sum(count_stored(view.X) for view in shards.views.values())
    wanted = max(min(MOST_SAMPLED, n * MOST_VALUES // max(1, n_values)), LEAST_SAMPLED * n_clusters)
    rows = None if n <= wanted else np.sort(rng.choice(n, wanted, replace=False))
    return shards.take(rows), rows


def expand_labels(labels: np.ndarray, rows: np.ndarray | None, n: int) -> np.ndarray:
    """Return labels of the entities at `rows` as labels of all n entities; the others have no label yet."""
    if rows is None:
        return labels
    expanded = np.full(n, NO_LABEL)
    expanded[rows] = labels
    return expanded


def partition_from_init(init: Any, shards: Shards, divergence: Divergence, n_clusters: int) -> np.ndarray:
    """Return the partition that the parameter `init` describes: labels, or centers or responsibilities per view.

    If several views describe the cluster of an entity, the last one counts, as in Table 1 of the paper, where the last
    view's parameters start the run. Views may be left out.
    """
    n = len(shards)
    partition = np.full(n, NO_LABEL)
    for name, values in split_init_by_view(init, list(shards.views), n, n_clusters).items():
        labels = matrix = np.asarray(values)
        if matrix.ndim != 1:
            if contains_centers(name, matrix, shards.views[name].X.shape, n_clusters):
                labels = np.concatenate(list(shards.map(assign_shard_to_centers, name, divergence, matrix)))
            else:
                labels = matrix.argmax(axis=1)
        partition = np.where(to_numpy(shards.views[name].present), labels, partition)
    if (partition == NO_LABEL).all():
        raise make_empty_init_error(shards.views)
    return partition


def split_init_by_view(init: Any, names: Sequence[str], n: int, n_clusters: int) -> dict[str, Any]:
    """Return what the parameter `init` has for each view: labels (n,), a matrix, or a mapping as it is."""
    is_list = isinstance(init, list | tuple) and init and (isinstance(init[0], Mapping) or np.ndim(init[0]) == 2)
    if isinstance(init, Mapping) or is_list:
        by_view = resolve_per_view("init", init, names, partial=True)
        for name, values in by_view.items():
            if not isinstance(values, Mapping):
                array = to_numpy(values)
                by_view[name] = check_init_labels(array, n, n_clusters) if array.ndim == 1 else array
        return by_view
    values = to_numpy(init)
    if values.ndim == 1:
        return dict.fromkeys(names, check_init_labels(values, n, n_clusters))
    if len(names) > 1 and values.shape != (n, n_clusters):
        raise ValueError(
            f"init of shape {values.shape} is neither {n} labels nor responsibilities {(n, n_clusters)}: "
            "give centers per view, init={'view': centers, ...}"
        )
    return dict.fromkeys(names, values)


def make_empty_init_error(names: Iterable[str]) -> ValueError:
    """Return the error for an `init` that describes no entity's cluster."""
    return ValueError(
        f"init gives no entity a start: give something for one of the views {', '.join(map(repr, names))}"
    )


def check_init_labels(labels: np.ndarray, n: int, n_clusters: int) -> np.ndarray:
    """Return the labels of an `init` as whole numbers, checked."""
    if labels.shape != (n,):
        raise ValueError(f"init gives {len(labels)} labels for {n} entities: give one each")
    if labels.dtype.kind not in "iu" or labels.min() < 0 or labels.max() >= n_clusters:
        raise ValueError(f"init labels must be whole numbers from 0 to {n_clusters - 1} (n_clusters={n_clusters})")
    return labels.astype(np.int64)


def contains_centers(name: str, values: np.ndarray, shape: tuple[int, int], n_clusters: int, more: str = "") -> bool:
    """Return whether an `init` matrix has centers rather than responsibilities; refuse anything else.

    `more` ends the list of what may be given in the error message.
    """
    n, d = shape
    if values.shape not in {(n_clusters, d), (n, n_clusters)}:
        raise ValueError(
            f"init for view {name!r} has shape {values.shape}: give centers {(n_clusters, d)} or responsibilities "
            f"{(n, n_clusters)}{more}"
        )
    if not np.isfinite(values).all():
        raise ValueError(f"init for view {name!r} holds NaN or infinity: give finite numbers")
    return values.shape == (n_clusters, d)


def assign_shard_to_centers(shard: Shard, name: str, divergence: Divergence, values: np.ndarray) -> np.ndarray:
    """Return the nearest given center of each row of a shard."""
    return assign_to_nearest_center(shard.views[name], divergence, values)


def assign_to_nearest_center(view: ViewRows, divergence: Divergence, values: np.ndarray) -> np.ndarray:
    """Return the nearest given center of each row."""
    counts = float64_zeros(values.shape[:1], view.row_term) + 1
    centers = divergence.centers(asarray_like(values.astype(np.float64), view.row_term), counts)
    return to_numpy(compute_divergences(view, divergence, centers)).argmin(axis=1)
