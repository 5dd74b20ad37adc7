"""Find an entity among all of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..charts import make_scrollable
from ..facts import ReportFacts
from ..markup import Html, clean_text, format_count, format_integer, join_html, mark_user_text, tag, truncate
from ..pack import pack_names, pack_numbers, packed_size
from .section import Section

MOST_LETTERS = 200  # of an id
WORDS = ["", "a guess", "doubtful", "likely", "sure"]  # how sure the cluster of an entity is, from least to most


def build_search(facts: ReportFacts, room: int) -> tuple[Section, dict[str, Any]]:
    """A table that the script fills, and its columns, as far as there is room in the page for them."""
    kept, left_out = _pack_columns(facts, room)
    there = "cluster" in kept
    body = join_html(
        (
            tag("p", f"All {format_count(facts.n, 'entity', 'entities')} with "
                + ("what the model and each view by itself say." if facts.shows_views else "their clusters.")),
            tag("p", "So that the page stays small, it leaves out ", _join_with_and(left_out), ".", class_="note")
            if left_out else None,
            tag("p", "The table of all entities needs JavaScript; the other sections do not.", class_="note without-js")
            if there else None,
            tag("p", id="find-trouble", class_="note", hidden=True),
            _build_search_controls(facts) if there else None,
            _build_empty_table() if there else None,
            _build_paging() if there else None,
        )
    )  # fmt: skip
    data = {
        "n": facts.n,
        "columns": kept,
        "views": [truncate(clean_text(name), 60) for name in facts.view_labels],
        "words": WORDS,
    }
    return Section("find", "Find an entity", "Find an entity", body), data


def _pack_columns(facts: ReportFacts, room: int) -> tuple[dict[str, Any], list[Html]]:
    """What fits, and the names of what does not. Without clusters there is nothing to show."""
    wanted: list[tuple[str, Html, Any]] = [
        ("cluster", tag("span", "the table of all entities"), lambda: pack_numbers(facts.labels, "i2")),
    ]
    if facts.shows_views:
        wanted += [
            ("sure", tag("span", "the confidence"), lambda: pack_numbers(np.round(facts.confidence * 1000), "u2")),
            ("contested", tag("span", "who is contested"), lambda: pack_numbers(facts.contested, "i2")),
        ]
    if facts.certainty is not None:
        places = [WORDS.index(word) if word in WORDS else 0 for word in facts.certainty.tolist()]
        wanted.append(("certainty", tag("span", "confidence in words"), lambda: pack_numbers(places, "i2")))
    if facts.assessment is not None:
        stability = np.round(facts.assessment.stability * 1000)
        wanted.append(
            ("stability", tag("span", "the stability"), lambda: pack_numbers(np.nan_to_num(stability, nan=-1), "i2"))
        )
    if facts.views.ids is not None:
        ids = tag("span", "the names of the entities (they go by their numbers, from 0)")
        wanted.append(
            ("ids", ids, lambda: pack_names([truncate(facts.name(row), MOST_LETTERS) for row in range(facts.n)]))
        )
    for v, (name, said) in enumerate(facts.view_labels.items() if facts.shows_views else ()):
        label = join_html(("what view ", mark_user_text(name), " says"))
        wanted.append((f"view{v}", label, lambda said=said: pack_numbers(said, "i2")))
    kept: dict[str, Any] = {}
    left_out = []
    for key, name, pack in wanted:
        column = pack()
        if packed_size(column) <= room and (kept or key == "cluster"):
            kept[key] = column
            room -= packed_size(column)
        else:
            left_out.append(name)
            if key == "cluster":
                break
    return kept, left_out


def _join_with_and(parts: list[Html]) -> Html:
    return join_html(
        part if i == 0 else join_html((" and " if i == len(parts) - 1 else ", ", part)) for i, part in enumerate(parts)
    )


def _build_search_controls(facts: ReportFacts) -> Html:
    clusters = (
        tag("option", f"cluster {c} ({format_integer(size)})", value=c) for c, size in sorted(facts.sizes.items())
    )
    nowhere = tag("option", "no cluster", value=-1) if (facts.labels < 0).any() else None
    choice = tag("select", tag("option", "any cluster", value=""), clusters, nowhere, id="find-cluster")
    return tag(
        "div",
        tag("label", "Name or part of it ", tag("input", type="search", id="find-text", autocomplete="off")),
        tag("label", "In ", choice),
        tag("label", tag("input", type="checkbox", id="find-contested"), " contested only", class_="check"),
        class_="controls needs-js",
    )  # fmt: skip


def _build_empty_table() -> Html:
    """An empty table: its columns are made by the script from what is there."""
    table = tag(
        "table",
        tag("caption", "All entities"),
        tag("thead", tag("tr", id="find-head")),
        tag("tbody", id="find-rows"),
        class_="entities",
    )
    return tag("div", make_scrollable("All entities", table), class_="needs-js")


def _build_paging() -> Html:
    return tag(
        "div",
        tag("button", "Previous", type="button", id="find-back"),
        tag("button", "Next", type="button", id="find-on"),
        tag("output", "Reading the entities…", id="find-count", aria_live="polite"),
        class_="pages needs-js",
    )
