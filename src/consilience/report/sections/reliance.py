"""Section: how reliable the clusters are: the verdict, which views are confirmed, how stable each cluster is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...assessment import Alternative, Assessment
from ..charts import build_row, build_table, draw_bar_with
from ..facts import ReportFacts
from ..markup import (
    Html,
    format_decimal,
    format_integer,
    format_share,
    join_html,
    mark_sentence,
    mark_user_text,
    say_items,
    start_sentence,
    tag,
)
from .section import Section

LOOKS = {"stable": "stable", "mixed": "mixed", "do not rely": "unreliable"}  # CSS class of each verdict
EXPLANATION = (
    "The model was fitted again to halves of the items, and each view predicted the groups of items that it "
    "was not trained on. A result is reliable if items that a fit has not seen get the same groups again, and if "
    "the views confirm each other. Repeatable groups need not be those that you are looking for."
)
VIEWS_EXPLANATION = (
    "Each view was clustered alone. Support is how well a view and the view that confirms it best predict each other's "
    "groups: 0 is chance, 1 is perfect. Trust is higher the better the other views predict a view's groups. The "
    "last column is how well the view predicts the groups of this page."
)
STABILITY_EXPLANATION = (
    "The least stable first. Stability is the share of the group's items that a fit to the other half of the "
    "items puts into it again; margin is the mean lead of an item's group over the next when the views vote on "
    "items that they were not trained on."
)


def build_reliance(facts: ReportFacts) -> Section | None:
    """Return the figures behind the verdict, the views, the result without unconfirmed views, and the clusters."""
    assessment = facts.assessment
    if assessment is None:
        return None
    return Section.build(
        "reliance",
        "Reliance",
        "Can it be relied on?",
        tag("p", draw_badge(assessment.verdict), " ", mark_sentence(start_sentence(assessment.reason))),
        tag("p", say_items(f"{assessment.worth} {assessment.estimate}")),
        tag("p", EXPLANATION),
        tag("dl", _list_assessment_figures(assessment), class_="figures"),
        _tabulate_views(assessment),
        (tag("p", mark_sentence(advice), class_="callout") for advice in list_advice(assessment)),
        _describe_alternative(assessment.alternative, facts.is_command),
        _tabulate_stability(facts, assessment),
        (tag("p", mark_sentence(note), class_="note") for note in assessment.notes),
    )


def draw_badge(verdict: str) -> Html:
    """Draw the verdict in a colored box; the words say everything that the color says."""
    return tag("strong", verdict.capitalize(), class_=f"badge {LOOKS[verdict]}")


def list_advice(assessment: Assessment) -> list[str]:
    """Return the advice about views, without the sentence about the alternative result."""
    other = None if assessment.alternative is None else assessment.alternative.describe()
    return [sentence for sentence in assessment.advice if sentence != other]


def _list_assessment_figures(assessment: Assessment) -> list[Html]:
    """List name, number and meaning of the figures behind the verdict."""
    figures = [
        ("Repeated", format_share(1 - assessment.disagreement), "of the items by fits to the other half"),
        ("Margin", format_decimal(1 - assessment.ambiguity), "mean lead of an item's group over the next, 0 to 1"),
    ]
    if assessment.impurity is not None and assessment.impurity_range is not None:
        low, high = map(format_share, assessment.impurity_range)
        figures.append(
            ("Estimated impurity", format_share(assessment.impurity), f"{low} to {high} in eight of ten results")
        )
    figures.append(("Assessed", format_integer(assessment.n_assessed), "items"))
    return [
        tag("div", tag("dt", name), tag("dd", tag("b", figure), tag("small", meaning)))
        for name, figure, meaning in figures
    ]


def _tabulate_views(assessment: Assessment) -> Html | None:
    if assessment.views.n_rows < 2:
        return None
    rows = [
        build_row(
            mark_user_text(row["view"]),
            _draw_measure(row["support"]),
            _name_confirming_view(row),
            _draw_measure(row["trust"]),
            _draw_measure(row["share"]),
        )
        for row in assessment.views.rows()
    ]
    head = ("View", "Support", "Confirmed by", "Trust", "Predicts the groups")
    table = build_table("Views and the views that confirm them", head, rows, "three-bars")
    return join_html((tag("h3", "Which views confirm each other"), tag("p", VIEWS_EXPLANATION), table))


def _name_confirming_view(row: Mapping[str, Any]) -> str:
    """Return the view that confirms a view best; a dash if it could not be compared with another."""
    if row["support"] != row["support"]:
        return "–"
    return mark_user_text(row["confirmed_by"]) if row["confirmed"] else "no other view"


def _draw_measure(value: float) -> str:
    """Draw a bar with its number, or a dash for NaN."""
    return "–" if value != value else draw_bar_with(float(value), format_decimal(float(value)))


def _describe_alternative(alternative: Alternative | None, is_command: bool) -> Html | None:
    """Describe the result without the views that no other view confirms."""
    if alternative is None:
        return None
    other = alternative.assessment
    names = mark_user_text(", ".join(alternative.left_out))
    place: tuple[str, ...] = (" Its model is ", tag("code", "assessment.alternative.model"), ".")
    if is_command:
        place = " Its groups, numbered like those of this page, are in the column “without ", names, "” of labels.csv."
    sentence = mark_sentence(alternative.describe())
    return join_html(
        (
            tag("h3", "The result without ", names),
            tag("p", draw_badge(other.verdict), " ", sentence, class_="reason"),
            tag("p", say_items(other.worth), place),
        )
    )


def _tabulate_stability(facts: ReportFacts, assessment: Assessment) -> Html:
    """Return how often fits to the other half repeat each cluster, the least stable first."""
    clusters = sorted(assessment.clusters.rows(), key=lambda row: float(np.nan_to_num(row["stability"], nan=2.0)))
    rows = [
        build_row(
            facts.draw_group(int(row["cluster"])),
            format_integer(row["size"]),
            draw_bar_with(row["stability"], format_share(float(row["stability"]))),
            format_decimal(float(row["margin"])),
        )
        for row in clusters
    ]
    head = ("Group", "Assessed items", "Stability", "Margin")
    class_ = "narrow long" if len(rows) > 20 else "narrow"
    table = build_table("Groups and how stable they are", head, rows, class_)
    return join_html((tag("h3", "How stable each group is"), tag("p", STABILITY_EXPLANATION), table))
