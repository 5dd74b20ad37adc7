"""Names at the levels of a hierarchy."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import consilience as cs
from consilience.explain import build_hierarchy, name_clusters, name_levels
from consilience.explain.terms import count_terms
from waiting import limit_cpu_seconds

KINDS = ["steel knife", "steel fork", "red apple", "red cherry", "garden chair"]
LABELS = np.repeat(np.arange(5), 12)
POINTS = np.array([[0.0], [1.0], [10.0], [11.0], [50.0]])[LABELS]
TEXTS = {"t": [KINDS[label].replace(" ", ", ") for label in LABELS]}
VIEWS = cs.Views({"v": np.zeros((60, 1))})
HIERARCHY = build_hierarchy(LABELS, cs.Views([POINTS]))


def test_merged_groups_are_named_by_what_their_clusters_share():
    levels = name_levels(HIERARCHY, LABELS, VIEWS, TEXTS)
    assert list(levels) == HIERARCHY.levels == [1, 2, 3, 4, 5]
    assert levels[5] == name_clusters(LABELS, VIEWS, TEXTS)
    assert levels[1] == ["all"]
    groups = HIERARCHY.cut(3)
    names = [set(name.split(", ")) for name in levels[3]]
    assert "steel" in names[groups[0]]
    assert "red" in names[groups[2]]
    assert names[groups[4]] == {"chair", "garden"}
    levels = name_levels(HIERARCHY, LABELS, VIEWS, TEXTS, names=["a", "b", "c", "d", "my chairs"])
    assert {levels[n][HIERARCHY.cut(n)[4]] for n in (2, 3, 4, 5)} == {"my chairs"}, "unchanged groups keep theirs"
    with pytest.raises(ValueError, match="labels must have one cluster per entity"):
        name_levels(HIERARCHY, [0, 1], VIEWS)


def test_groups_without_terms_are_called_by_their_largest_cluster():
    labels = np.repeat([0, 1, 2], [5, 9, 7])
    hierarchy = build_hierarchy(labels, cs.Views([np.array([[0.0], [1.0], [9.0]])[labels]]))
    levels = name_levels(hierarchy, labels, cs.Views({"v": np.zeros((21, 1))}))
    assert levels == {1: ["all"], 2: ["cluster 1 and 1 more", "cluster 2"], 3: ["cluster 0", "cluster 1", "cluster 2"]}


def test_one_cluster_and_empty_clusters():
    single = np.zeros(4, dtype=int)
    views = cs.Views({"v": np.zeros((4, 1))})
    assert name_levels(build_hierarchy(single, views), single, views) == {1: ["cluster 0"]}
    gap = np.array([0, 0, 2, 2])
    levels = name_levels(
        build_hierarchy(gap, cs.Views([gap[:, None] + 0.0])), gap, views, {"t": ["ant", "ant", "bee", "bee"]}
    )
    assert levels == {1: ["all"], 2: ["ant", "cluster 1", "bee"]}


def test_merged_counts_are_those_of_merged_labels():
    groups = np.array([0, 0, 1, 1, 2])
    merged = count_terms(LABELS, VIEWS, TEXTS).merge(groups)
    direct = count_terms(groups[LABELS], VIEWS, TEXTS)
    assert merged.sizes.tolist() == direct.sizes.tolist()
    for group in range(3):
        assert merged.rank(group) == direct.rank(group)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 14))
def test_names_of_a_level_differ(seed, n_clusters):
    rng = np.random.default_rng(seed)
    labels = rng.integers(n_clusters, size=80)
    words = np.array(["ant", "bee", "cat", "dog", "eel", "fox"])
    texts = {"t": [", ".join(words[[label % 6, label % 4, rng.integers(6)]]) for label in labels]}
    hierarchy = build_hierarchy(labels, cs.Views([rng.normal(size=(80, 2))]))
    for n, names in name_levels(hierarchy, labels, cs.Views({"v": np.zeros((80, 1))}), texts).items():
        groups = hierarchy.cut(n)
        assert len(names) == groups.max() + 1
        assert len(set(names)) == len(names)
        assert all(names)


def test_levels_of_500_clusters_take_no_more_than_seconds():
    rng = np.random.default_rng(0)
    labels = rng.integers(500, size=10_000)
    texts = {"t": [f"w{chr(97 + label % 26)}{chr(97 + label // 26)} common filler text" for label in labels]}
    hierarchy = build_hierarchy(labels, cs.Views([rng.normal(size=(10_000, 4))]))
    with limit_cpu_seconds(10):
        levels = name_levels(hierarchy, labels, cs.Views({"v": np.zeros((10_000, 1))}), texts)
    assert [len(names) for names in levels.values()] == hierarchy.levels
