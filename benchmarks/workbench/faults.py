"""Kill the server again and again: ``python -m benchmarks.workbench.faults RUN [--actions 1000]``.

A process serves the workbench of a copy of the run. Random actions are sent to it over HTTP, and it is killed
(SIGKILL) at random moments, between requests and within them. Each time it is started again. At the end the actions
that were acknowledged are compared with those in the log, and the groups with those that all decisions give when they
are applied from the beginning.
"""

from __future__ import annotations

import argparse
import contextlib
import http.client
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np

import consilience as cs
from consilience.workbench.decisions import FILE_NAME
from consilience.workbench.serve import RunningWorkbench

MEAN_ACTIONS = 25  # between two kills


class ServerProcess:
    """A server in a process of its own, and a connection to it."""

    def __init__(self, folder: Path) -> None:
        command = [sys.executable, "-m", "consilience", "open", str(folder), "--no-browser", "--json"]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        content = ""
        assert self.process.stdout is not None
        while "}" not in content:
            line = self.process.stdout.readline()
            if not line:
                raise RuntimeError(f"the server has ended with exit code {self.process.wait()}")
            content += line
        address = urlsplit(json.loads(content)["url"])
        self.host, self.key = address.netloc, ""
        self.key = self.request("POST", "/api/session", {"token": address.fragment.removeprefix("token=")})[1]["key"]
        while not self.request("GET", "/api/state?after=0")[1]["is_ready"]:
            time.sleep(0.05)

    def request(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        """Send a request and return the status and the answer."""
        connection = http.client.HTTPConnection(self.host, timeout=600)
        headers = {"Authorization": f"Bearer {self.key}", "Content-Type": "application/json"}
        try:
            connection.request(method, path, None if body is None else json.dumps(body), headers)
            response = connection.getresponse()
            return response.status, json.loads(response.read())
        finally:
            connection.close()

    def kill(self) -> None:
        """End the process at once."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()


def draw_action(rng: random.Random, state: dict[str, Any], n_items: int) -> tuple[str, dict[str, Any]]:
    """Draw a random request."""
    groups = [group["number"] for group in state["groups"]]
    pair = rng.sample(range(n_items), 2)
    choices: list[tuple[str, dict[str, Any]]] = [
        ("/api/answer", {"pair": pair, "answer": rng.choice(["same", "different", "unknown"]), "resolve": "newer"}),
        ("/api/decide", {"action": "together", "rows": rng.sample(range(n_items), 4), "resolve": "newer"}),
        ("/api/decide", {"action": "apart", "rows": pair, "resolve": "newer"}),
        ("/api/decide", {"action": "outlier", "rows": pair[:1]}),
        ("/api/decide", {"action": "rename", "groups": rng.sample(groups, 1), "name": f"name {rng.random()}"}),
        ("/api/keep", {"name": f"version {rng.random()}"}),
        ("/api/revert", {"version": rng.choice([version["number"] for version in state["versions"]])}),
    ]
    if len(groups) > 2:
        choices.append(("/api/decide", {"action": "merge", "groups": rng.sample(groups, 2)}))
    if len(groups) < 15:
        rows = rng.sample(range(n_items), 5)
        choices.append(("/api/decide", {"action": "split", "rows": rows, "resolve": "newer"}))
    if state["undo"] is not None:
        choices += [("/api/undo", {"number": state["undo"]})] * 2
    if state["redo"] is not None:
        choices.append(("/api/redo", {"number": state["redo"]}))
    return rng.choice(choices)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path, help="folder of a run")
    parser.add_argument("--actions", type=int, default=1000, help="number of actions (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    rng = random.Random(options.seed)
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / "run"
        shutil.copytree(options.run, folder, ignore=shutil.ignore_patterns("decisions.*", ".workbench"))
        acknowledged: list[int] = []
        n_sent, n_kills, n_failed_starts, n_refused = 0, 0, 0, 0
        while n_sent < options.actions:
            try:
                server = ServerProcess(folder)
            except (RuntimeError, OSError, http.client.HTTPException) as error:
                n_failed_starts += 1
                print(f"the server did not start: {error}")
                break
            n_items = server.request("GET", "/api/items")[1]["n"]
            timer = threading.Timer(0.05 * rng.expovariate(1 / MEAN_ACTIONS), server.kill)
            timer.start()
            with contextlib.suppress(OSError, http.client.HTTPException, ValueError):
                while n_sent < options.actions:
                    state = server.request("GET", "/api/state?after=0")[1]
                    path, body = draw_action(rng, state, n_items)
                    n_sent += 1
                    status, answer = server.request("POST", path, body)
                    if status == 200:
                        acknowledged.append(answer["number"])
                    else:
                        n_refused += 1
            timer.cancel()
            timer.join()
            if server.process.poll() is None:
                server.kill()
            n_kills += 1
            print(f"{n_sent} actions, {n_kills} kills, {len(acknowledged)} acknowledged", flush=True)
        lines = (folder / FILE_NAME).read_bytes().splitlines()
        with RunningWorkbench(cs.load_run(folder)) as running:
            running.workbench.wait_until_ready(3600)
            numbers = {entry["number"] for entry in running.workbench.log.entries}
            labels = running.workbench.snapshot.clustering.labels
        shutil.rmtree(folder / ".workbench")
        with RunningWorkbench(cs.load_run(folder)) as running:
            running.workbench.wait_until_ready(3600)
            is_equal = np.array_equal(labels, running.workbench.snapshot.clustering.labels)
    n_lost = len(set(acknowledged) - numbers) + len(acknowledged) - len(set(acknowledged))
    print(f"{n_sent} actions, {n_kills} kills, {len(acknowledged)} acknowledged, {n_refused} refused with a reason")
    print(
        f"decisions lost: {n_lost}; states that could not be opened: {n_failed_starts}; lines in the log: {len(lines)}"
    )
    print(f"groups after reopening are those of the decisions applied from the beginning: {is_equal}")
    os._exit(1 if n_lost or n_failed_starts or not is_equal else 0)


if __name__ == "__main__":
    main()
