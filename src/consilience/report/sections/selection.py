"""Section: which numbers of clusters the data supports."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...data import Table
from ..charts import build_row, build_table, draw_bar_with
from ..facts import ReportFacts
from ..markup import Html, format_decimal, format_integer, format_share, mark_sentence, tag
from .section import Section

EXPLANATION = (
    "Without known classes no rule finds the true number of groups. A number is supported if each view and the "
    "others predict the same groups for items that they were not trained on (agreement), if these predictions "
    "tell more than those of independent views (bits beyond chance), and if fits to disjoint halves of the items "
    "give the same groups (stability). Supported numbers have the highest score among all numbers nearby."
)


def build_selection(facts: ReportFacts) -> Section | None:
    """Return the supported numbers with a sentence each, and the figures of every number that was tried."""
    selection = facts.selection
    if selection is None:
        return None
    has_scores = "score" in selection.table
    return Section.build(
        "selection",
        "How many",
        "How many groups?",
        tag("p", mark_sentence(selection.reason), class_="callout"),
        tag("ul", (tag("li", mark_sentence(sentence)) for sentence in selection.sentences))
        if selection.sentences
        else None,
        tag("p", EXPLANATION) if has_scores else None,
        _tabulate_numbers(selection.table, selection.supported) if has_scores else _tabulate_sizes(selection.table),
    )


def _tabulate_numbers(figures: Table, supported: Sequence[int]) -> Html:
    highest = max(float(np.max(figures["score"])), 1e-12)
    has_one_view = bool(np.isnan(figures["agreement"]).all())
    rows = []
    for row in figures.rows():
        number, score = int(row["n_clusters"]), float(row["score"])
        name = tag("strong", str(number), " supported") if number in supported else str(number)
        # without support the highest score is no standard for the others
        score_text = (
            draw_bar_with(score / highest, format_share(score / highest)) if supported else format_decimal(score)
        )
        beyond_chance = max(0.0, float(row["information"]) - float(row["by_chance"]))
        reasons = [float(row["modularity"])] if has_one_view else [float(row["agreement"]), beyond_chance]
        rows.append(build_row(name, score_text, *map(format_decimal, (*reasons, float(row["stability"])))))
    reason_heads = ("Modularity",) if has_one_view else ("Agreement", "Bits beyond chance")
    head = ("Groups", "Score, relative to the highest" if supported else "Score", *reason_heads, "Stability")
    return build_table("Numbers of groups", head, rows, "narrow long" if len(rows) > 20 else "narrow")


def _tabulate_sizes(sizes: Table) -> Html:
    rows = [build_row(format_integer(row["size"]), format_integer(row["groups"])) for row in sizes.rows()]
    return build_table("Groups by their number of items", ("Items per group", "Groups"), rows, "narrow")
