"""One model on data in different storages, and how its time grows with the rows.

Overheads: one round of co-EM on about a gigabyte of synthetic data (`make_big`: sparse counts, dense measurements) in
memory, mapped from files, as dask arrays on threads, and on a `LocalCluster` of two processes, whose workers read the
chunks from the files and keep them. A round is timed as (time of many rounds - time of few) / (many - few), in turns;
`range` is the range of the ratios within a turn. Files are in the cache of the operating system, so the cost of blocks
is measured, not the disk. `labels` is the share of labels that equal those of the run in memory.

Lost workers: the same fit on the workers, three times, with a worker killed during a round: its cost compared with the
median of the fits before and after, and whether the result is the same. Tasks: the number of tasks that the scheduler
keeps at the end of each round; if it grew, long fits would slow down.

Disk (Linux only): a fit in its own process, whose files are dropped from the cache before each pass, next to a plain
read of the same files; and the peak memory of the process, in the first line before the fit.

Landmarks: co-trained spectral clustering from files and from memory.

Growth: one round of co-EM and of k-means for growing numbers of rows. `exponent` is the slope of the logarithm of the
time from the line before: 1.00 is linear.
"""

from __future__ import annotations

import logging
import os
import re
import signal
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from functools import partial
from math import log
from multiprocessing import get_context
from pathlib import Path
from typing import Any
from unittest import mock

import dask
import dask.array as da
import numpy as np
import scipy.sparse as sp
from distributed import Client, LocalCluster, wait
from sklearn.exceptions import ConvergenceWarning

from consilience import CoEM, CoTrainedSpectral, MultiViewKMeans, Table, Views
from consilience.methods.coem import algorithm as coem
from consilience.rows import as_source, read_whole

from . import make_big
from .harness import time_call

N_CLUSTERS = 10
N_CHUNKS = 6
FEW, MANY = 1, 5  # rounds
LONG = 6  # rounds of the fits in which a worker is killed
READ = ("data.npy", "indices.npy", "dense.npy")  # files that each pass reads
Fit = Callable[[int], Any]  # from a number of rounds to a fitted model


def run(small: bool, repeats: int) -> Iterator[tuple[str, Table]]:
    turns = min(repeats, 1 if small else 3)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_big.write_views(folder, gb=0.02 if small else 1.0)
        mapped, y = make_big.load_views(folder)
        in_memory_views = Views({name: read_whole(name, as_source(block), None) for name, block in mapped.items()})
        size = f"{sum((folder / file).stat().st_size for file in READ) / 1e9:.2f} GB in two views"
        with start_workers() as client:
            settled = partial(place_on_workers, client, folder, in_memory_views, y)
            remote_fit = settled()
            fits = {
                "memory": partial(fit_co_em_rounds, in_memory_views, y),
                "memmap": partial(fit_co_em_rounds, mapped, y),
                "dask, threads": partial(
                    fit_co_em_rounds, Views({name: split_into_chunks(X) for name, X in in_memory_views.items()}), y
                ),
                "dask, LocalCluster": remote_fit,
            }
            yield f"one round of co-EM, {size}", time_overheads(fits, turns)
            yield f"a worker killed in a fit of {LONG} rounds, {size}", time_losses(client, settled)
            yield (
                f"tasks on the scheduler at the end of each of {LONG} rounds",
                count_tasks_by_round(client, remote_fit),
            )
        if sys.platform == "linux":
            yield f"a pass over files that are not in the cache, {size}", time_disk(folder)
        few = slice(0, 10_000 if small else 200_000)
        places = {"memory": in_memory_views[few], "memmap": mapped[few]}
        yield f"co-trained spectral clustering by landmarks, {few.stop:,} entities", time_landmarks(places, turns)
    sizes = (10_000, 100_000) if small else (100_000, 1_000_000, 10_000_000)
    yield "growth in rows: one round, two dense views of 8 columns, float32, 10 clusters", measure_row_growth(sizes)


@contextmanager
def start_workers() -> Iterator[Client]:
    """Start two worker processes without log messages about killed workers."""
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None, "silence_logs": logging.CRITICAL}
    with LocalCluster(**options) as cluster, Client(cluster, set_as_default=False) as client:
        yield client


def fit_co_em_rounds(views: Views, y: np.ndarray, n_rounds: int) -> Any:
    return CoEM(N_CLUSTERS, init=y, tol=0, patience=10_000, max_iter=n_rounds, eta=1.0).fit(views)


def place_on_workers(client: Client, folder: Path, stored: Views, y: np.ndarray) -> Fit:
    """Return a fit on chunks that the workers have read and share evenly, also after a worker was killed."""
    with client.as_current():
        remote = {name: read_chunks_from_files(folder, name, block).persist() for name, block in stored.items()}
        wait(list(remote.values()))
        return partial(fit_on_client, client, partial(fit_co_em_rounds, Views(remote), y))


def fit_on_client(client: Client, fit: Fit, n_rounds: int) -> Any:
    with client.as_current():
        return fit(n_rounds)


def split_into_chunks(block: Any) -> Any:
    """Turn a block in memory into a dask array in chunks of rows."""
    return make_dask_array(block, lambda start, stop: dask.delayed(block[start:stop]))


def read_chunks_from_files(folder: Path, name: str, block: Any) -> Any:
    """Return a dask array whose chunks are read from files by the worker that computes them."""
    return make_dask_array(block, lambda start, stop: dask.delayed(read_rows)(folder, name, start, stop))


def make_dask_array(block: Any, chunk: Callable[[int, int], Any]) -> Any:
    """Make a dask array with the shape and kind of a block from its chunks of rows."""
    n, d = block.shape
    meta = (sp.csr_array if sp.issparse(block) else np.empty)((0, d), dtype=block.dtype)
    step = -(-n // N_CHUNKS)
    edges = [(start, min(n, start + step)) for start in range(0, n, step)]
    parts = [da.from_delayed(chunk(i, j), (j - i, d), dtype=block.dtype, meta=meta) for i, j in edges]
    return da.concatenate(parts)


def read_rows(folder: Path, name: str, start: int, stop: int) -> Any:
    """Read rows of a view of `make_big`."""
    if name == "dense":
        return np.array(np.load(folder / "dense.npy", mmap_mode="r")[start:stop])
    data, indices, indptr = (np.load(folder / f"{part}.npy", mmap_mode="r") for part in ("data", "indices", "indptr"))
    ends = np.array(indptr[start : stop + 1])
    inside = slice(ends[0], ends[-1])
    parts = np.array(data[inside]), np.array(indices[inside]), ends - ends[0]
    return sp.csr_array(parts, shape=(stop - start, make_big.N_WORDS))


def time_overheads(fits: Mapping[str, Fit], turns: int) -> Table:
    """Time rounds from memory, disk, dask threads and workers."""
    labels = [fit(MANY).labels_ for fit in fits.values()]
    return tabulate_times({name: partial(time_per_round, fit) for name, fit in fits.items()}, labels, turns)


def time_per_round(fit: Fit) -> float:
    few, many = (time_call(partial(fit, n_rounds)) for n_rounds in (FEW, MANY))
    return (many - few) / (MANY - FEW)


def tabulate_times(timers: Mapping[str, Callable[[], float]], labels: list[np.ndarray], turns: int) -> Table:
    """Time contestants in turns; return ratios to the first, and how many labels equal those of the first."""
    seconds = np.array([[timer() for timer in timers.values()] for _ in range(turns)])
    ratios = seconds / seconds[:, :1]
    return Table.from_rows(
        {
            "contestant": name,
            "seconds": f"{np.median(times):.3g}",
            "ratio": f"{np.median(ratio):.2f}",
            "range": f"{ratio.min():.2f} to {ratio.max():.2f}",
            "labels": f"{np.mean(fit_labels == labels[0]):.1%} the same",
        }
        for name, times, ratio, fit_labels in zip(timers, seconds.T, ratios.T, labels, strict=True)
    )


def time_losses(client: Client, settled: Callable[[], Fit]) -> Table:
    """Time fits in which a worker is killed early, in the middle or late, and fits without losses."""
    before, usual = time_with_result(partial(settled(), LONG))
    killed = {}
    for at in (LONG // 3, LONG // 2, 2 * LONG // 3):
        fit = settled()
        with kill_worker_at(client, at):
            killed[at] = time_with_result(partial(fit, LONG))
        client.wait_for_workers(2)
    calm = [before, time_call(partial(settled(), LONG))]
    return Table.from_rows(
        {"killed": f"after round {at}", **describe_loss(seconds, calm), **describe_equality(usual, model)}
        for at, (seconds, model) in killed.items()
    )


def describe_loss(seconds: float, calm: list[float]) -> dict[str, str]:
    """Compare a fit with the median of undisturbed fits, which are shown so that noise can be judged."""
    usual = float(np.median(calm))
    return {
        "seconds": f"{seconds:.2f}",
        "undisturbed": " and ".join(f"{seconds_of_fit:.2f}" for seconds_of_fit in calm),
        "lost": f"{seconds - usual:+.2f}",
        "ratio": f"{seconds / usual:.2f}",
    }


def time_with_result(work: Callable[[], Any]) -> tuple[float, Any]:
    """Return the seconds that a call takes, and its result."""
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


def describe_equality(first: Any, second: Any) -> dict[str, str]:
    """Describe whether two models are equal, bit for bit."""
    labels, cost = np.array_equal(first.labels_, second.labels_), first.cost_ == second.cost_
    return {"labels": "equal" if labels else "DIFFER", "cost": "equal" if cost else "DIFFERS"}


@contextmanager
def kill_worker_at(client: Client, at: int) -> Iterator[None]:
    """Kill a worker in the middle of the round after round `at`, while it is busy."""
    victim = min(client.run(os.getpid).values())
    ends: list[float] = []
    timers: list[threading.Timer] = []

    def act(n_rounds: int) -> None:
        ends.append(time.perf_counter())
        if n_rounds == at:
            timers.append(threading.Timer((ends[-1] - ends[-2]) / 2, os.kill, (victim, signal.SIGKILL)))
            timers[0].start()

    with call_at_each_round(act):
        yield
    if not timers or timers[0].is_alive():
        raise RuntimeError("the fit ended before its worker was killed")


@contextmanager
def call_at_each_round(act: Callable[[int], Any]) -> Iterator[None]:
    """Call a function with the number of rounds at the end of each round of co-EM."""
    count, make_state = iter(range(1, sys.maxsize)), coem.make_state

    def watched(*arguments: Any, **options: Any) -> Any:
        act(next(count))
        return make_state(*arguments, **options)

    with mock.patch.object(coem, "make_state", watched):
        yield


def count_tasks_by_round(client: Client, fit: Fit) -> Table:
    """Count the tasks on the scheduler at the end of each round."""
    counts: list[int] = []
    with call_at_each_round(lambda _: counts.append(client.run_on_scheduler(count_tasks))):
        fit(LONG)
    return Table.from_rows([{"fewest": min(counts), "most": max(counts), "last less first": counts[-1] - counts[0]}])


def count_tasks(dask_scheduler: Any) -> int:
    return len(dask_scheduler.tasks)


def time_disk(folder: Path) -> Table:
    """Time a plain read and the passes of a fit in its own process, with the memory of that process."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as alone:
        plain, passes, memory = alone.submit(measure_cold_fit, folder).result()
    each = {"plain read": plain, "pass of co-EM": np.median(passes, axis=0)}
    return Table.from_rows(
        {"what": what, **describe_speed(*figures, plain), **used}
        for (what, figures), used in zip(each.items(), memory, strict=True)
    )


def describe_speed(n_bytes: float, seconds: float, plain: tuple[float, float]) -> dict[str, str]:
    """Describe the bytes read from disk, per second and relative to the plain read."""
    rate = n_bytes / seconds / 1e9
    share = rate / (plain[0] / plain[1] / 1e9) if plain[0] else float("nan")
    return {
        "GB from disk": f"{n_bytes / 1e9:.3f}",
        "seconds": f"{seconds:.3g}",
        "GB/s": f"{rate:.2f}",
        "ratio": f"{share:.2f}",
    }


def measure_cold_fit(folder: Path) -> tuple[tuple[float, float], list[tuple[float, float]], list[dict[str, str]]]:
    """Return bytes read from disk and seconds of a plain read and of each pass, and the memory before and after."""
    warnings.simplefilter("ignore", ConvergenceWarning)
    n_bytes, seconds, _ = run_cold(folder, partial(read_files, folder))
    plain = n_bytes, seconds
    views, y = make_big.load_views(folder)
    passes: list[tuple[float, float]] = []
    expected = coem.run_e_step

    def watched(*arguments: Any, **options: Any) -> Any:
        n_bytes, seconds, result = run_cold(folder, partial(expected, *arguments, **options))
        passes.append((n_bytes, seconds))
        return result

    before = describe_memory([get_memory("RssAnon")])
    with mock.patch.object(coem, "run_e_step", watched), record_values(partial(get_memory, "RssAnon")) as seen:
        fit_co_em_rounds(views, y, 3)
    return plain, passes, [before, describe_memory(seen)]


def describe_memory(anonymous: list[int]) -> dict[str, str]:
    """Describe the peak anonymous memory, and the peak memory with pages of files."""
    return {"anonymous MiB": f"{max(anonymous) / 2**20:.0f}", "resident MiB": f"{get_memory('VmHWM') / 2**20:.0f}"}


def run_cold(folder: Path, work: Callable[[], Any]) -> tuple[float, float, Any]:
    """Return the bytes that a call reads from disk, its seconds and its result, after the files left the cache."""
    for name in READ:
        with (folder / name).open("rb") as file:
            os.fsync(file.fileno())
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    before = read_process_figure("io", "read_bytes")
    seconds, result = time_with_result(work)
    return read_process_figure("io", "read_bytes") - before, seconds, result


def read_files(folder: Path) -> None:
    """Read the files completely."""
    buffer = bytearray(1 << 24)
    for name in READ:
        with (folder / name).open("rb", buffering=0) as file:
            while file.readinto(buffer):
                pass


def get_memory(kind: str) -> int:
    """Return the memory of this process in bytes: RssAnon is current, VmHWM the peak with mapped files."""
    return 1024 * read_process_figure("status", kind)


def read_process_figure(file: str, key: str) -> int:
    """Read a figure about this process from /proc."""
    match = re.search(rf"^{key}:\s+(\d+)", Path("/proc/self", file).read_text(), flags=re.MULTILINE)
    assert match is not None, f"/proc/self/{file} has no {key}"
    return int(match.group(1))


@contextmanager
def record_values(value: Callable[[], int]) -> Iterator[list[int]]:
    """Record a value every few milliseconds."""
    seen, over = [value()], threading.Event()

    def watch() -> None:
        while not over.wait(0.01):
            seen.append(value())

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield seen
    finally:
        over.set()
        watcher.join()


def time_landmarks(places: Mapping[str, Views], turns: int) -> Table:
    """Time landmarks for each storage of the rows."""
    model = CoTrainedSpectral(N_CLUSTERS, affinity="landmarks", n_iter=2, random_state=0)
    labels = [model.fit(views).labels_ for views in places.values()]
    return tabulate_times(
        {name: partial(time_call, partial(model.fit, views)) for name, views in places.items()}, labels, turns
    )


def measure_row_growth(sizes: tuple[int, ...]) -> Table:
    lines: list[dict[str, Any]] = []
    for n in sizes:
        rng = np.random.default_rng(0)
        y = rng.integers(N_CLUSTERS, size=n)
        centers = rng.standard_normal((2, N_CLUSTERS, 8), dtype=np.float32)
        views = Views([view_centers[y] + rng.standard_normal((n, 8), dtype=np.float32) for view_centers in centers])
        start = rng.integers(N_CLUSTERS, size=n)  # random, so that k-means does not converge early
        line = {"n": n}
        for name, model in (
            ("CoEM", partial(CoEM, families="gaussian", eta=1.0)),
            ("MultiViewKMeans", MultiViewKMeans),
        ):
            fit = partial(fit_n_rounds, model, views, start)
            fit(FEW)
            line[name] = min(time_per_round(fit) for _ in range(2))
        lines.append(line)
    return Table.from_rows(add_exponents(line, before) for line, before in zip(lines, [None, *lines], strict=False))


def fit_n_rounds(model: Any, views: Views, y: np.ndarray, n_rounds: int) -> Any:
    return model(N_CLUSTERS, init=y, tol=0, patience=10_000, max_iter=n_rounds).fit(views)


def add_exponents(line: dict[str, Any], before: dict[str, Any] | None) -> dict[str, str]:
    shown = {"n": f"{line['n']:,}"}
    for name in ("CoEM", "MultiViewKMeans"):
        shown[f"{name} ms per round"] = f"{1e3 * line[name]:.1f}"
        has_exponent = before is not None and min(line[name], before[name]) > 0  # few rows may take no measurable time
        shown[f"{name} exponent"] = (
            f"{log(line[name] / before[name], line['n'] / before['n']):.2f}" if has_exponent else ""
        )
    return shown
