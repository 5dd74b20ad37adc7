"""Co-trained spectral clustering of arrays on a device equals numpy, and nothing large leaves the device."""

from itertools import islice, product

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score, pairwise

import consilience as cs
from consilience.affinities import AFFINITIES, Cosine, Gaussian, Landmarks, NearestNeighbors, Nystroem, Precomputed
from consilience.arrays import is_on_host, namespace, to_numpy
from consilience.datasets import make_gaussian_views
from consilience.methods.spectral.algorithm import compute_alignment, run_co_training, select_pivot_rows
from transfers import count_transfers, put_on_device

N = 120
LIBRARIES = ["array_api_strict", "torch"]


@pytest.fixture(params=LIBRARIES)
def to_device(request):
    """A function that converts a numpy array to another library."""
    if request.param == "array_api_strict":
        return put_on_device
    torch = pytest.importorskip("torch")
    return lambda values: torch.asarray(np.ascontiguousarray(values))


@pytest.fixture
def roomy(monkeypatch):
    """Pretend that arrays of other libraries are on a device with its own memory."""
    monkeypatch.setattr(
        "consilience.affinities.landmarks.available_device_memory", lambda X: None if is_on_host(X) else 1 << 40
    )


def some_views(names=("view0", "view1"), missing=0.0, separation=5):
    views, _ = make_gaussian_views(
        N, n_clusters=4, n_features=(4, 6, 3), separation=separation, missing=missing, random_state=0
    )
    return views[list(names)]


def move(views, to_device):
    """Copy the views to another library, with the known mask of present rows."""
    return cs.Views({name: to_device(np.array(X)) for name, X in views.items()}, present=views.present)


def fit_model(views, **options):
    return cs.CoTrainedSpectral(4, random_state=0, **options).fit(views)


def assert_same(host_fit, device_fit):
    """Assert that labels are equal, and embeddings up to the sign of each column."""
    assert np.array_equal(host_fit.labels_, device_fit.labels_)
    for name, U in host_fit.embeddings_.items():
        V = to_numpy(device_fit.embeddings_[name])
        np.testing.assert_allclose(V * np.sign(np.sum(U * V, axis=0)), U, atol=1e-6)
    for name, labels in host_fit.view_labels_.items():
        assert np.array_equal(device_fit.view_labels_[name], labels)
    np.testing.assert_allclose(device_fit.history_["alignment"], host_fit.history_["alignment"], atol=1e-8)


THREE = ("view0", "view1", "view2")
COMPARED = [name for name in AFFINITIES if name not in ("auto", "precomputed")]
CASES = {
    "two views, no rounds": (some_views(), {"affinity": "gaussian", "n_iter": 0}),
    "two views": (some_views(), {"affinity": "nystroem", "n_iter": 3}),
    "three views": (some_views(THREE), {"affinity": "cosine", "n_iter": 3}),
    "missing, gaussian": (some_views(THREE, missing=0.3), {"affinity": "gaussian", "n_iter": 3}),
    "missing, neighbors": (some_views(THREE, missing=0.3), {"affinity": "nearest-neighbors", "n_iter": 3}),
    "landmarks as a table": (some_views(), {"affinity": Landmarks(60, 5), "n_iter": 2}),
    "precomputed": (some_views().map(pairwise.rbf_kernel), {"affinity": "precomputed", "n_iter": 2}),
}
TORCH_CASES = {  # their parts run on the strict library in other tests
    "rounds are clustered": (some_views(THREE), {"affinity": "gaussian", "n_iter": "compactness"}),
    "missing, nystroem": (some_views(THREE, missing=0.3), {"affinity": "nystroem", "n_iter": 3}),
    **{name: (some_views().map(np.abs), {"affinity": name, "n_iter": 1}) for name in COMPARED},
}


@pytest.mark.parametrize(
    ("case", "to_device"),
    [*product(CASES, LIBRARIES), *((name, "torch") for name in TORCH_CASES)],
    indirect=["to_device"],
)
@pytest.mark.usefixtures("roomy")
def test_device_equals_numpy_and_stays_in_its_library(case, to_device):
    views, options = {**CASES, **TORCH_CASES}[case]
    device_views = move(views, to_device)
    host_fit, device_fit = (fit_model(data, **options) for data in (views, device_views))
    assert_same(host_fit, device_fit)
    assert isinstance(device_fit.labels_, np.ndarray)
    for name, U in device_fit.embeddings_.items():
        assert type(U) is type(device_views[name])
        assert U.device == device_views[name].device
    if "compactness" in host_fit.history_:
        np.testing.assert_allclose(device_fit.history_["compactness"], host_fit.history_["compactness"], atol=1e-8)
        assert np.array_equal(device_fit.labels_per_round_, host_fit.labels_per_round_)
        for name, labels in device_fit.view_labels_per_round_.items():
            assert np.array_equal(labels, host_fit.view_labels_per_round_[name])
    for new in (device_views[40:80], views[40:80]):  # numpy rows are accepted
        assert np.array_equal(device_fit.predict(new), host_fit.predict(views[40:80]))
    alone = np.flatnonzero(views.present[:, 1])[:20]
    assert np.array_equal(device_fit.predict(device_views[["view1"]][alone]), host_fit.predict(views[["view1"]][alone]))


@pytest.mark.usefixtures("roomy")
def test_ties_among_landmarks_keep_the_number_of_neighbors(to_device):
    assert Landmarks(60, 5).nbytes(to_device(np.ones((N, 4)))) == N * 60 * 8
    X = to_device(np.repeat(np.eye(6), 10, axis=0))
    operator = Landmarks(60, 7, "euclidean").build_operator(X, np.random.default_rng(0))
    assert np.array_equal(np.count_nonzero(to_numpy(operator.factor @ np.eye(60)), axis=1), np.full(60, 7))


def test_several_affinities_and_float32_on_a_device(to_device):
    views = some_views(THREE)
    options = {"affinity": ["gaussian", "nearest-neighbors", "landmarks"], "n_iter": 2}
    single = views.map(lambda X: X.astype(np.float32))  # the numbers of a graph are float64 nevertheless
    for data in (views, single):
        host_fit, device_fit = fit_model(data, **options), fit_model(move(data, to_device), **options)
        assert np.array_equal(host_fit.labels_, device_fit.labels_)
        assert np.array_equal(device_fit.predict(data[:30]), host_fit.predict(data[:30]))
    only_gaussian = fit_model(move(single[["view0"]], to_device), affinity="gaussian")
    assert to_numpy(only_gaussian.embeddings_["view0"]).dtype == np.float32


@pytest.mark.parametrize(
    ("embedding", "to_device"), [("concat", "torch"), ("view1", "array_api_strict")], indirect=["to_device"]
)
def test_cluster_qr_on_a_device(embedding, to_device):
    views = some_views(separation=15)
    options = {"affinity": "gaussian", "n_iter": 1, "assign_labels": "cluster-qr", "embedding": embedding}
    host_fit, device_fit = fit_model(views, **options), fit_model(move(views, to_device), **options)
    # rounding decides which of the rows of unit length comes first, so the numbering of clusters differs
    assert adjusted_rand_score(host_fit.labels_, device_fit.labels_) == 1
    assert np.array_equal(device_fit.predict(views), device_fit.labels_)


def test_pivot_rows_equal_a_pivoted_decomposition(to_device):
    U = np.random.default_rng(0).standard_normal((50, 4))
    assert np.array_equal(to_numpy(select_pivot_rows(to_device(U), 4)), select_pivot_rows(U, 4))


def test_too_few_dimensions_warn_on_a_device(to_device):
    views = some_views(("view2", "view0")).map(np.abs)
    fits = []
    for data in (views, move(views, to_device)):
        with pytest.warns(UserWarning, match="view 'view2' has 3 dimensions, fewer than n_clusters=4"):
            fits.append(fit_model(data, affinity="linear", n_iter=2))
        assert np.array_equal(fits[-1].predict(data), fits[-1].labels_)
    assert np.array_equal(fits[0].labels_, fits[1].labels_)
    np.testing.assert_allclose(fits[0].history_["alignment"], fits[1].history_["alignment"], atol=1e-8)


@pytest.mark.parametrize(
    ("affinity", "n_views"),
    [(Gaussian(), 2), (Gaussian(), 3), (Nystroem(), 3), (Cosine(), 2), (Landmarks(metric="euclidean"), 3)],
)
@pytest.mark.usefixtures("roomy")
def test_rounds_fetch_one_number_each(affinity, n_views):
    views = some_views(THREE[:n_views])
    blocks = [put_on_device(np.array(X)) for _, X in views.items()]
    operators = [affinity.build_operator(X, np.random.default_rng(0)) for X in blocks]
    rounds = run_co_training(operators, 5, 4, np.random.default_rng(0))
    compute_alignment(next(rounds), 4)
    with count_transfers() as fetched:
        for embeddings in islice(rounds, 3):
            assert 0 <= compute_alignment(embeddings, 4) <= 1
    assert fetched.arrays == []
    assert fetched.numbers == 3


@pytest.mark.parametrize(
    ("affinity", "missing"),
    [("gaussian", 0.0), ("gaussian", 0.3), ("nystroem", 0.3), ("cosine", 0.3), ("landmarks", 0.0), ("landmarks", 0.3)],
)
@pytest.mark.usefixtures("roomy")
def test_eigenvectors_and_rounds_fetch_no_large_arrays(affinity, missing, monkeypatch):
    views = move(some_views(THREE, missing), put_on_device)
    model = cs.CoTrainedSpectral(4, affinity=affinity, n_iter=3, random_state=0)
    embed, transferred = type(model)._embed, []

    def embed_and_count(*args):
        with count_transfers() as fetched:
            embedding = embed(*args)
        transferred.extend(fetched.arrays)
        return embedding

    monkeypatch.setattr(type(model), "_embed", embed_and_count)
    model.fit(views)
    assert transferred  # each step of the eigenvectors fetches a few numbers
    assert max(np.prod(shape) for shape in transferred) < N


def test_bandwidth_is_computed_on_the_device(tune):
    tune("affinities.gaussian", max_sorted=50, median_sample=10, max_unsampled=1)
    X = np.random.default_rng(0).standard_normal((N, 3))
    with count_transfers() as fetched:
        kernel = Gaussian().learn(put_on_device(X))
    assert kernel.bandwidth == pytest.approx(np.median(pairwise.euclidean_distances(X)), rel=1e-12)
    assert max(np.prod(shape) for shape in fetched.arrays) <= 100  # the sample, and the distances around the median


@pytest.mark.parametrize("affinity", [NearestNeighbors(5, "euclidean"), Precomputed()])
def test_graph_products_return_to_the_device(affinity, to_device):
    X = to_device(pairwise.rbf_kernel(np.random.default_rng(0).random((40, 3))))
    K, ones = affinity.build_operator(X, np.random.default_rng(0)), np.ones((40, 2))
    for values in (K @ ones, K @ to_device(ones), K.columns(np.array([3, 1])), K.compare_with(X) @ ones):
        assert namespace(values) is namespace(X)
        assert values.device == X.device


@pytest.mark.parametrize("estimator", [cs.baselines.KernelAddition, cs.baselines.CoRegularizedSpectral])
def test_baselines_compute_in_numpy(estimator, to_device):
    views = some_views()
    both = views, move(views, to_device)
    host_fit, device_fit = (estimator(4, affinity="gaussian", random_state=0).fit(data) for data in both)
    assert np.array_equal(host_fit.labels_, device_fit.labels_)
    assert all(isinstance(U, np.ndarray) for U in device_fit.embeddings_.values())
    assert np.array_equal(device_fit.predict(move(views[:20], to_device)), host_fit.predict(views[:20]))
