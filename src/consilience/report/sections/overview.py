"""Section: the first screen, with the verdict, the groups, and the map of all views."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ...assessment.assessment import LEAST_GAIN, Assessment
from ...assessment.reference import STABLE_DISAGREEMENT, UNRELIABLE_DOUBT
from ..charts import draw_bar
from ..facts import ReportFacts
from ..joint_map import build_joint_map
from ..markup import (
    Html,
    format_integer,
    format_share,
    join_html,
    mark_sentence,
    mark_user_text,
    start_sentence,
    tag,
    truncate,
)
from .groups import build_group_pages
from .reliance import LOOKS, list_advice
from .section import Section

MAX_NAME = 120  # characters of the name of a group in the data of the page
QUALITIES = (  # least stability, CSS class, mark and word for the quality of a group
    (1 - STABLE_DISAGREEMENT, "stable", "●●●", "stable"),
    (1 - UNRELIABLE_DOUBT, "mixed", "●●○", "partly stable"),
    (0.0, "unreliable", "●○○", "unstable"),
)
SEARCH_LABEL = "Search texts, names of groups and ids"


def build_overview(facts: ReportFacts) -> Section:
    """Return the verdict, the search, the list of groups, the map and the pages of the groups."""
    figure, map_data = build_joint_map(facts)
    box = tag("div", _build_group_head(facts), _list_groups(facts), _explain_marks(facts), id="group-box")
    hits = tag("ol", id="hits", class_="hits", hidden=True, aria_label="Found by the search")
    groups = tag("div", box, hits, class_="groups")
    return Section.build(
        "overview",
        "Groups",
        mark_user_text(facts.title, 160),
        _write_verdict(facts),
        _build_tools(facts),
        tag("div", groups, figure, build_group_pages(facts), class_="stage"),
        level="h1",
        data={**list_groups_and_levels(facts), **map_data},
    )


def list_groups_and_levels(facts: ReportFacts) -> dict[str, Any]:
    """Return the groups by decreasing size, and the group of each cluster at each level, for the script."""
    groups = [
        {
            "cluster": cluster,
            "name": truncate(facts.names[cluster], MAX_NAME),
            "size": facts.sizes[cluster],
            "color": facts.looks[cluster][0],
            "shape": facts.looks[cluster][1],
            "stability": round(stability, 3)
            if (stability := facts.stability.get(cluster, np.nan)) == stability
            else None,
        }
        for cluster in facts.largest_first
    ]
    levels = [
        {
            "n": n,
            "of": facts.hierarchy.cut(n).tolist(),
            "names": [truncate(name, MAX_NAME) for name in facts.level_names[n]],
        }
        for n in facts.hierarchy.levels
        if n
    ]
    qualities = [{"least": least, "look": look, "mark": mark, "word": word} for least, look, mark, word in QUALITIES]
    return {
        "n": facts.n,
        "noun": facts.noun,
        "groups": groups,
        "levels": levels,
        "order": facts.hierarchy.order,
        "qualities": qualities,
    }


def _write_verdict(facts: ReportFacts) -> Html:
    """Return how far the groups can be relied on, the most important advice, and how their number was chosen."""
    look, word, sentences = _judge(facts)
    link = None
    if facts.assessment is not None:
        link = tag("a", "Why?", href="#reliance", aria_label="Why? Can it be relied on?")
    text = ((mark_sentence(sentence), " ") for sentence in sentences)
    return tag(
        "div",
        tag("p", tag("strong", word, class_="badge"), " ", *map(join_html, text), link, class_="reason"),
        tag("p", _explain_number(facts), class_="note"),
        class_=f"verdict {look}",
    )


def _judge(facts: ReportFacts) -> tuple[str, str, list[str]]:
    """Return CSS class and word of the verdict, and sentences."""
    selection, assessment = facts.selection, facts.assessment
    if selection is not None and not selection.supported:
        remedy = "-k N" if facts.is_command else "n_clusters=N"
        all_in_one = [f"All {facts.noun} form one group; use {remedy} to get N groups anyway."]
        reason = selection.reason.removeprefix("No evidence for groups: ")
        return (
            "unreliable",
            "No evidence for groups",
            [start_sentence(reason), *(all_in_one if len(facts.sizes) < 2 else [])],
        )
    if not facts.sizes:
        return "unknown", "No groups", [f"None of the {facts.noun} is in a group."]
    if len(facts.sizes) == 1 and assessment is None:
        return "unknown", "One group", [f"There is nothing to compare these {facts.noun} with."]
    if facts.has_small_groups:
        return "unknown", "Small groups", [f"Groups of a few {facts.noun} cannot be assessed by resampling."]
    if assessment is None:
        remedy = "pass assessment=cs.assess(model, views)"
        if facts.is_command:
            remedy = "run it without --no-assess"
        unknown = f"How far these groups can be relied on is unknown; {remedy} to find out."
        return "unknown", "Not assessed", [facts.reason_not_assessed or unknown]
    kept = f"{format_share(1 - assessment.disagreement)} of {facts.noun} keep their group when the data is resampled"
    sentences = [start_sentence(assessment.explain(kept, facts.noun, "groups")), *_choose_advice(facts, assessment)[:1]]
    return LOOKS[assessment.verdict], assessment.verdict.capitalize(), sentences


def _choose_advice(facts: ReportFacts, assessment: Assessment) -> list[str]:
    """Return advice about views, the most important first."""
    alternative = assessment.alternative
    if alternative is not None:
        other = alternative.assessment
        if assessment.doubt - other.doubt >= LEAST_GAIN and other.disagreement < assessment.disagreement:
            names = " and ".join(map(repr, alternative.left_out))
            pronoun = "it" if len(alternative.left_out) == 1 else "them"
            share, kept = format_share(1 - other.disagreement), format_share(1 - assessment.disagreement)
            words = f"Compare the result without {names}: without {pronoun}, {share} of {facts.noun} keep their group"
            return [f"{words} instead of {kept}."]
    return list_advice(assessment)


def _explain_number(facts: ReportFacts) -> Html | None:
    """Return one sentence about how the number of groups was chosen."""
    selection, n = facts.selection, len(facts.sizes)
    link = tag("a", "The numbers that were tried", href="#selection")
    if selection is None:
        requested = getattr(facts.model, "n_clusters", None)
        return (
            tag("span", f"The number of groups, {n}, was chosen by you, not by the data.") if requested == n else None
        )
    if facts.has_small_groups:
        return join_html((f"{n} small groups were found, such as duplicates. ", link, "."))
    if not selection.supported:
        return join_html((link, "."))
    others = [str(number) for number in selection.supported if number != n]
    also = f"; the data also supports {' and '.join(others)}" if others else ""
    chosen = "has the most support by the data" if selection.n_clusters == n else "was chosen by you"
    return join_html((f"The number of groups, {n}, {chosen}{also}. ", link, "."))


def _build_tools(facts: ReportFacts) -> Html:
    """Return the search box, and the slider for the number of groups."""
    levels = facts.hierarchy.levels
    search = tag(
        "label",
        tag("span", SEARCH_LABEL, class_="unseen"),
        tag(
            "input", type="search", id="search", placeholder=f"{SEARCH_LABEL} …", autocomplete="off", spellcheck="false"
        ),
        class_="search",
    )
    return tag(
        "div",
        search,
        _build_slider(levels) if len(levels) > 1 else None,
        tag("div", id="selected", class_="selected", role="status", hidden=True),
        class_="tools needs-js",
    )


def _build_slider(levels: list[int]) -> Html:
    last = len(levels) - 1
    slider = tag(
        "input", type="range", id="level", min=0, max=last, step=1, value=last, aria_describedby="level-note",
        aria_valuetext=f"{levels[-1]} groups",
    )  # fmt: skip
    return tag(
        "div",
        tag("label", "Number of groups ", slider),
        tag("output", f"{levels[-1]} groups", id="level-value", for_="level"),
        class_="slider",
    )


def _build_group_head(facts: ReportFacts) -> Html:
    """Return the heading of the list with a filter and the order, and a note that the slider shows."""
    heading, n = tag("h2", "Groups", id="groups-title"), len(facts.sizes)
    if n < 2:
        return tag("div", heading, class_="groups-head")
    orders = {"size": "largest first", "tree": "similar ones together", "name": "by name"}
    if facts.stability:
        orders["stability"] = "least stable first"
    options = (tag("option", text, value=key) for key, text in orders.items())
    text_filter = tag("input", type="search", id="group-filter", placeholder="Filter", autocomplete="off")
    controls = (
        tag("label", tag("span", "Filter the groups", class_="unseen"), text_filter, class_="needs-js"),
        tag(
            "label",
            tag("span", "Order of the groups", class_="unseen"),
            tag("select", options, id="group-order"),
            class_="needs-js",
        ),
    )
    note = f"Merges of the {format_integer(n)} groups of the result, the most similar first; nothing was fitted again."
    head = tag("div", heading, controls, class_="groups-head")
    return join_html((head, tag("p", note, id="level-note", class_="note merged-note", hidden=True)))


def _list_groups(facts: ReportFacts) -> Html:
    items = list(_iterate_groups(facts))
    if not items:
        return tag("p", "There are no groups.", class_="note")
    return tag("ol", items, id="group-list", class_="group-list", aria_labelledby="groups-title")


def _iterate_groups(facts: ReportFacts) -> Iterator[Html]:
    """Yield symbol, name, size and quality of each group; the script builds the same for coarser levels."""
    largest = max(facts.sizes.values(), default=1)
    for cluster in facts.largest_first:
        size = facts.sizes[cluster]
        yield tag(
            "li",
            tag(
                "a",
                facts.draw_group(cluster, MAX_NAME),
                draw_bar(size / largest),
                tag("span", format_integer(size), class_="size"),
                mark_quality(facts.stability.get(cluster, np.nan)) if facts.stability else None,
                href=f"#group-{cluster}",
                data_group=cluster,
            ),
        )


def mark_quality(stability: float) -> Html:
    """Draw a mark for the stability of a group, with words for readers of the screen."""
    if stability != stability:
        return tag("span", "–", tag("span", " not assessed", class_="unseen"), class_="quality")
    look, mark, word = next(quality[1:] for quality in QUALITIES if stability >= quality[0])
    text = f" {word}: {format_share(stability)} stay in it when the data is resampled"
    return tag(
        "span",
        tag("span", mark, aria_hidden="true"),
        tag("span", text, class_="unseen"),
        class_=f"quality {look}",
        title=text.strip(),
    )


def _explain_marks(facts: ReportFacts) -> Html | None:
    n_outside = int((facts.labels < 0).sum())
    outside = None
    if n_outside:
        link = tag("a", "see them" if n_outside > 1 else "see it", href="#find", data_find=-1, class_="needs-js")
        outside = join_html((facts.count(n_outside, "is", "are"), " in no group: ", link, "."))
    marks = None
    if facts.stability:
        marks = join_html(
            join_html((tag("span", mark, class_=f"quality {look}", aria_hidden="true"), f" {word} "))
            for _, look, mark, word in QUALITIES
        )
    if outside is None and marks is None:
        return None
    return tag("p", marks, outside, class_="note key")
