"""Arrays and frames of dask, computed a chunk at a time."""

from __future__ import annotations

import sys
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from .source import Storage


def current_client() -> Any:
    """Return the active dask client; None if dask computes on threads of this process."""
    if "distributed" not in sys.modules:
        return None
    from distributed import default_client

    try:
        return default_client() if _uses_workers() else None
    except ValueError:
        return None


def _uses_workers() -> bool:
    """Whether dask is not configured to compute in this process."""
    import dask

    return dask.config.get("scheduler", None) in (None, "distributed", "dask.distributed")


class DaskStorage(Storage):
    """Rows of a two-dimensional dask array, in chunks of whole rows; it can be pickled if the array can."""

    description = "a dask array"

    def __init__(self, array: Any) -> None:
        self.array = array if array.numblocks[1] == 1 else array.rechunk({1: -1})
        self.shape = tuple(int(length) for length in self.array.shape)
        self.dtype = np.dtype(self.array.dtype)
        self.sparse = sp.issparse(self.array._meta)
        self.edges = np.concatenate([[0], np.cumsum(self.array.chunks[0])])
        self.client = current_client()  # threads that read ahead do not see the caller's client
        self.checked = np.zeros(self.shape[0], bool)
        self._n_stored = self._count_stored() if self.sparse else self.shape[0] * self.shape[1]

    @property
    def size(self) -> int:
        return self._n_stored

    def _count_stored(self) -> int:
        """Count the values of sparse chunks, where the chunks are: the choice of starts depends on the number."""
        from dask.delayed import delayed

        return sum(self._compute([delayed(lambda chunk: int(chunk.nnz))(chunk) for chunk in self.chunks]))

    def read(self, start: int, stop: int) -> Any:
        first, last = np.searchsorted(self.edges, [start, stop - 1], side="right") - 1
        computed = self._compute(self.chunks[first : last + 1])
        chunks = (sp.csr_array(chunk) if self.sparse else chunk for chunk in computed)
        blocks = [
            chunk if start <= edge and edge + chunk.shape[0] <= stop else chunk[max(0, start - edge) : stop - edge]
            for chunk, edge in zip(chunks, self.edges[first : last + 1], strict=True)
        ]
        if self.sparse:
            return blocks[0] if len(blocks) == 1 else sp.vstack(blocks, format="csr")
        return np.asarray(blocks[0] if len(blocks) == 1 else np.concatenate(blocks))

    def find_all_nan(self) -> np.ndarray:
        """Return which rows contain only NaN, computed where the chunks are."""
        import dask.array as da

        return self._compute([da.isnan(self.array).all(axis=1)])[0]

    def _compute(self, graphs: list[Any]) -> tuple[Any, ...]:
        """Compute on the workers of the client that was active at first, or wherever dask computes."""
        from dask.base import compute

        alive = self.client is not None and self.client.status == "running" and _uses_workers()
        return compute(*graphs, scheduler=self.client if alive else None)

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"client": None}

    @cached_property
    def chunks(self) -> list[Any]:
        """Each chunk as a delayed object of dask."""
        return self.array.to_delayed()[:, 0].tolist()


def as_dask_array(name: str, data: Any) -> Any:
    """Return an array or frame of dask as a dask array whose chunks have known numbers of rows."""
    if hasattr(data, "to_dask_array"):
        return _frame_to_array(name, data)
    if not hasattr(data, "rechunk"):
        raise TypeError(
            f"view {name!r} is a {type(data).__name__} of dask: give an array or a frame, such as "
            "dask.array.from_delayed makes"
        )
    if any(np.isnan(length) for length in data.shape):
        raise ValueError(
            f"view {name!r} is a dask array that does not know how many rows its chunks have: call "
            ".compute_chunk_sizes() on it first"
        )
    if not sp.issparse(data._meta) and _starts_sparse(data):
        raise TypeError(
            f"view {name!r} is a dask array that takes its chunks for dense, but the first is sparse: say so with "
            f"dask.array.from_delayed(..., meta=scipy.sparse.csr_array((0, {data.shape[-1]})))"
        )
    return data


def _starts_sparse(array: Any) -> bool:
    """Whether the first chunk is sparse, computed where it is."""
    from dask.base import compute
    from dask.delayed import delayed

    return compute(delayed(sp.issparse)(array.to_delayed().flat[0]))[0]


def _frame_to_array(name: str, frame: Any) -> Any:
    """Return the columns as one array; as float64 if they have several types or nulls."""
    dtypes = dict(frame.dtypes) if frame.ndim == 2 else {frame.name: frame.dtype}
    texts = [column for column, dtype in dtypes.items() if getattr(dtype, "kind", "O") not in "biuf"]
    if texts:
        raise TypeError(f"view {name!r}: column {texts[0]!r} holds no numbers. Encode it first, or leave it out")
    kinds = set(dtypes.values())
    if len(kinds) > 1 or not all(isinstance(kind, np.dtype) for kind in kinds):
        frame = frame.astype(np.float64)
    return frame.to_dask_array(lengths=True)
