"""Several clusterings of the same data as one table."""

import tracemalloc
import warnings

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import consilience as cs
from consilience.baselines import ConcatenatedViews, SingleView, compare
from consilience.datasets import make_gaussian_views

GIVEN = []


class Guess(ClusterMixin, BaseEstimator):
    """Label at random, and record what was fitted."""

    def __init__(self, random_state=None, megabytes=0):
        self.random_state = random_state
        self.megabytes = megabytes

    def fit(self, X, y=None):
        assert y is None
        taken = np.ones(self.megabytes * 2**17)
        GIVEN.append((len(X), self.random_state, len(taken)))
        self.labels_ = np.random.default_rng(self.random_state).integers(3, size=len(X))
        return self


class Broken(ClusterMixin, BaseEstimator):
    def fit(self, X, y=None):
        raise ValueError("this never works")


def some_views(missing=0.0):
    return make_gaussian_views(90, separation=12, missing=missing, random_state=0)


def row(table, name):
    return next(row for row in table.rows() if row["estimator"] == name)


def test_columns_with_and_without_classes():
    views, y = some_views()
    methods = {"k-means": cs.MultiViewKMeans(3, n_init=2), "one view": SingleView(KMeans(3, n_init=2), "view0")}
    table = compare(views, methods, y, n_refits=2)
    rest = ["clusters", "agreement", "stability", "seconds", "peak_mib"]
    assert list(table) == ["estimator", "entropy", "f", "precision", "recall", "nmi", "ari", *rest]
    assert table["estimator"].tolist() == ["k-means", "one view"]
    assert list(compare(views, methods, n_refits=0)) == ["estimator", *rest]


def test_scores_match_evaluate():
    views, y = make_gaussian_views(90, separation=3, random_state=0)
    model = cs.MultiViewKMeans(4, n_init=2, random_state=5)
    result = row(compare(views, {"a": model}, y, n_refits=0), "a")
    fitted = model.fit(views)
    for name, (value,) in cs.metrics.evaluate(y, fitted.labels_).items():
        if name not in ("clustering", "clusters"):
            assert result[name] == value
    assert result["clusters"] == 4
    assert result["agreement"] == fitted.agreement_[0, 1]
    assert np.isnan(result["stability"])
    assert result["seconds"] > 0


def test_stability_of_clear_clusters_and_of_guesses():
    views, _ = some_views(missing=0.2)
    table = compare(views, {"clear": cs.MultiViewKMeans(3, n_init=2), "guess": Guess()}, n_refits=4)
    assert row(table, "clear")["stability"] > 0.9
    assert abs(row(table, "guess")["stability"]) < 0.1


def test_stability_is_the_mean_over_samples_of_four_fifths():
    views, _ = make_gaussian_views(50, separation=2, random_state=0)
    model = ConcatenatedViews(KMeans(3, n_init=1, random_state=0))
    result = row(compare(views, {"a": model}, random_state=3, n_refits=3), "a")
    rng = np.random.default_rng(3)
    labels = model.fit_predict(views)
    expected = []
    for _ in range(3):
        rows = np.sort(rng.permutation(50)[:40])
        expected.append(adjusted_rand_score(labels[rows], model.fit_predict(views[rows])))
    assert result["stability"] == pytest.approx(np.mean(expected))


def test_missing_seeds_are_set_and_differ_between_refits():
    GIVEN.clear()
    compare(some_views()[0], {"free": Guess(), "fixed": Guess(7)}, n_refits=3)
    free, fixed = GIVEN[:5], GIVEN[5:]
    assert [n for n, *_ in free] == [90, 72, 72, 72, 90]
    assert free[0][1] == free[-1][1] is not None
    assert len({seed for _, seed, _ in free}) == 4
    assert {seed for _, seed, _ in fixed} == {7}


def test_nested_estimators_get_seeds():
    views, _ = make_gaussian_views(90, separation=1, random_state=0)
    methods = [ConcatenatedViews(KMeans(8, n_init=1, init="random"))]
    first, second = (compare(views, methods, n_refits=2)["stability"] for _ in range(2))
    assert first == second
    assert first != compare(views, methods, n_refits=2, random_state=1)["stability"]


def test_peak_memory_of_a_fit():
    table = compare(some_views()[0], {"small": Guess(), "large": Guess(megabytes=40)}, n_refits=0)
    assert 0 < row(table, "small")["peak_mib"] < 5
    assert 40 <= row(table, "large")["peak_mib"] < 45
    assert not tracemalloc.is_tracing()
    tracemalloc.start()  # a running trace goes on
    others = np.ones(30 * 2**17)
    try:
        peak = compare(some_views()[0], {"large": Guess(megabytes=20)}, n_refits=0)["peak_mib"][0]
        assert tracemalloc.is_tracing()
    finally:
        tracemalloc.stop()
    assert 20 <= peak < 25 < others.nbytes / 2**20


def test_failing_estimators_do_not_stop_the_others():
    views, y = some_views()
    methods = {"broken": Broken(), "one table": KMeans(3), "k-means": cs.MultiViewKMeans(3, n_init=2)}
    with (
        pytest.warns(UserWarning, match="'broken' failed, its row is NaN: ValueError: this never works"),
        pytest.warns(UserWarning, match="'one table' failed, its row is NaN: TypeError"),
    ):
        table = compare(views, methods, y, n_refits=1, assess=True)
    for name in ("broken", "one table"):
        values = row(table, name)
        assert values.pop("verdict") == ""
        assert all(np.isnan(value) for column, value in values.items() if column != "estimator")
    assert row(table, "k-means")["ari"] == 1


def test_failing_fit_to_a_sample_only_loses_stability():
    views, y = make_gaussian_views(20, separation=12, random_state=0)
    with pytest.warns(UserWarning, match="'a' failed on a sample, its stability is NaN: ValueError: n_clusters=20"):
        result = row(compare(views, {"a": cs.MultiViewKMeans(20, n_init=1)}, y, n_refits=2), "a")
    assert np.isnan(result["stability"])
    assert result["clusters"] == 20


def test_plain_arrays_and_scikit_learn_estimators():
    views, y = some_views()
    for X in (views["view0"], views["view0"].tolist()):
        table = compare(X, [KMeans(3, n_init=2), cs.MultiViewKMeans(3, n_init=2)], y, n_refits=1)
        assert table["estimator"].tolist() == ["KMeans", "MultiViewKMeans"]
        assert np.isnan(table["agreement"]).all()  # one view, or none
        assert (table["stability"] > 0.9).all()


def test_list_is_named_by_class_and_number():
    methods = [cs.MultiViewKMeans(3, n_init=1), Guess(), cs.MultiViewKMeans(2, n_init=1)]
    table = compare(some_views()[0], methods, n_refits=0)
    assert table["estimator"].tolist() == ["MultiViewKMeans 1", "Guess", "MultiViewKMeans 2"]
    assert table["clusters"].tolist() == [3, 3, 2]


def test_verdicts_need_predict():
    views, y = some_views()
    methods = {
        "clear": cs.MultiViewKMeans(3, n_init=2),
        "pipeline": make_pipeline(cs.PerView(StandardScaler()), cs.MultiViewKMeans(3, n_init=2)),
        "tree": cs.MultiViewAgglomerative(3),
    }
    table = compare(views, methods, y, n_refits=0, assess=True)
    assert (table["ari"] > 0.9).all()
    assert list(table)[-5:] == ["verdict", "disagreement", "impurity", "seconds", "peak_mib"]
    assert table["verdict"].tolist() == ["stable", "stable", ""]
    assert (table["disagreement"][:2] <= 0.1).all()
    assert (table["impurity"][:2] <= 0.1).all()
    assert np.isnan([table[name][2] for name in ("disagreement", "impurity")]).all()


def test_results_that_cannot_be_judged_have_no_impurity_or_verdict():
    views, _ = some_views()
    table = compare(views[["view0"]], {"one view": cs.MultiViewKMeans(3, n_init=2)}, n_refits=0, assess=True)
    assert table["verdict"].tolist() == ["mixed"]
    assert np.isnan(table["impurity"][0])
    with pytest.warns(UserWarning, match="'many' cannot be assessed: ValueError: 90 entities are too few"):
        table = compare(views, {"many": SingleView(KMeans(23, n_init=1), "view0")}, n_refits=0, assess=True)
    assert (table["verdict"].tolist(), table["clusters"].tolist()) == ([""], [23])


def test_label_minus_one_is_no_cluster_and_estimators_are_not_changed():
    model = SingleView(KMeans(3, n_init=2), "view0")
    before = repr(model.get_params())
    assert compare(some_views(missing=0.3)[0], [model], n_refits=1)["clusters"].tolist() == [3]
    assert repr(model.get_params()) == before
    assert not hasattr(model, "labels_")


def test_warnings_of_the_fit_appear_once():
    block = np.repeat([[1.5, 2.0], [3.5, 1.0]], 10, axis=0)
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        compare([block, block], [cs.MultiViewKMeans(3, n_init=1)], n_refits=2)
    assert ["clusters are empty" in str(warning.message) for warning in heard] == [True]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"estimators": []}, "no estimators to compare: give a mapping"),
        ({"estimators": 3}, "'estimators' parameter"),
        ({"estimators": [Guess()], "y": [np.nan] * 90}, "y holds no class: every value is None, NaN or an empty"),
        ({"estimators": [Guess()], "y": [None] * 90}, "y holds no class: every value is None, NaN or an empty"),
        ({"estimators": [Guess()], "y": [0, 1]}, r"y must hold one class per entity, shape \(90,\), got shape \(2,\)"),
        ({"estimators": [Guess()], "n_refits": -1}, "'n_refits' parameter"),
        ({"estimators": [Guess()], "random_state": "a"}, "'random_state' parameter"),
        ({"estimators": [Guess()], "assess": 2}, "'assess' parameter"),
    ],
)
def test_compare_refuses_invalid_arguments(arguments, message):
    with pytest.raises(ValueError, match=message):
        compare(some_views()[0], **arguments)
