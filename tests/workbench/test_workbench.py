"""The workbench: what each decision says, what it changes, and what undoing it restores."""

import os
import shutil
import threading
import time
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

import consilience as cs
from consilience.workbench.decisions import DecisionLog, ReadOnlyError
from consilience.workbench.errors import Contradiction, NotReadyError, OutdatedError
from consilience.workbench.workbench import Work, Workbench, find_steps
from small_runs import (
    CLASSES,
    IDS,
    N_ITEMS,
    cluster_items,
    decide,
    dump_strictly,
    find_decision,
    open_workbench,
    read_log,
    settle,
)
from waiting import HANG_LIMIT, wait_until


@pytest.fixture
def workbench(result, tmp_path):
    with open_workbench(result, tmp_path / "run") as workbench:
        yield workbench


def test_decisions_about_another_run_are_refused(result, tmp_path, tmp_path_factory):
    with open_workbench(result, tmp_path) as workbench:
        decide(workbench, "outlier", [5])
    other = cluster_items(tmp_path_factory.mktemp("data") / "items.csv", 4, method="k-means")
    with pytest.raises(ValueError, match="has decisions about another run"):
        Workbench(other, tmp_path)


def get_groups(workbench):
    """Return the numbers of the groups of classes 0, 1 and 2."""
    labels = workbench.snapshot.clustering.labels
    return [int(np.bincount(labels[k == CLASSES]).argmax()) for k in range(3)]


def find_members(workbench, group):
    return np.flatnonzero(workbench.snapshot.clustering.labels == group).tolist()


def are_together(labels, rows):
    return len(set(labels[list(rows)].tolist())) == 1


# each action: its line in the log, its effect, and undoing it


def test_two_items_that_belong_together_get_one_group(workbench):
    before = settle(workbench)
    number = decide(workbench, "together", [0, 40])
    after = settle(workbench)
    assert read_log(workbench.folder) == [{"action": "together", "items": [IDS[0], IDS[40]]}]
    assert before[0] != before[40]
    assert are_together(after, [0, 40])
    assert find_decision(workbench, number)["status"] == "satisfied"
    assert workbench.describe_state()["changes"]["after"] == number
    workbench.undo(number)
    assert np.array_equal(settle(workbench), before)
    assert not find_decision(workbench, number)["is_active"]
    assert [workbench.describe_state()[step] for step in ("undo", "redo")] == [None, number]
    workbench.redo(number)
    assert np.array_equal(settle(workbench), after)


def test_selection_and_whole_group_that_belong_together_get_one_group(workbench):
    group = get_groups(workbench)[1]
    members, name = find_members(workbench, group), workbench.snapshot.names[group]
    number = decide(workbench, "together", groups=[group])
    assert read_log(workbench.folder)[0]["items"] == [IDS[row] for row in members]
    assert are_together(settle(workbench), members)
    assert find_decision(workbench, number)["sentence"] == f"30 items belong together (group “{name}”)."
    number = decide(workbench, "together", [0, 1, 31, 62])
    assert are_together(settle(workbench), [0, 1, 31, 62])
    assert read_log(workbench.folder)[1]["items"] == [IDS[0], IDS[1], IDS[31], IDS[62]]
    assert find_decision(workbench, number)["sentence"] == "4 items belong together."


def test_items_and_selections_that_do_not_belong_together_get_different_groups(workbench):
    before = settle(workbench)
    number = decide(workbench, "apart", [3, 4])
    assert read_log(workbench.folder) == [{"action": "apart", "items": [IDS[3], IDS[4]]}]
    assert before[3] == before[4]
    assert len(set(settle(workbench)[[3, 4]].tolist())) == 2
    assert find_decision(workbench, number)["status"] == "satisfied"
    workbench.undo(number)
    assert np.array_equal(settle(workbench), before)
    number = decide(workbench, "apart", [3, 4, 5])
    assert len(set(settle(workbench)[[3, 4, 5]].tolist())) == 3
    workbench.undo(number)
    number = decide(workbench, "apart", [3, 4], other_rows=[5, 6])
    labels = settle(workbench)
    assert not set(labels[[3, 4]].tolist()) & set(labels[[5, 6]].tolist())
    assert find_decision(workbench, number)["sentence"] == (
        "“item 03” and “item 04” do not belong with “item 05” and “item 06”."
    )


def test_two_groups_are_kept_apart_by_their_typical_members(workbench):
    groups = get_groups(workbench)[:2]
    before = settle(workbench)
    decide(workbench, "apart", groups=groups)
    entry = read_log(workbench.folder)[0]
    members = [[before[IDS.index(item)] for item in entry[key]] for key in ("items", "others")]
    assert members == [[groups[0]] * 3, [groups[1]] * 3]
    with pytest.raises(Contradiction, match="decision 1 must be withdrawn"):
        workbench.decide({"action": "merge", "groups": groups})


def test_merged_groups_have_the_members_of_both(workbench):
    before, (first, second, _) = settle(workbench), get_groups(workbench)
    number = decide(workbench, "merge", groups=[first, second])
    after = settle(workbench)
    entry = read_log(workbench.folder)[0]
    assert entry["groups"] == [first, second]
    assert [len(items) for items in entry["exemplars"]] == [3, 3]
    assert workbench.snapshot.clustering.n_groups == 2
    assert are_together(after, np.flatnonzero(np.isin(before, [first, second])))
    assert find_decision(workbench, number)["status"] == "satisfied"
    assert number == workbench.describe_state()["undo"]
    workbench.undo(number)
    assert np.array_equal(settle(workbench), before)


def test_split_makes_a_new_group_with_a_name(workbench):
    before = settle(workbench)
    number = decide(workbench, "split", range(30, 38), name="  best \n knives ")
    labels = settle(workbench)
    assert are_together(labels, range(30, 38))
    group = int(labels[30])
    assert group > before.max()
    state = next(entry for entry in workbench.describe_state()["groups"] if entry["number"] == group)
    assert state["is_new"]
    assert state["name"] == "best knives"
    entry = read_log(workbench.folder)[0]
    assert entry["new_group"] == group
    assert not set(labels[[IDS.index(item) for item in entry["others"]]].tolist()) & {group}
    workbench.undo(number)
    assert np.array_equal(settle(workbench), before)
    decide(workbench, "split", [0])
    assert settle(workbench)[0] > group  # a number that no other decision uses


def test_renamed_group_has_the_name_until_it_is_undone(workbench):
    group = get_groups(workbench)[0]
    before, name = settle(workbench), workbench.snapshot.names[group]
    decide(workbench, "rename", groups=[get_groups(workbench)[1]], name=" a\x1b\ud800\nb ")
    assert workbench.snapshot.names[get_groups(workbench)[1]] == "a\ufffd\ufffd b"  # without control characters
    number = decide(workbench, "rename", groups=[group], name="fruits")
    assert workbench.snapshot.names[group] == "fruits"
    assert np.array_equal(settle(workbench), before)
    assert find_decision(workbench, number)["sentence"] == f"Group “{name}” is called “fruits”."
    assert find_decision(workbench, number)["status"] == "satisfied"
    with pytest.raises(ValueError, match=r"another group is called 'FRUITS': choose another name"):
        workbench.decide({"action": "rename", "groups": [get_groups(workbench)[1]], "name": "FRUITS"})
    workbench.undo(number)
    settle(workbench)
    assert workbench.snapshot.names[group] == name


def test_name_of_a_group_changes_nothing_else(workbench, monkeypatch):
    """Naming a group, undoing and redoing that, and leaving a pair open cluster no item again."""
    decide(workbench, "together", [0, 40])
    group, other, _ = get_groups(workbench)
    shown, state, questions = workbench.snapshot, workbench.describe_state(), workbench.list_questions(3)
    for name in ("apply", "restore"):
        monkeypatch.setattr(workbench.opened.reclustering, name, pytest.fail)
    monkeypatch.setattr("consilience.workbench.workbench.rank_questions", pytest.fail)
    monkeypatch.setattr("consilience.workbench.describe.choose_names", pytest.fail)
    number = decide(workbench, "rename", groups=[group], name="fruits")
    workbench.undo(number)
    settle(workbench)
    assert workbench.snapshot.names == shown.names
    workbench.redo(number)
    workbench.answer({"pair": [0, 40], "answer": "unknown"})
    settle(workbench)
    named = workbench.describe_state()
    assert workbench.snapshot.names == {**shown.names, group: "fruits"}
    assert {item["number"]: item["name"] for item in named["groups"]} == workbench.snapshot.names
    assert workbench.snapshot.clustering is shown.clustering
    assert {name: named[name] for name in ("clustering", "changes", "labels")} == {
        name: state[name] for name in ("clustering", "changes", "labels")
    }
    assert workbench.list_questions(3) == questions
    assert workbench.describe_group(other)["name"] == shown.names[other]


def test_groups_with_names_are_stored_by_the_decisions_that_they_follow_from(result, tmp_path, monkeypatch):
    with open_workbench(result, tmp_path) as workbench:
        decide(workbench, "rename", groups=[0], name="fruits")
        decide(workbench, "outlier", [5])
        decide(workbench, "rename", groups=[0], name="food")
        labels = settle(workbench)
    monkeypatch.setattr("consilience.workbench.clustering.Reclustering.apply", pytest.fail)
    with open_workbench(result, tmp_path) as workbench:
        assert np.array_equal(settle(workbench), labels)
        assert workbench.snapshot.names[0] == "food"


def test_decisions_say_what_later_ones_have_left_of_them(workbench):
    def read(number):
        shown = find_decision(workbench, number)
        return shown["status"], shown["reason"]

    _, first, second = get_groups(workbench)
    whole = decide(workbench, "split", range(5, 15), name="whole")
    part = decide(workbench, "split", range(5, 9), name="part")
    labels = settle(workbench)
    assert are_together(labels, range(5, 9))
    assert are_together(labels, range(9, 15))
    assert labels[5] != labels[9]
    assert read(whole) == ("satisfied", "4 items were made another group later.")
    workbench.undo(part)
    assert are_together(settle(workbench), range(5, 15))
    pair = decide(workbench, "together", [0, 40, 41])
    decide(workbench, "outlier", [0])
    assert read(pair) == ("satisfied", "1 item was made an outlier later.")
    small = min((first, second), key=lambda group: (len(find_members(workbench, group)), -group))
    renamed = decide(workbench, "rename", groups=[small], name="gone")
    decide(workbench, "merge", groups=[first, second])
    assert read(renamed) == ("", "The group does not exist any more.")


def test_outliers_are_in_no_group_until_a_later_decision(workbench):
    before = settle(workbench)
    number = decide(workbench, "outlier", [7, 8])
    assert np.flatnonzero(settle(workbench) < 0).tolist() == [7, 8]
    assert find_decision(workbench, number)["status"] == "satisfied"
    decide(workbench, "together", [7, 9])
    labels = settle(workbench)
    assert labels[7] == labels[9] >= 0
    assert labels[8] == -1
    assert find_decision(workbench, number)["reason"] == "A later decision put it into a group."
    workbench.undo(2)
    workbench.undo(1)
    assert np.array_equal(settle(workbench), before)


def test_misleading_view_does_not_count_for_items_or_all_members_of_a_group(workbench):
    number = decide(workbench, "distrust", [0, 1], view="text")
    assert read_log(workbench.folder) == [{"action": "distrust", "items": [IDS[0], IDS[1]], "view": "text"}]
    item = workbench.describe_item(0)
    assert [view["name"] for view in item["views"] if view["is_distrusted"]] == ["text"]
    assert next(view for view in item["views"] if view["name"] == "text")["group"] is None
    assert find_decision(workbench, number)["sentence"] == "View “text” is misleading for “item 00” and “item 01”."
    group = get_groups(workbench)[2]
    n_members = len(find_members(workbench, group))
    decide(workbench, "distrust", groups=[group], view="size")
    assert len(read_log(workbench.folder)[1]["items"]) == n_members


def test_answer_is_a_decision(workbench):
    answers = {(2, 44): ("same", "together"), (3, 45): ("different", "apart"), (4, 46): ("unknown", "unknown")}
    for n_answers, (pair, (answer, action)) in enumerate(answers.items(), 1):
        number = workbench.answer({"pair": list(pair), "answer": answer})["number"]
        labels = settle(workbench)
        assert read_log(workbench.folder)[-1] == {
            "action": action, "items": [IDS[row] for row in pair], "is_answer": True,
        }  # fmt: skip
        assert workbench.describe_state()["n_answers"] == n_answers
        assert are_together(labels, pair) == (answer == "same")
        assert find_decision(workbench, number)["is_active"]
    listed = workbench.list_questions(1000)
    assert not {frozenset(pair) for pair in answers} & {frozenset(entry["pair"]) for entry in listed["questions"]}
    while listed["message"] is None:
        workbench.answer({"pair": listed["questions"][0]["pair"], "answer": "unknown"})
        settle(workbench)
        listed = workbench.list_questions(1)
    assert "You can stop here" in listed["message"] or listed["message"] == "There is nothing left to ask."


def test_violated_decision_says_why(workbench):
    """A new pair cannot be apart while there is only one group."""
    decide(workbench, "merge", groups=get_groups(workbench))
    number = workbench.answer({"pair": [0, 1], "answer": "different"})["number"]
    settle(workbench)
    shown = find_decision(workbench, number)
    assert shown["status"] == "violated"
    assert shown["reason"] == "1 pair is in one group. There is only one group."


# refusals


WITHDRAW = {"action": "apart", "rows": [0, 2], "resolve": "newer"}


def test_wrong_decisions_answers_and_numbers_are_refused_and_not_written(workbench):
    for body, message in [
        ({"action": "dance", "rows": [1]}, "there is no action 'dance'"),
        ({"action": ["merge"]}, "there is no action"),
        ({"action": "together", "rows": [1]}, "'together' needs items or groups"),
        ({"action": "merge", "groups": [0]}, "'merge' needs items or groups"),
        ({"action": "merge", "groups": [0, 0]}, "'merge' needs items or groups"),
        ({"action": "merge", "groups": 5}, "groups are a list of whole numbers, got 5"),
        ({"action": "merge", "groups": [0, True]}, "groups are a list of whole numbers"),
        ({"action": "merge", "groups": [0, 77]}, "there is no group 77"),
        ({"action": "together", "rows": [0, N_ITEMS]}, "items are a list of whole numbers from 0 to 89"),
        ({"action": "together", "rows": [0, -1]}, "items are a list of whole numbers from 0 to 89"),
        ({"action": "together", "rows": "01"}, "items are a list of whole numbers"),
        ({"action": "apart", "rows": [0, 1, 2, 3]}, "4 items cannot all be in different groups, because there are 3"),
        ({"action": "apart", "rows": [0, 1], "other_rows": [1]}, "the two selections share items"),
        ({"action": "apart", "groups": [0, 0]}, "'apart' needs items or groups"),
        ({"action": "split", "rows": list(range(N_ITEMS))}, "all items together are not a new group"),
        ({"action": "split", "rows": [1], "name": "x" * 121}, "the name of a group has 1 to 120 characters"),
        ({"action": "rename", "groups": [0], "name": " "}, "the name of a group has 1 to 120 characters"),
        ({"action": "outlier", "rows": list(range(N_ITEMS))}, "not all items can be outliers"),
        ({"action": "distrust", "rows": [1], "view": "taste"}, "there is no view 'taste': size, color, text"),
        ({"action": "together", "rows": [0, 1], "resolve": "older"}, "resolve is 'ask' or 'newer', got 'older'"),
        ({**WITHDRAW, "withdraw": "1"}, "withdraw is a list of numbers of decisions"),
        ({**WITHDRAW, "withdraw": [None]}, "withdraw is a list of numbers of decisions"),
        ({**WITHDRAW, "withdraw": {"1": 1}}, "withdraw is a list of numbers of decisions"),
    ]:
        with pytest.raises(ValueError, match=message):
            workbench.decide(body)
    for body, message in [
        ({"pair": [3, 3], "answer": "different"}, "a question is about two items"),
        ({"pair": [3], "answer": "same"}, "a question is about two items"),
        ({"pair": None, "answer": "same"}, "items are a list of whole numbers"),
        ({"pair": [3, 4], "answer": "maybe"}, "an answer is 'same', 'different' or 'unknown', got 'maybe'"),
    ]:
        with pytest.raises(ValueError, match=message):
            workbench.answer(body)
    for call, message in [
        (lambda: workbench.undo(1), "decision 1 is not in effect, so it cannot be undone"),
        (lambda: workbench.redo(1), "decision 1 was not undone"),
        (lambda: workbench.revert(3), "there is no version 3"),
        (lambda: workbench.compare_versions(0, -2), "there is no version -2"),
        (lambda: workbench.keep_version(" "), "the name of a version has 1 to 120 characters"),
        (lambda: workbench.describe_item(N_ITEMS), "items are a list of whole numbers from 0 to 89"),
        (lambda: workbench.describe_group(12), "there is no group 12: it was merged or its decision was undone"),
        (lambda: workbench.describe_propagation(1), "decision 1 is not about pairs"),
    ]:
        with pytest.raises(ValueError, match=message):
            call()
    assert not (workbench.folder / "decisions.jsonl").exists()


def test_last_items_cannot_become_outliers_by_several_decisions(workbench):
    """The second decision may arrive before the groups follow from the first."""
    first, message = range(N_ITEMS // 2), "not all items can be outliers"
    others = {"action": "outlier", "rows": list(range(N_ITEMS // 2, N_ITEMS))}
    number = workbench.decide({"action": "outlier", "rows": list(first)})["number"]
    with pytest.raises(ValueError, match=message):
        workbench.decide(others)
    workbench.undo(number)
    workbench.decide(others)
    with pytest.raises(ValueError, match=message):
        workbench.redo(number)
    assert (settle(workbench)[first] >= 0).all()


# contradictions


def test_contradiction_names_the_earlier_decision(workbench):
    decide(workbench, "together", [0, 1])
    for others in ({"rows": [0, 1]}, {"rows": [0], "other_rows": [1, 2]}):
        with pytest.raises(Contradiction, match="If it is to count, decision 1 must be withdrawn") as raised:
            workbench.decide({"action": "apart", **others})
        assert raised.value.choices == [[(1, "“item 00” and “item 01” belong together.")]]
    assert len(read_log(workbench.folder)) == 1
    workbench.undo(1)
    number = decide(workbench, "apart", [0, 1])
    with pytest.raises(ValueError, match=r"decision 1 and decision 3 would contradict each other.*belong together\."):
        workbench.redo(1)
    workbench.undo(number)
    workbench.redo(1)
    assert are_together(settle(workbench), [0, 1])


def test_newer_decision_replaces_exactly_those_that_it_contradicts(workbench):
    def list_active(*numbers):
        return [find_decision(workbench, number)["is_active"] for number in numbers]

    decide(workbench, "together", [0, 1])
    decide(workbench, "together", [1, 2])
    decide(workbench, "together", [30, 31])
    for options in ({}, {"resolve": "newer", "withdraw": [5]}):
        with pytest.raises(Contradiction, match="one of the decisions that it contradicts must be withdrawn") as raised:
            decide(workbench, "apart", [0, 2], **options)
        assert [number for number, _ in raised.value.choices[0]] == [1, 2]
        assert raised.value.replaced == [2]
    before = settle(workbench)
    number = decide(workbench, "apart", [0, 2], resolve="newer")
    labels = settle(workbench)
    assert labels[0] != labels[2]
    assert are_together(labels, [0, 1])
    assert read_log(workbench.folder)[-1]["replaces"] == [2]
    assert list_active(1, 2, 3, number) == [True, False, True, True]
    assert [find_decision(workbench, n)["replaced_by"] for n in (1, 2, 3, number)] == [None, number, None, None]
    workbench.undo(number)
    assert np.array_equal(settle(workbench), before)
    assert list_active(1, 2, 3, number) == [True, True, True, False]
    workbench.redo(number)
    assert np.array_equal(settle(workbench), labels)
    workbench.undo(number)
    answer = {"pair": [0, 2], "answer": "different", "resolve": "newer", "withdraw": [1]}  # the person chooses
    number = workbench.answer(answer)["number"]
    assert list_active(1, 2, 3, number) == [False, True, True, True]


def test_decision_about_groups_that_have_changed_is_refused(workbench):
    before, groups = workbench.snapshot.number, get_groups(workbench)[:2]
    decide(workbench, "outlier", [5])
    with pytest.raises(OutdatedError, match="the groups have just changed"):
        workbench.decide({"action": "merge", "groups": groups, "clustering": before})
    decide(workbench, "merge", groups=groups, clustering=workbench.snapshot.number)
    decide(workbench, "together", [0, 1], clustering=before)  # is not about groups


def test_merger_of_a_group_that_does_not_exist_any_more_has_no_effect(workbench, result, tmp_path):
    start = settle(workbench)
    split = decide(workbench, "split", range(31, 39))
    group = int(settle(workbench)[31])
    other = get_groups(workbench)[0]
    merger = decide(workbench, "merge", groups=[group, other])
    merged = settle(workbench)
    assert are_together(merged, [0, 31])
    workbench.undo(split)
    assert np.array_equal(settle(workbench), start)
    shown = find_decision(workbench, merger)
    reason = "It has no effect: a group that it merges does not exist any more."
    assert (shown["status"], shown["reason"]) == ("", reason)
    assert workbench.snapshot.decisions.must_links == []
    assert workbench.export_constraints().count("\n") == 1  # the header
    decide(workbench, "apart", [31, 0])  # contradicts nothing
    workbench.undo(merger + 2)
    workbench.redo(split)
    assert np.array_equal(settle(workbench), merged)
    workbench.undo(split)
    settle(workbench)
    copy = shutil.copytree(workbench.folder, tmp_path / "copy")  # with what is stored
    with open_workbench(result, copy) as again:
        assert np.array_equal(settle(again), start)
        assert again.snapshot.decisions.must_links == []


def test_undo_that_makes_a_merger_effective_is_refused_if_it_contradicts(workbench):
    split = decide(workbench, "split", range(31, 39))
    group = int(settle(workbench)[31])
    other = get_groups(workbench)[0]
    merger = decide(workbench, "merge", groups=[group, other])
    workbench.undo(split)
    settle(workbench)
    exemplars = next(entry for entry in workbench.log.entries if entry["number"] == merger)["exemplars"]
    pair = [IDS.index(items[0]) for items in exemplars]
    decide(workbench, "apart", pair)  # contradicts nothing as long as the merger has no effect
    with pytest.raises(ValueError, match="would contradict each other: undo one of them first"):
        workbench.redo(split)


def test_effect_of_a_decision_is_not_reported_again_after_an_undo(workbench, monkeypatch):
    apply = workbench.opened.reclustering.apply

    def apply_with_effect(before, entry, *arguments, **options):
        return replace(apply(before, entry, *arguments, **options), effects=[f"Effect of {entry['number']}."])

    monkeypatch.setattr(workbench.opened.reclustering, "apply", apply_with_effect, raising=False)
    decide(workbench, "outlier", [5])
    assert workbench.describe_state()["changes"]["sentences"][0] == "Effect of 1."
    number = decide(workbench, "outlier", [6])
    assert workbench.describe_state()["changes"]["sentences"][0] == f"Effect of {number}."
    workbench.undo(number)
    settle(workbench)
    assert not any("Effect" in sentence for sentence in workbench.describe_state()["changes"]["sentences"])
    workbench.redo(number)
    settle(workbench)
    assert workbench.describe_state()["changes"]["sentences"][0] == f"Effect of {number}."


def test_decision_about_an_outlier_contradicts_nothing(workbench):
    decide(workbench, "together", [0, 1])
    decide(workbench, "together", [1, 2])
    decide(workbench, "outlier", [1])
    decide(workbench, "apart", [0, 2])
    assert not are_together(settle(workbench), [0, 2])
    with pytest.raises(ValueError, match=r"decision 1, decision 2 and decision 4 would contradict each other: undo"):
        workbench.undo(3)
    assert find_decision(workbench, 3)["is_active"]
    workbench.undo(4)
    workbench.undo(3)
    assert are_together(settle(workbench), [0, 1, 2])


def test_undo_that_brings_back_a_contradicted_decision_is_refused(workbench):
    decide(workbench, "together", [0, 1])
    decide(workbench, "apart", [0, 1], resolve="newer")
    decide(workbench, "apart", [0, 1, 40])
    with pytest.raises(ValueError, match="decision 1 and decision 3 would contradict each other"):
        workbench.undo(2)
    workbench.undo(3)
    workbench.undo(2)
    assert are_together(settle(workbench), [0, 1])
    revert = workbench.revert(0)["number"]
    number = decide(workbench, "apart", [0, 1])
    with pytest.raises(ValueError, match=f"decision 1 and decision {number} would contradict each other"):
        workbench.undo(revert)
    assert workbench.describe_state()["undo"] == number


# undo and redo


def number_entries(*entries):
    return [{"number": number, **entry} for number, entry in enumerate(entries, 1)]


MERGE, KEEP = {"action": "merge"}, {"action": "keep"}


def undo(number):
    return {"action": "undo", "of": number}


def test_next_undo_and_redo():
    for entries, steps in [
        ([], (None, None)),
        ([KEEP], (None, None)),
        ([MERGE, MERGE], (2, None)),
        ([MERGE, MERGE, undo(2)], (1, 2)),
        ([MERGE, MERGE, undo(2), undo(1)], (None, 1)),
        ([MERGE, MERGE, undo(2), undo(1), undo(4)], (1, 2)),
        ([MERGE, MERGE, undo(2), undo(1), undo(4), undo(3)], (2, None)),
        ([MERGE, MERGE, undo(2), undo(3), undo(2)], (1, 2)),
        ([MERGE, MERGE, undo(1)], (2, 1)),
        ([MERGE, undo(1), MERGE], (3, None)),
        ([MERGE, undo(1), KEEP], (None, 1)),
        ([MERGE, {"action": "revert", "decisions": []}], (2, None)),
        ([MERGE, {"action": "revert", "decisions": []}, undo(2)], (1, 2)),
        ([MERGE, {"action": "apart", "replaces": [1]}, undo(2)], (1, 2)),
    ]:
        assert find_steps(number_entries(*entries)) == steps


# the groups are a function of the run and the active decisions


def act_at_random(workbench, rng):
    """Make a random decision, undo, redo or return to a version; refusals are ValueErrors."""
    rows = rng.choice(N_ITEMS, 6, replace=False).tolist()
    groups = rng.permutation(workbench.snapshot.clustering.numbers).tolist()[:2]
    state = workbench.describe_state()
    undone = [entry["number"] for entry in state["decisions"] if entry["can_redo"]]
    active = [entry["number"] for entry in state["decisions"] if entry["can_undo"]]
    versions = [version["number"] for version in state["versions"]]
    bodies = {
        "pair": {"action": "together", "rows": rows[:2], "resolve": "newer"},
        "apart": {"action": "apart", "rows": rows[:2], "resolve": "newer"},
        "selections": {"action": "apart", "rows": rows[:2], "other_rows": rows[2:4], "resolve": "newer"},
        "selection": {"action": "together", "rows": rows, "resolve": "newer"},
        "merge": {"action": "merge", "groups": groups, "resolve": "newer"},
        "split": {"action": "split", "rows": rows, "resolve": "newer"},
        "rename": {"action": "rename", "groups": groups[:1], "name": f"name {rows[0]}"},
        "outlier": {"action": "outlier", "rows": rows[:2]},
        "distrust": {"action": "distrust", "rows": rows[:3], "view": "text"},
    }
    choices = {name: partial(workbench.decide, body) for name, body in bodies.items()}
    for answer in ("same", "different", "unknown"):
        choices[answer] = partial(workbench.answer, {"pair": rows[:2], "answer": answer})
    choices |= {
        "undo": lambda: workbench.undo(int(rng.choice(active))) if active else None,
        "redo": lambda: workbench.redo(int(rng.choice(undone))) if undone else None,
        "keep": lambda: workbench.keep_version("a version"),
        "revert": lambda: workbench.revert(int(rng.choice(versions))),
    }
    name = str(rng.choice(list(choices)))
    try:
        choices[name]()
    except ValueError as error:
        return f"{name}: {error}"
    return name


def check_invariants(workbench, labels):
    decisions, clustering = workbench.snapshot.decisions, workbench.snapshot.clustering
    assert workbench.describe_state()["error"] is None
    assert labels.shape == (N_ITEMS,)
    assert set(np.flatnonzero(labels < 0).tolist()) == set(decisions.outliers)
    assert set(np.unique(labels[labels >= 0]).tolist()) == set(clustering.numbers.tolist())
    assert not decisions.find_contradictory_decisions()
    for link in decisions.must_links:
        assert labels[link.first] == labels[link.second]
    for entry in workbench.describe_state()["decisions"]:
        assert entry["is_active"] == (entry["number"] in {other["number"] for other in decisions.entries})
        assert (entry["status"] == "violated") <= bool(entry["reason"])
        assert entry["status"] != "violated" or entry["action"] in ("apart", "merge", "split", "together")


@pytest.mark.parametrize("seed", range(3))
def test_random_actions_keep_the_groups_a_function_of_the_decisions(result, tmp_path, seed):
    rng = np.random.default_rng(seed)
    folder = tmp_path / "run"
    with open_workbench(result, folder) as workbench:
        made = []
        for _ in range(25):
            made.append(act_at_random(workbench, rng))
            labels = settle(workbench)
            check_invariants(workbench, labels)
        dump_strictly(workbench.describe_state())
        names, effects = workbench.snapshot.names, list(workbench.snapshot.clustering.effects)
        active = [entry["number"] for entry in workbench.log.list_active()]
        run_key = workbench.run_key
    log = DecisionLog.open(folder, run_key)
    assert [entry["number"] for entry in log.list_active()] == active, made
    log.close()
    with open_workbench(result, folder) as workbench:  # from the stored groups
        assert np.array_equal(settle(workbench), labels), made
        assert workbench.snapshot.names == names
    shutil.rmtree(folder / ".workbench", ignore_errors=True)
    with open_workbench(result, folder) as workbench:  # from the decisions alone
        assert np.array_equal(settle(workbench), labels), made
        assert list(workbench.snapshot.clustering.effects) == effects


# versions


def test_kept_version_is_listed_restored_and_removed(workbench):
    decide(workbench, "together", [0, 40])
    kept = workbench.keep_version("one answer")["number"]
    at_version = settle(workbench)
    decide(workbench, "merge", groups=get_groups(workbench)[1:])
    merged = settle(workbench)
    first, second = workbench.describe_state()["versions"]
    assert (first["number"], first["n_decisions"], first["n_groups"], first["is_current"]) == (0, 0, 3, False)
    assert (second["number"], second["name"], second["n_decisions"], second["is_current"]) == (
        kept, "one answer", 1, False,
    )  # fmt: skip
    revert = workbench.revert(kept)["number"]
    assert np.array_equal(settle(workbench), at_version)
    assert [version["is_current"] for version in workbench.describe_state()["versions"]] == [False, True]
    assert workbench.describe_state()["undo"] == revert
    workbench.undo(revert)
    assert np.array_equal(settle(workbench), merged)
    workbench.redo(revert)
    assert np.array_equal(settle(workbench), at_version)
    workbench.revert(0)
    assert np.array_equal(settle(workbench), workbench.opened.reclustering.first_labels)
    workbench.undo(kept)
    assert [version["number"] for version in workbench.describe_state()["versions"]] == [0]
    with pytest.raises(ValueError, match="is not in effect, so it cannot be undone"):
        workbench.undo(kept)
    workbench.redo(kept)
    assert [version["number"] for version in workbench.describe_state()["versions"]] == [0, kept]


def test_redo_is_offered_exactly_where_it_has_an_effect(workbench):
    def list_offered():
        settle(workbench)
        return [number for number in (1, 2, 3) if find_decision(workbench, number)["can_redo"]]

    for rows in ([0, 40], [1, 41], [2, 42]):
        decide(workbench, "together", rows)
    workbench.undo(1)
    settle(workbench)
    version = workbench.keep_version("without the first")["number"]
    workbench.undo(2)
    assert list_offered() == [1, 2]
    revert = workbench.revert(0)["number"]
    assert list_offered() == []
    for number in (1, 2):
        with pytest.raises(ValueError, match=f"decision {number} would still not .* because of a later return"):
            workbench.redo(number)
    workbench.undo(revert)
    assert list_offered() == [1, 2]
    workbench.revert(version)  # 2 and 3
    workbench.undo(2)
    assert list_offered() == [2]
    workbench.redo(2)
    settle(workbench)
    assert [find_decision(workbench, number)["is_active"] for number in (1, 2, 3)] == [False, True, True]


def test_versions_are_compared_in_both_directions_and_with_the_present(workbench):
    decide(workbench, "together", [0, 40])
    kept = workbench.keep_version("one answer")["number"]
    settle(workbench)
    moved = int(np.flatnonzero(workbench.snapshot.clustering.labels != workbench.opened.reclustering.first_labels)[0])
    forward, back = workbench.compare_versions(0, kept), workbench.compare_versions(kept, 0)
    assert [item["row"] for item in forward["moved"]] == [moved]
    assert forward["moved"][0]["id"] == IDS[moved]
    assert forward["moved"][0]["from"] == back["moved"][0]["to"]
    assert forward["moved"][0]["to"] == back["moved"][0]["from"]
    assert workbench.compare_versions(kept, -1)["n_moved"] == 0
    decide(workbench, "outlier", [50])
    to_present = workbench.compare_versions(kept, -1)
    assert [(item["row"], item["to"]) for item in to_present["moved"]] == [(50, None)]
    dump_strictly([forward, back, to_present])


def test_version_is_compared_after_a_cancelled_computation(workbench):
    kept = workbench.keep_version("the beginning")["number"]
    workbench._cancelled.set()
    workbench.cache._memory.clear()
    assert workbench.compare_versions(kept, -1)["n_moved"] == 0
    decide(workbench, "together", [0, 40])
    other = workbench.keep_version("another")["number"]
    workbench.revert(0)
    settle(workbench)
    workbench._cancelled.set()
    workbench.cache._memory.clear()
    shutil.rmtree(workbench.folder / ".workbench")
    assert workbench.compare_versions(0, other)["n_moved"] >= 1


# the thread in the background


def fail_with(error):
    """Return a function that raises the error."""

    def fail(*_, **__):
        raise error

    return fail


class Gate:
    """Hold the computation of a decision until it is opened."""

    def __init__(self, workbench, monkeypatch):
        self.is_entered, self.is_open = threading.Event(), threading.Event()
        refine = workbench.opened.reclustering.warm.refine

        def wait_and_refine(*arguments, check_stopped, report, **options):
            self.is_entered.set()
            report(0.1)
            while not self.is_open.is_set():
                check_stopped()
                time.sleep(0.01)
            return refine(*arguments, check_stopped=check_stopped, report=report, **options)

        monkeypatch.setattr(workbench.opened.reclustering.warm, "refine", wait_and_refine, raising=False)
        self.workbench = workbench

    def hold(self, rows):
        """Decide that items belong together; return the number when the computation can be cancelled."""
        number = self.workbench.decide({"action": "together", "rows": rows})["number"]
        assert self.is_entered.wait(HANG_LIMIT)
        wait_until(lambda: self.workbench.describe_state()["work"]["can_cancel"])
        return number


def test_cancelled_decision_is_undone(workbench, monkeypatch):
    before = settle(workbench)
    assert workbench.cancel() == {}  # there is no work
    assert not (workbench.folder / "decisions.jsonl").exists()
    gate = Gate(workbench, monkeypatch)
    number = gate.hold([0, 40])
    work = workbench.describe_state()["work"]
    assert (work["doing"], work["share"]) == ("clustering the items again", 0.1)
    assert find_decision(workbench, number)["reason"] == "The items are being clustered again."
    assert workbench.cancel() == {"number": 2}
    assert np.array_equal(settle(workbench), before)
    assert not find_decision(workbench, number)["is_active"]
    gate.is_open.set()
    decide(workbench, "together", [0, 40])
    assert are_together(settle(workbench), [0, 40])


def test_cancelled_undo_is_taken_back(workbench, monkeypatch):
    decide(workbench, "together", [0, 40])
    decide(workbench, "together", [1, 70])
    labels = settle(workbench)
    workbench.cache._memory.clear()
    shutil.rmtree(workbench.folder / ".workbench")
    gate = Gate(workbench, monkeypatch)
    workbench.undo(1)
    assert gate.is_entered.wait(HANG_LIMIT)
    workbench.cancel()
    assert np.array_equal(settle(workbench), labels)
    assert find_decision(workbench, 1)["is_active"]
    assert find_decision(workbench, 1)["status"] == "satisfied"


def test_cancel_undoes_the_decision_that_is_computed(workbench, monkeypatch):
    gate = Gate(workbench, monkeypatch)
    first = gate.hold([0, 40])
    second = workbench.decide({"action": "together", "rows": [1, 70]})["number"]
    workbench.cancel()
    gate.is_open.set()
    labels = settle(workbench)
    assert [find_decision(workbench, number)["is_active"] for number in (first, second)] == [False, True]
    assert are_together(labels, [1, 70])
    workbench.redo(first)
    assert are_together(settle(workbench), [0, 40])


def test_cancelling_what_was_undone_meanwhile_undoes_nothing_else(workbench, monkeypatch):
    before = settle(workbench)
    gate = Gate(workbench, monkeypatch)
    number = gate.hold([0, 40])
    workbench.undo(number)
    assert workbench.cancel() == {}
    assert np.array_equal(settle(workbench), before)
    assert len(read_log(workbench.folder)) == 2
    gate.is_open.set()
    workbench.redo(number)
    assert are_together(settle(workbench), [0, 40])


def test_cancelling_with_a_full_disk_leaves_the_work_running(workbench, monkeypatch):
    gate = Gate(workbench, monkeypatch)
    gate.hold([0, 40])

    with monkeypatch.context() as patch:
        patch.setattr(workbench.log, "append", fail_with(OSError(28, "No space left on device")))
        with pytest.raises(OSError, match="No space left"):
            workbench.cancel()
    gate.is_open.set()
    assert are_together(settle(workbench), [0, 40])


def test_work_that_is_cancelled_without_an_entry_is_resumed(workbench, monkeypatch):
    gate = Gate(workbench, monkeypatch)
    gate.hold([0, 40])
    workbench._cancelled.set()
    gate.is_open.set()
    assert are_together(settle(workbench), [0, 40])


def test_second_workbench_cannot_cancel(result, tmp_path):
    with open_workbench(result, tmp_path / "run") as first, open_workbench(result, tmp_path / "run") as second:
        decide(first, "outlier", [5])
        second._set_work(Work("clustering the items again", 0.5, entry=1))
        assert not second.describe_state()["work"]["can_cancel"]
        with pytest.raises(ReadOnlyError, match="another workbench"):
            second.cancel()


def test_groups_are_not_saved_if_clustering_after_the_last_decision_fails(workbench, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(workbench.opened.reclustering, "apply", fail_with(MemoryError("memory ran out")), raising=False)
        number = workbench.decide({"action": "together", "rows": [0, 40]})["number"]
        folder = workbench.save_as("copy")["folder"]
        settle(workbench)
    state = workbench.describe_state()
    reason = "Clustering after the last decision failed: memory ran out"
    assert state["error"] == f"The groups were not saved in {folder}. {reason}"
    assert state["saved"] is None
    workbench.undo(number)
    workbench.save_as("copy")
    labels = settle(workbench)
    assert workbench.describe_state()["saved"] == {"folder": folder}
    assert np.array_equal(cs.load_run(folder).labels, labels)


def test_error_of_a_computation_is_shown_and_the_next_decision_works(workbench, monkeypatch, caplog):
    def fail(*_, **__):
        raise error

    before = settle(workbench)
    with monkeypatch.context() as patch:
        patch.setattr(workbench.opened.reclustering, "apply", fail, raising=False)
        error = KeyError("lost")
        number = decide(workbench, "together", [0, 40])
        assert workbench.describe_state()["error"].endswith("KeyError: 'lost'")
        assert [record.message for record in caplog.records] == ["an unexpected error in the workbench"]
        assert caplog.records[0].exc_info is not None
        workbench.undo(number)
        settle(workbench)
        assert workbench.describe_state()["error"] is None
        error = MemoryError("memory ran out")
        number = decide(workbench, "together", [0, 40])
    state = workbench.describe_state()
    assert state["error"] == "Clustering after the last decision failed: memory ran out"
    assert state["work"] is None
    assert find_decision(workbench, number)["reason"] == "Clustering with this decision failed."
    assert np.array_equal(workbench.snapshot.clustering.labels, before)
    decide(workbench, "outlier", [5])
    assert workbench.describe_state()["error"] is None
    assert are_together(settle(workbench), [0, 40])


def test_run_opens_with_a_decision_that_cannot_be_followed(result, tmp_path, monkeypatch):
    with open_workbench(result, tmp_path / "run") as workbench:
        decide(workbench, "together", [0, 40])
        expected = settle(workbench)
        monkeypatch.setattr(workbench.opened.reclustering, "apply", fail_with(ValueError("no")), raising=False)
        number = decide(workbench, "together", [1, 41])
        decide(workbench, "together", [2, 42])
    with open_workbench(result, tmp_path / "run") as workbench:
        state = workbench.describe_state()
        assert state["error"] == "Clustering after the last decision failed: no"
        assert [entry["status"] for entry in state["decisions"]] == ["satisfied", "", ""]
        assert np.array_equal(settle(workbench), expected)
        workbench.undo(number + 1)
        workbench.undo(number)
        settle(workbench)
        assert workbench.describe_state()["error"] is None


def test_requests_before_the_run_is_open_are_told_to_wait(result, tmp_path):
    workbench = Workbench(result, tmp_path)
    try:
        with pytest.raises(NotReadyError, match="the run is still being opened"):
            workbench.decide({"action": "together", "rows": [0, 1]})
        state = workbench.describe_state()
        assert (state["is_ready"], state["work"]["doing"]) == (False, "opening the run")
        with pytest.raises(NotReadyError, match="the groups are still being computed"):
            workbench.wait_until_ready(0)
    finally:
        workbench.close()


def test_run_that_cannot_be_opened_says_why(result, tmp_path, monkeypatch):
    monkeypatch.setattr("consilience.workbench.workbench.open_result", fail_with(ValueError("the files have changed")))
    workbench = Workbench(result, tmp_path)
    workbench.start()
    with pytest.raises(ValueError, match="the files have changed"):
        workbench.wait_until_ready(HANG_LIMIT)
    state = workbench.describe_state()
    assert (state["opening_error"], state["is_ready"], state["work"]) == ("the files have changed", False, None)
    with pytest.raises(NotReadyError, match="the files have changed"):
        workbench.describe_items()
    workbench.close()


def test_closing_stops_the_opening(result, tmp_path, monkeypatch):
    reached = threading.Event()

    def open_slowly(_, report):
        reached.set()
        while True:
            report("reading the data", 0.1)
            time.sleep(0.01)

    monkeypatch.setattr("consilience.workbench.workbench.open_result", open_slowly)
    workbench = Workbench(result, tmp_path)
    workbench.start()
    assert reached.wait(HANG_LIMIT)
    workbench.close()
    assert not workbench._thread.is_alive()
    assert workbench.describe_state()["opening_error"] is None


def test_waiting_for_a_change_ends_with_the_change(workbench):
    revision = workbench.describe_state()["revision"]
    ended = threading.Event()
    thread = threading.Thread(target=lambda: (workbench.wait_for_change(revision, HANG_LIMIT), ended.set()))
    thread.start()
    workbench.decide({"action": "outlier", "rows": [5]})
    assert ended.wait(HANG_LIMIT)
    thread.join()
    assert workbench.describe_state()["revision"] > revision


# two workbenches on one folder


def test_second_workbench_follows_the_first_and_takes_over(result, tmp_path):
    with open_workbench(result, tmp_path) as first:
        decide(first, "together", [0, 40])
        with open_workbench(result, tmp_path) as second:
            state = second.describe_state()
            assert state["read_only"].startswith("another workbench has")
            assert np.array_equal(settle(second), settle(first))
            assert not any(entry["can_undo"] or entry["can_redo"] for entry in state["decisions"])
            with pytest.raises(PermissionError, match="another workbench has"):
                second.decide({"action": "outlier", "rows": [3]})
            with pytest.raises(PermissionError, match="another workbench has"):
                second.undo(1)
            number = decide(first, "outlier", [5])
            wait_until(lambda: second.describe_state()["changes"]["after"] == number)
            assert np.array_equal(settle(second), settle(first))
            first.close()
            wait_until(lambda: second.describe_state()["read_only"] is None)
            decide(second, "outlier", [6])
            assert np.flatnonzero(settle(second) < 0).tolist() == [5, 6]
            assert len(list((tmp_path / ".workbench").glob("*.npz"))) == 3


def test_folder_without_write_permission_can_be_read(result, tmp_path, monkeypatch):
    with open_workbench(result, tmp_path) as workbench:
        decide(workbench, "together", [0, 40])
        labels = settle(workbench)
    shutil.rmtree(tmp_path / ".workbench")
    real = os.open

    def refuse(path, flags, *arguments, **options):
        if flags & (os.O_WRONLY | os.O_RDWR) and str(path).startswith(str(tmp_path)):
            raise PermissionError(13, "Permission denied", str(path))
        return real(path, flags, *arguments, **options)

    monkeypatch.setattr("consilience.workbench.decisions.os.open", refuse)
    with open_workbench(result, tmp_path) as workbench:
        assert np.array_equal(settle(workbench), labels)
        reason = workbench.describe_state()["read_only"]
        assert reason.endswith(f"{tmp_path} is not writable: change its permissions to make changes here")
        with pytest.raises(PermissionError, match="is not writable"):
            workbench.keep_version("a version")
    assert not (tmp_path / ".workbench").exists()
