"""Tests of select_views: ranking, refit and errors."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

import consilience as cs
from consilience.datasets import make_corrupted_views, make_gaussian_views


@pytest.fixture(scope="module")
def views():
    return make_corrupted_views(90, n_views=2, n_noisy=2, n_corrupted=6, random_state=0)[0]


@pytest.fixture(scope="module")
def complete(views):
    """A model of all views."""
    return cs.ConvexMixture(3).fit(views)


@pytest.mark.parametrize("n_views", [1, 2, 4])
def test_keeps_heaviest_views_and_refits(views, complete, n_views):
    estimator = cs.ConvexMixture(3)
    selection = cs.select_views(estimator, views, n_views)
    assert selection.ranking == complete.view_weights_
    weights = list(selection.ranking.values())
    assert weights == sorted(weights, reverse=True)
    assert selection.views == list(selection.ranking)[:n_views]
    if n_views > 1:
        assert set(selection.views[:2]) == {"view0", "view1"}  # the others are noise
    expected = cs.ConvexMixture(3).fit(views[selection.views])
    assert np.array_equal(selection.model.labels_, expected.labels_)
    assert np.array_equal(selection.model.predict(views[selection.views]), expected.labels_)
    assert list(selection.model.view_weights_) == selection.views
    assert not hasattr(estimator, "labels_")


@pytest.mark.parametrize("kind", ["dict", "list", "array"])
def test_parameters_per_view_are_restricted(views, kind):
    betas = {"view0": 0.8, "view1": 1.2, "noisy0": 1.0, "noisy1": 1.1}
    init = {"dict": betas, "list": list(betas.values()), "array": np.array(list(betas.values()))}[kind]
    selection = cs.select_views(cs.ConvexMixture(3, beta=betas, init=init, tol=0.01), views, 2)
    chosen = {name: betas[name] for name in selection.views}
    expected = cs.ConvexMixture(3, beta=chosen, init=chosen, tol=0.01).fit(views[selection.views])
    assert selection.model.betas_ == expected.betas_
    assert selection.model.view_weights_ == expected.view_weights_


def test_precomputed_views_with_gaps():
    features, _ = make_gaussian_views(60, n_features=(2, 3, 4), separation=4, missing=0.2, random_state=0)
    blocks = {name: cdist(np.nan_to_num(X), np.nan_to_num(X), "sqeuclidean") for name, X in features.items()}
    views = cs.Views(blocks, present=features.present)
    selection = cs.select_views(cs.ConvexMixture(3, divergence="precomputed"), views, 3)
    expected = cs.select_views(cs.ConvexMixture(3), features, 3)
    assert np.array_equal(selection.model.labels_, expected.model.labels_)
    assert selection.ranking == pytest.approx(expected.ranking)
    with pytest.raises(ValueError, match=r"entity \d+ has none of the views .*: drop it with views\[keep\]"):
        cs.select_views(cs.ConvexMixture(3), features, 1)


def test_columns_of_an_array_as_views(views, complete):
    X = np.hstack([X for _, X in views.items()])
    columns = {name: [2 * v, 2 * v + 1] for v, name in enumerate(views.names)}
    selection = cs.select_views(cs.ConvexMixture(3, views=columns), X, 2)
    assert selection.views == sorted(complete.view_weights_, key=complete.view_weights_.get, reverse=True)[:2]
    assert np.array_equal(selection.model.predict(views[selection.views]), selection.model.labels_)


@pytest.mark.parametrize(
    ("estimator", "n_views", "message"),
    [
        (cs.ConvexMixture(3, weights="uniform"), 2, "weights='uniform' gives all views the same weight: use weights="),
        (cs.ConvexMixture(3), 5, "n_views=5 is more than the 4 views .'view0', 'view1', 'noisy0', 'noisy1'.: ask for"),
        (cs.ConvexMixture(3), 0, "The 'n_views' parameter of select_views must be an int in the range"),
        (cs.ConvexMixture(3), 1.5, "The 'n_views' parameter of select_views must be an int in the range"),
        ("convex", 2, "The 'estimator' parameter of select_views must be"),
        (cs.MultiViewKMeans(3, n_init=1), 2, r"MultiViewKMeans learns no weights of views \(view_weights_\): use an"),
    ],
)
def test_refuses(views, estimator, n_views, message):
    with pytest.raises((ValueError, TypeError), match=message):
        cs.select_views(estimator, views, n_views)
