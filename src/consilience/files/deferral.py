"""Postpone SIGINT and SIGTERM while temporary files are made, take their places, or are removed."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any


class SignalDeferral:
    """Postpone the Python handlers of SIGINT and SIGTERM within a ``with`` block.

    `lift` lets signals through again for a part of the block, and `hold` ends that part. Signals that arrived during
    the deferral are handled by `lift`, or at the end of the block. Only the main thread runs Python's signal handlers,
    so nothing is postponed in others. Signals with the default action are left alone: they end the process, as SIGKILL
    does.
    """

    def __init__(self) -> None:
        self._holding = True
        self._pending: list[tuple[int, FrameType | None]] = []
        self._handlers: dict[int, Callable[[int, FrameType | None], Any]] = {}

    def __enter__(self) -> SignalDeferral:
        if threading.current_thread() is threading.main_thread():
            try:
                for number in (signal.SIGINT, signal.SIGTERM):
                    handler = signal.getsignal(number)
                    if callable(handler):
                        self._handlers[number] = handler
                        signal.signal(number, self._handle)
            except BaseException:
                self._restore()
                raise
        return self

    def __exit__(self, *_exception: object) -> None:
        self.hold()
        self._restore()
        self.lift()

    def hold(self) -> None:
        """Postpone signals from now on."""
        self._holding = True

    def lift(self) -> None:
        """Handle the signals that arrived during the deferral, and let others through."""
        self._holding = False
        while self._pending:
            number, frame = self._pending.pop(0)
            self._handlers[number](number, frame)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if self._holding:
            self._pending.append((number, frame))
        else:
            self._handlers[number](number, frame)

    def _restore(self) -> None:
        """Put the handlers back, unless the block has set others."""
        try:
            for number, handler in self._handlers.items():
                if signal.getsignal(number) == self._handle:
                    signal.signal(number, handler)
        except BaseException:  # by a handler that is back already; the others pass signals on
            self._holding = False
            raise
