"""The estimator CoEM: inputs, refusals, messages and samples."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from scipy import stats
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import normalized_mutual_info_score

import consilience as cs
from consilience.datasets import make_gaussian_views
from consilience.families import Gaussian
from consilience.methods.coem.priors import PRIORS
from consilience.methods.coem.start import start_from_init


def make_mixed_views(n=400, missing=0.0, seed=0):
    """Measurements, text and tags of the same four groups."""
    places, y = make_gaussian_views(n, n_clusters=4, n_features=(5,), separation=5, random_state=seed)
    rng = np.random.default_rng(seed)
    topics = rng.dirichlet(np.full(60, 0.1), 4)
    text = sp.csr_array(rng.multinomial(30, 0.5 * topics[y] + 0.5 / 60))
    tags = (rng.random((n, 12)) < rng.uniform(0.1, 0.9, (4, 12))[y]).astype(float)
    present = rng.random((n, 3)) >= missing
    present[np.arange(n), rng.integers(3, size=n)] = True
    return cs.Views({"places": places["view0"], "text": text, "tags": tags}, present=present), y


@pytest.fixture(scope="module")
def mixed():
    """Views of three families, their classes and a model that no test changes."""
    views, y = make_mixed_views()
    return views, y, cs.CoEM(4, eta=0.5, n_init=5, random_state=0).fit(views)


def test_families_are_chosen_by_name_position_and_the_values(mixed):
    views, _, model = mixed
    names = {"places": "gaussian", "text": "multinomial", "tags": "bernoulli"}
    families = cs.CoEM(4).families_for(views)
    assert {name: family.name for name, family in families.items()} == names
    assert {name: family.name for name, family in model.families_.items()} == names
    assert cs.CoEM(4, families=families, eta=0.5, n_init=5, random_state=0).fit(views).cost_ == model.cost_
    by_name = cs.CoEM(4, families={"text": "poisson"}).families_for(views)
    assert [family.name for family in by_name.values()] == ["gaussian", "poisson", "bernoulli"]
    by_position = cs.CoEM(4, families=["gaussian-full", "multinomial", "auto"]).families_for(views)
    assert [family.name for family in by_position.values()] == ["gaussian-full", "multinomial", "bernoulli"]


def test_three_families_with_missing_views():
    views, y = make_mixed_views(missing=0.4)
    for assignment in ("joint", "average"):
        model = cs.CoEM(4, eta=0.5, assignment=assignment, random_state=0).fit(views)
        assert normalized_mutual_info_score(y, model.labels_) > 0.75
        for part in (views, views[["tags"]][views.present[:, 2]], views[:1]):
            probabilities = model.predict_proba(part)
            np.testing.assert_allclose(probabilities.sum(axis=1), 1)
            assert np.array_equal(probabilities.argmax(axis=1), model.predict(part))


def test_auto_says_what_it_chose(capfd):
    views, _ = make_mixed_views()
    cs.CoEM(4, eta=0.5, n_init=1, max_iter=60, random_state=0, verbose=True).fit(views)
    output = capfd.readouterr().err
    assert "view 'text': family 'multinomial', since all values are counts" in output
    assert "view 'tags': family 'bernoulli', since all values are 0 or 1" in output
    assert "view 'places': family 'gaussian', since the values are real numbers" in output


def test_samples_resemble_the_data(mixed):
    views, _, model = mixed
    drawn, y = model.sample(500, random_state=1)
    assert drawn.names == views.names
    assert np.array_equal(np.unique(drawn["tags"]), [0, 1])
    assert normalized_mutual_info_score(y, model.predict(drawn)) > 0.9
    again, _ = model.sample(500, random_state=1)
    assert all(np.array_equal(drawn[name], again[name]) for name in drawn.names)
    for n in (0, -1, 2.5):
        with pytest.raises(ValueError, match="n_samples must be a whole number from 1 on"):
            model.sample(n)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"eta": 1.5}, r"'eta' parameter .* in the range \[0.0, 1.0\]"),
        ({"anneal": "slowly"}, "'anneal' parameter .*'geometric'"),
        ({"anneal": []}, "a sequence, not empty, each item a float in the range"),
        ({"anneal": [1, 2]}, "The 'anneal' parameter of CoEM must be"),
        ({"priors": "flat"}, "'priors' parameter"),
        ({"assignment": "vote"}, "'assignment' parameter"),
        ({"families": {"pictures": "gaussian"}}, "names view 'pictures'; the views are 'places', 'text', 'tags'"),
        ({"families": ["gaussian"]}, "families lists 1 values for 3 views"),
        ({"families": "gaussian-full"}, r"view 'text': family 'gaussian-full' needs dense rows, got a sparse matrix"),
        ({"anneal": np.ones((2, 2))}, "The 'anneal' parameter of CoEM must be"),
        ({"families": {"tags": ["gaussian"]}}, "view 'tags': no family .'gaussian'."),
    ],
)
def test_refuses(options, message, mixed):
    with pytest.raises(ValueError, match=message):
        cs.CoEM(4, **options).fit(mixed[0])


MEANS, HALVES = np.ones((4, 5)), np.full((4, 12), 0.5)


@pytest.mark.parametrize(
    ("view", "start", "message"),
    [
        ("places", {"means": MEANS}, " lacks 'covariances': family 'gaussian' needs"),
        ("places", {"means": MEANS, "covariances": np.ones(4)}, r": 'covariances' has shape \(4,\), expected \(4, 5\)"),
        ("places", {"means": MEANS, "covariances": -MEANS}, ": 'covariances' must be above 0 .family 'gaussian'"),
        ("tags", np.ones((400, 4)), ": the responsibilities of an entity must .* sum to 1"),
        ("tags", {"probabilities": -HALVES}, ": 'probabilities' must be from"),
        ("tags", {"probabilities": HALVES * np.nan}, ": 'probabilities' holds NaN or infinity"),
        ("tags", {"probabilities": "many"}, ": 'probabilities' must be an array of numbers, got 'many'"),
        ("tags", {"probabilities": HALVES, "weights": [np.inf, 1, 1, 1]}, ": 'weights' holds NaN or infinity"),
        ("tags", {"probabilities": HALVES, "weights": [1, 2]}, ": 'weights' must be 4 numbers"),
    ],
)
def test_refuses_parameters_to_start_from(view, start, message, mixed):
    with pytest.raises(ValueError, match=f"init for view '{view}'{message}"):
        cs.CoEM(4, init={view: start}).fit(mixed[0])


def test_full_covariances_as_init_must_be_positive_definite():
    X = np.random.default_rng(0).normal(size=(30, 2))
    init = {"view0": {"means": np.zeros((2, 2)), "covariances": np.array([[[1, 2], [2, 1]]] * 2)}}
    with pytest.raises(ValueError, match="'covariances' must be positive definite"):
        cs.CoEM(2, families="gaussian-full", init=init).fit(X)


def test_weak_views_warn_with_a_remedy():
    views, _ = make_gaussian_views(240, n_clusters=4, n_features=(4, 6, 3), separation=2, random_state=0)
    with pytest.warns(ConvergenceWarning, match=r"empty.*converged to uniform posteriors: lower eta \(now 1.0\)"):
        cs.CoEM(4, eta=1.0, random_state=0).fit(views)


def test_one_cluster():
    model = cs.CoEM(1, random_state=0).fit(make_mixed_views(missing=0.3)[0])
    assert not model.labels_.any()
    assert model.cluster_weights_.tolist() == [1.0]
    assert np.isfinite(model.cost_)


def test_constant_view_changes_nothing():
    views, y = make_gaussian_views(200, n_clusters=3, n_features=(4, 4), separation=10, random_state=0)
    model = cs.CoEM(3, eta=0.5, random_state=0).fit({**dict(views.items()), "constant": np.full((200, 2), 7.3)})
    assert normalized_mutual_info_score(y, model.labels_) > 0.95
    assert np.isfinite(model.cost_)


def test_duplicate_rows():
    rng = np.random.default_rng(0)
    X = np.repeat(rng.normal(size=(4, 3)) * 5, 25, axis=0)
    for family in ("gaussian", "gaussian-full", "gaussian-tied", "gaussian-spherical"):
        model = cs.CoEM(4, families=family, random_state=0).fit({"a": X, "b": X[:, ::-1].copy()})
        assert normalized_mutual_info_score(np.repeat(range(4), 25), model.labels_) == pytest.approx(1)
        assert np.isfinite(model.cost_)


def test_fitted_families_are_copies():
    family = Gaussian()
    views, _ = make_gaussian_views(60, separation=8, random_state=0)
    near, far = (
        cs.CoEM(3, families=family, eta=0.5, random_state=0).fit(views.map(lambda X, offset=offset: X + offset))
        for offset in (0, 1e6)
    )
    assert family.origin is None
    assert far.families_["view0"].origin is not None
    assert normalized_mutual_info_score(near.labels_, far.labels_) > 0.99


def test_model_keeps_no_rows():
    views, _ = make_gaussian_views(500, n_features=(30, 20), separation=8, random_state=0)
    model = cs.CoEM(3, eta=0.5, n_init=1, random_state=0).fit(views)
    assert len(pickle.dumps(model)) < 8 * (500 * 3 * 2 + 500 * 8) + 20_000  # posteriors, labels, and small things


def test_poisson_likelihoods_equal_scipy_with_missing_views():
    rng, present = np.random.default_rng(0), np.ones((40, 2), bool)
    present[:15, 1] = present[30:, 0] = False
    views = cs.Views([rng.poisson(mean, (40, d)).astype(float) for mean, d in ((3.0, 4), (5.0, 3))], present=present)
    model = cs.CoEM(1, families="poisson").fit(views)
    expected = [
        stats.poisson.logpmf(views[name], model.params_[name]["rates"]).sum(axis=1) * has_view
        for name, has_view in zip(views.names, present.T, strict=True)
    ]
    np.testing.assert_allclose(model.score_samples(views), sum(expected))
    assert model.cost_ == pytest.approx(-np.sum(expected))
    for name, values in zip(views.names, expected, strict=True):
        assert model.history_[f"log_likelihood_{name}"][-1] == pytest.approx(values.sum())


@pytest.mark.parametrize(("priors", "free"), [("global", 2), ("view", 4), ("uniform", 0)])
def test_information_criteria_count_the_priors(priors, free):
    views, _ = make_gaussian_views(100, n_clusters=3, n_features=(3, 2), separation=8, random_state=0)
    model = cs.CoEM(3, eta=0.5, priors=priors, n_init=1, random_state=0).fit(views)
    n_parameters = 2 * 3 * (3 + 2) + free
    assert model.aic(views) == pytest.approx(2 * n_parameters + 2 * model.cost_)
    assert model.bic(views) == pytest.approx(np.log(100) * n_parameters + 2 * model.cost_)


def test_init_weights_count_per_entity():
    rng = np.random.default_rng(0)
    present = np.ones((40, 2), bool)
    present[:30, 1] = False
    views = cs.Views([rng.normal(size=(40, 2)), rng.normal(size=(40, 2))], present=present)
    means = rng.normal(size=(2, 2))
    init = {
        name: {"means": means, "covariances": np.ones((2, 2)), "weights": weights}
        for name, weights in (("view0", [0.9, 0.1]), ("view1", [0.1, 0.9]))
    }
    shards, families = cs.CoEM(2, init=init)._prepare(views)
    start = start_from_init(init, shards, families, 2, PRIORS["global"])
    np.testing.assert_allclose(start.weights["view0"], [(40 * 0.9 + 10 * 0.1) / 50, (40 * 0.1 + 10 * 0.9) / 50])


def test_init_parameters_can_be_a_list(mixed):
    views, _, model = mixed
    by_name, by_place = (
        cs.CoEM(4, eta=0.5, init=init).fit(views) for init in (model.params_, list(model.params_.values()))
    )
    assert by_name.cost_ == by_place.cost_


def test_unreachable_view_without_start_is_refused():
    rng = np.random.default_rng(0)
    present = np.repeat([[True, False], [False, True]], 10, axis=0)
    views = cs.Views({"a": rng.normal(size=(20, 2)), "b": rng.normal(size=(20, 2))}, present=present)
    init = {"a": rng.dirichlet(np.ones(2), 20)}
    with pytest.raises(ValueError, match="init leaves out view 'b', and no entity has it and a view that starts"):
        cs.CoEM(2, init=init).fit(views)


def test_start_reaches_views_through_others():
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    blocks = {name: rng.normal(size=(60, 2)) + 8 * y[:, None] for name in "abc"}
    present = np.repeat([[True, True, False], [False, True, True], [False, True, True]], 20, axis=0)
    model = cs.CoEM(2, eta=0.5, init={"a": np.eye(2)[y]}).fit(cs.Views(blocks, present=present))
    assert normalized_mutual_info_score(y, model.labels_) == pytest.approx(1)


def test_all_zero_entities_get_the_prior():
    X = np.array([[3.0, 0], [4, 1], [0, 5], [1, 6], [0, 7], [0, 0]])
    with pytest.warns(UserWarning, match=r"entity 5 is all zeros .* and gets the cluster of the largest prior"):
        model = cs.CoEM(2, families="multinomial", random_state=0).fit(X)
    assert model.labels_[5] == np.argmax(model.cluster_weights_)
    with pytest.warns(UserWarning, match="entity 5 is all zeros"):
        assert model.predict_proba(X)[5] == pytest.approx(model.cluster_weights_)
    with pytest.warns(UserWarning, match="entity 5 is all zeros"):
        assert model.score(X) == pytest.approx(model.score(X[:5]))
    with pytest.warns(UserWarning, match="entity 0 is all zeros"):
        average = cs.CoEM(2, families="multinomial", assignment="average", random_state=0).fit(X[::-1])
    with pytest.warns(UserWarning, match="entity 0 is all zeros"):
        np.testing.assert_allclose(average.predict_proba(X[5:]).sum(axis=1), 1)


@pytest.mark.parametrize(("dtype", "far"), [(np.float32, 1e15), (np.float64, 1e150)])
def test_row_too_far_away_gets_the_prior(dtype, far):
    X = np.random.default_rng(0).normal(size=(50, 2)).astype(dtype)
    model = cs.CoEM(2, random_state=0, eta=0.5).fit({"a": X * dtype(1e-6)})
    np.testing.assert_allclose(
        model.predict_proba({"a": np.full((1, 2), far, dtype)})[0], model.cluster_weights_, rtol=1e-5
    )
