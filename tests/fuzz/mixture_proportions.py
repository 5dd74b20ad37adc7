"""`mixture_proportions`: shares on the simplex whose certificate holds."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

import consilience as cs

from .case import ACCEPTED, Case, call, require


def check(case: Case) -> str:
    """Fit shares to random likelihoods; require optimality conditions and an objective no worse than the start's."""
    rng = case.rng
    n, m = int(case.choose([1, 2, 5, 20, 60])), int(case.choose([1, 2, 3, 10, 40]))
    A = random_likelihoods(case, n, m)
    weights = None if case.chance(0.6) else rng.random(n) * case.choose([1, 1e-300, 1e300])
    start = None if case.chance(0.7) else rng.dirichlet(np.full(m, case.choose([0.1, 1])))
    if weights is not None and case.chance(0.3):
        weights[rng.random(n) < 0.3] = 0
    options = {"tol": case.choose([1e-6, 1e-6, 1e-3, 0.0]), "max_iter": case.choose([1, 3, 1000, 1000])}
    if case.chance(0.1):
        A, weights, start, options = spoil(case, A, weights, start, options)
    case.note(A=A, weights=weights, start=start, options=options)
    matrix = (
        case.choose([A, A.tolist(), sp.csr_array(A)])
        if isinstance(A, np.ndarray) and A.ndim == 2 and A.dtype.kind == "f"
        else A
    )
    result = call(cs.mixture_proportions, matrix, weights, start=start, **options)
    q, A = np.asarray(result.q), np.asarray(A, float)
    require(q.shape == (m,) and np.isfinite(q).all() and (q >= 0).all(), "the shares are negative or not finite")
    require(abs(q.sum() - 1) < 1e-9, f"the shares sum to {q.sum()}")
    w = (
        np.full(n, 1 / n)
        if weights is None
        else np.asarray(weights) / np.max(weights) / np.sum(weights / np.max(weights))
    )
    largest = np.where(A.max(axis=1) > 0, A.max(axis=1), 1)
    scaled = A / largest[:, None]
    objective = log_likelihood(scaled, w, q) + np.sum(w * np.log(largest))
    require(np.isclose(result.objective, objective, rtol=1e-6, atol=1e-8), f"{result.objective} is not {objective}")
    begin = np.full(m, 1 / m) if start is None else start / start.sum()
    require(
        log_likelihood(scaled, w, q) >= log_likelihood(scaled, w, begin) - 1e-9, "the result is worse than the start"
    )
    used = w > 0
    with np.errstate(divide="ignore", over="ignore"):
        gradient = (w[used] / (scaled[used] @ q)) @ scaled[used]
    require(
        np.isclose(result.gap, gradient.max() - 1, rtol=1e-4, atol=1e-7), f"gap {result.gap}, not {gradient.max() - 1}"
    )
    require(result.converged == (result.gap <= options["tol"]), "converged contradicts the gap")
    require(result.n_iter <= options["max_iter"], f"{result.n_iter} rounds")
    if options["max_iter"] == 1000 and options["tol"] > 0:
        require(result.converged, f"no convergence: gap {result.gap} after {result.n_iter} rounds")
    return ACCEPTED


def random_likelihoods(case: Case, n: int, m: int) -> np.ndarray:
    """Draw densities of points under components, of every width and scale."""
    rng = case.rng
    kind = case.choose(["normal", "normal", "uniform", "sparse", "identity"])
    if kind == "normal":
        x, centres = rng.normal(size=n) * 3, rng.normal(size=m) * 3
        A = np.exp(-np.square(x[:, None] - centres) / (2 * case.choose([0.01, 1, 100])))
    elif kind == "uniform":
        A = rng.random((n, m))
    elif kind == "sparse":
        A = np.where(rng.random((n, m)) < 0.3, rng.random((n, m)), 0)
    else:
        A = np.eye(n, m) + case.choose([0, 1e-12, 0.1])
    if case.chance(0.2):
        A = A * 10.0 ** rng.integers(-200, 200, size=(n, 1))
    if case.chance(0.1):
        A = A[:, rng.integers(m, size=m)]
    return A


def log_likelihood(A: np.ndarray, w: np.ndarray, q: np.ndarray) -> float:
    used = w > 0
    with np.errstate(divide="ignore"):
        return float(np.sum(w[used] * np.log(A[used] @ q)))


def spoil(case: Case, A: np.ndarray, weights: object, start: object, options: dict) -> tuple:
    """Make one of the arguments invalid."""
    n, m = A.shape
    name = case.choose(["likelihoods", "weights", "start", "tol", "max_iter"])
    if name == "likelihoods":
        damaged = A.copy()
        damaged[case.rng.integers(n), case.rng.integers(m)] = case.choose([np.nan, np.inf, -1.0])
        A = case.choose([damaged, A[0], A[:, :0], A[:0], None, "nonsense", np.zeros_like(A), A.astype(str), A + 1j])
    vector = [np.full(n, np.nan), np.zeros(n), -np.ones(n), np.ones(n + 1), "nonsense", np.ones((n, 1)), [1, "a"]]
    if name == "weights":
        weights = case.choose(vector)
    elif name == "start":
        start = case.choose([np.full(m, np.nan), np.zeros(m), -np.ones(m), np.ones(m + 1), "nonsense"])
    elif name == "tol":
        options = options | {"tol": case.choose([None, "x", float("nan")])}
    elif name == "max_iter":
        options = options | {"max_iter": case.choose([0, -1, None, 2.5, "x"])}
    return A, weights, start, options
