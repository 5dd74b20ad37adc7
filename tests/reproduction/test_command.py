"""The command that runs the papers again: what it does, what it keeps, what it writes, what it refuses."""

import csv
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import stage
from reproduction.command import make_parser
from small_paper import papers
from stage import assert_refused, list_folder
from waiting import HANG_LIMIT, wait_until


def run(*arguments):
    return stage.run_command(*arguments, top=make_parser())


def run_successfully(*arguments):
    return stage.run_successfully(*arguments, top=make_parser())


ROOT = Path(__file__).parents[2]
SMALL_PAPER = ROOT / "tests" / "support" / "small_paper.py"
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])}
NO_DATA = "nowhere: not here. Put it there"


@pytest.fixture
def log(tmp_path, monkeypatch):
    """The file in which every unit that is worked leaves a line; one of the data sets cannot be had."""
    path = tmp_path / "worked"
    monkeypatch.setattr("reproduction.command.PAPERS", papers(path))
    monkeypatch.setattr(
        "reproduction.command.find_unavailable", lambda names: {"nowhere": NO_DATA} if "nowhere" in names else {}
    )
    return path


def read_log(log):
    return sorted(log.read_text().splitlines()) if log.exists() else []


def test_run_prints_and_writes_all_results(log, tmp_path):
    out = tmp_path / "out"
    ran = run_successfully("--out", out, "--jobs", 1)
    assert read_log(log) == sorted([f"None {n} {run}" for n in (2, 4, 8) for run in range(3)] + ["None 1 0"])
    assert "2 tables and figures, 11 cells" in ran.out
    assert ".690" in ran.out  # the published number beside ours
    sentence = "1 claim holds on the paper's own data, 1 does not; on other data 1 holds, 0 do not; 1 cannot be tested."
    assert sentence in ran.out
    assert sentence in (out / "made-up-2000.md").read_text()
    assert "| Made Up 2000 | 1 | 1 | 1 | 0 | 1 | 0 of 0 | 2 |" in (out / "summary.md").read_text()
    with (out / "verdicts.csv").open(newline="") as file:
        verdicts = [(row["study"], row["panel"], row["status"], row["other_data"]) for row in csv.DictReader(file)]
    assert verdicts == [
        ("figure-1", "Made up", "holds", ""),
        ("figure-1", "Made up", "does not hold", ""),
        ("table-2", "Elsewhere", "cannot be tested", ""),
        ("table-2", "Here", "holds on other data", "half of the paper's set"),
    ]
    assert NO_DATA in ran.out + ran.err
    names = {"index.html", "summary.md", "verdicts.csv", "made-up-2000.md", "made-up-2000", "cells"}
    assert {path.name for path in out.iterdir()} == names
    tables = {"figure-1.csv", "figure-1.svg", "figure-1.png", "table-2.csv"}
    assert {path.name for path in (out / "made-up-2000").iterdir()} == tables
    with (out / "made-up-2000" / "figure-1.csv").open(newline="") as file:
        rows = {(row["row"], row["column"]): row for row in csv.DictReader(file)}
    assert float(rows["co-EM", "4"]["ours"]) == pytest.approx(0.66)
    assert float(rows["co-EM", "4"]["published"]) == 0.69
    assert rows["co-EM", "2"]["published"] == ""
    assert NO_DATA in (out / "made-up-2000.md").read_text()
    assert NO_DATA in (out / "index.html").read_text()


def test_second_run_repeats_no_work_and_its_page_keeps_stored_tables(log, tmp_path):
    out = tmp_path / "out"
    run_successfully("made-up-2000", "figure-1", "--out", out, "--jobs", 1)
    assert "Far away" not in (out / "index.html").read_text()
    run_successfully("made-up-2000", "table-2", "--out", out, "--jobs", 1)
    page = (out / "index.html").read_text()
    assert "Far away" in page
    assert "Entropy over numbers of clusters" in page
    pages = {path: path.read_bytes() for path in (out / "made-up-2000").iterdir()}
    log.unlink()
    again = run_successfully("--out", out, "--jobs", 1)
    assert read_log(log) == []
    assert "11 cells, of which 10 are already stored" in again.out
    assert {path: path.read_bytes() for path in pages} == pages


def test_quick_run_uses_shipped_data(log, tmp_path):
    out = tmp_path / "out"
    ran = run_successfully("--quick", "--out", out, "--jobs", 1)
    assert read_log(log) == ["None 1 0", "None 2 0", "None 2 1"]
    assert "0 cannot be tested" in ran.out
    assert "This quick run uses data that ships" in ran.out


def test_list_prints_names_only(log, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = [line.split()[:2] for line in run_successfully("--list").out.splitlines()]
    assert names == [["made-up-2000", "figure-1"], ["made-up-2000", "table-2"]]
    assert list_folder(tmp_path) == []


def test_unknown_names_and_folders_with_other_files_are_refused(log, tmp_path):
    assert_refused(run("unknown-1999"), "no paper 'unknown-1999'; there are made-up-2000")
    assert_refused(run("made-up-2000", "table-9"), "has no 'table-9'; it has figure-1, table-2")
    assert "is not an integer of 1 or more" in run("--jobs", "0").err
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "letters.txt").write_text("dear")
    ran = run("--out", tmp_path / "out")
    assert_refused(ran, "contains other files than those of a reproduction run: choose another folder with --out")
    assert list_folder(tmp_path) == ["out", "out/letters.txt"]
    (tmp_path / "out" / "cells").mkdir()  # not made by a run
    assert_refused(run("--out", tmp_path / "out"), "contains other files than those of a reproduction run")
    (tmp_path / "file").write_text("")
    assert_refused(run("--out", tmp_path / "file"), "is a file: name a folder")


def test_folder_without_results_can_be_reused(log, tmp_path, monkeypatch):
    out = tmp_path / "out"
    monkeypatch.setattr("reproduction.command.find_unavailable", lambda names: dict.fromkeys(names, NO_DATA))
    monkeypatch.setattr("reproduction.command.run_units", lambda *_: iter(()))
    run_successfully("made-up-2000", "table-2", "--out", out)
    monkeypatch.undo()
    monkeypatch.setattr("reproduction.command.PAPERS", papers(log))
    monkeypatch.setattr("reproduction.command.find_unavailable", lambda names: {})
    ran = run_successfully("made-up-2000", "table-2", "--out", out, "--jobs", 10**21)
    assert read_log(log) == ["None 1 0", "digits+nowhere 1 0"]
    assert "1 claim holds on the paper's own data, 0 do not; on other data 1 holds" in ran.out


def test_missing_matplotlib_is_noted(log, tmp_path, monkeypatch):
    monkeypatch.setattr("reproduction.command.find_spec", lambda name: None)
    monkeypatch.setattr("reproduction.engine.figures.find_spec", lambda name: None)
    ran = run_successfully("made-up-2000", "figure-1", "--out", tmp_path / "out", "--jobs", 1)
    assert "no figures are drawn: pip install 'consilience[plot]'" in ran.err
    assert not list(tmp_path.rglob("*.svg"))
    assert ".svg" not in (tmp_path / "out" / "made-up-2000.md").read_text()


def test_closed_output_does_not_stop_the_run(tmp_path):
    out = tmp_path / "out"
    command = [sys.executable, SMALL_PAPER, tmp_path / "worked", "made-up-2000", "figure-1", "--quick", "--out", out]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=ENVIRONMENT)
    try:
        assert process.stdout.readline()
        process.stdout.close()
        assert process.wait(HANG_LIMIT) == 0
    finally:
        process.kill()
    assert (out / "index.html").exists()


def test_failing_unit_and_killed_worker_are_reported(log, tmp_path, monkeypatch):
    from joblib.externals.loky.process_executor import TerminatedWorkerError

    def killed(*_, **__):
        raise TerminatedWorkerError("long advice")

    monkeypatch.setattr("reproduction.command.PAPERS", papers("/nowhere/at/all"))
    ran = run_successfully("made-up-2000", "figure-1", "--out", tmp_path / "out", "--jobs", 1)
    assert "FileNotFoundError" in ran.err
    assert "0 claims hold on the paper's own data, 0 do not; on other data 0 hold, 0 do not; 2 cannot be" in ran.out
    monkeypatch.setattr("reproduction.engine.run.Parallel", lambda **_: killed)
    ran = run("made-up-2000", "figure-1", "--out", tmp_path / "out", "--jobs", 1)
    words = "workers was terminated, perhaps because memory ran out", "the same command continues from there; --jobs 1"
    assert_refused(ran, *words)


def count_cells(out):
    """Return the number of cells that a run has stored so far."""
    return sum(len(path.read_bytes().splitlines()) for path in out.rglob("*.jsonl"))


@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_interrupted_run_continues(tmp_path):
    log, out = tmp_path / "worked", tmp_path / "out"
    hold = log.with_suffix(".hold")
    hold.touch()
    command = [sys.executable, SMALL_PAPER, log, "made-up-2000", "figure-1", "--out", out]
    options = {"text": True, "env": ENVIRONMENT}
    process = subprocess.Popen([*command, "--jobs", "2"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)
    try:
        wait_until(lambda: count_cells(out) >= 3)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=HANG_LIMIT)
    finally:
        process.kill()
        hold.unlink()
    assert process.returncode == 130
    assert f"finished cells are stored in {out}, and the same command continues from there" in err.splitlines()[-1]
    assert "Traceback" not in err
    kept = count_cells(out)
    assert 3 <= kept < 18
    log.unlink()
    ended = subprocess.run([*command, "--jobs", "1"], capture_output=True, timeout=HANG_LIMIT, **options)
    assert ended.returncode == 0, ended.stderr
    assert len(read_log(log)) == 18 - kept
    assert f"18 cells, of which {kept} are already stored" in ended.stdout
