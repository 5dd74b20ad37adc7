"""Models whose clusters have other numbers: labels, predictions and probabilities agree, also after saving."""

import numpy as np
import pytest
from sklearn.base import clone

import consilience as cs
from consilience.explain import clarity
from consilience.methods.common.renumbered import BY_CLUSTER, RenumberedModel
from estimators import BUILDERS

NUMBERS = np.array([4, 0, 2])


@pytest.fixture(scope="module")
def views():
    return cs.datasets.make_gaussian_views(90, n_clusters=3, separation=9, random_state=0)[0]


@pytest.mark.parametrize("name", ["consilience", "spectral", "co-em", "k-means", "convex", "agglomerative"])
def test_everything_has_the_new_numbers(name, views, tmp_path):
    model = BUILDERS[name](3, random_state=0).fit(views)
    cs.save(RenumberedModel(model, NUMBERS), tmp_path / "model.zip")
    renumbered = cs.load(tmp_path / "model.zip")
    assert renumbered.labels_.tolist() == NUMBERS[model.labels_].tolist()
    for view, labels in model.view_labels_.items():
        assert renumbered.view_labels_[view].tolist() == np.append(NUMBERS, -1)[labels].tolist()
    for method, fill in (("predict_proba", 0.0), ("transform", np.inf)):
        if hasattr(model, method):
            values = getattr(renumbered, method)(views)
            assert np.array_equal(values[:, NUMBERS], getattr(model, method)(views), equal_nan=True)
            assert np.all(values[:, [1, 3]] == fill)
    assert hasattr(renumbered, "predict") == hasattr(model, "predict")
    if hasattr(model, "predict"):
        assert renumbered.predict(views).tolist() == NUMBERS[model.predict(views)].tolist()
    assert clarity(renumbered, views) == pytest.approx(clarity(model, views))


def test_clone_is_the_unfitted_model(views):
    model = cs.MultiViewKMeans(3, random_state=0).fit(views)
    copy = clone(RenumberedModel(model, NUMBERS))
    assert type(copy) is cs.MultiViewKMeans
    assert copy.get_params() == model.get_params()


def test_attributes_ordered_by_cluster_are_refused(views):
    model = RenumberedModel(cs.MultiViewKMeans(3, random_state=0).fit(views), NUMBERS)
    assert "cluster_centers_" in BY_CLUSTER
    with pytest.raises(AttributeError, match=r"ordered by the clusters of the model.*model\.cluster_centers_"):
        _ = model.cluster_centers_
    assert set(model.model.cluster_centers_) == set(views.names)
    with pytest.raises(AttributeError, match="nothing_"):
        _ = model.nothing_


def test_entities_in_no_cluster_stay_outside(views):
    model = cs.Consilience(3, outliers=0.1, random_state=0).fit(views)
    renumbered = RenumberedModel(model, NUMBERS)
    assert ((renumbered.labels_ == -1) == (model.labels_ == -1)).all()
    assert (model.labels_ == -1).sum() == 9
