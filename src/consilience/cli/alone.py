"""What the same method makes of each view alone, and of all columns side by side."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.preprocessing import normalize

from ..baselines._side_by_side import concatenate_columns
from ..data import Table, Views
from ..metrics import adjusted_rand_score, evaluate
from .methods import COUNTED, METHODS, Setting
from .say import Terminal

ALL, JOINED = "all views together", "views side by side"
SCORES = ("nmi", "ari", "f", "entropy")


def concatenate_views(views: Views, kinds: Mapping[str, str], rare: bool) -> tuple[Views, dict[str, str]]:
    """All columns as one view in which each of the views weighs the same, and its kind; what is missing is 0.

    Counts beside counts stay as they are, beside measurements they get rows of unit length, which weighed counts have
    already; measurements are divided by the root of their number.
    """
    counted = all(kind in COUNTED for kind in kinds.values())
    blocks = {}
    for (name, block), present in zip(views.items(), views.present.T, strict=True):
        held = sp.csr_array(block) if sp.issparse(block) else np.where(present[:, None], np.nan_to_num(block), 0.0)
        if kinds[name] not in COUNTED:
            held = held / np.sqrt(held.shape[1])
        elif not rare and not counted:
            held = normalize(held)
        blocks[name] = held
    return Views({"all": concatenate_columns(blocks)}), {"all": "counts" if counted else "numbers"}


def compare_alone(
    model: Any,
    views: Views,
    method: str,
    seed: int,
    kinds: Mapping[str, str],
    classes: np.ndarray | None,
    say: Terminal,
) -> Table:
    """One row for all views together, one for all columns side by side, one for each view alone."""
    k = len(np.unique(model.labels_[model.labels_ >= 0]))
    rows = [{"method": ALL, **summarize_labels(model.labels_, model.labels_, classes)}]
    for name, own, own_kinds, where in _list_alternatives(views, kinds, METHODS[method].rare):
        estimator = METHODS[method].build(Setting(k, seed, own_kinds))
        labels = np.full(len(views), -1)
        try:
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                labels[where] = estimator.fit(own).labels_
            for one in caught:
                say.note(f"Of {name}: {one.message}")
        except (ValueError, MemoryError) as error:
            say.note(f"Not compared with {name}: {error}")
            continue
        rows.append({"method": name, **summarize_labels(labels, model.labels_, classes)})
    return Table.from_rows(rows)


def _list_alternatives(
    views: Views, kinds: Mapping[str, str], rare: bool
) -> Iterator[tuple[str, Views, dict[str, str], np.ndarray]]:
    """Name, data, kinds, and which entities of what to compare with."""
    if "similarities" not in kinds.values():
        yield JOINED, *concatenate_views(views, kinds, rare), np.arange(len(views))
    for v, name in enumerate(views.names):
        there = np.flatnonzero(views.present[:, v])
        own = views[there][[name]]
        if kinds[name] == "similarities":
            own = Views({name: views[name][there][:, there]})
        yield f"{name} alone", own, {name: kinds[name]}, there


def summarize_labels(labels: np.ndarray, reference: np.ndarray, classes: np.ndarray | None) -> dict[str, float]:
    """How many it speaks of, how far it says the same as all views together, and the scores."""
    said = labels >= 0
    both = said & (reference >= 0)
    found = {"entities": int(said.sum()), "same_as_all": adjusted_rand_score(reference[both], labels[both])}
    return found if classes is None else found | score_labels(classes[said], labels[said])


def score_labels(classes: np.ndarray, labels: np.ndarray) -> dict[str, float]:
    """Of the entities whose class is known."""
    known = classes != ""
    if not known.any():
        return dict.fromkeys(SCORES, np.nan)
    found = evaluate(classes[known].astype(str), labels[known])
    return {name: float(found[name][0]) for name in SCORES}
