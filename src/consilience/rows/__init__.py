"""Where rows are and how they are processed: sources on disk, rows of a view, and shards of entities.

One file per storage; none imports its library before it is used.
"""

from . import verbs  # noqa: F401  registers the verbs of arrays for sources
from .dask import DaskStorage, as_dask_array, current_client
from .memmap import find_mapping
from .open import as_source, is_stored_array, open_storage, read_some, read_whole
from .parquet import ParquetFile, open_parquet
from .source import Source, Storage, StorageColumns
from .sparse import open_sparse

__all__ = [
    "DaskStorage",
    "ParquetFile",
    "Source",
    "Storage",
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
