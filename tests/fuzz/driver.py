"""Run cases in worker processes: a case that crashes or hangs is reported, and the others go on."""

from __future__ import annotations

import os
import signal
import sys
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from typing import Any

from .case import Case
from .sections import run_case

FAILED = "failed"
SINGLE_THREADED = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "POLARS_MAX_THREADS", "NUMBA_NUM_THREADS"), "1"
)


@dataclass
class Summary:
    """Outcomes of a section."""

    outcomes: Counter[str] = field(default_factory=Counter)
    failures: list[tuple[int, str]] = field(default_factory=list)

    def add(self, seed: int, outcome: str, message: str) -> None:
        self.outcomes[outcome] += 1
        if outcome == FAILED:
            self.failures.append((seed, message))


def outcome_of(case: Case) -> tuple[str, str]:
    """Run a case and return its outcome, with the first line of the error if it failed."""
    try:
        return run_case(case), ""
    except Exception as error:
        lines = traceback.format_exception_only(error)[0].strip().splitlines() or [type(error).__name__]
        return FAILED, lines[0].replace("tests.fuzz.case.", "")[:300]


def work(connection: Connection) -> None:
    """Run the cases that arrive, until None arrives."""
    os.setsid()  # the driver ends a hanging worker together with its child processes
    while (job := connection.recv()) is not None:
        section, seed = job
        connection.send((section, seed, *outcome_of(Case(section, seed))))


class Worker:
    """A process, the case it is running, and the time when it began."""

    def __init__(self) -> None:
        context = get_context("spawn")
        self.connection, other_end = context.Pipe()
        self.process = context.Process(target=work, args=(other_end,), daemon=True)
        self.process.start()
        other_end.close()
        self.job: tuple[str, int] | None = None
        self.deadline = float("inf")

    def start(self, job: tuple[str, int], limit: float) -> None:
        self.job, self.deadline = job, time.monotonic() + limit
        self.connection.send(job)

    def kill(self) -> None:
        """End the process and its children."""
        pid = self.process.pid
        if pid is not None and self.process.is_alive():
            try:
                os.killpg(pid, signal.SIGKILL)
            except ProcessLookupError:  # it has not become the leader of a group yet
                self.process.kill()
        self.process.join()
        self.connection.close()


def run_cases(jobs: list[tuple[str, int]], n_workers: int, limit: float) -> Iterator[tuple[str, int, str, str]]:
    """Yield (section, seed, outcome, message) of each case as it ends.

    A case that has not ended after `limit` seconds of wall time counts as hanging.
    """
    os.environ.update(SINGLE_THREADED)
    waiting, workers = iter(jobs), [Worker() for _ in range(min(n_workers, len(jobs)))]
    try:
        for worker in workers:
            assign(worker, waiting, limit)
        while any(worker.job for worker in workers):
            busy = [worker for worker in workers if worker.job]
            soonest = min(worker.deadline for worker in busy) - time.monotonic()
            ready: list[Any] = wait([worker.connection for worker in busy], timeout=max(soonest, 0.01))
            for worker in busy:
                result = None
                if worker.connection in ready:
                    try:
                        result = worker.connection.recv()
                    except (EOFError, ConnectionResetError):
                        worker.process.join(limit)
                        result = (*worker.job, FAILED, f"the process ended with exit code {worker.process.exitcode}")
                elif time.monotonic() > worker.deadline:
                    result = (*worker.job, FAILED, f"no end within {limit:g} s")
                if result is None:
                    continue
                yield result
                if result[3].startswith(("the process ended", "no end within")):
                    worker.kill()
                    replacement = Worker()
                    workers[workers.index(worker)] = worker = replacement
                assign(worker, waiting, limit)
    finally:
        for worker in workers:
            worker.kill()


def assign(worker: Worker, waiting: Iterator[tuple[str, int]], limit: float) -> None:
    """Give the worker the next case, if any is left."""
    worker.job = None
    job = next(waiting, None)
    if job is not None:
        worker.start(job, limit)


def summarize(jobs: list[tuple[str, int]], n_workers: int, limit: float) -> dict[str, Summary]:
    """Run all cases, show progress on standard error, and return the outcomes per section."""
    summaries: dict[str, Summary] = {section: Summary() for section, _ in jobs}
    started, shown = time.monotonic(), 0.0
    for done, (section, seed, outcome, message) in enumerate(run_cases(jobs, n_workers, limit), 1):
        summaries[section].add(seed, outcome, message)
        if outcome == FAILED:
            print(f"\rFAILED {section} --seed {seed}: {message}", file=sys.stderr)
        elapsed = time.monotonic() - started
        if elapsed > shown + 2 or done == len(jobs):
            shown = elapsed
            left = elapsed / done * (len(jobs) - done)
            n_failed = sum(len(summary.failures) for summary in summaries.values())
            text = f"{done:,} of {len(jobs):,} cases, {n_failed} failures, about {left:.0f} s left"
            print(f"\r{text:<70}", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return summaries
