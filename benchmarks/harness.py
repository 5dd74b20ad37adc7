"""Time contestants next to each other.

A busy machine slows all contestants, but not constantly. So contestants take turns in one process (A B C A B C ...)
after a warm-up, and the *ratio* to the baseline, the first contestant, is computed within each turn. Its median says
how many times as long a contestant takes, its quartiles how reliable that is. The first call in each turn is not timed.

Memory is measured in one more run by tracemalloc: the peak allocation on top of what was allocated before. numpy
reports its arrays to tracemalloc; memory that C and Cython code allocates itself is not counted.
"""

from __future__ import annotations

import gc
import time
import tracemalloc
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import log
from typing import Any

import numpy as np

from consilience import Table
from consilience.metrics import normalized_mutual_info_score

Read = Callable[[Any], Mapping[str, str]]


@dataclass(frozen=True)
class Contestant:
    """Code to time: the seconds of `run`, minus those of `head` if there is one, divided by `n_rounds`."""

    name: str
    run: Callable[[], Any]
    head: Callable[[], Any] | None = None
    n_rounds: int = 1

    @classmethod
    def per_round(cls, name: str, run: Callable[[int], Any], few: int, many: int) -> Contestant:
        """Time one round of ``run(n_rounds)`` by the difference of many and few rounds, which cancels the setup."""
        return cls(name, partial(run, many), partial(run, few), many - few)

    def seconds(self) -> float:
        (self.head or self.run)()  # not timed: the first call after another contestant is slower
        before = time_call(self.head) if self.head else 0.0
        return (time_call(self.run) - before) / self.n_rounds


def compare(contestants: Sequence[Contestant], repeats: int, read: Read = lambda _: {}) -> Table:
    """Return one row per contestant, with the first as baseline; `read` makes further columns from the results."""
    extra_columns = [read(contestant.run()) for contestant in contestants]  # warm-up: compiles and fills caches
    turns = np.array([[contestant.seconds() for contestant in contestants] for _ in range(repeats)])
    ratios = turns / turns[:, :1]
    return Table.from_rows(
        {
            "contestant": contestant.name,
            "seconds": f"{np.median(times):.3g}",
            "ratio": f"{np.median(ratio):.2f}",
            "quartiles": "{:.2f} to {:.2f}".format(*np.quantile(ratio, [0.25, 0.75])),
            "peak MiB": f"{measure_peak_memory(contestant.run) / 2**20:.1f}",
            **columns,
        }
        for contestant, times, ratio, columns in zip(contestants, turns.T, ratios.T, extra_columns, strict=True)
    )


def measure_growth(sizes: Sequence[int], work_on: Callable[[int], Callable[[], Any]], repeats: int) -> Table:
    """Measure how time and memory grow with the size; an exponent of 1 is linear growth."""
    rows: list[dict[str, Any]] = []
    for n in sizes:
        work = work_on(n)
        work()
        seconds = float(np.median([time_call(work) for _ in range(max(1, repeats if n < sizes[-1] else repeats // 3))]))
        memory = measure_peak_memory(work) / 2**20
        before = rows[-1] if rows else None
        step = log(n / before["n"]) if before else 1.0
        rows.append(
            {
                "n": n,
                "seconds": seconds,
                "time exponent": f"{log(seconds / before['seconds']) / step:.2f}" if before else "",
                "peak MiB": memory,
                "memory exponent": f"{log(memory / before['peak MiB']) / step:.2f}" if before else "",
            }
        )
    return Table.from_rows({**row, "n": f"{row['n']:,}"} for row in rows)


def time_call(work: Callable[[], Any]) -> float:
    """Return the seconds that a call takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def measure_peak_memory(work: Callable[[], Any]) -> int:
    """Return the peak number of bytes that a call allocates."""
    gc.collect()
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def read_nmi(y: np.ndarray, labels: np.ndarray) -> Mapping[str, str]:
    """Return the column with the normalized mutual information of labels and true classes."""
    return {"NMI": f"{normalized_mutual_info_score(y, labels):.3f}"}
