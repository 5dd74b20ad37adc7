"""Columns that describe the clusters and are not used to find them: `--describe`."""

import re

import numpy as np
import pytest

from consilience.pipeline.config import read_config
from patients import GROUPS, N_PATIENTS, make_clinic, write_patients
from stage import assert_refused, read_labels, read_summary, run_command, run_successfully, write_csv

pytestmark = pytest.mark.quick

ALL = "sex,age,stage,months,event,admitted,cost,smoker,site,unused,notes"
QUICK = "-k", 3, "--method", "k-means", "--no-assess"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_patients(tmp_path_factory.mktemp("patients"))


@pytest.fixture(scope="module")
def files(folder):
    return folder / "genes.csv", folder / "proteins.csv"


@pytest.fixture(scope="module")
def described(folder, files):
    """A run with all clinical columns; not to be written to."""
    out = folder / "described"
    ran = run_successfully("cluster", *files, "--describe", f"{folder / 'clinic.csv'}:{ALL}", *QUICK, "--out", out)
    return out, ran


def by_column(out):
    return {row["column"]: row for row in read_summary(out)["descriptions"]}


def test_clusters_are_compared_in_a_separate_table(described):
    out, ran = described
    rows = by_column(out)
    assert ",".join(rows) == "sex,age,stage,months/event,admitted,cost,smoker,site,unused,notes"
    tests = {name: row["test"].partition(" (")[0] for name, row in rows.items()}
    assert tests["age"] == tests["admitted"] == tests["cost"] == "Kruskal-Wallis"
    assert tests["sex"] == tests["stage"] == tests["smoker"] == "chi-squared"
    assert tests["months/event"] == "log-rank"
    assert tests["site"] == tests["unused"] == tests["notes"] == "none"
    assert rows["age"]["n"] == rows["months/event"]["n"] == N_PATIENTS - 1
    assert all(rows[name]["p_adjusted"] < 0.001 for name in ("age", "cost", "months/event"))
    assert re.search(r"months/event: groups differ in survival \(log-rank p < \.001, adjusted < \.001\)", ran.out)
    assert "site: the same value for all" in ran.out
    assert "unused: empty" in ran.out


def test_rows_are_joined_by_id(described):
    """The clinical table has its rows in another order than the views."""
    out, _ = described
    age = np.array([float(cell or "nan") for cell in make_clinic()["age"]])
    labels = np.array([int(row["cluster"]) for row in read_labels(out)])
    for row in by_column(out)["age"]["clusters"]:
        assert row["median"] == np.nanmedian(age[labels == row["cluster"]])
    assert len({*zip(labels.tolist(), GROUPS.tolist(), strict=True)}) == 3


def test_units_are_those_of_the_table(described):
    out, _ = described
    page = (out / "report.html").read_text(encoding="utf-8")
    assert re.search(r"\d,?\d* \$", page)
    assert re.search(r"20\d\d-\d\d-\d\d to 20\d\d-\d\d-\d\d", page)
    first = by_column(out)["admitted"]["clusters"][0]
    assert re.fullmatch(r"201[5-9]-\d\d-\d\d|2020-\d\d-\d\d", first["median"][:10])
    shares = by_column(out)["sex"]["clusters"][0]["shares"]
    assert set(shares) == {"female", "male"}
    assert sum(shares.values()) == pytest.approx(1)


def test_notes_say_what_was_paired_and_what_is_empty(described):
    _, ran = described
    assert "'months' is the time and 'event' says whether the event has happened ('1' is the event," in ran.err
    assert "1 entity without a time or an event are left out of it" in ran.err
    assert "The column 'site' (--describe) has the same value for all entities, 'Leeds'." in ran.err
    assert "The column 'unused' (--describe) is empty" in ran.err


def test_descriptions_do_not_change_the_clusters(folder, tmp_path):
    """A described column of a view's file gives the clusters of the file without that column."""
    clinic = make_clinic()
    rest = [name for name in clinic if name not in ("cost", "months", "event", "unused", "notes")]
    write_csv(tmp_path / "clinic.csv", rest, zip(*(clinic[name] for name in rest), strict=True))
    first, second = tmp_path / "first", tmp_path / "second"
    run_successfully("cluster", tmp_path / "clinic.csv", *QUICK, "--out", first)
    (tmp_path / "clinic.csv").unlink()
    write_csv(tmp_path / "clinic.csv", list(clinic), zip(*clinic.values(), strict=True))
    names = "cost,months/event,unused,notes"
    run_successfully("cluster", tmp_path / "clinic.csv", "--describe", names, *QUICK, "--out", second)
    assert [row["cluster"] for row in read_labels(first)] == [row["cluster"] for row in read_labels(second)]
    assert list(read_summary(second)["views"]) == ["clinic"]


def test_settings_are_recorded_and_repeat_the_run(folder, files, tmp_path):
    out = tmp_path / "run"
    describe = f"{folder / 'clinic.csv'}:age", "genes_a"
    run_successfully("cluster", *files, "--describe", describe[0], "--describe", describe[1], *QUICK, "--out", out)
    assert read_summary(out)["inputs"]["describe"] == list(describe)
    assert [f"--describe={text}" for text in describe] == [
        argument for argument in read_config(out / "run.toml") if argument.startswith("--describe")
    ]
    assert read_summary(out)["views"]["genes"]["columns"] == 5
    again = tmp_path / "again"
    run_successfully("cluster", "--config", out / "run.toml", "--out", again)
    assert by_column(again) == by_column(out)
    run_successfully("report", out, "--force")
    assert 'id="descriptions"' in (out / "report.html").read_text(encoding="utf-8")


def test_report_describes_further_columns(described, folder, tmp_path):
    out, _ = described
    write_csv(tmp_path / "more.csv", ["patient", "ward"], ((f"P{i:03}", "AB"[i % 2]) for i in range(N_PATIENTS)))
    page = tmp_path / "page.html"
    ran = run_successfully("report", out, "--describe", f"{tmp_path / 'more.csv'}:ward", "--out", page)
    assert "ward: no clear difference between groups" in ran.out
    text = page.read_text(encoding="utf-8")
    assert ">ward<" in text
    assert "months/event" in text
    ran = run_command("report", out, "--describe", "genes_b", "--force")
    assert_refused(ran, "the column 'genes_b' was used to find the clusters (view 'genes')")


@pytest.mark.parametrize(
    ("describe", "words"),
    [
        ("agee", ["clinic.csv has no column 'agee' (--describe)", "Did you mean 'age'?"]),
        ("months/stage", ["'stage' must have two values that say whether the event has happened", "'I', 'II'"]),
        ("stage/event", ["the first column must hold times as numbers, but 'stage' does not"]),
        ("admitted/event", ["'admitted' holds dates"]),
        (",", ["--describe names columns, such as age,months,event"]),
        ("missing.csv:age", ["there is no file missing.csv (--describe)"]),
    ],
)
def test_refusals(folder, tmp_path, describe, words):
    ran = run_command("cluster", folder / "clinic.csv", "--describe", describe, *QUICK, "--out", tmp_path / "run")
    assert_refused(ran, *words)
    assert not (tmp_path / "run").exists()


def test_a_column_is_not_clustered_and_described(folder, tmp_path):
    view = f"a={folder / 'clinic.csv'}:age,stage"
    ran = run_command("cluster", "--view", view, "--describe", "age", *QUICK, "--out", tmp_path / "run")
    assert_refused(ran, "the column 'age' of", "is both a column of view 'a' and --describe: leave it out of the view")


def test_a_pattern_leaves_described_columns_out(folder, tmp_path):
    view = f"genes={folder / 'genes.csv'}:genes_*"
    run_successfully("cluster", "--view", view, "--describe", "genes_a,genes_b", *QUICK, "--out", tmp_path / "run")
    assert read_summary(tmp_path / "run")["views"]["genes"]["columns"] == 4
    assert list(by_column(tmp_path / "run")) == ["genes_a", "genes_b"]


def test_a_column_of_two_files_must_be_named_with_its_file(folder, tmp_path):
    rows = ((f"P{i:03}", i % 7, i % 5) for i in range(N_PATIENTS))
    other = write_csv(tmp_path / "other.csv", ["patient", "age", "weight"], rows)
    ran = run_command("cluster", folder / "clinic.csv", other, "--describe", "age", *QUICK, "--out", tmp_path / "run")
    assert_refused(ran, "both have a column 'age' (--describe): name the file")


@pytest.mark.parametrize(
    ("header", "rows", "words"),
    [
        (["patient", "ward"], [("Q1", "a"), ("Q2", "b")], ["shares no id with the views: its first is 'Q1'"]),
        (["ward"], [("a",), ("b",)], ["2 rows without ids for 150 entities: name its column of ids, too"]),
        (
            ["patient", "months", "event"],
            [("P001", -3, 1), ("P002", 4, 0)],
            ["months/event (--describe): 'months' has the negative time -3 (1 in all): correct or empty these cells"],
        ),
    ],
)
def test_tables_that_do_not_fit(files, tmp_path, header, rows, words):
    table = write_csv(tmp_path / "more.csv", header, rows)
    columns = ":months/event" if "months" in header else ""
    ran = run_command("cluster", *files, "--describe", f"{table}{columns}", *QUICK, "--out", tmp_path / "run")
    assert_refused(ran, *words)
