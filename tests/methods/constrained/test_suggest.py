"""Tests of suggested constraints."""

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris

import consilience as cs
from consilience import Constraints, suggest_constraints


def answers(pairs, y):
    same = y[pairs[:, 0]] == y[pairs[:, 1]]
    return Constraints(pairs[same], pairs[~same])


def learn_interactively(X, y, n_clusters, choose, rounds, each, seed):
    """Fit, ask about pairs, and repeat; return the score of the last fit."""
    constraints = Constraints()
    for _ in range(rounds):
        model = cs.PCKMeans(n_clusters, init="farthest", random_state=seed).fit(X, constraints=constraints)
        constraints |= answers(choose(model, each), y)
    model = cs.PCKMeans(n_clusters, init="farthest", random_state=seed).fit(X, constraints=constraints)
    return cs.metrics.pairwise_scores(y, model.labels_).f


def random_pairs(n_entities, seed):
    rng = np.random.default_rng(seed)
    return lambda _, n: np.stack([rng.choice(n_entities, 2, replace=False) for _ in range(n)])


@pytest.mark.parametrize(("name", "rounds"), [("iris", 8), ("quadrants", 3)])
def test_beats_random_pairs(name, rounds):
    gains = []
    for seed in range(5):
        if name == "iris":
            X, y = load_iris(return_X_y=True)
        else:
            views, y = cs.datasets.make_four_quadrants(random_state=seed)
            X = views["a"]
        k = len(np.unique(y))
        suggested = learn_interactively(
            X, y, k, lambda model, n, X=X: suggest_constraints(model, X, n), rounds, 4, seed
        )
        gains.append(suggested - learn_interactively(X, y, k, random_pairs(len(y), seed), rounds, 4, seed))
    assert np.mean(gains) > 0.03


def test_does_not_repeat_questions():
    views, y = cs.datasets.make_four_quadrants(random_state=0)
    X, constraints, seen = views["a"], Constraints(), set()
    for _ in range(5):
        model = cs.PCKMeans(2, random_state=0).fit(X, constraints=constraints)
        pairs = suggest_constraints(model, X, 5)
        assert pairs.shape == (5, 2)
        closed = constraints.closure()
        answered = {frozenset(pair) for pair in np.vstack([closed.must_link, closed.cannot_link]).tolist()}
        now = {frozenset(pair) for pair in pairs.tolist()}
        assert len(now) == 5
        assert not now & seen
        assert not now & answered
        seen |= now
        constraints |= answers(pairs, y)


def test_explores_clusters_first():
    """With three well separated clusters, about three questions identify three groups."""
    views, y = cs.datasets.make_gaussian_views(150, separation=30, random_state=0)
    model = cs.MultiViewConstrainedKMeans(3, random_state=0).fit(views)
    constraints = answers(suggest_constraints(model, views, 3), y)
    assert (len(constraints.must.weights), len(constraints.cannot.weights)) == (0, 3)
    assert len(np.unique(y[constraints.cannot_link])) == 3


def test_contested_entities_come_next():
    views, y = cs.datasets.make_gaussian_views(200, separation=2.5, random_state=1)
    groups = [np.flatnonzero(y == h)[:4] for h in range(3)]
    constraints = Constraints(
        [(members[0], other) for members in groups for other in members[1:]],
        [(groups[0][0], groups[1][0]), (groups[0][0], groups[2][0]), (groups[1][0], groups[2][0])],
    )
    model = cs.MultiViewConstrainedKMeans(3, random_state=0).fit(views, constraints=constraints)
    first, other = model.view_labels_.values()
    suggested = suggest_constraints(model, views, 10)[:, 0]
    assert (first != other).sum() > 10 + 12
    assert (first[suggested] != other[suggested]).all()


def test_returns_fewer_pairs_when_exhausted():
    X = np.array([[0.0], [0.1], [5.0], [5.1]])
    model = cs.PCKMeans(2, random_state=0).fit(X)
    pairs = suggest_constraints(model, X, 100)
    assert 0 < len(pairs) < 6
    assert set(pairs.ravel().tolist()) == {0, 1, 2, 3}
    constraints = Constraints([(0, 1), (2, 3)], [(0, 2)])
    model = cs.PCKMeans(2, random_state=0).fit(X, constraints=constraints)
    assert suggest_constraints(model, X, 5).shape == (0, 2)


@pytest.mark.parametrize("model", [cs.MultiViewKMeans(3, random_state=0), cs.CoEM(3, random_state=0)])
def test_other_estimators(model):
    views, _ = cs.datasets.make_gaussian_views(90, separation=6, missing=0.2, random_state=0)
    pairs = suggest_constraints(model.fit(views), views, 7)
    assert pairs.shape == (7, 2)
    assert (pairs[:, 0] != pairs[:, 1]).all()


def test_refuses():
    X = np.arange(12.0).reshape(6, 2)
    model = cs.PCKMeans(2, random_state=0).fit(X)
    with pytest.raises(ValueError, match=r"n must be a whole number of pairs, 1 or more, got 0"):
        suggest_constraints(model, X, 0)
    with pytest.raises(ValueError, match=r"5 entities, but the model was fitted on 6: pairs are suggested among those"):
        suggest_constraints(model, X[:5], 2)
    agglomerative = cs.MultiViewAgglomerative(2).fit(X)
    with pytest.raises(TypeError, match="MultiViewAgglomerative does not say how near entities are to clusters: use"):
        suggest_constraints(agglomerative, X, 2)
    with pytest.raises(TypeError, match=r"KMeans is not an estimator of consilience: use one, such as PCKMeans"):
        suggest_constraints(KMeans(2, n_init=1).fit(X), X, 2)
