"""What the page gets: values of JSON about items, groups and decisions, whatever the texts and numbers are."""

import base64
import json
import zlib
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import consilience as cs
from consilience.workbench.describe import (
    check_decision,
    describe_decision,
    flatten_text,
    number_equal_names,
    quote_items,
)
from consilience.workbench.knowledge import DecisionSet
from consilience.workbench.measurements import describe_cell
from consilience.workbench.workbench import check_short_name
from small_runs import (
    CENTERS,
    CLASS_NAMES,
    CLASSES,
    IDS,
    N_ITEMS,
    cluster_items,
    decide,
    dump_strictly,
    find_decision,
    make_items,
    open_workbench,
    settle,
)

HOSTILE = (
    "</script><script>alert(1)</script>",
    "‮right-to-left override and ‏ marks",
    "a null \u0000? no: a bell \u0007 and a tab \t!",
    "line\nbreaks\r\nand \u2028 separators",
    "𝕬 outside the basic plane 👩‍👩‍👧",
    "NaN",
    "=SUM(A1:A9)",
    '"quotes", commas; and \\ backslashes',
)
LONG = "sharp knife " * 9_000  # about 100 KB


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    """A run with texts of every kind, a long cell, and missing cells, in memory."""
    items = make_items()
    texts = items["text"].astype(object)
    for row, text in enumerate(HOSTILE):
        texts[row] = f"{texts[row]} {text}"
    texts[40] = LONG
    texts[50] = None
    items = items.assign(text=texts, when=pd.Timestamp("2024-01-31"), price=np.where(CLASSES == 1, np.nan, 3.5))
    data = {
        "size": items[["length", "width", "height"]],
        "color": items[["red", "green", "blue"]],
        "text": items[["text"]],
    }
    result = cs.cluster(data, 3, labels=CLASS_NAMES, assess=False)
    folder = tmp_path_factory.mktemp("runs") / "<b>run"
    with open_workbench(result, folder) as workbench:
        yield workbench


def unpack(packed):
    """Read an array as the page does."""
    kinds = {"Int32Array": "<i4", "Int16Array": "<i2", "Uint8Array": "u1", "Uint16Array": "<u2"}
    return np.frombuffer(zlib.decompress(base64.b64decode(packed["data"])), kinds[packed["array"]])


def test_everything_is_strict_json(hostile):
    decide(hostile, "together", [0, 40])
    decide(hostile, "outlier", [2])
    everything = [
        hostile.describe_items(),
        hostile.describe_state(),
        [hostile.describe_item(row) for row in range(N_ITEMS)],
        [hostile.describe_group(int(number)) for number in hostile.snapshot.clustering.numbers],
        hostile.list_questions(20),
        hostile.describe_propagation(1),
        hostile.compare_versions(0, -1),
        hostile.search("script"),
    ]
    assert json.loads(dump_strictly(everything)) == json.loads(json.dumps(everything))
    assert "NaN" not in json.dumps([everything[1], everything[3]], ensure_ascii=False)


def test_texts_are_given_as_they_are_and_long_ones_cut(hostile):
    texts = {view["text"] for row in range(len(HOSTILE)) for view in hostile.describe_item(row)["views"]}
    for text in HOSTILE:
        assert any(shown is not None and shown.endswith(text) for shown in texts)
    items = hostile.describe_items()
    assert items["title"] == "<b>run"
    assert len(dump_strictly(items)) < 100_000
    item = hostile.describe_item(40)
    assert len(item["text"]) == 200
    assert [len(view["text"]) for view in item["views"] if view["text"]] == [1500]
    assert len(dump_strictly(item)) < 20_000
    text = next(view for view in hostile.describe_item(50)["views"] if view["name"] == "text")
    assert (text["is_present"], text["text"], text["group"], text["nearest"]) == (False, None, None, [])
    assert [view["n_present"] for view in items["views"]] == [N_ITEMS, N_ITEMS - 6, N_ITEMS - 1]


def test_search_finds_all_words_in_ids_and_texts(result, tmp_path):
    with open_workbench(result, tmp_path) as workbench:
        assert unpack(workbench.search("ITEM 07")["rows"]).tolist() == [7]
        hits = workbench.search("blade  STEEL")
        texts = workbench.result.frame["text"].tolist()
        expected = [row for row, text in enumerate(texts) if "blade" in text and "steel" in text]
        assert unpack(hits["rows"]).tolist() == expected
        assert hits["n"] == len(expected) > 0
        assert workbench.search("   ")["n"] == 0
        assert workbench.search("<b>")["n"] == 0


def test_state_has_labels_only_if_they_are_new(result, tmp_path):
    with open_workbench(result, tmp_path) as workbench:
        state = workbench.describe_state()
        assert unpack(state["labels"]).tolist() == settle(workbench).tolist()
        assert {name: len(unpack(labels)) for name, labels in state["view_labels"].items()} == dict.fromkeys(
            ("size", "color", "text"), N_ITEMS
        )
        assert "labels" not in workbench.describe_state(state["clustering"])
        decide(workbench, "outlier", [3])
        later = workbench.describe_state(state["clustering"])
        assert later["clustering"] > state["clustering"]
        assert unpack(later["labels"])[3] == -1
        assert unpack(later["changes"]["rows"]).tolist() == [3]
        assert later["changes"]["sentences"][-1].startswith("1 item changed its group: 1 from “")
        assert sum(group["size"] for group in later["groups"]) == N_ITEMS - 1
        item = workbench.describe_item(3)
        assert (item["group"], item["confidence"]) == (-1, None)
        dump_strictly(item)
        shown = find_decision(workbench, decide(workbench, "outlier", range(70)))  # of which few rows are listed
        assert shown["rows"] == list(range(50))
        assert shown["sentence"] == "70 items are outliers."


def test_known_classes_give_a_score_that_follows_the_groups(result, tmp_path):
    with open_workbench(result, tmp_path) as workbench:
        before = workbench.describe_state()["scores"]["nmi"]
        classes = workbench.describe_items()["classes"]
        assert [classes["names"][code] for code in unpack(classes["values"])] == CLASS_NAMES.tolist()
        decide(workbench, "merge", groups=workbench.snapshot.clustering.numbers[:2].tolist())
        assert workbench.describe_state()["scores"]["nmi"] < before
    unknown = cluster_items(tmp_path / "items.csv", labels=None)
    with open_workbench(unknown, tmp_path / "unknown") as workbench:
        assert workbench.describe_state()["scores"] is None
        assert workbench.describe_items()["classes"] is None


def test_group_page_counts_members_and_support_of_views(result, tmp_path):
    with open_workbench(result, tmp_path) as workbench:
        number = decide(workbench, "outlier", [3])
        for group_number in workbench.snapshot.clustering.numbers.tolist():
            group = workbench.describe_group(group_number)
            members = np.flatnonzero(settle(workbench) == group_number)
            assert group["size"] == len(members)
            shown = [entry["row"] for entry in (*group["typical"], *group["borderline"])]
            assert set(shown) <= set(members.tolist())
            assert len(set(shown)) == 12
            assert [entry["view"] for entry in group["support"]] == ["size", "color", "text"]
            assert all(entry["share"] > 0.8 for entry in group["support"])
            assert group["marks"]
            assert group_number not in [neighbor["number"] for neighbor in group["neighbors"]]
        workbench.undo(number)
        decide(workbench, "merge", groups=workbench.snapshot.clustering.numbers.tolist())
        group = workbench.describe_group(int(workbench.snapshot.clustering.numbers[0]))
        assert (group["size"], group["neighbors"], group["differences"]) == (N_ITEMS, [], [])
        assert workbench.describe_item(0)["second"] is None
        dump_strictly([group, workbench.describe_state(), workbench.describe_item(0), workbench.list_questions(5)])


def test_propagation_says_how_far_a_decision_reaches(result, tmp_path):
    with open_workbench(result, tmp_path) as workbench:
        number = decide(workbench, "apart", [0, 1])
        reach = workbench.describe_propagation(number)
        assert (reach["pairs"], reach["kind"]) == ([[0, 1]], "apart")
        assert [view["name"] for view in reach["views"]] == ["size", "color", "text"]
        for part in (*reach["views"], reach["joint"]):
            heights, side = unpack(part["heights"]), unpack(part["side"])
            others = np.delete(heights, [0, 1])
            assert part["n_reached"] == np.count_nonzero(others)
            assert set(side[heights > 0].tolist()) <= {1, 2}
        n_reached = reach["joint"]["n_reached"]
        assert reach["joint"]["sentence"].startswith(f"It counts for {n_reached or 'no'} other item")
        several = decide(workbench, "together", [40, 41, 42])
        assert workbench.describe_propagation(several)["joint"]["sentence"].startswith("Decisions about more than two")
        workbench.undo(number)
        settle(workbench)
        assert "those that are not in effect" in workbench.describe_propagation(number)["joint"]["sentence"]


def list_measured(item):
    """Return what the page gets of the measurements of an item, by view: names and values."""
    return {view["name"]: {entry["name"]: entry["value"] for entry in view["measurements"]} for view in item["views"]}


def test_measurements_are_cells_in_their_units_farthest_from_the_mean_first(result, tmp_path):
    items = make_items()
    names = ["length", "width", "height"]
    distances = ((items[names] - items[names].mean()) / items[names].std(ddof=0)).to_numpy()
    with open_workbench(result, tmp_path) as workbench:
        for row in (0, 7, 40):
            item = workbench.describe_item(row)
            measurements = item["views"][0]["measurements"]
            order = np.argsort(-np.abs(distances[row]))
            assert [entry["name"] for entry in measurements] == [names[place] for place in order]
            assert [entry["value"] for entry in measurements] == [f"{items[names[place]][row]:.10g}" for place in order]
            np.testing.assert_allclose([entry["distance"] for entry in measurements], distances[row][order], atol=0.006)
            assert item["views"][2]["measurements"] == []
        lacking = int(np.flatnonzero(items["red"].isna())[0])
        assert list_measured(workbench.describe_item(lacking))["color"] == {}


def test_measurements_of_categories_dates_and_equal_names_without_empty_cells(tmp_path):
    items = make_items()
    days = pd.date_range("2024-01-01", periods=N_ITEMS).strftime("%Y-%m-%d")
    items = items.assign(shop=np.array(["north", "south", "west"])[CLASSES], bought=days, cost=items["length"] + 100)
    items["cost"] = [f"${value:.2f}" for value in items["cost"]]
    items.loc[3, "width"] = np.nan
    second = items[["length", "height"]] + 1000
    data = {"facts": items[["shop", "bought", "cost", "length", "width"]], "more": second}
    data["dense"] = items[["red", "green", "blue"]].fillna(0).to_numpy()
    data["vectors"] = pd.DataFrame(np.random.default_rng(0).normal(size=(N_ITEMS, 12))).add_prefix("dim_")
    with open_workbench(cs.cluster(data, 3, assess=False), tmp_path / "run") as workbench:
        measured = {}
        for values in list_measured(workbench.describe_item(4)).values():
            measured |= {name: value for name, value in values.items() if name not in measured}
        assert measured["shop"] == "north"
        assert "shop=north" not in measured
        lengths = {value for name, value in measured.items() if name.startswith("length")}
        assert lengths == {f"{items['length'][4]:.10g}", f"{second['length'][4]:.10g}"}
        dump_strictly(workbench.describe_item(4))
        assert "width" in list_measured(workbench.describe_item(4))["facts"]
        measured = list_measured(workbench.describe_item(3))
        assert "width" not in measured["facts"]
        assert (measured["dense"], measured["vectors"]) == ({}, {})  # their columns have numbers for names


def test_known_classes_may_be_missing_and_many(tmp_path):
    classes = [None if row % 3 == 0 else f"class {row % 40}" for row in range(N_ITEMS)]
    items = make_items().assign(kind=classes)
    result = cluster_items(tmp_path / "items.csv", items=items)
    with open_workbench(result, tmp_path / "run") as workbench:
        described = workbench.describe_items()["classes"]
        codes = unpack(described["values"])
        assert (codes[::3] == 255).all()
        assert [described["names"][code] for code in codes if code < 255] == [name for name in classes if name]
        assert 0 <= workbench.describe_state()["scores"]["nmi"] <= 1


def test_similarities_between_items_are_a_view(tmp_path):
    rng = np.random.default_rng(0)
    X = CENTERS[CLASSES] + rng.normal(size=(N_ITEMS, 3))
    near = np.exp(-np.square(X[:, None] - X).sum(axis=2) / 8)
    result = cs.cluster({"size": X, "near": near}, 3, kinds={"near": "similarities"}, assess=False)
    with open_workbench(result, tmp_path / "run") as workbench:
        decide(workbench, "together", [0, 40])
        item = workbench.describe_item(0)
        assert [view["name"] for view in item["views"]] == ["size", "near"]
        for view in item["views"]:
            assert np.mean(CLASSES[[entry["row"] for entry in view["nearest"]]] == 0) > 0.6
        workbench.save_as("copy")
        settle(workbench)
        dump_strictly([workbench.describe_state(), workbench.describe_items(), item])
        assert workbench.describe_state()["error"] is None
        assert np.array_equal(cs.load_run(tmp_path / "copy").labels, workbench.snapshot.clustering.compact)


def test_pictures_are_sent_with_the_items(tmp_path):
    image = pytest.importorskip("PIL.Image")
    items = make_items()
    folder = tmp_path / "pictures"
    folder.mkdir()
    for row in range(N_ITEMS):
        color = tuple(int(40 + 180 * part) for part in np.eye(3)[CLASSES[row]])
        image.new("RGB", (12, 12), color).save(folder / f"{row}.png")
    items["picture"] = [f"pictures/{row}.png" for row in range(N_ITEMS)]
    items.to_csv(tmp_path / "items.csv", index=False)
    data = {"size": f"{tmp_path / 'items.csv'}:length,width,height", "photo": f"{tmp_path / 'items.csv'}:picture"}
    result = cs.cluster(data, 3, kinds={"photo": "images"}, id_column="id", assess=False)
    with open_workbench(result, tmp_path / "run") as workbench:
        pictures = workbench.describe_items()["pictures"]
        assert len(pictures) == N_ITEMS
        assert all(address.startswith("data:image/jpeg;base64,") for address in pictures.values())
        assert workbench.describe_item(4)["picture"] == pictures[4]


# sentences


def test_decision_is_a_sentence():
    for entry, sentence in [
        ({"action": "together", "items": ["a", "b"]}, "“a” and “b” belong together."),
        ({"action": "together", "items": ["a", "b", "c"]}, "“a”, “b” and “c” belong together."),
        ({"action": "together", "items": ["a"] * 1234}, "1,234 items belong together."),
        ({"action": "together", "items": ["a", "b"], "group_names": ["x"]}, "“a” and “b” belong together (group “x”)."),
        ({"action": "apart", "items": ["a", "b"]}, "“a” and “b” do not belong together."),
        ({"action": "apart", "items": ["a"], "others": ["b", "c"]}, "“a” does not belong with “b” and “c”."),
        ({"action": "apart", "items": ["a"], "others": ["b"], "group_names": ["x", "y"]},
         "Groups “x” and “y” do not belong together."),
        ({"action": "merge", "group_names": ["x", "y"]}, "Groups “x” and “y” are one group."),
        ({"action": "split", "items": ["a"]}, "“a” is a group."),
        ({"action": "split", "items": ["a", "b"], "name": "x"}, "“a” and “b” are a group, called “x”."),
        ({"action": "rename", "group_names": ["x"], "name": "y"}, "Group “x” is called “y”."),
        ({"action": "outlier", "items": ["a"]}, "“a” is an outlier."),
        ({"action": "distrust", "items": ["a"], "view": "v"}, "View “v” is misleading for “a”."),
        ({"action": "unknown", "items": ["a", "b"]}, "Whether “a” and “b” belong together was left open."),
    ]:  # fmt: skip
        assert describe_decision(entry) == sentence


def test_split_and_merger_are_satisfied_if_their_items_are_together():
    split = {"number": 1, "action": "split", "items": ["0", "1"], "others": ["2"], "new_group": 7}
    merger = {"number": 1, "action": "merge", "groups": [0, 9], "exemplars": [["0"], ["1"]]}
    other_number = "The items are together, but in another group than the one that was made for them."
    for entry, labels, status, reason in [
        (split, [7, 7, 0, 0], "satisfied", ""),
        (split, [7, 0, 0, 0], "violated", "1 item is in other groups."),
        (split, [0, 0, 7, 0], "violated", other_number),
        (split, [1, 1, 0, 0], "satisfied", ""),  # the new group was merged into another
        (merger, [0, 1, 0, 0], "violated", "Their typical items are in different groups."),
    ]:
        clustering = SimpleNamespace(labels=np.array(labels), numbers=np.unique(labels))
        decisions = DecisionSet([entry], {str(row): row for row in range(4)}, 4)
        assert check_decision(entry, clustering, decisions) == (status, reason)


def apart(number, items, others=()):
    entry = {"number": number, "action": "apart", "items": list(items)}
    return {**entry, "others": list(others)} if others else entry


def together(number, items):
    return {"number": number, "action": "together", "items": list(items)}


def test_reason_of_a_pair_in_one_group_names_the_decisions():
    for labels, entries, base, reason in [
        ([0, 0, 1, 2], [apart(1, "01")], None, "1 pair is in one group."),
        ([0, 0, 0, 0], [apart(1, "01")], None, "1 pair is in one group. There is only one group."),
        ([0, 0, 1, 1], [apart(1, "01"), apart(2, "0", "2"), apart(4, "1", "3")], None,
         "1 pair is in one group. Every other group contains items from which both items must be apart: "
         "decisions 2 and 4."),
        ([0, 0, 1, 2], [apart(1, "01"), apart(2, "01", "2"), apart(4, "1", "3")], None, "1 pair is in one group."),
        ([0, 0, 1, 0], [apart(1, "01"), apart(2, "1", "2"), together(3, "03"), apart(5, "3", "2")], None,
         "1 pair is in one group. Every other group contains items from which both items must be apart: "
         "decisions 2 and 5."),
        ([0, 0, 1, 1], [apart(1, "01"), apart(2, "0", "2")], ([], [(1, 3)]),
         "1 pair is in one group. Every other group contains items from which both items must be apart: "
         "decision 2 and constraints of the run."),
        ([0, 0, 1, 1], [apart(1, "01"), together(3, "01")], None,
         "1 pair is in one group. Decision 3 puts the two items together."),
        ([0, 0, 0, 1], [apart(1, "01"), together(2, "02"), together(5, "21")], None,
         "1 pair is in one group. Decisions 2 and 5 put the two items together."),
        ([0, 0, 0, 1], [apart(1, "01", "2"), together(2, "02")], None,
         "2 pairs are in one group. Decision 2 puts 1 pair together."),
    ]:  # fmt: skip
        labels = np.array(labels)
        numbers = np.unique(labels)
        clustering = SimpleNamespace(labels=labels, numbers=numbers, n_groups=len(numbers))
        rows = {str(row): row for row in range(4)}
        constraints = cs.Constraints() if base is None else cs.Constraints(*base, by="position")
        decisions = DecisionSet(entries, rows, 4, constraints)
        assert check_decision(entries[0], clustering, decisions) == ("violated", reason)


def test_cell_is_written_in_its_unit():
    for value, kind, unit, text in [
        (None, "number", "", ""),
        (float("nan"), "number", "kg", ""),
        (1234.5, "number", "kg", "1234.5 kg"),
        (2.0, "number", "", "2"),
        ("red", "category", "", "red"),
        (0.0, "date", "", "1970-01-01"),
    ]:
        assert describe_cell(value, kind, unit) == text


def test_names_are_one_short_line_and_numbered_until_they_differ():
    assert number_equal_names({0: "a", 1: "b", 2: "a"}) == {0: "a", 1: "b", 2: "a (2)"}
    assert number_equal_names({0: "a (2)", 1: "a", 2: "a"}) == {0: "a (2)", 1: "a", 2: "a (2) (2)"}
    assert flatten_text(" a\r\n\tb\u2028c ") == "a b c"
    assert check_short_name(" a \n b ", "a group") == "a b"
    with pytest.raises(ValueError, match="the name of a group has 1 to 120 characters, got '5'"):
        check_short_name(5, "a group")
    assert quote_items(["x" * 500, "b"]) == f"“{'x' * 79}…” and “b”"
    assert quote_items(["a\nb"]) == "“a b”"


def test_groups_of_a_saved_run_keep_their_names(result, tmp_path):
    """A group keeps its name while most of its items stay; a new group gets a name of its own."""
    with open_workbench(result, tmp_path) as workbench:
        names = dict(workbench.snapshot.names)
        assert names == dict(enumerate(workbench.result.names))
        decide(workbench, "outlier", [0, 31, 62])
        assert workbench.snapshot.names == names
        decide(workbench, "split", range(1, 9))
        new = workbench.snapshot.names
        assert {number: new[number] for number in names} == names
        assert len(set(new.values())) == 4
        assert IDS[1] not in new.values()
