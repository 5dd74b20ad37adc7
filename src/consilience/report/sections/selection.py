"""Which numbers of clusters the data supports."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...data import Table
from ..charts import build_table, draw_bar
from ..facts import ReportFacts
from ..markup import Html, format_decimal, format_integer, format_share, join_html, tag
from .section import Section


def build_selection(facts: ReportFacts) -> Section | None:
    """The supported numbers with a sentence each, and the figures of every number that was tried."""
    chosen = facts.selection
    if chosen is None:
        return None
    is_curve = "score" in chosen.table
    body = join_html(
        (
            tag("p", chosen.reason, class_="callout"),
            tag("ul", (tag("li", sentence) for sentence in chosen.sentences)) if chosen.sentences else None,
            _explain_selection() if is_curve else None,
            _tabulate_numbers(chosen.table, chosen.supported) if is_curve else _tabulate_sizes(chosen.table),
        )
    )
    return Section("selection", "How many", "How many clusters?", body)


def _explain_selection() -> Html:
    return tag(
        "p",
        "Without known classes no rule knows the number of clusters. A number is supported if each view and the others "
        "predict the same clusters for entities that they have not learned from (agreement), if these predictions tell "
        "more than those of independent views (bits beyond chance), and if fits to disjoint halves of the entities "
        "give the same clusters (stability). Supported numbers have the highest score among all numbers nearby.",
    )


def _tabulate_numbers(figures: Table, supported: Sequence[int]) -> Html:
    highest = max(float(np.max(figures["score"])), 1e-12)
    is_supported = bool(supported)
    one_view = bool(np.isnan(figures["agreement"]).all())
    rows = []
    for row in figures.rows():
        number = int(row["n_clusters"])
        name = tag("strong", str(number), " supported") if number in supported else str(number)
        part = float(row["score"]) / highest
        score: str = format_decimal(float(row["score"]))  # without support the highest is no standard for the others
        if is_supported:
            score = tag("span", draw_bar(part), format_share(part), class_="measured")
        beyond = max(0.0, float(row["information"]) - float(row["by_chance"]))
        reasons = [float(row["modularity"])] if one_view else [float(row["agreement"]), beyond]
        rows.append(
            [
                tag("th", name, scope="row"),
                tag("td", score),
                *(tag("td", format_decimal(value)) for value in (*reasons, float(row["stability"]))),
            ]
        )
    heads = ("Modularity",) if one_view else ("Agreement", "Bits beyond chance")
    class_ = "narrow long" if len(rows) > 20 else "narrow"
    score_head = "Score, of the highest" if is_supported else "Score"
    return build_table("Numbers of clusters", ("Clusters", score_head, *heads, "Stability"), rows, class_)


def _tabulate_sizes(sizes: Table) -> Html:
    rows = [
        [tag("th", format_integer(row["size"]), scope="row"), tag("td", format_integer(row["groups"]))]
        for row in sizes.rows()
    ]
    return build_table("Groups by their number of entities", ("Entities per group", "Groups"), rows, "narrow")
