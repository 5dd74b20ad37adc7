"""Constraints from a file: two ids, must or cannot, and optionally a weight and the view in which they were given."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce
from itertools import chain
from operator import or_
from pathlib import Path
from typing import Any

import numpy as np

from ..data import Constraints
from ..files import EncodedData, InputFiles, read_table
from ..files.formats import parse_path
from ..registry import EstimatorDeclaration

COLUMNS = ("first", "second", "type", "weight")
VIEW_COLUMN = "view"
EXPECTED = "two ids, must or cannot, and optionally a weight and a column 'view'"


@dataclass(frozen=True, eq=False)
class FileConstraints:
    """The constraints of a file, between entities by position."""

    path: Path
    joint: Constraints  # all of them
    by_view: dict[str, Constraints]  # empty if the file has no column `view`
    n_rows: int
    contradiction: str = ""  # between views: a pair that must and cannot be in one cluster

    def check_method(self, declaration: EstimatorDeclaration) -> None:
        """Refuse constraints of different views that contradict each other if the method joins them."""
        if self.contradiction and not declaration.takes_view_constraints:
            raise ValueError(
                f"{self.contradiction}: delete one of the rows, because --method {declaration.name} takes constraints "
                "between entities, not by view"
            )

    def choose_for(self, declaration: EstimatorDeclaration) -> Constraints | dict[str, Constraints]:
        """Return the constraints as the method takes them: by view, or between the entities in all views."""
        return self.by_view if self.by_view and declaration.takes_view_constraints else self.joint

    def count_satisfied(self, labels: np.ndarray) -> dict[str, Any]:
        """Return how many constraints the clusters satisfy and how many there are, also by view if views are named."""
        if not self.by_view:
            return count_satisfied(self.joint, labels)
        views = {name: count_satisfied(links, labels) for name, links in self.by_view.items()}
        totals = {key: sum(counts[key] for counts in views.values()) for key in ("kept", "given")}
        return {**totals, "views": {name: counts for name, counts in views.items() if counts["given"]}}

    def list_notes(self, declaration: EstimatorDeclaration) -> list[str]:
        """Return notes: what becomes of the column `view`, and of ids that mean several entities."""
        notes = []
        if self.by_view and not declaration.takes_view_constraints:
            notes.append(
                f"{self.path}: --method {declaration.name} takes constraints between entities, not by view: those "
                "given in a view hold in all views."
            )
        n_pairs = sum(links.size for links in self.by_view.values()) if self.by_view else self.joint.size
        if n_pairs > self.n_rows:
            notes.append(
                f"{self.path}: {self.n_rows:,} rows become {n_pairs:,} constraints between entities, because the "
                "mapping makes several entities of some ids."
            )
        return notes


def read_constraints(text: str, prepared: EncodedData, inputs: InputFiles) -> FileConstraints:
    """Read a table with the columns first, second, type and weight, in this order or by name, and perhaps view."""
    path = parse_path(text)
    columns = read_table(path, "--constraints", EXPECTED, inputs)
    views: list[str | None] = [None] * len(next(iter(columns.values())))
    if VIEW_COLUMN in columns:
        columns = dict(columns)
        views = _check_views(path, columns.pop(VIEW_COLUMN).tolist(), prepared)
    names = list(columns)
    if set(COLUMNS[:3]) <= set(names):
        names = [name for name in COLUMNS if name in names]
    elif len(names) not in (3, 4):
        raise ValueError(f"{path} (--constraints) has {len(names)} columns: give {EXPECTED}")
    table = {name: columns[column].tolist() for name, column in zip(COLUMNS, names, strict=False)}
    if "weight" in table:
        table["weight"] = [1.0 if weight is None else weight for weight in table["weight"]]
    position = np.cumsum(prepared.kept) - 1  # of the entities among those that are kept
    rows_by_view: dict[str | None, list[dict[str, Any]]] = {}  # with the number of the row in the file
    for row, (view, *cells) in enumerate(zip(views, *table.values(), strict=True), 1):
        link = dict(zip(table, cells, strict=True))
        ends = [_find_entities(path, row, link[end], view, prepared) for end in COLUMNS[:2]]
        name = (
            None if view is None else _find_view_with(path, row, view, [position[list(end)] for end in ends], prepared)
        )
        pairs = [(first, second) for first in ends[0] for second in ends[1]]
        rows_by_view.setdefault(name, []).extend({**link, "first": a, "second": b, "row": row} for a, b in pairs)
    links = {name: _build(path, rows, table, prepared) for name, rows in rows_by_view.items()}
    for name, rows in rows_by_view.items():
        if contradiction := _describe_pairs_of_both(path, rows, links[name], position, prepared):
            raise ValueError(f"{contradiction}: delete one of the rows")
    joint = reduce(or_, links.values())
    by_view = {name: links.get(name, Constraints()) for name in prepared.views.names} if None not in links else {}
    contradiction = _describe_pairs_of_both(path, list(chain(*rows_by_view.values())), joint, position, prepared)
    return FileConstraints(path, joint, by_view, len(views), contradiction)


def number_constraints(constraints: Constraints, prepared: EncodedData) -> FileConstraints:
    """Return constraints by id, or by the position of an entity in the data, as constraints of a file."""
    if constraints.by == "id":
        if prepared.ids is None:
            raise ValueError("--constraints names entities by id, but the data has no ids: give --id, or positions")
        joint = constraints.positions(prepared.names)
    else:
        pairs = np.vstack([constraints.must_link, constraints.cannot_link])
        n_entities = len(prepared.kept)
        wrong = pairs[(pairs < 0) | (pairs >= n_entities)]
        if len(wrong):
            raise ValueError(f"--constraints names the position {wrong[0]}, but there are {n_entities} entities")
        if not prepared.kept[pairs].all():
            raise ValueError("--constraints names an entity that has no data in any view: leave out its constraints")
        joint = constraints.renumbered(np.cumsum(prepared.kept) - 1)
    both = _find_pairs_of_both(joint)
    if both:
        names = " and ".join(repr(str(prepared.names[place])) for place in both[0])
        raise ValueError(f"--constraints has a must-link and a cannot-link of {names}: leave one of them out")
    return FileConstraints(Path("constraints"), joint, {}, constraints.size)


def _find_pairs_of_both(links: Constraints) -> list[tuple[int, int]]:
    """Find the pairs, by position, that must and cannot be in one cluster."""
    must, cannot = (set(map(tuple, part.pairs.tolist())) for part in (links.must, links.cannot))
    return sorted(must & cannot)


def _describe_pairs_of_both(
    path: Path, rows: list[dict[str, Any]], links: Constraints, position: np.ndarray, prepared: EncodedData
) -> str:
    """Name a pair that one row says must, and another says cannot, be in one cluster; nothing if there is none."""
    both = _find_pairs_of_both(links)
    if not both:
        return ""
    ends = [tuple(sorted((int(position[row["first"]]), int(position[row["second"]])))) for row in rows]
    numbers = {str(row["type"]).strip(): row["row"] for row, pair in zip(rows, ends, strict=True) if pair == both[0]}
    kinds = " and ".join(f"{kind!r} in row {number}" for kind, number in numbers.items())
    names = " and ".join(repr(str(prepared.names[place])) for place in both[0])
    n_pairs = f"{len(both)} such pair{'s' * (len(both) != 1)}"
    return f"{path} (--constraints) says of {names} both {kinds} ({n_pairs})"


def _build(path: Path, rows: list[dict[str, Any]], columns: Mapping[str, Any], prepared: EncodedData) -> Constraints:
    """Return constraints by position from rows that name entities by their numbers among all that were read."""
    position = np.cumsum(prepared.kept) - 1
    ids = prepared.ids
    table = {name: [row[name] for row in rows] for name in columns}
    for end in COLUMNS[:2]:
        table[end] = [int(position[entity]) if ids is None else ids[entity] for entity in table[end]]
    try:
        links = Constraints.from_table(table, by="position" if ids is None else "id")
    except ValueError as error:
        raise ValueError(f"{path} (--constraints): {error}") from error
    return links if ids is None else links.positions(prepared.names)


def _check_views(path: Path, cells: list[str | None], prepared: EncodedData) -> list[str | None]:
    """Return the view of each row; every row must name one."""
    contents = list(dict.fromkeys(encoding.content for encoding in prepared.encodings.values()))
    for row, cell in enumerate(cells, 1):
        name = "" if cell is None else cell.strip()
        if name not in contents:
            problem = f"names the view {name!r} in row {row}" if name else f"names no view in row {row}"
            raise ValueError(
                f"{path} (--constraints) {problem}; the views are {', '.join(map(repr, contents))}. Name one in each "
                f"row, or leave out the column {VIEW_COLUMN!r}"
            )
    return [None if cell is None else cell.strip() for cell in cells]


def _find_entities(path: Path, row: int, text: str | None, view: str | None, prepared: EncodedData) -> tuple[int, ...]:
    """Return the entities that a cell names; without ids, entities are named by their row, counted from 0."""
    if text is None or not text.strip():
        raise ValueError(f"{path} (--constraints) has an empty id in row {row}: name the entity, or delete the row")
    try:
        entities = prepared.entities.find(text.strip(), view)
    except ValueError as error:
        raise ValueError(
            f"{path} (--constraints), row {row}: {error}. Add a column {VIEW_COLUMN!r} that says in which view each "
            "constraint was given"
        ) from error
    entities = tuple(entity for entity in entities if prepared.kept[entity])
    if not entities:
        by_row = prepared.ids is None
        remedy = "without --id entities are rows, counted from 0" if by_row else "correct the id, or delete the row"
        missing = "which no view has" if view is None else f"which view {view!r} does not have"
        raise ValueError(f"{path} (--constraints) names {text!r} in row {row}, {missing}: {remedy}")
    return entities


def _find_view_with(path: Path, row: int, view: str, ends: list[np.ndarray], prepared: EncodedData) -> str:
    """Return the view of the model in which both ends of a constraint have data; links become two such views."""
    names = [name for name, encoding in prepared.encodings.items() if encoding.content == view]
    columns = [prepared.views.present[:, prepared.views.names.index(name)] for name in names]
    for name, present in zip(names, columns, strict=True):
        if all(present[end].all() for end in ends):
            return name
    lacking = next(end[0] for end in ends if not columns[0][end].all())
    raise ValueError(
        f"{path} (--constraints) gives row {row} in view {view!r}, in which {prepared.names[lacking]!r} has no data: "
        "name another view, or delete the row"
    )


def count_satisfied(constraints: Constraints, labels: np.ndarray) -> dict[str, int]:
    """Return how many constraints, by position, the clusters satisfy and how many there are; -1 is not a cluster."""
    must, cannot = constraints.must_link, constraints.cannot_link
    n_together, n_apart = _share_cluster(labels, must).sum(), (~_share_cluster(labels, cannot)).sum()
    return {"kept": int(n_together + n_apart), "given": len(must) + len(cannot)}


def describe_satisfied(counts: dict[str, Any]) -> str:
    """Say how many constraints are satisfied, also by view if they were given in views."""
    by_view = "; ".join(
        f"in {name} {view['kept']:,} of {view['given']:,}" for name, view in counts.get("views", {}).items()
    )
    return f"{counts['kept']:,} of {counts['given']:,} constraints are satisfied{by_view and f' ({by_view})'}."


def _share_cluster(labels: np.ndarray, pairs: np.ndarray) -> np.ndarray:
    """Return for each pair of entities whether both are in the same cluster."""
    first, second = labels[pairs[:, 0]], labels[pairs[:, 1]]
    return (first == second) & (first >= 0)
