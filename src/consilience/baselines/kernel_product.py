"""Spectral clustering of the entrywise product of the views' similarities."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from operator import add, mul
from typing import Any

import numpy as np

from .._saving import refer_as, save_as
from ..arrays import fits_in_memory, map_chunks, pairwise, split_slice
from ._joint import BaseCombinedKernel, KernelCombination


@save_as("kernel-product")
class KernelProduct(BaseCombinedKernel):
    """Spectral clustering of the entrywise product of the views' similarities.

    Two entities are alike if they are alike in every view. With Gaussian similarities it is spectral clustering of
    the views side by side, each in units of its own bandwidth. Where similarities are zero for most pairs, as in
    graphs of nearest neighbours, hardly any pair is left: the default here is Gaussian.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    affinity : str, affinity, or one a view in a dict or list, default='gaussian'
        How alike two entities of a view are: ``'gaussian'``, ``'cosine'``, ``'precomputed'`` and others of
        `consilience.affinities`, by name or as objects.
    bandwidth : float, 'median', 'local', or one a view, default='median'
        Bandwidth of Gaussian similarities.
    views : dict of str to columns, optional
        If `fit` is given one array or frame: which of its columns make up which view (slices, positions or names).
    assign_labels : {'kmeans', 'cluster-qr'}, default='kmeans'
        How the embedding falls into clusters.
    n_init : int, default=10
        Number of starts of k-means.
    init : {'k-means++', 'random'}, labels or centres, default='k-means++'
        Where k-means starts.
    random_state : int, Generator, RandomState or None, default=None
        Seed.
    n_jobs : int, default=None
        Threads; None and -1 take all cores. The result does not depend on it.
    verbose : bool, default=False
        Show progress.

    Attributes
    ----------
    labels_ : ndarray of shape (n_entities,)
        The cluster of each entity.
    embedding_ : ndarray of shape (n_entities, n_clusters)
        Eigenvectors of the normalised product, rows not yet of unit length.
    embeddings_ : dict of str to ndarray of shape (n_entities, n_clusters)
        Where in this embedding each view's similarities alone would put the entities.
    view_labels_ : dict of str to ndarray of shape (n_entities,)
        The cluster whose mean among the view's own places is nearest; -1 where the entity lacks the view.
    agreement_ : ndarray of shape (n_views, n_views)
        Share of entities that two views put into the same cluster.
    affinities_ : dict of str to affinity
        The affinity of each view.
    n_features_in_, feature_names_in_ : int, ndarray
        Columns of all views together, and their names where all views came with names.

    Notes
    -----
    With one view it is ordinary spectral clustering. Similarities that a view lacks are filled in with the mean of
    those that the other views have, all brought to the same size, as in `consilience.CoTrainedSpectral`.

    The product is computed a few columns at a time. It is kept where it takes no more than 1 GiB (11,585 entities in
    float64), as kernels are, and computed again for every multiplication where it takes more.

    Examples
    --------
    >>> import consilience as cs
    >>> views, y = cs.datasets.make_gaussian_views(150, n_clusters=3, separation=8, random_state=0)
    >>> model = cs.baselines.KernelProduct(3, random_state=0).fit(views)
    >>> cs.metrics.adjusted_rand_score(y, model.labels_)
    1.0
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        affinity: Any = "gaussian",
        bandwidth: Any = None,
        views: dict[str, Any] | None = None,
        assign_labels: str = "kmeans",
        n_init: int = 10,
        init: Any = "k-means++",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        super().__init__(
            n_clusters,
            affinity=affinity,
            bandwidth=bandwidth,
            views=views,
            assign_labels=assign_labels,
            n_init=n_init,
            init=init,
            random_state=random_state,
            n_jobs=n_jobs,
            verbose=verbose,
        )

    @property
    def _combination(self) -> KernelCombination:
        return KernelCombination(SimilarityProduct, SimilarityCrossProduct, "the product of the views' similarities")


@refer_as("product-of-similarities")
@dataclass(frozen=True, eq=False)
class SimilarityCrossProduct:
    """Similarities of others to the entities, multiplied entry by entry, a few columns at a time."""

    views: Sequence[Any]

    @property
    def shape(self) -> tuple[int, int]:
        return self.views[0].shape

    @property
    def dtype(self) -> np.dtype:
        return np.result_type(*(K.dtype for K in self.views))

    def columns(self, entities: np.ndarray) -> np.ndarray:
        return reduce(mul, (K.columns(entities) for K in self.views))

    def tile(self, part: slice) -> np.ndarray:
        """Some columns that stand together."""
        return self.columns(np.arange(part.start, part.stop))

    def __matmul__(self, U: np.ndarray) -> np.ndarray:
        return reduce(add, map_chunks(lambda part: self.tile(part) @ U[part], cut_columns(self.shape)))


@dataclass(frozen=True, eq=False)
class SimilarityProduct(SimilarityCrossProduct):
    """Similarities of the entities to each other: symmetric, and kept where that takes little memory."""

    @property
    def exact(self) -> bool:
        return all(K.exact for K in self.views)

    @cached_property
    def _table(self) -> dict[int, np.ndarray]:
        parts = cut_columns(self.shape)
        return dict(zip((part.start for part in parts), map_chunks(self.tile, parts), strict=True))

    def __matmul__(self, U: np.ndarray) -> np.ndarray:
        table = self._table if fits_in_memory(int(np.prod(self.shape)) * self.dtype.itemsize) else None

        def rows(part: slice) -> np.ndarray:
            tile = self.tile(part) if table is None else table[part.start]
            return tile.T @ U  # the matrix is symmetric: columns of it are rows

        return np.concatenate(list(map_chunks(rows, cut_columns(self.shape))))


def cut_columns(shape: tuple[int, int]) -> list[slice]:
    """Columns cut so that a part of them, and what picks it out, hold about `pairwise.TILE` numbers."""
    n_columns = shape[1]
    n_parts = -(-max(shape) * n_columns // pairwise.TILE)
    return split_slice(slice(0, n_columns), max(1, min(n_parts, -(-n_columns // pairwise.LEAST_ROWS))))
