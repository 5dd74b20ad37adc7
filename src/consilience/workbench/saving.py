"""Export the decisions as constraints, and save the groups as a run."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ..data import Constraints
from ..files import stage_folder
from ..files.write import check_output_folder
from ..methods.agreement.estimator import build_refined_model
from ..methods.common.renumbered import RenumberedModel
from ..pipeline.changes import RunUpdate
from ..pipeline.constraints import FileConstraints
from ..pipeline.fitting import FittedRun
from ..pipeline.folder import CONFIG, FILES, write_run
from ..pipeline.log import RunLog, count_noun
from ..pipeline.run import PipelineRun
from ..pipeline.summary import summarize_run
from ..registry import DEFAULT_METHOD
from .clustering import Clustering
from .knowledge import DecisionSet
from .opening import OpenedRun

CONSTRAINTS = "constraints.csv"
FORBIDDEN = '/\\:*?"<>|'  # characters that lead to other folders, or that not every system allows in names
MAX_BYTES = 200  # of the name of a folder


def write_constraints(opened: OpenedRun, constraints: Constraints) -> str:
    """Return constraints as the table that ``consilience cluster --constraints`` takes."""
    content = io.StringIO()
    rows = csv.writer(content, lineterminator="\n")
    rows.writerow(["first", "second", "type"])
    has_ids = opened.data.prepared.ids is not None
    positions = np.flatnonzero(opened.data.prepared.kept)  # without ids, rows are counted in the data
    names = opened.ids if has_ids else [str(row) for row in positions]  # not quoted: they are read by these names
    for pairs, kind in ((constraints.must_link, "must-link"), (constraints.cannot_link, "cannot-link")):
        rows.writerows([names[first], names[second], kind] for first, second in pairs.tolist())
    return content.getvalue()


def choose_folder(parent: Path, name: str) -> Path:
    """Return the folder for a new run beside the present one; refuse names that lead elsewhere or exist."""
    name = name.strip()
    is_plain = name.isprintable() and not any(character in name for character in FORBIDDEN)
    if not name or not is_plain or name.startswith((".", "-")) or name.endswith("."):
        raise ValueError(
            f"the name of a folder has no {' '.join(FORBIDDEN)}, begins with neither a dot nor a hyphen, and does not "
            f"end with a dot, got {name[:40]!r}"
        )
    if len(os.fsencode(name)) > MAX_BYTES:
        raise ValueError(f"the name of the folder is too long, got {name[:40] + '…'!r}")
    folder = parent / name
    if folder.exists():
        raise ValueError(f"{folder} exists: choose another name")
    check_output_folder(folder, FILES, False)
    return folder


def save_as_run(
    opened: OpenedRun,
    clustering: Clustering,
    decisions: DecisionSet,
    names: Mapping[int, str],
    folder: Path,
    origin: str,
) -> list[str]:
    """Write the groups as a run, with a model that predicts them; return notes.

    Groups are numbered from 0 in the order of their numbers here. Those of a run that continues an earlier one keep
    their numbers, and its new groups get numbers that no earlier group had.
    """
    data, log = opened.data, RunLog()
    warm, update = opened.reclustering.warm, opened.run.update
    model: Any = build_refined_model(data.views, warm, clustering.state, clustering.n_groups, decisions.knowledge)
    numbers = np.arange(clustering.n_groups)
    if update is not None:
        numbers, update = continue_numbers(clustering.numbers, opened.reclustering.first_number, update)
        model = RenumberedModel(model, numbers)
    n_decisions = count_noun(len(decisions.entries), "decision")
    log.note(f"The groups are those of {origin}, changed by {n_decisions} of a person. They have not been assessed.")
    fitted = FittedRun(model, {}, data.views, None)
    options = replace(
        opened.run.options,
        method=DEFAULT_METHOD,
        settings={},
        k=clustering.n_groups,
        outliers=None,
        assess=False,
        names=None,
        namer=None,
        seeds=None,
        constraints=str(folder / CONSTRAINTS) if decisions.constraints.size else None,
        command_line=f"consilience open {origin}",
    )
    new_numbers = dict(zip(clustering.numbers.tolist(), numbers.tolist(), strict=True))
    user_names = {**opened.run.all_given_names, **decisions.names}
    given_names = {new: names[old] for old, new in new_numbers.items() if user_names.get(old) == names[old]}
    names_by_number = {new: names[old] for old, new in new_numbers.items()}
    saved_names = [names_by_number.get(number, f"cluster {number}") for number in range(int(numbers.max()) + 1)]
    reason = "after decisions of a person"
    reading = replace(data.reading, seed_classes=[])  # seeds have become constraints
    constraints = decisions.constraints
    written = FileConstraints(folder / CONSTRAINTS, constraints, {}, constraints.size) if constraints.size else None
    data = replace(data, reading=reading, method=DEFAULT_METHOD, reason=reason, file_constraints=written, seeds=None)
    run = PipelineRun(
        options, data, fitted, None, None, log.notes, {}, saved_names, given_names=given_names, update=update
    )
    facts = summarize_run(run, log)
    run = replace(run, facts={**facts, "decisions": {"origin": origin, "active": len(decisions.entries)}})
    with stage_folder(folder, (*FILES, CONSTRAINTS)) as staged:
        write_run(run, staged, log)
        note_decisions(staged / CONFIG, decisions)
        if constraints.size:
            content = write_constraints(opened, constraints)
            (staged / CONSTRAINTS).write_text(content, encoding="utf-8", newline="")
    return log.notes


def continue_numbers(group_numbers: np.ndarray, first_new: int, update: RunUpdate) -> tuple[np.ndarray, RunUpdate]:
    """Return the numbers of groups in a saved run that continues an earlier one, and what it continues.

    Groups from `first_new` on were made by decisions; they get the numbers that no earlier group had.
    """
    is_new = group_numbers >= first_new
    next_number = max(update.next_cluster, first_new)
    numbers = np.where(is_new, next_number + np.cumsum(is_new) - 1, group_numbers)
    kept = [number for number in update.kept if number in numbers]
    return numbers, replace(update, kept=kept, next_cluster=next_number + int(is_new.sum()))


def note_decisions(config: Path, decisions: DecisionSet) -> None:
    """Say in the settings of a saved run that they repeat the constraints, but no other decision."""
    if not decisions.entries:
        return
    note = "# The groups follow from decisions of a person, of which these settings repeat only the constraints.\n"
    config.write_text(note + config.read_text(encoding="utf-8"), encoding="utf-8")
