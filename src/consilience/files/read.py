"""Read the files that the user named, and turn them into contents of views and known classes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from .formats import FileCollection, FileContent, FileMatrix, FileTable, InputFiles, read_input
from .kinds import KINDS, ViewContent, are_edge_columns, check_id_column, interpret_columns, interpret_matrix
from .mapping import IdMapping, read_mappings
from .objects import read_objects
from .spec import ViewSpec, is_file, is_same_file, list_names, select_columns, split_columns

USUAL_IDS = ("id", "ID", "Id")
TEXT_KINDS = ("text", "names", "categories")  # whose columns are never read as numbers
DELIMITER_NAMES = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "space": " "}


@dataclass(frozen=True, eq=False)
class KnownClasses:
    """Classes that are known beforehand, by id, or in the order of the rows."""

    origin: str
    classes: np.ndarray
    ids: np.ndarray | None
    option: str  # that names them
    views: tuple[str, ...] = ()  # in the same file, whose ids these are


@dataclass(frozen=True, eq=False)
class InputData:
    """Everything that was read."""

    contents: list[ViewContent]
    id_column: str | None
    known_classes: list[KnownClasses] = field(default_factory=list)  # --labels: for scores only
    seed_classes: list[KnownClasses] = field(default_factory=list)  # --seeds: for the fit
    mappings: list[IdMapping] = field(default_factory=list)  # if the views have different ids
    notes: list[str] = field(default_factory=list)


def read_files(
    specs: Sequence[ViewSpec],
    *,
    id_column: str | None = None,
    labels: str | None = None,
    seeds: str | None = None,
    mappings: Sequence[str] = (),
    kinds: Mapping[str, str] | None = None,
    delimiter: str | None = None,
    usual_ids: Sequence[str] = USUAL_IDS,
    inputs: InputFiles,
) -> InputData:
    """Read each file once and detect what its views are; without `id_column` one of the usual ones is taken.

    `inputs` keeps the content of pipes that other options name as well.
    """
    options = {name: text for name, text in (("--labels", labels), ("--seeds", seeds)) if text is not None}
    reader = _ViewReader(specs, usual_ids, id_column, options, kinds or {}, parse_delimiter(delimiter), inputs)
    notes = reader.choose_id_column(bool(mappings))
    by_spec = [(spec, reader.read_view(spec)) for spec in specs]
    contents = [content for _, read in by_spec for content in read]
    views = {
        path: tuple(content.name for spec, read in by_spec if spec.path == path for content in read)
        for path in dict.fromkeys(spec.path for spec in specs)
    }
    names = [content.name for content in contents]
    link_names = [f"{content.name}-{end}" for content in contents if content.kind == "links" for end in ("out", "in")]
    name, times = Counter([*names, *link_names]).most_common(1)[0]
    if times > 1:
        raise ValueError(f"two views are called {name!r}: give each its own name (--view NAME=FILE)")
    unknown = next((name for name in reader.kinds if name not in names), None)
    if unknown is not None:
        raise ValueError(f"--kind names {unknown!r}; the views are {', '.join(map(repr, names))}")
    classes, seed_classes = (reader.read_known_classes(option, views) for option in ("--labels", "--seeds"))
    id_mappings, mapping_notes = read_mappings(mappings, contents, inputs)
    return InputData(contents, reader.id_column, classes, seed_classes, id_mappings, [*notes, *mapping_notes])


def parse_delimiter(text: str | None) -> str | None:
    """Parse a delimiter as users can type it."""
    if text is None:
        return None
    mark = DELIMITER_NAMES.get(text, text)
    if len(mark) != 1 or mark in '"\r\n':
        raise ValueError(f"--delimiter is one character, or tab, comma, semicolon or space, got {text!r}")
    return mark


def split_id_columns(text: str | None) -> list[str]:
    """Split the value of --id into the name of the column, and its names in other files."""
    return [] if text is None else [text, *(name.strip() for name in text.split(",") if "," in text and name.strip())]


def find_id_column(text: str | None, columns: Iterable[str]) -> str | None:
    """Return the id column of a file: the first of the names that the file has."""
    return next((name for name in split_id_columns(text) if name in columns), None)


@dataclass(eq=False)
class _ViewReader:
    """Read views and known classes from files, and each file only once."""

    specs: Sequence[ViewSpec]
    usual_ids: Sequence[str]
    id_column: str | None
    class_options: Mapping[str, str]  # --labels and --seeds, if they are given
    kinds: Mapping[str, str]
    delimiter: str | None
    inputs: InputFiles

    def __post_init__(self) -> None:
        wrong = next((kind for kind in self.kinds.values() if kind not in KINDS), None)
        if wrong is not None:
            raise ValueError(f"there is no kind {wrong!r}: choose among {', '.join(KINDS)}")
        self._class_columns = {
            option: text for option, text in self.class_options.items() if not is_file(split_columns(text)[0])
        }
        text_columns = {*self.usual_ids, *split_id_columns(self.id_column), *self._class_columns.values()}
        for spec in self.specs:
            if self.kinds.get(spec.view_name) in TEXT_KINDS:
                text_columns |= set(spec.columns or ())
        self._as_text = frozenset(column for column in text_columns if column)
        self._contents: dict[tuple[Path, frozenset[str]], FileContent] = {}

    def read(self, path: Path, as_text: frozenset[str] = frozenset()) -> FileContent:
        """Read a file, or return its content if it is in memory or was read before."""
        key = path, as_text
        if path in self.inputs.objects and key not in self._contents:
            objects = {str(place): value for place, value in self.inputs.objects.items()}
            contents = read_objects(objects, self._as_text | as_text)
            self._contents |= {(Path(place), as_text): content for place, content in contents.items()}
        if key not in self._contents:
            self._contents[key] = read_input(self.inputs.locate(path), self._as_text | as_text, self.delimiter)
        return self._contents[key]

    def read_columns(self, path: Path, columns: Sequence[str], as_text: Sequence[str] = ()) -> dict[str, np.ndarray]:
        """Read columns of a table, some of them as text even if they look like numbers."""
        table = self.read(path, frozenset(as_text))
        assert isinstance(table, FileTable)
        return {name: table.columns[name] for name in columns}

    def choose_id_column(self, is_mapped: bool) -> list[str]:
        """Check the id column, or choose the usual one if every table has it; return notes for the user."""
        tables = {
            spec.path: content.columns
            for spec in self.specs
            if isinstance(content := self.read(spec.path), FileTable) and not self._is_links(spec, content)
        }
        if self.id_column is not None:
            for path, columns in tables.items():
                if find_id_column(self.id_column, columns) is None:
                    names = ", ".join(map(repr, columns))
                    raise ValueError(f"{path} has no column {self.id_column!r} (--id); it has {names}")
            return []
        for usual in self.usual_ids:
            without = next((path for path, columns in tables.items() if not find_id_column(usual, columns)), None)
            for spec in self.specs if without is not None else ():
                if spec.columns is None and find_id_column(usual, tables.get(spec.path, ())):
                    raise ValueError(  # it would be taken for a feature
                        f"{spec.path} has a column {usual!r}, {without} has none: add it there, or name the columns of "
                        f"the view ({spec.path}:COLUMN,COLUMN) to match rows by position"
                    )
            if tables and without is None:
                self.id_column = usual
                return [] if is_mapped else [f"Entities are joined by the column {usual!r} (--id)."]
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
        excluded: set[str] = set()
        if not is_links:
            excluded = self._list_class_columns(spec.path)
            excluded |= {name for name in (find_id_column(self.id_column, table.columns),) if name is not None}
        names = select_columns(spec.path, spec.columns, list(table.columns), excluded)
        self._check_seeds_apart(spec, names)
        as_text = names[:2] if is_links else names if kind in TEXT_KINDS else ()
        columns = self.read_columns(spec.path, names, as_text)
        ids = None if is_links else self._read_ids(spec.path, table.columns, self.id_column)
        return interpret_columns(spec.view_name, spec.origin, columns, ids, kind)

    def _list_class_columns(self, path: Path, options: Sequence[str] = ("--labels", "--seeds")) -> set[str]:
        """List the columns of a file that hold classes, and are no features."""
        columns = {text for option, text in self._class_columns.items() if option in options}
        for option in options:
            if option in self.class_options and option not in self._class_columns:
                file, names = split_columns(self.class_options[option])
                columns |= set(names or ()) if is_same_file(file, path) else set()
        return columns

    def _check_seeds_apart(self, spec: ViewSpec, names: Sequence[str]) -> None:
        """Refuse seeds that the user also selects as a column of a view."""
        both = self._list_class_columns(spec.path, ("--seeds",)).intersection(names)
        if both:
            raise ValueError(
                f"the column {both.pop()!r} of {spec.path} is both a column of view {spec.view_name!r} and --seeds: "
                "leave it out of the view"
            )

    def _read_ids(self, path: Path, columns: Mapping[str, np.ndarray], id_column: str | None) -> np.ndarray | None:
        name = find_id_column(id_column, columns)
        return None if name is None else check_id_column(str(path), columns[name])

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

    def read_known_classes(self, option: str, views: Mapping[Path, tuple[str, ...]]) -> list[KnownClasses]:
        """Read the classes that an option names: a column of one or several views' files, or a file for them alone."""
        if option not in self.class_options:
            return []
        text = self.class_options[option]
        if option not in self._class_columns:
            path, columns = split_columns(text)
            names = next((names for other, names in views.items() if is_same_file(path, other)), ())
            return [replace(self._read_class_file(option, path, columns), views=names)]
        sources = []
        for path, names in views.items():
            content = self.read(path)
            if isinstance(content, FileMatrix) or text not in content.columns:
                continue
            if isinstance(content, FileCollection):
                ids = content.ids
            else:
                ids = self._read_ids(path, content.columns, self.id_column)
            sources.append(KnownClasses(f"{path}:{text}", content.columns[text], ids, option, names))
        if not sources:
            raise ValueError(
                f"no file has a column {text!r} ({option}): name an existing one, or FILE:COLUMN of an existing file"
            )
        return sources

    def _read_class_file(self, option: str, path: Path, columns: tuple[str, ...] | None) -> KnownClasses:
        """Read classes from a file for them alone, joined by its id column if it has one."""
        match self.read(path):
            case FileCollection():
                raise ValueError(f"{path} ({option}): name a column of it if it is also a view, or give a table")
            case FileMatrix() as matrix:
                classes = np.asarray(matrix.values)
                if classes.ndim != 1 and 1 not in classes.shape:
                    raise ValueError(f"{path} ({option}) must hold one label per entity, got shape {classes.shape}")
                return KnownClasses(str(path), classes.ravel(), matrix.ids, option)
            case table:
                candidates = [*split_id_columns(self.id_column), *USUAL_IDS]
                id_column = next((name for name in candidates if name in table.columns), None)
                others = [name for name in table.columns if name != id_column]
                if columns is None and len(others) != 1:
                    raise ValueError(
                        f"{path} ({option}) has the columns {list_names(others)}: name one of them, {path}:COLUMN"
                    )
                column, *more = select_columns(path, columns, list(table.columns), set()) if columns else others
                if more:
                    raise ValueError(f"{path} ({option}): name one column, not {len(more) + 1}")
                classes = self.read_columns(path, [column], [column])[column]  # 1 and 01 are two classes
                ids = self._read_ids(path, table.columns, id_column)
                return KnownClasses(f"{path}:{column}", classes, ids, option)
