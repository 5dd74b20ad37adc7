"""``consilience``: subcommands and their arguments. What a subcommand does is in a file of its own."""

from __future__ import annotations

import argparse
import errno
import shlex
import sys
import traceback
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress

from .methods import METHODS
from .say import Terminal, UsageError, check_standard_output, print_message, redirect_to_null
from .stopping import stop_on_signals

DONE, WRONG, USAGE, BUG, STOPPED = 0, 1, 2, 3, 130  # argparse exits with 2 as well
EPILOG = """exit codes: 0 done; 1 the data or the files are wrong (one sentence says how); 2 the arguments are wrong;
3 an error of our own (--debug shows where); 130 stopped by Ctrl-C. Nothing is ever left half-written."""


def main(
    arguments: Sequence[str] | None = None,
    set_exit_code: Callable[[int], None] = lambda _: None,
    top: argparse.ArgumentParser | None = None,
) -> int:
    """Run the command line and return its exit code; `top` is the parser of another program that works alike.

    `set_exit_code` is called with the exit code of a signal when the work starts, and with that of the command when it
    has ended: `stop_on_signals` restores the handlers that were there before, and these must not say that nothing was
    done.
    """
    given = list(sys.argv[1:] if arguments is None else arguments)
    top = build_parser() if top is None else top
    options = top.parse_args(given)
    options.command_line = f"{top.prog} {shlex.join(given)}"
    say = Terminal(options.quiet)
    try:
        with ExitStack() as handlers:
            code = _run_command(options, say, handlers, set_exit_code)
            set_exit_code(code)
    except KeyboardInterrupt as stop:  # a signal that arrived after the work
        set_exit_code(STOPPED)
        return _refuse(_describe_stop(stop, say), STOPPED, options.debug)
    return code


def _run_command(
    options: argparse.Namespace, say: Terminal, handlers: ExitStack, set_exit_code: Callable[[int], None]
) -> int:
    """Run the subcommand, print one sentence about an error, and return the exit code."""
    try:
        if not options.quiet:
            check_standard_output()
        command = options.load_command()  # imports numpy and others, while Ctrl-C still ends the process at once
        handlers.enter_context(stop_on_signals())
        set_exit_code(STOPPED)
        command(options, say)
        say.flush()
    except KeyboardInterrupt as stop:
        return _refuse(_describe_stop(stop, say), STOPPED, options.debug)
    except BrokenPipeError:
        redirect_to_null()
    except UsageError as error:
        return _refuse(str(error), USAGE, options.debug)
    except (ValueError, TypeError, ImportError, OSError, MemoryError) as error:
        return _refuse(_describe_error(error, say.left), WRONG, options.debug)
    except Exception as error:
        what = f"unexpected {type(error).__name__}: {error}. Run it again with --debug to see where"
        return _refuse(what, BUG, options.debug)
    return DONE


def _describe_stop(stop: KeyboardInterrupt, say: Terminal) -> str:
    """Say which steps had ended and what was written when the signal arrived."""
    steps = f"after it had {' and '.join(say.done[-2:])}" if say.done else "before anything was done"
    return f"stopped {steps}: {getattr(stop, '__notes__', [say.left])[-1]}"


def _refuse(sentence: str, code: int, debug: bool) -> int:
    """Print a sentence to standard error, if that can be written, and return the exit code."""
    if debug:
        with suppress(OSError):
            traceback.print_exc()
    print_message(f"consilience: {sentence}")
    return code


def _describe_error(error: Exception, left: str) -> str:
    """What went wrong, for a person."""
    if isinstance(error, MemoryError):
        return str(error) or "memory ran out: take fewer entities, or another --method"
    if isinstance(error, OSError) and error.errno == errno.ENOSPC:
        return f"the disk is full: {left}"
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    if isinstance(error, FileExistsError):
        from ..files.write import OVERWRITE_REMEDY

        return str(error).replace(OVERWRITE_REMEDY, "choose another name; --force writes over it")
    return str(error)


def build_parser() -> argparse.ArgumentParser:
    """All arguments."""
    top = argparse.ArgumentParser(
        prog="consilience",
        description="Find the groups in data that is described in several ways at once.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = top.add_subparsers(metavar="COMMAND", required=True)
    _cluster(commands)
    _compare(commands)
    _predict(commands)
    _report(commands)
    _datasets(commands)
    return top


def _command(commands: argparse._SubParsersAction, name: str, what: str, examples: str) -> argparse.ArgumentParser:
    """A subcommand, which imports what it needs when it runs."""
    subparser = commands.add_parser(
        name,
        help=what,
        description=f"{what[0].upper()}{what[1:]}.",
        epilog=f"examples:\n{examples}\n\n{EPILOG}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )

    def load_command() -> Callable[[argparse.Namespace, Terminal], None]:
        from importlib import import_module

        return getattr(import_module(f".{name}", __package__), f"run_{name}")

    add_common_options(subparser, load_command)
    return subparser


def add_common_options(
    parser: argparse.ArgumentParser, load_command: Callable[[], Callable[[argparse.Namespace, Terminal], None]]
) -> None:
    """Add what every command has, and the function that imports it."""
    parser.set_defaults(load_command=load_command)
    parser.add_argument("--quiet", action="store_true", help="print nothing but errors")
    parser.add_argument("--debug", action="store_true", help="show where an error comes from")


def _files(subparser: argparse.ArgumentParser, required: bool = True, kinds: bool = True) -> None:
    """The arguments that name the data."""
    subparser.add_argument(
        "--view",
        action="append",
        default=None if required else [],
        required=required,
        metavar="NAME=FILE[:COLUMNS]",
        help="a view, as often as there are views: CSV, TSV, Parquet, JSONL, NPY, NPZ, Matrix Market, SVMlight, H5AD "
        "or H5MU. Columns of a table are named after a colon, with commas between, or by a pattern such as pixel_*",
    )
    if kinds:
        subparser.add_argument(
            "--kind",
            action="append",
            default=[],
            metavar="NAME=KIND",
            help="what a view is, if it is not found rightly: numbers, counts, text, names (short strings, compared by "
            "their letters), categories, links (an edge list) or similarities",
        )
    subparser.add_argument(
        "--id", metavar="COLUMN", help="column that names the entities and joins the views (default: id)"
    )
    subparser.add_argument("--delimiter", metavar="CHARACTER", help="of the tables, if it is not found rightly")


def _work(subparser: argparse.ArgumentParser) -> None:
    """The arguments that say what to do with the data."""
    subparser.add_argument(
        "-k",
        type=_number,
        default="auto",
        metavar="N",
        help="number of clusters; auto (the default): the number with the most support; small-groups: duplicates and "
        "other groups of a few entities",
    )
    subparser.add_argument("--seed", type=_whole, default=0, help="of everything random (default: %(default)s)")
    subparser.add_argument(
        "--labels",
        metavar="COLUMN",
        help="known classes, for scoring only: a column of a file that is given, or FILE, or FILE:COLUMN",
    )


def _number(text: str) -> str:
    if text not in ("auto", "small-groups") and (not text.isdecimal() or int(text) < 1):
        raise argparse.ArgumentTypeError(f"{text!r} must be a number of clusters, auto or small-groups")
    return text


def _whole(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number, 0 or more")
    return int(text)


def _outliers(text: str) -> float | str:
    """Return a share between 0 and 0.5, or auto."""
    if text == "auto":
        return text
    try:
        share = float(text)
    except ValueError:
        share = 0.0
    if not 0 < share < 0.5:
        raise argparse.ArgumentTypeError(f"{text!r} is neither a share between 0 and 0.5 nor auto")
    return share


def path_argument(text: str) -> str:
    """Refuse an empty path, which would be the current folder."""
    if not text:
        raise argparse.ArgumentTypeError("the path is empty: name a file or a folder")
    return text


def _seen(subparser: argparse.ArgumentParser, default: str | None, what: str) -> None:
    subparser.add_argument("--out", type=path_argument, default=default, metavar="PATH", help=what)
    subparser.add_argument("--force", action="store_true", help="write over what is there")


def _cluster(commands: argparse._SubParsersAction) -> None:
    subparser = _command(
        commands,
        "cluster",
        "cluster files that describe the same things, and write labels, a model and a report",
        "  consilience cluster --view text=papers.csv:abstract --view links=citations.csv --id paper -k 7\n"
        "  consilience cluster --view clinic=clinic.csv --view genes=genes.parquet --id patient --out run1\n"
        "  consilience cluster --view a=all.csv:a_* --view b=all.csv:b_* --labels class --method co-em\n"
        "  consilience cluster --view cells.h5mu --labels cell_type -k 9\n"
        "  consilience cluster --view text=text.npz --view same=similarity.npy --kind same=similarities -k 5",
    )
    _files(subparser)
    _work(subparser)
    titles = "; ".join(f"{name}: {method.title}" for name, method in METHODS.items())
    subparser.add_argument(
        "--method", choices=["auto", *METHODS], default="auto", help=f"{titles} (default: auto, which is consilience)"
    )
    subparser.add_argument(
        "--constraints",
        metavar="FILE",
        help="table of two ids, must or cannot, and perhaps a weight (methods consilience, constrained)",
    )
    subparser.add_argument(
        "--outliers",
        type=_outliers,
        metavar="SHARE",
        help="share of the entities that fit no cluster and get -1, or auto (default: every entity gets a cluster)",
    )
    subparser.add_argument(
        "--no-assess",
        dest="assess",
        action="store_false",
        help="do not assess how far the clusters can be relied on, which takes about as long as the fit",
    )
    subparser.add_argument("--title", help="of the report")
    _seen(
        subparser,
        "consilience-out",
        "folder for labels.csv, summary.json, model.zip, report.html (default: %(default)s)",
    )


def _compare(commands: argparse._SubParsersAction) -> None:
    subparser = _command(
        commands,
        "compare",
        "try all suitable methods and baselines: do several views help here, and which method?",
        "  consilience compare --view text=papers.csv:abstract --view links=citations.csv --labels field -k 7",
    )
    _files(subparser)
    _work(subparser)
    subparser.add_argument(
        "--refits", type=_whole, default=5, help="fits on samples that judge stability (default: %(default)s)"
    )
    subparser.add_argument(
        "--assess",
        action="store_true",
        help="say of each result how far it can be relied on, which takes further fits of each method",
    )
    subparser.set_defaults(method="auto", constraints=None)
    _seen(subparser, None, "file for the table and its words as JSON")


def _predict(commands: argparse._SubParsersAction) -> None:
    subparser = _command(
        commands,
        "predict",
        "give new entities to the clusters of a model",
        "  consilience predict consilience-out/model.zip --view text=new.csv:abstract > labels.csv",
    )
    subparser.add_argument("model", metavar="MODEL", help="model.zip, or the folder that it lies in")
    _files(subparser, kinds=False)
    _seen(subparser, None, "file for the labels (default: standard output)")


def _report(commands: argparse._SubParsersAction) -> None:
    subparser = _command(
        commands,
        "report",
        "draw the report of a run again, without fitting again",
        "  consilience report consilience-out --labels class --force",
    )
    subparser.add_argument("folder", metavar="FOLDER", help="that `consilience cluster` has written")
    _files(subparser, required=False)
    subparser.add_argument("--labels", metavar="COLUMN", help="known classes, if they have become known")
    subparser.add_argument("--title", help="of the report")
    _seen(subparser, None, "file for the report (default: report.html in the folder)")


def _datasets(commands: argparse._SubParsersAction) -> None:
    subparser = _command(
        commands,
        "datasets",
        "list the data sets that ship or can be fetched, or write one out as ordinary files",
        "  consilience datasets\n"
        "  consilience datasets word-senses --out senses\n"
        "  CONSILIENCE_DATA=folder consilience datasets cora --out cora",
    )
    subparser.add_argument(
        "name", nargs="?", type=_data_set, metavar="NAME", help="which to write out: one of those listed"
    )
    _seen(subparser, None, "folder to write to (default: its name)")


def _data_set(text: str) -> str:
    """Return the name of a data set that can be written out, or refuse it."""
    from ..datasets import FETCHERS

    names = ["word-senses", *FETCHERS]
    if text not in names:
        raise argparse.ArgumentTypeError(f"invalid choice: {text!r} (choose from {', '.join(map(repr, names))})")
    return text


def positive_integer(text: str) -> int:
    """Parse a whole number from 1 on."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number, 1 or more")
    return int(text)
