"""Run units on all cores and store each as soon as it is finished."""

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
    """A finished unit: its scores, or the error."""

    unit: Unit
    scores: list[Score]
    seconds: float
    error: str


def run_units(units: Iterable[tuple[Paper, Unit]], cells: Cells, n_jobs: int | None = None) -> Iterator[Done]:
    """Run units in parallel, one core per unit, and yield each as soon as it is finished."""
    jobs = [delayed(_run_unit)(paper.study(unit.study).work, unit) for paper, unit in units]
    cores = min(n_jobs or cpu_count(), cpu_count(), max(1, len(jobs)))
    with parallel_config(backend="loky", n_jobs=cores, inner_max_num_threads=1), warnings.catch_warnings():
        warnings.filterwarnings(
            "ignore", message=".*tasks which were still being processed"
        )  # when the run is interrupted
        try:
            for done in Parallel(return_as="generator_unordered", batch_size=1)(jobs):
                if not done.error:
                    cells.keep(done.unit, done.scores, done.seconds)
                yield done
        except TerminatedWorkerError as error:
            raise MemoryError(
                f"one of {cores} workers was terminated, perhaps because memory ran out: finished cells are stored in "
                f"{cells.folder.parent}, and the same command continues from there; --jobs 1 needs less memory"
            ) from error


def _run_unit(function: Any, unit: Unit) -> Done:
    """Run a unit; an error ends this unit only."""
    started = time.perf_counter()
    settings: Mapping[str, Any] = {
        name: value for name, value in unit.settings.items() if name not in ("panel", "runs")
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # warnings about convergence and small clusters are expected
        try:
            scores = [
                Score(str(row), str(column), float(value)) for row, column, value in function(run=unit.run, **settings)
            ]
        except Exception as error:
            return Done(unit, [], time.perf_counter() - started, f"{type(error).__name__}: {error}")
    return Done(unit, scores, time.perf_counter() - started, "" if scores else "no scores were returned")
