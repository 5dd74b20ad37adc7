"""Chunks of rows on several threads.

How rows are cut depends only on the shape of the data, never on the number of threads, and partial sums are added in
the order of the chunks: the same data gives the same bits on every machine.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache, reduce
from itertools import islice, pairwise
from operator import add
from typing import NamedTuple, TypeVar

import joblib
import numpy as np
import threadpoolctl

from .._tuning import Tuning
from .memory import FREE, OUT_OF_MEMORY_ERROR
from .namespace import Array
from .verbs import is_on_host

T = TypeVar("T")
P = TypeVar("P")

MOST_CHUNKS = 16
LEAST_SLICE = 1 << 16  # numbers of an array that a thread adds up or maps at a time
VALUES_PER_SUM = 24  # stored values per column of a chunk that are worth sums of their own
tuning = Tuning(
    least_chunk=1 << 20,  # stored values: below this, starting a thread costs more than it saves
    block=1 << 20,  # stored values per block: a second pass over the block finds it in the cache
    device_block=1 << 27,  # stored values per block on a device, where launching a block is what costs
)


class Threads(NamedTuple):
    """Threads that start when first needed and stay until the work is done, because starting them is slow."""

    n_threads: int
    pool: ThreadPoolExecutor


_threads: ContextVar[Threads | None] = ContextVar("consilience_threads", default=None)


def available_threads() -> int:
    """Number of cores this process may use, or OMP_NUM_THREADS if fewer (joblib sets it in its workers)."""
    limit = os.environ.get("OMP_NUM_THREADS", "")
    affinity = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else ()
    cores = _count_cores(frozenset(affinity), os.environ.get("LOKY_MAX_CPU_COUNT"))
    return min(cores, int(limit)) if limit.isdigit() and int(limit) else cores


@cache
def _count_cores(_affinity: frozenset[int], _limit: str | None) -> int:
    """Count the cores once per setting that may change, because joblib reads files of the system."""
    return joblib.cpu_count()


@contextmanager
def use_threads(n_jobs: int | None) -> Iterator[None]:
    """Run `map_chunks` on this many threads; None and -1 mean all, -2 all but one, as in joblib."""
    if n_jobs == 0:
        raise ValueError("n_jobs=0 has no meaning: give a number of threads, or None for all cores")
    n = available_threads()
    if n_jobs is not None:
        n = n_jobs if n_jobs > 0 else max(1, n + 1 + n_jobs)
    pool = ThreadPoolExecutor(n)
    token = _threads.set(Threads(n, pool))
    try:
        # Chunks keep the cores busy. Threads of BLAS would compete with them, and spin between two products.
        with get_thread_controller().limit(limits=1, user_api="blas"):
            yield
    finally:
        _threads.reset(token)
        pool.shutdown(cancel_futures=True)


@contextmanager
def explain_out_of_memory(
    what: str, advice: str = "give fewer entities (views[rows]), or numbers in float32"
) -> Iterator[None]:
    """Turn a device's out-of-memory error into one that says what does not fit and what to do."""
    try:
        yield
    except Exception as error:
        if OUT_OF_MEMORY_ERROR not in (kind.__name__ for kind in type(error).__mro__):
            raise
        free = FREE.get(type(error).__module__.partition(".")[0])
        left = "" if free is None else f" ({free() / 2**30:.1f} GiB free)"
        raise MemoryError(f"{what} does not fit the device{left}: {advice}") from error


@cache
def get_thread_controller() -> threadpoolctl.ThreadpoolController:
    """Return what limits the threads of BLAS and OpenMP; finding these libraries is slow and done once."""
    return threadpoolctl.ThreadpoolController()


def split_slice(rows: slice, n_parts: int) -> list[slice]:
    """Cut a slice into `n_parts` adjacent slices of nearly equal length."""
    n = rows.stop - rows.start
    edges = [rows.start + n * i // n_parts for i in range(n_parts + 1)]
    return [slice(a, b) for a, b in pairwise(edges)]


def count_stored(X: Array) -> int:
    """Number of values that one pass over the rows reads."""
    return X.shape[0] * X.shape[1] if callable(X.size) else X.size  # a method in torch


def split_into_chunks(X: Array, *, with_sums: bool = False, work: int = 1) -> list[slice]:
    """Cut the rows of X for threads; `work` is the cost per stored value, relative to k-means.

    If each chunk has sums of its own (`with_sums`), there are so few chunks that clearing and adding these sums is
    worthwhile.
    """
    n, size = X.shape[0], count_stored(X)
    n_chunks = size * work // tuning.least_chunk if is_on_host(X) else 1
    if with_sums:
        n_chunks = min(n_chunks, round(size / (VALUES_PER_SUM * X.shape[1])))
    return split_slice(slice(0, n), max(1, min(n_chunks, MOST_CHUNKS, n)))


def split_into_shards(views: Sequence[tuple[Array, int]]) -> list[slice]:
    """Cut the rows of several views, each with its `work`; for one view, as `split_into_chunks` does with sums."""
    n, size = views[0][0].shape[0], sum(count_stored(X) for X, _ in views)
    n_shards = sum(count_stored(X) * work for X, work in views) // tuning.least_chunk
    n_shards = min(n_shards, round(size / (VALUES_PER_SUM * max(1, sum(X.shape[1] for X, _ in views)))))
    most_shards = MOST_CHUNKS if all(is_on_host(X) for X, _ in views) else 1
    return split_slice(slice(0, n), max(1, min(n_shards, most_shards, n)))


def choose_block_size(X: Array, n_values: int) -> int:
    """Number of values to work on at a time: `n_values`, which fit a cache, or more on a device."""
    return n_values if is_on_host(X) else tuning.device_block


def split_into_blocks(X: Array, chunk: slice) -> list[slice]:
    """Cut a chunk of X into blocks that fit the cache."""
    n = chunk.stop - chunk.start
    n_blocks = count_stored(X) * n // (choose_block_size(X, tuning.block) * max(1, X.shape[0]))
    return split_slice(chunk, max(1, min(n, n_blocks)))


def map_chunks(function: Callable[[P], T], parts: Sequence[P]) -> Iterator[T]:
    """``map(function, parts)`` on the threads allowed; results come in order, as soon as they are ready."""
    threads = _threads.get()
    if threads is None or min(threads.n_threads, len(parts)) == 1:
        yield from map(function, parts)
        return
    remaining = iter(parts)
    # at most one result waits to be fetched, because each may hold sums of its own
    running = deque(threads.pool.submit(function, part) for part in islice(remaining, threads.n_threads + 1))
    try:
        while running:
            yield running.popleft().result()
            running.extend(threads.pool.submit(function, part) for part in islice(remaining, 1))
    finally:
        for future in running:
            future.cancel()
        wait(running)  # no thread writes into arrays of the caller after this


def map_slices(function: Callable[..., Array], *arrays: Array) -> Array:
    """Apply a function of arrays of one shape that treats each number alike; many numbers are mapped on threads."""
    first = arrays[0]
    slices = split_numbers(first)
    if len(slices) == 1:
        return function(*arrays)
    parts = map_chunks(lambda part: function(*(array[part] for array in arrays)), slices)
    out = None
    for part, values in zip(slices, parts, strict=True):
        out = np.empty_like(first, dtype=values.dtype) if out is None else out
        out[part] = values
    return out


def split_numbers(array: Array) -> list[tuple[slice, ...]]:
    """Cut an array in main memory into slices for threads, along the axis of the largest steps in memory."""
    n_slices = min(MOST_CHUNKS, array.size // LEAST_SLICE) if isinstance(array, np.ndarray) else 1
    if n_slices < 2:
        return [()]
    axis = int(np.argmax(array.strides))
    parts = split_slice(slice(0, array.shape[axis]), min(n_slices, array.shape[axis]))
    return [(slice(None),) * axis + (part,) for part in parts]


def add_arrays(arrays: Sequence[Array]) -> Array:
    """Add arrays of one shape in their order; the sums of many numbers are computed on threads."""
    slices = split_numbers(arrays[0])
    if len(slices) == 1:
        return reduce(add, arrays)
    total = np.array(arrays[0], copy=True, order="K")

    def add_slice(part: tuple[slice, ...]) -> None:
        for array in arrays[1:]:
            total[part] += array[part]

    for _ in map_chunks(add_slice, slices):
        pass
    return total
