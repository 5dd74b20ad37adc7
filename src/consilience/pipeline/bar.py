"""The bar that shows progress on a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from rich.console import Console
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from .log import RunningStep, format_progress, format_seconds

WIDTH = 24


def open_bar(steps: Sequence[RunningStep]) -> Live:
    """Return a context in which the terminal shows the progress of the steps that have started.

    Standard output may be a file, which the display must leave alone.
    """
    console, line = Console(stderr=True), partial(draw_progress, steps)
    return Live(get_renderable=line, console=console, transient=True, refresh_per_second=8, redirect_stdout=False)


def draw_progress(started: Sequence[RunningStep]) -> Table | Text:
    """Return a line with the current step, the share that is done, the time so far and the time left.

    The bar only pulses, without a share, while nothing is known about the rest of the work.
    """
    steps = tuple(started)  # which another thread may change
    if not steps:
        return Text()
    step, share = steps[0], steps[0].task.share
    left, detail = step.estimate_left(), step.task.describe()
    times = format_seconds(step.seconds) + ("" if left is None else f", about {format_seconds(left)} left")
    line = Table.grid(padding=(0, 1), expand=True)
    line.add_column(no_wrap=True, overflow="ellipsis", ratio=1)  # what a narrow terminal shortens
    for width in (WIDTH, 4, len(times)):
        line.add_column(no_wrap=True, width=width)
    line.add_row(
        Text(steps[-1].doing + (f": {detail}" if detail else "")),
        ProgressBar(total=1.0, completed=share, width=WIDTH, pulse=not share),
        Text(format_progress(share).rjust(4) if share else ""),
        Text(times),
    )
    return line
