"""Section of the report: what changed since an earlier run."""

from __future__ import annotations

from ..report.charts import build_row, build_table
from ..report.facts import ReportFacts
from ..report.markup import format_integer, mark_sentence, mark_user_text, say_items, tag
from ..report.sections.section import Section
from .changes import Changes

MAX_ROWS = 100  # matched clusters in the table


def build_changes_section(changes: Changes, origin: str, facts: ReportFacts) -> Section:
    """Return the section that says what moved, split, merged, appeared and vanished since an earlier run."""
    head = ("Group", "Number", "Size before", "Size now", "In both")
    rows = [
        build_row(
            facts.draw_group(row["after"]),
            str(row["after"]),
            format_integer(row["size_before"]),
            format_integer(row["size"]),
            format_integer(row["common"]),
        )
        for row in list(changes.kept.rows())[:MAX_ROWS]
    ]
    text = tag("p", "Compared with ", mark_user_text(origin), ": ", say_items(changes.overview))
    sentences = tag("ul", (tag("li", mark_sentence(sentence)) for sentence in changes.sentences))
    caption = "Groups that are kept, with their numbers"
    table = build_table(caption, head, rows) if rows else None
    return Section.build("changes", "Changes", "What changed", text, sentences, table, is_result=True)
