"""Read Python objects (frames, series, arrays, lists, Views, AnnData) as the contents that files are read as."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

import narwhals as nw
import numpy as np
import scipy.sparse as sp

from ..arrays import available_memory, to_host
from ..data import Table, Views
from ..data.blocks import reindex_rows
from ..data.frames import check_unique_labels, find_free_name, is_default_index, list_cells, open_frame
from ..data.inputs import coerce_view
from ..rows import read_whole
from .formats import FileCollection, FileContent, FileMatrix, FileTable
from .formats.annotated import read_annotated_object
from .formats.columns import format_cell, has_codes, to_column, to_objects
from .formats.marks import interpret_marks, parse_cells
from .joining import SEPARATOR

INDEX_NAME = "index"  # of the column that an index without a name becomes, as in pandas
MIDNIGHT = " 00:00:00"


def read_objects(data: Mapping[str, Any], as_text: frozenset[str] = frozenset()) -> dict[str, FileContent]:
    """Read a mapping of objects, each as `read_object` does.

    Rows of several objects are joined by the index of their pandas frames and series, and by position otherwise. A
    default index (0, 1, 2, ...) stands for positions, unless the index of another object holds other whole numbers,
    such as those of the rows that a filter has kept: then it identifies rows, too. An index without a name whose
    whole numbers repeat, as after ``pandas.concat``, stands for positions as well, if all such indexes are equal. Any
    other index that repeats is refused when the tables are joined by it: give the name of an id column, or a column
    called id in every table, to join them by that.

    Parameters
    ----------
    data : mapping of str to object
        One object per name.
    as_text : frozenset of str, default=frozenset()
        Columns that are never taken for numbers.

    Returns
    -------
    dict of str to FileTable, FileMatrix or FileCollection
    """
    if not data:
        raise ValueError("the dict of views is empty: give at least one, such as {'text': df['title']}")
    wrong = next((name for name in data if type(name) is not str), None)
    if wrong is not None:
        raise TypeError(f"the name of a view must be a string, got {wrong!r}: {{'text': df['title']}}")
    indexes = [item.index for item in data.values() if hasattr(item, "iloc")]
    repeated = [index for index in indexes if is_positional(index) and not is_default_index(index)]
    keep_index = any(index.dtype.kind in "iu" and not is_positional(index) for index in indexes)
    keep_index = keep_index or not all(index.equals(repeated[0]) for index in repeated)
    return {name: read_object(name, item, as_text, keep_index=keep_index) for name, item in data.items()}


def read_object(
    name: str, data: Any, as_text: frozenset[str] = frozenset(), *, keep_index: bool = False
) -> FileContent:
    """Read an object in memory as the content that a file with the same data has.

    Frames, series, lists and arrays of one dimension become tables, whose columns are those of a CSV file that the
    object was written to: strings that are all numbers become numbers, True and False the words of this name, and
    dates ISO strings, which are interpreted with those of files. Durations become numbers of days. Columns of a
    categorical type are never taken for numbers. A pandas index that does more than number the rows becomes the first
    column, which identifies the rows unless the user names another. An index without a name whose whole numbers repeat,
    as after ``pandas.concat``, is left out. Arrays of two dimensions and sparse matrices become matrices; `Views`,
    AnnData and MuData become collections of matrices, in which rows that an entity lacks are NaN, or empty if sparse.

    Parameters
    ----------
    name : str
        Name of the view, for messages and for columns without a name.
    data : object
        A frame or series of any library that narwhals reads (pandas, polars, pyarrow, ...), a list of strings or
        numbers, an array (numpy, torch, dask, h5py, ...), a scipy sparse matrix, `Table`, `Views`, AnnData or MuData.
    as_text : frozenset of str, default=frozenset()
        Columns that are never taken for numbers, such as ids.
    keep_index : bool, default=False
        Whether a pandas index that only numbers the rows identifies them, because that of another object does.

    Returns
    -------
    FileTable, FileMatrix or FileCollection
    """
    match data:
        case Views():
            return _read_views(data)
        case Table():
            return _build_table(name, {str(label): values for label, values in data.items()}, as_text)
        case Mapping():
            raise TypeError(f"view {name!r} is a dict: a dict of views holds frames and arrays, not dicts")
        case str() | bytes():
            raise TypeError(f"view {name!r} is a single string: give a list of strings, or a frame")
        case list() | tuple():
            data = _to_array(name, data)
    if hasattr(data, "obs_names"):
        return read_annotated_object(name, data)
    if hasattr(data, "sparse") and len(getattr(data, "columns", ())):  # a pandas frame whose columns are all sparse
        block = coerce_view(name, data)
        ids = None
        if keep_index or not is_positional(data.index):
            check_unique_index(name, data.index)
            ids = to_objects(list_index_ids(data.index))
        return FileMatrix(block.values, ids, to_objects([str(label) for label in data.columns]))
    frame = open_frame(name, data)
    if frame is not None:
        return _read_frame(name, frame, as_text, keep_index)
    dtype = getattr(data, "dtype", None)
    if dtype is not None and getattr(dtype, "names", None):  # a structured array
        return _build_table(name, {field: data[field] for field in dtype.names}, as_text)
    if type(data) in (np.ndarray, np.ma.MaskedArray) and data.ndim in (1, 2) and 0 not in data.shape:
        if data.ndim == 1:
            return _build_table(name, {name: data}, as_text)
        if data.dtype.kind in "OUSMm":
            return _build_table(name, {f"column {i + 1}": column for i, column in enumerate(data.T)}, as_text)
    if data is not None and not hasattr(data, "shape"):
        raise TypeError(
            f"view {name!r} is of type {type(data).__name__}: give a frame, a series, a list of strings or numbers, an "
            "array, a sparse matrix, Views, AnnData or MuData"
        )
    return FileMatrix(to_host(read_whole(name, coerce_view(name, data).values, available_memory())))


def add_columns(data: Any, columns: Mapping[str, Sequence[Any]], rows: Sequence[int] | None = None) -> Any:
    """Return the user's frame with further columns, as a frame of the same library.

    Parameters
    ----------
    data : object
        What the user passed. Of a series a frame is made. Anything but a frame, a series or a `Table` gives a `Table`
        of the further columns alone.
    columns : mapping of str to sequence
        One value per row. A name that the frame has already gets the suffix _2, _3, ...
    rows : sequence of int, optional
        Positions of the rows to keep, in their order; by default all.

    Returns
    -------
    frame or Table

    Examples
    --------
    >>> from consilience import Table
    >>> add_columns(Table({"price": [3, 4, 5], "cluster": ["a", "b", "c"]}), {"cluster": [0, 1]}, rows=[0, 2])
    price  cluster  cluster_2
        3  a                0
        5  c                1
    """
    frame = open_frame("data", data)
    positions = None if rows is None else [int(row) for row in rows]
    table = data if type(data) is Table else Table()
    if frame is not None:
        frame = frame if positions is None else frame[positions, :]
    elif positions is not None:
        table = Table({label: np.asarray(values)[positions] for label, values in table.items()})
    names = [str(label) for label in (table if frame is None else frame.columns)]
    n_rows = table.n_rows if frame is None else len(frame)
    wrong = next((label for label, values in columns.items() if names and len(values) != n_rows), None)
    if wrong is not None:
        raise ValueError(f"the column {wrong!r} has {len(columns[wrong])} values for {n_rows} rows: give one each")
    new: dict[str, Sequence[Any]] = {}
    for label, values in columns.items():
        new[find_free_name(label, [*names, *new])] = values
    if frame is None:
        return Table({**table, **{label: np.asarray(values) for label, values in new.items()}})
    library = frame.implementation
    series = [nw.new_series(label, list(values), backend=library) for label, values in new.items()]
    return frame.with_columns(*series).to_native()


def is_positional(index: Any) -> bool:
    """Whether an index only numbers the rows, or cannot identify them: unnamed whole numbers that repeat."""
    return is_default_index(index) or (index.name is None and index.dtype.kind in "iu" and index.has_duplicates)


def check_unique_index(name: str, index: Any) -> None:
    """Refuse an index that repeats."""
    if index.has_duplicates:
        repeated = index[index.duplicated()][0]
        raise ValueError(
            f"view {name!r} has {format_cell(repeated)!r} more than once in its index, which identifies the rows: drop "
            "the repeated rows, or call reset_index(drop=True) to match rows by position"
        )


def list_index_ids(index: Any) -> list[str | None]:
    """List the entries of an index as texts."""
    entries = (SEPARATOR.join(map(str, entry)) if type(entry) is tuple else entry for entry in index)
    return to_column(_format_cells(list_cells(entries)), as_text=True).tolist()


def _read_frame(name: str, frame: nw.DataFrame, as_text: frozenset[str], keep_index: bool) -> FileTable:
    series = list(frame.iter_columns())
    labels = [str(column.name).strip() or f"column {i + 1}" for i, column in enumerate(series)]
    check_unique_labels(name, labels)
    columns: dict[str, np.ndarray] = {}
    index = nw.maybe_get_index(frame)
    id_column = None
    if index is not None and (keep_index or not is_positional(index)):
        id_column = find_free_name(str(index.name or INDEX_NAME), labels)
        columns[id_column] = to_objects(list_index_ids(index))
    is_category = [column.dtype == nw.Categorical or column.dtype == nw.Enum for column in series]
    for label, column, is_text in zip(labels, series, is_category, strict=True):
        columns[label] = _read_series(column, is_text or label in as_text)
    categories = frozenset(label for label, is_text in zip(labels, is_category, strict=True) if is_text)
    codes = frozenset(
        label
        for label, column in zip(labels, series, strict=True)
        if columns[label].dtype != object and not column.dtype.is_numeric() and has_codes(map(str, column.to_list()))
    )
    cells = {
        label: column.to_list() for label, column in zip(labels, series, strict=True) if not column.dtype.is_numeric()
    }
    no_numbers = as_text | categories | ({id_column} if id_column is not None else set())
    columns, written = interpret_marks(columns, cells, no_numbers)
    return FileTable(columns, id_column, categories, codes, written)


def _read_series(series: nw.Series, as_text: bool) -> np.ndarray:
    if series.dtype.is_numeric() and not as_text:
        return np.asarray(series.cast(nw.Float64).to_numpy(), dtype=np.float64)
    return _build_column(list_cells(series.to_list()), as_text)


def _build_table(name: str, columns: dict[str, Any], as_text: frozenset[str]) -> FileTable:
    """Build a table of arrays or lists."""
    lengths = {label: len(values) for label, values in columns.items()}
    if len(set(lengths.values())) != 1 or 0 in lengths.values():
        raise ValueError(f"view {name!r} must have rows, as many in each column, got {lengths}")
    arrays = {label: _read_array(values, label in as_text) for label, values in columns.items()}
    cells = {
        label: values for label, values in columns.items() if getattr(values, "dtype", np.dtype(object)).kind in "OUT"
    }
    interpreted, written = interpret_marks(arrays, cells, as_text)
    return FileTable(interpreted, written=written)


def _read_array(values: Any, as_text: bool) -> np.ndarray:
    """Build a column of an array or list of one dimension."""
    array = values if hasattr(values, "dtype") else to_objects(list(values))
    if array.dtype.kind in "iuf" and not as_text:
        return np.ma.filled(array.astype(np.float64), np.nan)
    if array.dtype.kind in "Mm":  # Python's times have no nanoseconds
        array = array.astype("datetime64[us]" if array.dtype.kind == "M" else "timedelta64[us]")
    return _build_column(list_cells(array.tolist()), as_text)


def _build_column(cells: list[Any], as_text: bool) -> np.ndarray:
    """Build the column that a file with these cells has; strings are interpreted as in a CSV file."""
    vectors = None if as_text else _stack_vectors(cells)
    if vectors is not None:
        return vectors
    column = to_column(_format_cells(cells), as_text)
    if as_text or column.dtype != object or not {type(cell) for cell in column} <= {str, type(None)}:
        return column
    numbers = parse_cells(["" if cell is None else cell for cell in column])
    return column if numbers is None else numbers


def _stack_vectors(cells: list[Any]) -> np.ndarray | None:
    """Stack cells that are vectors of numbers of one length, such as embeddings; None if they are anything else."""
    if not all(type(cell) in (list, tuple, np.ndarray, type(None)) for cell in cells):
        return None
    try:
        stacked = np.array([cell for cell in cells if cell is not None])
    except ValueError:  # they differ in length
        return None
    if stacked.ndim != 2 or stacked.dtype.kind not in "biuf" or not stacked.shape[1]:
        return None
    vectors = np.full((len(cells), stacked.shape[1]), np.nan)
    vectors[[cell is not None for cell in cells]] = stacked
    return vectors


def _format_cells(cells: list[Any]) -> list[Any]:
    """Convert cells to values that JSON has; times become ISO strings, without hours if all are at midnight."""
    values = [_convert_cell(cell) for cell in cells]
    if all(cell is None or issubclass(type(cell), datetime) for cell in cells):
        times = [value for value in values if value is not None]
        if all(time.endswith(MIDNIGHT) for time in times):
            return [None if value is None else value.removesuffix(MIDNIGHT) for value in values]
    return values


def _convert_cell(cell: Any) -> Any:
    match cell:
        case bool() | np.bool_():
            return str(cell)
        case None | int():
            return cell
        case float() | Decimal() | np.number():
            return float(cell)
        case list() | tuple() | np.ndarray():
            return [_convert_cell(element) for element in cell]
        case set() | frozenset():
            return sorted(map(_convert_cell, cell), key=str)
        case dict():
            return {str(term): _convert_cell(count) for term, count in cell.items()}
        case timedelta():
            return cell.total_seconds() / 86400
        case _:
            return format_cell(cell)


def _to_array(name: str, rows: Sequence[Any]) -> np.ndarray:
    """Convert a list of values or of rows to an array of numbers or objects."""
    remedy = "give a two-dimensional array, or several views as a dict, {'name': data, ...}"
    try:
        values = np.array(rows, dtype=object)
    except ValueError as error:
        raise ValueError(f"view {name!r} is a list of objects of different shapes: {remedy}") from error
    if not len(values):
        raise ValueError(f"view {name!r} is an empty list: it has no rows")
    kinds = {type(value) for value in values} if values.ndim == 1 else set()
    if dict in kinds:
        raise TypeError(f"view {name!r} is a list of dicts: make a frame of it, such as pandas.DataFrame(data)")
    if kinds & {list, tuple, np.ndarray}:
        raise ValueError(f"view {name!r} is a list of rows that differ in length: {remedy}")
    if values.ndim > 2:
        raise ValueError(f"view {name!r} is a list of tables, of shape {values.shape} in all: {remedy}")
    is_matrix = values.ndim == 2 and {type(value) for value in values.ravel()} <= {bool, int, float, np.float64}
    return values.astype(np.float64) if is_matrix else values


def _read_views(views: Views) -> FileCollection:
    """Take each view as a matrix; rows of entities that lack it are NaN, or empty if it is sparse."""
    ids = None if views.ids is None else to_objects([format_cell(entry) for entry in views.ids.tolist()])
    matrices = {}
    for (name, block), present in zip(views.items(), views.present.T, strict=True):
        values = to_host(read_whole(name, block, available_memory()))
        values = sp.csr_array(values) if sp.issparse(values) else values
        rows = np.where(present, np.arange(len(views)), -1)
        features = views.feature_names(name)
        features = None if features is None else to_objects(features.tolist())
        matrices[name] = FileMatrix(reindex_rows(values, rows), ids, features)
    return FileCollection(matrices, ids=ids)
