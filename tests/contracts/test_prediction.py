"""Contracts of estimators that predict: labels can be written into `out`, and the score serves a grid search."""

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV

import consilience as cs
from consilience import baselines
from consilience.datasets import make_gaussian_views
from consilience.registry import list_estimators

WRAPPERS = [
    baselines.ConcatenatedViews(cs.MultiViewKMeans(3, random_state=0)),
    baselines.MergedViews(cs.MultiViewKMeans(3, random_state=0), {"both": ["view0", "view1"]}),
    baselines.SingleView(cs.MultiViewKMeans(3, random_state=0)),
]
SINGLE_VIEW = [cs.PCKMeans(3, random_state=0), cs.MPCKMeans(3, random_state=0), cs.COPKMeans(3, random_state=0)]
DECLARED = [
    declaration.estimator_class(3, **declaration.contract.options)
    for declaration in list_estimators().values()
    if declaration.can_predict and declaration.wraps is None
]


def get_class_name(estimator):
    return type(estimator).__name__


def make_data(estimator):
    views, _ = make_gaussian_views(90, n_clusters=3, separation=8, random_state=0)
    return views[["view0"]] if isinstance(estimator, cs.PCKMeans | cs.MPCKMeans) else views


@pytest.mark.parametrize("estimator", [*DECLARED, *WRAPPERS, *SINGLE_VIEW], ids=get_class_name)
def test_labels_are_written_into_out_of_their_shape(estimator):
    views = make_data(estimator)
    model = estimator.fit(views)
    out = np.full(len(views), -7, np.int16)
    assert model.predict(views, out=out) is out
    np.testing.assert_array_equal(out, model.predict(views))
    with pytest.raises(ValueError, match=r"out must be an array of shape \(90,\) for 90 entities, got shape \(5,\)"):
        model.predict(views, out=np.zeros(5, int))


@pytest.mark.parametrize("estimator", [*DECLARED, *SINGLE_VIEW], ids=get_class_name)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning", "ignore:.*:UserWarning")
def test_grid_search_uses_the_score(estimator):
    search = GridSearchCV(estimator, {"n_clusters": [2, 3]}, cv=2, error_score="raise").fit(make_data(estimator))
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert search.best_params_["n_clusters"] in (2, 3)
