"""What a shard keeps between tasks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from itertools import count
from threading import Lock
from typing import Any

from ..arrays import Array

_versions = count(1)


def new_version() -> int:
    """Return a number that no parameters had before."""
    return next(_versions)


class ShardCache:
    """Arrays computed from a shard's rows, such as log-densities, and the version of the parameters they belong to.

    All of it can be computed again, so a pickled cache is empty.
    """

    def __init__(self, *, spills: bool = False) -> None:
        self.spills = spills  # whether arrays are stored in a temporary file
        self.lock = Lock()  # one task at a time: a canceled one may still be running
        self.arrays: dict[str, Array] = {}
        self._versions: dict[str, int] = {}

    @contextmanager
    def refresh(self, versions: Mapping[str, int]) -> Iterator[list[str]]:
        """Yield the views whose arrays belong to other versions; they are current if the block is not interrupted."""
        outdated = [name for name, version in versions.items() if self._versions.get(name) != version]
        for name in outdated:
            self._versions.pop(name, None)
        yield outdated
        self._versions.update({name: versions[name] for name in outdated})

    def get(self, name: str, allocate: Callable[[], Array]) -> Array:
        """Return the array of a view; allocate it at first."""
        if name not in self.arrays:
            self.arrays[name] = allocate()
        return self.arrays[name]

    def clear(self) -> None:
        self.arrays.clear()
        self._versions.clear()

    def __getstate__(self) -> dict[str, Any]:
        return {"spills": self.spills}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(**state)  # type: ignore[misc]
