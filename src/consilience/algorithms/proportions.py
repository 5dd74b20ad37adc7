"""Mixture proportions of highest likelihood: which shares of given components explain given points best.

Maximise ``sum_i w_i log sum_j q_j A_ij`` over shares q that sum to one: convex, usually with few shares above zero. The
gradient ``g_j = sum_i w_i A_ij / Q_i`` certifies how near the maximum is: it lies at most ``max_j g_j - 1`` above.

Newton's method on a set of components that grows by those of steepest gradient (the constrained Newton method of Wang
2007; mixsqp of Kim et al. 2020 is a relative) gets there in some ten rounds, each of one product with the matrix and a
few of its columns. Where the solution is not sparse the set would become too large; then Newton steps over all
components take over, by conjugate gradients, which ask for products alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce
from itertools import count
from numbers import Integral
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._backend import cut, map_chunks
from .components import AHEAD, LOSS, ROUNDING, SLOPE, Components, objective, positive, ratio
from .conjugate import conjugate_step
from .quadratic import nonnegative_minimum

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

    q: np.ndarray  #: (components,) the shares: none negative, they sum to one
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
        entries. It must be in float64.
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
    A, log_scale = (likelihoods, 0.0) if hasattr(likelihoods, "squared_sums") else scaled_table(likelihoods)
    n_points, n_components = A.shape
    w = checked("weights", weights, n_points)
    q = checked("start", start, n_components)
    impossible = np.flatnonzero((A @ q <= 0) & (w > 0))
    if len(impossible):
        raise ValueError(
            f"point {impossible[0]} has no likelihood under any component of the start: leave it out, or start with "
            "more components"
        )
    if not isinstance(max_iter, Integral) or max_iter < 1:
        raise ValueError(f"max_iter={max_iter!r} must be a whole number from 1 on")
    found = None
    for found in proportions(A, w, q):
        if found.gap <= tol or found.n_iter >= max_iter:
            break
    assert found is not None, "there is at least one round"
    reached = found.objective + float(np.sum(w * log_scale))
    return Proportions(found.q, found.gap, reached, found.n_iter, found.gap <= tol)


def proportions(A: Components, w: np.ndarray, q: np.ndarray) -> Iterator[Proportions]:
    """One state a round from these shares on; the objective never falls. Weights sum to one.

    Ends where rounding leaves nothing to gain.
    """
    largest = largest_set(A.shape)
    mixture = Mixture.starting(A, q, largest)
    dense, best, waited = False, (np.inf, -np.inf), 0
    for n_iter in count(int(len(mixture.chosen) > 0)):  # many shares may be as good as few: a start is no answer
        Q = mixture.likelihood
        g = A.T @ ratio(w, Q)
        found = Proportions(mixture.shares(), float(g.max()) - 1, objective(w, Q), n_iter)
        if n_iter:
            yield found
        gains = found.gap < best[0] or found.objective > best[1] + ROUNDING * abs(best[1])
        best, waited = (min(best[0], found.gap), max(best[1], found.objective)), 0 if gains else waited + 1
        if waited == STALLED:
            return
        dense = dense or len(mixture.chosen) > largest or (len(mixture.chosen) > MANY and mixture.x[0] > MOST)
        if dense:
            mixture = Mixture.of_one(*conjugate_step(A, w, found.q, Q, g))
        else:
            mixture = mixture.joined_by(A, w, g).improved(w, AHEAD * found.gap)


@dataclass(frozen=True, eq=False)
class Mixture:
    """Shares of a set of components, and of a mixture of all components as if it were one more."""

    base: np.ndarray  # (components,) the shares within that mixture
    chosen: np.ndarray  # the set
    x: np.ndarray  # (1 + chosen,) shares of the mixture and of the set
    B: np.ndarray  # (points, 1 + chosen) their columns

    @classmethod
    def of_one(cls, q: np.ndarray, Q: np.ndarray) -> Mixture:
        """Nothing but the mixture of all."""
        return cls(q, np.zeros(0, np.int64), np.ones(1), Q[:, None])

    @classmethod
    def starting(cls, A: Components, q: np.ndarray, largest: int) -> Mixture:
        """Shares so sparse that they are a set come as one; others stay a mixture."""
        chosen = np.flatnonzero(q)
        if len(chosen) > min(largest, SPARSE * len(q)):
            return cls.of_one(q, A @ q)
        columns = A.columns(chosen)
        return cls(q, chosen, np.append(0.0, q[chosen]), np.column_stack([columns @ q[chosen], columns]))

    @property
    def likelihood(self) -> np.ndarray:
        return self.B @ self.x

    def shares(self) -> np.ndarray:
        """Of each component."""
        q = self.x[0] * self.base
        q[self.chosen] += self.x[1:]
        return q / q.sum()

    def joined_by(self, A: Components, w: np.ndarray, g: np.ndarray) -> Mixture:
        """Components that would raise the objective join, the steepest first, none of them much like another."""
        outside = g > 1
        outside[self.chosen] = False
        new = np.flatnonzero(outside)
        new = new[np.argsort(-g[new], kind="stable")[: max(NEW, len(self.chosen))]]
        columns = A.columns(new)
        different = unlike(columns * ratio(np.sqrt(w), self.likelihood)[:, None])
        return Mixture(
            self.base,
            np.append(self.chosen, new[different]),
            np.append(self.x, np.zeros(len(different))),
            np.column_stack([self.B, columns[:, different]]),
        )

    def improved(self, w: np.ndarray, accuracy: float) -> Mixture:
        """The best shares of the set, to within an accuracy; components that have none leave."""
        x = self.x
        for _ in range(NEWTON_STEPS):
            Q = self.B @ x
            g, H = derivatives(self.B, w, Q)
            if g.max() - 1 <= accuracy:
                break
            towards = nonnegative_minimum(H, 2 * g - 1, (x > 0) | (g > 1))
            better = line_search(self.B, w, x, towards - x, g)
            if better is None:
                break
            x = better
        kept = x > 0
        kept[0] = True
        return Mixture(self.base, self.chosen[kept[1:]], x[kept] / x.sum(), self.B[:, kept])


def unlike(columns: np.ndarray) -> np.ndarray:
    """The first column, and each further one that is not much like any taken before."""
    units = columns / positive(np.abs(columns).max(axis=0, initial=0.0))  # squares of large numbers would overflow
    units /= positive(np.sqrt(np.sum(units**2, axis=0)))
    alike = gram(units) > ALIKE
    waiting, taken = np.zeros(len(alike), dtype=bool), []
    for j in range(len(alike)):
        if not waiting[j]:
            taken.append(j)
            waiting |= alike[j]
    return np.array(taken, dtype=np.int64)


def derivatives(B: np.ndarray, w: np.ndarray, Q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Gradient, and minus the Hessian, of the objective: sums of B / Q and of its squares."""
    scaled = B * ratio(np.sqrt(w), Q)[:, None]
    return scaled.T @ np.sqrt(w), gram(scaled)


def gram(columns: np.ndarray) -> np.ndarray:
    """Products of all columns, in parts of the rows on the threads allowed."""
    parts = cut(slice(0, len(columns)), max(1, min(16, columns.size // CHUNK)))
    return reduce(np.add, map_chunks(lambda rows: columns[rows].T @ columns[rows], parts))


def line_search(B: np.ndarray, w: np.ndarray, x: np.ndarray, step: np.ndarray, g: np.ndarray) -> np.ndarray | None:
    """The longest of steps, halved again and again, that gains enough; None if none gains.

    A step after which a point is far less likely than before is no step of Newton's: he knows nothing of there.
    """
    Q = B @ x
    lowest = np.minimum(LOSS * Q, w * B.max(axis=1))  # no point is less likely than the latter at the maximum
    before, slope, length = objective(w, Q) - x.sum(), float(step @ (g - 1)), 1.0
    while length > SHORTEST:
        moved = np.maximum(x + length * step, 0.0)
        likelihood = B @ moved
        gained = objective(w, likelihood) - moved.sum() >= before + SLOPE * length * slope - ROUNDING * abs(before)
        if gained and (likelihood >= lowest).all():
            return moved
        length /= 2
    return None


def largest_set(shape: tuple[int, int]) -> int:
    """How many components a set may have before gradients are faster, or its columns take too much memory."""
    n_points, n_components = shape
    fastest = max(MANY, min((LARGEST_SET * n_components) ** 0.5, n_components / 2))
    return int(min(fastest, max(NEW, LARGEST_TABLE / n_points)))


@dataclass(frozen=True, eq=False)
class Table:
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
        parts = cut(slice(0, len(r)), max(1, min(len(r), self.matrix.size // CHUNK)))
        return reduce(np.add, map_chunks(lambda rows: r[rows] @ self.matrix[rows] ** 2, parts))

    def columns(self, components: np.ndarray) -> np.ndarray:
        return self.matrix[:, components]


def scaled_table(likelihoods: Any) -> tuple[Table, np.ndarray]:
    """Likelihoods of each point as parts of its largest, and the logarithm of that; or an error."""
    table = np.asarray(likelihoods.toarray() if sp.issparse(likelihoods) else likelihoods, dtype=np.float64)
    if table.ndim != 2 or not table.size:
        raise ValueError(f"likelihoods must be a table of points and components, got shape {table.shape}")
    if not np.isfinite(table).all() or table.min() < 0:
        raise ValueError("likelihoods must be finite, none negative: give likelihoods, not their logarithms")
    largest = positive(table.max(axis=1))
    return Table(table / largest[:, None]), np.log(largest)


def checked(name: str, given: Any, n: int) -> np.ndarray:
    """Weights or shares that sum to one, or an error."""
    if given is None:
        return np.full(n, 1 / n)
    values = np.asarray(given, dtype=np.float64)
    if values.shape != (n,) or not np.isfinite(values).all() or values.min() < 0 or values.sum() == 0:
        raise ValueError(f"{name} must be {n} numbers, none negative and not all zero, got shape {values.shape}")
    values = values / values.max()
    return values / values.sum()
