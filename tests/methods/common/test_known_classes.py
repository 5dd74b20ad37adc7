"""Known classes of some entities: `fit(X, y)` of co-EM and k-means, of which the literal versions are elsewhere."""

import warnings
from copy import deepcopy

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import cross_validate
from sklearn.naive_bayes import GaussianNB, MultinomialNB

import consilience as cs
from consilience.arrays import to_numpy
from consilience.datasets import make_text_views
from consilience.families import FAMILIES, Gaussian, Multinomial
from equality import is_identical
from seeded import N_CLUSTERS as K
from seeded import SEEDED, co_em, every_seeded, kmeans, make_blobs, spherical
from stores import STORES, cut_finely, make_blocks

ALL_KNOWN = "y gives one of .* classes to every entity, which leaves nothing to cluster"
NAMED_STARTS = ["k-means++", "random", "random-responsibilities"]


def draw_known(y, per_class, seed=0, classes=None):
    """Return y with the classes of a few random entities, and -1 elsewhere."""
    rng, known_classes = np.random.default_rng(seed), np.full(len(y), -1)
    for label in np.unique(y) if classes is None else classes:
        known_classes[rng.choice(np.flatnonzero(y == label), per_class, replace=False)] = label
    return known_classes


def fit_quietly(model, X, y=None):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.filterwarnings("ignore", ALL_KNOWN)
        return model.fit(X, y)


@pytest.fixture(scope="module", params=SEEDED)
def fitted(request):
    """A function that makes an estimator, views, known classes, and a fitted model that no test changes."""
    views, y = make_blobs()
    known_classes = draw_known(y, 3)
    return request.param, views, known_classes, request.param().fit(views, known_classes)


def get_state(model):
    """Return all fitted attributes that are arrays or numbers."""
    return {name: value for name, value in vars(model).items() if name.endswith("_") and name != "families_"}


@pytest.mark.parametrize(
    ("make", "init"), [(co_em, "k-means++"), (kmeans, "random"), (spherical, "random-responsibilities")]
)
def test_all_unknown_equals_a_fit_without_classes(make, init):
    views, _ = make_blobs(0.2)
    expected, actual = (fit_quietly(make(init=init, n_init=2), views, y) for y in (None, np.full(200, -1)))
    assert is_identical(get_state(actual), get_state(expected))
    assert actual.seed_classes_ is None


@pytest.mark.parametrize(
    ("make", "init"),
    [
        *((co_em, name) for name in (*NAMED_STARTS, "labels", "responsibilities", "parameters")),
        *((kmeans, name) for name in (*NAMED_STARTS, "labels", "parameters")),
        (spherical, "random"),
        (spherical, "responsibilities"),
    ],
)
def test_known_entities_keep_their_labels(make, init):
    """Whatever the start says about them."""
    views, y = make_blobs(0.3, separation=1)  # classes overlap, so that an unrestricted fit changes labels
    known_classes = draw_known(y, 12)
    if init == "parameters":
        model = fit_quietly(make(), views, known_classes)
        init = model.params_ if make is co_em else model.view_centers_
    starts = {"labels": (y + 1) % K, "responsibilities": np.eye(K)[(y + 1) % K]}
    init = starts.get(init, init) if isinstance(init, str) else init
    model = fit_quietly(make(init=init, n_init=2), views, known_classes)
    is_known = known_classes >= 0
    assert np.array_equal(model.labels_[is_known], known_classes[is_known])
    for v, name in enumerate(views.names):
        has_both = is_known & views.present[:, v]
        assert np.array_equal(model.view_labels_[name][has_both], known_classes[has_both])
        if make is co_em:
            assert np.array_equal(model.responsibilities_[name][has_both], np.eye(K)[known_classes[has_both]])
    assert (model.predict(views)[is_known] != known_classes[is_known]).any()
    assert np.array_equal(model.seed_classes_, [0, 1, 2, 3])


def test_all_known_equals_naive_bayes():
    views, y = make_blobs()
    model = fit_quietly(co_em(families=Gaussian(floor=1e-12), eta=0.5), views, y)
    for name, block in views.items():
        expected = GaussianNB(var_smoothing=0).fit(block, y)
        np.testing.assert_allclose(model.params_[name]["means"], expected.theta_, rtol=1e-10)
        np.testing.assert_allclose(model.params_[name]["covariances"], expected.var_, rtol=1e-8)
        np.testing.assert_allclose(model.params_[name]["weights"], expected.class_prior_, rtol=1e-12)
    assert np.array_equal(model.labels_, y)
    assert np.array_equal(model.agreement_, np.ones((3, 3)))
    views, y = make_text_views(200, n_clusters=K, random_state=0)
    model = fit_quietly(co_em(families=Multinomial(smoothing=1)), views, y)
    for name, block in views.items():
        expected = MultinomialNB(alpha=1).fit(block, y)
        np.testing.assert_allclose(np.log(model.params_[name]["probabilities"]), expected.feature_log_prob_, rtol=1e-10)
        np.testing.assert_allclose(model.params_[name]["weights"], np.exp(expected.class_log_prior_), rtol=1e-12)


@every_seeded
def test_permuted_classes_permute_the_clusters(make):
    views, y = make_blobs(0.2, separation=2)
    known_classes, permutation = draw_known(y, 5), np.array([2, 0, 3, 1, -1])
    model, permuted = (fit_quietly(make(), views, classes) for classes in (known_classes, permutation[known_classes]))
    assert np.array_equal(permuted.labels_, permutation[model.labels_])


def test_smallest_class_is_the_first_cluster(fitted):
    make, views, known_classes, model = fitted
    other = make().fit(views, np.array([3, 10, 11, 400, -1])[known_classes])
    assert np.array_equal(other.labels_, model.labels_)
    assert other.seed_classes_.tolist() == [3, 10, 11, 400]


@pytest.mark.parametrize(("make", "init"), [(co_em, "k-means++"), (kmeans, "random"), (spherical, "k-means++")])
def test_further_clusters_are_found_away_from_the_classes(make, init):
    views, y = make_blobs(separation=20, seed=1)
    known_classes = draw_known(y, 2, classes=[1, 3])
    model = fit_quietly(make(init=init, n_init=10 if init == "random" else 2), views, known_classes)
    assert model.seed_classes_.tolist() == [1, 3]
    assert (model.labels_[y == 1] == 0).all()
    assert (model.labels_[y == 3] == 1).all()
    assert sorted({*model.labels_[y == 0]}) in ([2], [3])
    assert cs.metrics.normalized_mutual_info_score(y, model.labels_) == pytest.approx(1.0)


@every_seeded
@pytest.mark.parametrize("knowledge", ["one of each class", "many of two classes", "a class without a view"])
def test_few_known_classes_name_the_clusters(make, knowledge):
    """A class with one known entity is not swallowed by a class with many."""
    views, y = make_blobs(0.2 if knowledge == "one of each class" else 0.0, separation=6)
    for seed in range(2):
        known_classes = draw_known(y, 3 if knowledge == "a class without a view" else 1, seed)
        if knowledge == "many of two classes":
            known_classes = np.maximum(known_classes, draw_known(y, 30, seed, classes=[0, 1]))
        if knowledge == "a class without a view":
            present = np.ones((200, 3), bool)
            present[known_classes == 2, 0] = False
            views = cs.Views(dict(views.items()), present=present)
        model = fit_quietly(make(), views, known_classes)
        assert (model.labels_ == y)[known_classes < 0].mean() > 0.9


@every_seeded
def test_one_start_if_all_clusters_have_a_class(make, capfd):
    views, y = make_blobs()
    random = {"init": "random-responsibilities"}
    for options, classes, last in ({}, None, "1 of 1"), ({}, [0, 1], "3 of 3"), (random, None, "3 of 3"):
        fit_quietly(make(verbose=True, n_init=3, **options), views, draw_known(y, 2, classes=classes))
        assert f"start {last}" in capfd.readouterr().err


def test_smoothed_families_start_from_the_known_entities():
    views, y = make_text_views(200, n_clusters=K, topic_share=0.2, random_state=0)
    known_classes = draw_known(y, 5)
    options = {"families": "multinomial", "max_iter": 3}
    start = fit_quietly(co_em(**options), views[known_classes >= 0], known_classes[known_classes >= 0]).params_
    expected = fit_quietly(co_em(init=start, **options), views, known_classes)
    actual = fit_quietly(co_em(**options), views, known_classes)
    assert actual.cost_ == pytest.approx(expected.cost_, rel=1e-10)
    assert np.array_equal(actual.labels_, expected.labels_)


@every_seeded
def test_other_families_start_from_the_nearest_class_mean(make):
    """Views count in units of their spread, as for drawn seeds."""
    views, y = make_blobs(0.2)
    known_classes, total = draw_known(y, 5), np.zeros((200, K))
    for has_view, (_, block) in zip(views.present.T, views.items(), strict=True):
        rows = np.array(block)[has_view]
        if make is spherical:
            rows = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        members = [rows[known_classes[has_view] == label] for label in range(K)]
        means = np.stack([group.mean(axis=0) for group in (rows, *members)])
        values = cdist(rows, means, "cosine" if make is spherical else "sqeuclidean")
        total[has_view] += values[:, 1:] / values[:, 0].mean()
    partition = (total / views.present.sum(axis=1)[:, None]).argmin(axis=1)
    for n_rounds in (1, 3):
        expected = fit_quietly(make(init=partition, max_iter=n_rounds), views, known_classes)
        actual = fit_quietly(make(max_iter=n_rounds), views, known_classes)
        assert np.array_equal(actual.labels_, expected.labels_)
        assert actual.cost_ == pytest.approx(expected.cost_, rel=1e-10)


@every_seeded
def test_agreement_is_that_of_unknown_entities(make):
    views, y = make_blobs(0.2, separation=1)
    known_classes = draw_known(y, 20)
    model = fit_quietly(make(), views, known_classes)
    unknown = {name: labels[known_classes < 0] for name, labels in model.view_labels_.items()}
    np.testing.assert_array_equal(model.agreement_, cs.metrics.agreement_matrix(unknown))
    assert (model.agreement_ < cs.metrics.agreement_matrix(model.view_labels_))[0, 1:].all()
    assert model.history_["agreement"][-1] == pytest.approx(cs.metrics.agreement_rate(unknown))


def test_known_classes_determine_a_view_without_start():
    """Known entities that have only a view without parameters take part in its first M-step."""
    views, y = make_blobs()
    known_classes, present = draw_known(y, 5), np.ones((200, 3), bool)
    present[known_classes >= 0, :2] = False
    present[np.flatnonzero(known_classes < 0)[8:], 2] = False
    apart = cs.Views(dict(views.items()), present=present)
    options = {"priors": "uniform", "families": Gaussian(floor=1e-12)}
    start = fit_quietly(co_em(**options), views[["view0"]], known_classes).params_
    model = fit_quietly(co_em(init=start, max_iter=1, eta=1.0, **options), apart, known_classes)
    rows = np.flatnonzero(present[:, 2])
    blended = (model.responsibilities_["view0"] + model.responsibilities_["view1"])[rows] / 2
    weights = np.where(known_classes[rows, None] >= 0, np.eye(K)[known_classes[rows]], blended)
    expected = (weights.T @ np.array(views["view2"])[rows]) / weights.sum(axis=0)[:, None]
    np.testing.assert_allclose(model.params_["view2"]["means"], expected, rtol=1e-8)


def test_fit_predict_takes_lists_series_and_floats(fitted):
    make, views, known_classes, model = fitted
    series = pd.Series(known_classes, index=np.arange(200)[::-1])
    for form in (known_classes.tolist(), series, known_classes.astype(np.float32)):
        assert np.array_equal(make().fit_predict(views, form), model.labels_)


def test_outliers_are_not_among_the_known():
    views, y = make_blobs(separation=1)
    known_classes = draw_known(y, 20)
    for outliers in (0.2, "auto"):
        for make in (kmeans, spherical):
            model = fit_quietly(make(outliers=outliers), views, known_classes)
            assert np.array_equal(model.labels_[known_classes >= 0], known_classes[known_classes >= 0])
    assert (fit_quietly(kmeans(outliers=0.2), views, known_classes).labels_ == -1).sum() == 40


# --- one result for every storage -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "case", "store"),
    [
        (co_em, "missing", "memmap"),
        (kmeans, "float32", "hdf5"),
        (spherical, "complete", "zarr"),
        (co_em, "sparse", "dask"),
        (kmeans, "sparse", "memmap"),
        (kmeans, "missing", "array_api_strict"),
        (spherical, "missing", "torch"),
    ],
)
def test_labels_do_not_depend_on_the_storage(make, case, store, tmp_path):
    blocks, y = make_blocks(case)
    known_classes = draw_known(y, 2, classes=[0, 2])
    options = {"n_clusters": 3, "n_init": 2}
    if make is co_em:
        options["families"] = "auto"
    expected = fit_quietly(make(**options, n_jobs=1), blocks, known_classes)
    with cut_finely():
        stored = STORES[store](tmp_path, blocks)
        actual = fit_quietly(make(**options, n_jobs=2), stored, known_classes)
    assert np.array_equal(actual.labels_, expected.labels_)
    assert all(np.array_equal(actual.view_labels_[name], expected.view_labels_[name]) for name in blocks)
    assert actual.cost_ == pytest.approx(expected.cost_, rel=1e-4 if case == "float32" else 1e-9)
    assert actual.history_["agreement"][-1] == pytest.approx(expected.history_["agreement"][-1])


def test_classes_may_be_arrays_of_the_library_of_the_views(to_kind):
    views, y = make_blobs(separation=2)
    known_classes = draw_known(y, 3)
    expected = fit_quietly(co_em(), views, known_classes)
    kind = {name: to_kind(np.array(block)) for name, block in views.items()}
    model = fit_quietly(co_em(), kind, to_kind(known_classes))
    assert np.array_equal(to_numpy(model.labels_), expected.labels_)
    assert model.cost_ == pytest.approx(expected.cost_, rel=1e-9)


@every_seeded
def test_sampled_starts_include_every_class(make, tune):
    """If seeds come from a sample, the known entities are added to it."""
    views, y = make_blobs(n=600, separation=20)
    known_classes = draw_known(y, 1)
    tune("methods.common.starts", most_sampled=40, least_sampled=1)
    assert (fit_quietly(make(), views, known_classes).labels_ == y).all()


# --- streams ----------------------------------------------------------------------------------------------------------


@every_seeded
def test_batches_keep_known_classes(make):
    views, y = make_blobs(n=400, separation=2)
    known_classes = draw_known(y, 15)
    model, labels = make(), []
    for rows in np.array_split(np.arange(400), 4):
        model.partial_fit(views[rows], known_classes[rows])
        labels.append(model.labels_)
    labels = np.concatenate(labels)
    assert np.array_equal(labels[known_classes >= 0], known_classes[known_classes >= 0])
    assert model.seed_classes_.tolist() == [0, 1, 2, 3]
    assert (labels == y)[known_classes < 0].mean() > 0.75


def test_first_batch_equals_fit_and_continues_without_classes(fitted):
    make, views, known_classes, model = fitted
    first, expected = make().partial_fit(views, known_classes), deepcopy(model)
    assert np.array_equal(first.labels_, model.labels_)
    assert is_identical(get_state(first.partial_fit(views, np.full(200, -1))), get_state(expected.partial_fit(views)))


@pytest.mark.parametrize(("make", "first"), [(co_em, None), (co_em, [0, 1]), (kmeans, [0, 1]), (spherical, None)])
def test_later_batches_have_no_new_classes(make, first):
    views, y = make_blobs()
    model = make().fit(views, None if first is None else draw_known(y, 3, classes=first))
    earlier = "the first batch had none" if first is None else r"the classes of the first batch are \[0, 1\]"
    with pytest.raises(ValueError, match=f"y has class 2, but {earlier}: give -1 instead, or start anew with fit"):
        model.partial_fit(views, draw_known(y, 3, classes=[2]))


# --- saving and scikit-learn ------------------------------------------------------------------------------------------


def test_saved_model_continues(fitted, tmp_path):
    _, views, known_classes, model = fitted
    cs.save(model, tmp_path / "model")
    loaded, copy = cs.load(tmp_path / "model"), deepcopy(model)
    assert loaded.seed_classes_.tolist() == [0, 1, 2, 3]
    for continued in (loaded, copy):
        continued.partial_fit(views, known_classes)
    assert is_identical(get_state(loaded), get_state(copy))
    assert not hasattr(clone(model), "seed_classes_")


@every_seeded
def test_scorer_that_looks_up_classes_does_not_leak_them(make):
    views, y = make_blobs()
    views = cs.Views(dict(views.items()), ids=np.arange(200))

    def score(model, part):
        return cs.metrics.normalized_mutual_info_score(y[part.ids], model.predict(part))

    results = cross_validate(make(), views, scoring=score, cv=2, return_estimator=True, error_score="raise")
    assert all(model.seed_classes_ is None for model in results["estimator"])
    with pytest.warns(UserWarning, match=ALL_KNOWN):
        leaky = cross_validate(make(), views, y, scoring=lambda *_: 0.0, cv=2, return_estimator=True)
    assert all(len(model.seed_classes_) == K for model in leaky["estimator"])


# --- unusual and invalid classes --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("y", "error", "message"),
    [
        (np.zeros(5, int), ValueError, r"y has shape \(5,\), but there are 200 entities .*give one class per entity"),
        (np.zeros((200, 1), int), ValueError, r"y has shape \(200, 1\)"),
        (np.arange(200) % 7 - 1, ValueError, "y has 6 classes, more than n_clusters=4: raise n_clusters to 6 or more"),
        (np.arange(200) % 4 - 2, ValueError, "y contains -2: classes are whole numbers from 0 on, and -1"),
        (np.arange(200) % 3 / 2, ValueError, "y contains 0.5: classes are whole numbers"),
        (np.where(np.arange(200) < 5, 1.0, np.nan), ValueError, "y contains nan: .* -1 where the class is unknown"),
        (np.array(["ham", "eggs"] * 100), TypeError, "it contains 'ham' .*LabelEncoder makes them, and -1 where"),
        (np.array([None, 1] * 100), TypeError, r"it contains None \(object\)"),
        (np.array([-1, "ham"] * 100, dtype=object), TypeError, r"it contains 'ham' \(object\)"),
    ],
)
def test_refuses(y, error, message):
    for make in SEEDED:
        with pytest.raises(error, match=message):
            make().fit(make_blobs()[0], y)


@every_seeded
def test_more_classes_than_clusters_for_every_entity_are_not_used(make):
    """scikit-learn's tools pass the classes for scoring on to `fit`, whatever the number of clusters."""
    views, y = make_blobs()
    with pytest.warns(UserWarning, match="one of 4 classes to every entity.* y is not used, as n_clusters=2 is less"):
        model = make(n_clusters=2).fit(views, y)
    assert np.array_equal(model.labels_, make(n_clusters=2).fit(views).labels_)
    assert model.seed_classes_ is None


@every_seeded
def test_all_known_warns_about_empty_clusters_only_beside_the_classes(make):
    views, y = make_blobs()
    with pytest.warns(UserWarning, match="the model describes the classes. If it is meant for scoring") as caught:
        make().fit(views, y)
    assert len(caught) == 1
    with (
        pytest.warns(UserWarning, match=ALL_KNOWN),
        pytest.warns(ConvergenceWarning, match="2 of 6 clusters are empty"),
    ):
        model = make(n_clusters=6).fit(views, y)
    assert np.array_equal(model.labels_, y)
    assert np.isfinite(model.cost_)
    assert model.predict(views).max() < 6


@every_seeded
def test_one_cluster(make):
    views, y = make_blobs()
    model = fit_quietly(make(n_clusters=1), views, np.where(np.arange(200) < 3, 7, -1))
    assert (model.labels_ == 0).all()
    assert model.seed_classes_.tolist() == [7]
    with pytest.raises(ValueError, match="y has 4 classes, more than n_clusters=1"):
        make(n_clusters=1).fit(views, draw_known(y, 2))


@pytest.mark.parametrize("family", sorted(FAMILIES))
def test_every_family_with_one_entity_per_class(family):
    rng, y = np.random.default_rng(0), np.arange(60) % 3
    blocks = {name: rng.poisson(0.5 + 5.0 * (np.arange(d) % 3 == y[:, None])) for name, d in (("a", 6), ("b", 9))}
    if family in ("bernoulli", "categorical"):
        blocks = {name: (block > 2).astype(float) for name, block in blocks.items()}
    known_classes = np.where(np.arange(60) < 3, y, -1)
    model = fit_quietly(cs.CoEM(3, families=family, random_state=0), blocks, known_classes)
    assert np.isfinite(model.cost_)
    assert (model.labels_ == y).mean() > 0.9


def test_known_entity_without_information_keeps_its_class():
    views, y = make_text_views(60, n_clusters=3, topic_share=0.8, random_state=0)
    blocks = {name: sp.csr_array(block).toarray() for name, block in views.items()}
    for block in blocks.values():
        block[5] = 0
    known_classes = draw_known(y, 3)
    known_classes[5] = (y[5] + 1) % 3
    for model in (cs.CoEM(3), cs.CoEM(3, assignment="average"), cs.MultiViewSphericalKMeans(3)):
        with pytest.warns(UserWarning, match="entity 5 is all zeros in every view"):
            model.set_params(random_state=0).fit(blocks, known_classes)
        assert model.labels_[5] == known_classes[5]
