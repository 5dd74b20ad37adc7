"""``consilience open``: serves the workbench of a run until it is stopped."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import urllib.request

import pytest

from consilience.workbench.serve import RunningWorkbench
from small_runs import decide, settle
from stage import assert_refused, run_command, write_csv
from waiting import HANG_LIMIT


@pytest.fixture
def run(clustered, tmp_path):
    """A copy of a run, to be written to."""
    return shutil.copytree(clustered("k-means"), tmp_path / "run")


@pytest.fixture
def waiting(monkeypatch):
    """Do something in place of waiting for Ctrl-C, and do not open a browser; return the workbenches."""
    seen, actions = [], []

    def wait(running):
        seen.append(running)
        for act in actions:
            act(running.workbench)

    monkeypatch.setattr(RunningWorkbench, "wait", wait)
    monkeypatch.setattr("webbrowser.open", lambda url: seen.append(url) or True)
    return seen, actions


def test_address_is_printed_and_shown(run, waiting):
    seen, actions = waiting
    actions.append(lambda workbench: decide(workbench, "together", [0, 30]))
    actions.insert(0, settle)
    ran = run_command("open", run)
    assert ran.code == 0, ran.err
    url, running = seen
    address, _, token = running.url.partition("#token=")
    assert address.startswith("http://127.0.0.1:")
    assert url.startswith(f"{address}#token=")
    assert token not in url  # which other users may see in the arguments of the browser
    assert ran.out.splitlines() == [
        f"The workbench is at {running.url}",
        "Press Ctrl-C to stop it.",
        f"1 decision in {run / 'decisions.jsonl'}",
    ]
    assert running.workbench.log.read_only is not None  # closed


def test_no_browser_and_known_port(run, waiting):
    seen, _ = waiting
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    ran = run_command("open", run, "--no-browser", "--port", port, "--quiet")
    assert ran.code == 0, ran.err
    assert [type(entry) for entry in seen] == [RunningWorkbench]
    assert ran.out.startswith(f"The workbench is at http://127.0.0.1:{port}/#token=")
    assert ran.err == ""


def test_machine_without_browser_gets_a_note(run, waiting, monkeypatch):
    monkeypatch.setattr("webbrowser.open", lambda _: False)
    ran = run_command("open", run)
    assert ran.code == 0
    assert "note: No browser could be opened: copy the address." in ran.err


def test_json_has_the_address(run, waiting):
    ran = run_command("open", run, "--no-browser", "--json")
    facts = json.loads(ran.out)
    assert facts["folder"] == str(run)
    assert facts["read_only"] is None
    assert facts["url"].startswith("http://127.0.0.1:")


def test_second_command_on_a_folder_is_read_only(run, waiting):
    _, actions = waiting
    inner = []

    def open_again(_):
        actions.clear()
        inner.append(run_command("open", run, "--no-browser"))

    actions.append(open_again)
    assert run_command("open", run, "--no-browser").code == 0
    assert inner[0].code == 0
    assert f"note: Changes are not possible: another workbench has {run} open: close it" in inner[0].err


def test_known_classes_are_shown(run, data, waiting):
    _, actions = waiting
    scores = []
    actions += [settle, lambda workbench: scores.append(workbench.describe_state()["scores"])]
    ran = run_command("open", run, "--no-browser", "--labels", f"{data / 'classes.csv'}:class")
    assert ran.code == 0, ran.err
    assert scores[0]["nmi"] > 0.9


def test_wrong_port_is_refused(run):
    for port in ("70000", "-1", "http"):
        ran = run_command("open", run, f"--port={port}")
        assert ran.code == 2
        assert "--port" in ran.err


def test_folder_that_is_no_run_is_refused(tmp_path):
    assert_refused(run_command("open", tmp_path), "there is no", "summary.json", "give a folder that `consilience")
    assert_refused(run_command("open", tmp_path / "none"), "there is no", "summary.json")
    assert not list(tmp_path.iterdir())


def test_changed_and_missing_data_are_refused(data, tmp_path):
    shutil.copy(data / "groups.csv", tmp_path / "groups.csv")
    out = tmp_path / "out"
    views = ["--view", f"x={tmp_path / 'groups.csv'}:x_*", "--view", f"y={tmp_path / 'groups.csv'}:y_*"]
    assert run_command("cluster", *views, "-k", 3, "--no-assess", "--out", out).code == 0
    write_csv(tmp_path / "groups.csv", ["x_0", "x_1", "y_0", "y_1"], [[i, i * i, -i, i % 7] for i in range(60)])
    assert_refused(run_command("open", out, "--no-browser"), "run `consilience cluster` again")
    (tmp_path / "groups.csv").unlink()
    assert_refused(run_command("open", out, "--no-browser"), "groups.csv", "or give --view again")
    assert not (out / "decisions.jsonl").exists()


def test_ctrl_c_before_the_workbench_is_there_stops_like_other_commands(run, monkeypatch):
    def stop(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("consilience.cli.open.RunningWorkbench", stop)
    ran = run_command("open", run, "--no-browser")
    assert ran.code == 130
    assert ran.error_line.endswith("prepared the views: nothing was written")


def test_ctrl_c_while_the_browser_opens_closes_the_workbench(run, monkeypatch):
    def stop(_):
        raise KeyboardInterrupt

    monkeypatch.setattr("webbrowser.open", stop)
    ran = run_command("open", run)
    assert ran.code == 0
    assert ran.out.splitlines()[1:] == ["Press Ctrl-C to stop it."]
    assert "Changes are not possible" not in run_command("open", run).err  # the first has released the folder


def test_ctrl_c_while_the_workbench_closes_names_the_decisions(run, monkeypatch, waiting):
    close = RunningWorkbench.close

    def stop(running):
        close(running)
        raise KeyboardInterrupt

    monkeypatch.setattr(RunningWorkbench, "close", stop)
    ran = run_command("open", run)
    assert ran.code == 130
    assert ran.error_line.endswith(f": the decisions are in {run / 'decisions.jsonl'}")


@pytest.mark.skipif(os.name != "posix", reason="needs POSIX signals")
def test_ctrl_c_in_another_process_ends_the_workbench(run):
    process = subprocess.Popen(
        [sys.executable, "-m", "consilience", "open", run, "--no-browser"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    try:
        line = process.stdout.readline()
        assert line.startswith("The workbench is at http://127.0.0.1:")
        assert process.stdout.readline() == "Press Ctrl-C to stop it.\n"
        with urllib.request.urlopen(line.split()[-1].split("#")[0], timeout=HANG_LIMIT) as response:
            assert response.status == 200
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=HANG_LIMIT)
    finally:
        process.kill()
    assert process.returncode == 0, err
    assert out.strip() == ""
    assert "Traceback" not in err
    assert not (run / "decisions.jsonl").exists()


def test_used_port_and_damaged_decisions_are_refused(run):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        ran = run_command("open", run, "--no-browser", "--port", port)
    assert_refused(ran, f"cannot listen on port {port}", "choose another port, or 0")
    (run / "decisions.jsonl").write_text('{"what": "consilience decisions", "version": 1}\n{"broken\n')
    assert_refused(run_command("open", run, "--no-browser"), "decisions.jsonl")
