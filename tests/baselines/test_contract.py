"""The contract of every baseline."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.exceptions import NotFittedError
from sklearn.metrics import adjusted_rand_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

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


@parametrize_with_checks(
    [
        make_concatenated(3),
        make_merged(3),
        make_single(3),
        # the checks of sparse rows expect as many probabilities as there are classes in their data, which are four
        KernelAddition(4, n_init=2, random_state=0),
        KernelProduct(4, bandwidth=1.0, n_init=2, random_state=0),  # one entity has no median distance
        MinimumDisagreement(4, n_init=2, random_state=0),
        CoRegularizedSpectral(4, n_init=2, random_state=0),
        MinimumDisagreement(4, embedding="mean", n_init=2, random_state=0),
        CCASpectral(3, n_init=2, random_state=0),
        CCAKMeans(3, n_init=2, random_state=0),
    ]
)
@pytest.mark.filterwarnings(
    "ignore::sklearn.exceptions.ConvergenceWarning", "ignore:entity .* is all zeros:UserWarning"
)
def test_check_estimator(estimator, check):
    check(estimator)


@every_baseline
def test_finds_clear_clusters(make):
    views, y = clear_views()
    model = make(3).fit(views)
    assert adjusted_rand_score(y, model.labels_) > 0.95
    assert model.agreement_.min() > 0.9


@every_baseline
def test_common_attributes_with_views_missing(make):
    views, _ = vague_views(missing=0.3)
    model = make(3).fit(views)
    assert model.labels_.shape == (90,)
    lowest = -1 if make is make_single else 0
    assert lowest <= model.labels_.min() <= model.labels_.max() == 2
    assert list(model.view_labels_) == list(views.names)
    for has_view, view_labels in zip(views.present.T, model.view_labels_.values(), strict=True):
        assert np.array_equal(view_labels >= 0, has_view)
    assert np.array_equal(model.agreement_, cs.metrics.agreement_matrix(model.view_labels_))
    assert model.n_features_in_ == 13


@every_spectral
def test_embeddings_with_missing_views_are_finite(make):
    views, _ = vague_views(missing=0.4)
    model = make(3).fit(views)
    embeddings = list(model.embeddings_.values()) if hasattr(model, "embeddings_") else [model.features_]
    assert all(np.isfinite(embedding).all() for embedding in embeddings)


@every_baseline
@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_predict_repeats_the_labels(make, missing):
    views, _ = vague_views(missing)
    model = make(3)
    labels = model.fit_predict(views)
    assert np.array_equal(labels, model.labels_)
    assert np.array_equal(model.predict(views), labels)
    assert np.array_equal(model.predict(views[40:50]), labels[40:50])
    assert np.array_equal(model.predict(views[["view2", "view0", "view1"]]), labels)


@pytest.mark.parametrize("make", [make_addition, make_disagreement, make_pairwise, make_centroid])
def test_predict_repeats_the_labels_on_neighbor_graphs(make):
    views, _ = vague_views(n=120)
    model = make(3, affinity=cs.affinities.NearestNeighbors(20, "euclidean")).fit(views)
    assert np.array_equal(model.predict(views), model.labels_)


@pytest.mark.parametrize("make", [make_merged, make_single, *SPECTRAL])
def test_predict_from_one_view_alone(make):
    views, y = clear_views()
    model = make(3).fit(views)
    name = getattr(model, "view_", "view1")
    assert adjusted_rand_score(y, model.predict(views[[name]])) > 0.9


@every_baseline
def test_nearby_entities_get_equal_labels(make):
    views, _ = clear_views()
    model = make(3).fit(views)
    moved = views.map(lambda block: block + 1e-7)
    assert np.array_equal(model.predict(moved), model.labels_)


@every_baseline
def test_permuted_rows_give_the_same_clusters(make):
    views, _ = clear_views(missing=0.2)
    order = np.random.default_rng(0).permutation(len(views))
    assert adjusted_rand_score(make(3).fit_predict(views)[order], make(3).fit_predict(views[order])) == 1


@every_baseline
def test_renamed_and_reordered_views_give_the_same_clusters(make):
    views, _ = clear_views()
    straight = make(3).fit_predict(views)
    named = cs.Views({f"a view called {name}": block for name, block in views.items()})
    assert np.array_equal(make(3).fit_predict(named), straight)
    assert adjusted_rand_score(make(3).fit_predict(views[["view2", "view0", "view1"]]), straight) == 1


@every_baseline
def test_forms_of_input_are_equivalent(make):
    views, _ = vague_views()
    straight = make(3).fit(views)
    blocks = dict(views.items())
    columns = {"view0": slice(0, 4), "view1": slice(4, 10), "view2": slice(10, 13)}
    whole = np.hstack(list(blocks.values()))
    cut = make(3, views=columns).fit(whole)
    for model in (make(3).fit(blocks), make(3).fit(list(blocks.values())), cut):
        assert np.array_equal(model.labels_, straight.labels_)
        assert np.array_equal(model.agreement_, straight.agreement_)
    assert np.array_equal(cut.predict(whole), straight.labels_)


@every_baseline
def test_plain_array_is_one_view(make):
    X = vague_views()[0]["view1"]
    model = make(3).fit(X)
    assert list(model.view_labels_) == ["view0"]
    assert model.agreement_.tolist() == [[1.0]]
    assert np.array_equal(model.labels_, make(3).fit([X]).labels_)


@every_baseline
def test_float32_gives_the_same_clusters(make):
    views, _ = clear_views(missing=0.2)
    narrow = views.map(lambda block: block.astype(np.float32))
    model = make(3).fit(narrow)
    assert adjusted_rand_score(model.labels_, make(3).fit_predict(views)) == 1
    assert np.array_equal(model.predict(narrow), model.labels_)


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
def test_baselines_accept_array_libraries(make, to_kind):
    views, _ = vague_views(missing=0.2)
    kind = cs.Views({name: to_kind(np.array(block)) for name, block in views.items()})
    model = make(3).fit(kind)
    assert isinstance(model.labels_, np.ndarray)
    assert np.array_equal(model.labels_, make(3).fit_predict(views))
    assert np.array_equal(model.predict(kind), model.labels_)
    assert np.array_equal(model.predict(views), model.labels_)


@every_baseline
def test_same_seed_same_result(make):
    views, _ = vague_views(missing=0.2)
    first, second = make(3).fit(views), make(3).fit(views)
    assert np.array_equal(first.labels_, second.labels_)
    assert np.array_equal(first.agreement_, second.agreement_)


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
def test_leaves_parameters_data_and_global_random_state_alone(make):
    views, _ = vague_views(missing=0.2)
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


@every_baseline
def test_survives_pickling_and_cloning(make):
    views, _ = vague_views(missing=0.2)
    model = make(3).fit(views)
    back = pickle.loads(pickle.dumps(model))
    assert np.array_equal(back.predict(views), model.labels_)
    with pytest.raises(NotFittedError, match="not fitted"):
        clone(model).predict(views)


@every_baseline
def test_works_in_a_pipeline(make):
    views, y = clear_views(missing=0.1)
    labels = make_pipeline(cs.PerView(StandardScaler()), make(3)).fit_predict(views)
    assert adjusted_rand_score(y, labels) > 0.7


@every_baseline
@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda b: {**b, "links": np.where(b["links"] > 0.95, np.nan, b["links"])}, "view 'links' has NaN"),
        (lambda b: {**b, "links": b["links"][:18]}, "view 'links' has 18 rows, view 'text' 20"),
        (lambda b: {**b, "links": np.full((20, 4), np.nan)}, "no entity has view 'links': leave the view out"),
        (lambda b: {**b, "links": np.ones((20, 0))}, "view 'links' has 0 columns: leave it out"),
        (
            lambda b: {name: np.where(np.arange(20)[:, None] == 7, np.nan, X) for name, X in b.items()},
            r"entity 7 has none of the views \(1 such\): drop it",
        ),
    ],
    ids=["nan", "rows", "empty view", "no columns", "no view"],
)
def test_fit_refuses_invalid_views(make, spoil, message):
    rng = np.random.default_rng(0)
    model = make(2)
    with pytest.raises(ValueError, match=message):
        model.fit(spoil({"text": rng.random((20, 3)), "links": rng.random((20, 4))}))
    assert not hasattr(model, "labels_")


@every_baseline
@pytest.mark.parametrize(
    ("new", "message"),
    [
        ({"links": np.ones((5, 3))}, "view 'links' has 3 columns, but had 4 in fit"),
        ({"pictures": np.ones((5, 3))}, "none of the views 'pictures' was in fit"),
        ({"text": np.full((5, 3), np.nan)}, r"entity 0 has none of the views \(5 such\)"),
    ],
    ids=["columns", "views", "no view"],
)
def test_predict_refuses_other_views(make, new, message):
    rng = np.random.default_rng(0)
    model = make(2).fit({"text": rng.random((20, 3)), "links": rng.random((20, 4))})
    with pytest.raises(ValueError, match=message):
        model.predict(new)


@every_spectral
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
def test_spectral_methods_refuse_options(make, options, message):
    with pytest.raises(ValueError, match=message):
        make(3).set_params(**options).fit(vague_views()[0])


@every_spectral
def test_cluster_qr_assigns_labels(make):
    views, y = clear_views()
    model = make(3, assign_labels="cluster-qr").fit(views)
    assert adjusted_rand_score(y, model.labels_) > 0.95
    assert np.array_equal(model.predict(views), model.labels_)


@pytest.mark.parametrize("make", [make_concatenated, make_merged, make_single])
def test_wrappers_expose_nested_parameters(make):
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
    model = make(3).fit(views)
    assert model.score(views) == pytest.approx(-model.cost_, rel=1e-5)
    assert model.score(views[:30]) + model.score(views[30:]) == pytest.approx(model.score(views))


@pytest.mark.parametrize("make", [make_concatenated, make_merged, make_single])
def test_wrappers_return_the_score_of_the_estimator(make):
    views, _ = clear_views()
    model = make(3).fit(views)
    cost = model.estimator_.cost_ if make is make_merged else model.estimator_.inertia_
    assert model.score(views) == pytest.approx(-cost)
