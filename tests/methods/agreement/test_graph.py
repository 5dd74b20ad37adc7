"""Eigenvectors of graphs of nearest neighbours, against dense decompositions and the Nyström formula with loops."""

import numpy as np
import pytest
import scipy.sparse as sp

from consilience.arrays import normalize_rows
from consilience.methods.agreement.predictors import DENSE_UP_TO, GraphFeatures, NeighborGraph, count_graph_features


def make_points(n, p=4, seed=0):
    """Return points around three centres."""
    rng = np.random.default_rng(seed)
    return rng.integers(3, size=n)[:, None] + rng.standard_normal((n, p))


def normalize(matrix):
    """Divide each entry of a symmetric matrix by the roots of the sums of its row and of its column."""
    degree = matrix.sum(axis=1)
    return matrix / np.sqrt(degree[:, None] * degree)


@pytest.mark.parametrize("n", [1, 2, 4, 60])
def test_graph_joins_nearest_points(n):
    points = make_points(n)
    graph = NeighborGraph.build(points)
    distances = np.square(points[:, None] - points).sum(axis=2)
    nearest = np.argsort(distances, axis=1)[:, : graph.number + 1]
    expected = np.zeros((n, n))
    for i in range(n):
        for j in nearest[i]:
            expected[i, j] += 0.5
            expected[j, i] += 0.5
    np.testing.assert_allclose(graph.connect()[0].toarray(), expected)


def test_duplicates_are_joined_to_themselves():
    points = np.repeat(make_points(3), 20, axis=0)
    assert (NeighborGraph.build(points).connect()[0].diagonal() == 1).all()


@pytest.mark.parametrize("n", [60, DENSE_UP_TO + 80])
def test_eigenvectors_equal_those_of_the_dense_matrix(n):
    matrix = NeighborGraph.build(make_points(n)).connect()[0]
    number = count_graph_features(n, 3)
    features = GraphFeatures.fit(matrix, number, np.random.default_rng(1))
    values, vectors = np.linalg.eigh(normalize(matrix.toarray()))
    np.testing.assert_allclose(features.eigenvalues, np.maximum(values[::-1][:number], 0), atol=1e-8)
    assert values[-number] - values[-number - 1] > 1e-4  # so that the leading eigenvectors are determined
    expected = vectors[:, -number:]
    np.testing.assert_allclose(features.vectors @ features.vectors.T, expected @ expected.T, atol=1e-6)
    scaled = expected * np.sqrt(np.maximum(values[-number:], 0))
    scaled /= np.linalg.norm(scaled, axis=1, keepdims=True)
    np.testing.assert_allclose(features.values @ features.values.T, scaled @ scaled.T, atol=1e-6)


def test_new_rows_are_placed_by_the_nystroem_formula():
    points, rows = make_points(60), make_points(9, seed=7)
    graph = NeighborGraph.build(points)
    matrix = graph.connect()[0]
    features = GraphFeatures.fit(matrix, 20, np.random.default_rng(1))
    degree, expected = matrix.toarray().sum(axis=1), np.zeros((9, 20))
    for i, row in enumerate(rows):
        nearest = np.argsort(np.linalg.norm(points - row, axis=1))[: graph.number]
        for c, value in enumerate(features.eigenvalues):
            if value > 1e-8:
                at_row = sum(features.vectors[j, c] / np.sqrt(len(nearest) * degree[j]) for j in nearest) / value
                expected[i, c] = at_row * np.sqrt(value)
        expected[i] /= np.linalg.norm(expected[i])
    placed = normalize_rows(graph.join(rows)[0] @ features.extension)
    np.testing.assert_allclose(placed, expected, atol=1e-5)


def test_rows_of_the_fit_keep_their_features():
    """The eigenvector equation: an entity's own row of the graph gives its place."""
    matrix = NeighborGraph.build(make_points(60)).connect()[0]
    features = GraphFeatures.fit(matrix, 20, np.random.default_rng(1))
    assert features.eigenvalues.min() > 1e-8
    np.testing.assert_allclose(normalize_rows(matrix @ features.extension), features.values, atol=1e-5)


def test_isolated_entities_of_a_graph_get_zeros():
    matrix = sp.csr_array(np.array([[1.0, 1, 0, 0], [1, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 0]]))
    features = GraphFeatures.fit(matrix, 2, np.random.default_rng(0))
    assert np.isfinite(features.values).all()
    assert np.isfinite(features.extension).all()
    assert not features.values[3].any()
