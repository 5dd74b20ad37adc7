"""The page: sections in the order in which a reader asks, one style, one script, one block of data."""

from __future__ import annotations

import base64
import hashlib
from datetime import UTC, datetime
from importlib.resources import files

from .facts import ReportFacts
from .markup import Html, tag
from .pack import data_block
from .sections import Section, build_search, build_sections

MOST_BYTES = 5_000_000
ICON = (
    "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Ccircle cx='6' cy='8' r='5' "
    "fill='%230072b2'/%3E%3Ccircle cx='10' cy='8' r='5' fill='%23e69f00' opacity='.75'/%3E%3C/svg%3E"
)


def build_page(facts: ReportFacts) -> str:
    """The whole document."""
    style, script = _read_asset("style.css"), _read_asset("script.js")
    sections, maps = build_sections(facts)
    written = sum(len(part.encode("utf-8")) for part in (style, script, *(own.body for own in sections)))
    found, entities = build_search(facts, MOST_BYTES - written - len(str(data_block(maps))) - 20_000)
    at = next(i for i, own in enumerate(sections) if own.id == "method")
    sections = [*sections[:at], found, *sections[at:]]
    body = tag(
        "body",
        tag("a", "Skip to the report", href="#main", class_="skip"),
        _build_header(),
        tag(
            "div",
            _build_navigation(sections),
            tag("main", (_wrap_section(own) for own in sections), id="main"),
            class_="page",
        ),
        tag(
            "footer",
            tag("p", "Made by consilience on ", _format_date(), ". The page needs no network and sends nothing."),
        ),
        data_block({**maps, **entities}),
        tag("script", script),
    )
    return f"<!doctype html>\n{tag('html', _build_head(facts, style, script), body, lang='en')}\n"


def _read_asset(name: str) -> Html:
    return Html((files(__package__) / name).read_text(encoding="utf-8"))


def _build_head(facts: ReportFacts, style: Html, script: Html) -> Html:
    return tag(
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


def write_content_policy(script: str) -> str:
    """What the page may do: show itself and run its one script, and nothing else."""
    digest = base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode("ascii")
    return (
        f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _format_date() -> Html:
    """The one place of the page that differs from day to day."""
    now = datetime.now(UTC)
    return tag("time", f"{now.day} {now:%B %Y, %H:%M} UTC", datetime=now.strftime("%Y-%m-%dT%H:%MZ"))


def _build_header() -> Html:
    toggle = tag("button", "Dark", type="button", id="theme", class_="needs-js", aria_label="Dark colours")
    return tag("header", tag("p", tag("a", "consilience", href="#summary"), class_="mark"), toggle, class_="top")


def _build_navigation(sections: list[Section]) -> Html:
    links = (tag("li", tag("a", own.short, href=f"#{own.id}")) for own in sections)
    return tag("nav", tag("ol", links), aria_label="Contents")


def _wrap_section(own: Section) -> Html:
    return tag("section", own.heading, own.body, id=own.id, aria_labelledby=f"{own.id}-title")
