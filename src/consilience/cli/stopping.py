"""Ctrl-C and SIGTERM while the command works: the first lets it clean up, a later one ends it at once."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType

SAME_REQUEST = 1.0  # seconds in which further signals belong to the first: `timeout` and shells often send two
STOPPED_AT_ONCE = "consilience: stopped at once: the next run removes what is left of this one\n"


class StopHandler:
    """Raise KeyboardInterrupt on the first signal; end the process when another arrives later.

    The first signal lets the command remove its temporary files. If that takes long, or if a library swallowed the
    exception, a second signal ends the process without waiting.
    """

    def __init__(self) -> None:
        self.first: float | None = None

    def __call__(self, _number: int, _frame: FrameType | None) -> None:
        now = time.monotonic()
        if self.first is None:
            self.first = now
            raise KeyboardInterrupt
        if now - self.first > SAME_REQUEST:
            with suppress(OSError):
                os.write(2, STOPPED_AT_ONCE.encode())
            os._exit(128 + signal.SIGINT)


@contextmanager
def stop_on_signals() -> Iterator[None]:
    """Stop the work in the block on SIGINT and SIGTERM, unless they are ignored."""
    handler, before = StopHandler(), {}
    try:
        for number in (signal.SIGINT, signal.SIGTERM):
            if signal.getsignal(number) not in (signal.SIG_IGN, None):
                before[number] = signal.signal(number, handler)
    except ValueError:  # only the main thread may set handlers, and only it receives signals
        pass
    try:
        yield
    finally:
        for number, previous in before.items():
            signal.signal(number, previous)
