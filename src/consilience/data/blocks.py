"""One block of features: which rows and columns to take, and how to describe it, whatever kind of array it is."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from .._backend import Array, like, namespace, to_numpy


def all_nan(block: Array) -> np.ndarray:
    """Which rows hold nothing but NaN; only those that start with one are looked at whole."""
    if sp.issparse(block) or block.shape[1] == 0:
        return np.zeros(block.shape[0], bool)
    xp = namespace(block)
    if not xp.isdtype(block.dtype, "real floating"):
        return np.zeros(block.shape[0], bool)
    suspects = np.array(to_numpy(xp.isnan(block[:, 0])))
    if suspects.any():
        at = like(np.flatnonzero(suspects), block)
        suspects[suspects] = to_numpy(xp.all(xp.isnan(xp.take(block, at, axis=0)), axis=1))
    return suspects


def take_rows(block: Array, rows: np.ndarray) -> Array:
    """Rows of a block in a new order; -1 asks for a row of nothing (NaN, or no stored value)."""
    there = rows >= 0
    if there.all():
        return block if np.array_equal(rows, np.arange(block.shape[0])) else index_rows(block, rows)
    if sp.issparse(block):
        cells = np.ones(there.sum(), block.dtype), (np.flatnonzero(there), rows[there])
        return sp.csr_array(sp.csr_array(cells, shape=(len(rows), block.shape[0])) @ block)
    values = to_numpy(block)
    out = np.full((len(rows), values.shape[1]), np.nan, np.result_type(values.dtype, np.float32))
    out[there] = values[rows[there]]
    return like(out, block)


def index_rows(block: Array, rows: slice | np.ndarray) -> Array:
    """Rows by slice or by position."""
    if sp.issparse(block) or isinstance(block, np.ndarray):
        return block[rows]
    if isinstance(rows, slice) and (rows.step is None or rows.step > 0):
        return block[rows, ...]
    rows = np.arange(block.shape[0])[rows]  # torch knows no slices that run backwards
    return namespace(block).take(block, like(rows, block), axis=0)


def index_columns(block: Array, columns: slice | list[int]) -> Array:
    """Columns by slice or by position."""
    if isinstance(columns, slice) or sp.issparse(block) or isinstance(block, np.ndarray):
        return block[:, columns]
    at = np.arange(block.shape[1])[columns]
    return namespace(block).take(block, like(at, block), axis=1)


def frozen(values: Any) -> Any:
    """The same numbers, of a numpy array not to be written to through this name."""
    if isinstance(values, np.ndarray):
        values = values.view()
        values.flags.writeable = False
    return values


def kind_of(block: Array) -> str:
    """What a person would call it: dense or sparse or of which library, and the type of its numbers."""
    if sp.issparse(block):
        return f"sparse {block.dtype}"
    library = type(block).__module__.partition(".")[0]
    return f"{'dense' if library == 'numpy' else library} {str(block.dtype).rpartition('.')[2]}"


def density_of(block: Array) -> float:
    """Share of cells that are not zero, looking at no more than a thousand rows of a dense block."""
    cells = block.shape[0] * block.shape[1]
    if not cells:
        return 0.0
    if sp.issparse(block):
        return block.nnz / cells
    some = to_numpy(block[:: -(-block.shape[0] // 1000), ...])
    some = some[~all_nan(some)]
    return float(np.mean(some != 0)) if some.size else 0.0
