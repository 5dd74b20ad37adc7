"""Assign entities to the exemplars of a fitted convex mixture (Tzortzis & Likas 2010, Eqs 14, 15).

All likelihoods are logarithms, because those of an entity far from all exemplars would underflow.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import NamedTuple

import numpy as np
from scipy.special import softmax

from ..._saving import save_as
from ...arrays import Array, KernelMatrix, KernelRows, asarray_like, namespace, to_numpy
from ...arrays.namespace import concat_blocks
from ...divergences import Measure
from ...divergences.base import find_identical_rows
from ..common.statistics import NO_LABEL
from .components import as_float64, expand_to_all, log_sum_exp, number_present

CHUNK = 256  # exemplars that are compared with all entities at a time


class NegativeDivergence(NamedTuple):
    """Minus the divergence, as a kernel."""

    measure: Measure

    def points(self, X: Array) -> KernelRows:
        return self.measure.new_points(X)

    def tile(self, left: KernelRows, right: KernelRows) -> Array:
        return self.measure.tile(left, right)


class ViewPoints(NamedTuple):
    """Entities in one view, ready to be compared with exemplars."""

    entities: np.ndarray  # positions of those that have the view
    points: KernelRows
    log_normalizer: np.ndarray  # (n of the view,) log C(x)


class ViewComparison(NamedTuple):
    """Entities compared with exemplars in one view, on the host. Likelihoods do not include C(x)."""

    entities: np.ndarray
    log_normalizer: np.ndarray
    total: np.ndarray  # (n of the view,) log Q(x)
    joint: np.ndarray  # (n of the view, clusters) log q_k f_k(x)
    identical: np.ndarray  # (n of the view, clusters) whether the rows are identical

    def label_entities(self, n: int) -> np.ndarray:
        """Return the cluster of each entity by this view alone, -1 where the view is missing or says nothing."""
        labels = np.full(n, NO_LABEL)
        labels[self.entities] = np.where(np.isfinite(self.joint).any(axis=1), self.joint.argmax(axis=1), NO_LABEL)
        return labels


@save_as("view-exemplars")
@dataclass(frozen=True, eq=False)
class ViewExemplars:
    """The exemplars of positive proportion in one view."""

    measure: Measure
    beta: float
    present: np.ndarray  # (exemplars,) which of them have the view
    rows: KernelRows  # the rows of those

    def select(self, chosen: np.ndarray) -> ViewExemplars:
        """Select exemplars by position."""
        present = self.present[chosen]
        rows = self.rows.take((np.cumsum(self.present) - 1)[chosen][present])
        return replace(self, present=present, rows=rows)

    def compare(self, view: ViewPoints, log_q: np.ndarray, n_clusters: int) -> ViewComparison:
        """Compare points with the exemplars, of which the first `n_clusters` represent clusters."""
        n = view.points.X.shape[0]
        if not self.present.any():
            joint = np.full((n, n_clusters), -np.inf)
            return ViewComparison(view.entities, view.log_normalizer, np.full(n, -np.inf), joint, joint > 0)
        cluster_present = self.present[:n_clusters]
        n_present, numbers = int(cluster_present.sum()), number_present(cluster_present)

        def compare_block(rows: slice, tile: Array) -> tuple[Array, ...]:
            exponents = as_float64(tile)
            log_joint = self.beta * exponents + asarray_like(log_q[self.present], exponents)
            identical = find_identical_rows(view.points.slice_rows(rows), self.rows, exponents)
            tables = (log_joint, -np.inf), (identical, False)
            by_cluster = (expand_to_all(table[:, :n_present], numbers, fill, axis=1) for table, fill in tables)
            return (log_sum_exp(log_joint), *by_cluster)

        parts = zip(*self.build_matrix(view.points).map_tiles(compare_block), strict=True)
        return ViewComparison(view.entities, view.log_normalizer, *(to_numpy(concat_blocks(part)) for part in parts))

    def match(self, points: KernelRows, present: np.ndarray) -> Array:
        """Return 1 where an entity is identical with an exemplar in this view, 0 also where either lacks it."""
        matrix = self.build_matrix(points)
        blocks = matrix.map_tiles(lambda rows, tile: find_identical_rows(points.slice_rows(rows), self.rows, tile))
        identical = expand_to_all(concat_blocks(blocks), number_present(self.present), False, axis=1)
        identical = expand_to_all(identical, number_present(present), False)
        return namespace(identical).astype(identical, namespace(identical).int16)

    def build_matrix(self, points: KernelRows) -> KernelMatrix:
        """Build the matrix of minus the divergences of points from the exemplars that have the view."""
        return KernelMatrix(NegativeDivergence(self.measure), points, self.rows, cached=False)


class Placement(NamedTuple):
    """Clusters of entities."""

    P: np.ndarray  # (entities, clusters) probability of each cluster
    unplaced: np.ndarray  # (entities,) which share no view with any exemplar, and are placed by proportions alone
    view_labels: dict[str, np.ndarray]  # the cluster by each view alone, -1 where it says nothing
    scores: np.ndarray  # (entities,) log-likelihood, or minus the cost; NaN without any view


@save_as("exemplars")
@dataclass(frozen=True, eq=False)
class Exemplars:
    """The exemplars of positive proportion, those that represent clusters first, and the weights of the views."""

    views: Mapping[str, ViewExemplars]
    log_q: np.ndarray  # (exemplars,) logarithms of their proportions
    n_clusters: int
    log_weights: np.ndarray | None  # (views,) None: all views have the same weight

    def place(self, points: Mapping[str, ViewPoints], n: int) -> Placement:
        """Assign entities to clusters; entities identical with an exemplar belong to its cluster (Eq 15)."""
        k = self.n_clusters
        comparisons = {name: self.views[name].compare(view, self.log_q, k) for name, view in points.items()}
        log_posterior, scores = self.combine(comparisons, n)
        is_identical = self.find_identical(list(comparisons.values()), n)
        is_exemplar = is_identical.any(axis=1)
        unplaced = np.isneginf(log_posterior.max(axis=1))
        P = softmax(np.where(unplaced[:, None], self.log_q[:k], log_posterior), axis=1)
        P[is_exemplar] = np.eye(k)[is_identical[is_exemplar].argmax(axis=1)]
        view_labels = {name: comparison.label_entities(n) for name, comparison in comparisons.items()}
        return Placement(P, unplaced & ~np.isnan(scores) & ~is_exemplar, view_labels, scores)

    def combine(self, comparisons: Mapping[str, ViewComparison], n: int) -> tuple[np.ndarray, np.ndarray]:
        """Combine the views into log-posteriors (n, clusters), up to a constant, and log-likelihoods (n,).

        With learned weights the posterior is q_k times the weighted sum of the views' likelihoods (Eq 14 without its
        denominator), with uniform weights the sum of the views' posteriors.
        """
        log_posterior = np.full((n, self.n_clusters), -np.inf)
        scores = np.full(n, np.nan)
        for name, (entities, log_C, total, joint, _) in comparisons.items():
            if self.log_weights is None:
                finite = np.isfinite(total)
                chosen, terms = entities[finite], joint[finite] - total[finite, None]
                scores[entities] = np.where(np.isnan(scores[entities]), 0.0, scores[entities]) + total
            else:
                log_weight = self.log_weights[list(self.views).index(name)]
                chosen, terms = entities, log_weight + log_C[:, None] + joint
                before = np.where(np.isnan(scores[entities]), -np.inf, scores[entities])
                scores[entities] = np.logaddexp(before, log_weight + log_C + total)
            log_posterior[chosen] = np.logaddexp(log_posterior[chosen], terms)
        return log_posterior, scores

    def find_identical(self, comparisons: Sequence[ViewComparison], n: int) -> np.ndarray:
        """Return which entity is identical with which exemplar in all views that either has: (entities, clusters)."""
        n_identical, n_views = np.zeros((n, self.n_clusters), dtype=np.int64), np.zeros(n, dtype=np.int64)
        for comparison in comparisons:
            n_identical[comparison.entities] += comparison.identical
            n_views[comparison.entities] += 1
        exemplar_views = np.sum([view.present[: self.n_clusters] for view in self.views.values()], axis=0)
        return (n_identical == exemplar_views) & (n_identical == n_views[:, None])


def merge_duplicates(views: Mapping[str, ViewExemplars], points: Mapping[str, ViewPoints], q: np.ndarray) -> np.ndarray:
    """Merge the proportions of identical entities into the first of them; views hold those of positive proportion."""
    support = np.flatnonzero(q)
    present = {name: np.isin(np.arange(len(q)), view.entities) for name, view in points.items()}
    n_views = np.sum(list(present.values()), axis=0)
    firsts = []
    for start in range(0, len(support), CHUNK):
        chosen = np.arange(start, min(start + CHUNK, len(support)))
        parts = {name: view.select(chosen) for name, view in views.items()}
        matches = [part.match(points[name].points, present[name]) for name, part in parts.items() if part.present.any()]
        n_matches = reduce(add, matches)
        xp, exemplars = namespace(n_matches), support[chosen]
        entity_views, exemplar_views, entity, exemplar = (
            asarray_like(values, n_matches) for values in (n_views, n_views[exemplars], np.arange(len(q)), exemplars)
        )
        # identical in all views that either has; an exemplar is always identical with itself
        identical = (n_matches == entity_views[:, None]) & (n_matches == exemplar_views)
        identical |= entity[:, None] == exemplar
        firsts.append(to_numpy(xp.argmax(xp.astype(identical, xp.int8), axis=0)))
    return np.bincount(np.concatenate(firsts), weights=q[support], minlength=len(q))
