"""Rows that stay on disk: one file a kind of storage, none of which imports its library before it is used."""

from .dask import DaskStorage, as_dask_array, current_client
from .memmap import find_mapping
from .parquet import ParquetFile, open_parquet
from .recognise import as_source, is_stored_array, open_storage
from .sparse import open_sparse
from .stored import StorageColumns
from .whole import read_some, read_whole

__all__ = [
    "DaskStorage",
    "ParquetFile",
    "StorageColumns",
    "as_dask_array",
    "as_source",
    "current_client",
    "find_mapping",
    "is_stored_array",
    "open_parquet",
    "open_sparse",
    "open_storage",
    "read_some",
    "read_whole",
]
