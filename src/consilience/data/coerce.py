"""From what users have to what we hold. The one place that knows pandas, polars and the rest; it imports none."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..arrays import Array, DeviceCSR, as_rows, is_array, is_device_sparse, namespace
from ..rows import DaskStorage, Source, as_dask_array, find_mapping, is_stored_array, open_storage


@dataclass(frozen=True, eq=False)
class ViewInput:
    """One view as it came in: its values, and the names of its rows and columns where it had any."""

    values: Array
    ids: np.ndarray | None = None
    columns: np.ndarray | None = None
    default_ids: bool = False  # the ids only number the rows: a frame's default index


def coerce_view(name: str, data: Any) -> ViewInput:
    """Read any supported two-dimensional input without copying its numbers where that can be helped."""
    if data is None:
        raise TypeError(f"view {name!r} is None: give a two-dimensional block of numbers, or leave the view out")
    if hasattr(data, "collect_schema") and not hasattr(data, "to_numpy"):
        raise TypeError(f"view {name!r} is a lazy frame: call .collect() on it first")
    if isinstance(data, Source):
        return ViewInput(replace(data, name=name))
    if is_stored_array(data):
        return ViewInput(_open_stored(name, data))
    if hasattr(data, "__dask_graph__"):
        return _open_dask(name, data)
    if is_device_sparse(data) or isinstance(data, DeviceCSR):
        return ViewInput(_coerce_device_sparse(name, data))
    if sp.issparse(data):
        return ViewInput(_coerce_sparse(name, data))
    if is_frame(data):
        return _read_frame(name, data)
    if isinstance(data, np.ndarray) or not is_array(data):
        return ViewInput(_coerce_dense(name, data))
    if data.ndim != 2:
        raise ValueError(_dimension_message(name, tuple(data.shape)))
    if not namespace(data).isdtype(data.dtype, ("bool", "integral", "real floating")):
        raise TypeError(_dtype_message(name, data.dtype))
    return ViewInput(data)


def is_frame(data: Any) -> bool:
    """Whether this is a pandas or polars frame."""
    return hasattr(data, "columns") and (hasattr(data, "iloc") or hasattr(data, "to_numpy"))


def column_labels(frame: Any) -> list[Any]:
    """Labels of a frame's columns as they are: strings, or in pandas anything."""
    return list(frame.columns)


def select_frame_columns(frame: Any, columns: slice | list[int]) -> Any:
    """Columns of a frame by position."""
    return frame.iloc[:, columns] if hasattr(frame, "iloc") else frame[:, columns]


def _open_stored(name: str, data: Any) -> Source:
    shape = tuple(data.shape or ())
    if len(shape) != 2:
        raise ValueError(_dimension_message(name, shape))
    if data.dtype.kind not in "biuf":
        raise TypeError(_dtype_message(name, data.dtype))
    return Source.over(open_storage(name, data), name)


def _open_dask(name: str, data: Any) -> ViewInput:
    columns = np.asarray([str(label) for label in data.columns], dtype=str) if hasattr(data, "columns") else None
    array = as_dask_array(name, data)
    if array.ndim != 2:
        raise ValueError(_dimension_message(name, array.shape))
    if array.dtype.kind not in "biuf":
        raise TypeError(_dtype_message(name, array.dtype))
    return ViewInput(Source.over(DaskStorage(array), name), columns=columns)


def _coerce_device_sparse(name: str, data: Any) -> DeviceCSR:
    if data.ndim != 2:
        raise ValueError(_dimension_message(name, tuple(data.shape)))
    if "complex" in str(data.dtype):
        raise TypeError(_dtype_message(name, data.dtype))
    return as_rows(data)


def _coerce_sparse(name: str, data: Any) -> sp.csr_array:
    if data.ndim != 2:
        raise ValueError(_dimension_message(name, data.shape))
    if data.dtype.kind not in "biuf":
        raise TypeError(_dtype_message(name, data.dtype))
    data = sp.csr_array(data)
    return (
        data if find_mapping(data.indices) is not None else _narrow_indices(data)
    )  # mapped ones would be read and copied


def _narrow_indices(X: sp.csr_array) -> sp.csr_array:
    """The same with indices of 32 bits where they suffice: most of scikit-learn's estimators take no others."""
    narrow = sp.get_index_dtype((X.indices, X.indptr), maxval=max(X.shape), check_contents=True)
    if X.indices.dtype == X.indptr.dtype == narrow:
        return X
    return sp.csr_array((X.data, X.indices.astype(narrow), X.indptr.astype(narrow)), shape=X.shape)


def _coerce_dense(name: str, data: Any) -> np.ndarray:
    if isinstance(data, np.ma.MaskedArray):
        data = np.ma.filled(data.astype(np.float64), np.nan)  # a masked value is a missing one
    try:
        values = np.asarray(data)
    except ValueError as error:
        raise ValueError(f"view {name!r} is not a rectangle of numbers: its rows differ in length") from error
    if values.ndim != 2:
        raise ValueError(_dimension_message(name, values.shape))
    if values.dtype.kind not in "biuf":
        raise TypeError(_dtype_message(name, values.dtype))
    return values


def _read_frame(name: str, frame: Any) -> ViewInput:
    columns = np.asarray([str(label) for label in column_labels(frame)], dtype=str)
    texts = [column for column, dtype in _column_types(frame) if not _is_numeric(dtype)]
    if texts:
        raise TypeError(
            f"view {name!r}: column {texts[0]!r} holds no numbers. Encode it (scikit-learn's OneHotEncoder for "
            "categories, TfidfVectorizer for text), or leave it out"
        )
    if not hasattr(frame, "iloc"):  # polars
        return ViewInput(_coerce_dense(name, _unbox(frame.to_numpy())), columns=columns)
    ids, counted = np.asarray(frame.index), _is_default_index(frame.index)
    if len(columns) and all(getattr(dtype, "fill_value", None) == 0 for dtype in frame.dtypes):
        return ViewInput(_coerce_sparse(name, frame.sparse.to_coo()), ids, columns, counted)
    nullable = any(getattr(dtype, "na_value", np.nan) is not np.nan for dtype in frame.dtypes)
    values = frame.to_numpy(dtype=np.float64, na_value=np.nan) if nullable else frame.to_numpy()
    return ViewInput(_coerce_dense(name, _unbox(values)), ids, columns, counted)


def _unbox(values: np.ndarray) -> np.ndarray:
    """Numbers of several types (truth values and counts, decimals, nulls) that a frame put into boxes, as floats."""
    return values.astype(np.float64) if values.dtype == object else values


def _column_types(frame: Any) -> list[tuple[str, Any]]:
    return list(zip(frame.columns, frame.dtypes, strict=True))


def _is_numeric(dtype: Any) -> bool:
    """Whether a pandas or polars column type holds numbers or truth values."""
    if hasattr(dtype, "is_numeric"):  # polars
        return dtype.is_numeric() or str(dtype) == "Boolean"
    dtype = getattr(dtype, "subtype", dtype)  # pandas' sparse columns
    return getattr(dtype, "kind", "O") in "biuf"


def _is_default_index(index: Any) -> bool:
    """Whether a pandas index is the default one, which by itself says nothing about who the rows are."""
    return type(index).__name__ == "RangeIndex" and index.start == 0 and index.step == 1


def _dimension_message(name: str, shape: tuple[int, ...]) -> str:
    return (
        f"view {name!r} must have two dimensions (entities, columns), got shape {shape}: "
        "use reshape(-1, 1) for a single column"
    )


def _dtype_message(name: str, dtype: Any) -> str:
    return (
        f"view {name!r} must hold real numbers, got {dtype}. Encode text or categories first "
        "(scikit-learn's TfidfVectorizer, OneHotEncoder), or convert with astype(float)"
    )
