"""scikit-learn's own tools take Views as they are, and the rows they cut out are those rows."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold, cross_validate, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, MaxAbsScaler
from sklearn.utils import resample, shuffle

import consilience as cs

N = 90
MODELS = [
    cs.MultiViewKMeans(n_clusters=3, n_init=1, random_state=0),
    cs.MultiViewSphericalKMeans(n_clusters=3, n_init=1, random_state=0),
]
both_models = pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)


@pytest.fixture(scope="module")
def data():
    """One sparse and one dense view of the same entities, some lacking the dense one; clusters far apart."""
    numbers, y = cs.datasets.make_gaussian_views(N, n_features=(6,), separation=12, random_state=3)
    words, same_y = cs.datasets.make_text_views(N, n_words=(40,), length=80, topic_share=0.9, random_state=3)
    assert np.array_equal(y, same_y)
    present = np.ones((N, 2), bool)
    present[::10, 1] = False
    blocks = {"words": words["view0"], "numbers": numbers["view0"]}
    return cs.Views(blocks, present=present, ids=[f"doc{i}" for i in range(N)]), y


def assert_rows_equal(part, views, rows):
    assert part.names == views.names
    np.testing.assert_array_equal(part["words"].toarray(), views["words"].toarray()[rows])
    np.testing.assert_array_equal(part["numbers"], views["numbers"][rows])
    np.testing.assert_array_equal(part.present, views.present[rows])
    np.testing.assert_array_equal(part.ids, views.ids[rows])
    np.testing.assert_array_equal(part.rows, views.rows[rows])


def test_tools_cut_out_exactly_these_rows(data):
    views, y = data
    for how in ({"shuffle": True}, {"shuffle": False}, {"stratify": y}):
        parts = train_test_split(views, np.arange(N), y, test_size=0.3, random_state=0, **how)
        train, test, rows, other, y_train, _ = parts
        assert (len(train), len(test)) == (63, 27)
        assert_rows_equal(train, views, rows)
        assert_rows_equal(test, views, other)
        np.testing.assert_array_equal(y_train, y[rows])
    for splitter in (KFold(4), KFold(4, shuffle=True, random_state=0), StratifiedKFold(3)):
        tested = []
        for train, test in splitter.split(views, y):
            assert_rows_equal(views[train], views, train)
            assert_rows_equal(views[test], views, test)
            tested += views[test].ids.tolist()
        assert sorted(tested) == sorted(views.ids)
    for tool in (shuffle, resample):
        mixed, rows = tool(views, np.arange(N), random_state=0)
        assert_rows_equal(mixed, views, rows)


def make_scorer(y):
    """Return a scorer that looks up the classes by the ids, because `fit` would learn from a y that it is given."""

    def score(fitted, part):
        rows = [int(id_.removeprefix("doc")) for id_ in part.ids]
        return adjusted_rand_score(y[rows], fitted.predict(part))

    return score


@both_models
def test_cross_validate_fits_and_scores_the_folds(data, model):
    views, y = data
    results = cross_validate(
        model,
        views,
        cv=KFold(3, shuffle=True, random_state=0),
        scoring=make_scorer(y),
        return_estimator=True,
        return_indices=True,
        error_score="raise",
    )
    folds = results["indices"]
    for i, (fitted, score) in enumerate(zip(results["estimator"], results["test_score"], strict=True)):
        train, test = folds["train"][i], folds["test"][i]
        assert np.array_equal(fitted.labels_, clone(model).fit(views[train]).labels_)
        assert score == adjusted_rand_score(y[test], fitted.predict(views[test]))
        assert score > 0.9


@both_models
def test_cross_validate_passes_known_classes_on(data, model):
    """Folds are fitted to the classes that are known in them, and -1 stays unknown."""
    views, y = data
    known_classes = np.where(np.arange(N) % 5, -1, y)
    results = cross_validate(
        model, views, known_classes, cv=KFold(3), return_estimator=True, return_indices=True, error_score="raise"
    )
    for fitted, train in zip(results["estimator"], results["indices"]["train"], strict=True):
        assert np.array_equal(fitted.labels_, clone(model).fit(views[train], known_classes[train]).labels_)
        assert (fitted.labels_ == y[train]).mean() > 0.9


def scale(views):
    return views.map(MaxAbsScaler().fit_transform)


def test_grid_search_over_a_pipeline(data):
    views, y = data
    pipeline = make_pipeline(FunctionTransformer(scale), cs.MultiViewKMeans(n_init=1, random_state=0))
    grid = {"multiviewkmeans__n_clusters": [2, 3]}
    search = GridSearchCV(pipeline, grid, scoring=make_scorer(y), cv=2, error_score="raise").fit(views)
    assert search.best_params_ == {"multiviewkmeans__n_clusters": 3}
    assert search.best_score_ > 0.9
    assert search.n_features_in_ == views.shape[1]
    expected = clone(pipeline[-1]).set_params(n_clusters=3).fit_predict(scale(views))
    np.testing.assert_array_equal(search.predict(views), expected)
    np.testing.assert_array_equal(search.predict(views[:7]), expected[:7])
    assert list(search.best_estimator_[-1].view_n_features_) == ["words", "numbers"]
