"""What is said, and where: results on standard output, everything else on standard error."""

import os
import shlex
import shutil
import subprocess
import sys

import pytest

from stage import FAST, get_messages, read_labels, run_command, run_successfully, write_csv
from waiting import HANG_LIMIT

COMMANDS = ["cluster", "compare", "predict", "report", "datasets"]


def test_quiet_prints_nothing_on_success(data, ab, clustered, tmp_path):
    calls = [
        ("cluster", *ab, *FAST, "--labels", data / "classes.csv", "--out", tmp_path / "run"),
        ("predict", clustered("k-means"), *ab, "--out", tmp_path / "labels.csv"),
        ("report", tmp_path / "run", "--force"),
        ("figure", tmp_path / "run", "--kind", "hierarchy"),
        ("datasets", "word-senses", "--out", tmp_path / "senses"),
        ("compare", "--view", data / "near.npy", "-k", 3, "--refits", 0, "--out", tmp_path / "table.json"),
    ]
    for call in calls:
        ran = run_successfully(*call, "--quiet")
        assert (ran.out, ran.err) == ("", ""), call


def test_quiet_prints_errors(ab, tmp_path):
    ran = run_command("cluster", *ab, "-k", 500, "--quiet", "--out", tmp_path / "out")
    assert ran.code == 1
    assert ran.out == ""
    assert ran.err.startswith("consilience: -k 500 is more than")


def test_results_and_notes_go_to_different_streams(ab, tmp_path):
    ran = run_successfully("cluster", *ab, "-k", 3, "--out", tmp_path / "out")
    assert "note: Entities are joined by the column 'id' (--id).\n" in ran.err
    assert get_messages(ran.err) == []
    assert all(character == "\n" or character.isprintable() for character in ran.out + ran.err)
    assert "note:" not in ran.out
    assert ran.out.startswith(f"{len(read_labels(tmp_path / 'out'))} entities, 2 views\n")
    assert "3 clusters by cross-fitted agreement of the views" in ran.out
    names = "labels.csv, summary.json, model.zip, report.html, run.toml, groups.xlsx, items.csv, groups.csv"
    assert f"Written to {tmp_path / 'out'}: {names}. Open {tmp_path / 'out' / 'report.html'} to see" in ran.out


def test_help_has_examples_and_exit_codes():
    for command in COMMANDS:
        ran = run_successfully(command, "--help")
        assert "examples:\n  consilience " in ran.out
        assert f"  consilience {command}" in ran.out.partition("examples:")[2]
        assert "130 stopped by Ctrl-C" in ran.out
        assert ran.err == ""


@pytest.mark.skipif(os.name != "posix", reason="needs a shell")
def test_closed_pipe_is_not_an_error(ab, clustered):
    """Without a buffer; test_methods.py closes a pipe early that gets what was buffered."""
    views = " ".join(map(str, ab))
    line = f"{sys.executable} -m consilience predict {clustered('k-means')} {views} | true; echo ${{PIPESTATUS[0]}}"
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    ran = subprocess.run(["bash", "-c", line], capture_output=True, text=True, timeout=HANG_LIMIT, env=environment)
    assert (ran.stdout, get_messages(ran.stderr)) == ("0\n", [])


def test_results_are_written_if_the_pipe_is_closed(ab, tmp_path, monkeypatch):
    def gone(*_, **__):
        raise BrokenPipeError(32, "Broken pipe")

    monkeypatch.setattr("consilience.cli.terminal.make_encodable", gone)
    monkeypatch.setattr("consilience.cli.terminal.redirect_to_null", lambda *_: None)
    monkeypatch.setattr("consilience.cli.terminal.Terminal.note", lambda *_: None)
    assert run_command("cluster", *ab, *FAST, "--out", tmp_path / "out").code == 0
    assert (tmp_path / "out" / "labels.csv").is_file()


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
@pytest.mark.parametrize(
    ("redirection", "arguments", "code"),
    [
        ("2>/dev/full", ["--view", "a.csv", *FAST, "--out", "out"], 0),
        ("0<&- 2>&-", ["--view", "none.csv"], 1),
        ("2>&-", ["--view"], 2),
    ],
)
def test_standard_error_that_cannot_be_written_is_no_error(redirection, arguments, code, data, tmp_path):
    """Notes and progress are lost, but the work is done and the exit code is right."""
    shutil.copy(data / "a.csv", tmp_path)
    line = shlex.join([sys.executable, "-m", "consilience", "cluster", *map(str, arguments)])
    ran = subprocess.run(["bash", "-c", f"{line} {redirection}"], capture_output=True, text=True, cwd=tmp_path)
    assert ran.returncode == code
    assert ("Written to out" in ran.stdout) == (tmp_path / "out" / "labels.csv").exists() == (code == 0)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
@pytest.mark.parametrize(
    ("redirection", "message"),
    [
        (">/dev/full", "consilience: standard output cannot be written: No space left on device"),
        (">&-", "consilience: standard output is closed, so results cannot be printed: redirect it to a file or"),
    ],
)
def test_results_that_cannot_be_printed_are_an_error(redirection, message, ab, clustered):
    line = shlex.join([sys.executable, "-m", "consilience", "predict", str(clustered("k-means")), *map(str, ab)])
    ran = subprocess.run(["bash", "-c", f"{line} {redirection}"], capture_output=True, text=True)
    assert ran.returncode == 1
    (line,) = get_messages(ran.stderr)
    assert line.startswith(message)


def test_names_of_a_million_characters_are_shortened_in_messages(tmp_path):
    write_csv(tmp_path / "long.csv", ["a" * 10**6, "b"], ([1, 2] for i in range(60)))
    ran = run_command("cluster", tmp_path / "long.csv", "-k", 2, "--out", tmp_path / "out")
    assert f"long.csv has no column that can be used: '{'a' * 99}..." in ran.error_line
    assert len(ran.err) < 2000
