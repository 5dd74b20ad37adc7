"""Columns of frames of any library that narwhals reads: pandas, polars, pyarrow and others."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import narwhals as nw

NULL_TYPES = {"NoneType", "NAType", "NaTType"}  # of missing cells; NaN is another


def open_frame(name: str, data: Any) -> nw.DataFrame | None:
    """Wrap a frame of any library, or a series as a frame of one column; None if `data` is neither.

    `name` is that of the view, and of the column if a series has none. A frame that cannot be read as one table is
    refused: lazy, empty, or with ambiguous names of columns.
    """
    if hasattr(data, "iloc") and hasattr(data, "columns"):  # pandas allows any labels
        if getattr(data.columns, "nlevels", 1) > 1:
            raise ValueError(
                f"view {name!r} has columns of several levels, such as {tuple(data.columns[0])}: give them plain names "
                "first, df.columns = ['_'.join(map(str, label)) for label in df.columns]"
            )
        check_unique_labels(name, data.columns)
    import narwhals as nw  # not at the top, because it would delay the import of Views

    match nw.from_native(data, pass_through=True, allow_series=True):
        case nw.LazyFrame():
            raise TypeError(f"view {name!r} is a lazy frame: call .collect() on it first (.compute() in dask)")
        case nw.Series() as series:
            frame = series.alias(str(name if series.name in (None, "") else series.name)).to_frame()
        case nw.DataFrame() as frame:
            pass
        case _:
            return None
    if 0 in frame.shape:
        raise ValueError(f"view {name!r} is a frame of shape {frame.shape}: it has no rows or no columns")
    return frame


def check_unique_labels(name: str, labels: Iterable[Any]) -> None:
    """Refuse two columns whose names read the same."""
    seen: set[str] = set()
    for label in map(str, labels):
        if label in seen:
            raise ValueError(f"view {name!r} has two columns called {label!r}: rename one")
        seen.add(label)


def is_default_index(index: Any) -> bool:
    """Whether a pandas index only numbers the rows: 0, 1, 2, ..."""
    return type(index).__name__ == "RangeIndex" and index.start == 0 and index.step == 1


def list_cells(values: Iterable[Any]) -> list[Any]:
    """List the cells of a column, with None in place of NaN, NaT and NA."""
    return [None if _is_null(value) else value for value in values]


def _is_null(value: Any) -> bool:
    kind = type(value).__name__
    return kind in NULL_TYPES or (kind.startswith("float") and bool(value != value))


def find_free_name(name: str, names: Collection[str]) -> str:
    """Return the name, with the suffix _2, _3, ... if it is among `names`."""
    candidates = (name if i == 1 else f"{name}_{i}" for i in range(1, len(names) + 2))
    return next(candidate for candidate in candidates if candidate not in names)
