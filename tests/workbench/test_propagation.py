"""How far decisions reach, against the equations of Eaton, desJardins & Jacob 2010 item by item."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.cluster import KMeans

import literal_constrained as literal
from consilience.datasets import load_digits_views
from consilience.methods.agreement.inputs import PreparedSpace, PreparedView, prepare_views
from consilience.methods.agreement.predictors import GraphFeatures
from consilience.workbench.propagation import (
    LEAST_HEIGHT,
    N_FEATURES,
    THRESHOLD,
    PairStatement,
    build_features,
    combine_bells,
    measure_bells,
    propagate_statements,
)

# cases


def make_prepared_view(name, vectors, entities):
    """Return a prepared view that has nothing but eigenvectors, of which the first is not used."""
    vectors = np.column_stack([np.ones(len(vectors)), vectors])
    features = GraphFeatures(vectors, np.ones(vectors.shape[1]), np.ones(len(vectors)))
    return PreparedView(name, np.asarray(entities), [PreparedSpace(None, vectors, None, None, features, None)], True)


def draw_case(seed, n=14, n_groups=3, n_views=3):
    """Return views with missing and equal items, labels with items in no group, and views ignored for items."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(-1, n_groups, n)
    views, ignored = [], {}
    for v in range(n_views):
        entities = np.flatnonzero(rng.random(n) < 0.85)
        vectors = 0.15 * rng.standard_normal((len(entities), int(rng.integers(1, N_FEATURES + 2))))
        vectors[:, 0] += labels[entities]
        vectors[len(vectors) // 2 :: 4] = vectors[:1]
        views.append(make_prepared_view(f"view{v}", vectors, entities))
        if rng.random() < 0.5:
            ignored[f"view{v}"] = rng.random(n) < 0.2
    return views, labels, ignored


cases = st.integers(0, 10_000).map(draw_case)
few_examples = settings(max_examples=10)


# the literal reference


def measure_height_literally(view, labels, ignored, first, other):
    """Return the height at one item of the bell around another: the first factor of Eq 6; 0 if there is no bell."""
    entities = view.entities.tolist()
    mask = ignored.get(view.name, np.zeros(len(labels), bool))
    used = [i for i in entities if labels[i] >= 0 and not mask[i]]
    if first not in used or other not in used:
        return 0.0
    vectors = view.clearest.features.vectors[:, 1 : N_FEATURES + 1]
    columns = [column / np.sqrt(sum(value**2 for value in column) / len(column)) for column in vectors.T]
    X = np.array([[column[entities.index(i)] for column in columns] for i in used])
    group = labels[first]
    members = np.array([x for x, i in zip(X, used, strict=True) if labels[i] == group])
    center = sum(members) / len(members)
    gamma = 1e-6 * (X.var(axis=0).mean() or 1.0)  # of the paper, in units of the features
    sigma = sum(np.outer(x - center, x - center) for x in members) / len(members) + gamma * np.eye(X.shape[1])
    u, i = used.index(first), used.index(other)
    return literal.reach(X, [labels[row] for row in used], {group: center}, {group: sigma}, u, u, i, u)


def combine_heights_literally(views, labels, ignored, first, other):
    """Return the mean of the bells over the views that both items have, of which very low ones count as 0."""
    heights = []
    for view in views:
        mask = ignored.get(view.name, np.zeros(len(labels), bool))
        if all(i in view.entities and labels[i] >= 0 and not mask[i] for i in (first, other)):
            height = measure_height_literally(view, labels, ignored, first, other)
            heights.append(height if height >= LEAST_HEIGHT else 0.0)
    return sum(heights) / len(heights) if heights else 0.0


def propagate_literally(views, statements, labels, ignored, n_groups):
    """Return the votes, (n, k), item by item."""
    votes = np.zeros((len(labels), n_groups))
    for statement in statements:
        for end, other in ((statement.first, statement.second), (statement.second, statement.first)):
            for i in range(len(labels)):
                height = combine_heights_literally(views, labels, ignored, end, i)
                if height >= THRESHOLD and i not in (end, other) and labels[other] >= 0:
                    votes[i, labels[other]] += height if statement.is_together else -height
    return votes


def fill_heights(bells, n):
    """Return the heights of the bells around all items, (n, n), 0 where there is none."""
    heights = np.zeros((n, n))
    for row, bell in bells.items():
        heights[row, bell.rows] = bell.heights
    return heights


def assert_same_heights(heights, expected):
    """Compare heights, of which those within rounding of the threshold may be missing."""
    is_near = np.isclose(np.maximum(heights, expected), THRESHOLD, rtol=1e-6)
    expected = np.where(expected >= THRESHOLD, expected, 0.0)
    np.testing.assert_allclose(heights[~is_near], expected[~is_near], rtol=1e-5, atol=1e-12)


# bells in a view


@few_examples
@given(cases)
def test_bells_equal_the_gaussians_of_the_paper(case):
    views, labels, ignored = case
    n = len(labels)
    for view in views:
        bells = measure_bells(view, range(n), labels, 3, ignored)
        expected = [[measure_height_literally(view, labels, ignored, i, j) for j in range(n)] for i in range(n)]
        assert_same_heights(fill_heights(bells, n), np.array(expected))
        is_ignored = ignored.get(view.name, np.zeros(n, bool))
        assert sorted(bells) == [i for i in view.entities.tolist() if labels[i] >= 0 and not is_ignored[i]]
        for row, bell in bells.items():
            assert dict(zip(bell.rows.tolist(), bell.heights.tolist(), strict=True))[row] == 1
            assert set(bell.rows.tolist()) <= set(bells)
            assert bell.heights.min() >= THRESHOLD * (1 - 1e-6)


def test_item_far_from_its_group_reaches_only_its_duplicates():
    positions = np.r_[np.linspace(-1, 1, 4_000), 500.0, 500.0][:, None]
    bells = measure_bells(make_prepared_view("a", positions, np.arange(4_002)), [4_000], np.zeros(4_002, int), 1)
    assert bells[4_000].rows.tolist() in ([4_000, 4_001], [4_001, 4_000])
    assert bells[4_000].heights.tolist() == [1, 1]


def test_group_of_one_item_reaches_no_other():
    view = make_prepared_view("a", np.linspace(0, 1, 20)[:, None], np.arange(20))
    labels = np.zeros(20, int)
    labels[10] = 1
    assert measure_bells(view, [10], labels, 2)[10].rows.tolist() == [10]


def test_view_without_eigenvectors_puts_all_items_side_by_side():
    view = make_prepared_view("a", np.empty((5, 0)), np.arange(5))
    assert build_features(view).tolist() == [[0.0]] * 5
    assert sorted(measure_bells(view, [0], np.zeros(5, int), 1)[0].rows) == [0, 1, 2, 3, 4]


# bells over the views


@few_examples
@given(cases)
def test_combined_bells_are_means_over_shared_views(case):
    views, labels, ignored = case
    n = len(labels)
    bells = combine_bells(views, range(n), labels, 3, ignored)
    assert sorted(bells) == list(range(n))
    expected = np.array(
        [[combine_heights_literally(views, labels, ignored, i, j) * (i != j) for j in range(n)] for i in range(n)]
    )
    assert_same_heights(fill_heights(bells, n), expected)


def test_one_view_of_three_reaches_nothing_and_two_do():
    apart, beside = np.array([0, 4, 1, 2, 3.0]), np.array([0, 0, 1, 2, 3.0])
    labels = np.zeros(5, int)

    def find_reached(*positions):
        views = [make_prepared_view(str(v), column[:, None], np.arange(5)) for v, column in enumerate(positions)]
        return combine_bells(views, [0], labels, 1)[0].rows.tolist()

    assert 1 not in find_reached(beside, apart, apart)
    assert 1 in find_reached(beside, beside, apart)


# votes


@few_examples
@given(cases, st.integers(0, 10_000))
def test_votes_equal_a_literal_transcription(case, seed):
    views, labels, ignored = case
    rng = np.random.default_rng(seed)
    pairs = [rng.choice(len(labels), 2, replace=False).tolist() for _ in range(4)]
    statements = [PairStatement(*pair, bool(rng.integers(2))) for pair in pairs]
    votes = propagate_statements(views, statements, labels, 3, ignored)
    expected = propagate_literally(views, statements, labels, ignored, 3)
    np.testing.assert_allclose(votes(labels), expected, rtol=1e-5, atol=1e-9)


@few_examples
@given(cases)
def test_votes_are_pairs_that_the_paper_propagates(case):
    """In one view, an item and the other end of the pair have the weight of Eq 6, unless the other order has more."""
    (view, *_), labels, _ = case
    labels = np.unique(np.maximum(labels, 0), return_inverse=True)[1]
    X, entities = build_features(view), view.entities
    n_groups = len(set(labels[entities]))
    numbers = np.unique(labels[entities], return_inverse=True)[1]
    centers = literal.means(X, numbers, n_groups)
    shape = X, numbers, centers, literal.covariances(X, numbers, centers, 1e-6 * X.var(axis=0).mean())
    u, v = 0, len(X) - 1
    pairs, _ = literal.propagate(*shape, [(u, v, 1.0)], [], range(len(X)), THRESHOLD * (1 - 1e-6))
    votes = propagate_statements([view], [PairStatement(int(entities[u]), int(entities[v]), True)], labels, 3)
    for row, partner, weight in zip(votes.rows.tolist(), votes.partners.tolist(), votes.weights.tolist(), strict=True):
        i, j = np.searchsorted(entities, [row, partner]).tolist()
        assert weight == pytest.approx(literal.reach(*shape, u + v - j, j, i, j), rel=1e-5)
        assert pairs[min(i, j), max(i, j)] >= weight * (1 - 1e-5)


def test_votes_follow_the_groups_of_the_other_ends():
    view = make_prepared_view("a", np.repeat([[0.0], [5.0]], 10, axis=0), np.arange(20))
    labels = np.repeat([0, 1], 10)
    votes = propagate_statements([view], [PairStatement(0, 10, True)], labels, 2)
    expected = np.zeros((20, 2))
    expected[1:10, 1] = expected[11:, 0] = 1  # all but the pair
    assert np.array_equal(votes(labels), expected)
    assert np.array_equal(votes(1 - labels), expected[:, ::-1])
    outlier = np.where(np.arange(20) == 10, -1, labels)
    assert np.array_equal(votes(outlier), expected * [1, 0])


def test_no_statements_have_no_votes():
    assert propagate_statements([], [], np.zeros(3, int), 1) is None


# real data


def prepare_digits(order):
    """Return thirty of each digit in some order, prepared in three views."""
    views, y = load_digits_views()
    views = views[["fac", "kar", "pix"]]
    rows = np.flatnonzero(np.arange(len(y)) % 200 < 30)[order]
    return prepare_views(views[rows], dict.fromkeys(views.names, False), 10), y[rows]


@pytest.fixture(scope="module")
def digits():
    """Prepared views, classes, and clusters."""
    prepared, y = prepare_digits(np.arange(300))
    embedding = np.hstack([build_features(view) for view in prepared])
    return prepared, y, KMeans(10, n_init=3, random_state=0).fit_predict(embedding)


def test_items_reached_by_true_pairs_are_of_their_class(digits):
    prepared, y, labels = digits
    pairs = np.random.default_rng(0).integers(300, size=(20_000, 2))
    pairs = pairs[(y[pairs[:, 0]] == y[pairs[:, 1]]) & (pairs[:, 0] != pairs[:, 1])]
    votes = propagate_statements(prepared, [PairStatement(*pair, True) for pair in pairs.tolist()], labels, 10)
    assert len(set(votes.rows.tolist())) > 20
    assert np.mean(y[votes.rows] == y[votes.partners]) > 0.7  # by chance: 0.1


def test_order_of_items_does_not_matter_on_real_data(digits):
    prepared, _, labels = digits
    order = np.random.default_rng(0).permutation(300)
    permuted, _ = prepare_digits(order)
    place = np.argsort(order)
    bells = [combine_bells(prepared, range(300), labels, 10), combine_bells(permuted, place, labels[order], 10)]
    heights = [fill_heights(bells[0], 300), fill_heights(bells[1], 300)[np.ix_(place, place)]]
    assert (heights[0] > 0).sum() > 20
    assert np.mean(np.isclose(heights[0], heights[1], atol=1e-3)) > 0.9999  # others are at the threshold
