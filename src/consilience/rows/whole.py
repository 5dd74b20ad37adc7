"""Rows that are not in memory, brought there where they fit."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from ..arrays import available_memory, to_host
from ..arrays.lazy import Source, plan_reads


def read_whole(name: str, block: Any, available: int | None) -> Any:
    """A block for those who need all of it at once: read whole where it takes less than half of the memory there is."""
    if not isinstance(block, Source):
        return block
    if available is not None and block.nbytes > available / 2:
        raise MemoryError(
            f"view {name!r} takes {block.nbytes / 2**30:.1f} GiB, more than half of the {available / 2**30:.1f} GiB of "
            "memory available, and this needs all of it at once: take fewer entities (views[:100_000]) or columns, or "
            "a method that works on rows on disk"
        )
    if block.sparse:
        return sp.vstack([to_host(block[rows]) for rows in plan_reads(block)], format="csr")
    out = np.empty(block.shape, block.dtype)
    for rows in plan_reads(block):
        out[rows] = block[rows]
    return out


def read_some(block: Source, rows: np.ndarray) -> Any:
    """Rows by position, read where they fit."""
    wanted, available = block.nbytes * len(rows) // max(1, block.shape[0]), available_memory()
    if available is not None and wanted > available:
        raise MemoryError(
            f"{len(rows)} rows of view {block.name!r} take {wanted / 2**30:.1f} GiB, more than the "
            f"{available / 2**30:.1f} GiB of memory available: ask for fewer, or for neighbours, which stay on disk, "
            "with views[start:stop]"
        )
    return to_host(block.take(rows))
