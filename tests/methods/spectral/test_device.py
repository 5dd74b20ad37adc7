"""Co-trained spectral clustering of arrays on a device: the same as in numpy, and nothing large leaves the device."""

from itertools import islice

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score, pairwise

import consilience as cs
from consilience.affinities import AFFINITIES, Cosine, Gaussian, Landmarks, NearestNeighbors, Nystroem, Precomputed
from consilience.arrays import is_on_host, namespace, to_numpy
from consilience.datasets import make_gaussian_views
from consilience.methods.spectral.algorithm import compute_alignment, run_co_training
from consilience.methods.spectral.assign import select_pivot_rows
from transfers import count_transfers, put_on_device

N = 160


@pytest.fixture(params=["array_api_strict", "torch"])
def to_device(request):
    """A function that makes a numpy array one of another library."""
    if request.param == "array_api_strict":
        return put_on_device
    torch = pytest.importorskip("torch")
    return lambda values: torch.asarray(np.ascontiguousarray(values))


@pytest.fixture
def roomy(monkeypatch):
    """Make landmarks believe that arrays of other libraries lie on a device with memory of its own."""
    monkeypatch.setattr(
        "consilience.affinities.landmarks.available_device_memory", lambda X: None if is_on_host(X) else 1 << 40
    )


def some_views(names=("view0", "view1"), missing=0.0, separation=5):
    views, _ = make_gaussian_views(
        N, n_clusters=4, n_features=(4, 6, 3), separation=separation, missing=missing, random_state=0
    )
    return views[list(names)]


def moved(views, to_device):
    """The same views elsewhere; who has which is known."""
    return cs.Views({name: to_device(np.array(X)) for name, X in views.items()}, present=views.present)


def fitted(views, **options):
    return cs.CoTrainedSpectral(4, random_state=0, **options).fit(views)


def assert_same(here, there):
    """Two models of the same data: labels are equal, embeddings up to the sign of each column."""
    assert np.array_equal(here.labels_, there.labels_)
    for name, U in here.embeddings_.items():
        V = to_numpy(there.embeddings_[name])
        np.testing.assert_allclose(V * np.sign(np.sum(U * V, axis=0)), U, atol=1e-6)
    for name, labels in here.view_labels_.items():
        assert np.array_equal(there.view_labels_[name], labels)
    np.testing.assert_allclose(there.history_["alignment"], here.history_["alignment"], atol=1e-8)


@pytest.mark.parametrize("n_iter", [0, 3])
@pytest.mark.parametrize("affinity", ["gaussian", "nystroem", "cosine"])
@pytest.mark.parametrize("n_views", [2, 3])
def test_equals_numpy_and_stays_in_its_library(affinity, n_views, n_iter, to_device):
    views = some_views(("view0", "view1", "view2")[:n_views])
    there = moved(views, to_device)
    here, other = (fitted(own, affinity=affinity, n_iter=n_iter) for own in (views, there))
    assert_same(here, other)
    assert isinstance(other.labels_, np.ndarray)
    for name, U in other.embeddings_.items():
        assert type(U) is type(there[name])
        assert U.device == there[name].device
    assert np.array_equal(other.predict(there), here.predict(views))
    assert np.array_equal(other.predict(views[30:50]), here.labels_[30:50])  # numpy rows go where the model is


@pytest.mark.parametrize("affinity", ["gaussian", "nystroem", "nearest-neighbors"])
def test_missing_views(affinity, to_device):
    views = some_views(("view0", "view1", "view2"), missing=0.3)
    there = moved(views, to_device)
    here, other = (fitted(own, affinity=affinity, n_iter=3) for own in (views, there))
    assert_same(here, other)
    assert np.array_equal(other.predict(there[40:80]), here.predict(views[40:80]))
    alone = np.flatnonzero(views.present[:, 1])[:20]
    assert np.array_equal(other.predict(there[["view1"]][alone]), here.predict(views[["view1"]][alone]))


@pytest.mark.parametrize("affinity", [name for name in AFFINITIES if name not in ("auto", "precomputed")])
def test_every_affinity(affinity, to_device):
    views = some_views().map(np.abs)
    here, other = (fitted(own, affinity=affinity, n_iter=1) for own in (views, moved(views, to_device)))
    assert_same(here, other)
    assert all(type(U) is type(to_device(np.ones(1))) for U in other.embeddings_.values())
    assert np.array_equal(other.predict(moved(views[:40], to_device)), here.predict(views[:40]))


@pytest.mark.usefixtures("roomy")
def test_landmarks_in_a_table(to_device):
    views = some_views()
    there = moved(views, to_device)
    here, other = (fitted(own, affinity=Landmarks(60, 5), n_iter=2) for own in (views, there))
    assert_same(here, other)
    assert np.array_equal(other.predict(there[:50]), here.predict(views[:50]))
    assert Landmarks(60, 5).nbytes(there["view0"]) == N * 60 * 8


@pytest.mark.usefixtures("roomy")
def test_a_row_as_far_from_several_landmarks_is_joined_to_as_many_as_others(to_device):
    X = to_device(np.repeat(np.eye(6), 10, axis=0))
    found = Landmarks(60, 7, "euclidean").build_operator(X, np.random.default_rng(0))
    assert np.array_equal(np.count_nonzero(to_numpy(found.factor @ np.eye(60)), axis=1), np.full(60, 7))


def test_precomputed(to_device):
    views = some_views()
    kernels = cs.Views({name: pairwise.rbf_kernel(X, gamma=0.05) for name, X in views.items()})
    there = moved(kernels, to_device)
    here, other = (fitted(own, affinity="precomputed", n_iter=2) for own in (kernels, there))
    assert_same(here, other)
    assert np.array_equal(other.predict(there), here.labels_)


def test_affinities_of_several_kinds_in_one_model(to_device):
    views = some_views(("view0", "view1", "view2"))
    options = {"affinity": ["gaussian", "nearest-neighbors", "landmarks"], "n_iter": 2}
    single = views.map(lambda X: X.astype(np.float32))  # a graph's numbers are float64 all the same
    for own in (views, single):
        here, other = fitted(own, **options), fitted(moved(own, to_device), **options)
        assert np.array_equal(here.labels_, other.labels_)
        assert np.array_equal(other.predict(own[:30]), here.predict(own[:30]))


def test_float32(to_device):
    views = some_views().map(lambda X: X.astype(np.float32))
    here, other = (fitted(own, affinity="gaussian", n_iter=2) for own in (views, moved(views, to_device)))
    assert np.array_equal(here.labels_, other.labels_)
    assert all(to_numpy(U).dtype == np.float32 for U in other.embeddings_.values())


@pytest.mark.parametrize("embedding", ["concat", "view1"])
def test_cluster_qr(embedding, to_device):
    views = some_views(separation=15)
    options = {"affinity": "gaussian", "n_iter": 1, "assign_labels": "cluster-qr", "embedding": embedding}
    here, other = fitted(views, **options), fitted(moved(views, to_device), **options)
    # rows of unit length are all equally far out, so that rounding says which comes first: names of clusters differ
    assert adjusted_rand_score(here.labels_, other.labels_) == 1
    assert np.array_equal(other.predict(views), other.labels_)


def test_rows_that_stand_apart_are_those_of_a_pivoted_decomposition(to_device):
    U = np.random.default_rng(0).standard_normal((50, 4))
    assert np.array_equal(to_numpy(select_pivot_rows(to_device(U), 4)), select_pivot_rows(U, 4))


def test_fewer_dimensions_than_clusters(to_device):
    views = some_views(("view2", "view0"))
    with pytest.warns(UserWarning, match="view 'view2' has 3 dimensions, fewer than n_clusters=4"):
        here = fitted(views.map(np.abs), affinity="linear", n_iter=2)
    with pytest.warns(UserWarning, match="view 'view2' has 3 dimensions, fewer than n_clusters=4"):
        other = fitted(moved(views.map(np.abs), to_device), affinity="linear", n_iter=2)
    assert np.array_equal(here.labels_, other.labels_)
    np.testing.assert_allclose(other.history_["alignment"], here.history_["alignment"], atol=1e-8)


@pytest.mark.parametrize("affinity", [Gaussian(), Nystroem(), Cosine(), Landmarks(metric="euclidean")])
@pytest.mark.parametrize("n_views", [2, 3])
@pytest.mark.usefixtures("roomy")
def test_rounds_fetch_one_number_each(affinity, n_views):
    views = some_views(("view0", "view1", "view2")[:n_views])
    blocks = [put_on_device(np.array(X)) for _, X in views.items()]
    operators = [affinity.build_operator(X, np.random.default_rng(0)) for X in blocks]
    rounds = run_co_training(operators, 5, 4, np.random.default_rng(0))
    compute_alignment(next(rounds), 4)
    with count_transfers() as fetched:
        for found in islice(rounds, 3):
            assert 0 <= compute_alignment(found, 4) <= 1
    assert fetched.arrays == []
    assert fetched.numbers == 3


@pytest.mark.parametrize("affinity", ["gaussian", "nystroem", "cosine", "landmarks"])
@pytest.mark.parametrize("missing", [0.0, 0.3])
@pytest.mark.usefixtures("roomy")
def test_eigenvectors_and_rounds_leave_the_entities_where_they_are(affinity, missing, monkeypatch):
    views = moved(some_views(("view0", "view1", "view2"), missing), put_on_device)
    model = cs.CoTrainedSpectral(4, affinity=affinity, n_iter=3, random_state=0)
    whole, within = type(model)._embed, []

    def counted(*args):
        with count_transfers() as fetched:
            found = whole(*args)
        within.extend(fetched.arrays)
        return found

    monkeypatch.setattr(type(model), "_embed", counted)
    model.fit(views)
    assert within  # steps of the eigenvectors fetch what they decide by
    assert max(np.prod(shape) for shape in within) < N


def test_bandwidth_is_found_on_the_device(monkeypatch):
    monkeypatch.setattr("consilience.affinities.bandwidth.MAX_SORTED", 50)
    monkeypatch.setattr("consilience.affinities.distances.MEDIAN_SAMPLE", 10)
    X = np.random.default_rng(0).standard_normal((N, 3))
    with count_transfers() as fetched:
        kernel = Gaussian().learn(put_on_device(X))
    assert kernel.bandwidth == pytest.approx(np.median(pairwise.euclidean_distances(X)), rel=1e-12)
    assert max(np.prod(shape) for shape in fetched.arrays) <= 100  # the sample, and those in the middle


@pytest.mark.parametrize("affinity", [NearestNeighbors(5, "euclidean"), Precomputed()])
def test_a_graph_brings_its_products_back(affinity, to_device):
    X = to_device(pairwise.rbf_kernel(np.random.default_rng(0).random((40, 3))))
    K, ones = affinity.build_operator(X, np.random.default_rng(0)), np.ones((40, 2))
    for found in (K @ ones, K @ to_device(ones), K.columns(np.array([3, 1])), K.compare_with(X) @ ones):
        assert namespace(found) is namespace(X)
        assert found.device == X.device


@pytest.mark.parametrize("estimator", [cs.baselines.KernelAddition, cs.baselines.CoRegularizedSpectral])
def test_other_methods_work_in_numpy(estimator, to_device):
    views = some_views()
    both = views, moved(views, to_device)
    here, other = (estimator(4, affinity="gaussian", random_state=0).fit(own) for own in both)
    assert np.array_equal(here.labels_, other.labels_)
    assert all(isinstance(U, np.ndarray) for U in other.embeddings_.values())
    assert np.array_equal(other.predict(moved(views[:20], to_device)), here.predict(views[:20]))
