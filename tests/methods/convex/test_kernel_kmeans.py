"""Tests of kernel k-means: against scikit-learn's k-means, against a literal version, and errors."""

from itertools import islice, pairwise

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist
from sklearn.cluster import KMeans
from sklearn.metrics.pairwise import rbf_kernel

import consilience as cs
import literal_convex as literal
from consilience.methods.convex.kernel_kmeans import (
    DistanceSpace,
    KernelDistances,
    compute_kernel_means,
    iterate_kernel_kmeans,
)


def rows(n=80, d=3, seed=0):
    return np.random.default_rng(seed).standard_normal((n, d)) + 5


def partition(n, k, seed=0):
    return np.random.default_rng(seed).permutation(np.arange(n) % k)


@pytest.mark.parametrize(("k", "seed"), [(1, 0), (2, 0), (5, 0), (5, 1)])
def test_linear_kernel_equals_kmeans(k, seed):
    X, start = rows(seed=seed), partition(80, k, seed)
    centers = np.array([X[start == c].mean(axis=0) for c in range(k)])
    theirs = KMeans(k, init=centers, n_init=1, algorithm="lloyd", tol=0, max_iter=300).fit(X)
    ours = cs.kernel_kmeans(X @ X.T, start)
    assert np.array_equal(ours.labels, theirs.labels_)
    assert ours.cost == pytest.approx(theirs.inertia_, rel=1e-9)
    assert ours.converged
    assert k == 1 or ours.n_iter > 1


@pytest.mark.parametrize(("k", "gamma"), [(2, 0.5), (4, 0.05)])
def test_gaussian_kernel_matches_literal(k, gamma):
    X, start = rows(40), partition(40, k)
    K = rbf_kernel(X, gamma=gamma)
    labels, costs = literal.kernel_kmeans(K, start, k)
    assert len(costs) > 1
    ours = cs.kernel_kmeans(K, start.tolist())
    assert np.array_equal(ours.labels, labels)
    assert ours.cost == pytest.approx(costs[-1], rel=1e-9)
    for n_rounds, cost in enumerate(costs, 1):  # the first round is the given partition
        truncated = cs.kernel_kmeans(K, start, max_iter=n_rounds)
        assert truncated.cost == pytest.approx(cost, rel=1e-9)
        assert truncated.n_iter == n_rounds
        assert truncated.converged == (n_rounds == len(costs))


def test_shift_of_kernel_does_not_matter():
    """Distances do not depend on the origin of the kernel's space."""
    X, start = rows(50), partition(50, 3)
    plain = cs.kernel_kmeans(X @ X.T, start)
    for moved in (X - X.mean(axis=0), X + 1e3):
        result = cs.kernel_kmeans(moved @ moved.T, start)
        assert np.array_equal(result.labels, plain.labels)
        assert result.cost == pytest.approx(plain.cost, rel=1e-6)


@settings(max_examples=30, deadline=None)
@given(st.integers(2, 25), st.integers(1, 6), st.integers(0, 2**20), st.booleans())
@example(18, 6, 6, False)  # rounding could swap two entities forever
def test_cost_never_rises_with_missing_views(n, k, seed, whole):
    rng = np.random.default_rng(seed)
    blocks = [rng.integers(0, 5, (n, d)).astype(float) for d in (1, 2, 3)]  # with ties and duplicates
    present = rng.random((n, 3)) < (1.0 if whole else 0.6)
    present[:, 0] |= ~present.any(axis=1)
    present[0] = True
    spaces = []
    for v, X in enumerate(blocks):
        entities = np.flatnonzero(present[:, v])
        distances = KernelDistances(X[entities] @ X[entities].T)
        spaces.append(DistanceSpace(entities, distances, rng.choice([0.0, 0.5, 2.0])))
    states = list(islice(iterate_kernel_kmeans(spaces, rng.integers(0, k, n), k), 30))
    scale = 1 + states[0].cost
    assert all(after.cost <= before.cost + 1e-9 * scale for before, after in pairwise(states))
    assert states[-1].settled
    for space, means in zip(spaces, states[-1].means, strict=True):
        again, distances = compute_kernel_means(space, states[-1].labels, k)
        np.testing.assert_allclose(means.variance, again.variance)
        assert distances.min() >= -1e-9 * scale
    assert np.isfinite([state.cost for state in states]).all()


@pytest.mark.parametrize("weights", [(0.9, 0.1), (5.0, 1.0)])
def test_views_equal_weighted_sum_of_kernels(weights):
    blocks, start = [rows(40, seed=1), rows(40, 4, seed=2)], partition(40, 4)
    labels, costs = literal.kernel_kmeans(literal.combine_linear_kernels(blocks, weights), start, 4)
    distances = [KernelDistances(X @ X.T) for X in blocks]
    spaces = [DistanceSpace(np.arange(40), D, weight) for D, weight in zip(distances, weights, strict=True)]
    states = list(islice(iterate_kernel_kmeans(spaces, start, 4), len(costs)))
    np.testing.assert_allclose([state.cost for state in states], costs)
    assert np.array_equal(states[-1].labels, labels)
    assert states[-1].settled
    assert len(costs) > 2


def test_kernel_means():
    X, labels, others = rows(30), partition(30, 3), rows(7, seed=1)
    means, distances = compute_kernel_means(DistanceSpace(np.arange(30), KernelDistances(X @ X.T), 1.0), labels, 3)
    centers = np.array([X[labels == c].mean(axis=0) for c in range(3)])
    expected = cdist(X, centers, "sqeuclidean")
    np.testing.assert_allclose(distances, expected, atol=1e-9)
    np.testing.assert_allclose(means.variance, [expected[labels == c, c].mean() for c in range(3)])
    measured = means.measure(cdist(others, X, "sqeuclidean"))
    np.testing.assert_allclose(measured, cdist(others, centers, "sqeuclidean"), atol=1e-9)


def test_empty_cluster_gets_farthest_entity():
    X = np.array([[0.0], [0.1], [0.2], [5.0], [5.1], [9.0]])
    result = cs.kernel_kmeans(X @ X.T, [0, 0, 0, 2, 2, 2])  # cluster 1 is empty
    assert result.labels.tolist() == [0, 0, 0, 2, 2, 1]
    assert result.cost == pytest.approx(0.02 + 0.005)
    left = cs.kernel_kmeans(X @ X.T, [0, 0, 0, 0, 0, 5])  # clusters 1 to 4 are empty
    assert sorted(set(left.labels)) == [0, 1, 2, 3, 4, 5]
    assert left.cost == pytest.approx(0.0)


@pytest.mark.parametrize(
    ("X", "start"),
    [
        (np.eye(3), [0, 1, 7]),  # more clusters than entities
        (np.ones((6, 1)), [0, 1, 0, 1, 1, 0]),
        (np.arange(3.0)[:, None], [0, 0, 1]),  # the second is as far from both means
        (np.arange(3.0)[:, None], [0, 1, 1]),
    ],
)
def test_clusters_that_cannot_improve_stay(X, start):
    result = cs.kernel_kmeans(X @ X.T, start)
    assert result.labels.tolist() == start
    assert result.converged
    assert result.n_iter == 1


def test_arguments_are_not_changed():
    X, start = rows(30), partition(30, 3)
    K, labels = X @ X.T, start.copy()
    result = cs.kernel_kmeans(K, start)
    assert np.array_equal(K, X @ X.T)
    assert np.array_equal(start, labels)
    assert not np.array_equal(result.labels, start)


@pytest.mark.parametrize("kind", [np.float32, np.int64])
def test_dtypes(kind):
    X = np.round(rows(40)).astype(kind)
    start = partition(40, 3).astype(np.uint8)
    plain = cs.kernel_kmeans((X.astype(float) @ X.T).tolist(), start.tolist())
    assert np.array_equal(cs.kernel_kmeans(X @ X.T, start).labels, plain.labels)


@pytest.mark.parametrize(
    ("kernel", "init", "message"),
    [
        (np.ones((3, 2)), [0, 1, 1], r"kernel must be a square matrix of inner products, got shape \(3, 2\)"),
        (np.ones(3), [0, 1, 1], r"kernel must be a square matrix of inner products, got shape \(3,\)"),
        (np.ones((0, 0)), [], r"kernel must be a square matrix of inner products, got shape \(0, 0\)"),
        (np.full((3, 3), np.nan), [0, 1, 1], "kernel must be symmetric and finite: average it with its transpose"),
        (np.triu(np.ones((3, 3))), [0, 1, 1], "kernel must be symmetric and finite: average it with its transpose"),
        ("nonsense", [0], "kernel must hold real numbers: could not convert string to float"),
        (np.eye(3) + 1j, [0, 1, 1], "kernel must hold real numbers, got complex128"),
        (np.eye(3), [0, 1], r"init must be 3 whole numbers from 0 on, got int64 of shape \(2,\)"),
        (np.eye(3), [[0, 1, 1]], r"init must be 3 whole numbers from 0 on, got int64 of shape \(1, 3\)"),
        (np.eye(3), [0.0, 1.0, 1.0], r"init must be 3 whole numbers from 0 on, got float64 of shape \(3,\)"),
        (np.eye(3), ["a", "b", "b"], r"init must be 3 whole numbers from 0 on, got <U1 of shape \(3,\)"),
        (np.eye(3), [0, 1, -1], "init must be 3 whole numbers from 0 on"),
        (np.eye(3), None, r"init must be 3 whole numbers from 0 on, got object of shape \(\)"),
    ],
)
def test_refuses(kernel, init, message):
    with pytest.raises(ValueError, match=message):
        cs.kernel_kmeans(kernel, init)


def test_refuses_max_iter():
    for max_iter in (0, 1.5, None):
        with pytest.raises(ValueError, match=f"max_iter={max_iter} must be a whole number from 1 on"):
            cs.kernel_kmeans(np.eye(3), [0, 1, 1], max_iter=max_iter)
