"""Shards in this process."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np

from ..arrays import is_in_memory, map_chunks, split_into_shards
from .cache import ShardCache
from .shards import Shard, Shards
from .source import Source
from .view_rows import ViewRows

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class LocalShards(Shards):
    """Shards in memory or on disk, on the threads allowed."""

    views: Mapping[str, ViewRows]
    shards: Sequence[Shard]

    @classmethod
    def whole(cls, views: Mapping[str, ViewRows]) -> LocalShards:
        """Return all entities as one shard."""
        return cls(views, [Shard(views)])

    @property
    def sizes(self) -> Sequence[int]:  # type: ignore[override]
        return [len(shard) for shard in self.shards]

    def cut(self, work: Mapping[str, int] | None = None, *, spills: bool = False) -> LocalShards:
        """Cut the entities into shards, by the shape of the data alone; `work` is the cost per stored value."""
        cuts = split_into_shards([(view.X, 1 if work is None else work[name]) for name, view in self.views.items()])
        sources = [view.X for view in self.views.values() if isinstance(view.X, Source)]
        if sources:
            cuts = move_to_edges(cuts, sources)
        if len(cuts) == 1:
            return LocalShards(self.views, [Shard(self.views, cache=ShardCache(spills=spills))])
        parts = [{name: view.slice_rows(rows.start, rows.stop) for name, view in self.views.items()} for rows in cuts]
        return LocalShards(self.views, [Shard(views, cache=ShardCache(spills=spills)) for views in parts])

    def map(self, task: Callable[..., T], *common: Any, each: Sequence[Any] | None = None) -> Iterator[T]:
        extra = [()] * len(self.shards) if each is None else [(value,) for value in each]
        return map_chunks(lambda i: task(self.shards[i], *common, *extra[i]), range(len(self.shards)))

    def transform(self, task: Callable[..., Shard], *common: Any) -> LocalShards:
        shard = task(Shard(self.views), *common)
        return LocalShards(shard.views, [shard])

    def with_labels(self, labels: np.ndarray) -> LocalShards:
        return LocalShards(self.views, list(map(Shard.with_labels, self.shards, self.split(labels))))

    def take(self, rows: np.ndarray | None, names: Sequence[str] | None = None) -> Mapping[str, ViewRows]:
        views = {name: self.views[name] for name in names or self.views}
        if rows is None and all(is_in_memory(view.X) for view in views.values()):
            return views
        rows = np.arange(len(self)) if rows is None else rows
        return {name: view.take(rows) for name, view in views.items()}


def move_to_edges(cuts: list[slice], sources: Sequence[Source]) -> list[slice]:
    """Move cuts to where units of the storage begin, so that no unit is read for two shards."""
    sizes_and_edges = [(X.nbytes, X.edges) for X in sources if X.edges is not None]
    if not sizes_and_edges:
        return cuts
    _, edges = max(sizes_and_edges, key=lambda pair: pair[0])
    ends = edges[np.searchsorted(edges, [rows.stop for rows in cuts])]
    return [slice(int(a), int(b)) for a, b in pairwise([0, *np.unique(ends)])]
