"""Arrays in HDF5 files, read by h5py."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from .source import Storage, regular_edges


class HDF5Storage(Storage):
    """An ``h5py.Dataset``; after unpickling it is opened again when it is read."""

    def __init__(self, dataset: Any) -> None:
        self.dataset = dataset
        self.path, self.key = os.path.abspath(dataset.file.filename), dataset.name
        self.on_disk = dataset.file.driver == "sec2"  # other drivers keep it in memory, in several files or elsewhere
        self.n_bytes = os.path.getsize(self.path) if self.on_disk else 0
        self.shape, self.dtype = dataset.shape, dataset.dtype
        self.edges = regular_edges(self.shape[0], None if dataset.chunks is None else int(dataset.chunks[0]))
        self.description = f"{self.path} ({self.key})"

    def read(self, start: int, stop: int) -> np.ndarray:
        if self.on_disk and os.path.getsize(self.path) < self.n_bytes:  # HDF5 would read zeros
            raise OSError("the file has become shorter")
        if self.dataset is None:
            import h5py

            self.dataset = h5py.File(self.path, "r")[self.key]
        return self.dataset[start:stop]

    def __getstate__(self) -> dict[str, Any]:
        if not self.on_disk:
            raise TypeError(f"{self.description} cannot be pickled: it is not a file on disk that can be opened again")
        return self.__dict__ | {"dataset": None}
