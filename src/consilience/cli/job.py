"""The work that the commands share: files to views, views to a fitted model."""

from __future__ import annotations

import argparse
import hashlib
import warnings
from collections.abc import Mapping, Sequence
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
from ..methods import SpectralFeatures
from ..selection import Selection, select_n_clusters
from ..selection.candidates import limit_clusters
from .constraints import read_constraints
from .methods import DEFAULT, METHODS, Setting, check_n_entities, choose_method
from .say import Terminal, UsageError, count_noun

WIDE = 30  # columns from which on a view is reduced before constraints are put to it
FEATURES = 5  # what it is reduced to
SMALL_GROUPS = "small-groups"  # value of -k that looks for duplicates
MOST_GROUPED = 20_000  # entities up to which it does


@dataclass(frozen=True, eq=False)
class LoadedData:
    """The user's files, read and made into numbers."""

    reading: InputData
    prepared: EncodedData
    classes: np.ndarray | None  # known labels, for scoring only
    constraints: Constraints | None
    method: str
    why: str

    @property
    def views(self) -> Views:
        return self.prepared.views


@dataclass(frozen=True, eq=False)
class FittedRun:
    """A model, and what the views become before they reach it."""

    estimator: Any
    features: dict[str, Any]  # of views that are reduced first
    views: Views  # as the estimator saw them
    selection: Selection | None

    @property
    def has_small_groups(self) -> bool:
        """Whether the clusters are duplicates and other small groups (-k small-groups)."""
        return self.selection is not None and self.selection.labels is not None

    @property
    def is_divided(self) -> bool:
        """Whether the entities are divided into clusters large enough to assess and to compare."""
        return self.selection is None or (bool(self.selection.supported) and not self.has_small_groups)


def check_inputs_stay(targets: Sequence[Path], options: argparse.Namespace, *others: Path) -> None:
    """--force is for older results, not for the files that these come from."""
    given = [parse_view(text).path for text in options.view or ()]
    given += [split_columns(text)[0] for name in ("labels", "constraints") if (text := getattr(options, name, None))]
    for target in targets:
        if target.exists() and any(is_file(one) and one.samefile(target) for one in (*given, *others)):
            raise ValueError(f"{target} is a file to read from, and would be written over: choose another --out")


def load_data(options: argparse.Namespace, say: Terminal) -> LoadedData:
    """Read and prepare what the options name, and say what was found."""
    with InputFiles() as inputs:
        return _load_inputs(options, say, inputs)


def _load_inputs(options: argparse.Namespace, say: Terminal, inputs: InputFiles) -> LoadedData:
    kinds = dict(_parse_kind(text) for text in options.kind)
    with say.step("reading the files", "read the files"):
        reading = read_files(
            [parse_view(text) for text in options.view],
            id_column=options.id,
            labels=options.labels,
            kinds=kinds,
            delimiter=options.delimiter,
            inputs=inputs,
        )
    for note in reading.notes:
        say.note(note)
    method, why = choose_method(options.method, reading.contents, options.constraints is not None)
    with say.step("preparing the views", "prepared the views"):
        prepared = fit_and_encode(reading.contents, rare=METHODS[method].rare)
    method, why = check_n_entities(options.method, method, why, len(prepared.views), options.constraints is not None)
    _note_data(prepared, reading, say)
    classes = None
    if reading.known_classes is not None:
        _check_order(reading)
        classes = match_classes(reading.known_classes, prepared.ids, len(prepared.kept))[prepared.kept]
    given = None if options.constraints is None else read_constraints(options.constraints, prepared, inputs)
    return LoadedData(reading, prepared, classes, given, method, why)


def _check_order(reading: InputData) -> None:
    """Labels without ids go by place, which means nothing where files list the entities in different orders."""
    if reading.known_classes is None or reading.known_classes.ids is not None:
        return
    named = [one.ids.tolist() for one in reading.contents if one.ids is not None]
    if all(one.kind == "links" for one in reading.contents) or any(own != named[0] for own in named):
        raise ValueError(
            f"{reading.known_classes.origin} (--labels) has no ids, but the views are joined by theirs: add them"
        )


def _parse_kind(text: str) -> tuple[str, str]:
    name, equals, kind = text.partition("=")
    if not (name and equals and kind):
        raise ValueError(f"--kind is given as NAME=KIND, got {text!r}")
    return name, kind


def note_left_out(prepared: EncodedData, say: Terminal) -> None:
    """Tell of entities that no view says anything about."""
    lost = np.flatnonzero(~prepared.kept)
    if len(lost):
        first = lost[0] if prepared.ids is None else prepared.ids[lost[0]]
        who = f"Entity {first} has" if len(lost) == 1 else f"{len(lost):,} entities, the first of them {first}, have"
        say.note(f"{who} no view that says anything: left out.")


def _note_data(prepared: EncodedData, reading: InputData, say: Terminal) -> None:
    """How many entities, who lacks what, and what was done to the data."""
    views = prepared.views
    note_left_out(prepared, say)
    for name, n in prepared.filled.items():
        cells = count_noun(n, "empty cell")
        say.note(f"View {name!r}: {cells} in rows that have others got the median of the column.")
    for one in reading.contents:
        for direction in ("out", "in"):
            if one.kind == "links" and f"{one.name}-{direction}" not in prepared.encodings:
                say.note(f"View {one.name!r}: no entity has links {direction}, so there is no view of these.")
        if one.kind == "links" and views.ids is not None:
            known = set(views.ids.tolist())
            n = sum(a not in known and b not in known for a, b in zip(*one.data[:2], strict=True))
            if n:
                say.note(f"View {one.name!r}: {n} links are between ids that no other view has, and count for nothing.")


def compute_digest(contents: Sequence[ViewContent]) -> str:
    """A fingerprint of what was read: the same files have the same, on any machine."""
    found = hashlib.sha256()
    for one in contents:
        for own in (one.name, one.kind, one.columns, one.ids, one.data):
            _update_digest(found, own)
    return found.hexdigest()


def _update_digest(found: Any, value: Any) -> None:
    if isinstance(value, dict):
        value = [part for pair in value.items() for part in pair]
    if isinstance(value, list | tuple):
        for one in value:
            _update_digest(found, one)
    elif sp.issparse(value):
        _update_digest(found, (value.shape, value.data, value.indices, value.indptr))
    elif isinstance(value, np.ndarray) and value.dtype != object:
        found.update(repr((value.dtype.str, value.shape)).encode() + np.ascontiguousarray(value).tobytes())
    else:
        text = repr(value.tolist() if isinstance(value, np.ndarray) else value)
        found.update(text.encode("utf-8", "surrogatepass"))


def describe_data(data: LoadedData) -> str:
    """What was found, a line a view."""
    head = f"{count_noun(len(data.views), 'entity', 'entities')}, {count_noun(data.views.n_views, 'view')}"
    return "\n".join([head, *(f"  {line}" for line in describe_views(data))])


def describe_views(data: LoadedData) -> list[str]:
    """What each view is, and how many lack it."""
    views, prepared = data.views, data.prepared
    source = {one.name: one for one in data.reading.contents}
    rows = []
    for v, name in enumerate(views.names):
        content = source[prepared.encodings[name].content]
        lacking = int((~views.present[:, v]).sum())
        rows.append(
            f"{name}: {prepared.kinds[name]} ({content.reason}), {count_noun(views[name].shape[1], 'column')}, "
            + (f"missing for {lacking:,}" if lacking else "there for all")
        )
    return rows


def fit_model(data: LoadedData, k: str, seed: int, say: Terminal, outliers: float | str | None = None) -> FittedRun:
    """The method on the data, and how the number of clusters was found."""
    features = _fit_features(data, say, seed)
    views = reduce_views(data.views, features)
    method = METHODS[data.method]
    selection = None
    if k == SMALL_GROUPS:
        check_group_size(data)
        selection = choose_k(data, seed, say, small_groups=True)
    elif k == "auto" and not method.finds_k:
        selection = choose_k(data, seed, say)
    n_clusters = selection.n_clusters if selection else None if k == "auto" else int(k)
    estimator = method.build(Setting(n_clusters, seed, data.prepared.kinds, say.live))
    constraints = data.constraints
    if selection is not None and selection.labels is not None:
        estimator.set_params(init=selection.labels)
        constraints = link_groups(selection.labels)  # without these, refinement would take small groups apart
    if outliers is not None:
        estimator.set_params(outliers=outliers)
    _note_sample(estimator, data, say)
    with say.step(f"clustering by {method.title}", "fitted the model", speaks=True), warnings.catch_warnings():
        if k == SMALL_GROUPS:  # groups are meant to be small, and must-links keep them
            warnings.filterwarnings("ignore", message=".*too few to predict each cluster")
        options = {} if constraints is None else {"constraints": constraints}
        estimator.fit(views, **options)
    if outliers == "auto" and (np.asarray(estimator.labels_) >= 0).all():
        say.note("No entity stands out: --outliers auto labels none.")
    return FittedRun(estimator, features, views, selection)


def _note_sample(estimator: Any, data: LoadedData, say: Terminal) -> None:
    """Tell if the method clusters a sample of the entities; it never samples similarities."""
    size = getattr(estimator, "sample_size", None)
    if size is not None and len(data.views) > size and "similarities" not in data.prepared.kinds.values():
        say.note(f"Clusters are found in {size:,} entities drawn at random, and the others are predicted from these.")


def _fit_features(data: LoadedData, say: Terminal, seed: int) -> dict[str, Any]:
    """Of views that are too wide for the method, a few columns that say nearly the same."""
    if not METHODS[data.method].few_columns:
        return {}
    wide = [name for name, block in data.views.items() if block.shape[1] > WIDE or sp.issparse(block)]
    if not wide:
        return {}
    say.note(f"Views {', '.join(wide)} are reduced to {FEATURES} spectral features, in which near means alike.")
    made = {}
    with say.step("reducing wide views", "reduced wide views"):
        for name in wide:
            there = data.views.present[:, data.views.names.index(name)]
            made[name] = SpectralFeatures(min(FEATURES, int(there.sum()) - 1), random_state=seed).fit(
                data.views[there][name]
            )
    return made


def reduce_views(views: Views, features: Mapping[str, Any]) -> Views:
    """The views as the estimator sees them."""
    if not features:
        return views
    blocks: dict[str, Any] = {}
    for name, block in views.items():
        there = views.present[:, views.names.index(name)]
        if name not in features or not there.any():
            blocks[name] = block
            continue
        found = features[name].transform(views[there][name])
        blocks[name] = np.full((len(views), found.shape[1]), np.nan)
        blocks[name][there] = found
    return Views(blocks, present=views.present, ids=views.ids)


def choose_k(data: LoadedData, seed: int, say: Terminal, small_groups: bool = False) -> Selection:
    """Look for the number of clusters by the default method, whose quick version serves every number."""
    rare = METHODS[DEFAULT].rare
    views = data.views if METHODS[data.method].rare == rare else fit_and_encode(data.reading.contents, rare=rare).views
    if not small_groups and limit_clusters(len(views)) < 2:
        raise ValueError(f"{len(views)} entities are too few to find out how many clusters there are: give -k N")
    estimator = METHODS[DEFAULT].build(Setting(2, seed, data.prepared.kinds))
    with say.step("finding out how many clusters there are", "chose the number of clusters", speaks=True):
        return select_n_clusters(estimator, views, small_groups=small_groups, random_state=seed, verbose=say.live)


def describe_selection(selection: Selection) -> str:
    """Return the supported numbers of clusters in words."""
    advice = [] if selection.supported else ["All entities make one cluster; -k N divides them into N anyway."]
    return "\n".join([selection.reason, *selection.sentences, *advice])


def link_groups(labels: np.ndarray) -> Constraints:
    """Return must-links, by position, between the first entity of each group and the others."""
    _, first, group = np.unique(labels, return_index=True, return_inverse=True)
    others = np.setdiff1d(np.arange(len(labels)), first)
    return Constraints(np.column_stack([first[group[others]], others]), by="position")


def check_small_groups(options: argparse.Namespace) -> None:
    """Refuse small groups with constraints, and by methods that cannot start from groups."""
    if options.k != SMALL_GROUPS:
        return
    if options.constraints is not None:
        raise UsageError(f"-k {SMALL_GROUPS} takes no --constraints: give -k N")
    if options.method not in ("auto", DEFAULT):
        raise UsageError(f"-k {SMALL_GROUPS} works with --method {DEFAULT}, not with {options.method}")


def check_group_size(data: LoadedData) -> None:
    """Refuse small groups of more entities than the default method takes constraints for."""
    if len(data.views) > MOST_GROUPED:
        raise ValueError(
            f"-k {SMALL_GROUPS} takes up to {MOST_GROUPED:,} entities, got {len(data.views):,}: cluster a part of them"
        )
