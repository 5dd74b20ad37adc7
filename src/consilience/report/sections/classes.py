"""Section: the clusters compared with known classes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.optimize import linear_sum_assignment

from ...metrics import evaluate
from ...metrics.classes import number_classes
from ..charts import build_table, shade_cell
from ..facts import ReportFacts
from ..markup import Html, format_integer, join_html, mark_user_text, tag
from .scores import build_column, build_column_head
from .section import Section

MAX_SHOWN = 60  # rows and columns of the table
EXPLANATION = (
    "The model has not seen the classes; they only score it. Rows are classes, columns are groups, and the shade "
    "shows the share of the class. Columns are ordered so that the diagonal is strong: "
)


def build_classes(facts: ReportFacts) -> Section | None:
    """Return the scores, and a table of classes by clusters."""
    if facts.classes is None:
        return None
    is_known = np.array([value is not None for value in facts.classes], dtype=bool)
    is_counted = is_known & (facts.labels >= 0)
    if is_counted.any():
        names, classes = number_classes(facts.name_class(value) for value in facts.classes[is_counted])
        order = _order_classes(facts, names)
        body = _compare_with_clusters(
            facts, [names[i] for i in order], np.argsort(order)[classes], facts.labels[is_counted]
        )
    else:
        missing = "is in a group and has a known class" if is_known.any() else "has a known class"
        body = tag("p", f"No item {missing}.")
    excluded = {
        "of unknown class": int((~is_known).sum()) if is_known.any() else 0,
        "in no group": int((is_known & (facts.labels < 0)).sum()),
    }
    notes = (tag("p", f"{facts.count(n)} {reason} not counted.", class_="note") for reason, n in excluded.items() if n)
    return Section.build("classes", "Known classes", "Comparison with the known classes", body, notes)


def _order_classes(facts: ReportFacts, names: Sequence[str]) -> np.ndarray:
    """Order classes as the user named them, then numbers by value, then the others by name."""
    positions = {str(name): i for i, name in reversed(list(enumerate(facts.class_names or ())))}

    def key(i: int) -> tuple[int, float, str]:
        name = names[i]
        number = float(name) if name.lstrip("-").replace(".", "", 1).isdecimal() else np.inf
        return positions.get(name, len(positions)), number, name

    return np.array(sorted(range(len(names)), key=key))


def _compare_with_clusters(facts: ReportFacts, names: Sequence[str], classes: np.ndarray, labels: np.ndarray) -> Html:
    clusters, columns = np.unique(labels, return_inverse=True)
    counts = np.zeros((len(names), len(clusters)), dtype=np.int64)
    np.add.at(counts, (classes, columns), 1)
    order = order_by_match(counts)
    n_majority = counts.max(axis=0).sum()
    majority = f"{facts.count(int(n_majority), 'is', 'are')} in a group in which their class is the largest."
    table = _tabulate_counts(facts, names, clusters[order], counts[:, order])
    return join_html((tag("p", EXPLANATION, majority), _tabulate_scores(classes, labels), table))


def order_by_match(counts: np.ndarray) -> np.ndarray:
    """Order clusters like the classes that they match best, one to one, then the others."""
    rows, columns = linear_sum_assignment(-counts)
    others = np.setdiff1d(np.arange(counts.shape[1]), columns)
    matched = columns[np.argsort(rows)]
    return np.concatenate((matched, others[np.argsort(counts[:, others].argmax(axis=0), kind="stable")])).astype(int)


def _tabulate_scores(classes: np.ndarray, labels: np.ndarray) -> Html:
    scores = evaluate(classes, labels)
    columns = [name for name in scores if name not in ("clustering", "clusters")]
    row = [build_column(name, scores[name].tolist())[0] for name in columns]
    head = [build_column_head(name) for name in columns]
    return build_table("Scores (↑ higher is better, ↓ lower is better)", head, [row], "scores")


def _tabulate_counts(facts: ReportFacts, names: Sequence[str], clusters: np.ndarray, counts: np.ndarray) -> Html:
    sizes = np.maximum(counts.sum(axis=1), 1)
    shown = counts[:MAX_SHOWN, :MAX_SHOWN]
    rows = [
        [
            tag("th", mark_user_text(name, 30), scope="row"),
            *(shade_cell(format_integer(n) if n else "·", n / size) for n in row),
        ]
        for name, row, size in zip(names, shown, sizes, strict=False)
    ]
    head = ("Class", *(facts.draw_group(int(cluster), 24) for cluster in clusters[:MAX_SHOWN]))
    table = build_table("Classes (rows) by groups (columns)", head, rows, class_="square")
    if max(counts.shape) <= MAX_SHOWN:
        return table
    return join_html((table, tag("p", f"The table shows the first {MAX_SHOWN} classes and groups.", class_="note")))
