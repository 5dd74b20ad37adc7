"""A hierarchy of clusters, from all of them to a single one."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.metrics import euclidean_distances
from sklearn.preprocessing import normalize

from .._saving import save_as
from ..arrays import to_numpy
from ..data import Views
from .consensus import build_consensus_graph

USUAL_LEVELS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 40, 50, 60, 80, 100, 150, 200, 300, 400, 500, 700, 1000)

N_COLUMNS = 64  # clusters whose entities are multiplied at a time
PRIOR = 0.1  # similarity, compared with chance, that clusters with equal means have if nothing connects them


@save_as("hierarchy")
@dataclass(frozen=True, eq=False)
class Hierarchy:
    """A tree that merges clusters two at a time, the most similar first.

    Attributes
    ----------
    clusters : ndarray of int, shape (n_clusters,)
        Numbers of the clusters, without empty ones.
    merges : ndarray of int, shape (n_clusters - 1, 2)
        The two nodes that each step merges: node i below n_clusters is ``clusters[i]``, and node n_clusters + i is what
        step i has made.
    heights : ndarray of shape (n_clusters - 1,)
        Dissimilarity of the nodes that each step merges, 0 to 1; it does not decrease. 0.5 means as similar as by
        chance, and above 0.9 that hardly anything connects them.

    Examples
    --------
    >>> import consilience as cs
    >>> views = cs.Views([[[1.0], [1.1], [2.0], [2.1], [8.0], [8.1]]])
    >>> hierarchy = cs.explain.build_hierarchy([0, 0, 1, 1, 2, 2], views)
    >>> hierarchy.n_clusters, hierarchy.merges.tolist(), hierarchy.levels
    (3, [[0, 1], [2, 3]], [1, 2, 3])
    """

    clusters: np.ndarray
    merges: np.ndarray
    heights: np.ndarray

    @property
    def n_clusters(self) -> int:
        """Number of clusters that are not empty."""
        return len(self.clusters)

    @property
    def levels(self) -> list[int]:
        """Numbers of groups that are worth showing, up to the number of clusters."""
        usual = [n for n in USUAL_LEVELS if n < self.n_clusters]
        return [*usual, self.n_clusters] if self.n_clusters else []

    def cut(self, n_groups: int) -> np.ndarray:
        """Merge the clusters into fewer groups.

        Parameters
        ----------
        n_groups : int
            Number of groups, from 1 to the number of clusters.

        Returns
        -------
        ndarray of int
            The group of each cluster number, -1 for empty clusters. With fewer groups than clusters, groups are
            numbered by their first cluster; otherwise a group has the number of its cluster.
        """
        if not 1 <= n_groups <= max(self.n_clusters, 1):
            raise ValueError(f"n={n_groups} must be between 1 and the number of clusters, {self.n_clusters}")
        groups = np.full(int(self.clusters.max(initial=-1)) + 1, -1)
        if n_groups == self.n_clusters:
            groups[self.clusters] = self.clusters
            return groups
        node = np.arange(self.n_clusters)
        for step, pair in enumerate(self.merges[: self.n_clusters - n_groups]):
            node[np.isin(node, pair)] = self.n_clusters + step
        _, first, group = np.unique(node, return_index=True, return_inverse=True)
        groups[self.clusters] = np.argsort(np.argsort(first))[group]
        return groups

    @cached_property
    def order(self) -> list[int]:
        """The cluster numbers in the order of the tree, in which similar clusters are neighbors."""
        nodes = {node: [cluster] for node, cluster in enumerate(self.clusters.tolist())}
        for step, (a, b) in enumerate(self.merges.tolist()):
            nodes[self.n_clusters + step] = [*nodes.pop(a), *nodes.pop(b)]
        return [cluster for tree in nodes.values() for cluster in tree]


def build_hierarchy(labels: Any, views: Views, *, graph: Any = None) -> Hierarchy:
    """Merge clusters by their mean similarity: the two first that are most similar compared with chance.

    The similarity of two clusters is the sum over their pairs of entities in the consensus graph, divided by what it
    would be if all similarities were distributed at random, in proportion to those of each cluster. This is average
    linkage of a graph (Bonald et al. 2018, "Hierarchical graph clustering using node pair sampling"). Clusters that
    hardly anything connects merge last, those with the nearest means first.

    Parameters
    ----------
    labels : array-like of int, shape (n_entities,)
        Clusters, numbered from 0; -1 for none.
    views : Views
        The data.
    graph : Operator, array or sparse matrix of shape (n_entities, n_entities), optional
        Similarities of the entities, symmetric and not negative; by default from `build_consensus_graph`.

    Returns
    -------
    Hierarchy

    Examples
    --------
    >>> import consilience as cs
    >>> views = cs.Views([[[1.0], [1.1], [2.0], [2.1], [8.0], [8.1]]])
    >>> build_hierarchy([0, 0, 1, 1, 2, 2], views).cut(2)
    array([0, 0, 1])
    """
    labels = np.asarray(labels)
    graph = build_consensus_graph(views) if graph is None else graph
    if labels.shape != (len(views),) or tuple(graph.shape) != (len(views),) * 2:
        raise ValueError(
            f"labels must have one cluster, and graph one row and column per entity of the views, which are "
            f"{len(views)}, got the shapes {labels.shape} and {tuple(graph.shape)}"
        )
    entities = np.flatnonzero(labels >= 0)
    clusters, members = np.unique(labels[entities], return_inverse=True)
    n = len(clusters)
    indicator = sp.csr_array((np.ones(len(entities)), (members, entities)), shape=(n, len(labels)))
    links = _sum_links(graph, indicator)
    volumes = links.sum(axis=1)
    expected = np.outer(volumes, volumes) / max(volumes.sum(), np.finfo(float).tiny)
    ratios = np.divide(links, expected, out=np.zeros((n, n)), where=expected > 0)
    ratios += PRIOR * np.exp(-(_compare_means(views, indicator) ** 2))
    weights = np.where(volumes > 0, volumes, 1.0)
    np.fill_diagonal(ratios, -1.0)
    nodes = np.arange(n)
    merges, heights = np.zeros((max(n - 1, 0), 2), dtype=np.intp), np.zeros(max(n - 1, 0))
    for step in range(n - 1):
        a, b = sorted(np.unravel_index(ratios.argmax(), ratios.shape))
        merges[step], heights[step] = sorted((nodes[a], nodes[b])), 1 / (1 + ratios[a, b])
        mean = np.average(ratios[[a, b]], axis=0, weights=weights[[a, b]])
        mean[ratios[a] < 0] = mean[b] = -1.0  # merged into others, or the node itself
        ratios[a], ratios[:, a] = mean, mean
        ratios[b], ratios[:, b] = -1.0, -1.0
        weights[a] += weights[b]
        nodes[a] = n + step
    return Hierarchy(clusters, merges, np.maximum.accumulate(heights))  # rounding errors may make heights decrease


def _sum_links(graph: Any, indicator: sp.csr_array) -> np.ndarray:
    """Sum the similarities between the entities of each two clusters, for some clusters at a time."""
    links = np.zeros(indicator.shape[:1] * 2)
    for start in range(0, len(links), N_COLUMNS):
        columns = slice(start, start + N_COLUMNS)
        links[:, columns] = indicator @ to_numpy(graph @ indicator[columns].T.toarray())
    return np.maximum(links + links.T, 0.0) / 2


def _compare_means(views: Views, indicator: sp.csr_array) -> np.ndarray:
    """Return the distances between the means of clusters, relative to the mean distance, on average over the views."""
    n = indicator.shape[0]
    totals, counts = np.zeros((n, n)), np.zeros((n, n))
    for v, name in enumerate(views.names):
        rows = np.flatnonzero(views.present[:, v])
        X = views[rows][name]
        X = normalize(X.astype(np.float64)) if sp.issparse(X) else to_numpy(X).astype(np.float64)
        sizes = indicator[:, rows].sum(axis=1)
        means = (indicator[:, rows] @ X) / np.maximum(sizes, 1)[:, None]
        distances = euclidean_distances(means) if n else totals
        in_both = np.outer(sizes > 0, sizes > 0)
        scale = distances[in_both].mean() if in_both.any() else 0.0
        totals += np.where(in_both, distances / (scale or 1.0), 0.0)
        counts += in_both
    return totals / np.maximum(counts, 1)
