"""Tests of mixture proportions: against other solvers, their certificate, custom matrices and errors."""

from contextlib import nullcontext
from itertools import islice, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.spatial.distance import cdist

from consilience.arrays import KernelMatrix, to_numpy
from consilience.divergences import KullbackLeibler, Likelihood, SquaredEuclidean
from consilience.methods.convex import proportions as module
from consilience.methods.convex.algorithm import StackedLikelihoods, ViewLikelihoods
from consilience.methods.convex.proportions import (
    LikelihoodTable,
    iterate_proportions,
    iterate_updates,
    mixture_proportions,
)

pytestmark = pytest.mark.quick

WITHOUT_SETS = {"many": 0, "largest_set": 0.0, "dense_share": 1.0}  # sets of components are too large from the start

every_problem = pytest.mark.parametrize("seed", [1, 4, 7, 12, 16, 19])  # each property of `problem`, and pairs of them


def likelihoods(n, sharpness=1.0, seed=0, d=2, x=None):
    """Return ``exp(-beta d)`` of all pairs of points, with beta relative to beta_0."""
    x = np.random.default_rng(seed).standard_normal((n, d)) if x is None else x
    apart = cdist(x, x, "sqeuclidean")
    return np.exp(-sharpness * len(x) ** 2 * np.log(len(x)) / apart.sum() * apart)


def problem(seed):
    """Draw a small problem with duplicates, zero likelihoods, few components, or weights, some of them zero."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((rng.integers(2, 41), rng.integers(1, 4)))
    if seed % 4 == 3:
        x = np.concatenate([x, x])[:40]
    n = len(x)
    A = likelihoods(n, 10 ** rng.uniform(np.log10(0.3), 1), x=x)
    if seed % 5 == 4:
        with np.errstate(under="ignore"):
            A = A ** (800 / -np.log(A.min()))
        assert (A == 0).any()
    if seed % 5 == 2:
        A = A[:, rng.choice(n, (n + 1) // 2, replace=False)]
    w = rng.random(n) * (rng.random(n) < 0.8) + 1e-3 * np.eye(n)[0] if seed % 2 else np.ones(n)
    return A, w / w.sum()


def objective(A, w, q):
    return w[w > 0] @ np.log((A @ q)[w > 0])


def gap(A, w, q):
    counts = w > 0
    return (A[counts].T @ (w[counts] / (A @ q)[counts])).max() - 1


def sequential_quadratic(A, w):
    """Maximize with scipy's general solver."""
    m = A.shape[1]

    def negative(q):
        Q = np.maximum(A @ q, 1e-300)
        return -w @ np.log(Q), -A.T @ (w / Q)

    result = minimize(
        negative,
        np.full(m, 1 / m),
        jac=True,
        method="SLSQP",
        bounds=[(0, 1)] * m,
        constraints={"type": "eq", "fun": lambda q: q.sum() - 1, "jac": lambda q: np.ones(m)},
        options={"ftol": 1e-14, "maxiter": 1000},
    )
    assert result.success
    q = np.maximum(result.x, 0)
    return q / q.sum()


def multiplicative(A, w, n_rounds=3000):
    """Repeat the update ``q_j <- q_j sum_i w_i A_ij / Q_i``."""
    q = np.full(A.shape[1], 1 / A.shape[1])
    for _ in range(n_rounds):
        q = q * (A.T @ (w / (A @ q)))
    return q


def assert_solved(result, A, w, tol=1e-6):
    """Assert that the result is consistent and the objective within the tolerance of the maximum."""
    assert result.converged
    assert result.gap <= tol
    assert result.q.min() >= 0
    assert result.q.sum() == pytest.approx(1, abs=1e-12)
    assert result.objective == pytest.approx(objective(A, w, result.q), abs=1e-10)
    assert result.gap == pytest.approx(gap(A, w, result.q), abs=1e-10)


@every_problem
def test_matches_general_solvers(seed):
    A, w = problem(seed)
    result = mixture_proportions(A, w)
    assert_solved(result, A, w)
    for solver in (sequential_quadratic, multiplicative):
        other = solver(A, w)
        best = objective(A, w, other)
        assert gap(A, w, other) < 1e-2, "the other solver is near the maximum"
        assert best <= result.objective + result.gap + 1e-12  # the certificate holds
        assert result.objective <= best + gap(A, w, other) + 1e-12  # so does that of the other solver
        assert result.objective >= best - 1e-6
        start = np.full(A.shape[1], 1 / A.shape[1])
        for state in islice(iterate_proportions(LikelihoodTable(A), w, start), 12):
            assert best <= state.objective + state.gap + 1e-12
            assert state.gap == pytest.approx(gap(A, w, state.q), abs=1e-9)
            assert state.objective == pytest.approx(objective(A, w, state.q), abs=1e-9)


@given(
    n=st.integers(1, 40),
    m=st.integers(1, 60),
    seed=st.integers(0, 2**32 - 1),
    spread=st.floats(0.01, 10),
    weighted=st.booleans(),
    one_hot=st.booleans(),
    sets=st.booleans(),
)
@settings(deadline=None, max_examples=40, derandomize=True)
def test_objective_never_falls(n, m, seed, spread, weighted, one_hot, sets):
    rng = np.random.default_rng(seed)
    A = np.exp(spread * rng.standard_normal((n, m)))
    w = rng.random(n) * (rng.random(n) < 0.8) + np.eye(n)[0] if weighted else np.ones(n)
    w /= w.sum()
    start = np.eye(m)[rng.integers(m)] if one_hot else np.full(m, 1 / m)
    with nullcontext() if sets else module.tuning.set(**WITHOUT_SETS):
        states = list(islice(iterate_proportions(LikelihoodTable(A), w, start), 25))
    for before, after in pairwise(states):
        assert after.objective >= before.objective - 1e-12 * (1 + abs(before.objective))
    for number, state in enumerate(states, 1):
        assert state.n_iter == number
        assert state.q.min() >= 0
        assert state.q.sum() == pytest.approx(1, abs=1e-12)
        assert state.gap >= -1e-12
        assert state.objective == pytest.approx(objective(A, w, state.q), abs=1e-9)
    first = objective(A, w, start)
    assert states[0].objective >= first - 1e-12 * (1 + abs(first))


@given(n=st.integers(1, 40), m=st.integers(1, 60), seed=st.integers(0, 2**32 - 1), digits=st.floats(0, 6))
@settings(deadline=None, max_examples=40, derandomize=True)
def test_solves_random_problems(n, m, seed, digits):
    rng = np.random.default_rng(seed)
    A = 10 ** rng.uniform(-digits, digits, (n, m))
    assert_solved(mixture_proportions(A), A, np.full(n, 1 / n))


@pytest.mark.parametrize(
    ("n", "d", "sharpness"),
    [(40, 5, 0.3), (40, 1, 10.0), (100, 2, 3.0), (300, 5, 10.0), (300, 1, 1.0), (600, 2, 0.3), (600, 1, 3.0)],
)
def test_points_as_components(n, d, sharpness):
    A = likelihoods(n, sharpness, seed=n, d=d)
    assert_solved(mixture_proportions(A, max_iter=200), A, np.full(n, 1 / n))


@pytest.mark.parametrize(
    ("A", "q"),
    [
        ([[3.0]], [1]),
        ([[1.0], [2.0]], [1]),
        ([[1.0, 2.0]], [0, 1]),
        ([[0.0, 2.0]], [0, 1]),
        (np.eye(3), [1 / 3, 1 / 3, 1 / 3]),
        ([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]], [2 / 3, 1 / 3]),
        ([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], [0.5, 0.5, 0]),
    ],
)
def test_tiny_problems(A, q):
    result = mixture_proportions(A)
    np.testing.assert_allclose(result.q, q, atol=1e-6)
    assert result.converged


def test_equal_components():
    result = mixture_proportions(np.outer(np.arange(1.0, 6.0), np.ones(7)))
    assert result.n_iter == 1
    assert result.objective == pytest.approx(np.log(np.arange(1, 6)).mean())


@pytest.mark.parametrize("n", [30, 600])
def test_proportions_of_disjoint_components(n):
    w = np.random.default_rng(0).random(n)
    result = mixture_proportions(np.eye(n), w, tol=1e-9)
    np.testing.assert_allclose(result.q, w / w.sum(), atol=1e-9)
    assert result.converged


# weights


def test_weight_of_two_equals_duplicate_point():
    A = likelihoods(25, 5.0)
    w = np.random.default_rng(0).integers(0, 4, 25)
    weighted, repeated = mixture_proportions(A, w, tol=1e-10), mixture_proportions(np.repeat(A, w, axis=0), tol=1e-10)
    assert weighted.objective == pytest.approx(repeated.objective, abs=1e-10)
    np.testing.assert_allclose(weighted.q, repeated.q, atol=1e-6)


@pytest.mark.parametrize(("n", "start"), [(30, "all"), (30, "one"), (600, "all")])
def test_point_of_zero_weight_may_be_impossible(n, start):
    A, w = likelihoods(n), np.ones(n)
    A[3], w[3] = 0, 0
    result = mixture_proportions(A, w, start=None if start == "all" else np.eye(n)[5])
    assert_solved(result, A, w / w.sum())
    without = mixture_proportions(np.delete(A, 3, axis=0))
    assert result.objective == pytest.approx(without.objective, abs=2e-6)


@pytest.mark.parametrize(("sharpness", "digits"), [(1.0, 16), (10.0, 4), (10.0, 12), (100.0, 8), (100.0, 16)])
def test_weights_of_very_different_size(sharpness, digits):
    n = 60
    A, w = likelihoods(n, sharpness), 10 ** -np.random.default_rng(digits).uniform(0, digits, n)
    assert_solved(mixture_proportions(A, w, max_iter=100), A, w / w.sum())


@pytest.mark.parametrize(
    ("weight", "likelihood", "start"),
    [(1e-3, 1e-10, [1, 0]), (1e-3, 1e-100, None), (1e-5, 1e-30, [1, 0]), (1e-8, 1e-10, None), (1e-8, 1e-100, [1, 0])],
)
def test_point_of_small_weight_stays_possible(weight, likelihood, start):
    A = np.array([[1.0, likelihood], [likelihood, 1.0]])
    w = np.array([1 - weight, weight])
    result = mixture_proportions(A, w, start=start, tol=1e-9, max_iter=100)
    assert_solved(result, A, w, tol=1e-9)
    np.testing.assert_allclose(result.q, w, rtol=1e-6, atol=2 * likelihood)


# starts


@every_problem
def test_start_does_not_matter(seed):
    A, w = problem(seed)
    rng = np.random.default_rng(seed)
    m = A.shape[1]
    expected = mixture_proportions(A, w, tol=1e-8).objective
    starts = [rng.dirichlet(np.ones(m)), 1.0 * (np.arange(m) % 3 == 0), *np.eye(m)[rng.integers(m, size=3)]]
    feasible = [start for start in starts if (A @ start / A.max(axis=1))[w > 0].min() > 1e-8]
    assert feasible
    for start in feasible:
        result = mixture_proportions(A, w, start=start, tol=1e-8)
        assert_solved(result, A, w, tol=1e-8)
        assert result.objective == pytest.approx(expected, abs=1e-8)


@pytest.mark.parametrize(("n", "digits"), [(20, 10), (20, 100), (200, 20), (200, 50)])
def test_start_with_nearly_impossible_points(n, digits):
    A = likelihoods(n)
    A **= digits * np.log(10) / -np.log(A.min())
    start = np.eye(n)[np.unravel_index(A.argmin(), A.shape)[1]]
    assert (A @ start).min() == pytest.approx(10.0**-digits, rel=1e-6)
    assert_solved(mixture_proportions(A, start=start, max_iter=200), A, np.full(n, 1 / n))


def test_start_from_solution():
    A = likelihoods(40, 3.0)
    first = mixture_proportions(A)
    again = mixture_proportions(A, start=first.q)
    assert again.n_iter == 1
    np.testing.assert_allclose(again.q, first.q, atol=1e-15)


def test_arguments_are_not_changed():
    A, w = problem(1)
    start = np.full(A.shape[1], 2.0)
    copies = A.copy(), w.copy(), start.copy()
    mixture_proportions(A, w, start=start)
    assert all(np.array_equal(argument, other) for argument, other in zip((A, w, start), copies, strict=True))


# invariance


@pytest.mark.parametrize("seed", range(2))
def test_order_and_scale_do_not_matter(seed):
    rng = np.random.default_rng(seed)
    A, w = likelihoods(30, 5.0, seed), rng.random(30)
    result = mixture_proportions(A, w, tol=1e-10)
    rows, columns = rng.permutation(30), rng.permutation(30)
    turned = mixture_proportions(A[rows][:, columns], w[rows], tol=1e-10)
    np.testing.assert_allclose(turned.q, result.q[columns], atol=1e-6)
    factors = 10 ** rng.uniform(-100, 100, 30)
    scaled, *others = (mixture_proportions(A * factors[:, None], f * w, tol=1e-10) for f in (1, 1e-300, 1e300))
    np.testing.assert_allclose(scaled.q, result.q, atol=1e-6)
    for other in others:
        assert other.objective == pytest.approx(scaled.objective, abs=1e-10)
    assert scaled.objective == pytest.approx(result.objective + w @ np.log(factors) / w.sum(), abs=1e-10)


def test_duplicate_and_impossible_components():
    A = likelihoods(25, 5.0)
    once = mixture_proportions(A, tol=1e-10)
    more = mixture_proportions(np.hstack([A, np.zeros((25, 1)), A]), tol=1e-10)
    assert more.q[25] <= 1e-6
    np.testing.assert_allclose(more.q[:25] + more.q[26:], once.q, atol=1e-6)


@pytest.mark.parametrize("scale", [1e-300, 1e300])
def test_likelihoods_of_extreme_size(scale):
    result, expected = mixture_proportions(scale * likelihoods(20)), mixture_proportions(likelihoods(20))
    assert result.converged
    assert result.objective == pytest.approx(expected.objective + np.log(scale), rel=1e-6)


# dense solutions


def count_conjugate_steps(monkeypatch):
    steps, original = [], module.take_conjugate_step
    monkeypatch.setattr(module, "take_conjugate_step", lambda *a, **k: steps.append(1) or original(*a, **k))
    return steps


@pytest.mark.parametrize(("sharpness", "weighted"), [(3.0, True), (30.0, False), (300.0, True)])
def test_conjugate_steps_close_gap(sharpness, weighted, monkeypatch, tune):
    A = likelihoods(200, sharpness)
    w = np.random.default_rng(0).random(200) if weighted else np.ones(200)
    w[:40] = 0 if weighted else 1
    w /= w.sum()
    best = objective(A, w, multiplicative(A, w))
    steps = count_conjugate_steps(monkeypatch)
    tune("methods.convex.proportions", **WITHOUT_SETS, largest_table=0)
    result = mixture_proportions(A, w)
    assert len(steps) >= result.n_iter - 4  # the last round has none, nor have rounds with an empty set
    assert_solved(result, A, w)
    assert result.objective >= best - 1e-6


@pytest.mark.parametrize("seed", range(2))
def test_conjugate_steps_match_sets(seed, tune):
    A = likelihoods(80, 60.0, seed)
    assert np.linalg.cond(A) < 1e4  # the proportions are unique
    by_sets = mixture_proportions(A, tol=1e-10)
    assert np.count_nonzero(by_sets.q > 1e-6) > 30
    tune("methods.convex.proportions", **WITHOUT_SETS)
    by_gradients = mixture_proportions(A, tol=1e-10)
    np.testing.assert_allclose(by_gradients.q, by_sets.q, atol=1e-6)


@pytest.mark.parametrize(
    ("A", "start"),
    [
        ([[2, 1, 4, 4, 3, 1], [4, 3, 1, 1, 2, 3], [2, 4, 1, 2, 3, 4], [1, 4, 1, 2, 3, 3]], None),
        ([[1, 2, 2, 2, 3, 1], [3, 1, 1, 4, 2, 4]], [1, 0, 0, 0, 0, 0]),
        ([[4, 4, 4, 1, 3], [1, 2, 3, 4, 3]], [1, 0, 0, 0, 0]),
        ([[4, 2, 4, 1, 2], [1, 3, 2, 1, 4]], [1, 0, 0, 0, 0]),
    ],
)
def test_conjugate_steps_with_more_components_than_points(A, start, tune):
    best = mixture_proportions(A).objective
    tune("methods.convex.proportions", **WITHOUT_SETS)
    result = mixture_proportions(A, start=start)
    assert result.gap < 1e-3
    assert result.objective == pytest.approx(best, abs=1e-4)


@pytest.mark.parametrize(
    ("sharpness", "weighted", "d", "sizes"),
    [
        (10.0, True, 5, {}),
        (30.0, False, 2, {}),
        (100.0, True, 2, {}),
        (100.0, False, 5, {}),
        (3.0, False, 2, {"many": 5, "dense_share": 0.0}),  # updates leave so few that a set can hold them
    ],
)
def test_dense_start_matches_sets(sharpness, weighted, d, sizes, tune):
    tune("methods.convex.proportions", **sizes)
    A = likelihoods(300, sharpness, d=d)
    w = np.random.default_rng(0).random(300) + 0.1 if weighted else np.ones(300)
    result = mixture_proportions(A, w, tol=1e-8)
    tune("methods.convex.proportions", dense_share=2.0)
    by_sets = mixture_proportions(A, w, tol=1e-8)
    assert_solved(result, A, w / w.sum(), tol=1e-8)
    assert result.objective == pytest.approx(by_sets.objective, abs=2e-8)
    np.testing.assert_allclose(A @ result.q, A @ by_sets.q, rtol=1e-3)


def test_dense_solutions_have_exact_zeros():
    A = likelihoods(300, 30.0, d=3)
    result = mixture_proportions(A)
    gradient = A.T @ (1 / 300 / (A @ result.q))
    assert 150 < np.count_nonzero(result.q) < 300
    assert (result.q[gradient < 0.9] == 0).all()


def test_components_removed_too_early_return():
    A = likelihoods(300, 100.0, d=5)
    start = np.full(300, 1.0)
    start[:20] = 1e-12  # less than updates can restore
    result, expected = mixture_proportions(A, start=start), mixture_proportions(A)
    assert_solved(result, A, np.full(300, 1 / 300))
    np.testing.assert_allclose(result.q, expected.q, atol=1e-5)


@pytest.mark.parametrize(
    ("n", "sharpness", "max_steps", "sizes"), [(400, 30.0, 1, WITHOUT_SETS), (450, 100.0, None, {"largest_set": 20.0})]
)
def test_hard_problems_and_large_sets_switch_the_kind_of_step(n, sharpness, max_steps, sizes, monkeypatch, tune):
    A = likelihoods(n, sharpness)
    expected = mixture_proportions(A)
    if max_steps:
        tune("methods.convex.conjugate", max_steps=max_steps)
    tune("methods.convex.proportions", **sizes)
    steps = count_conjugate_steps(monkeypatch)
    result = mixture_proportions(A)
    assert 0 < len(steps) < result.n_iter - (max_steps is None)
    assert_solved(result, A, np.full(n, 1 / n))
    assert result.objective == pytest.approx(expected.objective, abs=1e-6)


def test_set_size_is_limited():
    assert module.limit_set_size((100, 2000)) == 1000
    assert module.limit_set_size((10**9, 2000)) == module.MIN_NEW
    assert module.limit_set_size((1 << 20, 10**6)) == 64


# custom matrices


class Products:
    """Likelihoods without access to entries; counts the products and records requested columns."""

    def __init__(self, A):
        self._matrix, self.products, self.asked = A, 0, []
        self.shape = A.shape

    def __matmul__(self, q):
        assert q.shape == (self.shape[1],)
        self.products += 1
        return self._matrix @ q

    @property
    def T(self):
        return TransposedProducts(self)

    def squared_sums(self, r):
        return r @ self._matrix**2

    def columns(self, components):
        self.asked.append(np.asarray(components))
        return self._matrix[:, components]


class TransposedProducts:
    def __init__(self, whole):
        self.whole = whole

    def __matmul__(self, r):
        assert r.shape == (self.whole.shape[0],)
        self.whole.products += 1
        return self.whole._matrix.T @ r


@pytest.mark.parametrize(("n", "m"), [(40, 40), (100, 900), (900, 100)])
def test_custom_likelihood_matrix(n, m):
    x = np.random.default_rng(0).standard_normal((max(n, m), 3))
    A = np.exp(-2 * cdist(x[:n], x[:m], "sqeuclidean"))
    operator = Products(A)
    result, expected = mixture_proportions(operator), mixture_proportions(A)
    assert_solved(result, A, np.full(n, 1 / n))
    np.testing.assert_allclose(result.q, expected.q, atol=1e-12)
    assert result.n_iter == expected.n_iter


def test_requests_few_columns():
    A = likelihoods(1000, 0.5)
    operator = Products(A)
    result = mixture_proportions(operator)
    assert result.converged
    assert np.count_nonzero(result.q) < 50
    assert max(map(len, operator.asked)) <= module.MIN_NEW
    assert sum(map(len, operator.asked)) < 1000
    assert operator.products <= result.n_iter + 5  # one per round, and a few at the start
    assert all(len(set(columns.tolist())) == len(columns) for columns in operator.asked)


@pytest.mark.parametrize(("divergence", "cached"), [(SquaredEuclidean(), False), (KullbackLeibler(), True)])
def test_divergence_matrix(divergence, cached):
    X = np.random.default_rng(0).poisson(3.0, (300, 4)).astype(float)
    measure = divergence.learn(X)
    points, exemplars = measure.points(X), measure.exemplars(X)
    matrix = KernelMatrix(Likelihood(measure, 0.5), points, exemplars, cached)
    result = mixture_proportions(StackedLikelihoods({"counts": ViewLikelihoods(matrix, np.arange(300), 300)}, 300))
    A = np.exp(0.5 * np.minimum(measure.tile(points, exemplars), 0))
    assert_solved(result, A, np.full(300, 1 / 300))
    assert result.objective == pytest.approx(mixture_proportions(A).objective, abs=1e-6)


@pytest.mark.parametrize(
    ("to_kind", "dtype", "cached", "span"),
    [
        ("numpy", np.float32, True, 100),
        ("torch", np.float32, False, 16),
        ("torch", np.float32, True, 1000),
        ("array_api_strict", np.float32, True, 100),
        ("array_api_strict", np.float64, False, 16),
    ],
    indirect=["to_kind"],
)
def test_products_are_summed_in_float64(to_kind, cached, dtype, span, tune):
    tune("methods.convex.algorithm", float32_span=span)
    tune("arrays.parallel", device_block=3000)
    rng = np.random.default_rng(0)
    X, entities = rng.standard_normal((300, 3)).astype(dtype), np.flatnonzero(rng.random(400) < 0.8)[:300]
    measure = SquaredEuclidean().learn(to_kind(X))
    points = measure.points(to_kind(X))
    matrix = KernelMatrix(Likelihood(measure, 0.5), points, points, cached)
    A = StackedLikelihoods({"rows": ViewLikelihoods(matrix, entities, 400)}, 400)
    B = np.zeros((300, 400))
    B[:, entities] = np.exp(-0.5 * cdist(X.astype(float), X.astype(float), "sqeuclidean"))
    q, r = rng.standard_normal(400), 1e60 * rng.random(300)  # float32 ends at 1e38
    kind = to_kind(q), to_kind(r)
    products = A @ kind[0], A.T @ kind[1], A.squared_sums(kind[1]), A.columns(np.array([0, 399, 7]))
    exact = B @ q, B.T @ r, (B**2).T @ r, B[:, [0, 399, 7]]
    rounding = 1e-6 if dtype == np.float32 else 1e-12
    for product, expected in zip(products, exact, strict=True):
        assert product.dtype == kind[0].dtype
        np.testing.assert_allclose(to_numpy(product), expected, rtol=0, atol=rounding * np.abs(expected).max())


# convergence


def test_rounds_are_limited_and_grow_with_precision():
    for max_iter in (1, 2, 3):
        result = mixture_proportions(likelihoods(600), max_iter=max_iter)
        assert result.n_iter == max_iter
        assert not result.converged
        assert result.gap > 1e-6
    loose, default, tight = (mixture_proportions(likelihoods(300, 2.0), tol=tol) for tol in (1e-1, 1e-4, 1e-8))
    assert loose.n_iter <= default.n_iter <= tight.n_iter > loose.n_iter
    assert loose.gap <= 1e-1
    assert default.gap <= 1e-4
    assert tight.gap <= 1e-8


@pytest.mark.parametrize("largest", [0.01, 500.0])
def test_stops_at_rounding_without_convergence(largest, tune):
    tune("methods.convex.proportions", largest_set=largest)
    A = likelihoods(30, 3.0)
    result = mixture_proportions(A, tol=-1.0)
    assert result.n_iter < 1000
    assert not result.converged
    assert result.gap < 1e-9


# errors

NO_TABLE = "likelihoods must be a table of points and components, got shape "
IMPOSSIBLE = "point 1 has no likelihood under any component of the start: leave it out, or start with more components"
NO_LIKELIHOODS = "likelihoods must be finite and nonnegative: give likelihoods, not their logarithms"


@pytest.mark.parametrize(
    ("A", "message"),
    [
        ([1.0, 2.0], NO_TABLE + r"\(2,\)"),
        (np.ones((2, 0)), NO_TABLE + r"\(2, 0\)"),
        ([["a", "b"]], "likelihoods must hold real numbers: could not convert string to float"),
        ([[1.0 + 2.0j, 1.0]], "likelihoods must hold real numbers, got complex128"),
        ([[1.0, -0.1]], NO_LIKELIHOODS),
        ([[1.0, np.nan]], NO_LIKELIHOODS),
        ([[1.0, np.inf]], NO_LIKELIHOODS),
        ([[1.0, 1.0], [0.0, 0.0]], IMPOSSIBLE),
    ],
)
def test_refuses_likelihoods(A, message):
    with pytest.raises(ValueError, match=message):
        mixture_proportions(A)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([1.0, 2.0], r"must be 3 nonnegative numbers, not all zero, got shape \(2,\)"),
        ([[1.0, 2.0, 3.0]], r"must be 3 nonnegative numbers, not all zero, got shape \(1, 3\)"),
        ([1.0, -1.0, 1.0], "must be 3 nonnegative numbers, not all zero"),
        ([1.0, np.nan, 1.0], "must be 3 nonnegative numbers, not all zero"),
        ([1.0, np.inf, 1.0], "must be 3 nonnegative numbers, not all zero"),
        ([0.0, 0.0, 0.0], "must be 3 nonnegative numbers, not all zero"),
        (["a", "b", "c"], "must hold real numbers: could not convert string to float"),
    ],
)
def test_refuses_weights_and_starts(values, message):
    with pytest.raises(ValueError, match="weights " + message):
        mixture_proportions(np.ones((3, 2)), values)
    with pytest.raises(ValueError, match="start " + message):
        mixture_proportions(np.ones((2, 3)), start=values)


def test_refuses_start_with_impossible_point():
    with pytest.raises(ValueError, match=IMPOSSIBLE):
        mixture_proportions(np.eye(3), start=[1, 0, 1])
    assert mixture_proportions(np.eye(3), [1, 0, 1], start=[1, 0, 1]).converged
    updates = iterate_updates(LikelihoodTable(np.eye(2)), np.full(2, 0.5), np.array([1.0, 0.0]), 0.1)
    with pytest.raises(ValueError, match=IMPOSSIBLE):
        next(updates)


def test_refuses_tolerances():
    for tol in (None, "small", float("nan")):
        with pytest.raises(ValueError, match=f"tol={tol!r} must be a number"):
            mixture_proportions(np.ones((2, 2)), tol=tol)


def test_updates_raise_the_objective_and_end_by_change():
    A = LikelihoodTable(likelihoods(30))
    states = list(iterate_updates(A, np.full(30, 1 / 30), np.full(30, 1 / 30), 1e-4))
    changes = [np.abs(b.q - a.q).sum() for a, b in pairwise(states)]
    assert min(changes[:-1]) >= 1e-4 > changes[-1]
    assert all(b.objective >= a.objective for a, b in pairwise(states))
    assert [state.converged for state in states] == [False] * (len(states) - 1) + [True]
    best = mixture_proportions(A).objective
    assert states[-1].objective <= best + 1e-9 <= states[-1].objective + states[-1].gap + 2e-9
