"""`consilience compare`: the table, and the answer in plain words."""

import json
from dataclasses import replace
from itertools import islice

import numpy as np
import pytest

from consilience import registry
from consilience.cli.compare import CLOSE, describe_comparison, list_candidates
from consilience.data import Table
from stage import (
    CLASSES,
    assert_refused,
    get_messages,
    list_folder,
    make_blobs,
    run_command,
    run_successfully,
    write_csv,
)

pytestmark = pytest.mark.xdist_group("command: compare")  # whose runs are shared

SCORES = ["entropy", "f", "precision", "recall", "nmi", "ari"]
ALWAYS = ["clusters", "agreement", "stability", "seconds", "peak_mib", "entities"]
METHODS = ["consilience", "spectral", "kernel-addition", "co-regularized"]
METHODS += ["co-em", "spherical", "k-means", "convex", "agglomerative"]
SHOWN = ["entities", "nmi", "ari", "f", "entropy", "agreement", "stability", "seconds"]
BASELINES = ["spectral, side by side", "spherical, side by side"]


@pytest.fixture(scope="module")
def whole(data, tmp_path_factory):
    """Two views without missing entities, and their classes."""
    folder = tmp_path_factory.mktemp("whole")
    for seed, name in enumerate(("left", "right")):
        np.save(folder / f"{name}.npy", make_blobs(seed))
    write_csv(folder / "classes.csv", ["class"], [["xyz"[c]] for c in CLASSES])
    return folder


def views(folder, refits=0):
    return "--view", folder / "left.npy", "--view", folder / "right.npy", "-k", 3, "--refits", refits


def alone(*names):
    return [f"{name} alone, {how}" for name in names for how in ("spectral", "spherical")]


@pytest.fixture(scope="module")
def scored(whole):
    out = whole / "table.json"
    ran = run_successfully("compare", *views(whole, refits=1), "--labels", whole / "classes.csv", "--out", out)
    return ran, json.loads(out.read_text())


def test_every_suitable_method_and_baseline_is_a_row(scored):
    _, facts = scored
    assert [row["estimator"] for row in facts["table"]] == [*METHODS, *BASELINES, *alone("left", "right")]
    assert all(list(row) == ["estimator", *SCORES, *ALWAYS] for row in facts["table"])
    assert (facts["clusters"], facts["seed"], facts["notes"]) == (3, 0, [])
    assert {row["clusters"] for row in facts["table"]} == {3}


def test_printed_and_written_results_agree(scored):
    ran, facts = scored
    assert facts["words"] in ran.out
    header = next(line for line in ran.out.splitlines() if line.startswith("estimator"))
    assert header.split() == ["estimator", *SHOWN]
    assert facts["words"].startswith("Several views make little difference here: ")
    assert get_messages(ran.err) == []


def test_assess_adds_columns_of_verdicts(whole, monkeypatch, compare_few):
    names = ("k-means", "agglomerative")
    compare_few(*names)
    monkeypatch.setattr(
        "consilience.cli.compare.list_candidates", lambda *options: islice(list_candidates(*options), 2)
    )
    ran = run_successfully("compare", *views(whole), "--assess")
    table = [line.split() for line in ran.out.splitlines() if line.startswith(("estimator", *names))]
    assert table[0][-4:] == ["verdict", "disagreement", "impurity", "seconds"]
    assert table[1][0] == "k-means"
    assert table[1][-4] in ("stable", "mixed")
    assert table[2][0] == "agglomerative"
    assert table[2][-3:-1] == ["nan", "nan"]


def test_without_classes_only_stability_is_described(whole, compare_few):
    compare_few("k-means")
    ran = run_successfully("compare", *views(whole, refits=1))
    words = ran.out.strip().splitlines()[-1]
    assert words.startswith("Without known labels the table cannot show which clusters are right")
    assert "the most stable method is" in words
    assert not any(claim in words for claim in ("help", "NMI", "best"))
    header = next(line for line in ran.out.splitlines() if line.startswith("estimator"))
    assert header.split() == ["estimator", "entities", *SHOWN[5:]]


def test_partly_known_classes(whole, tmp_path, compare_few):
    compare_few("k-means")
    names = [["xyz"[c] if i % 3 else ""] for i, c in enumerate(CLASSES)]
    file = write_csv(tmp_path / "some.csv", ["class", "row"], [(*name, i) for i, name in enumerate(names)])
    run_successfully("compare", *views(whole), "--labels", f"{file}:class", "--out", tmp_path / "out.json")
    rows = {row["estimator"]: row for row in json.loads((tmp_path / "out.json").read_text())["table"]}
    assert rows["k-means"]["nmi"] == pytest.approx(1)


def test_single_view_is_scored_on_its_entities(ab, data, tmp_path, compare_few):
    """`cluster` says of the same files that each view alone is right of all that it knows."""
    compare_few("k-means")
    classes = data / "classes.csv"
    run_successfully("compare", *ab, "-k", 3, "--refits", 0, "--labels", classes, "--out", tmp_path / "out.json")
    facts = json.loads((tmp_path / "out.json").read_text())
    scores = {row["estimator"]: row["nmi"] for row in facts["table"]}
    assert [scores[name] for name in alone("a", "b")] == pytest.approx([1] * 4)
    assert not facts["words"].startswith("Yes")


ALONE, JOINED = "a alone, spectral", "spectral, side by side"


def table(scores):
    names = np.array(list(scores), dtype=object)
    return Table({"estimator": names, "nmi": np.array(list(scores.values())), "entities": np.full(len(names), 60)})


@pytest.mark.parametrize(
    ("several", "single", "joined", "verdict", "rank"),
    [
        (0.9, 0.5, 0.5, "Yes, several views help here", "worse"),
        (0.5, 0.9, 0.5, "No, several views do not help here", "about equal"),
        (0.5, 0.5 + CLOSE / 2, 0.9, "Several views make little difference here", "better"),
        (0.5, 0.5 - CLOSE / 2, 0.5 - CLOSE / 2, "Several views make little difference here", "about equal"),
    ],
)
def test_description_follows_the_scores(several, single, joined, verdict, rank):
    words = describe_comparison(table({"k-means": several, "spectral": 0.1, ALONE: single, JOINED: joined}), True)
    assert words.startswith(f"{verdict}: k-means has NMI {several:.2f}, the best single view ({ALONE}) {single:.2f}")
    assert f"all columns side by side {joined:.2f} ({JOINED}, {rank})." in words
    assert "The best of 4 was selected by its NMI" in words


def test_failed_methods_are_not_compared():
    words = describe_comparison(table({"k-means": np.nan, "spectral": 0.4, ALONE: np.nan}), True)
    assert "spectral" in words
    assert "k-means" not in words
    assert "No method could be judged" in describe_comparison(table({"k-means": np.nan, ALONE: 0.5}), True)


def test_similarities_are_compared_by_suitable_methods(data, whole, tmp_path):
    arguments = "--view", data / "near.npy", "--view", data / "like.npy", "-k", 3, "--refits", 0
    run_successfully("compare", *arguments, "--labels", whole / "classes.csv", "--out", tmp_path / "out.json")
    rows = json.loads((tmp_path / "out.json").read_text())["table"]
    assert [row["estimator"] for row in rows] == [*METHODS[:4], "convex"]
    assert [row["nmi"] for row in rows] == pytest.approx([1] * 5)


def test_slow_methods_are_left_out_beyond_their_limit(whole, monkeypatch, compare_few):
    declaration = registry.find_estimator("co-regularized")
    assert declaration.max_compared == 5000
    compare_few("co-regularized", "kernel-addition")
    monkeypatch.setitem(registry._DECLARATIONS, "co-regularized", replace(declaration, max_compared=59))
    ran = run_successfully("compare", *views(whole))
    assert "note: co-regularized is left out: more than 59 entities." in ran.err
    assert "\nco-regularized" not in ran.out
    assert "\nkernel-addition" in ran.out


def test_failing_method_gets_a_note_and_an_empty_row(whole, tmp_path, monkeypatch, compare_few):
    compare_few("k-means")

    def fail(*_, **__):
        raise ValueError("too hot")

    monkeypatch.setattr("consilience.MultiViewKMeans.fit", fail)
    ran = run_successfully("compare", *views(whole), "--out", tmp_path / "out.json")
    facts = json.loads((tmp_path / "out.json").read_text())
    row = next(row for row in facts["table"] if row["estimator"] == "k-means")
    assert {row[name] for name in ALWAYS if name != "entities"} == {None}
    assert any("'k-means' failed, its row is NaN: ValueError: too hot" in note for note in facts["notes"])
    assert "note: 'k-means' failed" in ran.err


def test_existing_file_needs_force(whole, tmp_path):
    out = tmp_path / "out.json"
    out.write_text("mine")
    assert_refused(run_command("compare", *views(whole), "--out", out), "out.json already exists")
    assert out.read_text() == "mine"
    assert list_folder(tmp_path) == ["out.json"]


def test_compare_takes_links_and_ids(data, tmp_path, compare_few):
    compare_few("k-means")
    arguments = "--view", data / "a.csv", "--view", data / "links.csv", "-k", 3, "--refits", 0
    run_successfully("compare", *arguments, "--labels", data / "classes.csv", "--out", tmp_path / "out.json")
    rows = json.loads((tmp_path / "out.json").read_text())["table"]
    assert [row["estimator"] for row in rows][-6:] == alone("a", "links-out", "links-in")
