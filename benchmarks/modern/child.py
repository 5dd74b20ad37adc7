"""One method on one set, in a process of its own: a message for each fit, as soon as it is done."""

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


def work(pipe: Connection, catalogue: str, name: str, path: Path, seeds: list[int]) -> None:
    """Say ``ready``, a dict a fit, or why it failed; then nothing more."""
    silence()
    try:
        data, method = pickle.loads(path.read_bytes()), import_module(catalogue).METHODS[name]
        for package in method.needs:
            import_module(package)
        pipe.send({"ready": True})
        fit_all(data, method, seeds, pipe)
    except BaseException as error:  # leidenalg's errors are no Exceptions
        pipe.send({"failed": reason(error)})
    pipe.send(None)


def silence() -> None:
    """What methods print or warn of is not ours to show."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    warnings.simplefilter("ignore")


def fit_all(data: Any, method: Any, seeds: list[int], pipe: Connection) -> None:
    """Every line of the method with every seed; what lines share is made once, and counts for each."""
    before, clock = peak_rss(), Clock()
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
                    "mib": round((peak_rss() - before) / 2**20, 1),
                    "last": line == list(method.lines)[-1],  # of this seed
                }
            )


class Clock:
    """Seconds on the wall and of this process since the last look."""

    def __init__(self) -> None:
        self.last = self.now()

    def now(self) -> np.ndarray:
        return np.array([time.perf_counter(), time.process_time()])

    def lap(self) -> np.ndarray:
        before, self.last = self.last, self.now()
        return self.last - before


def peak_rss() -> int:
    """Most bytes in memory so far. getrusage may count those of the parent in; Linux's own file does not."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM"))
    except (OSError, StopIteration):
        import resource

        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def reason(error: BaseException) -> str:
    """The error in a few words."""
    text = " ".join(str(error).split())
    short = text if len(text) <= 100 else f"{text[:97]}..."
    return f"{type(error).__name__}: {short}" if short else type(error).__name__
