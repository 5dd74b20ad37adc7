"""The fitted estimator of clusters that warm refinement found, next to one that `fit` has fitted."""

from copy import deepcopy

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.metrics import mutual_info_score

import consilience as cs
from consilience.datasets import make_gaussian_views, make_text_views
from consilience.methods.agreement.ensemble import encode_labels
from consilience.methods.agreement.estimator import build_refined_model
from consilience.methods.agreement.warm import Knowledge, WarmRefinement

N, K = 100, 4


def refine_warmly(views, labels, knowledge=Knowledge(), precomputed=(), k=K):  # noqa: B008
    """Return the state of a warm refinement and its model."""
    warm = WarmRefinement(views, {name: name in precomputed for name in views.names}, k)
    state = warm.refine(labels, k, knowledge)
    return state, build_refined_model(views, warm, state, k, knowledge)


@pytest.fixture(scope="module")
def data():
    """Three views, of which entities lack some, and classes."""
    return make_gaussian_views(N, n_clusters=K, n_features=(4, 12, 3), separation=5, missing=0.2, random_state=0)


@pytest.fixture(scope="module")
def knowledge():
    """Some outliers, and some entities for which a view is ignored."""
    is_outlier = np.isin(np.arange(N), [3, 30, 77])
    return Knowledge(
        cs.Constraints([(0, 1)], [(4, 5)]), is_outlier, {"view1": np.arange(N) % 5 == 0, "view2": np.arange(N) == 7}
    )


@pytest.fixture(scope="module")
def refined(data, knowledge):
    views, y = data
    return refine_warmly(views, y, knowledge)


def ignore_for(views, knowledge):
    """Return which entities have each view, and it is not ignored for them."""
    present = dict(zip(views.names, views.present.T, strict=True))
    return {name: present[name] & ~knowledge.ignored.get(name, np.zeros(N, bool)) for name in views.names}


# without knowledge


def test_model_equals_that_of_a_fit_from_the_same_labels(data):
    views, _ = data
    fitted = cs.Consilience(K, n_init=1, random_state=0).fit(views)
    fitted = cs.Consilience(K, init=fitted.labels_, random_state=0).fit(views)
    assert fitted.history_["changed"][-1] == 0
    state, model = refine_warmly(views, fitted.labels_)
    assert np.array_equal(model.labels_, fitted.labels_)
    assert np.array_equal(model.labels_, state.labels)
    assert model.cost_ == fitted.cost_ == -state.score
    for name in ("confidence_", "outlier_scores_"):
        np.testing.assert_array_equal(getattr(model, name), getattr(fitted, name))
    for name, labels in fitted.view_labels_.items():
        assert np.array_equal(model.view_labels_[name], labels)
    np.testing.assert_array_equal(model.view_information_["bits"], fitted.view_information_["bits"])
    for method in ("predict", "predict_proba", "predict_confidence", "score_outliers", "fits_no_cluster", "score"):
        np.testing.assert_array_equal(getattr(model, method)(views), getattr(fitted, method)(views))
    assert set(vars(model)) == set(vars(fitted))
    for name, value in vars(fitted).items():
        assert type(vars(model)[name]) is type(value) or name == "init", name
    assert clone(model).fit(views).labels_.shape == (N,)
    assert model.sample_size >= N


def test_few_entities_and_one_cluster():
    views, _ = make_gaussian_views(8, n_clusters=2, separation=8, random_state=0)
    _, model = refine_warmly(views, np.zeros(8, int), k=1)
    for labels in (model.labels_, model.predict(views), clone(model).fit_predict(views)):
        assert labels.tolist() == [0] * 8


# with knowledge


def test_outliers_have_no_cluster_until_they_are_assigned(data, knowledge, refined):
    state, model = refined
    assert np.array_equal(model.labels_, state.labels)
    assert np.array_equal(model.labels_ == -1, knowledge.is_outlier)
    assigned = deepcopy(model).assign_outliers().labels_
    expected = np.where(knowledge.is_outlier, data[1], state.labels)  # clear clusters, and not the largest
    assert np.array_equal(assigned, expected)


def test_predictions_and_scores_of_training_rows(data, knowledge, refined):
    views, model = data[0], refined[1]
    predicted, shares = model.predict(views), model.predict_proba(views)
    placed = ~knowledge.is_outlier
    assert predicted.min() >= 0
    assert np.mean(predicted[placed] == model.labels_[placed]) > 0.95
    np.testing.assert_array_equal(predicted, shares.argmax(axis=1))
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    assert ((model.confidence_ >= 0) & (model.confidence_ <= 1)).all()
    for values in (model.outlier_scores_, model.score_outliers(views), model.score(views)):
        assert np.isfinite(values).all()
    assert ((model.view_information_["share"] >= 0) & (model.view_information_["share"] <= 1 + 1e-9)).all()


def test_view_labels_are_minus_1_where_the_view_is_missing_or_ignored(data, knowledge, refined):
    views, model = data[0], refined[1]
    for name, is_used in ignore_for(views, knowledge).items():
        assert np.array_equal(model.view_labels_[name] >= 0, is_used)
    assert (model.view_labels_["view0"][knowledge.is_outlier] >= 0).any()  # views vote on outliers
    assert np.isfinite(np.asarray(model.agreement_)).all()


def test_views_learn_from_labelled_entities_for_which_they_are_not_ignored(data, knowledge, refined):
    views, _ = data
    state, model = refined
    warm = WarmRefinement(views, dict.fromkeys(views.names, False), K)
    is_used = ignore_for(views, knowledge)
    for view in warm.build_ensemble(K, Knowledge()).views:
        labels = np.where(is_used[view.name], state.labels, -1)[view.entities]
        members = encode_labels(labels, K, np.empty((0, 1), np.float32))
        rules = [rule for space in model._models[view.name].spaces for rule in space.rules]
        for rule, predictor in zip(rules, view.predictors, strict=True):
            assert np.array_equal(rule.coefficients, predictor.learn(members))


def test_information_of_a_view_is_that_of_the_entities_it_is_used_for(data, knowledge, refined):
    """The share cannot reach 1 for labels that the view says nothing of: these do not count."""
    state, model = refined
    is_used = ignore_for(data[0], knowledge)
    for name, bits in zip(model.view_information_["view"], model.view_information_["bits"], strict=True):
        labelled = is_used[name] & (state.labels >= 0)
        nats = mutual_info_score(state.labels[labelled], model.view_labels_[name][labelled])
        assert bits == pytest.approx(nats / np.log(2))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_refined_model_is_calibrated(data, knowledge, refined):
    views, model = data[0], deepcopy(refined[1])
    model.calibrate(views)
    assert model.temperature_ > 0
    assert np.array_equal(model.predict(views), refined[1].predict(views))
    assert np.array_equal(model.labels_, refined[1].labels_)


def test_saved_refined_model_is_the_same(data, refined, tmp_path):
    views, (_, model) = data[0], refined
    cs.save(model, tmp_path / "model.zip")
    back = cs.load(tmp_path / "model.zip")
    for name in ("labels_", "outlier_scores_", "confidence_"):
        assert np.array_equal(getattr(back, name), getattr(model, name))
    for method in ("predict_proba", "score_outliers"):
        assert np.array_equal(getattr(back, method)(views), getattr(model, method)(views))
    assert np.array_equal(back.view_labels_["view1"], model.view_labels_["view1"])
    assert (back.assign_outliers().labels_ >= 0).all()


def test_view_that_is_ignored_for_all_has_no_say(data):
    views, y = data
    everywhere = Knowledge(ignored={"view1": np.ones(N, bool)})
    _, model = refine_warmly(views, y, everywhere)
    assert (model.view_labels_["view1"] == -1).all()
    changed = dict(views.items()) | {"view1": 1 - 2 * views["view1"]}
    np.testing.assert_array_equal(model.predict(changed), model.predict(views))
    assert dict(zip(model.view_information_["view"], model.view_information_["bits"], strict=True))["view1"] == 0
    assert np.isfinite(model.outlier_scores_).all()
    assert np.isfinite(model.score_outliers(views)).all()


def test_refined_model_of_similarities():
    views, y = make_gaussian_views(N, n_clusters=K, separation=14, random_state=0)
    squares = np.square(views["view0"][:, None] - views["view0"][None]).sum(axis=2)
    mixed = cs.Views({"given": np.exp(-squares / 50), "rows": views["view1"]})
    state, model = refine_warmly(mixed, y, precomputed=("given",))
    assert model.affinity == {"given": "precomputed", "rows": "auto"}
    assert np.array_equal(state.labels, y)
    assert np.array_equal(model.predict({name: mixed[name][:10] for name in mixed.names}), y[:10])
    assert clone(model).fit(mixed).labels_.shape == (N,)


def test_refined_model_of_sparse_views():
    views, y = make_text_views(N, n_clusters=K, topic_share=0.7, random_state=0)
    views = cs.Views({name: sp.csr_array(X, dtype=float) for name, X in views.items()})
    state, model = refine_warmly(views, y, Knowledge(is_outlier=np.arange(N) < 3))
    assert np.array_equal(model.labels_, state.labels)
    assert np.mean(model.predict(views)[3:] == y[3:]) > 0.95
