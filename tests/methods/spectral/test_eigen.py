"""The block Krylov solver against numpy's eigenvalues of the whole matrix."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.linalg import subspace_angles

from consilience.arrays import to_numpy
from consilience.methods.spectral.eigen import N_GUARD_VECTORS, decompose_dense, extend_basis, top_eigenvectors
from transfers import count_transfers, put_on_device

pytestmark = pytest.mark.quick


def make_matrix(values, seed=0):
    """Create a symmetric matrix with these eigenvalues."""
    Q, _ = np.linalg.qr(np.random.default_rng(seed).standard_normal((len(values), len(values))))
    return (Q * values) @ Q.T


def test_eigenvectors_in_float32():
    A = make_matrix(np.r_[np.linspace(0.5, 1, 6), np.linspace(0, 0.3, 200)]).astype(np.float32)
    start = np.random.default_rng(3).standard_normal((206, 6 + N_GUARD_VECTORS)).astype(np.float32)
    vectors = top_eigenvectors(lambda U: A @ U, start, 6).vectors
    assert vectors.dtype == np.float32
    _, whole = np.linalg.eigh(A.astype(np.float64))
    assert np.sin(subspace_angles(vectors.astype(float), whole[:, ::-1][:, :6])).max() < 1e-4


def make_path_graph(n):
    """Create the normalized adjacency of a path with loops, whose eigenvalues are very close."""
    A = sp.diags_array([np.ones(n - 1), np.ones(n), np.ones(n - 1)], offsets=[-1, 0, 1]).tocsr()
    root = np.asarray(A.sum(axis=1)).ravel() ** -0.5
    return sp.diags_array(root) @ A @ sp.diags_array(root), 1 / root


def test_close_eigenvalues():
    A, first = make_path_graph(1000)
    start = np.random.default_rng(0).standard_normal((1000, 8))
    start[:, 0] = first  # known: the eigenvalue 1
    top = top_eigenvectors(lambda U: A @ U, start, 4)
    expected = sp.linalg.eigsh(A, k=5, sigma=1.0001, which="LM")[0][::-1]
    assert top.converged
    assert np.diff(expected).max() > -1e-5
    np.testing.assert_allclose(top.values, expected[:4], atol=1e-12)
    assert top.values[0] == pytest.approx(1, abs=1e-13)


def test_next_eigenvalue_and_convergence(tune):
    A = make_matrix(np.arange(1.0, 61.0))
    top = top_eigenvectors(lambda U: A @ U, np.random.default_rng(0).random((60, 9)), 4)
    np.testing.assert_allclose(top.values, [60, 59, 58, 57], atol=1e-9)
    assert 50 < top.next_eigenvalue <= 56 + 1e-9
    assert top.converged
    tune("methods.spectral.eigen", max_products=2)
    A, _ = make_path_graph(500)
    assert not top_eigenvectors(lambda U: A @ U, np.random.default_rng(0).random((500, 6)), 2).converged


def test_rounded_products_stop_early():
    A, products = make_matrix(np.linspace(0, 1, 80) ** 4), []

    def rounded(U):
        products.append(1)
        return np.round(A @ U, 10)

    top = top_eigenvectors(rounded, np.random.default_rng(0).random((80, 9)), 4)
    assert top.converged
    assert len(products) < 200


MATRICES = {
    "small": make_matrix(np.random.default_rng(0).uniform(-1, 1, 10)),
    "hardly wider than the start": make_matrix(np.random.default_rng(0).uniform(-1, 1, 15)),
    "large": make_matrix(np.random.default_rng(0).uniform(-1, 1, 300)),
    "all negative": make_matrix(-np.linspace(1, 2, 60)),
    "of low rank": make_matrix(np.r_[3.0, 2.0, np.zeros(60)]),
    "of large negative values": make_matrix(np.r_[np.linspace(-5, -1, 50), np.linspace(0, 0.9, 50)]),
    "nothing": np.zeros((30, 30)),
    "in parts": sp.block_diag([sp.coo_array(np.ones((20, 20)) / 20)] * 9).toarray(),
    "close together": make_path_graph(400)[0].toarray(),
}


@pytest.mark.parametrize("A", MATRICES.values(), ids=MATRICES)
def test_eigenvectors_of_array_libraries(A, to_kind):
    matrix = to_kind(A)
    for k in (1, 6, 10) if to_kind is np.asarray else (6,):
        start = np.random.default_rng(3).standard_normal((len(A), min(len(A), k + N_GUARD_VECTORS)))
        top = top_eigenvectors(lambda U: matrix @ U, to_kind(start), k)
        assert top.converged
        assert type(top.values) is type(top.vectors) is type(matrix)
        values, vectors = to_numpy(top.values), to_numpy(top.vectors)
        np.testing.assert_allclose(values, np.linalg.eigvalsh(A)[::-1][:k], atol=1e-10)
        np.testing.assert_allclose(vectors.T @ vectors, np.eye(k), atol=1e-9)
        np.testing.assert_allclose(A @ vectors, vectors * values, atol=1e-9)


def test_redundant_columns_on_a_device():
    rng = np.random.default_rng(0)
    basis = np.linalg.qr(rng.standard_normal((50, 6)))[0]
    block = np.column_stack([basis[:, 0], np.zeros(50), basis @ rng.standard_normal(6), rng.standard_normal(50)])
    extension = to_numpy(extend_basis(put_on_device(basis), put_on_device(block)))
    assert extension.shape == (50, 4)
    np.testing.assert_allclose(extension.T @ extension, np.eye(4), atol=1e-12)
    np.testing.assert_allclose(basis.T @ extension, 0, atol=1e-12)
    new = block[:, 3] - basis @ (basis.T @ block[:, 3])
    np.testing.assert_allclose(extension @ (extension.T @ new), new, atol=1e-10)


def test_each_step_fetches_once():
    A, products = put_on_device(make_matrix(np.linspace(0, 1, 200) ** 2)), []

    def product(U):
        products.append(U.shape)
        return A @ U

    start = put_on_device(np.random.default_rng(0).standard_normal((200, 7)))
    with count_transfers() as fetched:
        assert top_eigenvectors(product, start, 3).converged
    assert len(fetched.arrays) == len(products) > 5
    assert fetched.numbers == 0
    assert max(np.prod(shape) for shape in fetched.arrays) < 100


@pytest.mark.parametrize("n", [1, 4])
def test_zero_start(n):
    values, vectors, _, settled = top_eigenvectors(lambda U: 2 * U, np.zeros((n, 1)), 1)
    np.testing.assert_allclose(values, [2])
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=0), [1])
    assert settled


def test_tolerance_ends_the_search_early():
    rng = np.random.default_rng(0)
    A = rng.normal(size=(300, 300))
    A = A + A.T
    start, n_products = rng.random((300, 9)), []
    for tolerance in (None, 1e-3):
        products = []
        top = top_eigenvectors(lambda U, products=products: products.append(U) or A @ U, start, 4, tolerance=tolerance)
        residuals = np.linalg.norm(A @ top.vectors - top.vectors * top.values, axis=0)
        assert top.converged
        assert (residuals <= (tolerance or 1e-9) * 1.01 * np.linalg.norm(A, 2)).all()
        n_products.append(len(products))
    assert n_products[1] < n_products[0]


@pytest.mark.parametrize("A", MATRICES.values(), ids=MATRICES)
def test_decompose_dense(A):
    expected = np.linalg.eigvalsh(A)[::-1]
    for k in (1, 2, 6, 9, 10):
        top = decompose_dense(A, k)
        np.testing.assert_allclose(top.values, expected[:k], atol=1e-12)
        np.testing.assert_allclose(top.vectors.T @ top.vectors, np.eye(k), atol=1e-10)
        np.testing.assert_allclose(A @ top.vectors, top.vectors * top.values, atol=1e-10)
        assert top.converged
        assert top.next_eigenvalue == pytest.approx(expected[k] if k < len(A) else -np.inf, abs=1e-12)


@pytest.mark.parametrize("n_wanted", [1, 4, 8])
def test_dense_eigenvalues_that_coincide(n_wanted):
    rng = np.random.default_rng(0)
    for _ in range(5):  # graphs of many small components
        order = rng.permutation(200)
        A = np.eye(200)
        pairs = order[:180].reshape(-1, 2)
        A[pairs[:, 0], pairs[:, 1]] = A[pairs[:, 1], pairs[:, 0]] = rng.random(len(pairs)) > 0.2
        root = A.sum(axis=1) ** -0.5
        A = root[:, None] * A * root
        top = decompose_dense(A, n_wanted)
        np.testing.assert_allclose(top.values, 1, atol=1e-12)
        np.testing.assert_allclose(A @ top.vectors, top.vectors, atol=1e-12)
        np.testing.assert_allclose(top.vectors.T @ top.vectors, np.eye(n_wanted), atol=1e-12)
        assert top.next_eigenvalue == pytest.approx(1)
