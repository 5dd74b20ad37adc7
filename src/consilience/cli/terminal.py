"""Output of the command: results on standard output, everything else on standard error."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, TextIO

from ..pipeline.log import RunLog, UsageError, count_noun
from .wording import put_in_command_terms

LONG_WORD = re.compile(r"\S{2000,}")

__all__ = [
    "Terminal", "UsageError", "check_standard_output", "count_noun", "make_encodable", "open_standard_output",
    "print_message", "redirect_to_null",
]  # fmt: skip


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
def open_standard_output() -> Iterator[TextIO]:
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


def make_encodable(text: str, stream: TextIO) -> str:
    """Escape control characters, which names in users' files may contain, and characters outside the encoding."""
    encoding = stream.encoding or "utf-8"
    safe = "".join(char if char == "\n" or char.isprintable() else f"\\x{ord(char):02x}" for char in text)
    return safe.encode(encoding, "replace").decode(encoding)


def shorten_words(text: str) -> str:
    """Leave out the middle of words of thousands of characters, such as damaged names of columns."""
    return LONG_WORD.sub(lambda word: f"{word[0][:100]}...{word[0][-20:]}", text)


def print_message(text: str) -> None:
    """Print to standard error; a message that cannot be written does not end the work."""
    if sys.stderr is None:
        return
    try:
        print(make_encodable(shorten_words(text), sys.stderr), file=sys.stderr, flush=True)
    except OSError:
        redirect_to_null(sys.stderr)


class Terminal(RunLog):
    """Prints results, notes and progress, and records notes and finished steps.

    With `json`, facts are printed as one JSON document, in place of results.
    """

    def __init__(self, quiet: bool = False, json: bool = False) -> None:
        super().__init__(verbose=not quiet)
        self.quiet, self.json = quiet, json
        self.outcome = "nothing was written"  # printed if the command is interrupted

    def print_result(self, text: str = "", always: bool = False) -> None:
        """Print a result; with `always` even if the command is quiet."""
        if self.json or (self.quiet and not always):
            return
        self._print(text)

    def print_json(self, facts: Any) -> None:
        """Print facts as a JSON document, if that is what to print."""
        if self.json:
            from ..pipeline.outputs import write_json_text

            self._print(write_json_text(facts, only_ascii=True))

    def _print(self, text: str) -> None:
        try:
            with open_standard_output() as stream:
                print(make_encodable(text, stream), file=stream)
        except BrokenPipeError:  # the reader has closed the pipe: the work goes on
            redirect_to_null()

    def flush(self) -> None:
        """Write buffered results to standard output."""
        if sys.stdout is not None:
            with open_standard_output():
                pass

    def note(self, text: str) -> None:
        """Record and print a note once, in the terms of the command line."""
        self._record_note(put_in_command_terms(text))

    def print_line(self, text: str) -> None:
        """Print a note or a line of progress to standard error, if that can be written."""
        print_message(text)
