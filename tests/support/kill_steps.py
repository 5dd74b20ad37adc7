"""Kill a process before each of its file-system calls, and print what it leaves: ``python kill_steps.py FOLDER``.

Prints one line of JSON per step: the case, the number of the step, what a reader finds, and what a later run leaves.
"""

import json
import os
import signal
import sys
from pathlib import Path

from consilience.files import check_complete, stage_file, stage_folder

NAMES = ("a.txt", "b.txt")
CALLS = ("fsync", "link", "mkdir", "open", "rename", "replace", "rmdir", "unlink")
CASES = {"new folder": [], "empty folder": None, "older run": NAMES, "other files": ["mine.txt", "b.txt"], "file": []}


def prepare(case, out):
    if case == "file":
        out.write_text("old")
    elif case != "new folder":
        out.mkdir()
        for name in CASES[case] or ():
            (out / name).write_text("old")


def write(case, out):
    if case == "file":
        with stage_file(out, overwrite=True) as temporary:
            temporary.write_text("new")
        return
    with stage_folder(out, NAMES, overwrite=True) as folder:
        for name in NAMES:
            (folder / name).write_text("new")


def kill_before(step):
    """Make the process kill itself before a file-system call."""
    calls = 0

    def wrap(function):
        def call(*arguments, **options):
            nonlocal calls
            if calls == step:
                os.kill(os.getpid(), signal.SIGKILL)
            calls += 1
            return function(*arguments, **options)

        return call

    for name in CALLS:
        setattr(os, name, wrap(getattr(os, name)))


def run_child(function, *arguments):
    child = os.fork()
    if not child:
        function(*arguments)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def work(case, out, step):
    kill_before(step)
    write(case, out)


def describe(case, out):
    """Say what a reader finds: nothing, the old files, the new files, or files that are refused."""
    if case == "file":
        return out.read_text()
    if not out.exists():
        return "nothing"
    try:
        check_complete(out)
    except ValueError as error:
        return str(error)
    content = {name: (out / name).read_text() for name in NAMES if (out / name).exists()}
    if content == dict.fromkeys(NAMES, "new"):
        return "new"
    return "old" if content == dict.fromkeys(set(CASES[case] or ()) & set(NAMES), "old") else f"mixed: {content}"


def names(folder):
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*"))


if __name__ == "__main__":
    for case in CASES:
        for step in range(1000):
            folder = Path(sys.argv[1]) / f"{case} {step}"
            folder.mkdir()
            out = folder / "out"
            prepare(case, out)
            before = names(folder)
            code = run_child(work, case, out, step)
            state, left = describe(case, out), names(folder)
            later = run_child(write, case, out)
            line = {"case": case, "step": step, "killed": code == -signal.SIGKILL, "state": state, "later": later}
            line |= {"left over": any(name not in (*before, "out") for name in left if "consilience-" in name)}
            print(json.dumps({**line, "finally": describe(case, out), "files": names(folder)}))
            if code == 0:
                break
