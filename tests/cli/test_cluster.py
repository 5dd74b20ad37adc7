"""The command line as a user meets it."""

import subprocess
import sys

import pytest

from consilience.cli import main


def test_demo_shows_the_gain_and_what_to_try_next(capsys):
    assert main(["cluster", "--data", "digits"]) == 0
    out = capsys.readouterr().out
    scores = {
        name: float(next(line for line in out.splitlines() if line.startswith(name)).split()[-3])
        for name in ("all views together", "concatenation", "view fac alone", "view pix alone")
    }
    assert scores["all views together"] > scores["concatenation"] > scores["view pix alone"]
    assert "none errs on more than" in out
    assert out.splitlines()[-1].startswith("Next: try --method k-means")


def test_errors_are_one_sentence(capsys):
    assert main(["cluster", "-k", "3000"]) == 1
    assert capsys.readouterr().err.startswith("consilience: n_clusters=3000 is more than the 2000 entities")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "COMMAND"),
        (["cluster", "--data", "nothing"], "invalid choice: 'nothing'"),
        (["cluster", "-k", "many"], "invalid int value: 'many'"),
    ],
)
def test_wrong_arguments(arguments, message, capsys):
    with pytest.raises(SystemExit, match="2"):
        main(arguments)
    assert message in capsys.readouterr().err


def test_ctrl_c_says_so(monkeypatch, capsys):
    def interrupted(_):
        raise KeyboardInterrupt

    monkeypatch.setattr("consilience.cli.command.cluster", interrupted)
    assert main(["cluster"]) == 130
    assert capsys.readouterr().err == "consilience: interrupted\n"


def test_runs_as_a_module():
    done = subprocess.run([sys.executable, "-m", "consilience", "--help"], capture_output=True, text=True, check=True)
    assert "cluster" in done.stdout
