"""What the command says: results on standard output, everything else on standard error."""

from __future__ import annotations

import os
import sys
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from typing import TextIO


class UsageError(ValueError):
    """Arguments that cannot be used together, which argparse cannot know."""


def printable(text: str) -> str:
    """Names come from users' files: nothing in them may steer the terminal."""
    return "".join(one if one == "\n" or one.isprintable() else f"\\x{ord(one):02x}" for one in text)


def count_noun(n: int, one: str, several: str | None = None) -> str:
    """A number and what it counts, in the right number."""
    return f"{n:,} {one if n == 1 else several or f'{one}s'}"


def redirect_to_null(stream: TextIO | None = None) -> None:
    """Redirect a stream, by default standard output, to the null device, so that Python's last flush does not fail."""
    with suppress(OSError, ValueError):  # a stream without a file descriptor
        descriptor = (stream or sys.stdout).fileno()
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, descriptor)
        os.close(null)


def check_standard_output() -> None:
    """Refuse a closed standard output before any work is done for it."""
    if sys.stdout is None:
        raise OSError("standard output is closed, so results cannot be printed: redirect it to a file or /dev/null")


@contextmanager
def standard_output() -> Iterator[TextIO]:
    """Give standard output for results, and raise a clear error if it cannot be written."""
    check_standard_output()
    try:
        yield sys.stdout
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        redirect_to_null()
        raise OSError(f"standard output cannot be written: {error.strerror or error}") from error


def encodable(text: str, stream: TextIO) -> str:
    """Replace what would steer the terminal and what the stream's encoding lacks."""
    encoding = stream.encoding or "utf-8"
    return printable(text).encode(encoding, "replace").decode(encoding)


def print_message(text: str) -> None:
    """Print to standard error; messages that cannot be written must not end the work."""
    if sys.stderr is None:
        return
    try:
        print(encodable(text, sys.stderr), file=sys.stderr, flush=True)
    except OSError:
        redirect_to_null(sys.stderr)


class Terminal:
    """Speaks, keeps notes for the summary, and remembers how far the work has come."""

    def __init__(self, quiet: bool = False) -> None:
        self.quiet = quiet
        self.live = sys.stderr is not None and sys.stderr.isatty() and not quiet
        self.notes: list[str] = []
        self.done: list[str] = []  # steps that are finished, for whoever interrupts
        self.seconds: dict[str, float] = {}
        self.left = "nothing was written"  # what stays, if it is interrupted

    def result(self, text: str = "", always: bool = False) -> None:
        """Something that was asked for; `always` what the command is for, also if it is to be quiet."""
        if self.quiet and not always:
            return
        try:
            with standard_output() as stream:
                print(encodable(text, stream), file=stream)
        except BrokenPipeError:  # the reader has seen enough: the work goes on
            redirect_to_null()

    def flush(self) -> None:
        """Bring results to standard output, if there are any."""
        if sys.stdout is not None:
            with standard_output():
                pass

    def note(self, text: str) -> None:
        """Something that the user should know, once; it goes into the summary, too."""
        if text not in self.notes:
            self.notes.append(text)
            if not self.quiet:
                print_message(f"note: {text}")

    def progress(self, text: str) -> None:
        """How far the work has come, where no bar can show it."""
        if not self.quiet:
            print_message(text)

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
