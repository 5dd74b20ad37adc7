"""Against classes that are known."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from ...metrics import evaluate
from ..charts import chip, heat, table
from ..facts import Facts
from ..markup import Html, count, counted, join, tag, user
from .scores import column_cells, column_head
from .section import Section

MOST_CLASSES = 60  # rows and columns of the table


def classes(facts: Facts) -> Section | None:
    """Scores, and which class went into which cluster."""
    if facts.classes is None:
        return None
    known = np.array([own is not None for own in facts.classes], dtype=bool)
    placed = known & (facts.labels >= 0)
    if not placed.any():
        missing = "is in a cluster and has a known class" if known.any() else "has a known class"
        body = tag("p", f"No entity {missing}.")
    else:
        names, classes = np.unique([_name(facts, own) for own in facts.classes[placed]], return_inverse=True)
        order = _given_order(facts, names)
        body = _compared(names[order], np.argsort(order)[classes], facts.labels[placed])
    unknown = int((~known).sum())
    note = (
        tag("p", f"{counted(unknown, 'entity', 'entities')} of unknown class not counted.", class_="note")
        if unknown and known.any()
        else None
    )
    nowhere = int((known & (facts.labels < 0)).sum())
    words = f"{counted(nowhere, 'entity', 'entities')} in no cluster not counted."
    left = tag("p", words, class_="note") if nowhere else None
    return Section("classes", "Known classes", "Against the known classes", join((body, note, left)))


def _name(facts: Facts, own: Any) -> str:
    """What a class is called."""
    if facts.class_names is not None and isinstance(own, int | float) and 0 <= own < len(facts.class_names):
        return str(facts.class_names[int(own)])
    return str(own)


def _given_order(facts: Facts, names: np.ndarray) -> np.ndarray:
    """Classes in the order in which they were named; numbers by size, the rest by name."""
    given = {str(name): i for i, name in reversed(list(enumerate(facts.class_names or ())))}

    def key(i: int) -> tuple[int, float, str]:
        name = str(names[i])
        number = float(name) if name.lstrip("-").replace(".", "", 1).isdecimal() else np.inf
        return given.get(name, len(given)), number, name

    return np.array(sorted(range(len(names)), key=key))


def _compared(names: np.ndarray, classes: np.ndarray, labels: np.ndarray) -> Html:
    clusters, found = np.unique(labels, return_inverse=True)
    counts = np.zeros((len(names), len(clusters)), dtype=np.int64)
    np.add.at(counts, (classes, found), 1)
    most = counts[:, (order := _strong_diagonal(counts))].max(axis=0)
    return join(
        (
            tag("p", "The classes were not shown to the model; they only score it. Every row is a class, every column "
                "a cluster, and the shade says which part of the class it is. Columns stand so that the diagonal is "
                f"strong: {counted(most.sum(), 'entity is', 'entities are')} in a cluster of which "
                "their class is the most frequent."),
            _scores(classes, labels),
            _table(names, clusters[order], counts[:, order]),
        )
    )  # fmt: skip


def _strong_diagonal(counts: np.ndarray) -> np.ndarray:
    """Clusters in the order of the classes that they match best, one to one, then the others."""
    rows, columns = linear_sum_assignment(-counts)
    rest = np.setdiff1d(np.arange(counts.shape[1]), columns)
    matched = columns[np.argsort(rows)]
    return np.concatenate((matched, rest[np.argsort(counts[:, rest].argmax(axis=0), kind="stable")])).astype(int)


def _scores(classes: np.ndarray, labels: np.ndarray) -> Html:
    found = evaluate(classes, labels)
    columns = [name for name in found if name not in ("clustering", "clusters")]
    row = [column_cells(name, found[name].tolist())[0] for name in columns]
    return table("Scores (↑ higher is better, ↓ lower is)", [column_head(name) for name in columns], [row], "scores")


def _table(names: np.ndarray, clusters: np.ndarray, counts: np.ndarray) -> Html:
    sizes = np.maximum(counts.sum(axis=1), 1)
    shown = counts[:MOST_CLASSES, :MOST_CLASSES]
    rows = [
        [tag("th", user(name, 30), scope="row"), *(heat(count(own) if own else "·", own / size) for own in row)]
        for name, row, size in zip(names, shown, sizes, strict=False)
    ]
    head = ("Class", *(chip(int(c)) for c in clusters[:MOST_CLASSES]))
    left = tag("p", f"The table shows the first {MOST_CLASSES} classes and clusters.", class_="note")
    return join((table("Classes (rows) by clusters (columns)", head, rows, class_="square"),
                 left if max(counts.shape) > MOST_CLASSES else None))  # fmt: skip
