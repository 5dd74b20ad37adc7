"""Rows without entries in sparse views count as missing views."""

import numpy as np
import pytest
import scipy.sparse as sp

import consilience as cs
from consilience.affinities import Landmarks, NearestNeighbors
from consilience.baselines import CoRegularizedSpectral, KernelAddition
from consilience.datasets import make_text_views


def make_views_with_empty_rows(n=240, seed=0):
    """Return word counts in two sparse views, a third of the second one's rows empty, and the presence that says so."""
    views, _ = make_text_views(n, n_clusters=3, random_state=seed)
    words, tags = (sp.csr_array(block, dtype=np.float64) for _, block in views.items())
    has_tags = np.random.default_rng(seed).random(n) > 1 / 3
    tags = sp.csr_array(sp.diags_array(has_tags.astype(float)) @ tags)
    tags.eliminate_zeros()
    present = np.column_stack([np.ones(n, bool), has_tags])
    blocks = {"words": words, "tags": tags}
    return blocks, present


MODELS = {
    "CoEM": lambda: cs.CoEM(3, families="multinomial", eta=0.5, random_state=0),
    "CoTrainedSpectral": lambda: cs.CoTrainedSpectral(3, random_state=0),
    "CoTrainedSpectral, landmarks": lambda: cs.CoTrainedSpectral(3, affinity="landmarks", random_state=0),
    "CoTrainedSpectral, Euclidean neighbours": lambda: cs.CoTrainedSpectral(
        3, affinity=NearestNeighbors(metric="euclidean"), random_state=0
    ),
    "ConvexMixture, cosine": lambda: cs.ConvexMixture(3, divergence="cosine", beta=0.4),
    "CoRegularizedSpectral": lambda: CoRegularizedSpectral(3, random_state=0),
    "KernelAddition": lambda: KernelAddition(3, random_state=0),
    "MultiViewAgglomerative, cosine": lambda: cs.MultiViewAgglomerative(3, metric="cosine"),
    "MultiViewKMeans": lambda: cs.MultiViewKMeans(3, random_state=0),
    "MultiViewSphericalKMeans": lambda: cs.MultiViewSphericalKMeans(3, random_state=0),
}


@pytest.mark.filterwarnings("ignore:.*connects than:UserWarning", "ignore:no convergence")
@pytest.mark.parametrize("name", MODELS)
def test_empty_sparse_rows_equal_missing_rows(name):
    blocks, present = make_views_with_empty_rows()
    model = MODELS[name]().fit(cs.Views(blocks))
    expected = MODELS[name]().fit(cs.Views(blocks, present=present))
    assert np.array_equal(model.labels_, expected.labels_)
    for view in blocks:
        assert np.array_equal(model.view_labels_[view], expected.view_labels_[view])
    assert (model.view_labels_["tags"][~present[:, 1]] == -1).all()


@pytest.mark.parametrize("name", ["CoTrainedSpectral", "MultiViewKMeans"])
def test_prediction_ignores_empty_sparse_rows(name):
    blocks, present = make_views_with_empty_rows()
    model = MODELS[name]().fit(cs.Views(blocks, present=present))
    expected = model.predict(cs.Views(blocks, present=present))
    assert np.array_equal(model.predict(cs.Views(blocks)), expected)


def test_kmeans_keeps_zero_rows_that_are_all_an_entity_has():
    blocks, _ = make_views_with_empty_rows()
    for block in blocks.values():
        block.data[: block.indptr[5]] = 0
        block.eliminate_zeros()
    model = cs.MultiViewKMeans(3, random_state=0).fit(cs.Views(blocks))
    assert (model.view_labels_["words"][:1] >= 0).all()
    assert (model.view_labels_["tags"][:1] >= 0).all()
    assert np.array_equal(model.predict(cs.Views(blocks)), model.labels_)


def test_kmeans_on_one_sparse_view_keeps_zero_rows():
    X = sp.csr_array(np.vstack([np.zeros((3, 2)), np.full((3, 2), 5.0)]))
    model = cs.MultiViewKMeans(2, random_state=0).fit(X)
    assert len(set(model.labels_[:3])) == 1
    assert len(set(model.labels_)) == 2
    assert (model.view_labels_["view0"] >= 0).all()


@pytest.mark.parametrize("kind", [NearestNeighbors, Landmarks])
def test_metric_does_not_depend_on_empty_rows(kind):
    rng = np.random.default_rng(0)
    X = rng.poisson(0.3, size=(300, 200)) * rng.lognormal(0, 1.5, size=(300, 1))  # short rows are hubs
    padded = np.vstack([X, np.zeros((300, 200))])
    assert kind().settle(X).metric == "cosine"
    for rows in (padded, sp.csr_array(padded)):
        views = cs.Views({"text": rows, "index": np.arange(600.0)[:, None]})
        model = cs.CoTrainedSpectral(4, affinity={"text": kind(), "index": "gaussian"}, random_state=0).fit(views)
        assert model.affinities_["text"].metric == "cosine"
