"""How much memory there is to take, here and on a device."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from array_api_compat import is_cupy_array, is_torch_array

from .device_csr import DeviceCSR

OUT_OF_MEMORY_ERROR = "OutOfMemoryError"  # what torch and cupy both call it


def available_memory() -> int | None:
    """Bytes that are free for us; None where the system does not say."""
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
    found = re.search(rf"^{word}\s+(\d+)", path.read_text(), re.MULTILINE)
    if found is None:
        raise OSError(f"{path} does not say {word}")
    return found.group(1)


def available_device_memory(array: Any) -> int | None:
    """Bytes that are free on the device of an array; None where none is known, as of arrays that lie here."""
    array = array.data if isinstance(array, DeviceCSR) else array
    if is_torch_array(array) and array.device.type == "cuda":
        return _free_in_torch(array.device)
    if is_cupy_array(array):
        with array.device:
            return _free_in_cupy()
    return None


def _free_in_torch(device: Any = None) -> int:
    """What torch has taken and does not use counts as free."""
    cuda = sys.modules["torch"].cuda
    return cuda.mem_get_info(device)[0] + cuda.memory_reserved(device) - cuda.memory_allocated(device)


def _free_in_cupy() -> int:
    """What cupy has taken and does not use counts as free."""
    cupy = sys.modules["cupy"]
    return cupy.cuda.runtime.memGetInfo()[0] + cupy.get_default_memory_pool().free_bytes()


FREE = {"torch": _free_in_torch, "cupy": _free_in_cupy}


@contextmanager
def explain_out_of_memory(
    what: str, advice: str = "give fewer entities (views[rows]), or numbers in float32"
) -> Iterator[None]:
    """Say what does not fit, and what to do, where a device runs out of memory."""
    try:
        yield
    except Exception as error:
        if OUT_OF_MEMORY_ERROR not in (kind.__name__ for kind in type(error).__mro__):
            raise
        free = FREE.get(type(error).__module__.partition(".")[0])
        left = "" if free is None else f" ({free() / 2**30:.1f} GiB free)"
        raise MemoryError(f"{what} does not fit the device{left}: {advice}") from error
