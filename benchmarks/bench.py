"""Command ``python -m benchmarks.bench``: time consilience on this machine next to scikit-learn, for all storages."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir
from typing import Any

import numpy as np
from sklearn.cluster import KMeans
from sklearn.mixture import GaussianMixture

from consilience.arrays import available_memory, explain_out_of_memory, use_threads
from consilience.arrays.parallel import available_threads
from consilience.cli import main
from consilience.cli.arguments import EPILOG, add_common_options, parse_positive
from consilience.cli.terminal import Terminal, count_noun
from consilience.data import Table, Views
from consilience.methods import CoEM, MultiViewKMeans

FEW, MANY = 2, 12  # numbers of rounds; the difference of their times has no setup
MIN_ROWS_PER_CLUSTER = 20  # so that no cluster starts empty
CENTER_SPREAD = (
    0.4  # spread of the centers where rows have spread 1: so small that no method converges within MANY rounds
)
PEER_PREFIX = "scikit-learn "
N_COPIES = 5  # copies of the data in memory at the same time, including scikit-learn's
EXPLANATION = """
A ratio below 1 means faster than scikit-learn, which gets the concatenated columns of both views; the range is over the
repetitions. A round of consilience does more: it passes results from view to view and records costs and agreement. The
file is in the system's cache, so reading in blocks is timed, not the disk. The last column is the share of labels that
equal those of the run in memory."""

Fit = Callable[[int], Any]  # from a number of rounds to a fitted model
# contestants by name: scikit-learn, consilience in memory, other storages; the first is the baseline
Group = dict[str, Fit]


def bench(options: argparse.Namespace, terminal: Terminal) -> None:
    """Time all contestants in turns, and print one table."""
    check_options(options)
    terminal.outcome = "no repetition was finished"
    warn_if_busy(terminal)
    with TemporaryDirectory(prefix="consilience-bench-") as folder:
        with terminal.step("making the data", "made the data"):
            blocks, start = make_views_and_start(options.rows, options.columns, options.k)
            groups = make_contestants(place_views(blocks, Path(folder), terminal), np.hstack(blocks), start)
        same = warm_up(groups, terminal)
        seconds: list[dict[str, float]] = []
        try:
            for turn in time_turns(groups, options.repeats, terminal):
                seconds.append(turn)
        except KeyboardInterrupt:
            if seconds:
                terminal.outcome = f"the table shows {count_noun(len(seconds), 'repetition')}"
                print_times(groups, seconds, same, options, terminal)
            raise
    print_times(groups, seconds, same, options, terminal)


def check_options(options: argparse.Namespace) -> None:
    """Refuse sizes that cannot be timed or do not fit, before data is generated."""
    rows, columns, k = options.rows, options.columns, options.k
    if k < 2:
        raise ValueError(f"-k {k} is too small: use at least 2 clusters")
    if rows < (least := MIN_ROWS_PER_CLUSTER * k):
        raise ValueError(
            f"--rows {rows} is too small for -k {k}: use at least {least:,} ({MIN_ROWS_PER_CLUSTER} rows per cluster)"
        )
    data, posteriors = 2 * 4 * rows * columns, 2 * 8 * rows * k
    needs = {
        "of memory": (N_COPIES * data + 3 * posteriors, available_memory()),
        f"in {gettempdir()}": (data, shutil.disk_usage(gettempdir()).free),
    }
    for where, (wanted, free) in needs.items():
        if free is not None and wanted > free:
            raise MemoryError(
                f"{rows:,} rows of two views of {count_noun(columns, 'column')} need "
                f"{wanted / 2**30:,.1f} GiB {where}, but {free / 2**30:,.1f} GiB are free: use fewer --rows"
            )


def warn_if_busy(terminal: Terminal) -> None:
    """Print a note if other programs use the cores."""
    load, cores = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0, available_threads()
    if load > cores / 2:
        terminal.note(
            f"This machine is busy (load {load:.1f}, {count_noun(cores, 'thread')}), so the ratios are unreliable. "
            "scikit-learn's mixtures are slowed most: compare with their line for 1 thread."
        )


def make_views_and_start(n: int, n_columns: int, k: int) -> tuple[list[np.ndarray], np.ndarray]:
    """Generate two Gaussian views of the same clusters in float32, and initial labels of which half are right."""
    rng = np.random.default_rng(0)
    clusters = rng.integers(k, size=n)
    blocks = []
    for _ in range(2):
        X = rng.standard_normal((n, n_columns), dtype=np.float32)
        X += CENTER_SPREAD * rng.standard_normal((k, n_columns), dtype=np.float32)[clusters]
        blocks.append(X)
    return blocks, np.where(rng.random(n) < 0.5, clusters, rng.integers(k, size=n))


def place_views(blocks: list[np.ndarray], folder: Path, terminal: Terminal) -> dict[str, Views]:
    """Return the data in each storage that is available: memory, file, dask, GPU."""
    views_by_place = {
        "memory": Views(blocks),
        "file": Views([map_to_file(X, folder / f"{i}.npy") for i, X in enumerate(blocks)]),
    }
    if dask := import_optional("dask.array", terminal):
        views_by_place["dask"] = Views([dask.from_array(X, chunks=("auto", -1), name=False) for X in blocks])
    if torch := import_optional("torch", terminal):
        if torch.cuda.is_available():
            with explain_out_of_memory("the data", "use fewer --rows"):
                views_by_place["GPU"] = Views([torch.asarray(X, device="cuda") for X in blocks])
        else:
            terminal.note("The GPU is left out: torch does not find one.")
    return views_by_place


def map_to_file(X: np.ndarray, path: Path) -> np.ndarray:
    """Write rows to a file and map it into memory."""
    np.save(path, X)
    return np.load(path, mmap_mode="r")


def import_optional(module: str, terminal: Terminal) -> Any:
    """Import a module; print a note and return None if it is not installed."""
    name = module.partition(".")[0]
    try:
        return import_module(module)
    except ImportError:
        terminal.note(f"{name} is left out, as it is not installed: pip install 'consilience[{name}]'")
        return None


def make_contestants(places: dict[str, Views], joined: np.ndarray, start: np.ndarray) -> list[Group]:
    """Make the contestants: k-means, then mixtures, all with the same initial labels."""
    clusters = [joined[start == j] for j in range(start.max() + 1)]
    means = np.stack([rows.mean(axis=0) for rows in clusters])
    mixture = {
        "covariance_type": "diag",
        "weights_init": np.array([len(rows) / len(joined) for rows in clusters], dtype=joined.dtype),
        "means_init": means,
        "precisions_init": np.stack([1 / rows.var(axis=0) for rows in clusters]),
    }
    k, options = len(clusters), {"init": start, "patience": MANY + 1}
    co_em = {
        **options,
        "families": "gaussian",
        "eta": 0.5,
    }  # with 1, weakly separated views converge to uniform posteriors
    return [
        {
            PEER_PREFIX + "KMeans": partial(fit_rounds, KMeans, k, {"init": means, "n_init": 1}, joined),
            **{
                f"MultiViewKMeans, {name}": partial(fit_rounds, MultiViewKMeans, k, options, X)
                for name, X in places.items()
            },
        },
        {
            PEER_PREFIX + "GaussianMixture": partial(fit_rounds, GaussianMixture, k, mixture, joined),
            PEER_PREFIX + "GaussianMixture, 1 thread": partial(fit_on_one_thread, GaussianMixture, k, mixture, joined),
            **{f"CoEM, {name}": partial(fit_rounds, CoEM, k, co_em, X) for name, X in places.items()},
        },
    ]


def fit_rounds(kind: Any, k: int, settings: dict[str, Any], X: Any, rounds: int) -> Any:
    """Fit a model with a number of rounds."""
    return kind(k, tol=0, max_iter=rounds, **settings).fit(X)


def fit_on_one_thread(*arguments: Any) -> Any:
    """Fit on one thread, which is faster on a busy machine."""
    with use_threads(1):
        return fit_rounds(*arguments)


def warm_up(groups: list[Group], terminal: Terminal) -> dict[str, str]:
    """Run each contestant once to compile and fill caches; return how many labels equal those of the run in memory."""
    same = {}
    for group in groups:
        first_labels = None
        for name, work in group.items():
            with terminal.step(f"warming up: {name}", f"warmed up {name}"):
                _, model = time_fit(work, MANY)
            if name.startswith(PEER_PREFIX):
                continue
            if first_labels is not None:
                share = (
                    np.floor(1e4 * np.mean(model.labels_ == first_labels)) / 100
                )  # rounded down, so that 100 means all
                same[name] = f"{share:g}% the same"
            first_labels = model.labels_ if first_labels is None else first_labels
    return same


def time_turns(groups: list[Group], n_turns: int, terminal: Terminal) -> Iterator[dict[str, float]]:
    """Yield the seconds per round by contestant, in turns, so that a busy machine slows all of them."""
    all_fits = {name: work for group in groups for name, work in group.items()}
    for i in range(n_turns):
        turn = {}
        for name, work in all_fits.items():
            with terminal.step(f"repetition {i + 1} of {n_turns}: {name}", f"timed {name}"):
                time_fit(work, FEW)  # not timed: the caches hold data of the previous contestant
                (few, short), (many, long) = time_fit(work, FEW), time_fit(work, MANY)
            if short.n_iter_ == long.n_iter_:
                raise ValueError(f"{name} converges after {count_noun(long.n_iter_, 'round')}: use more --rows")
            turn[name] = (many - few) / (long.n_iter_ - short.n_iter_)
        yield turn


def time_fit(work: Fit, rounds: int) -> tuple[float, Any]:
    """Return the seconds that a number of rounds takes, and the model."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # models stop before convergence
        started = time.perf_counter()
        model = work(rounds)
        return time.perf_counter() - started, model


def print_times(
    groups: list[Group],
    seconds: list[dict[str, float]],
    same: dict[str, str],
    options: argparse.Namespace,
    terminal: Terminal,
) -> None:
    """Print the table and how to read it."""
    rows = []
    for group in groups:
        theirs = np.array([turn[next(iter(group))] for turn in seconds])
        for name in group:
            our_seconds = np.array([turn[name] for turn in seconds])
            rows.append({"contestant": name, **format_times(our_seconds, theirs), "labels": same.get(name, "")})
    head, *lines = repr(Table.from_rows(rows)).splitlines()
    lines.insert(len(groups[0]), "")
    terminal.print_result(
        f"{options.rows:,} rows, two views of {count_noun(options.columns, 'column')}, float32, {options.k} clusters, "
        f"{count_noun(available_threads(), 'thread')}, {count_noun(len(seconds), 'repetition')}\n"
    )
    terminal.print_result("\n".join([head, *lines]), always=True)
    terminal.print_result(EXPLANATION)


def format_times(seconds: np.ndarray, theirs: np.ndarray) -> dict[str, str]:
    """Format the seconds per round and their ratios to those of scikit-learn in the same repetitions."""
    if min(seconds.min(), theirs.min()) <= 0:  # shorter than the variation between two fits
        return {"ms per round": f"{1e3 * np.median(seconds):.2f}", "ratio": "unclear", "range": "use more --rows"}
    ratios = seconds / theirs
    return {
        "ms per round": f"{1e3 * np.median(seconds):,.2f}",
        "ratio": f"{np.median(ratios):.3f}",
        "range": "" if (seconds == theirs).all() else f"{ratios.min():.3f} to {ratios.max():.3f}",
    }


def make_parser() -> argparse.ArgumentParser:
    """Define the arguments."""
    top = argparse.ArgumentParser(
        prog="python -m benchmarks.bench",
        description="Time consilience on this machine next to scikit-learn: in memory, from a file, with dask, and on "
        "a GPU if there is one.",
        epilog="examples:\n  python -m benchmarks.bench\n"
        "  python -m benchmarks.bench --rows 1000000 --columns 16 -k 20 --repeats 5\n\n" + EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_common_options(top, lambda: bench)
    options = {
        "--rows": (100_000, "rows of the synthetic data"),
        "--columns": (32, "columns of each of the two views"),
        "-k": (10, "number of clusters"),
        "--repeats": (3, "timing repetitions"),
    }
    for name, (default, what) in options.items():
        top.add_argument(name, type=parse_positive, default=default, metavar="N", help=f"{what} (default: %(default)s)")
    return top


if __name__ == "__main__":
    sys.exit(main(parser=make_parser()))
