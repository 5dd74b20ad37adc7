"""Section: other methods on the same data."""

from __future__ import annotations

import numpy as np

from ..charts import build_table
from ..facts import ReportFacts
from ..markup import mark_user_text, tag
from .scores import build_column, build_column_head
from .section import Section

EXPLANATION = (
    "The views one by one, side by side, and together. ↑ higher is better, ↓ lower is better. The method that is best "
    "by one score may not be best by another, and small differences may be chance."
)


def build_comparison(facts: ReportFacts) -> Section | None:
    """Return the table of methods, with the best of each column marked."""
    if not facts.comparison or not facts.shows_views:
        return None
    first, *others = facts.comparison
    columns = {name: list(np.asarray(facts.comparison[name], dtype=object)) for name in others}
    # no method has a value in columns of NaN only
    columns = {name: cells for name, cells in columns.items() if any(cell == cell for cell in cells)}
    heads = [tag("th", mark_user_text(name), scope="row") for name in facts.comparison[first]]
    rows = list(zip(heads, *(build_column(name, cells) for name, cells in columns.items()), strict=True))
    head = ("Method", *(build_column_head(name) for name in columns))
    table = build_table("Methods compared", head, rows, class_="scores")
    title = "Comparison with single views and their concatenation"
    return Section.build("comparison", "Comparison", title, tag("p", EXPLANATION), table)
