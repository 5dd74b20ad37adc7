"""Write labels and the summary of a run."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np

from ..assessment.reference import choose_words
from ..data import Table, Views
from ..methods.common.margins import find_runner_up
from .log import RunLog, count_noun

DIGITS = 4  # of probabilities
# Spreadsheets take these for the start of a formula; some of them also the full-width forms.
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")


def write_label_table(
    file: IO[str], ids: Any, columns: Mapping[str, Sequence[Any]], view_ids: Mapping[str, Any] | None = None
) -> int:
    """Write one row per entity, with its ids in the views if they differ.

    Returns how many rows have ids that were changed because they look like formulas.
    """
    names = {"id": ids, **name_view_ids(view_ids)}
    texts = {name: [str(entity) for entity in column] for name, column in names.items()}
    guarded = {name: [guard(text) for text in column] for name, column in texts.items()}
    cells = {name: [guard(cell) if type(cell) is str else cell for cell in values] for name, values in columns.items()}
    table = {**guarded, **{guard(name): values for name, values in cells.items()}}
    rows = csv.writer(file)
    rows.writerow(table)
    rows.writerows(zip(*table.values(), strict=True))
    is_changed = [np.array(texts[name], object) != np.array(guarded[name], object) for name in texts]
    return int(np.any(is_changed, axis=0).sum())


def name_view_ids(view_ids: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the columns of the ids in the views, if they differ."""
    return {f"id in {view}": entity_ids for view, entity_ids in (view_ids or {}).items()}


def has_probabilities(estimator: Any, is_assessed: bool) -> bool:
    """Return whether the model has probabilities; those that can be calibrated need an assessment."""
    return hasattr(estimator, "predict_proba") and (is_assessed or not hasattr(estimator, "calibrate"))


def tabulate_confidence(confidence: np.ndarray) -> dict[str, list[Any]]:
    """Return the columns of confidence, a number and the word that follows from it; none if it is unknown."""
    if not np.isfinite(confidence).any():
        return {}
    return {
        "confidence": round_numbers(confidence, 2),
        "confidence in words": [word or None for word in choose_words(confidence).tolist()],
    }


def tabulate_second_choices(
    estimator: Any, views: Views, labels: np.ndarray, names: Sequence[str] = ()
) -> dict[str, list[Any]]:
    """Return columns of each entity's next most probable cluster.

    There are none if the model has a single cluster. Cells of entities that fit no cluster are empty, and so are those
    whose probability rounds to 0. Without `names` of the clusters, that of the next one is left out.
    """
    probabilities = np.array(estimator.predict_proba(views), dtype=np.float64)
    if probabilities.shape[1] < 2:
        return {}
    rows = np.flatnonzero(labels >= 0)
    second = np.full(len(labels), -1)
    _, runner_up, next_probability = find_runner_up(probabilities[rows], labels[rows])
    is_shown = np.round(next_probability, DIGITS) > 0
    second[rows[is_shown]] = runner_up[is_shown]
    columns: dict[str, list[Any]] = {"second": mark_unclustered(second)}
    if names:
        columns["second name"] = name_labels(second, names)
    return columns


def name_labels(labels: np.ndarray, names: Sequence[str]) -> list[str | None]:
    """Return the name of each entity's cluster, None for -1."""
    return np.array([*names, None], dtype=object)[labels].tolist()  # None is at index -1


def round_numbers(values: np.ndarray, digits: int) -> list[float | None]:
    """Return rounded numbers as cells; NaN becomes an empty cell."""
    return [None if value != value else round(value, digits) for value in np.asarray(values, np.float64).tolist()]


def spread_columns(columns: Mapping[str, Sequence[Any]], kept: np.ndarray) -> dict[str, list[Any]]:
    """Return columns with a cell for each entity that was read; those without data have cluster -1 and empty cells."""
    spread = {}
    for name, cells in columns.items():
        column = np.full(len(kept), -1 if name == "cluster" else None, dtype=object)
        column[kept] = cells
        spread[name] = column.tolist()
    return spread


def mark_unclustered(labels: np.ndarray) -> list[int | None]:
    """Return clusters as cells; -1 becomes an empty cell."""
    return [None if label < 0 else label for label in np.asarray(labels).tolist()]


def guard(text: str) -> str:
    """Quote a text that a spreadsheet would run as a formula; numbers stay as they are."""
    if not text.startswith(FORMULA_STARTS):
        return text
    try:
        float(text)
    except ValueError:
        return f"'{text}"
    return text


def remove_guard(text: str) -> str:
    """Return a text without the quotation mark that `guard` has put in front of it."""
    return text[1:] if text.startswith("'") and guard(text[1:]) == text else text


def note_guarded(n: int, log: RunLog, place: str = "the output", noun: str = "id") -> None:
    """Note how many ids or other cells were quoted in a table."""
    if n:
        pronoun = "it" if n == 1 else "them"
        subject = count_noun(n, f"{noun} starts like a formula", f"{noun}s start like a formula")
        log.note(f"{subject}: {place} has {pronoun} with a ' in front, so that no spreadsheet runs {pronoun}.")


def write_json(path: Path, facts: Mapping[str, Any]) -> None:
    """Write facts as strict JSON, in which NaN is null."""
    path.write_text(write_json_text(facts) + "\n", encoding="utf-8")


def write_json_text(facts: Any, only_ascii: bool = False) -> str:
    """Write facts as strict JSON, in which NaN is null."""
    return json.dumps(to_json_value(facts), indent=1, ensure_ascii=only_ascii, allow_nan=False)


def to_json_value(value: Any) -> Any:
    """Convert a value to JSON's types."""
    match value:
        case Table():
            return [to_json_value(row) for row in value.rows()]
        case Mapping():
            return {str(name): to_json_value(item) for name, item in value.items()}
        case np.ndarray() | list() | tuple():
            return [to_json_value(item) for item in value]
        case np.generic():
            return to_json_value(value.item())
        case float():
            return value if np.isfinite(value) else None
        case str():
            return value.encode("utf-8", "replace").decode("utf-8")
        case None | int():
            return value
    return str(value)
