"""Rows without entries in sparse views count as missing views."""

import os
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.feature_extraction.text import TfidfTransformer

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
    "Consilience": lambda: cs.Consilience(3, random_state=0),
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
    if name == "CoTrainedSpectral":
        assert np.array_equal(model.predict(cs.Views(blocks)), model.predict(cs.Views(blocks, present=present)))


@pytest.mark.parametrize("seed", range(2))
def test_euclidean_kmeans_keeps_rows_of_zeros(seed):
    blocks, _ = make_views_with_empty_rows()
    dense = {name: block.toarray() for name, block in blocks.items()}
    # one start each: among many starts of whole numbers, rounding decides a tie now and then
    models = (cs.MultiViewKMeans(3, n_init=1, random_state=seed).fit(views) for views in (blocks, dense))
    sparse_model, dense_model = models
    assert np.array_equal(sparse_model.labels_, dense_model.labels_)
    assert (sparse_model.view_labels_["tags"] >= 0).all()


def test_empty_rows_of_cora_are_found():
    """The rows without links used to be each other's neighbours (NMI .20 with tf-idf, .45 with `present=`)."""
    folder = os.environ.get("CONSILIENCE_DATA")
    if folder is None or not (Path(folder) / "cora.npz").exists():
        pytest.skip("CONSILIENCE_DATA does not hold cora.npz")
    data = cs.datasets.fetch_cora()
    blocks = {name: sp.csr_array(TfidfTransformer().fit_transform(block)) for name, block in data.views.items()}
    model = cs.CoTrainedSpectral(7, random_state=0).fit(blocks)
    assert cs.metrics.normalized_mutual_info_score(data.target, model.labels_) > 0.4


@pytest.mark.parametrize("kind", [NearestNeighbors, Landmarks])
def test_metric_does_not_depend_on_empty_rows(kind):
    rng = np.random.default_rng(0)
    X = rng.poisson(0.3, size=(300, 200)) * rng.lognormal(0, 1.5, size=(300, 1))  # short rows are hubs
    padded = np.vstack([X, np.zeros((300, 200))])
    assert kind().resolve(X).metric == "cosine"
    for rows in (padded, sp.csr_array(padded)):
        views = cs.Views({"text": rows, "index": np.arange(600.0)[:, None]})
        model = cs.CoTrainedSpectral(4, affinity={"text": kind(), "index": "gaussian"}, random_state=0).fit(views)
        assert model.affinities_["text"].metric == "cosine"
