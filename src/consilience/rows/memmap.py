"""Arrays of numpy that are mapped into memory from a file."""

from __future__ import annotations

import mmap
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.lib.array_utils import byte_bounds

SURROUNDINGS = 1 << 21  # bytes that Linux may map at once, around one that is looked at


class MappedStorage:
    """An array whose numbers lie in a mapped file: rows are copied out, or lent, and the file's pages let go of.

    Pages that were looked at otherwise count as this process's memory until the system wants them back.
    """

    unit: int | None = None
    place: Place

    def __init__(self, values: np.ndarray, mapped: np.memmap) -> None:
        self.opened: tuple[np.ndarray, np.memmap] | None = (values, mapped)
        self.shape, self.dtype = values.shape, values.dtype
        self.source = str(mapped.filename or "a mapped file without a name")

    def read(self, start: int, stop: int) -> np.ndarray:
        copy = np.array(self.lend(start, stop), order="C", subok=False)
        self.release(start, stop)
        return copy

    def lend(self, start: int, stop: int) -> np.ndarray:
        """The rows where they are, until they are released."""
        values, mapped = self._open()
        if _pages(mapped).size() < _file_offset(mapped) + self._range(start, stop)[1]:
            raise OSError("the file has become shorter")  # to look at what is not there any more would end the process
        return values[start:stop]

    def prefetch(self, start: int, stop: int) -> None:
        """Have the system read rows that will be wanted soon."""
        pages = _pages(self._open()[1])
        if hasattr(mmap, "MADV_WILLNEED") and stop > start:
            first, last = self._range(start, stop)
            first -= first % mmap.PAGESIZE
            pages.madvise(mmap.MADV_WILLNEED, first, min(last, len(pages)) - first)

    def release(self, start: int, stop: int) -> None:
        """Let go of the pages of rows, which count as memory of this process otherwise."""
        mapped = self._open()[1]
        if mapped.mode != "c" and hasattr(mmap, "MADV_DONTNEED"):  # a mapping with changes of its own would lose them
            _let_go(_pages(mapped), *self._range(start, stop))

    def _open(self) -> tuple[np.ndarray, np.memmap]:
        if self.opened is None:
            self.opened = self.place.opened()
        return self.opened

    def _range(self, start: int, stop: int) -> tuple[int, int]:
        """The bytes of the mapping that rows lie in."""
        values, mapped = self._open()
        first, last = byte_bounds(values[start:stop])
        return first - _address(_pages(mapped)), last - _address(_pages(mapped))

    def __getstate__(self) -> dict[str, Any]:
        """A file to be opened again when it is read."""
        if self.opened is None:
            return self.__dict__
        values, mapped = self.opened
        if mapped.filename is None or mapped.mode == "c":
            raise TypeError(
                f"rows of {self.source} cannot be pickled: the mapping has no file to open again, or has changes "
                "of its own (mode 'c'). Write them to a file with np.save and open it with np.load(path, mmap_mode='r')"
            )
        offset = _file_offset(mapped) + values.__array_interface__["data"][0] - _address(_pages(mapped))
        place = Place(str(mapped.filename), values.dtype, offset, values.shape, values.strides)
        return self.__dict__ | {"opened": None, "place": place}


@dataclass(frozen=True)
class Place:
    """Where in a file the numbers of an array lie."""

    path: str
    dtype: np.dtype
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]

    def opened(self) -> tuple[np.ndarray, np.memmap]:
        """Map the file again: the array, and the whole it lies in."""
        whole = np.memmap(self.path, np.uint8, mode="r")
        return np.ndarray(self.shape, self.dtype, whole, self.offset, self.strides), whole


def find_mapping(values: np.ndarray) -> MappedStorage | None:
    """The array as one in a file, if its numbers lie in one."""
    owner: Any = values
    while isinstance(owner, np.ndarray):
        if isinstance(owner, np.memmap) and isinstance(_pages(owner), mmap.mmap):  # of a result, it is None
            return MappedStorage(np.asarray(values), owner)
        owner = owner.base
    return None


def _let_go(pages: mmap.mmap, first: int, last: int) -> None:
    """Drop these bytes from the memory of the process, and their surroundings, which came with them."""
    ground = _address(pages) % SURROUNDINGS
    first = max(0, (first + ground) // SURROUNDINGS * SURROUNDINGS - ground)
    last = min(len(pages), -(-(last + ground) // SURROUNDINGS) * SURROUNDINGS - ground)
    pages.madvise(mmap.MADV_DONTNEED, first, last - first)


def _pages(mapped: np.memmap) -> mmap.mmap:
    return mapped._mmap  # type: ignore[attr-defined]


def _address(pages: mmap.mmap) -> int:
    return np.frombuffer(pages, np.uint8).__array_interface__["data"][0]


def _file_offset(mapped: np.memmap) -> int:
    """Where in the file the mapping begins; `offset` is where the array did, and mappings begin at whole pages."""
    return mapped.offset - mapped.offset % mmap.ALLOCATIONGRANULARITY
