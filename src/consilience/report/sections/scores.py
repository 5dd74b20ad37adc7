"""What the columns of a table of scores are called, and which way is better."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..markup import Html, clean_text, format_decimal, format_number, join_html, mark_user_text, tag, truncate

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
    "clusters": "Clusters",
    "entities": "Entities",
    "same_as_all": "Like all views together (ARI)",
    "cost": "Cost",
}
LOWER = {"entropy", "seconds", "peak_mib", "cost", "disagreement", "impurity"}
NEITHER = {"agreement", "verdict", "clusters", "n_clusters", "k", "entities", "same_as_all"}


def column_head(name: str) -> Html:
    """A column's name, and which way is better where one is."""
    shown = tag("span", NAMES[name]) if name in NAMES else mark_user_text(name, 30)
    if name in NEITHER or name not in NAMES:
        return shown
    arrow, words = (" ↓", " (lower is better)") if name in LOWER else (" ↑", " (higher is better)")
    return join_html((shown, tag("span", arrow, aria_hidden="true"), tag("span", words, class_="unseen")))


def column_cells(name: str, values: Sequence[Any]) -> list[Html]:
    """A column's cells, with the best marked where one way is known to be better and not all are equal."""
    if not all(_is_numeric(value) for value in values):
        return [tag("td", "–" if _is_nothing(own) else mark_user_text(own)) for own in values]
    numbers = np.array([np.nan if value is None else float(value) for value in values])
    best, finite = _find_best(name, numbers), numbers[np.isfinite(numbers)]
    whole = (name in NEITHER or name not in NAMES) and bool((finite == np.round(finite)).all())
    return [
        tag("td", tag("strong", _format_score(name, own, whole)), tag("span", "best", class_="best"), class_="number")
        if own == best
        else tag("td", _format_score(name, own, whole), class_="number")
        for own in numbers.tolist()
    ]


def _find_best(name: str, numbers: np.ndarray) -> float | None:
    finite = numbers[np.isfinite(numbers)]
    if name in NEITHER or name not in NAMES or len(finite) < 2 or finite.min() == finite.max():
        return None
    return float(finite.min() if name in LOWER else finite.max())


def _format_score(name: str, value: float, whole: bool) -> str:
    if value != value:
        return "–"
    if whole:
        return f"{value:,.0f}"
    return format_decimal(value, 3) if abs(value) < 10 and name not in ("seconds", "peak_mib") else format_number(value)


def _is_numeric(value: Any) -> bool:
    return value is None or (isinstance(value, int | float | np.number) and not isinstance(value, bool))


def _is_nothing(value: Any) -> bool:
    return value is None or value != value or not truncate(clean_text(value), 1)
