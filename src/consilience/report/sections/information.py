"""Section: how well each view supports the clusters, and a second grouping that the views support equally."""

from __future__ import annotations

import numpy as np

from ...explain import describe_support
from ..charts import build_row, build_table, draw_bar_with, shade_cell
from ..facts import ReportFacts
from ..markup import Html, format_decimal, format_integer, format_share, join_html, mark_sentence, mark_user_text, tag
from .section import Section

MAX_CLUSTERS = 20  # of either grouping that the table of both shows
EXPLANATION = (
    "Each view predicts the group of every item from the other items. The better it predicts the groups, the "
    "better it supports them: 100% is a perfect prediction, 0% is no better than chance."
)


def build_information(facts: ReportFacts) -> Section | None:
    """Return a bar per view, a sentence about views that do not support the clusters, and the second grouping."""
    information = getattr(facts.model, "view_information_", None)
    if information is None or not facts.shows_views:
        return None
    columns = (np.asarray(information[column]).tolist() for column in ("view", "share", "bits", "baseline"))
    rows = [
        build_row(
            mark_user_text(name),
            draw_bar_with(share, format_share(share)),
            format_decimal(bits),
            format_decimal(baseline),
        )
        for name, share, bits, baseline in zip(*columns, strict=True)
    ]
    # an assessment has its own sentences about unsupported views
    support = describe_support(information) if facts.assessment is None else None
    head = ("View", "Share of the maximum", "Bits", "Bits by chance")
    return Section.build(
        "information",
        "Support",
        "How well each view supports the groups",
        tag("p", EXPLANATION),
        build_table("Information of each view about the groups", head, rows, "narrow"),
        tag("p", mark_sentence(support), class_="callout") if support else None,
        _describe_second_grouping(facts),
    )


def _describe_second_grouping(facts: ReportFacts) -> Html | None:
    """Describe the grouping that the views support equally, and which entities the two share."""
    labels = getattr(facts.model, "runner_up_", None)
    if labels is None:
        return None
    numbers, sizes = np.unique(labels[labels >= 0], return_counts=True)
    listed = ", ".join(map(format_integer, sizes[:MAX_CLUSTERS].tolist())) + (
        " ..." if len(sizes) > MAX_CLUSTERS else ""
    )
    place = "the column “alternative” of labels.csv" if facts.is_command else "the model's attribute runner_up_"
    words = (
        "Two groupings are equally supported by your views: the groups of this page, and another with groups of "
        f"{listed} {facts.noun}. The data alone cannot decide between them. The other is in {place}."
    )
    return join_html(
        (tag("h3", "A second grouping"), tag("p", words, class_="callout"), _tabulate_overlap(facts, labels, numbers))
    )


def _tabulate_overlap(facts: ReportFacts, labels: np.ndarray, numbers: np.ndarray) -> Html | None:
    """Return how many entities each cluster shares with each group of the second grouping."""
    if max(len(numbers), len(facts.sizes)) > MAX_CLUSTERS:
        return None
    both = (facts.labels >= 0) & (labels >= 0)
    counts = np.zeros((max(facts.sizes) + 1, int(numbers.max()) + 1), dtype=np.int64)
    np.add.at(counts, (facts.labels[both], labels[both]), 1)
    counts = counts[sorted(facts.sizes)][:, numbers]
    head = ("Group", *(f"alternative {number}" for number in numbers.tolist()))
    rows = [
        [
            tag("th", facts.draw_group(cluster, 40), scope="row"),
            *(shade_cell(format_integer(n), n / max(1, row.sum())) for n in row.tolist()),
        ]
        for cluster, row in zip(sorted(facts.sizes), counts, strict=True)
    ]
    return build_table("Items of each group in each group of the second grouping", head, rows, class_="square")
