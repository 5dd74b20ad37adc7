"""Dendrogram of merges and the views that decided them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ._docs import share_docs
from ._figure import NEUTRAL_COLOR, Axes, escape_name, get_axes, line_style, pluralize
from ._model import get_fitted_attribute

MAX_LEAVES = 60  # that are named


@share_docs
class DendrogramDisplay:
    """The last merges of an agglomerative clustering, each in the color and dashes of the view that decided it.

    Distances of different views are not comparable, and need not increase from merge to merge. Heights are therefore
    the order of the merges: the scale shows how many clusters are left.

    Parameters
    ----------
    children : array-like of int, shape (n_entities - 1, 2)
        The two nodes of each merge, in order; merge t creates node n_entities + t. A model's ``children_``.
    merge_views : sequence of str
        The view that decided each merge, empty if none did; a model's ``merge_views_``.
    names : sequence of str, optional
        The views in the order of the legend; by default the order in `merge_views`.
    n_clusters : int, optional
        Number of clusters at which a horizontal line is drawn.

    Attributes
    ----------
    %(ax_)s
    links_ : dict of str to LineCollection
        The merges that each view decided.
    leaves_ : list of int
        The nodes at the bottom, from left to right.

    Examples
    --------
    >>> import consilience as cs
    >>> from consilience.plot import DendrogramDisplay
    >>> views, _ = cs.datasets.make_gaussian_views(100, random_state=0)
    >>> display = DendrogramDisplay.from_estimator(cs.MultiViewAgglomerative(3).fit(views), n_merges=20)
    >>> len(display.leaves_), sum(len(links.get_segments()) for links in display.links_.values())
    (21, 20)
    """

    def __init__(
        self,
        children: Any,
        merge_views: Sequence[str],
        names: Sequence[str] | None = None,
        n_clusters: int | None = None,
    ) -> None:
        self.children = np.asarray(children, dtype=np.int64).reshape(-1, 2)
        self.merge_views = [str(name) for name in merge_views]
        self.names = list(dict.fromkeys(self.merge_views) if names is None else names)
        self.n_clusters = n_clusters

    def plot(self, ax: Axes | None = None, *, n_merges: int = 30) -> DendrogramDisplay:
        """Draw the tree.

        Parameters
        ----------
        %(ax)s
        n_merges : int, default=30
            Number of merges to draw, the last ones; clusters before them are leaves.

        %(returns_self)s
        """
        if not len(self.children):
            raise ValueError("there is no merge to draw: a dendrogram needs at least two entities")
        if n_merges < 1:
            raise ValueError(f"n_merges={n_merges} must be at least 1")
        n_merges = min(n_merges, len(self.children))
        links, self.leaves_ = arrange_tree(self.children, n_merges)
        self.figure_, self.ax_ = get_axes(ax, (min(14.0, max(6.4, 0.25 * n_merges)), 4.8))
        self._draw_links(links, self.merge_views[-n_merges:])
        self._draw_scales(n_merges)
        return self

    def _draw_links(self, links: Sequence[np.ndarray], deciders: Sequence[str]) -> None:
        """Draw the merges that each view decided, and last those that none did."""
        from matplotlib.collections import LineCollection

        self.links_ = {}
        for i, name in enumerate([*(name for name in self.names if name), ""]):
            segments = [link for link, decider in zip(links, deciders, strict=True) if decider == name]
            if not segments:
                continue
            color, dashes = line_style(i) if name else (NEUTRAL_COLOR, "-")
            label = escape_name(name) if name else "no view could compare"
            self.links_[name] = LineCollection(segments, colors=color, linestyles=[dashes], linewidths=1.6, label=label)
            self.ax_.add_collection(self.links_[name])

    def _draw_scales(self, n_merges: int) -> None:
        """Label leaves by their sizes and heights by the numbers of clusters, and draw the horizontal line."""
        ax, n_leaves = self.ax_, len(self.leaves_)
        ax.set_xlim(-0.7, n_leaves - 0.3)
        ax.set_ylim(0, n_merges + 0.7)
        every = -(-n_leaves // MAX_LEAVES)
        n = len(self.children) + 1
        sizes = np.ones(2 * n - 1, dtype=np.int64)
        for t, (a, b) in enumerate(self.children):
            sizes[n + t] = sizes[a] + sizes[b]
        names = [str(node) if n_leaves == n else f"{sizes[node]:,}" for node in self.leaves_]
        ax.set_xticks(range(0, n_leaves, every), names[::every], rotation=90, fontsize=7)
        ax.set_xlabel("entities per leaf" if n_merges < len(self.children) else "entity")
        left = np.arange(1, n_merges + 1, -(-n_merges // 12))
        ax.set_yticks(n_merges + 1 - left, left)
        ax.set_ylabel("clusters left (heights are the order\nof merges, not distances)")
        if self.n_clusters is not None and 1 < self.n_clusters <= n_merges:
            height, label = n_merges + 1.5 - self.n_clusters, pluralize(self.n_clusters, "cluster")
            ax.axhline(height, color=NEUTRAL_COLOR, linewidth=1, linestyle=(0, (1, 2)), label=label)
        of = f"last {n_merges} of {len(self.children):,} merges" if n_merges < len(self.children) else "all merges"
        ax.set_title(f"{of}, by the view that decided", fontsize="medium")
        ax.spines[["top", "right"]].set_visible(False)
        ax.legend(fontsize="small", loc="upper left", bbox_to_anchor=(1, 1), handlelength=3, frameon=False)

    @classmethod
    def from_estimator(cls, model: Any, *, n_merges: int = 30, ax: Axes | None = None) -> DendrogramDisplay:
        """Draw the dendrogram of a fitted `MultiViewAgglomerative`.

        Parameters
        ----------
        model : MultiViewAgglomerative
            Fitted.
        n_merges : int, default=30
            Number of merges to draw, the last ones.
        %(ax_returns_display)s
        """
        deciders = get_fitted_attribute(model, "merge_views_")
        display = cls(model.children_, deciders, list(model.view_labels_), model.n_clusters)
        return display.plot(ax, n_merges=n_merges)


def arrange_tree(children: np.ndarray, n_merges: int) -> tuple[list[np.ndarray], list[int]]:
    """Compute the last merges as brackets of height 1, 2, ..., and the order of leaves without crossings."""
    n = len(children) + 1
    first = 2 * n - 1 - n_merges  # the first node that is drawn as a merge
    leaves: list[int] = []
    stack = [2 * n - 2]
    while stack:
        node = stack.pop()
        if node < first:
            leaves.append(node)
        else:
            stack.extend(children[node - n][::-1].tolist())
    middles = np.zeros(2 * n - 1)
    middles[leaves] = np.arange(len(leaves))
    links = []
    for node in range(first, 2 * n - 1):
        a, b = children[node - n]
        height, below_a, below_b = (max(end - first + 1, 0) for end in (node, a, b))
        middles[node] = (middles[a] + middles[b]) / 2
        corners = [(middles[a], below_a), (middles[a], height), (middles[b], height), (middles[b], below_b)]
        links.append(np.array(corners, dtype=np.float64))
    return links, leaves
