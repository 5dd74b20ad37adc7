"""Habits of command lines: version, help, suggestions, JSON, numbered folders, and lines about finished steps."""

import json
import logging
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

import consilience
from consilience.cli.terminal import Terminal
from consilience.files import reserve_folder
from consilience.registry import list_estimators
from stage import FAST, get_clusters, list_folder, read_labels, read_summary, run_command, run_successfully, write_csv


def test_version():
    for option in ("--version", "-V"):
        assert run_command(option) == (0, f"consilience {consilience.__version__}\n", "")


def test_bare_command_prints_help_with_three_examples():
    ran = run_command()
    assert (ran.code, ran.err) == (0, "")
    assert ran.out == run_command("--help").out
    examples = ran.out.partition("examples:\n")[2].partition("\n\n")[0].splitlines()
    assert len(examples) == 3
    assert all(example.startswith("  consilience ") for example in examples)


def test_help_of_a_command():
    assert run_command("help", "cluster") == run_command("cluster", "--help")
    assert run_command("help") == run_command("--help")
    assert run_command("help", "nothing").code == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["clutser"], "there is no command 'clutser': did you mean 'cluster'?"),
        (["qqq"], "there is no command 'qqq': choose from cluster, open, predict, "),
        (["cluster", "--veiw", "a=a.csv"], "there is no option --veiw: did you mean --view?"),
        (["cluster", "--veiw=a=a.csv"], "there is no option --veiw: did you mean --view?"),
        (["cluster", "a.csv", "-view", "a=a.csv"], "there is no option -view: did you mean --view?"),
        (["cluster", "a.csv", "-K", "3"], "there is no option -K: did you mean -k?"),
        (["report", "run", "--qqq"], "there is no option --qqq: `consilience report --help` lists the options"),
        (["cluster", "--method", "konvex"], "argument --method: there is no method 'konvex': did you mean 'convex'?"),
        (["cluster", "a.csv", "--kind", "x=txt"], "argument --kind: there is no kind 'txt': did you mean 'text'?"),
        (["cluster", "a.csv", "--kind", "text"], "argument --kind: 'text' does not have the form NAME=KIND"),
        (["datasets", "croa"], "argument NAME: there is no data set 'croa': did you mean 'cora'?"),
        (["completion", "bsh"], "argument SHELL: there is no shell 'bsh': did you mean 'bash'?"),
        (["methods", "kmeans"], "argument METHOD: there is no method 'kmeans': did you mean 'k-means'?"),
    ],
)
def test_misspelled_names_get_a_suggestion_in_one_line(arguments, message):
    ran = run_command(*arguments)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.count("\n") == 1
    assert ran.err.startswith(f"consilience: {message}")


def test_values_that_look_like_options_are_not_taken_for_misspelled_ones():
    ran = run_command("cluster", "--title", "--", "-k", "x")
    assert ran.code == 2
    assert "no option" not in ran.err


# JSON.


def read_json(ran):
    """Read standard output as one document of strict JSON."""

    def refuse(constant):
        raise AssertionError(constant)

    return json.loads(ran.out, parse_constant=refuse)


def test_json_of_cluster_is_its_summary_and_folder(data, ab, tmp_path):
    out = tmp_path / "out"
    ran = run_successfully("cluster", *ab, *FAST, "--labels", data / "classes.csv", "--out", out, "--json")
    facts = read_json(ran)
    assert facts.pop("folder") == str(out)
    summary = read_summary(out)
    assert facts.pop("seconds").keys() > summary.pop("seconds").keys() - {"writing the results"}
    assert facts == summary
    assert ran.err


def test_json_of_compare_is_what_it_writes(data, tmp_path):
    options = "compare", "--view", data / "near.npy", "-k", 3, "--refits", 0, "--json"
    ran = run_successfully(*options, "--out", tmp_path / "table.json")
    assert read_json(ran) == json.loads((tmp_path / "table.json").read_text())


def test_json_of_predict_is_a_list_of_rows(ab, clustered, tmp_path):
    rows = read_json(run_successfully("predict", clustered("k-means"), *ab, "--json"))
    written = read_labels(clustered("k-means"))
    assert [row["cluster"] for row in rows] == get_clusters(written)
    assert [row["id"] for row in rows] == [row["id"] for row in written]
    out = tmp_path / "labels.csv"
    again = read_json(run_successfully("predict", clustered("k-means"), *ab, "--json", "--out", out, "--quiet"))
    assert again == rows
    assert get_clusters(read_labels(out)) == get_clusters(written)


def test_json_has_only_ascii_characters(clustered, tmp_path):
    """Any encoding of standard output can take it, and no shell is confused by control characters.

    Tables are read without zero-width characters, so that the id has lost its own.
    """
    file = write_csv(tmp_path / "a.csv", ["id", "a0", "a1", "a2"], [("caf\xe9\u200b\x1b[31m", 0, 0, 6)])
    ran = run_successfully("predict", clustered("k-means"), "--view", f"a={file}", "--json")
    assert ran.out.isascii()
    assert read_json(ran)[0]["id"] == "caf\xe9\x1b[31m"


def test_json_of_methods():
    assert [method["name"] for method in read_json(run_successfully("methods", "--json"))] == list(list_estimators())
    facts = read_json(run_successfully("methods", "co-em", "--json", "--quiet"))
    options = {option["name"]: option for option in facts["options"]}
    assert facts["name"] == "co-em"
    assert options["eta"]["default"] == "0.5"
    assert options["families"]["per_view"]
    text = run_successfully("methods", "co-em").out
    assert all(f"  {name}={option['default']}" in text for name, option in options.items())


def test_json_of_datasets(tmp_path):
    listed = {dataset["name"]: dataset for dataset in read_json(run_successfully("datasets", "--json"))}
    assert listed["word-senses"]["place"] == "included"
    assert "cora" in listed
    written = read_json(run_successfully("datasets", "word-senses", "--out", tmp_path / "senses", "--json"))
    assert written["folder"] == str(tmp_path / "senses")
    assert sorted(written["files"]) == list_folder(tmp_path / "senses")


def test_error_with_json_prints_nothing_on_standard_output(tmp_path):
    ran = run_command("cluster", "--view", tmp_path / "none.csv", "--json")
    assert (ran.code, ran.out) == (1, "")
    assert ran.error_line.startswith("consilience: ")


# Numbered folders.


def test_run_folders_are_numbered_unless_one_is_named(ab, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for folder in ("consilience-out", "consilience-out-2"):
        ran = run_successfully("cluster", *ab, *FAST)
        assert f"Written to {folder}: " in ran.out
        assert len(read_labels(folder)) > 0
    assert run_successfully("cluster", *ab, *FAST, "--force").out.count("Written to consilience-out: ") == 1
    assert not (tmp_path / "consilience-out-3").exists()
    refused = run_command("cluster", *ab, *FAST, "--out", "consilience-out-2")
    assert refused.code == 1
    assert "consilience-out-2 holds labels.csv" in refused.error_line


def test_failed_run_leaves_no_folder_and_takes_no_number(ab, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "consilience-out").write_text("a file")
    assert run_command("cluster", *ab, "-k", 500).code == 1
    assert list_folder(tmp_path) == ["consilience-out"]
    run_successfully("cluster", *ab, *FAST)
    assert len(read_labels("consilience-out-2")) > 0


def test_folders_that_are_reserved_at_the_same_time_differ(tmp_path):
    def reserve(_):
        with reserve_folder(tmp_path / "out") as folder:
            (folder / "file").touch()
            return folder.name

    with ThreadPoolExecutor(8) as pool:
        names = list(pool.map(reserve, range(40)))
    assert sorted(names) == sorted(["out", *(f"out-{number}" for number in range(2, 41))])


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="needs permissions")
def test_folder_that_cannot_be_written(ab, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    tmp_path.chmod(0o500)
    ran = run_command("cluster", *ab)
    tmp_path.chmod(0o700)
    assert ran.code == 1
    assert f"cannot write into {tmp_path}: Permission denied; choose --out" in ran.error_line


# Notes.


def test_notes_name_options_in_place_of_parameters():
    options = {
        "1 constraint contradicts others: nothing is inferred from it. See Constraints.conflicts":
            "1 constraint contradicts others: nothing is inferred from it",
        "no convergence in 5 rounds: raise max_iter, or tol (now 0.01)":
            "no convergence in 5 rounds: raise --set max_iter, or --set tol (now 0.01)",
        "1 of 3 clusters are empty: lower n_clusters=3": "1 of 3 clusters are empty: lower -k",
        "more components than n_clusters=3: increase n_neighbors":
            "more components than -k 3: increase --set n_neighbors",
        "View 'a': a note without parameters.": "View 'a': a note without parameters.",
    }  # fmt: skip
    terminal = Terminal(quiet=True)
    for warning in options:
        terminal.note(warning)
    assert terminal.notes == list(options.values())


# Lines about finished steps.


def test_steps_are_printed_and_logged_if_there_is_no_terminal(ab, tmp_path, caplog):
    caplog.set_level(logging.INFO, logger="consilience")
    ran = run_successfully("cluster", *ab, "-k", 3, "--out", tmp_path / "out")
    lines = [line for line in ran.err.splitlines() if not line.startswith("note: ") and " so far" not in line]
    assert [line.rpartition(" (")[0] for line in lines] == [
        "read the files", "prepared the views", "fitted the model", "assessed the clusters",
        "calibrated the probabilities", "explained the clusters", "wrote the results",
    ]  # fmt: skip
    logged = [record.getMessage() for record in caplog.records]
    assert [line for line in ran.err.splitlines() if line in logged] == ran.err.splitlines()
    assert Terminal().describe_progress() == ""  # between two steps nothing is told


def test_quiet_run_is_logged_and_prints_nothing(ab, tmp_path, caplog):
    caplog.set_level(logging.INFO, logger="consilience")
    ran = run_successfully("cluster", *ab, *FAST, "--quiet", "--out", tmp_path / "out")
    assert (ran.out, ran.err) == ("", "")
    assert any(record.getMessage().startswith("fitted the model (") for record in caplog.records)


TERMINAL = """
import os, pty, sys
pid, stream = pty.fork()
if pid == 0:
    os.dup2(os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT), 1)
    os.execv(sys.executable, [sys.executable, "-m", "consilience", *sys.argv[2:]])
written = b""
while True:
    try:
        part = os.read(stream, 4096)
    except OSError:  # the end
        break
    if not part:
        break
    written += part
sys.stdout.buffer.write(written)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
"""


@pytest.mark.skipif(os.name != "posix", reason="needs a pseudoterminal")
def test_terminal_shows_a_bar_and_standard_output_has_only_results(ab, tmp_path):
    line = [sys.executable, "-c", TERMINAL, tmp_path / "out.txt", "cluster", *ab, "-k", "3", "--no-assess"]
    line += ["--out", tmp_path / "out"]
    ran = subprocess.run(
        list(map(str, line)), capture_output=True, env={**os.environ, "TERM": "xterm", "COLUMNS": "120"}
    )
    assert ran.returncode == 0, ran
    shown = ran.stdout.decode()
    assert "clustering by cross-fitted agreement" in shown
    assert "\u2501" in shown  # the bar
    assert "fitted the model (" not in shown
    results = (tmp_path / "out.txt").read_text()
    assert results.startswith("60 entities, 2 views\n")
    assert "\x1b" not in results
