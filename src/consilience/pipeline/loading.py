"""Read the files that the options name, and describe what was found."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._tuning import Tuning
from ..data import Constraints, Views
from ..explain import OriginalColumn
from ..files import (
    DescriptionColumn,
    EncodedData,
    Entities,
    InputData,
    InputFiles,
    KnownClasses,
    ModelViews,
    ViewContent,
    fit_and_encode,
    join_contents,
    match_classes,
    parse_view,
    read_files,
)
from ..files.descriptions import parse_descriptions
from ..files.encoding import format_classes
from ..files.formats import parse_path, split_sheet
from ..files.languages import detect_languages
from ..files.mapping import name_option
from ..files.spec import is_file, list_names, split_columns
from ..registry import DEFAULT_METHOD, EstimatorDeclaration, find_estimator, list_estimators
from .constraints import FileConstraints, number_constraints, read_constraints
from .descriptions import describe_unmatched, read_descriptions
from .encodings import EncodingChoices, select_encodings
from .languages import describe_languages
from .log import RunLog, UsageError, count_noun
from .mapping import describe_mapping
from .memory import MemoryInputs
from .options import RunOptions
from .seeds import SeedClasses, read_seeds
from .settings import read_settings

tuning = Tuning(
    max_constrained=20_000  # entities up to which the default method takes constraints: it clusters a sample of more
)
SMALL_GROUPS = "small-groups"  # value of -k that finds duplicates


@dataclass(frozen=True, eq=False)
class LoadedData:
    """The user's files as views, with the method chosen for them."""

    reading: InputData
    prepared: EncodedData
    choices: EncodingChoices  # encodings of the contents, chosen by the user or without labels
    classes: np.ndarray | None  # known labels, for scoring only
    file_constraints: FileConstraints | None
    seeds: SeedClasses | None
    method: str
    reason: str  # why this method was chosen
    declaration: EstimatorDeclaration  # of the method, with the options that the user set
    is_from_memory: bool  # whether not all of it comes from files, so that it cannot be read again
    descriptions: list[OriginalColumn] = field(default_factory=list)  # of the entities in `views`

    @property
    def views(self) -> Views:
        return self.prepared.views

    @cached_property
    def languages(self) -> dict[str, np.ndarray]:
        """The language of the text of each entity in `views`, by view of text; see `detect_languages`."""
        texts = self.prepared.texts
        return {
            content.name: detect_languages(texts[content.name])
            for content in self.reading.contents
            if content.kind == "text"
        }

    @property
    def constraints(self) -> Constraints | dict[str, Constraints] | None:
        """The constraints for the fit: those of the file, and those that follow from seeds unless `fit` takes seeds."""
        constraints = None if self.file_constraints is None else self.file_constraints.choose_for(self.declaration)
        if self.seeds is None or self.declaration.takes_seeds:
            return constraints
        return self.seeds.add_to(constraints, self.views)

    @property
    def fit_arguments(self) -> dict[str, Any]:
        """Arguments of `fit` after the views."""
        arguments: dict[str, Any] = {"constraints": self.constraints}
        if self.seeds is not None and self.declaration.takes_seeds:
            arguments["y"] = self.seeds.numbers
        return {name: value for name, value in arguments.items() if value is not None}

    def prepare_for(self, declaration: EstimatorDeclaration) -> Views:
        """Return the views as a method takes them: with raw or weighted counts."""
        if declaration.takes_raw_counts == self.declaration.takes_raw_counts:
            return self.views
        rare = not declaration.takes_raw_counts
        entities = self.prepared.entities
        return fit_and_encode(self.reading.contents, rare=rare, entities=entities, encode=self.choices.encode).views


def check_inputs_stay(targets: Sequence[Path], options: RunOptions, *others: Path) -> None:
    """Refuse to write over the input files, even with --force."""
    inputs = [parse_view(text).path for text in options.view or ()]
    inputs += map(Path, options.mapping or ())
    class_files = (options.labels, options.constraints, options.seeds)
    inputs += [split_columns(text)[0] for text in class_files if text]
    inputs += [parse_path(options.names)] if isinstance(options.names, str) else []
    inputs += [spec.path for spec in parse_descriptions(options.describe or ()) if spec.path is not None]
    for target in targets:
        paths = [split_sheet(path)[0] for path in (*inputs, *others)]
        if target.exists() and any(is_file(path) and path.samefile(target) for path in paths):
            raise ValueError(f"{target} is an input file and would be overwritten: choose another --out")


def collect_reading_options(options: RunOptions) -> dict[str, Any]:
    """Return the settings of a run that `read_files` takes as they are."""
    return {
        "id_column": options.id,
        "labels": options.labels,
        "seeds": options.seeds,
        "describe": options.describe or (),
        "mappings": options.mapping or (),
        "delimiter": options.delimiter,
    }


def read_as_fitted(
    saved: Mapping[str, Any], options: RunOptions, inputs: InputFiles, memory: MemoryInputs | None
) -> InputData:
    """Read files as the views of a model, with the columns and kinds of its fit; `saved` is the content of its file."""
    usual_ids = () if saved["id"] is None else (saved["id"],)
    model_views = ModelViews.from_saved(saved)
    named = [parse_view(text) for text in options.view] if memory is None else memory.specs
    specs = [spec for named_spec in named for spec in model_views.find_views(named_spec, inputs)]
    kinds = {name: kind for name, kind in saved["kinds"].items() if name in {spec.name for spec in specs}}
    reading = read_files(
        specs,
        **collect_reading_options(options),
        kinds=kinds,
        usual_ids=usual_ids,
        guess_id=False,
        readings=model_views.lenient_readings,
        value_words=model_views.value_words,
        inputs=inputs,
    )
    for content in reading.contents:
        _check_readable(content)
    if saved.get("is_mapped") and not reading.mappings and len(reading.contents) > 1:
        raise ValueError(
            "the views of the model have different ids, joined by --mapping: give --mapping FILE for the new entities, "
            "or one view at a time"
        )
    unknown = next((content.name for content in reading.contents if content.name not in saved["kinds"]), None)
    if unknown is not None:
        views = ", ".join(map(repr, saved["kinds"]))
        raise ValueError(f"the model has no view {unknown!r}: its views are {views} (--view NAME=FILE)")
    return replace(
        reading,
        contents=[
            replace(content, source=model_views.sources.get(content.name), reason="as in the earlier run")
            for content in reading.contents
        ],
    )


def _check_readable(content: ViewContent) -> None:
    """Refuse new rows if nothing of a view of numbers and categories can be read."""
    if content.kind not in ("numbers", "categories") or not content.notes:
        return
    columns = content.data.values() if content.kind == "categories" else [content.data[0]]
    if all(cells.dtype != object and np.isnan(cells).all() for cells in columns):
        raise ValueError(f"view {content.name!r} has no cell that can be read. {' '.join(content.notes)}")


def load_data(
    options: RunOptions,
    log: RunLog,
    memory: MemoryInputs | None = None,
    *,
    chooses_encodings: bool = True,
    template: Mapping[str, Any] | None = None,
) -> LoadedData:
    """Read and prepare the files that the options name, and note what is missing.

    Without `chooses_encodings`, contents for which the options name no encoding have the default of their kind. With a
    `template`, the content of a model file, the files are read as the views of that model.
    """
    encode = options.encode
    with InputFiles({} if memory is None else memory.objects) as inputs:
        with log.step("reading the files", "read the files"):
            if template is not None:
                reading = read_as_fitted(template, options, inputs, memory)
                check_all_views(reading, template)
                note_unused_columns(reading, template, log)
            else:
                reading = read_files(
                    [parse_view(text) for text in options.view] if memory is None else memory.specs,
                    **collect_reading_options(options),
                    kinds=options.kind,
                    joins_strings=options.k != SMALL_GROUPS,
                    inputs=inputs,
                )
        if memory is not None:
            reading = replace(
                reading,
                known_classes=[*reading.known_classes, *memory.known_classes],
                seed_classes=[*reading.seed_classes, *memory.seed_classes],
                descriptions=[*reading.descriptions, *memory.descriptions],
            )
        for note in reading.notes:
            log.note(note)
        has_constraints = options.constraints is not None or (memory is not None and memory.constraints is not None)
        method, reason = choose_method(options.method, reading.contents, has_constraints, encode)
        with log.step("preparing the views", "prepared the views"):
            settings = read_settings(method, options.settings)
            entities = join_contents(reading.contents, reading.mappings)
            if memory is not None:
                memory.check_ids(entities)
            _check_class_ids(reading, entities)
            descriptions, description_notes = read_descriptions(reading.descriptions, entities)
            _check_before_encoding(reading, entities, options, inputs)
            rare = not settings.declaration.takes_raw_counts
            choices = EncodingChoices(dict(encode))
            if chooses_encodings and method == DEFAULT_METHOD:
                choices = _choose_encodings(reading.contents, entities, encode, rare, options, log)
            prepared = fit_and_encode(reading.contents, rare=rare, entities=entities, encode=choices.encode)
        settings.check_views(prepared.views.names)
        requested = method if options.settings else options.method  # options are those of one method
        needs_constraints = has_constraints or (bool(reading.seed_classes) and not settings.declaration.takes_seeds)
        method, reason = check_n_entities(requested, method, reason, len(prepared.views), needs_constraints)
        _note_data(prepared, reading, log)
        for note in description_notes:
            log.note(note)
        classes = None
        if reading.known_classes:
            classes = match_classes(reading.known_classes, prepared.entities)[prepared.kept]
            n_labeled = int((classes != "").sum())
            if n_labeled < len(classes):
                verb = "has" if n_labeled == 1 else "have"
                log.note(
                    f"Only {n_labeled:,} of {len(classes):,} entities {verb} a class in --labels: the others are not "
                    "scored."
                )
        seeds = read_seeds(reading, prepared)
        for source in (*reading.known_classes, *reading.seed_classes):
            for note in _list_unmatched(source, prepared.entities):
                log.note(note)
        for note in () if memory is None else memory.notes:
            log.note(note)
        file_constraints = _find_constraints(options, memory, prepared, inputs)
    declaration = settings.declaration if method == settings.declaration.name else find_estimator(method)
    if file_constraints is not None:
        file_constraints.check_method(declaration)
        for note in file_constraints.list_notes(declaration):
            log.note(note)
    if seeds is not None:
        if isinstance(options.k, int):
            seeds.check_n_clusters(options.k)
        for note in seeds.list_notes(declaration):
            log.note(note)
        classes = _leave_out_seeds(classes, seeds, log)
    data = LoadedData(
        reading,
        prepared,
        choices,
        classes,
        file_constraints,
        seeds,
        method,
        reason,
        declaration,
        is_from_memory=memory is not None,
        descriptions=[column.select(prepared.kept) for column in descriptions],
    )
    for name, languages in data.languages.items():
        if (languages_note := describe_languages(name, languages)) is not None:
            log.note(languages_note)
    return data


def check_all_views(reading: InputData, template: Mapping[str, Any]) -> None:
    """Refuse files that lack a view, or columns of a view, of an earlier run."""
    views = {content.name: content for content in reading.contents}
    for name in template["kinds"]:
        if name not in views:
            raise ValueError(
                f"the new files have no view {name!r}, which the earlier run has: add it (--view {name}=FILE), or use "
                "`consilience cluster` to cluster without it"
            )


def note_unused_columns(reading: InputData, template: Mapping[str, Any], log: RunLog) -> None:
    """Note the columns of tables that an earlier run has not used."""
    used = {column for columns in template["columns"].values() for column in columns or ()}
    unused = [column for table in reading.tables for column in table.columns if column not in used]
    if unused:
        log.note(f"The earlier run does not use {list_names(unused)}: left out.")


def _choose_encodings(
    contents: Sequence[ViewContent],
    entities: Entities,
    encode: Mapping[str, Any],
    rare: bool,
    options: RunOptions,
    log: RunLog,
) -> EncodingChoices:
    """Choose encodings for the contents that `encode` does not name, and note the choices.

    Contents keep their defaults if small groups are searched: their entities cannot be predicted from others.
    """
    if options.k == SMALL_GROUPS:
        return EncodingChoices(dict(encode))
    n_clusters = options.k if isinstance(options.k, int) and options.k > 1 else None
    choices = select_encodings(
        contents, entities, rare=rare, encode=encode, n_clusters=n_clusters, random_state=options.seed
    )
    for note in choices.notes:
        log.note(note)
    return choices


def _find_constraints(
    options: RunOptions, memory: MemoryInputs | None, prepared: EncodedData, inputs: InputFiles
) -> FileConstraints | None:
    """Return the constraints that are in memory, or in the file that the options name; None if there are none."""
    if memory is not None and memory.constraints is not None:
        return number_constraints(memory.constraints, prepared)
    return None if options.constraints is None else read_constraints(options.constraints, prepared, inputs)


def _list_unmatched(source: KnownClasses, entities: Entities) -> list[str]:
    """Note the ids with a class that no entity has."""
    if source.ids is None or entities.ids is None:
        return []
    has_class = format_classes(source) != ""
    unknown = entities.list_unknown(source.ids[has_class].tolist(), source.views)
    return describe_unmatched(f"{source.origin} ({source.option})", unknown)


def _leave_out_seeds(classes: np.ndarray | None, seeds: SeedClasses, log: RunLog) -> np.ndarray | None:
    """Return the classes for scores, without those of entities whose class the fit knows; None if none is left."""
    if classes is None:
        return None
    scored = np.where(seeds.is_seeded, "", classes)
    n_scored = int((scored != "").sum())
    if not n_scored:
        log.note("All entities with a class in --labels are seeds, which the fit knows: there are no scores.")
        return None
    log.note(
        "Scores leave out the seeds, whose classes the fit knows: "
        f"{count_noun(n_scored, 'entity is', 'entities are')} scored."
    )
    return scored


def _check_before_encoding(reading: InputData, entities: Entities, options: RunOptions, inputs: InputFiles) -> None:
    """Refuse a number of clusters, classes or constraints that cannot be used, before the long work."""
    if isinstance(options.k, int) and options.k > len(entities):
        raise ValueError(f"-k {options.k} is more than the number of entities, {len(entities):,}: give a smaller one")
    for sources in (reading.known_classes, reading.seed_classes):
        if sources:
            match_classes(sources, entities)
    if options.constraints is not None:
        with name_option("--constraints"):
            inputs.locate(parse_path(options.constraints))


def _check_class_ids(reading: InputData, entities: Entities) -> None:
    """Refuse classes and descriptions without ids if the files list the entities in different orders."""
    ids = [content.ids.tolist() for content in reading.contents if content.ids is not None]
    only_links = all(content.kind == "links" for content in reading.contents)
    if entities.is_mapped or not (only_links or any(row != ids[0] for row in ids)):
        return
    separate = [source for source in reading.descriptions if source.content is None]
    sources: list[KnownClasses | DescriptionColumn] = [*reading.known_classes, *reading.seed_classes, *separate]
    for source in sources:
        if source.ids is None:
            raise ValueError(f"{source.origin} ({source.option}) has no ids, but the views are joined by ids: add them")


def note_left_out(prepared: EncodedData, log: RunLog) -> None:
    """Note the entities that are left out because all their views are empty."""
    rows = np.flatnonzero(~prepared.kept)
    if len(rows):
        first = rows[0] if prepared.ids is None else prepared.ids[rows[0]]
        subject = f"Entity {first} has" if len(rows) == 1 else f"{len(rows):,} entities (the first is {first}) have"
        log.note(f"{subject} no data in any view: left out.")


def _note_data(prepared: EncodedData, reading: InputData, log: RunLog) -> None:
    """Note entities that are left out, filled cells, and links that have no effect."""
    note_left_out(prepared, log)
    for name, encoding in prepared.encodings.items():
        if encoding.content in prepared.texts and encoding.smoothed is None:
            has_text = np.array([text is not None for text in prepared.texts[encoding.content]], dtype=bool)
            n_unused = int((has_text & ~prepared.views.present[:, prepared.views.names.index(name)]).sum())
            if n_unused:
                log.note(
                    f"View {name!r}: {count_noun(n_unused, 'text has', 'texts have')} no word in common with others."
                )
    for name, n in prepared.filled.items():
        log.note(f"View {name!r}: {count_noun(n, 'empty cell')} in otherwise filled rows got the median of the column.")
    for content in reading.contents:
        if content.kind != "links":
            continue
        for direction, other in (("out", "in"), ("in", "out")):
            names = {f"{content.name}-{direction}", f"{content.name}-{other}"}
            if names.intersection(prepared.encodings) == {f"{content.name}-{other}"}:
                log.note(f"View {content.name!r}: no entity has {direction}going links, so this view is left out.")
        link_ids = prepared.entities.row_ids[content.name]
        if link_ids is not None:
            ids = set(link_ids.tolist())
            n = sum(a not in ids and b not in ids for a, b in zip(*content.data[:2], strict=True))
            if n:
                log.note(f"View {content.name!r}: {n} links between ids that no other view has are ignored.")


def compute_digest(reading: InputData) -> str:
    """Return a fingerprint of the files' content, which is the same on every machine."""
    digest = hashlib.sha256()
    for content in reading.contents:
        for part in (content.name, content.kind, content.columns, content.ids, content.data):
            _update_digest(digest, part)
    for mapping in reading.mappings:
        _update_digest(digest, (mapping.views, mapping.pairs))
    for source in reading.seed_classes:
        _update_digest(digest, (source.ids, source.classes))
    return digest.hexdigest()


def _update_digest(digest: Any, value: Any) -> None:
    match value:
        case dict():
            _update_digest(digest, [part for pair in value.items() for part in pair])
        case list() | tuple():
            for item in value:
                _update_digest(digest, item)
        case sp.sparray() | sp.spmatrix():
            _update_digest(digest, (value.shape, value.data, value.indices, value.indptr))
        case np.ndarray(dtype=np.dtype(kind="O")):
            digest.update(repr(value.tolist()).encode("utf-8", "surrogatepass"))
        case np.ndarray():
            digest.update(repr((value.dtype.str, value.shape)).encode() + np.ascontiguousarray(value).tobytes())
        case _:
            digest.update(repr(value).encode("utf-8", "surrogatepass"))


def describe_data(data: LoadedData) -> str:
    """Describe the data, with one line per view."""
    head = f"{count_noun(len(data.views), 'entity', 'entities')}, {count_noun(data.views.n_views, 'view')}"
    lines = [*describe_views(data), *describe_mapping(data.prepared.entities)]
    return "\n".join([head, *(f"  {line}" for line in lines)])


def describe_views(data: LoadedData) -> list[str]:
    """Return a line per view: its kind, its number of columns, and how many entities lack it."""
    views, prepared = data.views, data.prepared
    reasons = {content.name: content.reason for content in data.reading.contents}
    lines = []
    for v, name in enumerate(views.names):
        n_missing = int((~views.present[:, v]).sum())
        encoding = prepared.encodings[name]
        note = getattr(encoding.encoder, "note", "")  # what was done with the data
        kind = "numbers and categories" if getattr(encoding.encoder, "numeric", None) else prepared.kinds[name]
        lines.append(
            f"{name}: {kind} ({reasons[encoding.content]}{note and f'; {note}'}), "
            f"{count_noun(views[name].shape[1], 'column')}, "
            + (f"missing for {n_missing:,}" if n_missing else "present for all")
        )
    return lines


def choose_method(
    method: str, contents: Sequence[ViewContent], has_constraints: bool, encode: Mapping[str, Any]
) -> tuple[str, str]:
    """Return the name of the method and why it was chosen; refuse one that cannot take the data or the constraints."""
    name, reason = method, "as you chose"
    if method == "auto":
        name = DEFAULT_METHOD
        reason = "the default, also with constraints" if has_constraints else "the default for all kinds of views"
    declaration = find_estimator(name)
    if has_constraints and not declaration.takes_constraints:
        raise UsageError(f"--method {name} takes no --constraints: use {_list_methods('takes_constraints')}")
    graphs = [name for name, encoding in encode.items() if "graph" in str(encoding).split("+")]
    similarities = [
        content.name
        for content in contents
        if content.kind == "similarities" or (content.kind == "links" and content.name in graphs)
    ]
    if similarities and not declaration.takes_similarities:
        raise ValueError(
            f"view {similarities[0]!r} holds similarities, which --method {name} cannot take: use "
            f"{_list_methods('takes_similarities')}"
        )
    return name, reason


def check_n_entities(method: str, name: str, reason: str, n_entities: int, has_constraints: bool) -> tuple[str, str]:
    """Return the method and the reason again, once the number of entities is known."""
    if name != DEFAULT_METHOD or not has_constraints or n_entities <= tuning.max_constrained:
        return name, reason
    if method == "auto":
        return "constrained", f"the default takes constraints for up to {tuning.max_constrained:,} entities"
    raise ValueError(
        f"--method {name} takes --constraints and --seeds for up to {tuning.max_constrained:,} entities, "
        f"got {n_entities:,}: use constrained"
    )


def check_outliers(options: RunOptions) -> None:
    """Refuse `--outliers` for a method that puts every entity into a cluster."""
    name = DEFAULT_METHOD if options.method == "auto" else options.method
    if options.outliers is not None and not find_estimator(name).finds_outliers:
        raise UsageError(
            f"--method {name} takes no --outliers, because it puts every entity into a cluster: use "
            f"{_list_methods('finds_outliers')}"
        )


def check_seeds(options: RunOptions, has_seeds: bool) -> None:
    """Refuse `--seeds` for a method that cannot use them."""
    name = DEFAULT_METHOD if options.method == "auto" else options.method
    if has_seeds and not find_estimator(name).uses_seeds:
        raise UsageError(f"--method {name} takes no --seeds: use {_list_methods('uses_seeds')}")


def check_small_groups(options: RunOptions, has_seeds: bool) -> None:
    """Refuse small groups with seeds, and by methods that cannot start from groups."""
    if options.k != SMALL_GROUPS:
        return
    if has_seeds:
        raise UsageError(f"-k {SMALL_GROUPS} takes no --seeds: give -k N, or known pairs as --constraints")
    if options.method not in ("auto", DEFAULT_METHOD):
        raise UsageError(f"-k {SMALL_GROUPS} works with --method {DEFAULT_METHOD}, not with {options.method}")


def _list_methods(ability: str) -> str:
    return " or ".join(name for name, declaration in list_estimators().items() if getattr(declaration, ability))
