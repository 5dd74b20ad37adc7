"""How the number of clusters was chosen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..cluster import Selection
from ._axes import grid_of_axes
from ._style import LINE_COLOURS
from ._text import wrapped

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.container import ErrorbarContainer
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

PANELS = {
    "consensus": "consensus\n(stability x bits)",
    "stability": "stability\n(adjusted Rand)",
    "shared_bits": "information\nshared (bits)",
    "likelihood": "likelihood\nof held-out",
}
COLOUR = LINE_COLOURS[0]


class SelectionDisplay:
    """What speaks for each number of clusters, and the pick.

    The consensus with its standard error, below it the stability and the shared information that it is the product of,
    and the likelihood of held-out entities where the estimator has one.

    Parameters
    ----------
    selection : Selection
        What `consilience.select_n_clusters` found.

    Attributes
    ----------
    ax_ : ndarray of Axes, shape (n_panels,)
        One panel a quantity.
    figure_ : Figure
        Where it is drawn.
    errorbar_ : ErrorbarContainer
        The consensus.
    lines_ : dict of str to Line2D
        The other quantities.
    pick_ : Line2D
        The star at the pick.

    Examples
    --------
    >>> import consilience as cs
    >>> from consilience.plot import SelectionDisplay
    >>> views, _ = cs.datasets.make_gaussian_views(100, separation=8, random_state=0)
    >>> model = cs.MultiViewKMeans(n_init=2)
    >>> found = cs.select_n_clusters(model, views, range(2, 5), n_resamples=2, random_state=0)
    >>> display = SelectionDisplay.from_selection(found)
    >>> list(display.lines_)
    ['stability', 'shared_bits']
    """

    ax_: np.ndarray
    figure_: Figure
    errorbar_: ErrorbarContainer
    lines_: dict[str, Line2D]
    pick_: Line2D

    def __init__(self, selection: Selection) -> None:
        self.selection = selection

    def plot(self, ax: Any = None) -> SelectionDisplay:
        """Draw the panels.

        Parameters
        ----------
        ax : Axes or array of Axes, optional
            Where to: one a panel, or one that is cut up; by default a figure of its own.

        Returns
        -------
        self
            The display.
        """
        table, pick = self.selection.table, self.selection.n_clusters
        k = table["n_clusters"]
        panels = [name for name in PANELS if name in {"consensus", "stability"} or not np.isnan(table[name]).all()]
        self.figure_, grid = grid_of_axes(ax, (len(panels), 1), (6.4, 1.0 + 1.7 * len(panels)), sharex=True)
        self.ax_, self.lines_ = grid[:, 0], {}
        for axes, name in zip(self.ax_, panels, strict=True):
            if name == "consensus":
                self._consensus(axes)
            else:
                (self.lines_[name],) = axes.plot(k, table[name], color=COLOUR, marker="o", ms=4)
            axes.axvline(pick, color="black", linewidth=0.8, linestyle=":", zorder=1)
            axes.set_ylabel(PANELS[name], fontsize="small")
            axes.grid(alpha=0.3)
            axes.margins(0.06, 0.15)
        self.ax_[-1].set_xlabel("number of clusters")
        self.ax_[-1].xaxis.get_major_locator().set_params(integer=True)
        self.ax_[0].set_title(wrapped(self.selection.reason, 80), fontsize="small", loc="left")
        return self

    def _consensus(self, axes: Axes) -> None:
        """The quantity that decides, with its error, and a star at the pick."""
        table, pick = self.selection.table, self.selection.n_clusters
        k, consensus = table["n_clusters"], table["consensus"]
        self.errorbar_ = axes.errorbar(
            k, consensus, table["standard_error"], color=COLOUR, fmt="o-", ms=4, capsize=3, elinewidth=1
        )
        look: dict[str, Any] = {"ms": 15, "color": LINE_COLOURS[1], "mec": "black", "zorder": 5}
        (self.pick_,) = axes.plot([pick], consensus[k == pick], "*", label=f"pick: {pick}", **look)
        axes.legend(fontsize="small")

    @classmethod
    def from_selection(cls, selection: Selection, *, ax: Any = None) -> SelectionDisplay:
        """Draw what `consilience.select_n_clusters` found.

        Parameters
        ----------
        selection : Selection
            What it returned.
        ax : Axes or array of Axes, optional
            Where to draw.

        Returns
        -------
        SelectionDisplay
            Drawn.
        """
        return cls(selection).plot(ax)
