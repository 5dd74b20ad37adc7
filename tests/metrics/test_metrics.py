"""Scores against brute force, and the bound against simulated views."""

from itertools import combinations
from math import e, log2

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from consilience.metrics import (
    adjusted_rand_score,
    agreement_matrix,
    agreement_rate,
    average_entropy,
    disagreement_bound,
    evaluate,
    normalized_mutual_info_score,
    pairwise_scores,
)

pytestmark = pytest.mark.quick

labellings = st.integers(2, 25).flatmap(lambda n: st.tuples(*[st.lists(st.integers(0, 4), min_size=n, max_size=n)] * 2))


@settings(max_examples=50, deadline=None)
@given(labellings)
def test_entropy_equals_formula_of_the_paper(both):
    y, labels = map(np.array, both)
    total = 0.0
    for i in set(labels.tolist()):
        inside = y[labels == i].tolist()
        shares = [inside.count(j) / len(inside) for j in set(inside)]
        total += len(inside) * -sum(p * log2(p) for p in shares) / len(y)  # Eq 1
    assert average_entropy(y, labels) == pytest.approx(total, abs=1e-12)
    assert average_entropy(y, labels, base=e) == pytest.approx(total * np.log(2), abs=1e-12)


def test_entropy_of_pure_clusters_is_zero_and_names_do_not_matter():
    assert average_entropy(["a", "a", "b"], [7, 7, 3]) == 0
    for base in (1, np.nan):
        with pytest.raises(ValueError, match=rf"base must be larger than 1 .* got {base}"):
            average_entropy([0, 1], [0, 1], base=base)


@settings(max_examples=50, deadline=None)
@given(labellings)
def test_pairwise_scores_count_pairs(both):
    y, labels = both
    pairs = list(combinations(range(len(y)), 2))
    together = {p for p in pairs if labels[p[0]] == labels[p[1]]}
    belong = {p for p in pairs if y[p[0]] == y[p[1]]}
    scores = pairwise_scores(y, labels)
    hit = len(together & belong)
    assert scores.precision == pytest.approx(hit / len(together) if together else 1)
    assert scores.recall == pytest.approx(hit / len(belong) if belong else 1)
    assert scores.f == pytest.approx(2 * hit / (len(together) + len(belong)) if together or belong else 1)


def test_agreement_counts_entities_with_two_views_or_more():
    assert agreement_rate([0, 1, 1, -1], [0, 1, 0, 0], [0, -1, 1, -1]) == pytest.approx(2 / 3)
    assert agreement_rate([0, 1, 2]) == 1
    assert agreement_rate([0, -1], [-1, 1]) == 1
    assert agreement_rate(np.array([0.0, 1.0, -1.0]), [0, 0, 1]) == 0.5, "whole floats are labels"
    assert disagreement_bound([0, 1, 1]) == disagreement_bound([0, -1], [-1, 0]) == 1


def test_agreement_matrix_is_by_pairs():
    labels = {"a": [0, 0, 1, 1], "b": [0, 0, 1, 0], "c": [-1, -1, 1, 0]}
    matrix = agreement_matrix(labels)
    np.testing.assert_allclose(matrix, [[1, 0.75, 0.5], [0.75, 1, 1], [0.5, 1, 1]])
    assert np.isnan(agreement_matrix([[0, -1], [-1, 0]])[0, 1])


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 5), st.floats(0.02, 0.45), st.floats(0.02, 0.45))
def test_disagreement_bounds_the_error_of_independent_views(seed, k, error_a, error_b):
    rng = np.random.default_rng(seed)
    y = rng.integers(k, size=20_000)

    def view(error):
        wrong = rng.random(len(y)) < error
        return np.where(wrong, (y + rng.integers(1, k, size=len(y))) % k, y)

    a, b = view(error_a), view(error_b)
    bound = disagreement_bound(a, b)
    assert bound == pytest.approx(1 - agreement_rate(a, b))
    assert bound >= max((a != y).mean(), (b != y).mean()) - 0.01


def test_bound_is_largest_of_smallest_disagreements():
    good, fair, poor = [0, 0, 0, 0, 1, 1, 1, 1], [0, 0, 0, 1, 1, 1, 1, 1], [0, 0, 1, 1, 1, 1, 1, 0]
    assert 1 - agreement_matrix(good, fair, poor)[2, 1] == pytest.approx(2 / 8)
    for labels in ((good, fair, poor), ([good, fair, poor],), ({"a": good, "b": fair, "c": poor},)):
        assert disagreement_bound(*labels) == pytest.approx(2 / 8)
        assert agreement_rate(*labels) == pytest.approx(5 / 8)


def test_evaluate_tabulates_all_scores():
    y, good, poor = [0, 0, 1, 1], [1, 1, 0, 0], [0, 1, 1, 1]
    table = evaluate(y, {"good": good, "poor": poor})
    assert table["clustering"].tolist() == ["good", "poor"]
    assert table["entropy"].tolist() == pytest.approx([0, average_entropy(y, poor)])
    assert table["f"].tolist() == pytest.approx([1, pairwise_scores(y, poor).f])
    assert table["nmi"].tolist() == pytest.approx([1, normalized_mutual_info_score(y, poor)])
    assert table["ari"].tolist() == pytest.approx([1, adjusted_rand_score(y, poor)])
    assert evaluate(y, good).n_rows == 1


@pytest.mark.parametrize(
    ("y", "labels", "message"),
    [
        ([], [], "there are no entities"),
        (None, [0, 1], r"y and labels need one entry per entity, got shapes \(\) and \(2,\)"),
        ([0, 1, 1], [0, 1], r"y and labels need one entry per entity, got shapes \(3,\) and \(2,\)"),
        ([0.0, np.nan], [0, 1], "NaN"),
    ],
)
def test_entropy_refuses(y, labels, message):
    with pytest.raises(ValueError, match=message):
        average_entropy(y, labels)


@pytest.mark.parametrize(
    ("view_labels", "message"),
    [
        ([], "no labels to compare"),
        ([{}], "no labels to compare"),
        ([["a", "b"], [0, 1]], "flat sequence of whole numbers, .* got <U1"),
        ([[0.5, 1.0], [0, 1]], "flat sequence of whole numbers, .* got float64"),
        ([[np.nan, 1.0], [0, 1]], "flat sequence of whole numbers, .* got float64"),
        ([[0, 1, 1], [0, 1]], r"a label per entity, got \[3, 2\] labels"),
        ([[[0], [0, 1]], [0, 1]], "flat sequence of whole numbers, .* got nested sequences"),
        ([None], r"flat sequence of whole numbers, .* got an array of shape \(\)"),
        ([pd.DataFrame([[0, 1, 1], [0, 1, 0]])], r"whole numbers, .* got an array of shape \(2, 3\)"),
    ],
)
def test_agreement_refuses(view_labels, message):
    for function in (agreement_rate, agreement_matrix, disagreement_bound):
        with pytest.raises(ValueError, match=message):
            function(*view_labels)


def test_labels_are_rows_of_an_array_of_any_library(to_kind):
    labels = to_kind(np.array([[0, 1, 1, 0], [0, 1, 0, -1]]))
    assert agreement_rate(labels) == pytest.approx(2 / 3)
    assert agreement_matrix(labels)[0, 1] == pytest.approx(2 / 3)
    assert disagreement_bound(labels) == pytest.approx(1 / 3)
