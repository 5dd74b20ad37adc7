"""Mixture proportions of maximum likelihood for given components.

Maximize ``sum_i w_i log sum_j q_j A_ij`` over proportions q that sum to one: convex, usually with few q above zero. The
gradient ``g_j = sum_i w_i A_ij / Q_i`` certifies how close the maximum is: it is higher by at most ``max_j g_j - 1``.

Newton's method on a set of components that grows by those of steepest gradient (the constrained Newton method of Wang
2007; mixsqp of Kim et al. 2020 is similar) takes about ten rounds, each with one product with the matrix and a few of
its columns. If the solution is not sparse, the set would become too large. So if the points tell many components apart,
extrapolated updates come first (SQUAREM): they are fast until components have to leave. Newton steps over all
components then take over, by conjugate gradients, which need only products.

`iterate_updates` repeats the papers' multiplicative update instead, which converges slowly, until it changes little.

Arrays with one value per point or component stay on their device. The host has the small arrays: the set, its
proportions and, for every Newton step, the products of its columns.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce
from itertools import count
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..._numbers import is_real
from ..._tuning import Tuning
from ...arrays import Array, asarray_like, is_array, is_on_host, map_chunks, namespace, split_slice, to_numpy
from ...arrays.namespace import fetch_numbers
from .components import (
    LEAST_LIKELIHOOD,
    ROUNDING,
    SUBPROBLEM_GAP,
    SUFFICIENT_GAIN,
    LikelihoodMatrix,
    as_real_array,
    check_max_iter,
    compute_objective,
    divide_weights,
    replace_nonpositive,
    take_few_columns,
)
from .conjugate import take_conjugate_step
from .quadratic import minimize_nonnegative
from .updates import approach_dense_solution, estimate_n_components, evaluate_proportions, predict_support

MIN_NEW = 50  # components that may join per round; or as many as the set has, if these are more
SIMILAR = 0.9  # cosine above which one of two components has to wait for the next round
NEWTON_STEPS = 20
SHORTEST_STEP = 1e-8
tuning = Tuning(
    many=150,  # size of a set that should hold SPARSE_SHARE of the proportions, or the solution is not sparse
    dense_share=0.125,  # share of the components that, if the points tell so many apart, makes updates come first
    largest_set=500.0,  # squared size of a set over the number of components above which gradients are faster
    largest_table=1 << 26,  # values in the columns of a set
    chunk=1 << 20,  # values of a table that a thread handles at a time
)
SPARSE_SHARE = 0.75
SPARSE_START = 0.75  # share of the components that a sparse start may have
STALLED = 10  # rounds without progress after which rounding leaves nothing to gain


@dataclass(frozen=True, eq=False)
class Proportions:
    """Mixture proportions, and how close they are to the maximum."""

    q: Array  #: (components,) the proportions: nonnegative, they sum to one
    gap: float  #: the certificate: no proportions reach an objective higher by more than this
    objective: float  #: sum_i w_i log sum_j q_j A_ij
    n_iter: int  #: number of rounds
    converged: bool = False  #: whether the gap is within the tolerance


def mixture_proportions(
    likelihoods: Any, weights: Any = None, *, start: Any = None, tol: float = 1e-6, max_iter: int = 1000
) -> Proportions:
    """Find the proportions of given components that maximize the likelihood of given points.

    Parameters
    ----------
    likelihoods : array-like of shape (n_points, n_components), or an object that multiplies
        How likely each point is under each component, nonnegative. An object needs ``shape``, ``A @ q``, ``A.T @ r``,
        ``squared_sums(r)`` (of the squared entries) and ``columns(components)``; it never has to return all its
        entries. It must be in float64. One that multiplies arrays of another library needs `weights` and `start` as
        such arrays; they stay on their device.
    weights : array-like of shape (n_points,), optional
        Weight of each point; they are divided by their sum. By default all are equal.
    start : array-like of shape (n_components,), optional
        Proportions to start from; by default all are equal.
    tol : float, default=1e-6
        The gap to reach.
    max_iter : int, default=1000
        Maximum number of rounds.

    Returns
    -------
    Proportions
        ``q``, ``gap`` (the objective is at most this much below its maximum), ``objective``, ``n_iter``, ``converged``.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.stats import norm
    >>> x = np.array([-1.0, -1.0, -1.0, 3.0])
    >>> result = mixture_proportions(norm.pdf(x[:, None], loc=[-1, 0, 1, 2, 3]))
    >>> result.q.round(3).tolist(), result.gap < 1e-6
    ([0.75, 0.0, 0.0, 0.0, 0.25], True)
    """
    A: LikelihoodMatrix = likelihoods
    log_scale: Array = 0.0
    if not hasattr(likelihoods, "squared_sums"):
        table = as_real_array("likelihoods", likelihoods.toarray() if sp.issparse(likelihoods) else likelihoods)
        if table.ndim != 2 or not table.size:
            raise ValueError(f"likelihoods must be a table of points and components, got shape {table.shape}")
        if not np.isfinite(table).all() or table.min() < 0:
            raise ValueError("likelihoods must be finite and nonnegative: give likelihoods, not their logarithms")
        largest = replace_nonpositive(table.max(axis=1))
        A, log_scale = LikelihoodTable(table / largest[:, None]), np.log(largest)
        weights, start = (None if values is None else to_numpy(values) for values in (weights, start))
    n_points, n_components = A.shape
    w = check_distribution("weights", weights, n_points)
    q = check_distribution("start", start, n_components)
    check_max_iter(max_iter)
    if not is_real(tol) or tol != tol:
        raise ValueError(f"tol={tol!r} must be a number")
    result = None
    for result in iterate_proportions(A, w, q):
        if result.gap <= tol or result.n_iter >= max_iter:
            break
    assert result is not None, "there is at least one round"
    objective = result.objective + float(namespace(w).sum(w * log_scale))
    return Proportions(result.q, result.gap, objective, result.n_iter, result.gap <= tol)


def refuse_impossible(w: Array, Q: Array) -> None:
    """Refuse points that have weight, but no likelihood under any component."""
    impossible = (Q <= 0) & (w > 0)
    if bool(namespace(w).any(impossible)):
        raise ValueError(
            f"point {to_numpy(impossible).argmax()} has no likelihood under any component of the start: leave it out, "
            "or start with more components"
        )


def iterate_proportions(A: LikelihoodMatrix, w: Array, q: Array) -> Iterator[Proportions]:
    """Yield one state per round, starting from q; the objective never falls. The weights w sum to one.

    Ends when rounding leaves nothing to gain.
    """
    xp, largest, many = namespace(q), limit_set_size(A.shape), tuning.many
    is_dense, damped, n_iter = False, False, 0
    if int(xp.count_nonzero(q)) <= min(largest, SPARSE_START * q.shape[0]):
        active, n_iter = ActiveSet.start(A, q), 1
        refuse_impossible(w, active.likelihood)
    else:
        # a dense start is not yielded even if it is a solution, because a sparse one may be as good
        start = evaluate_proportions(A, w, q)
        refuse_impossible(w, start.Q)
        active = ActiveSet.from_mixture(start.q, start.Q)
        if estimate_n_components(A, w, start) > max(tuning.many, tuning.dense_share * q.shape[0]):
            evaluation = start
            for evaluation, is_settled in approach_dense_solution(A, w, start):
                if is_settled:
                    n_iter += 1
                    yield Proportions(evaluation.q, evaluation.gap, evaluation.objective, n_iter)
            active = ActiveSet.from_mixture(evaluation.q, evaluation.Q)
            support = to_numpy(xp.nonzero(predict_support(A, w, evaluation))[0])
            is_dense = len(support) > largest
            if not is_dense:
                active = active.append(support, A.columns(support)).improve(w, SUBPROBLEM_GAP * evaluation.gap)
                n_iter += 1
    best_gap, best_objective, n_stalled = np.inf, -np.inf, 0
    while True:
        Q = active.likelihood
        g = A.T @ divide_weights(w, Q)
        state = Proportions(active.compute_proportions(), float(xp.max(g)) - 1, compute_objective(w, Q), n_iter)
        if n_iter:
            yield state
        n_iter += 1
        improves = state.gap < best_gap or state.objective > best_objective + ROUNDING * abs(best_objective)
        best_gap, best_objective = min(best_gap, state.gap), max(best_objective, state.objective)
        n_stalled = 0 if improves else n_stalled + 1
        if n_stalled == STALLED:
            return
        n_chosen = len(active.chosen)
        is_dense = is_dense or n_chosen > largest or (n_chosen > many and active.x[0] > SPARSE_SHARE)
        if is_dense:
            *mixture, is_dense = take_conjugate_step(A, w, state.q, Q, g, damped=damped)
            active = ActiveSet.from_mixture(*mixture)
            if not is_dense:  # conjugate gradients do not converge, so only memory limits the set from here on
                largest, many, damped = max(largest, tuning.largest_table // A.shape[0]), A.shape[1], True
        else:
            active = active.add_components(A, w, g).improve(w, SUBPROBLEM_GAP * state.gap)


def iterate_updates(A: LikelihoodMatrix, w: Array, q: Array, tol: float) -> Iterator[Proportions]:
    """Repeat ``q_j <- q_j g_j`` (Tzortzis & Likas 2010, Eqs 3, 7, 13). Yields one state per update.

    Ends with the first update that changes the proportions by less than `tol` in total, as the paper's Algorithm 1
    does (line 21), however large the gap still is.
    """
    xp, before = namespace(q), q
    for n_iter in count():
        Q = A @ q
        refuse_impossible(w, Q)
        g = A.T @ divide_weights(w, Q)
        if n_iter:
            converged = float(xp.sum(xp.abs(q - before))) < tol
            yield Proportions(q, float(xp.max(g)) - 1, compute_objective(w, Q), n_iter, converged)
            if converged:
                return
        before, q = q, q * g


@dataclass(frozen=True, eq=False)
class ActiveSet:
    """Proportions of a set of components, and of a fixed mixture of all components as one more component."""

    base: Array  # (components,) proportions within the fixed mixture
    chosen: np.ndarray  # the set
    x: np.ndarray  # (1 + chosen,) proportions of the fixed mixture and of the set
    B: Array  # (points, 1 + chosen) their columns

    @classmethod
    def from_mixture(cls, q: Array, Q: Array) -> ActiveSet:
        """Start with the fixed mixture only."""
        return cls(q, np.zeros(0, np.int64), np.ones(1), Q[:, None])

    @classmethod
    def start(cls, A: LikelihoodMatrix, q: Array) -> ActiveSet:
        """Start with the set of nonzero proportions."""
        xp = namespace(q)
        chosen = xp.nonzero(q)[0]
        columns, proportions = A.columns(to_numpy(chosen)), xp.take(q, chosen)
        B = xp.concat([(columns @ proportions)[:, None], columns], axis=1)
        return cls(q, to_numpy(chosen), np.append(0.0, to_numpy(proportions)), B)

    def append(self, components: np.ndarray, columns: Array) -> ActiveSet:
        """Append components to the set, at zero."""
        return ActiveSet(
            self.base,
            np.append(self.chosen, components),
            np.append(self.x, np.zeros(len(components))),
            namespace(columns).concat([self.B, columns], axis=1),
        )

    @property
    def likelihood(self) -> Array:
        return self.B @ asarray_like(self.x, self.B)

    def expand(self, values: np.ndarray) -> Array:
        """Put a value per member of the set at its place among all components, zeros elsewhere."""
        expanded = np.zeros(self.base.shape[0], dtype=values.dtype)
        expanded[self.chosen] = values
        return asarray_like(expanded, self.base)

    def compute_proportions(self) -> Array:
        """Compute the proportion of each component."""
        q = float(self.x[0]) * self.base + self.expand(self.x[1:])
        return q / namespace(q).sum(q)

    def add_components(self, A: LikelihoodMatrix, w: Array, g: Array) -> ActiveSet:
        """Add components that would raise the objective, the steepest first, none very similar to another."""
        xp = namespace(g)
        candidates = xp.nonzero((g > 1) & ~self.expand(np.ones(len(self.chosen), dtype=bool)))[0]
        n_new = min(max(MIN_NEW, len(self.chosen)), candidates.shape[0])
        new = to_numpy(xp.take(candidates, xp.argsort(-xp.take(g, candidates), stable=True)[:n_new]))
        columns = A.columns(new)
        dissimilar = select_dissimilar(columns * divide_weights(xp.sqrt(w), self.likelihood)[:, None])
        return self.append(new[dissimilar], take_few_columns(columns, dissimilar))

    def improve(self, w: Array, accuracy: float) -> ActiveSet:
        """Maximize over the proportions of the set, up to an accuracy; components at zero leave the set."""
        x, roots = self.x, namespace(w).sqrt(w)
        for _ in range(NEWTON_STEPS):
            scaled = self.B * divide_weights(roots, self.B @ asarray_like(x, self.B))[:, None]
            g, H = to_numpy(scaled.T @ roots), compute_gram(scaled)  # gradient, and minus the Hessian
            if g.max() - 1 <= accuracy:
                break
            minimum = minimize_nonnegative(H, 2 * g - 1, (x > 0) | (g > 1))
            better = search_line(self.B, w, x, minimum - x, g)
            if better is None:
                break
            x = better
        keep = x > 0
        keep[0] = True
        columns = take_few_columns(self.B, np.flatnonzero(keep))
        return ActiveSet(self.base, self.chosen[keep[1:]], x[keep] / x.sum(), columns)


def select_dissimilar(columns: Array) -> np.ndarray:
    """Select the first column, and each further one that is not very similar to any selected before."""
    xp = namespace(columns)
    units = columns / replace_nonpositive(xp.max(xp.abs(columns), axis=0))  # squares of large numbers would overflow
    units /= replace_nonpositive(xp.sqrt(xp.sum(units**2, axis=0)))
    similar = compute_gram(units) > SIMILAR
    excluded, selected = np.zeros(len(similar), dtype=bool), []
    for j in range(len(similar)):
        if not excluded[j]:
            selected.append(j)
            excluded |= similar[j]
    return np.array(selected, dtype=np.int64)


def compute_gram(columns: Array) -> np.ndarray:
    """Compute the products of all columns, on the host; blocks of rows are shared by the threads."""
    if not is_on_host(columns):
        return to_numpy(columns.T @ columns)
    blocks = split_slice(slice(0, len(columns)), max(1, min(16, columns.size // tuning.chunk)))
    return reduce(np.add, map_chunks(lambda rows: columns[rows].T @ columns[rows], blocks))


def search_line(B: Array, w: Array, x: np.ndarray, step: np.ndarray, g: np.ndarray) -> np.ndarray | None:
    """Halve a step until it gains enough; None if no length does.

    A step after which a point is far less likely than before is rejected: the quadratic model does not hold there.
    """
    xp = namespace(B)
    Q = B @ asarray_like(x, B)
    lowest = xp.minimum(LEAST_LIKELIHOOD * Q, w * xp.max(B, axis=1))  # at the maximum no point is below the latter
    before, slope, length = compute_objective(w, Q) - x.sum(), float(step @ (g - 1)), 1.0
    while length > SHORTEST_STEP:
        moved = np.maximum(x + length * step, 0.0)
        likelihood = B @ asarray_like(moved, B)
        required = before + SUFFICIENT_GAIN * length * slope - ROUNDING * abs(before)
        gains = compute_objective(w, likelihood) - moved.sum() >= required
        if gains and bool(xp.all(likelihood >= lowest)):
            return moved
        length /= 2
    return None


def limit_set_size(shape: tuple[int, int]) -> int:
    """Size of a set above which gradients are faster, or its columns take too much memory."""
    n_points, n_components = shape
    fastest = max(tuning.many, min((tuning.largest_set * n_components) ** 0.5, n_components / 2))
    return int(min(fastest, max(MIN_NEW, tuning.largest_table / n_points)))


@dataclass(frozen=True, eq=False)
class LikelihoodTable:
    """Likelihoods that are all in memory."""

    matrix: np.ndarray

    @property
    def shape(self) -> tuple[int, int]:
        return self.matrix.shape

    def __matmul__(self, q: np.ndarray) -> np.ndarray:
        return self.matrix @ q

    @property
    def T(self) -> np.ndarray:
        return self.matrix.T

    def squared_sums(self, r: np.ndarray) -> np.ndarray:
        blocks = split_slice(slice(0, len(r)), max(1, min(len(r), self.matrix.size // tuning.chunk)))
        return reduce(np.add, map_chunks(lambda rows: r[rows] @ self.matrix[rows] ** 2, blocks))

    def columns(self, components: np.ndarray) -> np.ndarray:
        return self.matrix[:, components]


def check_distribution(name: str, values: Any, n: int) -> Array:
    """Return weights or proportions divided by their sum; refuse invalid ones."""
    if values is None:
        return np.full(n, 1 / n)
    array = values if is_array(values) and not isinstance(values, np.ndarray) else as_real_array(name, values)
    xp = namespace(array)
    array = xp.astype(array, xp.float64, copy=False)
    if array.shape != (n,) or not all(fetch_numbers([xp.all(xp.isfinite(array) & (array >= 0)), xp.any(array > 0)])):
        raise ValueError(f"{name} must be {n} nonnegative numbers, not all zero, got shape {array.shape}")
    array = array / xp.max(array)
    return array / xp.sum(array)
