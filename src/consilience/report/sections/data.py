"""What the data is: the views, and who has which."""

from __future__ import annotations

import numpy as np

from ...data.blocks import describe_kind, estimate_density
from ..charts import build_row, build_table, draw_bar
from ..facts import ReportFacts
from ..markup import Html, format_count, format_integer, format_share, join_html, mark_user_text, tag
from .section import Section

MOST_PATTERNS = 12


def build_data(facts: ReportFacts) -> Section:
    """Table of views, and the patterns of presence."""
    views, n = facts.views, max(facts.n, 1)
    rows = [
        build_row(
            mark_user_text(name),
            describe_kind(block),
            format_integer(block.shape[1]),
            format_share(estimate_density(block)),
            _draw_share(int(there), there / n),
        )
        for (name, block), there in zip(views.items(), views.present.sum(axis=0), strict=True)
    ]
    head = ("View", "Kind of numbers", "Columns", "Not zero", "Entities that have it")
    return Section(
        "data", "Data", "What the data is", join_html((build_table("The views", head, rows), _tabulate_presence(facts)))
    )


def _tabulate_presence(facts: ReportFacts) -> Html:
    """Which views are there together, for how many."""
    views = facts.views
    if views.present.all():
        every = "Every entity has its view." if views.n_views == 1 else "Every entity has every view."
        return tag("p", every)
    patterns, sizes = np.unique(views.present, axis=0, return_counts=True)
    order = np.lexsort((np.arange(len(sizes)), -sizes))
    rows = [
        [*(_dot(there) for there in patterns[i]), tag("td", _draw_share(sizes[i], sizes[i] / facts.n))]
        for i in order[:MOST_PATTERNS]
    ]
    left = order[MOST_PATTERNS:]
    return join_html(
        (
            tag("h3", "Who has which views"),
            tag("p", "Each row is a combination of views that are there (●) or missing (○), the most frequent first."),
            build_table("Combinations of views", (*map(mark_user_text, views.names), "Entities"), rows, class_="upset"),
            tag("p", f"{format_count(len(left), 'rarer combination')} of "
                f"{format_count(sizes[left].sum(), 'entity', 'entities')} "
                "not shown.", class_="note") if len(left) else None,
        )
    )  # fmt: skip


def _dot(there: bool) -> Html:
    return tag("td", tag("span", "●" if there else "○", aria_hidden="true", class_="dot"),
               tag("span", "there" if there else "missing", class_="unseen"))  # fmt: skip


def _draw_share(number: int, part: float) -> Html:
    """A number with its bar and its share."""
    return tag(
        "span",
        draw_bar(part),
        tag("span", f"{format_integer(number)} ", tag("small", format_share(part))),
        class_="measured",
    )
