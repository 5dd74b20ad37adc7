"""Entities in shards, each worked on where it is: on threads of this process, or on the workers of a cluster.

An algorithm hands out a task, a function of a shard and of something small (parameters), and gets back something small
(statistics, which add up). So the same loop serves memory, disk, a device and a cluster. What a shard keeps from one
task to the next (log-densities, labels) can always be worked out again from what it is given: a lost worker costs time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from itertools import count, pairwise
from operator import add
from threading import Lock
from typing import Any, Protocol, TypeVar

import numpy as np

from ..arrays import (
    Array,
    asarray_like,
    create_scratch_array,
    cut_into_shards,
    map_chunks,
    namespace,
)
from ..arrays.memory import is_scratch_array
from .source import Source

T = TypeVar("T")

_ages = count(1)


def new_version() -> int:
    """A number that no parameters had before."""
    return next(_ages)


class Rows(Protocol):
    """One view's rows and what belongs to them."""

    @property
    def X(self) -> Array:
        """(n, columns)."""

    @property
    def present(self) -> Array:
        """(n,) which rows count."""

    def at(self, rows: slice) -> Any:
        """Some of them."""

    def some(self, rows: np.ndarray) -> Any:
        """A few of them by position, in memory."""


@dataclass(eq=False)
class Shard:
    """Some entities: their rows in each view, and what was worked out of them."""

    views: Mapping[str, Any]
    start: Array | None = None  # (n,) the label that each starts with, if it has one
    spills: bool = False  # whether what is kept goes to a file
    kept: dict[str, tuple[int, Array]] = field(default_factory=dict)  # by view: the age of the parameters, the result
    turn: Lock = field(default_factory=Lock)  # one task at a time: one that was given up may still be at work

    @property
    def n(self) -> int:
        return int(next(iter(self.views.values())).present.shape[0])

    def age(self, name: str) -> int:
        """Of the parameters that what is kept of a view belongs to; 0: there is nothing."""
        return self.kept.get(name, (0, None))[0]

    def outdate(self, name: str) -> None:
        """What is kept of a view is about to be written over: until that is done it belongs to no parameters."""
        if name in self.kept:
            self.kept[name] = 0, self.kept[name][1]

    def __getstate__(self) -> dict[str, Any]:
        """What travels: what can be worked out again does not."""
        return {"views": self.views, "start": self.start, "spills": self.spills}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(**state)  # type: ignore[misc]


class Shards(Protocol):
    """All entities."""

    @property
    def views(self) -> Mapping[str, Any]:
        """What is known of each view as a whole: who has it (`present`), the shape of its rows ``X``."""

    @property
    def sizes(self) -> Sequence[int]:
        """How many entities each shard has."""

    def map(self, task: Callable[..., T], *common: Any, each: Sequence[Any] | None = None) -> Iterator[T]:
        """``task(shard, *common)`` of each shard, in their order; with `each`, what it has for the shard comes last."""

    def total(self, task: Callable[..., T], *common: Any) -> T:
        """The sum of ``task(shard, *common)`` over the shards."""

    def starting(self, labels: Sequence[np.ndarray]) -> Shards:
        """The same, with the labels that each shard's entities start with."""

    def some(self, rows: np.ndarray | None) -> dict[str, Any]:
        """A few entities by position, or all, in the memory of this process: their rows in each view."""


@dataclass(frozen=True, eq=False)
class Here:
    """Shards in this process, on the threads allowed."""

    views: Mapping[str, Rows]
    shards: Sequence[Shard]

    @property
    def sizes(self) -> Sequence[int]:
        return [shard.n for shard in self.shards]

    def map(self, task: Callable[..., T], *common: Any, each: Sequence[Any] | None = None) -> Iterator[T]:
        own = [()] * len(self.shards) if each is None else [(one,) for one in each]
        return map_chunks(lambda i: task(self.shards[i], *common, *own[i]), range(len(self.shards)))

    def total(self, task: Callable[..., T], *common: Any) -> T:
        return reduce(add, self.map(task, *common))

    def starting(self, labels: Sequence[np.ndarray]) -> Here:
        return Here(self.views, list(map(starting, self.shards, labels)))

    def some(self, rows: np.ndarray | None) -> dict[str, Any]:
        if rows is None and not any(isinstance(part.X, Source) for part in self.views.values()):
            return dict(self.views)
        rows = np.arange(sum(self.sizes)) if rows is None else rows
        return {name: part.some(rows) for name, part in self.views.items()}


def in_shards(parts: Mapping[str, Rows], work: Mapping[str, int] | None = None, *, spills: bool = False) -> Here:
    """Entities of this process cut into shards, by the shape of the data alone; `work` is what a number costs."""
    work = dict.fromkeys(parts, 1) if work is None else work
    cuts = cut_into_shards([(part.X, work[name]) for name, part in parts.items()])
    cuts = at_units(cuts, [part.X for part in parts.values()])
    return Here(parts, [Shard({n: part.at(rows) for n, part in parts.items()}, spills=spills) for rows in cuts])


def at_units(cuts: Sequence[slice], blocks: Sequence[Array]) -> list[slice]:
    """Cuts moved to where units of the storage begin, so that none is read for two shards."""
    known = [(X.nbytes, X.edges) for X in blocks if isinstance(X, Source) and X.edges is not None]
    if not known:
        return list(cuts)
    _, edges = max(known, key=lambda own: own[0])
    ends = edges[np.searchsorted(edges, [rows.stop for rows in cuts])]
    return [slice(int(a), int(b)) for a, b in pairwise([0, *np.unique(ends)])]  # no rows are one shard


def started(shards: Shards, labels: np.ndarray) -> Shards:
    """The same entities, each with the label that it starts with."""
    return shards.starting(np.split(labels, np.cumsum(shards.sizes)[:-1]))


def starting(shard: Shard, labels: np.ndarray) -> Shard:
    """The same of one shard."""
    return Shard(shard.views, asarray_like(labels, next(iter(shard.views.values())).present), shard.spills)


def join_blocks(parts: Sequence[Array]) -> Array:
    """What the shards gave, one after the other; what lies in files goes to a file."""
    if len(parts) == 1:
        return parts[0]
    if not is_scratch_array(parts[0]):
        return namespace(parts[0]).concat(list(parts))
    whole = create_scratch_array((sum(len(part) for part in parts), *parts[0].shape[1:]), parts[0].dtype)
    return np.concatenate(parts, out=whole)
