"""Probabilities of clusters, and outliers."""

from functools import cache

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import cdist
from scipy.special import softmax
from sklearn.cluster import KMeans

import consilience as cs
from consilience import baselines
from consilience.datasets import make_gaussian_views, make_text_views
from consilience.explain import clarity
from consilience.methods.common.cluster_means import ClusterMeans
from consilience.methods.common.halves import reset_start, try_divisions
from consilience.methods.common.membership import (
    FEW_MEMBERS,
    LEAST_RATIO,
    N_QUANTILES,
    TEMPERATURE_RANGE,
    find_temperature,
    measure_loss,
    measure_spreads,
    score_halves,
    summarize,
)

K = 3
QUICK = {"n_clusters": K, "random_state": 0, "n_init": 2}
MARKING = {
    "k-means": cs.MultiViewKMeans,
    "spherical": cs.MultiViewSphericalKMeans,
    "spectral": cs.CoTrainedSpectral,
    "consilience": cs.Consilience,
}
SOFT = {**MARKING, "addition": baselines.KernelAddition, "co-regularized": baselines.CoRegularizedSpectral}
every_soft = pytest.mark.parametrize("name", SOFT)
every_marking = pytest.mark.parametrize("name", MARKING)


def make_views(n=200, separation=6.0, seed=0, **options):
    views, _ = make_gaussian_views(
        n, n_clusters=K, n_features=(5, 8), separation=separation, random_state=seed, **options
    )
    return views


def fit(name, views, **options):
    return SOFT[name](**{**QUICK, **options}).fit(views)


@cache
def fit_clear(name):
    """Return views with clear clusters and a model of them, which no test changes."""
    views = make_views()
    return views, fit(name, views)


def plant_far_rows(views, n_rows):
    """Append rows that are far from all others, each in another direction."""
    rng = np.random.default_rng(0)
    far = {name: rng.normal(size=(n_rows, X.shape[1])) * 10 * np.std(X) for name, X in views.items()}
    return cs.Views({name: np.vstack([X, np.mean(X, axis=0) + far[name]]) for name, X in views.items()})


@pytest.mark.parametrize(
    ("name", "options"),
    [*((name, {}) for name in SOFT), *((name, {"assign_labels": "cluster-qr"}) for name in ("spectral", "addition"))],
)
def test_probabilities_agree_with_predictions(name, options):
    views = make_views(separation=3.0, missing=0.3)
    model = fit(name, views[:120], **options)
    probabilities = model.predict_proba(views)
    assert probabilities.shape == (200, K)
    assert (probabilities >= 0).all()
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    assert np.array_equal(probabilities.argmax(axis=1), model.predict(views))
    part = views[["view1"]][views.present[:, 1]]
    assert np.array_equal(model.predict_proba(part).argmax(axis=1), model.predict(part))


@pytest.mark.parametrize(("name", "factor"), [("k-means", 1e8), ("consilience", 1e-3)])
def test_probabilities_do_not_depend_on_units(name, factor):
    views = make_views(separation=3.0)
    scaled = views.map(lambda X: factor * X)
    init = fit(name, views).labels_
    plain, other = (fit(name, X, init=init).predict_proba(X) for X in (views, scaled))
    np.testing.assert_allclose(other, plain, atol=1e-3)


@every_soft
def test_far_rows_have_probabilities(name):
    views, model = fit_clear(name)
    far = views[:5].map(lambda X: 1e9 * X)
    probabilities = model.predict_proba(far)
    assert np.isfinite(probabilities).all()
    assert np.array_equal(probabilities.argmax(axis=1), model.predict(far))


@pytest.mark.filterwarnings("ignore:entity 0 is all zeros in every view")
@pytest.mark.parametrize("name", ["spherical", "consilience"])
def test_row_without_a_view_gets_the_same_cluster_as_predict(name):
    views, _ = make_text_views(120, n_clusters=K, random_state=0)
    empty = {name: sp.csr_array((2, X.shape[1])) for name, X in views.items()}
    model = fit(name, views)
    probabilities = model.predict_proba(empty)
    assert np.array_equal(probabilities.argmax(axis=1), model.predict(empty))
    shares = np.bincount(model.labels_) / 120 if name == "consilience" else np.full(K, 1 / K)
    np.testing.assert_allclose(probabilities, [shares, shares])
    assert model.score_outliers(empty).tolist() == [0, 0]


@every_soft
def test_calibration_lowers_the_loss_of_unseen_entities(name):
    views = make_views(160, separation=3.0)
    model = fit(name, views)
    reference, labels = model.temperature_, model.labels_.copy()
    assert model.calibrate(views) is model
    assert np.array_equal(model.labels_, labels)
    unseen = score_halves(model, views, labels, K, 5_000, np.random.default_rng(0))
    assert model.temperature_ == pytest.approx(find_temperature(*unseen[:2], reference))
    assert measure_loss(*unseen[:2], model.temperature_) <= measure_loss(*unseen[:2], reference)


def test_calibration_repeats_and_takes_a_sample():
    views = make_views(160, separation=3.0)
    model = fit("k-means", views)
    first, again = (model.calibrate(views).temperature_ for _ in range(2))
    assert first == again
    assert np.isfinite(model.calibrate(views, max_entities=50, random_state=1).temperature_)


@pytest.mark.parametrize(("name", "separation"), [("k-means", 1.5), ("spectral", 1.5), ("consilience", 2.0)])
def test_calibrated_probabilities_are_frequencies(name, separation):
    """Fits to other entities repeat the cluster about as often as the probability says."""
    views = make_views(900, separation=separation)
    model = fit(name, views).calibrate(views)
    unseen = score_halves(model, views, model.labels_, K, 5_000, np.random.default_rng(5))
    largest = softmax(unseen.scores / model.temperature_, axis=1).max(axis=1)
    right = unseen.scores.argmax(axis=1) == unseen.targets
    assert 0.5 < right.mean() < 0.98  # the clusters overlap
    assert abs(largest.mean() - right.mean()) < 0.05
    lower = largest < np.median(largest)
    assert abs(largest[lower].mean() - right[lower].mean()) < 0.1
    assert right[lower].mean() < right[~lower].mean()


@pytest.mark.parametrize("name", ["k-means", "spectral", "consilience", "addition", "refine"])
def test_labels_to_start_from_do_not_make_noise_certain(name):
    rng = np.random.default_rng(0)
    noise = cs.Views([rng.normal(size=(200, 5)), rng.normal(size=(200, 8))])
    labels = fit("k-means" if name == "refine" else name, noise, n_clusters=4).labels_
    model = cs.refine(noise, labels) if name == "refine" else fit(name, noise, n_clusters=4, init=labels)
    model.calibrate(noise)
    assert model.predict_proba(noise).max(axis=1).mean() < 0.6


def test_halves_start_from_the_default():
    centers = {"view0": np.zeros((K, 5)), "view1": np.zeros((K, 8))}
    for init in (np.zeros(200, int), centers, [0, 1, 2]):
        model = cs.MultiViewKMeans(K, init=init, n_init=3)
        fresh = reset_start(model)
        assert (fresh.init, fresh.n_init) == ("k-means++", 3)
        assert model.init is init
    assert reset_start(cs.MultiViewKMeans(K, init="random")).init == "random"
    assert reset_start(cs.Consilience(K, init=np.zeros(200, int))).init == "auto"
    wrapped = baselines.ConcatenatedViews(KMeans(K, init=np.zeros((K, 13))))
    assert reset_start(wrapped).estimator.init == "k-means++"


def test_another_division_is_tried_if_a_half_is_refused():
    tried = []

    def fit_half(name, rows, others, seed):
        tried.append(name)
        if len(tried) < 2:
            raise ValueError("all rows are alike")
        return rows, others, seed

    first, second = try_divisions(np.arange(9), np.random.default_rng(0), fit_half)
    assert tried == ["attempt 1, half 0", "attempt 2, half 0", "attempt 2, half 1"]
    assert sorted([*first[0], *first[1]]) == list(range(9))
    assert np.array_equal(first[0], second[1])
    assert first[2] != second[2]

    def refuse(*half):
        raise ValueError("all rows are alike")

    message = r"no half of the 9 entities could be clustered on its own.*all rows are alike"
    with pytest.raises(ValueError, match=message):
        try_divisions(np.arange(9), np.random.default_rng(0), refuse)


@pytest.mark.parametrize("name", ["k-means", "spectral", "consilience"])
def test_probabilities_are_limited_by_number_of_entities(name):
    views = make_views(300, separation=20.0)
    model = fit(name, views[:100]).calibrate(views[:100])
    ratio = model.temperature_ / model._reference_temperature
    assert 1.5 / TEMPERATURE_RANGE < ratio < TEMPERATURE_RANGE / 1.5
    largest = model.predict_proba(views[100:]).max(axis=1)
    assert largest.max() <= 1 - 1 / 200
    assert largest.mean() > 0.9
    reference = fit(name, views[:100])
    refitted = model.fit(views[:100])
    assert np.array_equal(refitted.predict_proba(views), reference.predict_proba(views))


def test_calibration_refuses_other_data():
    views, model = fit_clear("k-means")
    with pytest.raises(ValueError, match="X has 100 entities, but the model was fitted to 200: give the data of the"):
        model.calibrate(views[:100])
    with pytest.raises(ValueError, match=r"The 'max_entities' parameter of .*calibrate must be an int in the range"):
        model.calibrate(views, max_entities=3)
    small = make_views(11)
    with pytest.raises(ValueError, match="11 entities are too few to fit 3 clusters to each half of them"):
        fit("k-means", small).calibrate(small)


@every_marking
def test_single_cluster_is_certain(name):
    views = make_views(40)
    model = fit(name, views, n_clusters=1, outliers="auto").calibrate(views)
    assert (model.predict_proba(views) == 1).all()


@every_marking
def test_share_of_outliers(name):
    views, plain = fit_clear(name)
    marked = fit(name, views, outliers=0.07)
    assert (plain.labels_ >= 0).all()
    rows = np.flatnonzero(marked.labels_ == -1)
    assert len(rows) == 14
    assert np.array_equal(marked.outlier_scores_, plain.outlier_scores_)
    assert marked.outlier_scores_[rows].min() >= np.delete(marked.outlier_scores_, rows).max()
    kept = marked.labels_ >= 0
    assert np.array_equal(marked.labels_[kept], plain.labels_[kept])
    assert np.array_equal(marked.predict(views), plain.predict(views))
    for view in views.names:
        assert np.array_equal(marked.view_labels_[view], plain.view_labels_[view])
    sure = clarity(marked, views)
    assert (sure[rows] == 0).all()
    assert (sure[kept] > 0).any()
    assert marked.assign_outliers() is marked
    assert np.array_equal(marked.labels_, plain.labels_)
    assert np.array_equal(marked.assign_outliers().labels_, plain.labels_)


@pytest.mark.parametrize(("name", "separation"), [*((name, 3.0) for name in MARKING), ("k-means", 12.0)])
def test_clean_clusters_have_few_outliers(name, separation):
    model = fit(name, make_views(300, separation=separation), outliers="auto")
    assert np.mean(model.labels_ == -1) <= 0.02


@pytest.mark.parametrize("name", ["k-means", "spectral", "consilience"])
def test_planted_outliers_are_found(name):
    views = plant_far_rows(make_views(300), 9)
    model = fit(name, views, outliers="auto", n_init=10)
    assert (model.labels_[300:] == -1).sum() >= 8
    assert np.mean(model.labels_[:300] == -1) <= 0.02


def test_entities_whose_views_contradict_each_other_are_found():
    views, y = make_gaussian_views(300, n_clusters=K, n_features=(5, 8), separation=12, random_state=0)
    second = np.array(views["view1"])
    second[:8] = second[[np.flatnonzero(y != y[row])[row] for row in range(8)]]
    model = fit("consilience", {"a": views["view0"], "b": second}, outliers="auto")
    assert (model.labels_[:8] == -1).all()
    assert np.mean(model.labels_[8:] == -1) <= 0.02


@every_marking
def test_score_of_new_rows(name):
    views = make_views(400)
    model = fit(name, views[:300])
    usual = model.score_outliers(views[300:])
    assert ((usual >= 0) & (usual <= 1)).all()
    assert 0.3 < usual.mean() < 0.7
    far = plant_far_rows(views, 4)[400:]
    if name != "spherical":  # directions are never far
        assert (model.score_outliers(far) < 0.01).all()
    assert model.score_outliers(views[:0]).shape == (0,)


@pytest.mark.parametrize(
    ("name", "calibrate", "n_entities"),
    [
        ("k-means", False, 60),
        ("k-means", False, 150),
        ("spherical", False, 60),
        ("spectral", False, 60),
        ("spectral", True, 60),
        ("consilience", True, 150),
    ],
)
def test_few_new_rows_of_the_same_kind_fit_no_cluster(name, calibrate, n_entities):
    shares = []
    for seed in range(3 if name == "consilience" else 5):
        options = {"n_clusters": K, "n_features": (50, 50), "separation": 4, "random_state": seed}
        views, _ = make_gaussian_views(n_entities + 400, **options)
        model = fit(name, views[:n_entities])
        if calibrate:
            model.calibrate(views[:n_entities])
        shares.append(model.fits_no_cluster(views[n_entities:]).mean())
    assert np.mean(shares) <= 0.03


@every_marking
def test_rows_with_few_views_are_judged_by_the_spread_of_few_views(name):
    views, _ = make_gaussian_views(700, n_clusters=K, n_features=(5, 8, 6), separation=4, random_state=0)
    model = fit(name, views[:300])
    shares = [
        [model.fits_no_cluster(part[names]).mean() for part in (views[:300], views[300:])]
        for names in (["view0"], ["view1"], ["view0", "view1"])
    ]
    assert (np.mean(shares, axis=0) <= 0.03).all()
    if name != "spherical":  # directions are never far
        far = views[300:].map(lambda X: X + 50)
        assert model.fits_no_cluster(far[["view0"]]).all()


@pytest.mark.parametrize(
    ("name", "n", "limit"), [*((name, 40, 1 / 40) for name in MARKING), ("k-means", 100, 0.01), ("spectral", 300, 0.01)]
)
def test_limit_below_which_rows_fit_no_cluster(name, n, limit):
    views = make_views(n + 100)
    model = fit(name, views[:n])
    assert model.outlier_limit_ == pytest.approx(limit)
    far = plant_far_rows(views, 4)
    assert np.array_equal(model.fits_no_cluster(far), model.score_outliers(far) < limit)
    if name != "spherical":  # directions are never far
        assert model.fits_no_cluster(far[n + 100 :]).all()


def test_calibration_counts_outliers_among_the_entities_of_the_fit():
    views = plant_far_rows(make_views(200), 10)
    model = fit("spectral", views, outliers="auto", n_init=10)
    assert (model.labels_[200:] == -1).sum() >= 8
    model.calibrate(views)
    assert len(model._outlier_quantiles) == 210
    assert np.quantile(model._outlier_quantiles, 0.98) > 3.5


@every_marking
def test_saved_and_loaded(name, tmp_path):
    views = make_views()
    model = fit(name, views, outliers=0.1).calibrate(views)
    cs.save(model, tmp_path / "model.zip")
    loaded = cs.load(tmp_path / "model.zip")
    assert loaded.temperature_ == model.temperature_
    assert np.array_equal(loaded.predict_proba(views), model.predict_proba(views))
    assert np.array_equal(loaded.score_outliers(views), model.score_outliers(views))
    assert np.array_equal(loaded.labels_, model.labels_)
    assert np.array_equal(loaded.assign_outliers().labels_, model.assign_outliers().labels_)


@every_marking
def test_bad_values_are_refused(name):
    for outliers in (0, 0.5, -0.1, 1, "all"):
        with pytest.raises(ValueError, match=f"The 'outliers' parameter of {MARKING[name].__name__} must be"):
            fit(name, make_views(40), outliers=outliers)


@pytest.mark.parametrize("name", ["k-means", "spherical"])
def test_streams_have_probabilities_but_no_outlier_labels(name):
    views = make_views()
    with pytest.raises(ValueError, match=r"partial_fit cannot label outliers.*set outliers=None.*use score_outliers"):
        MARKING[name](**QUICK, outliers="auto").partial_fit(views)
    model = MARKING[name](**QUICK).partial_fit(views[:100]).partial_fit(views[100:])
    assert np.array_equal(model.predict_proba(views).argmax(axis=1), model.predict(views))
    assert model.outlier_scores_.shape == (100,)


def test_outliers_of_a_sample():
    views = plant_far_rows(make_views(300), 6)
    model = fit("consilience", views, sample_size=120, outliers="auto")
    assert (model.labels_[300:] == -1).sum() >= 5
    assert np.mean(model.labels_[:300] == -1) <= 0.03
    assert (model.assign_outliers().labels_ >= 0).all()


@pytest.mark.parametrize("name", ["spectral", "consilience"])
def test_similarities_have_probabilities_and_outliers(name):
    kernels = {view: np.exp(-cdist(X, X, "sqeuclidean") / 50) for view, X in make_views(120).items()}
    model = fit(name, kernels, affinity="precomputed", outliers=0.05).calibrate(kernels)
    assert (model.labels_ == -1).sum() == 6
    assert np.array_equal(model.predict_proba(kernels).argmax(axis=1), model.predict(kernels))
    assert model.score_outliers(kernels).shape == (120,)


def test_ratio_of_distances_beyond_the_range_of_floats():
    model = ClusterMeans({"a": np.zeros((1, 1))}, {"a": np.array([1e-200])})
    views = cs.Views({"a": np.array([[1e150], [0.0]])})
    expected = [np.log(1e150) - np.log(1e-200), np.log(LEAST_RATIO)]
    np.testing.assert_allclose(model.measure(views, np.zeros(2, dtype=int)), expected)


@pytest.mark.parametrize("n", [5, N_QUANTILES, N_QUANTILES + 1, 12_345])
def test_scores_are_summarized_by_quantiles(n):
    scores = np.random.default_rng(0).standard_normal(n)
    shares = np.linspace(0, 1, min(n, N_QUANTILES))
    assert np.array_equal(summarize(scores), np.quantile(scores, shares, method="lower"))


def test_spread_is_the_median_of_the_members_drawn_to_one():
    rng = np.random.default_rng(0)
    labels, relative = rng.integers(4, size=101), rng.random(101) + 0.5
    counts = np.bincount(labels)
    medians = [np.median(relative[labels == cluster]) for cluster in range(4)]
    expected = (counts * medians + FEW_MEMBERS) / (counts + FEW_MEMBERS)
    np.testing.assert_allclose(measure_spreads(relative, labels, 5), [*expected, 1.0])
