"""Confidence of models, and contested entities."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

import consilience as cs
from consilience import baselines
from consilience.datasets import make_gaussian_views
from consilience.explain import clarity, contested
from consilience.explain.confidence import describe_counted_views

QUICK = {"random_state": 0, "n_init": 2}
MODELS = {  # of each way to measure it
    "Consilience": cs.Consilience(3, **QUICK),
    "CoEM": cs.CoEM(3, eta=0.3, **QUICK),
    "MultiViewKMeans": cs.MultiViewKMeans(3, **QUICK),
    "MultiViewAgglomerative": cs.MultiViewAgglomerative(3),
    "PCKMeans": cs.PCKMeans(3, random_state=0),
    "COPKMeans": cs.COPKMeans(3, random_state=0),
    "MPCKMeans": cs.MPCKMeans(3, random_state=0),
    "CCASpectral": baselines.CCASpectral(3, **QUICK),
    "CoRegularizedSpectral": baselines.CoRegularizedSpectral(3, **QUICK),
    "ConcatenatedViews": baselines.ConcatenatedViews(cs.MultiViewKMeans(3, **QUICK)),
    "KernelAddition": baselines.KernelAddition(3, **QUICK),
    "MinimumDisagreement": baselines.MinimumDisagreement(3, **QUICK),
}


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        *((name, "dense") for name in MODELS),
        *((name, "sparse") for name in ("Consilience", "CoEM", "MultiViewAgglomerative", "PCKMeans")),
        *((name, "missing") for name in ("Consilience", "CoEM", "MultiViewAgglomerative", "CoRegularizedSpectral")),
    ],
)
def test_confidence_is_between_0_and_1(name, kind):
    missing = 0.3 if kind == "missing" else 0.0
    views, _ = make_gaussian_views(60, n_clusters=3, n_features=(4, 6), separation=4, missing=missing, random_state=3)
    views = views.map(lambda X: np.abs(X) + 0.01)
    views = views.map(sp.csr_array) if kind == "sparse" else views
    if name.endswith("CKMeans") or name == "COPKMeans":  # of one view
        views = views["view0"]
    model = clone(MODELS[name]).fit(views)
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


@pytest.mark.parametrize("confirmed", [None, ["a", "b"], ["a"], []])
def test_contested_equals_literal_loop(confirmed):
    rng = np.random.default_rng(0)
    view_labels = {name: rng.integers(-1, 3, size=80) for name in ("a", "b", "c")}
    view_labels["c"][:40] = -1
    counted = [view_labels[name] for name in ("abc" if confirmed is None else confirmed)]
    expected = [len({labels[i] for labels in counted if labels[i] >= 0}) > 1 for i in range(80)]
    assert contested(view_labels, confirmed).tolist() == expected


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
