"""The command with pipes and standard input in place of files."""

import errno
import os
import shutil
import signal
import subprocess
import sys
import time

import pytest

from stage import IDS, assert_refused, read_labels, run_command, run_successfully, write_csv

needs_bash = pytest.mark.skipif(shutil.which("bash") is None, reason="process substitution is a feature of bash")
COMMAND = f"'{sys.executable}' -m consilience"


def bash(command, folder):
    """Run a command line in bash; return its standard output."""
    process = subprocess.run(["bash", "-c", command], capture_output=True, text=True, cwd=folder)
    assert process.returncode == 0, process.stderr
    return process.stdout


@needs_bash
def test_cluster_reads_process_substitutions(data, tmp_path):
    constraints = [(IDS[0], IDS[1], "must"), (IDS[0], IDS[40], "cannot")]
    write_csv(tmp_path / "pairs.csv", ["first", "second", "type"], constraints)
    bash(f"gzip -c '{data}/a.csv' > a.csv.gz", tmp_path)
    files = f"--view a=<(zcat a.csv.gz) --view b=<(cat '{data}/b.csv') --constraints <(cat pairs.csv)"
    bash(f"{COMMAND} cluster {files} --labels <(cat '{data}/classes.csv') -k 3 --no-assess --out run", tmp_path)
    assert {row["id"] for row in read_labels(tmp_path / "run")} <= set(IDS)


@needs_bash
def test_predict_reads_the_model_and_views_from_pipes_and_standard_input(data, clustered, tmp_path):
    model = clustered("k-means") / "model.zip"
    ran = run_successfully("predict", model, *(f"--view={name}={data}/{name}.csv" for name in "ab"))
    views = f"--view a=- --view b=<(cat '{data}/b.csv')"
    printed = bash(f"cat '{data}/a.csv' | {COMMAND} predict <(cat '{model}') {views}", tmp_path)
    assert printed.splitlines() == ran.out.splitlines()
    files = f"--view a='{data}/a.csv' --view b='{data}/b.csv'"
    assert bash(f"{COMMAND} predict - {files} < '{model}'", tmp_path) == printed


@pytest.mark.skipif(not os.path.exists("/dev/null"), reason="needs /dev/null")
@pytest.mark.parametrize("name", ["/dev/null", "empty", "empty.csv"])
def test_empty_files_are_refused_as_empty(name, clustered, tmp_path):
    path = tmp_path / name  # /dev/null is absolute
    if not path.exists():
        path.touch()
    assert_refused(run_command("predict", clustered("k-means"), "--view", f"a={path}"), f"{path} is empty")
    assert_refused(run_command("cluster", "--view", f"a={path}", "--out", tmp_path / "out"), f"{path} is empty")


def open_when_read(pipe, process):
    """Open a named pipe for writing as soon as the process reads it."""
    while True:
        assert process.poll() is None, process.communicate()
        try:
            return os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
        except OSError as error:
            if error.errno != errno.ENXIO:
                raise
        time.sleep(0.05)


def test_pipe_that_is_both_model_and_view_is_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    pipe = tmp_path / "pipe"
    assert_refused(run_command("predict", pipe, "--view", f"a={pipe}"), "cannot be both the model and a view")


def test_signal_ends_the_wait_for_a_pipe(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    command = [sys.executable, "-m", "consilience", "cluster", "--view", "a=pipe"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=tmp_path) as process:
        writer = open_when_read(tmp_path / "pipe", process)
        process.send_signal(signal.SIGTERM)
        _, stderr = process.communicate()
        os.close(writer)
    assert process.returncode == 130
    assert stderr.startswith("consilience: stopped before anything was done")
