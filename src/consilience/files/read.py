"""From files as the user named them to the contents of views, and known labels apart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from .content import KINDS, ViewContent
from .formats import FileCollection, FileContent, FileMatrix, FileTable, InputFiles, read_input
from .kinds import are_edge_columns, check_id_column, interpret_columns, interpret_matrix
from .spec import ViewSpec, is_file, select_columns, split_columns

USUAL_IDS = ("id", "ID", "Id")


@dataclass(frozen=True, eq=False)
class KnownClasses:
    """Classes that are known beforehand, for scoring only; by id, or in the order of the rows."""

    where: str
    classes: np.ndarray
    ids: np.ndarray | None


@dataclass(frozen=True, eq=False)
class InputData:
    """All that was read."""

    contents: list[ViewContent]
    id_column: str | None
    known: KnownClasses | None = None
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
    """Read each file once and find out what its views are; without `id_column` one of the usual ones is taken.

    `inputs` keeps the content of pipes that other options name as well.
    """
    forced = dict(kinds or {})
    wrong = next((kind for kind in forced.values() if kind not in KINDS), None)
    if wrong is not None:
        raise ValueError(f"there is no kind {wrong!r}: choose among {', '.join(KINDS)}")
    shelf = FileCache(_as_text(specs, (*usual_ids, id_column), labels, forced), parse_delimiter(delimiter), inputs)
    id_column, notes = _id_column(specs, shelf, forced, id_column, usual_ids)
    apart = {name for name in (id_column, _label_column(labels)) if name is not None}
    contents = [one for spec in specs for one in _contents(spec, shelf, id_column, apart, forced)]
    _check_names(contents, forced)
    return InputData(contents, id_column, _known(labels, shelf, specs, id_column), notes)


class FileCache:
    """Files that were read, so that each is read once."""

    def __init__(self, as_text: frozenset[str], delimiter: str | None, inputs: InputFiles) -> None:
        self._as_text, self._delimiter, self._inputs = as_text, delimiter, inputs
        self._held: dict[tuple[Path, frozenset[str]], FileContent] = {}

    def __call__(self, path: Path, as_text: frozenset[str] = frozenset()) -> FileContent:
        key = path, as_text
        if key not in self._held:
            self._held[key] = read_input(self._inputs.locate(path), self._as_text | as_text, self._delimiter)
        return self._held[key]


def _as_text(
    specs: Sequence[ViewSpec], ids: Sequence[str | None], labels: str | None, forced: Mapping[str, str]
) -> frozenset[str]:
    """Columns that are not to be taken for numbers, even if they look like such."""
    words = {*ids, _label_column(labels)}
    for spec in specs:
        if forced.get(spec.view_name) in ("text", "names", "categories"):
            words |= set(spec.columns or ())
    return frozenset(word for word in words if word)


def parse_delimiter(text: str | None) -> str | None:
    """A delimiter as people can type it."""
    if text is None:
        return None
    mark = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "space": " "}.get(text, text)
    if len(mark) != 1 or mark in '"\r\n':
        raise ValueError(f"--delimiter is one character, or tab, comma, semicolon or space, got {text!r}")
    return mark


def _label_column(labels: str | None) -> str | None:
    if labels is None:
        return None
    return None if is_file(split_columns(labels)[0]) else labels


def _id_column(
    specs: Sequence[ViewSpec], shelf: FileCache, forced: Mapping[str, str], asked: str | None, usual_ids: Sequence[str]
) -> tuple[str | None, list[str]]:
    """The column that names the entities: as asked for, or the usual one if every table has it."""
    tables = {
        spec.path: source
        for spec in specs
        if isinstance(source := shelf(spec.path), FileTable) and not _is_links(spec, source, forced)
    }
    if asked is not None:
        for path, table in tables.items():
            if asked not in table.columns:
                raise ValueError(f"{path} has no column {asked!r} (--id); it has {', '.join(map(repr, table.columns))}")
        return asked, []
    for usual in usual_ids:
        _check_all_or_none(usual, specs, tables)
        if tables and all(usual in table.columns for table in tables.values()):
            return usual, [f"Entities are joined by the column {usual!r} (--id)."]
    return None, []


def _check_all_or_none(usual: str, specs: Sequence[ViewSpec], tables: Mapping[Path, FileTable]) -> None:
    """An id in one table and none in another is a mistake, if the column is about to be taken for a feature."""
    lacking = next((path for path, table in tables.items() if usual not in table.columns), None)
    for spec in specs:
        if lacking is not None and spec.columns is None and usual in getattr(tables.get(spec.path), "columns", ()):
            raise ValueError(
                f"{spec.path} has a column {usual!r}, {lacking} has none: add it there, or name the columns of the "
                f"view ({spec.path}:COLUMN,COLUMN) to match rows by their place"
            )


def _is_links(spec: ViewSpec, source: FileTable, forced: Mapping[str, str]) -> bool:
    kind = forced.get(spec.view_name)
    return kind == "links" or (kind is None and are_edge_columns(spec.columns or list(source.columns)))


def _contents(
    spec: ViewSpec, shelf: FileCache, id_column: str | None, apart: set[str], forced: Mapping[str, str]
) -> list[ViewContent]:
    """The view, or views, that one --view names."""
    source = shelf(spec.path)
    if isinstance(source, FileCollection):
        return _of_collection(spec, source, forced)
    name = spec.view_name
    kind = forced.get(name)
    if isinstance(source, FileMatrix):
        if spec.columns is not None:
            raise ValueError(f"{spec.path} is a matrix without named columns: leave out ':{','.join(spec.columns)}'")
        return [interpret_matrix(name, spec.where, source, kind)]
    if _is_links(spec, source, forced):
        ends = select_columns(spec.path, spec.columns, list(source.columns), set())
        source = shelf(spec.path, frozenset(ends[:2]))
        assert isinstance(source, FileTable)
        return [interpret_columns(name, spec.where, {one: source.columns[one] for one in ends}, None, kind)]
    if kind in ("text", "names", "categories"):
        source = shelf(spec.path, frozenset(select_columns(spec.path, spec.columns, list(source.columns), apart)))
        assert isinstance(source, FileTable)
    chosen = select_columns(spec.path, spec.columns, list(source.columns), apart)
    ids = None if id_column is None else check_id_column(str(spec.path), source.columns[id_column])
    return [interpret_columns(name, spec.where, {one: source.columns[one] for one in chosen}, ids, kind)]


def _of_collection(spec: ViewSpec, source: FileCollection, forced: Mapping[str, str]) -> list[ViewContent]:
    asked = spec.columns or (tuple(source.blocks) if spec.name is None or len(source.blocks) == 1 else None)
    if asked is None:
        raise ValueError(
            f"{spec.path} holds {', '.join(source.blocks)}: name one (--view {spec.name}={spec.path}:"
            f"{next(iter(source.blocks))}), or give the file without a name to take all (--view {spec.path})"
        )
    unknown = next((one for one in asked if one not in source.blocks), None)
    if unknown is not None:
        raise ValueError(f"{spec.path} has no block {unknown!r}; it has {', '.join(map(repr, source.blocks))}")
    names = [spec.name] if spec.name is not None and len(asked) == 1 else list(asked)
    return [
        interpret_matrix(name or one, f"{spec.path}:{one}", source.blocks[one], forced.get(name or one))
        for name, one in zip(names, asked, strict=True)
    ]


def _ids_of(path: Path, columns: Mapping[str, np.ndarray], id_column: str | None) -> np.ndarray | None:
    return None if id_column is None or id_column not in columns else check_id_column(str(path), columns[id_column])


def _check_names(contents: list[ViewContent], forced: Mapping[str, str]) -> None:
    names = [one.name for one in contents]
    made = [f"{one.name}-{end}" for one in contents if one.kind == "links" for end in ("out", "in")]
    name, times = Counter([*names, *made]).most_common(1)[0]
    if times > 1:
        raise ValueError(f"two views are called {name!r}: give each a name of its own (--view NAME=FILE)")
    unknown = next((name for name in forced if name not in names), None)
    if unknown is not None:
        raise ValueError(f"--kind names {unknown!r}; the views are {', '.join(map(repr, names))}")


def _known(
    labels: str | None, shelf: FileCache, specs: Sequence[ViewSpec], id_column: str | None
) -> KnownClasses | None:
    """The known classes: a column of one of the files, or a file of its own."""
    if labels is None:
        return None
    path, columns = split_columns(labels)
    if is_file(path):
        return _known_in(path, shelf, columns, id_column)
    for spec in specs:
        source = shelf(spec.path)
        held = source.columns if isinstance(source, FileTable) else getattr(source, "about", {})
        if labels in held:
            ids = source.ids if isinstance(source, FileCollection) else _ids_of(spec.path, held, id_column)
            return KnownClasses(f"{spec.path}:{labels}", held[labels], ids)
    raise ValueError(f"no file has a column {labels!r} (--labels): name one that is there, or FILE:COLUMN")


def _known_in(path: Path, shelf: FileCache, columns: tuple[str, ...] | None, id_column: str | None) -> KnownClasses:
    """Classes in a file of their own, joined by its id column where it has one."""
    source = shelf(path)
    if isinstance(source, FileMatrix):
        classes = np.asarray(source.values)
        if classes.ndim != 1 and 1 not in classes.shape:
            raise ValueError(f"{path} (--labels) must hold one label an entity, got shape {classes.shape}")
        return KnownClasses(str(path), classes.ravel(), source.ids)
    if isinstance(source, FileCollection):
        raise ValueError(f"{path} (--labels): name a column of it that is given as a view, or a table")
    own_id = next((name for name in (id_column, *USUAL_IDS) if name in source.columns), None)
    there = [name for name in source.columns if name != own_id]
    if columns is None and len(there) != 1:
        raise ValueError(f"{path} (--labels) has the columns {', '.join(map(repr, there))}: name one, {path}:COLUMN")
    column, *more = select_columns(path, columns, list(source.columns), set()) if columns else there
    if more:
        raise ValueError(f"{path} (--labels): name one column, not {len(more) + 1}")
    source = shelf(path, frozenset({column}))  # 1 and 01 are two classes
    assert isinstance(source, FileTable)
    return KnownClasses(f"{path}:{column}", source.columns[column], _ids_of(path, source.columns, own_id))
