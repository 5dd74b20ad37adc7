"""`consilience update`: next month's files, the folder, the summary, the report, and what is refused."""

import numpy as np
import pytest

from stage import (
    IDS,
    N,
    assert_refused,
    make_blobs,
    read_labels,
    read_summary,
    run_command,
    run_successfully,
    write_csv,
)

pytestmark = pytest.mark.xdist_group("command: update")  # whose runs are shared


def write_month(folder, rows, names=IDS, extra=()):
    """Write two tables joined by id, with these rows of clear groups."""
    for seed, name in enumerate("ab"):
        X = np.vstack([make_blobs(seed), *extra])
        header = ["id", *(f"{name}{j}" for j in range(3))]
        write_csv(folder / f"{name}.csv", header, ([names[i], *np.round(X[i], 4)] for i in rows))
    return folder / "a.csv", folder / "b.csv"


@pytest.fixture(scope="module")
def months(tmp_path_factory):
    """A run of the first month, and the files of the second: a group less, and a new one."""
    folder = tmp_path_factory.mktemp("months")
    first, second = folder / "1", folder / "2"
    first.mkdir()
    second.mkdir()
    files = write_month(first, range(N))
    run_successfully("cluster", *files, "-k", 3, "--no-assess", "--out", folder / "run")
    names = [*IDS, *(f"n{i:02}" for i in range(20))]
    new_group = np.random.default_rng(9).normal(size=(20, 3)) - 12
    return folder / "run", write_month(second, range(20, 80), names, [new_group])


@pytest.fixture(scope="module")
def updated(months, tmp_path_factory):
    run, files = months
    out = tmp_path_factory.mktemp("updated") / "run2"
    return run_successfully("update", run, *files, "--out", out), out


def test_changes_are_printed_and_summarized(months, updated):
    ran, out = updated
    facts = read_summary(out)
    vanished = read_labels(months[0])[0]
    number, name = int(vanished["cluster"]), vanished["name"]
    assert f"Compared with {months[0]}: 3 clusters before, 3 after; 40 entities are in both" in ran.out
    assert f"'{name}' (20) vanished: none of its entities is in the data any more." in ran.out
    assert facts["changes"]["previous"] == str(months[0])
    assert [row["cluster"] for row in facts["changes"]["vanished"]] == [number]
    assert [row["cluster"] for row in facts["changes"]["appeared"]] == [3]
    assert (facts["changes"]["moved"], facts["changes"]["next_cluster"]) == (0, 4)
    assert facts["sizes"][number] == 0
    assert facts["clusters"] == 3
    assert facts["estimator"] == "Consilience"
    assert all(sentence in ran.out for sentence in facts["changes"]["sentences"])


def test_report_says_what_changed_and_can_be_written_again(updated, tmp_path):
    out = updated[1]
    page = (out / "report.html").read_text(encoding="utf-8")
    assert 'id="changes"' in page
    assert "vanished: none of its items" in page
    run_successfully("report", out, "--out", tmp_path / "again.html")
    again = (tmp_path / "again.html").read_text(encoding="utf-8")
    section = page.partition('id="changes"')[2].partition("</section>")[0]
    assert again.partition('id="changes"')[2].partition("</section>")[0] == section


def test_without_files_those_of_the_run_are_read_again(months, tmp_path, monkeypatch):
    run = months[0]
    (tmp_path / "consilience-out").mkdir()
    (tmp_path / "consilience-out" / "labels.csv").touch()
    monkeypatch.chdir(tmp_path)
    run_successfully("update", run)
    again = tmp_path / "consilience-out-2"  # as that of a new run
    assert read_labels(again) == read_labels(run)
    assert read_summary(again)["changes"]["moved"] == 0


def test_run_is_never_overwritten(months):
    run, files = months
    before = (run / "labels.csv").read_bytes()
    assert_refused(run_command("update", run, *files, "--out", run, "--force"), "is the run to update")
    assert_refused(run_command("update", run, *files, "--out", run), "choose another --out")
    assert (run / "labels.csv").read_bytes() == before


def test_unread_cells_and_new_columns_are_noted_and_names_are_escaped(months, tmp_path):
    run, files = months
    header, first, *others = files[0].read_text(encoding="utf-8").splitlines()
    lines = [f"{header},color", f"{first.rpartition(',')[0]},three,red", *(f"{line},red" for line in others), ""]
    (tmp_path / "a.csv").write_text("\n".join(lines), encoding="utf-8")
    names = write_csv(tmp_path / "names.csv", ["cluster", "name"], [[3, "<script>alert(1)</script>"]])
    arguments = tmp_path / "a.csv", files[1], "--names", names
    ran = run_successfully("update", run, *arguments, "--out", tmp_path / "out")
    assert "'three' in row 1 cannot be read, and counts as empty." in ran.err
    assert "note: The earlier run does not use 'color': left out." in ran.err
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "&lt;script&gt;alert(1)" in page
    assert "<script>alert(1)" not in page


def test_missing_view_or_column_and_folder_that_is_no_run_are_refused(months, tmp_path):
    run, files = months
    ran = run_command("update", run, files[0], "--out", tmp_path / "out")
    assert_refused(ran, "no view 'b', which the earlier run has", "--view b=FILE", "`consilience cluster`")
    assert_refused(run_command("update", tmp_path, files[0]), "summary.json")
    (tmp_path / "a.csv").write_text("id,a0,a1\ne00,1,2\ne01,3,4\n")
    ran = run_command("update", run, tmp_path / "a.csv", files[1], "--out", tmp_path / "out")
    assert_refused(ran, "has no column 'a2'")
    assert not (tmp_path / "out").exists()
