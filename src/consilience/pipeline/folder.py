"""The folder of a run: its files, written completely or not at all, and the run that they restore."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from ..assessment import Assessment
from ..data import Table
from ..files import check_complete, parse_view, stage_folder
from ..files.descriptions import parse_descriptions
from ..files.formats import read_document
from ..files.spec import is_same_file
from ..persist import load, save
from .changes import Changes, RunUpdate, compare_labels
from .config import FLAGS, write_config
from .fitting import FittedRun, reduce_views
from .loading import LoadedData, compute_digest, load_data
from .log import RunLog
from .memory import MemoryInputs
from .options import RunOptions, parse_texts
from .outputs import note_guarded, remove_guard, write_json, write_label_table
from .run import PipelineRun
from .saved_model import check_numbers, check_saved
from .sheet_columns import SHEETS
from .sheets import write_sheets
from .stored_data import DATA, collect_data, read_data
from .summary import INPUTS
from .write_back import CellFiles, write_back

LABELS, SUMMARY, MODEL, REPORT, CONFIG = ("labels.csv", "summary.json", "model.zip", "report.html", "run.toml")
FROM_FILES = ("view", "id", "mapping", "kind", "delimiter", "labels", "constraints", "seeds", "describe")  # settings
FILES = (LABELS, SUMMARY, MODEL, DATA, REPORT, CONFIG, *SHEETS)


def write_run(
    run: PipelineRun,
    out: Path,
    log: RunLog,
    *,
    overwrite: bool = False,
    cells: CellFiles | None = None,
    include_data: bool = True,
) -> list[str]:
    """Write labels, sheets, summary, model, report and settings of a run to a folder; return the names of the files.

    Data from memory is written, too, unless `include_data` is False. With `cells`, the clusters are also written to a
    copy of the single-cell file.
    """
    with stage_folder(out, FILES, overwrite) as folder:
        prepared = run.data.prepared
        with (folder / LABELS).open("w", newline="", encoding="utf-8", errors="replace") as file:
            n_guarded = write_label_table(file, prepared.names, run.entity_columns, prepared.view_ids)
            note_guarded(n_guarded, log, LABELS)
        write_sheets(run, folder, log)
        write_json(folder / SUMMARY, {**run.facts, "notes": list(dict.fromkeys([*run.notes, *log.notes]))})
        levels = {"hierarchy": run.hierarchy, "level_names": run.level_names}
        save({**run.collect_saved(), **levels}, folder / MODEL)
        if run.data.is_from_memory and include_data:
            save(collect_data(run), folder / DATA)
        origin = None if run.update is None else run.update.origin
        write_config(folder / CONFIG, run.facts["inputs"], run.facts["clusters"], origin)
        run.build_report().save(folder / REPORT)
        if cells is not None:
            write_back(cells, run, log, overwrite)
        return [name for name in FILES if (folder / name).exists()]


def find_model_file(path: Path) -> Path:
    """Return the model file if its folder was given."""
    return path / MODEL if path.is_dir() else path


def open_model(path: Path) -> dict[str, Any]:
    """Load a model that `consilience cluster` has written, from its file or folder."""
    path = find_model_file(path)
    if not path.exists():
        raise FileNotFoundError(
            f"there is no {path}: give a folder that `consilience cluster` has written, or its {MODEL}"
        )
    check_complete(path.parent)
    saved = load(path)
    if not isinstance(saved, dict) or saved.get("what") != "consilience model":
        raise ValueError(f"{path} was not written by `consilience cluster`: it contains a {type(saved).__name__}")
    check_saved(saved, str(path))
    return saved


def read_summary(path: Path) -> dict[str, Any]:
    """Read the summary.json of a run."""
    if not path.is_file():
        raise FileNotFoundError(f"there is no {path}: give a folder that `consilience cluster --out` has written")
    facts = read_document(path, json.loads)
    try:
        is_valid = type(facts["inputs"]["view"]) is type(facts.get("notes", [])) is list
    except (TypeError, KeyError):
        is_valid = False
    if not is_valid:
        raise ValueError(f"{path} is not a summary of `consilience cluster`")
    return facts


def read_labels(folder: Path) -> tuple[list[str], np.ndarray, list[str]]:
    """Read the ids and clusters of a run's entities, and the names of its clusters, from its folder."""
    path = folder / LABELS
    if not path.is_file():
        raise FileNotFoundError(f"there is no {path}: give a folder that `consilience cluster` has written")
    check_complete(folder)
    try:
        with path.open(newline="", encoding="utf-8") as file:
            table = csv.DictReader(file)
            rows = list(table) if {"id", "cluster"} <= set(table.fieldnames or ()) else None
        labels = np.array([int(row["cluster"]) for row in rows or ()], dtype=np.int64)
        check_numbers(labels)
    except (csv.Error, OverflowError, TypeError, ValueError) as error:
        raise ValueError(f"{path} is damaged: {error}") from error
    if not rows:
        raise ValueError(f"{path} has no rows with the columns id and cluster: it is not written by consilience")
    names = {int(label): remove_guard(row.get("name") or "") for label, row in zip(labels, rows, strict=True)}
    return (
        [remove_guard(row["id"] or "") for row in rows],
        labels,
        [names.get(number, "") for number in range(int(labels.max()) + 1)],
    )


def compare_folders(first: Path, second: Path) -> Changes:
    """Compare the clusters of two runs by their folders, which earlier versions may have written."""
    (ids1, labels1, names1), (ids2, labels2, names2) = read_labels(first), read_labels(second)
    are_numbers = all(ids == [str(row) for row in range(len(ids))] for ids in (ids1, ids2))
    try:
        return compare_labels(
            ids1, labels1, ids2, labels2, names1=names1, names2=names2, compared_by="rows" if are_numbers else "ids"
        )
    except ValueError as error:
        raise ValueError(f"{first} and {second} cannot be compared: {error}") from error


def list_setting_changes(first: Mapping[str, Any], second: Mapping[str, Any]) -> list[str]:
    """Return a line per setting in which two runs differ, by their recorded inputs."""
    lines = []
    for name, flag in FLAGS.items():
        values = [inputs.get("settings" if name == "set" else name) for inputs in (first, second)]
        before, after = (", ".join(map(str, value)) if type(value) is list else value for value in values)
        if (before or None) != (after or None):
            lines.append(f"{flag}: {before or 'not set'} -> {after or 'not set'}")
    return lines


def restore_run(
    folder: Path,
    facts: dict[str, Any],
    saved: dict[str, Any],
    options: RunOptions,
    log: RunLog,
    memory: MemoryInputs | None = None,
) -> PipelineRun:
    """Return a run from its summary and model file, and its data from the folder, or from memory or files again.

    Data that is read again must not have changed. Options that are not set are those of the run; further columns may
    be described.
    """
    is_stored = memory is None and (folder / DATA).exists() and not any(getattr(options, name) for name in FROM_FILES)
    inputs = {name: value for name, value in facts["inputs"].items() if name in INPUTS and name != "names"}
    recorded = parse_texts({name: value for name, value in inputs.items() if value is not None})
    unset = {name: value for name, value in recorded.items() if getattr(options, name) in (None, (), [], {})}
    check_described(options.describe, options.view or recorded["view"], saved["columns"])
    unset["describe"] = list(dict.fromkeys([*recorded.get("describe", []), *options.describe]))
    options = replace(options, **unset, method=saved["method"], seed=saved["seed"], command_line=facts.get("command"))
    update = RunUpdate.from_saved(saved.get("update"))
    if is_stored:
        data, layout = read_data(folder / DATA, saved, options)
    else:
        if memory is None and not options.view:
            refuse_without_data(folder)
        data, layout = _read_again(saved, options, log, memory), None
    data = replace(data, reason=facts.get("method_chosen", ""))
    features = saved["features"]
    fitted = FittedRun(saved["estimator"], features, reduce_views(data.views, features), saved["selection"])
    assessment = saved["assessment"]
    if isinstance(assessment, Assessment) and not is_complete(assessment):
        log.note("The assessment of the run is damaged, and left out: run `consilience cluster` again.")
        assessment = None
    # in JSON, NaN is null
    rows = [
        {name: np.nan if cell is None else cell for name, cell in row.items()} for row in facts.get("comparison") or ()
    ]
    comparison = Table.from_rows(rows) if rows else None
    notes = list(dict.fromkeys([*map(str, facts.get("notes", [])), *log.notes]))
    names = saved.get("names", ())
    return PipelineRun(
        options, data, fitted, assessment, comparison, notes, facts, names, update=update, saved_layout=layout
    )


def refuse_without_data(folder: Path) -> NoReturn:
    """Refuse a run from memory without its data, or with something that has to be joined to the data."""
    if (folder / DATA).exists():
        raise ValueError(
            f"{folder} was made from data in memory, to which labels, seeds, constraints and descriptions have to be "
            "joined: give the data, too, cs.load_run(folder, data, ...)"
        )
    raise ValueError(
        f"{folder} was made from data in memory, which it does not contain: give the data again, "
        "cs.load_run(folder, data)"
    )


def _read_again(saved: dict[str, Any], options: RunOptions, log: RunLog, memory: MemoryInputs | None) -> LoadedData:
    """Return the data of a run from memory or from its files, which must not have changed."""
    # an update was read as the views of an earlier run
    template = None if saved.get("update") is None else saved
    try:
        data = load_data(options, log, memory, chooses_encodings=False, template=template)
    except FileNotFoundError as error:
        raise FileNotFoundError(
            f"{error}. Run the command from the folder of the first run, or give --view again"
        ) from error
    if compute_digest(data.reading) != saved["data"]:
        raise ValueError("the files have changed since the model was fitted: run `consilience cluster` again")
    return data


def check_described(
    describe: Sequence[str], view_texts: Sequence[str], columns: Mapping[str, Sequence[str] | None]
) -> None:
    """Refuse descriptions that were used to find the clusters; `columns` are those of each view of the model."""
    files = [parse_view(text).path for text in view_texts]
    for spec in parse_descriptions(describe):
        if spec.path is not None and not any(is_same_file(spec.path, path) for path in files):
            continue
        for view, names in columns.items():
            clustered = [name for group in spec.list_columns(names or ()) for name in group if name in (names or ())]
            if clustered:
                raise ValueError(
                    f"the column {clustered[0]!r} was used to find the clusters (view {view!r}), so it cannot describe "
                    f"them only: run `consilience cluster` again with --describe {clustered[0]!r}"
                )


def is_complete(assessment: Assessment) -> bool:
    """Whether everything that a report shows of an assessment can be computed; a model file may contain anything."""
    try:
        str(assessment), assessment.to_dict(), assessment.clusters["stability"].tolist()
        return len(assessment.certainty) == len(assessment.stability)
    except (AttributeError, IndexError, KeyError, TypeError, ValueError):
        return False
