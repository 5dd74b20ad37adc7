"""How the groups follow from decisions."""

import numpy as np
import pytest

import consilience as cs
from consilience.workbench.clustering import (
    LEAST_EVIDENCE,
    Reclustering,
    count_merge_evidence,
    count_split_evidence,
    satisfy_constraints,
)
from consilience.workbench.knowledge import DecisionSet
from four_groups import CLASSES, N_CLASSES, ROWS, VIEWS, ask, decide, start


def test_true_groups_stay_without_decisions(warm):
    reclustering, clustering, decisions = start(warm, CLASSES)
    after, _ = decide(reclustering, clustering, decisions, action="distrust", view="a", items=[])
    np.testing.assert_array_equal(after.labels, CLASSES)
    assert after.clarity.mean() > 0.5


def test_only_confirmed_views_contest_items(warm):
    for confirmed in (None, VIEWS.names, VIEWS.names[:1]):
        reclustering = Reclustering(warm, CLASSES, confirmed)
        clustering = reclustering.restore(CLASSES, DecisionSet([], ROWS, len(CLASSES)).knowledge)
        expected = cs.explain.contested(clustering.view_labels, confirmed) & (clustering.labels >= 0)
        np.testing.assert_array_equal(clustering.is_contested, expected)
    assert not clustering.is_contested.any()


def test_two_answers_divide_a_group_of_two_classes(warm):
    labels = np.where(CLASSES == 1, 0, CLASSES)
    reclustering, clustering, decisions = start(warm, labels)
    pairs = zip(np.flatnonzero(CLASSES == 0), np.flatnonzero(CLASSES == 1), strict=False)
    for number, (first, second) in enumerate(pairs, 1):
        clustering, decisions = ask(reclustering, clustering, decisions, first, second, "apart")
        if number < LEAST_EVIDENCE:
            assert list(clustering.effects) == []
            assert np.mean(clustering.labels == labels) > 0.9
        if number == LEAST_EVIDENCE:
            break
    assert "divided, because 2 more answers" in clustering.effects[0]
    assert cs.metrics.adjusted_rand_score(CLASSES, clustering.labels) > 0.95


def test_answers_against_a_division_keep_the_group(warm):
    labels = np.where(CLASSES == 1, 0, CLASSES)
    reclustering, clustering, decisions = start(warm, labels)
    first, second = np.flatnonzero(CLASSES == 0), np.flatnonzero(CLASSES == 1)
    for k, action in enumerate(["together", "apart", "together", "apart"]):
        clustering, decisions = ask(reclustering, clustering, decisions, first[k], second[k], action)
    assert len(clustering.numbers) == N_CLASSES - 1


def test_two_answers_about_clear_items_merge_their_groups(warm):
    reclustering, clustering, decisions = start(warm, CLASSES)
    clear = [
        np.flatnonzero((clustering.leading_group == group) & clustering.is_clear)[:LEAST_EVIDENCE] for group in (2, 3)
    ]
    for number, (first, second) in enumerate(zip(*clear, strict=True), 1):
        clustering, decisions = ask(reclustering, clustering, decisions, first, second, "together")
        assert len(clustering.numbers) == (N_CLASSES if number < LEAST_EVIDENCE else N_CLASSES - 1)
    assert "merged, because 2 more answers" in clustering.effects[0]
    assert len(set(clustering.labels[np.isin(CLASSES, (2, 3))].tolist())) == 1


def test_answers_about_groups_that_are_kept_apart_do_not_merge_them(warm):
    reclustering, clustering, decisions = start(warm, CLASSES)
    clear = [np.flatnonzero((clustering.leading_group == group) & clustering.is_clear)[:4] for group in (2, 3)]
    pairs = list(zip(*clear, strict=True))
    for action, (first, second) in zip(["apart", *["together"] * 3], pairs, strict=True):
        clustering, decisions = ask(reclustering, clustering, decisions, first, second, action)
    assert len(clustering.numbers) == N_CLASSES


@pytest.mark.parametrize("seed", range(2))
def test_items_of_a_split_stay_in_their_group_whatever_the_views_say(warm, seed):
    rng = np.random.default_rng(seed)
    reclustering, clustering, decisions = start(warm, CLASSES)
    rows = rng.choice(len(CLASSES), 10, replace=False)
    items = {"items": [str(row) for row in rows], "others": [], "new_group": reclustering.name_new_group(1)}
    clustering, decisions = decide(reclustering, clustering, decisions, action="split", **items)
    assert set(clustering.labels[rows]) == {reclustering.name_new_group(1)}
    first, second = np.setdiff1d(np.arange(len(CLASSES)), rows)[:2]
    clustering, decisions = ask(reclustering, clustering, decisions, first, second, "apart")
    assert set(clustering.labels[rows]) == {reclustering.name_new_group(1)}
    np.testing.assert_array_equal(clustering.labels == -1, False)


def test_item_whose_views_are_all_misleading_keeps_its_group(warm):
    reclustering, clustering, decisions = start(warm, CLASSES)
    row = int(np.flatnonzero(CLASSES == 3)[0])
    for name in VIEWS.names:
        clustering, decisions = decide(
            reclustering, clustering, decisions, action="distrust", view=name, items=[str(row)]
        )
    assert clustering.labels[row] == 3


def test_constraints_hold_after_every_decision(warm):
    rng = np.random.default_rng(0)
    reclustering, clustering, decisions = start(warm, CLASSES)
    for _ in range(12):
        first, second = rng.choice(len(CLASSES), 2, replace=False)
        action = "together" if CLASSES[first] == CLASSES[second] else "apart"
        clustering, decisions = ask(reclustering, clustering, decisions, first, second, action)
        for entry in decisions.entries:
            labels = clustering.labels[decisions.find_rows(entry)]
            assert (labels[0] == labels[1]) == (entry["action"] == "together")


@pytest.mark.parametrize("seed", range(2))
def test_satisfied_labels_differ_from_the_labels_before_only_where_needed(warm, seed):
    rng = np.random.default_rng(seed)
    _, clustering, _ = start(warm, CLASSES)
    pairs = np.array([rng.choice(len(CLASSES), 2, replace=False) for _ in range(6)])
    is_same = CLASSES[pairs[:, 0]] == CLASSES[pairs[:, 1]]
    constraints = cs.Constraints(pairs[is_same], pairs[~is_same], by="position")
    np.testing.assert_array_equal(satisfy_constraints(CLASSES, constraints, clustering), CLASSES)
    wrong = CLASSES.copy()
    first, second = pairs[~is_same][0]
    wrong[second] = wrong[first]
    labels = satisfy_constraints(wrong, constraints, clustering)
    assert labels[first] != labels[second]
    involved = np.unique(pairs)
    np.testing.assert_array_equal(np.delete(labels, involved), np.delete(wrong, involved))


def test_pair_that_no_group_can_separate_stays(warm):
    labels = np.zeros(len(CLASSES), int)
    reclustering, clustering, decisions = start(warm, labels)
    clustering, _ = ask(reclustering, clustering, decisions, 0, 1, "apart")
    np.testing.assert_array_equal(clustering.labels, labels)


def test_divisions_cover_the_group_and_name_central_items_of_both_sides(warm):
    reclustering, clustering, _ = start(warm, np.where(CLASSES == 1, 0, CLASSES))
    divisions = reclustering.find_divisions(clustering, 0)
    assert len(divisions) == 6  # pairs of four parts
    for division in divisions:
        np.testing.assert_array_equal(division.side >= 0, clustering.leading_group == 0)
        assert [set(division.side[items].tolist()) for items in division.central] == [{0}, {1}]
        assert division.size == min(np.sum(division.side == 0), np.sum(division.side == 1)) > 0
        assert division.size == np.sum(division.side == division.smaller)
    sides = np.stack([division.side for division in divisions])[
        :, np.isin(CLASSES, (0, 1)) & (clustering.leading_group == 0)
    ]
    classes = CLASSES[np.isin(CLASSES, (0, 1)) & (clustering.leading_group == 0)]
    assert max(max(np.mean(side == classes), np.mean(side != classes)) for side in sides) > 0.95


def test_group_of_few_items_has_no_divisions(warm):
    labels = CLASSES.copy()
    labels[np.flatnonzero(CLASSES == 0)[5:]] = 1
    reclustering, clustering, _ = start(warm, labels)
    assert reclustering.find_divisions(clustering, 0) == []
    assert reclustering.find_divisions(clustering, N_CLASSES + 1) == []


def test_evidence_counts_answers_for_minus_answers_against(warm):
    reclustering, clustering, _ = start(warm, np.where(CLASSES == 1, 0, CLASSES))
    division = reclustering.find_divisions(clustering, 0)[0]
    left, right = division.central
    entries = [
        {"number": 1, "action": "apart", "items": [str(left[0]), str(right[0])]},
        {"number": 2, "action": "apart", "items": [str(right[1]), str(left[1])]},
        {"number": 3, "action": "apart", "items": [str(left[2]), str(left[3])]},  # not across
        {"number": 4, "action": "together", "items": [str(left[4]), str(right[4])]},
    ]
    for n_entries, expected in ((0, 0), (1, 1), (2, 2), (3, 2), (4, 1)):
        decisions = DecisionSet(entries[:n_entries], ROWS, len(CLASSES))
        assert count_split_evidence(decisions, division.side) == expected


def test_merge_evidence_counts_clear_items_of_both_groups_only(warm):
    _, clustering, _ = start(warm, CLASSES)
    clear = [np.flatnonzero((clustering.leading_group == group) & clustering.is_clear)[:2] for group in (0, 1)]
    entries = [
        {"number": 1, "action": "together", "items": [str(clear[0][0]), str(clear[1][0])]},
        {"number": 2, "action": "together", "items": [str(clear[0][0]), str(clear[0][1])]},  # in one group
    ]
    decisions = DecisionSet(entries, ROWS, len(CLASSES))
    assert count_merge_evidence(clustering, decisions, (0, 1)) == 1
    assert count_merge_evidence(clustering, decisions, (1, 0)) == 1
    assert count_merge_evidence(clustering, decisions, (0, 2)) == 0
