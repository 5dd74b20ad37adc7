"""Labels and descriptions of some of the items: the score says how many it is of, and ids of no item are noted."""

import numpy as np
import pandas as pd
import pytest

import consilience as cs
from stage import read_summary, run_successfully

N, N_LABELED = 60, 20


@pytest.fixture(scope="module")
def table():
    group = np.arange(N) // 20
    numbers = 9 * group[:, None] + np.random.default_rng(0).normal(size=(N, 2))
    return pd.DataFrame({"id": [f"P{i}" for i in range(N)], "a": numbers[:, 0], "b": numbers[:, 1], "cls": group})


@pytest.fixture(scope="module")
def files(table, tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    table.drop(columns="cls").to_csv(folder / "data.csv", index=False)
    labeled = table[::3].assign(age=np.arange(N_LABELED))[["id", "cls", "age"]]
    unknown = pd.DataFrame({"id": ["Z1", "Z2"], "cls": [0, 1], "age": [3, 4]})
    pd.concat([labeled, unknown]).to_csv(folder / "some.csv", index=False)
    return folder


SCORED = f"Only {N_LABELED} of {N} items have a class in"
DESCRIBED = f"describes only {N_LABELED} of {N} items"
UNKNOWN = "2 ids are those of no item, such as 'Z1': left out"


def test_command_says_how_many_items_are_scored_and_described(files, tmp_path, monkeypatch):
    monkeypatch.chdir(files)
    options = "-k", 3, "--labels", "some.csv:cls", "--describe", "some.csv:age", "--no-assess"
    ran = run_successfully("cluster", "data.csv", *options, "--out", tmp_path / "run")
    assert f"Against the known labels (scored on {N_LABELED} of {N} items): nmi 1.000" in ran.out
    facts = read_summary(tmp_path / "run")
    assert facts["scored"] == N_LABELED
    notes = " ".join(facts["notes"])
    assert f"{SCORED} --labels" in " ".join(ran.err.split())
    assert f"some.csv:cls (--labels): {UNKNOWN}" in notes
    assert f"some.csv (--describe) {DESCRIBED}" in notes
    assert f"some.csv (--describe): {UNKNOWN}" in notes
    page = (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    assert f"Only {N_LABELED} of {N} items" in page


def test_call_says_how_many_items_are_scored_and_described(files, table):
    data = table.drop(columns="cls").set_index("id")
    result = cs.cluster(files / "data.csv", 3, labels=str(files / "some.csv:cls"), assess=False)
    assert result.summary["scored"] == N_LABELED
    assert any(f"{SCORED} labels" in note for note in result.notes)
    assert any(UNKNOWN in note for note in result.notes)
    described = pd.DataFrame({"age": np.arange(N_LABELED)}, index=data.index[::3])
    result = cs.cluster({"a": data[["a"]], "b": data[["b"]][1:]}, 3, describe=described, assess=False)
    assert any(DESCRIBED in note for note in result.notes)


def test_seeds_with_ids_of_no_item_are_noted(files):
    result = cs.cluster(files / "data.csv", 3, seeds=str(files / "some.csv:cls"), assess=False)
    assert any(UNKNOWN in note for note in result.notes)


def test_nothing_is_noted_if_all_items_match(table):
    result = cs.cluster(table, 3, labels="cls", assess=False)
    assert result.summary["scored"] == N
    assert not any("items" in note for note in result.notes)
