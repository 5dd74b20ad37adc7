"""Convex mixture models: single view (Lashkari & Golland 2008), multi-view (Tzortzis & Likas 2009), weighted (2010).

Every entity is a component in every view, ``f_j^v(x) = C_v(x) exp(-beta^v d_v(x, x_j))``; only the proportions q_j,
which all views share, and the weights of the views are learned. Where the paper updates q repeatedly (Eqs 3, 7, 13), q
is solved for to a certified gap, unless the paper's updates and their stopping rule are asked for.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from itertools import islice, pairwise
from operator import add
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize

from ..._tuning import Tuning
from ...arrays import Array, KernelMatrix, asarray_like, is_on_host, keep_where, machine_epsilon, namespace, to_numpy
from ...arrays.namespace import concat_blocks
from .components import as_float64, divide_weights, expand_to_all, log_sum_exp, number_present, replace_nonpositive
from .proportions import Proportions, iterate_proportions, iterate_updates, mixture_proportions

MAX_SOLVER_ROUNDS = 1000  # within a round of the view weights
tuning = Tuning(
    max_updates=100_000,  # the paper's, within a round of the view weights
    float32_span=256,  # products of float32 numbers that a device sums in float32
)
NEWTON_STEPS = 10  # for view weights at their lower bound
FLOOR_ERROR = 1e-12  # by which such a weight may be too low


@dataclass(frozen=True, eq=False)
class ViewLikelihoods:
    """Likelihoods in one view of its entities under each other."""

    matrix: KernelMatrix
    entities: np.ndarray  # positions of the entities that have the view
    n_entities: int  # number of all entities

    def __matmul__(self, q: Array) -> Array:
        view_q = self.select(q)
        return concat_blocks(self.matrix.map_tiles(lambda _, tile: multiply_tile(tile, view_q), whole=True))

    def multiply_twice(self, v: Array, weights: Array, divide: bool) -> tuple[Array, Array]:
        view_v = self.select(v)
        parts = self.matrix.map_tiles(
            lambda rows, tile: multiply_tile_twice(tile, view_v, weights[rows], divide), whole=True
        )
        products, sums = zip(*parts, strict=True)
        return concat_blocks(products), self.expand(reduce(add, sums), 0.0)

    def multiply_transposed(self, r: Array) -> Array:
        products = self.matrix.map_tiles(lambda rows, tile: multiply_transposed_tile(r[rows], tile), whole=True)
        return self.expand(reduce(add, products), 0.0)

    def squared_sums(self, r: Array) -> Array:
        products = self.matrix.map_tiles(lambda rows, tile: multiply_squared_tile(r[rows], tile))
        return self.expand(reduce(add, products), 0.0)

    def columns(self, components: np.ndarray) -> Array:
        """Likelihoods under some entities; zero under those that lack the view."""
        present = np.isin(components, self.entities)
        positions = np.searchsorted(self.entities, components[present])
        if self.matrix.cached:  # take the entries of the table, to the last bit
            taken = asarray_like(positions, self.matrix.left.X)
            tiles = self.matrix.map_tiles(lambda _, tile: namespace(tile).take(tile, taken, axis=1), whole=True)
            columns = as_float64(concat_blocks(tiles))
        else:
            columns = as_float64(self.matrix.columns(positions))
        return columns if present.all() else expand_to_all(columns, number_present(present), 0.0, axis=1)

    def select(self, values: Array) -> Array:
        """Select the values of the entities that have the view."""
        if self.is_complete:
            return values
        return namespace(values).take(values, self._positions)

    def expand(self, values: Array, fill: float) -> Array:
        """Expand values of the entities that have the view to all entities."""
        return values if self.is_complete else expand_to_all(values, self._numbers, fill)

    @property
    def is_complete(self) -> bool:
        """Whether all entities have the view."""
        return len(self.entities) == self.n_entities

    @cached_property
    def _positions(self) -> Array:
        return asarray_like(self.entities, self.matrix.left.X)

    @cached_property
    def _numbers(self) -> Array:
        present = np.zeros(self.n_entities, dtype=bool)
        present[self.entities] = True
        return asarray_like(number_present(present), self.matrix.left.X)


def is_float32_on_device(tile: Array) -> bool:
    """Whether a tile is multiplied in float32; others are multiplied in float64."""
    return not is_on_host(tile) and tile.dtype != namespace(tile).float64


def multiply_tile_twice(tile: Array, v: Array, weights: Array, divide: bool) -> tuple[Array, Array]:
    """Compute ``s = tile @ v`` and ``(weights * s) @ tile``, or ``(weights / s) @ tile``, summed in float64."""
    if is_on_host(tile):
        from .kernels import multiply_table_twice

        return multiply_table_twice(tile, v, weights, divide)
    s = multiply_tile(tile, v)
    return s, multiply_transposed_tile(divide_weights(weights, s) if divide else weights * s, tile)


def multiply_tile(tile: Array, vector: Array) -> Array:
    """Compute ``tile @ vector``, summed in float64.

    A copy in float64 would cost more than the product. So the host converts numbers as it multiplies them; on a device
    float32 numbers are multiplied as they are, and the sums of short spans are added up in float64.
    """
    xp = namespace(tile)
    if is_on_host(tile):
        from .kernels import multiply_table

        products = np.empty(len(tile))
        multiply_table(tile, vector, products)
        return products
    if not is_float32_on_device(tile):
        return as_float64(tile) @ vector
    unit, vector = scale_to_largest(vector, tile)
    n, whole = tile.shape[0], tile.shape[1] // tuning.float32_span * tuning.float32_span
    n_spans = whole // tuning.float32_span
    spans = xp.permute_dims(xp.reshape(tile[:, :whole], (n, n_spans, tuning.float32_span)), (1, 0, 2))
    sums = spans @ xp.reshape(vector[:whole], (n_spans, tuning.float32_span, 1))
    return unit * (xp.sum(sums[:, :, 0], axis=0, dtype=xp.float64) + as_float64(tile[:, whole:] @ vector[whole:]))


def multiply_transposed_tile(vector: Array, tile: Array) -> Array:
    """Compute ``vector @ tile``, summed in float64 as in `multiply_tile`."""
    xp = namespace(tile)
    if is_on_host(tile):
        from .kernels import add_rows

        sums = np.zeros(tile.shape[1])
        add_rows(vector, tile, sums)
        return sums
    if not is_float32_on_device(tile):
        return vector @ as_float64(tile)
    unit, vector = scale_to_largest(vector, tile)
    whole, m = tile.shape[0] // tuning.float32_span * tuning.float32_span, tile.shape[1]
    n_spans = whole // tuning.float32_span
    spans = xp.reshape(tile[:whole, :], (n_spans, tuning.float32_span, m))
    sums = xp.reshape(vector[:whole], (n_spans, 1, tuning.float32_span)) @ spans
    return unit * (xp.sum(sums[:, 0, :], axis=0, dtype=xp.float64) + as_float64(vector[whole:] @ tile[whole:, :]))


def multiply_squared_tile(vector: Array, tile: Array) -> Array:
    """Compute ``vector @ tile**2``, summed in float64 as in `multiply_tile`."""
    if not is_on_host(tile):
        return multiply_transposed_tile(vector, tile**2)
    from .kernels import add_squared_rows

    sums = np.zeros(tile.shape[1])
    add_squared_rows(vector, tile, sums)
    return sums


def scale_to_largest(vector: Array, tile: Array) -> tuple[Array, Array]:
    """Return the largest number, and all numbers divided by it in the tile's dtype, which they might overflow."""
    xp = namespace(vector)
    unit = replace_nonpositive(xp.max(xp.abs(vector)))
    return unit, xp.astype(vector / unit, tile.dtype)


@dataclass(frozen=True, eq=False)
class StackedLikelihoods:
    """The views' likelihoods stacked, (entities of each view, entities): a `LikelihoodMatrix`."""

    views: Mapping[str, ViewLikelihoods]
    n_entities: int

    @cached_property
    def row_ranges(self) -> list[slice]:
        """The rows of each view."""
        ends = np.cumsum([0, *(len(view.entities) for view in self.views.values())]).tolist()
        return [slice(a, b) for a, b in pairwise(ends)]

    @property
    def shape(self) -> tuple[int, int]:
        return self.row_ranges[-1].stop, self.n_entities

    @property
    def reference(self) -> Array:
        """An array of the library, and on the device, of the likelihoods."""
        return next(iter(self.views.values())).matrix.left.X

    @property
    def noise(self) -> float:
        """Rounding error of a mean log-likelihood: on a device, products of float32 numbers are in float32."""
        return 0.0 if is_on_host(self.reference) else max(machine_epsilon(v.matrix.left.X) for v in self.views.values())

    def __matmul__(self, q: Array) -> Array:
        return concat_blocks(view @ q for view in self.views.values())

    def multiply_twice(self, v: Array, weights: Array, divide: bool) -> tuple[Array, Array]:
        parts = [view.multiply_twice(v, weights[rows], divide) for view, rows in self.pair_with_rows()]
        if len(parts) == 1:
            return parts[0]
        products, sums = zip(*parts, strict=True)
        return concat_blocks(products), reduce(add, sums)

    @property
    def T(self) -> TransposedLikelihoods:
        return TransposedLikelihoods(self)

    def squared_sums(self, r: Array) -> Array:
        return reduce(add, (view.squared_sums(r[rows]) for view, rows in self.pair_with_rows()))

    def columns(self, components: np.ndarray) -> Array:
        return concat_blocks(view.columns(components) for view in self.views.values())

    def unstack(self, values: Array, fill: float) -> Array:
        """Convert values of the stacked rows to a table: (entities, views)."""
        columns = [view.expand(values[rows], fill) for view, rows in self.pair_with_rows()]
        return namespace(values).stack(columns, axis=1)

    def stack(self, table: Array) -> Array:
        """Convert a table (entities, views) to values of the stacked rows."""
        return concat_blocks(view.select(table[:, v]) for v, view in enumerate(self.views.values()))

    def pair_with_rows(self) -> Iterator[tuple[ViewLikelihoods, slice]]:
        return zip(self.views.values(), self.row_ranges, strict=True)


class TransposedLikelihoods(NamedTuple):
    """The transpose of stacked likelihoods."""

    stacked: StackedLikelihoods

    def __matmul__(self, r: Array) -> Array:
        return reduce(add, (view.multiply_transposed(r[rows]) for view, rows in self.stacked.pair_with_rows()))


@dataclass(frozen=True, eq=False)
class ConvexState:
    """State after a round: proportions, view weights, and how good they are."""

    q: Array  # (entities,) the proportions
    log_weights: np.ndarray  # (views,) of the views in a mixture of views; not normalized
    weights: np.ndarray  # (views,) share of the entities that each view explains
    names: tuple[str, ...]
    log_likelihood: float  # mean over entities
    gap: float
    settled: bool
    comparable: bool = True

    @property
    def costs(self) -> dict[str, float]:
        return {"all": -self.log_likelihood}

    @property
    def record(self) -> dict[str, float]:
        n_exemplars = int(namespace(self.q).count_nonzero(self.q))
        weights = {f"weight_{name}": float(weight) for name, weight in zip(self.names, self.weights, strict=True)}
        return {"log_likelihood": self.log_likelihood, "gap": self.gap, "exemplars": n_exemplars, **weights}


@dataclass(frozen=True, eq=False)
class MixtureProblem:
    """Likelihoods, start and tolerances of a mixture."""

    A: StackedLikelihoods
    log_C: Array  # (stacked rows,) log of the normalizer
    start: np.ndarray  # (views,) weights to start from
    gap: float  # gap of the proportions to reach
    min_rise: float  # rise of the mean log-likelihood above which EM continues
    min_weight: float  # smallest weight of a view
    inner_tol: float | None = None  # change of q that ends the paper's updates; None: Newton's method reaches the gap


def solve_with_uniform_weights(problem: MixtureProblem) -> Iterator[ConvexState]:
    """Give all views the same weight (Eqs 1 and 6): convex. Yields one state per round of the solver.

    The last state is settled: its gap is reached, or as small as rounding allows, or the updates have ended.
    """
    A, n_views = problem.A, len(problem.A.views)
    w, q = (asarray_like(np.full(n, 1 / n), A.reference) for n in A.shape)
    weights, names = np.full(n_views, 1 / n_views), tuple(A.views)
    state = None
    tol = problem.inner_tol
    for result in iterate_proportions(A, w, q) if tol is None else iterate_updates(A, w, q, tol):
        log_likelihood = result.objective * A.shape[0] / A.n_entities  # summed over the views
        reached = result.gap <= problem.gap if tol is None else result.converged
        state = ConvexState(result.q, np.log(weights), weights, names, log_likelihood, result.gap, reached)
        yield state
    assert state is not None, "there is at least one round"
    yield replace(state, settled=True)


def solve_with_learned_weights(problem: MixtureProblem) -> Iterator[ConvexState]:
    """Learn the weights of the views by EM (Algorithm 1). Yields one state per round."""
    A, names = problem.A, tuple(problem.A.views)
    q = asarray_like(np.full(A.n_entities, 1 / A.n_entities), A.reference)
    scores = compute_log_joint(problem, q, problem.start)
    P, _ = compute_view_posteriors(scores, problem.min_weight)  # E-step, Eq 11
    bound = compute_bound(scores, P)
    while True:
        weights = compute_column_means(P)  # M-step, Eq 12
        result = solve_proportions(problem, A.stack(P), q)  # Eq 13
        q = result.q
        scores = compute_log_joint(problem, q, weights)
        P, lift = compute_view_posteriors(scores, problem.min_weight)  # the next E-step
        before, bound = bound, compute_bound(scores, P)
        is_solved = len(weights) == 1 and problem.inner_tol is None  # a second round would change nothing
        has_ended = problem.inner_tol is None or result.converged  # not by the limit of updates
        settled = is_solved or (has_ended and bound - before <= problem.min_rise)
        yield ConvexState(q, take_log(weights) + lift, weights, names, bound, result.gap, settled)


def solve_proportions(problem: MixtureProblem, w: Array, q: Array) -> Proportions:
    """Solve for the proportions, given how much each view counts for each entity: the inner loop of Algorithm 1."""
    if problem.inner_tol is None:
        return mixture_proportions(problem.A, w, start=q, tol=problem.gap, max_iter=MAX_SOLVER_ROUNDS)
    w = w / namespace(w).sum(w)
    return deque(islice(iterate_updates(problem.A, w, q, problem.inner_tol), tuning.max_updates), maxlen=1).pop()


def compute_log_joint(problem: MixtureProblem, q: Array, weights: np.ndarray) -> Array:
    """Compute log pi^v C(x) Q^v(x), minus infinity where an entity lacks the view: (entities, views)."""
    log_density = take_log(problem.A @ q) + problem.log_C
    return problem.A.unstack(log_density, -np.inf) + asarray_like(take_log(weights), problem.log_C)


def take_log(values: Array) -> Array:
    """Take logarithms; that of zero is minus infinity."""
    with np.errstate(divide="ignore"):
        return namespace(values).log(values)


def compute_column_means(table: Array) -> np.ndarray:
    """Compute the mean of each column, on the host."""
    return to_numpy(namespace(table).mean(table, axis=0))


def compute_view_posteriors(scores: Array, min_weight: float) -> tuple[Array, np.ndarray]:
    """Compute which view explains each entity, (entities, views), no view with a mean below `min_weight`.

    Of all such tables this is the nearest to the posterior (posterior regularization, Ganchev et al. 2010): the
    posterior with the log-weights of the views lifted by the second result. For a view that only some entities have,
    the lower bound is `min_weight` times their share.
    """
    P = softmax(scores)
    floors = min_weight * compute_column_means(as_float64(namespace(scores).isfinite(scores)))
    if (compute_column_means(P) >= floors).all():
        return P, np.zeros(len(floors))
    lift = compute_lift(scores, floors)
    return softmax(scores + asarray_like(lift, scores)), lift


def softmax(scores: Array) -> Array:
    """Normalize the exponentials of each row; uniform where all scores are minus infinity."""
    xp = namespace(scores)
    top = xp.max(scores, axis=1, keepdims=True)
    possible = xp.isfinite(top)
    exponentials = xp.exp(keep_where(possible, scores, 0.0) - keep_where(possible, top, 0.0))
    return exponentials / xp.sum(exponentials, axis=1, keepdims=True)


def compute_lift(scores: Array, floors: np.ndarray) -> np.ndarray:
    """Compute what to add to the scores of each view, zero or more, so that no view is below its floor.

    The dual of the projection is convex with one variable per view: ``mean logsumexp(scores + lift) - floors @ lift``.
    It is flat where posteriors are all zero or one, so L-BFGS comes before the Newton steps, which would not leave such
    a region.
    """
    xp = namespace(scores)
    finite = xp.isfinite(scores)
    n_finite = np.maximum(to_numpy(xp.sum(as_float64(finite), axis=0)), 1)  # a view may have no finite score at all
    mean_scores = to_numpy(xp.sum(keep_where(finite, scores, 0.0), axis=0)) / n_finite
    below_floor = compute_column_means(softmax(scores)) < floors
    start = np.where(below_floor, mean_scores.max() - mean_scores, 0.0)  # posteriors there are not all zero or one

    def dual(lift: np.ndarray) -> tuple[float, np.ndarray]:
        lifted = scores + asarray_like(lift, scores)
        return float(xp.mean(log_sum_exp(lifted))) - floors @ lift, compute_column_means(softmax(lifted)) - floors

    options = {"ftol": 0.0, "gtol": FLOOR_ERROR, "maxiter": MAX_SOLVER_ROUNDS}
    lift = minimize(dual, start, jac=True, method="L-BFGS-B", bounds=[(0, None)] * len(start), options=options).x
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
    """Compute the lower bound that EM maximizes; the mean log-likelihood (Eq 10) if P is the exact posterior."""
    xp = namespace(P)
    explains = P > 0
    terms = P * (keep_where(explains, scores, 0.0) - xp.log(keep_where(explains, P, 1.0)))
    return float(xp.mean(xp.sum(terms, axis=1)))
