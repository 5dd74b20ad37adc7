"""Check probabilities of clusters on labelled sets, without their classes, and print the reference temperatures.

``python -m benchmarks.reliability.probabilities`` clusters every set in the folder that CONSILIENCE_DATA names (see
benchmarks/modern/collection.py) with as many clusters as it has classes. Two fits to halves of the entities score the
half that they have not seen: one division calibrates the temperature, another tests it. It prints

- per set and method the calibrated temperature, and the expected calibration error (10 bins) and the negative
  log-likelihood of the labels of unseen entities with the reference temperature and with the calibrated one;
- per method the median of the calibrated temperatures, the reference in src/consilience/cluster.

The classes are not used.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import consilience as cs
from benchmarks.modern.collection import find_sets
from benchmarks.modern.sets import prepare
from consilience.methods.common.membership import (
    ClusterScores,
    compute_probabilities,
    find_temperature,
    measure_loss,
    score_halves,
)

N_BINS = 10
LEAST_PER_CLUSTER = 8  # entities per cluster of a set that is used
METHODS: dict[str, Callable[[int], Any]] = {
    "k-means": lambda k: cs.MultiViewKMeans(k, random_state=0, n_jobs=1),
    "spherical k-means": lambda k: cs.MultiViewSphericalKMeans(k, random_state=0, n_jobs=1),
    "co-trained spectral": lambda k: cs.CoTrainedSpectral(k, random_state=0, n_jobs=1),
    "kernel addition": lambda k: cs.baselines.KernelAddition(k, random_state=0, n_jobs=1),
    "co-regularized spectral": lambda k: cs.baselines.CoRegularizedSpectral(k, random_state=0, n_jobs=1),
    "consilience": lambda k: cs.Consilience(k, random_state=0, n_jobs=1),
}

Record = dict[str, Any]


def calibrate_case(name: str, method: str) -> Record:
    """Calibrate a method on a set with one division into halves, and test it with another."""
    warnings.simplefilter("ignore")
    views, classes = find_sets()[name]()
    data = prepare(views, np.unique(classes, return_inverse=True)[1])
    k = data.n_clusters
    started = time.perf_counter()
    model = METHODS[method](k).fit(data.weighed)
    fit_seconds = time.perf_counter() - started
    labels = np.asarray(model.labels_)
    started = time.perf_counter()
    scores, targets = score_halves(model, data.weighed, labels, k, 5_000, np.random.default_rng(0))
    calibrated = find_temperature(scores, targets, model._reference_temperature)
    seconds = time.perf_counter() - started
    scores, targets = score_halves(model, data.weighed, labels, k, 5_000, np.random.default_rng(1))
    return {
        "set": name,
        "method": method,
        "n": len(labels),
        "n_clusters": k,
        "temperature": calibrated,
        "repeated": float(np.mean(scores.argmax(axis=1) == targets)),
        "fit_seconds": fit_seconds,
        "calibrate_seconds": seconds,
        **measure(scores, targets, model._reference_temperature, "before"),
        **measure(scores, targets, calibrated, "after"),
    }


def measure(scores: np.ndarray, targets: np.ndarray, temperature: float, when: str) -> Record:
    """Return the expected calibration error and the mean negative log-likelihood."""
    cluster_scores = ClusterScores(scores, scores.argmax(axis=1), np.ones(len(scores), bool))
    probabilities = compute_probabilities(cluster_scores, temperature)
    return {
        f"error_{when}": measure_calibration_error(probabilities, targets),
        f"loss_{when}": measure_loss(scores, targets, temperature),
    }


def measure_calibration_error(probabilities: np.ndarray, targets: np.ndarray) -> float:
    """Return the mean difference of the largest probability and how often its cluster is right, over 10 bins."""
    largest, right = probabilities.max(axis=1), probabilities.argmax(axis=1) == targets
    bins = np.minimum((largest * N_BINS).astype(int), N_BINS - 1)
    return float(
        sum(
            np.mean(bins == number) * abs(largest[bins == number].mean() - right[bins == number].mean())
            for number in np.unique(bins)
        )
    )


def print_tables(records: list[Record]) -> None:
    """Print a line per set and method, and the medians."""
    print(
        "set              method                    k repeated temperature   error before  after   loss before  after"
    )
    for record in sorted(records, key=lambda record: (record["method"], record["set"])):
        print(
            f"{record['set']:16s} {record['method']:23s} {record['n_clusters']:3d} {record['repeated']:8.2f} "
            f"{record['temperature']:11.4f} {record['error_before']:14.3f} {record['error_after']:6.3f} "
            f"{record['loss_before']:13.2f} {record['loss_after']:6.2f}"
        )
    for method in METHODS:
        chosen = [record for record in records if record["method"] == method]
        if chosen:
            medians = {name: np.median([record[name] for record in chosen]) for name in chosen[0] if name not in TEXT}
            print(
                f"{method:23s} {len(chosen)} sets: median temperature {medians['temperature']:.4f}, calibration error "
                f"{medians['error_before']:.3f} before, {medians['error_after']:.3f} after, loss "
                f"{medians['loss_before']:.2f} before, {medians['loss_after']:.2f} after; a fit takes "
                f"{medians['fit_seconds']:.2f} s, calibration {medians['calibrate_seconds']:.2f} s"
            )


TEXT = ("set", "method")


def main() -> None:
    """Run the cases that the file of records lacks, and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=Path, default=Path("build/reliability/probabilities.jsonl"))
    parser.add_argument("--sets", nargs="*", help="names of sets (default: all)")
    parser.add_argument("--methods", nargs="*", choices=list(METHODS), default=list(METHODS))
    options = parser.parse_args()
    options.records.parent.mkdir(parents=True, exist_ok=True)
    lines = options.records.read_text().splitlines() if options.records.exists() else []
    records = [json.loads(line) for line in lines]
    done = {(record["set"], record["method"]) for record in records}
    for name, load in find_sets().items():
        classes = load()[1]
        too_few = len(classes) < LEAST_PER_CLUSTER * len(np.unique(classes))
        for method in options.methods:
            if too_few or (name, method) in done or (options.sets and name not in options.sets):
                continue
            try:
                records.append(calibrate_case(name, method))
            except ValueError as error:  # a half cannot be clustered on its own
                print(f"{name} {method}: {error}", flush=True)
                continue
            with options.records.open("a") as file:
                file.write(json.dumps(records[-1], default=float) + "\n")
    print_tables(records)


if __name__ == "__main__":
    main()
