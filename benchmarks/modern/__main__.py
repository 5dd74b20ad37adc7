"""Command ``python -m benchmarks.modern --out FOLDER``: run the missing fits, then write the tables.

``--page`` renders docs/leaderboard.md, with ``--out`` from the results there, which it stores in docs/modern.
"""

from __future__ import annotations

import argparse
import json
import os
import pickle
import platform
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from consilience import __version__

from .collection import (
    REST,
    WHOLE,
    add_useless_views,
    choose_useless_cases,
    find_parts,
    find_sets,
    is_case,
    is_part,
    load_with_links,
)
from .leaderboard import COLUMNS, DOCS, render_tables_by_part, store_records, update_docs, write_table
from .methods import LEADERBOARD, METHODS
from .run import Limits, Record, read_records, run_comparison
from .sets import SETS
from .tables import render_summary

PACKAGES = (
    "numpy", "scipy", "scikit-learn", "numba", "mvlearn", "polyview", "imml", "snfpy", "muon", "mudata", "anndata",
    "scanpy", "leidenalg", "igraph", "umap-learn", "pynndescent", "mvcluster", "tensorflow-cpu", "polyclustx", "torch",
)  # fmt: skip


def main() -> None:
    """Read the arguments, run, and write records.jsonl and .csv, versions.json and tables.md."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.modern", description=__doc__)
    parser.add_argument(
        "--out", type=Path, metavar="FOLDER", help="folder of the results; stored results are not computed again"
    )
    parser.add_argument(
        "--collection", action="store_true", help="use the multi-view sets in the folder that CONSILIENCE_DATA names"
    )
    parser.add_argument(
        "--useless", action="store_true", help="use six of those sets with each kind of useless view added: 18 cases"
    )
    parser.add_argument(
        "--rest", action="store_true", help="use other entities of the large sets, named 'cora, rest' and so on"
    )
    parser.add_argument("--whole", action="store_true", help="use all entities of sampled sets, named 'cora, whole'")
    parser.add_argument(
        "--sets",
        nargs="+",
        metavar="SET",
        help=f"{', '.join(SETS)}; with --collection or --useless file names, or names such as 'mfeat + noise'",
    )
    names = ", ".join(METHODS)
    parser.add_argument(
        "--methods",
        nargs="+",
        choices=list(METHODS),
        metavar="METHOD",
        help=f"default: those of the leaderboard with data of CONSILIENCE_DATA, otherwise all: {names}",
    )
    parser.add_argument("--seeds", type=int, default=10, help="runs of each randomized method (default: 10)")
    parser.add_argument("--limit", type=float, default=300, help="seconds for one fit (default: 300)")
    parser.add_argument(
        "--budget", type=float, default=600, help="seconds per method and data set over all seeds (default: 600)"
    )
    parser.add_argument(
        "--against", metavar="METHOD", help="method that the summary compares the others with (default: the first)"
    )
    parser.add_argument(
        "--tables-only", action="store_true", help="run nothing, write the tables of the stored results"
    )
    parser.add_argument(
        "--page",
        action="store_true",
        help="render docs/leaderboard.md, after storing the results of --out in docs/modern",
    )
    args = parser.parse_args()
    if args.out is None:
        if not args.page:
            parser.error("give --out FOLDER, or --page to render the page again from the stored results")
        update_docs()
        return
    is_collection = args.collection or args.useless or args.rest or args.whole
    try:
        sets, chosen = find_available_sets(args) if is_collection else (SETS, list(SETS))
    except FileNotFoundError as error:
        parser.error(str(error))
    args.methods = args.methods or list(LEADERBOARD if is_collection else METHODS)
    if unknown := [name for name in args.sets or () if name not in sets]:
        parser.error(f"no such set: {', '.join(unknown)}; there are {', '.join(sets)}")
    lines = [line for name in args.methods for line in METHODS[name].lines]
    if args.against and args.against not in lines:
        parser.error(f"--against {args.against} is none of the methods {', '.join(lines)}")
    if not args.tables_only:
        args.out.mkdir(parents=True, exist_ok=True)
        (args.out / "versions.json").write_text(json.dumps(collect_versions(), indent=1) + "\n")
        wanted = {name: load for name, load in sets.items() if name in (args.sets or chosen)}
        run_comparison(
            args.out,
            wanted,
            args.methods,
            Limits(args.seeds, args.limit, args.budget),
            say=lambda text: print(text, flush=True),
        )
    records = read_records(args.out / "records.jsonl")
    text = "# All tables of the modern comparison\n\n"
    if is_collection:
        text += render_summaries(records, lines, args.sets or chosen, args.against)
        print(text)
    (args.out / "tables.md").write_text(text + render_tables_by_part(records, list(sets)))
    write_table(args.out / "records.csv", COLUMNS, records)
    if args.page:
        lines = [line for name in LEADERBOARD for line in METHODS[name].lines]
        names = [name for name in sets if not is_case(name) and any(record["set"] == name for record in records)]
        prepared = {name: pickle.loads((args.out / "prepared" / f"{name}.pickle").read_bytes()) for name in names}
        store_records(DOCS / "modern", records, prepared, [*lines, *LEADERBOARD])
        update_docs()


def find_available_sets(args: argparse.Namespace) -> tuple[dict[str, Callable[[], Any]], list[str]]:
    """Return the loaders of all sets by name, and the names of those that run unless others are chosen."""
    plain = find_sets(load=load_with_links)
    cases, rest, whole = add_useless_views(plain), find_parts(REST), find_parts(WHOLE)
    chosen = [
        *(list(plain) * args.collection),
        *(choose_useless_cases(cases) * args.useless),
        *(list(rest) * args.rest),
        *(list(whole) * args.whole),
    ]
    return {**plain, **cases, **rest, **whole}, chosen


def render_summaries(records: list[Record], lines: list[str], sets: list[str], against: str | None) -> str:
    """Summarize the original data sets, and separately those with a useless view."""
    parts = {
        "Summary": [name for name in sets if not is_case(name) and not is_part(name)],
        "Summary of other parts": [name for name in sets if is_part(name)],
        "Summary with a useless view": [name for name in sets if is_case(name)],
    }
    return "".join(
        f"## {title}\n\n{render_summary(records, lines, names, against)}\n" for title, names in parts.items() if names
    )


def collect_versions() -> dict[str, str]:
    """Collect the versions of packages and the numbers of threads."""
    packages = {"Python": platform.python_version(), "consilience": __version__}
    for package in PACKAGES:
        try:
            packages[package] = version(package)
        except PackageNotFoundError:
            packages[package] = "not installed"
    threads = {name: os.environ.get(name, "not set") for name in ("OMP_NUM_THREADS", "NUMBA_NUM_THREADS")}
    return packages | threads


if __name__ == "__main__":
    main()
