"""Co-regularized spectral clustering (Kumar, Rai & Daumé 2011): eigenvectors that pull each other together.

``L_v = D_v^-1/2 K_v D_v^-1/2`` is a view's normalized similarities. Each step replaces one set of eigenvectors by
those that are best given all others, so that the objective never falls. Only products with thin matrices are formed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from typing import Any, ClassVar, Literal

import numpy as np
import scipy.linalg

from .._numbers import is_real
from .._saving import save_as
from ..affinities import CrossOperator, Operator
from ..affinities.base import compute_degrees
from ..arrays import Seed
from ..data import Table
from ..data.inputs import resolve_per_view
from ..methods.common.input_checks import warn_if_not_converged
from ..methods.common.run import progress, run
from ..methods.common.validation import NON_NEGATIVE, StrOptions, share_constraints
from ..methods.spectral.algorithm import (
    InitialEmbedding,
    embed_view,
    invert_sqrt_degrees,
    isolated_below,
    zero_null_eigenvectors,
)
from ..methods.spectral.base import BaseSpectral, select_embedding_views, share_spectral_docs, warn_embedding_problems
from ..methods.spectral.eigen import N_GUARD_VECTORS, top_eigenvectors

PULL_TOLERANCE = 1e-8  # residuals of eigenvectors that suffice in a round, relative to the largest eigenvalue


@save_as("co-regularized-spectral")
@share_spectral_docs
class CoRegularizedSpectral(BaseSpectral):
    """Spectral clustering in which the views' eigenvectors pull each other together (Kumar, Rai & Daumé 2011).

    ``'pairwise'``: each view's eigenvectors U_v fit its similarities and are near to those of every other view. They
    are the leading ones of ``L_v + weight * sum_{w != v} U_w U_w'``, view after view, until the objective
    ``sum_v tr(U_v' L_v U_v) + weight * sum_{v < w} |U_v' U_w|^2`` converges; no step lowers it. ``'centroid'``: they
    are near to a consensus U*, the leading eigenvectors of ``sum_v weight_v U_v U_v'``.

    Parameters
    ----------
    %(n_clusters)s
    kind : {'pairwise', 'centroid'}, default='pairwise'
        What the views' eigenvectors are pulled to: each other ('pairwise'), or the consensus ('centroid').
    weight : float, or one per view in a dict or list, default=0.05
        How strongly they are pulled, relative to a view's similarities, whose largest eigenvalue is 1. With
        ``kind='pairwise'`` one number for all.
    %(affinity)s
    %(bandwidth)s
    embedding : str, default='auto'
        What is clustered: ``'concat'``, the views' embeddings side by side; ``'centroid'``, the consensus; or the
        embedding of the named view. By default the consensus if there is one, as in the paper.
    max_iter : int, default=100
        Maximum number of rounds; a round visits every view once.
    tol : float, default=1e-4
        Stop when a round raises the objective by no more than this share of itself.
    %(clustering_parameters)s

    Attributes
    ----------
    %(labels_)s
    embeddings_ : dict of str to ndarray of shape (n_entities, n_clusters)
        Each view's eigenvectors, rows not scaled.
    embedding_ : ndarray of shape (n_entities, n_clusters) or None
        The consensus; None with ``kind='pairwise'``.
    history_ : Table
        One row per round: the objective, which never falls.
    n_iter_, converged_ : int, bool
        Number of rounds, and whether the objective converged before `max_iter`.
    %(temperature_)s
    %(common_attributes)s

    Notes
    -----
    With one view it is ordinary spectral clustering. The paper does not say how to place new entities. In each step an
    entity's place in view v is ``u_v = (l_v U_v + weight * sum_w u_w U_w' U_v) / values``, l_v being its normalized
    similarities to the entities of the fit and u_w its places at that time; a new entity goes through the same steps,
    from the first to the last. They are linear, so that one matrix per view holds them all.

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
        **share_constraints("max_iter", "tol"),
        "kind": [StrOptions({"pairwise", "centroid"})],
        "weight": [NON_NEGATIVE, dict, list, tuple],
        "embedding": [StrOptions({"auto", "concat", "centroid"}), str],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        kind: Literal["pairwise", "centroid"] = "pairwise",
        weight: Any = 0.05,
        affinity: Any = "auto",
        bandwidth: float | Literal["median", "local"] | dict[str, Any] | list[Any] | None = None,
        embedding: str = "auto",
        max_iter: int = 100,
        tol: float = 1e-4,
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
        self.kind = kind
        self.weight = weight
        self.embedding = embedding
        self.max_iter = max_iter
        self.tol = tol

    def _embed(
        self, names: tuple[str, ...], operators: Sequence[Operator], rng: np.random.Generator
    ) -> CoRegularizedEmbedding:
        weights, clustered = self._resolve_weights(names), self._select_views(names)
        initial = [embed_view(K, self.n_clusters, rng) for K in operators]
        run_rounds = run_pairwise if self.kind == "pairwise" else run_centroid
        with progress(type(self).__name__, 1, bool(self.verbose)) as show:
            result = run(
                run_rounds(operators, initial, weights, rng),
                max_iter=self.max_iter,
                tol=self.tol,
                patience=1,
                report=partial(show, 0),
            )
        if result.interrupted:
            raise KeyboardInterrupt("stopped early: the model is as it was before fit")
        views, centroid = result.state.views, result.state.centroid
        return CoRegularizedEmbedding(
            [replace(view, recipe=()) for view in views],  # only the recipes of clustered vectors are needed
            [centroid] if clustered is None else [views[v] for v in clustered],
            [replace(NormalizedSimilarities.of(K), K=None) for K in operators],
            None if centroid is None else centroid.U,
            Table.from_rows(result.history),
            result.converged,
            initial,
        )

    def _resolve_weights(self, names: Sequence[str]) -> list[float]:
        """Return the weight of each view."""
        if self.kind == "pairwise" and not is_real(self.weight):
            raise ValueError(
                f"kind='pairwise' has one weight for all pairs of views, got weight={self.weight!r}: give one number, "
                "or use kind='centroid'"
            )
        weights = resolve_per_view("weight", self.weight, names)
        for name, weight in weights.items():
            if not is_real(weight) or not 0 <= float(weight) < np.inf:
                raise ValueError(f"view {name!r}: weight {weight!r} must be a number, 0 or more")
        if self.kind == "centroid" and not any(weights.values()):
            raise ValueError("no view has a weight above 0, which leaves no consensus: give one, or kind='pairwise'")
        return [float(weight) for weight in weights.values()]

    def _select_views(self, names: Sequence[str]) -> list[int] | None:
        """Return the indices of the views whose embeddings are clustered; None for the consensus."""
        if self.embedding in ("auto", "centroid") and self.kind == "centroid":
            return None
        if self.embedding == "centroid":
            raise ValueError("embedding='centroid' needs kind='centroid': give that, or another embedding")
        return select_embedding_views("concat" if self.embedding == "auto" else self.embedding, names)

    def _store(self, embedding: Any, present: np.ndarray) -> None:
        super()._store(embedding, present)
        self.embedding_, self.history_, self.converged_ = embedding.centroid, embedding.history, embedding.converged
        self.n_iter_ = embedding.history.n_rows

    def _warn(self, names: Sequence[str], present: np.ndarray, embedding: Any) -> None:
        for name, view, has_view in zip(names, embedding.initial, present.T, strict=True):
            warn_embedding_problems(f"view {name!r}", view, has_view, self.n_clusters)
        warn_if_not_converged(self)


@save_as("co-regularized-embedding")
@dataclass(frozen=True, eq=False)
class CoRegularizedEmbedding:
    """Each view's eigenvectors, and those that are clustered."""

    views: Sequence[Any]
    clustered: Sequence[CoRegularizedVectors]
    normalized: Sequence[NormalizedSimilarities]  # of each view, without the similarities
    centroid: np.ndarray | None
    history: Table
    converged: bool
    initial: Sequence[InitialEmbedding]

    @property
    def joint(self) -> Sequence[np.ndarray]:
        return [vectors.U for vectors in self.clustered]

    def place(self, crosses: Sequence[CrossOperator]) -> Sequence[np.ndarray]:
        embedding = sum(
            normalized.multiply_cross(cross, np.hstack([vectors.recipe[w] for vectors in self.clustered]))
            for w, (cross, normalized) in enumerate(zip(crosses, self.normalized, strict=True))
        )
        ends = np.cumsum([vectors.U.shape[1] for vectors in self.clustered])  # a view may have fewer than n_clusters
        return np.split(embedding, ends[:-1], axis=1)


@save_as("co-regularized-eigenvectors")
@dataclass(frozen=True, eq=False)
class CoRegularizedVectors:
    """Eigenvectors, and how they are computed from the views' similarities alone.

    Every step is linear in the entities' similarities, and so are all steps together: an entity whose normalized
    similarities in view w are the row ``l_w`` lies at ``sum_w l_w recipe[w]``. That holds for the entities of the
    fit, and places new ones.
    """

    U: np.ndarray  # (n, k)
    values: np.ndarray  # (k,)
    recipe: Sequence[np.ndarray]  # one (n, k) per view


@dataclass(frozen=True, eq=False)
class CoRegularizedState:
    """The state after a round."""

    views: Sequence[CoRegularizedVectors]
    centroid: CoRegularizedVectors | None
    objective: float
    comparable = True
    settled = False

    @property
    def costs(self) -> Mapping[str, float]:
        return {"objective": -self.objective}

    @property
    def record(self) -> Mapping[str, float]:
        return {"objective": self.objective}


@save_as("co-regularized-view")
@dataclass(frozen=True, eq=False)
class NormalizedSimilarities:
    """A view's normalized similarities."""

    K: Operator | None
    root: np.ndarray  # (n, 1): D^-1/2
    min_degree: float  # an entity of at most this degree is isolated

    @classmethod
    def of(cls, K: Operator) -> NormalizedSimilarities:
        """Normalize similarities."""
        degree = compute_degrees(K)
        min_degree = isolated_below(degree)
        return cls(K, invert_sqrt_degrees(degree, min_degree).astype(K.dtype)[:, None], min_degree)

    def __matmul__(self, U: np.ndarray) -> np.ndarray:
        assert self.K is not None
        return self.root * (self.K @ (self.root * U))

    def multiply_cross(self, cross: CrossOperator, recipe: np.ndarray) -> np.ndarray:
        """Multiply the normalized similarities of new entities to those of the fit by a thin matrix."""
        sums = cross @ np.hstack([np.ones_like(self.root), self.root * recipe])
        return invert_sqrt_degrees(sums[:, 0], self.min_degree)[:, None] * sums[:, 1:]


def run_pairwise(
    operators: Sequence[Operator],
    initial: Sequence[InitialEmbedding],
    weights: Sequence[float],
    rng: np.random.Generator,
) -> Iterator[CoRegularizedState]:
    """Maximize ``sum_v tr(U_v' L_v U_v) + weight sum_{v<w} |U_v' U_w|^2``, round by round; all weights are equal."""
    L, views = start_views(operators, initial)
    while True:
        for v in range(len(L)):
            others = [(weights[v], view) for w, view in enumerate(views) if w != v]
            views[v] = pull_view(L, v, views[v], others, rng)
        pairs = sum(weights[0] * float(np.sum((a.U.T @ b.U) ** 2)) for a, b in combinations(views, 2))
        yield CoRegularizedState(list(views), None, sum_view_terms(L, views) + pairs)


def run_centroid(
    operators: Sequence[Operator],
    initial: Sequence[InitialEmbedding],
    weights: Sequence[float],
    rng: np.random.Generator,
) -> Iterator[CoRegularizedState]:
    """Maximize ``sum_v tr(U_v' L_v U_v) + sum_v weight_v |U_v' U*|^2``, round by round."""
    L, views = start_views(operators, initial)
    k = initial[0].U.shape[1]
    while True:
        centroid = compute_centroid(views, weights, k)
        for v in range(len(L)):
            views[v] = pull_view(L, v, views[v], [(weights[v], centroid)], rng)
        centroid = compute_centroid(views, weights, k)
        pulls = sum(
            weight * float(np.sum((view.U.T @ centroid.U) ** 2)) for weight, view in zip(weights, views, strict=True)
        )
        yield CoRegularizedState(list(views), centroid, sum_view_terms(L, views) + pulls)


def start_views(
    operators: Sequence[Operator], initial: Sequence[InitialEmbedding]
) -> tuple[list[NormalizedSimilarities], list[CoRegularizedVectors]]:
    """Return each view's normalized similarities and initial eigenvectors."""
    views = []
    for v, view in enumerate(initial):
        recipe = [np.zeros_like(view.U) for _ in operators]
        recipe[v] = divide_by_values(view.U, view.values)
        views.append(CoRegularizedVectors(view.U, view.values, recipe))
    return [NormalizedSimilarities.of(K) for K in operators], views


def pull_view(
    L: Sequence[NormalizedSimilarities],
    v: int,
    vectors: CoRegularizedVectors,
    others: Sequence[tuple[float, CoRegularizedVectors]],
    rng: np.random.Generator,
) -> CoRegularizedVectors:
    """Compute the leading eigenvectors of ``L_v + sum weight W W'``, W being those of the others."""
    n, k = vectors.U.shape

    def multiply(X: np.ndarray) -> np.ndarray:
        return sum((weight * (other.U @ (other.U.T @ X)) for weight, other in others), L[v] @ X)

    guard = rng.standard_normal((n, min(N_GUARD_VECTORS, n - k))).astype(vectors.U.dtype)
    # the next round moves them much farther
    tolerance = max(PULL_TOLERANCE, float(np.finfo(guard.dtype).eps) ** 0.75)
    top = top_eigenvectors(multiply, np.hstack([vectors.U, guard]), k, tolerance=tolerance)
    values, U = zero_null_eigenvectors(top.values, top.vectors)
    turns = [(weight * (other.U.T @ U), other) for weight, other in others]
    recipe = [
        divide_by_values(
            sum((other.recipe[w] @ turn for turn, other in turns), U if w == v else np.zeros_like(U)), values
        )
        for w in range(len(L))
    ]
    return CoRegularizedVectors(U, values, recipe)


def compute_centroid(views: Sequence[CoRegularizedVectors], weights: Sequence[float], k: int) -> CoRegularizedVectors:
    """Compute the leading eigenvectors of ``sum_v weight_v U_v U_v'`` from the thin matrix of all U_v side by side."""
    stacked = np.hstack([weight**0.5 * view.U for weight, view in zip(weights, views, strict=True)])
    U, sizes, _ = scipy.linalg.svd(stacked, full_matrices=False)
    values, U = zero_null_eigenvectors(sizes[:k] ** 2, U[:, :k])
    turns = [weight * (view.U.T @ U) for weight, view in zip(weights, views, strict=True)]
    recipe = [
        divide_by_values(sum(view.recipe[w] @ turn for view, turn in zip(views, turns, strict=True)), values)
        for w in range(len(views))
    ]
    return CoRegularizedVectors(U, values, recipe)


def divide_by_values(U: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Divide columns by their eigenvalues; zeros if the eigenvalue is zero."""
    return (U / np.where(values != 0, values, np.inf)).astype(U.dtype)


def sum_view_terms(L: Sequence[NormalizedSimilarities], views: Sequence[CoRegularizedVectors]) -> float:
    """Sum how well the vectors of each view fit its similarities."""
    return float(sum(np.sum(view.U * (normalized @ view.U)) for normalized, view in zip(L, views, strict=True)))
