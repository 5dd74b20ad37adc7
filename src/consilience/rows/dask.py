"""Arrays and frames of dask: computed a chunk at a time, here or wherever dask computes."""

from __future__ import annotations

import sys
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp


def current_client() -> Any:
    """The dask client whose workers should work; None where dask computes on threads of this process."""
    if "distributed" not in sys.modules:
        return None
    from distributed import default_client

    if not _asks_cluster():
        return None
    try:
        return default_client()
    except ValueError:
        return None


def _asks_cluster() -> bool:
    """Whether nobody has asked dask to compute elsewhere."""
    import dask

    return dask.config.get("scheduler", None) in (None, "distributed", "dask.distributed")


class DaskStorage:
    """Rows of a dask array of two dimensions, in chunks of whole rows; it can be pickled where the array can."""

    source = "a dask array"

    def __init__(self, array: Any) -> None:
        self.array = array if array.numblocks[1] == 1 else array.rechunk({1: -1})
        self.n_rows, self.n_columns = (int(length) for length in self.array.shape)
        self.dtype = np.dtype(self.array.dtype)
        self.sparse = sp.issparse(self.array._meta)
        self.edges = np.concatenate([[0], np.cumsum(self.array.chunks[0])])
        self.client = current_client()  # threads that read ahead do not know who is around whom they read for
        self.size = self._n_stored() if self.sparse else self.n_rows * self.n_columns
        self.sound = np.zeros(self.n_rows, bool)

    def _n_stored(self) -> int:
        """How many numbers sparse chunks hold, counted where they are: the choice of starts depends on it."""
        from dask.delayed import delayed

        return sum(self._computed([delayed(_n_stored)(chunk) for chunk in self.chunks]))

    def read(self, start: int, stop: int) -> Any:
        first, last = np.searchsorted(self.edges, [start, stop - 1], side="right") - 1
        computed = self._computed(self.chunks[first : last + 1])
        whole = (sp.csr_array(part) if self.sparse else part for part in computed)
        parts = [
            part if start <= edge and edge + part.shape[0] <= stop else part[max(0, start - edge) : stop - edge]
            for part, edge in zip(whole, self.edges[first : last + 1], strict=True)
        ]
        if self.sparse:
            return parts[0] if len(parts) == 1 else sp.vstack(parts, format="csr")
        return np.asarray(parts[0] if len(parts) == 1 else np.concatenate(parts))

    def all_nan(self) -> np.ndarray:
        """Which rows hold nothing but NaN, found where the chunks are."""
        import dask.array as da

        return self._computed([da.isnan(self.array).all(axis=1)])[0]

    def _computed(self, parts: list[Any]) -> tuple[Any, ...]:
        """Where the client is that was around, or wherever dask computes."""
        from dask.base import compute

        alive = self.client is not None and self.client.status == "running" and _asks_cluster()
        return compute(*parts, scheduler=self.client if alive else None)

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"client": None}

    @cached_property
    def chunks(self) -> list[Any]:
        """Each chunk as something that dask computes."""
        return self.array.to_delayed()[:, 0].tolist()


def _n_stored(chunk: Any) -> int:
    return int(chunk.nnz)


def as_dask_array(name: str, data: Any) -> Any:
    """A dask array whose chunks have known numbers of rows, from an array or a frame."""
    if hasattr(data, "to_dask_array"):
        return _of_frame(name, data)
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
    """Whether the first chunk is sparse, asked where it is."""
    from dask.base import compute
    from dask.delayed import delayed

    return compute(delayed(sp.issparse)(array.to_delayed().flat[0]))[0]


def _of_frame(name: str, frame: Any) -> Any:
    """Its columns as one array; those of several types, or with nulls of their own, as float64."""
    dtypes = dict(frame.dtypes) if frame.ndim == 2 else {frame.name: frame.dtype}
    texts = [column for column, dtype in dtypes.items() if getattr(dtype, "kind", "O") not in "biuf"]
    if texts:
        raise TypeError(f"view {name!r}: column {texts[0]!r} holds no numbers. Encode it first, or leave it out")
    kinds = set(dtypes.values())
    if len(kinds) > 1 or not all(isinstance(kind, np.dtype) for kind in kinds):
        frame = frame.astype(np.float64)
    return frame.to_dask_array(lengths=True)
