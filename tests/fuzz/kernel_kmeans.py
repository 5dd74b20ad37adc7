"""`kernel_kmeans`: its cost never rises, equals the definition, and no single move to a nearer mean is left."""

from __future__ import annotations

import numpy as np

import consilience as cs

from .case import ACCEPTED, Case, call, require


def check(case: Case) -> str:
    """Cluster a random kernel from a random partition."""
    rng = case.rng
    n = int(case.choose([1, 2, 3, 8, 20, 40]))
    X = rng.normal(size=(n, int(case.choose([1, 2, 5]))))
    if case.chance(0.3):
        X = X[rng.integers(n, size=n)]
    K = X @ X.T * case.choose([1, 1, 1, 1e-12, 1e-150, 1e12, 1e150, 1e300, 0])
    positive = not case.chance(0.1)
    if not positive:  # symmetric, but not positive semidefinite
        K = K - case.choose([0.1, 1, 10]) * np.abs(K).max(initial=0) * np.eye(n)
    init = rng.integers(int(case.choose([1, 2, 3, n])), size=n)
    max_iter = case.choose([1, 2, 5, 300])
    if case.chance(0.15):
        K, init, max_iter = spoil(case, K, init, max_iter)
        positive = False
    case.note(K=K, init=init, max_iter=max_iter)
    result = call(cs.kernel_kmeans, K, init, max_iter=max_iter)
    K, init = np.asarray(K, float), np.asarray(init)
    k, scale = init.max() + 1, max(np.abs(K).max(), 1e-300)
    require(result.labels.shape == (n,) and 0 <= result.labels.min() <= result.labels.max() < k, "labels out of range")
    require(1 <= result.n_iter <= max_iter, f"{result.n_iter} rounds")
    tolerance = 1e-9 * n * scale
    require(abs(result.cost - cost(K, result.labels)) <= tolerance, f"the cost {result.cost} is not that of the labels")
    if positive and len(np.unique(init)) == k:
        require(result.cost <= cost(K, init) + tolerance, f"the cost rose from {cost(K, init)} to {result.cost}")
        check_rounds(K, init, result, tolerance)
    again = call(cs.kernel_kmeans, K, result.labels, max_iter=300) if len(np.unique(result.labels)) == k else None
    if result.converged and again is not None:
        require(np.array_equal(again.labels, result.labels), "a converged result moves when started again")
    return ACCEPTED


def cost(K: np.ndarray, labels: np.ndarray) -> float:
    """Sum of squared distances from the means, by definition."""
    total = float(np.trace(K))
    for cluster in np.unique(labels):
        members = labels == cluster
        total -= float(K[np.ix_(members, members)].sum() / members.sum())
    return total


def check_rounds(K: np.ndarray, init: np.ndarray, result: object, tolerance: float) -> None:
    """The cost falls from round to round."""
    costs = [call(cs.kernel_kmeans, K, init, max_iter=rounds).cost for rounds in (1, 2, 3)]
    require(costs[0] + tolerance >= costs[1] >= costs[2] - tolerance, f"the cost rises over the rounds: {costs}")


def spoil(case: Case, K: np.ndarray, init: np.ndarray, max_iter: object) -> tuple:
    """Make one of the arguments invalid."""
    n, name = len(K), case.choose(["kernel", "init", "max_iter"])
    if name == "max_iter":
        return K, init, case.choose([0, -1, 2.5, None, "3", float("nan")])
    if name == "init":
        wrong = [init[:-1], init - 1, init + 0.5, init.astype(str), None, [], init[:, None], init.astype(float)]
        return K, case.choose(wrong), max_iter
    damaged = K.copy()
    damaged[case.rng.integers(n), case.rng.integers(n)] = case.choose([np.nan, np.inf, 1e300, -1e300])
    wrong = [damaged, damaged, K[:-1], K[:, :, None], [], None, "nonsense", K + 1j]
    return case.choose(wrong), init, max_iter
