"""Columns that describe the clusters and are not used to find them: the values of --describe."""

from __future__ import annotations

import fnmatch
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np

from .._saving import save_as
from .formats import FORMATS, split_sheet
from .joining import Entities
from .spec import is_file, split_columns


@save_as("description-column")
@dataclass(frozen=True, eq=False)
class DescriptionColumn:
    """A column as it was read, that describes the clusters only."""

    name: str
    origin: str  # file and column, for messages
    values: np.ndarray
    ids: np.ndarray | None = None  # of the rows, in a file for descriptions
    content: str | None = None  # a content with the same rows, in the file of a view
    event: str | None = None  # of times: the column that says whether the event has happened
    option: ClassVar[str] = "--describe"

    def find_rows(self, entities: Entities) -> np.ndarray:
        """Return the row of each entity, -1 if it has none."""
        if self.content is not None:
            return entities.rows[self.content]
        n_rows = len(self.values)
        if self.ids is None or entities.ids is None:
            if n_rows != len(entities) or entities.is_mapped:
                remedy = (
                    "name its column of ids, too (--id COLUMN,COLUMN), or add one"
                    if entities.ids is not None
                    else "give one row per entity"
                )
                raise ValueError(
                    f"{self.origin} ({self.option}) has {n_rows:,} rows without ids for {len(entities):,} entities: "
                    f"{remedy}"
                )
            return np.arange(n_rows)
        rows = np.full(len(entities), -1)
        for row, entity_id in enumerate(self.ids.tolist()):
            rows[list(entities.find(entity_id))] = row
        if (rows < 0).all():
            raise ValueError(
                f"{self.origin} ({self.option}) shares no id with the views: its first is {self.ids[0]!r}, theirs is "
                f"{entities.ids[0]!r}"
            )
        return rows


@dataclass(frozen=True)
class DescriptionSpec:
    """A value of --describe: names of columns, and the file that has them if it is not a view's."""

    path: Path | None
    columns: str | None  # separated by commas, TIME/EVENT for a pair; None: all columns of the file

    def list_columns(self, available: Collection[str]) -> list[tuple[str, ...]]:
        """Split the names into columns and pairs of columns; a name that is not available stays as it is.

        Examples
        --------
        >>> DescriptionSpec(None, "age,months/event").list_columns(["age", "months", "event"])
        [('age',), ('months', 'event')]
        """
        if self.columns is None:
            return [(name,) for name in available]
        if self.columns in available:
            return [(self.columns,)]
        names: list[tuple[str, ...]] = []
        for part in (part.strip() for part in self.columns.split(",")):
            pairs = [(part[:i].strip(), part[i + 1 :].strip()) for i, mark in enumerate(part) if mark == "/"]
            pairs = [pair for pair in pairs if pair[0] in available and pair[1] in available]
            if part in available or not part:
                names += [(part,)] if part else []
            elif pairs:
                names.append(pairs[0])
            else:
                names += [(name,) for name in fnmatch.filter(available, part)] or [(part,)]
        return list(dict.fromkeys(names))


def parse_descriptions(texts: Sequence[str]) -> list[DescriptionSpec]:
    """Read the values of --describe: COLUMNS of the files of views, FILE or FILE:COLUMNS."""
    specs = []
    for text in texts:
        path, columns = split_columns(text)
        if is_file(path):
            specs.append(DescriptionSpec(path, None if columns is None else ",".join(columns)))
        elif split_sheet(path)[0].suffix.lower() in FORMATS:
            raise FileNotFoundError(f"there is no file {path} (--describe)")
        elif text.strip(" ,"):
            specs.append(DescriptionSpec(None, text.strip()))
        else:
            raise ValueError(f"--describe names columns, such as age,months,event; got {text!r}")
    return specs
