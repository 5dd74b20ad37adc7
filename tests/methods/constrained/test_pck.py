"""Tests of the estimators PCKMeans, MPCKMeans and COPKMeans: inputs, results, warnings and errors."""

import pickle
import warnings
from dataclasses import replace
from itertools import islice

import array_api_strict
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import sklearn
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

import consilience as cs
from consilience import Constraints
from consilience.data.links import Links
from consilience.methods.constrained.cluster_metrics import METRICS, SINGULAR
from consilience.methods.constrained.pairwise import LinkedView, iterate_constrained_kmeans, run_until_settled
from consilience.methods.constrained.pck import prepare_euclidean_rows

ESTIMATORS = [cs.PCKMeans, cs.MPCKMeans, cs.COPKMeans]
every_estimator = pytest.mark.parametrize("estimator", ESTIMATORS)

MODELS = {
    "pck": cs.PCKMeans(3),
    "mpck": cs.MPCKMeans(3),
    "shared": cs.MPCKMeans(3, shared_metric=True),
    "full": cs.MPCKMeans(3, metric="full"),
    "full, shared": cs.MPCKMeans(3, metric="full", shared_metric=True),
    "identity": cs.MPCKMeans(3, metric="identity"),
    "unit": cs.MPCKMeans(3, penalty="unit"),
    "cop": cs.COPKMeans(3),
}
every_model = pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
MAIN = {name: MODELS[name] for name in ("pck", "mpck", "full", "full, shared", "cop")}
every_main_model = pytest.mark.parametrize("model", MAIN.values(), ids=MAIN)


def places(n=90, seed=0, d=3):
    """Make three overlapping groups and constraints."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % 3)
    X = rng.standard_normal((n, d)) + 3 * rng.standard_normal((3, d))[y]
    return X, y, Constraints.sample(y, 30, seed)


def with_options(model, **options):
    return clone(model).set_params(**{"random_state": 0, **options})


@every_estimator
def test_check_estimator(estimator):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = check_estimator(estimator(n_clusters=3), on_fail=None)
    failed = [result["check_name"] for result in results if result["status"] == "failed"]
    assert failed == []


@every_estimator
def test_constraints_with_metadata_routing(estimator):
    X, _, constraints = places()
    with sklearn.config_context(enable_metadata_routing=True):
        clusterer = estimator(3, random_state=0).set_fit_request(constraints=True)
        pipeline = make_pipeline(StandardScaler(), clusterer).fit(X, constraints=constraints)
        assert pipeline[-1].input_constraints_ == constraints
        with pytest.raises(ValueError, match="constraints"):
            make_pipeline(StandardScaler(), estimator(3)).fit(X, constraints=constraints)


@every_model
def test_predictions_and_costs_of_fitted_model(model):
    """Entities without constraints are in the cluster that `predict` names; refitting and pickling change nothing."""
    X, _, constraints = places()
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    model = with_options(model).fit(X, constraints=constraints)
    assert np.array_equal(before, np.random.get_state()[1])  # noqa: NPY002
    costs = model.transform(X)
    assert np.array_equal(clone(model).fit_transform(X, constraints=constraints), costs)
    assert model.get_feature_names_out().tolist() == [f"{type(model).__name__.lower()}{j}" for j in range(3)]
    assert np.array_equal(model.predict(X), costs.argmin(axis=1))
    assert model.score(X) == pytest.approx(-costs.min(axis=1).sum())
    metrics = getattr(model, "metrics_", np.ones((3, 3)))
    for h, center in enumerate(model.cluster_centers_):
        M = np.diag(metrics[h]) if metrics.ndim == 2 else metrics[h]
        expected = [(x - center) @ M @ (x - center) - np.log(np.linalg.det(M)) for x in X]
        np.testing.assert_allclose(costs[:, h], expected, rtol=1e-7, atol=1e-9)
    free = np.setdiff1d(np.arange(90), np.vstack([constraints.must_link, constraints.cannot_link]))
    assert len(free) > 30
    assert np.array_equal(model.predict(X)[free], model.labels_[free])
    back = pickle.loads(pickle.dumps(model))
    assert np.array_equal(back.predict(X), model.predict(X))
    assert back.input_constraints_ == constraints
    labels = model.labels_.copy()
    assert np.array_equal(model.fit(X, constraints=constraints).labels_, labels)
    model.fit(X)
    assert model.input_constraints_.size == 0
    assert np.array_equal(model.predict(X), model.labels_)
    assert -model.score(X) == pytest.approx(model.cost_)


def test_metrics_before_fit_are_refused():
    with pytest.raises(AttributeError, match="this MPCKMeans is not fitted yet: call fit first"):
        cs.MPCKMeans(3).metrics_  # noqa: B018


@pytest.mark.parametrize("name", ["pck", "mpck", "shared", "identity", "unit", "cop"])
def test_sparse_equals_dense(name):
    X, _, constraints = places(d=6)
    X[np.abs(X) < 1] = 0
    rows = {"pck": sp.csr_array, "mpck": sp.csc_matrix}.get(name, sp.coo_array)(X)
    dense, sparse = (with_options(MODELS[name]).fit(data, constraints=constraints) for data in (X, rows))
    assert np.array_equal(sparse.labels_, dense.labels_)
    assert sparse.cost_ == pytest.approx(dense.cost_, rel=1e-9)
    np.testing.assert_allclose(sparse.transform(rows), dense.transform(X), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("shared", [False, True])
def test_full_metric_refuses_sparse_rows(shared):
    message = r"metric='full' needs dense rows, got a sparse matrix \(90, 3\): use metric='diagonal', or reduce the"
    with pytest.raises(ValueError, match=message):
        cs.MPCKMeans(3, metric="full", shared_metric=shared).fit(sp.csr_array(places()[0]))


@pytest.mark.parametrize("name", ["pck", "mpck", "full, shared", "cop"])
def test_float32(name):
    X, _, constraints = places()
    wide, narrow = (with_options(MODELS[name]).fit(X.astype(dtype), constraints=constraints) for dtype in ("f8", "f4"))
    assert np.array_equal(wide.labels_, narrow.labels_)
    assert narrow.cost_ == pytest.approx(wide.cost_, rel=1e-4)
    assert np.isfinite(narrow.transform(X.astype("f4"))).all()


FORMS = {
    "array_api_strict": array_api_strict.asarray,
    "pandas": pd.DataFrame,
    "lists": np.ndarray.tolist,
    "Views": lambda X: cs.Views({"a": X}),
    "mapping": lambda X: {"a": array_api_strict.asarray(X)},
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_forms_of_input_are_equivalent(form):
    X, _, constraints = places()
    expected = cs.PCKMeans(3, random_state=0).fit(X, constraints=constraints)
    model = cs.PCKMeans(3, random_state=0).fit(form(X), constraints=constraints)
    assert np.array_equal(model.labels_, expected.labels_)
    assert isinstance(model.labels_, np.ndarray)
    assert isinstance(model.cluster_centers_, np.ndarray)
    np.testing.assert_array_equal(model.transform(form(X)), expected.transform(X))


@every_estimator
def test_refuses_two_views(estimator):
    X, _, _ = places()
    message = rf"{estimator.__name__} clusters one view, got 2 \('a', 'b'\): use MultiViewConstrainedKMeans, or choose"
    with pytest.raises(ValueError, match=message):
        estimator(3).fit(cs.Views({"a": X, "b": X}))


def test_refuses_missing_values_and_other_columns():
    X, _, _ = places()
    model = cs.PCKMeans(3, random_state=0).fit({"a": X})
    with pytest.raises(ValueError, match="view 'a' has 2 columns, but had 3 in fit"):
        model.predict({"a": X[:, :2]})
    X[4] = np.nan
    with pytest.raises(ValueError, match="entity 4 has none of the views"):
        cs.PCKMeans(3).fit(cs.Views({"a": X}))
    with pytest.raises(ValueError, match="contains NaN"):
        cs.PCKMeans(3).fit(X)


NAMES = np.array([f"entity {i}" for i in range(90)])[::-1]


@pytest.mark.parametrize("ids", [NAMES, np.arange(90)[::-1] + 1000], ids=["text", "integers"])
def test_constraints_by_id(ids):
    X, _, constraints = places()
    named = Constraints(ids[constraints.must_link], ids[constraints.cannot_link], by="id")
    expected = cs.PCKMeans(3, random_state=0).fit(X, constraints=constraints)
    for data in (cs.Views({"a": X}, ids=ids), pd.DataFrame(X, index=ids), {"a": pd.DataFrame(X, index=ids)}):
        model = cs.PCKMeans(3, random_state=0).fit(data, constraints=named)
        assert np.array_equal(model.labels_, expected.labels_)
        assert model.input_constraints_ == constraints


LISTED = r"constraints must be Constraints\(must_link=\[...\], cannot_link=\[...\]\), got "
NO_IDS = r"constraints name entities by id, but the data has no ids: give Views\(..., ids=...\), a frame with an index"


@pytest.mark.parametrize(
    ("constraints", "error", "message"),
    [
        ([(0, 1)], TypeError, f"{LISTED}list"),
        ({"a": Constraints()}, TypeError, f"{LISTED}dict"),
        (Constraints([(3, 90)]), ValueError, r"must-link \(3, 90\) names entity 90, but there are 90: .* from 0 to 89"),
        (Constraints((), [(0, 1), (200, 100)]), ValueError, r"cannot-link \(100, 200\) names entity 200, but there"),
        (Constraints([("ann", "bob")]), ValueError, NO_IDS),
        (Constraints((), [(1, 95)], by="row"), ValueError, r"cannot-link \(1, 95\) names row 95 of view 'view0'"),
    ],
)
def test_refuses_constraints(constraints, error, message):
    with pytest.raises(error, match=message):
        cs.PCKMeans(3).fit(places()[0], constraints=constraints)


def test_refuses_positions_that_may_be_ids_and_unknown_ids():
    X = pd.DataFrame(np.eye(4), index=[10, 20, 30, 40])
    with pytest.raises(ValueError, match=r"\(10, 20\) names entity 20, but there are 4: .* 0 to 3, or say by='id'"):
        cs.PCKMeans(2).fit(X, constraints=Constraints([(10, 20)]))
    message = r"constraints name entity 50, which is not among the ids of the data \(1 such\): leave it out"
    with pytest.raises(ValueError, match=message):
        cs.PCKMeans(2).fit(X, constraints=Constraints([(10, 50)], by="id"))


def test_warns_of_contradictions():
    X, _, _ = places()
    constraints = Constraints([(0, 1), (1, 2)], [(0, 2), (4, 5)])
    message = r"cannot-links contradict must-links \(1 such\), as \(0, 2\), which must-links tie together \(0 = 1 ="
    with pytest.warns(UserWarning, match=message):
        model = cs.PCKMeans(3, random_state=0).fit(X, constraints=constraints)
    assert model.n_violations_ >= 1
    names = [f"entity {i}" for i in range(90)]
    with pytest.warns(UserWarning, match=r"tie together \(entity 0 = entity 1 = entity 2\)"):
        cs.PCKMeans(3, random_state=0).fit(cs.Views({"a": X}, ids=names), constraints=constraints)


@every_main_model
def test_result_depends_on_seed_not_on_threads(model):
    X, _, constraints = places(n=3000)
    single, two = (with_options(model, n_jobs=n).fit(X, constraints=constraints) for n in (1, 2))
    assert np.array_equal(single.labels_, two.labels_)
    assert single.cost_ == pytest.approx(two.cost_, rel=1e-12)


def test_more_starts_never_cost_more():
    X, _, constraints = places(n=200)
    few = Constraints(constraints.must_link[:1], constraints.cannot_link[:4])
    costs = [cs.PCKMeans(8, n_init=n, random_state=0).fit(X, constraints=few).cost_ for n in (1, 2, 5, 20)]
    assert costs == sorted(costs, reverse=True)
    assert costs[-1] < costs[0]


@every_estimator
def test_row_order_does_not_matter(estimator):
    """The order of visits to rows with constraints does matter, so it is kept."""
    X, _, constraints = places()
    linked = np.unique(np.vstack([constraints.must_link, constraints.cannot_link]))
    order = np.random.default_rng(1).permutation(90)
    order[np.sort(np.flatnonzero(np.isin(order, linked)))] = linked
    assert sorted(order) == list(range(90))
    moved = constraints.renumbered(np.argsort(order))
    centers = X[:3] + 0.1
    options = {"init": centers, "order": "index"}
    plain = estimator(3, **options).fit(X, constraints=constraints)
    permuted = estimator(3, **options).fit(X[order], constraints=moved)
    assert np.array_equal(permuted.labels_, plain.labels_[order])
    assert permuted.cost_ == pytest.approx(plain.cost_, rel=1e-9)
    free = np.random.default_rng(2).permutation(90)
    with_none, permuted = (estimator(3, init=centers).fit(rows) for rows in (X, X[free]))
    assert np.array_equal(permuted.labels_, with_none.labels_[free])


@every_estimator
def test_given_starts(estimator):
    X, y, constraints = places()

    def fit(init, **options):
        return estimator(3, init=init, order="index", **options).fit(X, constraints=constraints)

    model = fit(y, random_state=5)
    assert (model.labels_ == y).mean() > 0.8, "clusters keep their numbers"
    assert np.array_equal(fit(y).labels_, model.labels_)
    assert np.array_equal(fit(np.eye(3)[y]).labels_, model.labels_)
    assert np.array_equal(fit(X[5:8], n_init=7).labels_, fit(X[5:8].tolist()).labels_)


@every_main_model
def test_start_from_settled_labels(model):
    X, _, constraints = places()
    first = with_options(model, order="index").fit(X, constraints=constraints)
    if hasattr(first, "metrics_"):
        start = cs.PCKMeans(3, random_state=0).fit(X).labels_  # no entity moves while all metrics are the identity
        again = with_options(model, init=start).fit(X)
        assert (again.metrics_ != 1).any()
        assert again.cost_ == pytest.approx(-again.score(X))
    else:
        again = with_options(model, init=first.labels_, order="index").fit(X, constraints=constraints)
        assert again.cost_ == pytest.approx(first.cost_)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"init": np.zeros((2, 3))}, r"init for view 'X' has shape \(2, 3\): give centers \(3, 3\), 90 labels, or"),
        ({"init": np.zeros((90, 4))}, r"init for view 'X' has shape \(90, 4\): give centers"),
        ({"init": np.full((3, 3), np.nan)}, "init for view 'X' holds NaN or infinity: give finite numbers"),
        ({"init": np.zeros(5, int)}, "init gives 5 labels for 90 entities: give one each"),
        ({"init": np.zeros(90)}, r"init labels must be whole numbers from 0 to 2 \(n_clusters=3\)"),
        ({"init": np.full(90, 3)}, r"init labels must be whole numbers from 0 to 2 \(n_clusters=3\)"),
        ({"init": "k-means++"}, "The 'init' parameter of .*KMeans must be"),
        ({"order": "sorted"}, "The 'order' parameter of .*KMeans must be"),
        ({"n_clusters": 91}, r"n_clusters=91 is more than the 90 entities \(n_samples=90\): ask for fewer"),
        ({"n_clusters": 0}, "The 'n_clusters' parameter of .*KMeans must be"),
        ({"n_init": 0}, "The 'n_init' parameter of .*KMeans must be"),
        ({"max_iter": 0}, "The 'max_iter' parameter of .*KMeans must be"),
        ({"tol": -1}, "The 'tol' parameter of .*KMeans must be"),
        ({"random_state": -1}, "The 'random_state' parameter of .*KMeans must be"),
        ({"metric": "cosine"}, "The 'metric' parameter of MPCKMeans must be"),
        ({"penalty": "none"}, "The 'penalty' parameter of MPCKMeans must be"),
        ({"shared_metric": "yes"}, "The 'shared_metric' parameter of MPCKMeans must be"),
    ],
)
def test_refuses(options, message):
    with pytest.raises(ValueError, match=message):
        cs.MPCKMeans(**{"n_clusters": 3, **options}).fit(places()[0])


@every_estimator
def test_tol_stops_earlier(estimator):
    X, _, constraints = places(n=600, seed=3)
    exact, loose = (estimator(8, tol=tol, random_state=0).fit(X, constraints=constraints) for tol in (0, 0.9))
    assert loose.converged_
    assert loose.n_iter_ <= {cs.PCKMeans: 2, cs.MPCKMeans: 11, cs.COPKMeans: 11}[estimator]
    assert exact.n_iter_ > 2


def test_tol_is_relative_to_standardized_objective():
    X, _, constraints = places(n=600, seed=5)
    plain, scaled = (cs.MPCKMeans(8, tol=0.01, random_state=0).fit(s * X, constraints=constraints) for s in (1.0, 1e-9))
    assert scaled.n_iter_ == plain.n_iter_
    assert plain.n_iter_ < cs.MPCKMeans(8, random_state=0).fit(X, constraints=constraints).n_iter_


@every_estimator
def test_history_and_progress(estimator, capfd):
    X, _, constraints = places()
    estimator(3, n_init=3, random_state=0).fit(X, constraints=constraints)
    assert capfd.readouterr() == ("", "")
    model = estimator(3, n_init=3, random_state=0, verbose=True).fit(X, constraints=constraints)
    told = capfd.readouterr().err
    assert f"{estimator.__name__}: start 1 of 3, round 1: objective" in told
    assert "start 3 of 3" in told
    assert list(model.history_) == ["round", "objective", "violations"]
    assert model.history_["round"].tolist() == list(range(1, model.n_iter_ + 1))
    assert model.history_["objective"][-1] == pytest.approx(model.cost_)
    assert model.history_["violations"][-1] == model.n_violations_
    with pytest.warns(ConvergenceWarning, match=r"no convergence in 1 rounds: raise max_iter, or tol \(now 0.0\)"):
        model = estimator(3, max_iter=1, random_state=0).fit(X, constraints=constraints)
    assert not model.converged_
    assert model.history_.n_rows == model.n_iter_ == 1


def interrupt_after(n_rounds, monkeypatch):
    """Press Ctrl-C after `n_rounds` rounds; return the list of rounds shown."""
    seen = []

    def interrupt(counter, run, round_, record):
        seen.append((run, round_))
        if len(seen) == n_rounds:
            raise KeyboardInterrupt

    monkeypatch.setattr("consilience.methods.common.run.RoundCounter.__call__", interrupt)
    return seen


def test_interrupt_keeps_best_round_and_start(monkeypatch):
    X, _, constraints = places()
    first = cs.PCKMeans(3, random_state=0).fit(X, constraints=constraints)
    seen = interrupt_after(2, monkeypatch)
    model = cs.PCKMeans(3, n_init=4, random_state=0)
    with pytest.raises(KeyboardInterrupt, match="stopped early: the model holds the best result so far"):
        model.fit(X, constraints=constraints)
    assert seen == [(0, 1), (0, 2)]
    assert model.n_iter_ == 2
    assert not model.converged_
    assert model.predict(X).shape == (90,)
    seen = interrupt_after(first.n_iter_ + 1, monkeypatch)
    with pytest.raises(KeyboardInterrupt, match="stopped early: the model holds the best result so far"):
        model.fit(X, constraints=constraints)
    assert seen[-1] == (1, 1)
    assert model.cost_ <= first.cost_


@every_main_model
def test_constant_columns_and_extreme_numbers_of_clusters(model):
    X, y, constraints = places(seed=2)
    wide, must = np.column_stack([X, np.full(90, 7.0), np.zeros(90)]), Constraints(constraints.must_link)
    plain = with_options(model, init=y, order="index").fit(wide, constraints=constraints)
    assert adjusted_rand_score(plain.labels_, y) > 0.5
    whole = with_options(model, n_clusters=1).fit(wide, constraints=must)
    np.testing.assert_allclose(whole.cluster_centers_, wide.mean(axis=0, keepdims=True))
    single = with_options(model, n_clusters=90).fit(wide)
    assert set(single.labels_) == set(range(90))
    for fitted in (plain, whole, single):
        assert np.isfinite(fitted.cost_)
        assert np.isfinite(fitted.transform(wide)).all()
        assert np.isfinite(getattr(fitted, "metrics_", 0)).all()


@every_main_model
def test_cluster_of_one_entity(model):
    """Its scatter is zero, so it keeps its metric."""
    X, y, constraints = places(seed=2)
    X, y = np.vstack([X, [[300.0, -300, 300]]]), np.append(np.minimum(y, 1), 2)
    model = with_options(model, init=y, order="index").fit(X, constraints=Constraints(constraints.must_link))
    assert np.isfinite(model.cost_)
    assert np.isfinite(model.transform(X)).all()
    assert len(set(model.labels_)) == 3
    metrics = getattr(model, "metrics_", np.ones((3, 3)))
    assert np.isfinite(metrics).all()
    assert (metrics[0] != 0).any()
    if hasattr(model, "metrics_"):
        plain, scaled = (with_options(model, init=y, order="index").fit(s * X) for s in (1.0, 1e-9))
        np.testing.assert_allclose(scaled.metrics_[2] * 1e-18, plain.metrics_[2], rtol=1e-6)
        assert np.array_equal(scaled.labels_, plain.labels_)


@every_main_model
def test_fewer_distinct_entities_than_clusters(model):
    X = np.repeat([[1.5, 2.0], [3.5, 1.0]], 10, axis=0)
    with pytest.warns(ConvergenceWarning, match="1 of 3 clusters are empty.*lower n_clusters, or check the must-links"):
        fitted_model = with_options(model).fit(X, constraints=Constraints([(0, 1)], [(0, 10)]))
    assert adjusted_rand_score(np.repeat([0, 1], 10), fitted_model.labels_) == 1
    equal = np.full((8, 2), 0.1)
    with pytest.warns(ConvergenceWarning, match="of 3 clusters are empty|no convergence"):
        flat = with_options(model).fit(equal, constraints=Constraints([(0, 1)]))
    for fitted, rows in ((fitted_model, X), (flat, equal)):
        assert np.isfinite(fitted.cost_)
        assert np.isfinite(fitted.cluster_centers_).all()
        assert np.isfinite(fitted.transform(rows)).all()


def test_empty_cluster_moves_to_distant_row():
    X, _, _ = places(n=60)
    centers = np.vstack([X[:2], np.full((1, 3), 1e3)])
    model = cs.PCKMeans(3, init=centers).fit(X)
    assert len(set(model.labels_)) == 3
    assert (np.diff(model.history_["objective"]) <= 0).all()


def test_must_links_may_empty_cluster():
    X = np.arange(4.0)[:, None]
    everyone = Constraints([(0, 1), (1, 2), (2, 3)], must_weights=1e6)
    with pytest.warns(ConvergenceWarning, match="1 of 2 clusters are empty.*check the must-links"):
        model = cs.PCKMeans(2, init=[[0.0], [100.0]], order="index").fit(X, constraints=everyone)
    assert len(set(model.labels_)) == 1
    assert model.n_violations_ == 0


@pytest.mark.parametrize("metric", ["diagonal", "full"])
def test_warns_of_truncated_search(metric, tune):
    tune("methods.constrained.farthest", max_work=0)
    X, _, constraints = places()
    message = "the search for the two farthest entities was cut short because it would take too long: others may be up"
    with pytest.warns(UserWarning, match=message):
        cs.MPCKMeans(3, metric=metric, random_state=0).fit(X, constraints=constraints)
    silent = cs.MPCKMeans(3, metric=metric, penalty="unit", random_state=0).fit(X, constraints=constraints)
    assert np.isfinite(silent.cost_)


def test_warnings_point_to_caller():
    X, _, _ = places()
    for rows, cannot in ((X, [(0, 1)]), (X[:1].repeat(5, axis=0), [])):
        with pytest.warns(Warning, match="contradict|no convergence|are empty") as told:
            cs.PCKMeans(3, max_iter=1, random_state=0).fit(rows, constraints=Constraints([(0, 1)], cannot))
        assert {warning.filename for warning in told} == {__file__}


@pytest.mark.parametrize(
    ("estimator", "scale"),
    [(cs.PCKMeans, 1e-100), (cs.MPCKMeans, 1e-100), (cs.MPCKMeans, 1e100), (cs.COPKMeans, 1e100)],
)
def test_units_do_not_matter(estimator, scale):
    X, y, constraints = places()
    plain = estimator(3, init=y, order="index").fit(X, constraints=constraints)
    priced = constraints if estimator is cs.MPCKMeans else scale**2 * constraints
    scaled = estimator(3, init=y, order="index").fit(scale * X, constraints=priced)
    assert np.isfinite(scaled.cost_)
    assert np.array_equal(scaled.labels_, plain.labels_)


@every_estimator
def test_large_offset_does_not_matter(estimator):
    X, y, constraints = places()
    plain, moved = (estimator(3, init=y, order="index").fit(X + shift, constraints=constraints) for shift in (0, 1e6))
    assert np.array_equal(plain.labels_, moved.labels_)
    assert moved.cost_ == pytest.approx(plain.cost_, rel=1e-6)


def test_penalties_are_nonnegative_after_truncated_search(tune):
    """A cannot-link joins the two farthest rows: if the search missed them, violating it would have a negative cost."""
    tune("methods.constrained.farthest", max_work=0)
    for seed in range(5):
        X = np.random.default_rng(seed).standard_normal((30, 4))
        squares = ((X[:, None] - X[None]) ** 2).sum(axis=2)
        pair = np.unravel_index(squares.argmax(), squares.shape)
        state = next(
            iterate_constrained_kmeans(
                LinkedView(prepare_euclidean_rows(X), Links.empty(), Constraints((), [pair]).cannot, True),
                METRICS["identity"](1, 4, False),
                X[:1],
                np.arange,
            )
        )
        assert state.n_violations == 1
        assert state.penalties.find_violated(np.zeros(2, int))[1] >= -1e-12


def test_cross_validation_with_constraints_by_id():
    X, _, constraints = places()
    names = np.array([f"p{i}" for i in range(len(X))])
    by_id = Constraints(names[constraints.must_link], names[constraints.cannot_link], unknown="drop")
    views = cs.Views({"a": X}, ids=names)
    with sklearn.config_context(enable_metadata_routing=True):
        search = GridSearchCV(
            cs.PCKMeans(random_state=0).set_fit_request(constraints=True), {"n_clusters": [2, 3]}, cv=3
        ).fit(views, constraints=by_id)
    assert search.best_params_ == {"n_clusters": 3}
    strict = Constraints(by_id.must_link, by_id.cannot_link)
    with pytest.raises(ValueError, match=r"constraints name entity 'p\d+', which is not among .* unknown='drop'"):
        cs.PCKMeans(3).fit(views[:30], constraints=strict)
    partial = cs.PCKMeans(3, random_state=0).fit(views[:30], constraints=by_id)
    inside = (constraints.must_link < 30).all(axis=1).sum(), (constraints.cannot_link < 30).all(axis=1).sum()
    assert (len(partial.input_constraints_.must_link), len(partial.input_constraints_.cannot_link)) == inside


@pytest.mark.parametrize("far", [1e3, 1e9])
def test_distant_start_keeps_objective_accurate(far):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((60, 2))
    model = cs.PCKMeans(3, init=far * rng.standard_normal((3, 2)), order="index").fit(X)
    assert (np.diff(model.history_["objective"]) <= 0).all()
    assert model.cost_ == pytest.approx(np.sum((X - model.cluster_centers_[model.labels_]) ** 2), rel=1e-12)
    again = cs.PCKMeans(3, init=model.cluster_centers_, order="index").fit(X)
    assert again.cost_ == pytest.approx(model.cost_, rel=1e-12)


def test_metric_when_cannot_links_dominate():
    """Eigenvalues are clipped before they are summed: a scatter of (-89, 54) is not negligible."""
    little = SINGULAR * 54
    weights = METRICS["diagonal"](1, 2, False).invert(np.array([-89.0, 54.0]), 2.0)
    np.testing.assert_allclose(weights, [2 / little, 2 / (54 + little)])


def test_unsettled_run_keeps_lowest_cost():
    X, _, constraints = places()
    problem = LinkedView(prepare_euclidean_rows(X), constraints.must, constraints.cannot, True)
    rounds = list(islice(iterate_constrained_kmeans(problem, METRICS["diagonal"](3, 3, False), X[:3], np.arange), 3))
    lowest = min(rounds, key=lambda state: state.cost)
    restless = (replace(state, settled=False) for state in [lowest, *([rounds[0]] * 30)])
    done = run_until_settled(problem, restless, np.arange, 300, 0.0, lambda *_: None)
    assert lowest.cost < rounds[0].cost
    assert done.state.metric is lowest.metric
    assert done.state.cost <= lowest.cost + 1e-9, "labels may follow from the centers, and that costs no more"
    assert done.n_iter == 11, "ten rounds without a lower cost are enough"
