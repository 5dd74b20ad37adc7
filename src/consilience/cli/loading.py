"""Read the files that the options name, and describe what was found."""

from __future__ import annotations

import argparse
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..data import Constraints, Views
from ..files import (
    EncodedData,
    InputData,
    InputFiles,
    ViewContent,
    fit_and_encode,
    match_classes,
    parse_view,
    read_files,
)
from ..files.spec import is_file, split_columns
from ..registry import EstimatorDeclaration, find_estimator
from .choosing import check_n_entities, choose_method
from .constraints import read_constraints
from .terminal import Terminal, count_noun


@dataclass(frozen=True, eq=False)
class LoadedData:
    """The user's files as views, with the method chosen for them."""

    reading: InputData
    prepared: EncodedData
    classes: np.ndarray | None  # known labels, for scoring only
    constraints: Constraints | None
    method: str
    reason: str  # why this method was chosen

    @property
    def views(self) -> Views:
        return self.prepared.views

    @property
    def declaration(self) -> EstimatorDeclaration:
        return find_estimator(self.method)

    def prepare_for(self, declaration: EstimatorDeclaration) -> Views:
        """Return the views as a method takes them: with raw or weighted counts."""
        if declaration.takes_raw_counts == self.declaration.takes_raw_counts:
            return self.views
        return fit_and_encode(self.reading.contents, rare=not declaration.takes_raw_counts).views


def check_inputs_stay(targets: Sequence[Path], options: argparse.Namespace, *others: Path) -> None:
    """Refuse to write over the input files, even with --force."""
    inputs = [parse_view(text).path for text in options.view or ()]
    inputs += [split_columns(text)[0] for name in ("labels", "constraints") if (text := getattr(options, name, None))]
    for target in targets:
        if target.exists() and any(is_file(path) and path.samefile(target) for path in (*inputs, *others)):
            raise ValueError(f"{target} is an input file and would be overwritten: choose another --out")


def load_data(options: argparse.Namespace, terminal: Terminal) -> LoadedData:
    """Read and prepare the files that the options name, and note what is missing."""
    with InputFiles() as inputs:
        return _load_inputs(options, terminal, inputs)


def _load_inputs(options: argparse.Namespace, terminal: Terminal, inputs: InputFiles) -> LoadedData:
    kinds = dict(_parse_kind(text) for text in options.kind)
    with terminal.step("reading the files", "read the files"):
        reading = read_files(
            [parse_view(text) for text in options.view],
            id_column=options.id,
            labels=options.labels,
            kinds=kinds,
            delimiter=options.delimiter,
            inputs=inputs,
        )
    for note in reading.notes:
        terminal.note(note)
    has_constraints = options.constraints is not None
    method, reason = choose_method(options.method, reading.contents, has_constraints)
    with terminal.step("preparing the views", "prepared the views"):
        prepared = fit_and_encode(reading.contents, rare=not find_estimator(method).takes_raw_counts)
    method, reason = check_n_entities(options.method, method, reason, len(prepared.views), has_constraints)
    _note_data(prepared, reading, terminal)
    classes = None
    if reading.known_classes is not None:
        _check_order(reading)
        classes = match_classes(reading.known_classes, prepared.ids, len(prepared.kept))[prepared.kept]
    constraints = read_constraints(options.constraints, prepared, inputs) if has_constraints else None
    return LoadedData(reading, prepared, classes, constraints, method, reason)


def _check_order(reading: InputData) -> None:
    """Refuse labels without ids if the files list the entities in different orders."""
    if reading.known_classes is None or reading.known_classes.ids is not None:
        return
    ids = [content.ids.tolist() for content in reading.contents if content.ids is not None]
    if all(content.kind == "links" for content in reading.contents) or any(other != ids[0] for other in ids):
        raise ValueError(
            f"{reading.known_classes.origin} (--labels) has no ids, but the views are joined by ids: add them"
        )


def _parse_kind(text: str) -> tuple[str, str]:
    name, equals, kind = text.partition("=")
    if not (name and equals and kind):
        raise ValueError(f"--kind needs the form NAME=KIND, got {text!r}")
    return name, kind


def note_left_out(prepared: EncodedData, terminal: Terminal) -> None:
    """Note the entities that are left out because all their views are empty."""
    rows = np.flatnonzero(~prepared.kept)
    if len(rows):
        first = rows[0] if prepared.ids is None else prepared.ids[rows[0]]
        subject = f"Entity {first} has" if len(rows) == 1 else f"{len(rows):,} entities (the first is {first}) have"
        terminal.note(f"{subject} no data in any view: left out.")


def _note_data(prepared: EncodedData, reading: InputData, terminal: Terminal) -> None:
    """Note entities that are left out, filled cells, and links that have no effect."""
    views = prepared.views
    note_left_out(prepared, terminal)
    for name, n in prepared.filled.items():
        terminal.note(
            f"View {name!r}: {count_noun(n, 'empty cell')} in otherwise filled rows got the median of the column."
        )
    for content in reading.contents:
        if content.kind != "links":
            continue
        for direction in ("out", "in"):
            if f"{content.name}-{direction}" not in prepared.encodings:
                terminal.note(f"View {content.name!r}: no entity has {direction}going links, so this view is left out.")
        if views.ids is not None:
            ids = set(views.ids.tolist())
            n = sum(a not in ids and b not in ids for a, b in zip(*content.data[:2], strict=True))
            if n:
                terminal.note(f"View {content.name!r}: {n} links between ids that no other view has are ignored.")


def compute_digest(contents: Sequence[ViewContent]) -> str:
    """Return a fingerprint of the files' content, which is the same on every machine."""
    digest = hashlib.sha256()
    for content in contents:
        for part in (content.name, content.kind, content.columns, content.ids, content.data):
            _update_digest(digest, part)
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
    return "\n".join([head, *(f"  {line}" for line in describe_views(data))])


def describe_views(data: LoadedData) -> list[str]:
    """Return a line per view: its kind, its number of columns, and how many entities lack it."""
    views, prepared = data.views, data.prepared
    reasons = {content.name: content.reason for content in data.reading.contents}
    lines = []
    for v, name in enumerate(views.names):
        n_missing = int((~views.present[:, v]).sum())
        lines.append(
            f"{name}: {prepared.kinds[name]} ({reasons[prepared.encodings[name].content]}), "
            f"{count_noun(views[name].shape[1], 'column')}, "
            + (f"missing for {n_missing:,}" if n_missing else "present for all")
        )
    return lines
