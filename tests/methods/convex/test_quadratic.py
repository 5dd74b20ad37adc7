"""Tests of quadratic minima over nonnegative numbers, against scipy's nonnegative least squares."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import nnls
from scipy.spatial.distance import cdist

from consilience.methods.convex.quadratic import minimize_nonnegative


def value(H, b, p):
    return p @ H @ p / 2 - b @ p


def tall(rng, n):
    return rng.standard_normal((2 * n, n)), rng.standard_normal(2 * n)


def wide(rng, n):
    return rng.standard_normal(((n + 1) // 2, n)), rng.standard_normal((n + 1) // 2)


def positive(rng, n):
    return rng.random((n + 3, n)), rng.random(n + 3)


def repeat_columns(rng, n):
    return rng.standard_normal((2 * n, n))[:, rng.integers((n + 1) // 2, size=n)], rng.standard_normal(2 * n)


def smooth(rng, n):
    """Make nearly dependent columns, as those of neighboring components are."""
    x = rng.standard_normal((n, 2))
    return np.exp(-cdist(x, x, "sqeuclidean") / 2), rng.random(n) + 0.1


def with_zeros(rng, n):
    B, y = tall(rng, n)
    B[:, rng.random(n) < 0.4] = 0
    B[0, 0] = 1
    return B, y


def nothing_to_gain(rng, n):
    B = rng.random((n, n))
    return B, -rng.random(n)


KINDS = [tall, wide, positive, repeat_columns, smooth, with_zeros, nothing_to_gain]
GUESSES = [np.zeros, np.ones, lambda n: np.arange(n) % 2]


@pytest.mark.parametrize("kind", KINDS)
def test_equals_nonnegative_least_squares(kind):
    for seed, (n, guess) in enumerate(product((1, 2, 5, 20, 60), GUESSES)):
        B, y = kind(np.random.default_rng(seed), n)
        H, b = B.T @ B, B.T @ y
        expected, _ = nnls(B, y, maxiter=100 * n)
        free = guess(n).astype(bool)
        result = minimize_nonnegative(H, b, free)
        assert result.min() >= 0
        assert value(H, b, result) == pytest.approx(value(H, b, expected), abs=1e-8 * (y @ y))
        if kind in (tall, positive):  # full rank, so the solution is unique
            np.testing.assert_allclose(result, expected, atol=1e-7 * max(1, expected.max()))
        assert np.array_equal(free, guess(n).astype(bool))


@given(n=st.integers(1, 30), rank=st.integers(1, 40), seed=st.integers(0, 2**32 - 1))
@settings(deadline=None, max_examples=40, derandomize=True)
def test_is_stationary(n, rank, seed):
    rng = np.random.default_rng(seed)
    B, y = rng.standard_normal((rank, n)), rng.standard_normal(rank)
    H, b = B.T @ B, B.T @ y
    p = minimize_nonnegative(H, b, rng.random(n) < 0.5)
    slope, size = H @ p - b, np.abs(b).max()
    assert p.min() >= 0
    assert slope.min() >= -1e-7 * size
    assert np.abs(slope[p > 1e-9 * p.max()]).max(initial=0) <= 1e-7 * size


@pytest.mark.parametrize("digits", [4, 40])
def test_units_do_not_matter(digits):
    rng = np.random.default_rng(digits)
    B, y = tall(rng, 20)
    H, b = B.T @ B, B.T @ y
    units = 10 ** rng.uniform(-digits, digits, 20)
    expected, _ = nnls(B, y)
    result = minimize_nonnegative(H * units * units[:, None], b * units, np.ones(20, bool))
    np.testing.assert_allclose(result * units, expected, atol=1e-8)


@pytest.mark.parametrize(
    ("H", "b"), [(np.eye(3), -np.ones(3)), (np.eye(3), np.zeros(3)), (np.zeros((3, 3)), np.zeros(3))]
)
def test_zero_solution(H, b):
    assert np.array_equal(minimize_nonnegative(H, b, np.ones(3, bool)), np.zeros(3))
