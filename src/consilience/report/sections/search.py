"""Section: a searchable table of all entities."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from ..charts import make_scrollable
from ..facts import MAX_THUMBNAILS, ReportFacts
from ..markup import Html, clean_text, format_count, format_integer, join_html, mark_user_text, tag, truncate
from ..pack import measure_packed, pack_names, pack_numbers
from .section import Section

MAX_ID = 200  # characters of an id
WORDS = ["", "a guess", "doubtful", "likely", "sure"]  # confidence in an entity's cluster, from lowest to highest


def build_search(facts: ReportFacts, n_bytes: int) -> Section:
    """Return a table that the script fills, with the columns that fit into the remaining size of the page."""
    columns, left_out = _pack_columns(facts, n_bytes)
    n_bytes -= sum(map(measure_packed, columns.values()))
    has_table = "cluster" in columns
    shown = "the final cluster and that of each view" if facts.shows_views else "their clusters"
    note = ("To keep the page small, it leaves out ", _join_with_and(left_out), ".")
    script_note = "The table of all entities needs JavaScript; the other sections do not."
    pictures = _add_pictures(facts, n_bytes)
    names = [truncate(clean_text(name), 60) for name in facts.view_labels]
    return Section.build(
        "find",
        "Search",
        "Search",
        tag("p", f"All {format_count(facts.n, 'entity', 'entities')} with {shown}."),
        tag("p", note, class_="note") if left_out else None,
        tag("p", script_note, class_="note without-js") if has_table else None,
        tag("p", id="find-trouble", class_="note", hidden=True),
        _build_search_table(facts) if has_table else None,
        data={"n": facts.n, "columns": columns, "views": names, "words": WORDS, "pictures": pictures},
    )


def _add_pictures(facts: ReportFacts, n_bytes: int) -> dict[int, str]:
    """Return the pictures of all entities if there are few; otherwise the script takes those of other sections."""
    if facts.n > MAX_THUMBNAILS:
        return {}
    sources = {row: facts.find_picture(row) for row in range(facts.n)}
    pictures = {row: source for row, source in sources.items() if source is not None}
    return pictures if sum(map(len, pictures.values())) <= n_bytes else {}


def _pack_columns(facts: ReportFacts, n_bytes: int) -> tuple[dict[str, Any], list[str]]:
    """Return the packed columns that fit, and the names of those that do not; nothing fits without the clusters."""
    packed: dict[str, Any] = {}
    left_out = []
    for key, name, pack in _list_columns(facts):
        column = pack()
        if measure_packed(column) <= n_bytes and (packed or key == "cluster"):
            packed[key] = column
            n_bytes -= measure_packed(column)
        else:
            left_out.append(name)
            if key == "cluster":
                break
    return packed, left_out


def _list_columns(facts: ReportFacts) -> Iterator[tuple[str, str, Callable[[], dict[str, str]]]]:
    """Yield key, name and packing function of each column, the most important first."""
    yield "cluster", "the table of all entities", lambda: pack_numbers(facts.labels, "i2")
    if facts.shows_views:
        yield "sure", "the confidence", lambda: pack_numbers(np.round(facts.confidence * 1000), "u2")
        yield "contested", "which entities are contested", lambda: pack_numbers(facts.contested, "i2")
    if facts.certainty is not None:
        levels = [WORDS.index(word) if word in WORDS else 0 for word in facts.certainty.tolist()]
        yield "certainty", "the confidence in words", lambda: pack_numbers(levels, "i2")
    if facts.assessment is not None:
        stability = np.nan_to_num(np.round(facts.assessment.stability * 1000), nan=-1)
        yield "stability", "the stability", lambda: pack_numbers(stability, "i2")
    if facts.views.ids is not None:
        name = "the ids of the entities (numbers from 0 replace them)"
        yield "ids", name, lambda: pack_names([truncate(facts.name_entity(row), MAX_ID) for row in range(facts.n)])
    if facts.shows_views:
        for v, (view, labels) in enumerate(facts.view_labels.items()):
            name = join_html(("the clusters of view ", mark_user_text(view)))
            yield f"view{v}", name, partial(pack_numbers, labels, "i2")


def _join_with_and(parts: list[str]) -> Html:
    separators = ["", *[", "] * (len(parts) - 2), " and "][: len(parts)]
    return join_html(pair for pair in zip(separators, parts, strict=True))


def _build_search_table(facts: ReportFacts) -> Html:
    """Return the controls, a table whose columns the script fills, and the paging."""
    options = [tag("option", "any cluster", value="")]
    options += [
        tag("option", f"cluster {cluster} ({format_integer(size)})", value=cluster)
        for cluster, size in sorted(facts.sizes.items())
    ]
    if (facts.labels < 0).any():
        options.append(tag("option", "no cluster", value=-1))
    controls = tag(
        "div",
        tag("label", "Name or part of it ", tag("input", type="search", id="find-text", autocomplete="off")),
        tag("label", "In ", tag("select", options, id="find-cluster")),
        tag("label", tag("input", type="checkbox", id="find-contested"), " contested only", class_="check"),
        class_="controls needs-js",
    )
    table = tag(
        "table",
        tag("caption", "All entities"),
        tag("thead", tag("tr", id="find-head")),
        tag("tbody", id="find-rows"),
        class_="entities",
    )
    paging = tag(
        "div",
        tag("button", "Previous", type="button", id="find-back"),
        tag("button", "Next", type="button", id="find-on"),
        tag("output", "Reading the entities…", id="find-count", aria_live="polite"),
        class_="pages needs-js",
    )
    return join_html((controls, tag("div", make_scrollable("All entities", table), class_="needs-js"), paging))
