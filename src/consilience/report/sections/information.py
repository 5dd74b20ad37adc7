"""How well each view supports the clusters, and a second grouping that the views support as well."""

from __future__ import annotations

import numpy as np

from ...explain import describe_support
from ..charts import build_table, draw_bar, draw_cluster, shade_cell
from ..facts import ReportFacts
from ..markup import Html, format_decimal, format_integer, format_share, join_html, mark_user_text, tag
from .section import Section

MOST_LETTERS = 600  # of the sentence about the views
MOST_CLUSTERS = 20  # of either grouping that the table of both shows


def build_information(facts: ReportFacts) -> Section | None:
    """A bar per view, a sentence about views that do not support the clusters, and the second grouping."""
    view_information = getattr(facts.model, "view_information_", None)
    if view_information is None or len(facts.sizes) < 2:  # one cluster needs no support
        return None
    rows = [
        [
            tag("th", mark_user_text(name), scope="row"),
            tag("td", tag("span", draw_bar(part), format_share(part), class_="measured")),
            tag("td", format_decimal(bits)),
            tag("td", format_decimal(baseline)),
        ]
        for name, bits, baseline, part in zip(
            *(np.asarray(view_information[column]).tolist() for column in ("view", "bits", "baseline", "share")),
            strict=True,
        )
    ]
    # with an assessment, its sentences are those about views to doubt
    support = describe_support(view_information) if facts.assessment is None else None
    body = join_html(
        (
            tag("p", "Each view predicts the cluster of every entity from the other entities. The more these "
                "predictions tell about the clusters, the better the view supports them. 100% would be a view that "
                "predicts every cluster; 0% a view that does no better than chance."),
            build_table("Information of each view about the clusters",
                  ("View", "Share of the maximum", "Bits", "Bits by chance"), rows, "narrow"),
            tag("p", mark_user_text(support, MOST_LETTERS), class_="callout") if support else None,
            _describe_second_grouping(facts),
        )
    )  # fmt: skip
    return Section("information", "Support", "How well each view supports the clusters", body)


def _describe_second_grouping(facts: ReportFacts) -> Html | None:
    """The grouping that the views support as well as the clusters, and which entities the two share."""
    labels = getattr(facts.model, "runner_up_", None)
    if labels is None:
        return None
    numbers, sizes = np.unique(labels[labels >= 0], return_counts=True)
    words = (
        "Two groupings are equally supported by your views: the clusters of this page, and another with groups of "
        f"{', '.join(map(format_integer, sizes[:MOST_CLUSTERS].tolist()))}"
        f"{' ...' if len(sizes) > MOST_CLUSTERS else ''} "
        "entities. The data cannot say which of them you want. The other is in "
        + ("the column “alternative” of labels.csv." if facts.is_command else "the model's attribute runner_up_.")
    )
    return join_html(
        (tag("h3", "A second grouping"), tag("p", words, class_="callout"), _tabulate_overlap(facts, labels, numbers))
    )


def _tabulate_overlap(facts: ReportFacts, labels: np.ndarray, numbers: np.ndarray) -> Html | None:
    """How many entities each cluster shares with each group of the second grouping."""
    if max(len(numbers), len(facts.sizes)) > MOST_CLUSTERS:
        return None
    both = (facts.labels >= 0) & (labels >= 0)
    counts = np.zeros((max(facts.sizes) + 1, int(numbers.max()) + 1), dtype=np.int64)
    np.add.at(counts, (facts.labels[both], labels[both]), 1)
    counts = counts[sorted(facts.sizes)][:, numbers]
    head = ("Cluster", *(f"alternative {number}" for number in numbers.tolist()))
    rows = [
        [
            tag("th", draw_cluster(cluster), scope="row"),
            *(shade_cell(format_integer(n), n / max(1, row.sum())) for n in row.tolist()),
        ]
        for cluster, row in zip(sorted(facts.sizes), counts, strict=True)
    ]
    return build_table("Entities of each cluster in each group of the second grouping", head, rows, class_="square")
