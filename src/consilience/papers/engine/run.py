"""Work units on all cores; what is finished is kept at once."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from joblib import Parallel, delayed, parallel_config

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
    with parallel_config(backend="loky", n_jobs=n_jobs or -1, inner_max_num_threads=1):
        jobs = (delayed(_one)(paper.study(unit.study).work, unit) for paper, unit in units)
        for done in Parallel(return_as="generator_unordered", batch_size=1)(jobs):
            if not done.error:
                cells.keep(done.unit, done.scores, done.seconds)
            yield done


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
    return Done(unit, scores, time.perf_counter() - started, "")
