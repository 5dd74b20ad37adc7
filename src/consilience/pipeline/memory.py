"""Data that is in memory, in place of files: views, known classes, seeds and constraints."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..data import Constraints, Table
from ..data.frames import list_cells, open_frame
from ..data.views import name_blocks
from ..files import DescriptionColumn, Entities, KnownClasses, ViewSpec, parse_view
from ..files.formats import FileContent, FileTable
from ..files.formats.columns import to_objects
from ..files.objects import check_unique_index, list_index_ids, read_object, read_objects
from ..files.spec import join_pair
from ..methods.common.constraint_checks import check_constraints
from .descriptions import describe_partial, describe_unmatched


@dataclass(frozen=True, eq=False)
class MemoryInputs:
    """The data of a call in Python, in place of files."""

    specs: tuple[ViewSpec, ...]
    objects: Mapping[Path, Callable[[frozenset[str]], FileContent]]  # by the path of the view, which names no file
    known_classes: list[KnownClasses] = field(default_factory=list)
    seed_classes: list[KnownClasses] = field(default_factory=list)
    constraints: Constraints | None = None  # by id or by position
    descriptions: list[DescriptionColumn] = field(default_factory=list)
    id_joins: dict[str, IdJoin] = field(default_factory=dict)  # by argument
    notes: list[str] = field(default_factory=list)

    def check_ids(self, entities: Entities) -> None:
        """Refuse pandas data of which no value of the index is one of the data's index or ids."""
        for name, join in self.id_joins.items():
            if entities.ids is None or len(entities.list_unknown(join.ids)) == len(join.ids):
                ids = "" if entities.ids is None else f", and none is an id, such as {entities.ids[0]!r}"
                raise ValueError(
                    f"{name}: its index, such as {join.ids[0]!r}, has no value of the index of the data, such as "
                    f"{join.data_id!r}{ids}: give an index of values that the data has"
                )


class IdJoin(NamedTuple):
    """Pandas data whose index is to be found among the ids of the entities, because it is not that of the data."""

    ids: list[str]  # its index
    data_id: str  # the first value of the data's index


class AlignedRows(NamedTuple):
    """Data whose rows are those of the views, or whose index has ids of entities."""

    values: Any
    ids: np.ndarray | None = None
    id_join: IdJoin | None = None
    notes: Sequence[str] = ()  # for the user


def collect_memory(
    data: Any,
    labels: Any = None,
    seeds: Any = None,
    constraints: Any = None,
    describe: Any = None,
    *,
    files: Sequence[str] = (),
) -> MemoryInputs | None:
    """Return what is in memory in place of files; None if everything is in files.

    `files` are those that hold the data, as --view names them, in place of `data`.
    """
    if data is None and not files:
        raise TypeError("data is None: give a frame, an array, a path, or a mapping of view names to these")
    specs = [parse_view(text) for text in files]
    objects: dict[Path, Any] = {}
    if files:
        pass
    elif is_path(data):
        specs.append(parse_view(str(data)))
    elif is_mapping(data):
        if not data:
            raise ValueError("data is an empty mapping: give at least one view, such as {'text': frame['title']}")
        for i, (name, value) in enumerate(data.items()):
            if is_path(value):
                specs.append(parse_view(join_pair(str(name), value)))
            else:
                path = Path(f"data[{i}]" if isinstance(data, ListedViews) else f"data[{name!r}]")
                specs.append(ViewSpec(str(name), path))
                objects[path] = value
    elif isinstance(data, list | tuple) and data and all(is_path(item) and Path(item).exists() for item in data):
        raise TypeError(f"data is a list of files: name each as a view, such as {{'table': {str(data[0])!r}, ...}}")
    else:
        specs.append(ViewSpec(None, Path("data")))
        objects[Path("data")] = data
    is_described = list_described(describe) is None
    arguments = {"labels": labels, "seeds": seeds, "describe": _build_frame(describe) if is_described else None}
    aligned = {
        name: _align_index(name, values, objects)
        for name, values in arguments.items()
        if values is not None and not is_path(values)
    }
    classes = {name: [_build_classes(name, aligned[name], objects)] for name in ("labels", "seeds") if name in aligned}
    constraints = None if constraints is None or is_path(constraints) else check_constraints(constraints)
    descriptions = _build_descriptions(aligned["describe"], objects) if is_described else []
    if not objects and not classes and constraints is None and not descriptions:
        return None
    return MemoryInputs(
        tuple(specs),
        _build_readers(objects),
        classes.get("labels", []),
        classes.get("seeds", []),
        constraints,
        descriptions,
        {name: rows.id_join for name, rows in aligned.items() if rows.id_join is not None},
        [note for rows in aligned.values() for note in rows.notes],
    )


def _build_readers(objects: Mapping[Path, Any]) -> dict[Path, Callable[[frozenset[str]], FileContent]]:
    """Return a function per object that reads it; the rows of all objects are identified in the same way."""

    @cache
    def read_all(as_text: frozenset[str]) -> dict[str, FileContent]:
        return read_objects({str(path): value for path, value in objects.items()}, as_text)

    return {path: lambda as_text, name=str(path): read_all(as_text)[name] for path in objects}  # type: ignore[misc]


def list_files(data: Any) -> list[str]:
    """Return the files that hold the data as --view names them; none if data is in memory."""
    if is_path(data):
        return [str(data)]
    if is_mapping(data) and all(is_path(value) for value in data.values()):
        return [join_pair(str(name), path) for name, path in data.items()]
    return []


def is_path(value: Any) -> bool:
    """Whether a value is the path of a file or a folder."""
    return isinstance(value, str) or hasattr(value, "__fspath__")


class ListedViews(dict[str, Any]):
    """Views of a list, by the names that `Views` gives them; messages call them data[0], data[1], ..."""


def name_views(data: Any) -> Any:
    """Return a list of views as a mapping, with the names that `Views` gives them; other data stays as it is.

    A list is one of views if it has a matrix or a frame, which no list of rows has, or series with names, as columns of
    a frame are. Other lists of a few long arrays of one dimension can be views or rows: the user has to decide.

    Examples
    --------
    >>> import numpy as np
    >>> list(name_views([np.zeros((4, 2)), ["a", "b", "c", "d"]])), name_views([[1, 2], [3, 4]])
    (['view0', 'view1'], [[1, 2], [3, 4]])
    """
    if not isinstance(data, list | tuple):
        return data
    blocks = [item[1] if isinstance(item, tuple) and len(item) == 2 else item for item in data]
    shapes = [getattr(block, "shape", ()) for block in blocks]
    if any(len(shape) > 1 for shape in shapes):
        return ListedViews(name_blocks(data))
    # There are more entities than views, and usually more rows than columns. Rows of a frame are called by numbers.
    long = [block for block, shape in zip(blocks, shapes, strict=True) if len(shape) == 1 and len(block) > len(blocks)]
    if len(blocks) > 1 and any(isinstance(getattr(block, "name", None), str) for block in long):
        return ListedViews(name_blocks(data))
    if len(blocks) > 1 and len(long) == len(blocks):
        raise TypeError(
            f"data is a list of {len(blocks):,} arrays of one dimension, which can be views or rows: give views as a "
            "mapping, {'price': data[0], ...}, and rows as a matrix, numpy.stack(data)"
        )
    return data


def is_mapping(data: Any) -> bool:
    """Whether data is a mapping of views, not a frame or `Views`, which have items, too."""
    return isinstance(data, dict) and not isinstance(data, Table)


def list_described(describe: Any) -> list[str] | None:
    """Return descriptions that are names of columns or files; None if their values are in memory."""
    if describe is None:
        return []
    if is_path(describe):
        return [str(describe)]
    if isinstance(describe, list | tuple) and all(map(is_path, describe)):
        return [str(name) for name in describe]
    return None


def _build_frame(describe: Any) -> Any:
    """Return a mapping of names to values as a frame, of pandas if all values are series; others stay as they are."""
    if not is_mapping(describe):
        return describe
    lengths = {str(name): len(values) for name, values in describe.items()}
    if len(set(lengths.values())) > 1:
        raise ValueError(f"describe must have as many values in each column, got {lengths}")
    columns = {str(name): column for name, column in describe.items()}
    if not columns or not all(hasattr(column, "iloc") for column in columns.values()):
        return Table({name: np.asarray(column) for name, column in columns.items()})
    first = next(iter(columns.values()))
    return first.to_frame(next(iter(columns))).assign(**columns)


def _build_descriptions(rows: AlignedRows, objects: Mapping[Path, Any]) -> list[DescriptionColumn]:
    """Return the columns of a frame that describe the clusters."""
    describe = rows.values
    match read_object("describe", describe) if hasattr(describe, "__len__") else None:
        case FileTable(columns, id_column):
            table = {name: values for name, values in columns.items() if name != id_column}
        case _:
            raise TypeError(
                "describe must be a frame, names of columns, or a mapping of names to values, one per row; got "
                f"{type(describe).__name__}"
            )
    for frame in (open_frame(str(path), item) for path, item in objects.items()):
        shared = [name for name in table if frame is not None and name in map(str, frame.columns)]
        if shared:
            raise ValueError(
                f"describe has a column {shared[0]!r}, and so has the data, which would be used for the clusters: drop "
                f"the column from the data, or name it, describe=[{shared[0]!r}]"
            )
    return [DescriptionColumn(name, f"describe[{name!r}]", values, rows.ids) for name, values in table.items()]


def _align_index(name: str, values: Any, objects: Mapping[Path, Any]) -> AlignedRows:
    """Put pandas data into the order of the data by its index; return its ids instead if the index has ids.

    It has ids if the data has several indexes, or a column that is named like the index, or if it shares nothing with
    the index of the data.
    """
    frames = [item for item in objects.values() if hasattr(item, "iloc")]
    if not hasattr(values, "iloc") or not frames:
        return AlignedRows(values)
    index, first = values.index, frames[0].index
    is_column = index.name is not None and index.name != first.name
    is_column = is_column and any(index.name in getattr(frame, "columns", ()) for frame in frames)
    is_shared = all(frame.index.equals(first) for frame in frames)
    if is_shared and not is_column and index.equals(first):
        return AlignedRows(values)
    check_unique_index(name, index)
    if not is_shared:
        return AlignedRows(values, to_objects(list_index_ids(index)))
    is_known = index.isin(first)
    if is_column or not is_known.any():
        ids = to_objects(list_index_ids(index))
        return AlignedRows(values, ids, IdJoin(ids.tolist(), str(list_index_ids(first[:1])[0])))
    check_unique_index("data", first)
    is_filled = values.notna() & (values != "") if values.ndim == 1 else True
    origin = f"{name} (--{name})"
    notes = describe_partial(origin, int(is_known.sum()), len(first)) if name == "describe" else []
    notes += describe_unmatched(origin, [str(entry) for entry in list_index_ids(index[~is_known & is_filled])])
    return AlignedRows(values.reindex(first), notes=notes)


def _build_classes(name: str, rows: AlignedRows, objects: Mapping[Path, Any]) -> KnownClasses:
    """Return one class per row as an array of objects.

    Classes that are also a column of the data are refused: the column would be a feature.
    """
    values = rows.values
    classes = np.asarray(values, dtype=None if hasattr(values, "dtype") else object)  # NaN is not the class 'nan'
    if classes.ndim != 1:
        raise ValueError(f"{name} must be the name of a column or one class per row, got shape {classes.shape}")
    cells = list_cells(classes.tolist())
    for frame in (open_frame(str(path), item) for path, item in objects.items()):
        for column in () if frame is None or len(frame) != len(cells) else frame.iter_columns():
            if all(list_cells(column.head(n).to_list()) == cells[:n] for n in (20, len(cells))):
                raise ValueError(
                    f"{name} are also the column {column.name!r} of the data, which would be used for the clusters: "
                    f"drop the column, or name it, {name}={column.name!r}"
                )
    return KnownClasses(name, to_objects(cells), rows.ids, f"--{name}")
