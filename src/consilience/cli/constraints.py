"""Constraints from a file: two ids, must or cannot, and perhaps a weight."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ..data import Constraints
from ..files import EncodedData, InputFiles
from ..files.formats import FileTable, parse_path, read_input

USUAL = ("first", "second", "type", "weight")


def read_constraints(text: str, prepared: EncodedData, inputs: InputFiles) -> Constraints:
    """Read a table whose columns are, in this order or by name, first, second, type and weight."""
    path = parse_path(text)
    source = read_input(inputs.locate(path), frozenset(_all_columns(path, inputs)))
    if not isinstance(source, FileTable):
        raise ValueError(f"{path} (--constraints) must be a table: two ids, must or cannot, and perhaps a weight")
    table = {name: source.columns[own].tolist() for name, own in _name_columns(path, list(source.columns)).items()}
    if "weight" in table:
        table["weight"] = [1.0 if one is None else one for one in table["weight"]]
    by_row = prepared.ids is None
    position = {str(one): i for i, one in enumerate(prepared.names.tolist())}
    for end in USUAL[:2]:
        known = [_check_entity(path, row, one, position, by_row) for row, one in enumerate(table[end], 1)]
        table[end] = [position[one] for one in known] if by_row else known
    try:
        return Constraints.from_table(table, by="position" if by_row else "id")
    except ValueError as error:
        raise ValueError(f"{path} (--constraints): {error}") from error


def _all_columns(path: Path, inputs: InputFiles) -> list[str]:
    """Names of the columns to read as text: ids and types are texts, even where they look like numbers."""
    source = read_input(inputs.locate(path))
    return list(source.columns)[:4] if isinstance(source, FileTable) else []


def _name_columns(path: Path, there: list[str]) -> dict[str, str]:
    """Which column is which: by name, or else by place."""
    if set(USUAL[:3]) <= set(there):
        return {name: name for name in USUAL if name in there}
    if len(there) not in (3, 4):
        raise ValueError(
            f"{path} (--constraints) has {len(there)} columns: give two ids, must or cannot, and perhaps a weight"
        )
    return dict(zip(USUAL, there, strict=False))


def _check_entity(path: Path, row: int, text: str | None, position: dict[str, int], by_row: bool) -> str:
    """An entity that some view has; without ids entities are named by their row, counted from 0."""
    if text is None or not text.strip():
        raise ValueError(f"{path} (--constraints) has an empty id in row {row}: name the entity, or drop the row")
    if text.strip() not in position:
        remedy = "without --id entities are rows, counted from 0" if by_row else "correct the id, or drop the row"
        raise ValueError(f"{path} (--constraints) names {text!r} in row {row}, which no view has: {remedy}")
    return text.strip()


def count_satisfied(constraints: Constraints, ids: np.ndarray | None, labels: np.ndarray) -> dict[str, int]:
    """How many of the constraints the clusters keep, and how many there are; -1 is no cluster to be together in."""
    constraints = constraints if ids is None else constraints.positions(ids)
    must, cannot = constraints.must_link, constraints.cannot_link
    n_together, n_apart = _share_cluster(labels, must).sum(), (~_share_cluster(labels, cannot)).sum()
    return {"kept": int(n_together + n_apart), "given": len(must) + len(cannot)}


def _share_cluster(labels: np.ndarray, pairs: np.ndarray) -> np.ndarray:
    """Return for each pair of entities whether both are in the same cluster."""
    first, second = labels[pairs[:, 0]], labels[pairs[:, 1]]
    return (first == second) & (first >= 0)
