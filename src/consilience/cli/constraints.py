"""Constraints from a file: two ids, must or cannot, and perhaps a weight."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ..data import Constraints, Views
from ..files.formats import Frame, read_source
from .say import Say

USUAL = ("first", "second", "type", "weight")


def read_constraints(text: str, views: Views, say: Say) -> Constraints:
    """The constraints in a table whose columns are, in this order or by name, first, second, type and weight."""
    path = Path(text)
    source = read_source(path, frozenset(_all_columns(path)))
    if not isinstance(source, Frame):
        raise ValueError(f"{path} (--constraints) must be a table: two ids, must or cannot, and perhaps a weight")
    names = list(source.columns)
    if not set(USUAL[:3]) <= set(names):
        if len(names) not in (3, 4):
            raise ValueError(
                f"{path} (--constraints) has {len(names)} columns: give two ids, must or cannot, and perhaps a weight"
            )
        names = dict(zip(USUAL, names, strict=False))  # type: ignore[assignment]
    else:
        names = {name: name for name in USUAL if name in names}  # type: ignore[assignment]
    table = {name: source.columns[own].tolist() for name, own in names.items()}  # type: ignore[attr-defined]
    if "weight" in table:
        table["weight"] = [1.0 if one is None else one for one in table["weight"]]
    if views.ids is None:
        table |= {end: [_row(path, one, len(views)) for one in table[end]] for end in USUAL[:2]}
        found = Constraints.from_table(table, by="position")
    else:
        _check_known(path, table, views)
        found = Constraints.from_table(table, by="id")
    n = len(found.conflicts)
    if n:
        say.note(f"{n} constraints contradict others.")
    return found


def _all_columns(path: Path) -> list[str]:
    """Ids and types are texts, even where they look like numbers."""
    source = read_source(path)
    return list(source.columns)[:4] if isinstance(source, Frame) else []


def _row(path: Path, text: str, n: int) -> int:
    """Without ids entities are named by their row, counted from 0."""
    if text is None or not text.strip().isdigit() or int(text) >= n:
        raise ValueError(f"{path} names {text!r}: without --id entities are rows, 0 to {n - 1}")
    return int(text)


def _check_known(path: Path, table: dict[str, list[str]], views: Views) -> None:
    known = set(np.asarray(views.ids).tolist())
    wrong = next((one for end in USUAL[:2] for one in table[end] if one not in known), None)
    if wrong is not None:
        raise ValueError(f"{path} (--constraints) names {wrong!r}, which no view has: correct the id, or drop the row")
