"""Mixture proportions of highest likelihood: which shares of given components explain given points best.

Maximise ``sum_i w_i log sum_j q_j A_ij`` over shares q that sum to one: convex, usually with few shares above zero. The
gradient ``g_j = sum_i w_i A_ij / Q_i`` certifies how near the maximum is: it lies at most ``max_j g_j - 1`` above.

Newton's method on a set of components that grows by those of steepest gradient (the constrained Newton method of Wang
2007; mixsqp of Kim et al. 2020 is a relative) gets there in some ten rounds, each of one product with the matrix and a
few of its columns. Where the solution is not sparse the set would become too large; then Newton steps over all
components take over, by conjugate gradients, which ask for products alone.

Arrays of numbers a point or a component stay where they are, on a device too. The host has what is small: the set, its
shares and, for every Newton step, the products of its columns, which are fetched.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce
from itertools import count
from numbers import Integral, Real
from typing import Any

import numpy as np
import scipy.sparse as sp

from ...arrays import Array, asarray_like, is_array, map_chunks, namespace, split_slice, to_numpy
from ...arrays.pairwise import fetch_numbers
from .components import (
    AHEAD,
    LOSS,
    ROUNDING,
    SLOPE,
    LikelihoodMatrix,
    as_real_array,
    compute_objective,
    divide_weights,
    replace_nonpositive,
    take_few_columns,
)
from .conjugate import take_conjugate_step
from .quadratic import minimize_nonnegative

NEW = 50  # components that join in a round, or as many as there are if these are more
ALIKE = 0.9  # cosine above which one of two components has to wait for the next round
NEWTON_STEPS = 20
SHORTEST = 1e-8  # of steps
MANY = 150  # components of a set that should have most of the share, or the solution is not sparse
MOST = 0.75  # most of it
SPARSE = 0.75  # share of the components that a set to start with may have
LARGEST_SET = 500.0  # the square of a set's size over the number of components: more is slower than gradients
LARGEST_TABLE = 1 << 26  # numbers in the columns of a set
STALLED = 10  # rounds without a smaller gap or a higher objective, after which rounding leaves nothing to gain
CHUNK = 1 << 20  # numbers in a thread's part of a table


@dataclass(frozen=True, eq=False)
class Proportions:
    """Shares, and how good they are."""

    q: Array  #: (components,) the shares: none negative, they sum to one
    gap: float  #: the certificate: no shares reach an objective higher than this one by more
    objective: float  #: sum_i w_i log sum_j q_j A_ij
    n_iter: int  #: rounds
    converged: bool = False  #: whether the gap is within the tolerance


def mixture_proportions(
    likelihoods: Any,
    weights: Any = None,
    *,
    start: Any = None,
    tol: float = 1e-6,
    max_iter: int = 1000,
) -> Proportions:
    """Find the shares of given components under which given points are likeliest.

    Parameters
    ----------
    likelihoods : array-like of shape (n_points, n_components), or an object that multiplies
        How likely each point is under each component, none negative. An object needs ``shape``, ``A @ q``,
        ``A.T @ r``, ``squared_sums(r)`` (of the squared entries) and ``columns(components)``; nobody asks for all its
        entries. It must be in float64. One that multiplies arrays of another library needs `weights` and `start` as
        such arrays; they stay on their device.
    weights : array-like of shape (n_points,), optional
        How much each point counts; they are divided by their sum. By default all the same.
    start : array-like of shape (n_components,), optional
        Shares to start from; by default all the same.
    tol : float, default=1e-6
        The gap to reach.
    max_iter : int, default=1000
        Rounds at most.

    Returns
    -------
    Proportions
        ``q``, ``gap`` (the objective lies at most so far below its maximum), ``objective``, ``n_iter``, ``converged``.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.stats import norm
    >>> x = np.array([-1.0, -1.0, -1.0, 3.0])
    >>> found = mixture_proportions(norm.pdf(x[:, None], loc=[-1, 0, 1, 2, 3]))
    >>> found.q.round(3).tolist(), found.gap < 1e-6
    ([0.75, 0.0, 0.0, 0.0, 0.25], True)
    """
    A: LikelihoodMatrix = likelihoods
    log_scale: Array = 0.0
    if not hasattr(likelihoods, "squared_sums"):
        A, log_scale = scale_likelihoods(likelihoods)
        weights, start = (None if given is None else to_numpy(given) for given in (weights, start))
    n_points, n_components = A.shape
    w = check_distribution("weights", weights, n_points)
    q = check_distribution("start", start, n_components)
    impossible = (A @ q <= 0) & (w > 0)
    if bool(namespace(w).any(impossible)):
        raise ValueError(
            f"point {to_numpy(impossible).argmax()} has no likelihood under any component of the start: leave it out, "
            "or start with more components"
        )
    if not isinstance(max_iter, Integral) or max_iter < 1:
        raise ValueError(f"max_iter={max_iter!r} must be a whole number from 1 on")
    if not isinstance(tol, Real) or tol != tol:
        raise ValueError(f"tol={tol!r} must be a number")
    found = None
    for found in iterate_proportions(A, w, q):
        if found.gap <= tol or found.n_iter >= max_iter:
            break
    assert found is not None, "there is at least one round"
    reached = found.objective + float(namespace(w).sum(w * log_scale))
    return Proportions(found.q, found.gap, reached, found.n_iter, found.gap <= tol)


def iterate_proportions(A: LikelihoodMatrix, w: Array, q: Array) -> Iterator[Proportions]:
    """One state a round from these shares on; the objective never falls. Weights sum to one.

    Ends where rounding leaves nothing to gain.
    """
    xp, largest = namespace(q), limit_set_size(A.shape)
    mixture = ActiveSet.starting(A, q, largest)
    dense, best, waited = False, (np.inf, -np.inf), 0
    for n_iter in count(int(len(mixture.chosen) > 0)):  # many shares may be as good as few: a start is no answer
        Q = mixture.likelihood
        g = A.T @ divide_weights(w, Q)
        found = Proportions(mixture.shares(), float(xp.max(g)) - 1, compute_objective(w, Q), n_iter)
        if n_iter:
            yield found
        gains = found.gap < best[0] or found.objective > best[1] + ROUNDING * abs(best[1])
        best, waited = (min(best[0], found.gap), max(best[1], found.objective)), 0 if gains else waited + 1
        if waited == STALLED:
            return
        dense = dense or len(mixture.chosen) > largest or (len(mixture.chosen) > MANY and mixture.x[0] > MOST)
        if dense:
            mixture = ActiveSet.of_one(*take_conjugate_step(A, w, found.q, Q, g))
        else:
            mixture = mixture.joined_by(A, w, g).improved(w, AHEAD * found.gap)


@dataclass(frozen=True, eq=False)
class ActiveSet:
    """Shares of a set of components, and of a mixture of all components as if it were one more."""

    base: Array  # (components,) the shares within that mixture
    chosen: np.ndarray  # the set
    x: np.ndarray  # (1 + chosen,) shares of the mixture and of the set
    B: Array  # (points, 1 + chosen) their columns

    @classmethod
    def of_one(cls, q: Array, Q: Array) -> ActiveSet:
        """Nothing but the mixture of all."""
        return cls(q, np.zeros(0, np.int64), np.ones(1), Q[:, None])

    @classmethod
    def starting(cls, A: LikelihoodMatrix, q: Array, largest: int) -> ActiveSet:
        """Shares so sparse that they are a set come as one; others stay a mixture."""
        xp = namespace(q)
        if int(xp.count_nonzero(q)) > min(largest, SPARSE * q.shape[0]):
            return cls.of_one(q, A @ q)
        chosen = xp.nonzero(q)[0]
        columns, shares = A.columns(to_numpy(chosen)), xp.take(q, chosen)
        B = xp.concat([(columns @ shares)[:, None], columns], axis=1)
        return cls(q, to_numpy(chosen), np.append(0.0, to_numpy(shares)), B)

    @property
    def likelihood(self) -> Array:
        return self.B @ asarray_like(self.x, self.B)

    def of_set(self, values: np.ndarray) -> Array:
        """A number for each of the set at its place among all components, zeros elsewhere."""
        placed = np.zeros(self.base.shape[0], dtype=values.dtype)
        placed[self.chosen] = values
        return asarray_like(placed, self.base)

    def shares(self) -> Array:
        """Of each component."""
        q = float(self.x[0]) * self.base + self.of_set(self.x[1:])
        return q / namespace(q).sum(q)

    def joined_by(self, A: LikelihoodMatrix, w: Array, g: Array) -> ActiveSet:
        """Components that would raise the objective join, the steepest first, none of them much like another."""
        xp = namespace(g)
        new = xp.nonzero((g > 1) & ~self.of_set(np.ones(len(self.chosen), dtype=bool)))[0]
        most = min(max(NEW, len(self.chosen)), new.shape[0])
        joining = to_numpy(xp.take(new, xp.argsort(-xp.take(g, new), stable=True)[:most]))
        columns = A.columns(joining)
        different = select_dissimilar(columns * divide_weights(xp.sqrt(w), self.likelihood)[:, None])
        return ActiveSet(
            self.base,
            np.append(self.chosen, joining[different]),
            np.append(self.x, np.zeros(len(different))),
            xp.concat([self.B, take_few_columns(columns, different)], axis=1),
        )

    def improved(self, w: Array, accuracy: float) -> ActiveSet:
        """The best shares of the set, to within an accuracy; components that have none leave."""
        x = self.x
        for _ in range(NEWTON_STEPS):
            g, H = compute_derivatives(self.B, w, self.B @ asarray_like(x, self.B))
            if g.max() - 1 <= accuracy:
                break
            towards = minimize_nonnegative(H, 2 * g - 1, (x > 0) | (g > 1))
            better = search_line(self.B, w, x, towards - x, g)
            if better is None:
                break
            x = better
        kept = x > 0
        kept[0] = True
        return ActiveSet(
            self.base, self.chosen[kept[1:]], x[kept] / x.sum(), take_few_columns(self.B, np.flatnonzero(kept))
        )


def select_dissimilar(columns: Array) -> np.ndarray:
    """The first column, and each further one that is not much like any taken before."""
    xp = namespace(columns)
    units = columns / replace_nonpositive(xp.max(xp.abs(columns), axis=0))  # squares of large numbers would overflow
    units /= replace_nonpositive(xp.sqrt(xp.sum(units**2, axis=0)))
    alike = compute_gram(units) > ALIKE
    waiting, taken = np.zeros(len(alike), dtype=bool), []
    for j in range(len(alike)):
        if not waiting[j]:
            taken.append(j)
            waiting |= alike[j]
    return np.array(taken, dtype=np.int64)


def compute_derivatives(B: Array, w: Array, Q: Array) -> tuple[np.ndarray, np.ndarray]:
    """Gradient, and minus the Hessian, of the objective, fetched: sums of B / Q and of its squares."""
    roots = namespace(w).sqrt(w)
    scaled = B * divide_weights(roots, Q)[:, None]
    return to_numpy(scaled.T @ roots), compute_gram(scaled)


def compute_gram(columns: Array) -> np.ndarray:
    """Products of all columns, fetched; in parts of the rows on the threads allowed."""
    if not isinstance(columns, np.ndarray):
        return to_numpy(columns.T @ columns)
    parts = split_slice(slice(0, len(columns)), max(1, min(16, columns.size // CHUNK)))
    return reduce(np.add, map_chunks(lambda rows: columns[rows].T @ columns[rows], parts))


def search_line(B: Array, w: Array, x: np.ndarray, step: np.ndarray, g: np.ndarray) -> np.ndarray | None:
    """The longest of steps, halved again and again, that gains enough; None if none gains.

    A step after which a point is far less likely than before is no step of Newton's: he knows nothing of there.
    """
    xp = namespace(B)
    Q = B @ asarray_like(x, B)
    lowest = xp.minimum(LOSS * Q, w * xp.max(B, axis=1))  # no point is less likely than the latter at the maximum
    before, slope, length = compute_objective(w, Q) - x.sum(), float(step @ (g - 1)), 1.0
    while length > SHORTEST:
        moved = np.maximum(x + length * step, 0.0)
        likelihood = B @ asarray_like(moved, B)
        gained = compute_objective(w, likelihood) - moved.sum() >= before + SLOPE * length * slope - ROUNDING * abs(
            before
        )
        if gained and bool(xp.all(likelihood >= lowest)):
            return moved
        length /= 2
    return None


def limit_set_size(shape: tuple[int, int]) -> int:
    """How many components a set may have before gradients are faster, or its columns take too much memory."""
    n_points, n_components = shape
    fastest = max(MANY, min((LARGEST_SET * n_components) ** 0.5, n_components / 2))
    return int(min(fastest, max(NEW, LARGEST_TABLE / n_points)))


@dataclass(frozen=True, eq=False)
class LikelihoodTable:
    """Likelihoods that are all there."""

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
        parts = split_slice(slice(0, len(r)), max(1, min(len(r), self.matrix.size // CHUNK)))
        return reduce(np.add, map_chunks(lambda rows: r[rows] @ self.matrix[rows] ** 2, parts))

    def columns(self, components: np.ndarray) -> np.ndarray:
        return self.matrix[:, components]


def scale_likelihoods(likelihoods: Any) -> tuple[LikelihoodTable, np.ndarray]:
    """Likelihoods of each point as parts of its largest, and the logarithm of that; or an error."""
    table = as_real_array("likelihoods", likelihoods.toarray() if sp.issparse(likelihoods) else likelihoods)
    if table.ndim != 2 or not table.size:
        raise ValueError(f"likelihoods must be a table of points and components, got shape {table.shape}")
    if not np.isfinite(table).all() or table.min() < 0:
        raise ValueError("likelihoods must be finite, none negative: give likelihoods, not their logarithms")
    largest = replace_nonpositive(table.max(axis=1))
    return LikelihoodTable(table / largest[:, None]), np.log(largest)


def check_distribution(name: str, given: Any, n: int) -> Array:
    """Weights or shares that sum to one, or an error."""
    if given is None:
        return np.full(n, 1 / n)
    values = given if is_array(given) and not isinstance(given, np.ndarray) else as_real_array(name, given)
    xp = namespace(values)
    values = xp.astype(values, xp.float64, copy=False)
    if values.shape != (n,) or not all(
        fetch_numbers([xp.all(xp.isfinite(values) & (values >= 0)), xp.any(values > 0)])
    ):
        raise ValueError(f"{name} must be {n} numbers, none negative and not all zero, got shape {values.shape}")
    values = values / xp.max(values)
    return values / xp.sum(values)
