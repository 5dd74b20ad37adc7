"""Run one method on one data set in its own process, and send a message after each fit."""

from __future__ import annotations

import os
import pickle
import sys
import time
import warnings
from importlib import import_module
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np

from consilience.metrics import adjusted_rand_score, normalized_mutual_info_score


def run_child(pipe: Connection, catalogue: str, name: str, path: Path, seeds: list[int]) -> None:
    """Send ``ready``, one dict per fit or the reason of a failure, and finally None."""
    silence_output()
    try:
        data, method = pickle.loads(path.read_bytes()), import_module(catalogue).METHODS[name]
        for package in method.needs:
            import_module(package)
        pipe.send({"ready": True})
        fit_all_lines(data, method, seeds, pipe)
    except BaseException as error:  # errors of leidenalg do not derive from Exception
        pipe.send({"failed": describe_error(error)})
    pipe.send(None)


def silence_output() -> None:
    """Suppress the output and warnings of the methods."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    warnings.simplefilter("ignore")


def fit_all_lines(data: Any, method: Any, seeds: list[int], pipe: Connection) -> None:
    """Fit every line of the method with every seed; shared work is done once and counted for each line."""
    before, clock = get_peak_rss(), Clock()
    shared = method.share(data) if method.share else data
    spent = clock.lap()
    if method.share:
        pipe.send({"shared": True})
    for seed in seeds:
        for line, labels_of in method.lines.items():
            clock.lap()
            labels = np.asarray(labels_of(shared, seed))
            wall, cpu = clock.lap() + spent
            if labels.shape != data.target.shape:
                raise ValueError(f"{labels.shape} labels for {len(data.target)} entities")
            pipe.send(
                {
                    "line": line,
                    "seed": seed,
                    "nmi": float(normalized_mutual_info_score(data.target, labels)),
                    "ari": float(adjusted_rand_score(data.target, labels)),
                    "n_found": len(np.unique(labels)),
                    "cpu": round(cpu, 3),
                    "wall": round(wall, 3),
                    "mib": round((get_peak_rss() - before) / 2**20, 1),
                    "last": line == list(method.lines)[-1],  # last line of this seed
                }
            )


class Clock:
    """Wall and CPU seconds since the last call."""

    def __init__(self) -> None:
        self.last = self.now()

    def now(self) -> np.ndarray:
        return np.array([time.perf_counter(), time.process_time()])

    def lap(self) -> np.ndarray:
        before, self.last = self.last, self.now()
        return self.last - before


def get_peak_rss() -> int:
    """Return the peak memory in bytes. getrusage may include the parent process; the file of Linux does not."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM"))
    except (OSError, StopIteration):
        import resource

        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def describe_error(error: BaseException) -> str:
    """Describe an error briefly."""
    text = " ".join(str(error).split())
    short = text if len(text) <= 100 else f"{text[:97]}..."
    return f"{type(error).__name__}: {short}" if short else type(error).__name__
