"""A function of two rows as a matrix: on every kind of array, cached and not, in blocks and whole."""

import numpy as np
import pytest
from array_api_compat import device
from scipy.spatial.distance import cdist

from consilience.affinities import Linear
from consilience.arrays import (
    KernelMatrix,
    SymmetricKernelMatrix,
    add_terms,
    fits_in_memory,
    list_upper_tiles,
    namespace,
    to_numpy,
    use_threads,
)
from consilience.arrays.pairwise_kernels import keep_between
from consilience.divergences import Likelihood, SquaredEuclidean
from transfers import count_transfers, put_on_device


def make_kernel_matrix(X, cached=True, shift=0.0):
    measure = SquaredEuclidean().learn(X)
    points = measure.points(X)
    return KernelMatrix(Likelihood(measure, 0.5), points, points.slice_rows(slice(0, 40)), cached, shift)


def rows():
    return np.random.default_rng(0).standard_normal((70, 3))


@pytest.fixture(params=[1 << 27, 40 * 20])
def _blocks(request, tune):
    tune("arrays.parallel", device_block=request.param)
    tune("arrays.pairwise", tile=min(request.param, 1 << 20))


@pytest.mark.usefixtures("_blocks")
@pytest.mark.parametrize(("cached", "shift"), [(True, 0.25), (False, 0.0)])
def test_products_equal_numpy_and_keep_the_kind_of_the_rows(to_kind, cached, shift):
    X, U = rows(), np.random.default_rng(1).standard_normal((70, 2))
    K = np.exp(-0.5 * cdist(X, X[:40], "sqeuclidean")) - shift
    matrix = make_kernel_matrix(to_kind(X), cached, shift)
    chosen = np.array([3, 0, 39])
    for kind in (to_kind, np.asarray):  # what numpy holds goes where the rows are
        pairs = (
            (matrix @ kind(U[:40]), K @ U[:40]),
            (matrix.T @ kind(U), K.T @ U),
            (matrix.columns(kind(chosen)), K[:, chosen]),
        )
        for product, expected in pairs:
            assert namespace(product) is namespace(to_kind(X))
            np.testing.assert_allclose(to_numpy(product), expected, atol=1e-12)
    assert matrix.norm() == pytest.approx(np.linalg.norm(K))
    assert matrix.least() == pytest.approx(K.min())


@pytest.mark.usefixtures("_blocks")
@pytest.mark.parametrize("cached", [True, False])
def test_products_stay_on_the_device(cached):
    X, U = put_on_device(rows()), np.random.default_rng(1).standard_normal((70, 2))
    matrix = make_kernel_matrix(X, cached)
    with count_transfers() as fetched:
        products = matrix @ U[:40], matrix.T @ put_on_device(U), matrix.columns(np.arange(3))
    assert [device(product) for product in products] == [device(X)] * 3
    assert (fetched.arrays, fetched.numbers) == ([], 0)
    with count_transfers() as fetched:
        matrix.norm()
        matrix.least()
    assert fetched.numbers + len(fetched.arrays) == 2  # at once, however many blocks there are
    assert sum(map(np.prod, fetched.arrays), 0) <= 2 * len(matrix.blocks)


def test_device_memory_limits_cached_tables(monkeypatch):
    X = put_on_device(rows())
    assert fits_in_memory(1 << 30, X)
    assert not fits_in_memory((1 << 30) + 1, X)  # nothing is known of the memory
    monkeypatch.setattr("consilience.arrays.pairwise.available_device_memory", lambda _: 100 << 30)
    assert fits_in_memory(80 << 30, X)
    assert not fits_in_memory(81 << 30, X)


@pytest.mark.parametrize(
    ("tile", "cached", "n_vectors", "dtype"),
    [
        (1 << 17, True, 1, np.float64),
        (1 << 17, False, 4, np.float32),
        (600, False, 1, np.float32),
        (600, False, 7, np.float64),
        (600, True, 4, np.float32),
    ],
)
def test_symmetric_products_equal_numpy(tile, cached, n_vectors, dtype, tune):
    tune("arrays.pairwise", symmetric_tile=tile)
    X, U = rows(), np.random.default_rng(1).standard_normal((70, n_vectors))
    K = np.exp(-0.5 * cdist(X, X, "sqeuclidean")) - 0.25
    measure = SquaredEuclidean().learn(X)
    matrix = SymmetricKernelMatrix(Likelihood(measure, 0.5), measure.points(X.astype(dtype)), cached, 0.25)
    for n_jobs in (1, 3):
        with use_threads(n_jobs):
            product = matrix @ U
        assert product.dtype == dtype
        np.testing.assert_allclose(product, K @ U, atol=1e-12 if dtype == np.float64 else 1e-4)
    assert matrix.norm() == pytest.approx(np.linalg.norm(K), rel=1e-5)
    assert matrix.least() == pytest.approx(K.min(), abs=1e-6)
    np.testing.assert_allclose(matrix.columns(np.array([3, 0])), K[:, [3, 0]], atol=1e-6)
    np.testing.assert_allclose(matrix.compare_with(X[:9]) @ U, K[:9] @ U, atol=1e-4)


@pytest.mark.parametrize("n", [1, 16, 17, 70])
def test_upper_tiles_cover_each_pair_once(n, tune):
    tune("arrays.pairwise", symmetric_tile=600)
    covered = np.zeros((n, n), int)
    for band in list_upper_tiles(np.zeros((n, 1))):
        assert band.columns[0] == band.rows
        for columns in band.columns:
            covered[band.rows, columns] += 1
            covered[columns, band.rows] += columns != band.rows
    assert (covered == 1).all()


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_add_terms_clips_to_bounds(dtype):
    rng = np.random.default_rng(0)
    tile, row_terms, column_terms = (rng.standard_normal(shape).astype(dtype) for shape in ((5, 7), 5, 7))
    expected = tile + row_terms[:, None] + column_terms
    assert np.array_equal(add_terms(tile.copy(), row_terms, column_terms), expected)
    assert np.array_equal(add_terms(tile.copy(), row_terms, column_terms, lower=0.0), np.maximum(expected, 0))
    clipped = add_terms(tile.copy(), row_terms, column_terms, upper=0.0)
    assert clipped.dtype == dtype
    assert np.array_equal(clipped, np.minimum(expected, 0))


def test_entries_between_limits_are_kept():
    tile = np.random.default_rng(0).integers(0, 10, size=(6, 9)).astype(float)
    kept = np.empty(tile.size)
    n_kept, n_below = keep_between(tile, 3.0, 7.0, kept)
    assert n_below == np.count_nonzero(tile < 3)
    assert np.array_equal(kept[:n_kept], tile[(tile >= 3) & (tile < 7)])
    assert keep_between(tile, 3.0, np.inf, kept)[0] == np.count_nonzero(tile >= 3)


def test_sketch_lies_in_the_span_of_columns():
    X = rows()[:, :2]
    matrix = SymmetricKernelMatrix(Linear(), Linear().points(X), True)
    sketch = matrix.sketch(5, np.random.default_rng(0))
    assert sketch.shape == (70, 5)
    assert np.linalg.matrix_rank(np.hstack([X, sketch])) == 2
