"""Parquet, by polars."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from .source import Frame


def read_parquet(path: Path, as_text: frozenset[str] = frozenset(), delimiter: str | None = None) -> Frame:  # noqa: ARG001
    """Columns as they are typed in the file."""
    try:
        import polars as pl
    except ImportError as error:
        raise ImportError(f"{path}: Parquet files need polars: pip install 'consilience[frames]'") from error
    try:
        frame = pl.read_parquet(path)
    except (pl.exceptions.PolarsError, OSError) as error:
        raise ValueError(f"{path} cannot be read as a Parquet file: {str(error).splitlines()[0]}") from error
    if not frame.height:
        raise ValueError(f"{path} holds no rows: no entities")
    return Frame(path, {name: _column(path, frame[name], name in as_text) for name in frame.columns})


def _column(path: Path, series: Any, as_text: bool) -> np.ndarray:
    kind = series.dtype
    if (kind.is_numeric() or str(kind) == "Boolean") and not as_text:
        return series.cast(float, strict=False).fill_null(float("nan")).to_numpy()
    if kind.is_nested():
        values = series.to_list()
        if str(kind).startswith(("List", "Array")) and kind.inner.is_numeric():
            lengths = {len(value) for value in values if value}
            if len(lengths) == 1:
                empty = [np.nan] * lengths.pop()
                return np.array([value or empty for value in values], dtype=np.float64)
        raise ValueError(
            f"{path}: column {series.name!r} is of type {kind}: only lists of numbers of one length are read"
        )
    column = np.empty(len(series), dtype=object)
    column[:] = [None if value is None else str(value) for value in series.to_list()]
    return column
