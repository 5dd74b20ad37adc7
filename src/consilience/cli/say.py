"""What the command says: results on standard output, everything else on standard error."""

from __future__ import annotations

import os
import sys
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import TextIO


def printable(text: str) -> str:
    """Names come from users' files: nothing in them may steer the terminal."""
    return "".join(one if one == "\n" or one.isprintable() else f"\\x{ord(one):02x}" for one in text)


def counted(n: int, one: str, several: str | None = None) -> str:
    """A number and what it counts, in the right number."""
    return f"{n:,} {one if n == 1 else several or f'{one}s'}"


def nobody_reads(stream: TextIO | None = None) -> None:
    """Whoever was reading has seen enough: the work goes on without, and Python's last flush meets no closed pipe."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, (stream or sys.stdout).fileno())
    os.close(nowhere)


def _print(text: str, stream: TextIO) -> None:
    """Print what the stream can show, if anybody reads it."""
    known = stream.encoding or "utf-8"
    try:
        print(printable(text).encode(known, "replace").decode(known), file=stream, flush=True)
    except BrokenPipeError:
        nobody_reads(stream)


class Say:
    """Speaks, keeps notes for the summary, and remembers how far the work has come."""

    def __init__(self, quiet: bool = False) -> None:
        self.quiet = quiet
        self.live = sys.stderr.isatty() and not quiet
        self.notes: list[str] = []
        self.done: list[str] = []  # steps that are finished, for whoever interrupts
        self.seconds: dict[str, float] = {}
        self.left = "nothing was written"  # what stays, if it is interrupted

    def result(self, text: str = "", always: bool = False) -> None:
        """Something that was asked for; `always` what the command is for, also if it is to be quiet."""
        if self.quiet and not always:
            return
        _print(text, sys.stdout)

    def note(self, text: str) -> None:
        """Something that the user should know, once; it goes into the summary, too."""
        if text not in self.notes:
            self.notes.append(text)
            if not self.quiet:
                _print(f"note: {text}", sys.stderr)

    def progress(self, text: str) -> None:
        """How far the work has come, where no bar can show it."""
        if not self.quiet:
            _print(text, sys.stderr)

    @contextmanager
    def step(self, doing: str, done: str, speaks: bool = False, about: str = "") -> Iterator[None]:
        """A piece of work, with a sign of life on a terminal unless it `speaks` itself; its warnings become notes.

        `about` stands before those that do not say themselves what they speak of.
        """
        started = time.perf_counter()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                with nullcontext() if speaks else self._alive(doing):
                    yield
            finally:
                for one in caught:
                    if issubclass(one.category, UserWarning):
                        self.note(str(one.message) if about in str(one.message) else f"{about}: {one.message}")
        self.seconds[doing] = round(time.perf_counter() - started, 3)
        self.done.append(done)

    @contextmanager
    def _alive(self, doing: str) -> Iterator[None]:
        if not self.live:
            yield
            return
        from rich.console import Console
        from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

        columns = SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn()
        with Progress(*columns, console=Console(stderr=True), transient=True) as shown:
            shown.add_task(doing, total=None)
            yield
