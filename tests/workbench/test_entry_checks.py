"""Logs of decisions that were written by hand: each is followed, or refused with a sentence that says why."""

import json
import re

import pytest

from consilience.workbench.decisions import FILE_NAME, compute_check, encode_header
from consilience.workbench.opening import compute_run_key
from consilience.workbench.workbench import Workbench
from small_runs import IDS, dump_strictly, open_workbench, settle

pytestmark = pytest.mark.quick

REMEDY = "restore a copy of the file, or delete this line and all lines after it to keep the decisions before them"
TOGETHER = {"action": "together", "items": IDS[:2]}
MERGE = {"action": "merge", "groups": [0, 1], "exemplars": [IDS[:1], IDS[40:41]], "group_names": ["a", "b"]}
SPLIT = {"action": "split", "items": IDS[:3], "others": [], "new_group": 5}
KEEP = {"action": "keep", "name": "a version", "decisions": [1], "n_groups": 3}


@pytest.fixture
def write_log(result, tmp_path):
    """Return a function that writes entries, with their checksums, into the log of a run."""

    def write(*entries):
        lines = [encode_header(compute_run_key(result))]
        for number, entry in enumerate(entries, 1):
            complete = {"number": number, "time": "2024-01-01T00:00:00Z", **entry}
            lines.append(json.dumps({**complete, "check": compute_check(complete)}).encode() + b"\n")
        (tmp_path / FILE_NAME).write_bytes(b"".join(lines))
        return tmp_path

    return write


def test_entry_that_the_run_cannot_follow_is_named_with_remedy(result, write_log):
    for entry, reason in [
        ({**TOGETHER, "items": ["item 00", "pear"]}, "it names the item 'pear', which the run does not have"),
        ({**TOGETHER, "items": ["item 00", "\ud800"]}, r"it names the item '\\ud800', which the run does not have"),
        ({"action": "apart", "items": ["item 00"], "others": ["x" * 200]}, "it names the item 'xxx.*…, which the run"),
        ({**MERGE, "exemplars": [["item 00"], ["pear"]]}, "it names the item 'pear', which the run does not have"),
        ({"action": "outlier", "items": ["pear"]}, "it names the item 'pear', which the run does not have"),
        ({"action": "distrust", "view": "taste", "items": IDS[:1]}, "it names the view 'taste': views are size, color"),
        ({"action": "distrust", "view": ["size"], "items": IDS[:1]}, "view must be the name of a view, got"),
        ({"action": "explode", "items": IDS[:2]}, "it has the action 'explode': actions are together, apart, merge"),
        ({"action": "together"}, "items of 'together' is missing"),
        ({"action": "together", "items": "item 00"}, "items must be a list of ids of items, got 'item 00'"),
        ({"action": "together", "items": [0, 1]}, r"items must be a list of ids of items, got \[0, 1\]"),
        ({"action": "together", "items": {"item 00": 1}}, "items must be a list of ids of items, got {'item 00'"),
        ({"action": "together", "items": IDS[:1]}, "items of 'together' has too few items, 1"),
        ({"action": "together", "items": ["item 00"] * 2}, "items has an item more than once"),
        ({"action": "apart", "items": IDS[:1]}, "items of 'apart' has too few items, 1"),
        ({"action": "apart", "items": IDS[:2], "others": []}, "others of 'apart' has too few items, 0"),
        ({"action": "apart", "items": IDS[:2], "others": IDS[1:3]}, "item 'item 01' is in both items and others"),
        ({"action": "unknown", "items": IDS[:3]}, "items of 'unknown' are two items, got 3"),
        ({**MERGE, "groups": [0]}, r"groups of 'merge' must be two or more different groups, got \[0\]"),
        ({**MERGE, "groups": [1, 1]}, r"groups of 'merge' must be two or more different groups, got \[1, 1\]"),
        ({**MERGE, "groups": ["0", "1"]}, r"groups must be a list of numbers of groups, got \['0', '1'\]"),
        ({**MERGE, "groups": [0, 10**30]}, "groups has the group 1000000.*, which cannot exist at that time"),
        ({**MERGE, "groups": [0, -1]}, "groups has the group -1, which cannot exist at that time"),
        ({**MERGE, "exemplars": [IDS[:1]]}, "exemplars of 'merge' has 1 lists for 2 groups"),
        ({**MERGE, "exemplars": IDS[:2]}, "exemplars must be a list of lists of ids, got"),
        ({**MERGE, "group_names": [1, None]}, r"group_names must be a list of texts, got \[1, None\]"),
        ({**SPLIT, "new_group": 1}, "new_group must be 5 here, got 1"),
        ({**SPLIT, "new_group": True}, "new_group must be 5 here, got True"),
        ({**SPLIT, "new_group": 10**400}, "new_group must be 5 here, got 10000.*…"),
        ({**SPLIT, "items": []}, "items of 'split' has too few items, 0"),
        ({**SPLIT, "name": ""}, "name must have 1 to 120 characters, got 0"),
        ({"action": "rename", "group": 0}, "name of 'rename' is missing"),
        ({"action": "rename", "group": "0", "name": "a"}, "group must be the number of a group, got '0'"),
        ({"action": "rename", "group": 1.0, "name": "a"}, r"group must be the number of a group, got 1\.0"),
        ({"action": "rename", "group": 99, "name": "a"}, "group has the group 99, which cannot exist at that time"),
        ({"action": "rename", "group": 0, "name": "a" * 9999}, "name must have 1 to 120 characters, got 9999"),
        ({"action": "rename", "group": 0, "name": None}, "name must be a text, got None"),
        ({**KEEP, "decisions": [9]}, "decisions of 'keep' has 9, which is no earlier decision"),
        ({**KEEP, "decisions": None}, "decisions must be a list of numbers of decisions, got None"),
        ({**KEEP, "n_groups": "many"}, "n_groups must be a number, got 'many'"),
        ({**KEEP, "n_groups": 10**9}, "n_groups must be a number of groups, got 1000000000"),
        ({**TOGETHER, "time": None}, "time must be a text, got None"),
        ({**TOGETHER, "is_answer": "yes"}, "is_answer must be true or false, got 'yes'"),
    ]:
        folder = write_log(TOGETHER, entry, TOGETHER)
        content = (folder / FILE_NAME).read_bytes()
        pattern = rf"line 3 of {re.escape(str(folder / FILE_NAME))} is damaged \(decision 2: {reason}.*\): {REMEDY}$"
        with pytest.raises(ValueError, match=pattern):
            Workbench(result, folder)
        assert (folder / FILE_NAME).read_bytes() == content


def test_last_entry_without_a_line_end_is_checked_and_not_removed(result, write_log):
    path = write_log(TOGETHER, {"action": "outlier", "items": ["pear"]}) / FILE_NAME
    content = path.read_bytes().rstrip(b"\n")
    path.write_bytes(content)
    with pytest.raises(ValueError, match="it names the item 'pear', which the run does not have"):
        Workbench(result, path.parent)
    assert path.read_bytes() == content


def test_workbench_opens_with_any_other_entries(result, write_log):
    for entries in [
        [{**TOGETHER, "a field of another program": [1e300]}],
        [TOGETHER, {"action": "apart", "items": IDS[:2]}],  # contradicts the first
        [TOGETHER, TOGETHER],
        [{"action": "outlier", "items": IDS}],
        [{"action": "apart", "items": IDS[:30]}],  # more than there are groups
        [{"action": "rename", "group": 0, "name": "a"}, {"action": "rename", "group": 1, "name": "a"}],
        [{"action": "rename", "group": 3, "name": "of a group that does not exist"}],
        [{**MERGE, "groups": [0, 3]}, {**SPLIT, "items": IDS}],
        [{"action": "distrust", "view": view, "items": IDS} for view in ("size", "color", "text")],
        [TOGETHER, {"action": "undo", "of": 1}, {"action": "undo", "of": 1}, {"action": "undo", "of": 2}],
        [TOGETHER, KEEP, {"action": "revert", "version": 77, "decisions": [1, 1, 2]}, KEEP],
        [{**TOGETHER, "time": "yesterday", "is_answer": True}],
    ]:
        with open_workbench(result, write_log(*entries)) as workbench:
            settle(workbench)
            state = workbench.describe_state()
            dump_strictly(state)
            assert state["error"] is None or "not all items can be outliers: select fewer" in state["error"], entries
            for version in state["versions"]:
                workbench.compare_versions(version["number"], -1)
            workbench.list_questions(3)
            workbench.export_constraints()
