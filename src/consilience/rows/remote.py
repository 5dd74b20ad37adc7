"""Shards on the workers of a dask cluster.

Each shard is a future that the scheduler can make again from the chunks that it came from, so a worker that dies takes
nothing with it but time. A task's parameters and results are small, and nothing depends on a task of the round before:
the graph is as large in the last round as in the first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import reduce
from itertools import count
from operator import add
from typing import Any, TypeVar

import numpy as np
import scipy.sparse as sp

from ..arrays import CSR, Array, to_host
from .shards import Shard, starting

T = TypeVar("T")

TOGETHER = 8  # results that a worker adds up before they travel
_numbers = count()


@dataclass(frozen=True, eq=False)
class Remote:
    """Shards on workers."""

    client: Any
    views: Mapping[str, Any]  # of each view what is known here: who has it, the shape and kind of its rows
    futures: Sequence[Any]  # of Shard
    sizes: Sequence[int]

    def map(self, task: Callable[..., T], *common: Any, each: Sequence[Any] | None = None) -> Iterator[T]:
        own = [()] * len(self.futures) if each is None else [(one,) for one in each]
        with self._working(self._submitted(task, common, own)) as running:
            for future in running:
                yield future.result()

    def total(self, task: Callable[..., T], *common: Any) -> T:
        """Partial sums are added up by the workers, neighbours first, so that little travels."""
        found = self._submitted(task, common, [()] * len(self.futures))
        with self._working(found):
            while len(found) > TOGETHER:
                groups = [found[i : i + TOGETHER] for i in range(0, len(found), TOGETHER)]
                found = self.client.map(total, groups, key=_keys("total", len(groups)), pure=False)
            return total(self.client.gather(found))

    def starting(self, labels: Sequence[np.ndarray]) -> Remote:
        return replace(self, futures=self._submitted(starting, (), [(own,) for own in labels]))

    def some(self, rows: np.ndarray | None) -> dict[str, Any]:
        ends = np.cumsum(self.sizes)
        rows = np.arange(ends[-1]) if rows is None else rows
        order = np.argsort(rows, kind="stable")
        each = np.split(rows[order], np.searchsorted(rows[order], ends[:-1]))
        own = [own - start for own, start in zip(each, ends - self.sizes, strict=True)]
        back = np.empty(len(rows), np.intp)
        back[order] = np.arange(len(rows))
        found = list(self.map(taken, each=own))
        return {name: joined([parts[name] for parts in found]).some(back) for name in self.views}

    def changed(self, function: Callable[..., Shard], *common: Any) -> Remote:
        """The same entities, each shard changed where it is."""
        return replace(self, futures=self._submitted(function, common, [()] * len(self.futures)))

    def _submitted(
        self, task: Callable[..., Any], common: tuple[Any, ...], own: Sequence[tuple[Any, ...]]
    ) -> list[Any]:
        # what all have in common travels once, as a task of its own, which the scheduler can make again
        import dask

        with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1GB"}):
            (shared,) = self.client.map(held, [common], key=_keys("common", 1), pure=False)
            keys = _keys(getattr(task, "__name__", "task"), len(own))
            return self.client.map(work, self.futures, own, task=task, common=shared, key=keys, pure=False)

    @contextmanager
    def _working(self, futures: list[Any]) -> Iterator[list[Any]]:
        """Give up the tasks where one fails, and the shards with them; after Ctrl-C these are still needed."""
        with given_up(self.client, self.futures, Exception), given_up(self.client, futures):
            yield futures


@contextmanager
def given_up(client: Any, futures: Sequence[Any], after: type[BaseException] = BaseException) -> Iterator[None]:
    """Take futures off the cluster where something goes wrong: a traceback that is kept would hold them there."""
    try:
        yield
    except after:
        client.cancel(futures)
        raise


def work(shard: Shard, own: tuple[Any, ...], task: Callable[..., T], common: tuple[Any, ...]) -> T:
    """A task on a worker."""
    with shard.turn:
        return task(shard, *common, *own)


def held(common: tuple[Any, ...]) -> tuple[Any, ...]:
    """What it is given."""
    return common


def total(parts: Sequence[Any]) -> Any:
    """The sum of some results, in their order."""
    return reduce(add, parts)


def taken(shard: Shard, rows: np.ndarray) -> dict[str, Any]:
    """Some of a shard's entities."""
    return {name: part.some(rows) for name, part in shard.views.items()}


def joined(parts: Sequence[Any]) -> Any:
    """Rows of several shards, one below the other."""
    arrays = {
        name: None if getattr(parts[0], name) is None else np.concatenate([getattr(part, name) for part in parts])
        for name in ("present", "own")
    }
    return replace(parts[0], X=vertical([part.X for part in parts]), **arrays)


def vertical(blocks: Sequence[Array]) -> Array:
    """Rows one below the other."""
    if isinstance(blocks[0], CSR):
        return CSR.from_scipy(sp.csr_array(sp.vstack([to_host(block) for block in blocks], format="csr")))
    return np.concatenate(blocks)


def _keys(name: str, n: int) -> list[str]:
    """Names that no other tasks have."""
    return [f"consilience-{name}-{next(_numbers)}-{np.random.default_rng().integers(1 << 62):x}" for _ in range(n)]
