"""Against classes that are known."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from ...metrics import evaluate
from ..charts import build_table, draw_cluster, shade_cell
from ..facts import ReportFacts
from ..markup import Html, format_count, format_integer, join_html, mark_user_text, tag
from .scores import column_cells, column_head
from .section import Section

MOST_CLASSES = 60  # rows and columns of the table


def build_classes(facts: ReportFacts) -> Section | None:
    """Scores, and which class went into which cluster."""
    if facts.classes is None:
        return None
    known = np.array([own is not None for own in facts.classes], dtype=bool)
    placed = known & (facts.labels >= 0)
    if not placed.any():
        missing = "is in a cluster and has a known class" if known.any() else "has a known class"
        body = tag("p", f"No entity {missing}.")
    else:
        names, classes = np.unique([_name_class(facts, own) for own in facts.classes[placed]], return_inverse=True)
        order = _order_classes(facts, names)
        body = _compare_with_clusters(names[order], np.argsort(order)[classes], facts.labels[placed])
    unknown = int((~known).sum())
    note = (
        tag("p", f"{format_count(unknown, 'entity', 'entities')} of unknown class not counted.", class_="note")
        if unknown and known.any()
        else None
    )
    nowhere = int((known & (facts.labels < 0)).sum())
    words = f"{format_count(nowhere, 'entity', 'entities')} in no cluster not counted."
    left = tag("p", words, class_="note") if nowhere else None
    return Section("classes", "Known classes", "Against the known classes", join_html((body, note, left)))


def _name_class(facts: ReportFacts, own: Any) -> str:
    """What a class is called."""
    if facts.class_names is not None and isinstance(own, int | float) and 0 <= own < len(facts.class_names):
        return str(facts.class_names[int(own)])
    return str(own)


def _order_classes(facts: ReportFacts, names: np.ndarray) -> np.ndarray:
    """Classes in the order in which they were named; numbers by size, the rest by name."""
    given = {str(name): i for i, name in reversed(list(enumerate(facts.class_names or ())))}

    def key(i: int) -> tuple[int, float, str]:
        name = str(names[i])
        number = float(name) if name.lstrip("-").replace(".", "", 1).isdecimal() else np.inf
        return given.get(name, len(given)), number, name

    return np.array(sorted(range(len(names)), key=key))


def _compare_with_clusters(names: np.ndarray, classes: np.ndarray, labels: np.ndarray) -> Html:
    clusters, found = np.unique(labels, return_inverse=True)
    counts = np.zeros((len(names), len(clusters)), dtype=np.int64)
    np.add.at(counts, (classes, found), 1)
    most = counts[:, (order := order_by_match(counts))].max(axis=0)
    return join_html(
        (
            tag("p", "The classes were not shown to the model; they only score it. Every row is a class, every column "
                "a cluster, and the shade says which part of the class it is. Columns stand so that the diagonal is "
                f"strong: {format_count(most.sum(), 'entity is', 'entities are')} in a cluster of which "
                "their class is the most frequent."),
            _tabulate_scores(classes, labels),
            _tabulate_counts(names, clusters[order], counts[:, order]),
        )
    )  # fmt: skip


def order_by_match(counts: np.ndarray) -> np.ndarray:
    """Clusters in the order of the classes that they match best, one to one, then the others."""
    rows, columns = linear_sum_assignment(-counts)
    rest = np.setdiff1d(np.arange(counts.shape[1]), columns)
    matched = columns[np.argsort(rows)]
    return np.concatenate((matched, rest[np.argsort(counts[:, rest].argmax(axis=0), kind="stable")])).astype(int)


def _tabulate_scores(classes: np.ndarray, labels: np.ndarray) -> Html:
    found = evaluate(classes, labels)
    columns = [name for name in found if name not in ("clustering", "clusters")]
    row = [column_cells(name, found[name].tolist())[0] for name in columns]
    return build_table(
        "Scores (↑ higher is better, ↓ lower is)", [column_head(name) for name in columns], [row], "scores"
    )


def _tabulate_counts(names: np.ndarray, clusters: np.ndarray, counts: np.ndarray) -> Html:
    sizes = np.maximum(counts.sum(axis=1), 1)
    shown = counts[:MOST_CLASSES, :MOST_CLASSES]
    rows = [
        [
            tag("th", mark_user_text(name, 30), scope="row"),
            *(shade_cell(format_integer(own) if own else "·", own / size) for own in row),
        ]
        for name, row, size in zip(names, shown, sizes, strict=False)
    ]
    head = ("Class", *(draw_cluster(int(c)) for c in clusters[:MOST_CLASSES]))
    left = tag("p", f"The table shows the first {MOST_CLASSES} classes and clusters.", class_="note")
    return join_html((build_table("Classes (rows) by clusters (columns)", head, rows, class_="square"),
                 left if max(counts.shape) > MOST_CLASSES else None))  # fmt: skip
