"""What marks a cluster, against a literal loop; who is typical."""

import math
from itertools import chain

import numpy as np
import pytest
import scipy.sparse as sp

import consilience as cs
from consilience.explain import Mark, profile, typical

LABELS = np.repeat([0, 1, 2, 3], [10, 14, 6, 1])


def make_noise(n_columns=7):
    rng = np.random.default_rng(0)
    return rng.normal(size=(len(LABELS), n_columns)) + 2 * (LABELS[:, None] == np.arange(n_columns))


def make_counts(n_columns=7):
    rng = np.random.default_rng(1)
    return rng.poisson(0.4 + 3 * (LABELS[:, None] == np.arange(n_columns))).astype(float)


def compute_marks_literally(X, labels, present, n_top, names=None):
    """Compute means inside and outside each cluster, and their difference in standard errors, column by column."""
    X = X.toarray() if sp.issparse(X) else np.asarray(X, dtype=float)
    rows = [i for i in range(len(labels)) if present[i] and labels[i] >= 0]
    signed = any(X[i, j] < 0 for i in rows for j in range(X.shape[1]))
    by_cluster = []
    for c in range(max(labels) + 1):
        marks = []
        for j in range(X.shape[1]):
            inside = [X[i, j] for i in rows if labels[i] == c]
            outside = [X[i, j] for i in rows if labels[i] != c]
            if not inside or not outside:
                continue
            error = math.sqrt(np.var(inside) / len(inside) + np.var(outside) / len(outside))
            difference = np.mean(inside) - np.mean(outside)
            if not difference:
                continue
            strength = difference / error if error else math.copysign(math.inf, difference)
            if (abs(strength) if signed else strength) > 2:
                feature = str(j if names is None else names[j])
                marks.append(Mark(feature, strength, np.mean(inside), np.mean(outside)))
        by_cluster.append(sorted(marks, key=lambda mark: -(abs(mark.strength) if signed else mark.strength))[:n_top])
    return by_cluster


def list_features(marks_by_cluster):
    return [[mark.feature for mark in marks] for marks in marks_by_cluster]


def assert_same(marks_by_cluster, expected):
    assert list_features(marks_by_cluster) == list_features(expected)
    for mark, expected_mark in zip(chain(*marks_by_cluster), chain(*expected), strict=True):
        assert mark.strength == pytest.approx(expected_mark.strength, rel=1e-5)
        assert mark.inside == pytest.approx(expected_mark.inside)
        assert mark.outside == pytest.approx(expected_mark.outside)


@pytest.mark.parametrize(
    ("make", "n_top"),
    [
        (make_noise, 100),
        (make_counts, 100),
        (lambda: sp.csr_array(make_counts()), 100),
        (lambda: sp.csr_array(make_noise()), 100),
        (make_noise, 0),
        (make_counts, 1),
        (lambda: sp.csr_array(make_counts()), 3),
    ],
)
def test_equals_literal_loop(make, n_top):
    X = make()
    profiles = profile(cs.Views({"x": X}), LABELS, n_top=n_top)["x"]
    assert_same(profiles, compute_marks_literally(X, LABELS, np.ones(len(LABELS), bool), n_top))
    if n_top > 3:
        assert all(profiles[:3])  # each is marked by something


def test_entities_without_the_view_and_without_a_cluster_do_not_count():
    X, labels = make_counts(), LABELS.copy()
    labels[:30:5] = -1
    present = np.random.default_rng(2).random(len(labels)) < 0.7
    both = np.stack([present, np.ones_like(present)], axis=1)
    for block in (sp.csr_array(np.where(present[:, None], X, 0)), np.where(present[:, None], X, np.nan)):
        profiles = profile(cs.Views({"x": block, "y": np.ones((len(labels), 1))}, present=both), labels)
        assert_same(profiles["x"], compute_marks_literally(X, labels, present, 10))
        assert profiles["y"] == [[], [], [], []]


def test_columns_have_their_names():
    X = make_counts(3)
    views = cs.Views.from_columns(X, {"left": [0, 2], "right": [1]})
    assert {mark.feature for marks in profile(views, LABELS)["left"] for mark in marks} <= {"0", "1", "2"}
    frame = pytest.importorskip("pandas").DataFrame(X, columns=["red", "green", "blue"])
    profiles = profile(cs.Views({"x": frame}), LABELS)["x"]
    assert_same(profiles, compute_marks_literally(X, LABELS, np.ones(len(LABELS), bool), 10, ["red", "green", "blue"]))


def test_smaller_means_mark_clusters_only_with_negative_numbers_and_empty_and_full_ones_have_no_marks():
    X = np.array([[0.0], [0.1], [5.0], [5.2], [5.1]])
    labels = [0, 0, 1, 1, 1]
    assert profile(cs.Views({"x": X}), labels)["x"][0] == []
    profiles = profile(cs.Views({"x": X - 3}), labels)["x"]
    assert profiles[0][0].strength == pytest.approx(-profiles[1][0].strength)
    assert profiles[0][0].strength < 0
    views = cs.Views({"x": make_counts()})
    assert profile(views, LABELS * 0)["x"] == [[]]
    assert profile(views, np.where(LABELS == 1, 2, 0))["x"][1] == []
    assert profile(views, np.full(len(LABELS), -1))["x"] == []
    with pytest.raises(ValueError, match="labels"):
        profile(views, LABELS[:5])


def test_first_of_equal_columns_wins():
    X = np.tile([[4.0], [5.0], [0.0], [1.0]], (1, 6))
    assert list_features(profile(cs.Views({"x": X}), [0, 0, 1, 1], n_top=3)["x"])[0] == ["0", "1", "2"]


def test_small_whole_numbers_do_not_overflow():
    for dtype, factor in ((np.uint8, 20), (np.int8, 20), (np.int16, 400)):
        X = np.minimum(make_counts() * factor, np.iinfo(dtype).max)
        profiles = profile(cs.Views({"x": sp.csr_array(X.astype(dtype))}), LABELS)["x"]
        assert_same(profiles, compute_marks_literally(X, LABELS, np.ones(len(LABELS), bool), 10))


@pytest.mark.parametrize("offset", [1e6, -1e8])
def test_marks_do_not_depend_on_offset(offset):
    X = make_noise()
    shifted = profile(cs.Views({"x": X + offset}), LABELS)["x"]
    expected = compute_marks_literally(X, LABELS, np.ones(len(LABELS), bool), 10)
    if offset > 0:  # nothing is negative: only what is larger marks
        expected = [[mark for mark in marks if mark.strength > 0] for marks in expected]
    assert list_features(shifted) == list_features(expected)


@pytest.mark.parametrize(("seed", "n"), [(0, 5), (1, 2)])
def test_typical_equals_literal_loop(seed, n):
    rng = np.random.default_rng(seed)
    labels, sure = rng.integers(-1, 4, size=50), rng.integers(0, 5, size=50) / 4
    expected = [
        sorted((i for i in range(50) if labels[i] == c), key=lambda i: (-sure[i], i))[:n]
        for c in range(labels.max() + 1)
    ]
    assert [entities.tolist() for entities in typical(labels, sure, n)] == expected
    assert typical([], []) == []


def test_words_describe_views_without_column_names():
    texts = ["red apple", "red pear", "blue sky", "blue sea"] * 10
    labels = np.array([0, 0, 1, 1] * 10)
    embedding = np.random.default_rng(0).normal(size=(40, 3))
    views = cs.Views({"text": embedding, "meaning": embedding, "x": embedding})
    profiles = profile(views, labels, texts={"text": texts, "meaning": texts})
    assert [marks[0].feature for marks in profiles["text"]] == ["red", "blue"]
    assert list(profiles) == ["text", "x"]  # 'meaning' has the texts of 'text'
    assert profiles["x"] == profile(views, labels)["x"]
    views = cs.Views({"text": embedding})
    texts = ["le lit est bon et nous l'avons aimé", "the bed is good and we liked it"] * 20
    marks_per_cluster = profile(views, [0, 1] * 20, texts={"text": texts})["text"]
    words = [{mark.feature for mark in marks} for marks in marks_per_cluster]
    assert words == [{"lit", "bon", "aimé"}, {"bed", "good", "liked"}], "function words do not describe clusters"
    assert profile(views, labels, texts={"text": [f"word{i}" for i in range(40)]})["text"] == [[], []]
    frame = pytest.importorskip("pandas").DataFrame({"weight": [1.0, 2.0, 8.0, 9.0] * 10})
    views = cs.Views({"x": frame})
    assert profile(views, labels, texts={"x": ["same words"] * 40}) == profile(views, labels)
