"""One block of features: which rows and columns to take, and how to describe it, whatever kind of array it is."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..arrays import Array, DeviceCSR, asarray_like, is_sparse, map_chunks, namespace, plan_reads, to_numpy
from ..arrays import take_rows as take_sparse_rows
from ..rows import DaskStorage, Source, StorageColumns, as_source, read_some

GAPS = (
    "a sparse matrix on a device cannot have gaps: give it rows of zeros where entities lack it, and say which with "
    "present="
)
NOT_IN_ORDER = (
    "view {name!r} stays on disk, and to join the other views its rows would have to change places or leave gaps: give "
    "all views the same entities in the same order first, or read this one into memory (.to_memory(), or [:])"
)


def find_all_nan_rows(block: Array) -> np.ndarray:
    """Which rows hold nothing but NaN; only those that start with one are looked at whole."""
    block = as_source(block)
    if isinstance(block, Source):
        return _all_nan_on_disk(block)
    if sp.issparse(block) or is_sparse(block) or block.shape[1] == 0:
        return np.zeros(block.shape[0], bool)
    xp = namespace(block)
    if not xp.isdtype(block.dtype, "real floating"):
        return np.zeros(block.shape[0], bool)
    suspects = np.array(to_numpy(xp.isnan(block[:, 0])))
    if suspects.any():
        at = asarray_like(np.flatnonzero(suspects), block)
        suspects[suspects] = to_numpy(xp.all(xp.isnan(xp.take(block, at, axis=0)), axis=1))
    return suspects


def _all_nan_on_disk(X: Source) -> np.ndarray:
    """The same, a block after the other; rows that can hold no NaN are not read."""
    if X.sparse or X.storage.dtype.kind != "f":
        return np.zeros(X.shape[0], bool)
    if isinstance(X.storage, DaskStorage):
        return X.storage.find_all_nan()[X.start : X.stop]
    return np.concatenate(list(map_chunks(lambda rows: find_all_nan_rows(X[rows, ...]), plan_reads(X))))


def reindex_rows(block: Array, rows: np.ndarray) -> Array:
    """Rows of a block in a new order; -1 asks for a row of nothing (NaN, or no stored value)."""
    if np.array_equal(rows, np.arange(block.shape[0])):
        return block
    if isinstance(block, Source):
        raise ValueError(NOT_IN_ORDER.format(name=block.name))
    there = rows >= 0
    if there.all():
        return index_rows(block, rows)
    if isinstance(block, DeviceCSR):
        raise ValueError(GAPS)
    if sp.issparse(block):
        cells = np.ones(there.sum(), block.dtype), (np.flatnonzero(there), rows[there])
        return sp.csr_array(sp.csr_array(cells, shape=(len(rows), block.shape[0])) @ block)
    values = to_numpy(block)
    out = np.full((len(rows), values.shape[1]), np.nan, np.result_type(values.dtype, np.float32))
    out[there] = values[rows[there]]
    return asarray_like(out, block)


def index_rows(block: Array, rows: slice | np.ndarray) -> Array:
    """Rows by slice or by position; of rows on disk a range stays there."""
    if isinstance(block, Source):
        start, stop, step = rows.indices(block.shape[0]) if isinstance(rows, slice) else (0, 0, 0)
        if step == 1:
            return block.slice_rows(start, max(start, stop))
        return read_some(block, np.arange(block.shape[0])[rows])
    if sp.issparse(block) or isinstance(block, np.ndarray):
        return block[rows]
    if isinstance(block, DeviceCSR):
        return take_sparse_rows(block, np.arange(block.shape[0])[rows])
    if isinstance(rows, slice) and (rows.step is None or rows.step > 0):
        return block[rows, ...]
    rows = np.arange(block.shape[0])[rows]  # torch knows no slices that run backwards
    return namespace(block).take(block, asarray_like(rows, block), axis=0)


def index_columns(block: Array, columns: slice | list[int]) -> Array:
    """Columns by slice or by position."""
    if isinstance(block, Source):
        if block.steps:
            raise ValueError(f"columns of view {block.name!r} must be chosen before its rows are changed")
        if isinstance(block.storage, DaskStorage):  # the columns too are of dask, so that a cluster can have them
            return replace(block, storage=DaskStorage(block.storage.array[:, columns]))
        return replace(block, storage=StorageColumns(block.storage, columns))
    if isinstance(block, DeviceCSR):
        raise ValueError("columns of a sparse matrix on a device cannot be chosen: give each group of them as a view")
    if isinstance(columns, slice) or sp.issparse(block) or isinstance(block, np.ndarray):
        return block[:, columns]
    at = np.arange(block.shape[1])[columns]
    return namespace(block).take(block, asarray_like(at, block), axis=1)


def make_read_only(values: Any) -> Any:
    """The same numbers, of a numpy array not to be written to through this name."""
    if isinstance(values, np.ndarray):
        values = values.view()
        values.flags.writeable = False
    return values


def describe_kind(block: Array) -> str:
    """What a person would call it: dense or sparse or of which library, and the type of its numbers."""
    if isinstance(block, Source):
        place = "of dask" if isinstance(block.storage, DaskStorage) else "on disk"
        return f"{'sparse' if block.sparse else 'dense'} {block.storage.dtype} {place}"
    if sp.issparse(block):
        return f"sparse {block.dtype}"
    if isinstance(block, DeviceCSR):
        return f"sparse {str(block.dtype).rpartition('.')[2]} on a device"
    library = type(block).__module__.partition(".")[0]
    return f"{'dense' if library == 'numpy' else library} {str(block.dtype).rpartition('.')[2]}"


def estimate_density(block: Array) -> float:
    """Share of cells that are not zero, looking at no more than a thousand rows of a dense block."""
    cells = block.shape[0] * block.shape[1]
    if not cells:
        return 0.0
    if sp.issparse(block):
        return block.nnz / cells
    if isinstance(block, DeviceCSR):
        return block.size / cells
    block = as_source(block)
    if isinstance(block, Source):
        if block.sparse:
            return block.size / cells
        block = block.take(_sample_positions(block.shape[0]))
    some = to_numpy(block[:: -(-block.shape[0] // 1000), ...])
    some = some[~find_all_nan_rows(some)]
    return float(np.mean(some != 0)) if some.size else 0.0


def _sample_positions(n: int) -> np.ndarray:
    """Up to a thousand of n rows in four runs of neighbours, and so in few of the units that are read whole."""
    starts = np.linspace(0, max(0, n - 250), 4).astype(np.intp)
    return np.unique(np.minimum(starts[:, None] + np.arange(250), n - 1))
