"""Preprocessing per view."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, StandardScaler

import consilience as cs
from consilience.datasets import make_gaussian_views


def test_transformer_is_fitted_on_entities_that_have_the_view():
    views, _ = make_gaussian_views(100, missing=0.4, random_state=0)
    garbage = cs.Views({n: np.where(np.isnan(b), 1e6, b) for n, b in views.items()}, present=views.present)
    for data in (views, garbage):
        scaled = cs.PerView(StandardScaler()).fit_transform(data)
        assert np.array_equal(scaled.present, views.present)
        for v, (_, block) in enumerate(scaled.items()):
            rows = block[views.present[:, v]]
            np.testing.assert_allclose(rows.mean(axis=0), 0, atol=1e-12)
            np.testing.assert_allclose(rows.std(axis=0), 1)
            assert np.isnan(block[~views.present[:, v]]).all()


def test_new_entities_use_the_fitted_transformers():
    views, _ = make_gaussian_views(60, random_state=0)
    model = cs.PerView(StandardScaler()).fit(views[:40])
    new = model.transform(views[40:])
    expected = StandardScaler().fit(views["view0"][:40]).transform(views["view0"][40:])
    np.testing.assert_allclose(new["view0"], expected)
    assert model.transform({"view1": views["view1"][40:]}).names == ("view1",)


def test_mapping_transforms_only_its_views():
    words = sp.random_array((30, 12), density=0.3, rng=np.random.default_rng(0)).tocsr()
    sizes = np.arange(60.0).reshape(30, 2)
    views = cs.Views({"words": words, "sizes": sizes, "same": sizes})
    transformed = cs.PerView({"words": TfidfTransformer(), "sizes": MaxAbsScaler()}).fit_transform(views)
    assert (transformed["words"] != TfidfTransformer().fit_transform(words)).nnz == 0
    assert transformed["sizes"].max() == 1
    assert np.array_equal(transformed["same"], sizes)


def test_pipeline_keeps_ids():
    views, y = make_gaussian_views(120, missing=0.2, separation=8, random_state=0)
    views = cs.Views(views, ids=[f"e{i}" for i in range(120)])
    assert cs.PerView(StandardScaler()).fit_transform(views).ids.tolist() == views.ids.tolist()
    model = make_pipeline(cs.PerView(StandardScaler()), cs.MultiViewKMeans(3, random_state=0)).fit(views[:90])
    assert cs.metrics.normalized_mutual_info_score(y[90:], model.predict(views[90:])) > 0.9


def test_unknown_views_and_unfitted_use_are_refused():
    views, _ = make_gaussian_views(20, random_state=0)
    with pytest.raises(ValueError, match="transformer names view 'text'; the views are 'view0', 'view1'"):
        cs.PerView({"text": StandardScaler()}).fit(views)
    with pytest.raises(NotFittedError, match="not fitted"):
        cs.PerView(StandardScaler()).transform(views)


def test_feature_names_out_are_prefixed_by_the_view():
    frame = pd.DataFrame({"a": [1.0, 2, 3], "b": [0.0, 1, 1], "c": [5.0, 6, 8]})
    model = cs.PerView({"left": PCA(1)}, views={"left": ["a", "b"], "right": ["c"]}).fit(frame)
    assert model.get_feature_names_out().tolist() == ["left__pca0", "right__c"]
    assert model.transform(frame).shape[1] == 2
    model = cs.PerView(StandardScaler()).fit({"u": np.eye(3)[:, :2], "v": np.eye(3)[:, :1]})
    assert model.get_feature_names_out().tolist() == ["u__x0", "u__x1", "v__x0"]
    assert model.get_feature_names_out(["p", "q", "r"]).tolist() == ["u__p", "u__q", "v__r"]
    with pytest.raises(ValueError, match="input_features has 2 names for 3 columns: give one per column of all views"):
        model.get_feature_names_out(["p", "q"])
