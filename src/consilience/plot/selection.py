"""Evidence for each number of clusters."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..selection import Selection
from ._docs import share_docs
from ._figure import LINE_COLORS, get_axes_grid, wrap_text

PANELS = {
    "score": "score",
    "agreement": "agreement of\nviews (AMI)",
    "stability": "stability over\nhalves (ARI)",
    "information": "information\nof views (bits)",
    "modularity": "modularity\nof graphs",
}
COLOR = LINE_COLORS[0]
WIDE_RANGE = 10  # ratio of the largest and the smallest number from which the axis is logarithmic
TICKS = (2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100, 125, 200, 500)


@share_docs
class SelectionDisplay:
    """Evidence for each number of clusters, and the supported numbers.

    The score that orders the numbers, and below it the figures that it is computed from: with several views the
    agreement of the views, the stability over halves and the information beyond chance, with one view stability and
    modularity.

    Parameters
    ----------
    selection : Selection
        Result of `consilience.select_n_clusters`, without ``small_groups=True``.

    Attributes
    ----------
    ax_ : ndarray of Axes, shape (n_panels,)
        One panel per figure.
    %(figure_)s
    lines_ : dict of str to Line2D
        The curve of each panel.
    chance_ : Line2D or None
        The information of independent views, beside that of the views; None with one view.
    supported_ : Line2D or None
        The stars at the supported numbers; None if there is no evidence for groups.

    Examples
    --------
    >>> import consilience as cs
    >>> from consilience.plot import SelectionDisplay
    >>> views, _ = cs.datasets.make_gaussian_views(100, separation=8, random_state=0)
    >>> selection = cs.select_n_clusters(cs.MultiViewKMeans(n_init=2), views, range(2, 5))
    >>> display = SelectionDisplay.from_selection(selection)
    >>> list(display.lines_)
    ['score', 'agreement', 'stability', 'information']
    """

    def __init__(self, selection: Selection) -> None:
        if "score" not in selection.table:
            raise ValueError("a selection of small groups has no curve to draw: give candidates instead")
        self.selection = selection

    def plot(self, ax: Any = None) -> SelectionDisplay:
        """Draw the panels.

        %(section_axes_returns_self)s
        """
        table = self.selection.table
        numbers = table["n_clusters"]
        one_view = bool(np.isnan(table["agreement"]).all())
        left_out = {"agreement", "information"} if one_view else {"modularity"}
        panels = [name for name in PANELS if name not in left_out]
        self.figure_, grid = get_axes_grid(ax, (len(panels), 1), (6.4, 1.0 + 1.7 * len(panels)), sharex=True)
        self.ax_, self.lines_, self.chance_ = grid[:, 0], {}, None
        self.supported_: Any = None
        for axes, name in zip(self.ax_, panels, strict=True):
            (self.lines_[name],) = axes.plot(numbers, table[name], color=COLOR, marker="o", ms=4)
            for number in self.selection.supported:
                axes.axvline(number, color="black", linewidth=0.8, linestyle=":", zorder=1)
            if name == "information":
                (self.chance_,) = axes.plot(
                    numbers, table["by_chance"], color=LINE_COLORS[2], linestyle="--", label="independent views"
                )
                axes.legend(fontsize="small")
            axes.set_ylabel(PANELS[name], fontsize="small")
            axes.grid(alpha=0.3)
            axes.margins(0.06, 0.15)
        if supported := list(self.selection.supported):
            scores = [float(table["score"][numbers == number][0]) for number in supported]
            style: dict[str, Any] = {"ms": 13, "color": LINE_COLORS[1], "mec": "black", "zorder": 5}
            label = f"supported: {', '.join(map(str, supported))}"
            (self.supported_,) = self.ax_[0].plot(supported, scores, "*", label=label, **style)
            self.ax_[0].legend(fontsize="small")
        if numbers[-1] > WIDE_RANGE * numbers[0]:  # a linear scale would squeeze small numbers
            from matplotlib.ticker import NullLocator, ScalarFormatter

            for axes in self.ax_:
                axes.set_xscale("log")
                axes.xaxis.set_major_formatter(ScalarFormatter())
                axes.xaxis.set_minor_locator(NullLocator())
            self.ax_[-1].set_xticks([tick for tick in TICKS if numbers[0] <= tick <= numbers[-1]])
        self.ax_[-1].set_xlabel("number of clusters")
        self.ax_[0].set_title(wrap_text(self.selection.reason, 80), fontsize="small", loc="left")
        return self

    @classmethod
    def from_selection(cls, selection: Selection, *, ax: Any = None) -> SelectionDisplay:
        """Draw the result of `consilience.select_n_clusters`.

        Parameters
        ----------
        selection : Selection
            The result.
        %(axes_returns_display)s
        """
        return cls(selection).plot(ax)
