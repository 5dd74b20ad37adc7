"""The graph of nearest neighbors."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import scipy.sparse as sp

from .._saving import refer_as, save_as
from ..arrays import Array, KernelMatrix, KernelRows, as_rows_like, to_host, to_numpy
from .base import Affinity, NoAffinityError, check_positive
from .distances import (
    MetricSpace,
    check_metric,
    choose_metric,
    default_n_neighbors,
    find_comparable_rows,
    find_nearest_rows,
)
from .graph import SimilarityGraph, empty_on_device

ROUNDING = 8  # distances may differ by as many units in the last place of the squared lengths they come from


@save_as("affinity-nearest-neighbors")
@dataclass(frozen=True)
class NearestNeighbors(Affinity):
    """The graph that joins each row to its nearest rows, itself included.

    1 where each of two rows is among the other's nearest, 1/2 where only one is, as in scikit-learn. The graph has no
    other weights, so it does not depend on units, on outliers, or on the density of the rows.

    Parameters
    ----------
    n_neighbors : int, optional
        Number of nearest rows, the row itself included. If not given, the square root of the number of rows, at most
        30.
    metric : {'euclidean', 'cosine'}, optional
        If not given, the one whose graph has fewer hubs, rows that are among the nearest of far too many others: cosine
        for most text, Euclidean for most measurements. Rows of zeros count as missing by cosine; rows without entries
        in sparse views count as missing by either metric. Give the view as a dense array if such rows mean something.
    approximate : bool, default=False
        Search with pynndescent (an extra: ``pip install consilience[neighbors]``), which finds nearly all nearest rows
        in a fraction of the time; worth it from about 50,000 rows on.
    """

    n_neighbors: int | None = None
    metric: str | None = None
    approximate: bool = False

    accepts_sparse = True

    def __post_init__(self) -> None:
        check_metric(self.metric)
        if self.n_neighbors is not None:
            check_positive("n_neighbors", self.n_neighbors, whole=True)
        if self.approximate not in (True, False):
            raise NoAffinityError(f"approximate={self.approximate!r} must be True or False")

    def resolve(self, X: Array) -> NearestNeighbors:
        metric = choose_metric(self.metric, X)
        n_comparable = int(np.count_nonzero(to_numpy(find_comparable_rows(metric, X))))
        n_neighbors = self.n_neighbors or default_n_neighbors(max(n_comparable, 1))
        return replace(self, n_neighbors=n_neighbors, metric=metric)

    def comparable_rows(self, X: Array) -> Array:
        return find_comparable_rows(self.metric, X)

    def build_operator(self, X: Array, rng: np.random.Generator) -> SimilarityGraph:
        n_neighbors = self._count_neighbors(X)
        space = MetricSpace.of(self.metric, X)
        points = space.points(X)
        if self.approximate:
            nearest, radii = find_approximate_neighbors(points.X, n_neighbors, rng)
        else:
            nearest, radii = find_nearest_rows(points.X, n_neighbors)
        starts = np.arange(0, nearest.size + 1, n_neighbors)
        edges = sp.csr_array((np.full(nearest.size, 0.5), nearest.ravel(), starts), shape=(len(nearest),) * 2)
        matrix = sp.csr_array(edges + edges.T)
        matrix.setdiag(1.0)  # a row with many duplicates may not be among its own nearest
        join = partial(join_new_rows, space, points, radii, n_neighbors)
        return SimilarityGraph(matrix, join, exact=not self.approximate, home=empty_on_device(X))

    def nbytes(self, X: Array) -> int:
        return 2 * X.shape[0] * self._count_neighbors(X) * (8 + 4)

    def _count_neighbors(self, X: Array) -> int:
        return min(X.shape[0], self.n_neighbors or default_n_neighbors(X.shape[0]))


def find_approximate_neighbors(X: Array, n_neighbors: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Find nearly all nearest rows of each row with pynndescent, and the distance of the last."""
    try:
        from pynndescent import NNDescent
    except ImportError as error:
        raise ImportError("approximate neighbors need pynndescent: pip install 'consilience[neighbors]'") from error
    rows = to_host(X)
    nearest, distances = NNDescent(rows, n_neighbors=n_neighbors, random_state=int(rng.integers(2**31))).neighbor_graph
    return nearest, distances[:, -1].astype(np.float64)


@refer_as("join-neighbors")
def join_new_rows(
    space: MetricSpace, fitted: KernelRows, radii: np.ndarray, n_neighbors: int, X: Array
) -> sp.csr_array:
    """Join new rows to those of the fit as those are joined to each other."""
    points = space.points(as_rows_like(X, fitted.X))
    matrix = KernelMatrix(space, points, fitted, cached=False)
    lengths, fitted_lengths = to_numpy(points.row_term), to_numpy(fitted.row_term)
    slack = ROUNDING * np.finfo(matrix.dtype).eps

    def find_edges(rows: slice, tile: Array) -> sp.csr_array:
        squared = to_numpy(tile)
        edges = np.zeros(squared.shape)
        nearest = np.argpartition(squared, n_neighbors - 1, axis=1)[:, :n_neighbors]
        np.put_along_axis(edges, nearest, 0.5, axis=1)
        edges += 0.5 * (squared <= radii**2 + slack * (lengths[rows, None] + fitted_lengths))
        return sp.csr_array(edges)

    return sp.vstack(list(matrix.map_tiles(find_edges)), format="csr")
