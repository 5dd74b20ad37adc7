"""Warm refinement: views that are prepared once, and refined from any clusters under growing knowledge."""

from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics import adjusted_rand_score

import consilience as cs
from consilience.arrays import use_threads
from consilience.datasets import make_gaussian_views, make_text_views
from consilience.methods.agreement.refine import Round
from consilience.methods.agreement.warm import (
    BALANCE,
    MAX_ROUNDS,
    PENALTY,
    PREDICTORS,
    TOLERANCE,
    Knowledge,
    WarmRefinement,
)

N, K = 100, 4


def prepare(views, precomputed=()):
    return WarmRefinement(views, {name: name in precomputed for name in views.names}, K)


def add_noise(y, share=0.3, seed=0):
    """Return labels of which a share is random."""
    rng = np.random.default_rng(seed)
    return np.where(rng.random(len(y)) < share, rng.integers(y.max() + 1, size=len(y)), y)


@pytest.fixture(scope="module")
def vague():
    """Three views with missing entities, overlapping classes, and their warm refinement."""
    views, y = make_gaussian_views(N, n_clusters=K, n_features=(4, 12, 3), separation=2.5, missing=0.2, random_state=0)
    return views, y, prepare(views)


@pytest.fixture(scope="module")
def noisy(vague):
    return add_noise(vague[1])


def mask_of(*rows):
    return np.isin(np.arange(N), rows)


# the start


def test_predictors_are_those_of_the_default_method():
    default = cs.Consilience()
    assert default.predictors == PREDICTORS
    assert (default.penalty, default.balance) == (PENALTY, BALANCE)
    assert (default.tol, default.max_iter) == (TOLERANCE, MAX_ROUNDS)


def make_clear_data(kind):
    """Return views with clear clusters, the names of those that are similarities, and classes."""
    if kind == "sparse":
        views, y = make_text_views(N, n_clusters=K, topic_share=0.7, random_state=0)
        return cs.Views({name: sp.csr_array(X, dtype=float) for name, X in views.items()}), (), y
    missing = 0.3 if kind == "missing" else 0.0
    views, y = make_gaussian_views(
        N, n_clusters=K, n_features=(4, 15, 6), separation=14, missing=missing, random_state=0
    )
    if kind == "similarities":
        blocks = {name: np.exp(-np.square(X[:, None] - X[None]).sum(axis=2) / 50) for name, X in views.items()}
        return cs.Views({**blocks, "rows": views["view0"]}), tuple(blocks), y
    return views, (), y


@pytest.mark.parametrize("kind", ["dense", "missing", "sparse", "similarities"])
def test_refinement_repairs_labels(kind):
    views, precomputed, y = make_clear_data(kind)
    warm = prepare(views, precomputed)
    noisy = add_noise(y)
    noisy[:10] = -1
    labels = warm.refine(noisy, K, Knowledge()).labels
    assert adjusted_rand_score(y, noisy) < 0.6
    assert adjusted_rand_score(y, labels) > 0.95


def test_refinement_is_that_of_a_fit_from_the_same_labels(vague, noisy):
    views, _, warm = vague
    model = cs.Consilience(K, init=noisy, random_state=0).fit(views)
    state = warm.refine(noisy, K, Knowledge())
    assert np.array_equal(state.labels, model.labels_)
    assert state.score == -model.cost_


def test_any_number_of_clusters(vague):
    """The predictors do not depend on it, as long as the graphs have as many eigenvectors."""
    views, _, warm = vague
    other = WarmRefinement(views, dict.fromkeys(views.names, False), 2)
    for k in (1, 2, 7):
        labels = np.random.default_rng(k).integers(k, size=N)
        state = warm.refine(labels, k, Knowledge())
        assert set(state.labels.tolist()) == set(range(k))
        assert np.array_equal(other.refine(labels, k, Knowledge()).labels, state.labels)


def test_labels_do_not_depend_on_threads_in_warm_refinement(vague, noisy):
    labels = []
    for n_threads in (1, 2):
        with use_threads(n_threads):
            labels.append(prepare(vague[0]).refine(noisy, K, Knowledge()).labels)
    assert np.array_equal(*labels)


def test_refinement_repeats_and_leaves_its_input_as_it_was(vague, noisy):
    warm, before = vague[2], noisy.copy()
    knowledge = Knowledge(cs.Constraints([(0, 1)]), mask_of(5), {"view0": mask_of(2, 3)})
    first = warm.refine(noisy, K, knowledge)
    warm.refine(noisy, K, Knowledge())
    second = warm.refine(noisy, K, knowledge)
    assert np.array_equal(first.labels, second.labels)
    assert np.array_equal(first.vote.total, second.vote.total)
    assert np.array_equal(noisy, before)


# outliers and ignored views


def test_outliers_are_as_entities_of_which_no_label_is_known(vague, noisy):
    """One round of the others equals the choice by votes of labels in which outliers are open."""
    warm, is_outlier = vague[2], np.arange(N) % 7 == 0
    ensemble = warm.build_ensemble(K, Knowledge())
    labels = np.where(is_outlier, -1, noisy)
    for _ in range(MAX_ROUNDS):
        chosen = np.where(is_outlier, -1, ensemble.choose(ensemble.vote(labels).total, labels))
        changed, labels = np.mean(chosen != labels), chosen
        if changed <= TOLERANCE:
            break
    state = warm.refine(noisy, K, Knowledge(is_outlier=is_outlier))
    assert np.array_equal(state.labels, labels)


def test_clusters_are_nearly_those_of_the_data_without_the_outliers():
    """Points of outliers still shape the graphs and components of the views, so that this is no equality."""
    views, y = make_gaussian_views(N, n_clusters=K, n_features=(4, 12), separation=5, random_state=0)
    is_outlier = np.arange(N) % 10 == 0
    blocks = {name: X + 8 * is_outlier[:, None] * np.eye(X.shape[1])[0] for name, X in views.items()}
    noisy = add_noise(y)
    state = prepare(cs.Views(blocks)).refine(noisy, K, Knowledge(is_outlier=is_outlier))
    without = prepare(views[~is_outlier]).refine(noisy[~is_outlier], K, Knowledge())
    assert np.mean(state.labels[~is_outlier] == without.labels) > 0.95


def test_view_that_is_ignored_for_all_is_as_left_out(vague, noisy):
    views, _, warm = vague
    ignoring = warm.refine(noisy, K, Knowledge(ignored={"view1": np.ones(N, bool)}))
    with pytest.warns(UserWarning, match="all zeros in every view"):  # those that have view1 alone
        without = prepare(views[["view0", "view2"]]).refine(noisy, K, Knowledge())
    assert np.array_equal(ignoring.labels, without.labels)
    assert np.array_equal(ignoring.vote.total, without.vote.total)
    assert ignoring.score == without.score
    assert not ignoring.vote.by_view[1].any()


def test_views_that_are_all_ignored_move_everything_to_the_largest_cluster(vague, noisy):
    """As for entities that have no view; clusters that would become empty keep their members."""
    ignored = {name: np.ones(N, bool) for name in vague[0].names}
    state = vague[2].refine(noisy, K, Knowledge(ignored=ignored))
    assert not state.vote.total.any()
    assert state.score == 0
    assert set(state.labels.tolist()) == set(range(K))


def test_masks_of_no_entities_and_of_entities_that_lack_the_view_change_nothing(vague, noisy):
    views, _, warm = vague
    plain = warm.refine(noisy, K, Knowledge())
    for mask in (np.zeros(N, bool), ~views.present[:, 1]):
        state = warm.refine(noisy, K, Knowledge(is_outlier=np.zeros(N, bool), ignored={"view1": mask}))
        assert np.array_equal(state.vote.total, plain.vote.total)


# constraints


@pytest.mark.parametrize("seed", range(3))
def test_constraints_are_satisfied_that_the_start_can_satisfy(vague, noisy, seed):
    y, warm = vague[1], vague[2]
    rng = np.random.default_rng(seed)
    pairs = np.array([rng.choice(N, 2, replace=False) for _ in range(25)])
    is_same = y[pairs[:, 0]] == y[pairs[:, 1]]
    constraints = cs.Constraints(pairs[is_same], pairs[~is_same], by="position")
    start = np.where(np.isin(np.arange(N), pairs), y, noisy)
    drift = rng.integers(-1, K, size=N)
    votes = rng.normal(size=(N, K))
    state = warm.refine(start, K, Knowledge(constraints), drift=drift, further_votes=lambda _: votes)
    assert np.array_equal(state.labels[pairs[:, 0]] == state.labels[pairs[:, 1]], is_same)
    assert not np.array_equal(state.labels, start)


# drift


def test_entities_that_would_move_in_any_case_stay(vague, noisy):
    """Refinement from a state that is not quite settled, with new knowledge about two entities."""
    warm = vague[2]
    ensemble = warm.build_ensemble(K, Knowledge())
    labels = add_noise(warm.refine(noisy, K, Knowledge()).labels, 0.2, seed=1)
    vote = ensemble.vote(labels)
    chosen = ensemble.choose(vote.total, labels)
    drift = warm.find_drift(Round(labels, vote, 0.0, 0.0, 0.0), K, Knowledge())
    assert np.array_equal(drift, np.where(chosen == labels, -1, chosen))
    n_drifting = np.sum(drift >= 0)
    assert n_drifting > 10
    assert np.array_equal(warm.refine(labels, K, Knowledge(), drift=drift).labels, labels)
    pair = [0, int(np.flatnonzero((labels != labels[0]) & (drift < 0))[0])]
    linked = Knowledge(cs.Constraints([pair]))
    moved = warm.refine(labels, K, linked, drift=drift).labels
    assert moved[pair[0]] == moved[pair[1]]
    assert 1 <= np.sum(moved != labels) < n_drifting / 2
    assert np.sum(warm.refine(labels, K, linked).labels != labels) > n_drifting / 2


# progress


@pytest.mark.parametrize("n_rounds", [0, 1, 2])
def test_stopped_refinement_leaves_no_trace(vague, noisy, n_rounds):
    warm = vague[2]
    expected = warm.refine(noisy, K, Knowledge())
    shares, calls, before = [], [], noisy.copy()

    def check_stopped():
        calls.append(len(shares))
        if len(shares) == n_rounds:
            raise RuntimeError("by the person")

    with pytest.raises(RuntimeError, match="by the person"):
        warm.refine(noisy, K, Knowledge(), check_stopped=check_stopped, report=shares.append)
    assert len(shares) == n_rounds
    assert calls == list(range(n_rounds + 1))  # before each round
    assert np.array_equal(noisy, before)
    again = warm.refine(noisy, K, Knowledge())
    assert np.array_equal(again.labels, expected.labels)
    assert np.array_equal(again.vote.total, expected.vote.total)


def test_reported_shares_rise_to_1_at_most(vague, noisy):
    def report_shares(count_further_votes):
        shares = []
        vague[2].refine(noisy, K, Knowledge(), report=shares.append, further_votes=count_further_votes)
        return shares

    turn = iter(range(MAX_ROUNDS))
    shares = report_shares(lambda _: 99 * np.eye(K)[(np.arange(N) + next(turn)) % K])
    assert len(shares) == MAX_ROUNDS  # it never settles
    assert shares[-1] == 1
    assert all(first < second for first, second in pairwise(shares))
    settled = report_shares(lambda _: 99 * np.eye(K)[noisy[::-1]])
    assert settled == shares[:2]  # of which the second changes nothing
