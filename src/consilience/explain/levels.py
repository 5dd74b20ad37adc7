"""Names of the groups at each level of a hierarchy of clusters."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from ..data import Views
from .hierarchy import Hierarchy
from .names import choose_names, join_terms
from .terms import ClusterTerms, count_terms

EVERYTHING = "all"  # name of a single group of several clusters


def name_levels(
    hierarchy: Hierarchy,
    labels: Any,
    views: Views,
    texts: Mapping[str, Sequence[str | None]] | None = None,
    *,
    times: Mapping[str, Collection[str]] | None = None,
    names: Sequence[str] | None = None,
) -> dict[int, list[str]]:
    """Name the groups at each level of a hierarchy like clusters, with terms that are counted once.

    A group that is the same at several levels has the same name at all of them, and a group of a single cluster has
    the name of the cluster.

    Parameters
    ----------
    hierarchy : Hierarchy
        How the clusters merge.
    labels : array-like of int, shape (n_entities,)
        Clusters, numbered from 0; -1 for none.
    views : Views
        The data, with the names of features.
    texts : mapping of str to sequence of str or None, optional
        The string of each entity, as for `name_clusters`.
    times : mapping of str to collection of str, optional
        The columns of each view that hold dates or times of day, as for `name_clusters`.
    names : sequence of str, optional
        Names of the clusters; by default those of `name_clusters`.

    Returns
    -------
    dict of int to list of str
        For each of ``hierarchy.levels`` the names of its groups, numbered as ``hierarchy.cut(n)``. A group that no term
        tells apart is called by its largest cluster, as in "apples and 2 more".

    Examples
    --------
    >>> import consilience as cs
    >>> views = cs.Views.from_frame({"title": ["steel knife", "steel fork", "red apple"] * 4}, text="title")
    >>> labels = [0, 1, 2] * 4
    >>> hierarchy = cs.explain.build_hierarchy(labels, cs.Views([[[0.0], [1.0], [9.0]] * 4]))
    >>> name_levels(hierarchy, labels, views)
    {1: ['all'], 2: ['steel, fork, knife', 'apple, red'], 3: ['knife, steel', 'fork, steel', 'apple, red']}
    """
    terms = count_terms(labels, views, texts, times)
    return choose_level_names(hierarchy, terms, names)


def choose_level_names(
    hierarchy: Hierarchy, terms: ClusterTerms, names: Sequence[str] | None = None, *, more_levels: Sequence[int] = ()
) -> dict[int, list[str]]:
    """Name the groups at each level, and at more levels, by the counted terms of their clusters; see `name_levels`."""
    cluster_names = choose_names(terms) if names is None else list(names)
    named = {frozenset([cluster]): cluster_names[cluster] for cluster in hierarchy.clusters.tolist()}
    levels: dict[int, list[str]] = {}
    for n_groups in [*reversed(hierarchy.levels), *more_levels]:
        groups = hierarchy.cut(n_groups)
        members = [frozenset(np.flatnonzero(groups == group).tolist()) for group in range(groups.max(initial=-1) + 1)]
        if n_groups == 1 and hierarchy.n_clusters > 1:
            named[members[0]] = EVERYTHING
        kept = [named.get(clusters, None if clusters else "") for clusters in members]
        merged = terms.merge(groups)
        ranked = [merged.rank(group) if name is None else [] for group, name in enumerate(kept)]
        for clusters, name, shared in zip(members, *join_terms(ranked, kept), strict=True):
            if clusters and clusters not in named:
                named[clusters] = name if name and not shared else _list_clusters(clusters, cluster_names, terms.sizes)
        levels[n_groups] = [named.get(clusters, f"cluster {group}") for group, clusters in enumerate(members)]
    return dict(sorted(levels.items()))


def _list_clusters(clusters: frozenset[int], names: Sequence[str], sizes: np.ndarray) -> str:
    """Name a group by its largest cluster."""
    largest = min(clusters, key=lambda cluster: (-sizes[cluster], cluster))
    return f"{names[largest]} and {len(clusters) - 1} more"
