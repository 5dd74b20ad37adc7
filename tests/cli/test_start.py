"""Starting the command: what it imports, and how SIGINT and SIGTERM end it while it imports."""

import json
import os
import signal
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp

from stage import get_messages, list_folder

HOOK = """
import os, signal, sys

class SendSignal:
    '''Send a signal to this process, as often as asked, when a module is imported.'''

    def find_spec(self, name, path=None, target=None):
        if name == os.environ["SIGNAL_AT"]:
            os.environ["SIGNAL_AT"] = ""
            for _ in range(int(os.environ["SIGNAL_TIMES"])):
                signal.raise_signal(int(os.environ["SIGNAL_NUMBER"]))

if os.environ.get("SIGNAL_AT"):
    sys.meta_path.insert(0, SendSignal())
"""
ENTRY_POINT = "import sys; from consilience.__main__ import start; sys.exit(start())"
EARLY = "consilience: stopped before anything was done: nothing was written\n"
pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs POSIX signals")


@pytest.fixture
def run_with_signal(tmp_path):
    """Return a function that runs the command and sends it a signal when it imports a module."""
    hooks = tmp_path / "hooks"
    hooks.mkdir()
    (hooks / "sitecustomize.py").write_text(HOOK)
    paths = os.pathsep.join([str(hooks), *filter(None, [os.environ.get("PYTHONPATH")])])

    def run(module, number, *arguments, times=1, program=("-m", "consilience")):
        variables = {"SIGNAL_AT": module, "SIGNAL_NUMBER": str(int(number)), "SIGNAL_TIMES": str(times)}
        return subprocess.run(
            [sys.executable, *program, *map(str, arguments)],
            capture_output=True,
            text=True,
            env={**os.environ, **variables, "PYTHONPATH": paths},
        )

    return run


SIGNALS = [
    ("consilience.cli", signal.SIGINT),
    ("argparse", signal.SIGINT),
    ("consilience.cli.cluster", signal.SIGINT),
    ("numpy", signal.SIGTERM),
    ("sklearn.base", signal.SIGINT),
    ("consilience.methods", signal.SIGINT),
]


@pytest.mark.parametrize(("module", "number"), SIGNALS)
def test_signal_during_imports_exits_with_130_and_one_line(module, number, run_with_signal, ab, tmp_path):
    before = list_folder(tmp_path)
    ran = run_with_signal(module, number, "cluster", *ab, "-k", 3, "--out", tmp_path / "out")
    assert (ran.returncode, ran.stdout, ran.stderr) == (130, "", EARLY)
    assert list_folder(tmp_path) == before


def test_signal_during_imports_of_the_installed_script(run_with_signal):
    ran = run_with_signal("numpy", signal.SIGINT, "datasets", program=("-c", ENTRY_POINT))
    assert (ran.returncode, ran.stdout, ran.stderr) == (130, "", EARLY)


def test_installed_script_is_the_one_tested_here():
    from importlib.util import find_spec
    from pathlib import Path
    from tomllib import loads

    path = Path(__file__).parents[2] / "pyproject.toml"
    scripts = loads(path.read_text(encoding="utf-8"))["project"]["scripts"]
    assert scripts == {"consilience": "consilience.__main__:start"}
    assert find_spec("consilience.__main__") is not None


def test_signal_during_imports_of_the_work(run_with_signal, tmp_path):
    """Sparse views import numba when they are fitted; `timeout` and shells often send a signal twice."""
    X = sp.random_array((60, 30), density=0.3, random_state=np.random.default_rng(0), format="csr")
    sp.save_npz(tmp_path / "x.npz", X)
    before = list_folder(tmp_path)
    view = "--view", f"x={tmp_path / 'x.npz'}", "--method", "spherical"
    ran = run_with_signal("numba", signal.SIGINT, "cluster", *view, "-k", 3, "--out", tmp_path / "out", times=2)
    assert ran.returncode == 130, ran.stderr
    (line,) = get_messages(ran.stderr)
    assert line.startswith("consilience: stopped after it had read the files and prepared the views: nothing was")
    assert list_folder(tmp_path) == before


AT_THE_END = """
import signal, sys
from consilience import __main__ as command
discard_unwritable_messages = command.discard_unwritable_messages

def send_signal():
    signal.raise_signal(signal.SIGTERM)
    discard_unwritable_messages()

command.discard_unwritable_messages = send_signal
sys.exit(command.start())
"""


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["completion", "bash", "--line=consilience clu"], 0, ""),
        (["datasets", "word-senses", "--out", "file"], 1, "consilience: file is a file: name a folder\n"),
    ],
)
def test_signal_after_the_command_has_ended_keeps_its_exit_code(arguments, code, message, tmp_path):
    (tmp_path / "file").touch()
    command = [sys.executable, "-c", AT_THE_END, *arguments]
    ran = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert (ran.returncode, ran.stdout, ran.stderr) == (code, "" if code else "cluster\n", message)


TWICE_AT_THE_END = """
import signal, sys
from consilience import __main__ as start
from consilience.cli import command
describe_stop, set_exit_code, codes = command._describe_stop, start.ExitHandler.set_exit_code, []

def send_signal_after_the_work(handler, code):
    codes.append(code)
    if len(codes) == 2:
        signal.raise_signal(signal.SIGINT)
    set_exit_code(handler, code)

def send_signal_again(stop, terminal):
    signal.raise_signal(signal.SIGINT)
    return describe_stop(stop, terminal)

start.ExitHandler.set_exit_code = send_signal_after_the_work
command._describe_stop = send_signal_again
sys.exit(start.start())
"""


def test_second_signal_after_the_work_prints_nothing():
    command = [sys.executable, "-c", TWICE_AT_THE_END, "completion", "bash", "--line=consilience clu"]
    ran = subprocess.run(command, capture_output=True, text=True)
    assert (ran.returncode, ran.stdout, ran.stderr) == (130, "cluster\n", "")


def test_ignored_signals_stay_ignored(run_with_signal):
    """A shell starts background jobs with SIGINT ignored."""
    program = f"import signal, sys; signal.signal(signal.SIGINT, signal.SIG_IGN); {ENTRY_POINT}"
    arguments = "completion", "bash", "--line=consilience clu"
    ran = run_with_signal("argparse", signal.SIGINT, *arguments, program=("-c", program))
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "cluster\n", "")


WITHOUT_NUMPY = """
import contextlib, io, json, sys
from consilience.cli import main
codes = []
for arguments in json.loads(sys.argv[1]):
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        try:
            codes.append(main(arguments))
        except SystemExit as end:
            codes.append(end.code)
    assert "numpy" not in sys.modules, arguments
print(codes)
"""


def test_help_completion_and_wrong_arguments_import_no_numpy():
    codes = {
        "": 0,
        "--help": 0,
        "--version": 0,
        "cluster --help": 0,
        "help datasets": 0,
        "completion bash": 0,
        "cluster": 2,
        "clutser": 2,
        "predict --nonsense": 2,
        "cluster x.csv --method magic": 2,
        "datasets magic": 2,
    }
    calls = [*(line.split() for line in codes), ["completion", "bash", "--line=consilience cluster --m"]]
    ran = subprocess.run([sys.executable, "-c", WITHOUT_NUMPY, json.dumps(calls)], capture_output=True, text=True)
    assert ran.stdout == f"{[*codes.values(), 0]}\n", ran.stderr


STUBBORN = """
import signal, sys
from consilience.cli import stopping
stopping.SAME_REQUEST = -1.0
with stopping.stop_on_signals():
    try:
        signal.raise_signal(signal.SIGINT)
    except KeyboardInterrupt:  # as a library might
        signal.raise_signal(signal.SIGINT)
print("still running")
"""


def test_second_signal_ends_work_that_swallowed_the_first():
    ran = subprocess.run([sys.executable, "-c", STUBBORN], capture_output=True, text=True)
    message = "consilience: stopped at once: the next run removes what is left of this one\n"
    assert (ran.returncode, ran.stdout, ran.stderr) == (130, "", message)
