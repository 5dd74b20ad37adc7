"""Compilation of kernels. Importing this file imports numba."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import njit


def compile_kernel(function: Callable[..., Any], *, fastmath: bool | set[str] = False) -> Any:
    """Compile a function on its first call, without the global interpreter lock, and cache the machine code on disk.

    numba writes its cache beside the source file or into the cache folder of the user, and raises a RuntimeError if it
    can write to neither, as in a container with a read-only file system. There the function is compiled once per
    process instead. With `fastmath`, sums may be added up in any order, which lets the processor add several at a time;
    a set names the liberties that LLVM may take.
    """
    try:
        return njit(nogil=True, cache=True, fastmath=fastmath)(function)
    except RuntimeError:
        return njit(nogil=True, fastmath=fastmath)(function)
