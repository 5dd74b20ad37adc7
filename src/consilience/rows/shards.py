"""Entities in shards, each processed where it is: on threads of this process, or on the workers of dask.

An algorithm maps a task, a function of a shard and of small arguments (parameters), over the shards, and gets small
results (statistics, which add up). So one loop serves memory, disk, a device and dask. What a shard caches between
tasks can always be computed again from its rows: a lost worker costs time only.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from itertools import count, pairwise
from operator import add
from threading import Lock
from typing import Any, TypeVar

import numpy as np
from array_api_compat import device

from ..arrays import (
    Array,
    asarray_like,
    create_scratch_array,
    is_in_memory,
    is_scratch_array,
    map_chunks,
    namespace,
    split_into_shards,
    split_slice,
    take_rows,
)
from .source import iterate_rows

T = TypeVar("T")

_versions = count(1)


def new_version() -> int:
    """Return a number that no parameters had before."""
    return next(_versions)


@dataclass(frozen=True, eq=False)
class ViewRows:
    """Rows of one view, prepared for a divergence or a family."""

    X: Array
    present: Array  # (n,) which rows count
    row_term: Array = None  # (n,) the part of a divergence or log-density that depends on the row alone
    origin: Array = None  # (n_columns,) the point that divergences are measured from; None: zero

    @cached_property
    def complete(self) -> bool:
        """Whether all rows count."""
        return bool(namespace(self.present).all(self.present))

    def slice_rows(self, start: int, stop: int) -> ViewRows:
        """Return neighboring rows, without reading or copying them."""
        X = self.X[start:stop, ...] if is_in_memory(self.X) else self.X.slice_rows(start, stop)
        row_term = None if self.row_term is None else self.row_term[start:stop]
        return replace(self, X=X, present=self.present[start:stop], row_term=row_term)

    def take(self, rows: np.ndarray) -> ViewRows:
        """Return a few rows by position, in memory."""
        positions = asarray_like(rows, self.present)
        present, row_term = (
            None if values is None else namespace(values).take(values, positions)
            for values in (self.present, self.row_term)
        )
        return replace(self, X=take_rows(self.X, asarray_like(rows, self.X)), present=present, row_term=row_term)


class ShardCache:
    """Arrays computed from a shard's rows, such as log-densities, and the version of the parameters they belong to.

    All of it can be computed again, so a pickled cache is empty.
    """

    def __init__(self, *, spills: bool = False) -> None:
        self.spills = spills  # whether arrays are stored in a temporary file
        self.lock = Lock()  # one task at a time: a canceled one may still be running
        self.arrays: dict[str, Array] = {}
        self.objects: dict[tuple[str, ...], Any] = {}  # what an algorithm keeps beside arrays
        self._versions: dict[str, int] = {}

    @contextmanager
    def refresh(self, versions: Mapping[str, int]) -> Iterator[list[str]]:
        """Yield the views whose arrays belong to other versions; they are current if the block is not interrupted."""
        outdated = self.list_outdated(versions)
        for name in outdated:
            self._versions.pop(name, None)
        yield outdated
        self._versions.update({name: versions[name] for name in outdated})

    def list_outdated(self, versions: Mapping[str, int]) -> list[str]:
        """Return the views whose arrays belong to other versions."""
        return [name for name, version in versions.items() if self._versions.get(name) != version]

    def get(self, name: str, shape: tuple[int, ...], dtype: Any, like: Array) -> Array:
        """Return the array of a view, allocated at first in the library and on the device of `like`."""
        if name not in self.arrays:
            if self.spills:
                self.arrays[name] = create_scratch_array(shape, dtype)
            else:
                self.arrays[name] = namespace(like).empty(shape, dtype=dtype, device=device(like))
        return self.arrays[name]

    def clear(self) -> None:
        self.arrays.clear()
        self.objects.clear()
        self._versions.clear()

    def __getstate__(self) -> dict[str, Any]:
        return {"spills": self.spills}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(**state)  # type: ignore[misc]


@dataclass(frozen=True, eq=False)
class Shard:
    """Some entities: their rows in each view, and a cache of what was computed from them."""

    views: Mapping[str, ViewRows]
    start_labels: Array | None = None  # (n,) the label that each entity starts with
    fixed_labels: Array | None = None  # (n,) the label that each entity keeps, -1 if it may change; None: all may
    cache: ShardCache = field(default_factory=ShardCache)

    def __len__(self) -> int:
        return int(next(iter(self.views.values())).present.shape[0])

    def read(self, names: Sequence[str], n_rows: int) -> Iterator[tuple[slice, dict[str, Array]]]:
        """Yield slices of about `n_rows` rows, and these rows of the named views."""
        n, arrays = len(self), {name: self.views[name].X for name in names}
        if not all(map(is_in_memory, arrays.values())):
            yield from iterate_rows(arrays, n, n_rows)
            return
        for rows in split_slice(slice(0, n), max(1, min(n, n // max(1, n_rows)))):
            yield rows, {name: X[rows, ...] for name, X in arrays.items()}

    def with_labels(self, labels: np.ndarray, kind: str = "start_labels") -> Shard:
        """Return the shard with start labels, or with `fixed_labels`, and an empty cache."""
        present = next(iter(self.views.values())).present
        return replace(self, **{kind: asarray_like(labels, present)}, cache=ShardCache(spills=self.cache.spills))

    def fixed(self, rows: slice) -> Array | None:
        """Return the fixed labels of some rows; None if all labels may change."""
        return None if self.fixed_labels is None else self.fixed_labels[rows]


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
    def with_labels(self, labels: np.ndarray, kind: str = "start_labels") -> Shards:
        """Return the shards with the labels that their entities start with, or keep (`fixed_labels`)."""

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


class LocalShards(Shards):
    """Shards in memory or on disk, on the threads allowed; at first all entities are one shard."""

    def __init__(self, views: Mapping[str, ViewRows], shards: Sequence[Shard] | None = None) -> None:
        self.views, self.shards = views, [Shard(views)] if shards is None else shards
        self.sizes = [len(shard) for shard in self.shards]

    def cut(self, work: Mapping[str, int] | None = None, *, spills: bool = False) -> LocalShards:
        """Cut the entities into shards, by the shape of the data alone; `work` is the cost per stored value."""
        cuts = split_into_shards([(view.X, 1 if work is None else work[name]) for name, view in self.views.items()])
        stored = [view.X for view in self.views.values() if not is_in_memory(view.X) and view.X.edges is not None]
        if stored:  # read no unit of the largest storage for two shards
            edges = np.asarray(max(stored, key=lambda X: X.nbytes).edges)
            ends = edges[np.searchsorted(edges, [rows.stop for rows in cuts])]
            cuts = [slice(int(a), int(b)) for a, b in pairwise([0, *np.unique(ends)])]
        parts = [self.views]
        if len(cuts) > 1:
            parts = [{name: view.slice_rows(r.start, r.stop) for name, view in self.views.items()} for r in cuts]
        return LocalShards(self.views, [Shard(views, cache=ShardCache(spills=spills)) for views in parts])

    def map(self, task: Callable[..., T], *common: Any, each: Sequence[Any] | None = None) -> Iterator[T]:
        extra = [()] * len(self.shards) if each is None else [(value,) for value in each]
        return map_chunks(lambda i: task(self.shards[i], *common, *extra[i]), range(len(self.shards)))

    def transform(self, task: Callable[..., Shard], *common: Any) -> LocalShards:
        return LocalShards(task(Shard(self.views), *common).views)

    def with_labels(self, labels: np.ndarray, kind: str = "start_labels") -> LocalShards:
        pairs = zip(self.shards, self.split(labels), strict=True)
        return LocalShards(self.views, [shard.with_labels(part, kind) for shard, part in pairs])

    def take(self, rows: np.ndarray | None, names: Sequence[str] | None = None) -> Mapping[str, ViewRows]:
        views = {name: self.views[name] for name in names or self.views}
        if rows is None and all(is_in_memory(view.X) for view in views.values()):
            return views
        rows = np.arange(len(self)) if rows is None else rows
        return {name: view.take(rows) for name, view in views.items()}


def join_blocks(blocks: Sequence[Array]) -> Array:
    """Concatenate results of consecutive rows; those in temporary files are joined in a temporary file."""
    if len(blocks) == 1:
        return blocks[0]
    if not is_scratch_array(blocks[0]):
        return namespace(blocks[0]).concat(list(blocks))
    joined = create_scratch_array((sum(len(block) for block in blocks), *blocks[0].shape[1:]), blocks[0].dtype)
    return np.concatenate(blocks, out=joined)
