"""The tree that merges the clusters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..explain import Hierarchy
from ._docs import share_docs
from ._figure import COLORS, Axes, get_axes, marker_style, pluralize, shorten_names
from ._model import complete_names
from .dendrogram import arrange_tree

MAX_LEAVES = 40  # that are drawn by default


@share_docs
class HierarchyDisplay:
    """The tree of the clusters, with their names and sizes: similar clusters are neighbors and merge early.

    Positions of merges are their order: the scale shows how many groups are left, as ``Result.at(n)`` gives them. If
    there are more clusters than can be named, the first merges are left out, and a leaf is named after its largest
    cluster.

    Parameters
    ----------
    hierarchy : Hierarchy
        From `consilience.explain.build_hierarchy`, or a result's ``hierarchy``.
    sizes : sequence of int
        Number of entities per cluster number.
    %(names)s

    Attributes
    ----------
    %(ax_)s
    links_ : LineCollection
        The merges.
    leaves_ : list of list of int
        The clusters of each leaf, from top to bottom.

    Examples
    --------
    >>> import numpy as np
    >>> from consilience.explain import Hierarchy
    >>> from consilience.plot import HierarchyDisplay
    >>> hierarchy = Hierarchy(np.arange(3), np.array([[0, 2], [1, 3]]), np.array([1.0, 4.0]))
    >>> HierarchyDisplay(hierarchy, [5, 2, 3]).plot().leaves_
    [[1], [0], [2]]
    """

    def __init__(self, hierarchy: Hierarchy, sizes: Sequence[int], names: Sequence[str] | None = None) -> None:
        self.hierarchy, self.sizes = hierarchy, [int(size) for size in sizes]
        n_clusters = int(hierarchy.clusters.max(initial=-1)) + 1
        if len(self.sizes) < n_clusters:
            raise ValueError(f"{n_clusters} clusters need as many sizes, got {len(self.sizes)}")
        self.names = complete_names(names, n_clusters)

    def plot(
        self, ax: Axes | None = None, *, n_groups: int | None = None, max_leaves: int = MAX_LEAVES
    ) -> HierarchyDisplay:
        """Draw the tree.

        Parameters
        ----------
        %(ax)s
        n_groups : int, optional
            Number of groups at which a line is drawn.
        max_leaves : int, default=40
            Maximum number of leaves.

        %(returns_self)s
        """
        tree = self.hierarchy
        if tree.n_clusters < 1:
            raise ValueError("there is no cluster to draw")
        n_leaves = min(tree.n_clusters, max_leaves)
        links, nodes = ([], [0]) if tree.n_clusters == 1 else arrange_tree(tree.merges, n_leaves - 1)
        members: list[list[int]] = [[c] for c in tree.clusters.tolist()]
        for a, b in tree.merges.tolist():
            members.append([*members[a], *members[b]])
        self.leaves_ = [members[node] for node in nodes]
        self.figure_, self.ax_ = get_axes(ax, (6.4, 0.9 + 0.22 * max(n_leaves, 3)))
        self._draw(links, n_groups)
        return self

    def _draw(self, links: Sequence[np.ndarray], n_groups: int | None) -> None:
        """Draw the merges from right to left, and the clusters on the right."""
        from matplotlib.collections import LineCollection

        ax, n_leaves = self.ax_, len(self.leaves_)
        self.links_ = LineCollection([link[:, ::-1] for link in links], colors="black", linewidths=1)
        ax.add_collection(self.links_)
        ax.plot([n_leaves - 1, n_leaves - 0.5], [(n_leaves - 1) / 2] * 2, alpha=0)  # space at the root
        labels, names = [], shorten_names(self.names, 34)
        for i, leaf in enumerate(self.leaves_):
            largest = max(leaf, key=lambda c: self.sizes[c])
            color, marker = marker_style(largest)
            ax.scatter(0, i, s=22, c=color, marker=marker, linewidths=0.4, edgecolors="black", zorder=3, clip_on=False)
            others = "" if len(leaf) == 1 else f" and {len(leaf) - 1} more"
            labels.append(f"{names[largest]}{others} ({sum(self.sizes[c] for c in leaf):,})")
        ax.set_xlim(max(n_leaves - 0.6, 1), 0)
        ax.set_ylim(n_leaves - 0.4, -0.6)
        ax.yaxis.tick_right()
        ax.set_yticks(range(n_leaves), labels, fontsize="small")
        ax.tick_params(axis="y", length=0, pad=6)
        left = np.arange(1, n_leaves, -(-n_leaves // 10))
        ax.set_xticks(n_leaves - left, left)
        ax.tick_params(axis="x", labelsize="small")
        ax.set_xlabel("groups left (order of merges)", fontsize="small")
        ax.spines[["top", "right", "left"]].set_visible(False)
        if n_groups is not None and 1 < n_groups < n_leaves:
            ax.axvline(n_leaves - n_groups + 0.5, color=COLORS[4], linewidth=1, linestyle="--")
            ax.set_title(pluralize(n_groups, "group"), fontsize="small", color=COLORS[4])
        if n_leaves < self.hierarchy.n_clusters:
            note = f"{pluralize(self.hierarchy.n_clusters, 'group')}, merged into {n_leaves}"
            ax.text(0, 1, note, transform=ax.transAxes, va="bottom", fontsize="small", color="#444444")

    @classmethod
    def from_result(cls, result: Any, *, n_groups: int | None = None, ax: Axes | None = None) -> HierarchyDisplay:
        """Draw the tree of a result of `consilience.cluster`.

        Parameters
        ----------
        %(result)s
        n_groups : int, optional
            Number of groups at which a line is drawn.
        %(ax_returns_display)s
        """
        return cls(result.hierarchy, result.sizes, result.names).plot(ax, n_groups=n_groups)
