"""The verbs, on every kind of array, against one line of numpy."""

import numpy as np
import pytest
import scipy.sparse as sp

from consilience.arrays import (
    CSR,
    add_label_sums,
    argmax_scores,
    build_scorer,
    compute_origin,
    compute_scores,
    count_labels,
    float64_zeros,
    mask_rows,
    max_abs,
    row_is_finite,
    scale_rows,
    squared_norms,
    take_dense_rows,
    to_numpy,
    weighted_sums,
)


def sparse_matrix(n=50, d=30, density=0.2, dtype=np.float64, seed=0, index=np.int32):
    X = sp.random_array((n, d), density=density, rng=np.random.default_rng(seed), dtype=np.float64).tocsr()
    X.data -= 0.5
    X = sp.csr_array((X.data.astype(dtype), X.indices.astype(index), X.indptr.astype(index)), shape=(n, d))
    X.data[X.indptr[3] : X.indptr[4]] = 0.0  # stored zeros
    return X


@pytest.fixture(params=["numpy", "array_api_strict", "torch", "csr"])
def rows(request):
    """(rows as some kind of array, the same as numpy)."""
    dense = np.round(8 * sparse_matrix().toarray()) / 8  # exact in sums, so that equals are equals
    dense[7] = 0  # an empty row
    X = sp.csr_array(dense)
    if request.param == "csr":
        return CSR.from_scipy(X), dense, np.asarray
    if request.param == "numpy":
        return dense, dense, np.asarray
    library = pytest.importorskip(request.param)
    return library.asarray(dense), dense, lambda values: library.asarray(np.ascontiguousarray(values))


@pytest.mark.parametrize("k", [1, 40])
def test_scores_and_argmax(rows, k):
    X, dense, to_kind = rows
    rng = np.random.default_rng(0)
    weights, bias = rng.standard_normal((k, 30)), rng.standard_normal(k)
    expected = dense @ weights.T - bias
    score = build_scorer(X, to_kind(weights), to_kind(bias))
    np.testing.assert_allclose(to_numpy(compute_scores(X, score)), expected, atol=1e-12)
    labels, best = argmax_scores(X, score)
    assert np.array_equal(to_numpy(labels), expected.argmax(axis=1))
    np.testing.assert_allclose(to_numpy(best), expected.max(axis=1), atol=1e-12)


def test_argmax_takes_the_first_of_equal_scores(rows):
    X, _, to_kind = rows
    labels, _ = argmax_scores(X, build_scorer(X, to_kind(np.ones((40, 30))), to_kind(np.zeros(40))))
    assert np.array_equal(to_numpy(labels), np.zeros(50))


def test_label_sums_and_counts(rows):
    X, dense, to_kind = rows
    labels = np.random.default_rng(0).integers(-1, 4, size=50)
    sums = add_label_sums(X, to_kind(labels), float64_zeros((4, 30), to_kind(dense)))
    np.testing.assert_allclose(to_numpy(sums), [dense[labels == j].sum(axis=0) for j in range(4)], atol=1e-12)
    again = add_label_sums(X, to_kind(labels), sums)
    np.testing.assert_allclose(to_numpy(again), [2 * dense[labels == j].sum(axis=0) for j in range(4)], atol=1e-12)
    assert to_numpy(count_labels(to_kind(labels), 4)).tolist() == [int((labels == j).sum()) for j in range(4)]


@pytest.mark.parametrize(("k", "softness"), [(1, "soft"), (3, "mixed"), (3, "one-hot"), (33, "soft"), (40, "mixed")])
def test_weighted_sums(rows, k, softness):
    X, dense, to_kind = rows
    rng = np.random.default_rng(0)
    weights = rng.dirichlet(np.ones(k), size=50)
    hard = np.eye(k)[rng.integers(k, size=50)]
    weights = {"soft": weights, "one-hot": hard, "mixed": np.where(rng.random((50, 1)) < 0.5, weights, hard)}[softness]
    np.testing.assert_allclose(to_numpy(weighted_sums(X, to_kind(weights))), weights.T @ dense, atol=1e-12)


def test_row_verbs(rows):
    X, dense, to_kind = rows
    np.testing.assert_allclose(to_numpy(squared_norms(X)), (dense**2).sum(axis=1))
    np.testing.assert_allclose(to_numpy(take_dense_rows(X, to_kind(np.array([7, 3, 3])))), dense[[7, 3, 3]])
    factors = np.arange(50.0)
    scaled = scale_rows(X, to_kind(factors))
    np.testing.assert_allclose(to_numpy(squared_norms(scaled)), ((dense * factors[:, None]) ** 2).sum(axis=1))
    assert to_numpy(row_is_finite(X)).all()


def test_mask_rows_and_max_abs(rows):
    X, dense, to_kind = rows
    kept = np.arange(50) % 3 != 0
    left = mask_rows(X, to_kind(kept))
    np.testing.assert_allclose(to_numpy(squared_norms(left)), np.where(kept, (dense**2).sum(axis=1), 0))
    assert max_abs(X) == np.abs(dense).max()


@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf])
def test_largest_number_tells_whether_all_are_finite(number):
    X = np.zeros((3, 2))
    X[1, 1] = number
    assert not np.isfinite(max_abs(X))


@pytest.mark.parametrize("n", [3, 150, 5_000])
def test_origin_is_amid_distant_rows_whatever_outliers_do(n, to_kind):
    X = np.random.default_rng(0).normal([1e6, -1e6], 1.0, (n, 2))
    X[: n // 4] *= 1e3
    origin = to_numpy(compute_origin(to_kind(X), to_kind(X).dtype))
    np.testing.assert_allclose(origin, [1e6, -1e6], atol=10)
    assert compute_origin(to_kind(X - origin), to_kind(X).dtype) is None


def test_scores_are_relative_to_the_origin(to_kind):
    rng = np.random.default_rng(0)
    X, weights, bias, origin = (rng.random(shape) for shape in ((9, 3), (2, 3), (2,), (3,)))
    score = build_scorer(to_kind(X), *(to_kind(values) for values in (weights, bias, origin)))
    np.testing.assert_allclose(to_numpy(compute_scores(to_kind(X), score)), (X - origin) @ weights.T - bias)


def test_row_is_finite():
    X = sparse_matrix()
    filled = np.flatnonzero(np.diff(X.indptr))[[0, 5]]
    X.data[X.indptr[filled]] = np.nan, np.inf
    expected = np.ones(50, bool)
    expected[filled] = False
    assert np.array_equal(row_is_finite(CSR.from_scipy(X)), expected)
    assert np.array_equal(row_is_finite(X.toarray()), expected)


@pytest.mark.parametrize("density", [0.0, 0.05, 0.7])
@pytest.mark.parametrize(
    ("numbers", "dtype", "index"),  # one compiled kernel serves all the numbers of a case
    [
        ((1, 3, 4), np.float64, np.int32),
        ((33, 39, 40), np.float64, np.int64),
        ((2, 7, 8), np.float32, np.int32),
        ((33, 47, 48), np.float32, np.int64),
    ],
)
def test_kernels_for_all_numbers_of_clusters_and_dtypes(numbers, dtype, index, density):
    for k in numbers:
        check_kernels(k, sparse_matrix(23, 11, density, dtype, k, index))


def check_kernels(k, X):
    dtype = X.dtype
    rows, dense = CSR.from_scipy(X), X.toarray().astype(np.float64)
    assert rows.dtype == dtype
    rng = np.random.default_rng(k)
    weights, bias = rng.standard_normal((k, 11)), rng.standard_normal(k)
    score = build_scorer(rows, weights, bias)
    expected = dense @ weights.T - bias
    tolerance = 1e-5 if dtype == np.float32 else 1e-12
    np.testing.assert_allclose(compute_scores(rows, score), expected, atol=tolerance)
    labels, best = argmax_scores(rows, score)
    np.testing.assert_allclose(best, expected.max(axis=1), atol=tolerance)
    np.testing.assert_allclose(expected[np.arange(23), labels], expected.max(axis=1), atol=tolerance)
    soft = rng.dirichlet(np.ones(k), 23).astype(dtype)
    np.testing.assert_allclose(weighted_sums(rows, soft), soft.T.astype(np.float64) @ dense, atol=1e-12)
    sums = add_label_sums(rows, labels, np.zeros((k, 11)))
    np.testing.assert_allclose(sums, [dense[labels == j].sum(axis=0) for j in range(k)], atol=1e-12)


def test_float32_rows_have_float64_sums():
    X = sp.csr_array(np.full((100_000, 1), 0.1, np.float32))
    sums = add_label_sums(CSR.from_scipy(X), np.zeros(100_000, int), np.zeros((1, 1)))
    assert sums[0, 0] == pytest.approx(100_000 * float(np.float32(0.1)), rel=1e-12)
    soft = weighted_sums(CSR.from_scipy(X), np.full((100_000, 3), 1.0, np.float32))
    assert soft[0, 0] == pytest.approx(100_000 * float(np.float32(0.1)), rel=1e-12)


def test_slices_share_memory():
    X = sparse_matrix()
    rows = CSR.from_scipy(X)
    part = rows[10:20]
    assert part.shape == (10, 30)
    assert part.size == X[10:20].nnz
    assert part.data is rows.data
    np.testing.assert_allclose(take_dense_rows(part, np.arange(10)), X.toarray()[10:20])
    np.testing.assert_allclose(squared_norms(part), (X.toarray()[10:20] ** 2).sum(axis=1))
    assert rows[10:20, ...].shape == (10, 30)


def test_from_scipy_does_not_copy_but_sums_duplicates():
    X = sparse_matrix()
    assert CSR.from_scipy(X).data is X.data
    twice = sp.csr_array((np.array([1.0, 2.0]), np.array([0, 0]), np.array([0, 2])), shape=(1, 2))
    rows = CSR.from_scipy(twice)
    assert squared_norms(rows)[0] == 9
    assert twice.nnz == 2  # the user's own is left alone
