"""Co-regularised spectral clustering."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np

from .._saving import save_as
from ..affinities import CrossOperator, Operator
from ..data import Table, resolve_per_view
from ..methods.common.input_checks import warn_if_not_converged
from ..methods.common.progress import progress
from ..methods.common.run import run
from ..methods.common.validation import Interval, StrOptions
from ..methods.spectral.algorithm import InitialEmbedding, embed_view, invert_sqrt_degrees
from ..methods.spectral.base import BaseSpectral, select_embedding_views, warn_embedding_problems
from ._co_regularization import CoRegularizedVectors, NormalizedSimilarities, run_centroid, run_pairwise

KINDS = {"pairwise": run_pairwise, "centroid": run_centroid}


@save_as("co-regularized-spectral")
class CoRegularizedSpectral(BaseSpectral):
    """Spectral clustering in which the views' eigenvectors pull each other together (Kumar, Rai & Daumé 2011).

    ``'pairwise'``: each view's eigenvectors U_v serve its own similarities and lie near to those of every other view.
    They are the leading ones of ``L_v + weight * sum_{w != v} U_w U_w'``, view after view, until the objective
    ``sum_v tr(U_v' L_v U_v) + weight * sum_{v < w} |U_v' U_w|^2`` settles; no step lowers it. ``'centroid'``: they
    lie near to a consensus U*, the leading eigenvectors of ``sum_v weight_v U_v U_v'``.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    kind : {'pairwise', 'centroid'}, default='pairwise'
        Whom the views' eigenvectors are near to.
    weight : float, or one a view in a dict or list, default=0.05
        How strongly they are pulled. The similarities of a view count as 1, which is their largest eigenvalue. With
        ``kind='pairwise'`` one number for all.
    affinity : str, affinity, or one a view in a dict or list, default='auto'
        How alike two entities of a view are: ``'gaussian'``, ``'nearest-neighbors'``, ``'cosine'``, ``'precomputed'``
        and others of `consilience.affinities`, by name or as objects.
    bandwidth : float, 'median', 'local', or one a view, default='median'
        Bandwidth of Gaussian similarities.
    embedding : str, default='auto'
        What is clustered: ``'concat'``, the views' embeddings side by side; ``'centroid'``, the consensus; or the one
        of the view that is named. By default the consensus where there is one, as in the paper.
    max_iter : int, default=100
        Most rounds; a round visits every view once.
    tol : float, default=1e-4
        Stop when a round raises the objective by no more than this share of itself.
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
    embeddings_ : dict of str to ndarray of shape (n_entities, n_clusters)
        Each view's eigenvectors, rows not yet of unit length.
    embedding_ : ndarray of shape (n_entities, n_clusters) or None
        The consensus; None with ``kind='pairwise'``.
    view_labels_ : dict of str to ndarray of shape (n_entities,)
        The cluster whose mean in the view's embedding is nearest; -1 where the entity lacks the view.
    agreement_ : ndarray of shape (n_views, n_views)
        Share of entities that two views put into the same cluster.
    history_ : Table
        One row a round: the objective, which never falls.
    n_iter_, converged_ : int, bool
        Rounds taken, and whether the objective settled before `max_iter`.
    affinities_ : dict of str to affinity
        The affinity of each view.
    n_features_in_, feature_names_in_ : int, ndarray
        Columns of all views together, and their names where all views came with names.

    Notes
    -----
    With one view it is ordinary spectral clustering. The paper says nothing of new entities. In each step an entity's
    place in view v is ``u_v = (l_v U_v + weight * sum_w u_w U_w' U_v) / values``, l_v being its normalised
    similarities to the entities of the fit and u_w its places at that time; a new entity goes through the same steps,
    from the first to the last. They are linear, so that one matrix a view holds them all.

    References
    ----------
    A. Kumar, P. Rai, H. Daumé III: Co-regularized multi-view spectral clustering. NIPS 2011.

    Examples
    --------
    >>> import consilience as cs
    >>> views, y = cs.datasets.make_gaussian_views(150, n_clusters=3, separation=8, random_state=0)
    >>> model = cs.baselines.CoRegularizedSpectral(3, affinity="gaussian", random_state=0).fit(views)
    >>> bool(cs.metrics.adjusted_rand_score(y, model.labels_) > 0.95)
    True
    >>> bool((model.history_["objective"][1:] >= model.history_["objective"][:-1]).all())
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BaseSpectral._parameter_constraints,
        "kind": [StrOptions(set(KINDS))],
        "weight": [Interval(Real, 0, None, closed="left"), dict, list, tuple],
        "embedding": [str],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        kind: str = "pairwise",
        weight: Any = 0.05,
        affinity: Any = "auto",
        bandwidth: Any = None,
        embedding: str = "auto",
        max_iter: int = 100,
        tol: float = 1e-4,
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
        self.kind = kind
        self.weight = weight
        self.embedding = embedding
        self.max_iter = max_iter
        self.tol = tol

    def _embed(
        self, names: tuple[str, ...], operators: Sequence[Operator], rng: np.random.Generator
    ) -> CoRegularizedEmbedding:
        weights, chosen = self._weights(names), self._chosen(names)
        first = [embed_view(K, self.n_clusters, rng) for K in operators]
        with progress(type(self).__name__, 1, bool(self.verbose)) as show:
            done = run(
                KINDS[self.kind](operators, first, weights, rng),
                max_iter=self.max_iter,
                tol=self.tol,
                patience=1,
                report=partial(show, 0),
            )
        if done.interrupted:
            raise KeyboardInterrupt("stopped early: the model is as it was before fit")
        views, middle = done.state.views, done.state.centroid
        return CoRegularizedEmbedding(
            [replace(own, recipe=()) for own in views],  # nobody asks for the recipes of views that are not clustered
            [middle] if chosen is None else [views[v] for v in chosen],
            [replace(NormalizedSimilarities.of(K), K=None) for K in operators],
            None if middle is None else middle.U,
            Table.from_rows(done.history),
            done.converged,
            first,
        )

    def _weights(self, names: Sequence[str]) -> list[float]:
        """The weight of each view."""
        if self.kind == "pairwise" and not isinstance(self.weight, Real):
            raise ValueError(
                f"kind='pairwise' pulls all pairs of views alike, got weight={self.weight!r}: give one number, or "
                "use kind='centroid'"
            )
        weights = resolve_per_view("weight", self.weight, names)
        for name, own in weights.items():
            if not isinstance(own, Real) or not 0 <= float(own) < np.inf:
                raise ValueError(f"view {name!r}: weight {own!r} must be a number from 0 on")
        if self.kind == "centroid" and not any(weights.values()):
            raise ValueError("no view has a weight above 0, which leaves no consensus: give one, or kind='pairwise'")
        return [float(own) for own in weights.values()]

    def _chosen(self, names: Sequence[str]) -> list[int] | None:
        """The views whose embeddings are clustered; None for the consensus."""
        if self.embedding in ("auto", "centroid") and self.kind == "centroid":
            return None
        if self.embedding == "centroid":
            raise ValueError("embedding='centroid' needs kind='centroid': give that, or another embedding")
        return select_embedding_views("concat" if self.embedding == "auto" else self.embedding, names)

    def _store(self, found: Any, present: np.ndarray) -> None:
        super()._store(found, present)
        self.embedding_, self.history_, self.converged_ = found.centroid, found.history, found.converged
        self.n_iter_ = found.history.n_rows

    def _warn(self, names: Sequence[str], present: np.ndarray, found: Any) -> None:
        for name, view, there in zip(names, found.first, present.T, strict=True):
            warn_embedding_problems(f"view {name!r}", view, there, self.n_clusters)
        warn_if_not_converged(self)


@save_as("co-regularized-embedding")
@dataclass(frozen=True, eq=False)
class CoRegularizedEmbedding:
    """Each view's eigenvectors, and those that are clustered."""

    views: Sequence[Any]
    clustered: Sequence[CoRegularizedVectors]
    normalised: Sequence[NormalizedSimilarities]  # each view's, without the similarities
    centroid: np.ndarray | None
    history: Table
    converged: bool
    first: Sequence[InitialEmbedding]

    @property
    def joint(self) -> Sequence[np.ndarray]:
        return [own.U for own in self.clustered]

    def place(self, crosses: Sequence[CrossOperator]) -> Sequence[np.ndarray]:
        embedding = sum(
            multiply_normalized(cross, own, np.hstack([vectors.recipe[w] for vectors in self.clustered]))
            for w, (cross, own) in enumerate(zip(crosses, self.normalised, strict=True))
        )
        ends = np.cumsum([vectors.U.shape[1] for vectors in self.clustered])  # a view may have fewer than n_clusters
        return np.split(embedding, ends[:-1], axis=1)


def multiply_normalized(cross: CrossOperator, known: NormalizedSimilarities, recipe: np.ndarray) -> np.ndarray:
    """The normalised similarities of others to the entities of the fit, times a thin matrix."""
    found = cross @ np.hstack([np.ones_like(known.root), known.root * recipe])
    return invert_sqrt_degrees(found[:, 0], known.least)[:, None] * found[:, 1:]
