"""Similarities of entities that lack a view, filled in from the other views (discussion of Kumar & Daumé 2011).

Each view's similarities are divided by their Frobenius norm over the number of entities that have the view. A
similarity that the view lacks is then the mean of those in the views that have both entities, and 0 if none has.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ...affinities.base import cast_to
from ...arrays import Array, asarray_like, float64_zeros, keep_where, namespace, take_rows


class FilledSide(NamedTuple):
    """The rows, or the columns, of one view's similarities among all entities; arrays are on the view's device."""

    has_view: np.ndarray  # (n,)
    entities: Array  # (n_present,) the entities that have it
    scatter_index: tuple[Array, Array]
    weights: Array  # (n_present, n_weights)

    @classmethod
    def of(cls, has_view: np.ndarray, weights: np.ndarray, home: Array) -> FilledSide:
        """Create a side with arrays of the library, and on the device, of `home`, except for the mask."""
        entities = asarray_like(np.flatnonzero(has_view), home)
        return cls(has_view, entities, make_scatter_index(has_view, home), asarray_like(weights, home))


def make_scatter_index(has_view: np.ndarray, home: Array) -> tuple[Array, Array]:
    """Return a mask of the entities that have a view, and the position of each among these (0 for the others)."""
    positions = np.where(has_view, np.cumsum(has_view) - 1, 0)
    return asarray_like(has_view, home), asarray_like(positions, home)


def scatter(values: Array, index: tuple[Array, Array], axis: int) -> Array:
    """Spread rows or columns over all entities, with zeros for those that lack the view."""
    has_view, positions = index
    spread = namespace(values).take(values, positions, axis=axis)
    return keep_where(has_view[:, None] if axis == 0 else has_view[None, :], spread, 0.0)


@dataclass(frozen=True, eq=False)
class FilledSimilarities:
    """One view's similarities of some entities (rows) to others (columns), filled in from the other views.

    How much view w contributes to the similarity of two entities only depends on which views they have. There are few
    such patterns: the matrix of contributions, patterns by patterns, is a sum of a few outer products, and for each of
    them the product is one with the similarities of view w, weighted entity by entity.
    """

    view: int
    operators: Sequence[Any]  # each view's similarities of the entities that have it; None if no row has the view
    scales: np.ndarray  # (V,) factors that bring them to the size of this view's
    row_views: np.ndarray  # (rows, V) which views the entities have
    column_views: np.ndarray

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.row_views), len(self.column_views)

    @property
    def dtype(self) -> np.dtype:
        return np.result_type(np.float32, *(operator.dtype for operator in self.operators if operator is not None))

    @property
    def exact(self) -> bool:
        return all(operator.exact for operator in self.operators)

    @cached_property
    def terms(self) -> list[tuple[Any, FilledSide, FilledSide]]:
        """What each view adds: its similarities, weighted by row and column, summed over the weights."""
        row_patterns, pattern_of_row = np.unique(self.row_views, axis=0, return_inverse=True)
        column_patterns, pattern_of_column = np.unique(self.column_views, axis=0, return_inverse=True)
        terms = []
        for w, (operator, scale) in enumerate(zip(self.operators, self.scales, strict=True)):
            rows, columns = self.row_views[:, w], self.column_views[:, w]
            shares = compute_fill_weights(row_patterns, column_patterns, self.view, w)
            left, sizes, right = np.linalg.svd(scale * shares, full_matrices=False)
            nonzero = sizes > 1e-12 * sizes.max(initial=0)
            if operator is not None and nonzero.any():
                home = operator.columns(np.zeros(1, np.int64))  # any product shows where they are computed
                row_weights = (left * sizes)[:, nonzero][pattern_of_row[rows]].astype(self.dtype)
                column_weights = right[nonzero].T[pattern_of_column[columns]].astype(self.dtype)
                sides = FilledSide.of(rows, row_weights, home), FilledSide.of(columns, column_weights, home)
                terms.append((operator, *sides))
        return terms

    def __matmul__(self, U: Array) -> Array:
        total = self._zeros(U)
        for operator, rows, columns in self.terms:
            # all weights in one product: similarities that are not stored are computed once
            xp, n_weights = namespace(total), columns.weights.shape[1]
            factor = xp.take(asarray_like(U, total), columns.entities, axis=0)
            weighted = columns.weights[:, :, None] * factor[:, None, :]
            products = operator @ xp.reshape(weighted, (factor.shape[0], n_weights * U.shape[1]))
            products = xp.reshape(products, (products.shape[0], n_weights, U.shape[1]))
            added = xp.sum(rows.weights[:, :, None] * products, axis=1)
            total = cast_to(total + scatter(added, rows.scatter_index, axis=0), self.dtype)
        return total

    def columns(self, entities: np.ndarray) -> Array:
        total = self._zeros(entities[None, :])
        for operator, rows, columns in self.terms:
            has_view = columns.has_view[entities]
            if has_view.any():
                positions = np.cumsum(columns.has_view)[entities[has_view]] - 1
                weights = rows.weights @ take_rows(columns.weights, asarray_like(positions, total)).T
                added = scatter(weights * operator.columns(positions), rows.scatter_index, axis=0)
                total = cast_to(total + scatter(added, make_scatter_index(has_view, total), axis=1), self.dtype)
        return total

    def _zeros(self, U: Array) -> Array:
        """Return zeros with as many columns as U, where products are computed."""
        home = self.terms[0][1].weights if self.terms else U
        return cast_to(float64_zeros((self.shape[0], U.shape[1]), home), self.dtype)


def compute_fill_weights(row_patterns: np.ndarray, column_patterns: np.ndarray, v: int, w: int) -> np.ndarray:
    """Compute the share of view w in the similarities of view v, (row patterns, column patterns)."""
    both = row_patterns[:, None, :] & column_patterns[None, :, :]
    mean = both[..., w] / np.maximum(both.sum(axis=2), 1)
    return np.where(both[..., v], float(v == w), mean)
