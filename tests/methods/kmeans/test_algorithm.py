"""Multi-view k-means compared with a literal version of the paper, and with scikit-learn on one view."""

from functools import partial
from itertools import islice

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning

import consilience as cs
import literal
from consilience.arrays import use_threads
from consilience.datasets import load_digits_views, make_gaussian_views
from consilience.divergences import Cosine, SquaredEuclidean
from consilience.methods.common.starts import find_nearest_seed, make_seeder, partition_from_init
from consilience.methods.common.statistics import ClusterSumCollector, ClusterSums
from consilience.methods.kmeans.algorithm import Centers, multi_view_kmeans
from consilience.methods.kmeans.combine import collect_consensus, compute_consensus_centers, find_unanimous, vote
from consilience.rows import LocalShards
from pairs import cover_pairs
from stores import label_views

pytestmark = pytest.mark.quick

ESTIMATORS = [cs.MultiViewKMeans, cs.MultiViewSphericalKMeans]
every_estimator = pytest.mark.parametrize("estimator", ESTIMATORS)


def prepare(views, divergence=SquaredEuclidean()):  # noqa: B008
    """Return the rows of each view as k-means takes them."""
    return {
        name: divergence.prepare(np.nan_to_num(X), views.present[:, v]) for v, (name, X) in enumerate(views.items())
    }


def make_shards(rows):
    return LocalShards(rows).cut()


def states_of(rows, divergence, partition, k):
    """Return the states of k-means on views in memory, from a partition."""
    return multi_view_kmeans(make_shards(rows).with_labels(partition), divergence, k)


def labels_of(rows, divergence, state):
    """Label the entities by the centers of each view."""
    return next(make_shards(rows).map(label_views, state.centers, list(rows)))


def fit_rounds(estimator, views, init, k, n_rounds, classes=None):
    """Fit the estimator with exactly this many rounds."""
    with pytest.warns(ConvergenceWarning, match=f"no convergence in {n_rounds} rounds"):
        return estimator(n_clusters=k, init=init, max_iter=n_rounds, patience=10**6).fit(views, classes)


def assert_equals_literal(model, views, partition, k, n_rounds, classes=None):
    blocks = [np.array(block) for _, block in views.items()]
    labels, view_labels, centers, cost, costs = literal.multi_view_kmeans(
        blocks, views.present, partition, k, n_rounds, type(model).__name__, fixed=classes
    )
    assert np.array_equal(model.labels_, labels)
    assert np.array_equal(np.stack(list(model.view_labels_.values())), view_labels)
    for mine, theirs in zip(model.cluster_centers_.values(), centers, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-10, atol=1e-12)
    assert model.cost_ == pytest.approx(cost, rel=1e-10)
    if views.n_views > 1:
        last = [model.history_[f"cost_{name}"][-1] for name in views.names]
        np.testing.assert_allclose(last, costs, rtol=1e-10)


@cover_pairs(
    estimator=ESTIMATORS,
    shape=[(1, 0.0), (2, 0.0), (3, 0.0), (2, 0.35), (3, 0.35)],
    n_rounds=[1, 3],
    has_classes=[False, True],
)
def test_equals_the_paper_written_out(estimator, shape, n_rounds, has_classes):
    """Entities of a known class keep it."""
    n_views, missing = shape
    views, y = make_gaussian_views(
        90, n_clusters=3, n_features=(4, 3, 5)[:n_views], separation=1, missing=missing, random_state=n_views
    )
    classes = np.where(np.arange(90) % 6, -1, y) if has_classes else None
    partition = np.random.default_rng(1).integers(3, size=90)
    model = fit_rounds(estimator, views, partition, 3, n_rounds, classes)
    assert model.n_iter_ == n_rounds
    assert_equals_literal(model, views, partition, 3, n_rounds, classes)


@every_estimator
def test_equals_the_paper_on_digits(estimator):
    views, y = load_digits_views()
    rows = np.random.default_rng(0).choice(2000, 150, replace=False)
    views, y = views[["fou", "kar"]][rows], y[rows]
    model = fit_rounds(estimator, views, y, 10, 4)
    assert_equals_literal(model, views, y, 10, 4)


@every_estimator
def test_init_centers_of_the_last_view_start_table_1(estimator):
    """Initialize the last view, run one E-step there, then the loop: centers of other views do not matter."""
    views, _ = make_gaussian_views(80, n_clusters=3, n_features=(4, 3), separation=3, random_state=0)
    rng = np.random.default_rng(0)
    centers = {"view0": rng.standard_normal((3, 4)), "view1": np.array(views["view1"])[[0, 1, 2]]}
    block, start = np.array(views["view1"]), centers["view1"]
    if estimator is cs.MultiViewSphericalKMeans:
        block, start = (x / np.linalg.norm(x, axis=1, keepdims=True) for x in (block, start))
    partition = ((block[:, None] - start[None]) ** 2).sum(axis=2).argmin(axis=1)
    for init in (centers, {"view1": centers["view1"]}, [centers["view0"], centers["view1"]]):
        assert_equals_literal(fit_rounds(estimator, views, init, 3, 2), views, partition, 3, 2)
    responsibilities = np.random.default_rng(0).dirichlet(np.ones(3), 80)
    partition = responsibilities.argmax(axis=1)
    other = np.random.default_rng(1).dirichlet(np.ones(3), 80)
    for init in (responsibilities, {"view1": responsibilities}, {"view0": other, "view1": responsibilities}):
        assert_equals_literal(fit_rounds(estimator, views, init, 3, 2), views, partition, 3, 2)


@every_estimator
def test_random_responsibilities_are_a_random_partition(estimator):
    views, _ = make_gaussian_views(80, n_clusters=3, n_features=(4, 3), separation=3, missing=0.2, random_state=0)
    partition = np.random.default_rng(7).spawn(1)[0].integers(3, size=80)
    model = fit_rounds(partial(estimator, n_init=1, random_state=7), views, "random-responsibilities", 3, 2)
    assert_equals_literal(model, views, partition, 3, 2)


def test_init_of_one_view_starts_its_entities():
    views, _ = make_gaussian_views(60, n_clusters=2, n_features=(3, 3), missing=0.4, random_state=0)
    rows = prepare(views)
    partition = partition_from_init({"view1": np.eye(2, 3)}, make_shards(rows), SquaredEuclidean(), 2)
    assert np.array_equal(partition >= 0, views.present[:, 1])


@pytest.mark.parametrize("seed", range(2))
def test_one_view_equals_scikit_learn(seed):
    X = load_iris().data  # a lattice: without noise, rounding would decide its ties
    X = X + 1e-4 * np.random.default_rng(0).standard_normal(X.shape)
    start = X[np.random.default_rng(seed).choice(len(X), 4, replace=False)]
    reference = KMeans(4, init=start, n_init=1, tol=0, max_iter=300).fit(X)
    model = cs.MultiViewKMeans(4, init={"view0": start}, tol=0, patience=100).fit(X)
    assert np.array_equal(model.labels_, reference.labels_)
    np.testing.assert_allclose(model.cluster_centers_["view0"], reference.cluster_centers_, rtol=1e-10)
    assert model.cost_ == pytest.approx(reference.inertia_, rel=1e-10)
    np.testing.assert_allclose(model.transform(X), reference.transform(X), rtol=1e-7, atol=1e-7)
    assert model.score(X) == pytest.approx(reference.score(X), rel=1e-10)


def test_views_take_turns():
    """The second view learns from the new labels of the first, not from its start labels."""
    views, _ = make_gaussian_views(60, n_clusters=3, n_features=(3, 3), separation=2, random_state=3)
    rows, partition = prepare(views), np.random.default_rng(0).integers(3, size=60)
    with use_threads(1):
        state = next(states_of(rows, SquaredEuclidean(), partition, 3))
    labels = labels_of(rows, SquaredEuclidean(), state)["view0"]
    turned, at_once = (
        np.stack([views["view1"][clusters == j].mean(axis=0) for j in range(3)]) for clusters in (labels, partition)
    )
    np.testing.assert_allclose(state.centers.values["view1"], turned)
    assert not np.allclose(turned, at_once)


def test_settled_run_does_not_change():
    views, _ = make_gaussian_views(200, n_clusters=3, n_features=(3, 3), separation=5, random_state=0)
    partition = np.random.default_rng(0).integers(3, size=200)
    states = list(islice(states_of(prepare(views), SquaredEuclidean(), partition, 3), 30))
    first = next(i for i, state in enumerate(states) if state.settled)
    assert first < 29
    assert all(state.settled and state.costs == states[first].costs for state in states[first:])


@pytest.mark.parametrize("divergence", [SquaredEuclidean(), Cosine()])
def test_empty_clusters_move_to_the_farthest_rows(divergence):
    X = np.random.default_rng(0).random((50, 3)) + 1
    X[17], X[8] = [9.0, -5.0, 1.0], [1.0, 1.0, -7.0]  # far away, in angle too
    view = divergence.prepare(X, np.ones(50, bool))
    state = next(states_of({"a": view}, divergence, np.zeros(50, int), 3))  # clusters 1 and 2 get nobody
    expected = X[[17, 8]]
    if isinstance(divergence, Cosine):
        expected = expected / np.linalg.norm(expected, axis=1, keepdims=True)
    moved = state.centers.values["a"][1:]
    np.testing.assert_allclose(moved[np.argsort(moved[:, 2])[::-1]], expected)
    assert len(set(labels_of({"a": view}, divergence, state)["a"][[0, 8, 17]])) == 3


def test_start_with_empty_clusters_fills_them():
    views, _ = make_gaussian_views(100, n_clusters=5, n_features=(4, 4), separation=3, missing=0.2, random_state=0)
    model = cs.MultiViewKMeans(5, init=np.zeros(100, int)).fit(views)
    assert len(np.unique(model.labels_)) == 5


@pytest.mark.parametrize(
    ("X", "view_centers", "unanimous", "expected"),
    [
        ([0, 0.1, 5, 5.1], {"a": [0.05, 5.05], "b": [2.55, 9]}, [0, 0, -1, -1], {"a": [0.05, 5.05], "b": [0.05, 9]}),
        ([0, 1, 5], {"a": [0, 1.5], "b": [0.5, 5]}, [0, -1, 1], {"a": [0, 5], "b": [0, 5]}),  # of one entity
    ],
)
def test_consensus_falls_back_to_view_centers(X, view_centers, unanimous, expected):
    """In the first case, the views agree on no entity of cluster 1, so its centers stay those of the views."""
    X, divergence = np.array(X, float)[:, None], SquaredEuclidean()
    shards = make_shards({name: divergence.prepare(X, np.ones(len(X), bool)) for name in "ab"})
    model = Centers(divergence)
    for name, values in view_centers.items():
        model = model.update(name, np.array(values, float)[:, None])
    sums = shards.total(collect_consensus, model, ["a", "b"]).by_view
    centers = compute_consensus_centers(sums, divergence, model.values)
    assert find_unanimous(shards.shards[0], ["a", "b"], slice(0, len(X))).tolist() == unanimous
    for name, values in expected.items():
        np.testing.assert_allclose(centers[name][:, 0], values)
    labels, cost = vote(shards.shards[0], divergence, centers)
    costs = sum((X - np.array(values)) ** 2 for values in expected.values())
    assert np.array_equal(labels, costs.argmin(axis=1))
    assert cost == pytest.approx(costs.min(axis=1).sum())


@settings(max_examples=20)
@given(st.integers(0, 10**6), st.integers(1, 6), st.integers(1, 30))
def test_cluster_sums_add_up_over_any_cut(seed, k, cut_at):
    rng = np.random.default_rng(seed)
    X, present, labels = rng.standard_normal((31, 4)), rng.random(31) < 0.8, rng.integers(-1, k, size=31)
    view = SquaredEuclidean().prepare(X, present)
    whole = ClusterSumCollector(view, k).collect(labels)
    parts = ClusterSums.zeros(view, k)
    for rows in (slice(0, cut_at), slice(cut_at, 31)):
        parts.include(X[rows], np.where(present, labels, -1)[rows])
    np.testing.assert_allclose(parts.sums, whole.sums)
    assert np.array_equal(parts.counts, whole.counts)
    expected = [X[present & (labels == j)].sum(axis=0) for j in range(k)]
    np.testing.assert_allclose(whole.sums, expected, atol=1e-12)


@pytest.mark.parametrize("strategy", ["k-means++", "random"])
def test_seeding_does_not_depend_on_units(strategy):
    views, _ = make_gaussian_views(200, n_clusters=4, n_features=(3, 3), separation=4, random_state=0)
    partitions = []
    for factor in (1.0, 1000.0):
        rows = prepare(cs.Views({"a": views["view0"] * factor, "b": views["view1"]}))
        seed = make_seeder(rows, dict.fromkeys(rows, SquaredEuclidean()), 4, strategy)
        partitions += seed([np.random.default_rng(0)])
    assert np.array_equal(*partitions)


def test_plus_plus_finds_far_clusters_that_random_seeds_miss():
    views, y = make_gaussian_views(300, n_clusters=6, n_features=(4, 4), separation=30, random_state=0)
    rows, hits = prepare(views), {}
    for strategy in ("k-means++", "random"):
        seed = make_seeder(rows, dict.fromkeys(rows, SquaredEuclidean()), 6, strategy)
        partitions = seed([np.random.default_rng(s) for s in range(20)])
        hits[strategy] = sum(cs.metrics.normalized_mutual_info_score(y, labels) > 0.95 for labels in partitions)
    assert hits["k-means++"] >= 15
    assert hits["random"] <= 10


def test_nearest_of_many_seeds():
    divergences = np.random.default_rng(0).random((50, 29)).round(1)  # with ties
    nearest, divergence = find_nearest_seed(lambda seeds: divergences[:, seeds], np.arange(29))
    assert np.array_equal(nearest, divergences.argmin(axis=1))
    assert np.array_equal(divergence, divergences.min(axis=1))


def test_zero_rows_are_no_seeds():
    X = np.ones((40, 3)) + np.random.default_rng(0).random((40, 3))
    X[:30] = 0
    with pytest.warns(UserWarning, match="entity 0 is all zeros"):
        model = cs.MultiViewSphericalKMeans(4, random_state=0, init="random").fit(X)
    assert len(np.unique(model.labels_[30:])) == 4
    assert np.isfinite(model.cost_)


@pytest.mark.parametrize(("n", "name"), [(100, "labels"), (6000, "labels"), (6000, "sums"), (6000, "log_prob")])
def test_views_may_have_the_names_of_what_is_cached(n, name):
    rng = np.random.default_rng(0)
    centers = 10 * rng.standard_normal((3, 8))
    y = rng.integers(3, size=n)
    first, second = (centers[y] + rng.standard_normal((n, 8)) for _ in range(2))
    model = cs.MultiViewKMeans(3, n_init=2, random_state=0)
    fitted, expected = (clone(model).fit({"a": first, called: second}) for called in (name, "b"))
    np.testing.assert_array_equal(fitted.labels_, expected.labels_)
    assert fitted.cost_ == expected.cost_


@pytest.mark.parametrize("size", [1.0, 1e18])
def test_sums_that_are_updated_equal_sums_of_all_rows(size, tune):
    rng = np.random.default_rng(0)
    blocks = [rng.standard_normal((6000, 8)) for _ in range(3)]
    blocks[1][::1000] *= size  # rounding errors of such rows must not stay where they were
    blocks[2][:5000] = np.nan
    views = cs.Views({"a": blocks[0], "b": blocks[1], "c": blocks[2]})
    updated = cs.MultiViewKMeans(7, n_init=1, random_state=0, max_iter=30).fit(views)
    tune("methods.kmeans.algorithm", most_updates=1)
    expected = cs.MultiViewKMeans(7, n_init=1, random_state=0, max_iter=30).fit(views)
    np.testing.assert_array_equal(updated.labels_, expected.labels_)
    np.testing.assert_allclose(updated.cost_, expected.cost_, rtol=1e-9)
