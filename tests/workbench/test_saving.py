"""The decisions as a file of constraints, and the groups as a run."""

import csv
import io
import json
import re
import shutil
from pathlib import Path

import numpy as np
import pytest

import consilience as cs
from consilience.workbench.errors import Contradiction
from consilience.workbench.saving import choose_folder
from small_runs import IDS, cluster_items, decide, find_decision, list_views, make_items, open_workbench, settle
from stage import FILES, get_clusters, list_folder, read_labels, read_summary, run_successfully

AWKWARD = ["=1+1", "-2x", "@cmd", "+", "a,b", 'say "x"', "it's", "'quoted", "éà ‏עב", "line\nbreak", "<script>", "0012"]


def get_view_arguments(path):
    return [part for name, source in list_views(path).items() for part in ("--view", f"{name}={source}")]


@pytest.fixture(scope="module")
def saved(result, tmp_path_factory):
    """The folder of a run that was saved after decisions, its labels, and the name of each item's group."""
    folder = tmp_path_factory.mktemp("runs") / "run"
    with open_workbench(result, folder) as workbench:
        decide(workbench, "together", [0, 40])
        decide(workbench, "apart", [3, 4])
        decide(workbench, "outlier", [5, 6])
        decide(workbench, "split", range(31, 39), name="sharp knives")
        group = int(settle(workbench)[70])
        decide(workbench, "rename", groups=[group], name="=clothes")
        decide(workbench, "distrust", [60], view="color")
        assert workbench.save_as("corrected run") == {"folder": str(folder.parent / "corrected run")}
        labels = settle(workbench)
        state = workbench.describe_state()
        assert (state["error"], state["saved"]) == (None, {"folder": str(folder.parent / "corrected run")})
        names = [workbench.snapshot.names.get(label) for label in labels.tolist()]
    return folder.parent / "corrected run", labels, names


def get_compact(labels):
    """Number groups from 0 in the order of their numbers; outliers keep -1."""
    return np.where(labels < 0, -1, np.searchsorted(np.unique(labels[labels >= 0]), labels))


def test_saved_run_has_the_groups_their_names_and_what_they_follow_from(saved):
    folder, labels, names = saved
    loaded = cs.load_run(folder)
    assert np.array_equal(loaded.labels, get_compact(labels))
    assert loaded.ids.tolist() == IDS
    assert np.flatnonzero(loaded.labels < 0).tolist() == [5, 6]
    assert {"sharp knives", "=clothes"} <= set(loaded.names)
    assert [loaded.names[label] if label >= 0 else None for label in loaded.labels] == names
    assert {path.name for path in folder.iterdir()} == {*FILES, "constraints.csv"}
    assert any("changed by 6 decisions of a person" in note for note in loaded.notes)
    summary = json.loads((folder / "summary.json").read_text("utf-8"), parse_constant=pytest.fail)
    assert (summary["clusters"], summary["outliers"], summary["decisions"]["active"]) == (4, 2, 6)
    n_constraints = len(read_constraints((folder / "constraints.csv").read_text("utf-8")))
    assert summary["constraints"] == {"kept": n_constraints, "given": n_constraints}
    assert "follow from decisions of a person, of which these settings repeat only" in (folder / "run.toml").read_text()
    assert "These groups follow from decisions of a person and were not assessed." in loaded.report.to_html()


def test_saved_run_is_taken_by_predict_report_and_load_run(saved, result, tmp_path):
    folder, *_ = saved
    copy = shutil.copytree(folder, tmp_path / "copy")
    loaded, items = cs.load_run(copy), make_items()
    predicted = loaded.predict({"size": items[["length", "width", "height"]], "color": items[["red", "green", "blue"]],
                                "text": items[["text"]]})  # fmt: skip
    is_placed = loaded.labels >= 0
    assert np.mean(predicted[is_placed] == loaded.labels[is_placed]) > 0.9
    views = get_view_arguments(result.summary["inputs"]["view"][0].split("=", 1)[1].split(":")[0])
    run_successfully("predict", copy, *views, "--out", tmp_path / "predicted.csv")
    assert np.array_equal(get_clusters(read_labels(tmp_path / "predicted.csv")), predicted)
    run_successfully("report", copy, "--force")
    assert "sharp knives" in (copy / "report.html").read_text("utf-8")


def test_saved_run_opens_in_the_workbench(saved):
    folder, labels, _ = saved
    with open_workbench(cs.load_run(folder), folder) as workbench:
        assert np.array_equal(settle(workbench), get_compact(labels))
        assert set(workbench.snapshot.names.values()) == set(cs.load_run(folder).names)
        decide(workbench, "together", [50, 80])
        after = settle(workbench)
        assert np.flatnonzero(after < 0).tolist() == [5, 6]  # outliers of the run stay
        assert after[0] == after[40]  # decisions of the first workbench hold, because they are constraints of the run
        assert after[3] != after[4]


def test_settings_of_a_saved_run_cluster_again_with_its_constraints(saved, tmp_path):
    folder, *_ = saved
    config = folder / "run.toml"
    run_successfully("cluster", "--config", config, "--no-assess", "--out", tmp_path / "again")
    rows = {row["id"]: row["cluster"] for row in read_labels(tmp_path / "again")}
    assert rows[IDS[0]] == rows[IDS[40]]
    assert rows[IDS[3]] != rows[IDS[4]]


def test_run_without_constraints_is_saved_once_without_the_file(result, saved, tmp_path):
    with open_workbench(result, tmp_path / "run") as workbench:
        decide(workbench, "outlier", [5])
        names = workbench.snapshot.names
        workbench.save_as("copy")
        settle(workbench)
        assert workbench.describe_state()["error"] is None
        with pytest.raises(ValueError, match=r"copy exists: choose another name"):
            workbench.save_as("copy")
    assert "constraints.csv" not in list_folder(tmp_path / "copy")
    facts = read_summary(tmp_path / "copy")
    assert facts["inputs"]["constraints"] is None
    assert facts["given_names"] == {}  # only names of the user are kept as given
    assert facts["names"] == list(names.values())
    assert set(read_summary(saved[0])["given_names"].values()) == {"sharp knives", "=clothes"}


@pytest.mark.parametrize(
    "place", ["consilience.pipeline.folder.write_config", "consilience.workbench.saving.write_constraints"]
)
def test_failed_writing_leaves_nothing_and_is_shown(result, tmp_path, monkeypatch, place):
    def fail(*_, **__):
        raise OSError(28, "No space left on device")

    with open_workbench(result, tmp_path / "run") as workbench:
        decide(workbench, "together", [0, 40])
        with monkeypatch.context() as patch:
            patch.setattr(place, fail)
            folder = workbench.save_as("copy")["folder"]
            settle(workbench)
        error = workbench.describe_state()["error"]
        files = "|".join(re.escape(str(Path(folder) / name)) for name in FILES)
        assert re.fullmatch(
            rf"The groups were not saved in {re.escape(folder)}: ({files}): No space left on device", error
        )
        assert workbench.describe_state()["saved"] is None
        assert sorted(path.name for path in tmp_path.iterdir()) == ["run"]
        workbench.save_as("copy")
        settle(workbench)
        assert workbench.describe_state()["error"] is None
        assert workbench.describe_state()["saved"] == {"folder": folder}


def test_name_that_leads_elsewhere_exists_or_is_too_long_is_refused(tmp_path):
    names = ["", "  ", ".", "..", " .. ", "../up", "a/b", "a\\b", "C:x", "/etc", " .hidden", "-x", "a\nb", "a\0b"]
    for name in [*names, "a*", "end."]:
        with pytest.raises(ValueError, match="the name of a folder has no"):
            choose_folder(tmp_path, name)
    (tmp_path / "here").mkdir()
    with pytest.raises(ValueError, match="here exists: choose another name"):
        choose_folder(tmp_path, " here ")
    with pytest.raises(ValueError, match="the name of the folder is too long"):
        choose_folder(tmp_path, "é" * 150)
    assert choose_folder(tmp_path, " Übersicht 2 (neu) ") == tmp_path / "Übersicht 2 (neu)"


# constraints


def read_constraints(text):
    return [tuple(row.values()) for row in csv.DictReader(io.StringIO(text))]


@pytest.mark.parametrize("ids", ["awkward", "none"])
def test_exported_constraints_are_taken_by_the_command_line(tmp_path, ids):
    items = make_items(None if ids == "none" else [*AWKWARD, *IDS[len(AWKWARD) :]])
    result = cluster_items(tmp_path / "items.csv", items=items)
    n = len(AWKWARD)
    with open_workbench(result, tmp_path / "run") as workbench:
        decide(workbench, "together", range(n))
        decide(workbench, "apart", [0, 50])
        (tmp_path / "links.csv").write_text(workbench.export_constraints(), "utf-8", newline="")
        labels = settle(workbench)
    id_option = [] if ids == "none" else ["--id", "id"]
    run_successfully(
        "cluster", *get_view_arguments(tmp_path / "items.csv"), *id_option, "-k", 3, "--constraints",
        tmp_path / "links.csv", "--no-assess", "--out", tmp_path / "out",
    )  # fmt: skip
    assert read_summary(tmp_path / "out")["constraints"] == {"kept": n, "given": n}
    clusters = np.array(get_clusters(read_labels(tmp_path / "out")))
    assert np.mean((clusters[:, None] == clusters) == (labels[:, None] == labels)) > 0.95


def test_constraints_of_the_run_are_exported_except_those_that_a_decision_contradicts(tmp_path):
    links = cs.Constraints([(0, 1), (1, 2), (10, 11)], [(0, 40), (20, 50)])
    result = cluster_items(tmp_path / "items.csv", constraints=links)
    with open_workbench(result, tmp_path / "run") as workbench:
        with pytest.raises(Contradiction, match="constraints of the run must be withdrawn") as raised:
            decide(workbench, "apart", [0, 2])
        links = "“item 01” and “item 02” belong together; “item 00” and “item 01” belong together"
        assert raised.value.choices == [[(0, f"Constraints of the run: {links}.")]]
        number = decide(workbench, "apart", [0, 2], resolve="newer", withdraw=[0])
        labels = settle(workbench)
        assert labels[0] != labels[2]
        reason = "2 constraints of the run contradict it, and are not in effect."
        assert find_decision(workbench, number)["reason"] == reason
        exported = set(read_constraints(workbench.export_constraints()))
    assert exported == {
        (IDS[0], IDS[2], "cannot-link"),
        (IDS[0], IDS[40], "cannot-link"),
        (IDS[10], IDS[11], "must-link"),
        (IDS[20], IDS[50], "cannot-link"),
    }


@pytest.fixture(scope="module")
def updated(result, tmp_path_factory):
    """A run that continues another one, with its data, and has lost a group and got a new one."""
    folder = tmp_path_factory.mktemp("updated")
    result.save(folder / "first")
    items = make_items().iloc[:60]  # without the group of clothes
    items["id"] = [f"new {name}" for name in items["id"]]
    items.to_csv(folder / "items.csv", index=False)
    views = get_view_arguments(folder / "items.csv")
    run_successfully("update", folder / "first", *views, "-k", "auto", "--labels", "kind", "--out", folder / "second")
    return cs.load_run(folder / "second")


def test_saved_run_that_continues_another_keeps_its_numbers(updated, tmp_path):
    with open_workbench(updated, tmp_path / "run") as workbench:
        labels = settle(workbench)
        assert np.unique(labels).tolist() == [0, 2]  # group 1 was that of the clothes
        decide(workbench, "split", np.flatnonzero(labels == 0)[:8].tolist(), name="eight")
        decide(workbench, "outlier", np.flatnonzero(labels == 2).tolist())
        expected = settle(workbench)
        workbench.save_as("saved")
        settle(workbench)
        assert workbench.describe_state()["error"] is None
    saved = cs.load_run(tmp_path / "saved")
    assert np.unique(saved.labels).tolist() == [-1, 0, 3]
    assert np.array_equal(saved.labels == 0, expected == 0)
    assert np.array_equal(saved.labels < 0, expected < 0)
    assert saved.names[3] == "eight"
    items = tmp_path / "items.csv"
    more = make_items([*(f"new {name}" for name in IDS[:60]), *IDS[60:]])
    more.drop(columns="kind").to_csv(items, index=False)
    run_successfully("predict", tmp_path / "saved", *get_view_arguments(items), "--out", tmp_path / "predicted.csv")
    assert set(get_clusters(read_labels(tmp_path / "predicted.csv"))) <= {0, 3}
    run_successfully("report", tmp_path / "saved", "--force")
    assert "eight" in (tmp_path / "saved" / "report.html").read_text("utf-8")
    run_successfully("update", tmp_path / "saved", *get_view_arguments(items), "-k", 3, "--out", tmp_path / "next")
    assert min(set(get_clusters(read_labels(tmp_path / "next"))) - {0, 3}) == 4
