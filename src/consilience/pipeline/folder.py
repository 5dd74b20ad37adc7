"""The folder of a run: its files, written completely or not at all, and the run that they restore."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ..assessment import Assessment
from ..data import Table
from ..files import check_complete, parse_view, stage_folder
from ..files.descriptions import parse_descriptions
from ..files.spec import is_same_file
from ..persist import load, save
from .config import write_config
from .fitting import FittedRun, reduce_views
from .loading import compute_digest, load_data
from .log import RunLog
from .memory import MemoryInputs
from .options import RunOptions
from .outputs import note_guarded, write_json, write_label_table
from .run import PipelineRun
from .summary import INPUTS
from .write_back import CellFiles, write_back

LABELS, SUMMARY, MODEL, REPORT, CONFIG = FILES = ("labels.csv", "summary.json", "model.zip", "report.html", "run.toml")


def write_run(
    run: PipelineRun, out: Path, log: RunLog, *, overwrite: bool = False, cells: CellFiles | None = None
) -> None:
    """Write labels, summary, model, report and settings of a run to a folder, and clusters to a copy of its cells."""
    with stage_folder(out, FILES, overwrite) as folder:
        prepared = run.data.prepared
        with (folder / LABELS).open("w", newline="", encoding="utf-8", errors="replace") as file:
            n_guarded = write_label_table(file, prepared.names, run.entity_columns, prepared.view_ids)
            note_guarded(n_guarded, log, LABELS)
        write_json(folder / SUMMARY, {**run.facts, "notes": list(dict.fromkeys([*run.notes, *log.notes]))})
        levels = {"hierarchy": run.hierarchy, "level_names": run.level_names}
        save({**run.collect_saved(), **levels}, folder / MODEL)
        write_config(folder / CONFIG, run.facts["inputs"], run.facts["clusters"])
        run.build_report().save(folder / REPORT)
        if cells is not None:
            write_back(cells, run, log, overwrite)


def find_model_file(path: Path) -> Path:
    """Return the model file if its folder was given."""
    return path / MODEL if path.is_dir() else path


def open_model(path: Path) -> dict[str, Any]:
    """Load a model that `consilience cluster` has written, from its file or folder."""
    path = find_model_file(path)
    check_complete(path.parent)
    saved = load(path)
    if not isinstance(saved, dict) or saved.get("what") != "consilience model":
        raise ValueError(f"{path} was not written by `consilience cluster`: it contains a {type(saved).__name__}")
    return saved


def read_summary(path: Path) -> dict[str, Any]:
    """Read the summary.json of a run."""
    if not path.is_file():
        raise FileNotFoundError(f"there is no {path}: give a folder that `consilience cluster --out` has written")
    try:
        facts = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{path} is damaged: {error}") from error
    try:
        is_valid = type(facts["inputs"]["view"]) is type(facts.get("notes", [])) is list
    except (TypeError, KeyError):
        is_valid = False
    if not is_valid:
        raise ValueError(f"{path} is not a summary of `consilience cluster`")
    return facts


def restore_run(
    facts: dict[str, Any], saved: dict[str, Any], options: RunOptions, log: RunLog, memory: MemoryInputs | None = None
) -> PipelineRun:
    """Return a run from its summary and model file; the data is read again, and must not have changed.

    Options that are not set are those of the run; further columns may be described.
    """
    inputs = {name: value for name, value in facts["inputs"].items() if name in INPUTS and name != "names"}
    recorded = {name: value for name, value in inputs.items() if value is not None}
    unset = {name: value for name, value in recorded.items() if getattr(options, name) in (None, (), [])}
    check_described(options.describe, options.view or recorded["view"], saved["columns"])
    unset["describe"] = list(dict.fromkeys([*recorded.get("describe", []), *options.describe]))
    options = replace(options, **unset, method=saved["method"], seed=saved["seed"], command_line=facts.get("command"))
    try:
        data = replace(load_data(options, log, memory, chooses_encodings=False), reason=facts.get("method_chosen", ""))
    except FileNotFoundError as error:
        raise FileNotFoundError(
            f"{error}. Run the command from the folder of the first run, or give --view again"
        ) from error
    if compute_digest(data.reading) != saved["data"]:
        raise ValueError("the files have changed since the model was fitted: run `consilience cluster` again")
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
    notes = list(dict.fromkeys([*map(str, facts.get("notes", [])), *log.notes]))
    comparison = Table.from_rows(rows) if rows else None
    return PipelineRun(options, data, fitted, assessment, comparison, notes, facts, saved.get("names", ()))


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
