"""Whose views contradict each other."""

from __future__ import annotations

import numpy as np

from ..charts import build_row, build_table, draw_cluster
from ..facts import ReportFacts
from ..markup import Html, format_count, format_decimal, format_integer, join_html, mark_user_text, tag
from .section import Section

MOST_ROWS = 200
MOST_UNSURE = 30


def build_contested(facts: ReportFacts) -> Section:
    """The contested, the least sure first; where there are none, the least sure of all."""
    rows = np.flatnonzero(facts.contested)
    if len(rows):
        words = (
            f"{format_count(len(rows), 'entity has', 'entities have')} views that put "
            f"{'it' if len(rows) == 1 else 'them'} into different clusters. The least sure come first: an error in the "
            "data, or an entity that belongs to both. What contradicts the model's word is underlined."
        )
        most = MOST_ROWS
    else:
        words = "No entity has views that contradict each other. These are the ones that the model is least sure of."
        rows, most = np.flatnonzero(facts.labels >= 0), MOST_UNSURE
    shown = rows[np.lexsort((rows, facts.confidence[rows]))][:most]
    left = len(rows) - len(shown)
    head = (
        "Entity",
        "Cluster",
        *(mark_user_text(name, 24) for name in facts.view_labels),
        "Confidence",
        *(["Text"] * facts.has_texts),
    )
    name = "Contested entities" if facts.contested.any() else "Entities of the lowest confidence"
    body = join_html(
        (
            tag("p", words),
            build_table(name, head, [_build_entity_row(facts, row) for row in shown.tolist()], class_="entities long"),
            tag("p", f"{format_integer(left)} more, with higher confidence, are in the table of all entities.",
                class_="note") if left else None,
        )
    )  # fmt: skip
    return Section("contested", "Contested", "Contested entities", body)


def _build_entity_row(facts: ReportFacts, row: int) -> list[Html]:
    own = int(facts.labels[row])
    said = (_draw_view_cluster(int(label[row]), own) for label in facts.view_labels.values())
    text = [facts.snippet(row) or "–"] if facts.has_texts else []
    return build_row(facts.entity(row), draw_cluster(own), *said, format_decimal(facts.confidence[row]), *text)


def _draw_view_cluster(label: int, own: int) -> Html:
    """Return the cluster that a view gives, underlined if the model gives another, or a dash if the view is missing."""
    if label < 0:
        return tag("span", "–", tag("span", "missing", class_="unseen"), class_="none")
    return draw_cluster(label) if label == own else tag("u", draw_cluster(label))
