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
    """Labels at random; keeps what it was given."""

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
    return next(own for own in table.rows() if own["estimator"] == name)


def test_columns_with_and_without_classes():
    views, y = some_views()
    methods = {"k-means": cs.MultiViewKMeans(3, n_init=2), "one view": SingleView(KMeans(3, n_init=2), "view0")}
    table = compare(views, methods, y, n_refits=2)
    rest = ["clusters", "agreement", "stability", "seconds", "peak_mib"]
    assert list(table) == ["estimator", "entropy", "f", "precision", "recall", "nmi", "ari", *rest]
    assert table["estimator"].tolist() == ["k-means", "one view"]
    assert list(compare(views, methods, n_refits=0)) == ["estimator", *rest]


def test_scores_are_those_of_evaluate():
    views, y = make_gaussian_views(90, separation=3, random_state=0)
    model = cs.MultiViewKMeans(4, n_init=2, random_state=5)
    found = row(compare(views, {"a": model}, y, n_refits=0), "a")
    fitted = model.fit(views)
    for name, (value,) in cs.metrics.evaluate(y, fitted.labels_).items():
        if name not in ("clustering", "clusters"):
            assert found[name] == value
    assert found["clusters"] == 4
    assert found["agreement"] == fitted.agreement_[0, 1]
    assert np.isnan(found["stability"])
    assert found["seconds"] > 0


def test_stability_is_high_where_clusters_are_clear_and_zero_for_guesses():
    views, _ = some_views(missing=0.2)
    table = compare(views, {"clear": cs.MultiViewKMeans(3, n_init=2), "guess": Guess()}, n_refits=4)
    assert row(table, "clear")["stability"] > 0.9
    assert abs(row(table, "guess")["stability"]) < 0.1


def test_stability_is_the_mean_over_samples_of_four_fifths():
    views, _ = make_gaussian_views(50, separation=2, random_state=0)
    model = ConcatenatedViews(KMeans(3, n_init=1, random_state=0))
    found = row(compare(views, {"a": model}, random_state=3, n_refits=3), "a")
    rng = np.random.default_rng(3)
    labels = model.fit_predict(views)
    expected = []
    for _ in range(3):
        rows = np.sort(rng.permutation(50)[:40])
        expected.append(adjusted_rand_score(labels[rows], model.fit_predict(views[rows])))
    assert found["stability"] == pytest.approx(np.mean(expected))


def test_seeds_go_to_those_without_one_and_differ_from_refit_to_refit():
    GIVEN.clear()
    compare(some_views()[0], {"free": Guess(), "fixed": Guess(7)}, n_refits=3)
    free, fixed = GIVEN[:5], GIVEN[5:]
    assert [n for n, *_ in free] == [90, 72, 72, 72, 90]
    assert free[0][1] == free[-1][1] is not None
    assert len({seed for _, seed, _ in free}) == 4
    assert {seed for _, seed, _ in fixed} == {7}


def test_estimators_within_estimators_get_seeds_too():
    views, _ = make_gaussian_views(90, separation=1, random_state=0)
    methods = [ConcatenatedViews(KMeans(8, n_init=1, init="random"))]
    one, two = (compare(views, methods, n_refits=2)["stability"] for _ in range(2))
    assert one == two
    assert one != compare(views, methods, n_refits=2, random_state=1)["stability"]


def test_memory_is_the_most_a_fit_takes():
    table = compare(some_views()[0], {"small": Guess(), "large": Guess(megabytes=40)}, n_refits=0)
    assert 0 < row(table, "small")["peak_mib"] < 5
    assert 40 <= row(table, "large")["peak_mib"] < 45
    assert not tracemalloc.is_tracing()


def test_memory_that_someone_traces_already_goes_on_being_traced():
    tracemalloc.start()
    others = np.ones(30 * 2**17)
    try:
        found = compare(some_views()[0], {"large": Guess(megabytes=20)}, n_refits=0)["peak_mib"][0]
        assert tracemalloc.is_tracing()
    finally:
        tracemalloc.stop()
    assert 20 <= found < 25 < others.nbytes / 2**20


def test_an_estimator_that_fails_does_not_stop_the_others():
    views, y = some_views()
    methods = {"broken": Broken(), "k-means": cs.MultiViewKMeans(3, n_init=2)}
    with pytest.warns(UserWarning, match="'broken' failed, its row is NaN: ValueError: this never works"):
        table = compare(views, methods, y, n_refits=1)
    assert all(np.isnan(value) for name, value in row(table, "broken").items() if name != "estimator")
    assert row(table, "k-means")["ari"] == 1


def test_a_fit_on_a_sample_that_fails_costs_no_more_than_the_stability():
    views, y = make_gaussian_views(20, separation=12, random_state=0)
    with pytest.warns(UserWarning, match="'a' failed on a sample, its stability is NaN: ValueError: n_clusters=20"):
        found = row(compare(views, {"a": cs.MultiViewKMeans(20, n_init=1)}, y, n_refits=2), "a")
    assert np.isnan(found["stability"])
    assert found["clusters"] == 20


def test_estimators_that_know_no_views_fail_with_a_word():
    with pytest.warns(UserWarning, match="'KMeans' failed, its row is NaN: TypeError"):
        table = compare(some_views()[0], [KMeans(3)], n_refits=0)
    assert np.isnan(table["clusters"][0])


def test_plain_arrays_and_scikit_learns_own_are_compared_too():
    views, y = some_views()
    for X in (views["view0"], views["view0"].tolist()):
        table = compare(X, [KMeans(3, n_init=2), cs.MultiViewKMeans(3, n_init=2)], y, n_refits=1)
        assert table["estimator"].tolist() == ["KMeans", "MultiViewKMeans"]
        assert np.isnan(table["agreement"]).all()  # one view, or none
        assert (table["stability"] > 0.9).all()


def test_a_list_names_by_class_and_numbers_what_repeats():
    methods = [cs.MultiViewKMeans(3, n_init=1), Guess(), cs.MultiViewKMeans(2, n_init=1)]
    table = compare(some_views()[0], methods, n_refits=0)
    assert table["estimator"].tolist() == ["MultiViewKMeans 1", "Guess", "MultiViewKMeans 2"]
    assert table["clusters"].tolist() == [3, 3, 2]


def test_pipelines_are_estimators():
    views, y = some_views(missing=0.1)
    found = compare(
        views, {"p": make_pipeline(cs.PerView(StandardScaler()), cs.MultiViewKMeans(3, n_init=2))}, y, n_refits=1
    )
    assert found["ari"][0] > 0.9
    assert 0.9 < found["agreement"][0] <= 1


def test_verdicts_of_estimators_that_predict():
    views, y = some_views()
    methods = {
        "clear": cs.MultiViewKMeans(3, n_init=2),
        "pipeline": make_pipeline(cs.PerView(StandardScaler()), cs.MultiViewKMeans(3, n_init=2)),
        "tree": cs.MultiViewAgglomerative(3),
    }
    table = compare(views, methods, y, n_refits=0, assess=True)
    assert list(table)[-5:] == ["verdict", "disagreement", "impurity", "seconds", "peak_mib"]
    assert table["verdict"].tolist() == ["stable", "stable", ""]
    assert (table["disagreement"][:2] <= 0.1).all()
    assert (table["impurity"][:2] <= 0.1).all()
    assert np.isnan([table[name][2] for name in ("disagreement", "impurity")]).all()


def test_result_of_one_view_has_no_estimated_impurity():
    views, _ = some_views()
    table = compare(views[["view0"]], {"one view": cs.MultiViewKMeans(3, n_init=2)}, n_refits=0, assess=True)
    assert table["verdict"].tolist() == ["mixed"]
    assert np.isnan(table["impurity"][0])


def test_a_result_that_cannot_be_assessed_has_no_verdict():
    methods = {"many": SingleView(KMeans(23, n_init=1), "view0")}
    with pytest.warns(UserWarning, match="'many' cannot be assessed: ValueError: 90 entities are too few"):
        table = compare(some_views()[0], methods, n_refits=0, assess=True)
    assert (table["verdict"].tolist(), table["clusters"].tolist()) == ([""], [23])


def test_an_estimator_that_fails_has_no_verdict():
    with pytest.warns(UserWarning, match="'broken' failed, its row is NaN"):
        table = compare(some_views()[0], {"broken": Broken()}, n_refits=0, assess=True)
    assert table["verdict"].tolist() == [""]


def test_labels_of_nobody_are_no_cluster():
    views, _ = some_views(missing=0.3)
    found = compare(views, [SingleView(KMeans(3, n_init=2), "view0")], n_refits=0)
    assert found["clusters"].tolist() == [3]


def test_given_estimators_are_not_changed():
    model = ConcatenatedViews(KMeans(3, n_init=2))
    before = repr(model.get_params())
    compare(some_views()[0], [model], n_refits=1)
    assert repr(model.get_params()) == before
    assert not hasattr(model, "labels_")


def test_warnings_of_the_fit_are_heard_once():
    block = np.repeat([[1.5, 2.0], [3.5, 1.0]], 10, axis=0)
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        compare([block, block], [cs.MultiViewKMeans(3, n_init=1)], n_refits=2)
    assert ["clusters are empty" in str(own.message) for own in heard] == [True]


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
def test_refuses(arguments, message):
    with pytest.raises(ValueError, match=message):
        compare(some_views()[0], **arguments)
