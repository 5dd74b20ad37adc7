"""Which exemplar an entity belongs to, once a convex mixture's shares are known (Tzortzis & Likas 2010, Eqs 14, 15).

In logarithms throughout: an entity may be so far from all exemplars that every likelihood vanishes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import NamedTuple

import numpy as np
from scipy.special import softmax

from ..._saving import refer_as, save_as
from ...arrays import Array, KernelMatrix, KernelRows, asarray_like, machine_epsilon, namespace, to_numpy
from ...arrays.pairwise import concat_blocks
from ...divergences import Measure
from .components import as_float64, expand_to_all, log_sum_exp, number_present

NOWHERE = -1  # label of an entity in a view that says nothing of it
SAME = 64  # rows nearer than so many units of rounding are the same
CHUNK = 256  # exemplars that are looked for among all entities at a time


@dataclass(frozen=True, eq=False)
class NegativeDivergence:
    """Minus the divergence, as a kernel."""

    measure: Measure

    def points(self, X: Array) -> KernelRows:
        return self.measure.others(X)

    def tile(self, left: KernelRows, right: KernelRows) -> Array:
        return self.measure.tile(left, right)


@save_as("view-exemplars")
@dataclass(frozen=True, eq=False)
class ViewExemplars:
    """The exemplars with a share, in one view."""

    measure: Measure
    beta: float
    there: np.ndarray  # (exemplars,) which of them have the view
    side: KernelRows  # those that do

    def some(self, chosen: np.ndarray) -> ViewExemplars:
        """A part of the exemplars, by position."""
        at = np.cumsum(self.there) - 1
        there = self.there[chosen]
        return replace(self, there=there, side=self.side.take(at[chosen][there]))

    def compare(self, points: KernelRows, log_q: np.ndarray, n_clusters: int) -> Comparison:
        """Points against the exemplars, of whom the first `n_clusters` stand for clusters."""
        heads = self.there[:n_clusters]
        n_heads, at = int(heads.sum()), number_present(heads)

        def one_block(rows: slice, tile: Array) -> tuple[Array, ...]:
            minus_d = as_float64(tile)
            own = self.beta * minus_d + asarray_like(log_q[self.there], minus_d)
            same = self.is_same(points.slice_rows(rows), minus_d)
            first = (
                expand_to_all(table[:, :n_heads], at, never, axis=1) for table, never in ((own, -np.inf), (same, False))
            )
            return (log_sum_exp(own), *first)

        if not self.there.any():
            return Comparison.of_nothing(points.X.shape[0], n_clusters)
        parts = self.matrix(points).map_tiles(one_block)
        return Comparison(*(to_numpy(concat_blocks(part)) for part in zip(*parts, strict=True)))

    def same(self, points: KernelRows) -> Array:
        """Which points are the same as which of the exemplars that have the view."""
        tiles = self.matrix(points).map_tiles(lambda rows, tile: self.is_same(points.slice_rows(rows), tile))
        return concat_blocks(tiles)

    def matrix(self, points: KernelRows) -> KernelMatrix:
        """Minus the divergences of points from the exemplars that have the view."""
        return KernelMatrix(NegativeDivergence(self.measure), points, self.side, cached=False)

    def is_same(self, points: KernelRows, minus_d: Array) -> Array:
        """Which divergences are nothing but rounding in the sum of the rows' own terms."""
        unit = SAME * machine_epsilon(points.X)
        own, others = (row_term_sizes(side) for side in (points, self.side))
        return minus_d >= -unit * (own[:, None] + others)


def row_term_sizes(side: KernelRows) -> Array:
    """How large the rows' own terms are; given distances have none."""
    if side.row_term is None:
        return asarray_like(np.zeros(side.X.shape[0]), side.X)
    return namespace(side.row_term).abs(as_float64(side.row_term))


class Comparison(NamedTuple):
    """Entities against exemplars in one view, fetched from a device if they are on one."""

    total: np.ndarray  # (entities,) log Q(x), without C(x)
    joint: np.ndarray  # (entities, clusters) log q_k f_k(x), without C(x)
    same: np.ndarray  # (entities, clusters) whether the rows are the same

    @classmethod
    def of_nothing(cls, n: int, n_clusters: int) -> Comparison:
        """Where no exemplar can be compared."""
        never = np.full((n, n_clusters), -np.inf)
        return cls(np.full(n, -np.inf), never, never > 0)


class ViewPoints(NamedTuple):
    """Entities in one view."""

    entities: np.ndarray  # the positions of those that have it
    points: KernelRows
    log_normalizer: np.ndarray  # (n of the view,) log C(x)


class ViewComparison(NamedTuple):
    """What a view says of the entities that have it."""

    entities: np.ndarray
    log_normalizer: np.ndarray
    comparison: Comparison


Combination = Callable[[Sequence[ViewComparison], np.ndarray, tuple[int, int]], np.ndarray]


@refer_as("weighted-posterior")
def combine_weighted(sights: Sequence[ViewComparison], log_weights: np.ndarray, shape: tuple[int, int]) -> np.ndarray:
    """Log of q_k times the weighted sum of the views' likelihoods (Eq 14 without its denominator): (n, clusters)."""
    found = np.full(shape, -np.inf)
    for (entities, log_C, own), log_weight in zip(sights, log_weights, strict=True):
        found[entities] = np.logaddexp(found[entities], log_weight + log_C[:, None] + own.joint)
    return found


@refer_as("mean-posterior")
def combine_mean(sights: Sequence[ViewComparison], log_weights: np.ndarray, shape: tuple[int, int]) -> np.ndarray:  # noqa: ARG001
    """Log of the sum over views of each view's own posterior: (n, clusters)."""
    found = np.full(shape, -np.inf)
    for entities, _, own in sights:
        known = np.isfinite(own.total)
        posterior = own.joint[known] - own.total[known, None]
        found[entities[known]] = np.logaddexp(found[entities[known]], posterior)
    return found


class Placement(NamedTuple):
    """Where entities belong."""

    P: np.ndarray  # (entities, clusters) probability of each cluster
    strangers: np.ndarray  # (entities,) who is like none of the exemplars, and goes by their shares alone
    view_labels: dict[str, np.ndarray]  # the cluster that one view alone would give, -1 where it says nothing


@save_as("exemplars")
@dataclass(frozen=True, eq=False)
class Exemplars:
    """The exemplars with a share, those that stand for clusters first, and how views are weighed."""

    views: Mapping[str, ViewExemplars]
    log_q: np.ndarray  # (exemplars,) logarithms of their shares
    n_clusters: int
    log_weights: np.ndarray  # (views,)
    combine: Combination

    def place(self, seen: Mapping[str, ViewPoints], n: int) -> Placement:
        """Give entities to clusters; an exemplar, or whoever is the same as one, to its own (Eq 15)."""
        k = self.n_clusters
        sights = [
            ViewComparison(own.entities, own.log_normalizer, self.views[name].compare(own.points, self.log_q, k))
            for name, own in seen.items()
        ]
        weights = self.log_weights[[list(self.views).index(name) for name in seen]]
        scores = self.combine(sights, weights, (n, k))
        same = self.same(sights, n)
        ones = same.any(axis=1)
        strangers = np.isneginf(scores.max(axis=1))
        looked_at = np.zeros(n, dtype=bool)
        for own in seen.values():
            looked_at[own.entities] = True
        P = softmax(np.where(strangers[:, None], self.log_q[:k], scores), axis=1)
        P[ones] = np.eye(k)[same[ones].argmax(axis=1)]
        labels = {name: label_by_view(sight, n) for name, sight in zip(seen, sights, strict=True)}
        return Placement(P, strangers & looked_at & ~ones, labels)

    def same(self, sights: Sequence[ViewComparison], n: int) -> np.ndarray:
        """Which entity is the same as which exemplar in all views that either has: (entities, clusters)."""
        agree, n_views = np.zeros((n, self.n_clusters), dtype=np.int64), np.zeros(n, dtype=np.int64)
        for entities, _, own in sights:
            agree[entities] += own.same
            n_views[entities] += 1
        of_exemplars = np.sum([view.there[: self.n_clusters] for view in self.views.values()], axis=0)
        return (agree == of_exemplars) & (agree == n_views[:, None])


def label_by_view(sight: ViewComparison, n: int) -> np.ndarray:
    """The cluster that one view alone would give each entity."""
    joint = sight.comparison.joint
    labels = np.full(n, NOWHERE)
    labels[sight.entities] = np.where(np.isfinite(joint).any(axis=1), joint.argmax(axis=1), NOWHERE)
    return labels


def merge_duplicates(views: Mapping[str, ViewExemplars], seen: Mapping[str, ViewPoints], q: np.ndarray) -> np.ndarray:
    """The same shares, with those of identical entities all given to the first of them; views hold who has one."""
    support = np.flatnonzero(q)
    there = {name: np.isin(np.arange(len(q)), own.entities) for name, own in seen.items()}
    n_views = np.sum(list(there.values()), axis=0)
    firsts = []
    for start in range(0, len(support), CHUNK):
        chosen = np.arange(start, min(start + CHUNK, len(support)))
        parts = {name: whole.some(chosen) for name, whole in views.items()}
        agree = [match_exemplars(own, seen[name].points, there[name]) for name, own in parts.items() if own.there.any()]
        firsts.append(find_first_duplicates(reduce(add, agree), n_views, support[chosen]))
    return np.bincount(np.concatenate(firsts), weights=q[support], minlength=len(q))


def match_exemplars(view: ViewExemplars, points: KernelRows, there: np.ndarray) -> Array:
    """One where an entity is the same as an exemplar in this view, zero also where either lacks it."""
    same = view.same(points)
    same = expand_to_all(expand_to_all(same, number_present(view.there), False, axis=1), number_present(there), False)
    return namespace(same).astype(same, namespace(same).int16)


def find_first_duplicates(agree: Array, n_views: np.ndarray, exemplars: np.ndarray) -> np.ndarray:
    """The first entity that is the same as each exemplar in all views that either has; at the latest itself."""
    xp = namespace(agree)
    of_entity, of_exemplar, entity, itself = (
        asarray_like(own, agree) for own in (n_views, n_views[exemplars], np.arange(len(n_views)), exemplars)
    )
    same = (agree == of_entity[:, None]) & (agree == of_exemplar) | (entity[:, None] == itself)
    return to_numpy(xp.argmax(xp.astype(same, xp.int8), axis=0))
