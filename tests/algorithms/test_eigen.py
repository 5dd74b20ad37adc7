"""The block Krylov solver against numpy's eigenvalues of the whole matrix."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.linalg import subspace_angles

from consilience.algorithms.eigen import SPARE, top_eigenvectors


def with_values(values, seed=0):
    """A symmetric matrix that has these eigenvalues."""
    Q, _ = np.linalg.qr(np.random.default_rng(seed).standard_normal((len(values), len(values))))
    return (Q * values) @ Q.T


def top(A, k, dtype=np.float64):
    start = np.random.default_rng(3).standard_normal((A.shape[0], min(A.shape[0], k + SPARE)))
    return top_eigenvectors(lambda U: A @ U, start.astype(dtype), k)


@pytest.mark.parametrize("k", [1, 3, 10])
@pytest.mark.parametrize("n", [10, 15, 40, 300])
def test_equals_the_whole_decomposition(n, k):
    A = with_values(np.random.default_rng(n).uniform(-1, 1, n))
    values, vectors = top(A, k)
    expected, whole = np.linalg.eigh(A)
    np.testing.assert_allclose(values, expected[::-1][:k], atol=1e-12)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(k), atol=1e-10)
    if n > k:
        assert np.sin(subspace_angles(vectors, whole[:, ::-1][:, :k])).max() < 1e-8


def test_largest_is_not_largest_in_size():
    values, _ = top(with_values(np.r_[np.linspace(-5, -1, 50), np.linspace(0, 0.9, 50)]), 4)
    np.testing.assert_allclose(values, np.linspace(0, 0.9, 50)[::-1][:4], atol=1e-10)


def test_repeated_eigenvalues_are_all_found():
    parts = sp.block_diag([np.ones((20, 20)) / 20] * 9, format="csr")  # nine parts, nine times the eigenvalue 1
    values, vectors = top(parts, 9)
    np.testing.assert_allclose(values, 1, atol=1e-10)
    assert np.linalg.matrix_rank(vectors) == 9
    values, vectors = top(parts, 4)
    np.testing.assert_allclose(values, 1, atol=1e-10)
    np.testing.assert_allclose(parts @ vectors, vectors, atol=1e-9)


def test_low_rank_and_zero_matrices_end():
    values, vectors = top(with_values(np.r_[3.0, 2.0, np.zeros(60)]), 5)
    np.testing.assert_allclose(values, [3, 2, 0, 0, 0], atol=1e-10)
    assert np.isfinite(vectors).all()
    values, vectors = top(np.zeros((30, 30)), 2)
    np.testing.assert_allclose(values, 0, atol=1e-12)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(2), atol=1e-10)


def test_float32():
    A = with_values(np.r_[np.linspace(0.5, 1, 6), np.linspace(0, 0.3, 200)]).astype(np.float32)
    _, vectors = top(A, 6, np.float32)
    assert vectors.dtype == np.float32
    _, whole = np.linalg.eigh(A.astype(np.float64))
    assert np.sin(subspace_angles(vectors.astype(float), whole[:, ::-1][:, :6])).max() < 1e-4
