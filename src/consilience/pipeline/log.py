"""The log of a run: notes, finished steps and their seconds, also sent to the logger ``consilience``."""

from __future__ import annotations

import logging
import time
import warnings
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

logger = logging.getLogger("consilience")
logger.addHandler(logging.NullHandler())  # without a handler of the user, nothing is printed


class UsageError(ValueError):
    """Arguments that cannot be combined, which argparse cannot check."""


def count_noun(n: int, singular: str, plural: str | None = None) -> str:
    """Write a number and its noun: "1 view", "3 views"."""
    return f"{n:,} {singular if n == 1 else plural or f'{singular}s'}"


class RunLog:
    """Records notes and finished steps with their seconds, and logs them; prints nothing."""

    is_interactive = False  # whether progress is shown on a terminal

    def __init__(self) -> None:
        self.notes: list[str] = []
        self.finished_steps: list[str] = []
        self.seconds: dict[str, float] = {}  # of each step

    def note(self, text: str) -> None:
        """Record a note once."""
        if text not in self.notes:
            self.notes.append(text)
            logger.info("note: %s", text)

    @contextmanager
    def step(self, doing: str, done: str, shows_progress: bool = False, about: str = "") -> Iterator[None]:
        """Time a step of the work, and turn its warnings into notes.

        `about` is put before warnings that do not contain it. `shows_progress` tells that the step prints its progress
        if `is_interactive`.
        """
        started = time.perf_counter()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                with self.show_step(doing, shows_progress):
                    yield
            finally:
                for warning in caught:
                    if issubclass(warning.category, UserWarning):
                        text = str(warning.message)
                        self.note(text if about in text else f"{about}: {text}")
        self.seconds[doing] = round(time.perf_counter() - started, 3)
        self.finished_steps.append(done)
        logger.info("%s (%.1f s)", done, self.seconds[doing])

    def show_step(self, _doing: str, _shows_progress: bool) -> AbstractContextManager[None]:
        """Return a context in which the display shows the step; a log has no display."""
        return nullcontext()
