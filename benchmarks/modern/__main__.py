"""``python -m benchmarks.modern --out FOLDER``: run what is not yet there, then write the tables."""

from __future__ import annotations

import argparse
import csv
import json
import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from consilience import __version__

from .methods import METHODS
from .run import Limits, read, run
from .sets import SETS
from .tables import markdown

PACKAGES = (
    "numpy", "scipy", "scikit-learn", "numba", "mvlearn", "polyview", "imml", "snfpy", "muon", "mudata", "scanpy",
    "leidenalg", "igraph", "umap-learn", "pynndescent", "mvcluster", "tensorflow-cpu",
)  # fmt: skip
COLUMNS = ("method", "line", "set", "seed", "nmi", "ari", "n_found", "cpu", "mib", "failed")


def main() -> None:
    """Read the arguments, run, and write records.jsonl and .csv, versions.json and tables.md."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.modern", description=__doc__)
    parser.add_argument(
        "--out", type=Path, required=True, metavar="FOLDER", help="where results go, and are found again"
    )
    parser.add_argument(
        "--sets", nargs="+", default=list(SETS), choices=list(SETS), metavar="SET", help=", ".join(SETS)
    )
    names = ", ".join(METHODS)
    parser.add_argument(
        "--methods", nargs="+", default=list(METHODS), choices=list(METHODS), metavar="METHOD", help=names
    )
    parser.add_argument("--seeds", type=int, default=10, help="runs of each method with chance in it (default: 10)")
    parser.add_argument("--limit", type=float, default=300, help="seconds for one fit (default: 300)")
    parser.add_argument(
        "--budget", type=float, default=600, help="seconds a method and set, seeds together (default: 600)"
    )
    parser.add_argument("--tables-only", action="store_true", help="run nothing, write the tables of what is there")
    args = parser.parse_args()
    if not args.tables_only:
        args.out.mkdir(parents=True, exist_ok=True)
        (args.out / "versions.json").write_text(json.dumps(versions(), indent=1) + "\n")
        wanted = {name: load for name, load in SETS.items() if name in args.sets}
        run(
            args.out,
            wanted,
            args.methods,
            Limits(args.seeds, args.limit, args.budget),
            say=lambda text: print(text, flush=True),
        )
    records = read(args.out / "records.jsonl")
    (args.out / "tables.md").write_text("# All tables of the modern comparison\n\n" + markdown(records, list(SETS)))
    with (args.out / "records.csv").open("w", newline="") as file:
        table = csv.DictWriter(file, COLUMNS, extrasaction="ignore")
        table.writeheader()
        table.writerows(records)


def versions() -> dict[str, str]:
    """What ran, and on how many threads."""
    found = {"Python": platform.python_version(), "consilience": __version__}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed"
    threads = {name: os.environ.get(name, "not set") for name in ("OMP_NUM_THREADS", "NUMBA_NUM_THREADS")}
    return found | threads


if __name__ == "__main__":
    main()
