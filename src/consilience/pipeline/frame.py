"""The user's data with results beside it, as a frame."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..data import Table
from ..data.frames import find_free_name, open_frame
from ..files import EncodedData, InputData
from ..files.objects import add_columns
from ..files.readings import ColumnReading
from .descriptions import take_cells
from .memory import is_mapping
from .outputs import name_view_ids, spread_columns


def build_frame(data: Any, reading: InputData, prepared: EncodedData, results: Mapping[str, Sequence[Any]]) -> Any:
    """Return the data with results: a frame of the library of the first frame in the data, a `Table` without frames.

    A single frame keeps its rows and columns. Of several tables and files the columns are joined as the views are:
    `results` have a cell for each entity with data, other entities have empty ones.
    """
    columns = spread_columns(results, prepared.kept)
    frames = [open_frame(str(name), item) for name, item in (data.items() if is_mapping(data) else [("data", data)])]
    if not is_mapping(data) and (frames[0] is not None or type(data) is Table):
        return add_columns(data, columns)
    joined = Table({column.name: column.values for column in join_columns(reading, prepared)})
    first = next((frame for frame in frames if frame is not None), None)
    if first is None or not joined:
        return add_columns(joined, columns)
    import narwhals as nw

    return add_columns(nw.from_dict(joined, backend=first.implementation).to_native(), columns)


class JoinedColumn(NamedTuple):
    """A column of the user's data, with a cell for each entity that was read."""

    name: str
    values: np.ndarray
    is_id: bool = False
    reading: ColumnReading | None = None  # how texts became numbers, if a view has them as numbers


def join_columns(reading: InputData, prepared: EncodedData) -> list[JoinedColumn]:
    """List the ids of the entities and their rows in all tables; cells of rows that an entity lacks are empty."""
    entities = prepared.entities
    ids = name_view_ids(entities.view_ids)
    if entities.ids is not None:
        name = reading.id_column
        ids = {"id" if name is None or "," in name or entities.is_mapped else name: entities.ids} | ids
    joined = {name: JoinedColumn(name, values, is_id=True) for name, values in ids.items()}
    for table in reading.tables:
        rows = entities.rows[table.contents[0]]
        contents = [content for content in reading.contents if content.name in table.contents]
        readings = {column: how for content in contents for column, how in content.readings.items()}
        for name, values in table.columns.items():
            if values.ndim > 1:  # vectors
                continue
            cells = take_cells(values, rows)
            is_list = name == contents[0].origin  # a list in memory, which has no name beside that of its view
            free_name = find_free_name(contents[0].name if is_list else name, joined)
            joined[free_name] = JoinedColumn(free_name, cells, reading=readings.get(name))
    for described in reading.descriptions:
        if described.content is None:  # of a file that is no view
            cells = take_cells(described.values, described.find_rows(entities))
            free_name = find_free_name(described.name, joined)
            joined[free_name] = JoinedColumn(free_name, cells)
    return list(joined.values())
