"""Render outcomes as tables: for a terminal, as Markdown, and as rows of a CSV file."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from consilience.report.markup import clean_text, format_count, truncate

from .entries import Entry, describe_spread, format_number, format_with_spread, iterate_entries, make_entry
from .outcome import Outcome, Panel, Verdict
from .study import CANNOT, FAILS, FAILS_ELSEWHERE, HOLDS, HOLDS_ELSEWHERE, Paper

SIGNS = {HOLDS: "✓", FAILS: "✗", HOLDS_ELSEWHERE: "(✓)", FAILS_ELSEWHERE: "(✗)", CANNOT: "?"}
ROW_WIDTH, COLUMN_WIDTH = 34, 22  # maximum length of a name in a terminal
MARKDOWN_ESCAPES = str.maketrans(
    {"|": r"\|", "<": "&lt;", "*": r"\*", "[": r"\["}
)  # characters with a meaning in Markdown


def count_verdicts(outcomes: Iterable[Outcome], ours: bool = False) -> dict[str, int]:
    """Count the verdicts on the claims of the papers, or on our own checks, by status."""
    statuses = [verdict.status for outcome in outcomes for verdict in outcome.verdicts if verdict.ours == ours]
    return {status: statuses.count(status) for status in SIGNS}


def summarize_verdicts(outcomes: Iterable[Outcome]) -> str:
    """Summarize the verdicts in a sentence: own data, other data, untestable claims, and our own checks."""
    outcomes = list(outcomes)
    counts, our_counts = count_verdicts(outcomes), count_verdicts(outcomes, ours=True)
    owner = "papers'" if len(group_by_paper(outcomes)) > 1 else "paper's"
    words = (
        f"{format_count(counts[HOLDS], 'claim holds', 'claims hold')} on the {owner} own data, "
        f"{counts[FAILS]} do{'es' if counts[FAILS] == 1 else ''} not; on other data "
        f"{counts[HOLDS_ELSEWHERE]} hold{'s' if counts[HOLDS_ELSEWHERE] == 1 else ''}, "
        f"{counts[FAILS_ELSEWHERE]} do{'es' if counts[FAILS_ELSEWHERE] == 1 else ''} not; "
        f"{counts[CANNOT]} cannot be tested"
    )
    if any(our_counts.values()):
        n_confirmed = count_confirmed(our_counts)
        words += f"; of {sum(our_counts.values())} checks of ours {n_confirmed} hold{'s' if n_confirmed == 1 else ''}"
    return words


def count_confirmed(counts: Mapping[str, int]) -> int:
    """Return how many verdicts are that a claim holds, on any data."""
    return counts[HOLDS] + counts[HOLDS_ELSEWHERE]


def group_by_paper(outcomes: Iterable[Outcome]) -> list[tuple[Paper, list[Outcome]]]:
    """Group outcomes by paper, in the order of the first outcome of each paper."""
    groups: dict[str, tuple[Paper, list[Outcome]]] = {}
    for outcome in outcomes:
        groups.setdefault(outcome.paper.name, (outcome.paper, []))[1].append(outcome)
    return list(groups.values())


def group_by_claim(outcome: Outcome) -> dict[str, list[Verdict]]:
    """Group the verdicts by claim: one verdict, or one per panel."""
    groups: dict[str, list[Verdict]] = {}
    for verdict in outcome.verdicts:
        groups.setdefault(verdict.claim, []).append(verdict)
    return groups


def make_csv_rows(outcome: Outcome) -> list[dict[str, Any]]:
    """Return one row per cell with unrounded numbers; None for missing numbers."""
    return [
        {
            "panel": panel.name,
            "row": row,
            "column": column,
            "ours": entry.ours,
            "spread": entry.spread if entry.spread == entry.spread else None,
            "runs": entry.runs,
            "published": entry.published,
            "difference": entry.difference,
        }
        for panel, row, column, entry in iterate_entries(outcome)
    ]


def make_verdict_rows(outcomes: Iterable[Outcome]) -> list[dict[str, Any]]:
    """Return one row per verdict of all studies."""
    return [
        {
            "paper": outcome.paper.name,
            "study": outcome.study.name,
            "claim": verdict.claim,
            "panel": verdict.panel,
            "status": verdict.status,
            "figures": verdict.words,
            "other_data": verdict.other_data,
            "ours": "yes" if verdict.ours else "no",
        }
        for outcome in outcomes
        for verdict in outcome.verdicts
    ]


def format_cell(entry: Entry | None) -> str:
    """Format a cell as ``.749 ± .030 (.726)``: our number, and the published number in parentheses."""
    if entry is None:
        return ""
    return (
        format_with_spread(entry)
        if entry.published is None
        else f"{format_with_spread(entry)} ({format_number(entry.published)})"
    )


def describe_cells(outcome: Outcome) -> str:
    """Describe the numbers of a study and how to read a cell."""
    compared = any(entry.published is not None for *_, entry in iterate_entries(outcome))
    parts = (outcome.study.measure, describe_spread(outcome), "published in parentheses" if compared else "")
    return "; ".join(part for part in parts if part)


def list_gaps(outcome: Outcome) -> Iterator[tuple[str, str]]:
    """Yield the panels that are missing or incomplete, with the reasons."""
    shown = {panel.name for panel in outcome.panels}
    for panel, reason in outcome.missing.items():
        yield panel, f"incomplete: {reason}" if panel in shown else reason


def list_other_data(outcome: Outcome) -> Iterator[tuple[str, str]]:
    """Yield the panels whose data are not the paper's own, with the reasons; one entry without panel for all."""
    names = list(dict.fromkeys([*(panel.name for panel in outcome.panels), *outcome.missing]))
    reasons = {name: reason for name in names if (reason := outcome.study.explain_other_data(name))}
    if len(reasons) == len(names) > 1 and len(set(reasons.values())) == 1:
        yield "", reasons[names[0]]
    else:
        yield from reasons.items()


def describe_verdict(outcome: Outcome, verdict: Verdict) -> str:
    """Return the figures of a verdict.

    Reasons for missing data and for other data are omitted if they are listed above the claims.
    """
    if verdict.status == CANNOT and outcome.missing:
        if outcome.missing.get(verdict.panel) == verdict.words:
            return "missing data, see above"
        if all(reason in verdict.words for reason in outcome.missing.values()):
            return f"missing data, see above: {', '.join(outcome.missing)}"
    if verdict.other_data and not any(reason in verdict.other_data for _, reason in list_other_data(outcome)):
        return f"{verdict.words} (other data: {verdict.other_data})"
    return verdict.words


def group_verdicts(outcome: Outcome, verdicts: Iterable[Verdict]) -> list[tuple[str, list[str], str]]:
    """Group the verdicts on a claim by status, text and panels; panels that lack data for one reason are joined."""
    groups: dict[Any, tuple[str, list[str], str]] = {}
    for i, verdict in enumerate(verdicts):
        words = describe_verdict(outcome, verdict)
        reason = words if verdict.status == CANNOT else i
        groups.setdefault(reason, (verdict.status, [], words))[1].append(verdict.panel)
    return list(groups.values())


# Terminal


def render_text(outcome: Outcome, width: int = 110) -> str:
    """Render the tables of a study for a terminal; a wide table is split by columns."""
    study = outcome.study
    parts = [
        f"{outcome.paper.name}, {study.name}: {_to_plain_text(study.title)}",
        *_wrap(describe_cells(outcome), width),
    ]
    for panel in outcome.panels:
        parts += ["", *([_to_plain_text(panel.name)] if panel.name else []), *_render_panel_text(outcome, panel, width)]
    for panel_name, reason in list_gaps(outcome):
        parts += ["", *_wrap(f"{panel_name or 'not run'}: {reason}", width)]
    for panel_name, reason in list_other_data(outcome):
        parts += ["", *_wrap(f"Not the paper's own data: {_add_prefix(panel_name, reason)}", width)]
    if outcome.verdicts:
        parts += ["", *(line for verdict in outcome.verdicts for line in _format_verdict(outcome, verdict, width))]
    if study.note:
        parts += ["", *_wrap(study.note, width)]
    return "\n".join(parts) + "\n"


def render_claims_table(outcomes: Iterable[Outcome]) -> str:
    """Render the number of claims per paper and status for a terminal."""
    heads = ("claims", "hold", "do not", "other data: hold", "do not", "cannot be tested", "ours that hold", "tables")
    return "\n".join(_format_grid([heads, *_count_by_paper(outcomes)])) + "\n"


def _count_by_paper(outcomes: Iterable[Outcome]) -> Iterator[tuple[str, ...]]:
    """Yield the lines of the table of claims: a line per paper, and one for all if there are several."""
    papers = [(paper.title, paper_outcomes) for paper, paper_outcomes in group_by_paper(outcomes)]
    if len(papers) > 1:
        papers.append(("all", [outcome for _, paper_outcomes in papers for outcome in paper_outcomes]))
    for title, paper_outcomes in papers:
        our_counts = count_verdicts(paper_outcomes, ours=True)
        checks = f"{count_confirmed(our_counts)} of {sum(our_counts.values())}"
        yield title, *map(str, count_verdicts(paper_outcomes).values()), checks, str(len(paper_outcomes))


def _render_panel_text(outcome: Outcome, panel: Panel, width: int) -> Iterator[str]:
    heads = ["", *(truncate(_to_plain_text(row), ROW_WIDTH) for row in panel.rows)]
    columns = [
        [
            truncate(_to_plain_text(column), COLUMN_WIDTH),
            *(format_cell(make_entry(outcome, panel, row, column)) for row in panel.rows),
        ]
        for column in panel.columns
    ]
    for i, part in enumerate(_split_columns(columns, width - max(map(len, heads)))):
        yield from ([""] if i else [])
        yield from _format_grid(list(zip(heads, *part, strict=True)))


def _split_columns(columns: list[list[str]], room: int) -> Iterator[list[list[str]]]:
    """Split columns into groups that fit the width, at least one column each."""
    part: list[list[str]] = []
    used = 0
    for column in columns:
        needed = max(map(len, column)) + 2
        if part and used + needed > room:
            yield part
            part, used = [], 0
        part.append(column)
        used += needed
    yield part


def _format_grid(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Align columns and add a rule below the first line."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for i, (head, *others) in enumerate(rows):
        numbers = (column.ljust(size) for column, size in zip(others, widths[1:], strict=True))
        yield "  ".join((head.ljust(widths[0]), *numbers)).rstrip()
        if i == 0:
            yield "  ".join("-" * size for size in widths)


def _format_verdict(outcome: Outcome, verdict: Verdict, width: int) -> list[str]:
    where = f" ({verdict.panel})" if verdict.panel else ""
    words = _to_plain_text(f"{verdict.claim}{where}: {describe_verdict(outcome, verdict)}")
    indent = " " * (max(map(len, SIGNS)) + 2)
    return textwrap.wrap(f"{verdict.status:<{len(indent)}}{words}", width, subsequent_indent=indent)


def _wrap(words: str, width: int) -> list[str]:
    return textwrap.wrap(_to_plain_text(words), width)


def _to_plain_text(words: str) -> str:
    """Return text on one line, without control characters of the terminal."""
    return "".join(letter if letter.isprintable() else "\ufffd" for letter in clean_text(words))


# Markdown


def render_paper_markdown(paper: Paper, outcomes: Sequence[Outcome], figures: Mapping[str, str]) -> str:
    """Render the page of a paper; `figures` has the paths of the drawn figures by study."""
    parts = [
        f"# {_escape_markdown(paper.title)}",
        _escape_markdown(paper.citation),
        _escape_markdown(paper.idea),
        f"{format_count(len(outcomes), 'study', 'studies')} in "
        f"{format_duration(sum(outcome.seconds for outcome in outcomes))} of computing: "
        f"{summarize_verdicts(outcomes)}.",
    ]
    parts += [render_markdown(outcome, figures.get(outcome.study.name)).rstrip("\n") for outcome in outcomes]
    return "\n\n".join(parts) + "\n"


def render_markdown(outcome: Outcome, figure: str | None = None) -> str:
    """Render a study: its measure, note, figure, tables and claims."""
    study = outcome.study
    parts = [f"## {_escape_markdown(f'{study.name}: {study.title}')}", f"{_escape_markdown(describe_cells(outcome))}."]
    if study.note:
        parts.append(_escape_markdown(study.note))
    if figure is not None:
        parts.append(f"![{_escape_markdown(study.title).replace(']', '')}]({figure})")
    for panel in outcome.panels:
        parts += [
            *([f"### {_escape_markdown(panel.name)}"] if panel.name else []),
            "\n".join(_render_panel_markdown(outcome, panel)),
        ]
    if outcome.missing:
        parts += [
            "### Missing",
            "\n".join(f"- {_escape_markdown(_add_prefix(name, why))}" for name, why in list_gaps(outcome)),
        ]
    if other_data := list(list_other_data(outcome)):
        lines = (f"- {_escape_markdown(_add_prefix(name, reason))}" for name, reason in other_data)
        parts += ["### Not the paper's own data", "\n".join(lines)]
    if outcome.verdicts:
        parts += ["### Claims", "\n".join(_render_verdicts_markdown(outcome))]
    return "\n\n".join(parts) + "\n"


def _render_panel_markdown(outcome: Outcome, panel: Panel) -> Iterator[str]:
    yield f"| | {' | '.join(map(_escape_markdown, panel.columns))} |"
    yield f"|---|{'---|' * len(panel.columns)}"
    for row in panel.rows:
        cells = (format_cell(make_entry(outcome, panel, row, column)) for column in panel.columns)
        yield f"| {_escape_markdown(row)} | {' | '.join(cells)} |"


def render_claims_markdown(outcomes: Iterable[Outcome]) -> str:
    """Render the number of claims per paper and status as the table of docs/papers.md."""
    heads = (
        "paper",
        "claims hold",
        "do not",
        "hold on other data",
        "do not on other data",
        "cannot be tested",
        "checks of ours that hold",
        "tables",
    )
    rows = [" | ".join(map(_escape_markdown, row)) for row in (heads, *_count_by_paper(outcomes))]
    return "".join(f"| {line} |\n" for line in (rows[0], " | ".join("---" for _ in heads), *rows[1:]))


def _render_verdicts_markdown(outcome: Outcome) -> Iterator[str]:
    for claim, verdicts in group_by_claim(outcome).items():
        lines = [
            (f"{SIGNS[status]} **{status}**", _add_prefix(", ".join(filter(None, panels)), words))
            for status, panels, words in group_verdicts(outcome, verdicts)
        ]
        if len(lines) == 1:
            yield f"- {lines[0][0]} {_escape_markdown(_add_prefix(claim, lines[0][1]))}"
        else:
            yield f"- {_escape_markdown(claim)}"
            yield from (f"  - {status} {_escape_markdown(words)}" for status, words in lines)


def _add_prefix(name: str, words: str) -> str:
    return f"{name}: {words}" if name else words


def _escape_markdown(words: str) -> str:
    """Escape text for Markdown: one line, one table cell, no markup."""
    return clean_text(words).translate(MARKDOWN_ESCAPES)


def format_duration(seconds: float) -> str:
    """Format a duration in seconds, minutes or hours."""
    if seconds < 90:
        return f"{seconds:.0f} seconds"
    return f"{seconds / 60:.0f} minutes" if seconds < 5400 else f"{seconds / 3600:.1f} hours"
