"""Left-out predictions, against regressions and searches that never see the entity."""

import numpy as np
import pytest

from consilience.arrays import find_nearest
from consilience.methods.agreement.ensemble import encode_labels
from consilience.methods.agreement.inputs import drop_self
from consilience.methods.agreement.predictors import LeaveOneOutRidge, NeighborVote, append_constant

pytestmark = pytest.mark.quick


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


@pytest.mark.parametrize(("n", "p", "penalty"), [(40, 6, 0.05), (15, 30, 0.05), (15, 30, 30.0), (3, 1, 1.0)])
def test_ridge_equals_refitting_without_each_entity(n, p, penalty):
    features, _, members = random_problem(n, p)
    scores = LeaveOneOutRidge.fit(features, penalty).predict_left_out(members)
    np.testing.assert_allclose(scores, predict_by_refitting(features, members, penalty), atol=2e-4)


def test_open_labels_are_rows_of_zeros():
    features, labels, members = random_problem(open_labels=9)
    assert np.array_equal(encode_labels(labels, 3, features), members)
    assert not members[:9].any()


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
        before, after = (
            ridge.predict_left_out(encode_labels(clusters, 3, ridge.whitened))[i] for clusters in (labels, changed)
        )
        np.testing.assert_allclose(before, after, atol=1e-4)


def test_learned_coefficients_are_those_of_a_regression_on_all_entities():
    features, _, members = random_problem()
    F = np.column_stack([features, np.ones(len(features))])
    np.testing.assert_array_equal(append_constant(features), F)
    gram = F.T @ F + 0.05 * np.trace(F.T @ F) / F.shape[1] * np.eye(F.shape[1])
    learned = LeaveOneOutRidge.fit(features, 0.05).learn(members)
    np.testing.assert_allclose(learned, np.linalg.solve(gram, F.T @ members), atol=1e-4)


def test_ridge_of_array_libraries(to_kind):
    features, _, members = random_problem(open_labels=4)
    ridge = LeaveOneOutRidge.fit(to_kind(features), 0.05)
    scores = ridge.predict_left_out(to_kind(members.astype(np.float32)))
    assert type(scores) is type(to_kind(features))
    np.testing.assert_allclose(np.asarray(scores), predict_by_refitting(features, members, 0.05), atol=2e-4)


def vote_by_brute_force(points, members, number):
    """Return the mean membership of the nearest others, ties in the order of the points."""
    distances = np.square(points[:, None] - points).sum(axis=2)
    np.fill_diagonal(distances, np.inf)
    nearest = np.argsort(distances, axis=1, kind="stable")[:, :number]
    return np.array([np.mean([members[j] for j in row], axis=0) for row in nearest])


@pytest.mark.parametrize("number", [1, 4, 39])
def test_neighbor_vote_equals_brute_force(number):
    points, _, members = random_problem(open_labels=5)
    nearest, _ = find_nearest(points, number + 1)
    vote = NeighborVote.fit(drop_self(nearest)).predict_left_out(members)
    np.testing.assert_allclose(vote, vote_by_brute_force(points, members, number), atol=1e-12)


@pytest.mark.parametrize("number", [2, 5])
def test_neighbors_of_duplicates_never_hold_the_entity(number):
    """Eight copies of each of five points: the search may return seven copies without the entity itself."""
    points, labels, _ = random_problem(5)
    points, labels = np.repeat(points, 8, axis=0), np.repeat(labels, 8)
    nearest = drop_self(find_nearest(points, number + 1).positions)
    assert nearest.shape == (40, number)
    assert not (nearest == np.arange(40)[:, None]).any()
    assert all(len(set(row)) == number for row in nearest.tolist())
    members = encode_labels(labels, 3, points)
    np.testing.assert_array_equal(NeighborVote.fit(nearest).predict_left_out(members), members)


def test_entity_without_neighbors_has_no_vote():
    nearest = drop_self(np.array([[0]]))
    assert nearest.shape == (1, 0)
    np.testing.assert_array_equal(NeighborVote.fit(nearest).predict_left_out(np.ones((1, 2))), np.zeros((1, 2)))
