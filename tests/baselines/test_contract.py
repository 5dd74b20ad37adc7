"""The contract of every baseline."""

import pickle
from functools import cache

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.exceptions import NotFittedError
from sklearn.metrics import adjusted_rand_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

import consilience as cs
from consilience.baselines import (
    CCAKMeans,
    CCASpectral,
    CoRegularizedSpectral,
    KernelAddition,
    KernelProduct,
    MinimumDisagreement,
)
from consilience.datasets import make_gaussian_views
from makers import (
    ALL,
    SPECTRAL,
    make_addition,
    make_centroid,
    make_concatenated,
    make_disagreement,
    make_merged,
    make_pairwise,
    make_single,
)

every_baseline = pytest.mark.parametrize("make", ALL)
every_spectral = pytest.mark.parametrize("make", SPECTRAL)


def clear_views(missing=0.0, n=90):
    """Create three views with well-separated clusters."""
    return make_gaussian_views(n, n_features=(4, 6, 3), separation=16, missing=missing, random_state=0)


def vague_views(missing=0.0, n=90):
    """Create three views with overlapping clusters."""
    return make_gaussian_views(n, n_features=(4, 6, 3), separation=3, missing=missing, random_state=1)


@cache
def fit_clear_views(make):
    """Fit a baseline; tests do not change the model."""
    return make(3).fit(clear_views()[0])


@cache
def fit_vague_views(make, missing=0.0):
    return make(3).fit(vague_views(missing)[0])


@pytest.mark.parametrize(
    "estimator",
    [
        make_concatenated(3),
        make_merged(3),
        make_single(3),
        # the checks of sparse rows expect as many probabilities as there are classes in their data, which are four
        KernelAddition(4, n_init=2, random_state=0),
        KernelProduct(4, bandwidth=1.0, n_init=2, random_state=0),  # one entity has no median distance
        MinimumDisagreement(4, n_init=2, random_state=0),
        CoRegularizedSpectral(4, n_init=2, random_state=0),
        CCASpectral(3, n_init=2, random_state=0),
        CCAKMeans(3, n_init=2, random_state=0),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning", "ignore:entity .* is all zeros")
def test_scikit_learn_accepts_the_baseline(estimator):
    check_estimator(estimator, on_skip=None)


@every_baseline
def test_finds_clear_clusters(make):
    views, y = clear_views()
    model = fit_clear_views(make)
    assert adjusted_rand_score(y, model.labels_) > 0.95
    assert model.agreement_.min() > 0.9
    assert np.array_equal(model.predict(views.map(lambda block: block + 1e-7)), model.labels_)
    if make in (make_merged, make_single, *SPECTRAL):
        name = getattr(model, "view_", "view1")
        assert adjusted_rand_score(y, model.predict(views[[name]])) > 0.9


@every_baseline
def test_common_attributes_and_predictions_with_views_missing(make):
    views, _ = vague_views(missing=0.3)
    model = fit_vague_views(make, missing=0.3)
    labels = model.labels_
    assert labels.shape == (90,)
    lowest = -1 if make is make_single else 0
    assert lowest <= labels.min() <= labels.max() == 2
    assert list(model.view_labels_) == list(views.names)
    for has_view, view_labels in zip(views.present.T, model.view_labels_.values(), strict=True):
        assert np.array_equal(view_labels >= 0, has_view)
    assert np.array_equal(model.agreement_, cs.metrics.agreement_matrix(model.view_labels_))
    assert model.n_features_in_ == 13
    if make in SPECTRAL:
        embeddings = list(model.embeddings_.values()) if hasattr(model, "embeddings_") else [model.features_]
        assert all(np.isfinite(embedding).all() for embedding in embeddings)
    assert np.array_equal(model.predict(views), labels)
    assert np.array_equal(model.predict(views[40:50]), labels[40:50])
    assert np.array_equal(model.predict(views[["view2", "view0", "view1"]]), labels)


@pytest.mark.parametrize("make", [make_addition, make_disagreement, make_pairwise, make_centroid])
def test_predict_repeats_the_labels_on_neighbor_graphs(make):
    views, _ = vague_views(n=120)
    model = make(3, affinity=cs.affinities.NearestNeighbors(20, "euclidean")).fit(views)
    assert np.array_equal(model.predict(views), model.labels_)


@every_baseline
def test_permuted_rows_and_float32_give_the_same_clusters(make):
    views, _ = clear_views(missing=0.2)
    order, narrow = np.random.default_rng(0).permutation(len(views)), views.map(lambda block: block.astype(np.float32))
    labels = make(3).fit_predict(views)
    assert adjusted_rand_score(labels[order], make(3).fit_predict(views[order])) == 1
    model = make(3).fit(narrow)
    assert adjusted_rand_score(model.labels_, labels) == 1
    assert np.array_equal(model.predict(narrow), model.labels_)


@every_baseline
def test_renamed_and_reordered_views_give_the_same_clusters(make):
    views, _ = clear_views()
    straight = fit_clear_views(make).labels_
    named = cs.Views({f"a view called {name}": block for name, block in views.items()})
    assert np.array_equal(make(3).fit_predict(named), straight)
    assert adjusted_rand_score(make(3).fit_predict(views[["view2", "view0", "view1"]]), straight) == 1


@every_baseline
def test_forms_of_input_are_equivalent(make):
    straight, blocks = fit_vague_views(make), dict(vague_views()[0].items())
    columns = {"view0": slice(0, 4), "view1": slice(4, 10), "view2": slice(10, 13)}
    whole = np.hstack(list(blocks.values()))
    cut = make(3, views=columns).fit(whole)
    for model in (make(3).fit(blocks), make(3).fit(list(blocks.values())), cut):
        assert np.array_equal(model.labels_, straight.labels_)
        assert np.array_equal(model.agreement_, straight.agreement_)
    assert np.array_equal(cut.predict(whole), straight.labels_)
    model = make(3).fit(blocks["view1"])  # a plain array is one view
    assert list(model.view_labels_) == ["view0"]
    assert model.agreement_.tolist() == [[1.0]]
    assert np.array_equal(model.labels_, make(3).fit_predict([blocks["view1"]]))


@every_baseline
def test_sparse_equals_dense(make):
    rng = np.random.default_rng(0)
    y = np.arange(60) % 3
    dense = []
    for d in (20, 15):
        words = rng.dirichlet(np.full(d, 0.3), size=3)
        dense.append(np.array([rng.multinomial(40, words[j]) for j in y], dtype=float))
    labels = make(3).fit_predict(dense)
    for sparse in ([sp.csr_array(X) for X in dense], [sp.csc_matrix(dense[0]), dense[1]]):
        model = make(3).fit(sparse)
        assert np.array_equal(model.labels_, labels)
        assert np.array_equal(model.predict(sparse), labels)


@every_baseline
@pytest.mark.parametrize("kind", ["array_api_strict", "torch"])
def test_baselines_accept_array_libraries(make, kind):
    library = pytest.importorskip(kind)
    views, _ = vague_views(missing=0.2)
    arrays = {name: library.asarray(np.array(block)) for name, block in views.items()}
    other = cs.Views(arrays, present=views.present)
    model, expected = make(3).fit(other), fit_vague_views(make, missing=0.2)
    assert isinstance(model.labels_, np.ndarray)
    assert np.array_equal(model.labels_, expected.labels_)
    assert np.array_equal(model.predict(other), expected.labels_)
    assert np.array_equal(model.predict(views), expected.labels_)


@every_spectral
def test_result_does_not_depend_on_threads(make, tune):
    tune("arrays.pairwise", tile=1000)
    views, _ = vague_views(missing=0.2)
    first, second = (make(3, n_jobs=n).fit(views) for n in (1, 2))
    assert np.array_equal(first.labels_, second.labels_)
    assert np.array_equal(first.agreement_, second.agreement_)


@every_spectral
def test_random_states_of_all_kinds(make):
    views, _ = clear_views()
    labels = [
        make(3, random_state=state).fit_predict(views)
        for state in (7, np.random.default_rng(7), np.random.RandomState(7), None)
    ]
    assert all(adjusted_rand_score(labels[0], other) == 1 for other in labels[1:])


@every_baseline
def test_fit_repeats_changes_nothing_else_and_survives_pickling_and_cloning(make):
    views, _ = vague_views(missing=0.3)
    before = {name: np.array(block) for name, block in views.items()}
    model = make(3)
    parameters = repr(model.get_params())
    np.random.seed(0)  # noqa: NPY002
    state = np.random.get_state()[1].copy()  # noqa: NPY002
    model.fit(views).predict(views)
    assert np.array_equal(state, np.random.get_state()[1])  # noqa: NPY002
    assert repr(model.get_params()) == parameters
    assert all(np.array_equal(before[name], block, equal_nan=True) for name, block in views.items())
    assert not hasattr(getattr(model, "estimator", None), "labels_")
    again = fit_vague_views(make, missing=0.3)
    assert np.array_equal(model.labels_, again.labels_)
    assert np.array_equal(model.agreement_, again.agreement_)
    assert np.array_equal(pickle.loads(pickle.dumps(model)).predict(views), model.labels_)
    with pytest.raises(NotFittedError, match="not fitted"):
        clone(model).predict(views)


@every_baseline
def test_works_in_a_pipeline(make):
    views, y = clear_views(missing=0.1)
    labels = make_pipeline(cs.PerView(StandardScaler()), make(3)).fit_predict(views)
    assert adjusted_rand_score(y, labels) > 0.7


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_clusters": 0}, "'n_clusters' parameter"),
        ({"n_clusters": 91}, "n_clusters=91 is more than the 90 entities"),
        ({"affinity": "rbf"}, "'affinity' parameter"),
        ({"assign_labels": "guess"}, "'assign_labels' parameter"),
        ({"n_jobs": 0}, "n_jobs=0 has no meaning"),
    ],
)
def test_spectral_methods_refuse_options(options, message):
    for make in SPECTRAL:
        with pytest.raises(ValueError, match=message):
            make(3).set_params(**options).fit(vague_views()[0])


@every_spectral
def test_cluster_qr_assigns_labels(make):
    views, y = clear_views()
    model = make(3, assign_labels="cluster-qr").fit(views)
    assert adjusted_rand_score(y, model.labels_) > 0.95
    assert np.array_equal(model.predict(views), model.labels_)


@pytest.mark.parametrize("make", [make_concatenated, make_merged, make_single])
def test_wrappers_expose_parameters_of_the_estimator(make):
    model = make(3)
    model.set_params(estimator__n_clusters=2)
    assert len(np.unique(model.fit_predict(clear_views()[0]))) == 2
    with pytest.raises(ValueError, match="'estimator' parameter"):
        model.set_params(estimator="k-means").fit(clear_views()[0])
    with pytest.raises(TypeError, match="an instance of scikit-learn estimator instead of a class"):
        model.set_params(estimator=KMeans).fit(clear_views()[0])


@every_spectral
def test_score_is_minus_the_cost(make):
    views, _ = vague_views()
    model = fit_vague_views(make)
    assert model.score(views) == pytest.approx(-model.cost_, rel=1e-5)
    assert model.score(views[:30]) + model.score(views[30:]) == pytest.approx(model.score(views))
