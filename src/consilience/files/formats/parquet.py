"""Tables in Parquet files."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...rows.parquet import ParquetFile, is_number_type, to_numbers
from .base import FileFormat, FileTable, InputFile, TableOptions
from .columns import check_unique_columns, format_cell, to_column
from .marks import interpret_texts


def read_parquet(path: InputFile, options: TableOptions) -> FileTable:
    """Read columns by their types in the file, and texts as in a CSV file."""
    table = ParquetFile(path.location, str(path)).read_table()
    check_unique_columns(path, table.column_names)
    if not table.num_rows:
        raise ValueError(f"{path} holds no rows: no entities")
    columns = {name: _convert(table[name], name in options.as_text) for name in table.column_names}
    return interpret_texts(columns, options.as_text)


def _convert(column: Any, as_text: bool) -> np.ndarray:
    if is_number_type(column.type) and not as_text:
        return to_numbers(column).astype(np.float64)
    if getattr(column.type, "unit", "") == "ns":  # Python's times have no nanoseconds
        import pyarrow as pa

        if pa.types.is_timestamp(column.type):
            microseconds = pa.timestamp("us", column.type.tz)
        else:
            microseconds = pa.time64("us") if pa.types.is_time(column.type) else pa.duration("us")
        column = column.cast(microseconds, safe=False)
    values = column.to_pylist()
    return to_column(
        [value if value is None or type(value) in (list, dict) else format_cell(value) for value in values], as_text
    )


FORMAT = FileFormat((".parquet", ".pq"), read_parquet, is_table=True, detect=lambda start: start.startswith(b"PAR1"))
