"""Kill runs at moments drawn at random, and look at what they have left: ``python killed.py FOLDER HOW_MANY SEED``.

One process is warmed up and then forks a run after the other, so that a moment costs no start of Python.
"""

import json
import os
import random
import signal
import sys
import time
from pathlib import Path

from consilience.cli import main
from consilience.persist import load

FILES = {"labels.csv", "summary.json", "model.zip", "report.html"}


def run_cluster(folder, out):
    views = [own for name in "ab" for own in ("--view", f"{name}={folder}/{name}.csv")]
    return main(["cluster", *views, "-k", "3", "--method", "k-means", "--quiet", "--no-assess", "--out", str(out)])


def is_complete(out):
    """Whether all that there is, is whole."""
    if {path.name for path in out.iterdir()} != FILES:
        return False
    load(out / "model.zip")
    json.loads((out / "summary.json").read_text(encoding="utf-8"))
    rows = (out / "labels.csv").read_text(encoding="utf-8").splitlines()
    page = (out / "report.html").read_text(encoding="utf-8")
    return len(rows) == 61 and page.rstrip().endswith("</html>")


def kill_at(folder, out, delay):
    """Start a run and kill it; whether it had ended by then."""
    child = os.fork()
    if not child:
        os._exit(run_cluster(folder, out))
    time.sleep(delay)
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    return os.WIFEXITED(status)


if __name__ == "__main__":
    folder, how_many, draw = Path(sys.argv[1]), int(sys.argv[2]), random.Random(int(sys.argv[3]))
    there_before = "there" in sys.argv[4:]
    run_cluster(folder, folder / "first")
    started = time.perf_counter()
    run_cluster(folder, folder / "second")
    longest = time.perf_counter() - started
    counts = {"not there": 0, "whole": 0, "broken": 0, "ended": 0, "left over": 0}
    for i in range(how_many):
        out = folder / f"run{i}"
        if there_before:
            out.mkdir()
        counts["ended"] += kill_at(folder, out, draw.uniform(0, 1.2 * longest))
        nothing = not any(out.iterdir()) if there_before else not out.exists()
        counts["not there" if nothing else "whole" if is_complete(out) else "broken"] += 1
    counts["left over"] = sum(path.name.endswith(".partial") for path in folder.iterdir())
    print(json.dumps(counts))
