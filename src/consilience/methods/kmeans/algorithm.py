"""Multi-view k-means (Bickel & Scheffer 2004, Table 1 with the steps of section 4.3), for any number of views.

It is spherical k-means with the cosine divergence, and ordinary k-means with the squared Euclidean one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields
from functools import reduce
from operator import add
from typing import Any

import numpy as np
from array_api_compat import device

from ..._tuning import Tuning
from ...arrays import (
    Array,
    Scorer,
    argmax_scores,
    asarray_like,
    build_scorer,
    choose_block_size,
    compute_scores,
    count_stored,
    include_labels,
    is_on_host,
    keep_where,
    namespace,
    parallel,
    sum_costs,
    take_dense_rows,
    to_numpy,
)
from ...arrays.dense_verbs import choose_n_rows
from ...arrays.fused import WORTH_COMPILED
from ...arrays.namespace import fetch_numbers
from ...divergences import Divergence
from ...rows import Shard, Shards, ViewRows, new_version
from ..common.known_classes import clamp_labels
from ..common.statistics import NO_LABEL, ClusterSums, compute_divergences

tuning = Tuning(most_updates=10)  # of running sums, whose rounding errors would add up
LABELS = ("labels",)  # under which a shard caches the labels of all views; no view has such a name
SPREAD = 1e6  # ratio of the longest rows to the usual ones from which on rounding of running sums matters


@dataclass(frozen=True, eq=False)
class Centers:
    """The centers of the views; a view may have none yet."""

    divergence: Divergence
    values: dict[str, Array] = field(default_factory=dict)
    versions: dict[str, int] = field(default_factory=dict)  # which cached labels belong to
    _scorers: dict[tuple[str, int], Scorer] = field(default_factory=dict)
    _packed: dict[tuple[str, int], tuple[Array, Array]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in self.values:
            self.versions.setdefault(name, new_version())

    def update(self, name: str, values: Array) -> Centers:
        """Return the centers with new ones of one view."""
        return Centers(self.divergence, {**self.values, name: values}, {**self.versions, name: new_version()})

    def scorer(self, name: str, view: ViewRows) -> Scorer:
        """Return a view's centers prepared for its rows, built once."""
        key = name, id(view.origin)
        if key not in self._scorers:
            self._scorers[key] = build_scorer(view.X, *self.divergence.affine(self.values[name], view.origin))
        return self._scorers[key]

    def packed(self, name: str, view: ViewRows) -> tuple[Array, Array]:
        """Return the weights and biases of a view's centers as compiled loops read them, built once."""
        from ...arrays.dense_kernels import pack_table

        key = name, id(view.origin)
        if key not in self._packed:
            weights, bias, _ = self.divergence.affine(self.values[name], view.origin)
            self._packed[key] = pack_table(weights, bias, view.X.dtype)
        return self._packed[key]

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the scorers, which are built again."""
        return {**self.__dict__, "_scorers": {}, "_packed": {}}


@dataclass(frozen=True, eq=False)
class KMeansState:
    """The centers after a round, their costs, and the agreement of the views."""

    centers: Centers
    costs: dict[str, float]
    agreement: float
    settled: bool
    comparable: bool = True

    @property
    def record(self) -> dict[str, float]:
        by_view = {f"cost_{name}": cost for name, cost in self.costs.items()} if len(self.costs) > 1 else {}
        return {"cost": sum(self.costs.values()), **by_view, "agreement": self.agreement}


@dataclass(eq=False)
class Sweep:
    """Results of a pass over some entities; those of two sets add up."""

    sums: ClusterSums  # of the next view, under the labels that are handed over
    cost: Array  # of the view whose turn it was
    n_several: Array  # number of entities with two views or more
    n_agreed: Array  # number of those with the same label in all views; both without entities of known class

    def __add__(self, other: Sweep) -> Sweep:
        return Sweep(*(getattr(self, term.name) + getattr(other, term.name) for term in fields(self)))


@dataclass(eq=False)
class RunningSums:
    """Sums of a view that are updated from sweep to sweep by the rows whose label changes."""

    sums: ClusterSums
    labels: np.ndarray  # (n,) that each row is summed under
    is_even: bool  # whether no row is so long that sums would keep its rounding errors after it has left
    n_updates: int = 0

    def begin_anew(self, X: np.ndarray) -> None:
        """Add up all rows again, without the rounding errors of rows that were subtracted."""
        self.sums.clear()
        self.sums.include(X, self.labels)
        self.n_updates = 1


@dataclass(frozen=True, eq=False)
class KMeansRound:
    """What a round starts from, and ends with."""

    centers: Centers
    turns: Sequence[str]  # the views in the order of their turns, the last one first
    sweep: Sweep  # after the last turn
    costs: dict[str, Array] = field(default_factory=dict)
    sums: dict[str, ClusterSums] = field(default_factory=dict)  # of each view's M-step


def multi_view_kmeans(shards: Shards, divergence: Divergence, n_clusters: int) -> Iterator[KMeansState]:
    """Yield one state per round: in each view in turn an M-step on the labels handed over, and an E-step.

    An entity that lacks a view keeps its label meanwhile: a view learns from the newest label that each of its entities
    has from another view, or from its own if it is the entity's only view.
    """
    names = list(shards.views)
    complete = all(view.complete for view in shards.views.values())
    centers = Centers(divergence)
    current = KMeansRound(centers, [], run_sweep(shards, centers, [], names[0], n_clusters))
    while True:
        before, current = current.sums, run_kmeans_round(shards, current, names, n_clusters)
        sweep = current.sweep
        # if the next round starts from the same sums as this one, it does the same
        differs = [sweep.sums.differs(current.sums[names[0]])]
        if not complete and before:  # a label may have been waiting in a view
            differs += [current.sums[name].differs(before[name]) for name in names[1:]]
        numbers = [*current.costs.values(), sweep.n_several, sweep.n_agreed, reduce(add, differs)]
        *costs, n_several, n_agreed, n_different = fetch_numbers(numbers)
        settled = n_different == 0 and (complete or bool(before))
        agreement = n_agreed / n_several if n_several else 1.0
        yield KMeansState(current.centers, dict(zip(names, costs, strict=True)), agreement, settled)


def run_kmeans_round(
    shards: Shards,
    previous: KMeansRound,
    names: Sequence[str],
    n_clusters: int,
    average: Callable[[str, ClusterSums], ClusterSums] | None = None,
) -> KMeansRound:
    """Give each view its turn; `average` replaces the sums of a view by averages over the batches of a stream."""
    centers, turns, sweep = previous.centers, previous.turns, previous.sweep
    costs, sums = {}, {}
    for name, following in zip(names, [*names[1:], names[0]], strict=True):
        sums[name] = sweep.sums if average is None else average(name, sweep.sums)
        centers = centers.update(name, compute_centers(shards, centers, turns, name, sums[name]))  # M-step, Eq 9
        turns = [name, *(other for other in turns if other != name)]
        # E-step, Eqs 8 and 10
        sweep = run_sweep(shards, centers, turns, following, n_clusters, with_agreement=name == names[-1])
        costs[name] = sweep.cost
    return KMeansRound(centers, turns, sweep, costs, sums)


def run_sweep(
    shards: Shards,
    centers: Centers,
    turns: Sequence[str],
    following: str,
    n_clusters: int,
    *,
    with_agreement: bool = False,
) -> Sweep:
    """Run the E-step of the view that had its turn, and collect the sums of the next view, in one pass."""
    return shards.total(sweep_shard, centers, turns, following, n_clusters, with_agreement)


def sweep_shard(
    shard: Shard, centers: Centers, turns: Sequence[str], following: str, n_clusters: int, with_agreement: bool
) -> Sweep:
    """Run a sweep over the entities of a shard."""
    if can_sweep_at_once(shard, centers, turns, following):
        return sweep_at_once(shard, centers, turns, following, n_clusters, with_agreement)
    view = shard.views[following]
    xp, sums = namespace(view.row_term), ClusterSums.zeros(view, n_clusters)
    zero = 0.0 if is_on_host(view.row_term) else xp.sum(view.row_term[:0])
    sweep = Sweep(sums, zero, zero, zero)
    for rows, X, cost in iterate_labels(shard, centers, turns, [following]):
        labels = get_newest_labels(shard, turns, rows)
        sums.include(X[following], labels if view.complete else keep_where(view.present[rows], labels, NO_LABEL))
        sweep.cost = sweep.cost + cost
        if with_agreement:
            lowest, highest, n_present = find_label_range(shard, turns, rows)
            several, fixed_labels = n_present >= 2, shard.fixed(rows)
            if fixed_labels is not None:
                several = xp.logical_and(several, fixed_labels < 0)
            agreed = xp.logical_and(several, lowest == highest)
            sweep.n_several = sweep.n_several + xp.sum(xp.astype(several, xp.float64))
            sweep.n_agreed = sweep.n_agreed + xp.sum(xp.astype(agreed, xp.float64))
    return sweep


def can_sweep_at_once(shard: Shard, centers: Centers, turns: Sequence[str], following: str) -> bool:
    """Whether a sweep computes labels of the last turn only, and all it needs are large dense arrays in main memory."""
    if not turns or shard.fixed_labels is not None:
        return False
    for name in (turns[0], following):
        X = shard.views[name].X
        if type(X) is not np.ndarray or X.size < WORTH_COMPILED or not X.flags.c_contiguous:
            return False
    return shard.cache.list_outdated({name: centers.versions[name] for name in turns}) == [turns[0]]


def sweep_at_once(
    shard: Shard, centers: Centers, turns: Sequence[str], following: str, n_clusters: int, with_agreement: bool
) -> Sweep:
    """Run a sweep over the entities of a shard in one compiled pass."""
    from ...arrays import dense_kernels

    view, next_view, name = shard.views[turns[0]], shard.views[following], turns[0]
    running, origin = get_running_sums(shard, following, n_clusters), view.origin
    table, bias = centers.packed(name, view)
    positions = list(shard.views)
    assert shard.start_labels is not None, "k-means starts from labels"
    with shard.cache.refresh({name: centers.versions[name]}):
        totals = dense_kernels.sweep_loop(table.shape[-1])(
            view.X,
            None if origin is None else origin.astype(view.X.dtype),
            table,
            bias,
            view.row_term,
            view.present,
            centers.divergence.scale,
            choose_n_rows(view.X, view.X.shape[1] + n_clusters),
            np.array([positions.index(turn) for turn in turns], np.int64),
            allocate_labels(shard, shard.start_labels),
            shard.start_labels,
            next_view.X,
            next_view.present,
            running.labels,
            running.sums.sums,
            running.sums.counts,
            with_agreement,
        )
    if running.n_updates > 1 and running.sums.counts.min() <= 1:  # the center of a single row must be that row
        running.begin_anew(next_view.X)
    return Sweep(ClusterSums(running.sums.sums.copy(), running.sums.counts.copy()), *totals)


def get_running_sums(shard: Shard, name: str, n_clusters: int) -> RunningSums:
    """Return the sums of a view for another update; now and then they begin anew, so that rounding does not add up."""
    running = shard.cache.objects.get(("sums", name))
    if running is None:
        view = shard.views[name]
        lengths = view.row_term[:: max(1, len(shard) // 1000)]
        is_even = bool(view.row_term.max() <= SPREAD**2 * np.median(lengths))
        running = RunningSums(ClusterSums.zeros(view, n_clusters), np.full(len(shard), NO_LABEL), is_even)
        shard.cache.objects["sums", name] = running
    if running.n_updates == (tuning.most_updates if running.is_even else 1):
        running.sums.clear()
        running.labels[:] = NO_LABEL
        running.n_updates = 0
    running.n_updates += 1
    return running


def iterate_labels(
    shard: Shard, centers: Centers, names: Sequence[str], read: Sequence[str] = ()
) -> Iterator[tuple[slice, dict[str, Array], Array]]:
    """Yield slices of the entities, their rows in the views to read, and their cost in the first of the named views.

    The shard caches the labels of each view, so that only those of new centers are computed.
    """
    with shard.cache.refresh({name: centers.versions[name] for name in names}) as outdated:
        views = {name: shard.views[name] for name in (*outdated, *read)}
        for rows, X in shard.read(list(views), choose_row_span(views.values(), len(shard))):
            total = 0.0
            for name in outdated:
                view = views[name]
                labels, score = find_clusters(X[name], centers.scorer(name, view), shard.fixed(rows))
                present = view.present[rows]
                allocate_labels(shard, labels)
                shard.cache.arrays[name][rows] = labels if view.complete else keep_where(present, labels, NO_LABEL)
                if name == names[0]:
                    total = sum_costs(score, view.row_term[rows], present, centers.divergence.scale)
            yield rows, X, total


def allocate_labels(shard: Shard, like: Array) -> Array:
    """Return the array for the labels of all views, (n_views, n), whose parts the shard caches by view."""
    labels = shard.cache.objects.get(LABELS)
    if labels is None:
        shape = len(shard.views), len(shard)
        labels = namespace(like).empty(shape, dtype=like.dtype, device=device(like))
        shard.cache.objects[LABELS] = labels
        shard.cache.arrays.update({name: labels[i, ...] for i, name in enumerate(shard.views)})
    return labels


def find_clusters(X: Array, scorer: Scorer, fixed_labels: Array | None) -> tuple[Array, Array]:
    """Return the cluster of the largest score of each row, or that of its class if it is known, and this score."""
    labels, score = argmax_scores(X, scorer)
    if fixed_labels is None:
        return labels, score
    xp, labels = namespace(labels), clamp_labels(labels, fixed_labels)
    fixed_score = xp.take_along_axis(compute_scores(X, scorer), labels[:, None], axis=1)[:, 0]
    return labels, xp.where(fixed_labels >= 0, fixed_score, score)


def choose_row_span(views: Iterable[ViewRows], n: int) -> int:
    """Choose how many rows to process at a time, so that they are still in the cache for a second pass."""
    return min(
        (n * choose_block_size(v.X, parallel.tuning.block) // max(1, count_stored(v.X)) for v in views), default=n
    )


def get_newest_labels(shard: Shard, turns: Sequence[str], rows: slice) -> Array:
    """Return the label of each entity from the last of its views that had a turn, or the start label."""
    if turns and shard.views[turns[0]].complete:
        return shard.cache.arrays[turns[0]][rows]
    assert shard.start_labels is not None, "k-means starts from labels"
    labels = shard.start_labels[rows]
    for name in reversed(turns):
        labels = namespace(labels).where(shard.views[name].present[rows], shard.cache.arrays[name][rows], labels)
    return labels


def find_label_range(shard: Shard, names: Sequence[str], rows: slice) -> tuple[Array, Array, Array]:
    """Return the lowest and the highest label of each entity in its views, and the number of its views."""
    first = shard.cache.arrays[names[0]][rows]
    xp = namespace(first)
    lowest, highest = xp.full_like(first, xp.iinfo(first.dtype).max), xp.full_like(first, NO_LABEL)
    n_present = xp.zeros_like(first)
    for name in names:
        include_labels(shard.cache.arrays[name][rows], lowest, highest, n_present)
    return lowest, highest, n_present


def compute_centers(shards: Shards, centers: Centers, turns: Sequence[str], name: str, sums: ClusterSums) -> Array:
    """Compute the centers of a view; an empty cluster moves to the row that is farthest from its center."""
    values = centers.divergence.centers(sums.sums, sums.counts)
    counts = to_numpy(sums.counts)
    if counts.all():
        return values
    empty = np.flatnonzero(counts == 0)
    candidates = list(shards.map(find_farthest, centers, turns, name, values, len(empty)))
    costs, rows = (np.concatenate(blocks) for blocks in zip(*candidates, strict=True))
    farthest = np.argsort(-costs, kind="stable")[: len(empty)]
    moved = np.array(to_numpy(values))
    moved[empty] = rows[np.resize(farthest, len(empty))]
    return asarray_like(moved, values)


def find_farthest(
    shard: Shard, centers: Centers, turns: Sequence[str], name: str, values: Array, n: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the costs (n,) of a shard's rows that are farthest from the centers of their labels, and these rows."""
    for _ in iterate_labels(shard, centers, turns):
        pass
    view = shard.views[name]
    labels = to_numpy(get_newest_labels(shard, turns, slice(0, len(shard))))
    candidates = np.flatnonzero(to_numpy(view.present))
    divergences = to_numpy(compute_divergences(view, centers.divergence, values))
    costs = divergences[np.arange(len(labels)), np.maximum(labels, 0)]
    may_move = labels >= 0 if shard.fixed_labels is None else (labels >= 0) & (to_numpy(shard.fixed_labels) < 0)
    costs = np.where(may_move[candidates], costs[candidates], -1.0)
    farthest = np.argsort(-costs, kind="stable")[:n]
    rows = asarray_like(candidates[farthest], view.row_term)
    return costs[farthest], to_numpy(take_dense_rows(view.X, rows))
