"""Columns that describe the clusters only, in the units of the user."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..explain import OriginalColumn, compare_clusters, compare_each_cluster, estimate_survival
from ..explain.comparisons import describe_test, encode_categories, is_constant
from ..files import DescriptionColumn, Entities
from ..files.conversion import convert_columns, describe_unread
from ..files.dates import format_days
from ..files.formats.columns import NO_VALUE, format_cell, to_objects
from ..files.kinds import detect_column_kind
from ..files.readings import ColumnReading
from .follow_up import pair_follow_up

TRUTH_WORDS = {1.0: "yes", 0.0: "no"}
BINARY_WORDS = {1.0: "1", 0.0: "0"}
MAX_LISTED = 20  # categories per cluster in summary.json, the most frequent
TIME_UNIT = "h"  # of times of day


def take_cells(values: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Return the cells of the rows, empty ones for the row -1."""
    return np.append(values, to_objects([None]) if values.dtype == object else np.nan)[rows]


def interpret_cells(
    name: str,
    values: np.ndarray,
    reading: ColumnReading | None = None,
    *,
    is_category: bool = False,
    is_description: bool = False,
) -> OriginalColumn:
    """Return a column of cells as they were read, or of numbers in place of texts that `reading` describes."""
    if values.dtype != object:
        numbers = np.where(np.isfinite(values.astype(np.float64)), values, np.nan).astype(np.float64)
        kind = "" if reading is None else reading.kind
        is_filled = ~np.isnan(numbers)
        if kind == "date":
            return OriginalColumn(name, numbers, "date", is_description=is_description)
        if kind == "truth" or np.array_equal(np.unique(numbers[is_filled]), [0.0, 1.0]):
            words = TRUTH_WORDS if kind == "truth" else BINARY_WORDS
            cells = to_objects([words.get(number) for number in numbers.tolist()])
            return OriginalColumn(name, cells, "category", is_description=is_description)
        unit = TIME_UNIT if kind == "time" else "" if reading is None else reading.unit
        return OriginalColumn(name, numbers, "number", unit, is_description)
    texts = (None if cell is None else str(cell).strip() for cell in values)
    cells = to_objects([None if text is None or text.lower() in NO_VALUE else text for text in texts])
    is_category = is_category or detect_column_kind(cells) == "categories"
    return OriginalColumn(name, cells, "category" if is_category else "text", is_description=is_description)


def read_descriptions(
    descriptions: Sequence[DescriptionColumn], entities: Entities
) -> tuple[list[OriginalColumn], list[str]]:
    """Return the descriptions of all entities, times joined with their events, and notes for the user."""
    values = {source.name: source.values for source in descriptions}
    try:
        conversions = convert_columns(values, lenient=True)
    except ValueError as error:
        raise ValueError(f"--describe: {error}") from error
    notes = [*describe_unread("--describe", values, conversions), *_list_partial(descriptions, entities)]
    columns = []
    for source in descriptions:
        conversion = conversions.get(source.name)
        is_read = conversion is not None and conversion.reading.kind not in ("truth", "list")  # which stay as written
        cells = conversion.numbers if conversion is not None and is_read else source.values
        rows = source.find_rows(entities)
        reading = conversion.reading if conversion is not None and is_read else None
        columns.append(interpret_cells(source.name, take_cells(cells, rows), reading, is_description=True))
    events = {source.name: source.event for source in descriptions if source.event is not None}
    columns, pair_notes = pair_follow_up(columns, events)
    return columns, [*notes, *pair_notes, *_list_empty(columns)]


def describe_unmatched(origin: str, unknown: Sequence[str]) -> list[str]:
    """Note the ids of a file, or of an index, that no entity has."""
    if not unknown:
        return []
    verb = "id is" if len(unknown) == 1 else "ids are"
    return [f"{origin}: {len(unknown):,} {verb} those of no entity, such as {unknown[0]!r}: left out."]


def describe_partial(origin: str, n_described: int, n_entities: int) -> list[str]:
    """Note how many entities have descriptions if these are not all."""
    return [f"{origin} describes only {n_described:,} of {n_entities:,} entities."] if n_described < n_entities else []


def _list_partial(descriptions: Sequence[DescriptionColumn], entities: Entities) -> list[str]:
    """Note how many entities have descriptions in a file of their own, if these are not all, and ids of no entity."""
    notes: dict[str, None] = {}  # once for all columns of a file
    for source in descriptions:
        if source.content is not None or source.ids is None or entities.ids is None:
            continue
        whole = source.origin.removesuffix(f":{source.name}").removesuffix(f"[{source.name!r}]")
        origin = f"{whole} ({source.option})"
        n_described = int((source.find_rows(entities) >= 0).sum())
        notes |= dict.fromkeys(describe_partial(origin, n_described, len(entities)))
        notes |= dict.fromkeys(describe_unmatched(origin, entities.list_unknown(source.ids.tolist())))
    return list(notes)


def _list_empty(columns: Sequence[OriginalColumn]) -> list[str]:
    """Note the descriptions that cannot tell clusters apart."""
    notes = []
    for column in columns:
        value = next((cell for cell in column.values.tolist() if cell is not None and cell == cell), None)
        if value is None:
            notes.append(f"The column {column.name!r} (--describe) is empty: it describes no entity.")
        elif column.event is None and is_constant(column):
            shown = format_cell(value)[:40]
            notes.append(f"The column {column.name!r} (--describe) has the same value for all entities, {shown!r}.")
    return notes


def summarize_descriptions(labels: np.ndarray, columns: Sequence[OriginalColumn]) -> list[dict[str, Any]]:
    """Return the tests of each description, and what it says about each cluster, for summary.json."""
    apart: dict[str, list[dict[str, Any]]] = {column.name: [] for column in columns}
    for row in compare_each_cluster(labels, columns).rows():
        apart[row["column"]].append(row)
    summaries = []
    for column, test in zip(columns, compare_clusters(labels, columns).rows(), strict=True):
        clusters = [
            {name: value for name, value in row.items() if name != "column"}
            | summarize_cells(column.select(labels == row["cluster"]))
            for row in apart[column.name]
        ]
        kind = "survival" if column.event is not None else column.kind
        sentence = describe_test(column, test)
        summaries.append({**test, "column": column.name, "kind": kind, "sentence": sentence, "clusters": clusters})
    return summaries


def summarize_cells(column: OriginalColumn) -> dict[str, Any]:
    """Return quartiles of numbers, shares of categories, or the number of events and the median time until one."""
    if column.event is not None:
        survival = estimate_survival(column.values, column.event)
        return {"events": int(column.event.sum()), "median": survival.median}
    if column.kind == "category":
        names, codes = encode_categories(column)
        counts = np.bincount(codes[codes >= 0], minlength=len(names))
        shares = (counts / max(counts.sum(), 1)).tolist()
        return {"shares": dict(zip(names[:MAX_LISTED], shares, strict=False))}
    if column.kind == "text":
        return {}
    quartiles = np.nanquantile(column.values, [0.25, 0.5, 0.75]).tolist()
    shown = [format_days(day) for day in quartiles] if column.kind == "date" else quartiles
    return dict(zip(("first_quartile", "median", "third_quartile"), shown, strict=True))
