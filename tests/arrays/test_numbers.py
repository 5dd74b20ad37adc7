"""Matrices taken apart and functions of numbers, on every kind of array, against numpy and scipy."""

import numpy as np
import pytest
from scipy.special import gammaln

from consilience.arrays import asarray_like, log_bessel, log_sphere_integral, sum_of_squares, to_numpy
from consilience.arrays.linalg import compute_cross_products, inverse_cholesky, is_positive_definite
from consilience.arrays.special import log_factorial
from transfers import DEVICE, count_transfers, put_on_device

pytestmark = pytest.mark.quick


def covariances(shape=(3, 4, 4)):
    root = np.random.default_rng(0).normal(size=shape)
    return root @ np.swapaxes(root, -1, -2) + np.eye(shape[-1])


@pytest.mark.parametrize("shape", [(4, 4), (3, 4, 4)])
def test_inverse_cholesky_whitens_and_is_triangular(to_kind, shape):
    C = covariances(shape)
    result = to_numpy(inverse_cholesky(to_kind(C)))
    np.testing.assert_allclose(result @ C @ np.swapaxes(result, -1, -2), np.broadcast_to(np.eye(4), shape), atol=1e-12)
    np.testing.assert_array_equal(result, np.tril(result))


def test_indefinite_matrix_is_not_positive_definite(to_kind):
    C = covariances()
    C[1] -= 1.01 * np.linalg.eigvalsh(C[1])[0] * np.eye(4)
    assert not is_positive_definite(to_kind(C))
    assert is_positive_definite(covariances())


def test_inverse_cholesky_of_indefinite_matrix_is_nan_on_torch():
    torch = pytest.importorskip("torch")
    C = covariances()
    C[1] = -C[1]
    result = to_numpy(inverse_cholesky(torch.asarray(C)))
    assert np.isnan(result).any(axis=(1, 2)).tolist() == [False, True, False]
    assert is_positive_definite(torch.asarray(covariances()))


def test_log_factorial(to_kind):
    x = np.r_[0.0, np.arange(1, 200), 1e3, 1e6, 0.5, 3.7]
    np.testing.assert_allclose(to_numpy(log_factorial(to_kind(x))), gammaln(x + 1), rtol=1e-13, atol=1e-13)
    single = log_factorial(to_kind(x.astype(np.float32)))
    assert to_numpy(single).dtype == np.float32
    np.testing.assert_allclose(to_numpy(single), gammaln(x + 1), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("d", [2, 3, 99, 100, 200])
def test_log_bessel_equals_numpy(to_kind, d):
    c = np.array([1e-9, 1e-3, 0.5, 10.0, 300.0, 599.9, 600.1, 1e4, 1e6])
    for order in (d / 2 - 1, d / 2):
        expected = log_bessel(order, c, d)
        np.testing.assert_allclose(to_numpy(log_bessel(order, to_kind(c), d)), expected, rtol=1e-12, atol=1e-11)
    expected = log_sphere_integral(c, d)
    np.testing.assert_allclose(to_numpy(log_sphere_integral(to_kind(c), d)), expected, rtol=1e-11, atol=1e-11)


def test_asarray_like_does_not_copy_arrays_of_the_same_device():
    X, values = put_on_device(np.eye(3)), put_on_device(np.ones(3))
    with count_transfers() as fetched:
        assert asarray_like(values, X) is values
        moved = asarray_like(np.ones(3), X)
    assert (fetched.arrays, fetched.numbers) == ([], 0)
    assert moved.device == DEVICE
    np.testing.assert_array_equal(asarray_like(values, np.eye(3)), np.ones(3))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_compute_cross_products_and_sums_of_squares(to_kind, dtype):
    rng = np.random.default_rng(0)
    X, weights = rng.normal(size=(50, 4)).astype(dtype), rng.random((50, 3)).astype(dtype)
    result = to_numpy(compute_cross_products(to_kind(X), to_kind(weights)))
    assert result.dtype == np.float64
    np.testing.assert_allclose(result, np.einsum("ij,ic,ie->jce", weights, X, X), rtol=1e-4, atol=1e-4)
    np.testing.assert_array_equal(result, np.swapaxes(result, 1, 2))
    np.testing.assert_allclose(to_numpy(sum_of_squares(to_kind(X))), (X**2).sum(axis=1), rtol=1e-5)
