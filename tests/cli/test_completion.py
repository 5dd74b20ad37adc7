"""Completion of commands, options and values in shells."""

import os
import shutil
import subprocess
import sys

import pytest

from consilience.cli.arguments import DATASETS, build_parser
from consilience.cli.completion import complete_word, split_line
from consilience.cli.datasets import INCLUDED
from consilience.datasets import FETCHERS
from consilience.files.kinds import KINDS
from consilience.registry import list_estimators
from stage import run_successfully


@pytest.fixture
def bash(tmp_path):
    """Return a function that completes lines in bash, as pressing Tab at their ends does."""
    program = tmp_path / "bin" / "consilience"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m consilience "$@"\n')
    program.chmod(0o755)
    environment = {**os.environ, "PATH": f"{program.parent}{os.pathsep}{os.environ['PATH']}"}
    if shutil.which("bash") is None:
        pytest.skip("needs bash")

    def complete(*lines):
        script = (
            'eval "$(consilience completion bash)" && complete -p consilience >&2\n'
            "compopt() { :; }\n"  # works only while bash completes
            'for line; do COMP_LINE=$line COMP_POINT=${#line}; _consilience; echo "${COMPREPLY[@]}"; done'
        )
        ran = subprocess.run(
            ["bash", "-c", script, "bash", *lines], capture_output=True, text=True, env=environment, cwd=tmp_path
        )
        assert ran.stderr == "complete -o default -F _consilience consilience\n"
        return [line.split() for line in ran.stdout.splitlines()]

    return complete


def test_bash_completes_commands_options_and_values(bash):
    completed = {
        "consilience clu": ["cluster"],
        "consilience cluster --met": ["--method"],
        "consilience cluster --method sp": ["spectral", "spherical"],
        "consilience cluster --method=sp": ["spectral", "spherical"],  # = ends a word for bash
        "consilience cluster --view text=a.csv --kind text=na": ["names"],
        "consilience cluster --view a": [],  # a file
    }
    assert bash(*completed) == list(completed.values())


def complete(line):
    return list(complete_word(build_parser(), *split_line(line)))


def test_words():
    words = {
        "consilience ": build_parser().commands,
        "consilience --v": ["--version"],
        "consilience methods ": list_estimators(),
        "consilience completion ": ["bash", "zsh", "fish"],
        "consilience datasets w": ["word-senses", "webkb", "webkb-linqs"],
        "consilience cluster a.csv --se": ["--set", "--seed", "--seeds"],
        "consilience cluster --kind x=": [f"x={kind}" for kind in KINDS],
        "consilience cluster --view text=a.csv --view b=b.csv --kind ": ["text=", "b="],
        "consilience cluster --quiet --meth": ["--method"],
        "consilience cluster --title 'my --meth": [],
        "consilience cluster --out ": [],
        "consilience nothing ": build_parser().commands,
    }
    assert {line: set(complete(line)) for line in words} == {line: set(expected) for line, expected in words.items()}


def test_every_option_of_every_command_is_completed():
    for name, command in build_parser().commands.items():
        listed = set(complete(f"consilience {name} -"))
        for action in command._actions:
            assert not action.option_strings or action.option_strings[-1] in listed or action.dest == "line"


def test_zsh_and_fish_get_descriptions():
    zsh = run_successfully("completion", "zsh", "--line=consilience com").out.splitlines()
    assert zsh[0].startswith("compare:Compare all suitable methods and baselines")
    fish = run_successfully("completion", "fish", "--line=consilience cluster --fo").out
    assert fish == "--force\toverwrite existing results\n"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_scripts_are_valid(shell, tmp_path):
    script = tmp_path / "script"
    script.write_text(run_successfully("completion", shell).out)
    assert "consilience completion" in script.read_text()
    if shutil.which(shell) is None:
        pytest.skip(f"needs {shell}")
    ran = subprocess.run([shell, "-n", script], capture_output=True, text=True)
    assert (ran.returncode, ran.stderr) == (0, "")


def test_names_of_data_sets_are_complete():
    assert list(DATASETS) == list(dict.fromkeys([*INCLUDED, *FETCHERS]))
