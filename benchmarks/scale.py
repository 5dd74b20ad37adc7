"""The same model on the same data, stored in other places; and how its time grows with the rows.

Overheads: one round of co-EM on a made-up set of about a gigabyte (`make_big`: sparse counts, dense measurements), in
memory, mapped from files, as dask arrays on threads, and on a `LocalCluster` of two processes, whose workers hold the
chunks. A round is timed as (time of many rounds - time of few) / (many - few). Files are read before, so that they are
in the cache of the operating system: what is measured is what blocks cost, not the disk. `labels` says whether they are
those of the run in memory.

Growth: one round of co-EM and of k-means at growing numbers of rows. `exponent` is the slope of the logarithm of the
time from the line before: 1.00 is linear.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import dask
import dask.array as da
import numpy as np
import scipy.sparse as sp
from distributed import Client, LocalCluster

from consilience import CoEM, MultiViewKMeans, Table, Views
from consilience.data.sources import in_memory, lazily

from . import make_big
from .harness import Contestant, clock, compare

N_CLUSTERS = 10
CHUNK = 100_000  # rows


def run(small: bool, repeats: int) -> Iterator[tuple[str, Table]]:
    with tempfile.TemporaryDirectory() as folder:
        make_big.make(Path(folder), gb=0.02 if small else 1.0, seed=0)
        yield f"one round of co-EM, {size(folder) / 1e9:.2f} GB in two views", overheads(folder, min(repeats, 3))
    sizes = (10_000, 100_000) if small else (100_000, 1_000_000, 10_000_000)
    yield "growth in rows: one round, two dense views of 8 columns, float32, 10 clusters", growth(sizes)


def size(folder: str) -> int:
    """Bytes of all files."""
    return sum(path.stat().st_size for path in Path(folder).iterdir())


def overheads(folder: str, repeats: int) -> Table:
    """The same rounds from memory, disk, dask threads and a cluster."""
    mapped, y = make_big.load(Path(folder))
    held = Views({name: in_memory(name, lazily(block), None) for name, block in mapped.items()})
    chunked = Views({name: chunks_of(block) for name, block in held.items()})
    with ExitStack() as opened:
        cluster = opened.enter_context(LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None))
        client = opened.enter_context(Client(cluster, set_as_default=False))
        with client.as_current():
            remote = Views({name: chunks_of(block).persist() for name, block in held.items()})
        contestants = {
            "memory": partial(rounds, held, y),
            "memmap": partial(rounds, mapped, y),
            "dask, threads": partial(rounds, chunked, y),
            "dask, LocalCluster": partial(on_client, client, remote, y),
        }
        labels = rounds(held, y, 4).labels_
        per_round = [Contestant.per_round(name, own, 2, 8) for name, own in contestants.items()]
        return compare(per_round, repeats, partial(same_labels, labels=labels))


def rounds(views: Views, y: np.ndarray, n_rounds: int) -> Any:
    return CoEM(N_CLUSTERS, init=y, tol=0, patience=10_000, max_iter=n_rounds).fit(views)


def on_client(client: Client, views: Views, y: np.ndarray, n_rounds: int) -> Any:
    with client.as_current():
        return rounds(views, y, n_rounds)


def same_labels(model: Any, labels: np.ndarray) -> dict[str, str]:
    return {"labels": f"{np.mean(model.labels_ == labels):.1%} the same"}


def chunks_of(block: Any) -> Any:
    """A block as a dask array in chunks of rows."""
    n, d = block.shape
    if not sp.issparse(block):
        return da.from_array(block, chunks=(CHUNK, d))
    meta = sp.csr_array((0, d), dtype=block.dtype)
    parts = [block[i : i + CHUNK] for i in range(0, n, CHUNK)]
    return da.concatenate(
        [da.from_delayed(dask.delayed(part), part.shape, dtype=block.dtype, meta=meta) for part in parts]
    )


def growth(sizes: tuple[int, ...]) -> Table:
    lines: list[dict[str, Any]] = []
    for n in sizes:
        rng = np.random.default_rng(0)
        y = rng.integers(N_CLUSTERS, size=n)
        centres = 3 * rng.standard_normal((2, N_CLUSTERS, 8), dtype=np.float32)
        views = Views([own[y] + rng.standard_normal((n, 8), dtype=np.float32) for own in centres])
        line = {"n": n}
        for name, model in (("CoEM", partial(CoEM, families="gaussian")), ("MultiViewKMeans", MultiViewKMeans)):
            fit = partial(n_rounds_of, model, views, y)
            fit(2)
            few, many = (min(clock(partial(fit, n_rounds)) for _ in range(3)) for n_rounds in (2, 6))
            line[name] = (many - few) / 4
        lines.append(line)
    return Table.from_rows(with_exponent(line, before) for line, before in zip(lines, [None, *lines], strict=False))


def n_rounds_of(model: Any, views: Views, y: np.ndarray, n_rounds: int) -> Any:
    return model(N_CLUSTERS, init=y, tol=0, patience=10_000, max_iter=n_rounds).fit(views)


def with_exponent(line: dict[str, Any], before: dict[str, Any] | None) -> dict[str, str]:
    shown = {"n": f"{line['n']:,}"}
    for name in ("CoEM", "MultiViewKMeans"):
        shown[f"{name} ms a round"] = f"{1e3 * line[name]:.1f}"
        slope = "" if before is None else np.log(line[name] / before[name]) / np.log(line["n"] / before["n"])
        shown[f"{name} exponent"] = slope if isinstance(slope, str) else f"{slope:.2f}"
    return shown
