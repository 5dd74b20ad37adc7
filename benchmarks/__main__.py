"""``python -m benchmarks [suite ...] [--small] [--repeats N]``: print each table as soon as it is ready."""

from __future__ import annotations

import argparse
import platform
import time
import warnings
from importlib import import_module
from importlib.metadata import version

from sklearn.exceptions import ConvergenceWarning

from consilience.arrays.parallel import available_threads

# modules with a function run(small, repeats) that yields pairs of title and table
SUITES = (
    "imports",
    "kernels",
    "threads",
    "estimators",
    "coem",
    "agglomerative",
    "spectral",
    "neighbors",
    "convex",
    "constrained",
    "stream",
    "scale",
)
PEERS = ("peers", "spectral_peers", "constrained_peers")
LIBRARIES = ("numpy", "scipy", "scikit-learn", "numba")


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description="Time consilience next to other libraries."
    )
    names_of_suites = ", ".join(SUITES + PEERS)
    parser.add_argument(
        "suites", nargs="*", metavar="suite", help=f"{names_of_suites} (default: all but {', '.join(PEERS)})"
    )
    parser.add_argument("--small", action="store_true", help="use small data, to test that everything runs")
    parser.add_argument("--repeats", type=int, default=7, help="number of runs per contestant (default: 7)")
    args = parser.parse_args()
    names = args.suites or SUITES
    for name in names:
        if name not in SUITES + PEERS:
            parser.error(f"no suite {name!r}: choose from {names_of_suites}")

    warnings.simplefilter("ignore", ConvergenceWarning)  # contestants with a fixed number of rounds do not converge
    versions = ", ".join(f"{library} {version(library)}" for library in LIBRARIES)
    print(f"Python {platform.python_version()}, {versions}; {available_threads()} threads\n")
    started = time.perf_counter()
    for name in names:
        try:
            suite = import_module(f"{__package__}.{name}")
        except ModuleNotFoundError as missing:
            parser.error(f"{name}: {missing}. `make bench-peers` runs it in a suitable environment")
        for title, table in suite.run(small=args.small, repeats=args.repeats):
            print(f"{title}\n{table!r}\n", flush=True)
    print(f"{time.perf_counter() - started:.0f} seconds in all")


if __name__ == "__main__":
    main()
