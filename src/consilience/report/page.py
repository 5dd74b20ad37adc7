"""Assemble the page: the sections, one style sheet, one script, and one block of data."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.resources import files

from .._tuning import Tuning
from .facts import ReportFacts
from .markup import Html, tag
from .pack import data_block
from .sections import SECTIONS, Section, SectionBuilder, build_method, build_overview, build_search

RESERVED_BYTES = 20_000  # for the parts of the page that are not measured
tuning = Tuning(max_bytes=10_000_000)
# in the order of the script: a part may use what the parts before it define
SCRIPT_PARTS = (
    "base", "unpack", "state", "theme", "table", "export", "search", "groups", "pages", "view_maps",
    "map_colors", "map_points", "map_labels", "map_lasso", "map", "start",
)  # fmt: skip
STYLES = ("style.css", "map.css", "descriptions.css")
ICON = (
    "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Ccircle cx='6' cy='8' r='5' "
    "fill='%230072b2'/%3E%3Ccircle cx='10' cy='8' r='5' fill='%23e69f00' opacity='.75'/%3E%3C/svg%3E"
)


def build_page(facts: ReportFacts, extra_sections: Sequence[SectionBuilder] = ()) -> str:
    """Return the whole document; extra sections stand before the method, those with results before the table."""
    facts.shown_pictures.clear()  # of a page that was built before
    style, script = read_parts("", STYLES), read_script()
    overview, method = build_overview(facts), build_method(facts)
    built = (build(facts) for build in (*SECTIONS, *extra_sections))
    sections = [section for section in built if section is not None]
    for section in sections:
        if not isinstance(section, Section):
            raise TypeError(f"a section builder must return a Section or None, got {type(section).__name__}")
    results = [overview, *(section for section in sections if section.is_result)]
    details = [*(section for section in sections if not section.is_result), method]
    data = {name: value for section in (*results, *details) for name, value in section.data.items()}
    bodies = [section.body for section in (*results, *details)]
    n_bytes = sum(len(part.encode("utf-8")) for part in (style, script, *bodies))
    search = build_search(facts, tuning.max_bytes - n_bytes - len(str(data_block(data))) - RESERVED_BYTES)
    ids = [section.id for section in (*results, search, *details)]
    if len(set(ids)) < len(ids):
        repeated = next(section_id for section_id in ids if ids.count(section_id) > 1)
        raise ValueError(f"two sections have the id {repeated!r}: choose another id for yours")
    body = tag(
        "body",
        tag("a", "Skip to the report", href="#main", class_="skip"),
        _build_header((*results, search)),
        tag("main", (section.to_html() for section in (*results, search)), _build_details(details), id="main"),
        _build_footer(),
        data_block({**data, **search.data}),
        tag("script", script),
    )
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=write_content_policy(script)),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("meta", name="generator", content="consilience"),
        tag("title", facts.title),
        tag("link", rel="icon", href=ICON),
        tag("style", style),
    )
    return f"<!doctype html>\n{tag('html', head, body, lang='en')}\n"


def _build_header(sections: Sequence[Section]) -> Html:
    parts = {**{section.id: section.short_title for section in sections}, "made": "How it was made"}
    links = (tag("a", text, href=f"#{section_id}") for section_id, text in parts.items())
    toggle = tag("button", "Dark", type="button", id="theme", class_="needs-js", aria_label="Dark colors")
    mark = tag("p", tag("a", "consilience", href="#overview"), class_="mark")
    return tag("header", mark, tag("nav", links, aria_label="Parts of the page"), toggle, class_="top")


def _build_details(sections: Sequence[Section]) -> Html:
    """Return the sections about the method and its figures, below the groups and the table."""
    links = (tag("li", tag("a", section.short_title, href=f"#{section.id}")) for section in sections)
    contents = tag("nav", tag("ol", links), aria_label="Contents")
    return tag(
        "div",
        tag("h2", "How it was made", id="made"),
        tag("div", contents, tag("div", (section.to_html() for section in sections)), class_="page"),
        class_="made",
    )


def _build_footer() -> Html:
    now = datetime.now(UTC)  # the only part of the page that changes between runs
    date = tag("time", f"{now.day} {now:%B %Y, %H:%M} UTC", datetime=now.strftime("%Y-%m-%dT%H:%MZ"))
    return tag("footer", tag("p", "Made by consilience on ", date, ". The page works offline and sends no data."))


def read_script() -> Html:
    """Return the script of the page, whose parts share one scope."""
    content = read_parts("script", [f"{name}.js" for name in SCRIPT_PARTS])
    return Html(f'"use strict";\n(() => {{\n{content}}})();\n')


def read_parts(folder: str, names: Sequence[str]) -> Html:
    """Return the files of a folder of this package, one after the other."""
    return Html("\n".join((files(__package__) / folder / name).read_text("utf-8") for name in names))


def write_content_policy(script: str) -> str:
    """Return the content security policy: the page may show itself and run its one script."""
    digest = base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode("ascii")
    return (
        f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
