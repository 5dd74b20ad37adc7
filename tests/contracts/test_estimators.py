"""What every estimator promises, whatever it does inside."""

import pickle
import re
from functools import cache
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics import adjusted_rand_score
from sklearn.utils.estimator_checks import check_estimator

import consilience as cs
from consilience.datasets import make_gaussian_views
from estimators import (
    ESTIMATORS,
    ITERATED,
    compute_costs,
    compute_distances,
    compute_total_score,
    convex_mixture,
    cross_fitted,
    get_centers,
)

every_estimator = pytest.mark.parametrize("estimator", ESTIMATORS)
every_iterated = pytest.mark.parametrize("estimator", ITERATED)


def make_clear_views(missing=0.0, n=240, seed=0):
    """Return three views with clusters far apart."""
    return make_gaussian_views(n, n_clusters=4, n_features=(4, 6, 3), separation=20, missing=missing, random_state=seed)


def make_vague_views(missing=0.0, n=240, seed=0):
    """Return three views with clusters that overlap, so that restarts, rounds and orders make a difference."""
    return make_gaussian_views(n, n_clusters=4, n_features=(4, 6, 3), separation=2, missing=missing, random_state=seed)


@cache
def fit_vague_views(estimator, missing=0.0):
    """Fit an estimator with few starts; tests do not change the model."""
    return estimator(n_clusters=4, n_init=3, random_state=0).fit(make_vague_views(missing)[0])


@every_estimator
@pytest.mark.filterwarnings(
    "ignore::sklearn.exceptions.ConvergenceWarning",
    "ignore:entity .* is all zeros:UserWarning",
    "ignore:view .* fewer than the:UserWarning",
    "ignore:.* entities are fewer than 4 per cluster:UserWarning",
    "ignore:y gives one of .* classes to every entity:UserWarning",
)
def test_scikit_learn_accepts_the_estimator(estimator):
    model = estimator(n_init=1)
    if hasattr(model, "predict_proba"):  # checks of sparse rows expect as many probabilities as they have classes
        model.set_params(n_clusters=4)
    check_estimator(model, on_skip=None)


@every_iterated
def test_finds_clear_clusters(estimator):
    views, y = make_clear_views()
    model = estimator(n_clusters=4, random_state=0).fit(views)
    assert adjusted_rand_score(y, model.labels_) > 0.99
    assert model.agreement_.min() > 0.95
    assert model.converged_


@every_iterated
@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_common_attributes_and_predictions(estimator, missing):
    views, _ = make_vague_views(missing)
    model = fit_vague_views(estimator, missing)
    assert model.labels_.shape == (240,)
    assert set(np.unique(model.labels_)) <= set(range(4))
    assert list(model.view_labels_) == list(views.names)
    for v, labels in enumerate(model.view_labels_.values()):
        assert np.array_equal(labels >= 0, views.present[:, v])
    assert np.allclose(model.agreement_, model.agreement_.T)
    assert np.array_equal(np.diag(model.agreement_), np.ones(3))
    assert np.array_equal(model.agreement_, cs.metrics.agreement_matrix(model.view_labels_))
    assert not hasattr(model, "error_bound_")
    assert model.history_["round"].tolist() == list(range(1, model.n_iter_ + 1))
    assert model.history_["agreement"][-1] == cs.metrics.agreement_rate(*model.view_labels_.values())
    assert model.n_features_in_ == views.shape[1]
    assert model.cost_ == pytest.approx(-compute_total_score(model, views))
    assert np.array_equal(model.predict(views), model.labels_)
    assert np.array_equal(compute_distances(model, views).argmin(axis=1), model.labels_)
    assert np.array_equal(model.predict(views[50:60]), model.labels_[50:60])
    assert np.array_equal(clone(model).fit_predict(views), model.labels_)


@every_iterated
def test_result_does_not_depend_on_threads(estimator, tune):
    tune("arrays.parallel", least_chunk=100, block=50)
    views, _ = make_vague_views(missing=0.2)
    views = cs.Views(
        {"a": views["view0"], "b": sp.csr_array(np.nan_to_num(views["view1"]))}, present=views.present[:, :2]
    )
    views = views[views.present.any(axis=1)]
    options = {"n_clusters": 4, "n_init": 2, "random_state": 0}
    first, *others = (estimator(**options, n_jobs=n).fit(views) for n in (1, 3, None))
    for other in others:
        assert np.array_equal(first.labels_, other.labels_)
        assert first.cost_ == other.cost_
        assert all(np.array_equal(get_centers(first)[v], get_centers(other)[v]) for v in views.names)


@every_iterated
def test_blocks_of_rows_equal_all_rows(estimator, tune):
    views, y = make_vague_views(missing=0.2)
    whole = estimator(n_clusters=4, init=y, random_state=0).fit(views)
    tune("arrays.parallel", least_chunk=100, block=30)
    blocks = estimator(n_clusters=4, init=y, random_state=0).fit(views)
    assert np.array_equal(whole.labels_, blocks.labels_)
    assert whole.cost_ == pytest.approx(blocks.cost_, rel=1e-12)


@every_estimator
def test_rows_permuted(estimator):
    views, y = make_vague_views(missing=0.2)
    order = np.random.default_rng(0).permutation(len(views))
    straight = estimator(n_clusters=4, init=y).fit(views)
    permuted = estimator(n_clusters=4, init=y[order]).fit(views[order])
    assert np.array_equal(straight.labels_[order], permuted.labels_)


@every_estimator
def test_views_renamed_and_reordered(estimator):
    views, _ = make_clear_views(missing=0.2)
    names = ["view2", "view0", "view1"]
    straight, named, reordered = (
        estimator(n_clusters=4, random_state=0).fit_predict(X)
        for X in (views, cs.Views({f"a view called {name}": views[name] for name in views.names}), views[names])
    )
    assert np.array_equal(straight, named)
    assert adjusted_rand_score(straight, reordered) == 1


@every_iterated
def test_restarts_never_cost_more(estimator):
    views, _ = make_vague_views()
    costs = [estimator(n_clusters=6, n_init=n, random_state=3).fit(views).cost_ for n in (1, 3, 9)]
    assert all(later <= earlier for earlier, later in pairwise(costs))
    assert costs[-1] < costs[0]


@every_iterated
def test_tol_and_patience_change_the_rounds(estimator):
    views, _ = make_vague_views()

    def rounds(**options):
        return estimator(n_clusters=6, n_init=1, max_iter=5000, random_state=0, **options).fit(views["view1"]).n_iter_

    assert rounds(tol=0.5, patience=1) < rounds(tol=0, patience=1) <= rounds(tol=0, patience=8)
    assert rounds(tol=0.5, patience=2) == 3  # the first round sets the mark, two more do not halve the cost


@every_iterated
def test_cost_falls_on_one_view(estimator):
    views, _ = make_vague_views()
    model = estimator(n_clusters=6, n_init=1, max_iter=5000, random_state=0, patience=50).fit(views["view1"])
    assert model.n_iter_ > 3
    assert np.all(np.diff(compute_costs(model)) <= 1e-9 * compute_costs(model)[0])


@every_estimator
@pytest.mark.filterwarnings("ignore:.* clusters are empty")
def test_fit_does_not_change_parameters_data_or_global_seed(estimator):
    views, _ = make_vague_views(missing=0.2)
    before = {name: np.array(block) for name, block in views.items()}
    model = estimator(n_clusters=4, init="random", n_init=2, random_state=np.random.RandomState(0))
    parameters = {name: repr(value) for name, value in model.get_params().items() if name != "random_state"}
    np.random.seed(0)  # noqa: NPY002
    state = np.random.get_state()[1].copy()  # noqa: NPY002
    model.fit(views)
    assert np.array_equal(state, np.random.get_state()[1])  # noqa: NPY002
    assert parameters == {name: repr(value) for name, value in model.get_params().items() if name != "random_state"}
    assert all(np.array_equal(before[name], block, equal_nan=True) for name, block in views.items())


@every_estimator
@pytest.mark.filterwarnings("ignore:.* clusters are empty")
def test_random_states_of_all_kinds_repeat(estimator):
    views, _ = make_vague_views()
    for make_seed in (int, np.random.default_rng, np.random.RandomState):
        labels = [estimator(n_clusters=6, n_init=1, random_state=make_seed(5)).fit_predict(views) for _ in range(2)]
        assert np.array_equal(*labels)


def get_predicted(estimator, views):
    """Return what `predict` must give: of Consilience it may differ from labels_, which are left out."""
    model = fit_vague_views(estimator)
    return model.predict(views) if estimator is cross_fitted else model.labels_


@every_estimator
def test_survives_pickling_and_cloning(estimator):
    views, _ = make_vague_views()
    model = fit_vague_views(estimator)
    back = pickle.loads(pickle.dumps(model))
    assert np.array_equal(back.predict(views), get_predicted(estimator, views))
    with pytest.raises(NotFittedError, match="not fitted"):
        clone(model).predict(views)


@every_iterated
def test_float32(estimator):
    views, y = make_vague_views(missing=0.2)
    single = views.map(lambda block: block.astype(np.float32))
    model, wide = (estimator(n_clusters=4, init=y).fit(X) for X in (single, views))
    assert adjusted_rand_score(model.labels_, wide.labels_) > 0.97
    assert model.cost_ == pytest.approx(wide.cost_, rel=1e-3)


@every_estimator
def test_float32_far_from_zero(estimator):
    views, y = make_clear_views()
    far = views.map(lambda block: (block + 1000).astype(np.float32))
    near = views.map(lambda block: (block + 1000).astype(np.float32).astype(np.float64))
    fit_predict = estimator(n_clusters=4, init=y).fit_predict
    assert np.array_equal(fit_predict(far), fit_predict(near))


@every_iterated
@pytest.mark.parametrize(("dtype", "outlier"), [(np.float32, 1e8), (np.float64, 1e12)])
def test_far_row_does_not_change_predictions_of_others(estimator, dtype, outlier):
    views, _ = make_vague_views()
    views = views.map(lambda block: block.astype(dtype))
    model = estimator(n_clusters=4, n_init=3, random_state=0).fit(views)
    batch = cs.Views({name: np.vstack([np.full_like(block[:1], outlier), block]) for name, block in views.items()})
    assert np.array_equal(model.predict(batch)[1:], model.predict(views))
    np.testing.assert_allclose(compute_distances(model, batch)[1:], compute_distances(model, views), rtol=1e-4)


def test_outlier_costs_as_much_as_in_scikit_learn():
    X = make_vague_views()[0]["view1"].astype(np.float32)
    X[0] = 1e3
    start = X[[0, 60, 120, 180]].astype(np.float64)
    reference = KMeans(4, init=start, n_init=1, tol=0).fit(X.astype(np.float64)).inertia_
    assert cs.MultiViewKMeans(4, init={"view0": start}, tol=0).fit(X).cost_ == pytest.approx(reference, rel=1e-3)


@every_estimator
@pytest.mark.parametrize("kind", ["array_api_strict", "torch"])
def test_fitted_in_one_array_library_predicts_in_another(estimator, kind):
    views, _ = make_vague_views()
    library = pytest.importorskip(kind)
    other = cs.Views({name: library.asarray(np.array(block)) for name, block in views.items()})
    assert np.array_equal(fit_vague_views(estimator).predict(other), get_predicted(estimator, views))


@pytest.mark.parametrize("estimator", [kind for kind in ESTIMATORS if hasattr(kind.estimator_class, "transform")])
def test_output_columns_have_names(estimator):
    names = fit_vague_views(estimator).get_feature_names_out()
    assert names.tolist() == [f"{estimator.__name__.lower()}{j}" for j in range(4)]


@pytest.mark.parametrize("estimator", [estimator for estimator in ESTIMATORS if estimator is not cross_fitted])
def test_sparse_equals_dense(estimator):
    """Consilience standardises dense views only: zeros of sparse views are absences."""
    rng = np.random.default_rng(0)
    dense = [np.where(rng.random((150, d)) < 0.3, rng.random((150, d)), 0.0) for d in (40, 25)]
    for block in dense:
        block[:, 0] += 0.01  # no row of zeros
    y = rng.integers(5, size=150)
    full = estimator(n_clusters=5, init=y).fit(dense)
    for make in (sp.csr_array, sp.coo_array):
        model = estimator(n_clusters=5, init=y).fit([make(dense[0]), dense[1]])
        assert np.array_equal(model.labels_, full.labels_)
        assert getattr(model, "cost_", 0) == pytest.approx(getattr(full, "cost_", 0), rel=1e-10)


@every_iterated
def test_array_libraries(estimator, to_kind):
    views, y = make_vague_views(missing=0.2)
    kind = cs.Views({name: to_kind(np.array(block)) for name, block in views.items()})
    reference = estimator(n_clusters=4, init=y).fit(views)
    model = estimator(n_clusters=4, init=y).fit(kind)
    assert np.array_equal(model.labels_, reference.labels_)
    assert isinstance(model.labels_, np.ndarray)
    assert type(get_centers(model)["view0"]) is type(kind["view0"])
    assert np.array_equal(model.predict(kind), reference.labels_)
    assert np.allclose(compute_distances(model, kind), compute_distances(reference, views))
    fit_predict = estimator(n_clusters=4, n_init=1, random_state=0).fit_predict
    assert np.array_equal(fit_predict(kind), fit_predict(views))


@every_estimator
def test_forms_of_input_are_equivalent(estimator):
    blocks = dict(make_vague_views()[0].items())
    columns = {"view0": slice(0, 4), "view1": list(range(4, 10)), "view2": slice(10, 13)}
    forms = {"pairs": list(blocks.items()), "a list": [blocks["view0"], blocks["view1"].tolist(), blocks["view2"]]}
    forms |= {"mapping": blocks, "tuple": tuple(blocks.values()), "columns": np.hstack(list(blocks.values()))}
    for form, X in forms.items():
        model = estimator(n_clusters=4, n_init=3, random_state=0, views=columns if form == "columns" else None)
        assert np.array_equal(model.fit_predict(X), fit_vague_views(estimator).labels_), form


@every_estimator
def test_columns_without_view_are_ignored(estimator):
    views, y = make_clear_views()
    wide = np.hstack([np.random.default_rng(0).random((240, 2)), *(block for _, block in views.items())])
    groups = {"a": slice(2, 6), "b": slice(6, 12)}
    model = estimator(n_clusters=4, random_state=0, views=groups).fit(wide)
    assert model.n_features_in_ == 15
    assert np.array_equal(model.predict(wide), model.labels_)
    assert adjusted_rand_score(y, model.labels_) > 0.99
    with pytest.raises(ValueError, match=r"X has 14 features, but .* is expecting 15"):
        model.predict(wide[:, :14])


@every_estimator
def test_column_names_of_all_views(estimator):
    pd = pytest.importorskip("pandas")
    views, _ = make_clear_views()
    frames = {
        "a": pd.DataFrame(views["view0"], columns=list("pqrs")),
        "b": pd.DataFrame(views["view2"], columns=list("xyz")),
    }
    model = estimator(n_clusters=4, random_state=0).fit(frames)
    assert model.feature_names_in_.tolist() == list("pqrsxyz")
    with pytest.raises(ValueError, match="view 'a' has column 's' where fit had 'p': give the same columns"):
        model.predict({"a": frames["a"][["s", "q", "r", "p"]]})
    assert not hasattr(model.fit(views), "feature_names_in_")


@every_estimator
def test_predicts_from_any_subset_of_views(estimator):
    views, y = make_clear_views()
    model = estimator(n_clusters=4, random_state=0).fit(views[:200])
    for names in (["view1"], ["view2", "view0"], ["view0", "view1", "view2"]):
        score = adjusted_rand_score(y[200:], model.predict(views[names][200:]))
        assert score == 1 or (estimator is convex_mixture and score > 0.85)  # its clusters reach far beyond exemplars
    assert adjusted_rand_score(y[200:], model.predict({"view1": views["view1"][200:]})) == 1


@every_estimator
def test_entity_with_only_one_view(estimator):
    views, y = make_clear_views()
    present = np.array(views.present)
    present[:60, 1:] = False
    present[60:90, :2] = False
    model = estimator(n_clusters=4, random_state=0).fit(cs.Views(views, present=present))
    assert adjusted_rand_score(y, model.labels_) > 0.98


@every_iterated
def test_values_of_missing_rows_do_not_matter(estimator):
    views, y = make_vague_views(missing=0.3)
    filled = views.map(np.nan_to_num)
    garbage = views.map(lambda block: np.where(np.isnan(block), 1e6, block))
    assert np.array_equal(filled.present, views.present)
    expected = estimator(n_clusters=4, init=y).fit(views)
    for other in (filled, garbage):
        model = estimator(n_clusters=4, init=y).fit(other)
        assert np.array_equal(model.labels_, expected.labels_)
        assert model.cost_ == pytest.approx(expected.cost_, rel=1e-6)


@every_iterated
@pytest.mark.filterwarnings("ignore:.* clusters are empty")
def test_only_verbose_fit_prints(estimator, capfd):
    views, _ = make_vague_views()
    views = {"a[/b]": views["view0"], "[red]x": views["view1"]}  # names of any characters
    estimator(n_clusters=4, n_init=1, random_state=0).fit(views)
    assert capfd.readouterr() == ("", "")
    model = estimator(n_clusters=4, n_init=2, random_state=0, verbose=True).fit(views)
    shown = capfd.readouterr().err
    assert "_a[/b] " in shown
    lines = shown.splitlines()
    first = next(line for line in lines if "round" in line)
    assert re.match(rf"{estimator.__name__}: start 1 of 2, round 1: \w+ -?\d", first)
    assert sum("start 2 of 2" in line for line in lines) >= 1
    assert len(lines) >= model.n_iter_


@every_iterated
def test_interrupt_keeps_last_whole_round(estimator, monkeypatch):
    views, _ = make_vague_views()
    seen = []

    def interrupting(counter, run, round_, record):
        seen.append((run, round_))
        if len(seen) == 3:
            raise KeyboardInterrupt

    monkeypatch.setattr("consilience.methods.common.run.RoundCounter.__call__", interrupting)
    model = estimator(n_clusters=6, random_state=0, tol=0)
    with pytest.raises(KeyboardInterrupt, match="stopped early: the model holds the best result so far"):
        model.fit(views)
    assert seen == [(0, 1), (0, 2), (0, 3)]
    assert model.n_iter_ == 3
    assert not model.converged_
    assert np.array_equal(model.predict(views), model.labels_)


@every_iterated
def test_warns_when_rounds_run_out(estimator):
    views, _ = make_vague_views()
    with pytest.warns(ConvergenceWarning, match="no convergence in 1 rounds: raise max_iter"):
        estimator(n_clusters=6, max_iter=1, random_state=0).fit(views)


@every_iterated
def test_fewer_distinct_entities_than_clusters(estimator):
    block = np.repeat([[1.5, 2.0], [3.5, 1.0]], 10, axis=0)
    with pytest.warns(ConvergenceWarning, match="1 of 3 clusters are empty.*lower n_clusters"):
        model = estimator(n_clusters=3, random_state=0).fit([block, block[:, ::-1]])
    assert adjusted_rand_score(np.repeat([0, 1], 10), model.labels_) == 1
    assert all(np.isfinite(centers).all() for centers in get_centers(model).values())


@every_iterated
def test_init_labels_for_all_views_or_each(estimator):
    views, y = make_vague_views(missing=0.2)
    for_all, for_each = (estimator(n_clusters=4, init=init).fit(views) for init in (y, dict.fromkeys(views.names, y)))
    assert np.array_equal(for_all.labels_, for_each.labels_)
    assert for_all.cost_ == for_each.cost_
