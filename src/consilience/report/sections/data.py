"""What the data is: the views, and who has which."""

from __future__ import annotations

import numpy as np

from ...data.blocks import describe_kind, estimate_density
from ..charts import bar, cells, table
from ..facts import Facts
from ..markup import Html, count, counted, join, share, tag, user
from .section import Section

MOST_PATTERNS = 12


def data(facts: Facts) -> Section:
    """Table of views, and the patterns of presence."""
    views, n = facts.views, max(facts.n, 1)
    rows = [
        cells(
            user(name),
            describe_kind(block),
            count(block.shape[1]),
            share(estimate_density(block)),
            _measured(int(there), there / n),
        )
        for (name, block), there in zip(views.items(), views.present.sum(axis=0), strict=True)
    ]
    head = ("View", "Kind of numbers", "Columns", "Not zero", "Entities that have it")
    return Section("data", "Data", "What the data is", join((table("The views", head, rows), _who_has_what(facts))))


def _who_has_what(facts: Facts) -> Html:
    """Which views are there together, for how many."""
    views = facts.views
    if views.present.all():
        every = "Every entity has its view." if views.n_views == 1 else "Every entity has every view."
        return tag("p", every)
    patterns, sizes = np.unique(views.present, axis=0, return_counts=True)
    order = np.lexsort((np.arange(len(sizes)), -sizes))
    rows = [
        [*(_dot(there) for there in patterns[i]), tag("td", _measured(sizes[i], sizes[i] / facts.n))]
        for i in order[:MOST_PATTERNS]
    ]
    left = order[MOST_PATTERNS:]
    return join(
        (
            tag("h3", "Who has which views"),
            tag("p", "Each row is a combination of views that are there (●) or missing (○), the most frequent first."),
            table("Combinations of views", (*map(user, views.names), "Entities"), rows, class_="upset"),
            tag("p", f"{counted(len(left), 'rarer combination')} of {counted(sizes[left].sum(), 'entity', 'entities')} "
                "not shown.", class_="note") if len(left) else None,
        )
    )  # fmt: skip


def _dot(there: bool) -> Html:
    return tag("td", tag("span", "●" if there else "○", aria_hidden="true", class_="dot"),
               tag("span", "there" if there else "missing", class_="unseen"))  # fmt: skip


def _measured(number: int, part: float) -> Html:
    """A number with its bar and its share."""
    return tag("span", bar(part), tag("span", f"{count(number)} ", tag("small", share(part))), class_="measured")
