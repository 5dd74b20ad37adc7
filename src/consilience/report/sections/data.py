"""Section: the views, and which entities have which."""

from __future__ import annotations

import numpy as np

from ...data.blocks import describe_kind, estimate_density
from ..charts import build_row, build_table, draw_bar_with
from ..facts import ReportFacts
from ..markup import Html, format_count, format_integer, format_share, join_html, mark_user_text, tag
from .section import Section

MAX_PATTERNS = 12


def build_data(facts: ReportFacts) -> Section:
    """Return the table of views, and the combinations of views that entities have."""
    views, n = facts.views, max(facts.n, 1)
    rows = [
        build_row(
            mark_user_text(name),
            describe_kind(block),
            format_integer(block.shape[1]),
            format_share(estimate_density(block)),
            _draw_share(int(n_present), n_present / n),
        )
        for (name, block), n_present in zip(views.items(), views.present.sum(axis=0), strict=True)
    ]
    head = ("View", "Kind of numbers", "Columns", "Nonzero", "Items that have it")
    return Section.build("data", "Data", "The data", build_table("The views", head, rows), _tabulate_presence(facts))


def _tabulate_presence(facts: ReportFacts) -> Html:
    """Return how many entities have each combination of views."""
    views = facts.views
    if views.present.all():
        return tag("p", "Every item has its view." if views.n_views == 1 else "Every item has every view.")
    patterns, sizes = np.unique(views.present, axis=0, return_counts=True)
    order = np.lexsort((np.arange(len(sizes)), -sizes))
    rows = [
        [
            *(_draw_presence(is_present) for is_present in patterns[i]),
            tag("td", _draw_share(sizes[i], sizes[i] / facts.n)),
        ]
        for i in order[:MAX_PATTERNS]
    ]
    hidden = order[MAX_PATTERNS:]
    n_hidden = facts.count(int(sizes[hidden].sum()))
    note = f"{format_count(len(hidden), 'rarer combination')} of {n_hidden} not shown."
    return join_html(
        (
            tag("h3", "Missing views"),
            tag("p", "Each row is a combination of present (●) and missing (○) views, the most frequent first."),
            build_table("Combinations of views", (*map(mark_user_text, views.names), "Items"), rows, class_="upset"),
            tag("p", note, class_="note") if len(hidden) else None,
        )
    )


def _draw_presence(is_present: bool) -> Html:
    symbol, word = ("●", "present") if is_present else ("○", "missing")
    return tag("td", tag("span", symbol, aria_hidden="true", class_="dot"), tag("span", word, class_="unseen"))


def _draw_share(number: int, share: float) -> Html:
    return draw_bar_with(share, tag("span", f"{format_integer(number)} ", tag("small", format_share(share))))
