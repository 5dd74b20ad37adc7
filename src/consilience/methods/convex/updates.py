"""Multiplicative updates of mixture proportions, and their extrapolation, for proportions that are not sparse."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ...arrays import Array, asarray_like, keep_where, namespace
from .components import LikelihoodMatrix, compute_objective, divide_weights, multiply_twice

N_SAMPLED = 20  # components from which their effective number is estimated
LEAST_SHARE = 0.1  # of the mean proportion: components below may be about to leave
TINY = 1e-300  # keeps zero from dividing
REMOVAL_GAP = 1e-3  # gap at which such components are removed
MAX_SLOW = 12  # passes that may fail to halve the gap
LEAST_LEFT = 0.1  # part of a proportion that remains after a step of SQUAREM


class Evaluation(NamedTuple):
    """Proportions with what one pass over the likelihoods computes from them."""

    q: Array
    Q: Array  # (points,) the likelihood of each
    g: Array  # (components,) the gradient
    gap: float
    objective: float


def evaluate_proportions(A: LikelihoodMatrix, w: Array, q: Array) -> Evaluation:
    """Compute the likelihood of each point, the gradient, the gap and the objective."""
    Q, g = multiply_twice(A, q, w, True)
    return Evaluation(q, Q, g, float(namespace(g).max(g)) - 1, compute_objective(w, Q))


def iterate_extrapolated_updates(A: LikelihoodMatrix, w: Array, state: Evaluation) -> Iterator[Evaluation]:
    """Extrapolate the update ``q_j <- q_j g_j`` (SQUAREM, Varadhan & Roland 2008, scheme S3).

    After two updates, a step along them and one more update follow. Yields each evaluation whose objective is not below
    that of any before.
    """
    xp = namespace(state.q)
    while True:
        first = evaluate_proportions(A, w, state.q * state.g)
        yield first
        second = first.q * first.g
        r = first.q - state.q
        v = second - first.q - r
        length = max((float(r @ r) / max(float(v @ v), TINY)) ** 0.5, 1.0)
        q = xp.maximum(state.q + 2 * length * r + length**2 * v, LEAST_LEFT * second)
        leap = evaluate_proportions(A, w, q / xp.sum(q))
        if leap.objective >= first.objective:
            yield leap
            state = evaluate_proportions(A, w, leap.q * leap.g)
        else:
            state = evaluate_proportions(A, w, second)
        yield state


def estimate_n_components(A: LikelihoodMatrix, w: Array, state: Evaluation) -> float:
    """Estimate how many components the points tell apart: the sum of q times the diagonal of minus the Hessian.

    It is the number of components if each explains points of its own, and one if all are equal.
    """
    n = state.q.shape[0]
    sample = np.unique(np.linspace(0, n - 1, N_SAMPLED).astype(np.int64))
    q = namespace(state.q).take(state.q, asarray_like(sample, state.q))
    shares = A.columns(sample) * divide_weights(namespace(w).sqrt(w), state.Q)[:, None]
    return float(namespace(q).sum(shares**2 @ q)) * n / len(sample)


def predict_support(A: LikelihoodMatrix, w: Array, state: Evaluation) -> Array:
    """Predict which components have a proportion at the maximum: those that a diagonal Newton step leaves positive."""
    diagonal = A.squared_sums(divide_weights(divide_weights(w, state.Q), state.Q))
    return state.g - 1 > -diagonal * state.q


def approach_dense_solution(A: LikelihoodMatrix, w: Array, start: Evaluation) -> Iterator[tuple[Evaluation, bool]]:
    """Yield evaluations, and whether no component is about to leave, until updates become slow.

    Updates only approach zero. So components that a diagonal Newton step would remove are removed once, when the gap
    is small enough to tell. If any is needed after all, the gap stays large.
    """
    xp, least = namespace(start.q), LEAST_SHARE / start.q.shape[0]
    evaluation, updates = start, iterate_extrapolated_updates(A, w, start)
    halved, n_slow, has_removed = start.gap, 0, False
    while n_slow < MAX_SLOW:
        is_settled = not bool(xp.any((evaluation.q > 0) & (evaluation.q < least)))
        yield evaluation, is_settled
        if is_settled or evaluation.gap > REMOVAL_GAP:
            evaluation = next(updates)
            n_slow += 1
            if evaluation.gap <= halved / 2:
                halved, n_slow = evaluation.gap, 0
        elif has_removed:
            return
        else:
            q = keep_where(predict_support(A, w, evaluation), evaluation.q, 0.0)
            evaluation, has_removed = evaluate_proportions(A, w, q / xp.sum(q)), True
            updates = iterate_extrapolated_updates(A, w, evaluation)
