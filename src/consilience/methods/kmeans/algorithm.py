"""Multi-view k-means (Bickel & Scheffer 2004, Table 1 with the steps of section 4.3), for any number of views.

Spherical k-means with the cosine divergence, ordinary k-means with the squared Euclidean one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields
from functools import reduce
from operator import add
from typing import Any

import numpy as np
from array_api_compat import device

from ...arrays import (
    Array,
    Scorer,
    argmax_scores,
    asarray_like,
    build_scorer,
    choose_block_size,
    count_stored,
    keep_where,
    namespace,
    take_dense_rows,
    to_numpy,
)
from ...arrays.parallel import BLOCK
from ...divergences import Divergence, ViewRows
from ...rows.shards import Shard, Shards, new_version
from ...rows.source import iterate_rows
from ..common.distances import compute_divergences
from ..common.statistics import NO_LABEL, ClusterSums


@dataclass(frozen=True, eq=False)
class Centers:
    """The views' centres at some time; a view may have none yet."""

    values: dict[str, Array] = field(default_factory=dict)
    ages: dict[str, int] = field(default_factory=dict)  # labels by other centres are of no use
    _scorers: dict[tuple[str, int], Scorer] = field(default_factory=dict)

    def moved(self, name: str, values: Array) -> Centers:
        """The same but for one view."""
        return Centers({**self.values, name: values}, {**self.ages, name: new_version()})

    def scorer(self, name: str, view: ViewRows, divergence: Divergence) -> Scorer:
        """A view's centres laid out for its rows, once."""
        key = name, id(view.origin)
        if key not in self._scorers:
            self._scorers[key] = build_scorer(view.X, *divergence.affine(self.values[name], view.origin))
        return self._scorers[key]

    def __getstate__(self) -> dict[str, Any]:
        """What travels: centres are laid out again where they arrive."""
        return {**self.__dict__, "_scorers": {}}


@dataclass(frozen=True, eq=False)
class KMeansState:
    """After a round: each view's centres, what they cost, and how far the views agree."""

    centers: Centers
    costs: dict[str, float]
    agreement: float
    settled: bool
    comparable: bool = True

    @property
    def record(self) -> dict[str, float]:
        by_view = {f"cost_{name}": cost for name, cost in self.costs.items()} if len(self.costs) > 1 else {}
        return {"cost": sum(self.costs.values()), **by_view, "agreement": self.agreement}


def multi_view_kmeans(
    shards: Shards, names: Sequence[str], divergence: Divergence, n_clusters: int
) -> Iterator[KMeansState]:
    """One state a round: in each view in turn an M-step on the labels handed over, and an E-step that hands on.

    An entity that a view lacks keeps its label meanwhile: a view trains on the newest label each of its entities has
    from another view, or on its own where it is the entity's only view.
    """
    centres, costs = Centers(), {}
    turns: list[str] = []  # the views in the order of their turns, the last one first
    complete = all(is_complete(part) for part in shards.views.values())
    used: dict[str, ClusterSums] = {}  # in each view's last M-step
    found = swept(shards, divergence, centres, turns, names[0], n_clusters)
    while True:
        before = dict(used)
        for name, following in zip(names, [*names[1:], names[0]], strict=True):
            used[name] = found.statistics
            values = maximise(shards, divergence, centres, turns, name, used[name])  # M-step, Eq 9
            centres = centres.moved(name, values)
            turns = [name, *(other for other in turns if other != name)]
            found = swept(shards, divergence, centres, turns, following, n_clusters)  # E-step, Eqs 8 and 10
            costs[name] = found.cost
        # what the next round starts from is what this one did, so that it would be the same
        moved = [found.statistics.differs(used[names[0]])]
        if not complete and before:  # or somebody's label has been waiting in a view
            moved += [used[name].differs(before[name]) for name in names[1:]]
        *per_view, counted, agreed, changed = fetch_numbers(
            [*costs.values(), found.counted, found.agreed, reduce(add, moved)]
        )
        settled = changed == 0 and (complete or bool(before))
        agreement = agreed / counted if counted else 1.0
        yield KMeansState(centres, dict(zip(costs, per_view, strict=True)), agreement, settled)


def is_complete(view: ViewRows) -> bool:
    """Whether no entity lacks the view."""
    return bool(namespace(view.present).all(view.present))


def fetch_numbers(numbers: Sequence[Array]) -> list[float]:
    """Numbers from wherever they are, in one go."""
    return to_numpy(namespace(numbers[0]).stack(list(numbers))).tolist()


@dataclass(eq=False)
class Sweep:
    """What a pass over some entities finds; those of two sets add up."""

    statistics: ClusterSums  # of the next view
    cost: Array  # of the view whose turn it is
    counted: Array  # how many entities have two views or more
    agreed: Array  # and of how many all views say the same

    def __add__(self, other: Sweep) -> Sweep:
        return Sweep(*(getattr(self, own.name) + getattr(other, own.name) for own in fields(self)))


def swept(
    shards: Shards,
    divergence: Divergence,
    centres: Centers,
    turns: Sequence[str],
    following: str,
    n_clusters: int,
) -> Sweep:
    """E-step in the view that had its turn last, its labels handed to the next view's M-step: one pass."""
    ends = bool(turns) and following == next(iter(shards.views))
    return shards.total(sweep, divergence, centres, turns, following, n_clusters, ends)


def sweep(
    shard: Shard,
    divergence: Divergence,
    centres: Centers,
    turns: Sequence[str],
    following: str,
    n_clusters: int,
    judged: bool,
) -> Sweep:
    """The same for the entities of a shard."""
    view = shard.views[following]
    statistics, xp = ClusterSums.zeros(view, n_clusters), namespace(view.row_term)
    nothing = xp.sum(view.row_term[:0])
    found = Sweep(statistics, nothing, nothing, nothing)
    for rows, X, cost in e_step(shard, divergence, centres, turns, following):
        handed = newest(shard, turns, rows)
        statistics.include(X[following], handed if view.complete else keep_where(view.present[rows], handed, NO_LABEL))
        found.cost = found.cost + cost
        if judged:
            counted, agreed = agreement(shard, turns, rows)
            found.counted, found.agreed = found.counted + counted, found.agreed + agreed
    return found


def e_step(
    shard: Shard, divergence: Divergence, centres: Centers, turns: Sequence[str], *read: str
) -> Iterator[tuple[slice, dict[str, Array], Array]]:
    """Some entities after the other, their rows in the views to be read, and what the view whose turn it is costs.

    The shard keeps each view's labels.
    """
    stale = [name for name in turns if shard.age(name) != centres.ages[name]]
    asked = {name: shard.views[name].X for name in (*stale, *read)}
    for name in stale:
        shard.outdate(name)
    for rows, X in iterate_rows(asked, shard.n, rows_at_a_time(asked, shard.n)):
        total = 0.0
        for name in stale:
            view = shard.views[name]
            winner, value = argmax_scores(X[name], centres.scorer(name, view, divergence))
            present = view.present[rows]
            room(shard, name, winner)[rows] = winner if view.complete else keep_where(present, winner, NO_LABEL)
            if name == turns[0]:
                xp = namespace(view.row_term)
                cost = view.row_term[rows] - divergence.scale * xp.astype(value, xp.float64)
                total = xp.sum(keep_where(xp.logical_and(present, cost > 0), cost, 0.0))
        yield rows, X, total
    for name in stale:
        shard.kept[name] = centres.ages[name], shard.kept[name][1]


def rows_at_a_time(asked: dict[str, Array], n: int) -> int:
    """So many that a second pass over them finds them in the cache."""
    return min((n * choose_block_size(X, BLOCK) // max(1, count_stored(X)) for X in asked.values()), default=n)


def room(shard: Shard, name: str, labels: Array) -> Array:
    """Where a shard keeps the labels of a view."""
    if name not in shard.kept:
        shard.kept[name] = 0, namespace(labels).empty(shard.n, dtype=labels.dtype, device=device(labels))
    return shard.kept[name][1]


def newest(shard: Shard, turns: Sequence[str], rows: slice) -> Array:
    """The label that each entity has from the last of its views that had a turn; the one of the start before."""
    if turns and shard.views[turns[0]].complete:
        return shard.kept[turns[0]][1][rows]
    assert shard.start is not None, "whoever starts k-means gives labels"
    labels = shard.start[rows]
    for name in reversed(turns):
        labels = namespace(labels).where(shard.views[name].present[rows], shard.kept[name][1][rows], labels)
    return labels


def agreement(shard: Shard, names: Sequence[str], rows: slice) -> tuple[Array, Array]:
    """How many entities have two views or more, and of how many all views say the same."""
    views = [shard.views[name] for name in names]
    lowest, highest, n_known = extremes(shard, names, rows)
    xp = namespace(lowest)
    agreed = lowest == highest
    if not all(view.complete for view in views) or len(views) == 1:
        counted = n_known >= 2
        return xp.sum(xp.astype(counted, xp.float64)), xp.sum(xp.astype(counted & agreed, xp.float64))
    return xp.sum(xp.astype(agreed, xp.float64) * 0 + 1), xp.sum(xp.astype(agreed, xp.float64))


def extremes(shard: Shard, names: Sequence[str], rows: slice) -> tuple[Array, Array, Array]:
    """The lowest and the highest label that an entity has from its views, and how many these are."""
    first = shard.kept[names[0]][1][rows]
    xp = namespace(first)
    lowest, highest, n_known = xp.full_like(first, xp.iinfo(first.dtype).max), xp.full_like(first, NO_LABEL), first * 0
    for name in names:
        present, own = shard.views[name].present[rows], shard.kept[name][1][rows]
        lowest = xp.where(present, xp.minimum(lowest, own), lowest)
        highest = xp.where(present, xp.maximum(highest, own), highest)
        n_known = n_known + xp.astype(present, n_known.dtype)
    return lowest, highest, n_known


def maximise(
    shards: Shards,
    divergence: Divergence,
    centres: Centers,
    turns: Sequence[str],
    name: str,
    statistics: ClusterSums,
) -> Array:
    """The centres of a view; a cluster of no rows moves to the row that lies farthest from its own centre."""
    values = divergence.centers(statistics.sums, statistics.counts)
    empty = np.flatnonzero(to_numpy(statistics.counts) == 0)
    if not len(empty):
        return values
    found = list(shards.map(farthest, divergence, centres, turns, name, values, len(empty)))
    costs, rows = (np.concatenate(own) for own in zip(*found, strict=True))
    chosen = np.argsort(-costs, kind="stable")[: len(empty)]
    moved = np.array(to_numpy(values))
    moved[empty] = rows[np.resize(chosen, len(empty))]
    return asarray_like(moved, values)


def farthest(
    shard: Shard, divergence: Divergence, centres: Centers, turns: Sequence[str], name: str, values: Array, n: int
) -> tuple[np.ndarray, np.ndarray]:
    """Of a shard the rows that lie farthest from the centres of their labels, and how far: (n,), (n, columns)."""
    for _ in e_step(shard, divergence, centres, turns):
        pass
    view = shard.views[name]
    labels = to_numpy(newest(shard, turns, slice(0, shard.n)))
    candidates = np.flatnonzero(to_numpy(view.present))
    own = to_numpy(compute_divergences(view, divergence, values))[np.arange(len(labels)), np.maximum(labels, 0)]
    costs = np.where(labels[candidates] >= 0, own[candidates], -1.0)
    chosen = np.argsort(-costs, kind="stable")[:n]
    return costs[chosen], to_numpy(take_dense_rows(view.X, asarray_like(candidates[chosen], view.row_term)))


def label_views(shard: Shard, divergence: Divergence, centres: Centers, names: Sequence[str]) -> dict[str, Array]:
    """Each view's own labels of a shard's entities."""
    for _ in e_step(shard, divergence, centres, names):
        pass
    return {name: shard.kept[name][1] + 0 for name in names}
