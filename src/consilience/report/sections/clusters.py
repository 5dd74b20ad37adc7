"""Section: the clusters with their sizes, confidence, characteristic features and typical entities."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp

from ...explain import Mark, profile, typical
from ..charts import draw_bar, draw_bar_with, draw_cluster
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

MAX_CLUSTERS = 100  # clusters shown in detail, the largest
MAX_MARKS = 1500  # features of all clusters together, to limit the size of the page
MAX_OPEN = 6  # number of clusters up to which all are open
MAX_MEMBERS = 20  # listed entities of a small group
MAX_EXAMPLES = 300  # pictures of typical entities
MARKS_IN_SUMMARY = 4


def build_clusters(facts: ReportFacts) -> Section:
    """Return one block per cluster, the largest first; a block opens to show details."""
    shown = facts.largest_first[:MAX_CLUSTERS]
    n_top = int(np.clip(MAX_MARKS // max(1, len(shown) * facts.views.n_views), 3, 8))
    marks = profile(facts.views, facts.labels, n_top, texts=facts.view_texts)
    n_examples = 5 if facts.thumbnails is None else int(np.clip(MAX_EXAMPLES // max(1, len(shown)), 3, 12))
    examples = typical(np.where(facts.labels >= 0, facts.labels, -1), facts.confidence, n_examples)
    n_open = len(shown) if len(shown) <= MAX_OPEN else 1
    blocks = [
        _build_block(
            facts, cluster, {view: by_cluster[cluster] for view, by_cluster in marks.items()}, examples, i < n_open
        )
        for i, cluster in enumerate(shown)
    ]
    n_hidden = len(facts.sizes) - len(shown)
    hidden = f"{format_count(n_hidden, 'smaller cluster is', 'smaller clusters are')} not shown in detail."
    numbering = (
        "Numbers are those of ",
        tag("code", "labels.csv" if facts.is_command else "labels_"),
        f". Confidence is {facts.confidence_meaning[0]}." if facts.shows_views else ".",
        " Stability is how often fits without an entity of the cluster put it there again." if facts.stability else "",
    )
    return Section.build(
        "clusters",
        "Clusters",
        "The clusters",
        tag("p", "The largest first; open a cluster to see its characteristic features in each view. ", numbering),
        _build_cluster_controls(facts),
        tag("div", blocks, id="cluster-list"),
        tag("p", "No matching clusters.", id="cluster-none", class_="note", hidden=True),
        tag("p", hidden, class_="note") if n_hidden else None,
    )


def _build_cluster_controls(facts: ReportFacts) -> Html:
    orders = {"size": "largest first", "cluster": "by number"}
    if facts.shows_views:
        orders |= {"sure": "lowest confidence first", "contested": "most contested first"}
    if facts.stability:
        orders["stability"] = "least stable first"
    options = (tag("option", text, value=key) for key, text in orders.items())
    return tag(
        "div",
        tag(
            "label", "Show clusters with ", tag("input", type="search", id="cluster-filter", placeholder="term, number")
        ),
        tag("label", "Order ", tag("select", options, id="cluster-order")),
        tag("button", "Open all", type="button", id="cluster-open"),
        class_="controls needs-js",
        hidden=len(facts.sizes) < 2,
    )


def _build_block(
    facts: ReportFacts, cluster: int, marks: dict[str, list[Mark]], examples: Sequence[np.ndarray], is_open: bool
) -> Html:
    members = facts.labels == cluster
    size, stability = facts.sizes[cluster], facts.stability.get(cluster, np.nan)
    confidence, n_contested = float(facts.confidence[members].mean()), int(facts.contested[members].sum())
    largest = facts.sizes[facts.largest_first[0]]
    size_text = tag("span", format_integer(size), " ", tag("small", format_share(size / facts.n)))
    contested_text = format_integer(n_contested), " ", tag("small", format_share(n_contested / size))
    summary = tag(
        "summary",
        tag("span", tag("span", "Cluster ", class_="unseen"), draw_cluster(cluster), class_="who"),
        draw_bar_with(size / largest, size_text),
        tag("span", tag("small", "confidence "), format_decimal(confidence)) if facts.shows_views else None,
        tag("span", tag("small", "stability "), format_share(stability)) if facts.stability else None,
        tag("span", tag("small", "contested "), contested_text) if facts.shows_views else None,
        tag("span", _list_strongest(facts, marks), class_="terms"),
    )
    views = (_list_marks(facts, name, view_marks) for name, view_marks in marks.items())
    return tag(
        "details",
        summary,
        tag("h3", f"Cluster {cluster}", class_="unseen"),
        tag(
            "div", tag("div", views, class_="views"), _list_examples(facts, cluster, examples[cluster]), class_="inside"
        ),
        open=is_open,
        class_="cluster assessed" if facts.stability else "cluster" if facts.shows_views else "cluster plain",
        data_cluster=cluster,
        data_size=size,
        data_sure=f"{confidence:.6f}",
        data_contested=f"{n_contested / size:.6f}",
        data_stability=f"{stability if stability == stability else 2:.6f}" if facts.stability else None,
    )


def _list_strongest(facts: ReportFacts, marks: dict[str, list[Mark]]) -> Html | None:
    """List the strongest marks of all views, the strongest of each view first."""
    named = [view_marks for view, view_marks in marks.items() if facts.has_names(view)]
    best = [view_marks[i] for i in range(MARKS_IN_SUMMARY) for view_marks in named if i < len(view_marks)]
    return join_html(
        join_html(
            (", " if i else None, _draw_arrow(mark) if mark.strength < 0 else None, mark_feature_name(mark.feature, 24))
        )
        for i, mark in enumerate(best[:MARKS_IN_SUMMARY])
    )


def _list_marks(facts: ReportFacts, name: str, marks: Sequence[Mark]) -> Html:
    """List the features that distinguish the cluster in one view: frequent ones if sparse, different means if dense."""
    if not marks:
        return tag("div", tag("h4", mark_user_text(name)), tag("p", "Nothing stands out.", class_="note"))
    strongest = max(abs(mark.strength) for mark in marks)
    prefix = None if facts.has_names(name) else tag("small", "column ")
    is_dense = not sp.issparse(facts.views[name]) and not facts.shows_words(name)
    lines = (
        tag(
            "li",
            tag("span", prefix, mark_feature_name(mark.feature), class_="term"),
            draw_bar(abs(mark.strength) / strongest),
            tag(
                "span",
                _draw_arrow(mark) if is_dense else None,
                format_number(mark.inside),
                tag("small", f" / {format_number(mark.outside)}"),
                class_="means",
            ),
        )
        for mark in marks
    )
    heading = tag("h4", mark_user_text(name), tag("small", "mean within / elsewhere"))
    return tag("div", heading, tag("ul", lines, class_="marks"))


def _draw_arrow(mark: Mark) -> Html:
    arrow, word = ("▲ ", "higher ") if mark.strength > 0 else ("▼ ", "lower ")
    return join_html((tag("span", arrow, aria_hidden="true", class_="arrow"), tag("span", word, class_="unseen")))


def _list_examples(facts: ReportFacts, cluster: int, examples: np.ndarray) -> Html | None:
    """List the entities of highest confidence; of small groups any, and none of a single cluster."""
    if not facts.shows_views and not facts.has_small_groups:
        return None
    rows, heading = examples, "Typical entities"
    if facts.has_small_groups:
        rows = np.flatnonzero(facts.labels == cluster)[: max(len(examples), MAX_MEMBERS)]
        heading = "Entities" if len(rows) == facts.sizes[cluster] else f"{len(rows)} of the entities"
    items = (
        tag(
            "li",
            tag("b", facts.mark_entity(row)),
            " ",
            tag("small", format_decimal(facts.confidence[row])) if facts.shows_views else None,
            facts.quote_texts(row),
        )
        for row in rows.tolist()
    )
    shows_pictures = facts.thumbnails is not None
    return tag("div", tag("h4", heading), tag("ol", items), class_="typical pictures" if shows_pictures else "typical")
