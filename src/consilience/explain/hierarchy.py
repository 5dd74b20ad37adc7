"""A hierarchy of clusters, from all of them to a single one."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from .._saving import save_as

USUAL_LEVELS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 40, 50, 60, 80, 100, 150, 200, 300, 400, 500, 700, 1000)


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
        Distance of the nodes that each step merges; it does not decrease.
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
        return [n for n in USUAL_LEVELS if n < self.n_clusters] + [self.n_clusters]

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
        nodes: list[list[int]] = [[cluster] for cluster in self.clusters.tolist()]
        for a, b in self.merges.tolist():
            nodes.append([*nodes[a], *nodes[b]])
        return nodes[-1] if nodes else []


def build_hierarchy(labels: Any, embedding: Any) -> Hierarchy:
    """Merge clusters by Ward's criterion: the two whose union has the least additional variance.

    Parameters
    ----------
    labels : array-like of int, shape (n_entities,)
        Clusters, numbered from 0; -1 for none.
    embedding : array-like of shape (n_entities, n_components)
        Coordinates of the entities, such as `joint_embedding` returns.

    Returns
    -------
    Hierarchy

    Examples
    --------
    >>> import consilience as cs
    >>> hierarchy = cs.explain.build_hierarchy([0, 0, 1, 1, 2, 2], [[0], [1], [2], [3], [9], [9]])
    >>> hierarchy.cut(2)
    array([0, 0, 1])
    """
    labels = np.asarray(labels)
    points = np.asarray(embedding, dtype=np.float64)
    if labels.shape != (len(points),):
        raise ValueError(f"labels must have one cluster per entity, shape ({len(points)},), got {labels.shape}")
    clusters, members = np.unique(labels[labels >= 0], return_inverse=True)
    n = len(clusters)
    sizes = np.bincount(members, minlength=n).astype(np.float64)
    means = np.zeros((n, points.shape[1]))
    np.add.at(means, members, points[labels >= 0])
    means /= sizes[:, None]
    nodes = np.arange(n)
    merges, heights = np.zeros((max(n - 1, 0), 2), dtype=np.intp), np.zeros(max(n - 1, 0))
    squares = ((means[:, None, :] - means[None, :, :]) ** 2).sum(axis=2) if n else np.zeros((0, 0))
    costs = squares * (sizes[:, None] * sizes / (sizes[:, None] + sizes))
    np.fill_diagonal(costs, np.inf)
    for step in range(n - 1):
        a, b = sorted(np.unravel_index(costs.argmin(), costs.shape))
        merges[step], heights[step] = sorted((nodes[a], nodes[b])), costs[a, b]
        # Lance and Williams' update of Ward's costs
        total = sizes[a] + sizes[b] + sizes
        merged = ((sizes[a] + sizes) * costs[a] + (sizes[b] + sizes) * costs[b] - sizes * costs[a, b]) / total
        sizes[a] += sizes[b]
        nodes[a] = n + step
        costs[a], costs[:, a] = merged, merged
        costs[b], costs[:, b], costs[a, a] = np.inf, np.inf, np.inf
    return Hierarchy(clusters, merges, heights)
