"""Read the files that the user named, and turn them into contents of views and known classes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from .formats import FileCollection, FileContent, FileMatrix, FileTable, InputFiles, read_input
from .kinds import KINDS, ViewContent, are_edge_columns, check_id_column, interpret_columns, interpret_matrix
from .spec import ViewSpec, is_file, list_names, select_columns, split_columns

USUAL_IDS = ("id", "ID", "Id")
TEXT_KINDS = ("text", "names", "categories")  # whose columns are never read as numbers
DELIMITER_NAMES = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "space": " "}


@dataclass(frozen=True, eq=False)
class KnownClasses:
    """Classes that are known beforehand, used for scores only; by id, or in the order of the rows."""

    origin: str
    classes: np.ndarray
    ids: np.ndarray | None


@dataclass(frozen=True, eq=False)
class InputData:
    """Everything that was read."""

    contents: list[ViewContent]
    id_column: str | None
    known_classes: KnownClasses | None = None
    notes: list[str] = field(default_factory=list)


def read_files(
    specs: Sequence[ViewSpec],
    *,
    id_column: str | None = None,
    labels: str | None = None,
    kinds: Mapping[str, str] | None = None,
    delimiter: str | None = None,
    usual_ids: Sequence[str] = USUAL_IDS,
    inputs: InputFiles,
) -> InputData:
    """Read each file once and detect what its views are; without `id_column` one of the usual ones is taken.

    `inputs` keeps the content of pipes that other options name as well.
    """
    reader = _ViewReader(specs, usual_ids, id_column, labels, kinds or {}, parse_delimiter(delimiter), inputs)
    notes = reader.find_id_column()
    contents = [content for spec in specs for content in reader.read_view(spec)]
    names = [content.name for content in contents]
    link_names = [f"{content.name}-{end}" for content in contents if content.kind == "links" for end in ("out", "in")]
    name, times = Counter([*names, *link_names]).most_common(1)[0]
    if times > 1:
        raise ValueError(f"two views are called {name!r}: give each its own name (--view NAME=FILE)")
    unknown = next((name for name in reader.kinds if name not in names), None)
    if unknown is not None:
        raise ValueError(f"--kind names {unknown!r}; the views are {', '.join(map(repr, names))}")
    return InputData(contents, reader.id_column, reader.read_known_classes(), notes)


def parse_delimiter(text: str | None) -> str | None:
    """Parse a delimiter as users can type it."""
    if text is None:
        return None
    mark = DELIMITER_NAMES.get(text, text)
    if len(mark) != 1 or mark in '"\r\n':
        raise ValueError(f"--delimiter is one character, or tab, comma, semicolon or space, got {text!r}")
    return mark


@dataclass(eq=False)
class _ViewReader:
    """Read views and known classes from files, and each file only once."""

    specs: Sequence[ViewSpec]
    usual_ids: Sequence[str]
    id_column: str | None
    labels: str | None
    kinds: Mapping[str, str]
    delimiter: str | None
    inputs: InputFiles

    def __post_init__(self) -> None:
        wrong = next((kind for kind in self.kinds.values() if kind not in KINDS), None)
        if wrong is not None:
            raise ValueError(f"there is no kind {wrong!r}: choose among {', '.join(KINDS)}")
        is_column = self.labels is not None and not is_file(split_columns(self.labels)[0])
        self._label_column = self.labels if is_column else None
        text_columns = {*self.usual_ids, self.id_column, self._label_column}
        for spec in self.specs:
            if self.kinds.get(spec.view_name) in TEXT_KINDS:
                text_columns |= set(spec.columns or ())
        self._as_text = frozenset(column for column in text_columns if column)
        self._contents: dict[tuple[Path, frozenset[str]], FileContent] = {}

    def read(self, path: Path, as_text: frozenset[str] = frozenset()) -> FileContent:
        """Read a file, or return its content if it was read before."""
        key = path, as_text
        if key not in self._contents:
            self._contents[key] = read_input(self.inputs.locate(path), self._as_text | as_text, self.delimiter)
        return self._contents[key]

    def read_columns(self, path: Path, columns: Sequence[str], as_text: Sequence[str] = ()) -> dict[str, np.ndarray]:
        """Read columns of a table, some of them as text even if they look like numbers."""
        table = self.read(path, frozenset(as_text))
        assert isinstance(table, FileTable)
        return {name: table.columns[name] for name in columns}

    def find_id_column(self) -> list[str]:
        """Check the id column, or choose the usual one if every table has it; return notes for the user."""
        tables = {
            spec.path: content.columns
            for spec in self.specs
            if isinstance(content := self.read(spec.path), FileTable) and not self._is_links(spec, content)
        }
        if self.id_column is not None:
            for path, columns in tables.items():
                if self.id_column not in columns:
                    names = ", ".join(map(repr, columns))
                    raise ValueError(f"{path} has no column {self.id_column!r} (--id); it has {names}")
            return []
        for usual in self.usual_ids:
            without = next((path for path, columns in tables.items() if usual not in columns), None)
            for spec in self.specs if without is not None else ():
                if spec.columns is None and usual in tables.get(spec.path, ()):  # it would be taken for a feature
                    raise ValueError(
                        f"{spec.path} has a column {usual!r}, {without} has none: add it there, or name the columns of "
                        f"the view ({spec.path}:COLUMN,COLUMN) to match rows by position"
                    )
            if tables and all(usual in columns for columns in tables.values()):
                self.id_column = usual
                return [f"Entities are joined by the column {usual!r} (--id)."]
        return []

    def _is_links(self, spec: ViewSpec, table: FileTable) -> bool:
        kind = self.kinds.get(spec.view_name)
        return kind == "links" or (kind is None and are_edge_columns(spec.columns or table.columns))

    def read_view(self, spec: ViewSpec) -> list[ViewContent]:
        """Read the view, or the views of a collection, that one --view names."""
        match self.read(spec.path):
            case FileCollection() as collection:
                return self._read_collection(spec, collection)
            case FileMatrix() as matrix:
                if spec.columns is not None:
                    raise ValueError(
                        f"{spec.path} is a matrix without named columns: leave out ':{','.join(spec.columns)}'"
                    )
                return [interpret_matrix(spec.view_name, spec.origin, matrix, self.kinds.get(spec.view_name))]
            case table:
                return [self._read_table(spec, table)]

    def _read_table(self, spec: ViewSpec, table: FileTable) -> ViewContent:
        kind = self.kinds.get(spec.view_name)
        is_links = self._is_links(spec, table)
        excluded = set() if is_links else {name for name in (self.id_column, self._label_column) if name is not None}
        names = select_columns(spec.path, spec.columns, list(table.columns), excluded)
        as_text = names[:2] if is_links else names if kind in TEXT_KINDS else ()
        columns = self.read_columns(spec.path, names, as_text)
        ids = None if is_links else self._read_ids(spec.path, table.columns, self.id_column)
        return interpret_columns(spec.view_name, spec.origin, columns, ids, kind)

    def _read_ids(self, path: Path, columns: Mapping[str, np.ndarray], id_column: str | None) -> np.ndarray | None:
        return None if id_column is None or id_column not in columns else check_id_column(str(path), columns[id_column])

    def _read_collection(self, spec: ViewSpec, collection: FileCollection) -> list[ViewContent]:
        matrices = collection.matrices
        takes_all = spec.name is None or len(matrices) == 1
        selected = spec.columns or (tuple(matrices) if takes_all else None)
        if selected is None:
            raise ValueError(
                f"{spec.path} holds {', '.join(matrices)}: name one (--view {spec.name}={spec.path}:"
                f"{next(iter(matrices))}), or give the file without a name to take all (--view {spec.path})"
            )
        unknown = next((name for name in selected if name not in matrices), None)
        if unknown is not None:
            raise ValueError(f"{spec.path} has no block {unknown!r}; it has {', '.join(map(repr, matrices))}")
        names = [spec.name] if spec.name is not None and len(selected) == 1 else selected
        return [
            interpret_matrix(name, f"{spec.path}:{block}", matrices[block], self.kinds.get(name))
            for name, block in zip(names, selected, strict=True)
        ]

    def read_known_classes(self) -> KnownClasses | None:
        """Read the known classes: a column of one of the files, or a file for them alone."""
        if self.labels is None:
            return None
        if self._label_column is None:
            return self._read_label_file(*split_columns(self.labels))
        for spec in self.specs:
            content = self.read(spec.path)
            if isinstance(content, FileMatrix) or self.labels not in content.columns:
                continue
            if isinstance(content, FileCollection):
                ids = content.ids
            else:
                ids = self._read_ids(spec.path, content.columns, self.id_column)
            return KnownClasses(f"{spec.path}:{self.labels}", content.columns[self.labels], ids)
        raise ValueError(f"no file has a column {self.labels!r} (--labels): name an existing one, or FILE:COLUMN")

    def _read_label_file(self, path: Path, columns: tuple[str, ...] | None) -> KnownClasses:
        """Read classes from a file for them alone, joined by its id column if it has one."""
        match self.read(path):
            case FileCollection():
                raise ValueError(f"{path} (--labels): name a column of it if it is also a view, or give a table")
            case FileMatrix() as matrix:
                classes = np.asarray(matrix.values)
                if classes.ndim != 1 and 1 not in classes.shape:
                    raise ValueError(f"{path} (--labels) must hold one label per entity, got shape {classes.shape}")
                return KnownClasses(str(path), classes.ravel(), matrix.ids)
            case table:
                id_column = next((name for name in (self.id_column, *USUAL_IDS) if name in table.columns), None)
                others = [name for name in table.columns if name != id_column]
                if columns is None and len(others) != 1:
                    raise ValueError(
                        f"{path} (--labels) has the columns {list_names(others)}: name one of them, {path}:COLUMN"
                    )
                column, *more = select_columns(path, columns, list(table.columns), set()) if columns else others
                if more:
                    raise ValueError(f"{path} (--labels): name one column, not {len(more) + 1}")
                classes = self.read_columns(path, [column], [column])[column]  # 1 and 01 are two classes
                return KnownClasses(f"{path}:{column}", classes, self._read_ids(path, table.columns, id_column))
