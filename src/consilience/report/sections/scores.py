"""Columns of a table of scores: their names, and whether higher or lower is better."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..markup import Html, clean_text, format_decimal, format_number, join_html, mark_user_text, tag

NAMES = {
    "entropy": "Entropy",
    "f": "F, pairs",
    "precision": "Precision, pairs",
    "recall": "Recall, pairs",
    "nmi": "NMI",
    "ari": "ARI",
    "accuracy": "Accuracy",
    "purity": "Purity",
    "agreement": "Agreement",
    "stability": "Stability",
    "verdict": "Verdict",
    "disagreement": "Disagreement of halves",
    "impurity": "Estimated impurity",
    "silhouette": "Silhouette",
    "seconds": "Seconds",
    "peak_mib": "Memory, MiB",
    "clusters": "Groups",
    "entities": "Items",
    "same_as_all": "Similarity to all views together (ARI)",
    "cost": "Cost",
}
LOWER_IS_BETTER = {"entropy", "seconds", "peak_mib", "cost", "disagreement", "impurity"}
UNORDERED = {"agreement", "verdict", "clusters", "n_clusters", "k", "entities", "same_as_all"}


def _is_ordered(name: str) -> bool:
    return name in NAMES and name not in UNORDERED


def build_column_head(name: str) -> Html:
    """Return a column's name, with an arrow if higher or lower is better."""
    shown = tag("span", NAMES[name]) if name in NAMES else mark_user_text(name, 30)
    if not _is_ordered(name):
        return shown
    arrow, words = (" ↓", " (lower is better)") if name in LOWER_IS_BETTER else (" ↑", " (higher is better)")
    return join_html((shown, tag("span", arrow, aria_hidden="true"), tag("span", words, class_="unseen")))


def build_column(name: str, values: Sequence[Any]) -> list[Html]:
    """Return a column's cells, with the best marked if one direction is better and not all are equal."""
    if not {type(value) for value in values if not isinstance(value, np.number)} <= {int, float, type(None)}:
        is_empty = [value is None or value != value or not clean_text(value) for value in values]
        return [
            tag("td", "–" if no_text else mark_user_text(value))
            for value, no_text in zip(values, is_empty, strict=True)
        ]
    numbers = np.array([np.nan if value is None else float(value) for value in values])
    finite = numbers[np.isfinite(numbers)]
    best = None
    if _is_ordered(name) and len(finite) > 1 and finite.min() < finite.max():
        best = float(finite.min() if name in LOWER_IS_BETTER else finite.max())
    is_integer = not _is_ordered(name) and bool((finite == np.round(finite)).all())
    cells = []
    for number in numbers.tolist():
        text: str = _format_score(name, number, is_integer)
        marked = (tag("strong", text), tag("span", "best", class_="best")) if number == best else text
        cells.append(tag("td", marked, class_="number"))
    return cells


def _format_score(name: str, value: float, is_integer: bool) -> str:
    if value != value:
        return "–"
    if is_integer:
        return f"{value:,.0f}"
    is_short = abs(value) < 10 and name not in ("seconds", "peak_mib")
    return format_decimal(value, 3) if is_short else format_number(value)
