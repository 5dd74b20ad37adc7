"""Co-regularised spectral clustering (Kumar, Rai & Daumé 2011): eigenvectors that pull each other together.

``L_v = D_v^-1/2 K_v D_v^-1/2`` is a view's normalised similarities. Each step replaces one set of eigenvectors by
those that are best given all others, so that the objective never falls. Only products with thin matrices are formed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import scipy.linalg

from .._saving import save_as
from ..affinities import Operator, compute_degrees
from ..methods.spectral.algorithm import InitialEmbedding, invert_sqrt_degrees, isolated_below, zero_null_eigenvectors
from ..methods.spectral.eigen import N_GUARD_VECTORS, top_eigenvectors


@save_as("co-regularized-eigenvectors")
@dataclass(frozen=True, eq=False)
class CoRegularizedVectors:
    """Eigenvectors, and how they come from the views' similarities alone.

    Every step is linear in the entities' similarities, and so are all steps together: an entity whose normalised
    similarities in view w are the row ``l_w`` lies at ``sum_w l_w recipe[w]``. That holds for the entities of the
    fit, and says where others belong.
    """

    U: np.ndarray  # (n, k)
    values: np.ndarray  # (k,)
    recipe: Sequence[np.ndarray]  # one (n, k) a view


@dataclass(frozen=True, eq=False)
class CoRegularizedState:
    """What a round leaves behind."""

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
    """A view's normalised similarities."""

    K: Operator | None
    root: np.ndarray  # (n, 1): D^-1/2
    least: float  # degree: who has no more is like nobody

    @classmethod
    def of(cls, K: Operator) -> NormalizedSimilarities:
        degree = compute_degrees(K)
        least = isolated_below(degree)
        return cls(K, invert_sqrt_degrees(degree, least).astype(K.dtype)[:, None], least)

    def __matmul__(self, U: np.ndarray) -> np.ndarray:
        assert self.K is not None
        return self.root * (self.K @ (self.root * U))


def run_pairwise(
    operators: Sequence[Operator], first: Sequence[InitialEmbedding], weights: Sequence[float], rng: np.random.Generator
) -> Iterator:
    """Maximise ``sum_v tr(U_v' L_v U_v) + weight sum_{v<w} |U_v' U_w|^2``: one round after the other.

    All weights are the same.
    """
    L, views = start_views(operators, first)
    while True:
        for v in range(len(L)):
            others = [(weights[v], view) for w, view in enumerate(views) if w != v]
            views[v] = pull_view(L, v, views[v], others, rng)
        pairs = sum(weights[0] * sum_squared_cosines(a, b) for a, b in combinations(views, 2))
        yield CoRegularizedState(list(views), None, sum_view_terms(L, views) + pairs)


def run_centroid(
    operators: Sequence[Operator], first: Sequence[InitialEmbedding], weights: Sequence[float], rng: np.random.Generator
) -> Iterator:
    """Maximise ``sum_v tr(U_v' L_v U_v) + sum_v weight_v |U_v' U*|^2``: one round after the other."""
    L, views = start_views(operators, first)
    k = first[0].U.shape[1]
    while True:
        middle = compute_centroid(views, weights, k)
        for v in range(len(L)):
            views[v] = pull_view(L, v, views[v], [(weights[v], middle)], rng)
        middle = compute_centroid(views, weights, k)
        pulls = sum(weight * sum_squared_cosines(view, middle) for weight, view in zip(weights, views, strict=True))
        yield CoRegularizedState(list(views), middle, sum_view_terms(L, views) + pulls)


def start_views(
    operators: Sequence[Operator], first: Sequence[InitialEmbedding]
) -> tuple[list[NormalizedSimilarities], list[CoRegularizedVectors]]:
    """Each view's own eigenvectors."""
    views = []
    for v, found in enumerate(first):
        recipe = [
            divide_by_values(found.U, found.values) if w == v else np.zeros_like(found.U) for w in range(len(operators))
        ]
        views.append(CoRegularizedVectors(found.U, found.values, recipe))
    return [NormalizedSimilarities.of(K) for K in operators], views


def pull_view(
    L: Sequence[NormalizedSimilarities],
    v: int,
    before: CoRegularizedVectors,
    others: Sequence[tuple[float, CoRegularizedVectors]],
    rng: np.random.Generator,
) -> CoRegularizedVectors:
    """The leading eigenvectors of ``L_v + sum weight W W'``, W being the others'."""
    n, k = before.U.shape

    def product(X: np.ndarray) -> np.ndarray:
        return sum((weight * (other.U @ (other.U.T @ X)) for weight, other in others), L[v] @ X)

    spare = rng.standard_normal((n, min(N_GUARD_VECTORS, n - k))).astype(before.U.dtype)
    found = top_eigenvectors(product, np.hstack([before.U, spare]), k)
    values, U = zero_null_eigenvectors(found.values, found.vectors)
    turns = [(weight * (other.U.T @ U), other) for weight, other in others]
    recipe = [
        divide_by_values(
            sum((other.recipe[w] @ turn for turn, other in turns), U if w == v else np.zeros_like(U)), values
        )
        for w in range(len(L))
    ]
    return CoRegularizedVectors(U, values, recipe)


def compute_centroid(views: Sequence[CoRegularizedVectors], weights: Sequence[float], k: int) -> CoRegularizedVectors:
    """The leading eigenvectors of ``sum_v weight_v U_v U_v'``, from the thin matrix of all U_v side by side."""
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
    """Columns by their eigenvalues; zeros where there is none."""
    return (U / np.where(values != 0, values, np.inf)).astype(U.dtype)


def sum_squared_cosines(a: CoRegularizedVectors, b: CoRegularizedVectors) -> float:
    """Sum of the squared cosines between two spaces."""
    return float(np.sum((a.U.T @ b.U) ** 2))


def sum_view_terms(L: Sequence[NormalizedSimilarities], views: Sequence[CoRegularizedVectors]) -> float:
    """How well each view's vectors serve the view itself, summed over the views."""
    return float(sum(np.sum(view.U * (own @ view.U)) for own, view in zip(L, views, strict=True)))
