"""Left-out predictions, against regressions and searches that never see the entity."""

import numpy as np
import pytest
import scipy.sparse as sp

from consilience.affinities import NearestNeighbors
from consilience.affinities.search import exact_neighbours
from consilience.algorithms.agreement import (
    GraphFeatures,
    LeaveOneOutRidge,
    NeighborVote,
    count_graph_features,
    embed_graph,
    indicate,
)
from consilience.algorithms.agreement.predictors import DENSE_UP_TO
from consilience.cluster._agreement import drop_self


def random_problem(n=40, p=6, k=3, open_labels=0, seed=0):
    """Return features, labels of which some are open, and the labels as zeros and ones."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(k, size=n)
    labels[:open_labels] = -1
    features = rng.standard_normal((n, p)) + labels[:, None]
    members = np.zeros((n, k))
    members[np.flatnonzero(labels >= 0), labels[labels >= 0]] = 1
    return features, labels, members


def predict_by_refitting(features, members, penalty):
    """Fit the regression once per entity, without its row; the size of the penalty comes from all entities."""
    F = np.column_stack([features, np.ones(len(features))])
    size = penalty * np.trace(F.T @ F) / F.shape[1]
    scores = np.empty(members.shape)
    for i in range(len(F)):
        others = np.arange(len(F)) != i
        gram = F[others].T @ F[others] + size * np.eye(F.shape[1])
        scores[i] = F[i] @ np.linalg.solve(gram, F[others].T @ members[others])
    return scores


@pytest.mark.parametrize("penalty", [0.05, 1.0, 30.0])
@pytest.mark.parametrize(("n", "p"), [(40, 6), (15, 30), (3, 1)])
def test_ridge_equals_refitting_without_each_entity(n, p, penalty):
    features, _, members = random_problem(n, p)
    scores = LeaveOneOutRidge.fit(features, penalty).predict_left_out(members)
    np.testing.assert_allclose(scores, predict_by_refitting(features, members, penalty), atol=2e-4)


def test_open_labels_are_rows_of_zeros():
    features, labels, members = random_problem(open_labels=9)
    assert np.array_equal(indicate(labels, 3, features), members)
    assert not members[:9].any()
    scores = LeaveOneOutRidge.fit(features, 0.05).predict_left_out(members)
    np.testing.assert_allclose(scores, predict_by_refitting(features, members, 0.05), atol=2e-4)


@pytest.mark.parametrize("features", ["wide", "outlier", "alone"])
def test_own_label_has_no_influence(features):
    """Also not with a leverage near 1: features that tell every entity apart, an outlier, a single entity."""
    X, labels, _ = random_problem(20, 60)
    if features == "outlier":
        X = X[:, :20].copy()
        X[0] *= 1e5
    if features == "alone":
        X, labels = X[:1], labels[:1]
    ridge = LeaveOneOutRidge.fit(X, 1e-3 if features == "wide" else 0.05)
    assert features == "alone" or float(ridge.leverage.max()) > 0.99
    for i in range(min(3, len(X))):
        changed = labels.copy()
        changed[i] = (labels[i] + 1) % 3
        before, after = (ridge.predict_left_out(indicate(own, 3, ridge.whitened))[i] for own in (labels, changed))
        np.testing.assert_allclose(before, after, atol=1e-4)


def test_learned_coefficients_predict_like_a_regression_on_all_entities():
    features, _, members = random_problem()
    ridge = LeaveOneOutRidge.fit(features, 0.05)
    F = np.column_stack([features, np.ones(len(features))])
    gram = F.T @ F + 0.05 * np.trace(F.T @ F) / F.shape[1] * np.eye(F.shape[1])
    expected = np.linalg.solve(gram, F.T @ members)
    np.testing.assert_allclose(ridge.learn(members), expected, atol=1e-4)
    np.testing.assert_allclose(ridge.predict(ridge.learn(members), features[:5]), F[:5] @ expected, atol=1e-4)


def test_ridge_of_kinds_of_arrays(to_kind):
    features, _, members = random_problem(open_labels=4)
    ridge = LeaveOneOutRidge.fit(to_kind(features), 0.05)
    scores = ridge.predict_left_out(to_kind(members.astype(np.float32)))
    assert type(scores) is type(to_kind(features))
    np.testing.assert_allclose(np.asarray(scores), predict_by_refitting(features, members, 0.05), atol=2e-4)


def find_neighbors(points, number):
    """Compare each point with each; the nearest others, ties in the order of the points."""
    distances = np.square(points[:, None] - points).sum(axis=2)
    np.fill_diagonal(distances, np.inf)
    return np.argsort(distances, axis=1, kind="stable")[:, :number]


def vote_by_brute_force(points, members, number):
    """Return the mean membership of the nearest others."""
    return np.array([np.mean([members[j] for j in row], axis=0) for row in find_neighbors(points, number)])


@pytest.mark.parametrize("number", [1, 4, 39])
def test_neighbor_vote_equals_brute_force(number):
    points, _, members = random_problem(open_labels=5)
    nearest, _ = exact_neighbours(points, number + 1)
    vote = NeighborVote.fit(drop_self(nearest)).predict_left_out(members)
    np.testing.assert_allclose(vote, vote_by_brute_force(points, members, number), atol=1e-12)


@pytest.mark.parametrize("number", [2, 5])
def test_neighbors_of_duplicates_never_hold_the_entity(number):
    """Eight copies of each of five points: the search may return seven copies without the entity itself."""
    points, labels, _ = random_problem(5)
    points, labels = np.repeat(points, 8, axis=0), np.repeat(labels, 8)
    nearest = drop_self(exact_neighbours(points, number + 1)[0])
    assert nearest.shape == (40, number)
    assert not (nearest == np.arange(40)[:, None]).any()
    assert all(len(set(row)) == number for row in nearest.tolist())
    members = indicate(labels, 3, points)
    np.testing.assert_array_equal(NeighborVote.fit(nearest).predict_left_out(members), members)


def test_entity_without_neighbors_has_no_vote():
    nearest = drop_self(np.array([[0]]))
    assert nearest.shape == (1, 0)
    np.testing.assert_array_equal(NeighborVote.fit(nearest).predict_left_out(np.ones((1, 2))), np.zeros((1, 2)))


def build_graph(n, p=4, number=8, seed=0):
    """Return the graph of nearest neighbours of points around three centres, and the points."""
    points = random_problem(n, p, seed=seed)[0]
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
    rows = random_problem(9, 4, seed=7)[0]
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
