"""The consensus graph of all views, and coordinates from it."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics import euclidean_distances

import consilience as cs
from consilience.affinities import NearestNeighbors
from consilience.explain import build_consensus_graph, embed_graph, joint_embedding


def sum_graphs(views):
    """The sum of dense similarity matrices."""
    return sum(NearestNeighbors().resolve(X).build_operator(X, None).matrix.toarray() for X in views.values())


def embed_literally(total, n_components):
    """The leading eigenvectors of the random walk on a graph."""
    walk = total / total.sum(axis=1, keepdims=True)
    values, vectors = np.linalg.eig(walk)
    order = np.argsort(-values.real)[1 : n_components + 1]
    vectors, values = vectors.real[:, order], values.real[order]
    return vectors / np.sqrt((vectors**2).mean(axis=0)) * values


def separate(embedded, y):
    """Share of entities whose nearest mean of a class is that of their own class."""
    means = np.stack([embedded[y == label].mean(axis=0) for label in np.unique(y)])
    nearest = ((embedded[:, None] - means) ** 2).sum(axis=2).argmin(axis=1)
    return np.mean(nearest == y)


def test_graph_adds_up_the_graphs_of_the_views_that_are_not_equal_for_all_entities():
    views, _ = cs.datasets.make_gaussian_views(60, n_clusters=3, random_state=0)
    expected = sum_graphs({name: np.asarray(X) for name, X in views.items()})
    np.testing.assert_allclose(build_consensus_graph(views) @ np.eye(60), expected)
    more = cs.Views({**dict(views.items()), "same": np.ones((60, 2)), "empty": sp.csr_array((60, 3))})
    np.testing.assert_allclose(build_consensus_graph(more) @ np.eye(60), expected)


def test_entities_that_are_all_alike_have_equal_coordinates():
    for blocks in ([np.ones((5, 2))], [np.ones((1, 2)), np.zeros((1, 1))], [np.ones((3, 2)), sp.csr_array((3, 4))]):
        embedded = joint_embedding(cs.Views(blocks))
        assert embedded.shape == (blocks[0].shape[0], 30)
        assert not embedded.any()
    texts = np.vstack([np.random.default_rng(0).poisson(1, (40, 9)), np.zeros((1, 9))])
    embedded = joint_embedding(cs.Views([sp.csr_array(texts)]))
    assert np.isfinite(embedded).all()
    assert not embedded[-1].any(), "an entity without words causes no warning"


def test_joint_embedding_is_that_of_the_summed_graphs():
    views, _ = cs.datasets.make_gaussian_views(120, n_clusters=3, n_features=(4, 4), separation=3, random_state=0)
    embedded = joint_embedding(views, 4)
    expected = embed_literally(sum_graphs({name: np.asarray(X) for name, X in views.items()}), 4)
    signs = np.sign((embedded * expected).sum(axis=0))
    np.testing.assert_allclose(embedded, expected * signs, atol=1e-3)
    largest = embedded[np.abs(embedded).argmax(axis=0), np.arange(4)]
    assert (largest > 0).all()
    np.testing.assert_array_equal(embed_graph(build_consensus_graph(views), 4), embedded)
    np.testing.assert_allclose(joint_embedding(views, 4, random_state=7), embedded, atol=1e-3)


def test_joint_embedding_separates_classes_with_missing_views_and_by_approximate_neighbors(tune):
    views, y = cs.datasets.make_gaussian_views(300, n_clusters=4, separation=8, random_state=0)
    present = np.ones((300, 2), bool)
    present[:80, 0] = present[80:160, 1] = False
    embedded = joint_embedding(cs.Views(dict(views.items()), present=present))
    assert embedded.shape == (300, 30)
    assert separate(embedded, y) > 0.97
    tune("affinities.choose", exact_up_to=100)
    assert separate(joint_embedding(views, 3), y) > 0.95


def test_joint_embedding_of_similarities():
    views, y = cs.datasets.make_gaussian_views(90, n_clusters=3, separation=8, random_state=0)
    kernels = {name: np.exp(-(euclidean_distances(X) ** 2) / 20) for name, X in views.items()}
    kernels = cs.Views(kernels)[np.arange(90) % 3 != 0]
    assert separate(joint_embedding(kernels, 2, affinity="precomputed"), y[np.arange(90) % 3 != 0]) > 0.9


def test_joint_embedding_of_few_entities_has_columns_of_zeros():
    for n in (2, 3, 5):
        views = cs.Views([np.random.default_rng(0).normal(size=(n, 3))])
        embedded = joint_embedding(views, 6)
        assert embedded.shape == (n, 6)
        assert np.isfinite(embedded).all()
        assert not embedded[:, n - 1 :].any()
    with pytest.raises(ValueError, match="n_components=0 must be 1 or more"):
        joint_embedding(views, 0)
