"""Section: the table of all entities, which the search, the groups and the map restrict."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from ...assessment.reference import choose_words, describe_words
from ..charts import make_scrollable
from ..facts import MAX_THUMBNAILS, ReportFacts
from ..joint_map import rank_columns
from ..markup import Html, clean_text, format_integer, join_html, mark_user_text, start_sentence, tag, truncate
from ..pack import measure_packed, pack_names, pack_numbers
from .section import Section

MAX_ID = 200  # characters of an id
MAX_TEXT = 2000  # characters of a text
TEXT_LENGTHS = (MAX_TEXT, 1000, 500, 250, 120, 60)  # tried in this order until the texts fit into the page
MAX_QUANTITIES = 6  # columns of numbers and dates in the table
UNKNOWN = 65535  # as the script has it


def build_search(facts: ReportFacts, n_bytes: int) -> Section:
    """Return a table that the script fills, with the columns that fit into the remaining size of the page."""
    columns, left_out = _pack_columns(facts, n_bytes)
    n_bytes -= sum(map(measure_packed, columns.values()))
    texts, text_notes = _pack_texts(facts, n_bytes if columns else 0)
    columns |= {f"text{i}": text["column"] for i, text in enumerate(texts)}
    n_bytes -= sum(measure_packed(text["column"]) for text in texts)
    numbers, number_notes = _pack_quantities(facts, n_bytes if columns else 0)
    columns |= {f"number{i}": number["column"] for i, number in enumerate(numbers)}
    n_bytes -= sum(measure_packed(number["column"]) for number in numbers)
    left_out += [*text_notes, *number_notes]
    has_table = "cluster" in columns
    note = ("To keep the page small, it leaves out ", _join_with_and(left_out), ".")
    meaning = f"{describe_confidence(facts)} " if facts.has_confidence else ""
    if facts.shows_views and facts.assessment is not None:
        meaning += "Stability is how often fits without the item put it into its group again."
    script_note = "The search and the table of all items need JavaScript; the rest of the page does not."
    return Section.build(
        "find",
        "Table",
        f"All {facts.count(facts.n)}",
        tag("p", note, class_="note") if left_out else None,
        tag("p", script_note, class_="note without-js") if has_table else None,
        tag("p", id="find-trouble", class_="note", hidden=True),
        _build_search_table(facts) if has_table else None,
        tag("p", meaning, class_="note") if has_table and meaning else None,
        data={
            "columns": columns,
            "texts": [{"name": text["name"], "length": text["length"]} for text in texts],
            "numbers": [{"name": number["name"], "unit": number["unit"]} for number in numbers],
            "views": [truncate(clean_text(name), 60) for name in facts.view_labels],
            "words": choose_words(np.arange(101) / 100).tolist(),  # by the confidence in percent
            "pictures": _add_pictures(facts, n_bytes),
        },
    )


def describe_confidence(facts: ReportFacts) -> str:
    """Say what confidence is, and which word follows from which number."""
    meaning = "as given with the data"
    if facts.custom_confidence is None:
        meaning = "the estimated probability that an item belongs to the kind that is most frequent in its group"
    return f"Confidence is {meaning}: {describe_words()}."


def _add_pictures(facts: ReportFacts, n_bytes: int) -> dict[int, str]:
    """Return the pictures that other sections do not show, as many as fit; of many entities none."""
    pictures: dict[int, str] = {}
    if facts.thumbnails is None or facts.n > MAX_THUMBNAILS:
        return pictures
    for row in range(facts.n):
        source = None if row in facts.shown_pictures else facts.find_picture(row)
        n_bytes -= 0 if source is None else len(source)
        if n_bytes < 0:
            break
        if source is not None:
            pictures[row] = source
    return pictures


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
    yield "cluster", "the table of all items", lambda: pack_numbers(facts.labels, "i2")
    if facts.shows_views:
        if facts.has_confidence:
            percent = np.nan_to_num(np.round(100 * facts.confidence), nan=UNKNOWN)
            yield "sure", "the confidence", lambda: pack_numbers(percent, "u2")
        yield "contested", "which items are contested", lambda: pack_numbers(facts.contested, "i2")
    if (second := facts.second_choice) is not None:
        yield "second", "the second choices", lambda: pack_numbers(second, "i2")
    if facts.assessment is not None:
        stability = np.nan_to_num(np.round(facts.assessment.stability * 1000), nan=-1)
        yield "stability", "the stability", lambda: pack_numbers(stability, "i2")
    if facts.views.ids is not None:
        name = "the ids (numbers from 0 replace them)"
        yield "ids", name, lambda: pack_names([truncate(facts.name_entity(row), MAX_ID) for row in range(facts.n)])
    if facts.shows_views:
        for v, (view, labels) in enumerate(facts.view_labels.items()):
            name = join_html(("the groups of view ", mark_user_text(view)))
            yield f"view{v}", name, partial(pack_numbers, labels, "i2")


def _pack_texts(facts: ReportFacts, n_bytes: int) -> tuple[list[dict[str, Any]], list[str]]:
    """Return the packed texts and categories, as much of each as fits, and notes on what is left out."""
    packed: list[dict[str, Any]] = []
    notes: list[str] = []
    sources = collect_texts(facts)
    for i, (name, values) in enumerate(sources.items()):
        budget = n_bytes // (len(sources) - i)  # what a short column leaves is for the others
        cells = [clean_text(_write_cell(value)) for value in values]
        longest = max(map(len, cells), default=0)
        shown = mark_user_text(name, 40)
        for length in TEXT_LENGTHS:
            if length > longest and length != TEXT_LENGTHS[0]:
                continue
            column = pack_names([truncate(cell, length) for cell in cells])
            if measure_packed(column) <= budget:
                is_cut = longest > length
                packed.append(
                    {"name": truncate(clean_text(name), 60), "length": length if is_cut else 0, "column": column}
                )
                n_bytes -= measure_packed(column)
                if is_cut:
                    notes.append(join_html((f"what follows the first {format_integer(length)} characters of ", shown)))
                break
        else:
            notes.append(join_html(("the texts of ", shown)))
    return packed, notes


def _pack_quantities(facts: ReportFacts, n_bytes: int) -> tuple[list[dict[str, Any]], list[str]]:
    """Return the packed numbers and dates that differ most between the groups, and notes on what is left out."""
    columns = [column for column in rank_columns(facts.columns, facts.labels) if column.kind in ("number", "date")]
    columns = [column for column in columns if np.isfinite(column.values).any()]
    packed: list[dict[str, Any]] = []
    notes: list[str] = []
    for column in columns[:MAX_QUANTITIES]:
        if column.kind == "date":
            cells = ["" if day != day else str(np.datetime64(int(day), "D")) for day in column.values.tolist()]
        else:
            cells = ["" if number != number else f"{number:.12g}" for number in column.values.tolist()]
        cell_column = pack_names(cells)
        if measure_packed(cell_column) <= n_bytes:
            n_bytes -= measure_packed(cell_column)
            packed.append({"name": truncate(clean_text(column.name), 60), "unit": column.unit, "column": cell_column})
        else:
            notes.append(join_html(("the numbers of ", mark_user_text(column.name, 40))))
    n_others = len(columns) - MAX_QUANTITIES
    if n_others > 0:
        notes.append(f"{format_integer(n_others)} {'column' if n_others == 1 else 'columns'} of numbers")
    return packed, notes


def collect_texts(facts: ReportFacts) -> dict[str, Any]:
    """Return what can be searched by name: the texts of the views, and columns of texts and categories."""
    candidates: dict[str, Any] = {
        **facts.view_texts,
        **{column.name: column.values for column in facts.columns if column.kind in ("text", "category")},
    }
    texts: dict[tuple[str, ...], tuple[str, Any]] = {}
    for name, values in candidates.items():
        texts.setdefault(tuple(map(_write_cell, values)), (name, values))  # views may share their texts
    return dict(texts.values())


def _write_cell(value: Any) -> str:
    """Return the beginning of a text; missing ones are empty."""
    return str(value)[: 2 * MAX_TEXT] if value is not None and value == value else ""


def _join_with_and(parts: list[str]) -> Html:
    separators = ["", *[", "] * (len(parts) - 2), " and "][: len(parts)]
    return join_html(pair for pair in zip(separators, parts, strict=True))


def _build_search_table(facts: ReportFacts) -> Html:
    """Return the controls, a table whose columns the script fills, and the paging."""
    has_views = facts.shows_views and len(facts.view_labels) > 0
    controls = tag(
        "div",
        tag("label", "Group ", tag("select", id="find-group")),
        tag("label", tag("input", type="checkbox", id="find-contested"), " only where views disagree", class_="check"),
        tag(
            "label",
            tag("input", type="checkbox", id="find-views"),
            " show the group by each view",
            class_="check",
            hidden=not has_views,
        ),
        tag(
            "span",
            tag("button", "Download CSV", type="button", id="find-save"),
            " ",
            tag("button", "Copy", type="button", id="find-copy"),
            class_="export",
        ),
        class_="controls needs-js",
    )
    table = tag(
        "table",
        tag("caption", start_sentence(facts.noun), class_="unseen"),
        tag("thead", tag("tr", id="find-head")),
        tag("tbody", id="find-rows"),
        class_="entities stacked",
    )
    paging = tag(
        "div",
        tag("button", "Previous", type="button", id="find-back"),
        tag("button", "Next", type="button", id="find-on"),
        tag("output", "Reading …", id="find-count", aria_live="polite"),
        class_="pages needs-js",
    )
    return join_html((controls, tag("div", make_scrollable(f"All {facts.noun}", table), class_="needs-js"), paging))
