"""``consilience report``: draw the report of a run again, from its folder and the files it was run on."""

from __future__ import annotations

import argparse
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ..data import Table
from ..explain import confidence
from ..files import check_complete, check_output_file
from ..selection import Selection
from .cluster import FILES, build_report
from .job import FittedRun, check_inputs_stay, compute_digest, load_data, reduce_views
from .predict import open_model
from .reliance import unpack_assessment
from .say import Terminal
from .summary import INPUTS


def run_report(options: argparse.Namespace, say: Terminal) -> None:
    """The model is not fitted again: the files are read anew, and must hold the same entities."""
    folder = Path(options.folder)
    out = folder / FILES[3] if options.out is None else Path(options.out)
    if options.out is not None or folder.is_dir():
        check_output_file(out, options.force)
    check_complete(folder)
    facts = read_summary(folder / FILES[1])
    held = open_model(folder)
    for name in INPUTS:
        if getattr(options, name, None) in (None, []):
            setattr(options, name, facts["inputs"].get(name))
    check_inputs_stay([out], options, folder / FILES[1], folder / FILES[2])
    options.method = held["method"]
    options.command_line = facts.get("command")
    try:
        data = replace(load_data(options, say), why=facts.get("method_chosen", ""))
    except FileNotFoundError as error:
        raise FileNotFoundError(f"{error}. Run it from where the files were named from, or give --view anew") from error
    estimator = held["estimator"]
    if compute_digest(data.reading.contents) != held["data"]:
        raise ValueError("the files are not as they were when the model was fitted: run `consilience cluster` again")
    selection = check_selection(held.get("selection"), say)
    fitted = FittedRun(estimator, held["features"], reduce_views(data.views, held["features"]), selection)
    comparison = facts.get("comparison")
    with say.step("drawing the report", "drew the report"):
        sure = confidence(estimator, fitted.views)
        table = _table(comparison) if comparison else None
        assessment = unpack_assessment(held.get("assessment"), len(estimator.labels_), say)
        build_report(data, fitted, sure, table, assessment, options, say).save(out, overwrite=options.force)
    say.left = f"the results are in {out}"
    say.result(f"Written to {out}")


def check_selection(selection: Any, say: Terminal) -> Selection | None:
    """Return how the number of clusters was chosen, if the model file holds it; else a note says so."""
    if selection is None or isinstance(selection, Selection):
        return selection
    say.note(
        "The choice of the number of clusters is of another version, and left out: run `consilience cluster` again."
    )
    return None


def read_summary(path: Path) -> dict[str, Any]:
    """The facts of a run."""
    if not path.is_file():
        raise FileNotFoundError(f"there is no {path}: name a folder that `consilience cluster --out` has written")
    try:
        facts = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{path} is damaged: {error}") from error
    inputs = facts.get("inputs") if isinstance(facts, dict) else None
    if not isinstance(inputs, dict) or not isinstance(inputs.get("view"), list):
        raise ValueError(f"{path} is no summary of `consilience cluster`")
    return facts


def _table(rows: list[dict[str, Any]]) -> Table:
    """A table as it was before it became JSON."""
    return Table.from_rows([{name: np.nan if own is None else own for name, own in row.items()} for row in rows])
