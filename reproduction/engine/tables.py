"""Outcomes as tables: for a terminal, as Markdown, as rows of a CSV file."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from consilience.report.markup import clean_text, format_count, truncate

from .entries import Entry, entries, entry, number, spread_name, with_spread
from .outcome import Outcome, Panel, Verdict
from .study import CANNOT, FAILS, HOLDS, Paper

SIGNS = {HOLDS: "✓", FAILS: "✗", CANNOT: "?"}
ROW_WIDTH, COLUMN_WIDTH = 34, 22  # letters of a name that a terminal shows
MARKED = str.maketrans({"|": r"\|", "<": "&lt;", "*": r"\*", "[": r"\["})  # what Markdown would take for its own


def count(outcomes: Iterable[Outcome]) -> dict[str, int]:
    """How many claims of the papers hold, do not, and cannot be tested; one of each panel counts as many times."""
    return _counted(verdict for outcome in outcomes for verdict in outcome.verdicts if not verdict.ours)


def _counted(verdicts: Iterable[Verdict]) -> dict[str, int]:
    statuses = [verdict.status for verdict in verdicts]
    return {status: statuses.count(status) for status in SIGNS}


def tally(outcomes: Iterable[Outcome]) -> str:
    """The same in words, and beside it what became of checks that are ours."""
    outcomes = list(outcomes)
    found = count(outcomes)
    own = _counted(verdict for outcome in outcomes for verdict in outcome.verdicts if verdict.ours)
    held = format_count(found[HOLDS], "claim holds", "claims hold")
    words = f"{held}, {found[FAILS]} do{'es' if found[FAILS] == 1 else ''} not, {found[CANNOT]} cannot be tested"
    return f"{words}; of {sum(own.values())} checks of ours {own[HOLDS]} hold" if any(own.values()) else words


def by_paper(outcomes: Iterable[Outcome]) -> list[tuple[Paper, list[Outcome]]]:
    """Papers in the order of their first outcome, each with its own."""
    found: dict[str, tuple[Paper, list[Outcome]]] = {}
    for outcome in outcomes:
        found.setdefault(outcome.paper.name, (outcome.paper, []))[1].append(outcome)
    return list(found.values())


def by_claim(outcome: Outcome) -> dict[str, list[Verdict]]:
    """The verdicts on each claim: one, or one a panel."""
    found: dict[str, list[Verdict]] = {}
    for verdict in outcome.verdicts:
        found.setdefault(verdict.claim, []).append(verdict)
    return found


def csv_rows(outcome: Outcome) -> list[dict[str, Any]]:
    """One row a cell, numbers in full; None where there is no number."""
    return [
        {
            "panel": panel.name,
            "row": row,
            "column": column,
            "ours": own.ours,
            "spread": own.spread if own.spread == own.spread else None,
            "runs": own.runs,
            "published": own.published,
            "difference": own.difference,
        }
        for panel, row, column, own in entries(outcome)
    ]


def cell(own: Entry | None) -> str:
    """``.749 ± .030 (.726)``: ours, and what was published in parentheses."""
    if own is None:
        return ""
    return with_spread(own) if own.published is None else f"{with_spread(own)} ({number(own.published)})"


def key(outcome: Outcome) -> str:
    """What the numbers of a study are, and how to read a cell."""
    compared = any(own.published is not None for *_, own in entries(outcome))
    parts = (outcome.study.measure, spread_name(outcome), "published in parentheses" if compared else "")
    return "; ".join(part for part in parts if part)


def gaps(outcome: Outcome) -> Iterator[tuple[str, str]]:
    """Panels that are not there or not whole, and why."""
    shown = {panel.name for panel in outcome.panels}
    for panel, reason in outcome.missing.items():
        yield panel, f"not all of it: {reason}" if panel in shown else reason


def told(outcome: Outcome, verdict: Verdict) -> str:
    """The figures of a verdict; where data is missing only which, for the reasons stand below the tables already."""
    if verdict.status == CANNOT and outcome.missing:
        if outcome.missing.get(verdict.panel) == verdict.words:
            return "see above what is missing"
        if all(reason in verdict.words for reason in outcome.missing.values()):
            return f"see above what is missing: {', '.join(outcome.missing)}"
    return verdict.words


def grouped(outcome: Outcome, verdicts: Iterable[Verdict]) -> list[tuple[str, list[str], str]]:
    """Status, panels and words of the verdicts on a claim; panels that cannot be tested for one reason are together."""
    found: dict[Any, tuple[str, list[str], str]] = {}
    for i, verdict in enumerate(verdicts):
        words = told(outcome, verdict)
        reason = words if verdict.status == CANNOT else i
        found.setdefault(reason, (verdict.status, [], words))[1].append(verdict.panel)
    return list(found.values())


# a terminal


def text(outcome: Outcome, width: int = 110) -> str:
    """The tables of a study, a panel each, for a terminal; a wide one is cut by columns."""
    study = outcome.study
    parts = [f"{outcome.paper.name}, {study.name}: {_plain(study.title)}", *_wrapped(key(outcome), width)]
    for panel in outcome.panels:
        parts += ["", *([_plain(panel.name)] if panel.name else []), *_panel_lines(outcome, panel, width)]
    for panel_name, reason in gaps(outcome):
        parts += ["", *_wrapped(f"{panel_name or 'not run'}: {reason}", width)]
    if outcome.verdicts:
        parts += ["", *(line for verdict in outcome.verdicts for line in _verdict_lines(outcome, verdict, width))]
    if study.note:
        parts += ["", *_wrapped(study.note, width)]
    return "\n".join(parts) + "\n"


def claims_table(outcomes: Iterable[Outcome]) -> str:
    """How many claims of each paper hold, for a terminal."""
    papers = [(paper.name, count(own)) for paper, own in by_paper(outcomes)]
    total = {status: sum(own[status] for _, own in papers) for status in SIGNS}
    rows = [*papers, ("all", total)] if len(papers) > 1 else papers
    return "\n".join(_grid([("claims", *SIGNS), *((name, *map(str, own.values())) for name, own in rows)])) + "\n"


def _panel_lines(outcome: Outcome, panel: Panel, width: int) -> Iterator[str]:
    heads = ["", *(truncate(_plain(row), ROW_WIDTH) for row in panel.rows)]
    columns = [
        [truncate(_plain(column), COLUMN_WIDTH), *(cell(entry(outcome, panel, row, column)) for row in panel.rows)]
        for column in panel.columns
    ]
    for i, part in enumerate(_fitting(columns, width - max(map(len, heads)))):
        yield from ([""] if i else [])
        yield from _grid(list(zip(heads, *part, strict=True)))


def _fitting(columns: list[list[str]], room: int) -> Iterator[list[list[str]]]:
    """Columns that fit beside each other, one at least."""
    part: list[list[str]] = []
    taken = 0
    for column in columns:
        needed = max(map(len, column)) + 2
        if part and taken + needed > room:
            yield part
            part, taken = [], 0
        part.append(column)
        taken += needed
    yield part


def _grid(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Lines with the first column flush left, and a rule below the first."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for i, (head, *others) in enumerate(rows):
        numbers = (own.ljust(size) for own, size in zip(others, widths[1:], strict=True))
        yield "  ".join((head.ljust(widths[0]), *numbers)).rstrip()
        if i == 0:
            yield "  ".join("-" * size for size in widths)


def _verdict_lines(outcome: Outcome, verdict: Verdict, width: int) -> list[str]:
    where = f" ({verdict.panel})" if verdict.panel else ""
    words = _plain(f"{verdict.claim}{where}: {told(outcome, verdict)}")
    indent = " " * (len(CANNOT) + 2)
    return textwrap.wrap(f"{verdict.status:<{len(indent)}}{words}", width, subsequent_indent=indent)


def _wrapped(words: str, width: int) -> list[str]:
    return textwrap.wrap(_plain(words), width)


def _plain(words: str) -> str:
    """Words on one line; nothing in them may steer the terminal."""
    return "".join(one if one.isprintable() else "\ufffd" for one in clean_text(words))


# Markdown


def paper_markdown(paper: Paper, outcomes: Sequence[Outcome], figures: Mapping[str, str]) -> str:
    """The page of a paper: what it is, how many claims hold, all studies. `figures` are the paths of those drawn."""
    parts = [
        f"# {_marked(paper.title)}",
        _marked(paper.citation),
        _marked(paper.idea),
        f"{format_count(len(outcomes), 'study', 'studies')} in {duration(sum(own.seconds for own in outcomes))} of "
        f"computing: {tally(outcomes)}.",
    ]
    parts += [markdown(own, figures.get(own.study.name)).rstrip("\n") for own in outcomes]
    return "\n\n".join(parts) + "\n"


def markdown(outcome: Outcome, figure: str | None = None) -> str:
    """A study for GitHub: what it measures, its tables, what the figures say of each claim; with a link to a figure."""
    study = outcome.study
    parts = [f"## {_marked(f'{study.name}: {study.title}')}", f"{_marked(key(outcome))}."]
    if study.note:
        parts.append(_marked(study.note))
    if figure is not None:
        parts.append(f"![{_marked(study.title).replace(']', '')}]({figure})")
    for panel in outcome.panels:
        parts += [*([f"### {_marked(panel.name)}"] if panel.name else []), "\n".join(_panel_markdown(outcome, panel))]
    if outcome.missing:
        parts += ["### Missing", "\n".join(f"- {_marked(_of(name, why))}" for name, why in gaps(outcome))]
    if outcome.verdicts:
        parts += ["### Claims", "\n".join(_claims_markdown(outcome))]
    return "\n\n".join(parts) + "\n"


def _panel_markdown(outcome: Outcome, panel: Panel) -> Iterator[str]:
    yield f"| | {' | '.join(map(_marked, panel.columns))} |"
    yield f"|---|{'---|' * len(panel.columns)}"
    for row in panel.rows:
        cells = (cell(entry(outcome, panel, row, column)) for column in panel.columns)
        yield f"| {_marked(row)} | {' | '.join(cells)} |"


def _claims_markdown(outcome: Outcome) -> Iterator[str]:
    for claim, verdicts in by_claim(outcome).items():
        lines = [
            (f"{SIGNS[status]} **{status}**", _of(", ".join(filter(None, panels)), words))
            for status, panels, words in grouped(outcome, verdicts)
        ]
        if len(lines) == 1:
            yield f"- {lines[0][0]} {_marked(_of(claim, lines[0][1]))}"
        else:
            yield f"- {_marked(claim)}"
            yield from (f"  - {status} {_marked(words)}" for status, words in lines)


def _of(name: str, words: str) -> str:
    return f"{name}: {words}" if name else words


def _marked(words: str) -> str:
    """Words as Markdown shows them: on one line, in one cell, and without markup of theirs."""
    return clean_text(words).translate(MARKED)


def duration(seconds: float) -> str:
    """A time in the words of its size."""
    if seconds < 90:
        return f"{seconds:.0f} seconds"
    return f"{seconds / 60:.0f} minutes" if seconds < 5400 else f"{seconds / 3600:.1f} hours"
