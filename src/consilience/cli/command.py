"""The ``consilience`` command: parse the arguments, run the subcommand, and report errors in one sentence."""

from __future__ import annotations

import argparse
import errno
import shlex
import sys
import traceback
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path

from ..pipeline.config import read_config
from .arguments import build_parser
from .stopping import stop_on_signals
from .terminal import Terminal, UsageError, check_standard_output, print_message, redirect_to_null

DONE, WRONG, USAGE, BUG, STOPPED = 0, 1, 2, 3, 130  # argparse exits with 2 as well


def main(
    arguments: Sequence[str] | None = None,
    set_exit_code: Callable[[int], None] = lambda _: None,
    parser: argparse.ArgumentParser | None = None,
) -> int:
    """Run the command line and return its exit code; another program can pass its own parser.

    Parameters
    ----------
    arguments : sequence of str, optional
        The arguments after the name of the program; by default those of this process.
    set_exit_code : callable, optional
        Called with the exit code for a signal when the work starts, and with that of the command when it has ended,
        so that a signal that arrives after the work does not report that nothing was done.
    parser : ArgumentParser, optional
        The parser of another program; by default that of ``consilience``.

    Returns
    -------
    int
        The exit code: 0 if the command succeeded.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from consilience.cli import main
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     exit_code = main(["datasets", "word-senses", "--out", f"{folder}/senses", "--quiet"])
    ...     exit_code, len(list(Path(folder, "senses").iterdir()))
    (0, 2)
    """
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    if parser is None:
        parser = build_parser()
        if arguments[:1] in ([], ["help"]):  # bare `consilience`, and `consilience help COMMAND`
            arguments = [*arguments[1:], "--help"]
    options = parser.parse_args(arguments)
    if getattr(options, "config", None) is not None:
        try:
            options = parser.parse_args([arguments[0], *read_config(Path(options.config)), *arguments[1:]])
            if not getattr(options, "view", ["of another program"]):
                raise ValueError(f"{options.config} (--config) names no files as view: add them after the command")
        except (ValueError, OSError) as error:
            return _report_error(_describe_error(error, ""), USAGE, options.debug)
    options.command_line = f"{parser.prog} {shlex.join(arguments)}"
    terminal = Terminal(options.quiet, options.json)
    try:
        with ExitStack() as handlers:
            code = _run_command(options, terminal, handlers, set_exit_code)
            set_exit_code(code)
    except KeyboardInterrupt as stop:  # a signal that arrived after the work
        set_exit_code(STOPPED)
        return _report_error(_describe_stop(stop, terminal), STOPPED, options.debug)
    return code


def _run_command(
    options: argparse.Namespace, terminal: Terminal, handlers: ExitStack, set_exit_code: Callable[[int], None]
) -> int:
    """Run the subcommand, print one sentence about an error, and return the exit code."""
    try:
        if not options.quiet or options.json:
            check_standard_output()
        command = options.load_command()  # imports numpy and others, while Ctrl-C still ends the process at once
        handlers.enter_context(stop_on_signals())
        set_exit_code(STOPPED)
        command(options, terminal)
        terminal.flush()
    except KeyboardInterrupt as stop:
        return _report_error(_describe_stop(stop, terminal), STOPPED, options.debug)
    except BrokenPipeError:
        redirect_to_null()
    except UsageError as error:
        return _report_error(str(error), USAGE, options.debug)
    except (ValueError, TypeError, ImportError, OSError, MemoryError) as error:
        return _report_error(_describe_error(error, terminal.outcome), WRONG, options.debug)
    except Exception as error:
        sentence = f"unexpected {type(error).__name__}: {error}. Run it again with --debug to see where"
        return _report_error(sentence, BUG, options.debug)
    return DONE


def _describe_stop(stop: KeyboardInterrupt, terminal: Terminal) -> str:
    """Say which steps had finished and what was written when the signal arrived."""
    steps = terminal.finished_steps[-2:]
    progress = f"after it had {' and '.join(steps)}" if steps else "before anything was done"
    return f"stopped {progress}: {getattr(stop, '__notes__', [terminal.outcome])[-1]}"


def _report_error(sentence: str, code: int, debug: bool) -> int:
    """Print a sentence to standard error, if that can be written, and return the exit code."""
    if debug:
        with suppress(OSError):
            traceback.print_exc()
    print_message(f"consilience: {sentence}")
    return code


def _describe_error(error: Exception, outcome: str) -> str:
    """Return one sentence about an error, with options of the command line in place of Python's."""
    match error:
        case MemoryError():
            return str(error) or "memory ran out: use fewer entities, or another --method"
        case OSError(errno=errno.ENOSPC):
            return f"the disk is full: {outcome}"
        case OSError(errno=errno.EFBIG):
            file = error.filename or "a file"
            return f"{file} grows beyond the largest size that is allowed (ulimit -f): {outcome}"
        case OSError() if error.strerror:
            return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
        case FileExistsError():
            from ..files.write import OVERWRITE_REMEDY

            return str(error).replace(OVERWRITE_REMEDY, "choose another name, or use --force to overwrite it")
    return str(error)
