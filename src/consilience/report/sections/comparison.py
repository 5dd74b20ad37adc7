"""Beside other methods on the same data."""

from __future__ import annotations

import numpy as np

from ..charts import build_table
from ..facts import ReportFacts
from ..markup import join_html, mark_user_text, tag
from .scores import column_cells, column_head
from .section import Section


def build_comparison(facts: ReportFacts) -> Section | None:
    """The table as it came, with the best of each column marked."""
    if not facts.comparison:
        return None
    first, *others = facts.comparison
    # a column of nothing but NaN is one that no method could fill
    columns = {name: list(np.asarray(facts.comparison[name], dtype=object)) for name in others}
    columns = {name: own for name, own in columns.items() if any(value == value for value in own)}
    cells = [column_cells(name, own) for name, own in columns.items()]
    heads = [tag("th", mark_user_text(own), scope="row") for own in facts.comparison[first]]
    rows = list(zip(heads, *cells, strict=True))
    head = ("Method", *(column_head(name) for name in columns))
    body = join_html(
        (
            tag("p", "What the views give one by one, side by side and together. ↑ higher is better, ↓ lower is. A "
                "method that is best by one score need not be by another, and small differences may be chance."),
            build_table("Methods compared", head, rows, class_="scores"),
        )
    )  # fmt: skip
    return Section("comparison", "Comparison", "Compared with single views and concatenation", body)
