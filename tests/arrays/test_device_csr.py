"""Sparse rows on a device: the verbs find what they find on sparse rows of the host."""

import numpy as np
import pytest
import scipy.sparse as sp

from consilience.arrays import (
    add_label_sums,
    all_rows_equal,
    argmax_scores,
    as_rows,
    build_scorer,
    compute_scores,
    map_values,
    mask_rows,
    max_abs,
    namespace,
    row_is_finite,
    row_sums,
    scale_rows,
    squared_norms,
    stored_values,
    take_dense_rows,
    take_rows,
    to_host,
    to_numpy,
    weighted_sums,
)
from consilience.arrays.device_csr import DeviceCSR

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.filterwarnings("ignore:Sparse")

N, D, K = 60, 30, 4
SLICES = [slice(0, N), slice(0, 8), slice(7, 15), slice(8, 14), slice(14, 22)]


@pytest.fixture(params=[(np.float64, np.int64), (np.float32, np.int32)], ids=["float64", "float32"])
def matrix(request):
    """A scipy matrix with rows and columns of nothing."""
    dtype, index = request.param
    X = sp.random_array((N, D), density=0.3, rng=np.random.default_rng(0)).toarray().astype(dtype) - dtype(0.1)
    X *= (np.arange(N) % 7 != 0)[:, None] * (np.arange(D) % 5 != 0)[None, :] * (X > 0)
    X = sp.csr_array(X)
    return sp.csr_array((X.data, X.indices.astype(index), X.indptr.astype(index)), X.shape)


def on_torch(X):
    return as_rows(torch.sparse_csr_tensor(*map(torch.asarray, (X.indptr, X.indices, X.data)), X.shape))


def test_verbs_that_return_numbers_equal_the_host(matrix):
    for rows in (*SLICES, slice(5, 5)):
        host, device = as_rows(matrix)[rows, ...], on_torch(matrix)[rows, ...]
        assert isinstance(device, DeviceCSR)
        assert (device.shape, device.size) == (host.shape, host.size)
        rng, n = np.random.default_rng(0), host.shape[0]
        weights, bias, soft = rng.normal(size=(K, D)), rng.normal(size=K), rng.random((n, K)).astype(matrix.dtype)
        labels = rng.integers(-1, K, n)
        wanted, score = (
            build_scorer(host, weights, bias),
            build_scorer(device, torch.asarray(weights), torch.asarray(bias)),
        )
        tolerance = {"rtol": 1e-4, "atol": 1e-5} if matrix.dtype == np.float32 else {"rtol": 1e-12, "atol": 1e-12}
        pairs = [
            (compute_scores(device, score), compute_scores(host, wanted)),
            (weighted_sums(device, torch.asarray(soft)), weighted_sums(host, soft)),
            (row_sums(device), row_sums(host)),
            (squared_norms(device), squared_norms(host)),
            (row_is_finite(device), row_is_finite(host)),
            (stored_values(device), stored_values(host)),
            *zip(argmax_scores(device, score), argmax_scores(host, wanted), strict=True),
        ]
        for result, expected in pairs:
            np.testing.assert_allclose(to_numpy(result), expected, **tolerance)
        sums = add_label_sums(device, torch.asarray(labels), torch.ones((K, D), dtype=torch.float64))
        np.testing.assert_allclose(to_numpy(sums), add_label_sums(host, labels, np.ones((K, D))), rtol=1e-12)
        assert max_abs(device) == max_abs(host)


def test_verbs_that_return_rows_equal_numpy(matrix):
    for rows in SLICES:
        dense, device = matrix.toarray()[rows], on_torch(matrix)[rows, ...]
        rng, n = np.random.default_rng(0), len(dense)
        chosen, factors, kept = rng.integers(n, size=9), rng.random(n).astype(matrix.dtype), rng.random(n) < 0.5
        pairs = [
            (take_rows(device, torch.asarray(chosen)), dense[chosen]),
            (scale_rows(device, torch.asarray(factors)), dense * factors[:, None]),
            (mask_rows(device, torch.asarray(kept)), dense * kept[:, None]),
            (map_values(device, lambda values: values * values), dense * dense),
        ]
        for result, expected in pairs:
            assert result.dtype == device.dtype
            np.testing.assert_allclose(to_host(result).toarray(), expected, rtol=1e-6)
            soft = rng.random((len(expected), K))
            np.testing.assert_allclose(
                to_numpy(weighted_sums(result, torch.asarray(soft))), soft.T @ expected, rtol=1e-4
            )
        few = take_dense_rows(device, torch.asarray(chosen))
        assert few.dtype == torch.float64
        np.testing.assert_array_equal(to_numpy(few), dense[chosen])


def test_rows_that_are_not_finite_can_be_masked(matrix):
    filled = np.flatnonzero(np.diff(matrix.indptr))[[0, 5]]
    matrix.data[matrix.indptr[filled]] = np.nan, np.inf
    device = on_torch(matrix)
    finite = row_is_finite(device)
    assert np.array_equal(np.flatnonzero(~to_numpy(finite)), filled)
    assert bool(row_is_finite(mask_rows(device, finite)).all())


def test_all_rows_equal():
    equal = sp.csr_array(np.tile([[0.0, 2.0, 3.0]], (4, 1)))
    assert all_rows_equal(on_torch(equal))
    for other in ([1.0, 2.0, 3.0], [2.0, 0.0, 3.0], [0.0, 2.0, 4.0]):
        assert not all_rows_equal(on_torch(sp.csr_array(np.vstack([equal.toarray(), other]))))


def test_slice_shares_memory_and_keeps_the_order_of_its_columns(matrix):
    device = on_torch(matrix)
    part = device[8:14, ...]
    assert part.data is device.data
    weighted_sums(part, torch.ones((6, 2)))
    kept = dict(device.sorted_columns)
    assert list(kept) == [(8, 6)]
    squares = map_values(device[8:14, ...], lambda values: values * values)
    weighted_sums(squares, torch.ones((6, 2)))
    assert device.sorted_columns == kept


@pytest.mark.parametrize("layout", ["to_sparse_coo", "to_sparse_csc", "to_sparse_csr"])
def test_all_layouts_and_dtypes_are_converted(layout):
    dense = np.array([[0, 2, 1], [3, 0, 0]])
    rows = as_rows(getattr(torch.asarray(dense), layout)())
    assert isinstance(rows, DeviceCSR)
    assert rows.dtype == torch.float64
    assert namespace(rows).__name__ == "array_api_compat.torch"
    np.testing.assert_array_equal(to_host(rows).toarray(), dense)


def test_invalid_matrix_is_refused():
    broken = torch.sparse_csr_tensor([0, 1], [7], [1.0], (1, 2), check_invariants=False)
    with pytest.raises(RuntimeError, match="col_indices"):
        as_rows(broken)
