"""Chunks of rows on several threads.

How the rows are cut depends on the data's shape alone, never on the number of threads, and partial sums are added in
the chunks' order: the same data gives the same bits on a laptop and on a server.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache, cached_property
from itertools import islice
from typing import TypeVar

import joblib
import threadpoolctl

from .cuts import split_slice
from .host import is_on_host
from .namespace import Array

T = TypeVar("T")
P = TypeVar("P")

MOST_CHUNKS = 16
LEAST_CHUNK = 1 << 20  # stored values: below this, starting a thread costs more than it saves
BLOCK = 1 << 20  # stored values of a block: two passes over it find it in the cache the second time
DEVICE_BLOCK = 1 << 27  # the same on a device, where it is the launch of a block that costs


class LazyThreadPool:
    """Threads that are started when first needed and kept until the work is done: starting them costs a sweep."""

    def __init__(self, n_threads: int) -> None:
        self.n_threads = n_threads

    @cached_property
    def pool(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(self.n_threads)

    def dismiss(self) -> None:
        if "pool" in self.__dict__:
            self.pool.shutdown(cancel_futures=True)


_crew: ContextVar[LazyThreadPool | None] = ContextVar("consilience_crew", default=None)


def available_threads() -> int:
    """Cores this process may use, and OMP_NUM_THREADS where someone set it (joblib does in its workers)."""
    limit = os.environ.get("OMP_NUM_THREADS", "")
    cores = joblib.cpu_count()
    return min(cores, int(limit)) if limit.isdigit() and int(limit) else cores


@contextmanager
def use_threads(n_jobs: int | None) -> Iterator[None]:
    """Use so many threads within; None and -1 mean all, -2 all but one, as in joblib."""
    if n_jobs == 0:
        raise ValueError("n_jobs=0 has no meaning: give a number of threads, or None for all cores")
    n = available_threads()
    if n_jobs is not None:
        n = n_jobs if n_jobs > 0 else max(1, n + 1 + n_jobs)
    crew = LazyThreadPool(n)
    token = _crew.set(crew)
    try:
        # Chunks keep the cores busy. BLAS threads of its own would fight them, and go on spinning between two products.
        with _controller().limit(limits=1, user_api="blas"):
            yield
    finally:
        _crew.reset(token)
        crew.dismiss()


@contextmanager
def single_openmp_thread() -> Iterator[None]:
    """Keep OpenMP code that this thread calls to one thread, so that its result does not depend on their number.

    scikit-learn's k-means adds in the order in which threads end, and its search breaks ties by how rows are shared.
    """
    with _controller().limit(limits=1, user_api="openmp"):
        yield


def count_stored(X: Array) -> int:
    """How many values a pass over these rows reads."""
    return X.shape[0] * X.shape[1] if callable(X.size) else X.size  # a method in torch


def cut_into_chunks(X: Array, *, with_sums: bool = False, work: int = 1) -> list[slice]:
    """Cut the rows of X for threads; `work` is what a stored value costs, in units of what k-means does to it.

    Where each chunk sums up rows of its own, so few that clearing these sums and adding them up is worth it: a column
    has about 96 stored values or more a chunk.
    """
    n, size = X.shape[0], count_stored(X)
    n_chunks = size * work // LEAST_CHUNK if is_on_host(X) else 1
    if with_sums:
        n_chunks = min(n_chunks, round(size / (96 * X.shape[1])))
    return split_slice(slice(0, n), max(1, min(n_chunks, MOST_CHUNKS, n)))


def cut_into_shards(views: Sequence[tuple[Array, int]]) -> list[slice]:
    """Cut the rows of several views, each with what a stored value costs: the same as `chunks` with sums for one."""
    n, size = views[0][0].shape[0], sum(count_stored(X) for X, _ in views)
    n_shards = sum(count_stored(X) * work for X, work in views) // LEAST_CHUNK
    n_shards = min(n_shards, round(size / (96 * max(1, sum(X.shape[1] for X, _ in views)))))
    most = MOST_CHUNKS if all(is_on_host(X) for X, _ in views) else 1
    return split_slice(slice(0, n), max(1, min(n_shards, most, n)))


def choose_block_size(X: Array, numbers: int) -> int:
    """How many numbers to work on at a time: so many where a cache has to hold them, more on a device."""
    return numbers if is_on_host(X) else DEVICE_BLOCK


def cut_into_blocks(X: Array, chunk: slice) -> list[slice]:
    """Cut a chunk of X into blocks that fit the cache."""
    n = chunk.stop - chunk.start
    return split_slice(chunk, max(1, min(n, count_stored(X) * n // (choose_block_size(X, BLOCK) * max(1, X.shape[0])))))


@cache
def _controller() -> threadpoolctl.ThreadpoolController:
    return threadpoolctl.ThreadpoolController()


def map_chunks(function: Callable[[P], T], parts: Sequence[P]) -> Iterator[T]:
    """``map(function, parts)`` on the threads allowed; the results come in order, as soon as they are there."""
    crew = _crew.get()
    if crew is None or min(crew.n_threads, len(parts)) == 1:
        yield from map(function, parts)
        return
    rest = iter(parts)
    # no more than one result waits to be fetched: each may hold sums of its own
    running = deque(crew.pool.submit(function, part) for part in islice(rest, crew.n_threads + 1))
    try:
        while running:
            yield running.popleft().result()
            running.extend(crew.pool.submit(function, part) for part in islice(rest, 1))
    finally:
        for future in running:
            future.cancel()
        wait(running)  # nobody writes into arrays that the caller holds once this has returned
