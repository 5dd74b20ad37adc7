"""Arrays of zarr."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np


class ZarrStorage:
    """A ``zarr.Array``; it can be pickled where its store can."""

    def __init__(self, array: Any) -> None:
        self.array = array
        self.shape, self.dtype = tuple(array.shape), np.dtype(array.dtype)
        self.unit: int | None = int(array.chunks[0])
        self.folder = _folder(array)
        self.source = str(self.folder or getattr(array, "store_path", array.store))

    def read(self, start: int, stop: int) -> np.ndarray:
        if self.folder is not None and not any((self.folder / name).exists() for name in ("zarr.json", ".zarray")):
            raise FileNotFoundError("the array is not there any more")  # zarr would read chunks that are gone as zeros
        return np.asarray(self.array[start:stop])


def _folder(array: Any) -> Path | None:
    """Where the array lies, if it is in folders on disk."""
    root = getattr(array.store, "root", None) or getattr(array.store, "path", None)
    folder = Path(str(root)) / array.path
    return folder if root is not None and folder.is_dir() else None
