"""Whose arrays these are, told by the names of their types: none of the libraries is imported."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..arrays.lazy import Reader, Source
from .hdf5 import HDF5Storage
from .memmap import find_mapping
from .sparse import SparseStorage
from .stored import DenseReader, StoredArray
from .zarr import ZarrStorage

ARRAYS: dict[tuple[str, str], Callable[[Any], StoredArray]] = {
    ("h5py", "Dataset"): HDF5Storage,
    ("zarr", "Array"): ZarrStorage,
}
BY_ROWS, BY_COLUMNS = ("anndata", "CSRDataset"), ("anndata", "CSCDataset")


def is_stored_array(data: Any) -> bool:
    """Whether this is an array in a file that a library reads when asked: of h5py or zarr, or of a backed AnnData."""
    return _kind(data) in (*ARRAYS, BY_ROWS, BY_COLUMNS)


def open_storage(name: str, data: Any) -> Reader:
    """Its rows."""
    if _kind(data) == BY_COLUMNS:
        raise TypeError(
            f"view {name!r} is stored by columns (CSC), of which rows cannot be read one after the other: store it by "
            "rows (data.X = data.X.to_memory().tocsr(), then write), or call .to_memory() on the data"
        )
    if _kind(data) == BY_ROWS:
        values, indices = (_array(data.group[key]) for key in ("data", "indices"))
        return SparseStorage(values, indices, data.group["indptr"][:], data.shape)
    return DenseReader(_array(data))


def as_source(block: Any, name: str = "") -> Any:
    """Rows mapped from a file, dense or sparse, as rows that are read when asked for; anything else as it is."""
    if isinstance(block, np.ndarray):
        array = find_mapping(block)
        return block if array is None else Source.over(DenseReader(array), name)
    if sp.issparse(block) and block.format == "csr":
        data, indices = find_mapping(block.data), find_mapping(block.indices)
        if data is not None and indices is not None:
            return Source.over(SparseStorage(data, indices, block.indptr, block.shape), name)
    return block


def _array(data: Any) -> StoredArray:
    return ARRAYS[_kind(data)](data)


def _kind(data: Any) -> tuple[str, str]:
    """Library and name of its type."""
    return type(data).__module__.partition(".")[0], type(data).__name__.removeprefix("_")
