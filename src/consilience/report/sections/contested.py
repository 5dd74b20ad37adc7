"""Section: entities whose views contradict each other."""

from __future__ import annotations

import numpy as np

from ...explain.confidence import describe_counted_views
from ..charts import build_row, build_table
from ..facts import ReportFacts
from ..markup import Html, format_integer, mark_user_text, tag
from .section import Section

MAX_ROWS = 200
MAX_UNSURE = 30
MANY_VIEWS = 5  # from which the columns of the views are narrow


def build_contested(facts: ReportFacts) -> Section | None:
    """Return the contested entities, the lowest confidence first; without any, all entities of low confidence."""
    if not facts.shows_views:
        return None
    rows = np.flatnonzero(facts.contested)
    counted = describe_counted_views(len(facts.view_labels), facts.confirmed)
    if len(rows):
        caption, max_rows = f"Contested {facts.noun}", MAX_ROWS
        words = (
            f"{facts.count(len(rows), 'is', 'are')} contested{counted}: views put {'it' if len(rows) == 1 else 'them'} "
            "into different groups. The lowest confidence comes first: there may be an error in the data, or both "
            "groups may be right. Views that disagree with the final group are underlined."
        )
    else:
        caption, max_rows = f"The {facts.noun} of the lowest confidence", MAX_UNSURE
        words = f"None of the {facts.noun} is contested{counted}. These are the ones of the lowest confidence."
        rows = np.flatnonzero(facts.labels >= 0)
    shown = rows[np.lexsort((rows, facts.typicality[rows]))][:max_rows]
    n_hidden = len(rows) - len(shown)
    views = (mark_user_text(name, 24) for name in facts.view_labels)
    confidence = ["Confidence"] if facts.has_confidence else []
    head = ("Item", *(["Text"] if facts.view_texts else []), "Group", *views, *confidence)
    hidden = f"{format_integer(n_hidden)} more, with higher confidence, are in the table of all {facts.noun}."
    class_ = "entities long crowded" if _is_crowded(facts) else "entities long"
    return Section.build(
        "contested",
        "Contested",
        f"Contested {facts.noun}",
        tag("p", words),
        build_table(caption, head, [_build_entity_row(facts, row) for row in shown.tolist()], class_),
        tag("p", hidden, class_="note") if n_hidden else None,
    )


def _is_crowded(facts: ReportFacts) -> bool:
    return len(facts.view_labels) >= MANY_VIEWS


def _build_entity_row(facts: ReportFacts, row: int) -> list[Html]:
    cluster, length = int(facts.labels[row]), 18 if _is_crowded(facts) else 24
    by_view = (_draw_view_group(facts, int(labels[row]), cluster, length) for labels in facts.view_labels.values())
    text = [facts.quote_texts(row) or "–"] if facts.view_texts else []
    confidence = [facts.write_confidence(row)] if facts.has_confidence else []
    return build_row(facts.mark_entity(row), *text, facts.draw_group(cluster, 40), *by_view, *confidence)


def _draw_view_group(facts: ReportFacts, label: int, cluster: int, length: int) -> Html:
    """Draw the group that a view gives, underlined if it differs from the final one, or a dash if it is missing."""
    if label < 0:
        return tag("span", "–", tag("span", "missing", class_="unseen"), class_="none")
    group = facts.draw_group(label, length)
    return group if label == cluster else tag("u", group)
