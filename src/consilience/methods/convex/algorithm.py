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
from operator import add

import numpy as np
from scipy.optimize import minimize

from ...arrays import Array, KernelMatrix, asarray_like, is_on_host, keep_where, machine_epsilon, namespace, to_numpy
from ...arrays.pairwise import concat_blocks
from .components import as_float64, expand_to_all, log_sum_exp, number_present, replace_nonpositive
from .proportions import iterate_proportions, mixture_proportions

MAX_SOLVER_ROUNDS = 1000  # of the solver, within a round of the weights
NEWTON_STEPS = 10  # for weights that are held up
FLOOR_ERROR = 1e-12  # that such a weight may be too low by
FLOAT32_SPAN = 256  # products of float32 numbers that a device adds up as such


@dataclass(frozen=True, eq=False)
class ViewLikelihoods:
    """One view: the likelihood of the entities that have it under each other."""

    matrix: KernelMatrix
    entities: np.ndarray  # who has the view, by position
    n_entities: int  # all there are

    def __matmul__(self, q: Array) -> Array:
        own = self.taken(q)
        return concat_blocks(self.matrix.map_tiles(lambda _, tile: multiply_tile(tile, own), whole=True))

    def transposed(self, r: Array) -> Array:
        found = reduce(
            add, self.matrix.map_tiles(lambda rows, tile: multiply_transposed_tile(r[rows], tile), whole=True)
        )
        return self.spread(found, 0.0)

    def squared_sums(self, r: Array) -> Array:
        found = reduce(
            add, self.matrix.map_tiles(lambda rows, tile: multiply_transposed_tile(r[rows], square_tile(tile)))
        )
        return self.spread(found, 0.0)

    def columns(self, components: np.ndarray) -> Array:
        """The likelihoods under some entities; under those that lack the view there are none, but zeros."""
        there = np.isin(components, self.entities)
        found = as_float64(self.known_columns(np.searchsorted(self.entities, components[there])))
        return found if there.all() else expand_to_all(found, number_present(there), 0.0, axis=1)

    def known_columns(self, chosen: np.ndarray) -> Array:
        """Of a table that is held its own entries, to the last bit; a table that is not is computed in part."""
        if not self.matrix.cached:
            return self.matrix.columns(chosen)
        at = asarray_like(chosen, self.matrix.left.X)
        return concat_blocks(self.matrix.map_tiles(lambda _, tile: namespace(tile).take(tile, at, axis=1), whole=True))

    def taken(self, values: Array) -> Array:
        """The numbers of those that have the view."""
        return namespace(values).take(values, self._positions)

    def spread(self, values: Array, otherwise: float) -> Array:
        """The other way round."""
        return expand_to_all(values, self._places, otherwise)

    @cached_property
    def _positions(self) -> Array:
        """Who has the view, where the likelihoods are."""
        return asarray_like(self.entities, self.matrix.left.X)

    @cached_property
    def _places(self) -> Array:
        """Where they are among those that have the view, likewise."""
        there = np.zeros(self.n_entities, dtype=bool)
        there[self.entities] = True
        return asarray_like(number_present(there), self.matrix.left.X)


def multiply_tile(tile: Array, thin: Array) -> Array:
    """``tile @ thin``, summed up in float64.

    A device would spend more on a copy in float64 than on the product. It multiplies float32 numbers as they are, and
    every few products that it has added up go on in float64.
    """
    xp = namespace(tile)
    if isinstance(tile, np.ndarray) or tile.dtype == xp.float64:
        return as_float64(tile) @ thin
    unit, thin = scale_to_largest(thin, tile)
    n, whole = tile.shape[0], tile.shape[1] // FLOAT32_SPAN * FLOAT32_SPAN
    spans = xp.permute_dims(xp.reshape(tile[:, :whole], (n, whole // FLOAT32_SPAN, FLOAT32_SPAN)), (1, 0, 2))
    sums = spans @ xp.reshape(thin[:whole], (whole // FLOAT32_SPAN, FLOAT32_SPAN, 1))
    return unit * (xp.sum(sums[:, :, 0], axis=0, dtype=xp.float64) + as_float64(tile[:, whole:] @ thin[whole:]))


def multiply_transposed_tile(thin: Array, tile: Array) -> Array:
    """``thin @ tile``, in the same way."""
    xp = namespace(tile)
    if isinstance(tile, np.ndarray) or tile.dtype == xp.float64:
        return thin @ as_float64(tile)
    unit, thin = scale_to_largest(thin, tile)
    whole, m = tile.shape[0] // FLOAT32_SPAN * FLOAT32_SPAN, tile.shape[1]
    spans = xp.reshape(tile[:whole, :], (whole // FLOAT32_SPAN, FLOAT32_SPAN, m))
    sums = xp.reshape(thin[:whole], (whole // FLOAT32_SPAN, 1, FLOAT32_SPAN)) @ spans
    return unit * (xp.sum(sums[:, 0, :], axis=0, dtype=xp.float64) + as_float64(thin[whole:] @ tile[whole:, :]))


def scale_to_largest(thin: Array, tile: Array) -> tuple[Array, Array]:
    """The largest number, and all as parts of it in the type of the tile: as they are they might overflow that."""
    xp = namespace(thin)
    unit = replace_nonpositive(xp.max(xp.abs(thin)))
    return unit, xp.astype(thin / unit, tile.dtype)


def square_tile(tile: Array) -> Array:
    """Squared likelihoods; numpy's in float64."""
    return as_float64(tile) ** 2 if isinstance(tile, np.ndarray) else tile**2


@dataclass(frozen=True, eq=False)
class StackedLikelihoods:
    """The views' likelihoods one above the other: (entities of each view, entities). Components of a mixture."""

    views: Mapping[str, ViewLikelihoods]
    n_entities: int

    @cached_property
    def parts(self) -> list[slice]:
        """The rows of each view."""
        ends = np.cumsum([0, *(len(view.entities) for view in self.views.values())]).tolist()
        return [slice(a, b) for a, b in pairwise(ends)]

    @property
    def shape(self) -> tuple[int, int]:
        return self.parts[-1].stop, self.n_entities

    @property
    def kind(self) -> Array:
        """Rows of the kind, and on the device, that the likelihoods are."""
        return next(iter(self.views.values())).matrix.left.X

    @property
    def noise(self) -> float:
        """What rounding may do to a mean log-likelihood: products of float32 numbers on a device are of that type."""
        return (
            0.0 if is_on_host(self.kind) else max(machine_epsilon(view.matrix.left.X) for view in self.views.values())
        )

    def __matmul__(self, q: Array) -> Array:
        return concat_blocks(view @ q for view in self.views.values())

    @property
    def T(self) -> TransposedLikelihoods:
        return TransposedLikelihoods(self)

    def squared_sums(self, r: Array) -> Array:
        return reduce(add, (view.squared_sums(r[rows]) for view, rows in self.with_parts()))

    def columns(self, components: np.ndarray) -> Array:
        return concat_blocks(view.columns(components) for view in self.views.values())

    def by_view(self, values: Array, otherwise: float) -> Array:
        """Numbers of the stacked rows as a table: (entities, views)."""
        spread = [view.spread(values[rows], otherwise) for view, rows in self.with_parts()]
        return namespace(values).stack(spread, axis=1)

    def stacked(self, table: Array) -> Array:
        """The other way round."""
        return concat_blocks(view.taken(table[:, v]) for v, view in enumerate(self.views.values()))

    def with_parts(self) -> Iterator[tuple[ViewLikelihoods, slice]]:
        return zip(self.views.values(), self.parts, strict=True)


@dataclass(frozen=True, eq=False)
class TransposedLikelihoods:
    """The same, transposed."""

    stack: StackedLikelihoods

    def __matmul__(self, r: Array) -> Array:
        return reduce(add, (view.transposed(r[rows]) for view, rows in self.stack.with_parts()))


@dataclass(frozen=True, eq=False)
class ConvexState:
    """After a round: shares, weights, and how good they are."""

    q: Array  # (entities,) the shares
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
        exemplars = int(namespace(self.q).count_nonzero(self.q))
        found = {"log_likelihood": self.log_likelihood, "gap": self.gap, "exemplars": exemplars}
        return found | {f"weight_{name}": float(weight) for name, weight in zip(self.names, self.weights, strict=True)}


@dataclass(frozen=True, eq=False)
class MixtureProblem:
    """What is given."""

    A: StackedLikelihoods
    log_C: Array  # (stacked rows,) log of the normaliser
    start: np.ndarray  # (views,) weights to start from
    gap: float  # to reach
    rise: float  # of the mean log-likelihood, beyond which EM goes on
    least: float  # weight of a view


def solve_with_uniform_weights(given: MixtureProblem) -> Iterator[ConvexState]:
    """All views count the same (Eqs 1 and 6): convex, one state a round of the solver.

    The last state is settled: its gap is reached, or as small as rounding lets it be.
    """
    A, n_views = given.A, len(given.A.views)
    w, q = (asarray_like(np.full(n, 1 / n), A.kind) for n in A.shape)
    equal, names = np.full(n_views, 1 / n_views), tuple(A.views)
    state = None
    for found in iterate_proportions(A, w, q):
        log_likelihood = found.objective * A.shape[0] / A.n_entities  # a sum over the views
        state = ConvexState(found.q, np.log(equal), equal, names, log_likelihood, found.gap, found.gap <= given.gap)
        yield state
    assert state is not None, "there is at least one round"
    yield replace(state, settled=True)


def solve_with_learned_weights(given: MixtureProblem) -> Iterator[ConvexState]:
    """EM for the weights of the views (Algorithm 1): one state a round."""
    A, names = given.A, tuple(given.A.views)
    q = asarray_like(np.full(A.n_entities, 1 / A.n_entities), A.kind)
    scores = compute_log_joint(given, q, given.start)
    P, _ = compute_view_posteriors(scores, given.least)  # E-step, Eq 11
    reached = compute_bound(scores, P)
    while True:
        weights = compute_column_means(P)  # M-step, Eq 12
        found = mixture_proportions(
            A, A.stacked(P), start=q, tol=given.gap, max_iter=MAX_SOLVER_ROUNDS
        )  # M-step, Eq 13
        q = found.q
        scores = compute_log_joint(given, q, weights)
        P, lift = compute_view_posteriors(scores, given.least)  # the next E-step
        before, reached = reached, compute_bound(scores, P)
        settled = len(weights) == 1 or reached - before <= given.rise
        yield ConvexState(q, take_log(weights) + lift, weights, names, reached, found.gap, settled)


def compute_log_joint(given: MixtureProblem, q: Array, weights: np.ndarray) -> Array:
    """Log of pi^v C(x) Q^v(x), minus infinity where an entity lacks the view: (entities, views)."""
    return given.A.by_view(take_log(given.A @ q) + given.log_C, -np.inf) + asarray_like(take_log(weights), given.log_C)


def take_log(values: Array) -> Array:
    """Logarithms; that of zero is minus infinity."""
    with np.errstate(divide="ignore"):
        return namespace(values).log(values)


def compute_column_means(table: Array) -> np.ndarray:
    """A number a view, fetched."""
    return to_numpy(namespace(table).mean(table, axis=0))


def compute_view_posteriors(scores: Array, least: float) -> tuple[Array, np.ndarray]:
    """Which view explains each entity, none of them less than a share `least` of all: (entities, views).

    Of all such tables it is the one nearest to Bayes's (posterior regularisation, Ganchev et al. 2010): Bayes's with
    the logarithm of a view's weight lifted, which comes too. A view that few entities have need not explain more than
    that share of them.
    """
    P = softmax(scores)
    floors = least * compute_column_means(as_float64(namespace(scores).isfinite(scores)))
    if (compute_column_means(P) >= floors).all():
        return P, np.zeros(len(floors))
    lift = compute_lift(scores, floors)
    return softmax(scores + asarray_like(lift, scores)), lift


def softmax(scores: Array) -> Array:
    """Exponentials of the scores, normalised to rows that sum to one; uniform where all scores are minus infinity."""
    xp = namespace(scores)
    top = xp.max(scores, axis=1, keepdims=True)
    possible = xp.isfinite(top)
    raised = xp.exp(keep_where(possible, scores, 0.0) - keep_where(possible, top, 0.0))
    return raised / xp.sum(raised, axis=1, keepdims=True)


def compute_lift(scores: Array, floors: np.ndarray) -> np.ndarray:
    """What to add to the scores of each view, zero or more, so that none has less than its floor.

    The dual of the projection is convex, with a variable a view: ``mean logsumexp(scores + lift) - floors @ lift``. It
    is flat where posteriors are all zero or one, which Newton's steps, that end it, would not leave.
    """
    xp = namespace(scores)
    finite = xp.isfinite(scores)
    n_finite = np.maximum(to_numpy(xp.sum(as_float64(finite), axis=0)), 1)  # a view may have no finite score at all
    middle = to_numpy(xp.sum(keep_where(finite, scores, 0.0), axis=0)) / n_finite
    short = compute_column_means(softmax(scores)) < floors
    start = np.where(short, middle.max() - middle, 0.0)  # near enough for posteriors that are not all zero or one

    def dual(lift: np.ndarray) -> tuple[float, np.ndarray]:
        raised = scores + asarray_like(lift, scores)
        return float(xp.mean(log_sum_exp(raised))) - floors @ lift, compute_column_means(softmax(raised)) - floors

    exactly = {"ftol": 0.0, "gtol": FLOOR_ERROR, "maxiter": MAX_SOLVER_ROUNDS}
    lift = minimize(dual, start, jac=True, method="L-BFGS-B", bounds=[(0, None)] * len(start), options=exactly).x
    best, error = lift, np.inf
    for _ in range(NEWTON_STEPS):
        P = softmax(scores + asarray_like(lift, scores))
        slope = compute_column_means(P) - floors
        free = (lift > 0) | (slope < 0)
        if np.abs(slope[free]).max(initial=0.0) >= error:
            break  # rounding leaves nothing to gain
        best, error = lift, np.abs(slope[free]).max(initial=0.0)
        curvature = np.diag(compute_column_means(P)) - to_numpy(P.T @ P) / P.shape[0]
        lift = lift.copy()
        lift[free] -= np.linalg.lstsq(curvature[np.ix_(free, free)], slope[free])[0]
        lift = np.maximum(lift, 0.0)
    return best


def compute_bound(scores: Array, P: Array) -> float:
    """Mean log-likelihood (Eq 10) where the posteriors are Bayes's; where they are not, what EM climbs instead."""
    xp = namespace(P)
    explains = P > 0
    terms = P * (keep_where(explains, scores, 0.0) - xp.log(keep_where(explains, P, 1.0)))
    return float(xp.mean(xp.sum(terms, axis=1)))
