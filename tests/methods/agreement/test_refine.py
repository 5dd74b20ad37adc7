"""Rounds of refinement, against a transcription with loops."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import consilience as cs
from consilience.methods.agreement.ensemble import Ensemble, ViewPredictors, choose_clusters
from consilience.methods.agreement.predictors import LeaveOneOutRidge, NeighborVote
from consilience.methods.agreement.refine import (
    KeptConstraints,
    find_drift,
    keep_clusters,
    keep_constraints,
    refine_labels,
    unite_linked,
)


def make_problem(n=45, k=3, missing=0.3, seed=0):
    """Return points per view, the entities that have each view, and labels."""
    rng = np.random.default_rng(seed)
    y = rng.choice(k, n, p=[0.5, 0.3, 0.2])
    blocks, entities = [], []
    for p in (4, 7):
        has_view = rng.random(n) >= missing
        blocks.append(rng.standard_normal((has_view.sum(), p)) + 1.5 * np.eye(k, p)[y[has_view]])
        entities.append(np.flatnonzero(has_view))
    labels = np.where(rng.random(n) < 0.4, rng.integers(k, size=n), y)
    return blocks, entities, labels


def nearest_others(points, number):
    """Return the nearest other points of each."""
    distances = np.square(points[:, None] - points).sum(axis=2)
    np.fill_diagonal(distances, np.inf)
    return np.argsort(distances, axis=1)[:, :number]


def build(blocks, entities, n, k, balance, ignored=(None, None), convert=np.asarray):
    """Return an ensemble of two predictors per view."""
    views = []
    for v, (points, rows) in enumerate(zip(blocks, entities, strict=True)):
        predictors = [LeaveOneOutRidge.fit(convert(points), 0.05), NeighborVote.fit(nearest_others(points, 5))]
        views.append(ViewPredictors(f"view{v}", rows, predictors, 0.5 + v, ignored[v]))
    return Ensemble(views, n, k, balance, convert(np.empty((0, 1), np.float32)))


def measure_bits(first, second):
    """Return the mutual information of two labellings, by its definition."""
    bits = 0.0
    for a in set(first.tolist()):
        for b in set(second.tolist()):
            joint = np.mean((first == a) & (second == b))
            if joint > 0:
                bits += joint * np.log2(joint / (np.mean(first == a) * np.mean(second == b)))
    return bits


def predict_literally(points, members):
    """Return the left-out scores of a ridge regression and of five neighbours, entity by entity."""
    m, k = members.shape
    F = np.column_stack([points, np.ones(m)])
    size = 0.05 * np.trace(F.T @ F) / F.shape[1]
    ridge, near = np.zeros((m, k)), np.zeros((m, k))
    nearest = nearest_others(points, 5)
    for i in range(m):
        others = [j for j in range(m) if j != i]
        gram = F[others].T @ F[others] + size * np.eye(F.shape[1])
        ridge[i] = F[i] @ np.linalg.solve(gram, F[others].T @ members[others])
        near[i] = sum(members[j] for j in nearest[i]) / 5
    return [ridge, near]


def vote_literally(blocks, entities, labels, k, ignored=(None, None)):
    """Return the votes of all views, and the bits of each predictor; ignored entities neither teach nor get votes."""
    scores, bits, beyond = [], [], []
    for points, rows, mask in zip(blocks, entities, ignored, strict=False):
        is_used = np.ones(len(rows), bool) if mask is None else ~mask
        members = np.array([[float(is_used[p] and labels[i] == c) for c in range(k)] for p, i in enumerate(rows)])
        scores.append([is_used[:, None] * s for s in predict_literally(points, members)])
        labelled = is_used & (labels[rows] >= 0)
        bits.append([measure_bits(labels[rows][labelled], s.argmax(axis=1)[labelled]) for s in scores[-1]])
        beyond.append([max(b - (k - 1) ** 2 / (2 * is_used.sum() * np.log(2)), 0) for b in bits[-1]])
    most = max(max(view_bits) for view_bits in beyond)
    total = np.zeros((len(labels), k))
    for v, rows in enumerate(entities):
        for s, b in zip(scores[v], beyond[v], strict=True):
            weight = (0.5 + v) * max(b / most, 1e-4) ** 0.25
            for row, i in enumerate(rows):
                total[i] += weight * s[row]
    return total, bits


def choose_literally(total, labels, k, balance):
    """Return the cluster with most votes, in balance; the largest cluster without a vote."""
    labelled = labels[labels >= 0]
    sizes = [max(1, np.sum(labelled == c)) / len(labelled) for c in range(k)]
    balanced = [[votes[c] / sizes[c] ** balance for c in range(k)] if votes.any() else sizes for votes in total]
    return np.argmax(balanced, axis=1)


def put_back_literally(chosen, labels):
    """Return the chosen clusters, with members put back into clusters that would die."""
    while missing := {label for label in labels if label >= 0} - set(chosen):
        chosen = np.array([labels[i] if labels[i] in missing else chosen[i] for i in range(len(labels))])
    return chosen


@pytest.mark.parametrize(
    ("balance", "open_labels", "is_informed"), [(0.0, 0, False), (1.0, 8, False), (0.5, 0, True), (0.5, 8, True)]
)
def test_rounds_equal_a_literal_transcription(balance, open_labels, is_informed):
    """What is known are outliers, ignored views, drift and further votes, all at once."""
    blocks, entities, labels = make_problem()
    assert len(set(range(45)) - set(np.concatenate(entities))) > 0  # entities without any view
    rng = np.random.default_rng(1)
    share = 0.3 * is_informed
    ignored = [rng.random(len(rows)) < share for rows in entities]
    is_outlier = rng.random(45) < share / 2
    drift = np.where(rng.random(45) < 0.5 * is_informed, rng.integers(3, size=45), -1)
    weights = is_informed * rng.normal(scale=0.5, size=(45, 3))
    labels[:open_labels] = -1

    def count_further_votes(labels):
        return weights * (labels >= 0).sum() / 45 + 0.2 * is_informed * (labels[:, None] == np.arange(3))

    ensemble = build(blocks, entities, 45, 3, balance, ignored)
    rounds = refine_labels(ensemble, labels, 0.0, is_outlier=is_outlier, drift=drift, further_votes=count_further_votes)
    labels = np.where(is_outlier, -1, labels)
    total, _ = vote_literally(blocks, entities, labels, 3, ignored)
    np.testing.assert_allclose(ensemble.vote(labels).total, total, atol=1e-4)
    if open_labels:
        labels = np.where((labels < 0) & ~is_outlier, choose_literally(total, labels, 3, balance), labels)
    first_labels, n_kept = labels, 0
    for _ in range(4):
        total, _ = vote_literally(blocks, entities, labels, 3, ignored)
        chosen = choose_literally(total + count_further_votes(labels), labels, 3, balance)
        for i in range(45):
            if is_outlier[i]:
                chosen[i] = -1
            elif chosen[i] == drift[i]:
                n_kept += chosen[i] != first_labels[i]
                chosen[i] = first_labels[i]
        chosen = put_back_literally(chosen, labels)
        changed, labels = np.mean(chosen != labels), chosen
        _, bits = vote_literally(blocks, entities, labels, 3, ignored)
        state = next(rounds)
        assert np.array_equal(state.labels, labels)
        assert state.changed == changed
        n_used = [(~mask).sum() for mask in ignored]
        assert state.score == pytest.approx(np.average([np.mean(b) for b in bits], weights=n_used), abs=1e-9)
        assert state.settled == (changed == 0)
        assert state.record == {"bits": state.score, "changed": state.changed}
    assert (n_kept > 0) == is_informed


@pytest.mark.parametrize("open_labels", [0, 12])
def test_labels_given_to_outliers_do_not_matter(open_labels):
    blocks, entities, labels = make_problem()
    labels[:open_labels] = -1
    is_outlier = np.arange(45) % 5 == 4
    ensemble = build(blocks, entities, 45, 3, 0.5)
    results = []
    for first_labels in (labels, np.where(is_outlier, 2, labels), np.where(is_outlier, -1, labels)):
        rounds = refine_labels(ensemble, first_labels, 0.0, is_outlier=is_outlier)
        results.append([next(rounds).labels for _ in range(3)])
    assert (np.array(results) == results[0]).all()
    assert ((np.array(results) == -1) == is_outlier).all()


def test_linked_entities_stay_together_if_only_one_would_have_moved_anyway():
    blocks, entities, labels = make_problem(missing=0.0)
    labels[:2] = 0
    constraints = cs.Constraints([(0, 1)])
    ensemble = build(blocks, entities, 45, 3, 0.5)

    def count_further_votes(_):
        return 100.0 * np.eye(3)[[2] * 2 + labels.tolist()[2:]]

    def move(drift):
        rounds = refine_labels(ensemble, labels, 0.0, constraints, drift=drift, further_votes=count_further_votes)
        return next(rounds).labels[:2].tolist()

    nowhere = np.full(45, -1)
    assert move(nowhere) == [2, 2]
    assert move(np.r_[2, nowhere[1:]]) == [2, 2]
    assert move(np.r_[2, 2, nowhere[2:]]) == [0, 0]


def test_entity_that_would_have_moved_anyway_does_not_leave_the_cluster_of_its_link():
    """Must-links come before drift: the label that is kept is that of the linked entities."""
    blocks, entities, labels = make_problem(missing=0.0)
    labels[:3] = 0, 1, 1
    constraints = cs.Constraints([(0, 1), (1, 2)])
    votes = 100.0 * np.eye(3)[[2] * 3 + labels.tolist()[3:]]
    rounds = refine_labels(
        build(blocks, entities, 45, 3, 0.5), labels, 0.0, constraints,
        drift=np.r_[2, 2, 2, np.full(42, -1)], further_votes=lambda _: votes,
    )  # fmt: skip
    assert next(rounds).labels[:3].tolist() == [1, 1, 1]


def draw_state(seed):
    """Return an ensemble, constraints, outliers, and a state of a refinement that is not settled."""
    rng = np.random.default_rng(seed)
    blocks, entities, labels = make_problem(n=24, seed=seed)
    is_outlier = rng.random(24) < 0.1
    free = np.flatnonzero(~is_outlier)
    pairs = np.array([rng.choice(free, 2, replace=False) for _ in range(8)])
    constraints = cs.Constraints(pairs[:4], pairs[4:] if rng.random() < 0.5 else (), by="position")
    ignored = [rng.random(len(rows)) < 0.2 for rows in entities]
    ensemble = build(blocks, entities, 24, 3, 0.5, ignored)
    state = next(refine_labels(ensemble, labels, 0.0, constraints, is_outlier=is_outlier))
    return ensemble, constraints, is_outlier, state


@settings(max_examples=15)
@given(st.integers(0, 10_000))
def test_drift_is_what_the_next_round_would_change(seed):
    ensemble, constraints, is_outlier, state = draw_state(seed)
    further = next(refine_labels(ensemble, state.labels, 0.0, constraints, is_outlier=is_outlier)).labels
    assert np.array_equal(find_drift(ensemble, state, constraints), np.where(further == state.labels, -1, further))


@settings(max_examples=15)
@given(st.integers(0, 10_000))
def test_refinement_from_a_state_and_its_drift_changes_nothing(seed):
    """Without new knowledge, all that entities would do is drift; of cannot-links this is nearly always true."""
    ensemble, constraints, is_outlier, state = draw_state(seed)
    constraints = cs.Constraints(constraints.must_link, by="position")
    drift = find_drift(ensemble, state, constraints)
    rounds = refine_labels(ensemble, state.labels, 0.0, constraints, is_outlier=is_outlier, drift=drift)
    for _ in range(2):
        assert np.array_equal(next(rounds).labels, state.labels)


def test_vote_of_array_libraries(to_kind):
    blocks, entities, labels = make_problem()
    expected, vote = (build(blocks, entities, 45, 3, 0.5, convert=kind).vote(labels) for kind in (np.asarray, to_kind))
    assert type(vote.total) is type(to_kind(np.zeros(1)))
    np.testing.assert_allclose(np.asarray(vote.total), expected.total, atol=1e-5)


def test_row_without_votes_gets_the_largest_cluster():
    votes = np.array([[0.0, 0, 0], [0, -1, 0], [1, 3, 0]])
    sizes = np.array([0.2, 0.7, 0.1])
    assert choose_clusters(votes, sizes, 0.5).tolist() == [1, 0, 1]
    assert choose_clusters(votes, sizes, 1.0).tolist() == [1, 0, 0]


def test_uninformative_views_vote_equally():
    rng = np.random.default_rng(0)
    points, labels = rng.standard_normal((40, 3)), np.zeros(40, int)
    ensemble = build([points], [np.arange(40)], 40, 3, 0.5)
    assert [weights.tolist() for weights in ensemble.vote(labels).weights] == [[0.5, 0.5]]


def test_chain_of_moves_loses_no_cluster():
    """The only member of each cluster moves on: putting one back empties the cluster that it had moved to."""
    labels = np.array([0, 1, 2, 3, 3, 3])
    assert keep_clusters(np.array([1, 2, 3, 3, 3, 3]), labels, 5).tolist() == [0, 1, 2, 3, 3, 3]
    assert keep_clusters(np.array([0, 0, 2, 3, 3, 1]), labels, 4).tolist() == [0, 0, 2, 3, 3, 1]


@pytest.mark.parametrize("seed", range(8))
def test_random_moves_lose_no_cluster_and_break_no_constraint(seed):
    rng = np.random.default_rng(seed)
    labels, chosen = rng.integers(8, size=20), rng.integers(8, size=20) * rng.integers(2, size=20)
    pairs = np.array([(i, j) for i in range(20) for j in range(i) if rng.random() < 0.1])
    kept = KeptConstraints.from_labels(cs.Constraints(pairs[::2], pairs[1::2]), labels)
    moved = keep_constraints(kept.pool(np.eye(8)[chosen]).argmax(axis=1), labels, kept, 8)
    assert set(moved) >= set(labels)
    assert_kept(pairs[::2], pairs[1::2], labels, moved)


def assert_kept(must_link, cannot_link, before, after):
    """Assert that links which the labels before satisfy are satisfied after."""
    for i, j in must_link:
        assert before[i] != before[j] or after[i] == after[j]
    for i, j in cannot_link:
        assert before[i] == before[j] or after[i] != after[j]


def test_constraints_of_open_labels_do_not_hang():
    blocks, entities, labels = make_problem(missing=0.0)
    labels[::2] = -1
    constraints = cs.Constraints([(0, 2), (1, 3)], [(i, i + 1) for i in range(44)])
    ensemble = build(blocks, entities, 45, 3, 0.5)
    filled = np.where(labels < 0, ensemble.choose(ensemble.vote(labels).total, labels), labels)
    filled = unite_linked(filled, constraints, 3)
    rounds = refine_labels(ensemble, labels, 0.0, constraints)
    for _ in range(4):
        assert_kept(constraints.must_link, constraints.cannot_link, filled, next(rounds).labels)


def test_pooled_votes_are_sums_over_groups(to_kind):
    kept = KeptConstraints.from_labels(cs.Constraints([(0, 1), (1, 4)]), np.zeros(6, int))
    votes = np.arange(12.0).reshape(6, 2)
    expected = votes.copy()
    expected[[0, 1, 4]] = votes[[0, 1, 4]].sum(axis=0)
    np.testing.assert_allclose(np.asarray(kept.pool(to_kind(votes))), expected)


# clusters and links with entities that have no cluster


def draw_moves(n, k):
    """Return labels before and after a round, in which entities without a cluster get none."""
    label = st.integers(-1, k - 1)
    return st.lists(st.tuples(label, st.integers(0, k - 1)), min_size=n, max_size=n).map(
        lambda rows: (
            np.array([before for before, _ in rows]),
            np.array([-1 if before < 0 else after for before, after in rows]),
        )
    )


@given(st.tuples(st.integers(1, 12), st.integers(1, 5)).flatmap(lambda sizes: draw_moves(*sizes)))
def test_kept_clusters_with_entities_in_none(moves):
    labels, chosen = moves
    kept = keep_clusters(chosen, labels, 5)
    assert np.array_equal(kept == -1, labels == -1)
    assert set(kept.tolist()) >= set(labels.tolist())
    assert ((kept == chosen) | (kept == labels)).all()
    if set(chosen.tolist()) >= set(labels.tolist()):
        assert np.array_equal(kept, chosen)
    placed = labels >= 0
    assert np.array_equal(kept[placed], keep_clusters(chosen[placed], labels[placed], 5))
    # an entity is put back only if its cluster would have lost all its members
    for cluster in set(labels[kept != chosen].tolist()):
        assert (kept[labels == cluster] == cluster).all()


@given(
    st.lists(st.integers(-1, 3), min_size=1, max_size=10),
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=8),
)
def test_united_links_with_entities_in_no_cluster(values, pairs):
    labels = np.array(values)
    pairs = [(i, j) for i, j in pairs if i != j and max(i, j) < len(labels)]
    united = unite_linked(labels, cs.Constraints(pairs, by="position"), 4)
    assert np.array_equal(united == -1, labels == -1)
    components = {frozenset([i]) for i in range(len(labels))}
    for i, j in pairs:
        first, second = (next(c for c in components if row in c) for row in (i, j))
        components = (components - {first, second}) | {first | second}
    for component in components:
        before = [labels[i] for i in component if labels[i] >= 0]
        after = {united[i] for i in component if labels[i] >= 0}
        assert len(after) == bool(before)
        if before:
            most = max(before.count(label) for label in before)
            assert after == {min(label for label in before if before.count(label) == most)}
