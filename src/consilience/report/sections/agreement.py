"""Section: how much the views agree, their weights, and the course of the rounds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...explain.confidence import describe_counted_views
from ...metrics import agreement_rate
from ..charts import build_row, build_table, draw_bar_with, draw_line, shade_cell
from ..facts import AGREEMENT_CAVEAT, ReportFacts
from ..markup import Html, format_count, format_decimal, format_share, join_html, mark_user_text, tag
from .section import Section

EXPLANATION = (
    "Each view by itself puts every item that it describes into a group. The table shows the share of the items "
    "with both views that get the same group from both: the deeper the color, the more."
)
CURVES = {  # columns of a history to draw, with their names
    "cost": "Cost (lower is better)",
    "q": "Criterion (higher is better)",
    "objective": "Objective (lower is better)",
    "log_likelihood": "Log-likelihood (higher is better)",
    "alignment": "Alignment of the views' embeddings",
    "bits": "Information of the views about the groups, in bits (higher is better)",
    "agreement": "Share of items on which all views agree",
}


def build_agreement(facts: ReportFacts) -> Section | None:
    """Return the agreement of each pair, the weights of the views, and the course of the rounds."""
    if not facts.shows_views:
        return None
    caveat = None if facts.agreement is None else tag("p", AGREEMENT_CAVEAT, class_="callout")
    content = _tabulate_pairs(facts), caveat, _tabulate_weights(facts), _describe_rounds(facts)
    return Section.build("agreement", "Agreement", "How much the views agree", *content)


def _describe_agreement(facts: ReportFacts) -> str:
    rate = format_share(agreement_rate(facts.view_labels))
    n_present = sum((labels >= 0).astype(int) for labels in facts.view_labels.values())
    agreed = (
        f"All views agree on {rate} of the {facts.noun}"
        if np.all(n_present == len(facts.view_labels))
        else f"Of the {facts.noun} with more than one view, {rate} get the same group from all their views"
    )
    n_contested = int(facts.contested.sum())
    contested = f"{'none is' if not n_contested else format_count(n_contested, 'is', 'are')} contested"
    return f"{agreed}; {contested}{describe_counted_views(len(facts.view_labels), facts.confirmed)}."


def _tabulate_pairs(facts: ReportFacts) -> Html:
    if facts.agreement is None:
        return tag("p", "With one view there is no other view to agree with.")
    names = [mark_user_text(name, 24) for name in facts.view_labels]
    rows = [
        [tag("th", name, scope="row"), *(_build_pair_cell(rate, a == b) for b, rate in enumerate(rates))]
        for a, (name, rates) in enumerate(zip(names, facts.agreement, strict=True))
    ]
    caption = "Share of items that two views put into the same group"
    return join_html(
        (
            tag("p", _describe_agreement(facts)),
            tag("p", EXPLANATION),
            build_table(caption, ("", *names), rows, class_="square"),
        )
    )


def _build_pair_cell(rate: float, is_diagonal: bool) -> Html:
    if is_diagonal:
        return tag("td", "·", class_="diagonal")
    return shade_cell(format_share(float(rate)), float(rate)) if np.isfinite(rate) else tag("td", "no item has both")


def _tabulate_weights(facts: ReportFacts) -> Html | None:
    weights: Mapping[str, float] | None = getattr(facts.model, "view_weights_", None)
    if not weights:
        return None
    largest = max(abs(float(weight)) for weight in weights.values()) or 1
    rows = [
        build_row(mark_user_text(name), draw_bar_with(abs(float(weight)) / largest, format_decimal(float(weight))))
        for name, weight in weights.items()
    ]
    return join_html(
        (tag("h3", "Weight of each view"), build_table("Weights of the views", ("View", "Weight"), rows, "narrow"))
    )


def _describe_rounds(facts: ReportFacts) -> Html | None:
    n_rounds, is_converged = getattr(facts.model, "n_iter_", None), getattr(facts.model, "converged_", None)
    if n_rounds is None:
        return None
    ending = (
        "" if is_converged is None or not n_rounds else " and converged" if is_converged else " and did not converge"
    )
    words = f"The model took {format_count(n_rounds, 'round') if n_rounds else 'no rounds'}{ending}."
    history: Mapping[str, Any] = getattr(facts.model, "history_", None) or {}
    first = int(history["round"][0]) if len(history.get("round", ())) else 1
    curves = (draw_line(history[key], name, first) for key, name in CURVES.items() if key in history)
    return join_html((tag("h3", "Course of the rounds"), tag("p", words), tag("div", curves, class_="curves")))
