"""The ``consilience`` command, also run by ``python -m consilience``.

Until the work starts, SIGINT and SIGTERM end the process at once, without a traceback. This module therefore imports
only the standard library before the handlers are in place.
"""

import os
import signal
import sys
from types import FrameType

STOPPED_EARLY = "consilience: stopped before anything was done: nothing was written\n"
EXIT_STOPPED = 130


class ExitHandler:
    """Handler of SIGINT and SIGTERM that prints a message and ends the process at once."""

    def __init__(self, message: str, code: int) -> None:
        self._response = message, code

    def __call__(self, _number: int, _frame: FrameType | None) -> None:
        message, code = self._response
        try:
            os.write(2, message.encode())
        finally:
            os._exit(code)

    def install(self) -> None:
        """Handle both signals, unless they are ignored."""
        for number in (signal.SIGINT, signal.SIGTERM):
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, self)

    def set_exit_code(self, code: int) -> None:
        """Use another exit code from now on, and print nothing."""
        self._response = "", code


def start() -> int:
    """Run the command with the arguments of this process and return the exit code."""
    handler = ExitHandler(STOPPED_EARLY, EXIT_STOPPED)
    handler.install()
    open_missing_streams()
    from .cli import main

    try:
        code = main(set_exit_code=handler.set_exit_code)
    finally:
        discard_unwritable_messages()
    handler.install()  # Python still runs exit handlers of other libraries
    return code


def open_missing_streams() -> None:
    """Open the null device in place of closed standard streams.

    Otherwise a result file could get the descriptor of a standard stream, and messages would be written into it. A
    closed standard output stays None, because results that cannot be written are an error.
    """
    for descriptor in (0, 1, 2):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # gets the lowest free descriptor, which is this one
    if sys.stderr is None:
        sys.stderr = os.fdopen(2, "w", encoding="utf-8", closefd=False)


def discard_unwritable_messages() -> None:
    """Send messages that standard error cannot take to the null device, where Python's last flush succeeds."""
    try:
        sys.stderr.flush()
    except OSError:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 2)
        os.close(null)


if __name__ == "__main__":
    sys.exit(start())
