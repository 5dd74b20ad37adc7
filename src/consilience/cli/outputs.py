"""The files that a run leaves: labels, summary."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any

import numpy as np

from ..data import Table, Views
from ..methods.common.margins import find_runner_up
from .say import Terminal, count_noun

DIGITS = 4  # of probabilities
# Spreadsheets take these for the start of a formula; some of them also the full-width forms.
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")


def write_labels(file: IO[str], ids: Any, columns: Mapping[str, Sequence[Any]]) -> int:
    """Write one row per entity, and return how many ids had to be kept from being taken for formulas."""
    guarded = [guard(str(entity)) for entity in ids]
    table = {"id": guarded, **{guard(name): values for name, values in columns.items()}}
    rows = csv.writer(file)
    rows.writerow(table)
    rows.writerows(zip(*table.values(), strict=True))
    return sum(shown != str(entity) for shown, entity in zip(guarded, ids, strict=True))


def has_probabilities(estimator: Any, is_assessed: bool) -> bool:
    """Return whether the model knows probabilities; those that can be calibrated come with the assessment."""
    return hasattr(estimator, "predict_proba") and (is_assessed or not hasattr(estimator, "calibrate"))


def tabulate_probabilities(estimator: Any, views: Views, labels: np.ndarray) -> dict[str, list[Any]]:
    """Return columns of each entity's probability to be in its cluster, and of its next most probable cluster.

    There are none if the model has a single cluster. Entities that fit no cluster have empty cells. So has the next
    cluster if its probability is shown as 0.
    """
    shares = np.array(estimator.predict_proba(views), dtype=np.float64)
    if shares.shape[1] < 2:
        return {}
    rows = np.flatnonzero(labels >= 0)
    probability, second = np.full(len(labels), np.nan), np.full(len(labels), -1)
    probability[rows], runner_up, next_probability = find_runner_up(shares[rows], labels[rows])
    is_shown = np.round(next_probability, DIGITS) > 0
    second[rows[is_shown]] = runner_up[is_shown]
    return {"probability": show_numbers(probability, DIGITS), "second": show_clusters(second)}


def show_numbers(values: np.ndarray, digits: int) -> list[str]:
    """Write numbers to so many digits; NaN is an empty cell."""
    return ["" if value != value else f"{value:.{digits}f}" for value in np.asarray(values, np.float64).tolist()]


def show_clusters(labels: np.ndarray) -> list[Any]:
    """Return clusters as cells; where there is none the cell is empty."""
    return ["" if label < 0 else label for label in np.asarray(labels).tolist()]


def show_answers(answers: np.ndarray) -> list[str]:
    """Write yes and no."""
    return ["yes" if answer else "no" for answer in answers]


def guard(text: str) -> str:
    """A text that no spreadsheet runs as a formula; numbers are none."""
    if not text.startswith(FORMULA):
        return text
    try:
        float(text)
    except ValueError:
        return f"'{text}"
    return text


def note_guarded(n: int, say: Terminal, place: str = "the output") -> None:
    """Tell of ids that were changed in the table of labels."""
    if n:
        pronoun = "it" if n == 1 else "them"
        what = count_noun(n, "id starts like a formula", "ids start like a formula")
        say.note(f"{what}: {place} has {pronoun} with a ' before, so that no spreadsheet runs {pronoun}.")


def write_json(path: Path, facts: Mapping[str, Any]) -> None:
    """Facts as JSON that any reader takes: NaN is null."""
    path.write_text(
        json.dumps(to_json_value(facts), indent=1, ensure_ascii=False, allow_nan=False) + "\n", encoding="utf-8"
    )


def to_json_value(value: Any) -> Any:
    """The same in JSON's own types."""
    if isinstance(value, Table):
        return [to_json_value(row) for row in value.rows()]
    if isinstance(value, Mapping):
        return {str(name): to_json_value(own) for name, own in value.items()}
    if isinstance(value, np.ndarray | list | tuple):
        return [to_json_value(own) for own in value]
    if isinstance(value, np.generic):
        return to_json_value(value.item())
    if isinstance(value, float):
        return value if np.isfinite(value) else None
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8")
    return value if value is None or isinstance(value, int | bool) else str(value)


def format_now() -> str:
    """Date and time, of everywhere."""
    return datetime.now(UTC).isoformat(timespec="seconds")
