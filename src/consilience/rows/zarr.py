"""Arrays of zarr."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from .source import Storage, regular_edges


class ZarrStorage(Storage):
    """A ``zarr.Array``; it can be pickled if its store can."""

    def __init__(self, array: Any) -> None:
        self.array = array
        self.shape, self.dtype = tuple(array.shape), np.dtype(array.dtype)
        self.edges = regular_edges(self.shape[0], int(array.chunks[0]))
        self.folder = _find_array_folder(array)
        self.description = str(self.folder or getattr(array, "store_path", array.store))

    def read(self, start: int, stop: int) -> np.ndarray:
        if self.folder is not None and not any((self.folder / name).exists() for name in ("zarr.json", ".zarray")):
            raise FileNotFoundError("the array does not exist any more")  # zarr would read missing chunks as zeros
        return np.asarray(self.array[start:stop])


def _find_array_folder(array: Any) -> Path | None:
    """Return the folder of the array if its store is in folders on disk."""
    root = getattr(array.store, "root", None) or getattr(array.store, "path", None)
    folder = Path(str(root)) / array.path
    return folder if root is not None and folder.is_dir() else None
