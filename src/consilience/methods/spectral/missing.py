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

from ..._saving import save_as
from ...affinities import CrossOperator, Operator, ViewOperator, cast_to, single_component
from ...arrays import Array, asarray_like, float64_zeros, keep_where, namespace, take_rows


@save_as("view-similarities")
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

    def compare_with(self, crosses: Sequence[CrossOperator | None], present: np.ndarray) -> Sequence[CrossOperator]:
        """Similarities of other entities to these in each view, from their own and which views they have."""
        known = [own for own in crosses if own is not None]
        if len(known) == len(crosses) and present.all() and self.present.all():
            return known
        return self._filled(crosses, present)

    def _filled(self, own: Sequence[Any], present: np.ndarray) -> list[FilledSimilarities]:
        return [FilledSimilarities(v, own, self.scales[v], present, self.present) for v in range(len(own))]


class FilledSide(NamedTuple):
    """The rows, or the columns, of one view's own similarities among all entities."""

    has: np.ndarray  # (n,) who has the view
    entities: Array  # (own,) their numbers
    back: ScatterIndex
    weights: Array  # (own, weights)

    @classmethod
    def of(cls, has: np.ndarray, weights: np.ndarray, home: Array) -> FilledSide:
        """All but the mask as arrays of the library, and on the device, of `home`."""
        return cls(
            has, asarray_like(np.flatnonzero(has), home), ScatterIndex.of(has, home), asarray_like(weights, home)
        )


class ScatterIndex(NamedTuple):
    """The way back from some entities to all."""

    has: Array  # (n,) who is among them
    places: Array  # (n,) and where; 0 for the others

    @classmethod
    def of(cls, has: np.ndarray, home: Array) -> ScatterIndex:
        return cls(asarray_like(has, home), asarray_like(np.where(has, np.cumsum(has) - 1, 0), home))

    def rows(self, values: Array) -> Array:
        """What is known of some, among zeros for the others."""
        return keep_where(self.has[:, None], namespace(values).take(values, self.places, axis=0), 0.0)

    def columns(self, values: Array) -> Array:
        return keep_where(self.has[None, :], namespace(values).take(values, self.places, axis=1), 0.0)


class FillTerm(NamedTuple):
    """What one view adds to another's similarities: its own, weighted by row and column, summed over the weights."""

    own: Any
    rows: FilledSide
    columns: FilledSide


@dataclass(frozen=True, eq=False)
class FilledSimilarities:
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
    def terms(self) -> list[FillTerm]:
        """What each view adds, and with which weights."""
        left, of_row = np.unique(self.row_views, axis=0, return_inverse=True)
        right, of_column = np.unique(self.column_views, axis=0, return_inverse=True)
        found = []
        for w, (own, scale) in enumerate(zip(self.own, self.scales, strict=True)):
            here, there = self.row_views[:, w], self.column_views[:, w]
            first, sizes, second = np.linalg.svd(
                scale * compute_fill_weights(left, right, self.view, w), full_matrices=False
            )
            real = sizes > 1e-12 * sizes.max(initial=0)
            if own is not None and real.any():
                home = own.columns(np.zeros(1, np.int64))  # any product says where they come from
                rows = (first * sizes)[:, real][of_row[here]].astype(self.dtype)
                columns = second[real].T[of_column[there]].astype(self.dtype)
                found.append(FillTerm(own, FilledSide.of(here, rows, home), FilledSide.of(there, columns, home)))
        return found

    def __matmul__(self, U: Array) -> Array:
        total = self._zeros(U)
        for own, rows, columns in self.terms:
            # all weights in one product: similarities that are not held are computed once for all
            xp, n_weights = namespace(total), columns.weights.shape[1]
            chosen = xp.take(asarray_like(U, total), columns.entities, axis=0)
            wide = columns.weights[:, :, None] * chosen[:, None, :]
            products = own @ xp.reshape(wide, (chosen.shape[0], n_weights * U.shape[1]))
            products = xp.reshape(products, (products.shape[0], n_weights, U.shape[1]))
            added = xp.sum(rows.weights[:, :, None] * products, axis=1)
            total = cast_to(total + rows.back.rows(added), self.dtype)
        return total

    def columns(self, entities: np.ndarray) -> Array:
        total = self._zeros(entities[None, :])
        for own, rows, columns in self.terms:
            has = columns.has[entities]
            if has.any():
                places = np.cumsum(columns.has)[entities[has]] - 1
                weights = rows.weights @ take_rows(columns.weights, asarray_like(places, total)).T
                added = rows.back.rows(weights * own.columns(places))
                total = cast_to(total + ScatterIndex.of(has, total).columns(added), self.dtype)
        return total

    def _zeros(self, U: Array) -> Array:
        """As many columns as U has, where products come from."""
        home = self.terms[0].rows.weights if self.terms else U
        return cast_to(float64_zeros((self.shape[0], U.shape[1]), home), self.dtype)

    def parts(self) -> np.ndarray:
        return single_component(self)


def compute_fill_weights(left: np.ndarray, right: np.ndarray, v: int, w: int) -> np.ndarray:
    """How much of view w there is in what view v says of two entities, by which views each has: (left, right)."""
    both = left[:, None, :] & right[None, :, :]
    mean = both[..., w] / np.maximum(both.sum(axis=2), 1)
    return np.where(both[..., v], float(v == w), mean)
