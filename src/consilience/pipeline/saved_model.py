"""Check the content of a model file, which may come from anywhere, before it is used."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..explain import Hierarchy
from .changes import RunUpdate

MAX_NUMBER = 1_000_000  # of a cluster: arrays and lists have a place for each number up to the largest


def check_saved(saved: Mapping[str, Any], origin: str) -> None:
    """Refuse names, levels, ids and facts about an earlier run that do not fit the clusters of the model."""
    try:
        labels = np.asarray(saved["estimator"].labels_)
        check_numbers(labels)
        _check_entities(saved, len(labels))
        _check_names(saved.get("names", []), int(labels.max(initial=-1)) + 1)
        if saved.get("hierarchy") is not None:
            _check_levels(saved["hierarchy"], saved.get("level_names", {}), np.unique(labels[labels >= 0]))
        update = RunUpdate.from_saved(saved.get("update"))
        if update is not None:
            _check_update(update, len(labels))
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        raise ValueError(
            f"{origin} is damaged: {error}. Copy it again from its source, or run `consilience cluster` again"
        ) from error


def check_numbers(labels: np.ndarray) -> None:
    """Refuse labels that are no numbers of clusters."""
    if labels.ndim != 1 or labels.dtype.kind not in "iu":
        raise ValueError(f"labels must be one integer per entity, got {labels.dtype} of shape {labels.shape}")
    if labels.max(initial=-1) > MAX_NUMBER or labels.min(initial=-1) < -1:
        raise ValueError(f"clusters are numbered from {labels.min()} to {labels.max()}")


def _check_entities(saved: Mapping[str, Any], n_entities: int) -> None:
    """Refuse ids that are not as many as the entities that were read, and those with data that have no cluster."""
    if saved.get("kept") is None:
        return
    kept, ids = np.asarray(saved["kept"]), saved.get("ids")
    if kept.dtype != bool or kept.ndim != 1 or int(kept.sum()) != n_entities:
        raise ValueError(f"it does not say which of its entities are the {n_entities} of the model")
    if ids is not None and np.shape(ids) != kept.shape:
        raise ValueError(f"it has ids of shape {np.shape(ids)} for {len(kept)} entities")


def _check_names(names: Any, n_clusters: int) -> None:
    """Refuse names that are no list of texts, one per number of a cluster; there may be none."""
    if type(names) is not list or any(type(name) is not str for name in names):
        raise ValueError("names of clusters must be a list of texts")
    if names and len(names) < n_clusters:
        raise ValueError(f"it has {len(names)} names for {n_clusters} clusters")


def _check_levels(hierarchy: Any, level_names: Any, clusters: np.ndarray) -> None:
    """Refuse a tree that does not merge these clusters, and names that are not those of its groups."""
    if type(hierarchy) is not Hierarchy or type(level_names) is not dict:
        raise ValueError("the hierarchy of clusters must be a tree, and its names a mapping of levels to names")
    if any(type(n) is not int for n in level_names):
        raise ValueError("the levels of the hierarchy must be numbers of groups")
    n_clusters, merges = len(clusters), hierarchy.merges
    if not np.array_equal(hierarchy.clusters, clusters):
        raise ValueError("the hierarchy is of other clusters")
    merged = np.sort(merges, axis=None)  # each node but the last merges once, after it was made
    is_made = np.max(merges, axis=1, initial=0) < n_clusters + np.arange(len(merges))
    if not np.array_equal(merged, np.arange(2 * max(n_clusters - 1, 0))) or not is_made.all():
        raise ValueError("the hierarchy merges clusters that do not exist")
    if np.shape(hierarchy.heights) != (len(merges),):
        raise ValueError("the hierarchy has no height for each merge")
    for n, names in level_names.items():
        _check_names(names, int(hierarchy.cut(n).max(initial=-1)) + 1)


def _check_update(update: RunUpdate, n_entities: int) -> None:
    """Refuse facts about an earlier run that do not fit the entities of this run."""
    labels, is_compared = np.asarray(update.labels), np.asarray(update.is_compared)
    check_numbers(labels)
    if len(labels) != n_entities or is_compared.shape != labels.shape or is_compared.dtype != bool:
        raise ValueError(f"it has {len(labels)} clusters of an earlier run for {n_entities} entities")
    numbers = set(np.unique(labels[is_compared & (labels >= 0)]).tolist())
    if update.names.keys() != update.sizes.keys() or not numbers | set(update.kept) <= update.names.keys():
        raise ValueError("it lacks names and sizes of clusters of an earlier run")
    if any(type(name) is not str for name in (update.origin, *update.names.values())):
        raise ValueError("names of clusters of an earlier run must be texts")
    if any(type(n) is not int for n in (update.n_before, *update.sizes.values(), *update.names)):
        raise ValueError("sizes of an earlier run must be integers")
    if update.compared_by not in ("ids", "rows", "predictions") or not 0 <= update.next_cluster <= MAX_NUMBER:
        raise ValueError("it does not say how it was compared with an earlier run")
