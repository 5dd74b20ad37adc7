"""Tests of constrained k-means against literal versions of the papers, and of its parts."""

import warnings
from itertools import islice

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import pdist
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning

import consilience as cs
import literal_constrained as literal
from consilience import Constraints
from consilience.divergences import SquaredEuclidean
from consilience.methods.common.statistics import ClusterSumCollector
from consilience.methods.constrained.cluster_metrics import METRICS
from consilience.methods.constrained.farthest import find_farthest_pair
from consilience.methods.constrained.neighborhoods import choose_first_centers, find_neighborhoods
from consilience.methods.constrained.pairwise import LinkedView, assign_to_cheapest, iterate_constrained_kmeans
from consilience.methods.constrained.pck import prepare_euclidean_rows

pytestmark = pytest.mark.quick

K = 3


def problem(seed, n=30, d=3, n_links=25, scale=1.0):
    """Make overlapping groups, links of both kinds and any weight (some against the groups), and centers."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % K)
    X = rng.standard_normal((n, d)) * rng.uniform(0.5, 2, d) + 1.5 * rng.standard_normal((K, d))[y]
    pairs = rng.permutation([(i, j) for j in range(n) for i in range(j)])[:n_links]
    weights = scale * rng.uniform(0.1, 4, n_links)
    same = (y[pairs[:, 0]] == y[pairs[:, 1]]) ^ (rng.random(n_links) < 0.2)
    links = [(int(i), int(j), float(w)) for (i, j), w in zip(pairs, weights, strict=True)]
    must = [link for link, kept in zip(links, same, strict=True) if kept]
    cannot = [link for link, kept in zip(links, same, strict=True) if not kept]
    centers = X[rng.choice(n, K, replace=False)] + 0.1 * rng.standard_normal((K, d))
    return X, must, cannot, centers


def fit_model(model, X, must=(), cannot=()):
    """Fit without warnings of contradictions and missing convergence."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return model.fit(X, constraints=Constraints(must, cannot))


def matrices(metrics):
    return np.array([np.diag(weights) for weights in metrics]) if metrics.ndim == 2 else metrics


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("scale", [0.1, 1.0, 20.0])
def test_pck_matches_literal_paper(seed, scale):
    X, must, cannot, centers = problem(seed, scale=scale)
    labels, means, J = literal.pck_means(X, centers, must, cannot, range(len(X)))
    model = fit_model(cs.PCKMeans(K, init=centers, order="index"), X, must, cannot)
    assert np.array_equal(model.labels_, labels)
    np.testing.assert_allclose(model.cluster_centers_, means, rtol=1e-9, atol=1e-12)
    assert model.cost_ == pytest.approx(J, rel=1e-9)
    assert model.n_violations_ == violations(labels, must, cannot)


def violations(labels, must, cannot):
    return sum(labels[i] != labels[j] for i, j, _ in must) + sum(labels[i] == labels[j] for i, j, _ in cannot)


kinds_of_metric = pytest.mark.parametrize("shared", [False, True], ids=["each its own", "shared"])


@pytest.mark.parametrize("seed", range(3, 5))  # of 1 and 2 a cluster runs empty, to which the papers have no answer
@pytest.mark.parametrize("metric", ["diagonal", "full"])
@kinds_of_metric
def test_mpck_matches_literal_paper(seed, metric, shared):
    X, must, cannot, centers = problem(seed, n=24, d=2, n_links=14, scale=0.2)
    result = literal.mpck_means(
        X, centers, must, cannot, range(len(X)), max_iter=60, diagonal=metric == "diagonal", shared=shared
    )
    labels, means, metrics, J = result
    again = literal.mpck_sweep(X, labels, means, metrics, must, cannot, range(len(X)))
    assert np.array_equal(again, labels), "the literal version has settled: there is one answer"
    model = fit_model(
        cs.MPCKMeans(K, metric=metric, shared_metric=shared, init=centers, order="index"), X, must, cannot
    )
    assert np.array_equal(model.labels_, labels)
    assert model.cost_ == pytest.approx(J, rel=1e-9)
    np.testing.assert_allclose(model.cluster_centers_, means, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(matrices(model.metrics_), metrics, rtol=1e-7, atol=1e-9)
    assert model.n_violations_ == violations(labels, must, cannot)


@pytest.mark.parametrize("metric", ["diagonal", "full"])
@kinds_of_metric
def test_metric_of_indefinite_scatter(metric, shared):
    """Heavy cannot-links within a cluster subtract from its scatter; negative eigenvalues are clipped."""
    X, _, _, centers = problem(0, n=20, d=2)
    rng = np.random.default_rng(0)
    cannot = [(i, j, 2.0) for j in range(20) for i in range(j) if rng.random() < 0.2]
    model = fit_model(cs.MPCKMeans(K, metric=metric, shared_metric=shared, init=centers, order="index"), X, (), cannot)
    values = np.linalg.eigvalsh(matrices(model.metrics_))
    assert np.isfinite(values).all()
    assert (values > 0).all()
    J = literal.mpck_objective(X, model.labels_, model.cluster_centers_, matrices(model.metrics_), (), cannot)
    assert model.cost_ == pytest.approx(J, rel=1e-9)


@pytest.mark.parametrize("estimator", [cs.PCKMeans, cs.COPKMeans])
def test_equals_kmeans_without_constraints(estimator):
    X, _, _, centers = problem(0, n=200)
    expected = KMeans(K, init=centers, n_init=1, tol=0).fit(X)
    model = estimator(K, init=centers).fit(X)
    assert np.array_equal(model.labels_, expected.labels_)
    assert model.cost_ == pytest.approx(expected.inertia_, rel=1e-9)
    np.testing.assert_allclose(model.cluster_centers_, expected.cluster_centers_, rtol=1e-9)
    assert model.n_violations_ == 0


@pytest.mark.parametrize("init", ["largest", "farthest"])
def test_pck_equals_mpck_with_identity_and_unit_penalty(init):
    X, must, cannot, _ = problem(0)
    options = {"init": init, "random_state": 0, "n_init": 2}
    pck = fit_model(cs.PCKMeans(K, **options), X, must, cannot)
    mpck = fit_model(cs.MPCKMeans(K, metric="identity", penalty="unit", **options), X, must, cannot)
    assert np.array_equal(pck.labels_, mpck.labels_)
    assert pck.cost_ == mpck.cost_
    assert pck.n_violations_ == mpck.n_violations_
    assert np.array_equal(mpck.metrics_, np.ones((K, 3)))


MODELS = [("identity", False), ("identity", True), ("diagonal", True), ("full", True)]


def literal_objective(X, labels, state, must, cannot, measured):
    if not measured:
        return literal.pck_objective(X, labels, state.centers, must, cannot)
    return literal.mpck_objective(X, labels, state.centers, matrices(state.metric.values), must, cannot)


@pytest.mark.parametrize(("metric", "measured"), MODELS)
def test_no_visit_raises_objective(metric, measured):
    """The objective after two rounds is that of the paper; then visit row after row, starting from random labels."""
    X, must, cannot, centers = problem(0, n=16, d=2, n_links=12, scale=0.3)
    given_links = Constraints(must, cannot)
    linked = LinkedView(prepare_euclidean_rows(X), given_links.must, given_links.cannot, uses_length=measured)
    _, state = islice(iterate_constrained_kmeans(linked, METRICS[metric](K, 2, False), centers, np.arange), 2)
    J = literal_objective(X, state.labels, state, must, cannot, measured)
    assert state.cost == pytest.approx(J, rel=1e-9)
    assert state.n_violations == violations(state.labels, must, cannot)
    assert state.record == {"objective": state.cost, "violations": state.n_violations}
    labels = np.random.default_rng(0).integers(0, K, len(X))
    penalties = linked.penalize(state.metric, None)
    J, moves = literal_objective(X, labels, state, must, cannot, measured), 0
    for visits in [[], *([place] for place in range(len(linked.rows)))]:
        before = labels.copy()
        order = np.array(visits, dtype=int)
        moved, _ = assign_to_cheapest(
            linked,
            state.metric,
            state.centers,
            penalties,
            labels,
            lambda _, order=order: order,
            ClusterSumCollector(linked.view, K),
        )
        after = literal_objective(X, labels, state, must, cannot, measured)
        assert after <= J + 1e-9 * abs(J)
        assert moved == np.sum(labels != before)
        J, moves = after, moves + moved
    assert moves > 0


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    scale=st.sampled_from([0.01, 1.0, 30.0]),
    k=st.integers(1, 12),
    order=st.sampled_from(["index", "random"]),
)
def test_no_pck_round_raises_objective(seed, scale, k, order):
    """This includes clusters that become empty and move."""
    X, must, cannot, _ = problem(seed, n=25, n_links=60, scale=scale)
    model = fit_model(cs.PCKMeans(k, order=order, random_state=seed), X, must, cannot)
    costs = model.history_["objective"]
    assert (np.diff(costs) <= 1e-12 * costs[:-1]).all()
    assert model.cost_ <= costs[-1] * (1 + 1e-12)
    J = literal.pck_objective(X, model.labels_, model.cluster_centers_, must, cannot)
    assert model.cost_ == pytest.approx(J, rel=1e-9)
    assert model.history_["violations"][-1] >= 0


@pytest.mark.parametrize("model", [cs.PCKMeans, cs.MPCKMeans])
def test_labels_follow_from_centers_without_convergence(model):
    X, must, _, centers = problem(1, n=200, n_links=60)
    with pytest.warns(ConvergenceWarning, match="no convergence in 2 rounds: raise max_iter, or tol"):
        fitted_model = model(K, init=centers, order="index", max_iter=2).fit(X, constraints=Constraints(must))
    free = np.setdiff1d(np.arange(200), Constraints(must).must_link)
    assert np.array_equal(fitted_model.labels_[free], fitted_model.predict(X)[free])
    options = (X, fitted_model.labels_, fitted_model.cluster_centers_)
    if model is cs.PCKMeans:
        J = literal.pck_objective(*options, must, ())
    else:
        J = literal.mpck_objective(*options, matrices(fitted_model.metrics_), must, ())
    assert fitted_model.cost_ == pytest.approx(J, rel=1e-9)


def test_unassigned_partners_do_not_count():
    """The first of two tied rows moves to the nearest cluster whatever the weight of the tie; the second follows."""
    X = np.array([[0.0], [10.0], [0.1], [9.9]])
    centers = np.array([[0.0], [10.0]])
    for must, expected in (([(0, 3, 1e6)], [0, 1, 0, 0]), ([(1, 2, 1e6)], [0, 1, 1, 1])):
        given_links = Constraints(must)
        linked = LinkedView(prepare_euclidean_rows(X), given_links.must, given_links.cannot, uses_length=False)
        state = next(iterate_constrained_kmeans(linked, METRICS["identity"](2, 1, False), centers, np.arange))
        assert state.labels.tolist() == expected


def assert_farthest(pair, X, square):
    dense = X.toarray() if sp.issparse(X) else X
    assert pair.square == pytest.approx(square, rel=1e-9)
    assert pair.bound == pair.square
    assert np.sum((dense[pair.first] - dense[pair.second]) ** 2) == pytest.approx(pair.square, rel=1e-12)


kinds_of_rows = st.sampled_from(["gauss", "grid", "ball", "twins", "line"])


@settings(max_examples=40, deadline=None)
@given(
    kinds_of_rows, st.integers(2, 14), st.integers(1, 4), st.integers(0, 999), st.booleans(), st.sampled_from([0, 50.0])
)
def test_farthest_pair(kind, n, d, seed, sparse, shift):
    """Data with ties, equal rows, and rows on a sphere, where no pair can be pruned."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    if kind == "grid":
        X = rng.integers(0, 3, (n, d)).astype(float)
    elif kind == "ball":
        X = X / np.linalg.norm(X, axis=1, keepdims=True)
    elif kind == "twins":
        X = np.repeat(X[: (n + 1) // 2], 2, axis=0)[:n]
    elif kind == "line":
        X = np.outer(X[:, 0], np.ones(d))
    X = X + shift
    rows = sp.csr_array(X) if sparse else X
    i, j = literal.farthest_pair(X, np.eye(d))
    square = np.sum((X[i] - X[j]) ** 2)
    assert_farthest(find_farthest_pair(rows), rows, square)
    hint = (int(rng.integers(n)), int(rng.integers(n)))
    assert_farthest(find_farthest_pair(rows, [hint]), rows, square)


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array, sp.csr_matrix])
def test_farthest_pair_in_blocks(make, tune):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 5)) * (rng.random((300, 5)) < 0.5)
    X[::3] /= np.linalg.norm(X[::3], axis=1, keepdims=True) + 1e-3
    for block in (1, 7, 512):
        tune("methods.constrained.farthest", block=block)
        assert_farthest(find_farthest_pair(make(X)), make(X), pdist(X, "sqeuclidean").max())
    sphere = rng.standard_normal((150, 8))  # many rows are outlying, and walks from row to farthest row are too short
    sphere /= np.linalg.norm(sphere, axis=1, keepdims=True)
    assert_farthest(find_farthest_pair(make(sphere)), make(sphere), pdist(sphere, "sqeuclidean").max())
    for equal in (np.full((5, 3), 0.1), np.ones((1, 2)), np.zeros((4, 2))):
        pair = find_farthest_pair(make(equal))
        assert (pair.square, pair.bound) == (0.0, 0.0)


@pytest.mark.parametrize("sparse", [False, True])
def test_truncated_search_returns_bound(sparse, tune):
    tune("methods.constrained.farthest", max_work=0)
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 6))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    square = pdist(X, "sqeuclidean").max()
    pair = find_farthest_pair(sp.csr_array(X) if sparse else X)
    assert pair.square == pytest.approx(np.sum((X[pair.first] - X[pair.second]) ** 2))
    assert pair.square <= square * (1 + 1e-12)
    assert square <= pair.bound * (1 + 1e-12)
    assert pair.square >= np.sum((X - X.mean(axis=0)) ** 2, axis=1).max(), "as far as the way to the mean at least"
    X = np.array([[0.0, 0], [4, 0], [2, 3.9], [2, -3.9], [2, 0]])
    hinted = find_farthest_pair(sp.csr_array(X) if sparse else X, [(0, 0), (2, 3)])
    assert hinted.square == pytest.approx(7.8**2), "the pair of the previous round, if none is farther"


def groups_of(trusted, inferred):
    return [members.tolist() for members in find_neighborhoods(trusted, trusted | inferred)]


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)).filter(lambda p: p[0] != p[1]), max_size=9))
def test_groups_follow_from_must_links(pairs):
    expected = literal.neighborhoods(10, [(*pair, 1.0) for pair in pairs])
    for links in ((Constraints(pairs), Constraints()), (Constraints(), Constraints(pairs))):
        assert groups_of(*links) == expected


weighted = st.lists(
    st.tuples(st.integers(0, 7), st.integers(0, 7), st.sampled_from([0.2, 0.4, 0.6, 0.8, 1.0])).filter(
        lambda link: link[0] != link[1]
    ),
    max_size=9,
)


@settings(max_examples=40, deadline=None)
@given(weighted, weighted, weighted, weighted)
def test_inferred_must_links_respect_heavier_cannot_links(must, cannot, inferred, inferred_cannot):
    groups = groups_of(Constraints(must, cannot), Constraints(inferred, inferred_cannot))
    group = np.arange(8) + 100
    for g, members in enumerate(groups):
        group[members] = g
    for i, j, _ in must:
        assert group[i] == group[j], "given must-links always tie"
    ties = literal.bottlenecks(8, [(i, j, 1e9) for i, j, _ in must] + inferred)
    for i, j, w in cannot + inferred_cannot:
        assert group[i] != group[j] or ties[i, j] > w, "a cannot-link that is at least as heavy keeps them apart"
    everything = literal.bottlenecks(8, must + inferred)
    for members in groups:
        assert len(members) >= 2
        assert members == sorted(members)
        assert all(everything[members[0], other] > -np.inf for other in members), "nothing else ties"
    assert groups == sorted(groups, key=lambda members: (-len(members), members[0]))


def test_heaviest_links_tie_first():
    """Row 1 may be tied to 0 or to 2, which a cannot-link separates."""
    apart = [(0, 2, 0.7)]
    for weights, expected in (((0.9, 0.6), [[0, 1]]), ((0.6, 0.9), [[1, 2]]), ((0.9, 0.8), [[0, 1, 2]])):
        inferred = Constraints([(0, 1, weights[0]), (1, 2, weights[1])])
        assert groups_of(Constraints((), apart), inferred) == expected
        assert groups_of(Constraints(), inferred | Constraints((), apart)) == expected
    # row 1 is separated from 0 and from 2, which does not separate 0 and 2
    inferred = Constraints([(0, 1, 0.9), (1, 2, 0.8), (0, 2, 0.5)], [(0, 1), (1, 2)])
    assert groups_of(Constraints(), inferred) == [[0, 2]]
    # a given link overrides the weight of an inferred one
    inferred = Constraints([(0, 1, 0.9)])
    assert groups_of(Constraints([(0, 1, 0.1)], [(0, 1, 5.0)]), inferred) == [[0, 1]]
    assert groups_of(Constraints((), [(0, 1, 5.0)]), inferred) == []


def first_centers(X, groups, n_clusters, strategy="largest", cannot=(), seed=0):
    must = [(members[0], other) for members in groups for other in members[1:]]
    view, links = SquaredEuclidean().prepare(X, np.ones(len(X), bool)), Constraints(must, cannot)
    return choose_first_centers(view, links, links, n_clusters, strategy, np.random.default_rng(seed))


GROUPS = [[0, 1, 2, 3], [4, 5, 6], [7, 8, 9], [10, 11]]


def test_starts_from_largest_groups():
    X = np.random.default_rng(0).standard_normal((15, 2))
    centers = first_centers(X, GROUPS, 3)
    np.testing.assert_allclose(centers, [X[members].mean(axis=0) for members in GROUPS[:3]])
    np.testing.assert_allclose(first_centers(X, GROUPS, 4), [X[members].mean(axis=0) for members in GROUPS])
    equal = np.ones((15, 2))
    np.testing.assert_array_equal(first_centers(equal, GROUPS, 4, "farthest"), np.ones((4, 2)))
    for groups in (GROUPS, []):
        assert first_centers(equal, groups, 15).shape == (15, 2), "as many clusters as rows"


@pytest.mark.parametrize("seed", range(3))
def test_starts_from_large_distant_groups(seed):
    """Weighted farthest-first: next is the group with the largest size times distance from the previous ones."""
    X = 3 * np.random.default_rng(seed).standard_normal((15, 2))
    means = [X[members].mean(axis=0) for members in GROUPS]
    chosen = [0]
    while len(chosen) < 3:
        scores = {
            g: len(members) * min(np.linalg.norm(means[g] - means[c]) for c in chosen)
            for g, members in enumerate(GROUPS)
            if g not in chosen
        }
        chosen.append(max(scores, key=scores.get))
    np.testing.assert_allclose(first_centers(X, GROUPS, 3, "farthest"), [means[g] for g in chosen])


@pytest.mark.parametrize(("strategy", "seed"), [("largest", 0), ("farthest", 1)])
def test_separated_row_completes_start(strategy, seed):
    X = np.random.default_rng(seed).standard_normal((15, 2))
    cannot = [(12, 0), (13, 1), (13, 5), (14, 2), (14, 4), (0, 5)]
    centers = first_centers(X, GROUPS[:2], 4, strategy, cannot, seed)
    np.testing.assert_allclose(centers[:2], [X[members].mean(axis=0) for members in GROUPS[:2]])
    np.testing.assert_array_equal(centers[2], X[13])
    assert (centers[3] == X).all(axis=1).any(), "the rest are rows"
    np.testing.assert_array_equal(first_centers(X, GROUPS[:2], 3, strategy, cannot, seed), centers[:3])


def test_distant_rows_complete_start():
    X = np.array([[0.0], [0.2], [5.0], [5.2], [0.1], [5.1], [100.0]])
    for seed in range(3):
        centers = first_centers(X, [[0, 1], [2, 3]], 3, seed=seed)
        assert centers.ravel() == pytest.approx([0.1, 5.1, 100.0])


def test_starts_from_rows_without_groups():
    X = np.repeat([[0.0, 0], [10, 0], [0, 10]], 5, axis=0)
    for cannot in ((), [(0, 1), (0, 5)]):
        centers = first_centers(X, [], 3, cannot=cannot)
        assert sorted(map(tuple, centers)) == [(0, 0), (0, 10), (10, 0)]
