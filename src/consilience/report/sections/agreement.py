"""How far the views agree, what each counts for, and how the rounds went."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..caveats import AGREEMENT_CAVEAT
from ..charts import build_table, draw_bar, draw_line, shade_cell
from ..facts import ReportFacts
from ..markup import Html, format_count, format_decimal, format_share, join_html, mark_user_text, tag
from .section import Section

COURSE = {  # columns of a history that say how it went, with their names
    "cost": "Cost (lower is better)",
    "q": "Criterion (higher is better)",
    "objective": "Objective (lower is better)",
    "log_likelihood": "Log-likelihood (higher is better)",
    "alignment": "Alignment of the views' embeddings",
    "bits": "Information of the views about the clusters, in bits (higher is better)",
    "agreement": "Share of entities on which all views agree",
}


def build_agreement(facts: ReportFacts) -> Section:
    """The agreement of each pair, its caveat, the views' weights and the course of the rounds."""
    body = join_html((_tabulate_pairs(facts), _caveat(facts), _tabulate_weights(facts), _describe_rounds(facts)))
    return Section("agreement", "Agreement", "How far the views agree", body)


def _tabulate_pairs(facts: ReportFacts) -> Html:
    if facts.agreement is None:
        return tag("p", "With one view there is no other to agree with.")
    names = list(facts.view_labels)
    rows = [
        [
            tag("th", mark_user_text(name, 24), scope="row"),
            *(_build_pair_cell(rate, a == b) for b, rate in enumerate(rates)),
        ]
        for a, (name, rates) in enumerate(zip(names, facts.agreement, strict=True))
    ]
    head = ("", *(mark_user_text(name, 24) for name in names))
    return join_html(
        (
            tag("p", "Each view gives every entity that it describes a cluster of its own. The table shows for how "
                "many of the entities that two views both describe they give the same: the deeper the colour, the "
                "more."),
            build_table("Share of entities that two views put into the same cluster", head, rows, class_="square"),
        )
    )  # fmt: skip


def _build_pair_cell(rate: float, diagonal: bool) -> Html:
    if diagonal:
        return tag("td", "·", class_="diagonal")
    return shade_cell(format_share(float(rate)), float(rate)) if np.isfinite(rate) else tag("td", "no entity has both")


def _caveat(facts: ReportFacts) -> Html | None:
    """A sentence against reading agreement as evidence that the clusters are right."""
    return None if facts.agreement is None else tag("p", AGREEMENT_CAVEAT, class_="callout")


def _tabulate_weights(facts: ReportFacts) -> Html | None:
    weights: Mapping[str, float] | None = getattr(facts.model, "view_weights_", None)
    if not weights:
        return None
    most = max((abs(float(own)) for own in weights.values()), default=0) or 1
    rows = [
        [
            tag("th", mark_user_text(name), scope="row"),
            tag("td", tag("span", draw_bar(abs(float(own)) / most), format_decimal(float(own)), class_="measured")),
        ]
        for name, own in weights.items()
    ]
    return join_html(
        (
            tag("h3", "What each view counts for"),
            build_table("Weights of the views", ("View", "Weight"), rows, "narrow"),
        )
    )


def _describe_rounds(facts: ReportFacts) -> Html | None:
    """How the rounds went."""
    history, n_rounds = getattr(facts.model, "history_", None), getattr(facts.model, "n_iter_", None)
    if n_rounds is None:
        return None
    settled = getattr(facts.model, "converged_", None)
    ended = "" if settled is None or not n_rounds else " and settled" if settled else " and did not settle"
    words = f"The model took {format_count(n_rounds, 'round') if n_rounds else 'no rounds'}{ended}."
    return join_html(
        (tag("h3", "How the rounds went"), tag("p", words), tag("div", _draw_curves(history or {}), class_="curves"))
    )


def _draw_curves(history: Mapping[str, Any]) -> list[Html]:
    first = int(history["round"][0]) if len(history.get("round", ())) else 1
    found = (draw_line(history[key], name, first) for key, name in COURSE.items() if key in history)
    return [own for own in found if own is not None]
