"""The contract of every affinity, and each against an independent reference."""

import pickle
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics import pairwise
from sklearn.neighbors import kneighbors_graph

from consilience.affinities import (
    AFFINITIES,
    ChiSquared,
    Cosine,
    Gaussian,
    HistogramIntersection,
    Landmarks,
    Linear,
    NearestNeighbors,
    NoAffinityError,
    Nystroem,
    Polynomial,
    Precomputed,
    make_affinity,
)
from consilience.affinities.base import compute_degrees, find_components
from consilience.affinities.graph import reuse_neighbors
from consilience.arrays import as_rows, to_numpy, use_threads
from consilience.rows import as_source

pytestmark = pytest.mark.quick


def rows(n=120, d=6, seed=0, dtype=np.float64):
    """Create histogram-like rows in three groups, which every affinity can compare."""
    rng = np.random.default_rng(seed)
    profiles = rng.dirichlet(np.ones(d) / 2, size=3)
    return rng.dirichlet(np.ones(d), size=n).astype(dtype) / 2 + profiles[rng.integers(3, size=n)].astype(dtype) / 2


def rng():
    return np.random.default_rng(7)


def local_gaussian(X, Y):
    """Compute the kernel of Zelnik-Manor & Perona; X must be rows of Y."""
    distances = pairwise.euclidean_distances(X, Y)
    to_known = np.sort(pairwise.euclidean_distances(Y, Y), axis=1)[:, 7]
    scales = np.sort(distances, axis=1)[:, 7]
    return np.exp(-(distances**2) / (scales[:, None] * to_known[None, :]))


def nearest_graph(X, Y):
    """Build scikit-learn's graph of nearest neighbors, each row included."""
    chosen = kneighbors_graph(Y, 11, include_self=True).toarray()
    whole = (chosen + chosen.T) / 2
    where = [int(np.flatnonzero((x == Y).all(axis=1))[0]) for x in X]
    return whole[where]


def median_gaussian(X, Y):
    sigma = np.median(pairwise.euclidean_distances(Y, Y))
    return pairwise.rbf_kernel(X, Y, gamma=1 / (2 * sigma**2))


def intersection(X, Y):
    return np.minimum(X[:, None, :], Y[None, :, :]).sum(axis=2)


EXACT = {
    "gaussian": (Gaussian(0.3), lambda X, Y: pairwise.rbf_kernel(X, Y, gamma=1 / (2 * 0.3**2))),
    "gaussian-median": (Gaussian(), median_gaussian),
    "gaussian-local": (Gaussian("local"), local_gaussian),
    "cosine": (Cosine(), pairwise.cosine_similarity),
    "linear": (Linear(), pairwise.linear_kernel),
    "polynomial": (Polynomial(2, offset=0.5), lambda X, Y: pairwise.polynomial_kernel(X, Y, degree=2, coef0=0.5)),
    "chi2": (ChiSquared(2.0), lambda X, Y: pairwise.chi2_kernel(X, Y, gamma=2.0)),
    "intersection": (HistogramIntersection(), intersection),
    "nearest-neighbors": (NearestNeighbors(11, "euclidean"), nearest_graph),
}
APPROXIMATE = {"nystroem": Nystroem(Gaussian(0.3), 30), "landmarks": Landmarks(40, metric="euclidean")}
every_exact = pytest.mark.parametrize(("affinity", "reference"), EXACT.values(), ids=EXACT)
every_affinity = pytest.mark.parametrize(
    "affinity", [affinity for affinity, _ in EXACT.values()] + list(APPROXIMATE.values()), ids=[*EXACT, *APPROXIMATE]
)


@every_exact
def test_equals_an_independent_reference(affinity, reference):
    X = rows()
    operator = affinity.build_operator(X, rng())
    K = reference(X, X)
    U = np.random.default_rng(1).standard_normal((len(X), 5))
    assert operator.exact
    assert operator.shape == (120, 120)
    np.testing.assert_allclose(operator @ U, K @ U, atol=1e-10)
    np.testing.assert_allclose(compute_degrees(operator), K.sum(axis=1), atol=1e-10)
    np.testing.assert_allclose(operator.columns(np.array([3, 77])), K[:, [3, 77]], atol=1e-12)
    assert operator.norm() == pytest.approx(np.linalg.norm(K))
    np.testing.assert_allclose(operator.compare_with(X[40:60]) @ U, reference(X[40:60], X) @ U, atol=1e-10)


@every_affinity
def test_operator_is_symmetric_and_repeated_for_fitted_rows(affinity):
    X = rows()
    operator = affinity.build_operator(X, rng())
    K = operator @ np.eye(len(X))
    np.testing.assert_allclose(K, K.T, atol=1e-12)
    assert K.min() >= (-1e-3 if isinstance(affinity, Nystroem) else 0)
    np.testing.assert_allclose(operator.columns(np.arange(9)), K[:, :9], atol=1e-12)
    np.testing.assert_allclose(operator.compare_with(X[5:25]) @ np.eye(len(X)), K[5:25], atol=1e-9)
    np.testing.assert_allclose(operator.compare_with(X[5:25]).columns(np.array([3, 8])), K[5:25][:, [3, 8]], atol=1e-9)
    assert operator.norm() == pytest.approx(np.linalg.norm(K))
    again = pickle.loads(pickle.dumps(operator))
    np.testing.assert_allclose(again @ np.eye(len(X)), K)


@every_affinity
def test_sparse_rows_and_float32_equal_dense_rows_of_float64(affinity):
    X = np.where(rows() > 0.1, rows(), 0)
    U = np.random.default_rng(1).standard_normal((len(X), 3))
    dense, sparse = (affinity.build_operator(matrix, rng()) for matrix in (X, as_rows(sp.csr_array(X))))
    np.testing.assert_allclose(sparse @ U, dense @ U, atol=1e-9)
    np.testing.assert_allclose(
        sparse.compare_with(X[:7]) @ U, dense.compare_with(as_rows(sp.csr_array(X[:7]))) @ U, atol=1e-9
    )
    single, double = (affinity.build_operator(rows().astype(dtype), rng()) for dtype in (np.float32, np.float64))
    # the approximation keeps fewer directions in float32
    np.testing.assert_allclose(single @ U, double @ U, atol=0.2 if isinstance(affinity, Nystroem) else 1e-3)


@every_affinity
@pytest.mark.parametrize("to_kind", ["array_api_strict", "torch"], indirect=True)
def test_array_libraries_give_equal_products(affinity, to_kind):
    X = rows()
    U = np.random.default_rng(1).standard_normal((len(X), 3))
    operator = affinity.build_operator(to_kind(X), rng())
    product, product_of_kind = operator @ U, operator @ to_kind(U)
    assert type(product) is type(product_of_kind) is type(to_kind(X))
    reference = affinity.build_operator(X, rng())
    np.testing.assert_allclose(to_numpy(product), reference @ U, atol=1e-9)
    np.testing.assert_allclose(to_numpy(product_of_kind), reference @ U, atol=1e-9)
    columns = np.array([5, 2])
    np.testing.assert_allclose(to_numpy(operator.columns(columns)), reference.columns(columns), atol=1e-9)
    assert operator.norm() == pytest.approx(reference.norm())
    others = [to_numpy(operator.compare_with(new) @ U) for new in (X[:9], to_kind(X[:9]))]
    np.testing.assert_allclose(others[0], reference.compare_with(X[:9]) @ U, atol=1e-9)
    np.testing.assert_allclose(others[0], others[1], atol=1e-12)


@every_affinity
def test_blocks_and_threads_do_not_change_bits(affinity, tune):
    X = rows(200)
    U = np.random.default_rng(1).standard_normal((len(X), 3))
    tune("arrays.pairwise", tile=2000, symmetric_tile=2000)
    results = []
    for max_cached, n_jobs in ((1 << 30, 1), (0, 1), (0, 3)):
        tune("arrays.pairwise", max_cached_bytes=max_cached)
        with use_threads(n_jobs):
            operator = affinity.build_operator(X, rng())
            results.append((operator @ U, compute_degrees(operator), operator.norm()))
    for other in results[1:]:
        assert all(np.array_equal(a, b) for a, b in zip(results[0], other, strict=True))


def test_nbytes_predicts_memory(tune):
    X = rows(100)
    assert Gaussian().nbytes(X) == 100 * 100 * 8  # one tile
    assert Gaussian().nbytes(X.astype(np.float32)) == 100 * 100 * 4
    operator = Gaussian().build_operator(rows(1000), rng())
    operator @ np.ones((1000, 1))
    stored = sum(tile.nbytes for tiles in operator._table.values() for tile in tiles)
    assert stored == Gaussian().nbytes(rows(1000)) < 0.65 * 1000 * 1000 * 8  # each pair once
    assert Nystroem(n_landmarks=20).nbytes(X) == 100 * 20 * 8
    assert Precomputed().nbytes(X) == 0
    graph = NearestNeighbors(5, "euclidean").build_operator(X, rng()).matrix
    assert graph.data.nbytes + graph.indices.nbytes <= NearestNeighbors(5).nbytes(X)
    Z = Landmarks(50, 3, "euclidean").build_operator(X, rng()).factor
    assert Z.data.nbytes + Z.indices.nbytes == Landmarks(50, 3).nbytes(X)
    tune("arrays.pairwise", max_cached_bytes=1000)
    assert Gaussian().nbytes(X) == 0


def test_cached_kernel_is_computed_once_and_not_pickled(monkeypatch):
    X = rows(300)
    operator = Gaussian(1.0).build_operator(X, rng())
    before = operator @ X
    assert len(pickle.dumps(operator)) < 300 * 300
    monkeypatch.setattr("consilience.affinities.gaussian.inner_products", lambda *_: pytest.fail("computed again"))
    assert np.array_equal(operator @ X, before)


@pytest.mark.parametrize(
    ("n", "max_sorted"), [(1, 1), (2, 1), (2, 1 << 22), (25, 1), (25, 50), (40, 1), (40, 50), (40, 1 << 22)]
)
def test_median_bandwidth_is_exact(n, max_sorted, tune):
    tune("affinities.gaussian", max_sorted=max_sorted, median_sample=9, max_unsampled=1)
    tune("arrays.pairwise", symmetric_tile=64)
    X = np.random.default_rng(n).integers(0, 4, size=(n, 2)).astype(float)  # with ties
    distances = pairwise.euclidean_distances(X)
    if n == 1:
        assert np.array_equal(Gaussian().build_operator(X, rng()) @ np.ones((1, 1)), [[1.0]])
    elif np.median(distances) == 0:
        with pytest.raises(NoAffinityError, match="half of the rows' distances are zero"):
            Gaussian().learn(X)
    else:
        assert Gaussian().learn(X).bandwidth == pytest.approx(np.median(distances), rel=1e-12)


def test_float32_far_from_zero_keeps_precision():
    X = rows(dtype=np.float32)
    U = np.random.default_rng(1).standard_normal((len(X), 3))
    for affinity in (Gaussian(0.3), Gaussian(), Gaussian("local"), NearestNeighbors(11, "euclidean")):
        near, far = affinity.build_operator(X, rng()), affinity.build_operator((X + 1000).astype(np.float32), rng())
        np.testing.assert_allclose(far @ U, near @ U, atol=0.3)  # the rows themselves have lost three digits


def test_negative_kernels_are_shifted_to_zero():
    X = np.random.default_rng(0).standard_normal((60, 4))
    for affinity, kernel in (
        (Cosine(), pairwise.cosine_similarity(X)),
        (Linear(), pairwise.linear_kernel(X)),
        (Polynomial(3), pairwise.polynomial_kernel(X, degree=3)),
    ):
        K = affinity.build_operator(X, rng()) @ np.eye(60)
        assert kernel.min() < 0
        np.testing.assert_allclose(K, kernel - kernel.min(), atol=1e-10)
    even = Polynomial(2).build_operator(X, rng()) @ np.eye(60)
    np.testing.assert_allclose(even, pairwise.polynomial_kernel(X, degree=2), atol=1e-10)


def test_rows_of_zeros_are_not_comparable_by_direction():
    X = rows(10)
    X[3] = 0
    for affinity in (
        Cosine(),
        ChiSquared(),
        HistogramIntersection(),
        NearestNeighbors(3, "cosine"),
        Landmarks(5, 2, "cosine"),
    ):
        assert np.flatnonzero(~affinity.comparable_rows(X)).tolist() == [3]
    for affinity in (Gaussian(), Linear(), Polynomial(), NearestNeighbors(3, "euclidean"), Nystroem()):
        assert affinity.comparable_rows(X).all()


def test_nystroem_matches_formula():
    X = rows(50)
    operator = Nystroem(Gaussian(0.5), 12).build_operator(X, rng())
    again = rng()
    again.choice(50, 50, replace=False)  # the rows that a bandwidth would be learned from
    landmarks = X[np.sort(again.choice(50, 12, replace=False))]
    C, W = (pairwise.rbf_kernel(matrix, landmarks, gamma=2.0) for matrix in (X, landmarks))
    np.testing.assert_allclose(
        operator @ np.eye(50), C @ np.linalg.pinv(W, rcond=2.0**-26, hermitian=True) @ C.T, atol=1e-6
    )


def test_landmark_graph_matches_formula():
    X = rows(60)
    operator = Landmarks(15, 4, "euclidean").build_operator(X, rng())
    np.testing.assert_allclose(compute_degrees(operator), 1.0)
    chosen = np.sort(rng().choice(60, 15, replace=False))
    apart = pairwise.euclidean_distances(X, X[chosen], squared=True)
    Z = np.zeros((60, 15))
    for i, row in enumerate(apart):
        near = np.argsort(row)[:4]
        weights = np.exp(-row[near] / row[near].mean())
        Z[i, near] = weights / weights.sum()
    np.testing.assert_allclose(operator @ np.eye(60), Z @ np.diag(1 / Z.sum(axis=0)) @ Z.T, atol=1e-12)


def test_duplicates_are_joined_to_each_other_and_themselves():
    X = np.repeat(rows(3), 20, axis=0)
    K = NearestNeighbors(5, "euclidean").build_operator(X, rng()) @ np.eye(60)
    assert (np.diag(K) == 1).all()
    assert not np.isnan(K).any()
    assert K[:20, 20:].sum() == 0
    with pytest.raises(NoAffinityError, match="the 7 nearest rows of every row are its duplicates"):
        Gaussian("local").build_operator(X, rng())
    few = np.concatenate([X[:10], rows(50, seed=3)])
    assert np.isfinite(Gaussian("local").build_operator(few, rng()) @ np.eye(60)).all()


def test_find_components():
    X = np.concatenate([rows(40), rows(40) + 100, rows(30) - 100])
    components = find_components(NearestNeighbors(20, "euclidean").build_operator(X, rng()))
    assert [len(set(components[block])) for block in (slice(0, 40), slice(40, 80), slice(80, 110))] == [1, 1, 1]
    assert len(set(components)) == 3
    for affinity in (NearestNeighbors(60, "euclidean"), Gaussian(), Landmarks(20, 3, "euclidean")):
        assert not find_components(affinity.build_operator(X, rng())).any()


def test_metric_with_fewer_hubs_is_chosen():
    text = np.random.default_rng(0).poisson(0.3, size=(300, 200)) * np.random.default_rng(1).lognormal(0, 1.5, (300, 1))
    assert NearestNeighbors().resolve(text).metric == "cosine"
    assert NearestNeighbors().resolve(as_rows(sp.csr_array(text))).metric == "cosine"
    assert NearestNeighbors().resolve(np.random.default_rng(0).standard_normal((300, 3))).metric == "euclidean"
    assert NearestNeighbors(metric="euclidean").resolve(text) == NearestNeighbors(17, "euclidean")
    assert NearestNeighbors(4, "cosine").resolve(text) == NearestNeighbors(4, "cosine")
    assert NearestNeighbors().resolve(np.zeros((5, 2))).metric == "euclidean"


def test_auto_searches_all_neighbors_of_few_rows_and_nearly_all_of_many(tune):
    X = rows(60)
    auto = make_affinity("auto")
    assert auto.resolve(X) == NearestNeighbors().resolve(X)
    assert np.array_equal(auto.build_operator(X, rng()) @ X, auto.resolve(X).build_operator(X, rng()) @ X)
    assert auto.nbytes(X) == auto.resolve(X).nbytes(X)
    assert auto.comparable_rows(X).all()
    tune("affinities.choose", exact_up_to=50)
    assert auto.resolve(X) == NearestNeighbors(approximate=True).resolve(X)


def test_auto_compares_rows_that_are_not_in_memory_through_landmarks(tmp_path):
    np.save(tmp_path / "rows.npy", rows(60))
    stored = as_source(np.load(tmp_path / "rows.npy", mmap_mode="r"), "rows")
    auto = make_affinity("auto")
    assert auto.resolve(stored) == Landmarks().resolve(stored)
    assert not auto.out_of_core(20_000)
    assert auto.out_of_core(20_001)


@pytest.mark.parametrize(
    ("n_rows", "n_clusters", "expected"),
    [(2000, None, 30), (100, None, 10), (2000, 10, 30), (400, 40, 5), (1600, 100, 8), (3, 2, 2), (3, 1, 2)],
)
def test_default_number_of_neighbors_depends_on_the_size_of_clusters(n_rows, n_clusters, expected):
    X = np.random.default_rng(0).standard_normal((n_rows, 2))
    assert NearestNeighbors(metric="euclidean").resolve_for_clusters(X, n_clusters).n_neighbors == expected
    assert NearestNeighbors(4, "euclidean").resolve_for_clusters(X, n_clusters).n_neighbors == 4


def test_approximate_neighbors_find_nearly_all():
    X = np.random.default_rng(0).standard_normal((8000, 8)).astype(np.float32)
    exact, approximated = (
        NearestNeighbors(10, "euclidean", approximate=approximate).build_operator(X, rng()).matrix
        for approximate in (False, True)
    )
    shared = exact.multiply(approximated > 0).sum() / exact.sum()
    assert 0.95 < shared < 1


def test_neighbors_are_searched_once_within_the_context(monkeypatch):
    module = sys.modules[NearestNeighbors.__module__]
    n_searches = []
    search = module.find_nearest
    monkeypatch.setattr(module, "find_nearest", lambda X, number: n_searches.append(number) or search(X, number))
    X = rows(60)
    few, many = NearestNeighbors(3, "euclidean"), NearestNeighbors(9, "euclidean")
    expected = [affinity.build_operator(X, rng()) @ X for affinity in (few, many)]
    assert n_searches == [3, 9]
    n_searches.clear()
    with reuse_neighbors():
        graphs = [affinity.build_operator(X.copy(), rng()) @ X for affinity in (many, few, many)]
        assert n_searches == [9]
        few.build_operator(X + 1, rng())
        assert n_searches == [9, 3]
    np.testing.assert_array_equal(graphs[0], expected[1])
    np.testing.assert_array_equal(graphs[1], expected[0])
    few.build_operator(X, rng())
    assert n_searches == [9, 3, 3]


def test_large_graphs_are_multiplied_by_blocks_with_the_same_result(tune):
    X = rows(200)
    graph = NearestNeighbors(10, "euclidean").build_operator(X, rng())
    expected = graph.matrix @ X
    tune("affinities.graph", product_block=1000)
    with use_threads(2):
        assert np.array_equal(graph @ X, expected)


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_precomputed(kind):
    K = pairwise.rbf_kernel(rows(30), gamma=3.0)
    operator = Precomputed().build_operator(as_rows(kind(K)), rng())
    np.testing.assert_allclose(operator @ np.eye(30), K, atol=1e-15)
    np.testing.assert_allclose(operator.columns(np.array([4])), K[:, [4]])
    np.testing.assert_allclose(operator.compare_with(as_rows(kind(K[:5]))).columns(np.array([4])), K[:5, [4]])
    assert operator.norm() == pytest.approx(np.linalg.norm(K))
    assert not find_components(operator).any()
    assert operator.exact
    np.testing.assert_allclose(operator.compare_with(as_rows(kind(K[:5]))) @ K, K[:5] @ K)


@pytest.mark.parametrize(
    ("K", "message"),
    [
        (np.ones((3, 4)), r"got shape \(3, 4\): turn distances d into similarities"),
        (np.array([[1.0, -0.5], [-0.5, 1.0]]), "and one is -0.5: turn distances d into similarities"),
        (np.array([[1.0, 0.5], [0.2, 1.0]]), "and it is not symmetric: turn distances"),
        (np.zeros((3, 3)), "and all are zero: leave the view out"),
    ],
)
def test_precomputed_refuses_invalid_matrices(K, message):
    needed = "affinity='precomputed' needs a symmetric matrix of similarities, none negative, "
    for kind in (np.asarray, sp.csr_array):
        with pytest.raises(NoAffinityError, match=needed + message):
            Precomputed().build_operator(as_rows(kind(K)), rng())


def test_new_rows_of_precomputed_similarities_may_be_of_another_library(to_kind):
    K = rows(12) @ rows(12).T
    operator, U = Precomputed().build_operator(to_kind(K), rng()), to_kind(np.eye(12))
    for new in (K[:5], sp.csr_array(K[:5]), to_kind(K[:5])):
        product = operator.compare_with(new) @ U
        assert type(product) is type(U)
        np.testing.assert_allclose(to_numpy(product), K[:5])


def test_precomputed_refuses_negative_new_rows():
    operator = Precomputed().build_operator(np.eye(3) + 1, rng())
    with pytest.raises(NoAffinityError, match=r"none negative, and one is -0\.5"):
        operator.compare_with(np.array([[1.0, -0.5, 1.0]]))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Gaussian("mean"), "no bandwidth 'mean': give a number above 0, or one of 'median', 'local'"),
        (lambda: Gaussian(0.0), "bandwidth=0.0 must be a number above 0"),
        (lambda: Gaussian(np.inf), "bandwidth=inf must be a number above 0"),
        (lambda: Gaussian(None), "bandwidth=None must be a number above 0"),
        (lambda: NearestNeighbors(0), "n_neighbors=0 must be a whole number, 1 or more"),
        (lambda: NearestNeighbors("5"), "n_neighbors='5' must be a whole number, 1 or more"),
        (lambda: NearestNeighbors(approximate="yes"), "approximate='yes' must be True or False"),
        (lambda: ChiSquared(0), "gamma=0 must be a number above 0"),
        (lambda: Polynomial(0.5), "degree=0.5 must be a whole number, 1 or more"),
        (lambda: Polynomial(gamma=-1), "gamma=-1 must be a number above 0"),
        (lambda: Landmarks(n_neighbors=0), "n_neighbors=0 must be a whole number, 1 or more"),
        (lambda: Landmarks(1.5), "n_landmarks=1.5 must be a whole number, 1 or more"),
        (lambda: Nystroem("gaussian"), "kernel='gaussian' is not a kernel: give a kernel"),
        (lambda: Nystroem(NearestNeighbors()), r"kernel=NearestNeighbors\(.*\) is not a kernel: give a kernel"),
        (lambda: Polynomial(9).learn(1e40 * np.ones((3, 2))), "too large for the power 9 in float64: rescale"),
        (lambda: NearestNeighbors(metric="manhattan"), "no metric 'manhattan': choose from 'euclidean', 'cosine'"),
        (lambda: Landmarks(metric="manhattan"), "no metric 'manhattan': choose from 'euclidean', 'cosine'"),
        (lambda: Landmarks(0), "n_landmarks=0 must be a whole number, 1 or more"),
        (lambda: Nystroem(n_landmarks=0), "n_landmarks=0 must be a whole number, 1 or more"),
    ],
)
def test_invalid_settings_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize("affinity", [ChiSquared(), HistogramIntersection()])
def test_negative_histograms_are_refused(affinity):
    with pytest.raises(NoAffinityError, match=f"{type(affinity).__name__} compares counts or histograms"):
        affinity.build_operator(-rows(5), rng())


def test_affinities_by_name():
    for name in AFFINITIES:
        assert type(make_affinity(name)) is AFFINITIES[name]
    assert make_affinity("gaussian", bandwidth=0.7) == Gaussian(0.7)
    assert make_affinity("nystroem", bandwidth=0.7) == Nystroem(Gaussian(0.7))
    assert make_affinity(Linear()) == Linear()


def test_refusal_of_an_option_names_the_valid_ones():
    for name in AFFINITIES.keys() - {"gaussian", "nystroem"}:
        message = rf"affinity='{name}' does not use bandwidth; the options of {AFFINITIES[name].__name__} are: .*\."
        with pytest.raises(NoAffinityError, match=message):
            make_affinity(name, bandwidth=1.0)
    with pytest.raises(NoAffinityError, match="the options of Landmarks are: n_landmarks, n_neighbors, metric"):
        make_affinity("landmarks", bandwidth=1.0)
    with pytest.raises(NoAffinityError, match="the options of Cosine are: none"):
        make_affinity("cosine", bandwidth="median")
    with pytest.raises(NoAffinityError, match="kernel='linear' does not use bandwidth"):
        make_affinity("linear", "kernel", bandwidth=1.0)
    with pytest.raises(NoAffinityError, match=r"affinity=Gaussian\(bandwidth=2.0\) has its own options: set bandwidth"):
        make_affinity(Gaussian(2.0), bandwidth=1.0)


@pytest.mark.parametrize("affinity", [Gaussian(1e-9), Nystroem(Gaussian(1e-9), 5)])
def test_too_small_bandwidth_is_refused(affinity):
    message = r"bandwidths from the origin, whose squares do not fit float64: raise bandwidth \(now 1e-09\)"
    with pytest.raises(NoAffinityError, match=message):
        affinity.build_operator(rows(20) * 1e150, rng())
