"""Open arrays of other libraries as storages, recognized by the names of their types: no library is imported."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from ..arrays import available_memory, plan_reads, to_host
from .hdf5 import HDF5Storage
from .memmap import MappedStorage
from .source import Source, Storage
from .sparse import SparseStorage
from .zarr import ZarrStorage

ARRAYS: dict[tuple[str, str], Callable[[Any], Storage]] = {
    ("h5py", "Dataset"): HDF5Storage,
    ("zarr", "Array"): ZarrStorage,
}
BY_ROWS, BY_COLUMNS = ("anndata", "CSRDataset"), ("anndata", "CSCDataset")


def is_stored_array(data: Any) -> bool:
    """Whether this is an array of h5py or zarr, or of an AnnData file, which is read when needed."""
    return _type_key(data) in (*ARRAYS, BY_ROWS, BY_COLUMNS)


def open_storage(name: str, data: Any) -> Storage:
    """Return the storage of a stored array."""
    key = _type_key(data)
    if key == BY_COLUMNS:
        raise TypeError(
            f"view {name!r} is stored by columns (CSC), so its rows cannot be read one after the other: store it by "
            "rows (data.X = data.X.to_memory().tocsr(), then write), or call .to_memory() on the data"
        )
    if key == BY_ROWS:
        values, indices = (data.group[part] for part in ("data", "indices"))
        storages = ARRAYS[_type_key(values)](values), ARRAYS[_type_key(indices)](indices)
        return SparseStorage(*storages, data.group["indptr"][:], data.shape)
    return ARRAYS[key](data)


def find_mapping(values: Any) -> MappedStorage | None:
    """Return an array as a storage if its numbers are in a mapped file."""
    owner: Any = values
    while isinstance(owner, np.ndarray):
        if isinstance(owner, np.memmap) and getattr(owner, "_mmap", None) is not None:  # None for computed results
            return MappedStorage(np.asarray(values), owner)
        owner = owner.base
    return None


def as_source(block: Any, name: str = "") -> Any:
    """Return rows mapped from a file, dense or sparse, as a `Source`; return others unchanged."""
    if isinstance(block, np.ndarray):
        storage = find_mapping(block)
        return block if storage is None else Source.over(storage, name)
    if sp.issparse(block) and block.format == "csr":
        data, indices = find_mapping(block.data), find_mapping(block.indices)
        if data is not None and indices is not None:
            return Source.over(SparseStorage(data, indices, block.indptr, block.shape), name)
    return block


def open_sparse(data: Any, indices: Any, indptr: Any, shape: tuple[int, int]) -> Source:
    """Open sparse rows in three ``.npy`` files, which stay on disk, as a view.

    Up to two billion values ``scipy.sparse.csr_array((data, indices, indptr), shape=shape)`` of mapped arrays works as
    well; beyond that, scipy needs 64-bit indices and copies others into memory.

    Parameters
    ----------
    data, indices : path, or array mapped from a file
        Values of a CSR matrix and their columns.
    indptr : path or array
        Where each row starts, and the end of the last; kept in memory.
    shape : tuple of (int, int)
        Number of rows and columns.

    Returns
    -------
    LazyRows
        Rows that are read when they are needed; pass them to `Views`.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> import scipy.sparse as sp
    >>> import consilience as cs
    >>> X = sp.random_array((500, 40), density=0.1, format="csr", rng=0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     paths = [f"{folder}/{part}.npy" for part in ("data", "indices", "indptr")]
    ...     for path, part in zip(paths, (X.data, X.indices, X.indptr)):
    ...         np.save(path, part)
    ...     words = cs.open_sparse(*paths, shape=X.shape)
    ...     cs.Views({"words": words})["words"].shape
    (500, 40)
    """
    arrays = [find_mapping(_open_array(part, mmap_mode="r")) for part in (data, indices)]
    if arrays[0] is None or arrays[1] is None:
        raise TypeError("data and indices must be .npy files, or arrays mapped from them: np.load(path, mmap_mode='r')")
    return Source.over(SparseStorage(arrays[0], arrays[1], _open_array(indptr), shape))


def _open_array(part: Any, mmap_mode: Literal["r"] | None = None) -> Any:
    """Open an array that is given as a path; return others as they are."""
    if not isinstance(part, str | Path):
        return part
    try:
        return np.load(part, mmap_mode=mmap_mode)
    except (ValueError, EOFError) as error:
        raise ValueError(f"{part} cannot be read as a .npy file: {error}") from error


def _type_key(data: Any) -> tuple[str, str]:
    """Library and name of a type."""
    return type(data).__module__.partition(".")[0], type(data).__name__.removeprefix("_")


def read_whole(name: str, block: Any, available: int | None) -> Any:
    """Read all rows of a block into memory if they take less than half of the memory available."""
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
    """Read rows by position into memory if they fit."""
    n_bytes, available = block.nbytes * len(rows) // max(1, block.shape[0]), available_memory()
    if available is not None and n_bytes > available:
        raise MemoryError(
            f"{len(rows)} rows of view {block.name!r} take {n_bytes / 2**30:.1f} GiB, more than the "
            f"{available / 2**30:.1f} GiB of memory available: take fewer, or neighboring rows, which stay on disk, "
            "with views[start:stop]"
        )
    return to_host(block.take(rows))
