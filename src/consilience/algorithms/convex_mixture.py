"""Convex mixture models: single view (Lashkari & Golland 2008), multi-view (Tzortzis & Likas 2009), weighted (2010).

Every entity is a component in every view, ``f_j^v(x) = C_v(x) exp(-beta^v d_v(x, x_j))``; only the shares q_j, which
all views have in common, and the weights of the views are learned. Where the paper updates q again and again (Eqs 3, 7,
13) the shares are solved for, to a certificate.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from itertools import pairwise

import numpy as np
from scipy.optimize import minimize
from scipy.special import logsumexp, softmax

from .._backend import Array, KernelMatrix, like, namespace, to_numpy
from .proportions import mixture_proportions, proportions

MOST_ROUNDS = 1000  # of the solver, within a round of the weights
NEWTON_STEPS = 10  # for weights that are held up
FLOOR_ERROR = 1e-12  # that such a weight may be too low by


@dataclass(frozen=True, eq=False)
class ViewComponents:
    """One view: the likelihood of the entities that have it under each other."""

    matrix: KernelMatrix
    entities: np.ndarray  # who has the view, by position

    def __matmul__(self, q: np.ndarray) -> np.ndarray:
        thin = like(q, self.matrix.left.X)
        return np.concatenate(list(self.matrix.over_tiles(lambda _, tile: to_numpy(wide(tile) @ thin))))

    def transposed(self, r: np.ndarray) -> np.ndarray:
        thin = like(r, self.matrix.left.X)
        return reduce(np.add, self.matrix.over_tiles(lambda rows, tile: to_numpy(thin[rows] @ wide(tile))))

    def squared_sums(self, r: np.ndarray) -> np.ndarray:
        thin = like(r, self.matrix.left.X)
        return reduce(np.add, self.matrix.over_tiles(lambda rows, tile: to_numpy(thin[rows] @ wide(tile) ** 2)))

    def columns(self, chosen: np.ndarray) -> np.ndarray:
        """Of a table that is held its own entries, to the last bit; a table that is not is computed in part."""
        if not self.matrix.held:
            return self.matrix.columns(chosen).astype(np.float64)
        parts = self.matrix.over_tiles(lambda _, tile: to_numpy(namespace(tile).take(tile, like(chosen, tile), axis=1)))
        return np.concatenate(list(parts)).astype(np.float64)


def wide(tile: Array) -> Array:
    """Likelihoods for sums in float64."""
    xp = namespace(tile)
    return xp.astype(tile, xp.float64, copy=False)


@dataclass(frozen=True, eq=False)
class AllViews:
    """The views' likelihoods one above the other: (entities of each view, entities). Components of a mixture."""

    views: Mapping[str, ViewComponents]
    n_entities: int

    @cached_property
    def parts(self) -> list[slice]:
        """The rows of each view."""
        ends = np.cumsum([0, *(len(view.entities) for view in self.views.values())])
        return [slice(a, b) for a, b in pairwise(ends)]

    @property
    def shape(self) -> tuple[int, int]:
        return self.parts[-1].stop, self.n_entities

    def __matmul__(self, q: np.ndarray) -> np.ndarray:
        return np.concatenate([view @ q[view.entities] for view in self.views.values()])

    @property
    def T(self) -> Upright:
        return Upright(self)

    def squared_sums(self, r: np.ndarray) -> np.ndarray:
        total = np.zeros(self.n_entities)
        for view, rows in zip(self.views.values(), self.parts, strict=True):
            total[view.entities] += view.squared_sums(r[rows])
        return total

    def columns(self, components: np.ndarray) -> np.ndarray:
        found = np.zeros((self.shape[0], len(components)))
        for view, rows in zip(self.views.values(), self.parts, strict=True):
            at = np.searchsorted(view.entities, components)
            there = np.isin(components, view.entities)
            found[rows, there] = view.columns(at[there])
        return found

    def by_view(self, values: np.ndarray, otherwise: float) -> np.ndarray:
        """Numbers of the stacked rows as a table: (entities, views)."""
        table = np.full((self.n_entities, len(self.views)), otherwise)
        for v, (view, rows) in enumerate(zip(self.views.values(), self.parts, strict=True)):
            table[view.entities, v] = values[rows]
        return table

    def stacked(self, table: np.ndarray) -> np.ndarray:
        """The other way round."""
        return np.concatenate([table[view.entities, v] for v, view in enumerate(self.views.values())])


@dataclass(frozen=True, eq=False)
class Upright:
    """The same, transposed."""

    stack: AllViews

    def __matmul__(self, r: np.ndarray) -> np.ndarray:
        total = np.zeros(self.stack.n_entities)
        for view, rows in zip(self.stack.views.values(), self.stack.parts, strict=True):
            total[view.entities] += view.transposed(r[rows])
        return total


@dataclass(frozen=True, eq=False)
class ConvexState:
    """After a round: shares, weights, and how good they are."""

    q: np.ndarray  # (entities,) the shares
    log_weights: np.ndarray  # (views,) of the views in a mixture of views; not normalised
    weights: np.ndarray  # (views,) the share of the entities that each view explains
    names: tuple[str, ...]
    log_likelihood: float  # a mean over entities
    gap: float
    settled: bool
    comparable: bool = True

    @property
    def costs(self) -> dict[str, float]:
        return {"all": -self.log_likelihood}

    @property
    def record(self) -> dict[str, float]:
        found = {"log_likelihood": self.log_likelihood, "gap": self.gap, "exemplars": int(np.count_nonzero(self.q))}
        return found | {f"weight_{name}": float(weight) for name, weight in zip(self.names, self.weights, strict=True)}


@dataclass(frozen=True, eq=False)
class Problem:
    """What is given."""

    A: AllViews
    log_C: np.ndarray  # (stacked rows,) log of the normaliser
    start: np.ndarray  # (views,) weights to start from
    gap: float  # to reach
    rise: float  # of the mean log-likelihood, beyond which EM goes on
    least: float  # weight of a view


def uniform(given: Problem) -> Iterator[ConvexState]:
    """All views count the same (Eqs 1 and 6): convex, one state a round of the solver.

    The last state is settled: its gap is reached, or as small as rounding lets it be.
    """
    A, n_views = given.A, len(given.A.views)
    w, q = (np.full(n, 1 / n) for n in A.shape)
    equal, names = np.full(n_views, 1 / n_views), tuple(A.views)
    state = None
    for found in proportions(A, w, q):
        log_likelihood = found.objective * A.shape[0] / A.n_entities  # a sum over the views
        state = ConvexState(found.q, np.log(equal), equal, names, log_likelihood, found.gap, found.gap <= given.gap)
        yield state
    assert state is not None, "there is at least one round"
    yield replace(state, settled=True)


def learned(given: Problem) -> Iterator[ConvexState]:
    """EM for the weights of the views (Algorithm 1): one state a round."""
    A, names = given.A, tuple(given.A.views)
    q = np.full(A.n_entities, 1 / A.n_entities)
    scores = log_joint(given, q, given.start)
    P, _ = posteriors(scores, given.least)  # E-step, Eq 11
    reached = bound(scores, P)
    while True:
        weights = P.mean(axis=0)  # M-step, Eq 12
        found = mixture_proportions(A, A.stacked(P), start=q, tol=given.gap, max_iter=MOST_ROUNDS)  # M-step, Eq 13
        q = found.q
        scores = log_joint(given, q, weights)
        P, lift = posteriors(scores, given.least)  # the next E-step
        before, reached = reached, bound(scores, P)
        settled = len(weights) == 1 or reached - before <= given.rise
        yield ConvexState(q, log(weights) + lift, weights, names, reached, found.gap, settled)


def log_joint(given: Problem, q: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Log of pi^v C(x) Q^v(x), minus infinity where an entity lacks the view: (entities, views)."""
    return given.A.by_view(log(given.A @ q) + given.log_C, -np.inf) + log(weights)


def log(values: np.ndarray) -> np.ndarray:
    """Logarithms; that of zero is minus infinity."""
    with np.errstate(divide="ignore"):
        return np.log(values)


def posteriors(scores: np.ndarray, least: float) -> tuple[np.ndarray, np.ndarray]:
    """Which view explains each entity, none of them less than a share `least` of all: (entities, views).

    Of all such tables it is the one nearest to Bayes's (posterior regularisation, Ganchev et al. 2010): Bayes's with
    the logarithm of a view's weight lifted, which comes too. A view that few entities have need not explain more than
    that share of them.
    """
    P = softmax(scores, axis=1)
    floors = least * np.isfinite(scores).mean(axis=0)
    if (P.mean(axis=0) >= floors).all():
        return P, np.zeros(len(floors))
    lift = lifted(scores, floors)
    return softmax(scores + lift, axis=1), lift


def lifted(scores: np.ndarray, floors: np.ndarray) -> np.ndarray:
    """What to add to the scores of each view, zero or more, so that none has less than its floor.

    The dual of the projection is convex, with a variable a view: ``mean logsumexp(scores + lift) - floors @ lift``. It
    is flat where posteriors are all zero or one, which Newton's steps, that end it, would not leave.
    """
    finite = np.isfinite(scores)
    middle = np.where(finite, scores, 0.0).sum(axis=0) / finite.sum(axis=0)
    short = softmax(scores, axis=1).mean(axis=0) < floors
    start = np.where(short, middle.max() - middle, 0.0)  # near enough for posteriors that are not all zero or one

    def dual(lift: np.ndarray) -> tuple[float, np.ndarray]:
        raised = scores + lift
        return float(logsumexp(raised, axis=1).mean() - floors @ lift), softmax(raised, axis=1).mean(axis=0) - floors

    exactly = {"ftol": 0.0, "gtol": FLOOR_ERROR, "maxiter": MOST_ROUNDS}
    lift = minimize(dual, start, jac=True, method="L-BFGS-B", bounds=[(0, None)] * len(start), options=exactly).x
    best, error = lift, np.inf
    for _ in range(NEWTON_STEPS):
        P = softmax(scores + lift, axis=1)
        slope = P.mean(axis=0) - floors
        free = (lift > 0) | (slope < 0)
        if np.abs(slope[free]).max(initial=0.0) >= error:
            break  # rounding leaves nothing to gain
        best, error = lift, np.abs(slope[free]).max(initial=0.0)
        curvature = np.diag(P.mean(axis=0)) - P.T @ P / len(P)
        lift = lift.copy()
        lift[free] -= np.linalg.lstsq(curvature[np.ix_(free, free)], slope[free])[0]
        lift = np.maximum(lift, 0.0)
    return best


def bound(scores: np.ndarray, P: np.ndarray) -> float:
    """Mean log-likelihood (Eq 10) where the posteriors are Bayes's; where they are not, what EM climbs instead."""
    explains = P > 0
    terms = np.zeros_like(P)
    terms[explains] = P[explains] * (scores[explains] - np.log(P[explains]))
    return float(terms.sum(axis=1).mean())
