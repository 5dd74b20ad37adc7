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


def start() -> int:
    """Run the command with the arguments of this process and return the exit code."""
    exit_on_signals(STOPPED_EARLY, EXIT_STOPPED)
    open_missing_streams()
    from .cli import main

    try:
        code = main()
    finally:
        discard_unwritable_messages()
    exit_on_signals("", code)  # Python still runs exit handlers of other libraries
    return code


def exit_on_signals(message: str, code: int) -> None:
    """Make SIGINT and SIGTERM print `message` and end the process at once, unless they are ignored."""

    def leave(_number: int, _frame: FrameType | None) -> None:
        try:
            os.write(2, message.encode())
        finally:
            os._exit(code)

    for number in (signal.SIGINT, signal.SIGTERM):
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, leave)


def open_missing_streams() -> None:
    """Open the null device in place of closed standard streams.

    Otherwise a result file could get the number of a standard stream, and messages would be written into it. A closed
    standard output stays None, because results that cannot be written are an error.
    """
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # gets the lowest free number, which is this one
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
