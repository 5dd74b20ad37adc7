"""Contestants timed side by side.

A busy machine slows everyone, but not all the time. So contestants take turns in one process (A B C A B C ...), after
a warm-up each, and what counts is the *ratio* to the baseline, the first contestant, taken within each turn: its median
says how many times as long a contestant takes, its quartiles how far to trust that. Each time it is a contestant's
turn, its first call is not timed.

Memory comes from one more run, untimed, under tracemalloc: the most that was allocated at once on top of what was
there before. numpy reports its arrays to tracemalloc; what C and Cython code takes from malloc by itself is not seen.
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

Read = Callable[[Any], Mapping[str, str]]


@dataclass(frozen=True)
class Contestant:
    """Something to time: the seconds of `run`, less those of `head` where there is one, over `n_rounds`."""

    name: str
    run: Callable[[], Any]
    head: Callable[[], Any] | None = None
    n_rounds: int = 1

    @classmethod
    def per_round(cls, name: str, run: Callable[[int], Any], few: int, many: int) -> Contestant:
        """Time one round of ``run(n_rounds)``: what many rounds take longer than few, so that set-up cancels out."""
        return cls(name, partial(run, many), partial(run, few), many - few)

    def seconds(self) -> float:
        (self.head or self.run)()  # not timed: the first call after another contestant finds the memory in disorder
        before = clock(self.head) if self.head else 0.0
        return (clock(self.run) - before) / self.n_rounds


def compare(contestants: Sequence[Contestant], repeats: int, read: Read = lambda _: {}) -> Table:
    """One row a contestant, the first being the baseline; `read` takes further columns from what its run returns."""
    found = [read(contestant.run()) for contestant in contestants]  # the warm-up: compiles, fills caches
    turns = np.array([[contestant.seconds() for contestant in contestants] for _ in range(repeats)])
    ratios = turns / turns[:, :1]
    return Table.from_rows(
        {
            "contestant": contestant.name,
            "seconds": f"{np.median(own):.3g}",
            "ratio": f"{np.median(ratio):.2f}",
            "quartiles": "{:.2f} to {:.2f}".format(*np.quantile(ratio, [0.25, 0.75])),
            "peak MiB": f"{peak_memory(contestant.run) / 2**20:.1f}",
            **columns,
        }
        for contestant, own, ratio, columns in zip(contestants, turns.T, ratios.T, found, strict=True)
    )


def growth(sizes: Sequence[int], work_on: Callable[[int], Callable[[], Any]], repeats: int) -> Table:
    """How time and memory of some work grow with its size: an exponent of 1 is twice as much for twice the size."""
    rows: list[dict[str, Any]] = []
    for n in sizes:
        work = work_on(n)
        work()
        seconds = float(np.median([clock(work) for _ in range(max(1, repeats if n < sizes[-1] else repeats // 3))]))
        memory = peak_memory(work) / 2**20
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


def clock(work: Callable[[], Any]) -> float:
    """Seconds that a call takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def peak_memory(work: Callable[[], Any]) -> int:
    """Most bytes that a call had allocated at one time."""
    gc.collect()
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
