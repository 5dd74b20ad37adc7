"""The log of a run: notes, finished steps and their seconds, also sent to the logger ``consilience``."""

from __future__ import annotations

import logging
import sys
import threading
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from .._progress import Task, open_task
from .._tuning import Tuning
from .wording import put_in_python_terms

tuning = Tuning(
    interval=30.0,  # seconds between two lines about the progress of a step
    polling=1.0,  # seconds between two looks at the progress
)
LEAST_GAIN = 0.05  # share of a step after which the time left is estimated
logger = logging.getLogger("consilience")
logger.addHandler(logging.NullHandler())  # without a handler of the user, nothing is printed


class UsageError(ValueError):
    """Arguments that cannot be combined, which argparse cannot check."""


def count_noun(n: int, singular: str, plural: str | None = None) -> str:
    """Write a number and its noun: "1 view", "3 views"."""
    return f"{n:,} {singular if n == 1 else plural or f'{singular}s'}"


class RunningStep:
    """A step of the work that has started."""

    def __init__(self, doing: str, task: Task) -> None:
        self.doing, self.task = doing, task
        self.started = time.perf_counter()
        self.first: tuple[float, float] | None = None  # seconds and share when progress was first observed

    @property
    def seconds(self) -> float:
        """Seconds since the start."""
        return time.perf_counter() - self.started

    def estimate_left(self) -> float | None:
        """Estimate the seconds until the end, if the rest goes on as fast as the work since the first progress.

        Work before that, such as compilation and preparation, is not repeated. Returns None if too little is done to
        tell. It must be called regularly, to observe the first progress.
        """
        share, seconds = self.task.share, self.seconds
        if self.first is None:
            self.first = (seconds, share) if share > 0 else None
            return None
        gain = share - self.first[1]
        if gain < LEAST_GAIN or share >= 1:
            return None
        return (seconds - self.first[0]) * (1 - share) / gain


class RunLog:
    """Records notes and finished steps with their seconds, and logs them.

    Parameters
    ----------
    verbose : bool, default=False
        Whether to show progress: a bar on a terminal, and otherwise a line per step on standard error.
    """

    def __init__(self, verbose: bool = False) -> None:
        self.verbose = verbose
        self.is_interactive = verbose and sys.stderr is not None and sys.stderr.isatty()  # whether there is a bar
        self.notes: list[str] = []
        self.finished_steps: list[str] = []
        self.seconds: dict[str, float] = {}  # of each step
        self.steps: list[RunningStep] = []  # that have started: a step, and steps within it

    def note(self, text: str) -> None:
        """Record a note once, in the terms of Python."""
        self._record_note(put_in_python_terms(text))

    def _record_note(self, text: str) -> None:
        if text not in self.notes:
            self.notes.append(text)
            logger.info("note: %s", text)
            if self.verbose:
                self.print_line(f"note: {text}")

    def print_line(self, text: str) -> None:
        """Print a note or a line of progress to standard error."""
        print(text, file=sys.stderr, flush=True)

    def report(self, text: str) -> None:
        """Log a line about the progress, and print it unless there is a bar."""
        logger.info("%s", text)
        if self.verbose and not self.is_interactive:
            self.print_line(text)

    def print_result(self, text: str = "") -> None:
        """Log a result, which a terminal prints."""
        logger.info("%s", text.strip("\n"))

    @contextmanager
    def step(self, doing: str, done: str, about: str = "") -> Iterator[None]:
        """Time a step of the work, show its progress, and turn its warnings into notes.

        `about` is put before warnings that do not contain it. Tasks within the step (see `consilience._progress`) tell
        how much of it is done. A step within another step is a part of its progress.
        """
        with warnings.catch_warnings(record=True) as caught, open_task() as task:
            warnings.simplefilter("always")
            step = RunningStep(doing, task)
            self.steps.append(step)
            try:
                if len(self.steps) > 1:
                    yield
                else:
                    with self.show_steps():
                        yield
            finally:
                self.steps.pop()
                for warning in caught:
                    if issubclass(warning.category, UserWarning):
                        text = str(warning.message)
                        self.note(text if about in text else f"{about}: {text}")
        self.seconds[doing] = round(step.seconds, 3)
        self.finished_steps.append(done)
        self.report(f"{done} ({format_seconds(step.seconds)})")

    @contextmanager
    def show_steps(self) -> Iterator[None]:
        """Show the progress of the steps that have started: by a bar, or by a line every half minute."""
        if self.is_interactive:
            from .bar import open_bar

            with open_bar(self.steps):
                yield
            return
        is_over = threading.Event()

        def report_regularly() -> None:
            reported = time.monotonic()
            while not is_over.wait(tuning.polling):
                line = self.describe_progress()
                if line and time.monotonic() - reported >= tuning.interval:
                    reported = time.monotonic()
                    self.report(line)

        threading.Thread(target=report_regularly, daemon=True).start()
        try:
            yield
        finally:
            is_over.set()

    def describe_progress(self) -> str:
        """Return a line about the current step: what is being done, the share done, and the time; or nothing."""
        steps = tuple(self.steps)  # which another thread may change
        if not steps:
            return ""
        step, left = steps[0], steps[0].estimate_left()
        share, detail = step.task.share, step.task.describe()
        words = [f"{steps[-1].doing}{detail and f' ({detail})'}: {format_seconds(step.seconds)} so far"]
        words += [f"{format_progress(share)} done"] if share else []
        words += [] if left is None else [f"about {format_seconds(left)} left"]
        return ", ".join(words)


def format_progress(share: float) -> str:
    """Write the share that is done, below 100% as long as the work goes on."""
    return f"{min(share, 0.99):.0%}"


def format_seconds(seconds: float) -> str:
    """Write a duration: "0.4 s", "12 s", "3 min", "2 h 5 min"."""
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    if seconds < 99.5:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"
