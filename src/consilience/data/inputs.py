"""What users give: blocks of any library, ids that join them, and parameters that differ from view to view.

This is the only module that knows pandas, polars and the other libraries; it imports none of them.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..arrays import (
    Array,
    DeviceCSR,
    as_rows,
    asarray_like,
    is_array,
    is_device_sparse,
    is_in_memory,
    is_sparse,
    map_chunks,
    namespace,
    plan_reads,
    to_numpy,
)
from ..rows import DaskStorage, Source, as_dask_array, as_source, find_mapping, is_stored_array, open_storage
from .frames import is_default_index


@dataclass(frozen=True, eq=False)
class ViewInput:
    """One view as it came in: its values, and the names of its rows and columns if it has any."""

    values: Array
    ids: np.ndarray | None = None
    columns: np.ndarray | None = None
    default_ids: bool = False  # whether the ids only number the rows, as a frame's default index does


def coerce_view(name: str, data: Any) -> ViewInput:
    """Read any supported two-dimensional input, without copying its numbers if possible."""
    if type(data) is np.ndarray:
        return ViewInput(_coerce_dense(name, data))
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


def _column_names(frame: Any) -> np.ndarray:
    return np.asarray([str(label) for label in frame.columns], dtype=object)


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
            f"view {name!r}: column {texts[0]!r} holds no numbers. Encode it (Views.from_frame, or scikit-learn's "
            "OneHotEncoder for categories and TfidfVectorizer for text), or leave it out"
        )
    columns = _column_names(frame)
    if not hasattr(frame, "iloc"):  # polars
        return ViewInput(_coerce_dense(name, _unbox(frame.to_numpy())), columns=columns)
    index = frame.index
    if len(columns) and all(getattr(dtype, "fill_value", None) == 0 for dtype in frame.dtypes):
        values: Any = _coerce_sparse(name, frame.sparse.to_coo())
    else:
        nullable = any(getattr(dtype, "na_value", np.nan) is not np.nan for dtype in frame.dtypes)
        numbers = frame.to_numpy(dtype=np.float64, na_value=np.nan) if nullable else frame.to_numpy()
        values = _coerce_dense(name, _unbox(numbers))
    return ViewInput(values, np.asarray(index), columns, is_default_index(index))


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
    if not (dtype.kind in "biuf" if is_real is None else is_real):
        raise TypeError(
            f"view {name!r} must hold real numbers, got {dtype}. Encode text or categories first "
            "(Views.from_frame(df, text=[...], categories=[...]), or scikit-learn's TfidfVectorizer for text and "
            "OneHotEncoder for categories), or convert with astype(float)"
        )
    if len(shape) != 2:
        remedy = {0: "give one row per entity", 1: "use reshape(-1, 1) for a single column"}.get(
            len(shape), "make each part a view, {'a': X[0], 'b': X[1]}, or each row flat, X.reshape(len(X), -1)"
        )
        raise ValueError(f"view {name!r} must have two dimensions (entities, columns), got shape {shape}: {remedy}")


def attach_ids(inputs: dict[str, ViewInput], ids: Any) -> dict[str, ViewInput]:
    """Attach the ids that the caller gave, for all views or view by view."""
    if not isinstance(ids, Mapping):
        ids = dict.fromkeys(inputs, ids)
    unknown = [name for name in ids if name not in inputs]
    if unknown:
        raise ValueError(f"ids names view {unknown[0]!r}; the views are {', '.join(map(repr, inputs))}")
    for name, values in ids.items():
        if values is not None:
            row_ids = check_row_ids(name, values, inputs[name].values.shape[0])
            inputs = inputs | {name: replace(inputs[name], ids=row_ids, default_ids=False)}
    return inputs


def check_row_ids(name: str, values: Any, n: int) -> np.ndarray:
    """Check that there is one hashable, unique id per row."""
    try:
        ids = np.asarray(values)
    except ValueError as error:
        raise ValueError(
            f"ids of view {name!r} must be a flat sequence, one id per row, got sequences that differ in length"
        ) from error
    if ids.ndim != 1:
        raise ValueError(f"ids of view {name!r} must be a flat sequence, one id per row, got shape {ids.shape}")
    if len(ids) != n:
        raise ValueError(f"view {name!r} has {n} rows but {len(ids)} ids: give one id per row")
    _check_unique(name, ids)
    return ids


def join_by_ids(inputs: dict[str, ViewInput]) -> tuple[np.ndarray | None, np.ndarray | None]:
    """Ids of the entities, and the row of each in each view (or -1); None for the rows if all views have equal ids."""
    named = {name: block.ids for name, block in inputs.items() if block.ids is not None and not block.default_ids}
    if any(ids.dtype.kind in "iu" for ids in named.values()):
        # if another frame's index holds numbers, a default index 0, 1, ... identifies the rows too
        named = {name: block.ids for name, block in inputs.items() if block.ids is not None}
    for name, ids in named.items():
        _check_unique(name, ids)
    first = next(iter(named.values()), None)
    if first is None or all(ids is first or np.array_equal(ids, first) for ids in named.values()):
        return first, None
    unnamed = [name for name in inputs if name not in named]
    if unnamed:
        raise ValueError(
            f"view {unnamed[0]!r} has no ids, and the other views' ids differ, so it cannot be joined to them: "
            f"give ids={{{unnamed[0]!r}: [...]}}"
        )
    kinds = {ids.dtype.kind for ids in named.values()}
    same_kind = len(kinds) == 1 and "O" not in kinds
    all_ids = np.concatenate([ids if same_kind else ids.astype(object) for ids in named.values()])
    entity_of: dict[Hashable, int] = {}
    entities = np.array([entity_of.setdefault(id_, len(entity_of)) for id_ in all_ids.tolist()], dtype=np.intp)
    rows = np.full((len(entity_of), len(inputs)), -1)
    ends = np.cumsum([len(ids) for ids in named.values()])
    for v, view_entities in enumerate(np.split(entities, ends[:-1])):
        rows[view_entities, v] = np.arange(len(view_entities))
    shared = (rows >= 0).sum(axis=1) > 1
    for name, view_rows in zip(named, rows.T, strict=True):
        if len(named[name]) and not shared[view_rows >= 0].any():
            other = next(ids for view, ids in named.items() if view != name)
            raise ValueError(
                f"view {name!r} shares no id with the other views: it starts with {named[name][:1].tolist()}, another "
                f"with {other[:1].tolist()}. Make them the same kind, or use consilience.align"
            )
    return all_ids[np.unique(entities, return_index=True)[1]], rows


def _check_unique(name: str, ids: np.ndarray) -> None:
    values = ids.tolist()
    for row, value in enumerate(values):
        if not isinstance(value, Hashable):
            raise TypeError(
                f"view {name!r} has the id {value!r} in row {row}, a {type(value).__name__}: ids must be hashable, "
                "such as strings, numbers or tuples"
            )
        if value is None or repr(value) == "<NA>" or value != value:
            raise ValueError(f"view {name!r} has no id in row {row} ({value}): give the row an id, or drop it")
    if len(set(values)) < len(values):
        seen: set[Hashable] = set()
        repeated = next(value for value in values if value in seen or seen.add(value))  # type: ignore[func-returns-value]
        raise ValueError(f"view {name!r} has the id {repeated!r} more than once: aggregate or drop the repeated rows")


def check_present(present: Any, shape: tuple[int, int]) -> np.ndarray:
    """Check the shape and type of the mask of which entity has which view, and copy it."""
    mask = np.asarray(present)
    if mask.shape != shape:
        raise ValueError(f"present must have shape (entities, views) = {shape}, got {mask.shape}")
    if mask.dtype != bool:
        raise TypeError(f"present must hold True and False, got {mask.dtype}: convert it with astype(bool)")
    return mask.copy()


def resolve_per_view(parameter: str, value: Any, names: Iterable[str], *, partial: bool = False) -> dict[str, Any]:
    """Find the value of a parameter for each view: from a mapping by name, a list by position, or one value for all.

    Parameters
    ----------
    parameter : str
        Name of the parameter, for error messages.
    value : mapping, list, tuple or anything else
        What the user gave.
    names : iterable of str
        The views, in order.
    partial : bool, default=False
        Whether a mapping may leave views out.

    Examples
    --------
    >>> resolve_per_view("family", {"b": 2, "a": 1}, ["a", "b"])
    {'a': 1, 'b': 2}
    >>> resolve_per_view("family", 7, ["a", "b"])
    {'a': 7, 'b': 7}
    """
    names = list(names)
    listed = ", ".join(map(repr, names))
    if isinstance(value, Mapping):
        unknown = [name for name in value if name not in names]
        if unknown:
            raise ValueError(f"{parameter} names view {unknown[0]!r}; the views are {listed}")
        missing = [name for name in names if name not in value]
        if missing and not partial:
            raise ValueError(f"{parameter} has nothing for view {missing[0]!r}: name every one of {listed}")
        return {name: value[name] for name in names if name in value}
    if isinstance(value, list | tuple):
        if len(value) != len(names):
            raise ValueError(f"{parameter} lists {len(value)} values for {len(names)} views ({listed}): give one each")
        return dict(zip(names, value, strict=True))
    return dict.fromkeys(names, value)


def find_all_nan_rows(block: Array) -> np.ndarray:
    """Mask of the rows that are all NaN; only rows that start with NaN are read completely."""
    block = as_source(block)
    if sp.issparse(block) or is_sparse(block) or block.shape[1] == 0:
        return np.zeros(block.shape[0], bool)
    if not is_in_memory(block):
        if block.storage.dtype.kind != "f":
            return np.zeros(block.shape[0], bool)
        mask = block.storage.find_all_nan()
        if mask is not None:
            return mask[block.start : block.stop]
        return np.concatenate(list(map_chunks(lambda rows: find_all_nan_rows(block[rows, ...]), plan_reads(block))))
    xp = namespace(block)
    if not xp.isdtype(block.dtype, "real floating"):
        return np.zeros(block.shape[0], bool)
    mask = np.array(to_numpy(xp.isnan(block[:, 0])))
    if mask.any():
        candidates = asarray_like(np.flatnonzero(mask), block)
        mask[mask] = to_numpy(xp.all(xp.isnan(xp.take(block, candidates, axis=0)), axis=1))
    return mask
