"""Rows that stay on disk: one file a kind of storage, none of which imports its library before it is used."""

from .dask import DaskReader, current_client, dask_array
from .memmap import mapped_array
from .parquet import ParquetFile, parquet_reader
from .recognise import is_stored, lazily, reader_of
from .sparse import open_sparse
from .stored import ColumnsReader
from .whole import in_memory, some_in_memory

__all__ = [
    "ColumnsReader",
    "DaskReader",
    "ParquetFile",
    "current_client",
    "dask_array",
    "in_memory",
    "is_stored",
    "lazily",
    "mapped_array",
    "open_sparse",
    "parquet_reader",
    "reader_of",
    "some_in_memory",
]
