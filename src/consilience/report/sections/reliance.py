"""How far the clusters can be relied on: the verdict, which views are confirmed, how stable each cluster is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from ...assessment import Alternative, Assessment
from ..charts import build_table, draw_bar, draw_cluster, draw_figure
from ..facts import ReportFacts
from ..markup import Html, format_decimal, format_integer, format_share, join_html, mark_user_text, tag
from .section import Section

MOST_LETTERS = 600  # of a sentence that names views
LOOKS = {"stable": "stable", "mixed": "mixed", "do not rely": "unreliable"}  # the class of each verdict's badge


def build_reliance(facts: ReportFacts) -> Section | None:
    """The figures behind the verdict, the views, the result without unconfirmed views, and the clusters."""
    assessment = facts.assessment
    if assessment is None:
        return None
    body = join_html(
        (
            tag("p", "The model was fitted again to halves of the entities, and each view predicted clusters of "
                "entities that it had not learned from. A result can be relied on if entities that a fit has not seen "
                "get the same clusters again, and if the views confirm each other. That clusters come out again does "
                "not mean that they are the groups you look for."),
            tag("dl", (draw_figure(*figure) for figure in _list_assessment_figures(assessment)), class_="figures"),
            _tabulate_views(assessment),
            (_advise(sentence) for sentence in list_advice(assessment)),
            _describe_alternative(assessment.alternative, facts.is_command),
            _tabulate_stability(assessment),
            (tag("p", mark_user_text(note, MOST_LETTERS), class_="note") for note in assessment.notes),
        )
    )  # fmt: skip
    return Section("reliance", "Reliance", "Can it be relied on?", body)


def draw_badge(verdict: str) -> Html:
    """The verdict in a coloured box; the words say all that the colour says."""
    return tag("strong", verdict.capitalize(), class_=f"badge {LOOKS[verdict]}")


def describe_verdict(assessment: Assessment) -> Html:
    """The verdict, its reason, what it was worth on reference sets, and the estimate."""
    return tag(
        "div",
        tag(
            "p",
            draw_badge(assessment.verdict),
            " ",
            mark_user_text(capitalize(assessment.reason), MOST_LETTERS),
            class_="reason",
        ),
        tag("p", f"{assessment.worth} {assessment.estimate}"),
        tag("p", tag("a", "Can it be relied on? The views and clusters one by one", href="#reliance")),
        class_=f"verdict {LOOKS[assessment.verdict]}",
    )


def capitalize(sentence: str) -> str:
    """Write the first letter as a capital and leave the others as they are."""
    return sentence[:1].upper() + sentence[1:]


def list_advice(assessment: Assessment) -> list[str]:
    """Sentences about views, without the one about the result without some of them."""
    other = None if assessment.alternative is None else assessment.alternative.describe()
    return [sentence for sentence in assessment.advice if sentence != other]


def _advise(sentence: str) -> Html:
    return tag("p", mark_user_text(sentence, MOST_LETTERS), class_="callout")


def _list_assessment_figures(assessment: Assessment) -> Iterator[tuple[str, str, str]]:
    """(name, number, what it means) of the figures behind the verdict."""
    yield "Repeated", format_share(1 - assessment.disagreement), "of the entities by fits to the other half"
    yield "Margin", format_decimal(1 - assessment.ambiguity), "mean lead of an entity's cluster over the next, 0 to 1"
    if assessment.impurity is not None and assessment.impurity_range is not None:
        low, high = assessment.impurity_range
        yield (
            "Estimated impurity",
            format_share(assessment.impurity),
            f"{format_share(low)} to {format_share(high)} in eight of ten results",
        )
    yield "Assessed", format_integer(assessment.n_assessed), "entities"


def _tabulate_views(assessment: Assessment) -> Html | None:
    if assessment.views.n_rows < 2:
        return None
    rows = [
        [
            tag("th", mark_user_text(row["view"]), scope="row"),
            tag("td", _draw_measure(float(row["support"]))),
            tag("td", _name_confirming_view(row)),
            tag("td", _draw_measure(float(row["trust"]))),
            tag("td", _draw_measure(float(row["share"]))),
        ]
        for row in assessment.views.rows()
    ]
    return join_html(
        (
            tag("h3", "Which views confirm each other"),
            tag("p", "Each view was clustered alone. Support says how well a view and the one that confirms it best "
                "predict each other's clusters: 0 is chance, 1 perfect prediction. Trust orders the views: the better "
                "the other views predict a view's clusters, the higher it is. The last column is the part of the "
                "clusters of this page that the view predicts."),
            build_table("Views and the views that confirm them",
                  ("View", "Support", "Confirmed by", "Trust", "Predicts the clusters"), rows, "three-bars"),
        )
    )  # fmt: skip


def _name_confirming_view(row: Mapping[str, Any]) -> str:
    """The view that confirms a view best; a dash if it could not be compared with another."""
    if row["support"] != row["support"]:
        return "–"
    return mark_user_text(row["confirmed_by"]) if row["confirmed"] else "no other view"


def _draw_measure(value: float) -> Html | str:
    """A bar with its number, or a dash if there is none."""
    if value != value:
        return "–"
    return tag("span", draw_bar(value), format_decimal(value), class_="measured")


def _describe_alternative(alternative: Alternative | None, is_command: bool) -> Html | None:
    """The result without the views that no other view confirms."""
    if alternative is None:
        return None
    other = alternative.assessment
    names = ", ".join(alternative.left_out)
    where = (
        (
            " Its clusters, numbered like those of this page, are in the column “without ",
            mark_user_text(names),
            "” of labels.csv.",
        )
        if is_command
        else (" Its model is ", tag("code", "assessment.alternative.model"), ".")
    )
    return join_html(
        (
            tag("h3", "The result without ", mark_user_text(names)),
            tag("p", draw_badge(other.verdict), " ", mark_user_text(alternative.describe(), MOST_LETTERS),
                class_="reason"),
            tag("p", other.worth, where),
        )
    )  # fmt: skip


def _tabulate_stability(assessment: Assessment) -> Html:
    """How often fits to the other half repeat each cluster, the least stable first."""
    records = sorted(assessment.clusters.rows(), key=lambda row: float(np.nan_to_num(row["stability"], nan=2.0)))
    rows = [
        [
            tag("th", draw_cluster(int(row["cluster"])), scope="row"),
            tag("td", format_integer(row["size"])),
            tag(
                "td", tag("span", draw_bar(row["stability"]), format_share(float(row["stability"])), class_="measured")
            ),
            tag("td", format_decimal(float(row["margin"]))),
        ]
        for row in records
    ]
    long = "narrow long" if len(rows) > 20 else "narrow"
    return join_html(
        (
            tag("h3", "How stable each cluster is"),
            tag("p", "The least stable first. Stability is the share of the cluster's entities that a fit to the other "
                "half of the entities puts into it again; margin is the mean lead of an entity's cluster over the next "
                "when views vote without having learned from it."),
            build_table("Clusters and how stable they are",
                        ("Cluster", "Assessed entities", "Stability", "Margin"), rows, long),
        )
    )  # fmt: skip
