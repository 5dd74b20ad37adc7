"""Views that some entities lack, filled in from the others (the discussion of Kumar & Daumé 2011).

Each view's similarities are divided by their Frobenius norm over the number of entities that have the view. A
similarity that the view lacks is then the mean of those in the views that have both entities, and 0 where none has.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ..affinities import Cross, Operator, ViewOperator, one_part


@dataclass(frozen=True, eq=False)
class Similarities:
    """The views' similarities, each over the entities that have the view."""

    own: Sequence[ViewOperator]
    present: np.ndarray  # (n, V)

    @cached_property
    def scales(self) -> np.ndarray:
        """(V, V) the factor that brings the similarities of one view (column) to the size of another's (row)."""
        sizes = np.array([own.norm() for own in self.own]) / self.present.sum(axis=0)
        return sizes[:, None] / np.where(sizes > 0, sizes, np.inf)

    @property
    def operators(self) -> Sequence[Operator]:
        """The similarities of all entities in each view; nothing is filled in, or scaled, where nothing is missing."""
        return self.own if self.present.all() else self._filled(self.own, self.present)

    def against(self, crosses: Sequence[Cross | None], present: np.ndarray) -> Sequence[Cross]:
        """Similarities of other entities to these in each view, from their own and which views they have."""
        known = [own for own in crosses if own is not None]
        if len(known) == len(crosses) and present.all() and self.present.all():
            return known
        return self._filled(crosses, present)

    def _filled(self, own: Sequence[Any], present: np.ndarray) -> list[Filled]:
        return [Filled(v, own, self.scales[v], present, self.present) for v in range(len(own))]


class Term(NamedTuple):
    """What one view adds to another's similarities: its own, weighted by row and column, summed over the weights."""

    own: Any
    rows: np.ndarray  # (n,) which entities have the view
    columns: np.ndarray
    row_weights: np.ndarray  # (rows that have it, weights)
    column_weights: np.ndarray


@dataclass(frozen=True, eq=False)
class Filled:
    """One view's similarities of some entities (rows) to others (columns), filled in.

    How much of view w there is in the similarity of two entities depends on which views they have alone. There are few
    such patterns: the matrix of these shares, patterns by patterns, is a sum of a few outer products, and with each of
    them the product is one with the view's own similarities, weighted entity by entity.
    """

    view: int
    own: Sequence[Any]  # each view's similarities of the entities that have it; None: none of the rows has
    scales: np.ndarray  # (V,) what brings them to the size of this view's
    row_views: np.ndarray  # (rows, V) which views the entities have
    column_views: np.ndarray

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.row_views), len(self.column_views)

    @property
    def dtype(self) -> np.dtype:
        return np.result_type(np.float32, *(own.dtype for own in self.own if own is not None))

    @property
    def exact(self) -> bool:
        return all(own.exact for own in self.own)

    @cached_property
    def terms(self) -> list[Term]:
        """What each view adds, and with which weights."""
        left, of_row = np.unique(self.row_views, axis=0, return_inverse=True)
        right, of_column = np.unique(self.column_views, axis=0, return_inverse=True)
        found = []
        for w, (own, scale) in enumerate(zip(self.own, self.scales, strict=True)):
            here, there = self.row_views[:, w], self.column_views[:, w]
            first, sizes, second = np.linalg.svd(scale * shares(left, right, self.view, w), full_matrices=False)
            real = sizes > 1e-12 * sizes.max(initial=0)
            if own is not None and real.any():
                rows = (first * sizes)[:, real][of_row[here]].astype(self.dtype)
                found.append(Term(own, here, there, rows, second[real].T[of_column[there]].astype(self.dtype)))
        return found

    def __matmul__(self, U: np.ndarray) -> np.ndarray:
        total = np.zeros((self.shape[0], U.shape[1]), self.dtype)
        for own, here, there, row_weights, column_weights in self.terms:
            # all weights in one product: similarities that are not held are computed once for all
            wide = (column_weights[:, :, None] * U[there][:, None, :]).reshape(len(column_weights), -1)
            products = (own @ wide).reshape(len(row_weights), row_weights.shape[1], -1)
            total[here] += np.sum(row_weights[:, :, None] * products, axis=1)
        return total

    def columns(self, entities: np.ndarray) -> np.ndarray:
        total = np.zeros((self.shape[0], len(entities)), self.dtype)
        for own, here, there, row_weights, column_weights in self.terms:
            has = there[entities]
            places = np.cumsum(there)[entities[has]] - 1
            total[np.ix_(here, has)] += (row_weights @ column_weights[places].T) * own.columns(places)
        return total

    def parts(self) -> np.ndarray:
        return one_part(self)


def shares(left: np.ndarray, right: np.ndarray, v: int, w: int) -> np.ndarray:
    """How much of view w there is in what view v says of two entities, by which views each has: (left, right)."""
    both = left[:, None, :] & right[None, :, :]
    mean = both[..., w] / np.maximum(both.sum(axis=2), 1)
    return np.where(both[..., v], float(v == w), mean)
