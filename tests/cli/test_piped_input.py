"""The command with pipes and standard input in place of files."""

import errno
import os
import shutil
import signal
import subprocess
import sys
import time

import pytest

from stage import IDS, assert_refused, read_labels, run_command, write_csv

needs_bash = pytest.mark.skipif(shutil.which("bash") is None, reason="process substitution is a feature of bash")
COMMAND = f"'{sys.executable}' -m consilience"


def bash(command, folder, **options):
    """Run a command line in bash; return its standard output."""
    process = subprocess.run(["bash", "-c", command], capture_output=True, text=True, cwd=folder, **options)
    assert process.returncode == 0, process.stderr
    return process.stdout


@needs_bash
def test_cluster_and_predict_read_process_substitutions(data, clustered, tmp_path):
    constraints = [(IDS[0], IDS[1], "must"), (IDS[0], IDS[40], "cannot")]
    write_csv(tmp_path / "pairs.csv", ["first", "second", "type"], constraints)
    bash(f"gzip -c '{data}/a.csv' > a.csv.gz", tmp_path)
    views = f"--view a=<(zcat a.csv.gz) --view b=<(cat '{data}/b.csv')"
    bash(
        f"{COMMAND} cluster {views} --constraints <(cat pairs.csv) --labels <(cat '{data}/classes.csv') -k 3 --out run",
        tmp_path,
    )
    assert {row["id"] for row in read_labels(tmp_path / "run")} <= set(IDS)
    model = clustered("k-means") / "model.zip"
    from_files = bash(f"{COMMAND} predict '{model}' --view a='{data}/a.csv' --view b='{data}/b.csv'", tmp_path)
    from_pipes = bash(f"{COMMAND} predict <(cat '{model}') {views}", tmp_path)
    assert from_pipes == from_files


@needs_bash
def test_standard_input_can_be_a_view(data, clustered, tmp_path):
    model = clustered("k-means") / "model.zip"
    expected = bash(f"{COMMAND} predict '{model}' --view a='{data}/a.csv'", tmp_path)
    assert bash(f"cat '{data}/a.csv' | {COMMAND} predict '{model}' --view a=-", tmp_path) == expected
    assert bash(f"{COMMAND} predict '{model}' --view a=- < '{data}/a.csv'", tmp_path) == expected
    assert bash(f"{COMMAND} predict - --view a='{data}/a.csv' < '{model}'", tmp_path) == expected


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
    assert_refused(
        run_command("predict", pipe, "--view", f"a={pipe}"), "cannot be both the model and a view: use two pipes"
    )


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("command", [["cluster", "--view", "a=pipe"], ["predict", "pipe", "--view", "a=a.csv"]])
def test_signal_ends_the_wait_for_a_pipe(tmp_path, number, command):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "a.csv").write_text("id,x\n1,2\n")
    with subprocess.Popen(
        [sys.executable, "-m", "consilience", *command], stderr=subprocess.PIPE, text=True, cwd=tmp_path
    ) as process:
        writer = open_when_read(tmp_path / "pipe", process)
        process.send_signal(number)
        _, stderr = process.communicate()
        os.close(writer)
    assert process.returncode == 130
    assert stderr.startswith("consilience: stopped before anything was done")
