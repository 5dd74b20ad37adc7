"""Conversion of what users have to what views hold.

This is the only module that knows pandas, polars and the other libraries; it imports none of them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..arrays import Array, DeviceCSR, as_rows, is_array, is_device_sparse, namespace
from ..rows import DaskStorage, Source, as_dask_array, find_mapping, is_stored_array, open_storage


@dataclass(frozen=True, eq=False)
class ViewInput:
    """One view as it came in: its values, and the names of its rows and columns if it has any."""

    values: Array
    ids: np.ndarray | None = None
    columns: np.ndarray | None = None
    default_ids: bool = False  # whether the ids only number the rows, as a frame's default index does


def coerce_view(name: str, data: Any) -> ViewInput:
    """Read any supported two-dimensional input, without copying its numbers if possible."""
    if data is None:
        raise TypeError(f"view {name!r} is None: give a two-dimensional block of numbers, or leave the view out")
    if hasattr(data, "collect_schema") and not hasattr(data, "to_numpy"):
        raise TypeError(f"view {name!r} is a lazy frame: call .collect() on it first")
    if isinstance(data, Source):
        return ViewInput(replace(data, name=name))
    if is_stored_array(data):
        _check_matrix(name, tuple(data.shape or ()), data.dtype)
        return ViewInput(Source.over(open_storage(name, data), name))
    if hasattr(data, "__dask_graph__"):
        array = as_dask_array(name, data)
        _check_matrix(name, array.shape, array.dtype)
        columns = _column_names(data) if hasattr(data, "columns") else None
        return ViewInput(Source.over(DaskStorage(array), name), columns=columns)
    if is_device_sparse(data) or isinstance(data, DeviceCSR):
        _check_matrix(name, tuple(data.shape), data.dtype, is_real="complex" not in str(data.dtype))
        return ViewInput(as_rows(data))
    if sp.issparse(data):
        return ViewInput(_coerce_sparse(name, data))
    if is_frame(data):
        return _coerce_frame(name, data)
    if isinstance(data, np.ndarray) or not is_array(data):
        return ViewInput(_coerce_dense(name, data))
    is_real = namespace(data).isdtype(data.dtype, ("bool", "integral", "real floating"))
    _check_matrix(name, tuple(data.shape), data.dtype, is_real=is_real)
    return ViewInput(data)


def is_frame(data: Any) -> bool:
    """Whether this is a pandas or polars frame."""
    return hasattr(data, "columns") and (hasattr(data, "iloc") or hasattr(data, "to_numpy"))


def select_frame_columns(frame: Any, columns: slice | list[int]) -> Any:
    """Columns of a frame by position."""
    return frame.iloc[:, columns] if hasattr(frame, "iloc") else frame[:, columns]


def _column_names(frame: Any) -> np.ndarray:
    return np.asarray([str(label) for label in frame.columns], dtype=str)


def _coerce_sparse(name: str, data: Any) -> sp.csr_array:
    """Convert to CSR with 32-bit indices if these suffice, because most scikit-learn estimators accept no others."""
    _check_matrix(name, data.shape, data.dtype)
    X = sp.csr_array(data)
    if find_mapping(X.indices) is not None:  # a file that is mapped into memory would be read and copied
        return X
    narrow = sp.get_index_dtype((X.indices, X.indptr), maxval=max(X.shape), check_contents=True)
    if X.indices.dtype == X.indptr.dtype == narrow:
        return X
    return sp.csr_array((X.data, X.indices.astype(narrow), X.indptr.astype(narrow)), shape=X.shape)


def _coerce_dense(name: str, data: Any) -> np.ndarray:
    if isinstance(data, np.ma.MaskedArray):
        data = np.ma.filled(data.astype(np.float64), np.nan)  # masked values are missing
    try:
        values = np.asarray(data)
    except ValueError as error:
        raise ValueError(f"view {name!r} is not a rectangle of numbers: its rows differ in length") from error
    _check_matrix(name, values.shape, values.dtype)
    return values


def _coerce_frame(name: str, frame: Any) -> ViewInput:
    dtypes = zip(frame.columns, frame.dtypes, strict=True)
    texts = [column for column, dtype in dtypes if not _is_numeric(dtype)]
    if texts:
        raise TypeError(
            f"view {name!r}: column {texts[0]!r} holds no numbers. Encode it (scikit-learn's OneHotEncoder for "
            "categories, TfidfVectorizer for text), or leave it out"
        )
    columns = _column_names(frame)
    if not hasattr(frame, "iloc"):  # polars
        return ViewInput(_coerce_dense(name, _unbox(frame.to_numpy())), columns=columns)
    index = frame.index
    is_default = type(index).__name__ == "RangeIndex" and index.start == 0 and index.step == 1
    if len(columns) and all(getattr(dtype, "fill_value", None) == 0 for dtype in frame.dtypes):
        values: Any = _coerce_sparse(name, frame.sparse.to_coo())
    else:
        nullable = any(getattr(dtype, "na_value", np.nan) is not np.nan for dtype in frame.dtypes)
        numbers = frame.to_numpy(dtype=np.float64, na_value=np.nan) if nullable else frame.to_numpy()
        values = _coerce_dense(name, _unbox(numbers))
    return ViewInput(values, np.asarray(index), columns, is_default)


def _unbox(values: np.ndarray) -> np.ndarray:
    """Convert the Python objects that a frame with mixed number types gives to floats."""
    return values.astype(np.float64) if values.dtype == object else values


def _is_numeric(dtype: Any) -> bool:
    """Whether a pandas or polars column type holds numbers or booleans."""
    if hasattr(dtype, "is_numeric"):  # polars
        return dtype.is_numeric() or str(dtype) == "Boolean"
    dtype = getattr(dtype, "subtype", dtype)  # sparse columns of pandas
    return getattr(dtype, "kind", "O") in "biuf"


def _check_matrix(name: str, shape: tuple[int, ...], dtype: Any, *, is_real: bool | None = None) -> None:
    """Check that a view has two dimensions and real numbers; `is_real` says so for dtypes that are not numpy's."""
    if len(shape) != 2:
        raise ValueError(
            f"view {name!r} must have two dimensions (entities, columns), got shape {shape}: "
            "use reshape(-1, 1) for a single column"
        )
    if not (dtype.kind in "biuf" if is_real is None else is_real):
        raise TypeError(
            f"view {name!r} must hold real numbers, got {dtype}. Encode text or categories first "
            "(scikit-learn's TfidfVectorizer, OneHotEncoder), or convert with astype(float)"
        )
