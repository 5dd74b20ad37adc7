"""Columns of Parquet files, read by pyarrow."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from .source import Storage


class ParquetStorage(Storage):
    """Columns of one or several Parquet files, one after the other; row groups are read whole."""

    edges: np.ndarray

    def __init__(self, files: Sequence[ParquetFile], columns: Sequence[str], dtype: np.dtype) -> None:
        self.files, self.columns, self.dtype = tuple(files), tuple(columns), dtype
        lengths = [length for file in files for length in file.group_rows]
        self.edges = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
        self.shape = int(self.edges[-1]), len(columns)
        self.description = files[0].path if len(files) == 1 else f"{files[0].path} and {len(files) - 1} more"
        self.places = [(file, i) for file in files for i in range(len(file.group_rows))]

    def read(self, start: int, stop: int) -> np.ndarray:
        first, last = np.searchsorted(self.edges, [start, stop - 1], side="right") - 1
        out = np.empty((stop - start, self.shape[1]), self.dtype)
        for group in range(first, last + 1):
            begin, end = (int(edge) for edge in self.edges[group : group + 2])
            part = slice(max(start, begin) - begin, min(stop, end) - begin)
            self._read_group(group, part, out[max(start, begin) - start : min(stop, end) - start])
        return out

    def _read_group(self, group: int, part: slice, out: np.ndarray) -> None:
        """Write rows of one row group to `out`."""
        file, i = self.places[group]
        table = file.read(i, self.columns)
        for j, name in enumerate(self.columns):
            out[:, j] = to_numbers(table.column(name).slice(part.start, part.stop - part.start))


class ParquetFile:
    """A Parquet file; reading fails if it has changed since it was opened."""

    def __init__(self, path: str | os.PathLike[str], shown_path: str | None = None) -> None:
        self.path = os.path.abspath(path)
        self.shown_path = shown_path or self.path  # in messages
        try:
            file = self.open()
        except ImportError as error:
            raise ImportError(
                f"{self.shown_path}: Parquet files need pyarrow: pip install 'consilience[parquet]'"
            ) from error
        except FileNotFoundError:
            raise
        except Exception as error:  # of pyarrow
            raise self._explain(error) from error
        self.types = {field.name: field.type for field in file.schema_arrow}
        self.group_rows = [file.metadata.row_group(i).num_rows for i in range(file.metadata.num_row_groups)]

    def _explain(self, error: Exception) -> ValueError:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        return ValueError(f"{self.shown_path} cannot be read as a Parquet file: {reason}")

    def open(self) -> Any:
        """Open the file; each read does so, because several threads may read."""
        import pyarrow.parquet

        return pyarrow.parquet.ParquetFile(self.path)

    def read_table(self) -> Any:
        """Read the whole file."""
        try:
            with self.open() as file:
                return file.read()
        except Exception as error:  # of pyarrow
            raise self._explain(error) from error

    def read(self, group: int, columns: Sequence[str]) -> Any:
        """Read columns of a row group."""
        try:
            with self.open() as file:
                table = file.read_row_group(group, columns=list(columns))
        except Exception as error:  # of pyarrow, whose messages do not always name the file
            raise OSError(f"{self.path}: {error}") from error
        if table.num_rows != self.group_rows[group]:
            raise OSError(f"{self.path}: row group {group} had {self.group_rows[group]} rows, now {table.num_rows}")
        return table


def open_parquet(name: str, files: Sequence[ParquetFile], columns: Sequence[str]) -> ParquetStorage:
    """Open the columns of a view, which all files must have."""
    for file in files:
        for column in columns:
            if column not in file.types:
                raise ValueError(f"view {name!r} asks for column {column!r}, which {file.path} does not have")
            if not is_number_type(file.types[column]):
                raise TypeError(
                    f"view {name!r}: column {column!r} of {file.path} holds no numbers ({file.types[column]}): encode "
                    "it first, or leave it out"
                )
    single = all(str(file.types[column]) == "float" for file in files for column in columns)
    return ParquetStorage(files, columns, np.dtype(np.float32 if single and columns else np.float64))


def is_number_type(kind: Any) -> bool:
    """Whether a type of pyarrow can be converted to real numbers."""
    from pyarrow import types

    return types.is_floating(kind) or types.is_integer(kind) or types.is_boolean(kind) or types.is_decimal(kind)


def to_numbers(column: Any) -> np.ndarray:
    """Convert a column to numpy; a null becomes NaN."""
    from pyarrow import types

    return (column if types.is_floating(column.type) else column.cast("float64", safe=False)).to_numpy()
