"""Processes that are stopped or killed while they write: files are of one run, and a later run removes leftovers."""

import gc
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import kill_steps
from consilience.files import check_complete, stage_file, stage_folder, staging
from kill_steps import NAMES, write

SOURCES = {"write.py", "staging.py", "deferral.py", "contextlib.py", "tempfile.py"}
pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs POSIX signals and locks")


@pytest.fixture
def stop_by_sigterm():
    """Handle SIGTERM as the command line does."""
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    yield
    signal.signal(signal.SIGTERM, before)


def names(folder):
    return sorted(path.relative_to(folder).as_posix() for path in Path(folder).rglob("*"))


@pytest.fixture(scope="module")
def steps(tmp_path_factory):
    """The state after a kill before each file-system call, by case."""
    program = Path(kill_steps.__file__)
    ran = subprocess.run(
        [sys.executable, program, tmp_path_factory.mktemp("steps")], capture_output=True, text=True, check=True
    )
    return [json.loads(line) for line in ran.stdout.splitlines()]


NEW = ["out", "out/a.txt", "out/b.txt"]
ENDS = dict.fromkeys(["new folder", "empty folder", "older run"], NEW)
ENDS |= {"other files": [*NEW, "out/mine.txt"], "file": ["out"]}


@pytest.mark.parametrize("case", ENDS)
def test_kill_before_each_step_leaves_files_of_one_run_and_a_later_run_removes_the_rest(case, steps):
    steps = [step for step in steps if step["case"] == case]
    assert [step["killed"] for step in steps] == [True] * (len(steps) - 1) + [False]
    states = [step["state"] for step in steps]
    assert len(states) >= 10
    assert states[-1] == "new"
    refused = [state for state in states if state not in ("nothing", "old", "new")]
    for state in refused:
        assert "are of two runs" in state
        assert "run the command that wrote them again with --force" in state
    if case in ("new folder", "file"):
        assert not refused
    is_new = [state == "new" for state in states if state not in refused]
    assert is_new == sorted(is_new)
    assert any(step["left over"] for step in steps)
    for step in steps:
        assert (step["later"], step["finally"], step["files"]) == (0, "new", ENDS[case]), step


def content(out):
    if out.is_file():
        return {out.read_text()}
    return {path.read_text() for path in out.iterdir()} if out.exists() else set()


class SignalAtOpcode:
    """Send SIGTERM to this process when the code of `SOURCES` executes its n-th bytecode instruction."""

    def __init__(self, n):
        self.n, self.count = n, 0

    def __call__(self, frame, event, _):
        if Path(frame.f_code.co_filename).name not in SOURCES:
            return None
        frame.f_trace_opcodes = True
        if event == "opcode":
            if self.count == self.n:
                signal.raise_signal(signal.SIGTERM)
            self.count += 1
        return self


def write_with_signal(kind, out, n):
    """Write, send SIGTERM at the n-th instruction, and return whether it came before the end."""
    tracer, before = SignalAtOpcode(n), sys.gettrace()
    try:
        sys.settrace(tracer)
        write(kind, out)
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(before)
    return tracer.count > n


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # Python closes files late
@pytest.mark.parametrize(("kind", "stride"), [("new", 37), ("older", 53), ("file", 23)])
@pytest.mark.parametrize("share", [1, pytest.param(0.2, marks=pytest.mark.protocol)])
def test_sigterm_at_every_nth_instruction_leaves_nothing(kind, stride, share, tmp_path, stop_by_sigterm):
    handlers = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    seen, n = set(), 0
    stopped = True
    while stopped:
        out = tmp_path / str(n)
        kill_steps.prepare({"older": "older run", "new": "new folder"}.get(kind, kind), out)
        stopped = write_with_signal(kind, out, n)
        gc.collect(0)
        assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == handlers
        state = content(out)
        assert state in ({"old"}, {"new"}, set()), n
        assert not [name for name in names(tmp_path) if "consilience-" in name], n
        seen |= state
        n += int(share * stride)
    assert n > 300
    assert "new" in seen


LEAVE = """
import os, signal, sys
from consilience.files import stage_file, stage_folder
if os.fork():
    os.wait()
    with stage_file(f"{sys.argv[1]}/file/out") as temporary:
        temporary.write_text("half")
        os.kill(os.getpid(), signal.SIGKILL)
with stage_folder(f"{sys.argv[1]}/folder/out", ("a.txt",), overwrite=True) as folder:
    (folder / "a.txt").write_text("half")
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture(scope="module")
def left_by_killed(tmp_path_factory):
    """Staging folders of a file and of a folder, which processes left that were killed while they wrote."""
    folder = tmp_path_factory.mktemp("killed")
    for kind in ("file", "folder"):
        (folder / kind).mkdir()
    done = subprocess.run([sys.executable, "-c", LEAVE, str(folder)])
    assert done.returncode == -signal.SIGKILL
    left = {kind: list((folder / kind).iterdir()) for kind in ("file", "folder")}
    for (path,) in left.values():
        assert path.name.startswith(".consilience-")
        assert path.name.endswith(".partial")
    return {kind: path for kind, (path,) in left.items()}


@pytest.fixture
def left(left_by_killed, tmp_path):
    """A copy of such a folder."""
    path = left_by_killed["folder"]
    return Path(shutil.copytree(path, tmp_path / path.name))


def test_leftovers_are_removed_by_any_later_write_to_same_folder(left, left_by_killed, tmp_path):
    shutil.copytree(left_by_killed["file"], tmp_path / left_by_killed["file"].name)
    write("file", tmp_path / "another")
    assert names(tmp_path) == ["another"]


def test_leftovers_of_another_machine_are_removed_after_day(left, tmp_path):
    foreign = left.rename(left.with_name(".consilience-00000000-abcdefgh.partial"))
    staging.remove_leftovers(tmp_path)
    assert foreign.exists()
    yesterday = time.time() - 2 * staging.ONE_DAY
    os.utime(foreign / "lock", (yesterday, yesterday))
    staging._cleaned.clear()
    staging.remove_leftovers(tmp_path)
    assert not foreign.exists()


def test_folders_of_running_processes_are_kept(tmp_path):
    program = f"import sys; sys.path.insert(0, {str(Path(kill_steps.__file__).parent)!r}); import kill_steps, pathlib\n"
    program += f"kill_steps.write('file', pathlib.Path({str(tmp_path / 'another')!r}))"
    with stage_folder(tmp_path / "out", NAMES) as folder:
        (folder / "a.txt").write_text("slow")
        subprocess.run([sys.executable, "-c", program], check=True)
        assert (folder / "a.txt").read_text() == "slow"
    assert names(tmp_path) == ["another", "out", "out/a.txt"]


def test_folders_of_other_programs_are_kept(tmp_path):
    mine = tmp_path / f"{staging.PREFIX}mine{staging.WRITING}"
    mine.mkdir()
    (mine / "notes.txt").write_text("mine")
    (tmp_path / f"{staging.PREFIX}link{staging.WRITING}").symlink_to(mine)
    before = names(tmp_path)
    write("file", tmp_path / "out")
    assert names(tmp_path) == sorted([*before, "out"])


@pytest.mark.parametrize("case", ["another user", "no locks"])
def test_leftovers_that_may_be_in_use_are_kept(left, tmp_path, monkeypatch, case):
    """Without locks of the file system, it cannot be known whether their process is alive."""

    def refuse(*_):
        raise OSError("Operation not supported")

    if case == "another user":
        monkeypatch.setattr(os, "geteuid", lambda: left.stat().st_uid + 1)
    else:
        monkeypatch.setattr(staging.fcntl, "flock", refuse)
    write("folder", tmp_path / "out")
    assert content(tmp_path / "out") == {"new"}
    assert left.exists()


def signal_before(monkeypatch, call):
    """Send SIGTERM to this process before each such call of the file system."""
    real = getattr(os, call)

    def signal_first(source, target):
        signal.raise_signal(signal.SIGTERM)
        real(source, target)

    monkeypatch.setattr(os, call, signal_first)


def test_signal_while_files_are_placed_names_results(tmp_path, monkeypatch, stop_by_sigterm):
    signal_before(monkeypatch, "rename")
    with pytest.raises(KeyboardInterrupt) as caught:
        write("folder", tmp_path / "out")
    assert caught.value.__notes__ == [f"the results are in {tmp_path / 'out'}"]
    assert names(tmp_path) == ["out", "out/a.txt", "out/b.txt"]


def test_signal_while_file_is_moved_within_staging_folder_names_no_removed_file(tmp_path, monkeypatch, stop_by_sigterm):
    signal_before(monkeypatch, "link")
    with (
        pytest.raises(KeyboardInterrupt) as caught,
        stage_folder(tmp_path / "out", NAMES) as folder,
        stage_file(folder / "a.txt") as temporary,
    ):
        temporary.write_text("new")
    assert not hasattr(caught.value, "__notes__")
    assert names(tmp_path) == []


def test_folder_whose_files_are_being_replaced_is_refused_until_process_ends(tmp_path, monkeypatch):
    write("folder", tmp_path / "out")
    real, targets = os.replace, []

    def replace(source, target):
        with pytest.raises(ValueError, match=re.escape(f"another process is replacing the files in {target.parent}")):
            check_complete(target.parent)
        targets.append(target)
        real(source, target)

    monkeypatch.setattr(os, "replace", replace)
    write("folder", tmp_path / "out")
    assert len(targets) == len(NAMES)
    check_complete(tmp_path / "out")


def test_mark_stays_until_all_its_files_are_replaced(tmp_path):
    mark = tmp_path / f"{staging.PREFIX}00000000-abcdefgh{staging.PLACING}"
    (mark / "new").mkdir(parents=True)
    (mark / "new" / "b.txt").write_text("new")
    (mark / "lock").touch()
    os.utime(mark / "lock", (0, 0))
    with stage_folder(tmp_path, ("a.txt",), overwrite=True) as folder:
        (folder / "a.txt").write_text("new")
    with pytest.raises(ValueError, match="are of two runs"):
        check_complete(tmp_path)
    write("folder", tmp_path)
    check_complete(tmp_path)
    assert names(tmp_path) == list(NAMES)


def test_failed_rollback_leaves_mark(tmp_path, monkeypatch):
    write("folder", tmp_path / "out")
    real, calls = os.replace, []

    def replace(source, target):
        calls.append(target)
        if len(calls) > 1:
            raise OSError("Input/output error")
        real(source, target)

    monkeypatch.setattr(os, "replace", replace)
    with pytest.raises(OSError, match="Input/output error"):
        write("folder", tmp_path / "out")
    with pytest.raises(ValueError, match="are of two runs"):
        check_complete(tmp_path / "out")
