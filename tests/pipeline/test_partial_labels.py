"""Labels and descriptions of some of the entities: the score says how many it is of, and unknown ids are noted."""

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


SCORED = f"Only {N_LABELED} of {N} entities have a class in"
DESCRIBED = f"describes only {N_LABELED} of {N} entities."
UNKNOWN = "2 ids are those of no entity, such as 'Z1': left out."


def test_command_says_how_many_entities_are_scored_and_described(files, tmp_path, monkeypatch):
    monkeypatch.chdir(files)
    options = "-k", 3, "--labels", "some.csv:cls", "--describe", "some.csv:age", "--method", "k-means", "--no-assess"
    ran = run_successfully("cluster", "data.csv", *options, "--out", tmp_path / "run")
    assert f"Against the known labels (scored on {N_LABELED} of {N} entities): nmi 1.000" in ran.out
    facts = read_summary(tmp_path / "run")
    assert facts["scored"] == N_LABELED
    notes = " ".join(facts["notes"])
    assert f"{SCORED} --labels" in " ".join(ran.err.split())
    assert f"some.csv:cls (--labels): {UNKNOWN}" in notes
    assert f"some.csv (--describe) {DESCRIBED}" in notes
    assert f"some.csv (--describe): {UNKNOWN}" in notes
    page = (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    assert f"Only {N_LABELED} of {N} items" in page


def test_call_says_how_many_entities_are_scored(files):
    path, options = str(files / "some.csv:cls"), {"method": "k-means", "assess": False}
    result = cs.cluster(files / "data.csv", 3, labels=path, **options)
    assert result.summary["scored"] == N_LABELED
    assert any(f"{SCORED} labels" in note for note in result.notes)
    assert any(UNKNOWN in note for note in result.notes)
    result = cs.cluster(files / "data.csv", 3, seeds=path, **options)
    assert any(UNKNOWN in note for note in result.notes)


@pytest.mark.parametrize("by_index", [True, False])
def test_classes_and_descriptions_in_memory_are_joined_by_id(table, by_index):
    data = table.drop(columns="cls").set_index("id") if by_index else table.drop(columns="cls")
    classes = table.set_index("id")["cls"][::3].astype(str)
    classes = pd.concat([classes, pd.Series({"Z1": "0", "Z2": "1"})])  # two ids that no entity has
    described = pd.DataFrame({"age": classes.astype(int) * 10, "sex": list("fm") * 11})
    options = {"method": "k-means", "assess": False, "id_column": "id"}
    result = cs.cluster(data, 3, seeds=classes, **options)
    notes = {f"seeds: {UNKNOWN}", f"seeds: the fit uses the classes of {N_LABELED} entities of {N}: 0, 1, 2."}
    assert notes <= set(result.notes)
    result = cs.cluster(data, 3, labels=classes, describe=described, **options)
    assert result.summary["scored"] == N_LABELED
    assert result.summary["scores"]["nmi"] == 1
    notes = {f"labels: {UNKNOWN}", f"describe {DESCRIBED}", f"describe: {UNKNOWN}"}
    assert notes | {f"{SCORED} labels: the others are not scored."} <= set(result.notes)
    age = next(column for column in result.columns if column.name == "age")
    assert [value for value in age.values if value == value] == [10 * row for row in table["cls"][::3]]


def test_index_named_like_the_id_column_has_ids_also_if_it_numbers_rows(table):
    data, options = table.assign(id=np.arange(N)[::-1]), {"method": "k-means", "assess": False}
    labels = pd.Series(table["cls"].to_numpy()[::-1], index=pd.Index(np.arange(N), name="id"))
    result = cs.cluster(data.drop(columns="cls"), 3, labels=labels, id_column="id", **options)
    assert (result.summary["scores"]["nmi"], result.summary["scored"]) == (1, N)
    assert not any("Only" in note or "of no entity" in note for note in result.notes), "all entities match"
    result = cs.cluster(table[["a", "b"]], 3, labels=pd.Series(["x"], index=[4]), **options)
    assert f"Only 1 of {N} entities has a class in labels: the others are not scored." in result.notes


@pytest.mark.parametrize("name", ["labels", "seeds", "describe"])
def test_index_without_any_id_is_refused_with_examples(table, name):
    values = pd.DataFrame({"age": table["cls"].to_numpy()}, index=[f"Q{i}" for i in range(N)])
    arguments = {name: values if name == "describe" else values["age"]}
    data = table.drop(columns="cls")
    with pytest.raises(
        ValueError, match=rf"^{name}: its index, such as 'Q0', .* such as '0', and none .* as 'P0': give"
    ):
        cs.cluster(data, 3, id_column="id", assess=False, **arguments)
    with pytest.raises(ValueError, match=rf"^{name}: its index, such as 'Q0', has no value .* such as '0': give"):
        cs.cluster(data.drop(columns="id"), 3, assess=False, **arguments)
