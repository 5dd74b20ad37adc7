"""`consilience figure`: a figure of a run for a paper, and its caption."""

import shutil
import sys

import numpy as np
import pytest

from stage import CLASSES, IDS, N, assert_refused, run_command, run_successfully, write_csv

pytest.importorskip("matplotlib")

pytestmark = pytest.mark.xdist_group("command: figure")  # whose runs are shared


@pytest.fixture(scope="module")
def described(data, ab, tmp_path_factory):
    """A run with columns that describe the clusters."""
    folder = tmp_path_factory.mktemp("described")
    rng = np.random.default_rng(0)
    rows = (
        (IDS[i], 30 + 10 * CLASSES[i] + i % 7, round(rng.exponential(5 + 20 * CLASSES[i]), 2), i % 3 > 0)
        for i in range(N)
    )
    file = write_csv(folder / "clinic.csv", ["id", "age", "months", "event"], rows)
    run_successfully(
        "cluster", *ab, "-k", 3, "--method", "k-means", "--id", "id",
        "--describe", f"{file}:age,months,event", "--out", folder / "run",
    )  # fmt: skip
    return folder / "run"


@pytest.fixture
def folder(clustered, tmp_path):
    """A run without descriptions, to write to."""
    return shutil.copytree(clustered("k-means"), tmp_path / "run")


@pytest.mark.parametrize(
    ("name", "kind", "start"),
    [("f.pdf", "all", b"%PDF"), ("f.svg", "described", b"<?xml"), ("f.PNG", "survival", b"\x89PNG")],
)
def test_figure_is_written_with_the_same_bytes_each_time(described, tmp_path, name, kind, start):
    options = ("--kind", kind) if kind != "all" else ()
    first = run_successfully("figure", described, *options, "--out", tmp_path / name, "--dpi", 60)
    content = (tmp_path / name).read_bytes()
    assert content.startswith(start)
    assert b"Date" not in content
    run_successfully("figure", described, *options, "--out", tmp_path / name, "--dpi", 60, "--force")
    assert (tmp_path / name).read_bytes() == content
    assert first.out.startswith(f"Written to {tmp_path / name}\n\n")
    if kind == "all":
        assert "\n\n60 items in 3 groups" in first.out
        assert "(d) Columns that were not used to find the groups: age" in first.out
    else:
        assert "(a)" not in first.out
    if kind == "described":  # texts stay texts
        assert ">age</text>" in content.decode().replace("<!-- age -->", "")


def test_verdict_is_drawn_with_its_width(described, tmp_path):
    options = "--kind", "verdict", "--width", 90, "--dpi", 40
    run_successfully("figure", described, *options, "--out", tmp_path / "f.png")
    assert (tmp_path / "f.png").stat().st_size > 1000


def test_chosen_groups_are_drawn(described, tmp_path):
    run_successfully("figure", described, "--kind", "groups", "--groups", "2, 0,2", "--out", tmp_path / "f.svg")
    page = (tmp_path / "f.svg").read_text()
    assert page.count(" of 60)</text>") == 2


def test_default_file_is_in_the_folder(folder):
    ran = run_successfully("figure", folder, "--kind", "hierarchy")
    assert ran.out.startswith(f"Written to {folder / 'figure.pdf'}\n")
    assert_refused(run_command("figure", folder), "figure.pdf already exists: choose another name, or use --force")


def test_figure_is_drawn_without_fitting(folder, monkeypatch):
    monkeypatch.setattr("consilience.MultiViewKMeans.fit", None)
    run_successfully("figure", folder, "--kind", "map", "--out", folder / "map.svg")
    assert "</svg>" in (folder / "map.svg").read_text()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--out", "f.jpg"), "f.jpg ends with '.jpg': a figure ends with .pdf, .svg, .png"),
        (("--out", "f"), "f has no ending: a figure ends with .pdf, .svg, .png"),
        (("--out", "missing/f.pdf"), "missing does not exist: create the folder first"),
        (("--groups", "0,3"), "there is no group 3: their numbers are 0 to 2"),
        (("--width", "20"), "a width of 20 mm is not between 60 and 400 mm"),
        (("--kind", "survival"), "the run has no described columns, which a figure of the kind 'survival' shows"),
        (("--kind", "described"), "again with --describe age,months,event"),
    ],
)
def test_wrong_options_are_refused_before_the_data_is_read(folder, arguments, words, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("consilience.cli.figure.restore_run", None)
    assert_refused(run_command("figure", folder, *arguments), words)


def test_wrong_values_are_refused(folder):
    for arguments, words in {
        ("--kind", "maps"): "maps",
        ("--groups", "a"): "'a' is not an integer of 0 or more",
        ("--groups", ""): "'' is not an integer of 0 or more",
        ("--width", "0"): "'0' is not an integer of 1 or more",
        ("--dpi", "-5"): "-5",
    }.items():
        assert_refused(run_command("figure", folder, *arguments), words, code=2)


def test_input_is_not_written_over(described, data, ab, tmp_path):
    shutil.copy(data / "a.csv", tmp_path / "a.svg")
    view = f"a={tmp_path / 'a.svg'}"
    ran = run_command("figure", described, "--view", view, *ab[2:], "--out", tmp_path / "a.svg", "--force")
    assert ran.code == 1
    assert (tmp_path / "a.svg").read_bytes() == (data / "a.csv").read_bytes()


def test_without_matplotlib_the_message_names_the_installation(folder, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    ran = run_command("figure", folder, "--out", tmp_path / "f.pdf")
    assert_refused(ran, "consilience.plot needs matplotlib: pip install 'consilience[plot]'")
    assert not (tmp_path / "f.pdf").exists()
