"""The ports of published methods, on small data with known answers."""

import numpy as np
import pytest
import scipy.sparse as sp

import consilience as cs
from benchmarks.modern import ports
from consilience.metrics import normalized_mutual_info_score


@pytest.fixture(scope="module")
def separated():
    """Two dense views of three well separated clusters, and the clusters."""
    views, y = cs.datasets.make_gaussian_views(120, n_clusters=3, separation=10, random_state=0)
    return [np.asarray(X) for _, X in views.items()], y


@pytest.mark.parametrize("cluster", [ports.cluster_gmc, ports.cluster_sgla])
def test_separated_clusters_are_found_again_also_if_a_view_lacks_entities(separated, cluster):
    views, y = separated
    labels = cluster(views, 3)
    assert normalized_mutual_info_score(y, labels) == pytest.approx(1)
    np.testing.assert_array_equal(labels, cluster(views, 3))
    lacking = [views[0].copy(), views[1]]
    lacking[0][:5] = 0
    labels = cluster(lacking, 3)
    assert len(labels) == len(y)
    assert normalized_mutual_info_score(y[5:], labels[5:]) > 0.9


def test_similarity_induced_graph_has_the_closed_form_and_moves_towards_the_unified_graph():
    nearest, distances = ports.find_neighbors(np.array([[0.0], [1.0], [3.0], [7.0]]), 3)
    assert nearest[0].tolist() == [1, 2, 3]
    assert distances[0].tolist() == [1, 9, 49]
    graph = ports.induce_graph(nearest, distances, 0.0, None)
    # (d3 - dj) / (2 d3 - d1 - d2), with the third neighbor beyond the two
    np.testing.assert_allclose(graph[0], [0, 48 / 88, 40 / 88, 0])
    np.testing.assert_allclose(graph.sum(axis=1), 1)
    unified = np.zeros((4, 4))
    unified[:, 2] = 1
    # gains are 2 w u - d: -1, 20 - 9, -49, and the two first exceed the last by 48 and 60
    after = ports.induce_graph(nearest, distances, 10.0, unified)
    np.testing.assert_allclose(after[0], [0, 48 / 108, 60 / 108, 0])


def test_rows_are_projected_to_the_simplex():
    rows = np.array([[0.5, 0.5, -np.inf], [2.0, 0.0, 0.0], [0.4, 0.2, 0.0], [-np.inf] * 3])
    expected = [[0.5, 0.5, 0], [1, 0, 0], [0.4 + 2 / 15, 0.2 + 2 / 15, 2 / 15], [0, 0, 0]]
    np.testing.assert_allclose(ports.project_to_simplex(rows), expected)


def test_unified_graph_weighs_views_and_the_embedding():
    graphs = [np.array([[0.0, 0.6, 0.4]]), np.array([[0.0, 0.2, 0.8]])]
    weights = np.array([0.5, 0.25])
    # mean of the graphs minus lambda / (2 m) * mean(1 / w) * distance = (.4 - 0, .6 - .75 * .4), projected
    unified = ports.unify_graphs(graphs, weights, 1.0, np.array([[0.0, 0.0, 0.4]]))
    np.testing.assert_allclose(unified, [[0, 0.55, 0.45]])


def test_graph_of_cosines_has_the_weights_of_both_directions():
    graph = ports.build_cosine_graph(np.array([[2.0, 0.0], [1.0, 1.0], [0.0, 3.0]])).toarray()
    # all are neighbors in both directions: weights 2 cos 45°, 0 and 2 cos 45°, degrees w, 2 w and w
    expected = np.sqrt(0.5) * np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    np.testing.assert_allclose(graph, expected, atol=1e-12)


def test_entities_without_any_view_are_isolated_and_get_a_label(separated):
    views = [X.copy() for X in separated[0]]
    for X in views:
        X[:5] = 0
    graph = ports.build_cosine_graph(views[0])
    assert not graph[:5].sum()
    assert not graph[:, :5].sum()
    assert np.isfinite(graph.data).all()
    labels = ports.cluster_sgla(views, 3)
    assert labels.shape == (120,)
    assert set(labels) <= {0, 1, 2}


def test_fusion_is_measured_by_the_spectrum_and_prefers_the_view_with_the_clusters(separated):
    noise = np.random.default_rng(0).normal(size=(120, 10))
    weights = ports.choose_weights([ports.build_cosine_graph(X) for X in (separated[0][0], noise)], 3)
    assert weights.sum() == pytest.approx(1)
    assert weights[0] > weights[1]
    # two components of four nodes, all linked: the eigenvalues are 0, 0 and then 4 / 3
    block = (np.ones((4, 4)) - np.eye(4)) / 3
    graph = sp.csr_array(sp.block_diag([block, block]))
    # eigengap 0 at two clusters, connectivity 0, and the penalty: .5 times the sum of squared weights
    for shares, cost in (([0.5, 0.5], 0.25), ([1.0, 0.0], 0.5)):
        assert ports.measure_fusion([graph, graph], np.array(shares), 2) == pytest.approx(cost, abs=1e-6)
