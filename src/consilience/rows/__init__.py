"""Where rows are and how they are processed: sources on disk, rows of a view, and shards of entities.

One file per storage; none imports its library before it is used.
"""

from . import verbs  # noqa: F401  registers the verbs of arrays for sources
from .dask import DaskShards, DaskStorage, as_dask_array, current_client, find_workers
from .open import as_source, find_mapping, is_stored_array, open_sparse, open_storage, read_some, read_whole
from .parquet import ParquetFile, open_parquet
from .shards import LocalShards, Shard, ShardCache, Shards, ViewRows, join_blocks, new_version
from .source import Source, Storage, StorageColumns

__all__ = [
    "DaskShards",
    "DaskStorage",
    "LocalShards",
    "ParquetFile",
    "Shard",
    "ShardCache",
    "Shards",
    "Source",
    "Storage",
    "StorageColumns",
    "ViewRows",
    "as_dask_array",
    "as_source",
    "current_client",
    "find_mapping",
    "find_workers",
    "is_stored_array",
    "join_blocks",
    "new_version",
    "open_parquet",
    "open_sparse",
    "open_storage",
    "read_some",
    "read_whole",
]
