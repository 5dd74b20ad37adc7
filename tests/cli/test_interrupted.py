"""Runs that are stopped: nothing is ever half there."""

import json
import os
import shutil
import signal
import subprocess
import sys
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from consilience.cli.compare import list_candidates
from consilience.cli.terminal import Terminal
from stage import assert_refused, get_clusters, list_folder, read_labels, run_command, write_csv
from waiting import HANG_LIMIT

ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1"}


def stop(*_, **__):
    raise KeyboardInterrupt


def cluster(ab, out):
    return run_command("cluster", *ab, "-k", 3, "--method", "k-means", "--no-assess", "--out", out)


@pytest.mark.parametrize(
    ("where", "done"),
    [
        ("pipeline.loading.read_files", "before anything was done"),
        ("pipeline.loading.fit_and_encode", "after it had read the files"),
        ("MultiViewKMeans.fit", "after it had read the files and prepared the views"),
        ("pipeline.run.count_terms", "after it had prepared the views and fitted the model"),
        ("pipeline.folder.save", "after it had fitted the model and explained the clusters"),
        ("pipeline.run.PipelineRun.build_report", "after it had fitted the model and explained the clusters"),
    ],
)
def test_ctrl_c_reports_the_progress_and_leaves_no_files(where, done, ab, tmp_path, monkeypatch):
    monkeypatch.setattr(f"consilience.{where}", stop)
    ran = cluster(ab, tmp_path / "out")
    assert ran.code == 130
    assert ran.error_line == f"consilience: stopped {done}: nothing was written"
    assert "Traceback" not in ran.err
    assert list_folder(tmp_path) == []


WRITERS = {
    "cluster": ["-k", 3, "--method", "k-means", "--no-assess"],
    "compare": ["-k", 3, "--refits", 0],
    "predict": [],
    "report": ["--force"],
    "datasets": ["word-senses"],
}


@pytest.mark.parametrize("where", ["pipeline.folder.save", "pipeline.run.PipelineRun.build_report"])
def test_ctrl_c_keeps_the_older_run(where, ab, tmp_path, monkeypatch):
    out = tmp_path / "out"
    assert cluster(ab, out).code == 0
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    monkeypatch.setattr(f"consilience.{where}", stop)
    assert run_command("cluster", *ab, "-k", 4, "--out", out, "--force").code == 130
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before
    assert list_folder(tmp_path) == ["out", *(f"out/{name}" for name in sorted(before))]


@pytest.mark.parametrize("command", WRITERS)
def test_ctrl_c_after_writing_names_the_files(command, ab, clustered, tmp_path, monkeypatch):
    real, out = Terminal.print_result, tmp_path / "out"
    model = [clustered("k-means")] if command in ("predict", "report") else []
    views = [] if command == "datasets" else ab

    def result(self, text="", always=False):
        if "ritten to" in text:
            raise KeyboardInterrupt
        real(self, text, always)

    monkeypatch.setattr(Terminal, "print_result", result)
    monkeypatch.setattr("consilience.cli.compare.list_candidates", lambda *values: islice(list_candidates(*values), 1))
    ran = run_command(command, *model, *views, *WRITERS[command], "--out", out)
    assert ran.code == 130
    assert ran.error_line.endswith(f": the {'files' if command == 'datasets' else 'results'} are in {out}")
    assert out.exists()


def test_ctrl_c_in_another_process(tmp_path):
    rng = np.random.default_rng(0)
    views = []
    for name in "ab":
        np.save(tmp_path / f"{name}.npy", rng.normal(size=(1500, 20)))
        views += ["--view", f"{name}={tmp_path / name}.npy"]
    before = list_folder(tmp_path)
    process = subprocess.Popen(
        [sys.executable, "-m", "consilience", "cluster", *views, "--no-assess", "--out", tmp_path / "out"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **ONE_THREAD, "PYTHONUNBUFFERED": "1"},
    )
    try:
        assert process.stdout.readline().startswith("1,500 entities, 2 views")  # from here on it looks for a number
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=HANG_LIMIT)
    finally:
        process.kill()
    assert process.returncode == 130
    assert err.splitlines()[-1].startswith("consilience: stopped after it had read the files and prepared the views")
    assert "Traceback" not in err
    assert list_folder(tmp_path) == before


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_killed_run_leaves_all_files_or_none(data, tmp_path):
    for name in "ab":
        shutil.copy(data / f"{name}.csv", tmp_path)
    program = Path(__file__).parents[1] / "support" / "killed.py"
    ran = subprocess.run(
        [sys.executable, program, tmp_path, "4", "0"],
        capture_output=True, text=True, timeout=HANG_LIMIT, env={**os.environ, **ONE_THREAD},
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    counts = json.loads(ran.stdout)
    assert counts["broken"] == 0
    assert counts["missing"] + counts["complete"] == 4


def test_labels_do_not_depend_on_the_number_of_threads(tmp_path):
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(6, 8)) * 1.5
    views = []
    for name in "ab":
        X = centres[rng.integers(6, size=400)] + rng.normal(size=(400, 8))
        write_csv(tmp_path / f"{name}.csv", ["id", *map(str, range(8))], ([f"e{i}", *x] for i, x in enumerate(X)))
        views += ["--view", f"{name}={tmp_path / name}.csv"]
    methods = ["consilience", "spectral"]
    program = "import json, sys; from consilience.cli import main; print([main(own) for own in json.load(sys.stdin)])"
    labels = []
    for threads in ("1", "4"):
        out = tmp_path / threads
        options = ["-k", "6", "--set", "n_init=1", "--quiet", "--no-assess"]
        calls = [["cluster", *views, *options, "--method", method, "--out", f"{out}/{method}"] for method in methods]
        variables = dict.fromkeys(ONE_THREAD, threads)
        ran = subprocess.run(
            [sys.executable, "-c", program],
            input=json.dumps(calls),
            capture_output=True,
            text=True,
            timeout=HANG_LIMIT,
            env={**os.environ, **variables},
        )
        assert (ran.stdout.strip(), ran.stderr) == (str([0] * len(methods)), "")
        labels.append([get_clusters(read_labels(out / method)) for method in methods])
    assert labels[0] == labels[1]


def test_folder_with_files_of_two_runs_is_refused_until_it_is_replaced(ab, tmp_path):
    """A killed run leaves a mark in the folder; see tests/files/test_killed.py for how it comes about."""
    out = tmp_path / "out"
    assert cluster(ab, out).code == 0
    mark = out / ".consilience-00000000-abcdefgh.placing"
    (mark / "new").mkdir(parents=True)
    (mark / "new" / "summary.json").write_text("{}")
    (mark / "lock").touch()
    os.utime(mark / "lock", (0, 0))
    words = f"the files in {out} are of two runs", "run the command that wrote them again with --force"
    assert_refused(run_command("predict", out, *ab), *words)
    assert_refused(run_command("predict", out / "model.zip", *ab), *words)
    assert_refused(run_command("report", out, "--force"), *words)
    assert run_command("cluster", *ab, "-k", 3, "--method", "k-means", "--no-assess", "--out", out, "--force").code == 0
    assert not mark.exists()
    assert run_command("predict", out, *ab).code == 0
