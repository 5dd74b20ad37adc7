"""Find the views of a model in files of new entities."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace

from .formats import InputFiles, is_table, read_path
from .kinds import MATRIX_KINDS, ViewContent
from .readings import PLAIN_NUMBERS, ColumnReading
from .spec import ViewSpec, list_names


@dataclass(frozen=True)
class ModelViews:
    """The views that a model was fitted to, by name: their kinds, and the columns of the tables that they come from."""

    kinds: Mapping[str, str]
    columns: Mapping[str, Sequence[str] | None]
    readings: Mapping[str, Mapping[str, ColumnReading]] = field(default_factory=dict)
    sources: Mapping[str, str | None] = field(default_factory=dict)  # names of tables that were split
    # By view and column: the words that are values, such as NA for Namibia, but empty cells in other columns.
    value_words: Mapping[str, Mapping[str, Sequence[str]]] = field(default_factory=dict)

    @classmethod
    def from_contents(cls, contents: Sequence[ViewContent]) -> ModelViews:
        """Collect what new files must have in common with the contents of a fit."""
        return cls(
            {content.name: content.kind for content in contents},
            {content.name: content.columns for content in contents},
            {content.name: readings for content in contents if (readings := _list_readings(content))},
            {content.name: content.source for content in contents if content.source is not None},
            {content.name: dict(content.value_words) for content in contents if content.value_words},
        )

    @classmethod
    def from_saved(cls, saved: Mapping[str, Mapping]) -> ModelViews:
        """Return the views of a saved model; models of earlier versions have fewer facts."""
        return cls(**{fact.name: saved[fact.name] for fact in fields(cls) if fact.name in saved})

    def to_saved(self) -> dict[str, Mapping]:
        """Return the facts that a saved model contains."""
        return {fact.name: getattr(self, fact.name) for fact in fields(self)}

    @property
    def lenient_readings(self) -> dict[str, dict[str, ColumnReading]]:
        """How new cells become numbers: those that cannot be read are empty, whatever the fit would have done."""
        return {
            view: {column: replace(reading, lenient=True) for column, reading in readings.items()}
            for view, readings in self.readings.items()
        }

    def find_views(self, spec: ViewSpec, inputs: InputFiles) -> list[ViewSpec]:
        """Return one spec per view of the model that a file holds, with the columns of the fit.

        A name, given or taken from the file, means the view or all views of the table that was called so; another file
        holds the views whose columns it has, the only matrix, or the only pictures.
        """
        if spec.selects_columns:
            return [replace(spec, name=spec.view_name)]
        views = [view for view in self.kinds if spec.view_name in (view, self.sources.get(view))]
        if not is_table(spec.path, inputs):
            kinds = ("images",) if os.path.isdir(spec.path) else MATRIX_KINDS
            alike = [view for view, kind in self.kinds.items() if kind in kinds and not self.columns.get(view)]
            if not views and spec.name is None and len(alike) == 1:
                views = alike
            return [replace(spec, name=view) for view in views[:1]] or [spec]
        if not views and spec.name is None:
            views = [view for view in self.kinds if self.columns.get(view)]
        if len(views) < 2:
            return [self._select(spec, view) for view in views] or [spec]
        available = list(read_path(spec.path, inputs).columns)  # type: ignore[union-attr]
        matching = [view for view in views if set(self.columns.get(view) or ()).intersection(available)]
        if not matching:
            expected = [column for view in views for column in self.columns.get(view) or ()]
            raise ValueError(
                f"{spec.path} has none of the columns {list_names(expected)} of the model; it has "
                f"{list_names(available)}"
            )
        return [self._select(spec, view) for view in matching]

    def _select(self, spec: ViewSpec, view: str) -> ViewSpec:
        columns = self.columns.get(view)
        return replace(spec, name=view, columns=tuple(columns) if columns else spec.columns)


def _list_readings(content: ViewContent) -> dict[str, ColumnReading]:
    """Return how the columns of a content become numbers; new texts in columns of plain numbers are numbers, too."""
    plain: Iterable[str] = ()
    if content.kind == "numbers":
        plain = content.columns or ()
    elif content.kind == "categories":
        plain = [name for name, cells in content.data.items() if cells.dtype != object]
    return dict.fromkeys(plain, PLAIN_NUMBERS) | dict(content.readings)
