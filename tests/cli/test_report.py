"""`consilience report`: the page again, without another fit."""

import json
import re
import shutil

import numpy as np
import pytest

from stage import FILES, assert_refused, list_folder, read_summary, run_command, run_successfully, write_csv


@pytest.fixture
def folder(clustered, tmp_path):
    """A run to write to."""
    return shutil.copytree(clustered("k-means"), tmp_path / "run")


@pytest.fixture(scope="module")
def first_run(data, tmp_path_factory):
    """A run on files of its own; not to be written to."""
    place = tmp_path_factory.mktemp("first")
    for name in ("a.csv", "b.csv"):
        shutil.copy(data / name, place)
    views = "--view", f"a={place / 'a.csv'}", "--view", f"b={place / 'b.csv'}"
    run_successfully("cluster", *views, "-k", 3, "--method", "k-means", "--no-assess", "--out", place / "run")
    return place


@pytest.fixture
def copied_run(first_run):
    """A run on files that may be changed."""
    kept = {name: (first_run / name).read_bytes() for name in ("a.csv", "b.csv")}
    yield first_run
    for name, content in kept.items():
        (first_run / name).write_bytes(content)


def timeless(path):
    """The page but for when it was made."""
    return re.sub(r"<time.*?</time>", "", path.read_text(encoding="utf-8"))


def test_report_is_written_without_fitting(folder, monkeypatch):
    before = timeless(folder / "report.html")
    (folder / "report.html").unlink()
    monkeypatch.setattr("consilience.MultiViewKMeans.fit", None)
    ran = run_successfully("report", folder)
    assert set(list_folder(folder)) == FILES
    assert ran.out == f"Written to {folder / 'report.html'}\n"
    assert timeless(folder / "report.html").count("<section") == before.count("<section")


def test_existing_report_needs_force(folder):
    page = folder / "report.html"
    page.write_text("mine")
    assert_refused(run_command("report", folder), "report.html already exists: choose another name, or use --force")
    assert page.read_text() == "mine"
    run_successfully("report", folder, "--force")
    assert page.read_text().startswith("<!doctype html>")


def test_classes_can_be_added(folder, data, tmp_path):
    assert read_summary(folder)["scores"] is None
    run_successfully(
        "report", folder, "--labels", data / "classes.csv", "--title", "Now known", "--out", tmp_path / "known.html"
    )
    run_successfully("report", folder, "--out", tmp_path / "unknown.html")
    with_classes, without_classes = (timeless(tmp_path / name) for name in ("known.html", "unknown.html"))
    assert "Now known" in with_classes
    assert "Now known" not in without_classes
    assert with_classes.count("<section") > without_classes.count("<section")


CHANGED = "the files have changed since the model was fitted: run `consilience cluster` again"


@pytest.mark.parametrize(
    "change",
    [
        lambda lines: lines[:-9],
        lambda lines: [*lines, "new,1,2,3"],
        lambda lines: [lines[0], *lines[:0:-1]],
        lambda lines: [lines[0], *(re.sub(r",[^,]*$", ",9", line) for line in lines[1:])],
        lambda lines: [line.rpartition(",")[0] for line in lines],
    ],
    ids=["fewer", "more", "another order", "other values", "a column less"],
)
def test_changed_files_are_refused(change, copied_run):
    file = copied_run / "a.csv"
    file.write_text("\n".join(change(file.read_text().splitlines())) + "\n")
    ran = run_command("report", copied_run / "run", "--out", copied_run / "new.html")
    assert_refused(ran, CHANGED)
    assert not (copied_run / "new.html").exists()


def test_classes_used_as_input_are_refused(tmp_path):
    rng = np.random.default_rng(0)
    rows = [(f"e{i}", *rng.normal(size=2).round(3), ("red", "green", "blue")[i % 3]) for i in range(30)]
    file = write_csv(tmp_path / "all.csv", ["id", "x", "y", "class"], rows)
    run_successfully("cluster", "--view", file, "-k", 3, "--method", "spectral", "--no-assess", "--out", tmp_path / "o")
    assert_refused(run_command("report", tmp_path / "o", "--labels", "class", "--out", tmp_path / "new.html"), CHANGED)


def test_missing_and_moved_files_can_be_named_again(copied_run, tmp_path):
    moved = shutil.move(copied_run / "a.csv", tmp_path / "moved.csv")
    assert_refused(run_command("report", copied_run / "run", "--force"), f"there is no file {copied_run / 'a.csv'}")
    views = "--view", f"a={moved}", "--view", f"b={copied_run / 'b.csv'}"
    run_successfully("report", copied_run / "run", *views, "--out", tmp_path / "new.html")
    assert (tmp_path / "new.html").is_file()


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, "give a folder that `consilience cluster --out` has written"),
        ("{", "summary.json cannot be read"),
        pytest.param("[" * 100_000, "summary.json cannot be read: its values are nested too deeply", id="nested"),
        ("[]", "summary.json is not a summary of `consilience cluster`"),
        ('{"inputs": 3}', "summary.json is not a summary of `consilience cluster`"),
        pytest.param('{"inputs": {}}', "summary.json"),
    ],
)
def test_folder_without_run_is_refused(content, words, folder):
    (folder / "summary.json").unlink()
    if content is not None:
        (folder / "summary.json").write_text(content)
    assert_refused(run_command("report", folder, "--force"), words)


def test_run_without_model_is_refused(folder):
    facts = json.loads((folder / "summary.json").read_text())
    assert facts["inputs"]["method"] == "k-means"
    assert facts["command"].startswith("consilience cluster --view")
    (folder / "model.zip").unlink()
    assert_refused(run_command("report", folder, "--force"), "model.zip")
