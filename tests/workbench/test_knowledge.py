"""What decisions say of the items, and which of them contradict each other."""

from dataclasses import replace
from itertools import combinations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from consilience import Constraints
from consilience.workbench.errors import Contradiction
from consilience.workbench.knowledge import RUN, DecisionSet, check_consistent

pytestmark = pytest.mark.quick

N_ROWS = 8
ROWS = {str(row): row for row in range(N_ROWS)}


def make_set(*entries, **options):
    numbered = [{"number": number, **entry} for number, entry in enumerate(entries, 1)]
    return DecisionSet(numbered, ROWS, N_ROWS, **options)


def make_pair(action, *rows, **values):
    return {"action": action, "items": [str(row) for row in rows], **values}


def together(*rows):
    return make_pair("together", *rows)


def apart(*rows, others=None):
    return make_pair("apart", *rows, **({} if others is None else {"others": [str(row) for row in others]}))


def list_pairs(links):
    return [(link.first, link.second, link.decision) for link in links]


def find_new_conflicts(decisions, entry):
    conflicts = decisions.find_conflicts({**entry, "number": len(decisions.entries) + 1})
    return [conflict.decisions for conflict in conflicts]


def test_links_name_the_decisions_that_they_follow_from():
    decisions = make_set(
        together(0, 1, 2),
        apart(3, 4, 5),
        apart(0, 1, others=[6, 7]),
        make_pair("split", 3, 5, others=["6", "7"], new_group=9),
        {"action": "merge", "groups": [0, 1], "exemplars": [["0", "1"], ["4"]]},
    )
    assert list_pairs(decisions.must_links) == [(0, 1, 1), (0, 2, 1), (3, 5, 4), (0, 1, 5), (0, 4, 5)]
    assert list_pairs(decisions.cannot_links) == [
        (3, 4, 2), (3, 5, 2), (4, 5, 2), (0, 6, 3), (0, 7, 3), (1, 6, 3), (1, 7, 3), (3, 6, 4), (3, 7, 4),
    ]  # fmt: skip


def test_items_stay_together_when_one_of_them_becomes_an_outlier():
    decisions = make_set(
        together(0, 1, 2), make_pair("split", 3, 4, 5, others=["6"], new_group=9), make_pair("outlier", 0, 3)
    )
    assert list_pairs(decisions.must_links) == [(1, 2, 1), (4, 5, 2)]
    assert list_pairs(decisions.cannot_links) == [(4, 6, 2)]


def test_part_of_a_group_becomes_a_group_without_contradiction():
    first = make_pair("split", 0, 1, 2, 3, others=["6"], new_group=9)
    merger = {"action": "merge", "groups": [0, 1], "exemplars": [["0", "4"], ["7"]]}
    second = make_pair("split", 0, 1, others=["2", "4"], new_group=11)
    assert find_new_conflicts(make_set(first, merger), second) == []
    decisions = make_set(first, merger, second)
    assert list_pairs(decisions.must_links) == [(2, 3, 1), (4, 7, 2), (0, 1, 3)]
    assert list_pairs(decisions.cannot_links) == [(2, 6, 1), (0, 2, 3), (0, 4, 3)]
    assert find_new_conflicts(decisions, make_pair("split", 0, 1, 2, 3, others=["6"], new_group=12)) == []
    assert find_new_conflicts(make_set(together(0, 1, 2, 3)), second) == [[1]]


def test_outliers_have_no_links_until_a_later_decision_places_them():
    decisions = make_set(together(0, 1), make_pair("outlier", 1, 2), apart(1, 3))
    assert decisions.outliers == {2: 2}
    assert list_pairs(decisions.must_links) == [(0, 1, 1)]
    decisions = make_set(together(0, 1), apart(1, 3), make_pair("outlier", 1, 2))
    assert decisions.outliers == {1: 3, 2: 3}
    assert not decisions.must_links
    assert not decisions.cannot_links
    assert decisions.knowledge.is_outlier.tolist() == [row in (1, 2) for row in range(N_ROWS)]


def test_outliers_of_the_run_stay_until_a_decision_places_them():
    decisions = make_set(together(0, 1), base_outliers=[1, 2])
    assert decisions.outliers == {2: 0}
    assert list_pairs(decisions.must_links) == [(0, 1, 1)]
    assert make_set(base_outliers=[5]).knowledge.is_outlier.tolist() == [row == 5 for row in range(N_ROWS)]
    assert make_set().knowledge.is_outlier is None


def test_misleading_views_add_up():
    decisions = make_set(make_pair("distrust", 0, view="x"), make_pair("distrust", 3, view="x"))
    assert {name: mask.tolist() for name, mask in decisions.knowledge.ignored.items()} == {
        "x": [row in (0, 3) for row in range(N_ROWS)]
    }


def test_only_decisions_about_two_items_propagate():
    decisions = make_set(together(0, 1), together(2, 3, 4), apart(5, 6), apart(5, others=[7]), apart(0, 2))
    statements = [(item.first, item.second, item.is_together) for item in decisions.statements]
    assert statements == [(0, 1, True), (5, 6, False), (0, 2, False)]


# constraints of the run


def test_only_constraints_of_the_run_that_are_contradicted_are_dropped():
    base = Constraints([(0, 1), (1, 2), (6, 7)], [(4, 5)])
    for entry, must, cannot in [
        (apart(0, 2), [[6, 7]], [[0, 2], [4, 5]]),  # contradicts the chain 0-1-2
        (together(4, 5), [[0, 1], [1, 2], [4, 5], [6, 7]], []),
        (together(4, 3, 5), [[0, 1], [1, 2], [3, 4], [4, 5], [6, 7]], []),
        (together(0, 6), [[0, 1], [0, 6], [1, 2], [6, 7]], [[4, 5]]),
        (make_pair("outlier", 1, 4), [[6, 7]], []),
    ]:
        constraints = make_set(entry, base=base).constraints
        assert constraints.must_link.tolist() == must
        assert constraints.cannot_link.tolist() == cannot
        assert not len(constraints.conflicts)


# contradictions


def test_contradictions_name_all_decisions_and_end_with_that_to_withdraw():
    for entries, new, conflicts in [
        ([together(0, 1)], apart(0, 1), [[1]]),
        ([apart(0, 1)], together(1, 0), [[1]]),
        ([together(0, 1), together(1, 2), together(2, 3)], apart(0, 3), [[1, 2, 3]]),
        ([together(0, 1), together(1, 2), together(0, 2)], apart(0, 2), [[3], [1, 2]]),
        ([apart(0, 1), apart(0, 2)], together(0, 1, 2), [[1], [2]]),
        ([apart(0, 3), together(0, 1)], together(1, 3), [[1, 2]]),
        ([together(0, 1)], apart(2, 3), []),
        ([apart(0, 1), make_pair("outlier", 1)], together(0, 2), []),
        ([apart(0, 1), make_pair("outlier", 1)], together(0, 1), [[1]]),
        ([make_pair("split", 0, 1, others=["5"])], together(1, 5), [[1]]),
        ([{"action": "merge", "groups": [0, 1], "exemplars": [["0"], ["5"]]}], apart(0, 5), [[1]]),
        ([together(0, 1)], make_pair("split", 0, others=["1"]), [[1]]),
        ([together(0, 1), apart(0, 2)], make_pair("outlier", 0), []),
        ([together(0, 1)], make_pair("distrust", 0, 1, view="x"), []),
    ]:
        assert find_new_conflicts(make_set(*entries), new) == conflicts


def test_decision_that_contradicts_itself_is_refused():
    for entry in (apart(0, others=[0]), apart(2, 2), make_pair("split", 3, 4, others=["4"])):
        message = "the decision contradicts itself: the same items are to be together and apart"
        with pytest.raises(ValueError, match=message):
            find_new_conflicts(make_set(together(6, 7)), entry)


def test_person_is_told_what_must_be_withdrawn():
    decisions = make_set(apart(0, 1), apart(0, 2), together(4, 5))
    new = {**together(0, 1, 2), "number": 4}
    describe = "sentence {}.".format  # of the number alone

    def check(new, withdrawn, blocking=()):
        return check_consistent(decisions, new, lambda number, _: describe(number), withdrawn, blocking)

    with pytest.raises(Contradiction, match="If it is to count, decision 1 and decision 2 must be withdrawn") as raised:
        check(new, None)
    assert raised.value.replaced == [1, 2]
    assert raised.value.choices == [[(1, "sentence 1.")], [(2, "sentence 2.")]]
    assert check(new, []) == [1, 2]
    assert check(new, [1, 2, 3]) == [1, 2]
    with pytest.raises(Contradiction, match="If it is to count, decision 1 and decision 2 must be withdrawn"):
        check(new, [1])  # is not enough
    unrelated = {**together(0, 4), "number": 4}
    assert check(unrelated, None) == []
    assert check(unrelated, [], [1]) == [1]
    with pytest.raises(Contradiction, match="If it is to count, decision 3 must be withdrawn") as raised:
        check(unrelated, None, [3])
    assert raised.value.choices == [[(3, "sentence 3.")]]


# constraints of the run


def test_decision_that_contradicts_constraints_of_the_run_says_so():
    decisions = replace(make_set(together(4, 5)), base=Constraints([(0, 1), (1, 2), (2, 3)], [(4, 6)], by="position"))
    [conflict] = decisions.find_conflicts({**apart(0, 2), "number": 2})
    assert (conflict.decisions, conflict.withdrawn) == ([RUN], RUN)
    assert [(link.first, link.second) for link in conflict.links if link.decision == RUN] == [(1, 2), (0, 1)]
    [conflict] = decisions.find_conflicts({**together(5, 6), "number": 2})
    assert (conflict.decisions, conflict.withdrawn) == ([RUN, 1], 1)
    [conflict] = decisions.find_conflicts({**together(5, 6), "number": 2}, [RUN])
    assert conflict.withdrawn == RUN
    assert check_consistent(decisions, {**together(5, 6), "number": 2}, lambda *_: "", [RUN]) == []


def test_only_constraints_of_the_run_that_are_contradicted_are_withdrawn():
    base = Constraints([(0, 1), (1, 2), (2, 3)], [(4, 6), (5, 7)], by="position")
    decisions = replace(make_set(apart(0, 2), together(4, 5)), base=base)
    assert [(link.first, link.second) for link in decisions.withdrawn_run_links] == [(1, 2), (0, 1)]
    assert decisions.constraints.must_link.tolist() == [[2, 3], [4, 5]]
    assert decisions.constraints.cannot_link.tolist() == [[0, 2], [4, 6], [5, 7]]
    assert find_new_conflicts(decisions, apart(0, 1)) == []  # the run's constraint is withdrawn already


def test_constraints_of_the_run_of_one_kind_are_withdrawn():
    pairs = [(0, 1), (2, 3)]
    decisions = replace(make_set(apart(0, 1)), base=Constraints(pairs, [], by="position"))
    assert decisions.constraints.must_link.tolist() == [[2, 3]]
    decisions = replace(make_set(together(0, 1)), base=Constraints([], pairs, by="position"))
    assert decisions.constraints.cannot_link.tolist() == [[2, 3]]


rows = st.lists(st.integers(0, N_ROWS - 1), min_size=2, max_size=4, unique=True)
entries = st.one_of(
    rows.map(lambda rows: together(*rows)),
    rows.map(lambda rows: apart(*rows)),
    rows.map(lambda rows: apart(rows[0], others=rows[1:])),
    rows.map(lambda rows: make_pair("split", *rows[:-1], others=[str(rows[-1])], new_group=9)),
    rows.map(lambda rows: make_pair("outlier", *rows[:1])),
)


@settings(max_examples=60)
@given(st.lists(entries, max_size=7))
def test_without_the_replaced_decisions_no_contradiction_is_left(proposed):
    """Decisions that the newer replaces leave a consistent set, and each of them was needed."""
    kept = []
    for number, entry in enumerate(proposed, 1):
        new = {**entry, "number": number}
        decisions, both = DecisionSet(kept, ROWS, N_ROWS), DecisionSet([*kept, new], ROWS, N_ROWS)
        replaced = check_consistent(decisions, new, lambda *_: "", [])
        after = [other for other in kept if other["number"] not in replaced]
        consistent = DecisionSet([*after, new], ROWS, N_ROWS)
        assert consistent.find_contradictory_decisions() == []
        assert not len(consistent.constraints.conflicts)
        assert bool(replaced) == bool(both.find_contradictory_decisions()) == bool(len(both.constraints.conflicts))
        kept = [*after, new]


nested_groups = rows.map(lambda rows: make_pair("split", *rows, others=[str((rows[0] + 4) % N_ROWS)], new_group=9))
PARTS = [make_pair("split", 0, 1, others=["2"], new_group=8), make_pair("split", 0, others=["1"], new_group=9)]


@settings(max_examples=60)
@example([together(0, 1), together(0, 2), *PARTS])
@given(st.lists(entries | nested_groups, max_size=6))
def test_reported_conflict_is_minimal(proposed):
    """Alone, the reported decisions contradict each other, and no part of them does."""
    decisions = make_set(*proposed)
    conflict = decisions.find_contradictory_decisions()
    involved = [entry for entry in decisions.entries if entry["number"] in conflict]
    parts = [part for n in range(len(conflict)) for part in combinations(involved, n)]
    assert DecisionSet(involved, ROWS, N_ROWS).find_contradictory_decisions() == conflict
    assert not any(DecisionSet(part, ROWS, N_ROWS).find_contradictory_decisions() for part in parts)


def test_conflict_names_constraints_of_the_run_only_where_needed():
    base = Constraints([(0, 3)], [], by="position")
    for last, decisions in ((2, [1, 2]), (5, [RUN, 1, 2])):
        earlier = replace(make_set(together(0, 1, 2), together(3, 4, last)), base=base)
        conflicts = earlier.find_conflicts({**apart(1, 4), "number": 3})
        assert [conflict.decisions for conflict in conflicts] == [decisions]


def test_pairs_that_nothing_connects_are_checked_without_a_search_per_pair(monkeypatch):
    """20,000 pairs that are apart next to a group of 1,000 items that is together would take a search each."""
    n = 1000
    names = [f"i{row}" for row in range(n + 100)]
    positions = {name: row for row, name in enumerate(names)}
    group = {"action": "together", "items": names[:n], "number": 1}
    new = {"action": "apart", "items": names[:200], "others": names[n:], "number": 2}
    monkeypatch.setattr("consilience.workbench.knowledge.find_path", pytest.fail)
    assert DecisionSet([group], positions, len(names)).find_conflicts(new) == []
