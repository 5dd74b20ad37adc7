"""Streams: `partial_fit` of every estimator that has it."""

import pickle
import re
import warnings
from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

import consilience as cs
import seeded
from consilience.arrays import to_numpy
from consilience.datasets import make_text_views
from consilience.families import FAMILIES
from consilience.metrics import normalized_mutual_info_score
from seeded import N_CLUSTERS as K
from seeded import co_em, every_seeded, kmeans, spherical
from stores import save_and_map

make_blobs = partial(seeded.make_blobs, n=400, separation=4)


@pytest.fixture(scope="module")
def views():
    """Views that entities lack."""
    return make_blobs(0.2)[0]


def fit_stream(model, views, n_batches=4):
    for rows in np.array_split(np.arange(len(views)), n_batches):
        model.partial_fit(views[rows])
    return model


def get_parameters(model):
    """Return the parameters that a model predicts with."""
    arrays = model.params_ if hasattr(model, "params_") else {"centres": model.cluster_centers_}
    return {(name, key): to_numpy(values) for name, params in arrays.items() for key, values in params.items()}


def assert_same_model(left, right, rtol=1e-9, atol=1e-10):
    for key, values in get_parameters(left).items():
        np.testing.assert_allclose(values, get_parameters(right)[key], rtol=rtol, atol=atol, err_msg=str(key))


@pytest.mark.parametrize(
    ("make", "is_text"),
    [(co_em, False), (partial(co_em, families="multinomial", eta=1.0), True), (kmeans, False), (spherical, True)],
)
def test_twenty_batches_approach_a_fit(make, is_text):
    words = {"n_words": (200, 150), "topic_share": 0.3, "length": 40}
    views, y = make_text_views(2000, n_clusters=K, random_state=0, **words) if is_text else make_blobs(0.2, n=2000)
    shuffled = np.random.default_rng(0).permutation(len(views))
    views, y = views[shuffled], y[shuffled]
    whole, alone, model = make(n_init=10).fit(views), make().fit(views[:100]), fit_stream(make(), views, 20)
    assert model.score(views) > 1.03 * whole.score(views)  # scores are below 0
    assert model.score(views) > alone.score(views)
    quality = [normalized_mutual_info_score(y, values.predict(views)) for values in (model, whole, alone)]
    assert quality[0] > quality[1] - 0.05
    assert quality[0] > quality[2] - 0.01


@every_seeded
def test_stream_starts_and_continues_like_a_fit(make, views):
    first, whole = make().partial_fit(views[:100]), make().fit(views[:100])
    assert_same_model(first, whole, rtol=0, atol=0)
    assert first.n_batches_ == whole.n_batches_ == 1
    assert np.array_equal(first.labels_, whole.labels_)
    for model in (first, whole):
        model.partial_fit(views[100:200]).partial_fit(views[200:])
    assert_same_model(first, whole, rtol=0, atol=0)
    assert whole.n_batches_ == 3
    assert whole.history_["round"].tolist() == [1, 2, 3]
    again = whole.fit(views[:200])
    assert_same_model(again, make().fit(views[:200]), rtol=0, atol=0)
    assert again.n_batches_ == 1


@every_seeded
def test_first_batch_with_one_round_equals_fit(make):
    views, y = make_blobs(0.3)
    models = make(init=y, max_iter=1), make(init=y, max_iter=1)
    for model, method in zip(models, ("fit", "partial_fit"), strict=True):
        with pytest.warns(ConvergenceWarning, match="no convergence in 1 rounds"):
            getattr(model, method)(views)
    assert_same_model(*models, rtol=0, atol=0)


@every_seeded
def test_attributes_describe_the_batch(make):
    views, _ = make_blobs(0.3)
    model = fit_stream(make(), views[:360], 4)
    assert model.partial_fit(views[360:]) is model
    assert model.n_batches_ == 5
    assert model.history_["round"].tolist() == [1, 2, 3, 4, 5]
    assert {len(column) for column in model.history_.values()} == {5}
    assert np.array_equal(model.labels_, model.predict(views[360:]))
    assert np.array_equal(to_numpy(views.present[360:]), np.stack(list(model.view_labels_.values()), axis=1) >= 0)
    assert model.agreement_.shape == (3, 3)
    assert model.history_["agreement"][-1] == pytest.approx(cs.metrics.agreement_rate(model.view_labels_))
    seen = {name: values["n_entities"] for name, values in model.statistics_.items()}
    assert seen == dict(zip(views.names, views.present.sum(axis=0), strict=True))


@pytest.mark.parametrize(
    ("make", "options", "tolerance"), [(kmeans, {}, 1e-9), (spherical, {}, 1e-9), (co_em, {"tol": 1e-12}, 1e-4)]
)
def test_repeated_data_change_nothing(make, options, tolerance):
    views, _ = make_blobs(separation=8)
    model = make(**options).fit(views)
    assert model.converged_
    assert_same_model(make(**options).fit(views).partial_fit(views), model, rtol=tolerance, atol=tolerance)


@every_seeded
def test_order_of_entities_and_views_does_not_matter(make, views):
    straight, turned = make().fit(views[:100]), make().fit(views[:100])
    for batch in (views[100:200], views[200:]):
        straight.partial_fit(batch)
        turned.partial_fit(batch[np.arange(len(batch))[::-1]][list(views.names[::-1])])
        assert np.array_equal(straight.labels_, turned.labels_[::-1])
    assert_same_model(straight, turned, rtol=1e-8)


def test_order_of_init_does_not_change_the_views(views):
    start = co_em().fit(views).params_
    model = co_em(init=dict(reversed(start.items()))).fit(views[:200])
    for _ in range(2):
        assert list(model.view_labels_) == list(model.responsibilities_) == list(views.names)
        model.partial_fit(views[200:])


@every_seeded
def test_batches_of_all_sizes(make):
    views, y = make_blobs(separation=8)
    model = make().partial_fit(views[:150])
    for start, stop in [(150, 151), (151, 152), (152, 330), (330, 333), (333, 400)]:
        model.partial_fit(views[start:stop])
        assert len(model.labels_) == stop - start
    assert model.n_batches_ == 6
    assert normalized_mutual_info_score(y, model.predict(views)) > 0.9


@every_seeded
def test_small_batch_keeps_a_large_fit(make):
    views, _ = make_blobs(n=2000)
    model = make().fit(views)
    assert 1.01 * model.score(views) < model.partial_fit(views[:5]).score(views)  # scores are below 0


@every_seeded
def test_absent_view_stays_unchanged(make):
    views, y = make_blobs()
    model = make().partial_fit(views[:200])
    before = pickle.loads(pickle.dumps(model))
    absent, *others = views.names
    model.partial_fit(views[200:300][others])
    assert model.statistics_[absent]["n_entities"] == 200
    for key, values in get_parameters(model).items():
        if absent in key and "weights" not in key:
            np.testing.assert_allclose(values, get_parameters(before)[key], rtol=1e-12)
    assert (model.view_labels_[absent] == -1).all()
    without_view = cs.Views(dict(views[300:].items()), present=np.array([False, True, True])[None].repeat(100, axis=0))
    model.partial_fit(without_view)
    assert model.statistics_[absent]["n_entities"] == 200
    assert model.n_batches_ == 3
    assert normalized_mutual_info_score(y, model.predict(views)) > 0.5


def test_drifting_stream_is_followed():
    rng = np.random.default_rng(0)
    centres, model = np.array([[0.0, 0], [10, 0], [0, 10], [10, 10]]), kmeans()
    for t in range(30):
        drift, y = 0.2 * t, rng.integers(0, K, 100)
        model.partial_fit({"a": rng.normal(centres[y] + drift), "b": rng.normal(centres[y] - drift)})
    arrays = model.cluster_centers_["a"][np.lexsort(np.round(model.cluster_centers_["a"] - drift, -1).T)]
    assert np.abs(arrays - centres - drift).max() < 3  # a mean over all batches would be 2.9 behind on average


REFUSED = {
    "another width": (lambda views: views.map(lambda X: X[:, :2]), "view 'view0' has 2 columns, but had 4 in fit"),
    "NaN": (lambda views: spoil_value(views, np.nan), "view 'view1' has NaN or infinity in row 0"),
    "huge": (lambda views: spoil_value(views, 1e200), "view 'view1' has numbers up to 1e+200"),
    "another view": (lambda views: {"other": views["view0"]}, "none of the views 'other' was in fit"),
    "no entities": (lambda views: views[:0], "this batch has no entities: leave it out"),
}


def spoil_value(views, value):
    block = np.array(views["view1"])
    block[0, 0] = value
    return {**dict(views.items()), "view1": block}


@every_seeded
def test_refused_batch_changes_nothing(make):
    views, _ = make_blobs()
    model = make()
    with pytest.raises(ValueError, match="there are no entities to learn from: give at least one"):
        model.partial_fit(views[:0])
    with pytest.raises(ValueError, match="n_clusters=4 is more than the 3 entities"):
        model.partial_fit(views[:3])
    assert not hasattr(model, "n_batches_")
    before = pickle.dumps(model.partial_fit(views[:200]))
    for spoil, message in REFUSED.values():
        with pytest.raises(ValueError, match=re.escape(message)):
            model.partial_fit(spoil(views[200:]))
        assert pickle.dumps(model) == before, message
    model.set_params(n_clusters=5)
    with pytest.raises(ValueError, match="n_clusters=5, but the model has 4 clusters: set it back, or start anew"):
        model.partial_fit(views[200:])


def make_codes(n, levels, seed=0):
    rng = np.random.default_rng(seed)
    return {name: rng.integers(0, levels, (n, 3)).astype(float) for name in ("a", "b")}


@pytest.mark.parametrize(
    ("family", "levels", "wrong", "message"),
    [
        ("categorical", 3, make_codes(60, 5), "view 'a': family 'categorical' knows codes 0 to 2 in column"),
        ("multinomial", 3, {"b": [[1.0, -2, 0]]}, "view 'b': family 'multinomial' needs counts, none of"),
        ("bernoulli", 2, {"b": [[1.0, 2, 0]]}, "view 'b': family 'bernoulli' needs"),
    ],
)
@pytest.mark.filterwarnings("ignore:.* clusters are empty:sklearn.exceptions.ConvergenceWarning")
def test_batch_refused_by_a_family_changes_nothing(family, levels, wrong, message):
    model = cs.CoEM(2, families=family, eta=0.25, random_state=0).partial_fit(make_codes(60, levels))
    before = pickle.dumps(model)
    with pytest.raises(ValueError, match=re.escape(message)):
        model.partial_fit(wrong)
    assert pickle.dumps(model) == before


@pytest.mark.parametrize("make", [spherical, lambda: co_em(families="multinomial")])
@pytest.mark.filterwarnings("ignore:entity .* is all zeros:UserWarning")
@pytest.mark.filterwarnings("ignore:.* clusters are empty:sklearn.exceptions.ConvergenceWarning")
def test_all_zero_batch_is_refused(make):
    views, _ = make_blobs()
    model = make().partial_fit(views[:200].map(np.abs))
    with pytest.raises(ValueError, match=r"all rows of this batch are zeros, .*: leave the batch out"):
        model.partial_fit(views[200:].map(np.zeros_like))
    assert model.n_batches_ == 1


@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_continues(family, views):
    if family == "bernoulli":
        views = views.map(lambda X: np.where(np.isnan(X), X, X > 0))
    if family in ("multinomial", "poisson", "categorical"):  # codes that the first batch has, all of them
        views = views.map(lambda X: np.clip(np.round(np.abs(X)), None, 1 if family == "categorical" else 6))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = fit_stream(co_em(families=family), views, 2)
    assert model.n_batches_ == 2
    assert np.isfinite(model.score(views))
    assert all(np.isfinite(values).all() for values in get_parameters(model).values())


@pytest.mark.filterwarnings("ignore:no convergence:sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    ("priors", "anneal", "last"), [("global", None, 0.25), ("view", "linear", 0.0), ("uniform", [0.5, 0.1], 0.1)]
)
def test_batch_uses_the_last_eta_of_an_annealed_fit(priors, anneal, last, views):
    model = fit_stream(co_em(priors=priors, anneal=anneal), views, 2)
    assert model.history_["eta"].tolist() == [last] * 2
    assert np.isfinite(model.score(views))


# one result for every form of the data


@every_seeded
def test_float32(make):
    views, y = make_blobs(0.2)
    start = y[: len(y) // 4]  # of the first batch; rounding could draw other starts
    single = fit_stream(make(init=start), views.map(lambda X: X.astype(np.float32)))
    assert_same_model(single, fit_stream(make(init=start), views), rtol=1e-3, atol=1e-3)


@every_seeded
def test_sparse_and_stored_batches_equal_dense_ones_in_memory(make, tmp_path):
    views, _ = make_blobs()
    expected = fit_stream(make(), views)
    assert_same_model(fit_stream(make(), views.map(sp.csr_array)), expected, rtol=1e-6, atol=1e-8)
    stored = {name: save_and_map(tmp_path / f"{name}.npy", block) for name, block in views.items()}
    assert_same_model(fit_stream(make(), cs.Views(stored)), expected)


@pytest.mark.parametrize(
    ("make", "to_kind"),
    [(co_em, "array_api_strict"), (co_em, "torch"), (kmeans, "torch"), (spherical, "array_api_strict")],
    indirect=["to_kind"],
)
def test_batches_of_other_array_libraries(make, to_kind):
    views, y = make_blobs(0.2, n=160)
    start = {"init": y[:40]}
    model, expected = fit_stream(make(**start), views.map(to_kind)), fit_stream(make(**start), views)
    assert_same_model(model, expected, rtol=1e-6, atol=1e-8)
    for values in model.statistics_.values():
        kept = values["statistics" if "statistics" in values else "handed"]
        assert type(kept["sums"]) is type(to_kind(np.zeros((1, 1))))
    mixed = make(**start).partial_fit(views[:40]).partial_fit(views[40:80].map(to_kind))
    assert_same_model(mixed.partial_fit(views[80:120]).partial_fit(views[120:]), expected, rtol=1e-6, atol=1e-8)


@every_seeded
def test_result_does_not_depend_on_threads(make, views, tune):
    tune("arrays.parallel", least_chunk=20, block=10)
    assert_same_model(fit_stream(make(n_jobs=1), views), fit_stream(make(n_jobs=2), views), rtol=0, atol=0)
