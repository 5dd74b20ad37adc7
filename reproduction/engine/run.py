"""Work units on all cores; what is finished is kept at once."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from joblib import Parallel, cpu_count, delayed, parallel_config
from joblib.externals.loky.process_executor import TerminatedWorkerError

from .cells import Cells
from .study import Paper, Score, Unit


class Done(NamedTuple):
    """A unit that was worked: its scores, or why there are none."""

    unit: Unit
    scores: list[Score]
    seconds: float
    error: str


def work(units: Iterable[tuple[Paper, Unit]], cells: Cells, n_jobs: int | None = None) -> Iterator[Done]:
    """Work units side by side, each on one core, and tell of each as it is finished."""
    jobs = [delayed(_one)(paper.study(unit.study).work, unit) for paper, unit in units]
    cores = min(n_jobs or cpu_count(), cpu_count(), max(1, len(jobs)))
    with parallel_config(backend="loky", n_jobs=cores, inner_max_num_threads=1), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*tasks which were still being processed")  # when it is stopped
        try:
            for done in Parallel(return_as="generator_unordered", batch_size=1)(jobs):
                if not done.error:
                    cells.keep(done.unit, done.scores, done.seconds)
                yield done
        except TerminatedWorkerError as error:
            raise MemoryError(
                f"one of {cores} workers was ended, perhaps for want of memory: finished cells are kept in "
                f"{cells.folder.parent}, and the same line goes on from there; --jobs 1 takes less"
            ) from error


def _one(function: Any, unit: Unit) -> Done:
    """One unit: an error in it ends it alone."""
    started = time.perf_counter()
    settings: Mapping[str, Any] = {
        name: value for name, value in unit.settings.items() if name not in ("panel", "runs")
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # not converged, near-empty clusters: the numbers speak for themselves
        try:
            scores = [
                Score(str(row), str(column), float(value)) for row, column, value in function(run=unit.run, **settings)
            ]
        except Exception as error:
            return Done(unit, [], time.perf_counter() - started, f"{type(error).__name__}: {error}")
    return Done(unit, scores, time.perf_counter() - started, "" if scores else "it gave no numbers")
