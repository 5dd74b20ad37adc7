"""Entities in shards, each processed where it is: on threads of this process, or on the workers of dask.

An algorithm maps a task, a function of a shard and of small arguments (parameters), over the shards, and gets small
results (statistics, which add up). So one loop serves memory, disk, a device and dask. What a shard caches between
tasks can always be computed again from its rows: a lost worker costs time only.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from operator import add
from typing import Any, TypeVar

import numpy as np

from ..arrays import Array, asarray_like, create_scratch_array, is_scratch_array, namespace
from .cache import ShardCache
from .source import iterate_rows
from .view_rows import ViewRows

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Shard:
    """Some entities: their rows in each view, and a cache of what was computed from them."""

    views: Mapping[str, ViewRows]
    start_labels: Array | None = None  # (n,) the label that each entity starts with
    cache: ShardCache = field(default_factory=ShardCache)

    def __len__(self) -> int:
        return int(next(iter(self.views.values())).present.shape[0])

    def read(self, names: Sequence[str], n_rows: int) -> Iterator[tuple[slice, dict[str, Array]]]:
        """Yield slices of about `n_rows` rows, and these rows of the named views."""
        return iterate_rows({name: self.views[name].X for name in names}, len(self), n_rows)

    def with_labels(self, labels: np.ndarray) -> Shard:
        """Return the shard with start labels and an empty cache."""
        present = next(iter(self.views.values())).present
        return Shard(self.views, asarray_like(labels, present), ShardCache(spills=self.cache.spills))


class Shards(ABC):
    """All entities, in shards."""

    views: Mapping[str, ViewRows]  # of all entities; the rows of shards elsewhere are a `Source`
    sizes: Sequence[int]  # entities per shard

    def __len__(self) -> int:
        return sum(self.sizes)

    @abstractmethod
    def map(self, task: Callable[..., T], *common: Any, each: Sequence[Any] | None = None) -> Iterator[T]:
        """Yield ``task(shard, *common)`` of each shard in order; an entry of `each` is the last argument."""

    @abstractmethod
    def transform(self, task: Callable[..., Shard], *common: Any) -> Shards:
        """Return the shards that ``task(shard, *common)`` makes of each shard."""

    @abstractmethod
    def with_labels(self, labels: np.ndarray) -> Shards:
        """Return the shards with the labels that their entities start with."""

    @abstractmethod
    def take(self, rows: np.ndarray | None, names: Sequence[str] | None = None) -> Mapping[str, ViewRows]:
        """Return rows by position (None: all) of the named views (None: all), in the memory of this process."""

    def cut(self, work: Mapping[str, int] | None = None, *, spills: bool = False) -> Shards:  # noqa: ARG002
        """Cut the entities into shards for threads; shards elsewhere stay as they are."""
        return self

    def total(self, task: Callable[..., T], *common: Any) -> T:
        """Return the sum of ``task(shard, *common)`` over the shards."""
        return reduce(add, self.map(task, *common))

    def split(self, values: np.ndarray) -> list[np.ndarray]:
        """Split an array with one entry per entity into one array per shard."""
        return np.split(values, np.cumsum(self.sizes)[:-1])


def join_blocks(blocks: Sequence[Array]) -> Array:
    """Concatenate results of consecutive rows; those in temporary files are joined in a temporary file."""
    if len(blocks) == 1:
        return blocks[0]
    if not is_scratch_array(blocks[0]):
        return namespace(blocks[0]).concat(list(blocks))
    joined = create_scratch_array((sum(len(block) for block in blocks), *blocks[0].shape[1:]), blocks[0].dtype)
    return np.concatenate(blocks, out=joined)
