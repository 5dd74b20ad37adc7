"""``consilience``: subcommands and their arguments. What a subcommand does is in a file of its own."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from .cluster import DATA, METHODS, cluster


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; exit code 0, 1 after an error (one sentence), 2 for wrong arguments, 130 after Ctrl-C."""
    options = parser().parse_args(arguments)
    try:
        options.run(options)
    except (ValueError, TypeError, OSError) as error:
        print(f"consilience: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("consilience: interrupted", file=sys.stderr)
        return 130
    return 0


def parser() -> argparse.ArgumentParser:
    """All arguments."""
    top = argparse.ArgumentParser(
        prog="consilience", description="Find the groups in data that is described in several ways at once."
    )
    commands = top.add_subparsers(metavar="COMMAND", required=True)
    one = commands.add_parser(
        "cluster",
        help="cluster a data set and compare with single views and with concatenation",
        epilog="example: consilience cluster --data digits -k 10 --method spherical",
    )
    one.add_argument("--data", choices=sorted(DATA), default="digits", help="data that ships (default: %(default)s)")
    one.add_argument("-k", type=int, metavar="N", help="number of clusters (default: the number of true classes)")
    one.add_argument("--method", choices=sorted(METHODS), default="spherical", help="default: %(default)s")
    one.add_argument("--seed", type=int, default=0, help="of the random starts (default: %(default)s)")
    one.set_defaults(run=cluster)
    return top
