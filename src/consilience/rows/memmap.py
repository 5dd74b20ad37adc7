"""Arrays of numpy that are mapped into memory from a file."""

from __future__ import annotations

import mmap
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.lib.array_utils import byte_bounds

from .source import Storage

SURROUNDINGS = 1 << 21  # bytes that Linux may map at once, around an address that is read


class MappedStorage(Storage):
    """An array in a mapped file: rows are copied or lent, and the file's pages are released afterwards.

    Pages that were read otherwise count as memory of this process until the system reclaims them.
    """

    lends = True
    place: Place

    def __init__(self, values: np.ndarray, mapped: np.memmap) -> None:
        self.opened: tuple[np.ndarray, np.memmap] | None = (values, mapped)
        self.shape, self.dtype = values.shape, values.dtype
        self.description = str(mapped.filename or "a mapped file without a name")

    def read(self, start: int, stop: int) -> np.ndarray:
        copy = np.array(self.lend(start, stop), order="C", subok=False)
        self.release(start, stop)
        return copy

    def lend(self, start: int, stop: int) -> np.ndarray:
        values, mapped = self._open()
        if _pages(mapped).size() < _file_offset(mapped) + self._byte_range(start, stop)[1]:
            raise OSError("the file has become shorter")  # reading beyond its end would kill the process
        return values[start:stop]

    def prefetch(self, start: int, stop: int) -> None:
        pages = _pages(self._open()[1])
        if hasattr(mmap, "MADV_WILLNEED") and stop > start:
            first, last = self._byte_range(start, stop)
            first -= first % mmap.PAGESIZE
            pages.madvise(mmap.MADV_WILLNEED, first, min(last, len(pages)) - first)

    def release(self, start: int, stop: int) -> None:
        mapped = self._open()[1]
        if mapped.mode == "c" or not hasattr(mmap, "MADV_DONTNEED"):  # a copy-on-write mapping would lose its changes
            return
        pages, (first, last) = _pages(mapped), self._byte_range(start, stop)
        offset = _address(pages) % SURROUNDINGS
        first = max(0, (first + offset) // SURROUNDINGS * SURROUNDINGS - offset)
        last = min(len(pages), -(-(last + offset) // SURROUNDINGS) * SURROUNDINGS - offset)
        pages.madvise(mmap.MADV_DONTNEED, first, last - first)

    def _open(self) -> tuple[np.ndarray, np.memmap]:
        if self.opened is None:
            self.opened = self.place.open()
        return self.opened

    def _byte_range(self, start: int, stop: int) -> tuple[int, int]:
        """First and last byte of rows in the mapping."""
        values, mapped = self._open()
        first, last = byte_bounds(values[start:stop])
        return first - _address(_pages(mapped)), last - _address(_pages(mapped))

    def __getstate__(self) -> dict[str, Any]:
        """Pickle the place in the file, which is opened again when it is read."""
        if self.opened is None:
            return self.__dict__
        values, mapped = self.opened
        if mapped.filename is None or mapped.mode == "c":
            raise TypeError(
                f"rows of {self.description} cannot be pickled: the mapping has no file to open again, or has changes "
                "of its own (mode 'c'). Write them to a file with np.save and open it with np.load(path, mmap_mode='r')"
            )
        offset = _file_offset(mapped) + values.__array_interface__["data"][0] - _address(_pages(mapped))
        place = Place(str(mapped.filename), values.dtype, offset, values.shape, values.strides)
        return self.__dict__ | {"opened": None, "place": place}


@dataclass(frozen=True)
class Place:
    """Where in a file the numbers of an array are."""

    path: str
    dtype: np.dtype
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]

    def open(self) -> tuple[np.ndarray, np.memmap]:
        """Map the file again; return the array and the mapping of the whole file."""
        whole = np.memmap(self.path, np.uint8, mode="r")
        return np.ndarray(self.shape, self.dtype, whole, self.offset, self.strides), whole


def _pages(mapped: np.memmap) -> mmap.mmap:
    return mapped._mmap  # type: ignore[attr-defined]


def _address(pages: mmap.mmap) -> int:
    return np.frombuffer(pages, np.uint8).__array_interface__["data"][0]


def _file_offset(mapped: np.memmap) -> int:
    """Where in the file the mapping begins: `offset` is where the array begins, and mappings begin at whole pages."""
    return mapped.offset - mapped.offset % mmap.ALLOCATIONGRANULARITY
