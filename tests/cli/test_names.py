"""`--names`: names of clusters in place of the automatic ones."""

import csv
import json
import shutil

import pytest

from stage import FAST, FILES, assert_refused, list_folder, read_summary, run_command, run_successfully


@pytest.fixture
def names_file(tmp_path):
    """A file that renames the first two clusters."""
    path = tmp_path / "names.csv"
    path.write_text("cluster,name\n0,knives\n1,apples\n")
    return path


@pytest.fixture
def folder(clustered, tmp_path):
    """A run to write to."""
    return shutil.copytree(clustered("k-means"), tmp_path / "run")


def read_column(path, column):
    with path.open(encoding="utf-8", newline="") as file:
        return [row[column] for row in csv.DictReader(file)]


def test_names_are_in_all_results(ab, names_file, tmp_path):
    out = tmp_path / "out"
    ran = run_successfully("cluster", *ab, *FAST, "--names", names_file, "--out", out)
    assert "  knives\n" in ran.out
    facts = read_summary(out)
    assert facts["names"][:2] == ["knives", "apples"]
    assert facts["given_names"] == {"0": "knives", "1": "apples"}
    assert facts["inputs"]["names"] == str(names_file)
    named = zip(read_column(out / "labels.csv", "cluster"), read_column(out / "labels.csv", "name"), strict=True)
    assert {name for cluster, name in named if cluster == "0"} == {"knives"}
    assert f'names = "{names_file}"' in (out / "run.toml").read_text()


def test_report_renames_all_files_of_a_run_without_fitting(folder, names_file, monkeypatch, ab, tmp_path):
    before, clusters = read_summary(folder), read_column(folder / "labels.csv", "cluster")
    monkeypatch.setattr("consilience.MultiViewKMeans.fit", None)
    ran = run_successfully("report", folder, "--names", names_file, "--force")
    assert f"The clusters are renamed in all files of {folder}" in ran.out
    assert set(list_folder(folder)) == FILES
    names = ["knives", "apples", before["names"][2]]
    after = read_summary(folder)
    assert after["names"] == names
    assert {key: value for key, value in after.items() if key not in ("names", "given_names", "inputs", "notes")} == {
        key: value for key, value in before.items() if key not in ("names", "given_names", "inputs", "notes")
    }
    assert read_column(folder / "labels.csv", "cluster") == clusters
    assert read_column(folder / "labels.csv", "name") == [names[int(cluster)] for cluster in clusters]
    run_successfully("predict", folder, *ab, "--out", tmp_path / "new.csv")
    assert set(read_column(tmp_path / "new.csv", "name")) <= set(names)
    names_file.write_text("cluster,name\nknives,blades\n")
    run_successfully("report", folder, "--names", names_file, "--force")
    assert read_summary(folder)["names"] == ["blades", *names[1:]]
    assert read_summary(folder)["given_names"] == {"0": "blades", "1": "apples"}
    run_successfully("report", folder, "--force")
    assert read_summary(folder)["names"] == ["blades", *names[1:]]


def test_report_elsewhere_leaves_the_run_as_it_is(folder, names_file, tmp_path):
    before = {name: (folder / name).read_bytes() for name in FILES}
    ran = run_successfully("report", folder, "--names", names_file, "--out", tmp_path / "page.html")
    assert f"The files in {folder} keep the present names of the clusters." in ran.out
    assert (tmp_path / "page.html").exists()
    assert {name: (folder / name).read_bytes() for name in FILES} == before


def test_unknown_clusters_are_refused_by_report(folder, tmp_path):
    path = tmp_path / "names.json"
    path.write_text(json.dumps({"7": "knives"}))
    before = {name: (folder / name).read_bytes() for name in FILES}
    assert_refused(run_command("report", folder, "--names", path, "--force"), "--names: there is no cluster '7'")
    assert {name: (folder / name).read_bytes() for name in FILES} == before
