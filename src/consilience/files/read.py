"""Read the files that the user named, and turn them into contents of views and known classes."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from .._saving import save_as
from .conversion import convert_column, convert_columns
from .descriptions import DescriptionColumn, DescriptionSpec, parse_descriptions
from .formats import FileCollection, FileContent, FileMatrix, FileTable, InputFiles, read_path
from .formats.base import NOTHING_WRITTEN, WrittenNumbers
from .formats.columns import are_codes, clean_table, list_value_words
from .formats.marks import join_groups, parse_cells
from .identifiers import guess_id_column, list_doubled
from .images.matching import NamingColumn, count_matching_ids, find_naming_columns, have_suffixes, name_pictures
from .images.reading import Pictures, looks_like_images
from .joining import match_by_position
from .kinds import (
    KINDS,
    ViewContent,
    are_edge_columns,
    check_id_column,
    detect_column_kind,
    interpret_columns,
    interpret_folder,
    interpret_matrix,
)
from .mapping import IdMapping, list_content_ids, read_mappings
from .quantities import has_unit_of_fit
from .readings import PLAIN_NUMBERS, ColumnReading, list_texts
from .spec import ViewSpec, is_file, is_same_file, list_names, select_columns, split_columns, suggest
from .spellings import Spellings, match_spellings, unify_spellings
from .splitting import TableColumns, split_table

USUAL_IDS = ("id", "ID", "Id")
WRITTEN_NUMBERS = ("amount", "quantity", "number", "truth")  # texts that new files may have in place of numbers
NUMBER_READINGS = ("amount", "number")  # of columns that files of another format contain as numbers
TEXT_KINDS = ("text", "names", "categories", "images")  # whose columns are never read as numbers
LINK_NAMES = ("links", "edges", "citations", "network", "graph")  # of files that should list links
DELIMITER_NAMES = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "space": " "}


@save_as("known-classes")
@dataclass(frozen=True, eq=False)
class KnownClasses:
    """Classes that are known beforehand, by id, or in the order of the rows."""

    origin: str
    classes: np.ndarray
    ids: np.ndarray | None
    option: str  # that names them
    views: tuple[str, ...] = ()  # in the same file, whose ids these are


@save_as("source-table")
@dataclass(frozen=True, eq=False)
class SourceTable:
    """The columns of a table as they were read, without the ids of its rows; codes such as 007 are texts."""

    contents: tuple[str, ...]  # of the table, whose rows are those of the table
    columns: dict[str, np.ndarray]


@save_as("input-data")
@dataclass(frozen=True, eq=False)
class InputData:
    """Everything that was read."""

    contents: list[ViewContent]
    id_column: str | None
    known_classes: list[KnownClasses] = field(default_factory=list)  # --labels: for scores only
    seed_classes: list[KnownClasses] = field(default_factory=list)  # --seeds: for the fit
    mappings: list[IdMapping] = field(default_factory=list)  # if the views have different ids
    notes: list[str] = field(default_factory=list)
    tables: list[SourceTable] = field(default_factory=list)
    descriptions: list[DescriptionColumn] = field(default_factory=list)  # --describe: not for the fit
    joins: list[str] = field(default_factory=list)  # those of the notes that say how rows are joined, as in every run


def read_files(
    specs: Sequence[ViewSpec],
    *,
    id_column: str | None = None,
    labels: str | None = None,
    seeds: str | None = None,
    describe: Sequence[str] = (),
    mappings: Sequence[str] = (),
    kinds: Mapping[str, str] | None = None,
    delimiter: str | None = None,
    usual_ids: Sequence[str] = USUAL_IDS,
    guess_id: bool = True,
    readings: Mapping[str, Mapping[str, ColumnReading]] | None = None,
    joins_strings: bool = True,
    value_words: Mapping[str, Mapping[str, Sequence[str]]] | None = None,
    inputs: InputFiles,
) -> InputData:
    """Read each file once and detect what its views are; tables of which no columns are selected may be split.

    Parameters
    ----------
    specs : sequence of ViewSpec
        The files and columns of the views, from `parse_view`.
    id_column : str, optional
        Column that identifies the rows of the tables; by default one of `usual_ids`.
    labels, seeds : str, optional
        Known classes, as COLUMN, FILE or FILE:COLUMN. Labels are for scoring only; seeds are for the fit.
    describe : sequence of str, default=()
        Columns that describe the clusters and are not clustered, each as COLUMNS or FILE:COLUMNS.
    mappings : sequence of str, default=()
        Files with two columns, which are named like two views and hold their ids of the same entities.
    kinds : mapping of str to str, optional
        The kind of a view, a name of `KINDS`, by its name; by default the kind is detected.
    delimiter : str, optional
        Field delimiter of tables; by default it is detected.
    usual_ids : sequence of str
        Names of columns that are taken as ids without `id_column`, in the order of preference.
    guess_id : bool, default=True
        Whether to look for a column that identifies the rows if there is none of `usual_ids`.
    readings : mapping of str to mapping of str to ColumnReading, optional
        How a model has read the columns of its views, by the names of the view and the column.
    joins_strings : bool, default=True
        Whether columns of short strings of a table are one view. Duplicates are found by views that agree, so that
        names, addresses and phone numbers are views of their own for them.
    value_words : mapping of str to mapping of str to sequence of str, optional
        The words that are values in a model, such as NA for Namibia, by the names of the view and the column.
    inputs : InputFiles
        Locates the files, and keeps the content of pipes that other options name as well.

    Returns
    -------
    InputData
        The content of each view in ``contents``, the known classes, the notes for the user, and the tables as they are.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from consilience.files import InputFiles, parse_view, read_files
    >>> with tempfile.TemporaryDirectory() as folder, InputFiles() as inputs:
    ...     np.savetxt(f"{folder}/parts.csv", [[1.5, 2], [3, 0.5]], delimiter=",", header="length,width", comments="")
    ...     data = read_files([parse_view(f"size={folder}/parts.csv")], inputs=inputs)
    >>> [(content.name, content.kind, content.columns) for content in data.contents]
    [('size', 'numbers', ('length', 'width'))]
    """
    options = {name: text for name, text in (("--labels", labels), ("--seeds", seeds)) if text is not None}
    reader = _ViewReader(
        specs,
        usual_ids,
        id_column,
        options,
        parse_descriptions(describe),
        kinds or {},
        parse_delimiter(delimiter),
        inputs,
        readings,
        joins_strings,
        value_words or {},
    )
    id_note = reader.choose_id_column(guess_id)
    reader.join_folders()
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
    unknown = next((name for name in reader.kinds if name not in {*names, *reader.split_columns}), None)
    if unknown is not None:
        similar = suggest(unknown, [*names, *reader.split_columns])
        raise ValueError(f"--kind names {unknown!r}; the views are {', '.join(map(repr, names))}{similar}")
    notes = [*reader.notes, *(note for content in contents for note in content.notes)]
    notes = [*reader.joins, *notes]
    spellings = Spellings()
    if not mappings:  # which say what ids of different views have in common
        contents, spellings, spelling_notes = unify_spellings(contents)
        contents, position_notes = match_by_position(contents)
        notes = [*([id_note] if id_note and guess_id else []), *notes, *spelling_notes, *position_notes]
        reader.joins += [*spelling_notes, *position_notes]
    classes, seed_classes = (
        [_respell(source, contents, spellings) for source in reader.read_known_classes(option, views)]
        for option in ("--labels", "--seeds")
    )
    contents = name_pictures(contents, [source.ids for source in (*classes, *seed_classes) if source.ids is not None])
    id_mappings, mapping_notes = read_mappings(mappings, contents, inputs)
    described = [content.name for content in contents if content.kind != "links"]  # with a row per entity
    tables = reader.list_tables(views, described)
    descriptions = [_respell(column, contents, spellings) for column in reader.read_descriptions(views, described)]
    notes += mapping_notes
    return InputData(
        contents, reader.id_column, classes, seed_classes, id_mappings, notes, tables, descriptions, reader.joins
    )


def _respell(source: Any, contents: Sequence[ViewContent], spellings: Spellings) -> Any:
    """Write the ids of classes or descriptions as those of the views."""
    if source.ids is None:
        return source
    if isinstance(source, KnownClasses) and source.views:  # of a file of views
        return replace(source, ids=spellings.respell(source.ids))
    view_ids = (entity_id for content in contents if content.ids is not None for entity_id in content.ids.tolist())
    return replace(source, ids=match_spellings(source.ids, view_ids))


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


def _adapt_reading(view: str, column: str, table: FileTable) -> ColumnReading:
    """Return how texts are read where the fit had plain numbers: as prices, for instance, if they are written so."""
    values = table.columns[column]
    if not {type(cell) for cell in values} <= {str, type(None)}:
        return PLAIN_NUMBERS
    words = {text.lower() for text in list_texts(values).values()}
    if words and words <= {"true", "false"}:
        return ColumnReading("truth", lenient=True)
    try:
        conversion = convert_column(column, values, lenient=True, mark=table.written.mark)
    except ValueError as error:
        raise ValueError(f"view {view!r}: {error}") from error
    if conversion is None or conversion.reading.kind not in WRITTEN_NUMBERS:
        return PLAIN_NUMBERS
    return conversion.reading


def _are_texts(values: np.ndarray) -> bool:
    """Whether a column would be the same if it were read as text."""
    return values.dtype == object and {type(cell) for cell in values.tolist()} <= {str, type(None)}


@dataclass(eq=False)
class _ViewReader:
    """Read views and known classes from files, and each file only once."""

    specs: Sequence[ViewSpec]
    usual_ids: Sequence[str]
    id_column: str | None
    class_options: Mapping[str, str]  # --labels and --seeds, if they are given
    description_specs: Sequence[DescriptionSpec]  # --describe
    kinds: Mapping[str, str]
    delimiter: str | None
    inputs: InputFiles
    readings: Mapping[str, Mapping[str, ColumnReading]] | None  # of the columns of a model, by view; None: a fit
    joins_strings: bool  # whether columns of short strings are one view
    value_words: Mapping[str, Mapping[str, Sequence[str]]]  # of these columns, by view

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
                text_columns |= set(spec.columns or ()) - self._list_readings_of_model(spec).keys()
        self._as_text = frozenset(column for column in text_columns if column)
        self._contents: dict[tuple[Path, frozenset[str]], FileContent] = {}
        self._view_names = {spec.name for spec in self.specs if spec.name is not None}
        self._doubled_columns: set[str] = set()  # would identify the rows, but have some ids more than once
        self._folder_joins: dict[Path, tuple[Path, NamingColumn]] = {}  # folder -> table and column
        self.split_columns: set[str] = set()  # of tables that were split
        self.notes: list[str] = []  # for the user
        self.joins: list[str] = []  # notes that say how rows are joined

    def read(self, path: Path, as_text: frozenset[str] = frozenset()) -> FileContent:
        """Read a file, or return its content if it was read before; of a large table perhaps only columns `as_text`."""
        key = path, as_text
        if key not in self._contents:
            content = read_path(path, self.inputs, self._as_text | as_text, self.delimiter, as_text or None)
            if isinstance(content, FileTable):
                content = clean_table(content, self._list_words_of_model(path))
            self._contents[key] = content
        return self._contents[key]

    def _list_words_of_model(self, path: Path) -> dict[str, Sequence[str]]:
        """List the words that are values in the columns of a model; none of a fit, whose cells decide."""
        if self.readings is None:
            return {}
        views = [spec for spec in self.specs if spec.path == path]
        return {
            column: self.value_words.get(spec.view_name, {}).get(column, ())
            for spec in views
            for column in spec.columns or ()
        }

    def _keep_words(self, content: ViewContent, columns: Mapping[str, np.ndarray]) -> ViewContent:
        """Add the words that are values: those of the model, or in a fit those that its columns have."""
        if self.readings is not None:
            return replace(content, value_words=self.value_words.get(content.name, {}))
        words = {name: list_value_words(columns[name]) for name in content.columns or ()}
        return replace(content, value_words={name: listed for name, listed in words.items() if listed})

    def read_columns(self, path: Path, columns: Sequence[str], as_text: Sequence[str] = ()) -> dict[str, np.ndarray]:
        """Read columns of a table, some of them as text even if they look like numbers."""
        table = self.read(path)
        assert isinstance(table, FileTable)
        typed = frozenset(name for name in as_text if not _are_texts(table.columns[name]))
        texts = self.read(path, typed).columns if typed else {}  # type: ignore[union-attr]
        return {name: texts[name] if name in typed else table.columns[name] for name in columns}

    def choose_id_column(self, guess: bool) -> str:
        """Check the id column, or choose the usual one if every table has it, or guess one; return a note."""
        tables, ids_elsewhere = {}, []
        indexes: dict[str | None, None] = {}  # columns that were the index of a frame, None for tables without
        for spec in self.specs:
            match self.read(spec.path):
                case FileTable(columns) as table if self._is_links(spec, table):
                    if not guess or self.id_column is not None:
                        continue
                    (links,) = self._read_table(spec, table)
                    ids_elsewhere.append(set(list_content_ids(links).tolist()))
                case FileTable(columns) as table:
                    tables[spec.path] = columns
                    indexes[table.id_column] = None
                case FileMatrix(ids=ids) | FileCollection(ids=ids) if ids is not None:
                    ids_elsewhere.append(set(ids.tolist()))
        if self.id_column is not None:
            for path, columns in tables.items():
                if find_id_column(self.id_column, columns) is None:
                    similar = suggest(self.id_column, columns)
                    raise ValueError(
                        f"{path} has no column {self.id_column!r} (--id); it has {list_names(list(columns))}{similar}"
                    )
            return ""
        for usual in self.usual_ids:
            if tables and all(find_id_column(usual, columns) for columns in tables.values()):
                self.id_column = usual
                return f"Entities are joined by the column {usual!r} (--id)."
        if indexes and None not in indexes:
            self.id_column = ",".join(map(str, indexes))
            return ""
        guessed = self._guess_id(tables, ids_elsewhere) if guess else None
        if guessed is None or not all(find_id_column(guessed, columns) for columns in tables.values()):
            self._check_usual_ids(tables)
        if guessed is None:
            files = [str(path) for path in tables]
            if not guess or len(files) < 2 or ids_elsewhere:
                return ""
            listed = ", ".join(files[:-1])
            return (
                f"No column identifies the rows of {listed} and {files[-1]}: they are matched by position. If the rows "
                "have ids, name the column (--id)."
            )
        doubled = {
            path: list_doubled(self.read_columns(path, [name], [name])[name])
            for path, columns in tables.items()
            if (name := find_id_column(guessed, columns)) is not None
        }
        if any(doubled.values()) and self._are_in_order(guessed, tables) and not ids_elsewhere:
            return self._go_by_position(guessed, doubled)
        self.id_column = guessed
        if any(values.dtype != object for values in self._list_id_values(tables)):
            self._as_text |= frozenset(split_id_columns(guessed))  # 007 is not 7: read the file again
            self._contents.clear()
        names = " or ".join(map(repr, dict.fromkeys(guessed.split(",") if guessed not in columns else [guessed])))
        return f"Rows are identified by the column {names} (--id {guessed})."

    def _are_in_order(self, id_column: str, tables: Mapping[Path, dict[str, np.ndarray]]) -> bool:
        """Whether the tables have the same ids in the same order, so that their rows can be matched by position."""
        names = {path: find_id_column(id_column, columns) for path, columns in tables.items()}
        ids = [tables[path][name].tolist() for path, name in names.items() if name is not None]
        return all(of_table == ids[0] for of_table in ids)

    def _go_by_position(self, id_column: str, doubled: Mapping[Path, Sequence[str]]) -> str:
        """Leave a column out of the views that would identify the rows if its ids were all different; return a note."""
        path, ids = next((path, ids) for path, ids in doubled.items() if ids)
        self._doubled_columns |= set(split_id_columns(id_column))
        self.split_columns |= self._doubled_columns
        return (
            f"{path}: the column {id_column!r} looks like ids, but {list_names(ids, 5)} "
            f"{'is' if len(ids) == 1 else 'are'} in several rows. Rows are matched by position, and the column is left "
            f"out. To identify the rows by it, make its ids unique; to use it as data, give --kind {id_column}=KIND."
        )

    def _guess_id(self, tables: Mapping[Path, dict[str, np.ndarray]], ids_elsewhere: Sequence[set[str]]) -> str | None:
        """Guess the id column of the tables among those that have no other purpose."""
        taken = {column for path in tables for column in self._list_class_columns(path) | self._list_described(path)}
        for spec in self.specs:
            if spec.selects_columns and spec.path in tables:
                taken |= set(select_columns(spec.path, spec.columns, list(tables[spec.path]), set()))
        if not any(os.path.isdir(spec.path) for spec in self.specs):  # whose pictures a column of names may identify
            taken |= {
                name
                for path, columns in tables.items()
                for name, values in columns.items()
                if looks_like_images(values, path.parent)
            }
        codes = {
            column
            for path in tables
            for column in getattr(self.read(path), "codes", ())
            if are_codes(self.read_columns(path, [column], [column])[column])
        }
        return guess_id_column(tables, ids_elsewhere, frozenset(taken), frozenset(codes))

    def _list_id_values(self, tables: Mapping[Path, dict[str, np.ndarray]]) -> list[np.ndarray]:
        names = {path: find_id_column(self.id_column, columns) for path, columns in tables.items()}
        return [tables[path][name] for path, name in names.items() if name is not None]

    def join_folders(self) -> None:
        """Find the columns that name the pictures of folders, unless ids name as many in the same way."""
        contents = {spec.path: self.read(spec.path) for spec in self.specs}
        folders = {path: content for path, content in contents.items() if type(content) is Pictures}
        tables = {path: content for path, content in contents.items() if type(content) is FileTable}
        columns = {name.lower() for table in tables.values() for name in table.columns}
        used: set[str] = set()  # columns that name the pictures of another folder
        for folder in sorted(folders, key=lambda folder: folder.name.lower() not in columns):
            names = folders[folder].names.tolist()
            joins = [
                (path, naming) for path, table in tables.items() for naming in find_naming_columns(table.columns, names)
            ]
            if not joins:
                continue
            joins.sort(
                key=lambda join: (*join[1].rank, join[1].name.lower() != folder.name.lower(), join[1].name in used)
            )
            _, naming = joins[0]
            n_named = max(self._count_named(content, names) for content in contents.values())
            if naming.n_matched >= max(1, n_named + (not naming.has_suffixes)):
                used.add(naming.name)
                self._folder_joins[folder] = self._join_folder(folder, names, joins)

    def _count_named(self, content: FileContent, names: Sequence[str]) -> int:
        """Count the pictures that the ids of a file name, and one more if these have suffixes."""
        ids = getattr(content, "ids", None)
        if type(content) is FileTable:
            ids = content.columns.get(find_id_column(self.id_column, content.columns) or "")
        if ids is None or ids.dtype != object:
            return 0
        return count_matching_ids(ids.tolist(), names) + have_suffixes(ids.tolist())

    def _join_folder(
        self, folder: Path, names: Sequence[str], joins: Sequence[tuple[Path, NamingColumn]]
    ) -> tuple[Path, NamingColumn]:
        """Join the pictures of a folder to the rows of a table by the first of the columns that name them; note it."""
        path, naming = joins[0]
        id_column = find_id_column(self.id_column, self.read(path).columns)  # type: ignore[union-attr]
        others = [other.name for other_path, other in joins[1:] if other_path == path and other.name != id_column]
        note = f"The pictures of {folder} are joined by the column {naming.name!r} of {path}"
        note += f", not by {list_names(others)}." if others else "."
        n_rows, n_missing = len(naming.pictures), len(naming.pictures) - naming.n_matched
        if n_missing:
            note += f" {n_missing:,} of {n_rows:,} rows {'has' if n_missing == 1 else 'have'} no picture there."
        n_unnamed = len(names) - len({name for name in naming.pictures if name is not None})
        if n_unnamed:
            left_out = "is left out: no row names it" if n_unnamed == 1 else "are left out: no row names them"
            note += f" {n_unnamed:,} of {len(names):,} pictures {left_out}."
        self.joins.append(note)
        return path, naming

    def _check_usual_ids(self, tables: Mapping[Path, dict[str, np.ndarray]]) -> None:
        """Refuse a usual id that only some of the tables have: it would be taken for a feature of these."""
        for usual in self.usual_ids:
            without = next((path for path, columns in tables.items() if not find_id_column(usual, columns)), None)
            for spec in self.specs if without is not None else ():
                if not spec.selects_columns and find_id_column(usual, tables.get(spec.path, ())):
                    raise ValueError(
                        f"{spec.path} has a column {usual!r}, {without} has none: add it there, or name the columns of "
                        f"the view ({spec.path}:COLUMN,COLUMN) to match rows by position"
                    )

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
            case Pictures() as pictures:
                if spec.columns is not None:
                    raise ValueError(f"{spec.path} is a folder of pictures: leave out ':{','.join(spec.columns)}'")
                content = interpret_folder(spec.view_name, spec.origin, pictures, self.kinds.get(spec.view_name))
                return [self._join_pictures(spec.path, content)]
            case table:
                contents = self._read_table(spec, table)
                self._view_names |= {content.name for content in contents}
                return contents

    def _join_pictures(self, folder: Path, content: ViewContent) -> ViewContent:
        """Give each row of a table the picture of a folder that it names; without such a table nothing changes."""
        if folder not in self._folder_joins:
            return content
        path, naming = self._folder_joins[folder]
        ids = self._read_ids(path, self.read(path), self.id_column)  # type: ignore[arg-type]
        pictures = replace(content.data, names=naming.pictures)
        return replace(content, data=pictures, n_rows=len(pictures), ids=ids)

    def _read_table(self, spec: ViewSpec, table: FileTable) -> list[ViewContent]:
        kind = self.kinds.get(spec.view_name)
        is_links = self._is_links(spec, table)
        excluded: set[str] = set()
        if not is_links:
            excluded = self._list_class_columns(spec.path) | self._list_described(spec.path)
            id_columns = (find_id_column(self.id_column, table.columns), table.id_column)
            excluded |= {name for name in id_columns if name is not None}
            excluded |= self._doubled_columns - self.kinds.keys()
            excluded |= {naming.name for path, naming in self._folder_joins.values() if path == spec.path}
        names = select_columns(spec.path, spec.columns, list(table.columns), excluded)
        self._check_apart(spec, names, "--seeds", self._list_class_columns(spec.path, ("--seeds",)))
        if not is_links:
            self._check_apart(spec, names, "--describe", self._list_described(spec.path))
        readings = self._list_readings(spec, table)
        written = table.written if self.readings is None else NOTHING_WRITTEN
        as_text = [*readings, *self._list_doubtful(written)]
        if kind in TEXT_KINDS:
            numeric = self._list_readings_of_model(spec).keys() - readings.keys()
            as_text = [name for name in names if name not in numeric]
        elif is_links:
            as_text = names[:2]
        plain: list[str] = []  # numbers with a point for the model, whatever the new table shows
        if self.readings is not None and table.written.mark == "," and not is_links:
            plain = [name for name in names if name in table.written.grouped and name not in as_text]
        columns = self.read_columns(spec.path, names, [name for name in [*as_text, *plain] if name in names])
        for name in plain:
            numbers = parse_cells(["" if cell is None else cell for cell in columns[name]])
            columns[name] = columns[name] if numbers is None else numbers
        self._note_decimal_comma(spec.path, written, [name for name in names if name not in as_text])
        ids = None if is_links else self._read_ids(spec.path, table, self.id_column)
        if columns and not is_links and kind is None and not spec.selects_columns:
            return self._split_table(spec, table, columns, ids)
        self._note_emptied(spec.path, table, columns)
        content = interpret_columns(
            spec.view_name, spec.origin, columns, ids, kind, readings, spec.path.parent, written
        )
        return [self._keep_words(content, columns)]

    def _list_readings_of_model(self, spec: ViewSpec) -> Mapping[str, ColumnReading]:
        return (self.readings or {}).get(spec.view_name, {})

    def _list_readings(self, spec: ViewSpec, table: FileTable) -> dict[str, ColumnReading]:
        """List how a model reads columns; numbers that are no texts, such as those of a frame, need not be read."""
        readings = {}
        for name, reading in self._list_readings_of_model(spec).items():
            is_plain = reading == PLAIN_NUMBERS
            if name in table.columns and table.columns[name].dtype != object:
                is_written = name in table.written.columns and not is_plain
                are_numbers = reading.kind in NUMBER_READINGS or (
                    reading.kind == "quantity" and has_unit_of_fit(reading)
                )
                if are_numbers and reading.unit != "%" and not is_written:
                    continue
            elif name in table.columns and is_plain:
                reading = _adapt_reading(spec.view_name, name, table)
            readings[name] = reading
        return readings

    def _list_doubtful(self, written: WrittenNumbers) -> list[str]:
        """List the columns of numbers such as 1.157 that may be 1157; a model knows which they are."""
        return list(written.grouped) if written.mark == "?" else []

    def _note_decimal_comma(self, path: Path, written: WrittenNumbers, names: Sequence[str]) -> None:
        """Note that a file has decimal commas, if numbers with points were read otherwise for that reason."""
        cell = next((written.grouped[name] for name in names if name in written.grouped), None)
        if written.mark != "," or cell is None:
            return
        column, shown = written.shown
        note = (
            f"{path}: decimal comma, as in {shown!r} (column {column!r}): {cell!r} is read as {join_groups([cell])[0]}."
        )
        self.notes += [] if note in self.notes else [note]

    def _note_emptied(self, path: Path, table: FileTable, columns: Iterable[str]) -> None:
        """Note the words in columns that count as empty cells."""
        for column in columns:
            if words := table.emptied.get(column):
                n_cells = sum(words.values())
                cells = "1 cell" if n_cells == 1 else f"{n_cells:,} cells"
                self.notes.append(
                    f"{path}: {list_names(list(words), 3)} in {cells} of column {column!r} counts as empty. If it is a "
                    "value, write it in another way."
                )

    def _split_table(
        self, spec: ViewSpec, table: FileTable, columns: dict[str, np.ndarray], ids: np.ndarray | None
    ) -> list[ViewContent]:
        """Split a table of which the user has selected no columns, unless it can be a single view."""
        as_text = [name for name in columns if self.kinds.get(name) in TEXT_KINDS]
        columns = columns | (self.read_columns(spec.path, as_text, as_text) if as_text else {})
        sources = TableColumns(
            spec.view_name,
            spec.path,
            columns,
            ids,
            {**dict.fromkeys(table.categories, "categories"), **self.kinds},
            lambda names: self.read_columns(spec.path, names, names),
            table.written,
            table.codes,
            self.joins_strings,
        )
        contents, notes = split_table(sources, self._view_names - {spec.name}, spec.name is not None)
        if spec.view_name.lower() in LINK_NAMES:
            notes.append(
                f"{spec.path} is read as one row per entity. A list of links has two columns of ids, called source and "
                f"target or selected by their names ({spec.path}:COLUMN,COLUMN with --kind {spec.view_name}=links)."
            )
        self.split_columns |= set(columns)
        self.notes += notes
        self._note_emptied(spec.path, table, [column for content in contents for column in content.columns or ()])
        return [self._keep_words(content, columns) for content in contents]

    def _list_class_columns(self, path: Path, options: Sequence[str] = ("--labels", "--seeds")) -> set[str]:
        """List the columns of a file that hold classes, and are no features."""
        columns = {text for option, text in self._class_columns.items() if option in options}
        for option in options:
            if option in self.class_options and option not in self._class_columns:
                file, names = split_columns(self.class_options[option])
                columns |= set(names or ()) if is_same_file(file, path) else set()
        return columns

    def _list_described(self, path: Path) -> set[str]:
        """List the columns of a view's file that describe the clusters, and are no features."""
        columns: set[str] = set()
        for spec in self.description_specs:
            if spec.path is None:
                available = self._list_columns(dict.fromkeys(view.path for view in self.specs))
            elif is_same_file(spec.path, path):
                available = self._list_columns([path])
            else:
                continue
            columns.update(*spec.list_columns(available))
        return columns

    def _check_apart(self, spec: ViewSpec, names: Sequence[str], option: str, apart: set[str]) -> None:
        """Refuse seeds and descriptions that the user also selects as a column of a view."""
        both = sorted(apart.intersection(names))
        if both:
            raise ValueError(
                f"the column {both[0]!r} of {spec.path} is both a column of view {spec.view_name!r} and {option}: "
                "leave it out of the view"
            )

    def _read_ids(self, path: Path, table: FileTable, id_column: str | None) -> np.ndarray | None:
        name = find_id_column(id_column, table.columns)
        if name is None:
            return None
        return check_id_column(str(path), table.columns[name], is_index=name == table.id_column)

    def _read_collection(self, spec: ViewSpec, collection: FileCollection) -> list[ViewContent]:
        matrices = collection.matrices
        takes_all = spec.name is None or len(matrices) == 1
        selected = spec.columns or (tuple(matrices) if takes_all else None)
        if selected is None:
            raise ValueError(
                f"{spec.path} holds {', '.join(matrices)}: name one (--view {spec.name}={spec.path}:"
                f"{next(iter(matrices))}), or give the file without a name to take all (--view {spec.path})"
            )
        available = [*matrices, *collection.optional]
        unknown = next((name for name in selected if name not in available), None)
        if unknown is not None:
            raise ValueError(f"{spec.path} has no block {unknown!r}; it has {', '.join(map(repr, available))}")
        blocks = [matrices[block] if block in matrices else collection.optional[block]() for block in selected]
        names = [spec.name] if spec.name is not None and len(selected) == 1 else selected
        return [
            interpret_matrix(name, f"{spec.path}:{block}", matrix, self.kinds.get(name))
            for name, block, matrix in zip(names, selected, blocks, strict=True)
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
            if isinstance(content, FileMatrix | Pictures) or text not in content.columns:
                continue
            ids = content.ids if isinstance(content, FileCollection) else self._read_ids(path, content, self.id_column)
            sources.append(KnownClasses(f"{path}:{text}", content.columns[text], ids, option, names))
        if not sources:
            raise ValueError(
                f"no file has a column {text!r} ({option}): name an existing one, or FILE:COLUMN of an existing file"
                + suggest(text, self._list_columns(views))
            )
        return sources

    def read_descriptions(self, views: Mapping[Path, tuple[str, ...]], names: Sequence[str]) -> list[DescriptionColumn]:
        """Read the columns that --describe names: of the files of the named views, or of files for them alone."""
        files = {path: [name for name in of_file if name in names] for path, of_file in views.items()}
        files = {path: of_file for path, of_file in files.items() if of_file}
        columns: dict[str, DescriptionColumn] = {}
        for spec in self.description_specs:
            paths = list(files)
            if spec.path is not None:
                paths = [path for path in files if is_same_file(path, spec.path)][:1] or [spec.path]
            for group in spec.list_columns(self._list_describing(paths)):
                for name, event in zip(group, (*group[1:], None), strict=True):
                    column = self._read_description(name, paths, files, event)
                    earlier = columns.get(name, column)
                    if earlier.origin != column.origin:
                        raise ValueError(
                            f"--describe names two columns called {name!r}, {earlier.origin} and {column.origin}: "
                            "rename one"
                        )
                    columns[name] = column if earlier.event is None else earlier
        return list(columns.values())

    def _read_description(
        self, name: str, paths: Sequence[Path], files: Mapping[Path, Sequence[str]], event: str | None
    ) -> DescriptionColumn:
        """Read a column from the only file that has it."""
        owners = [path for path in paths if name in self._list_columns([path])]
        if not owners:
            where = "no file of a view has" if len(paths) != 1 else f"{paths[0]} has no"
            what = f"a column {name!r}" if len(paths) != 1 else f"column {name!r}"
            available = self._list_describing(paths)
            listed = f"; there are {list_names(available)}" if available else ""
            raise ValueError(f"{where} {what} (--describe){listed}{suggest(name, available)}")
        if len(owners) > 1:
            raise ValueError(
                f"{owners[0]} and {owners[1]} both have a column {name!r} (--describe): name the file, "
                f"{owners[0]}:{name}, and leave the column out of the other view, {owners[1]}:-{name}"
            )
        path = owners[0]
        content = self.read(path)
        written = getattr(content, "written", NOTHING_WRITTEN)
        if name in self._list_doubtful(written):
            convert_columns(self.read_columns(path, [name], [name]), written=written)  # says what the user can do
        self._note_decimal_comma(path, written, [name])
        values = content.columns[name]  # type: ignore[union-attr]
        if values.ndim > 1 or detect_column_kind(values) == "bags":
            raise ValueError(
                f"{path}:{name} (--describe) holds lists or vectors: name numbers, dates, categories or texts"
            )
        if path in files:
            return DescriptionColumn(name, f"{path}:{name}", values, content=files[path][0], event=event)
        match content:
            case FileTable():
                ids = self._read_ids(path, content, self._find_class_id(content))
            case _:
                ids = getattr(content, "ids", None)
        return DescriptionColumn(name, f"{path}:{name}", values, ids, event=event)

    def _list_describing(self, paths: Sequence[Path]) -> list[str]:
        """List the columns of files that may describe the clusters: all but the ids."""
        ids = {*split_id_columns(self.id_column), *USUAL_IDS}
        return [name for name in dict.fromkeys(self._list_columns(paths)) if name not in ids]

    def _find_class_id(self, table: FileTable) -> str | None:
        """Return the id column of a file for classes or descriptions alone."""
        candidates = [*split_id_columns(self.id_column), *USUAL_IDS]
        return next((name for name in candidates if name in table.columns), table.id_column)

    def list_tables(self, views: Mapping[Path, tuple[str, ...]], names: Sequence[str]) -> list[SourceTable]:
        """List the columns of the files, each with those of the named views that the file contains."""
        tables = []
        for path, of_file in views.items():
            file = self.read(path)
            columns = getattr(file, "columns", {})
            ids = (find_id_column(self.id_column, columns), getattr(file, "id_column", None))
            others = {name: values for name, values in columns.items() if name not in ids}
            contents = tuple(name for name in of_file if name in names)
            if contents and others:
                codes = [name for name in getattr(file, "codes", ()) if name in others]
                texts = self.read_columns(path, codes, codes) if codes else {}
                tables.append(SourceTable(contents, others | texts))
        return tables

    def _list_columns(self, paths: Iterable[Path]) -> list[str]:
        """List the columns of files, without those of matrices, which have none."""
        return [name for path in paths for name in getattr(self.read(path), "columns", ())]

    def _read_class_file(self, option: str, path: Path, columns: tuple[str, ...] | None) -> KnownClasses:
        """Read classes from a file for them alone, joined by its id column if it has one."""
        match self.read(path):
            case FileCollection() | Pictures():
                raise ValueError(f"{path} ({option}): name a column of it if it is also a view, or give a table")
            case FileMatrix() as matrix:
                classes = np.asarray(matrix.values)
                if classes.ndim != 1 and 1 not in classes.shape:
                    raise ValueError(f"{path} ({option}) must hold one label per entity, got shape {classes.shape}")
                return KnownClasses(str(path), classes.ravel(), matrix.ids, option)
            case table:
                id_column = self._find_class_id(table)
                others = [name for name in table.columns if name != id_column]
                if columns is None and len(others) != 1:
                    raise ValueError(
                        f"{path} ({option}) has the columns {list_names(others)}: name one of them, {path}:COLUMN"
                    )
                column, *more = select_columns(path, columns, list(table.columns), set()) if columns else others
                if more:
                    raise ValueError(f"{path} ({option}): name one column, not {len(more) + 1}")
                classes = self.read_columns(path, [column], [column])[column]  # 1 and 01 are two classes
                ids = self._read_ids(path, table, id_column)
                return KnownClasses(f"{path}:{column}", classes, ids, option)
