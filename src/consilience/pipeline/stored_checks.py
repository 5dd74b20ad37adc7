"""Checks of the data that a run folder contains: the folder may come from anywhere, and nothing in it is trusted."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..data import Constraints, Table, Views
from ..explain import OriginalColumn
from ..files import KINDS, Entities, InputData, KnownClasses, ViewContent
from ..files.descriptions import DescriptionColumn
from ..files.encoding import ENCODINGS, ViewEncoding
from ..files.mapping import IdMapping
from ..files.read import SourceTable
from ..files.readings import ColumnReading
from ..report.facts import MAX_THUMBNAIL_BYTES

THUMBNAIL_START = b"\xff\xd8\xff"  # of JPEG files, which the thumbnails are


def check_stored(stored: Mapping[str, Any], saved: Mapping[str, Any]) -> None:
    """Refuse data that does not fit the entities and the encoders of the model."""
    n_entities, kept, views = len(saved["estimator"].labels_), stored["kept"], stored["views"]
    reading, entities = stored["reading"], stored["entities"]
    types = [(reading, InputData), (entities, Entities), (views, Views)]
    if wrong := next((kind.__name__ for value, kind in types if type(value) is not kind), None):
        raise ValueError(f"it has no {wrong}")
    if not np.array_equal(kept, saved["kept"]) or len(views) != n_entities:
        raise ValueError(f"it is not of the {n_entities:,} entities of the model")
    layout = stored["layout"]
    if layout.shape != (n_entities, 2) or layout.dtype.kind != "f" or not np.isfinite(layout).all():
        raise ValueError("it has no position on the map for each entity")
    if any(encoding.content not in entities.rows for encoding in saved["parts"].values()):
        raise ValueError("it lacks a view of the model")
    _check_widths(views, saved)
    _check_reading(reading, saved["parts"])
    _check_entity_rows(entities, reading, kept)
    _check_encodings(stored, reading)
    _check_descriptions(stored, n_entities)
    _check_thumbnails(stored["thumbnails"], reading, n_entities)


def _require(condition: bool, complaint: str) -> None:
    if not condition:
        raise ValueError(complaint)


def _is_column(values: Any, n_rows: int, kinds: str = "biufcSUmMO") -> bool:
    return isinstance(values, np.ndarray) and values.dtype.kind in kinds and values.shape[:1] == (n_rows,)


def _check_widths(views: Views, saved: Mapping[str, Any]) -> None:
    """Refuse views that are not as wide as the model: a sparse one may claim any number of columns."""
    widths, reduced = getattr(saved["estimator"], "view_n_features_", {}), saved["features"] or {}
    for name, block in views.items():
        _require(name in saved["parts"], f"the model has no view {name!r}")
        _require(block.dtype.kind in "biuf", f"the view {name!r} does not hold numbers")
        features = getattr(saved["parts"][name].encoder, "features", None)
        is_wrong = name not in reduced and block.shape[1] != widths.get(name, block.shape[1])
        is_wrong |= features is not None and block.shape[1] != len(features)
        _require(not is_wrong, f"the view {name!r} has {block.shape[1]:,} columns, which are not those of the model")


def _check_reading(reading: InputData, parts: Mapping[str, ViewEncoding]) -> None:
    """Refuse contents that encoders, and sections of the report, cannot take."""
    widths = {part.content: getattr(part.encoder, "n_columns", None) for part in parts.values()}
    for content in reading.contents:
        _require(type(content) is ViewContent and isinstance(content.name, str), "it has a content that is none")
        name = content.name
        _require(content.kind in KINDS, f"there is no kind {content.kind!r} of {name!r}")
        _require(type(content.n_rows) is int and content.n_rows >= 0, f"the number of rows of {name!r} is none")
        texts = content.origin, content.reason, content.source or "", *content.notes, *(content.columns or ())
        _require(all(isinstance(text, str) for text in texts), f"the origin or the columns of {name!r} are no texts")
        _require(
            isinstance(content.readings, dict) and all(map(_is_reading, content.readings.values())),
            f"the readings of {name!r} are none",
        )
        _require(content.ids is None or _is_column(content.ids, content.n_rows), f"the ids of {name!r} are none")
        _require(_fits_kind(content), f"the data of {name!r} is not {content.n_rows:,} rows of {content.kind}")
        width = widths.get(name)
        if isinstance(content.data, tuple) and content.kind not in ("links", "similarities") and width is not None:
            _require(content.data[0].shape[1] == width, f"{name!r} does not have the {width:,} columns of the model")
    names = {content.name for content in reading.contents}
    for source in (*reading.known_classes, *reading.seed_classes):
        is_complete = type(source) is KnownClasses and _is_column(source.classes, len(source.classes))
        _require(is_complete and isinstance(source.option, str), "its known classes are none")
        _require(source.ids is None or _is_column(source.ids, len(source.classes)), "its known classes have no ids")
    for column in reading.descriptions:
        is_complete = type(column) is DescriptionColumn and _is_column(column.values, len(column.values))
        _require(is_complete and (column.content is None or column.content in names), "its descriptions are none")
        _require(column.ids is None or _is_column(column.ids, len(column.values)), "its descriptions have no ids")
    for table in reading.tables:
        is_complete = type(table) is SourceTable and bool(table.contents) and names.issuperset(table.contents)
        _require(is_complete, "its tables are none")
        n_rows = next(content.n_rows for content in reading.contents if content.name == table.contents[0])
        are_columns = all(_is_column(values, n_rows) for values in table.columns.values())
        _require(are_columns, f"a table of {table.contents[0]!r} does not have {n_rows:,} rows")
    _require(all(type(mapping) is IdMapping for mapping in reading.mappings), "its mappings are none")
    _require(all(isinstance(note, str) for note in reading.notes), "its notes are no texts")


def _is_reading(reading: Any) -> bool:
    return type(reading) is ColumnReading and all(
        isinstance(text, str) for text in (reading.kind, reading.form, reading.unit)
    )


def _fits_kind(content: ViewContent) -> bool:
    """Whether the data of a content has the type that its kind takes, and as many rows as the content."""
    data, n_rows = content.data, content.n_rows
    match content.kind:
        case "text" | "names":
            return _is_column(data, n_rows, "O") and all(cell is None or isinstance(cell, str) for cell in data)
        case "categories":
            return isinstance(data, dict) and all(_is_category_column(values, n_rows) for values in data.values())
        case "links":
            is_complete = isinstance(data, tuple) and len(data) == 3 and isinstance(data[0], np.ndarray)
            return is_complete and all(map(_is_column, data, [len(data[0])] * 3, ("O", "O", "biuf")))
        case "images":
            is_numeric = isinstance(data, dict) and all(_is_column(values, n_rows, "f") for values in data.values())
            return is_numeric and all(values.ndim == 2 for values in data.values())
        case "counts" if isinstance(data, np.ndarray):
            return _is_column(data, n_rows, "O") and all(cell is None or _is_bag(cell) for cell in data)
    if not isinstance(data, tuple) or len(data) != 2:
        return False
    matrix, names = data
    if not (isinstance(matrix, np.ndarray) or sp.issparse(matrix)):
        return False
    is_matrix = matrix.ndim == 2 and matrix.dtype.kind in "biuf" and matrix.shape[0] == n_rows
    is_square = content.kind != "similarities" or matrix.shape[0] == matrix.shape[1]
    return is_matrix and is_square and (names is None or len(names) == matrix.shape[1])


def _is_category_column(values: Any, n_rows: int) -> bool:
    is_text = _is_column(values, n_rows, "O") and all(cell is None or isinstance(cell, str) for cell in values)
    return is_text or _is_column(values, n_rows, "biuf")


def _is_bag(cell: Any) -> bool:
    return isinstance(cell, dict) and all(
        isinstance(term, str) and isinstance(count, Real) for term, count in cell.items()
    )


def _check_entity_rows(entities: Entities, reading: InputData, kept: np.ndarray) -> None:
    if entities.ids is not None and not _is_column(entities.ids, len(kept)):
        raise ValueError("it does not have an id for each entity")
    n_rows = {content.name: len(kept) if content.kind == "links" else content.n_rows for content in reading.contents}
    _require(set(entities.rows) == set(n_rows) == set(entities.row_ids), "its entities are not those of its views")
    for name, rows in entities.rows.items():
        # compiled code does not check the rows that it takes
        is_valid = rows.dtype.kind == "i" and rows.shape == kept.shape
        if not is_valid or rows.max(initial=-1) >= n_rows[name] or rows.min(initial=-1) < -1:
            raise ValueError(f"it has no row of {name!r} for each entity")
        ids = entities.row_ids[name]
        _require(ids is None or _is_column(ids, n_rows[name]), f"it has no id for each row of {name!r}")


def _check_encodings(stored: Mapping[str, Any], reading: InputData) -> None:
    """Refuse encodings that are not built in: a path would be opened, and the folder may come from anywhere."""
    encode, tables = stored["encode"], stored["encoding_tables"]
    kinds = {content.name: content.kind for content in reading.contents}
    _require(isinstance(encode, dict) and kinds.keys() >= encode.keys(), "it encodes a view that it does not have")
    for name, way in encode.items():
        _require(way is None or is_built_in(way, kinds[name]), f"there is no encoding {str(way)[:50]!r} of {name!r}")
    are_tables = isinstance(tables, dict) and all(isinstance(table, Table) for table in tables.values())
    _require(are_tables, "its tables of encodings are none")


def is_built_in(way: Any, kind: str) -> bool:
    """Whether an encoding of a kind of content is one of this library, and no path or function."""
    return isinstance(way, str) and set(way.split("+")) <= set(ENCODINGS[kind].names)


def _check_descriptions(stored: Mapping[str, Any], n_entities: int) -> None:
    complaint = "it does not have a class and a description for each entity"
    for column in stored["descriptions"]:
        _require(type(column) is OriginalColumn and _is_column(column.values, n_entities), complaint)
        _require(column.event is None or _is_column(column.event, n_entities, "b"), complaint)
    classes, seeds, constraints = stored["classes"], stored["seeds"], stored["constraints"]
    _require(classes is None or _is_column(classes, n_entities), complaint)
    if seeds is not None:
        origin, names, numbers = seeds
        _require(_is_column(numbers, n_entities, "i"), complaint)
        is_valid = numbers.max(initial=-1) < len(names) and numbers.min(initial=-1) >= -1
        are_texts = isinstance(origin, str) and isinstance(names, list) and all(isinstance(name, str) for name in names)
        _require(is_valid and are_texts, "its seeds are of other classes")
    if constraints is not None:
        path, joint, by_view, n_rows = constraints
        are_constraints = all(isinstance(part, Constraints) for part in (joint, *by_view.values()))
        _require(isinstance(path, str) and are_constraints and type(n_rows) is int, "its constraints are none")


def _check_thumbnails(thumbnails: Any, reading: InputData, n_entities: int) -> None:
    has_pictures = any(content.kind == "images" for content in reading.contents)
    complaint = "it does not have a small picture for each entity"
    _require((thumbnails is not None) == has_pictures, complaint)
    if thumbnails is None:
        return
    content, ends = thumbnails
    _require(_is_column(content, len(content), "u") and _is_column(ends, n_entities, "i"), complaint)
    starts = np.concatenate([[0], ends[:-1]])[:n_entities]
    _require((starts <= ends).all() and ends.max(initial=0) == len(content), complaint)
    for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
        is_small = start == end or end - start <= MAX_THUMBNAIL_BYTES
        _require(is_small and (start == end or content[start : start + 3].tobytes() == THUMBNAIL_START), complaint)
