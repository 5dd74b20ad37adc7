"""How far a clustering can be relied on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..assessment import Assessment
from ..assessment.reference import LEAST_SUPPORT
from ._docs import share_docs
from ._figure import (
    COLORS,
    NAME_WIDTH,
    NEUTRAL_COLOR,
    Axes,
    escape_name,
    get_axes_grid,
    marker_style,
    pluralize,
    shorten_names,
    wrap_text,
)
from ._model import complete_names

MAX_GROUPS = 40  # bars of clusters that are drawn by default
BAR_COLOR = "#9DB7D5"  # light, so that markers on the bars are seen
TITLE_WIDTH = 74  # characters


@share_docs
class VerdictDisplay:
    """The verdict of an assessment: how stable each cluster is, and how much support each view has.

    A bar of the upper panel is the share of a cluster's entities that a fit to the other half of the data puts into it
    again, and its marker is that of the cluster on the map. A bar of the lower panel says how well a view and the view
    that confirms it best predict each other's clusters; views below the dotted line are confirmed by no other view, and
    are hatched.

    Parameters
    ----------
    assessment : Assessment
        From `consilience.assess`, or a result's ``assessment``.
    %(names)s

    Attributes
    ----------
    ax_ : ndarray of Axes, shape (2,)
        The panels of clusters and of views.
    %(figure_)s
    clusters_ : list of int
        The clusters of the bars, the largest first.
    cluster_bars_, view_bars_ : BarContainer
        The bars.

    Examples
    --------
    >>> import consilience as cs
    >>> from consilience.plot import VerdictDisplay
    >>> views, _ = cs.datasets.make_gaussian_views(90, separation=8, random_state=0)
    >>> assessment = cs.assess(cs.MultiViewKMeans(3, random_state=0).fit(views), views)
    >>> display = VerdictDisplay(assessment).plot()
    >>> len(display.cluster_bars_), len(display.view_bars_)
    (3, 2)
    """

    def __init__(self, assessment: Assessment, names: Sequence[str] | None = None) -> None:
        self.assessment = assessment
        clusters = assessment.clusters["cluster"]
        n_clusters = int(max(clusters, default=-1)) + 1
        self.names = complete_names(names, n_clusters)

    def plot(self, ax: Any = None, *, max_groups: int = MAX_GROUPS) -> VerdictDisplay:
        """Draw the bars.

        Parameters
        ----------
        %(axes)s
        max_groups : int, default=40
            Number of clusters to draw, the largest; a note says how stable the others are.

        %(returns_self)s
        """
        n_groups, n_views = min(max_groups, self.assessment.clusters.n_rows), self.assessment.views.n_rows
        height = 0.22 * (n_groups + n_views) + 1.9
        heights = max(n_groups, 2) + 1, max(n_views, 2) + 1
        self.figure_, grid = get_axes_grid(ax, (2, 1), (6.4, height), heights=heights)
        self.ax_ = grid.ravel()
        self._draw_clusters(n_groups)
        self._draw_views()
        for panel in self.ax_:
            panel.set_xlim(0, 1.12)  # room for the numbers
            panel.set_xticks(np.linspace(0, 1, 6))
            panel.tick_params(axis="y", length=0, labelsize="small")
            panel.tick_params(axis="x", labelsize="small")
            panel.spines[["top", "right"]].set_visible(False)
        self.ax_[0].set_title(wrap_text(escape_name(self.assessment.headline, 400), TITLE_WIDTH), fontsize="medium")
        return self

    def _draw_clusters(self, n_groups: int) -> None:
        panel, table = self.ax_[0], self.assessment.clusters
        order = np.argsort(-table["size"], kind="stable")
        clusters, stability = table["cluster"][order], table["stability"][order]
        self.clusters_ = clusters[:n_groups].tolist()
        names = shorten_names(self.names, NAME_WIDTH)
        self.cluster_bars_ = _draw_bars(
            panel, stability[:n_groups], [names[c] for c in self.clusters_], [True] * n_groups
        )
        for i, c in enumerate(self.clusters_):
            color, marker = marker_style(c)
            panel.scatter(0.02, i, s=22, c=color, marker=marker, linewidths=0.4, edgecolors="black", zorder=3)
        others = stability[n_groups:]
        others = others[np.isfinite(others)]
        note = f"\n{pluralize(len(others), 'smaller group')}: median {np.median(others):.2f}" if len(others) else ""
        panel.set_xlabel(f"stability (share found again){note}", fontsize="small")

    def _draw_views(self) -> None:
        panel, table = self.ax_[1], self.assessment.views
        names = [escape_name(name) for name in table["view"]]
        self.view_bars_ = _draw_bars(panel, table["support"], names, table["confirmed"].tolist())
        panel.axvline(LEAST_SUPPORT, color="black", linewidth=0.8, linestyle=":")
        panel.set_xlabel("support by another view", fontsize="small")

    @classmethod
    def from_result(cls, result: Any, *, ax: Any = None) -> VerdictDisplay:
        """Draw the verdict on a result of `consilience.cluster`.

        Parameters
        ----------
        %(result)s
        %(axes_returns_display)s
        """
        if result.assessment is None:
            raise ValueError("the result was not assessed, so there is no verdict: cluster again with assess=True")
        return cls(result.assessment, result.names).plot(ax)


def _draw_bars(panel: Axes, values: np.ndarray, names: Sequence[str], is_confirmed: Sequence[bool]) -> Any:
    """Draw horizontal bars with their values, the first on top; NaN has no bar and a dash."""
    widths = np.clip(np.nan_to_num(values), 0, 1)
    bars = panel.barh(
        range(len(names)),
        widths,
        height=0.75,
        color=[BAR_COLOR if confirmed else "white" for confirmed in is_confirmed],
        hatch=["" if confirmed else "////" for confirmed in is_confirmed],
        edgecolor=[COLORS[0] if confirmed else NEUTRAL_COLOR for confirmed in is_confirmed],
        linewidth=0.6,
    )
    panel.set_yticks(range(len(names)), names)
    panel.set_ylim(max(len(names), 2) - 0.4, -0.6)
    panel.bar_label(bars, ["–" if np.isnan(value) else f"{value:.2f}" for value in values], padding=2, fontsize="small")
    return bars
