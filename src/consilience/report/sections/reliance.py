"""How far the clusters can be relied on: the verdict, which views are confirmed, how stable each cluster is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from ...assessment import Alternative, Assessment
from ..charts import bar, chip, table
from ..facts import Facts
from ..markup import Html, count, decimal, join, share, tag, user
from .section import Section

MOST_LETTERS = 600  # of a sentence that names views
LOOKS = {"stable": "stable", "mixed": "mixed", "do not rely": "unreliable"}  # the class of each verdict's badge


def reliance(facts: Facts) -> Section | None:
    """The figures behind the verdict, the views, the result without unconfirmed views, and the clusters."""
    assessment = facts.assessment
    if assessment is None:
        return None
    body = join(
        (
            tag("p", "The model was fitted again to halves of the entities, and each view predicted clusters of "
                "entities that it had not learned from. A result can be relied on if entities that a fit has not seen "
                "get the same clusters again, and if the views confirm each other. That clusters come out again does "
                "not mean that they are the groups you look for."),
            tag("dl", (_figure(*figure) for figure in _figures(assessment)), class_="figures"),
            _views(assessment),
            (_advise(sentence) for sentence in list_advice(assessment)),
            _alternative(assessment.alternative, facts.is_command),
            _clusters(assessment),
            (tag("p", user(note, MOST_LETTERS), class_="note") for note in assessment.notes),
        )
    )  # fmt: skip
    return Section("reliance", "Reliance", "Can it be relied on?", body)


def badge(verdict: str) -> Html:
    """The verdict in a coloured box; the words say all that the colour says."""
    return tag("strong", verdict.capitalize(), class_=f"badge {LOOKS[verdict]}")


def describe_verdict(assessment: Assessment) -> Html:
    """The verdict, its reason, what it was worth on reference sets, and the estimate."""
    return tag(
        "div",
        tag("p", badge(assessment.verdict), " ", user(capitalize(assessment.reason), MOST_LETTERS), class_="reason"),
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
    return tag("p", user(sentence, MOST_LETTERS), class_="callout")


def _figures(assessment: Assessment) -> Iterator[tuple[str, str, str]]:
    """(name, number, what it means) of the figures behind the verdict."""
    yield "Repeated", share(1 - assessment.disagreement), "of the entities by fits to the other half"
    yield "Margin", decimal(1 - assessment.ambiguity), "mean lead of an entity's cluster over the next, 0 to 1"
    if assessment.impurity is not None and assessment.impurity_range is not None:
        low, high = assessment.impurity_range
        yield "Estimated impurity", share(assessment.impurity), f"{share(low)} to {share(high)} in eight of ten results"
    yield "Assessed", count(assessment.n_assessed), "entities"


def _figure(name: str, number: str, meaning: str) -> Html:
    return tag("div", tag("dt", name), tag("dd", tag("b", number), tag("small", meaning)))


def _views(assessment: Assessment) -> Html | None:
    if assessment.views.n_rows < 2:
        return None
    rows = [
        [
            tag("th", user(row["view"]), scope="row"),
            tag("td", _measure(float(row["support"]))),
            tag("td", _confirm(row)),
            tag("td", _measure(float(row["trust"]))),
            tag("td", _measure(float(row["share"]))),
        ]
        for row in assessment.views.rows()
    ]
    return join(
        (
            tag("h3", "Which views confirm each other"),
            tag("p", "Each view was clustered alone. Support says how well a view and the one that confirms it best "
                "predict each other's clusters: 0 is chance, 1 perfect prediction. Trust orders the views: the better "
                "the other views predict a view's clusters, the higher it is. The last column is the part of the "
                "clusters of this page that the view predicts."),
            table("Views and the views that confirm them",
                  ("View", "Support", "Confirmed by", "Trust", "Predicts the clusters"), rows, "three-bars"),
        )
    )  # fmt: skip


def _confirm(row: Mapping[str, Any]) -> str:
    """The view that confirms a view best; a dash if it could not be compared with another."""
    if row["support"] != row["support"]:
        return "–"
    return user(row["confirmed_by"]) if row["confirmed"] else "no other view"


def _measure(value: float) -> Html | str:
    """A bar with its number, or a dash if there is none."""
    if value != value:
        return "–"
    return tag("span", bar(value), decimal(value), class_="measured")


def _alternative(alternative: Alternative | None, is_command: bool) -> Html | None:
    """The result without the views that no other view confirms."""
    if alternative is None:
        return None
    other = alternative.assessment
    names = ", ".join(alternative.left_out)
    where = (
        (
            " Its clusters, numbered like those of this page, are in the column “without ",
            user(names),
            "” of labels.csv.",
        )
        if is_command
        else (" Its model is ", tag("code", "assessment.alternative.model"), ".")
    )
    return join(
        (
            tag("h3", "The result without ", user(names)),
            tag("p", badge(other.verdict), " ", user(alternative.describe(), MOST_LETTERS), class_="reason"),
            tag("p", other.worth, where),
        )
    )  # fmt: skip


def _clusters(assessment: Assessment) -> Html:
    """How often fits to the other half repeat each cluster, the least stable first."""
    records = sorted(assessment.clusters.rows(), key=lambda row: float(np.nan_to_num(row["stability"], nan=2.0)))
    rows = [
        [
            tag("th", chip(int(row["cluster"])), scope="row"),
            tag("td", count(row["size"])),
            tag("td", tag("span", bar(row["stability"]), share(float(row["stability"])), class_="measured")),
            tag("td", decimal(float(row["margin"]))),
        ]
        for row in records
    ]
    long = "narrow long" if len(rows) > 20 else "narrow"
    return join(
        (
            tag("h3", "How stable each cluster is"),
            tag("p", "The least stable first. Stability is the share of the cluster's entities that a fit to the other "
                "half of the entities puts into it again; margin is the mean lead of an entity's cluster over the next "
                "when views vote without having learned from it."),
            table("Clusters and how stable they are", ("Cluster", "Assessed entities", "Stability", "Margin"), rows,
                  long),
        )
    )  # fmt: skip
