"""``consilience report``: write the report of a run again, from its folder and its input files."""

from __future__ import annotations

import argparse
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ..assessment import Assessment
from ..data import Table
from ..explain import confidence
from ..files import check_complete, check_output_file
from .cluster import FILES, build_report
from .fitting import FittedRun, reduce_views
from .loading import check_inputs_stay, compute_digest, load_data
from .predict import open_model
from .summary import INPUTS
from .terminal import Terminal


def run_report(options: argparse.Namespace, terminal: Terminal) -> None:
    """Read the files again, check that they are unchanged, and write the report without fitting the model again."""
    folder = Path(options.folder)
    out = folder / FILES[3] if options.out is None else Path(options.out)
    if options.out is not None or folder.is_dir():
        check_output_file(out, options.force)
    check_complete(folder)
    facts = read_summary(folder / FILES[1])
    saved = open_model(folder)
    for name in INPUTS:
        if getattr(options, name, None) in (None, []):
            setattr(options, name, facts["inputs"].get(name, [] if name in ("settings", "encode") else None))
    check_inputs_stay([out], options, folder / FILES[1], folder / FILES[2])
    options.method = saved["method"]
    options.command_line = facts.get("command")
    try:
        data = replace(load_data(options, terminal), reason=facts.get("method_chosen", ""))
    except FileNotFoundError as error:
        raise FileNotFoundError(
            f"{error}. Run the command from the folder of the first run, or give --view again"
        ) from error
    estimator, features = saved["estimator"], saved["features"]
    if compute_digest(data.reading) != saved["data"]:
        raise ValueError("the files have changed since the model was fitted: run `consilience cluster` again")
    fitted = FittedRun(estimator, features, reduce_views(data.views, features), saved["selection"])
    assessment = saved["assessment"]
    if isinstance(assessment, Assessment) and not is_complete(assessment):
        terminal.note("The assessment of the run is damaged, and left out: run `consilience cluster` again.")
        assessment = None
    comparison = facts.get("comparison")
    with terminal.step("writing the report", "wrote the report"):
        entity_confidence = confidence(estimator, fitted.views)
        # in JSON, NaN is null
        rows = [{name: np.nan if cell is None else cell for name, cell in row.items()} for row in comparison or ()]
        table = Table.from_rows(rows) if rows else None
        report = build_report(data, fitted, entity_confidence, table, assessment, options, terminal)
        report.save(out, overwrite=options.force)
    terminal.outcome = f"the results are in {out}"
    terminal.print_result(f"Written to {out}")


def is_complete(assessment: Assessment) -> bool:
    """Whether everything that a report shows of an assessment can be computed; a model file may contain anything."""
    try:
        str(assessment), assessment.to_dict(), assessment.clusters["stability"].tolist()
        return len(assessment.certainty) == len(assessment.stability)
    except (AttributeError, IndexError, KeyError, TypeError, ValueError):
        return False


def read_summary(path: Path) -> dict[str, Any]:
    """Read the summary.json of a run."""
    if not path.is_file():
        raise FileNotFoundError(f"there is no {path}: give a folder that `consilience cluster --out` has written")
    try:
        facts = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{path} is damaged: {error}") from error
    try:
        is_valid = isinstance(facts["inputs"]["view"], list)
    except (TypeError, KeyError):
        is_valid = False
    if not is_valid:
        raise ValueError(f"{path} is not a summary of `consilience cluster`")
    return facts
