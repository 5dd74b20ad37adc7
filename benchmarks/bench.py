"""``python -m benchmarks.bench``: how fast it is on this machine, beside scikit-learn and wherever the data lies."""

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

FEW, MANY = 2, 12  # rounds: what many take longer than few is theirs alone, as set-up cancels out
LEAST = 20  # rows a cluster: nobody starts with none
APART = 0.4  # how far centres spread, where rows spread by 1: so little that nobody is done within a few rounds
THEIRS = "scikit-learn "
COPIES = 5  # of the data that there are at once, with those that scikit-learn makes
WORDS = """
A ratio below 1 is faster than scikit-learn, which gets the columns of both views side by side; its range is over the
turns. A round of ours does more: what one view finds is handed to the other, and the costs and the agreement of the
views go into a history. The file is in the system's cache: what is timed is reading in blocks, not the disk. The last
column says how many labels are those of the run in memory."""

Fit = Callable[[int], Any]  # from a number of rounds to a fitted model
# who does the same, by name: scikit-learn's, ours in memory, ours elsewhere; the first is the measure
Group = dict[str, Fit]


def bench(options: argparse.Namespace, terminal: Terminal) -> None:
    """Everybody in turns, and one table."""
    check(options)
    terminal.outcome = "no turn was whole yet"
    warn_if_busy(terminal)
    with TemporaryDirectory(prefix="consilience-bench-") as folder:
        with terminal.step("making the data", "made the data"):
            blocks, start = make(options.rows, options.columns, options.k)
            groups = contestants(places(blocks, Path(folder), terminal), np.hstack(blocks), start)
        same = warm_up(groups, terminal)
        seconds: list[dict[str, float]] = []
        try:
            for turn in turns(groups, options.repeats, terminal):
                seconds.append(turn)
        except KeyboardInterrupt:
            if seconds:
                terminal.outcome = f"the table is of {count_noun(len(seconds), 'turn')}"
                show(groups, seconds, same, options, terminal)
            raise
    show(groups, seconds, same, options, terminal)


def check(options: argparse.Namespace) -> None:
    """Refuse what cannot be timed or does not fit, before anything is made."""
    rows, columns, k = options.rows, options.columns, options.k
    if k < 2:
        raise ValueError(f"-k {k} leaves nothing to find: take 2 clusters or more")
    if rows < LEAST * k:
        raise ValueError(f"--rows {rows} are too few for -k {k}: take {LEAST * k:,} or more, {LEAST} a cluster")
    data, posteriors = 2 * 4 * rows * columns, 2 * 8 * rows * k
    rooms = {
        "of memory": (COPIES * data + 3 * posteriors, available_memory()),
        f"in {gettempdir()}": (data, shutil.disk_usage(gettempdir()).free),
    }
    for where, (wanted, free) in rooms.items():
        if free is not None and wanted > free:
            raise MemoryError(
                f"{rows:,} rows of two views of {count_noun(columns, 'column')} want "
                f"{wanted / 2**30:,.1f} GiB {where}, "
                f"but {free / 2**30:,.1f} are free: take fewer --rows"
            )


def warn_if_busy(terminal: Terminal) -> None:
    """Say so where others work on the same cores."""
    load, cores = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0, available_threads()
    if load > cores / 2:
        terminal.note(
            f"Others are at work on this machine (load {load:.1f}, {count_noun(cores, 'thread')}): ratios say "
            "little. scikit-learn's mixtures suffer most: look at their line with 1 thread, too."
        )


def make(n: int, n_columns: int, k: int) -> tuple[list[np.ndarray], np.ndarray]:
    """Two Gaussian views of the same clusters, in float32, and labels to start from, half of them right."""
    rng = np.random.default_rng(0)
    clusters = rng.integers(k, size=n)
    blocks = []
    for _ in range(2):
        X = rng.standard_normal((n, n_columns), dtype=np.float32)
        X += APART * rng.standard_normal((k, n_columns), dtype=np.float32)[clusters]
        blocks.append(X)
    return blocks, np.where(rng.random(n) < 0.5, clusters, rng.integers(k, size=n))


def places(blocks: list[np.ndarray], folder: Path, terminal: Terminal) -> dict[str, Views]:
    """The same data wherever it can lie here."""
    found = {"memory": Views(blocks), "file": Views([mapped(X, folder / f"{i}.npy") for i, X in enumerate(blocks)])}
    if dask := optional("dask.array", terminal):
        found["dask"] = Views([dask.from_array(X, chunks=("auto", -1), name=False) for X in blocks])
    if torch := optional("torch", terminal):
        if torch.cuda.is_available():
            with explain_out_of_memory("the data", "take fewer --rows"):
                found["GPU"] = Views([torch.asarray(X, device="cuda") for X in blocks])
        else:
            terminal.note("The GPU is left out: torch finds none.")
    return found


def mapped(X: np.ndarray, path: Path) -> np.ndarray:
    """The same rows in a file."""
    np.save(path, X)
    return np.load(path, mmap_mode="r")


def optional(module: str, terminal: Terminal) -> Any:
    """A package, if it is installed."""
    name = module.partition(".")[0]
    try:
        return import_module(module)
    except ImportError:
        terminal.note(f"{name} is left out, as it is not installed: pip install 'consilience[{name}]'")
        return None


def contestants(places: dict[str, Views], joined: np.ndarray, start: np.ndarray) -> list[Group]:
    """k-means, then mixtures, all from the same labels."""
    clusters = [joined[start == j] for j in range(start.max() + 1)]
    means = np.stack([own.mean(axis=0) for own in clusters])
    mixture = {
        "covariance_type": "diag",
        "weights_init": np.array([len(own) / len(joined) for own in clusters], dtype=joined.dtype),
        "means_init": means,
        "precisions_init": np.stack([1 / own.var(axis=0) for own in clusters]),
    }
    k, given = len(clusters), {"init": start, "patience": MANY + 1}
    co_em = {**given, "families": "gaussian", "eta": 0.5}  # at 1 views that know little make each other know less
    return [
        {
            THEIRS + "KMeans": partial(fit, KMeans, k, {"init": means, "n_init": 1}, joined),
            **{f"MultiViewKMeans, {o}": partial(fit, MultiViewKMeans, k, given, X) for o, X in places.items()},
        },
        {
            THEIRS + "GaussianMixture": partial(fit, GaussianMixture, k, mixture, joined),
            THEIRS + "GaussianMixture, 1 thread": partial(fit_alone, GaussianMixture, k, mixture, joined),
            **{f"CoEM, {o}": partial(fit, CoEM, k, co_em, X) for o, X in places.items()},
        },
    ]


def fit(kind: Any, k: int, settings: dict[str, Any], X: Any, rounds: int) -> Any:
    """A model after so many rounds."""
    return kind(k, tol=0, max_iter=rounds, **settings).fit(X)


def fit_alone(*arguments: Any) -> Any:
    """The same on one thread, which is faster where threads of a product wait for cores that others keep busy."""
    with use_threads(1):
        return fit(*arguments)


def warm_up(groups: list[Group], terminal: Terminal) -> dict[str, str]:
    """Let everybody run once, which compiles and fills caches; how many labels of ours are those found in memory."""
    same = {}
    for group in groups:
        known = None
        for name, work in group.items():
            with terminal.step(f"warming up: {name}", f"warmed up {name}"):
                _, model = timed(work, MANY)
            if name.startswith(THEIRS):
                continue
            if known is not None:
                share = np.floor(1e4 * np.mean(model.labels_ == known)) / 100  # 100 is all of them
                same[name] = f"{share:g}% the same"
            known = model.labels_ if known is None else known
    return same


def turns(groups: list[Group], n_turns: int, terminal: Terminal) -> Iterator[dict[str, float]]:
    """Seconds of a round by name, one contestant after the other: a busy machine slows all of them."""
    everybody = {name: work for group in groups for name, work in group.items()}
    for i in range(n_turns):
        turn = {}
        for name, work in everybody.items():
            with terminal.step(f"turn {i + 1} of {n_turns}: {name}", f"timed {name}"):
                timed(work, FEW)  # does not count: it finds the caches full of another's things
                (few, short), (many, long) = timed(work, FEW), timed(work, MANY)
            if short.n_iter_ == long.n_iter_:
                raise ValueError(f"{name} is done after {count_noun(long.n_iter_, 'round')}: take more --rows")
            turn[name] = (many - few) / (long.n_iter_ - short.n_iter_)
        yield turn


def timed(work: Fit, rounds: int) -> tuple[float, Any]:
    """Seconds that so many rounds take, and their model."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it stops early, as it was told to
        started = time.perf_counter()
        model = work(rounds)
        return time.perf_counter() - started, model


def show(
    groups: list[Group],
    seconds: list[dict[str, float]],
    same: dict[str, str],
    options: argparse.Namespace,
    terminal: Terminal,
) -> None:
    """The table, and how to read it."""
    rows = []
    for group in groups:
        theirs = np.array([turn[next(iter(group))] for turn in seconds])
        for name in group:
            own = np.array([turn[name] for turn in seconds])
            rows.append({"contestant": name, **measured(own, theirs), "labels": same.get(name, "")})
    head, *lines = repr(Table.from_rows(rows)).splitlines()
    lines.insert(len(groups[0]), "")
    terminal.print_result(
        f"{options.rows:,} rows, two views of {count_noun(options.columns, 'column')}, float32, {options.k} clusters, "
        f"{count_noun(available_threads(), 'thread')}, {count_noun(len(seconds), 'turn')}\n"
    )
    terminal.print_result("\n".join([head, *lines]), always=True)
    terminal.print_result(WORDS)


def measured(own: np.ndarray, theirs: np.ndarray) -> dict[str, str]:
    """What a table says about the seconds of a round, beside those of scikit-learn in the same turns."""
    if min(own.min(), theirs.min()) <= 0:  # less than what two fits differ by themselves
        return {"ms a round": f"{1e3 * np.median(own):.2f}", "ratio": "unclear", "range": "take more --rows"}
    ratios = own / theirs
    return {
        "ms a round": f"{1e3 * np.median(own):,.2f}",
        "ratio": f"{np.median(ratios):.3f}",
        "range": "" if (own == theirs).all() else f"{ratios.min():.3f} to {ratios.max():.3f}",
    }


def parser() -> argparse.ArgumentParser:
    """Define the arguments."""
    top = argparse.ArgumentParser(
        prog="python -m benchmarks.bench",
        description="Time consilience on this machine beside scikit-learn: in memory, from a file, with dask, and on a "
        "GPU if there is one.",
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
    sys.exit(main(parser=parser()))
