"""Self-contained HTML page of all papers: verdicts, our numbers next to the published ones, figures, claims."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Mapping, Sequence
from importlib.resources import files
from math import isfinite

from consilience.report.charts import make_scrollable
from consilience.report.markup import Html, clean_text, format_count, join_html, mark_user_text, tag
from consilience.report.page import ICON, write_content_policy

from .entries import (
    CLOSE,
    CLOSENESS,
    FAR,
    NEAR,
    Entry,
    describe_spread,
    format_number,
    format_with_spread,
    iterate_entries,
    make_entry,
)
from .outcome import Outcome, Panel, Verdict
from .study import CANNOT, FAILS, FAILS_ELSEWHERE, HOLDS, HOLDS_ELSEWHERE, Paper
from .tables import (
    SIGNS,
    count_verdicts,
    format_duration,
    group_by_claim,
    group_by_paper,
    group_verdicts,
    list_gaps,
    list_other_data,
    summarize_verdicts,
)

CLASSES = {
    HOLDS: "holds",
    FAILS: "fails",
    HOLDS_ELSEWHERE: "holds-elsewhere",
    FAILS_ELSEWHERE: "fails-elsewhere",
    CANNOT: "cannot",
}
HEADLINE = (HOLDS, FAILS, CANNOT)  # verdicts on other data are counted apart
TINTS = {CLOSE: "tint close", NEAR: "tint near", FAR: "tint far"}
TITLE = "The papers, run again"

Figures = Mapping[tuple[str, str], str]


def render_page(outcomes: Iterable[Outcome], figures: Figures) -> str:
    """Render the whole document; `figures` has SVG text by the names of paper and study."""
    outcomes = list(outcomes)
    papers = group_by_paper(outcomes)
    body = tag(
        "body",
        tag("a", "Skip to the results", href="#main", class_="skip"),
        _render_top(),
        tag(
            "div",
            _render_contents(papers),
            tag(
                "main",
                _render_summary(outcomes, papers),
                (_render_paper(*paper_outcomes, figures) for paper_outcomes in papers),
                id="main",
            ),
            class_="page",
        ),
        tag("footer", tag("p", "Made by consilience. The page needs no network and sends nothing.")),
    )
    return f"<!doctype html>\n{tag('html', _render_head(), body, lang='en')}\n"


def _render_head() -> Html:
    style = (
        (files("consilience.report") / "style.css").read_text(encoding="utf-8"),
        (files(__package__) / "page.css").read_text(encoding="utf-8"),
    )
    return tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=write_content_policy("")),  # the page has no script
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("meta", name="generator", content="consilience"),
        tag("title", TITLE),
        tag("link", rel="icon", href=ICON),
        tag("style", Html("\n".join(style))),
    )


def _render_top() -> Html:
    choices = (("", "system"), ("light", "light"), ("dark", "dark"))
    options = (tag("option", name, value=value) for value, name in choices)
    chooser = tag("label", "Colours ", tag("select", options, id="colours", autocomplete="off"))
    return tag("header", tag("p", tag("a", "consilience", href="#summary"), class_="mark"), chooser, class_="top")


def _render_contents(papers: Sequence[tuple[Paper, list[Outcome]]]) -> Html:
    links = [("summary", "Summary"), *((_make_id(paper.name), paper.title) for paper, _ in papers)]
    return tag(
        "nav", tag("ol", (tag("li", tag("a", name, href=f"#{to}")) for to, name in links)), aria_label="Contents"
    )


# Summary


def _render_summary(outcomes: list[Outcome], papers: Sequence[tuple[Paper, list[Outcome]]]) -> Html:
    counts = count_verdicts(outcomes)
    seconds = sum(outcome.seconds for outcome in outcomes)
    lead = (
        f"{format_count(len(outcomes), 'table or figure', 'tables and figures')} of "
        f"{format_count(len(papers), 'paper')}, run again in {format_duration(seconds)} of computing, "
        f"with {format_count(sum(counts.values()), 'verdict')} on their claims."
    )
    return tag(
        "section",
        tag("h1", TITLE, id="summary-title"),
        tag("p", lead, class_="lead"),
        tag("dl", (_render_count(status, counts[status]) for status in HEADLINE), class_="figures statuses"),
        _render_stack(counts),
        tag(
            "p",
            "These verdicts are on the papers' own data. Where only other data are available, "
            f"{format_count(counts[HOLDS_ELSEWHERE], 'claim holds', 'claims hold')} and {counts[FAILS_ELSEWHERE]} "
            f"do{'es' if counts[FAILS_ELSEWHERE] == 1 else ''} not.",
            class_="note",
        ),
        _render_matrix(papers, counts),
        _render_key(outcomes),
        id="summary",
        aria_labelledby="summary-title",
    )


def _render_count(status: str, n: int) -> Html:
    return tag("div", tag("dt", _render_status(status)), tag("dd", tag("b", str(n))), class_=CLASSES[status])


def _render_status(status: str) -> Html:
    return tag("span", tag("i", SIGNS[status], aria_hidden="true"), " ", status, class_=f"status {CLASSES[status]}")


def _render_stack(counts: Mapping[str, int]) -> Html | None:
    """Render the counts on own data as parts of a bar; the numbers are above it."""
    parts = [
        tag("span", class_=CLASSES[status], style=f"--part:{counts[status]}") for status in HEADLINE if counts[status]
    ]
    return tag("div", parts, class_="stack", aria_hidden="true") if parts else None


def _render_matrix(papers: Sequence[tuple[Paper, list[Outcome]]], total: Mapping[str, int]) -> Html:
    head = tag(
        "tr", tag("th", "Paper", scope="col"), (tag("th", _render_status(status), scope="col") for status in SIGNS)
    )
    rows = [
        tag(
            "tr",
            tag("th", tag("a", paper.title, href=f"#{_make_id(paper.name)}"), scope="row"),
            _render_tallies(count_verdicts(paper_outcomes)),
        )
        for paper, paper_outcomes in papers
    ]
    foot = tag("tfoot", tag("tr", tag("th", "All", scope="row"), _render_tallies(total))) if len(papers) > 1 else None
    caption = "Claims by paper"
    return make_scrollable(
        caption, tag("table", tag("caption", caption), tag("thead", head), tag("tbody", rows), foot, class_="matrix")
    )


def _render_tallies(counts: Mapping[str, int]) -> list[Html]:
    return [tag("td", str(n)) for n in counts.values()]


def _render_key(outcomes: list[Outcome]) -> Html | None:
    """Explain the signs and colors of the cells, if there are published numbers."""
    if not any(cell.closeness for outcome in outcomes for *_, cell in iterate_entries(outcome)):
        return None
    signs = (tag("li", tag("b", sign, class_=TINTS[sign]), meaning) for sign, meaning in CLOSENESS.items())
    return join_html(
        (
            tag("h2", "How to read the tables", class_="small"),
            tag("p", "Each cell shows our number with its spread over the runs, and below it the published number:"),
            tag("ul", signs, class_="key"),
        )
    )


# Papers


def _render_paper(paper: Paper, outcomes: list[Outcome], figures: Figures) -> Html:
    anchor = _make_id(paper.name)
    seconds = sum(outcome.seconds for outcome in outcomes)
    return tag(
        "section",
        tag("h2", paper.title, id=f"{anchor}-title"),
        tag("p", clean_text(paper.citation), class_="citation"),
        tag("p", format_prose(paper.idea)),
        tag(
            "p", f"{summarize_verdicts(outcomes)}. {format_duration(seconds).capitalize()} of computing.", class_="note"
        ),
        _render_study_list(outcomes),
        (_render_study(outcome, figures.get((paper.name, outcome.study.name))) for outcome in outcomes),
        id=anchor,
        aria_labelledby=f"{anchor}-title",
    )


def _render_study_list(outcomes: list[Outcome]) -> Html | None:
    """List the studies of a paper with the verdicts on their claims."""
    if len(outcomes) < 2:
        return None
    items = (
        tag(
            "li",
            tag(
                "a",
                f"{format_heading(outcome.study.name)}: {clean_text(outcome.study.title)}",
                href=f"#{_make_anchor(outcome)}",
            ),
            (_render_tally(status, n) for status, n in count_verdicts([outcome]).items() if n),
        )
        for outcome in outcomes
    )
    return tag("ul", items, class_="studies")


def _render_tally(status: str, n: int) -> Html:
    words = tag("span", f" {status}", class_="unseen")
    return tag("span", tag("i", SIGNS[status], aria_hidden="true"), str(n), words, class_=f"tally {CLASSES[status]}")


def _render_study(outcome: Outcome, svg: str | None) -> Html:
    study = outcome.study
    spread = describe_spread(outcome)
    measure = f"{clean_text(study.measure)}; {spread}" if spread else clean_text(study.measure)
    return tag(
        "div",
        tag("h3", f"{format_heading(study.name)}: {clean_text(study.title)}", id=_make_anchor(outcome)),
        tag("p", measure[:1].upper() + measure[1:], ".", class_="note"),
        _render_drawing(outcome, svg) if svg else None,
        _render_tables(outcome, folded=svg is not None),
        _render_reasons("Missing results", list_gaps(outcome)),
        _render_reasons("Not the paper's own data", list_other_data(outcome)),
        _render_claims(outcome),
        tag("p", tag("b", "Protocol. "), format_prose(study.note), class_="note") if study.note else None,
        class_="study",
    )


def _render_tables(outcome: Outcome, folded: bool) -> Html:
    """Render the tables: collapsible if there is a figure, and open if there are published numbers to compare."""
    tables = [_render_table(outcome, panel) for panel in outcome.panels]
    if not tables or not folded:
        return join_html(tables)
    compared = any(cell.published is not None for *_, cell in iterate_entries(outcome))
    summary = tag("summary", f"The numbers, in {format_count(len(tables), 'table')}")
    return tag("details", summary, tables, class_="numbers", open=compared)


def _render_drawing(outcome: Outcome, svg: str) -> Html:
    """Embed the figure as an image, which cannot run scripts, on a white background."""
    source = "data:image/svg+xml;base64," + base64.b64encode(svg.encode("utf-8")).decode("ascii")
    image = tag("img", src=source, alt=_describe_figure(outcome))
    return tag(
        "div", image, class_="drawing", role="region", aria_label=f"Figure of {outcome.study.name}", tabindex="0"
    )


def _describe_figure(outcome: Outcome) -> str:
    figure = outcome.study.figure
    over = f"{clean_text(figure.y)} by {clean_text(figure.x)}" if figure else clean_text(outcome.study.measure)
    rows = dict.fromkeys(clean_text(row) for panel in outcome.panels for row in panel.rows)
    panels = [clean_text(panel.name) for panel in outcome.panels if panel.name]
    places = f", for {', '.join(panels)}" if panels else ""
    return f"{clean_text(outcome.study.title)}: {over}{places}. Drawn: {', '.join(rows)}. The numbers follow in tables."


def _render_table(outcome: Outcome, panel: Panel) -> Html:
    caption = clean_text(panel.name) or format_heading(outcome.study.name)
    heads = (tag("th", mark_user_text(column, 32), scope="col") for column in panel.columns)
    rows = (
        tag(
            "tr",
            tag("th", mark_user_text(row, 48), scope="row"),
            (_render_cell(make_entry(outcome, panel, row, column)) for column in panel.columns),
        )
        for row in panel.rows
    )
    table = tag(
        "table",
        tag("caption", mark_user_text(caption, 120)),
        tag("thead", tag("tr", tag("td"), heads)),
        tag("tbody", rows),
        class_="both",
    )
    return make_scrollable(caption, table)


def _render_cell(entry: Entry | None) -> Html:
    if entry is None:
        return tag("td", "–")
    ours, _, spread = format_with_spread(entry).partition(" ")
    shown = join_html((ours, tag("small", f" {spread}") if isfinite(entry.spread) else None))
    if entry.published is None:
        return tag("td", shown)
    sign = entry.closeness
    words = tag("span", "published ", class_="unseen")
    printed = tag("span", tag("b", sign), " ", words, format_number(entry.published), class_="printed")
    return tag("td", shown, printed, class_=TINTS[sign] if sign else None)


def _render_reasons(heading: str, reasons: Iterable[tuple[str, str]]) -> Html | None:
    """Render a list of reasons by panel under a heading; None if there are no reasons."""
    items = [
        tag("li", *((tag("b", mark_user_text(panel, 80)), ": ") if panel else ()), format_prose(reason))
        for panel, reason in reasons
    ]
    return join_html((tag("h4", heading), tag("ul", items, class_="hints"))) if items else None


# Claims


def _render_claims(outcome: Outcome) -> Html | None:
    if not outcome.verdicts:
        return None
    items = (_render_claim(outcome, claim, verdicts) for claim, verdicts in group_by_claim(outcome).items())
    return join_html((tag("h4", "Claims of the paper"), tag("ul", items, class_="claims")))


def _render_claim(outcome: Outcome, claim: str, verdicts: list[Verdict]) -> Html:
    """Render a claim with its status, or with one status per group of panels."""
    groups = group_verdicts(outcome, verdicts)
    if len(groups) == 1:
        return tag("li", tag("p", format_prose(claim)), _render_verdict(*groups[0]), class_=CLASSES[groups[0][0]])
    each = (tag("li", _render_verdict(*group), class_=CLASSES[group[0]]) for group in groups)
    return tag("li", tag("p", format_prose(claim)), tag("ul", each))


def _render_verdict(status: str, panels: list[str], words: str) -> Html:
    names = [mark_user_text(panel, 80) for panel in panels if panel]
    where = (part for i, name in enumerate(names) for part in (", " if i else " on ", name))
    return tag("p", _render_status(status), where, tag("span", ": ", format_prose(words), class_="words"))


def format_prose(text: str) -> Html:
    """Format text in which backticks mark code; a text with an odd number of backticks stays as it is."""
    parts = clean_text(text).split("`")
    if len(parts) % 2 == 0:
        return join_html([clean_text(text)])
    return join_html(tag("code", part) if i % 2 else part for i, part in enumerate(parts))


def format_heading(name: str) -> str:
    """Turn a name into a heading: ``figure-2-left`` into Figure 2 left, ``section-5-3`` into Section 5.3."""
    words = re.sub(r"(?<=\d)-(?=\d)", ".", clean_text(name)).replace("-", " ")
    return words[:1].upper() + words[1:]


def _make_anchor(outcome: Outcome) -> str:
    return _make_id(f"{outcome.paper.name}-{outcome.study.name}")


def _make_id(name: str) -> str:
    """Turn a name into an HTML id."""
    return "".join(letter if letter.isalnum() else "-" for letter in name) or "-"
