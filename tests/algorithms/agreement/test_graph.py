"""Eigenvectors of graphs of nearest neighbours, against dense decompositions and the Nyström formula with loops."""

import numpy as np
import pytest
import scipy.sparse as sp

from consilience.affinities import NearestNeighbors
from consilience.algorithms.agreement import GraphFeatures, count_graph_features, embed_graph
from consilience.algorithms.agreement.predictors import DENSE_UP_TO


def make_points(n, p, seed=0):
    """Return points around three centres."""
    rng = np.random.default_rng(seed)
    return rng.integers(3, size=n)[:, None] + rng.standard_normal((n, p))


def build_graph(n, p=4, number=8, seed=0):
    """Return the graph of nearest neighbours of points around three centres, and the points."""
    points = make_points(n, p, seed)
    return NearestNeighbors(number, metric="euclidean").over(points, np.random.default_rng(0)), points


def normalize(matrix):
    """Divide each entry of a symmetric matrix by the roots of the sums of its row and of its column."""
    degree = matrix.sum(axis=1)
    return matrix / np.sqrt(degree[:, None] * degree)


@pytest.mark.parametrize("n", [60, DENSE_UP_TO + 80])
def test_graph_eigenvectors_equal_those_of_the_dense_matrix(n):
    graph, _ = build_graph(n)
    number = count_graph_features(n, 3)
    embedding = embed_graph(graph, number, np.random.default_rng(1))
    values, vectors = np.linalg.eigh(normalize(graph.matrix.toarray()))
    np.testing.assert_allclose(embedding.values, values[::-1][:number], atol=1e-8)
    assert values[-number] - values[-number - 1] > 1e-4  # so that the leading eigenvectors are determined
    expected = vectors[:, -number:]
    np.testing.assert_allclose(embedding.U @ embedding.U.T, expected @ expected.T, atol=1e-6)


def test_graph_features_are_unit_rows_of_eigenvectors_scaled_by_roots_of_eigenvalues():
    graph, _ = build_graph(60)
    features = GraphFeatures.fit(graph, 20, np.random.default_rng(1))
    values, vectors = np.linalg.eigh(normalize(graph.matrix.toarray()))
    scaled = vectors[:, -20:] * np.sqrt(np.maximum(values[-20:], 0))
    scaled /= np.linalg.norm(scaled, axis=1, keepdims=True)
    np.testing.assert_allclose(features.values @ features.values.T, scaled @ scaled.T, atol=1e-8)


def test_new_rows_are_placed_by_the_nystroem_formula():
    graph, points = build_graph(60)
    rows = make_points(9, 4, 7)
    features = GraphFeatures.fit(graph, 20, np.random.default_rng(1))
    placed = features.place(graph.against(rows))
    matrix = graph.matrix.toarray()
    degree = matrix.sum(axis=1)
    values, U = features.embedding.values, features.embedding.U
    radii = np.sort(np.linalg.norm(points[:, None] - points, axis=2), axis=1)[:, 7]
    expected = np.zeros((9, 20))
    for i, row in enumerate(rows):
        distances = np.linalg.norm(points - row, axis=1)
        nearest = np.argsort(distances)[:8]
        weights = np.array([0.5 * (j in nearest) + 0.5 * (distances[j] <= radii[j]) for j in range(60)])
        for c in range(20):
            if values[c] > 0:
                place = sum(weights[j] * U[j, c] / np.sqrt(weights.sum() * degree[j]) for j in range(60)) / values[c]
                expected[i, c] = place * np.sqrt(values[c])
        expected[i] /= np.linalg.norm(expected[i])
    np.testing.assert_allclose(placed, expected, atol=1e-8)


def test_entities_of_the_fit_are_placed_where_they_are():
    graph, points = build_graph(60)
    features = GraphFeatures.fit(graph, 20, np.random.default_rng(1))
    np.testing.assert_allclose(features.place(graph.against(points)), features.values, atol=1e-6)


def test_isolated_entities_of_a_graph_get_zeros():
    class Matrix:
        matrix = sp.csr_array(np.array([[1.0, 1, 0, 0], [1, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 0]]))
        shape, dtype = matrix.shape, matrix.dtype

        def __matmul__(self, U):
            return self.matrix @ U

    values = GraphFeatures.fit(Matrix(), 2, np.random.default_rng(0)).values
    assert np.isfinite(values).all()
    assert not values[3].any()
