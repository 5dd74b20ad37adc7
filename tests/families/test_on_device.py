"""Families on a device: a round fetches almost nothing and equals numpy."""

import array_api_strict
import numpy as np
import pytest
import scipy.sparse as sp

from consilience.arrays import as_rows, to_numpy
from consilience.families import (
    FAMILIES,
    Bernoulli,
    Categorical,
    GaussianFull,
    GaussianTied,
    Multinomial,
    Poisson,
    choose,
)
from family_cases import CASES, SPARSE_FAMILIES
from transfers import count_transfers, put_on_device

N, K = 300, 3
NOTHING = ([], 0)  # arrays and numbers that were fetched
TOLERANCE = {np.float64: 1e-10, np.float32: 1e-4}
every_family = pytest.mark.parametrize("name", FAMILIES)


def make_problem(name, d):
    rng = np.random.default_rng(0)
    return CASES[name].make_rows(rng, N, d), rng.dirichlet(np.ones(K), N)


def run_round(family, X, R):
    """What co-EM asks of a family in a round, and the row term."""
    statistics = family.statistics(X, R)
    params = family.maximize(statistics)
    return statistics, params, family.build_density(X, params)(X), family.row_term(X)


def assert_close(values, expected, tolerance):
    scale = np.abs(expected).max()
    np.testing.assert_allclose(to_numpy(values), expected, rtol=tolerance, atol=tolerance * scale)


@every_family
@pytest.mark.parametrize(("d", "dtype"), [(2, np.float32), (120, np.float64)])
def test_round_equals_numpy_and_fetches_almost_nothing(name, d, dtype):
    X, R = (values.astype(dtype) for values in make_problem(name, d))
    family = FAMILIES[name]().bind(X.astype(np.float64), np.ones(N, bool))
    expected = run_round(family, X.astype(np.float64), R.astype(np.float64))
    rows, responsibilities = put_on_device(X), put_on_device(R)
    bound = FAMILIES[name]().bind(rows, put_on_device(np.ones(N, bool)))
    # a result whose shape depends on the values would force a synchronization, too
    with (
        array_api_strict.ArrayAPIStrictFlags(boolean_indexing=False, data_dependent_shapes=False),
        count_transfers() as fetched,
    ):
        results = run_round(bound, rows, responsibilities)
    assert (fetched.arrays, fetched.numbers) == (([(K,)], 0) if CASES[name].fetches_per_cluster else NOTHING)
    for arrays, host_arrays in zip(results[:2], expected[:2], strict=True):
        assert arrays.keys() == host_arrays.keys()
        for key, value in host_arrays.items():
            assert arrays[key].device == rows.device
            assert arrays[key].dtype == array_api_strict.float64
            assert_close(arrays[key], value, TOLERANCE[dtype])
    assert results[2].dtype == rows.dtype
    assert results[2].device == rows.device
    assert_close(results[2], expected[2], TOLERANCE[dtype])
    if expected[3] is not None:
        assert_close(results[3], expected[3], TOLERANCE[dtype])


@every_family
def test_preparation_fetches_only_a_sample(name):
    X, _ = make_problem(name, 7)
    X = put_on_device(np.tile(X, (40, 1)))
    family = FAMILIES[name]()
    with count_transfers() as fetched:
        assert family.complaint(X) is None
        family.informative_rows(X)
        family.bind(X, put_on_device(np.ones(40 * N, bool)))
        choose(X)
    assert sum(np.prod(shape) for shape in fetched.arrays) <= 2000 * 7
    assert all(shape[0] < 40 * N for shape in fetched.arrays)


@pytest.mark.parametrize("family", [GaussianFull(floor=1e-3), GaussianTied(floor=1e-3)])
def test_directions_below_the_floor_are_raised_on_the_device(family):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(N, 1))
    X, R = np.hstack([x, x + 1e-6 * rng.normal(size=(N, 1))]), rng.dirichlet(np.ones(K), N)
    _, expected, densities, _ = run_round(family, X, R)
    with count_transfers() as fetched:
        _, params, log_prob, _ = run_round(family, put_on_device(X), put_on_device(R))
    assert (fetched.arrays, fetched.numbers) == NOTHING
    assert_close(params["covariances"], expected["covariances"], 1e-10)
    assert_close(log_prob, densities, 1e-8)


@pytest.mark.parametrize(
    ("complaint", "values", "message"),
    [
        (Bernoulli().complaint, [[0, 1], [2, 3]], "needs zeros and ones, got 2. Use"),
        (Categorical().complaint, [[0, 1], [1, 0.5]], "needs codes 0, 1, 2, ..., got 0.5. scikit-learn's"),
        (Categorical().complaint, [[0, 1], [1, 5e7]], r"needs codes 0, 1, 2, ..., got 5e+07 in 2 rows. Ordinal"),
        (Categorical(n_levels=(2, 2)).complaint, [[0, 1], [1, 3]], "knows codes 0 to 1 in column 1, got 3. Set"),
        (Poisson().complaint, [[0, 1], [1, -2]], "needs counts, none of them negative, got -2. Use"),
        (Multinomial().complaint, [[0, 1], [1, -0.5]], "needs counts, none of them negative, got -0.5. Use"),
    ],
)
@pytest.mark.parametrize("to_kind", ["torch"], indirect=True)
def test_complaints_equal_those_of_numpy(complaint, values, message, to_kind):
    values = np.array(values, dtype=float)
    assert complaint(values).startswith(message)
    for kind in (to_kind, put_on_device):
        assert complaint(kind(values)) == complaint(values)


@pytest.mark.filterwarnings("ignore:Sparse")
@pytest.mark.parametrize("name", SPARSE_FAMILIES)
def test_sparse_rows_of_torch(name):
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(0)
    counts = (rng.random((N, 20)) < 0.3) * (rng.poisson(3.0, (N, 20)) + 1)
    X = sp.csr_array(np.minimum(counts, 1 if name == "bernoulli" else np.inf).astype(np.float32))
    R = rng.dirichlet(np.ones(K), N).astype(np.float32)
    rows = as_rows(torch.sparse_csr_tensor(X.indptr, X.indices, X.data, X.shape))
    family = FAMILIES[name]()
    assert choose(rows)[0] == choose(as_rows(X))[0]
    assert family.complaint(rows) is None
    expected = run_round(family.bind(as_rows(X), np.ones(N, bool)), as_rows(X), R)
    results = run_round(family.bind(rows, torch.ones(N, dtype=torch.bool)), rows, torch.asarray(R))
    for arrays, host_arrays in zip(results[:2], expected[:2], strict=True):
        for key, value in host_arrays.items():
            assert_close(arrays[key], value, TOLERANCE[np.float32])
    assert_close(results[2], expected[2], TOLERANCE[np.float32])
    assert (results[3] is None) == (expected[3] is None)
