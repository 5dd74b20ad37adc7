"""Time of an assessment beside the time of the fit.

``python -m benchmarks.reliability.cost`` prints the processor seconds of a fit and of `consilience.assess` without a
refit, one thread each, on three Gaussian views of 20 columns with 5 overlapping clusters. The fastest of several runs
counts.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from typing import Any

import consilience as cs

SIZES = (300, 3_000, 30_000)
N_CLUSTERS, COLUMNS, SEPARATION = 5, (20, 20, 20), 4.0
METHODS = {
    "Consilience": cs.Consilience,
    "MultiViewKMeans": cs.MultiViewKMeans,
    "CoTrainedSpectral": cs.CoTrainedSpectral,
}


def measure_seconds(call: Callable[[], Any], repeats: int) -> tuple[float, Any]:
    """Return the processor seconds of the fastest of several calls, and its result."""
    seconds = []
    for _ in range(repeats):
        started = time.process_time()
        result = call()
        seconds.append(time.process_time() - started)
    return min(seconds), result


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, help="numbers of entities")
    parser.add_argument("--repeats", type=int, default=3, help="runs of which the fastest counts")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    print("method             entities   fit, s   assess, s   share of a fit   verdict")
    for name, method in METHODS.items():
        for n in options.sizes:
            views, _ = cs.datasets.make_gaussian_views(
                n, n_features=COLUMNS, n_clusters=N_CLUSTERS, separation=SEPARATION, random_state=0
            )
            model = method(N_CLUSTERS, random_state=0, n_jobs=1)
            repeats = options.repeats if n <= SIZES[1] else 1
            fit_seconds, model = measure_seconds(lambda: model.fit(views), repeats)  # noqa: B023
            assess_seconds, assessment = measure_seconds(lambda: cs.assess(model, views), repeats)  # noqa: B023
            print(
                f"{name:18s} {n:8,d} {fit_seconds:8.2f} {assess_seconds:11.2f} {assess_seconds / fit_seconds:16.2f}   "
                f"{assessment.verdict}",
                flush=True,
            )


if __name__ == "__main__":
    main()
