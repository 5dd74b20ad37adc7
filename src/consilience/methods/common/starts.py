"""Starts: one partition common to all views, so that cluster j means the same in each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial, reduce
from math import inf, log, sqrt
from operator import add
from typing import Any, NamedTuple

import numpy as np

from ..._tuning import Tuning
from ...arrays import (
    Array,
    Scorer,
    asarray_like,
    build_scorer,
    compute_scores,
    count_stored,
    float64_zeros,
    is_in_memory,
    is_on_host,
    is_sparse,
    keep_where,
    map_chunks,
    namespace,
    split_into_chunks,
    take_dense_rows,
    to_numpy,
)
from ...arrays.fused import WORTH_COMPILED
from ...data.inputs import resolve_per_view
from ...divergences import Divergence
from ...rows import Shard, Shards, ViewRows, join_blocks
from .run import draws_starts
from .statistics import NO_LABEL, ClusterSumCollector, ClusterSums, compute_divergences

tuning = Tuning(
    most_sampled=1 << 18,  # entities that seeds are chosen from: more are no better, and each seed passes over them
    most_values=1 << 27,  # numbers that the rows of these entities may have
    least_sampled=10,  # entities per cluster, however many values they have
)
MOST_PRODUCTS = 1 << 20  # of entities and candidates that are compared at a time if several starts are drawn together
N_SEEDS = 8  # seeds that entities are compared with at a time
Measure = Callable[[np.ndarray], Array]  # positions of seeds -> divergence of all entities from each seed


def make_seeder(
    views: Mapping[str, ViewRows],
    divergences: Mapping[str, Divergence],
    n_clusters: int,
    strategy: str,
    fixed_labels: np.ndarray | None = None,
) -> Callable[[Sequence[np.random.Generator]], Iterator[Array]]:
    """Return a function that draws k seeds per generator and assigns every entity to the nearest by all its views.

    The means of classes that are known (`fixed_labels`) are the first seeds, and the others are drawn from the entities
    of unknown class.
    """
    scales = {name: compute_mean_divergence(view, divergences[name]) for name, view in views.items()}
    measure = SeedMeasure(views, divergences, scales)
    has_any = np.any([to_numpy(view.present) for view in views.values()], axis=0)
    n_drawn, nearest_class, from_class = n_clusters, None, None
    if fixed_labels is not None:
        n_classes = int(fixed_labels.max()) + 1
        n_drawn -= n_classes
        measure_means = make_class_measure(measure, fixed_labels, n_classes)
        nearest_class, from_class = find_nearest_seed(measure_means, np.arange(n_classes))
        if (has_any & (fixed_labels < 0)).sum() >= n_drawn:
            has_any &= fixed_labels < 0
    may_draw = has_any if has_any.sum() >= n_drawn else np.ones(len(has_any), bool)
    joint = measure.join_views() if strategy == "k-means++" and fixed_labels is None else None

    def draw_partition(rng: np.random.Generator) -> Array:
        if not n_drawn:
            return nearest_class
        if strategy == "k-means++":
            search = SeedSearch(measure, may_draw, nearest_class, from_class)
            search.draw_seeds(n_drawn, rng, n_clusters - n_drawn)
            return search.nearest
        partition, divergence = find_nearest_seed(measure, rng.choice(np.flatnonzero(may_draw), n_drawn, replace=False))
        if from_class is None:
            return partition
        return namespace(partition).where(divergence < from_class, partition + n_clusters - n_drawn, nearest_class)

    def draw_partitions(generators: Sequence[np.random.Generator]) -> Iterator[Array]:
        if joint is None:
            yield from map(draw_partition, generators)
            return
        from .divergence_kernels import draw_seeds

        n_draws = count_draws(n_clusters)
        size = max(1, MOST_PRODUCTS // (n_draws * len(joint)))
        for group in (generators[i : i + size] for i in range(0, len(generators), size)):
            draws = [(rng.choice(len(joint)), rng.random((n_clusters - 1, n_draws))) for rng in group]
            yield from draw_seeds(joint, *(np.array(values) for values in zip(*draws, strict=True)))

    return draw_partitions


class CenterLines(NamedTuple):
    """Centers of one view, prepared for comparison with rows: products with rows, less a bias, are their scores."""

    scorer: Scorer  # without the bias, which numpy would subtract slowly from so few columns
    bias: Array  # (n_centers,)
    has_view: Array  # (n_centers,) which of the centers have the view

    def multiply(self, X: Array) -> Array:
        """Compute the products of rows with all centers."""
        return compute_scores(X, self.scorer)


class SeedMeasure:
    """Divergence of all entities from centers: the mean over the views that both have, in units of `scales`.

    An entity and a center without a common view count as being at the average distance. A view whose rows are all alike
    is ignored. Calling it with the positions of entities returns the divergence from these, (n, n_seeds).
    """

    def __init__(
        self, views: Mapping[str, ViewRows], divergences: Mapping[str, Divergence], scales: Mapping[str, float]
    ) -> None:
        self.all_views, self.divergences, self.scales = views, divergences, scales
        self.views = {name: view for name, view in views.items() if scales[name] > 0}
        arrays = [view.X for view in views.values()]
        self.chunks = split_into_chunks(max(arrays, key=count_stored), work=len(arrays))
        self.is_compiled = all(map(is_on_host, arrays)) and sum(map(count_stored, arrays)) >= WORTH_COMPILED

    def __len__(self) -> int:
        return self.chunks[-1].stop

    def __call__(self, seeds: np.ndarray) -> Array:
        return self.compute_from(self.take_entities(seeds))

    def join_views(self) -> np.ndarray | None:
        """Return rows of all views together whose squared distances are the divergences; None unless that is cheap.

        Both divergences are ``scale / 2`` times the squared distance of prepared rows, if these are complete.
        """
        views = self.views.values()
        if not views or not self.is_compiled or len(self.chunks) > 1:
            return None
        if any(is_sparse(view.X) or not is_in_memory(view.X) or not view.complete for view in views):
            return None
        joint = np.empty((len(self), sum(view.X.shape[1] for view in views)), np.result_type(*(v.X for v in views)))
        first = 0
        for name, view in self.views.items():
            factor = sqrt(self.divergences[name].scale / (2 * self.scales[name] * len(views)))
            X = view.X if view.origin is None else view.X - view.origin
            np.multiply(X, factor, out=joint[:, first : first + X.shape[1]], casting="same_kind")
            first += X.shape[1]
        return joint

    def take_entities(self, seeds: np.ndarray) -> dict[str, tuple[Array, Array]]:
        """Return the rows of entities in each view, and which of the entities have the view."""
        centers = {}
        for name, view in self.all_views.items():
            at = asarray_like(seeds, view.row_term)
            centers[name] = take_dense_rows(view.X, at), namespace(view.present).take(view.present, at)
        return centers

    def compute_from(self, centers: Mapping[str, tuple[Array, Array]]) -> Array:
        """Compute the divergence of all entities from centers, given by their rows and whether they have the view."""
        n_centers = next(iter(centers.values()))[0].shape[0]
        return join_blocks(list(map_chunks(self.compare_with(centers), self.chunks)))[:, :n_centers]

    def compare_with(self, centers: Mapping[str, tuple[Array, Array]]) -> Callable[[slice], Array]:
        """Return a function for the divergences of a chunk's entities from centers, in float64.

        Compiled code has further columns, in which the last center is repeated.
        """
        n_centers = next(iter(centers.values()))[0].shape[0]
        if self.is_compiled:
            from .divergence_kernels import WIDTH

            at = np.minimum(np.arange(n_centers + -n_centers % WIDTH), n_centers - 1)
            centers = {name: (rows[at], has_view[at]) for name, (rows, has_view) in centers.items()}
            n_centers = len(at)
        lines = {}
        for name, view in self.views.items():
            weights, bias, origin = self.divergences[name].affine(centers[name][0], view.origin)
            lines[name] = CenterLines(build_scorer(view.X, weights, None, origin), bias, centers[name][1])
        return partial(self._compute_compiled if self.is_compiled else self._compute_generic, lines, n_centers)

    def _compute_compiled(self, lines: Mapping[str, CenterLines], n_centers: int, rows: slice) -> np.ndarray:
        from . import divergence_kernels

        total = np.zeros((rows.stop - rows.start, n_centers))
        complete = all(view.complete and lines[name].has_view.all() for name, view in self.views.items())
        n_shared = np.zeros_like(total) if not complete else None
        for name, view in self.views.items():
            products, bias, has_view = lines[name].multiply(view.X[rows, ...]), lines[name].bias, lines[name].has_view
            terms, unit = (products, bias, view.row_term[rows], self.divergences[name].scale), 1 / self.scales[name]
            if n_shared is None:
                divergence_kernels.add_divergences(*terms, unit / len(self.views), total)
            else:
                shared = view.present[rows], has_view
                divergence_kernels.add_shared_divergences(*terms, unit, *shared, total, n_shared)
        if n_shared is not None:
            divergence_kernels.average_shared(total, n_shared)
        return total

    def _compute_generic(self, lines: Mapping[str, CenterLines], n_centers: int, rows: slice) -> Array:
        reference = next(iter(self.all_views.values())).row_term
        shape = rows.stop - rows.start, n_centers
        total, n_shared = float64_zeros(shape, reference), float64_zeros(shape, reference)
        if not self.views:
            return total
        for name, view in self.views.items():
            xp, line = namespace(view.row_term), lines[name]
            scores = xp.astype(line.multiply(view.X[rows, ...]), xp.float64) - line.bias[None, :]
            divergence = (view.row_term[rows][:, None] - self.divergences[name].scale * scores) / self.scales[name]
            both = xp.logical_and(view.present[rows][:, None], line.has_view[None, :])
            total = total + keep_where(xp.logical_and(both, divergence > 0), divergence, 0.0)
            n_shared = n_shared + xp.astype(both, xp.float64)
        return keep_where(n_shared > 0, total / keep_where(n_shared > 0, n_shared, 1.0), 1.0)


class SeedSearch:
    """Greedy k-means++ (Arthur & Vassilvitskii 2007) over several views, and the nearest seed of each entity.

    Each seed is drawn with a probability in proportion to the divergence from the seeds so far; of a few draws the one
    that lowers the total most is kept. `may_draw` tells which entities can become seeds. If there are centers already,
    `nearest` and `closest` are the nearest of them for each entity and the divergence from it.
    """

    def __init__(
        self, measure: SeedMeasure, may_draw: np.ndarray, nearest: Array | None = None, closest: Array | None = None
    ) -> None:
        reference = next(iter(measure.all_views.values())).row_term
        xp = namespace(reference)
        self.measure, self.entities = measure, np.flatnonzero(may_draw)
        self.may_draw = asarray_like(may_draw, reference)
        self.closest = float64_zeros((len(measure),), reference) + inf if closest is None else closest + 0
        self.nearest = xp.zeros_like(reference, dtype=xp.int64) if nearest is None else nearest + 0
        self.sums = None if closest is None else np.array([self._sum_closest(rows) for rows in measure.chunks])

    def draw_seeds(
        self, n_seeds: int, rng: np.random.Generator, n_centers: int = 0, taken: Iterable[int] = ()
    ) -> list[int]:
        """Draw seeds besides the first `n_centers` centers; `taken` are the entities among these."""
        seeds, taken = list[int](), list(taken)
        n_draws = count_draws(n_seeds + len(taken))
        while len(seeds) < n_seeds:
            if self.sums is None:
                draws = rng.choice(self.entities, 1)
            elif self.sums.sum() > 0:
                draws = self.draw_candidates(n_draws, rng)
            else:  # every entity coincides with a seed
                draws = rng.choice(np.setdiff1d(self.entities, [*taken, *seeds]), 1)
            seeds.append(int(draws[self.add_best(draws, n_centers + len(seeds))]))
        return seeds

    def draw_candidates(self, n_draws: int, rng: np.random.Generator) -> np.ndarray:
        """Draw entities in proportion to `closest`: first a chunk of each, then an entity within this chunk."""
        assert self.sums is not None, "there is a seed"
        ends = np.cumsum(self.sums)
        values = np.minimum(rng.random(n_draws) * ends[-1], np.nextafter(ends[-1], 0))
        chunks, draws = np.searchsorted(ends, values, side="right"), np.empty(n_draws, np.int64)
        for chunk in np.unique(chunks):
            rows, drawn = self.measure.chunks[chunk], chunks == chunk
            cumulated = namespace(self.closest).cumulative_sum(self._weigh_entities(rows))
            within = values[drawn] - (ends[chunk] - self.sums[chunk])
            within = np.clip(within, 0, np.nextafter(float(cumulated[-1]), 0))
            draws[drawn] = rows.start + find_first_above(cumulated, within)
        return draws

    def add_best(self, candidates: np.ndarray, label: int) -> int:
        """Make the candidate that lowers the total divergence most the seed `label`; return its index."""
        chunks = self.measure.chunks
        compare = self.measure.compare_with(self.measure.take_entities(candidates))

        def lower_chunk(rows: slice) -> tuple[Array, Array]:
            divergences, closest = compare(rows), self.closest[rows]
            if self.measure.is_compiled:
                from .divergence_kernels import lower_to_closest

                return divergences, lower_to_closest(divergences, closest)
            xp = namespace(divergences)
            divergences = xp.minimum(divergences, closest[:, None])
            return divergences, xp.sum(divergences, axis=0)

        lowered, potentials = zip(*map_chunks(lower_chunk, chunks), strict=True)
        best = int(to_numpy(reduce(add, potentials)).argmin())

        def accept_chunk(chunk: int) -> float:
            rows, divergences = chunks[chunk], lowered[chunk]
            if self.measure.is_compiled:
                from .divergence_kernels import accept_candidate

                arrays = self.closest[rows], self.nearest[rows], self.may_draw[rows]
                return accept_candidate(divergences, best, label, *arrays)
            xp = namespace(divergences)
            is_closer = divergences[:, best] < self.closest[rows]
            self.nearest[rows] = keep_where(~is_closer, self.nearest[rows], label)
            self.closest[rows] = xp.where(is_closer, divergences[:, best], self.closest[rows])
            return self._sum_closest(rows)

        self.sums = np.array(list(map_chunks(accept_chunk, range(len(chunks)))))
        return best

    def _weigh_entities(self, rows: slice) -> Array:
        """Return the divergence of a chunk's entities from the closest seed, 0 if they cannot be drawn."""
        return keep_where(self.may_draw[rows], self.closest[rows], 0.0)

    def _sum_closest(self, rows: slice) -> float:
        return float(namespace(self.closest).sum(self._weigh_entities(rows)))


def count_draws(n_seeds: int) -> int:
    """Return the number of candidates for each of so many seeds, as in scikit-learn."""
    return 2 + int(log(max(1, n_seeds)))


def find_first_above(ascending: Array, values: np.ndarray) -> np.ndarray:
    """Return the position of the first number of an ascending array that is larger than each value."""
    xp = namespace(ascending)
    return to_numpy(xp.searchsorted(ascending, asarray_like(values, ascending), side="right"))


def make_class_measure(measure: SeedMeasure, fixed_labels: np.ndarray, n_classes: int) -> Measure:
    """Return a function for the divergences of all entities from the means of known classes."""
    means: dict[str, tuple[Array, Array]] = {}
    for name, view in measure.all_views.items():
        sums = ClusterSumCollector(view, n_classes).collect(asarray_like(fixed_labels, view.row_term))
        means[name] = measure.divergences[name].centers(sums.sums, sums.counts), sums.counts > 0

    def measure_means(classes: np.ndarray) -> Array:
        at = asarray_like(classes, next(iter(measure.all_views.values())).row_term)
        chosen = {
            name: (namespace(values).take(values, at, axis=0), namespace(values).take(has_mean, at))
            for name, (values, has_mean) in means.items()
        }
        return measure.compute_from(chosen)

    return measure_means


def find_nearest_seed(measure: Measure, seeds: np.ndarray) -> tuple[Array, Array]:
    """Return the nearest seed of each entity, and the divergence from it.

    A few seeds are compared at a time, so that no (entities, clusters) array is needed.
    """
    divergence = measure(seeds[:N_SEEDS])
    xp = namespace(divergence)
    partition, least = xp.argmin(divergence, axis=1), xp.min(divergence, axis=1)
    for first in range(N_SEEDS, len(seeds), N_SEEDS):
        divergence = measure(seeds[first : first + N_SEEDS])
        closer = xp.min(divergence, axis=1) < least
        partition = xp.where(closer, xp.argmin(divergence, axis=1) + first, partition)
        least = xp.where(closer, xp.min(divergence, axis=1), least)
    return partition, least


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


STRATEGIES = ("k-means++", "random")
RANDOM_RESPONSIBILITIES = "random-responsibilities"
NAMED_STARTS = {*STRATEGIES, RANDOM_RESPONSIBILITIES}


def draw_responsibilities(n: int, n_clusters: int, rng: np.random.Generator) -> np.ndarray:
    """Draw the responsibilities of n entities, uniformly from all that sum to 1 (the flat Dirichlet distribution)."""
    responsibilities = rng.standard_exponential((n, n_clusters))
    responsibilities /= responsibilities.sum(axis=1)[:, None]
    return responsibilities


def count_starts(options: Any, fixed_labels: np.ndarray | None) -> int:
    """Return the number of starts of an estimator: one if `init`, or a known class per cluster, leaves none to draw."""
    n_classes = 0 if fixed_labels is None else int(fixed_labels.max()) + 1
    is_drawn = draws_starts(options.init) and (options.init not in STRATEGIES or n_classes < options.n_clusters)
    return options.n_init if is_drawn else 1


def sample_seed_entities(
    shards: Shards, n_clusters: int, rng: np.random.Generator, fixed_labels: np.ndarray | None = None
) -> tuple[Mapping[str, ViewRows], np.ndarray | None]:
    """Return the rows that seeds are chosen from, in memory, and their positions: None for all, else a random sample.

    The size of the sample depends on the shape of the data alone. Entities of known class are added, as many as the
    sample has, and at least one per class.
    """
    n, n_values = len(shards), sum(count_stored(view.X) for view in shards.views.values())
    wanted = max(
        min(tuning.most_sampled, n * tuning.most_values // max(1, n_values)), tuning.least_sampled * n_clusters
    )
    rows = None if n <= wanted else np.sort(rng.choice(n, wanted, replace=False))
    if rows is not None and fixed_labels is not None:
        labeled = rng.permutation(np.flatnonzero(fixed_labels >= 0))[:wanted]
        rows = np.unique(np.concatenate([rows, labeled, np.unique(fixed_labels, return_index=True)[1]]))
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
