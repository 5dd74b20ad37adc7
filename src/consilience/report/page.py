"""Assemble the page: the sections, one style sheet, one script, and one block of data."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.resources import files

from .facts import ReportFacts
from .markup import Html, tag
from .pack import data_block
from .sections import SECTIONS, Section, SectionBuilder, build_method, build_search

MAX_BYTES = 5_000_000
RESERVED_BYTES = 20_000  # for the parts of the page that are not measured
STYLES = ("style.css", "descriptions.css")
# in the order of the script: a part may use what the parts before it define
SCRIPT_PARTS = ("base", "state", "theme", "clusters", "unpack", "view_maps", "search", "start")
ICON = (
    "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Ccircle cx='6' cy='8' r='5' "
    "fill='%230072b2'/%3E%3Ccircle cx='10' cy='8' r='5' fill='%23e69f00' opacity='.75'/%3E%3C/svg%3E"
)


def build_page(facts: ReportFacts, extra_sections: Sequence[SectionBuilder] = ()) -> str:
    """Return the whole document; extra sections stand before the table of all entities."""
    style, script = read_styles(), read_script()
    built = (build(facts) for build in (*SECTIONS, *extra_sections))
    sections = [section for section in built if section is not None]
    for section in sections:
        if not isinstance(section, Section):
            raise TypeError(f"a section builder must return a Section or None, got {type(section).__name__}")
    method = build_method(facts)
    data = {name: value for section in sections for name, value in section.data.items()}
    n_bytes = sum(len(part.encode("utf-8")) for part in (style, script, *(section.body for section in sections)))
    n_bytes += len(method.body.encode("utf-8")) + len(str(data_block(data))) + RESERVED_BYTES
    search = build_search(facts, MAX_BYTES - n_bytes)
    sections += [search, method]
    ids = [section.id for section in sections]
    if len(set(ids)) < len(ids):
        repeated = next(section_id for section_id in ids if ids.count(section_id) > 1)
        raise ValueError(f"two sections have the id {repeated!r}: choose another id for yours")
    links = (tag("li", tag("a", section.short_title, href=f"#{section.id}")) for section in sections)
    navigation = tag("nav", tag("ol", links), aria_label="Contents")
    toggle = tag("button", "Dark", type="button", id="theme", class_="needs-js", aria_label="Dark colors")
    now = datetime.now(UTC)  # the only part of the page that changes between runs
    date = tag("time", f"{now.day} {now:%B %Y, %H:%M} UTC", datetime=now.strftime("%Y-%m-%dT%H:%MZ"))
    body = tag(
        "body",
        tag("a", "Skip to the report", href="#main", class_="skip"),
        tag("header", tag("p", tag("a", "consilience", href="#summary"), class_="mark"), toggle, class_="top"),
        tag("div", navigation, tag("main", (section.to_html() for section in sections), id="main"), class_="page"),
        tag("footer", tag("p", "Made by consilience on ", date, ". The page works offline and sends no data.")),
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


def read_styles() -> Html:
    """Return the style sheet of the page."""
    return Html("".join((files(__package__) / name).read_text("utf-8") for name in STYLES))


def read_script() -> Html:
    """Return the script of the page, whose parts share one scope."""
    folder = files(__package__) / "script"
    parts = [(folder / f"{name}.js").read_text("utf-8") for name in SCRIPT_PARTS]
    return Html('"use strict";\n(() => {\n' + "\n".join(parts) + "})();\n")


def write_content_policy(script: str) -> str:
    """Return the content security policy: the page may show itself and run its one script."""
    digest = base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode("ascii")
    return (
        f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
