"""Spectral clustering of the sum, or of the entrywise product, of the views' similarities."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from operator import add, mul
from typing import Any, ClassVar, Literal

import numpy as np

from .._saving import refer_as, save_as
from ..affinities import CrossOperator, Operator
from ..arrays import Seed, fits_in_memory, map_chunks, pairwise, split_slice
from ..methods.spectral.algorithm import Embedding, InitialEmbedding, embed_view
from ..methods.spectral.base import BaseSpectral, share_spectral_docs, warn_embedding_problems
from ..methods.spectral.similarities import CombinedSimilarities, SimilaritySum


@refer_as("product-of-similarities")
class SimilarityCrossProduct(CombinedSimilarities):
    """Similarities of new entities multiplied entry by entry, a few columns at a time."""

    def columns(self, entities: np.ndarray) -> np.ndarray:
        return reduce(mul, (K.columns(entities) for K in self.views))

    def compute_tile(self, columns: slice) -> np.ndarray:
        """Compute adjacent columns."""
        return self.columns(np.arange(columns.start, columns.stop))

    def __matmul__(self, U: np.ndarray) -> np.ndarray:
        return reduce(add, map_chunks(lambda columns: self.compute_tile(columns) @ U[columns], self.tiles))

    @property
    def tiles(self) -> list[slice]:
        """Columns cut so that a tile, and what selects it, hold about `pairwise.tuning.tile` numbers."""
        n_columns = self.shape[1]
        n_tiles = -(-max(self.shape) * n_columns // pairwise.tuning.tile)
        return split_slice(slice(0, n_columns), max(1, min(n_tiles, -(-n_columns // pairwise.LEAST_ROWS))))


class SimilarityProduct(SimilarityCrossProduct):
    """Similarities of the entities to each other, multiplied entry by entry; kept if they fit into memory."""

    @cached_property
    def _table(self) -> dict[int, np.ndarray]:
        return dict(
            zip((columns.start for columns in self.tiles), map_chunks(self.compute_tile, self.tiles), strict=True)
        )

    def __matmul__(self, U: np.ndarray) -> np.ndarray:
        table = self._table if fits_in_memory(int(np.prod(self.shape)) * self.dtype.itemsize) else None

        def multiply(columns: slice) -> np.ndarray:
            tile = self.compute_tile(columns) if table is None else table[columns.start]
            return tile.T @ U  # the matrix is symmetric, so that its columns are rows

        return np.concatenate(list(map_chunks(multiply, self.tiles)))


class BaseCombinedKernel(BaseSpectral):
    """Base of spectral clustering of one matrix of similarities, combined from those of the views."""

    _combined: ClassVar[type[SimilaritySum | SimilarityProduct]]  # similarities of the entities
    _combined_cross: ClassVar[type[SimilaritySum | SimilarityCrossProduct]]  # similarities of new entities
    _description: ClassVar[str]  # of the combined similarities in messages

    def _embed(
        self,
        names: tuple[str, ...],  # noqa: ARG002
        operators: Sequence[Operator],
        rng: np.random.Generator,
    ) -> CombinedKernelEmbedding:
        embedding = embed_view(self._combined(operators), self.n_clusters, rng)
        no_others = np.empty((len(embedding.U), 0))
        views = [replace(embedding, U=embedding.place(K, no_others)) for K in operators]
        return CombinedKernelEmbedding(embedding, views, self._combined_cross)

    def _store(self, embedding: Any, present: np.ndarray) -> None:
        super()._store(embedding, present)
        self.embedding_ = embedding.joint[0]

    def _warn(self, names: Sequence[str], present: np.ndarray, embedding: Any) -> None:  # noqa: ARG002
        comparable = np.any(present, axis=1)  # fit has warned about the others already
        warn_embedding_problems(self._description, embedding.embedding, comparable, self.n_clusters)


@save_as("joint-embedding")
@dataclass(frozen=True, eq=False)
class CombinedKernelEmbedding:
    """One embedding by all views, and where in it each view alone puts the entities."""

    embedding: InitialEmbedding
    views: Sequence[Embedding]
    combine: Callable[[Sequence[CrossOperator]], CrossOperator]

    @property
    def joint(self) -> Sequence[np.ndarray]:
        return [self.embedding.U]

    def place(self, crosses: Sequence[CrossOperator]) -> Sequence[np.ndarray]:
        return [self.embedding.place(self.combine(crosses), np.empty((crosses[0].shape[0], 0)))]


@save_as("kernel-addition")
@share_spectral_docs
class KernelAddition(BaseCombinedKernel):
    """Spectral clustering of the sum of the views' similarities.

    Two entities are similar if they are similar in any view. Simple, and hard to beat: Kumar & Daumé 2011 publish an F
    of 0.707 for handwritten digits, and 0.726 for co-training. Similarities are not scaled: if their sizes differ
    between views (``"linear"``), the larger ones count more.

    Parameters
    ----------
    %(n_clusters)s
    %(affinity)s
    %(bandwidth)s
    %(clustering_parameters)s

    Attributes
    ----------
    %(labels_)s
    embedding_ : ndarray of shape (n_entities, n_clusters)
        Eigenvectors of the normalized sum, rows not scaled.
    embeddings_ : dict of str to ndarray of shape (n_entities, n_clusters)
        Where in this embedding each view's similarities alone put the entities.
    %(temperature_)s
    %(common_attributes)s

    Notes
    -----
    With one view it is ordinary spectral clustering. Similarities that a view lacks are filled in with the mean of
    those that the other views have, all scaled to the same size, as in `consilience.CoTrainedSpectral`.

    Examples
    --------
    >>> import consilience as cs
    >>> views, y = cs.datasets.make_gaussian_views(150, n_clusters=3, separation=8, random_state=0)
    >>> model = cs.baselines.KernelAddition(3, affinity="gaussian", random_state=0).fit(views)
    >>> cs.metrics.adjusted_rand_score(y, model.labels_)
    1.0
    """

    _combined = _combined_cross = SimilaritySum
    _description = "the sum of the views' similarities"


@save_as("kernel-product")
@share_spectral_docs
class KernelProduct(BaseCombinedKernel):
    """Spectral clustering of the entrywise product of the views' similarities.

    Two entities are similar if they are similar in every view. With Gaussian similarities it is spectral clustering of
    the views side by side, each in units of its bandwidth. If similarities are zero for most pairs, as in graphs of
    nearest neighbors, hardly any pair is left, so the default is Gaussian.

    Parameters
    ----------
    %(n_clusters)s
    %(affinity)s
    %(bandwidth)s
    %(clustering_parameters)s

    Attributes
    ----------
    %(labels_)s
    embedding_ : ndarray of shape (n_entities, n_clusters)
        Eigenvectors of the normalized product, rows not scaled.
    embeddings_ : dict of str to ndarray of shape (n_entities, n_clusters)
        Where in this embedding each view's similarities alone put the entities.
    %(temperature_)s
    %(common_attributes)s

    Notes
    -----
    With one view it is ordinary spectral clustering. Similarities that a view lacks are filled in with the mean of
    those that the other views have, all scaled to the same size, as in `consilience.CoTrainedSpectral`.

    The product is computed a few columns at a time. It is kept if it takes no more than 1 GiB (11,585 entities in
    float64), as kernels are, and otherwise computed again for every multiplication.

    Examples
    --------
    >>> import consilience as cs
    >>> views, y = cs.datasets.make_gaussian_views(150, n_clusters=3, separation=8, random_state=0)
    >>> model = cs.baselines.KernelProduct(3, random_state=0).fit(views)
    >>> cs.metrics.adjusted_rand_score(y, model.labels_)
    1.0
    """

    _combined, _combined_cross = SimilarityProduct, SimilarityCrossProduct
    _description = "the product of the views' similarities"
    _fits_neighbors_to_clusters = False  # with few neighbors hardly any pair is joined in every view

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        affinity: Any = "gaussian",
        bandwidth: float | Literal["median", "local"] | dict[str, Any] | list[Any] | None = None,
        views: dict[str, Any] | None = None,
        assign_labels: Literal["kmeans", "cluster-qr"] = "kmeans",
        n_init: int = 10,
        init: Any = "k-means++",
        random_state: Seed = None,
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
