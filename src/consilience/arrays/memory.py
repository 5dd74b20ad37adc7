"""Free memory of the host and of devices, and arrays in temporary files."""

from __future__ import annotations

import mmap
import os
import re
import sys
import tempfile
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from array_api_compat import is_cupy_array, is_torch_array

from .verbs import is_on_host, is_sparse

OUT_OF_MEMORY_ERROR = "OutOfMemoryError"  # class name in torch and cupy


def available_memory() -> int | None:
    """Bytes that this process may still take; None if the system does not say."""
    try:
        free = int(_number_after("MemAvailable:", Path("/proc/meminfo"))) * 1024
    except OSError:
        return None
    try:  # a container may have less
        group = Path("/sys/fs/cgroup")
        used = int((group / "memory.current").read_text()) - int(_number_after("inactive_file", group / "memory.stat"))
        return min(free, int((group / "memory.max").read_text()) - used)
    except (OSError, ValueError):
        return free


def _number_after(word: str, path: Path) -> str:
    match = re.search(rf"^{word}\s+(\d+)", path.read_text(), re.MULTILINE)
    if match is None:
        raise OSError(f"{path} does not say {word}")
    return match.group(1)


def available_device_memory(array: Any) -> int | None:
    """Bytes that are free on the device of an array; None if unknown, as for arrays in host memory."""
    if is_on_host(array):
        return None
    array = array.data if is_sparse(array) else array
    if is_torch_array(array) and array.device.type == "cuda":
        return _free_in_torch(array.device)
    if is_cupy_array(array):
        with array.device:
            return _free_in_cupy()
    return None


def _free_in_torch(device: Any = None) -> int:
    """Free bytes, including what torch has reserved and does not use."""
    cuda = sys.modules["torch"].cuda
    return cuda.mem_get_info(device)[0] + cuda.memory_reserved(device) - cuda.memory_allocated(device)


def _free_in_cupy() -> int:
    """Free bytes, including what cupy has reserved and does not use."""
    cupy = sys.modules["cupy"]
    return cupy.cuda.runtime.memGetInfo()[0] + cupy.get_default_memory_pool().free_bytes()


FREE = {"torch": _free_in_torch, "cupy": _free_in_cupy}


def create_scratch_array(shape: tuple[int, ...], dtype: Any) -> np.ndarray:
    """Create an array in an unnamed temporary file that disappears with the array.

    It is not a ``np.memmap``, because joblib sends those to its processes by file name, and there is none.
    """
    with tempfile.TemporaryFile(prefix="consilience-") as file:
        n_bytes = max(1, prod(shape)) * np.dtype(dtype).itemsize
        file.truncate(n_bytes)
        if hasattr(os, "posix_fallocate"):  # a full disk raises here instead of killing the process later
            os.posix_fallocate(file.fileno(), 0, n_bytes)
        pages = memoryview(mmap.mmap(file.fileno(), n_bytes))
        return np.frombuffer(pages, dtype, prod(shape)).reshape(shape)


def is_scratch_array(array: Any) -> bool:
    """Whether an array is, or is a view of, one of `create_scratch_array`."""
    while isinstance(array, np.ndarray):
        array = array.base
    return isinstance(getattr(array, "obj", None), mmap.mmap)  # a memoryview of the mapped file
