"""Tests of COPKMeans: every constraint is satisfied, as in a literal version of the paper, or the fit is refused."""

import itertools
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import consilience as cs
import literal_constrained as literal
from consilience import Constraints
from consilience.methods.constrained.cop import HardLinkedView
from consilience.methods.constrained.pck import prepare_euclidean_rows
from quadrants import count_violations


def make_groups(seed, n=30, k=3, n_links=25):
    """Make overlapping groups, and constraints that another partition satisfies."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % k)
    X = rng.standard_normal((n, 2)) + 2 * rng.standard_normal((k, 2))[y]
    hidden = np.where(rng.random(n) < 0.3, rng.integers(0, k, n), y)
    pairs = rng.permutation(list(itertools.combinations(range(n), 2)))[:n_links]
    same = hidden[pairs[:, 0]] == hidden[pairs[:, 1]]
    centers = X[rng.choice(n, k, replace=False)]
    return X, Constraints(pairs[same], pairs[~same]), centers


def as_triples(pairs):
    return [(i, j, 1.0) for i, j in pairs.tolist()]


@pytest.mark.parametrize("n_links", [5, 20])
def test_matches_literal_paper(n_links):
    """In some seeds a cluster runs empty or the rounds do not settle, to which the paper has no answer."""
    n_compared = 0
    for seed in range(6):
        X, constraints, centers = make_groups(seed, n=20, n_links=n_links)
        must, cannot = as_triples(constraints.must_link), as_triples(constraints.cannot_link)
        try:
            expected = literal.cop_means(X, centers, must, cannot, range(len(X)), max_iter=10)
        except AssertionError:
            continue
        if expected is None:
            continue
        model = cs.COPKMeans(3, init=centers, order="index").fit(X, constraints=constraints)
        labels, means, cost = expected
        assert model.converged_
        assert np.array_equal(model.labels_, labels)
        np.testing.assert_allclose(model.cluster_centers_, means, rtol=1e-9)
        assert model.cost_ == pytest.approx(cost)
        n_compared += 1
    assert n_compared >= 3


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), k=st.integers(2, 5), n_links=st.integers(0, 60))
def test_satisfies_all_constraints_or_refuses(seed, k, n_links):
    X, constraints, _ = make_groups(seed, k=k, n_links=n_links)
    try:
        model = cs.COPKMeans(k, random_state=0).fit(X, constraints=constraints)
    except cs.InfeasibleConstraintsError:
        assert k > 2, "with two clusters, a clustering is always found if there is one"
        return
    assert count_violations(model.labels_, constraints) == model.n_violations_ == 0
    assert set(model.labels_) <= set(range(k))
    assert model.cost_ == pytest.approx(np.sum((X - model.cluster_centers_[model.labels_]) ** 2))


def test_weights_do_not_matter():
    X, constraints, _ = make_groups(1)
    models = [cs.COPKMeans(3, random_state=0).fit(X, constraints=w * constraints) for w in (1e-6, 1.0, 1e6)]
    for model in models[1:]:
        assert np.array_equal(model.labels_, models[0].labels_)
        assert model.cost_ == models[0].cost_


def test_chain_of_cannot_links_is_solved_with_two_clusters():
    """In a random order, the ends of a chain may get labels that leave no cluster for an entity in the middle."""
    X = np.random.default_rng(0).standard_normal((40, 2))
    order = np.random.default_rng(1).permutation(40)
    chain = Constraints(cannot_link=np.column_stack([order[:-1], order[1:]]))
    for seed in range(3):
        labels = cs.COPKMeans(2, n_init=1, random_state=seed).fit(X, constraints=chain).labels_
        assert len(set(labels[order[::2]])) == len(set(labels[order[1::2]])) == 1


def find_dead_end():
    """Find constraints that labels satisfy, and costs under which no order of visits finds such labels."""
    for seed in range(1000):
        rng = np.random.default_rng(seed)
        y = rng.permutation(np.arange(18) % 3)
        pairs = np.array(list(itertools.combinations(range(18), 2)))
        pairs = pairs[(y[pairs[:, 0]] != y[pairs[:, 1]]) & (rng.random(len(pairs)) < 0.3)]
        constraints = Constraints(cannot_link=pairs)
        problem = HardLinkedView(
            prepare_euclidean_rows(np.zeros((18, 1))), constraints.must, constraints.cannot, uses_length=False
        )
        costs, visits = rng.random((len(problem.rows), 3)), np.arange(len(problem.rows))
        try:
            problem.assign_linked_rows(costs, np.full(len(visits), -1), visits, problem.penalize(None, None))
        except cs.InfeasibleConstraintsError:
            return problem, costs, visits, y[problem.rows]
    raise AssertionError("all problems were solved")


def test_entities_keep_clusters_if_later_round_finds_none():
    problem, costs, visits, labels = find_dead_end()
    penalties, kept = problem.penalize(None, None), labels.copy()
    assert problem.assign_linked_rows(costs, kept, visits, penalties) == 0
    assert np.array_equal(kept, labels)
    kept[:] = 0
    with pytest.raises(cs.InfeasibleConstraintsError, match="one has no cluster left"):
        problem.assign_linked_rows(costs, kept, visits, penalties)


def test_start_from_labels_that_violate_constraints():
    X, constraints, _ = make_groups(2)
    wrong = np.zeros(len(X), int)
    wrong[:2] = 1, 2
    assert count_violations(wrong, constraints) > 0
    assert count_violations(cs.COPKMeans(3, init=wrong).fit(X, constraints=constraints).labels_, constraints) == 0


def test_starts_that_fail_are_skipped():
    """Of single starts some fail; several find a clustering, and the best is kept."""
    for problem in range(60):
        X, constraints, _ = make_groups(problem, n=24, k=3, n_links=60)
        costs = []
        for seed in range(3):
            try:
                model = cs.COPKMeans(3, n_init=1, random_state=seed).fit(X, constraints=constraints)
            except cs.InfeasibleConstraintsError:
                continue
            costs.append(model.cost_)
        if 0 < len(costs) < 3:
            several = cs.COPKMeans(3, n_init=10, random_state=0).fit(X, constraints=constraints)
            assert count_violations(several.labels_, constraints) == 0
            return
    raise AssertionError("no problem has starts that fail and others that do not")


def test_refuses_contradictions():
    X = np.random.default_rng(0).standard_normal((6, 2))
    constraints = Constraints([(0, 1), (1, 2)], [(0, 2), (4, 5)])
    message = r"cannot-link \(0, 2\) contradicts must-links, which tie these entities together \(0 = 1 = 2\) \(1"
    with pytest.raises(cs.InfeasibleConstraintsError, match=message) as raised:
        cs.COPKMeans(3).fit(X, constraints=constraints)
    assert raised.value.pairs.tolist() == [[0, 2]]
    names = cs.Views({"a": X}, ids=list("abcdef"))
    with pytest.raises(ValueError, match=r"cannot-link \(a, c\) contradicts must-links"):
        cs.COPKMeans(3).fit(names, constraints=constraints)


@pytest.mark.parametrize("k", [1, 2, 3])
def test_refuses_too_few_clusters(k):
    X = np.random.default_rng(0).standard_normal((8, 2))
    clique = Constraints([(k, 7)], list(itertools.combinations(range(k), 2)) + [(i, 7) for i in range(k)])
    message = f"no clustering into {k} clusters that satisfies all constraints was found: of the entities in"
    with pytest.raises(cs.InfeasibleConstraintsError, match=message) as raised:
        cs.COPKMeans(k, random_state=0).fit(X, constraints=clique)
    pairs = raised.value.pairs
    assert len(pairs) == k
    assert {tuple(pair) for pair in pairs.tolist()} <= {tuple(pair) for pair in clique.cannot_link.tolist()}
    assert count_violations(cs.COPKMeans(k + 1).fit(X, constraints=clique).labels_, clique) == 0
    names = cs.Views({"a": X}, ids=[f"id{i}" for i in range(8)])
    with pytest.raises(ValueError, match=r"cannot-links \(id\d, id\d\)"):
        cs.COPKMeans(k, random_state=0).fit(names, constraints=clique)


def test_error_can_be_pickled():
    error = pickle.loads(pickle.dumps(cs.InfeasibleConstraintsError("why", [(1, 2)])))
    assert str(error) == "why"
    assert error.pairs.tolist() == [[1, 2]]
