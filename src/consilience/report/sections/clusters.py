"""The clusters: how large, how sure, what marks them, who is typical."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp

from ...explain import Mark, profile, typical
from ..charts import draw_bar, draw_cluster
from ..facts import ReportFacts
from ..markup import (
    Html,
    format_count,
    format_decimal,
    format_integer,
    format_number,
    format_share,
    join_html,
    mark_feature_name,
    mark_user_text,
    tag,
)
from .section import Section

MOST_CLUSTERS = 100  # whose details are shown, the largest
MOST_MARKS = 1500  # columns of marks in all, so that many clusters do not make a page that nobody can open
MOST_OPEN = 6
MOST_MEMBERS = 20  # entities of a small group that are named
IN_A_LINE = 4


def build_clusters(facts: ReportFacts) -> Section:
    """One block a cluster, the largest first, whose line opens."""
    shown = facts.largest_first[:MOST_CLUSTERS]
    n_top = int(np.clip(MOST_MARKS // max(1, len(shown) * facts.views.n_views), 3, 8))
    marks = profile(facts.views, facts.labels, n_top)
    examples = typical(np.where(facts.labels >= 0, facts.labels, -1), facts.confidence)
    largest = max(facts.sizes.values(), default=1)
    blocks = [
        _build_block(
            facts, c, {view: own[c] for view, own in marks.items()}, examples[c], largest, i < _count_open(len(shown))
        )
        for i, c in enumerate(shown)
    ]
    left = len(facts.sizes) - len(shown)
    return Section(
        "clusters",
        "Clusters",
        "The clusters",
        join_html(
            (
                tag("p", "The largest first; open one to see what marks it in each view. Numbers are those of ",
                    tag("code", "labels.csv" if facts.is_command else "labels_"), ".",
                    f" Confidence is {facts.confidence_meaning}." if facts.shows_views else None,
                    " Stability is how often fits without an entity of the cluster put it there again."
                    if facts.stability else None),
                _build_cluster_controls(facts),
                tag("div", blocks, id="cluster-list"),
                tag("p", "No cluster is like that.", id="cluster-none", class_="note", hidden=True),
                tag("p", f"{format_count(left, 'smaller cluster is', 'smaller clusters are')} not shown in detail.",
                    class_="note") if left else None,
            )
        ),
    )  # fmt: skip


def _count_open(n_shown: int) -> int:
    return n_shown if n_shown <= MOST_OPEN else 1


def _build_cluster_controls(facts: ReportFacts) -> Html:
    orders = {"size": "largest first", "cluster": "by number"}
    if facts.shows_views:
        orders |= {"sure": "least sure first", "contested": "most contested first"}
    if facts.stability:
        orders["stability"] = "least stable first"
    wanted = tag("input", type="search", id="cluster-filter", placeholder="a term, a number")
    return tag(
        "div",
        tag("label", "Show clusters with ", wanted),
        tag("label", "Order ", tag("select", (tag("option", text, value=key) for key, text in orders.items()),
            id="cluster-order")),
        tag("button", "Open all", type="button", id="cluster-open"),
        class_="controls needs-js",
        hidden=len(facts.sizes) < 2,
    )  # fmt: skip


def _build_block(
    facts: ReportFacts, c: int, marks: dict[str, list[Mark]], examples: np.ndarray, largest: int, is_open: bool
) -> Html:
    own = facts.labels == c
    stability = facts.stability.get(c, np.nan)
    size, sure, contested = facts.sizes[c], float(facts.confidence[own].mean()), int(facts.contested[own].sum())
    line = tag(
        "summary",
        tag("span", tag("span", "Cluster ", class_="unseen"), draw_cluster(c), class_="who"),
        tag("span", draw_bar(size / largest),
            tag("span", format_integer(size), " ", tag("small", format_share(size / facts.n))),
            class_="measured"),
        tag("span", tag("small", "confidence "), format_decimal(sure)) if facts.shows_views else None,
        tag("span", tag("small", "stability "), format_share(stability)) if facts.stability else None,
        tag("span", tag("small", "contested "), format_integer(contested), " ",
            tag("small", format_share(contested / size)))
        if facts.shows_views else None,
        tag("span", _list_strongest(facts, marks), class_="terms"),
    )  # fmt: skip
    body = tag(
        "div",
        tag("div", (_list_marks(facts, name, found) for name, found in marks.items()), class_="views"),
        _list_examples(facts, c, examples),
        class_="inside",
    )  # fmt: skip
    return tag(
        "details",
        line,
        tag("h3", f"Cluster {c}", class_="unseen"),
        body,
        open=is_open,
        class_="cluster assessed" if facts.stability else "cluster" if facts.shows_views else "cluster plain",
        data_cluster=c,
        data_size=size,
        data_sure=f"{sure:.6f}",
        data_contested=f"{contested / size:.6f}",
        data_stability=f"{stability if stability == stability else 2:.6f}" if facts.stability else None,
    )


def _list_strongest(facts: ReportFacts, marks: dict[str, list[Mark]]) -> Html | None:
    """The strongest marks of all views, of each view its own first."""
    named = {view: own for view, own in marks.items() if facts.views.feature_names(view) is not None}
    best = [own[i] for i in range(IN_A_LINE) for own in named.values() if i < len(own)][:IN_A_LINE]
    parts = [
        join_html((_draw_arrow(mark) if mark.strength < 0 else None, mark_feature_name(mark.feature, 24)))
        for mark in best
    ]
    return join_html((parts[0], *(join_html((", ", part)) for part in parts[1:]))) if parts else None


def _list_marks(facts: ReportFacts, name: str, marks: Sequence[Mark]) -> Html:
    """What marks the cluster in one view: of sparse views what is frequent within, of dense ones how means differ."""
    if not marks:
        return tag("div", tag("h4", mark_user_text(name)), tag("p", "Nothing stands out.", class_="note"))
    strongest = max(abs(mark.strength) for mark in marks)
    numbered = facts.views.feature_names(name) is None
    dense = not sp.issparse(facts.views[name])
    lines = (
        tag(
            "li",
            tag("span", tag("small", "column ") if numbered else None, mark_feature_name(mark.feature), class_="term"),
            draw_bar(abs(mark.strength) / strongest),
            tag("span", _draw_arrow(mark) if dense else None, format_number(mark.inside),
                tag("small", f" / {format_number(mark.outside)}"),
                class_="means"),
        )
        for mark in marks
    )  # fmt: skip
    return tag(
        "div",
        tag("h4", mark_user_text(name), tag("small", "mean within / elsewhere")),
        tag("ul", lines, class_="marks"),
    )


def _draw_arrow(mark: Mark) -> Html:
    up = mark.strength > 0
    return join_html((tag("span", "▲ " if up else "▼ ", aria_hidden="true", class_="arrow"),
                 tag("span", "higher " if up else "lower ", class_="unseen")))  # fmt: skip


def _list_examples(facts: ReportFacts, c: int, examples: np.ndarray) -> Html | None:
    """The entities of the highest confidence; of small groups any, and none of a single cluster."""
    if not facts.shows_views and not facts.has_small_groups:
        return None
    rows, name = examples, "Typical entities"
    if facts.has_small_groups:
        rows = np.flatnonzero(facts.labels == c)[: max(len(examples), MOST_MEMBERS)]
        name = "Entities" if len(rows) == facts.sizes[c] else f"{len(rows)} of the entities"
    return tag(
        "div", tag("h4", name), tag("ol", (_build_example(facts, row) for row in rows.tolist())), class_="typical"
    )


def _build_example(facts: ReportFacts, row: int) -> Html:
    sure = tag("small", format_decimal(facts.confidence[row])) if facts.shows_views else None
    return tag("li", tag("b", facts.entity(row)), " ", sure, facts.snippet(row))
