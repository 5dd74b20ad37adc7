"""How far the views agree, what each counts for, and how the rounds went."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..caveats import AGREEMENT_CAVEAT
from ..charts import bar, heat, line, table
from ..facts import Facts
from ..markup import Html, counted, decimal, join, share, tag, user
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


def agreement(facts: Facts) -> Section:
    """The agreement of each pair, its caveat, the views' weights and the course of the rounds."""
    body = join((_pairs(facts), _caveat(facts), _weights(facts), _course(facts)))
    return Section("agreement", "Agreement", "How far the views agree", body)


def _pairs(facts: Facts) -> Html:
    if facts.agreement is None:
        return tag("p", "With one view there is no other to agree with.")
    names = list(facts.said)
    rows = [
        [tag("th", user(name, 24), scope="row"), *(_cell(rate, a == b) for b, rate in enumerate(rates))]
        for a, (name, rates) in enumerate(zip(names, facts.agreement, strict=True))
    ]
    head = ("", *(user(name, 24) for name in names))
    return join(
        (
            tag("p", "Each view gives every entity that it describes a cluster of its own. The table shows for how "
                "many of the entities that two views both describe they give the same: the deeper the colour, the "
                "more."),
            table("Share of entities that two views put into the same cluster", head, rows, class_="square"),
        )
    )  # fmt: skip


def _cell(rate: float, diagonal: bool) -> Html:
    if diagonal:
        return tag("td", "·", class_="diagonal")
    return heat(share(float(rate)), float(rate)) if np.isfinite(rate) else tag("td", "no entity has both")


def _caveat(facts: Facts) -> Html | None:
    """A sentence against reading agreement as evidence that the clusters are right."""
    return None if facts.agreement is None else tag("p", AGREEMENT_CAVEAT, class_="callout")


def _weights(facts: Facts) -> Html | None:
    weights: Mapping[str, float] | None = getattr(facts.model, "view_weights_", None)
    if not weights:
        return None
    most = max((abs(float(own)) for own in weights.values()), default=0) or 1
    rows = [
        [
            tag("th", user(name), scope="row"),
            tag("td", tag("span", bar(abs(float(own)) / most), decimal(float(own)), class_="measured")),
        ]
        for name, own in weights.items()
    ]
    return join(
        (tag("h3", "What each view counts for"), table("Weights of the views", ("View", "Weight"), rows, "narrow"))
    )


def _course(facts: Facts) -> Html | None:
    """How the rounds went."""
    history, n_rounds = getattr(facts.model, "history_", None), getattr(facts.model, "n_iter_", None)
    if n_rounds is None:
        return None
    settled = getattr(facts.model, "converged_", None)
    ended = "" if settled is None or not n_rounds else " and settled" if settled else " and did not settle"
    words = f"The model took {counted(n_rounds, 'round') if n_rounds else 'no rounds'}{ended}."
    return join(
        (tag("h3", "How the rounds went"), tag("p", words), tag("div", _curves(history or {}), class_="curves"))
    )


def _curves(history: Mapping[str, Any]) -> list[Html]:
    first = int(history["round"][0]) if len(history.get("round", ())) else 1
    found = (line(history[key], name, first) for key, name in COURSE.items() if key in history)
    return [own for own in found if own is not None]
