"""Section: entities whose views contradict each other."""

from __future__ import annotations

import numpy as np

from ..charts import build_row, build_table
from ..facts import ReportFacts
from ..markup import Html, format_count, format_integer, mark_user_text, tag
from .section import Section

MAX_ROWS = 200
MAX_UNSURE = 30


def build_contested(facts: ReportFacts) -> Section | None:
    """Return the contested entities, the lowest confidence first; without any, all entities of low confidence."""
    if not facts.shows_views:
        return None
    rows = np.flatnonzero(facts.contested)
    if len(rows):
        caption, max_rows = "Contested entities", MAX_ROWS
        pronoun = "it" if len(rows) == 1 else "them"
        words = (
            f"{format_count(len(rows), 'entity has', 'entities have')} views that put {pronoun} into different "
            "groups. The lowest confidence comes first: there may be an error in the data, or the entity belongs to "
            "both. Views that disagree with the final group are underlined."
        )
    else:
        caption, max_rows = "Entities of the lowest confidence", MAX_UNSURE
        words = "No entity has views that contradict each other. These are the entities of the lowest confidence."
        rows = np.flatnonzero(facts.labels >= 0)
    shown = rows[np.lexsort((rows, facts.typicality[rows]))][:max_rows]
    n_hidden = len(rows) - len(shown)
    views = (mark_user_text(name, 24) for name in facts.view_labels)
    confidence = ["Confidence"] if facts.has_confidence else []
    head = ("Entity", "Group", *views, *confidence, *(["Text"] if facts.view_texts else []))
    hidden = f"{format_integer(n_hidden)} more, with higher confidence, are in the table of all entities."
    return Section.build(
        "contested",
        "Contested",
        "Contested entities",
        tag("p", words),
        build_table(caption, head, [_build_entity_row(facts, row) for row in shown.tolist()], class_="entities long"),
        tag("p", hidden, class_="note") if n_hidden else None,
    )


def _build_entity_row(facts: ReportFacts, row: int) -> list[Html]:
    cluster = int(facts.labels[row])
    by_view = (_draw_view_group(facts, int(labels[row]), cluster) for labels in facts.view_labels.values())
    text = [facts.quote_texts(row) or "–"] if facts.view_texts else []
    confidence = [facts.write_confidence(row)] if facts.has_confidence else []
    return build_row(facts.mark_entity(row), facts.draw_group(cluster, 40), *by_view, *confidence, *text)


def _draw_view_group(facts: ReportFacts, label: int, cluster: int) -> Html:
    """Draw the group that a view gives, underlined if it differs from the final one, or a dash if it is missing."""
    if label < 0:
        return tag("span", "–", tag("span", "missing", class_="unseen"), class_="none")
    return facts.draw_group(label, 24) if label == cluster else tag("u", facts.draw_group(label, 24))
