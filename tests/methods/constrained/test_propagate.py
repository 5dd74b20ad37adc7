"""Tests of propagation, transfer, matching and thresholds against the paper's equations, pair by pair."""

from collections import Counter
from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import consilience as cs
import literal_constrained as literal
from consilience.arrays import use_threads
from consilience.data import Constraints
from consilience.data.links import Links
from consilience.divergences import SquaredEuclidean
from consilience.methods.constrained import co_constrained
from consilience.methods.constrained.cluster_metrics import ClusterMetric, DiagonalMetric, FullMetric
from consilience.methods.constrained.co_constrained import MappedViews, ViewInstances
from consilience.methods.constrained.multiview import (
    match_view_clusters,
    renumber_labels,
    restrict_to_view,
    vote_labels,
)
from consilience.methods.constrained.pairwise import ConstrainedState
from consilience.methods.constrained.propagate import (
    TRANSFERS,
    ClusteredView,
    ClusterShapes,
    estimate_shapes,
    propagate_links,
)


def links_of(triples):
    table = np.array(triples, dtype=float).reshape(-1, 3)
    return Links.from_pairs(table[:, :2].astype(int), table[:, 2])


def as_dict(links):
    assert len(np.unique(links.pairs, axis=0)) == len(links.pairs), "a pair comes twice"
    return {(min(i, j), max(i, j)): w for (i, j), w in zip(links.pairs.tolist(), links.weights.tolist(), strict=True)}


def triples_of(pairs):
    return [(i, j, w) for (i, j), w in pairs.items()]


def assert_same(propagated, all_expected, tolerance=1e-12):
    for links, expected in zip(propagated, all_expected, strict=True):
        assert as_dict(links) == pytest.approx(expected, abs=tolerance, rel=tolerance)


def draw_links(rng, n, m, weights=(0.2, 2.0)):
    """Draw weighted pairs, each pair once."""
    pairs = rng.permutation(np.array(list(combinations(range(n), 2))))[:m]
    return [(int(i), int(j), float(rng.uniform(*weights))) for i, j in pairs]


METRICS = {
    "identity": lambda rng, k, d: ClusterMetric.first(k, d),
    "diagonal": lambda rng, k, d: DiagonalMetric(rng.uniform(0.3, 3, (k, d))),
    "full": lambda rng, k, d: FullMetric(np.stack([A @ A.T + np.eye(d) for A in rng.standard_normal((k, d, d))])),
}


def gamma_of(X):
    """Return the paper's gamma of 1e-6 in units of the mean variance of the columns."""
    return 1e-6 * X.var(axis=0).mean()


def sigmas_of(X, labels, centers, metric):
    """Return the literal covariances."""
    covariances = literal.covariances(X, labels, centers, gamma_of(X))
    if type(metric) is ClusterMetric:
        return covariances
    matrices = metric.values if metric.values.ndim == 3 else np.array([np.diag(m) for m in metric.values])
    return literal.rescale_metrics(matrices, covariances)


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 2**20),
    d=st.integers(1, 5),
    k=st.integers(1, 3),
    n=st.integers(6, 12),
    threshold=st.sampled_from([0.05, 0.2, 0.5, 0.75, 0.99]),
    metric=st.sampled_from(list(METRICS)),
)
def test_weights_match_literal_gaussian(seed, d, k, n, threshold, metric):
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.arange(n) % k)
    X = (rng.standard_normal((n, d)) + 3 * labels[:, None]).round(1)
    X[n - k] = X[0]  # these rows meet, in one cluster or in two
    centers = literal.means(X, labels, k)
    metric = METRICS[metric](rng, k, d)
    must, cannot = draw_links(rng, n, 4), draw_links(rng, n, 3)
    targets = np.sort(rng.permutation(n)[: rng.integers(0, n + 1)])
    shapes = estimate_shapes(X, labels, centers, metric)
    sigmas = sigmas_of(X, labels, centers, metric)
    # a cluster of at most d rows has only gamma as variance in some directions, which magnifies rounding errors
    tolerance = 1e-12 * max(1.0, max(map(np.linalg.cond, sigmas)) / 1e3)
    propagated = propagate_links(X, labels, shapes, links_of(must), links_of(cannot), targets, threshold)
    assert_same(propagated, literal.propagate(X, labels, centers, sigmas, must, cannot, targets, threshold), tolerance)
    assert np.array_equal(shapes.centers, centers)


@pytest.mark.parametrize("kind", METRICS)
def test_single_row_cluster_has_variance_gamma(kind):
    """Its covariance is only gamma, so only rows very close to it are reached."""
    rng = np.random.default_rng(0)
    X = np.vstack([rng.standard_normal((6, 2)), [[9, 9]], [[9, 9]], [[9 + 5e-4, 9]], [[9.01, 9]]])
    labels = np.array([0] * 6 + [1] + [0] * 3)
    centers = np.stack([X[:6].mean(axis=0), X[6]])
    metric = METRICS[kind](rng, 2, 2)
    shapes = estimate_shapes(X, labels, centers, metric)
    sigmas = sigmas_of(X, labels, centers, metric)
    assert sigmas[1].max() < 2 * gamma_of(X)
    targets = np.arange(10)
    must, cannot = [(0, 6, 1.0)], [(6, 9, 1.5)]
    propagated = propagate_links(X, labels, shapes, links_of(must), links_of(cannot), targets, 0.3)
    assert_same(propagated, literal.propagate(X, labels, centers, sigmas, must, cannot, targets, 0.3), 1e-11)
    reached = as_dict(propagated[0])
    assert reached[0, 7] == reached[0, 6] == 1.0
    assert (0, 8) in reached
    assert (0, 9) not in reached


@pytest.mark.parametrize(
    ("d", "clusters", "far"), [(1, 1, 15.0), (2, 2, 30.0), (3, 1, 60.0), (4, 2, 1e3), (5, 1, 1e6), (8, 2, 60.0)]
)
def test_distant_endpoint_reaches_only_itself(d, clusters, far):
    """exp(-far**2 / 2) underflows from 39 on. Copies of the endpoint are at its position, too."""
    for seed in range(2):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((12, d))
        X[3] = X[7] = rng.standard_normal(d) + far
        X[8] = X[3] + 1e-3
        labels = np.arange(12) // 4 % clusters  # the ends in one cluster, or in two
        A = rng.standard_normal((clusters, d, d))
        centers, sigmas = np.zeros((clusters, d)), A @ A.transpose(0, 2, 1) / d + np.eye(d)
        must, targets = [(3, 5, 0.8)], np.arange(12)
        wanted = literal.propagate(X, labels, centers, sigmas, must, must, targets, 0.7)
        assert wanted[0][3, 5] == wanted[0][5, 7] == 0.8
        assert (5, 8) not in wanted[0]
        shapes = ClusterShapes(centers, np.stack([np.linalg.inv(np.linalg.cholesky(S)).T for S in sigmas]))
        propagated = propagate_links(X, labels, shapes, links_of(must), links_of(must), targets, 0.7)
        assert_same(propagated, wanted)


@pytest.mark.parametrize(("d", "clusters"), [(1, 1), (2, 2), (3, 1), (8, 2)])
def test_constraint_reaches_its_ends_at_threshold(d, clusters):
    lost = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X, labels = rng.standard_normal((31, d)), np.arange(31) % clusters
        i, j = sorted((int(rng.integers(15)) * 2, int(rng.integers(15)) * 2 + 1))
        shapes = estimate_shapes(X, labels, literal.means(X, labels, clusters), ClusterMetric.first(clusters, d))
        propagated, _ = propagate_links(X, labels, shapes, links_of([(i, j, 0.5)]), Links.empty(), np.arange(31), 0.5)
        lost += [seed] * (as_dict(propagated) != {(i, j): 0.5})
    assert not lost


@pytest.mark.parametrize("what", ["no links", "no targets", "weights below the threshold"])
def test_nothing_propagates_without_links_or_targets(what):
    X, labels = np.arange(4.0)[:, None], np.zeros(4, int)
    shapes = estimate_shapes(X, labels, np.array([[1.5]]), ClusterMetric.first(1, 1))
    links = Links.empty() if what == "no links" else links_of([(0, 1, 0.4)])
    targets = np.arange(0 if what == "no targets" else 4)
    must, cannot = propagate_links(X, labels, shapes, links, links, targets, 0.3 if what == "no targets" else 0.5)
    assert must.pairs.shape == cannot.pairs.shape == (0, 2)


def larger_problem():
    rng = np.random.default_rng(3)
    labels = np.arange(150) % 3
    X = rng.standard_normal((150, 2)) + 4 * labels[:, None]
    shapes = estimate_shapes(X, labels, literal.means(X, labels, 3), ClusterMetric.first(3, 2))
    links = [links_of(draw_links(rng, 150, 40, (0.5, 1.5))) for _ in range(2)]
    return X, labels, shapes, *links, np.flatnonzero(rng.random(150) < 0.7), 0.4


@pytest.mark.parametrize(("rows", "n_jobs"), [(7, 1), (1, 3), (1000, 3)])
def test_result_does_not_depend_on_blocks_and_threads(rows, n_jobs, tune):
    problem = larger_problem()
    wanted = propagate_links(*problem)
    assert len(wanted[0].weights) > 300
    tune("methods.constrained.propagate", rows=rows)
    with use_threads(n_jobs):
        propagated = propagate_links(*problem)
    for links, other in zip(propagated, wanted, strict=True):
        assert np.array_equal(links.pairs, other.pairs)
        assert np.array_equal(links.weights, other.weights)


def test_refuses_more_pairs_than_memory(monkeypatch):
    problem = larger_problem()
    n_pairs = max(len(links.weights) for links in propagate_links(*problem))
    monkeypatch.setattr("consilience.methods.constrained.propagate.available_memory", lambda: 128 * n_pairs)
    assert max(len(links.weights) for links in propagate_links(*problem)) == n_pairs
    monkeypatch.setattr("consilience.methods.constrained.propagate.available_memory", lambda: 128 * 50)
    with pytest.raises(MemoryError, match="constraints propagate to more than 50 pairs of entities, which is all"):
        propagate_links(*problem)
    monkeypatch.setattr("consilience.methods.constrained.propagate.available_memory", lambda: None)
    assert max(len(links.weights) for links in propagate_links(*problem)) == n_pairs, "where the system does not say"


def make_clustered_view(n=14, threshold=0.4, seed=0):
    rng = np.random.default_rng(seed)
    X, labels = rng.standard_normal((n, 2)), np.arange(n) % 2
    state = ConstrainedState(labels, literal.means(X, labels, 2), ClusterMetric.first(2, 2), 0.0, 0, True, None)
    constraints = Constraints(draw_links(rng, n, 12), draw_links(rng, n, 12))
    return ClusteredView(X, state, constraints, np.flatnonzero(rng.random(n) < 0.6), threshold)


def test_transfer_directly():
    turn = make_clustered_view()
    targets = set(turn.targets.tolist())
    propagated = TRANSFERS["direct"].infer(turn)
    for links, given_links in ((propagated.must, turn.constraints.must), (propagated.cannot, turn.constraints.cannot)):
        wanted = {pair: w for pair, w in as_dict(given_links).items() if targets.issuperset(pair)}
        assert as_dict(links) == wanted
        assert 0 < len(wanted) < len(given_links.weights)


def test_transfer_of_membership():
    turn = make_clustered_view()
    propagated = TRANSFERS["membership"].infer(turn)
    pairs = list(combinations(turn.targets.tolist(), 2))
    same = {pair: turn.state.labels[pair[0]] == turn.state.labels[pair[1]] for pair in pairs}
    assert as_dict(propagated.must) == {pair: 1.0 for pair in pairs if same[pair]}
    assert as_dict(propagated.cannot) == {pair: 1.0 for pair in pairs if not same[pair]}
    assert TRANSFERS["membership"].infer(turn._replace(targets=turn.targets[:1])) == Constraints()
    assert TRANSFERS["none"].infer(turn) == Constraints()
    assert TRANSFERS["propagate"].infer(turn._replace(targets=np.zeros(0, int))) == Constraints()
    assert list(TRANSFERS) == ["propagate", "direct", "membership", "none"]


def test_membership_refuses_more_pairs_than_memory(monkeypatch):
    turn = make_clustered_view()
    n = len(turn.targets)
    monkeypatch.setattr("consilience.data.links.available_memory", lambda: 100)
    with pytest.raises(MemoryError, match=rf"\(transfer='membership'\) are {n * (n - 1) // 2} pairs"):
        TRANSFERS["membership"].infer(turn)


def make_mapped_views(rows):
    """Make views of random rows; `rows` is (entities, views) with -1 where an entity lacks a view."""
    instances = {}
    for v, view_rows in enumerate(np.asarray(rows).T):
        n = view_rows.max(initial=-1) + 1
        X = np.random.default_rng(v).standard_normal((n, 2))
        instances["bac"[v]] = ViewInstances(SquaredEuclidean().prepare(X, np.ones(n, bool)), view_rows)
    return MappedViews(instances)


@st.composite
def mapped_views(draw):
    """Draw which entities have which views, constraints in views, and common constraints."""
    n, n_views = draw(st.integers(2, 6)), draw(st.integers(2, 3))
    rng = np.random.default_rng(draw(st.integers(0, 2**20)))
    present = rng.random((n, n_views)) < draw(st.sampled_from([0.4, 0.7, 1.0]))
    present[:2] = True
    present[np.arange(n), rng.integers(n_views, size=n)] = True
    rows = np.full(present.shape, -1)
    for v, has_view in enumerate(present.T):
        rows[has_view, v] = rng.permutation(has_view.sum())
    mapped = make_mapped_views(rows)
    weights = draw(st.sampled_from([(0.2, 2.0), (1.0, 1.0)]))
    m = draw(st.integers(0, 3))
    constraints = {
        name: Constraints(draw_links(rng, view.n_rows, m, weights), draw_links(rng, view.n_rows, m, weights))
        for name, view in mapped.views.items()
    }
    common = draw(st.integers(0, 2))
    common = Constraints(draw_links(rng, n, common, weights), draw_links(rng, n, common, weights))
    return mapped, rows, constraints, common


def literal_closure(rows, names, view_links, common):
    """Compute step 1 over the rows of all views, with the mapping as must-links of infinite weight."""
    sizes = rows.max(axis=0) + 1
    starts = np.cumsum([0, *sizes])
    must, cannot = [], []
    for entity in rows:
        nodes = [int(starts[v] + row) for v, row in enumerate(entity) if row >= 0]
        must += [(i, j, np.inf) for i, j in combinations(nodes, 2)]
    for v, name in enumerate(names):
        for links, triples in ((view_links[name].must, must), (view_links[name].cannot, cannot)):
            triples += [(i + starts[v], j + starts[v], w) for (i, j), w in as_dict(links).items()]
    anywhere = [next(int(starts[v] + row) for v, row in enumerate(entity) if row >= 0) for entity in rows]
    for links, triples in ((common.must, must), (common.cannot, cannot)):
        triples += [(anywhere[i], anywhere[j], w) for (i, j), w in as_dict(links).items()]
    closure = literal.closure(int(starts[-1]), must, cannot)
    views = {}
    for v, name in enumerate(names):
        first, last = starts[v], starts[v + 1]
        views[name] = [
            {(i - first, j - first): w for (i, j), w in pairs.items() if first <= i < last and first <= j < last}
            for pairs in closure
        ]
    return views


@settings(max_examples=60, deadline=None)
@given(mapped_views())
def test_closure_over_mapping_matches_literal(problem):
    mapped, rows, view_links, common = problem
    row_links = {name: view_links[name] | restrict_to_view(common, view) for name, view in mapped.views.items()}
    closed = mapped.close_constraints(row_links, common)
    wanted = literal_closure(rows, list(mapped.views), row_links, common)
    assert list(closed) == list(mapped.views)
    for name, (links, _) in closed.items():
        assert as_dict(links.must) == wanted[name][0], name
        assert as_dict(links.cannot) == wanted[name][1], name


def test_conflict_through_mapping_stays_in_its_view():
    rows = [[0, 0], [1, 1], [2, 2], [3, -1]]
    mapped = make_mapped_views(rows)
    view_links = {"b": Constraints([(0, 3)], [(0, 1, 0.7)]), "a": Constraints([(0, 1, 0.5)])}
    closed = mapped.close_constraints(view_links, Constraints())
    assert as_dict(closed["b"].all.cannot) == {(0, 1): 0.7}, "row 3, tied to row 0, is not kept apart from row 1"
    assert as_dict(closed["b"].consistent.cannot) == {}, "nothing is inferred from it"
    for own_links in closed["b"]:
        assert as_dict(own_links.must) == {(0, 3): 1.0, (0, 1): 0.5, (1, 3): 0.5}
    for own_links in closed["a"]:
        assert as_dict(own_links.cannot) == {}
        assert as_dict(own_links.must) == {(0, 1): 0.5}
    everything = mapped.join_constraints(view_links, Constraints())
    assert mapped.entities[everything.conflicts].tolist() == [[0, 1]]


def with_gaps(rng, labels, share=0.3):
    return np.where(rng.random(len(labels)) < share, -1, labels)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**20), k=st.integers(1, 4), n=st.integers(1, 20))
def test_matching_maximizes_agreement(seed, k, n):
    rng = np.random.default_rng(seed)
    labels, other = (with_gaps(rng, rng.integers(k, size=n)) for _ in range(2))
    numbers = match_view_clusters({"b": labels, "a": other}, k)
    assert list(numbers) == ["b", "a"]
    assert numbers["b"].tolist() == list(range(k)), "the first view keeps its numbers"
    assert sorted(numbers["a"]) == list(range(k))

    def agreeing(numbers):
        renumbered = renumber_labels(other, np.array(numbers))
        return np.sum((renumbered == labels) & (labels >= 0))

    assert agreeing(numbers["a"]) == max(map(agreeing, permutations(range(k))))


def test_matching_through_intermediate_view():
    """The second view shares no entity with the first; the third shares some with both."""
    first = np.array([0, 1, 2, 0, 1, 2, -1, -1, -1])
    third = np.array([-1, -1, -1, 1, 2, 0, 1, 2, 0])
    second = np.array([-1, -1, -1, -1, -1, -1, 2, 0, 1])
    views = {"first": first, "second": second, "third": third}
    numbers = match_view_clusters(views, 3)
    restored = [renumber_labels(labels, numbers[name]) for name, labels in views.items()]
    assert restored[2].tolist() == [-1, -1, -1, 0, 1, 2, 0, 1, 2]
    assert restored[1].tolist() == [-1, -1, -1, -1, -1, -1, 0, 1, 2]


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**20), k=st.integers(1, 4), n_views=st.integers(1, 4))
def test_vote_breaks_ties_by_cost(seed, k, n_views):
    rng = np.random.default_rng(seed)
    views = {str(v): with_gaps(rng, rng.integers(k, size=15)) for v in range(n_views)}
    costs = rng.standard_normal((15, k))
    voted = vote_labels(views, costs)
    for i in range(15):
        votes = Counter(labels[i] for labels in views.values() if labels[i] >= 0)
        most = max(votes.values(), default=0)
        leading = [h for h in range(k) if votes[h] == most]
        assert voted[i] == min(leading, key=lambda h: costs[i, h])


def test_every_constraint_is_held_out_once():
    rng = np.random.default_rng(0)
    constraints = {name: Constraints(draw_links(rng, 9, 7), draw_links(rng, 9, 4)) for name in "ab"}
    left_out = {name: Constraints() for name in constraints}
    apart = make_mapped_views([[i, -1] for i in range(9)] + [[-1, i] for i in range(9)])
    for train, test in co_constrained.split_folds(apart, constraints, rng):
        for name in constraints:
            assert train[name].size + test[name].size == constraints[name].size
            assert train[name] | test[name] == constraints[name]
            left_out[name] |= test[name]
        sizes = [(len(links.must.weights), len(links.cannot.weights)) for links in test.values()]
        assert sum(must for must, _ in sizes) in (2, 3)
        assert sum(cannot for _, cannot in sizes) in (1, 2)
    assert left_out == constraints


def test_shared_pairs_are_held_out_together():
    rng = np.random.default_rng(0)
    same = Constraints(draw_links(rng, 9, 7), draw_links(rng, 9, 4))
    for _, test in co_constrained.split_folds(
        make_mapped_views([[i, i] for i in range(9)]), {"b": same, "a": same}, rng
    ):
        assert test["a"] == test["b"]


def test_score_links():
    links = Constraints([(0, 1, 2.0), (0, 2, 0.5)], [(1, 2, 3.0), (0, 3, 0.25)])
    assert co_constrained.score_links(np.array([0, 0, 1, 0]), links.must, True) == (2.0, 2.5)
    assert co_constrained.score_links(np.array([0, 0, 1, 0]), links.cannot, False) == (3.0, 3.25)
    assert co_constrained.score_links(np.array([0]), Constraints().must, True) == (0, 0)


def choose_for_quality(quality, constraints):
    """Choose a threshold when the first `quality` rows are labeled correctly under each candidate."""
    y = np.arange(8) // 4
    mapped = make_mapped_views([[i, i] for i in range(8)])

    def cluster(closed, threshold):
        return dict.fromkeys(mapped.views, np.where(np.arange(8) < quality[threshold], y, 2 + np.arange(8)))

    return co_constrained.choose_threshold(
        mapped, {"b": constraints, "a": Constraints()}, cluster, np.random.default_rng(0)
    )


def test_chooses_threshold_of_best_score():
    constraints = Constraints([(0, 1), (2, 3), (4, 5), (6, 7)])
    everywhere = dict.fromkeys(co_constrained.CANDIDATES, 4)
    for best in (co_constrained.CANDIDATES[0], co_constrained.CANDIDATES[-1]):
        assert choose_for_quality(everywhere | {best: 8}, constraints) == best
    assert choose_for_quality(everywhere, constraints) == 0.5, "of equals that nearest to the usual one"
    assert choose_for_quality(everywhere | {0.35: 8, 0.95: 8}, constraints) == 0.35


def algorithm_1(blocks, constraints, mapping, centers, threshold, max_rounds=30, tol=1e-6):
    """Run Eaton et al. 2010 literally for two views: PCK-Means in the order of the rows, from given centers."""
    names, sizes = list(blocks), [len(X) for X in blocks.values()]
    rows = [(i, j) for i, j in mapping]
    rows += [(i, -1) for i in range(sizes[0]) if i not in {i for i, _ in mapping}]
    rows += [(-1, j) for j in range(sizes[1]) if j not in {j for _, j in mapping}]
    closed = literal_closure(np.array(rows), names, constraints, Constraints())  # Steps 1 and 2
    mappings = {names[0]: [(j, i) for i, j in mapping], names[1]: list(mapping)}  # from the other view to this one
    targets = {names[0]: [i for i, _ in mapping], names[1]: [j for _, j in mapping]}
    propagated = {name: ({}, {}) for name in names}
    J, labels = {name: [] for name in names}, {}
    for _ in range(max_rounds):
        for name in names:
            (other,) = set(names) - {name}
            unified = []
            for pairs, received in zip(closed[name], propagated[other], strict=True):  # Step 9
                both = dict(pairs)
                for (i, j), w in literal.transfer(received, mappings[name]).items():
                    literal.keep_largest(both, i, j, w)
                unified.append(triples_of(both))
            X, order = blocks[name], range(len(blocks[name]))
            labels[name], means, cost = literal.pck_means(X, centers[name], *unified, order)  # Step 10
            J[name].append(cost)
            sigmas = literal.covariances(X, labels[name], means, gamma_of(X))
            given_links = [triples_of(pairs) for pairs in closed[name]]
            propagated[name] = literal.propagate(X, labels[name], means, sigmas, *given_links, targets[name], threshold)
        if all(len(costs) > 1 and abs(costs[-1] - costs[-2]) <= tol * max(1, abs(costs[-1])) for costs in J.values()):
            break
    return labels, propagated, J


@pytest.mark.parametrize(("seed", "threshold"), [(0, 0.3), (1, 0.6), (2, 0.3), (3, 0.6)])
def test_rounds_match_literal_algorithm_1(seed, threshold):
    rng = np.random.default_rng(seed)
    y = {"b": np.arange(16) % 2, "a": np.arange(14) % 2}
    blocks = {name: rng.standard_normal((len(classes), 2)) + 1.5 * classes[:, None] for name, classes in y.items()}
    mapping = [(i, j) for i, j in zip(rng.permutation(14)[:9].tolist(), range(9), strict=True)]
    mapping = [(i - i % 2 + j % 2, j) for i, j in mapping if i - i % 2 + j % 2 < 16]
    mapping = list({i: (i, j) for i, j in mapping}.values())
    constraints = {
        name: Constraints.sample(labels, 6, random_state=seed) * (1.0 if name == "b" else 1.4)
        for name, labels in y.items()
    }
    centers = {name: X[:2] for name, X in blocks.items()}
    labels, propagated, J = algorithm_1(blocks, constraints, mapping, centers, threshold)
    rounds = len(J["a"])
    views = cs.align(blocks, {("b", "a"): mapping})
    options = {"order": "index", "view_order": "given", "threshold": threshold, "max_iter": max(2, rounds)}
    model = cs.MultiViewConstrainedKMeans(2, init=centers, **options)
    by_row = {name: Constraints.from_table(links.table(), by="row") for name, links in constraints.items()}
    model.fit(views, constraints=by_row)
    assert model.n_iter_ == rounds
    for v, name in enumerate(views.names):
        entity = np.argsort(views.rows[:, v])[-len(blocks[name]) :]
        view_labels = model.view_labels_[name][entity]
        assert len(set(zip(view_labels.tolist(), labels[name].tolist(), strict=True))) == 2, (
            "only the numbering may differ"
        )
        np.testing.assert_allclose(model.history_[f"objective_{name}"], J[name], rtol=1e-9)
        links = model.propagated_[name]
        assert_same(
            (links.must, links.cannot),
            [{tuple(sorted(entity[[i, j]].tolist())): w for (i, j), w in pairs.items()} for pairs in propagated[name]],
            1e-9,
        )
    assert any(propagated[name][0] for name in propagated)
