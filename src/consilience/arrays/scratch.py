"""Room for what is worked out along the way: memory, or a file where there is too much of it."""

from __future__ import annotations

import mmap
import os
import tempfile
from math import prod
from typing import Any

import numpy as np


def create_scratch_array(shape: tuple[int, ...], dtype: Any) -> np.ndarray:
    """An array in a file that nobody else sees, and that is gone with the array.

    It is no ``np.memmap``: joblib sends those to its processes by the name of the file, and there is none.
    """
    with tempfile.TemporaryFile(prefix="consilience-") as file:
        n_bytes = max(1, prod(shape)) * np.dtype(dtype).itemsize
        file.truncate(n_bytes)
        if hasattr(os, "posix_fallocate"):  # a disk that is full says so now, and not by ending the process later
            os.posix_fallocate(file.fileno(), 0, n_bytes)
        pages = memoryview(mmap.mmap(file.fileno(), n_bytes))
        return np.frombuffer(pages, dtype, prod(shape)).reshape(shape)


def is_scratch_array(array: Any) -> bool:
    """Whether an array, or what it is a part of, was made by `scratch`."""
    while isinstance(array, np.ndarray):
        array = array.base
    return isinstance(array, memoryview) and isinstance(array.obj, mmap.mmap)
