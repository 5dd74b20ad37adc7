"""Views that some entities lack, filled in from the others (the discussion of Kumar & Daumé 2011).

Each view's similarities are divided by their Frobenius norm over the number of entities that have the view. A
similarity that the view lacks is then the mean of those in the views that have both entities, and 0 where none has.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..affinities import Cross, Operator, ViewOperator


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
        complete = present.all() and self.present.all()
        return self._filled(crosses, present) if not complete else [own for own in crosses if own is not None]

    def _filled(self, own: Sequence[Any], present: np.ndarray) -> list[Filled]:
        return [Filled(v, own, self.scales[v], present, self.present) for v in range(len(own))]


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
        return np.result_type(*(own.dtype for own in self.own if own is not None))

    @property
    def exact(self) -> bool:
        return all(own.exact for own in self.own)

    def columns(self, entities: np.ndarray) -> np.ndarray:
        left, of_row = np.unique(self.row_views, axis=0, return_inverse=True)
        right, of_column = np.unique(self.column_views[entities], axis=0, return_inverse=True)
        total = np.zeros((len(self.row_views), len(entities)), self.dtype)
        for w, (own, scale) in enumerate(zip(self.own, self.scales, strict=True)):
            here, there = np.flatnonzero(self.row_views[:, w]), np.flatnonzero(self.column_views[entities, w])
            own_places = np.cumsum(self.column_views[:, w])[entities[there]] - 1
            share = scale * shares(left, right, self.view, w)[np.ix_(of_row[here], of_column[there])]
            total[np.ix_(here, there)] += (share * own.columns(own_places)).astype(self.dtype)
        return total

    def __matmul__(self, U: np.ndarray) -> np.ndarray:
        left, of_row = np.unique(self.row_views, axis=0, return_inverse=True)
        right, of_column = np.unique(self.column_views, axis=0, return_inverse=True)
        total = np.zeros((len(self.row_views), U.shape[1]), self.dtype)
        for w, (own, scale) in enumerate(zip(self.own, self.scales, strict=True)):
            here, there = self.row_views[:, w], self.column_views[:, w]
            if own is None:
                continue
            first, sizes, second = np.linalg.svd(shares(left, right, self.view, w))
            for r in np.flatnonzero(sizes > 1e-12 * sizes.max(initial=0)):
                weighted = second[r][of_column[there], None] * U[there]
                total[here] += scale * sizes[r] * first[of_row[here], r, None] * (own @ weighted)
        return total


def shares(left: np.ndarray, right: np.ndarray, v: int, w: int) -> np.ndarray:
    """How much of view w there is in what view v says of two entities, by which views each has: (left, right)."""
    both = left[:, None, :] & right[None, :, :]
    mean = both[..., w] / np.maximum(both.sum(axis=2), 1)
    return np.where(both[..., v], float(v == w), mean)
