"""Compare a clustering with the same method on each content alone, and on the columns of all views."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.preprocessing import normalize

from .._progress import Task
from .._tuning import Tuning
from ..baselines.wrappers import concatenate_columns
from ..data import Table, Views
from ..files import EncodedData
from ..metrics import adjusted_rand_score, evaluate
from ..metrics.classes import number_classes
from ..registry import DIRECTION_KINDS, EstimatorDeclaration, join_kinds
from .loading import LoadedData
from .log import RunLog

ALL_VIEWS, CONCATENATED = "all views together", "views side by side"
SCORES = ("nmi", "ari", "f", "entropy")
tuning = Tuning(
    max_cells=2**26  # of the dense table that sparse and dense views make side by side; larger ones are left out
)


def concatenate_views(views: Views, kinds: Mapping[str, str], raw_counts: bool) -> tuple[Views, dict[str, str]]:
    """Return the columns of all views as one view with equal weight per view, and its kind; missing values are 0.

    Raw counts beside measurements get rows of unit length, which weighted counts have already; counts alone stay as
    they are. Measurements are divided by the square root of their number of columns.
    """
    joint_kind = join_kinds(kinds)
    blocks = {}
    for (name, block), is_present in zip(views.items(), views.present.T, strict=True):
        values = sp.csr_array(block) if sp.issparse(block) else np.where(is_present[:, None], np.nan_to_num(block), 0.0)
        if kinds[name] not in DIRECTION_KINDS:
            values = values / np.sqrt(values.shape[1])
        elif raw_counts and joint_kind != "counts":
            values = normalize(values)
        blocks[name] = values
    return Views({"all": concatenate_columns(blocks)}), {"all": joint_kind}


def compare_with_single_views(model: Any, data: LoadedData, seed: int, log: RunLog) -> Table:
    """Return a table with one row each for all views, the columns of all views, and each view alone."""
    views, declaration, classes = data.views, data.declaration, data.classes
    n_clusters = len(np.unique(model.labels_[model.labels_ >= 0]))
    rows = [{"method": ALL_VIEWS, **summarize_labels(model.labels_, model.labels_, classes)}]
    task = Task(views.n_views + 1)
    is_mixed = len({sp.issparse(block) for _, block in views.items()}) > 1
    n_cells = len(views) * sum(block.shape[1] for _, block in views.items()) if is_mixed else 0
    if n_cells > tuning.max_cells:
        log.note(
            f"Not compared with {CONCATENATED}: sparse and dense views would make a dense table of "
            f"{n_cells * 8 / 2**30:.1f} GiB."
        )
    for name, single, kinds, entities in _list_alternatives(data.prepared, declaration, n_cells <= tuning.max_cells):
        task.detail = name
        labels = np.full(len(views), -1)
        try:
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                labels[entities] = declaration.build(n_clusters, kinds, seed=seed).fit(single).labels_
            for warning in caught:
                log.note(f"{name}: {warning.message}")
            task.advance()
        except (ValueError, MemoryError) as error:
            log.note(f"Not compared with {name}: {error}")
            continue
        rows.append({"method": name, **summarize_labels(labels, model.labels_, classes)})
    return Table.from_rows(rows)


def _list_alternatives(
    prepared: EncodedData, declaration: EstimatorDeclaration, concatenates: bool
) -> Iterator[tuple[str, Views, dict[str, str], np.ndarray]]:
    """Yield name, data, kinds and entities of each alternative to all views together."""
    views, kinds = prepared.views, prepared.kinds
    if concatenates and "similarities" not in kinds.values():
        yield CONCATENATED, *concatenate_views(views, kinds, declaration.takes_raw_counts), np.arange(len(views))
    for content, names in group_by_content(prepared).items():
        positions = [views.names.index(name) for name in names]
        entities = np.flatnonzero(views.present[:, positions].any(axis=1))
        # the columns of similarities stay: methods choose those of the entities by the places of the rows
        alone = views[entities][names]
        yield f"{content} alone", alone, {name: kinds[name] for name in names}, entities


def group_by_content(prepared: EncodedData) -> dict[str, list[str]]:
    """Return the views that each content was encoded to, without those that average another content along links."""
    groups: dict[str, list[str]] = {}
    for name in prepared.views.names:
        encoding = prepared.encodings[name]
        if encoding.smoothed is None:
            groups.setdefault(encoding.content, []).append(name)
    return groups


def summarize_labels(labels: np.ndarray, reference: np.ndarray, classes: np.ndarray | None) -> dict[str, float]:
    """Return the number of labeled entities, the similarity to all views together, and the scores."""
    is_labeled = labels >= 0
    both = is_labeled & (reference >= 0)
    row = {"entities": int(is_labeled.sum()), "same_as_all": adjusted_rand_score(reference[both], labels[both])}
    return row if classes is None else row | score_labels(classes[is_labeled], labels[is_labeled])


def score_labels(classes: np.ndarray, labels: np.ndarray) -> dict[str, float]:
    """Score labels against the classes, over the entities whose class is known."""
    has_class = classes != ""
    if not has_class.any():
        return dict.fromkeys(SCORES, np.nan)
    scores = evaluate(number_classes(classes[has_class])[1], labels[has_class])
    return {name: float(scores[name][0]) for name in SCORES}
