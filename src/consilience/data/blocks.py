"""Rows and columns of one view, and its description, for every kind of array that a view can hold."""

from __future__ import annotations

from dataclasses import replace
from functools import singledispatch
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..arrays import Array, DeviceCSR, asarray_like, is_in_memory, is_sparse, namespace, take_rows, to_numpy
from ..rows import Source, as_source, read_some
from .inputs import find_all_nan_rows

GAPS = (
    "a sparse matrix on a device cannot have gaps: give it rows of zeros where entities lack it, and say which with "
    "present="
)
NOT_IN_ORDER = (
    "view {name!r} stays on disk, and to join the other views its rows would have to be reordered or have gaps: give "
    "all views the same entities in the same order first, or read this one into memory (.to_memory(), or [:])"
)


def reindex_rows(block: Array, rows: np.ndarray) -> Array:
    """Rows by position, with an empty row (NaN, or no stored value) for the position -1."""
    if np.array_equal(rows, np.arange(block.shape[0])):
        return block
    if not is_in_memory(block):
        raise ValueError(NOT_IN_ORDER.format(name=block.name))
    exists = rows >= 0
    if exists.all():
        return index_rows(block, rows)
    if isinstance(block, DeviceCSR):
        raise ValueError(GAPS)
    if sp.issparse(block):
        cells = np.ones(exists.sum(), block.dtype), (np.flatnonzero(exists), rows[exists])
        return sp.csr_array(sp.csr_array(cells, shape=(len(rows), block.shape[0])) @ block)
    values = to_numpy(block)
    out = np.full((len(rows), values.shape[1]), np.nan, np.result_type(values.dtype, np.float32))
    out[exists] = values[rows[exists]]
    return asarray_like(out, block)


@singledispatch
def index_rows(block: Array, rows: slice | np.ndarray) -> Array:
    """Rows by slice or by position; a range of rows on disk stays there."""
    if isinstance(rows, slice) and (rows.step is None or rows.step > 0):
        return block[rows, ...]
    return _take_positions(block, rows)


def _take_positions(block: Array, rows: slice | np.ndarray) -> Array:
    return take_rows(block, asarray_like(np.arange(block.shape[0])[rows], block))


@index_rows.register
def _(block: np.ndarray | sp.sparray | sp.spmatrix, rows: slice | np.ndarray) -> Array:
    return block[rows]


@index_rows.register
def _(block: DeviceCSR, rows: slice | np.ndarray) -> DeviceCSR:
    return _take_positions(block, rows)


@index_rows.register
def _(block: Source, rows: slice | np.ndarray) -> Array:
    start, stop, step = rows.indices(block.shape[0]) if isinstance(rows, slice) else (0, 0, 0)
    if step == 1:
        return block.slice_rows(start, max(start, stop))
    return read_some(block, np.arange(block.shape[0])[rows])


@singledispatch
def index_columns(block: Array, columns: slice | list[int]) -> Array:
    """Columns by slice or by position."""
    if isinstance(columns, slice):
        return block[:, columns]
    positions = np.arange(block.shape[1])[columns]
    return namespace(block).take(block, asarray_like(positions, block), axis=1)


@index_columns.register
def _(block: np.ndarray | sp.sparray | sp.spmatrix, columns: slice | list[int]) -> Array:
    return block[:, columns]


@index_columns.register
def _(block: DeviceCSR, columns: slice | list[int]) -> Array:  # noqa: ARG001
    raise ValueError("columns of a sparse matrix on a device cannot be chosen: give each group of them as a view")


@index_columns.register
def _(block: Source, columns: slice | list[int]) -> Source:
    if block.steps:
        raise ValueError(f"columns of view {block.name!r} must be chosen before its rows are changed")
    return replace(block, storage=block.storage.select_columns(columns))


@singledispatch
def describe_kind(block: Array) -> str:
    """Describe a block for users: dense, sparse or the array library, and the dtype."""
    library = type(block).__module__.partition(".")[0]
    return f"{'dense' if library == 'numpy' else library} {_dtype_name(block.dtype)}"


@describe_kind.register
def _(block: sp.sparray | sp.spmatrix) -> str:
    return f"sparse {block.dtype}"


@describe_kind.register
def _(block: DeviceCSR) -> str:
    return f"sparse {_dtype_name(block.dtype)} on a device"


@describe_kind.register
def _(block: Source) -> str:
    return f"{'sparse' if block.sparse else 'dense'} {block.storage.dtype} {block.storage.location}"


def _dtype_name(dtype: Any) -> str:
    """Name of a dtype without its library, as in ``torch.float32``."""
    return str(dtype).rpartition(".")[2]


def estimate_density(block: Array) -> float:
    """Share of cells that are not zero, from at most a thousand rows of a dense block."""
    n_cells = block.shape[0] * block.shape[1]
    if not n_cells:
        return 0.0
    if sp.issparse(block):
        return block.nnz / n_cells
    block = as_source(block)
    if is_sparse(block):
        return block.size / n_cells
    if not is_in_memory(block):
        n = block.shape[0]
        starts = np.linspace(0, max(0, n - 250), 4).astype(np.intp)  # few runs, so that few units of a storage are read
        block = block.take(np.unique(np.minimum(starts[:, None] + np.arange(250), n - 1)))
    sample = to_numpy(block[:: -(-block.shape[0] // 1000), ...])
    sample = sample[~find_all_nan_rows(sample)]
    return float(np.mean(sample != 0)) if sample.size else 0.0
