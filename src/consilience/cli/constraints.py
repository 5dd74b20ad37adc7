"""Constraints from a file: two ids, must or cannot, and optionally a weight."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ..data import Constraints
from ..files import EncodedData, InputFiles
from ..files.formats import FileTable, parse_path, read_input

COLUMNS = ("first", "second", "type", "weight")
EXPECTED = "two ids, must or cannot, and optionally a weight"


def read_constraints(text: str, prepared: EncodedData, inputs: InputFiles) -> Constraints:
    """Read a table with the columns first, second, type and weight, in this order or by name."""
    path = parse_path(text)
    first_columns = list(_read_table(path, inputs).columns)[:4]
    # ids and types are text even where they look like numbers, so these columns are read as text
    frame = _read_table(path, inputs, frozenset(first_columns))
    columns = list(frame.columns)
    if set(COLUMNS[:3]) <= set(columns):
        columns = [name for name in COLUMNS if name in columns]
    elif len(columns) not in (3, 4):
        raise ValueError(f"{path} (--constraints) has {len(columns)} columns: give {EXPECTED}")
    table = {name: frame.columns[column].tolist() for name, column in zip(COLUMNS, columns, strict=False)}
    if "weight" in table:
        table["weight"] = [1.0 if weight is None else weight for weight in table["weight"]]
    by_row = prepared.ids is None
    position = {str(name): i for i, name in enumerate(prepared.names.tolist())}
    for end in COLUMNS[:2]:
        entities = [_check_entity(path, row, cell, position, by_row) for row, cell in enumerate(table[end], 1)]
        table[end] = [position[entity] for entity in entities] if by_row else entities
    try:
        return Constraints.from_table(table, by="position" if by_row else "id")
    except ValueError as error:
        raise ValueError(f"{path} (--constraints): {error}") from error


def _read_table(path: Path, inputs: InputFiles, as_text: frozenset[str] = frozenset()) -> FileTable:
    source = read_input(inputs.locate(path), as_text)
    if not isinstance(source, FileTable):
        raise ValueError(f"{path} (--constraints) must be a table: {EXPECTED}")
    return source


def _check_entity(path: Path, row: int, text: str | None, position: dict[str, int], by_row: bool) -> str:
    """Return the name of an entity that a view has; without ids, entities are named by their row, counted from 0."""
    if text is None or not text.strip():
        raise ValueError(f"{path} (--constraints) has an empty id in row {row}: name the entity, or delete the row")
    if text.strip() not in position:
        remedy = "without --id entities are rows, counted from 0" if by_row else "correct the id, or delete the row"
        raise ValueError(f"{path} (--constraints) names {text!r} in row {row}, which no view has: {remedy}")
    return text.strip()


def count_satisfied(constraints: Constraints, ids: np.ndarray | None, labels: np.ndarray) -> dict[str, int]:
    """Return how many constraints the clusters satisfy and how many there are; -1 is not a cluster."""
    constraints = constraints if ids is None else constraints.positions(ids)
    must, cannot = constraints.must_link, constraints.cannot_link
    n_together, n_apart = _share_cluster(labels, must).sum(), (~_share_cluster(labels, cannot)).sum()
    return {"kept": int(n_together + n_apart), "given": len(must) + len(cannot)}


def _share_cluster(labels: np.ndarray, pairs: np.ndarray) -> np.ndarray:
    """Return for each pair of entities whether both are in the same cluster."""
    first, second = labels[pairs[:, 0]], labels[pairs[:, 1]]
    return (first == second) & (first >= 0)
