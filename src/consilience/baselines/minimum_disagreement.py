"""Spectral clustering that minimises the views' disagreement (de Sa 2005)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import Any, ClassVar

import numpy as np

from .._saving import save_as
from ..affinities import CrossOperator, Operator
from ..methods.spectral.algorithm import (
    EigenEmbedding,
    Embedding,
    embed_view,
    extend_nystroem,
    invert_sqrt_degrees,
    isolated_below,
    zero_null_eigenvectors,
)
from ..methods.spectral.base import BaseSpectral, select_embedding_views, warn_embedding_problems
from ..methods.spectral.eigen import N_GUARD_VECTORS, top_eigenvectors


@save_as("minimum-disagreement")
class MinimumDisagreement(BaseSpectral):
    """Spectral clustering that minimises the disagreement of the views (de Sa 2005), here for any number of views.

    Each entity is two vertices of a graph, one a view. The vertex of entity i in one view is joined to that of entity
    j in the other as strongly as paths i, l, j connect them, the first step by similarity in the one view and the
    second in the other: ``W = K_1 K_2``. Clusters are those of this graph, ``D_r^-1/2 W D_c^-1/2``: its leading left
    singular vectors place the entities by the first view, the right ones by the second.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    affinity : str, affinity, or one a view in a dict or list, default='auto'
        How alike two entities of a view are: ``'gaussian'``, ``'nearest-neighbors'``, ``'cosine'``, ``'precomputed'``
        and others of `consilience.affinities`, by name or as objects.
    bandwidth : float, 'median', 'local', or one a view, default='median'
        Bandwidth of Gaussian similarities.
    embedding : str, default='concat'
        What is clustered: the views' embeddings side by side, or the one of the view that is named.
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
    singular_values_ : ndarray of shape (n_clusters,)
        How strongly each pair of singular vectors is connected, the first 1. Of more than two views, eigenvalues.
    embeddings_ : dict of str to ndarray of shape (n_entities, n_clusters)
        Each view's singular vectors, rows not yet of unit length.
    view_labels_ : dict of str to ndarray of shape (n_entities,)
        The cluster whose mean in the view's embedding is nearest; -1 where the entity lacks the view.
    agreement_ : ndarray of shape (n_views, n_views)
        Share of entities that two views put into the same cluster.
    affinities_ : dict of str to affinity
        The affinity of each view.
    n_features_in_, feature_names_in_ : int, ndarray
        Columns of all views together, and their names where all views came with names.

    Notes
    -----
    The paper has two views. For more, each entity is one vertex a view, and every pair of views is joined as above:
    the graph's matrix has the blocks ``K_i K_j``, and zeros on the diagonal. Of two views its eigenvectors are the
    singular vectors one above the other, so that nothing changes. With one view, which has nobody to disagree with,
    it is ordinary spectral clustering.

    Nothing larger than the views' own similarities is formed: the graph multiplies by two products a view. A new
    entity is a new vertex in each view, joined by its similarities to the others.

    References
    ----------
    V. R. de Sa: Spectral clustering with two views. ICML Workshop on Learning with Multiple Views, 2005.

    Examples
    --------
    >>> import consilience as cs
    >>> views, y = cs.datasets.make_gaussian_views(150, n_clusters=3, separation=8, random_state=0)
    >>> model = cs.baselines.MinimumDisagreement(3, affinity="gaussian", random_state=0).fit(views)
    >>> bool(cs.metrics.adjusted_rand_score(y, model.labels_) > 0.95)
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BaseSpectral._parameter_constraints,
        "embedding": [str],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        affinity: Any = "auto",
        bandwidth: Any = None,
        embedding: str = "concat",
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
        self.embedding = embedding

    def _embed(
        self, names: tuple[str, ...], operators: Sequence[Operator], rng: np.random.Generator
    ) -> SeparateEmbeddings:
        chosen = select_embedding_views(self.embedding, names)
        views = minimum_disagreement(operators, self.n_clusters, rng) if len(operators) > 1 else None
        return SeparateEmbeddings(views or [embed_view(operators[0], self.n_clusters, rng)], chosen)

    def _store(self, found: Any, present: np.ndarray) -> None:
        super()._store(found, present)
        self.singular_values_ = found.views[0].values

    def _warn(self, names: Sequence[str], present: np.ndarray, found: Any) -> None:  # noqa: ARG002
        whole = replace(found.views[0], isolated=np.all([view.isolated for view in found.views], axis=0))
        comparable = np.any(present, axis=1)  # fit has warned of the others already
        warn_embedding_problems("the graph of all views' entities", whole, comparable, self.n_clusters)


@save_as("minimum-disagreement-embeddings")
@dataclass(frozen=True, eq=False)
class SeparateEmbeddings:
    """An embedding a view, of which some are clustered."""

    views: Sequence[Embedding]
    chosen: Sequence[int]

    @property
    def joint(self) -> Sequence[np.ndarray]:
        return [self.views[v].U for v in self.chosen]

    def place(self, crosses: Sequence[CrossOperator]) -> Sequence[np.ndarray]:
        alone = np.empty((crosses[0].shape[0], 0))
        return [self.views[v].place(crosses[v], alone) for v in self.chosen]


@save_as("minimum-disagreement-view")
@dataclass(frozen=True, eq=False)
class ConnectedEmbedding(EigenEmbedding):
    """A view's part of the eigenvectors of the graph over all pairs of views."""

    through: np.ndarray  # (n, 1 + p): similarities to the entities times this are a vertex's degree and its sums

    def place(self, cross: CrossOperator, others: np.ndarray) -> np.ndarray:  # noqa: ARG002
        """The Nyström extension: a new vertex reaches the other views through the entities of the fit."""
        found = cross @ self.through
        return extend_nystroem(found[:, 0], found[:, 1:], self.values, self.min_degree)


def minimum_disagreement(operators: Sequence[Operator], n_vectors: int, rng: np.random.Generator) -> list[Embedding]:
    """Leading eigenvectors of the graph with blocks ``D_i^-1/2 K_i K_j D_j^-1/2``, i != j, cut into the views'."""
    n, dtype = operators[0].shape[0], np.result_type(*(K.dtype for K in operators))
    reach = sum_other_views(operators, [np.ones((n, 1), dtype)] * len(operators))
    vertices = [K @ own for K, own in zip(operators, reach, strict=True)]
    least = [isolated_below(degree) for degree in vertices]
    roots = [invert_sqrt_degrees(degree, own) for degree, own in zip(vertices, least, strict=True)]

    def weighted(X: np.ndarray) -> list[np.ndarray]:
        return [root * part for root, part in zip(roots, np.split(X, len(operators)), strict=True)]

    def product(X: np.ndarray) -> np.ndarray:
        through = sum_other_views(operators, weighted(X))
        return np.vstack([root * (K @ own) for root, K, own in zip(roots, operators, through, strict=True)])

    n_vertices = n * len(operators)
    start = rng.standard_normal((n_vertices, min(n_vertices, n_vectors + N_GUARD_VECTORS))).astype(dtype)
    found = top_eigenvectors(product, start, min(n_vertices, n_vectors))
    values, U = zero_null_eigenvectors(found.values, found.vectors)
    scale = np.sqrt(len(operators)).astype(dtype)  # of two views, each part then has columns of unit length
    through = sum_other_views(operators, weighted(scale * U))
    return [
        ConnectedEmbedding(
            part, values, floor, root[:, 0] == 0, found.next_eigenvalue, found.converged, np.hstack([own_reach, own])
        )
        for part, own_reach, own, floor, root in zip(
            np.split(scale * U, len(operators)), reach, through, least, roots, strict=True
        )
    ]


def sum_other_views(operators: Sequence[Operator], parts: Sequence[np.ndarray]) -> list[np.ndarray]:
    """For each view the sum over the other views of their similarities times their part."""
    products = [K @ part for K, part in zip(operators, parts, strict=True)]
    return [reduce(add, (own for j, own in enumerate(products) if j != i)) for i in range(len(products))]
