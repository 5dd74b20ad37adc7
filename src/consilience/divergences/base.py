"""What k-means asks of a divergence: how far a row is from a centre, and where the centre of some rows lies.

But for a term of the row's own it is affine in the row, ``d(x, c) = own(x) + scale * (bias(c) - x . weights(c))``, so
that the nearest of k centres is found by one product, sparse or dense.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np

from ..arrays import Array, asarray_like, namespace, take_rows
from ..rows import Source


@dataclass(frozen=True, eq=False)
class ViewRows:
    """A view's rows made ready for a divergence."""

    X: Array
    present: Array  # (n,) which rows count
    row_term: Array  # (n,) the row's own term
    origin: Array | None = None  # (columns,) the point that rows and centres are measured from, if not zero
    complete: bool = False  # whether all rows are known to count

    def at(self, rows: slice) -> ViewRows:
        """Some of the rows."""
        X = self.X.slice_rows(rows.start, rows.stop) if isinstance(self.X, Source) else self.X[rows, ...]
        present = self.present[rows]
        return ViewRows(X, present, self.row_term[rows], self.origin, complete=bool(namespace(present).all(present)))

    def some(self, rows: np.ndarray) -> ViewRows:
        """A few of the rows by position, in memory."""
        at = asarray_like(rows, self.row_term)
        present, own = (namespace(x).take(x, at) for x in (self.present, self.row_term))
        return ViewRows(take_rows(self.X, asarray_like(rows, self.X)), present, own, self.origin)


class Divergence(Protocol):
    """Dissimilarity of a row and a centre; frozen data, no state."""

    scale: ClassVar[float]

    def prepare(self, X: Array, present: Array, centres: Array | None = None) -> ViewRows:
        """Lay out the rows once: before the first round, or to be measured against centres that are known."""

    def centers(self, sums: Array, counts: Array) -> Array:
        """Centre of each cluster from the sum and the number of its rows; a cluster of none gets zeros."""

    def affine(self, centres: Array, origin: Array | None) -> tuple[Array, Array, Array | None]:
        """(weights, bias) of each centre and the origin: the arguments of a scorer."""

    def distance(self, divergence: Array) -> Array:
        """What the views add up when they vote: a distance, from the divergence."""
