"""SingleView, ConcatenatedViews and MergedViews."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClusterMixin, clone
from sklearn.cluster import DBSCAN, AgglomerativeClustering, KMeans
from sklearn.metrics import adjusted_rand_score, silhouette_score
from sklearn.mixture import GaussianMixture

import consilience as cs
from consilience.baselines import ConcatenatedViews, MergedViews, SingleView
from consilience.datasets import make_gaussian_views, make_text_views


class Watched(ClusterMixin, BaseEstimator):
    """A clusterer that keeps its input."""

    def fit(self, X, y=None):
        self.seen_ = X
        self.labels_ = np.arange(X.shape[0]) % 2
        return self

    def predict(self, X):
        self.asked_ = X
        return np.zeros(X.shape[0], int)


class WatchedViews(Watched):
    """A multi-view clusterer that keeps its input."""

    def fit(self, X, y=None):
        super().fit(X)
        self.view_labels_ = {
            name: np.where(has_view, 0, -1) for name, has_view in zip(X.names, X.present.T, strict=True)
        }
        return self


def k_means(k=3):
    return KMeans(k, n_init=5, random_state=0)


def two_views(missing=0.0, n=60):
    return make_gaussian_views(n, n_features=(3, 2), separation=6, missing=missing, random_state=0)


def list_rows(views):
    """Return each view's rows, and which of them are there."""
    return [(views[name], has_view) for name, has_view in zip(views.names, views.present.T, strict=True)]


# views side by side


def test_concatenation_fits_the_estimator_to_all_columns():
    views, _ = two_views()
    whole = np.hstack([block for _, block in views.items()])
    model = ConcatenatedViews(k_means()).fit(views)
    reference = k_means().fit(whole)
    assert np.array_equal(model.labels_, reference.labels_)
    assert np.array_equal(model.predict(views[:9]), reference.predict(whole[:9]))


def test_missing_rows_are_filled_with_column_means_of_the_fit():
    views, _ = two_views(missing=0.4)
    model = ConcatenatedViews(Watched()).fit(views)
    seen, means = model.estimator_.seen_, [block[has_view].mean(axis=0) for block, has_view in list_rows(views)]
    for (block, has_view), mean, columns in zip(list_rows(views), means, ([0, 1, 2], [3, 4]), strict=True):
        assert np.array_equal(seen[np.ix_(has_view, columns)], block[has_view])
        np.testing.assert_allclose(seen[np.ix_(~has_view, columns)], np.tile(mean, ((~has_view).sum(), 1)))
    model.predict({"view1": np.zeros((2, 2))})
    np.testing.assert_allclose(model.estimator_.asked_, np.tile([*means[0], 0, 0], (2, 1)))
    rows = views[views.present.all(axis=1)][:2]
    sparse = cs.Views({name: sp.csr_array(block) for name, block in rows.items()}, present=[[True, False]] * 2)
    model.predict(sparse)  # sparse rows are filled too, as those of the fit were
    np.testing.assert_allclose(model.estimator_.asked_, np.hstack([rows["view0"], np.tile(means[1], (2, 1))]))
    narrow = views.map(lambda block: block.astype(np.float32))
    assert ConcatenatedViews(Watched()).fit(narrow).estimator_.seen_.dtype == np.float32


def test_sparse_views_stay_sparse_and_missing_rows_empty():
    views, _ = make_text_views(40, n_words=(30, 20), missing=0.3, random_state=0)
    model = ConcatenatedViews(Watched()).fit(views)
    seen = model.estimator_.seen_
    assert sp.issparse(seen)
    expected = sp.hstack([block for _, block in views.items()])
    assert seen.nnz == expected.nnz
    assert np.array_equal(seen.toarray(), expected.toarray())
    model.predict({"view1": views["view1"][:3]})
    assert sp.issparse(model.estimator_.asked_)
    assert model.estimator_.asked_.shape == (3, 50)


def test_too_large_dense_table_is_refused(monkeypatch):
    monkeypatch.setattr("consilience.baselines.wrappers.available_memory", lambda: 10_000)
    views = {"text": sp.csr_array((50, 400)), "size": np.random.default_rng(0).random((50, 2))}
    with pytest.raises(ValueError, match=r"view 'text' is sparse and view 'size' dense: .* Make 'size' sparse too"):
        ConcatenatedViews(k_means()).fit(views)
    views["size"] = sp.csr_array(views["size"])
    assert sp.issparse(ConcatenatedViews(Watched()).fit(views).estimator_.seen_)


def find_nearest_means(block, has_view, labels):
    """Return the cluster with the nearest mean of each row, -1 for missing rows."""
    means = np.array([block[has_view & (labels == j)].mean(axis=0) for j in range(3)])
    distances = np.linalg.norm(np.nan_to_num(block)[:, None] - means, axis=2)
    return np.where(has_view, distances.argmin(axis=1), -1)


def test_view_labels_are_the_nearest_means():
    views, _ = two_views(missing=0.2)
    model = ConcatenatedViews(k_means()).fit(views)
    for view_labels, (block, has_view) in zip(model.view_labels_.values(), list_rows(views), strict=True):
        assert np.array_equal(view_labels, find_nearest_means(block, has_view, model.labels_))


def test_noise_has_no_cluster_in_any_view():
    views, _ = make_gaussian_views(60, n_features=(2, 2), separation=20, random_state=0)
    far = views.map(lambda block: np.vstack([block[:-1], np.full((1, 2), 1e3)]))
    model = ConcatenatedViews(DBSCAN(eps=4)).fit(far)
    assert model.labels_[-1] == -1
    assert all(view_labels[-1] == -1 for view_labels in model.view_labels_.values())
    nothing = ConcatenatedViews(DBSCAN(eps=1e-6)).fit(far)
    assert set(nothing.labels_) == {-1}
    assert np.isnan(nothing.agreement_[0, 1])


@pytest.mark.parametrize(
    "model",
    [
        ConcatenatedViews(AgglomerativeClustering(3)),
        SingleView(AgglomerativeClustering(3)),
        MergedViews(cs.MultiViewAgglomerative(3), {}),
    ],
    ids=lambda model: type(model).__name__,
)
def test_no_predict_if_the_estimator_has_none(model):
    assert not hasattr(model.fit(two_views()[0]), "predict")
    with pytest.raises(AttributeError, match="has no attribute 'predict'") as caught:
        model.predict(two_views()[0])
    assert "has no predict, so" in str(caught.value.__cause__)
    assert "use labels_, or an estimator that has predict" in str(caught.value.__cause__)


def test_cost_is_that_of_the_estimator():
    views, _ = make_gaussian_views(60, random_state=0)
    ours, theirs = cs.MultiViewKMeans(3, random_state=0), KMeans(3, n_init=2, random_state=0)
    for model in (ConcatenatedViews(ours), SingleView(ours, "view0"), MergedViews(ours, {"both": list(views.names)})):
        model.fit(views)
        assert model.cost_ == model.estimator_.cost_ == pytest.approx(-model.score(views))
    model = ConcatenatedViews(theirs).fit(views)
    assert model.cost_ == model.estimator_.inertia_
    assert not hasattr(ConcatenatedViews(DBSCAN()).fit(views), "cost_")


def test_mixtures_cluster_one_view():
    views, y = make_text_views(60, topic_share=0.7, missing=0.2, random_state=0)
    model = ConcatenatedViews(cs.CoEM(3, families="multinomial", random_state=0)).fit(views)
    assert adjusted_rand_score(y, model.labels_) > 0.9
    assert list(model.estimator_.view_n_features_) == ["view0"]
    views, y = two_views()
    model = ConcatenatedViews(GaussianMixture(3, random_state=0)).fit(views)  # which has no labels_
    assert adjusted_rand_score(y, model.labels_) > 0.9
    assert np.array_equal(model.predict(views), model.labels_)


# one view


def test_single_view_fits_the_estimator_to_its_rows():
    views, _ = two_views(missing=0.3)
    model = SingleView(k_means(), "view1").fit(views)
    has_view = views.present[:, 1]
    assert np.array_equal(model.labels_[has_view], k_means().fit_predict(views["view1"][has_view]))
    assert np.all(model.labels_[~has_view] == -1)
    assert model.view_ == "view1"
    assert np.isnan(model.view_scores_["agreement"]).all()
    assert np.array_equal(model.view_labels_["view1"], model.labels_)
    other = find_nearest_means(views["view0"], views.present[:, 0], model.labels_)
    assert np.array_equal(model.view_labels_["view0"], other)


def test_entities_without_the_view_get_minus_one():
    views, _ = two_views()
    model = SingleView(k_means(), "view1").fit(views)
    assert model.predict({"view0": views["view0"][:4]}).tolist() == [-1] * 4
    incomplete = cs.Views(views, present=np.column_stack([np.ones(60, bool), np.arange(60) % 2 == 0]))
    labels = model.predict(incomplete)
    assert np.array_equal(labels, np.where(np.arange(60) % 2 == 0, model.labels_, -1))
    assert model.predict(cs.Views(views, present=np.tile([True, False], (60, 1)))).tolist() == [-1] * 60


def test_chosen_view_agrees_most_with_the_others():
    views, _ = make_gaussian_views(150, n_features=(4, 4, 4), separation=5, random_state=0)
    rng = np.random.default_rng(0)
    noisy = cs.Views({"noise": rng.random((150, 1)), **dict(views.items())})
    model = SingleView(k_means()).fit(noisy)
    labels = {name: k_means().fit_predict(block) for name, block in noisy.items()}
    expected = {
        name: np.mean([adjusted_rand_score(view_labels, other) for view, other in labels.items() if view != name])
        for name, view_labels in labels.items()
    }
    assert dict(zip(model.view_scores_["view"], model.view_scores_["agreement"], strict=True)) == pytest.approx(
        expected
    )
    assert model.view_ == max(expected, key=expected.get)
    assert model.view_scores_["silhouette"].argmax() == 0  # one column of noise would win by silhouette


def test_silhouette_decides_between_two_views():
    views, _ = two_views()
    model = SingleView(k_means()).fit(views)
    scores = [silhouette_score(block, k_means().fit_predict(block)) for _, block in views.items()]
    np.testing.assert_allclose(model.view_scores_["silhouette"], scores)
    assert model.view_ == views.names[int(np.argmax(scores))]
    assert model.view_ == SingleView(k_means()).fit(views[["view1", "view0"]]).view_


def test_choice_among_views_without_common_entities():
    views, _ = two_views()
    apart = cs.Views(views, present=np.column_stack([np.arange(60) < 30, np.arange(60) >= 30]))
    model = SingleView(k_means()).fit(apart)
    assert np.isnan(model.view_scores_["agreement"]).all()
    assert model.view_ == views.names[int(np.argmax(model.view_scores_["silhouette"]))]


def test_one_cluster_has_silhouette_minus_one():
    model = SingleView(KMeans(1, n_init=1)).fit(two_views()[0])
    assert model.view_scores_["silhouette"].tolist() == [-1, -1]
    assert set(model.labels_) == {0}


def test_failing_view_is_named():
    views, _ = two_views()
    few = cs.Views(views, present=np.column_stack([np.arange(60) < 2, np.ones(60, bool)]))
    with pytest.raises(ValueError, match=r"view 'view0' cannot be clustered alone: n_samples=2 .* Name another"):
        SingleView(k_means()).fit(few)
    assert SingleView(k_means(), "view1").fit(few).view_ == "view1"
    with pytest.raises(ValueError, match="no view 'text': choose from 'view0', 'view1', or give none"):
        SingleView(k_means(), "text").fit(views)


# views merged


def three_views(missing=0.0):
    return make_gaussian_views(60, n_features=(3, 2, 2), separation=6, missing=missing, random_state=0)


def test_merged_views_are_concatenated_and_others_stay():
    views, _ = three_views()
    views = cs.Views(views, ids=[f"paper-{i}" for i in range(60)])
    seen = MergedViews(WatchedViews(), {"both": ["view2", "view0"]}).fit(views).estimator_.seen_
    assert seen.names == ("both", "view1")
    assert np.array_equal(seen["both"], np.hstack([views["view2"], views["view0"]]))
    assert np.array_equal(seen["view1"], views["view1"])
    assert seen.ids[7] == "paper-7"
    seen = MergedViews(WatchedViews(), {"view0": ["view0", "view1"]}).fit(views).estimator_.seen_
    assert seen.names == ("view0", "view2")  # a merged view may keep the name of a part
    assert seen["view0"].shape[1] == 5


def test_merged_view_is_present_if_a_part_is():
    views, _ = three_views(missing=0.5)
    model = MergedViews(WatchedViews(), {"both": ["view0", "view2"]}).fit(views)
    seen, (first, second, third) = model.estimator_.seen_, views.present.T
    assert np.array_equal(seen.present, np.column_stack([first | third, second]))
    only = first & ~third
    np.testing.assert_allclose(seen["both"][only, 3:], np.tile(views["view2"][third].mean(axis=0), (only.sum(), 1)))
    assert np.array_equal(seen["both"][first, :3], views["view0"][first])


def test_sum_adds_bags_of_words():
    views, _ = make_text_views(40, n_words=(30, 30, 20), missing=0.3, random_state=0)
    seen = MergedViews(WatchedViews(), {"words": ["view0", "view1"]}, join="sum").fit(views).estimator_.seen_
    assert sp.issparse(seen["words"])
    assert np.array_equal(seen["words"].toarray(), (views["view0"] + views["view1"]).toarray())
    assert np.array_equal(seen.present[:, 0], views.present[:, :2].any(axis=1))
    mixed = cs.Views({"a": views["view0"], "b": views["view1"].toarray()}, present=views.present[:, :2])
    mixed = mixed[mixed.present.any(axis=1)]
    dense = MergedViews(WatchedViews(), {"words": ["a", "b"]}, join="sum").fit(mixed).estimator_.seen_["words"]
    assert isinstance(dense, np.ndarray)


def test_new_entities_may_lack_parts():
    views, _ = three_views(missing=0.3)
    model = MergedViews(WatchedViews(), {"both": ["view0", "view2"]}).fit(views)
    model.predict({"view2": np.ones((4, 2))})
    predicted = model.estimator_.asked_
    assert predicted.names == ("both",)
    has_view = views.present[:, 0]
    np.testing.assert_allclose(predicted["both"][:, :3], np.tile(views["view0"][has_view].mean(axis=0), (4, 1)))
    assert np.array_equal(predicted["both"][:, 3:], np.ones((4, 2)))
    added = MergedViews(WatchedViews(), {"both": ["view1", "view2"]}, join="sum").fit(views)
    added.predict({"view2": np.ones((4, 2))})
    assert np.array_equal(added.estimator_.asked_["both"], np.ones((4, 2)))


def test_merged_views_of_bickel_and_scheffer():
    views, y = make_text_views(90, n_words=(50, 50, 40, 40), topic_share=0.6, missing=0.2, random_state=0)
    groups = {"words": ["view0", "view1"], "links": ["view2", "view3"]}
    model = MergedViews(ConcatenatedViews(cs.CoEM(3, families="multinomial", random_state=0)), groups, join="sum")
    model.fit(views)
    assert model.estimator_.estimator_.n_features_in_ == 90
    assert list(model.view_labels_) == ["words", "links"]
    assert adjusted_rand_score(y, model.labels_) > 0.5
    assert np.array_equal(model.predict(views), model.labels_)


@pytest.mark.parametrize(
    ("groups", "options", "message"),
    [
        ({"a": ["text"]}, {}, r"groups\['a'\] names view 'text'; the views are 'view0', 'view1', 'view2'"),
        ({"a": "view0"}, {}, r"groups\['a'\] is 'view0': give a list of views"),
        ({"a": []}, {}, r"groups\['a'\] is \[\]: give a list of views"),
        ({"a": ["view0"], "b": ["view0", "view1"]}, {}, "view 'view0' is named twice, in 'a' and 'b': name it once"),
        ({"view2": ["view0", "view1"]}, {}, r"groups\['view2'\] has the name of a view that stays: choose another"),
        ({"a": ["view0", "view1"]}, {"join": "sum"}, r"has 2 columns, view 'view0' 3, .*join='concat'"),
        ({"a": ["view0", "view1"]}, {"join": "product"}, "'join' parameter"),
        (None, {}, "'groups' parameter"),
    ],
)
def test_merging_refuses_invalid_groups(groups, options, message):
    with pytest.raises(ValueError, match=message):
        MergedViews(cs.MultiViewKMeans(3), groups, **options).fit(three_views()[0])
    with pytest.raises(TypeError, match="MergedViews needs a multi-view estimator, got Watched: wrap it in"):
        MergedViews(Watched(), {}).fit(three_views()[0])


def test_sum_of_different_columns_is_refused():
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    frames = {
        name: pd.DataFrame(rng.random((20, 2)), columns=columns)
        for name, columns in (("a", ["x", "y"]), ("b", ["y", "x"]))
    }
    with pytest.raises(ValueError, match="view 'b' has other column names than view 'a'"):
        MergedViews(cs.MultiViewKMeans(2), {"both": ["a", "b"]}, join="sum").fit(frames)
    assert MergedViews(cs.MultiViewKMeans(2), {"both": ["a", "b"]}).fit(frames).labels_.shape == (20,)


@pytest.mark.parametrize("wrapper", [ConcatenatedViews, SingleView])
def test_64_bit_indices_are_accepted(wrapper):
    views, _ = make_text_views(60, random_state=0)
    wide = {name: sp.csr_array((X.data, X.indices.astype(np.int64), X.indptr.astype(np.int64)), shape=X.shape)
            for name, X in views.items()}  # fmt: skip
    model = wrapper(KMeans(3, n_init=1, random_state=0))
    assert np.array_equal(model.fit(wide).labels_, clone(model).fit(views).labels_)
