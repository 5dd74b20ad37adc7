"""Preprocessing view by view."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, StandardScaler

import consilience as cs
from consilience.datasets import make_gaussian_views


def test_each_view_is_fitted_on_the_entities_that_have_it():
    views, _ = make_gaussian_views(100, missing=0.4, random_state=0)
    garbage = cs.Views({n: np.where(np.isnan(b), 1e6, b) for n, b in views.items()}, present=views.present)
    for given in (views, garbage):
        scaled = cs.PerView(StandardScaler()).fit_transform(given)
        assert np.array_equal(scaled.present, views.present)
        for v, (_, block) in enumerate(scaled.items()):
            here = block[views.present[:, v]]
            np.testing.assert_allclose(here.mean(axis=0), 0, atol=1e-12)
            np.testing.assert_allclose(here.std(axis=0), 1)
            assert np.isnan(block[~views.present[:, v]]).all()


def test_new_entities_are_transformed_by_what_was_fitted():
    views, _ = make_gaussian_views(60, random_state=0)
    model = cs.PerView(StandardScaler()).fit(views[:40])
    new = model.transform(views[40:])
    expected = StandardScaler().fit(views["view0"][:40]).transform(views["view0"][40:])
    np.testing.assert_allclose(new["view0"], expected)
    assert model.transform({"view1": views["view1"][40:]}).names == ("view1",)


def test_a_transformer_for_some_views_sparse_ones_too():
    words, sizes = (
        sp.random_array((30, 12), density=0.3, rng=np.random.default_rng(0)).tocsr(),
        np.arange(60.0).reshape(30, 2),
    )
    views = cs.Views({"words": words, "sizes": sizes, "same": sizes})
    done = cs.PerView({"words": TfidfTransformer(), "sizes": MaxAbsScaler()}).fit_transform(views)
    assert (done["words"] != TfidfTransformer().fit_transform(words)).nnz == 0
    assert done["sizes"].max() == 1
    assert np.array_equal(done["same"], sizes)


def test_in_a_pipeline_with_ids():
    views, y = make_gaussian_views(120, missing=0.2, separation=8, random_state=0)
    views = cs.Views(views, ids=[f"e{i}" for i in range(120)])
    assert cs.PerView(StandardScaler()).fit_transform(views).ids.tolist() == views.ids.tolist()
    model = make_pipeline(cs.PerView(StandardScaler()), cs.MultiViewKMeans(3, random_state=0)).fit(views[:90])
    assert cs.metrics.normalized_mutual_info_score(y[90:], model.predict(views[90:])) > 0.9


def test_refuses_unknown_views_and_use_before_fit():
    views, _ = make_gaussian_views(20, random_state=0)
    with pytest.raises(ValueError, match="transformer names view 'text'; the views are 'view0', 'view1'"):
        cs.PerView({"text": StandardScaler()}).fit(views)
    with pytest.raises(NotFittedError, match="not fitted"):
        cs.PerView(StandardScaler()).transform(views)
