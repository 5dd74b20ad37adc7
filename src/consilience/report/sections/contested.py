"""Whose views contradict each other."""

from __future__ import annotations

import numpy as np

from ..charts import cells, chip, table
from ..facts import Facts
from ..markup import Html, count, counted, decimal, join, tag, user
from .section import Section

MOST_ROWS = 200
MOST_UNSURE = 30


def contested(facts: Facts) -> Section:
    """The contested, the least sure first; where there are none, the least sure of all."""
    rows = np.flatnonzero(facts.contested)
    if len(rows):
        words = (
            f"{counted(len(rows), 'entity has', 'entities have')} views that put "
            f"{'it' if len(rows) == 1 else 'them'} into different clusters. The least sure come first: an error in the "
            "data, or an entity that belongs to both. What contradicts the model's word is underlined."
        )
        most = MOST_ROWS
    else:
        words = "No entity has views that contradict each other. These are the ones that the model is least sure of."
        rows, most = np.flatnonzero(facts.labels >= 0), MOST_UNSURE
    shown = rows[np.lexsort((rows, facts.sure[rows]))][:most]
    left = len(rows) - len(shown)
    head = ("Entity", "Cluster", *(user(name, 24) for name in facts.said), "Confidence", *(["Text"] * facts.has_texts))
    name = "Contested entities" if facts.contested.any() else "Entities of the lowest confidence"
    body = join(
        (
            tag("p", words),
            table(name, head, [_row(facts, row) for row in shown.tolist()], class_="entities long"),
            tag("p", f"{count(left)} more, of which the model is surer, are not shown here; the table of all entities "
                "has them.", class_="note") if left else None,
        )
    )  # fmt: skip
    return Section("contested", "Contested", "Contested entities", body)


def _row(facts: Facts, row: int) -> list[Html]:
    own = int(facts.labels[row])
    said = (_word(int(label[row]), own) for label in facts.said.values())
    text = [facts.snippet(row) or "–"] if facts.has_texts else []
    return cells(facts.entity(row), chip(own), *said, decimal(facts.sure[row]), *text)


def _word(label: int, own: int) -> Html:
    """Return the cluster that a view gives, underlined if the model gives another, or a dash if the view is missing."""
    if label < 0:
        return tag("span", "–", tag("span", "missing", class_="unseen"), class_="none")
    return chip(label) if label == own else tag("u", chip(label))
