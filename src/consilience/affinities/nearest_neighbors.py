"""The graph of nearest neighbours."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar

import numpy as np
import scipy.sparse as sp

from .._saving import refer_as, save_as
from ..arrays import Array, KernelMatrix, KernelRows, as_rows_like, to_numpy
from .base import NoAffinityError, check_positive
from .graph import SimilarityGraph, empty_on_device
from .search import SEARCHES
from .space import MetricSpace, check_metric, choose_metric, default_n_neighbors, find_comparable_rows

ROUNDING = 8  # distances may differ by so many units in the last place of the squared lengths they come from


@save_as("affinity-nearest-neighbors")
@dataclass(frozen=True)
class NearestNeighbors:
    """The graph that joins each row to its nearest, itself included.

    1 where each of two rows is among the other's nearest, 1/2 where only one is, as in scikit-learn. No weights: who
    is near whom does not depend on units, on outliers, or on how dense the rows lie.

    Parameters
    ----------
    n_neighbors : int, optional
        How many nearest rows, the row itself included. If not given, the square root of their number, at most 30.
    metric : {'euclidean', 'cosine'}, optional
        If not given, the one whose graph has fewer hubs, rows that are among the nearest of far too many others: cosine
        for most text, Euclidean for most measurements. Rows of zeros count as missing by cosine; rows without entries
        in sparse views count as missing by either metric. Give the view as a dense array if such rows mean something.
    approximate : bool, default=False
        Search with pynndescent (an extra: ``pip install consilience[neighbors]``), which finds nearly all nearest rows
        in a fraction of the time; worth it from some 50,000 rows on.
    """

    n_neighbors: int | None = None
    metric: str | None = None
    approximate: bool = False

    columns_are_entities: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_metric(self.metric)
        if self.n_neighbors is not None:
            check_positive("n_neighbors", self.n_neighbors, whole=True)
        if self.approximate not in SEARCHES:
            raise NoAffinityError(f"approximate={self.approximate!r} must be True or False")

    def count_neighbors(self, X: Array) -> int:
        """How many nearest of these rows."""
        return min(X.shape[0], self.n_neighbors or default_n_neighbors(X.shape[0]))

    def resolve(self, X: Array) -> NearestNeighbors:
        metric = choose_metric(self.metric, X)
        n_comparable = int(np.count_nonzero(to_numpy(find_comparable_rows(metric, X))))
        return replace(self, n_neighbors=self.n_neighbors or default_n_neighbors(max(n_comparable, 1)), metric=metric)

    def comparable_rows(self, X: Array) -> Array:
        return find_comparable_rows(self.metric, X)

    def build_operator(self, X: Array, rng: np.random.Generator) -> SimilarityGraph:
        number = self.count_neighbors(X)
        space = MetricSpace.of(self.metric, X)
        known = space.points(X)
        nearest, radii = SEARCHES[self.approximate](known.X, number, rng)
        starts = np.arange(0, nearest.size + 1, number)
        chosen = sp.csr_array((np.full(nearest.size, 0.5), nearest.ravel(), starts), shape=(len(nearest),) * 2)
        matrix = sp.csr_array(chosen + chosen.T)
        matrix.setdiag(1.0)  # also of a row with so many duplicates that it is not among its own nearest
        join_others = partial(join_new_rows, space, known, radii, number)
        return SimilarityGraph(matrix, join_others, exact=not self.approximate, home=empty_on_device(X))

    def nbytes(self, X: Array) -> int:
        number = self.count_neighbors(X)
        return 2 * X.shape[0] * number * (8 + 4)


@refer_as("join-neighbors")
def join_new_rows(space: MetricSpace, known: KernelRows, radii: np.ndarray, number: int, X: Array) -> sp.csr_array:
    """Other rows joined to known ones as those are joined to each other."""
    points = space.points(as_rows_like(X, known.X))
    matrix = KernelMatrix(space, points, known, cached=False)
    lengths, others = to_numpy(points.row_term), to_numpy(known.row_term)
    slack = ROUNDING * np.finfo(matrix.dtype).eps

    def edges(rows: slice, tile: Array) -> sp.csr_array:
        apart = to_numpy(tile)
        near = np.zeros(apart.shape)
        np.put_along_axis(near, np.argpartition(apart, number - 1, axis=1)[:, :number], 0.5, axis=1)
        near += 0.5 * (apart <= radii**2 + slack * (lengths[rows, None] + others))
        return sp.csr_array(near)

    return sp.vstack(list(matrix.map_tiles(edges)), format="csr")
