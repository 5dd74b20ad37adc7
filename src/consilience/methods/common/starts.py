"""Where to start from: one partition common to all views, so that cluster j means the same in each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from math import log
from typing import Any

import numpy as np

from ...arrays import Array, asarray_like, count_stored, float64_zeros, keep_where, namespace, take_dense_rows, to_numpy
from ...data import resolve_per_view
from ...divergences import Divergence, ViewRows
from ...rows.shards import Shard, Shards
from .distances import compute_divergences
from .statistics import NO_LABEL, ClusterSumCollector

MOST_SAMPLED = 1 << 18  # entities that seeds are chosen from: more are no better, and k passes over all would be slow
MOST_VALUES = 1 << 27  # that these may have
LEAST_SAMPLED = 10  # entities a cluster, however wide they are
Measure = Callable[[np.ndarray], Array]  # positions of some entities -> divergence of all entities from each


def make_seeder(
    views: Mapping[str, ViewRows], divergences: Mapping[str, Divergence], n_clusters: int, strategy: str
) -> Callable[[np.random.Generator], Array]:
    """A function that chooses k entities and gives every other to the nearest of them, all views considered."""
    scales = {name: compute_mean_divergence(view, divergences[name]) for name, view in views.items()}
    measure = partial(compute_seed_divergences, views, divergences, scales)
    entities = find_seed_candidates(views, n_clusters)

    def partition(rng: np.random.Generator) -> Array:
        return assign_to_nearest_seed(measure, STRATEGIES[strategy](measure, entities, n_clusters, rng))

    return partition


def assign_to_nearest_seed(measure: Measure, seeds: np.ndarray) -> Array:
    """The nearest seed of each entity, a few seeds at a time so that no (entities, clusters) array is needed."""
    away = measure(seeds[:8])
    xp = namespace(away)
    partition, least = xp.argmin(away, axis=1), xp.min(away, axis=1)
    for first in range(8, len(seeds), 8):
        away = measure(seeds[first : first + 8])
        closer = xp.min(away, axis=1) < least
        partition = xp.where(closer, xp.argmin(away, axis=1) + first, partition)
        least = xp.where(closer, xp.min(away, axis=1), least)
    return partition


def compute_mean_divergence(view: ViewRows, divergence: Divergence) -> float:
    """Mean divergence of a view's rows from their common centre: what makes views of different units comparable."""
    xp = namespace(view.row_term)
    everyone = ClusterSumCollector(view, 1).collect(xp.astype(view.row_term * 0, xp.int64))
    away = compute_divergences(view, divergence, divergence.centers(everyone.sums, everyone.counts))[:, 0]
    return float(xp.sum(keep_where(view.present, away, 0.0))) / max(1.0, float(everyone.counts[0]))


def compute_seed_divergences(
    views: Mapping[str, ViewRows],
    divergences: Mapping[str, Divergence],
    scales: Mapping[str, float],
    seeds: np.ndarray,
) -> Array:
    """Divergence of all entities from some: the mean over the views that both have, each in units of its spread.

    Two entities with no view in common are taken to be at average distance. A view whose rows are all alike is ignored.
    """
    first = next(iter(views.values())).row_term
    total = float64_zeros((first.shape[0], len(seeds)), first)
    shared = float64_zeros((first.shape[0], len(seeds)), first)
    for name, view in views.items():
        if scales[name] == 0:
            continue
        xp = namespace(view.row_term)
        at = asarray_like(seeds, view.row_term)
        away = compute_divergences(view, divergences[name], take_dense_rows(view.X, at)) / scales[name]
        both = xp.logical_and(view.present[:, None], xp.take(view.present, at)[None, :])
        total = total + keep_where(both, away, 0.0)
        shared = shared + xp.astype(both, xp.float64)
    if not any(scales.values()):
        return total
    return keep_where(shared > 0, total / keep_where(shared > 0, shared, 1.0), 1.0)


def find_seed_candidates(views: Mapping[str, ViewRows], n_clusters: int) -> np.ndarray:
    """Entities that can be seeds: those with some view, unless these are too few."""
    seen = np.any([to_numpy(view.present) for view in views.values()], axis=0)
    return np.flatnonzero(seen) if seen.sum() >= n_clusters else np.arange(len(seen))


def draw_random_seeds(_: Measure, entities: np.ndarray, n_clusters: int, rng: np.random.Generator) -> np.ndarray:
    """Different entities, all equally likely."""
    return rng.choice(entities, n_clusters, replace=False)


def draw_plus_plus_seeds(
    measure: Measure, entities: np.ndarray, n_clusters: int, rng: np.random.Generator
) -> np.ndarray:
    """Greedy k-means++ (Arthur & Vassilvitskii 2007) over several views.

    Each seed is drawn with a chance in proportion to the divergence from the seeds so far; of a few draws the one that
    lowers the total most is kept.
    """
    first = int(rng.choice(entities))
    closest = measure(np.array([first]))[:, 0]
    return np.array([first, *draw_further_seeds(measure, entities, n_clusters, rng, closest, {first})])


def draw_further_seeds(
    measure: Measure,
    entities: np.ndarray,
    n_clusters: int,
    rng: np.random.Generator,
    closest: Array,
    taken: set[int],
) -> list[int]:
    """Seeds beside those that are taken, of which `closest` is each entity's divergence from the nearest centre."""
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
        away = xp.minimum(closest[:, None], measure(draws))
        best = int(xp.argmin(xp.sum(away, axis=0)))
        seeds.append(int(draws[best]))
        closest = away[:, best]
    return seeds


def sample_entities(
    shards: Shards, n_clusters: int, rng: np.random.Generator
) -> tuple[dict[str, Any], np.ndarray | None]:
    """The entities that seeds are chosen from, in memory, and which these are: all (None), or some of very many.

    How many depends on the data's shape alone.
    """
    n, n_values = sum(shards.sizes), sum(count_stored(part.X) for part in shards.views.values())
    wanted = max(min(MOST_SAMPLED, n * MOST_VALUES // max(1, n_values)), LEAST_SAMPLED * n_clusters)
    if n <= wanted:
        return shards.some(None), None
    rows = np.sort(rng.choice(n, wanted, replace=False))
    return shards.some(rows), rows


def expand_labels(labels: np.ndarray, rows: np.ndarray | None, n: int) -> np.ndarray:
    """Labels of some entities as labels of all: nobody has labelled the others yet."""
    if rows is None:
        return labels
    everyone = np.full(n, NO_LABEL)
    everyone[rows] = labels
    return everyone


STRATEGIES = {"k-means++": draw_plus_plus_seeds, "random": draw_random_seeds}


def partition_from_init(init: Any, shards: Shards, divergence: Divergence, n_clusters: int) -> np.ndarray:
    """The partition that a given `init` stands for: labels, or centres or responsibilities (per view).

    Given view by view, the views hand over in their order, so that each entity starts from its last view's word, as in
    Table 1 of the paper, where the last view's parameters start the run. Views may be left out.
    """
    n = sum(shards.sizes)
    partition = np.full(n, NO_LABEL)
    for name, values in split_init_by_view(init, list(shards.views), n, n_clusters).items():
        labels = _labels_from(name, values, shards, divergence, n_clusters)
        partition = np.where(to_numpy(shards.views[name].present), labels, partition)
    if (partition == NO_LABEL).all():
        raise make_empty_init_error(shards.views)
    return partition


def split_init_by_view(init: Any, names: Sequence[str], n: int, n_clusters: int) -> dict[str, Any]:
    """What a given `init` has for each view: labels (n,), a matrix, or a mapping as it is."""
    listed = isinstance(init, list | tuple) and init and (isinstance(init[0], Mapping) or np.ndim(init[0]) == 2)
    if isinstance(init, Mapping) or listed:
        given = resolve_per_view("init", init, names, some=True)
        arrays = {name: to_numpy(own) for name, own in given.items() if not isinstance(own, Mapping)}
        labels = {name: check_init_labels(own, n, n_clusters) for name, own in arrays.items() if own.ndim == 1}
        return {**given, **arrays, **labels}
    values = to_numpy(init)
    if values.ndim == 1:
        return dict.fromkeys(names, check_init_labels(values, n, n_clusters))
    if len(names) > 1 and values.shape != (n, n_clusters):
        raise ValueError(
            f"init of shape {values.shape} is neither {n} labels nor responsibilities {(n, n_clusters)}: "
            "give centres view by view, init={'view': centres, ...}"
        )
    return dict.fromkeys(names, values)


def make_empty_init_error(names: Iterable[str]) -> ValueError:
    """The refusal of an `init` that is empty."""
    return ValueError(
        f"init gives no entity a start: give something for one of the views {', '.join(map(repr, names))}"
    )


def check_init_labels(labels: np.ndarray, n: int, n_clusters: int) -> np.ndarray:
    """Labels that a user gave as a start."""
    if labels.shape != (n,):
        raise ValueError(f"init gives {len(labels)} labels for {n} entities: give one each")
    if labels.dtype.kind not in "iu" or labels.min() < 0 or labels.max() >= n_clusters:
        raise ValueError(f"init labels must be whole numbers from 0 to {n_clusters - 1} (n_clusters={n_clusters})")
    return labels.astype(np.int64)


def _labels_from(name: str, values: Any, shards: Shards, divergence: Divergence, n_clusters: int) -> np.ndarray:
    values = np.asarray(values)
    if values.ndim == 1:
        return values
    if contains_centers(name, values, shards.views[name].X.shape, n_clusters):
        return np.concatenate(list(shards.map(assign_shard_to_centers, name, divergence, values)))
    return values.argmax(axis=1)


def assign_shard_to_centers(shard: Shard, name: str, divergence: Divergence, values: np.ndarray) -> np.ndarray:
    """The nearest of some given centres for each row of a shard."""
    return assign_to_nearest_center(shard.views[name], divergence, values)


def contains_centers(name: str, values: np.ndarray, shape: tuple[int, int], n_clusters: int, more: str = "") -> bool:
    """Whether a matrix given for a view holds centres; if not, it holds responsibilities. Refuse what is neither."""
    n, d = shape
    if values.shape not in {(n_clusters, d), (n, n_clusters)}:
        raise ValueError(
            f"init for view {name!r} has shape {values.shape}: give centres {(n_clusters, d)} or responsibilities "
            f"{(n, n_clusters)}{more}"
        )
    if not np.isfinite(values).all():
        raise ValueError(f"init for view {name!r} holds NaN or infinity: give finite numbers")
    return values.shape == (n_clusters, d)


def assign_to_nearest_center(view: ViewRows, divergence: Divergence, values: np.ndarray) -> np.ndarray:
    """The nearest of some given centres for each row."""
    counts = float64_zeros(values.shape[:1], view.row_term) + 1
    centres = divergence.centers(asarray_like(values.astype(np.float64), view.row_term), counts)
    return to_numpy(compute_divergences(view, divergence, centres)).argmin(axis=1)
