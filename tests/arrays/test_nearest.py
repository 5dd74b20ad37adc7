"""The exact search for nearest rows against comparing all pairs, and the approximate search against the exact one."""

from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp

from consilience.arrays import as_rows, find_nearest, find_nearly_nearest, use_threads

KINDS = {
    "tree": lambda X: X[:, :3],
    "dense": lambda X: X,
    "far from zero": lambda X: X + 1000,
    "two groups far apart": lambda X: X + 3000 * (np.arange(len(X)) % 2)[:, None].astype(X.dtype),
    "many ties": np.round,
    "huge": lambda X: X.astype(np.float64) * 1e25,
    "duplicates": lambda X: np.repeat(X[: len(X) // 4], 4, axis=0)[: len(X)],
    "sparse": lambda X: sp.csr_array(np.where(np.abs(X) > 1, X, 0)),
}


def normal_rows(n, n_columns=12, dtype=np.float64, seed=0):
    return np.random.default_rng(seed).standard_normal((n, n_columns)).astype(dtype)


def compare_all_pairs(points, queries):
    points, queries = (X.toarray() if sp.issparse(X) else X for X in (points, queries))
    return np.sqrt([np.sum((points.astype(np.float64) - query) ** 2, axis=1) for query in queries.astype(np.float64)])


def check_nearest(result, distances):
    """Check the distances of the nearest, and that each position has its distance; ties may be in any order."""
    n_neighbors = result.positions.shape[1]
    expected = np.sort(distances, axis=1)[:, :n_neighbors]
    scale = distances.max()
    np.testing.assert_allclose(result.distances, expected, rtol=1e-9, atol=1e-7 * scale)
    np.testing.assert_allclose(
        np.take_along_axis(distances, result.positions, axis=1), result.distances, rtol=1e-9, atol=1e-7 * scale
    )
    assert all(len(set(row)) == n_neighbors for row in result.positions.tolist())


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", KINDS)
def test_neighbors_are_the_nearest(kind, dtype, tune):
    tune("arrays.nearest", worth_compiled=0 if dtype == np.float32 else np.inf)
    X = KINDS[kind](normal_rows(300, dtype=dtype))
    check_nearest(find_nearest(as_rows(X), 7), compare_all_pairs(X, X))
    queries = KINDS[kind](normal_rows(40, dtype=dtype, seed=1))
    check_nearest(find_nearest(as_rows(X), 7, as_rows(queries)), compare_all_pairs(X, queries))
    check_nearest(find_nearest(as_rows(X), 300, as_rows(queries)), compare_all_pairs(X, queries))


def find_with_seed(X, n_neighbors):
    return find_nearly_nearest(X, n_neighbors, np.random.default_rng(0))


SEARCHES = (find_nearest, find_with_seed)


def test_rounding_of_products_hides_no_neighbor():
    """In float32 the squared lengths here, 10^8, have an error of 8, more than most squared distances."""
    X = normal_rows(2100, 20)
    X[: len(X) // 2] += 1e4 / 20**0.5
    result = find_nearest(X, 5)
    distances = compare_all_pairs(X, X[:50])
    np.testing.assert_array_equal(result.positions[:50], np.argsort(distances, axis=1)[:, :5])


def test_distance_from_itself_is_zero():
    result = find_nearest(normal_rows(50) + 100, 1)
    np.testing.assert_array_equal(result.positions[:, 0], np.arange(50))
    np.testing.assert_array_equal(result.distances, 0)


@pytest.mark.parametrize(
    ("kind", "search"), [("tree", find_nearest), ("many ties", find_nearest), *product(["dense", "sparse"], SEARCHES)]
)
def test_neighbors_do_not_depend_on_threads(kind, search):
    X = as_rows(KINDS[kind](normal_rows(7000)))
    results = []
    for n_threads in (1, 3):
        with use_threads(n_threads):
            results.append(search(X, 5))
    np.testing.assert_array_equal(results[0].positions, results[1].positions)
    np.testing.assert_array_equal(results[0].distances, results[1].distances)


def test_no_queries_have_no_neighbors():
    assert find_nearest(normal_rows(10), 3, normal_rows(0)).positions.shape == (0, 3)


@pytest.mark.parametrize(
    ("library", "dtype", "kind"),
    [
        ("array_api_strict", "float32", "dense"),
        ("array_api_strict", "float64", "two groups far apart"),
        ("torch", "float32", "two groups far apart"),
        ("torch", "float64", "tree"),
    ],
)
def test_other_libraries_find_the_same_neighbors(library, dtype, kind):
    xp = pytest.importorskip(library)
    X = KINDS[kind](normal_rows(200, dtype=dtype))
    expected, result = find_nearest(X, 6), find_nearest(xp.asarray(X), 6)
    np.testing.assert_array_equal(result.positions, expected.positions)
    np.testing.assert_allclose(result.distances, expected.distances, atol=1e-12)


@pytest.mark.filterwarnings("ignore:Sparse")
def test_sparse_rows_of_torch_have_the_same_neighbors():
    torch = pytest.importorskip("torch")
    X = KINDS["sparse"](normal_rows(200))
    result = find_nearest(as_rows(torch.asarray(X.toarray()).to_sparse_csr()), 6)
    check_nearest(result, compare_all_pairs(X, X))


def measure_recall(result, expected):
    return np.mean([len(set(a) & set(b)) / len(a) for a, b in zip(result.positions, expected.positions, strict=True)])


@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_partition_contains_nearly_all_neighbors(kind, tune):
    tune("arrays.partition", most_searched=1.0)
    rng = np.random.default_rng(0)
    X = 3 * rng.standard_normal((50, 12))[rng.integers(50, size=7000)] + normal_rows(7000)
    X = as_rows(KINDS[kind](X))
    result, expected = find_with_seed(X, 8), find_nearest(X, 8)
    assert 0.96 < measure_recall(result, expected) < 1
    shared = result.positions == expected.positions
    np.testing.assert_allclose(result.distances[shared], expected.distances[shared], rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("X", [normal_rows(500), normal_rows(7000, 60)])
def test_few_rows_and_rows_without_clusters_are_searched_exactly(X):
    result, expected = find_with_seed(X, 8), find_nearest(X, 8)
    np.testing.assert_array_equal(result.positions, expected.positions)


def test_partition_of_equal_rows(tune):
    tune("arrays.partition", most_searched=1.0)
    X = np.repeat(normal_rows(70), 100, axis=0)
    result = find_with_seed(X, 5)
    np.testing.assert_array_equal(result.distances, 0)
    groups = np.repeat(np.arange(70), 100)
    np.testing.assert_array_equal(groups[result.positions], np.tile(groups[:, None], 5))


@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_outliers_whose_cells_have_few_rows_get_all_neighbors(kind):
    rng = np.random.default_rng(0)
    if kind == "dense":  # outliers first, because rows are numbered in the order of cells
        X = np.outer(10 ** np.sort(rng.exponential(size=8000))[::-1], rng.standard_normal(10))
        X += 1e-3 * rng.standard_normal(X.shape)
    else:
        rows = sp.random_array((8000, 200), density=0.02, rng=rng, data_sampler=rng.standard_normal).tocsr()
        X = as_rows(sp.csr_array(rows.multiply(np.where(np.arange(8000) < 400, 1000.0, 1.0)[:, None])))
    nearest = find_nearly_nearest(X, 10, rng)
    assert np.isfinite(nearest.distances).all()
    assert (np.diff(np.sort(nearest.positions, axis=1), axis=1) > 0).all(), "a row is its own neighbor once"
