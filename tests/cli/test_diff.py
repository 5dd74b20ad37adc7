"""`consilience diff`: changes between the folders of two runs, also of early versions."""

import csv
import json

import pytest

from stage import assert_refused, read_labels, run_command, run_successfully, write_csv

pytestmark = pytest.mark.quick


@pytest.fixture(scope="module")
def runs(ab, clustered, tmp_path_factory):
    """A run with three clusters, and one with two."""
    coarse = tmp_path_factory.mktemp("coarse") / "run"
    run_successfully("cluster", *ab, "-k", 2, "--method", "k-means", "--no-assess", "--out", coarse)
    return clustered("k-means"), coarse


def test_equal_runs(runs):
    ran = run_successfully("diff", runs[0], runs[0])
    assert "Nothing has split, merged, appeared or vanished." in ran.out
    assert "has moved" in ran.out
    assert "adjusted Rand index 1.000" in ran.out
    assert "Settings that differ" not in ran.out


def test_merged_clusters_and_settings_are_told(runs):
    ran = run_successfully("diff", *runs)
    assert " merged into " in ran.out
    assert "  -k: 3 -> 2" in ran.out
    facts = json.loads(run_successfully("diff", *runs, "--json").out)
    assert len(facts["merged"][0]["from"]) == 2
    assert "-k: 3 -> 2" in facts["settings"]
    assert len(facts["moved_ids"]) == facts["moved"]
    backwards = json.loads(run_successfully("diff", *reversed(runs), "--json").out)
    assert len(backwards["split"][0]["into"]) == 2


def test_moved_entities_are_written(runs, tmp_path):
    out = tmp_path / "moved.csv"
    run_successfully("diff", *runs, "--out", out)
    with out.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    before, after = ({row["id"]: row for row in read_labels(run)} for run in runs)
    assert list(rows[0]) == ["id", "cluster before", "name before", "cluster", "name"]
    for row in rows:
        assert row["cluster before"] == before[row["id"]]["cluster"]
        assert (row["cluster"], row["name"]) == (after[row["id"]]["cluster"], after[row["id"]]["name"])
    assert_refused(run_command("diff", *runs, "--out", out), "use --force")
    run_successfully("diff", *runs, "--out", out, "--force")


def test_folders_of_early_versions_have_no_names_or_model(runs, tmp_path):
    rows = read_labels(runs[0])
    old = tmp_path / "old"
    old.mkdir()
    write_csv(old / "labels.csv", ["id", "cluster"], ([row["id"], row["cluster"]] for row in rows))
    (old / "summary.json").write_text('{"inputs": {"view": []}}', encoding="utf-8")
    ran = run_successfully("diff", old, runs[0])
    assert "None of the" in ran.out
    assert "'cluster" not in ran.out.partition("\n\n")[0]


def test_ids_that_look_like_formulas_are_matched(tmp_path):
    for name, entity in (("new", "'=a"), ("old", "=a")):
        (tmp_path / name).mkdir()
        write_csv(tmp_path / name / "labels.csv", ["id", "cluster"], [[entity, 0], ["b", 0]])
        (tmp_path / name / "summary.json").write_text('{"inputs": {"view": []}}', encoding="utf-8")
    assert "2 entities are in both" in run_successfully("diff", tmp_path / "old", tmp_path / "new").out


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("id,cluster\nz1,0\nz2,0\n", ("cannot be compared", "no entity in common")),
        ("id,cluster\ne00,0\ne00,0\n", ("the id 'e00' occurs more than once",)),
        ("id,cluster\ne00,zero\n", ("labels.csv is damaged",)),
        ("id,cluster\ne00,1000000000000\n", ("labels.csv is damaged", "clusters are numbered from 1000000000000")),
        (f"id,cluster\ne00,{10**30}\n", ("labels.csv is damaged",)),
        (f"id,cluster\n{'x' * 200_000},0\n", ("labels.csv is damaged", "field larger than field limit")),
        ("cluster,id\n0\n", ("cannot be compared", "no entity in common")),
        ("id,cluster\n", ("has no rows",)),
        ("a,b\n1,2\n", ("has no rows with the columns id and cluster",)),
    ],
)
def test_unsuitable_labels_are_refused(content, words, runs, tmp_path):
    (tmp_path / "labels.csv").write_text(content, encoding="utf-8")
    assert_refused(run_command("diff", runs[0], tmp_path), *words)


def test_missing_folder_is_refused(runs, tmp_path):
    assert_refused(run_command("diff", runs[0], tmp_path / "none"), "there is no", "labels.csv")
