"""The files that a run leaves: labels, summary."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any

import numpy as np

from ..data import Table
from .say import Say, counted

# Spreadsheets take these for the start of a formula; some of them also the full-width forms.
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")


def write_labels(
    file: IO[str],
    ids: Any,
    labels: np.ndarray,
    confidence: np.ndarray | None = None,
    contested: np.ndarray | None = None,
    alternative: np.ndarray | None = None,
    view_labels: Mapping[str, np.ndarray] | None = None,
) -> int:
    """One row an entity; returns how many ids had to be kept from being taken for formulas."""
    guarded = [guard(str(one)) for one in ids]
    columns: dict[str, Any] = {"id": guarded, "cluster": labels.tolist()}
    if confidence is not None:
        columns["confidence"] = [f"{one:.4f}" for one in confidence]
    if contested is not None:
        columns["contested"] = ["yes" if one else "no" for one in contested]
    if alternative is not None:
        columns["alternative"] = alternative.tolist()
    for name, own in (view_labels or {}).items():
        columns[guard(f"cluster by {name}")] = ["" if one < 0 else one for one in own.tolist()]
    rows = csv.writer(file)
    rows.writerow(columns)
    rows.writerows(zip(*columns.values(), strict=True))
    return sum(own != str(one) for own, one in zip(guarded, ids, strict=True))


def guard(text: str) -> str:
    """A text that no spreadsheet runs as a formula; numbers are none."""
    if not text.startswith(FORMULA):
        return text
    try:
        float(text)
    except ValueError:
        return f"'{text}"
    return text


def say_guarded(n: int, say: Say) -> None:
    """Tell of ids that were changed in the table of labels."""
    if n:
        what = f"{counted(n, 'id')} start{'s' if n == 1 else ''} like a formula"
        say.note(f"{what}: labels.csv has them with a ' before, so that no spreadsheet runs them.")


def write_json(path: Path, facts: Mapping[str, Any]) -> None:
    """Facts as JSON that any reader takes: NaN is null."""
    path.write_text(json.dumps(plain(facts), indent=1, ensure_ascii=False, allow_nan=False) + "\n", encoding="utf-8")


def plain(value: Any) -> Any:
    """The same in JSON's own types."""
    if isinstance(value, Table):
        return [plain(row) for row in value.rows()]
    if isinstance(value, Mapping):
        return {str(name): plain(own) for name, own in value.items()}
    if isinstance(value, np.ndarray | list | tuple):
        return [plain(own) for own in value]
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, float):
        return value if np.isfinite(value) else None
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8")
    return value if value is None or isinstance(value, int | bool) else str(value)


def now() -> str:
    """Date and time, of everywhere."""
    return datetime.now(UTC).isoformat(timespec="seconds")
