"""Kill runs at random moments, and count what they leave: ``python killed.py FOLDER N_RUNS SEED``.

One process is warmed up and forks the runs, so that Python starts only once.
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

FILES = {"labels.csv", "summary.json", "model.zip", "report.html", "run.toml", "groups.xlsx", "items.csv", "groups.csv"}


def run_cluster(folder, out):
    views = [argument for name in "ab" for argument in ("--view", f"{name}={folder}/{name}.csv")]
    return main(["cluster", *views, "-k", "3", "--method", "k-means", "--quiet", "--no-assess", "--out", str(out)])


def is_complete(out):
    """Return whether the results are complete."""
    if {path.name for path in out.iterdir()} != FILES:
        return False
    load(out / "model.zip")
    json.loads((out / "summary.json").read_text(encoding="utf-8"))
    rows = (out / "labels.csv").read_text(encoding="utf-8").splitlines()
    page = (out / "report.html").read_text(encoding="utf-8")
    return len(rows) == 61 and page.rstrip().endswith("</html>")


def kill_at(folder, out, delay):
    """Start a run and kill it."""
    child = os.fork()
    if not child:
        os._exit(run_cluster(folder, out))
    time.sleep(delay)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)


if __name__ == "__main__":
    folder, n_runs, generator = Path(sys.argv[1]), int(sys.argv[2]), random.Random(int(sys.argv[3]))
    run_cluster(folder, folder / "first")
    started = time.perf_counter()
    run_cluster(folder, folder / "second")
    longest = time.perf_counter() - started
    counts = {"missing": 0, "complete": 0, "broken": 0}
    for i in range(n_runs):
        out = folder / f"run{i}"
        kill_at(folder, out, generator.uniform(0, 1.2 * longest))
        counts["missing" if not out.exists() else "complete" if is_complete(out) else "broken"] += 1
    print(json.dumps(counts))
