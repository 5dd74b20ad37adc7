"""Confidence of models, and contested entities."""

import inspect

import numpy as np
import pytest
import scipy.sparse as sp

import consilience as cs
from consilience import baselines
from consilience.datasets import make_gaussian_views
from consilience.explain import clarity, contested
from consilience.explain.confidence import describe_counted_views

QUICK = {"random_state": 0, "n_init": 2}
MODELS = {
    "Consilience": lambda: cs.Consilience(3, **QUICK),
    "CoEM": lambda: cs.CoEM(3, eta=0.3, **QUICK),
    "CoTrainedSpectral": lambda: cs.CoTrainedSpectral(3, **QUICK),
    "ConvexMixture": lambda: cs.ConvexMixture(3),
    "MultiViewAgglomerative": lambda: cs.MultiViewAgglomerative(3),
    "MultiViewConstrainedKMeans": lambda: cs.MultiViewConstrainedKMeans(3, random_state=0),
    "MultiViewKMeans": lambda: cs.MultiViewKMeans(3, **QUICK),
    "MultiViewSphericalKMeans": lambda: cs.MultiViewSphericalKMeans(3, **QUICK),
    "PCKMeans": lambda: cs.PCKMeans(3, random_state=0),
    "COPKMeans": lambda: cs.COPKMeans(3, random_state=0),
    "MPCKMeans": lambda: cs.MPCKMeans(3, random_state=0),
    "CCAKMeans": lambda: baselines.CCAKMeans(3, **QUICK),
    "CCASpectral": lambda: baselines.CCASpectral(3, **QUICK),
    "CoRegularizedSpectral": lambda: baselines.CoRegularizedSpectral(3, **QUICK),
    "ConcatenatedViews": lambda: baselines.ConcatenatedViews(cs.MultiViewKMeans(3, **QUICK)),
    "KernelAddition": lambda: baselines.KernelAddition(3, **QUICK),
    "KernelProduct": lambda: baselines.KernelProduct(3, **QUICK),
    "MergedViews": lambda: baselines.MergedViews(cs.MultiViewKMeans(3, **QUICK), {}),
    "MinimumDisagreement": lambda: baselines.MinimumDisagreement(3, **QUICK),
    "SingleView": lambda: baselines.SingleView(cs.MultiViewKMeans(3, **QUICK)),
}
ONE_VIEW = ("PCKMeans", "MPCKMeans", "COPKMeans")


def make_data(kind):
    missing = 0.3 if kind == "missing" else 0.0
    views, _ = make_gaussian_views(60, n_clusters=3, n_features=(4, 6), separation=4, missing=missing, random_state=3)
    views = views.map(lambda X: np.abs(X) + 0.01)
    return views.map(sp.csr_array) if kind == "sparse" else views


def fit_estimator(name, kind):
    views = make_data(kind)[["view0"]] if name in ONE_VIEW else make_data(kind)
    X = views["view0"] if name in ONE_VIEW else views
    return MODELS[name]().fit(X), X


def test_every_estimator_is_tested():
    public = {
        name
        for module in (cs, baselines)
        for name in dir(module)
        if inspect.isclass(exported := getattr(module, name)) and hasattr(exported, "fit_predict")
    }
    assert public == set(MODELS)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        *((name, "dense") for name in MODELS),
        *((name, "sparse") for name in ("Consilience", "CoEM", "MultiViewAgglomerative", "PCKMeans")),
        *((name, "missing") for name in ("Consilience", "CoEM", "MultiViewAgglomerative", "CoRegularizedSpectral")),
    ],
)
def test_confidence_is_between_0_and_1(name, kind):
    model, views = fit_estimator(name, kind)
    values = clarity(model, views)
    assert values.shape == (60,)
    assert values.dtype == np.float64
    assert np.isfinite(values).all()
    assert ((values >= 0) & (values <= 1)).all()
    if hasattr(model, "confidence_"):
        assert values == pytest.approx(model.confidence_)
    elif hasattr(model, "predict_proba"):
        assert values == pytest.approx(np.asarray(model.predict_proba(views)).max(axis=1))
    elif name == "MultiViewAgglomerative":  # the share of the views that agree
        for i, label in enumerate(model.labels_):
            votes = [labels[i] for labels in model.view_labels_.values() if labels[i] >= 0]
            assert values[i] == pytest.approx(votes.count(label) / len(votes))
    elif hasattr(model, "transform") and (model.labels_ >= 0).all():
        for i, distance in enumerate(np.asarray(model.transform(views))):
            nearest, following = distance[model.labels_[i]], np.delete(distance, model.labels_[i]).min()
            if nearest >= 0 and following > 0:  # a learned metric has distances below 0
                assert values[i] == pytest.approx(max(1 - nearest / following, 0))


class Stub:
    """A model that knows distances."""

    def __init__(self, labels, distance):
        self.labels_, self._distance = np.array(labels), np.array(distance, dtype=float)

    def transform(self, _):
        return self._distance


@pytest.mark.parametrize(
    ("labels", "distance", "expected"),
    [
        ([0, 1], [[1, 4], [3, 0]], [0.75, 1]),
        ([0, 1], [[2, 2], [5, 5]], [0, 0]),
        ([0, 0], [[1], [2]], [1, 1]),
        ([1, 0], [[1, 4], [3, 0]], [0, 0]),
        ([0, 1], [[-2, -2], [-2, -2]], [0, 0]),
        ([0, 1], [[0, 0], [0, 0]], [0, 0]),
        ([0, -1], [[0, 4], [3, 1]], [1, 0]),  # an outlier
    ],
)
def test_lead_over_next_cluster(labels, distance, expected):
    assert clarity(Stub(labels, distance), None).tolist() == expected


@pytest.mark.parametrize("seed", range(2))
def test_contested_equals_literal_loop(seed):
    rng = np.random.default_rng(seed)
    view_labels = {name: rng.integers(-1, 3, size=80) for name in ("a", "b", "c")}
    view_labels["c"][:40] = -1
    expected = [len({labels[i] for labels in view_labels.values() if labels[i] >= 0}) > 1 for i in range(80)]
    assert contested(view_labels).tolist() == expected


def test_only_confirmed_views_contest():
    rng = np.random.default_rng(0)
    view_labels = {name: rng.integers(-1, 3, size=80) for name in ("a", "b", "noise")}
    kept = {name: view_labels[name] for name in ("a", "b")}
    assert contested(view_labels, ["a", "b"]).tolist() == contested(kept).tolist()
    assert contested(view_labels, ["a", "b"]).sum() < contested(view_labels).sum()
    assert not contested(view_labels, ["a"]).any()
    assert not contested(view_labels, []).any()
    assert not contested({"a": [0, 1, -1, 2]}).any()


@pytest.mark.parametrize(
    ("confirmed", "words"),
    [
        (None, ""),
        (["a", "b"], " by the 2 of 3 views that are confirmed"),
        (["a", "b", "c"], ""),
        ([], ", because no two views confirm each other"),
    ],
)
def test_counted_views_are_said(confirmed, words):
    assert describe_counted_views(3, confirmed) == words
