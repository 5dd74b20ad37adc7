"""Parquet, by polars."""

from __future__ import annotations

from typing import Any

import numpy as np

from .cells import format_cell
from .inputs import InputFile
from .source import FileTable
from .values import build_column


def read_parquet(path: InputFile, as_text: frozenset[str] = frozenset(), delimiter: str | None = None) -> FileTable:  # noqa: ARG001
    """Columns as they are typed in the file."""
    try:
        import polars as pl
    except ImportError as error:
        raise ImportError(f"{path}: Parquet files need polars: pip install 'consilience[frames]'") from error
    try:
        frame = pl.read_parquet(path.location, glob=False)
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # polars panics at damaged files, which is no Exception
        what = (str(error).splitlines() or [type(error).__name__])[0]
        raise ValueError(f"{path} cannot be read as a Parquet file: {what}") from error
    if not frame.height:
        raise ValueError(f"{path} holds no rows: no entities")
    return FileTable(path, {name: _column(frame[name], name in as_text) for name in frame.columns})


def _column(series: Any, as_text: bool) -> np.ndarray:
    kind = series.dtype
    if (kind.is_numeric() or str(kind) == "Boolean") and not as_text:
        return series.cast(float, strict=False).fill_null(float("nan")).to_numpy()
    values = [
        value if value is None or isinstance(value, list | dict) else format_cell(value) for value in series.to_list()
    ]
    return build_column(values, as_text)
