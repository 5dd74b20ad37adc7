"""Spectral clustering that minimizes the views' disagreement (de Sa 2005)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import Any, ClassVar, Literal

import numpy as np

from .._saving import save_as
from ..affinities import CrossOperator, Operator
from ..arrays import Seed, normalize_rows
from ..methods.common.validation import StrOptions
from ..methods.spectral.algorithm import (
    EigenEmbedding,
    Embedding,
    embed_view,
    extend_nystroem,
    invert_sqrt_degrees,
    isolated_below,
    zero_null_eigenvectors,
)
from ..methods.spectral.base import BaseSpectral, select_embedding_views, share_spectral_docs, warn_embedding_problems
from ..methods.spectral.eigen import N_GUARD_VECTORS, top_eigenvectors


@save_as("minimum-disagreement")
@share_spectral_docs
class MinimumDisagreement(BaseSpectral):
    """Spectral clustering that minimizes the disagreement of the views (de Sa 2005), here for any number of views.

    Each entity is two vertices of a graph, one per view. The vertex of entity i in the first view is joined to that of
    entity j in the second as strongly as paths i, l, j connect them, the first step by similarity in the first view
    and the second step by similarity in the second: ``W = K_1 K_2``. The clusters are those of this graph,
    ``D_r^-1/2 W D_c^-1/2``: its leading left singular vectors embed the entities by the first view, the right ones by
    the second.

    Parameters
    ----------
    %(n_clusters)s
    %(affinity)s
    %(bandwidth)s
    embedding : str, default='concat'
        What is clustered, in each case with rows scaled to unit length: 'concat', the views' embeddings side by side;
        'mean', the mean of the embeddings of the views that an entity has; or the name of a view, for its embedding
        alone. 'mean' is what Kumar & Daumé (2011) compare with. If a view is itself called 'mean', asking for
        'mean' is an error; 'concat' always stands for all views.
    %(clustering_parameters)s

    Attributes
    ----------
    %(labels_)s
    singular_values_ : ndarray of shape (n_clusters,)
        How strongly each pair of singular vectors is connected, the first 1. For more than two views, eigenvalues.
    embeddings_ : dict of str to ndarray of shape (n_entities, n_clusters)
        Each view's singular vectors, rows not scaled.
    %(temperature_)s
    %(common_attributes)s

    Notes
    -----
    The paper has two views. For more, each entity is one vertex per view, and every pair of views is joined as above:
    the graph's matrix has the blocks ``K_i K_j``, and zeros on the diagonal. For two views its eigenvectors are the
    singular vectors one above the other, which gives the method of the paper. With one view it is ordinary spectral
    clustering.

    The mean of the embeddings makes sense because all come from one problem: the i-th columns of all views belong to
    the same eigenvector, with one sign. The mean of rows of unit length is not scaled again, so that an entity on which
    the views disagree lies near the origin.

    Nothing larger than the views' similarities is formed: a product with the graph takes two products per view. A new
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
        "embedding": [StrOptions({"concat", "mean"}), str],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        affinity: Any = "auto",
        bandwidth: float | Literal["median", "local"] | dict[str, Any] | list[Any] | None = None,
        embedding: str = "concat",
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
        self.embedding = embedding

    def _embed(
        self, names: tuple[str, ...], operators: Sequence[Operator], rng: np.random.Generator
    ) -> SeparateEmbeddings:
        clustered = select_embedding_views(self.embedding, names, ("concat", "mean"))
        if len(operators) == 1:
            return SeparateEmbeddings([embed_view(operators[0], self.n_clusters, rng)], clustered)
        return SeparateEmbeddings(minimum_disagreement(operators, self.n_clusters, rng), clustered)

    def _combine(self, parts: Sequence[np.ndarray], present: np.ndarray) -> np.ndarray:
        if self.embedding != "mean":
            return super()._combine(parts, present)
        weights = present / np.maximum(present.sum(axis=1, keepdims=True), 1)
        weighted = zip(weights.T, map(normalize_rows, parts), strict=True)
        return reduce(add, (weight[:, None].astype(U.dtype) * U for weight, U in weighted))

    def _store(self, embedding: Any, present: np.ndarray) -> None:
        super()._store(embedding, present)
        self.singular_values_ = embedding.views[0].values

    def _warn(self, names: Sequence[str], present: np.ndarray, embedding: Any) -> None:  # noqa: ARG002
        isolated = np.all([view.isolated for view in embedding.views], axis=0)
        comparable = np.any(present, axis=1)  # fit has warned about the others already
        graph = replace(embedding.views[0], isolated=isolated)
        warn_embedding_problems("the graph of all views' entities", graph, comparable, self.n_clusters)


@save_as("minimum-disagreement-embeddings")
@dataclass(frozen=True, eq=False)
class SeparateEmbeddings:
    """One embedding per view, of which some are clustered."""

    views: Sequence[Embedding]
    clustered: Sequence[int]

    @property
    def joint(self) -> Sequence[np.ndarray]:
        return [self.views[v].U for v in self.clustered]

    def place(self, crosses: Sequence[CrossOperator]) -> Sequence[np.ndarray]:
        no_others = np.empty((crosses[0].shape[0], 0))
        return [self.views[v].place(crosses[v], no_others) for v in self.clustered]


@save_as("minimum-disagreement-view")
@dataclass(frozen=True, eq=False)
class ConnectedEmbedding(EigenEmbedding):
    """A view's part of the eigenvectors of the graph over all pairs of views."""

    to_sums: np.ndarray  # (n, 1 + p): similarities to the entities times this are a vertex's degree and its sums

    def place(self, cross: CrossOperator, others: np.ndarray) -> np.ndarray:  # noqa: ARG002
        """Place new vertices by the Nyström extension: entities of the fit connect them with the other views."""
        sums = cross @ self.to_sums
        return extend_nystroem(sums[:, 0], sums[:, 1:], self.values, self.min_degree)


def minimum_disagreement(operators: Sequence[Operator], n_vectors: int, rng: np.random.Generator) -> list[Embedding]:
    """Compute the leading eigenvectors of the graph with blocks ``D_i^-1/2 K_i K_j D_j^-1/2``, i != j, per view."""
    n_views, n, dtype = len(operators), operators[0].shape[0], np.result_type(*(K.dtype for K in operators))
    reach = sum_other_views(operators, [np.ones((n, 1), dtype)] * n_views)
    degrees = [K @ part for K, part in zip(operators, reach, strict=True)]
    min_degrees = [isolated_below(degree) for degree in degrees]
    roots = [invert_sqrt_degrees(*pair) for pair in zip(degrees, min_degrees, strict=True)]

    def weight_views(X: np.ndarray) -> list[np.ndarray]:
        return [root * part for root, part in zip(roots, np.split(X, n_views), strict=True)]

    def multiply(X: np.ndarray) -> np.ndarray:
        sums = sum_other_views(operators, weight_views(X))
        return np.vstack([root * (K @ part) for root, K, part in zip(roots, operators, sums, strict=True)])

    n_vertices = n * n_views
    start = rng.standard_normal((n_vertices, min(n_vertices, n_vectors + N_GUARD_VECTORS))).astype(dtype)
    top = top_eigenvectors(multiply, start, min(n_vertices, n_vectors))
    values, U = zero_null_eigenvectors(top.values, top.vectors)
    U = np.sqrt(n_views).astype(dtype) * U  # for two views, each part then has columns of unit length
    sums = sum_other_views(operators, weight_views(U))
    return [
        ConnectedEmbedding(
            part,
            values,
            min_degrees[v],
            roots[v][:, 0] == 0,
            top.next_eigenvalue,
            top.converged,
            np.hstack([reach[v], sums[v]]),
        )
        for v, part in enumerate(np.split(U, n_views))
    ]


def sum_other_views(operators: Sequence[Operator], parts: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Sum, for each view, the other views' similarities times their part."""
    products = [K @ part for K, part in zip(operators, parts, strict=True)]
    return [reduce(add, (product for j, product in enumerate(products) if j != i)) for i in range(len(products))]
