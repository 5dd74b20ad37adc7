"""The course of a fit, round by round."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..data import Table
from ._docs import share_docs
from ._figure import escape_name, get_axes_grid, limit_heights, line_style, pluralize
from ._model import get_fitted_attribute

CRITERIA = ("cost", "objective", "log_likelihood", "q", "alignment", "bits")  # a history has one of them
NAMES = {
    "log_likelihood": "log-likelihood",
    "q": "criterion Q",
    "alignment": "alignment of views",
    "bits": "information (bits)",
}
MAX_MARKED = 50  # rounds, up to which each has a marker


@share_docs
class ConvergenceDisplay:
    """Criterion of a fit, agreement of its views and their weights, per round.

    Parameters
    ----------
    history : Table or mapping of str to array
        Columns with one value per round; an estimator's ``history_``.
    converged : bool, optional
        Whether the fit converged, for the title.

    Attributes
    ----------
    ax_ : ndarray of Axes, shape (n_panels,)
        One panel per quantity, because their scales differ.
    %(figure_)s
    lines_ : dict of str to Line2D
        The line of each column.

    Examples
    --------
    >>> import consilience as cs
    >>> from consilience.plot import ConvergenceDisplay
    >>> views, _ = cs.datasets.make_gaussian_views(100, random_state=0)
    >>> display = ConvergenceDisplay.from_estimator(cs.MultiViewKMeans(3, random_state=0).fit(views))
    >>> list(display.lines_)
    ['cost', 'agreement']
    """

    def __init__(self, history: Any, converged: bool | None = None) -> None:
        self.history = Table({name: np.asarray(column) for name, column in history.items()})
        self.converged = converged

    def plot(self, ax: Any = None, *, columns: Sequence[str] | None = None) -> ConvergenceDisplay:
        """Draw the rounds.

        Parameters
        ----------
        %(axes)s
        columns : sequence of str, optional
            Columns to draw. By default the criterion, the agreement and the weights of the views, if the history has
            them.

        %(returns_self)s
        """
        panels = self._choose_panels(columns)
        size = 6.4, 1.0 + 2.2 * len(panels)
        self.figure_, grid = get_axes_grid(ax, (len(panels), 1), size, sharex=True)
        self.ax_, self.lines_ = grid[:, 0], {}
        rounds = self.history.get("round", np.arange(1, self.history.n_rows + 1))
        marker = "o" if len(rounds) <= MAX_MARKED else ""
        for axes, panel in zip(self.ax_, panels, strict=True):
            for i, (column, name) in enumerate(panel.items()):
                color, dashes = line_style(i)
                (self.lines_[column],) = axes.plot(
                    rounds, self.history[column], color=color, linestyle=dashes, marker=marker, ms=3.5, label=name
                )
            is_weights = next(iter(panel)).startswith("weight_")
            axes.set_ylabel("weight of view" if is_weights else next(iter(panel.values())))
            if is_weights or "agreement" in panel:
                axes.set_ylim(-0.03, 1.03)
            else:
                limit_heights(axes)
            if is_weights:
                axes.legend(fontsize="small", ncols=-(-len(panel) // 6), loc="best")
            axes.grid(alpha=0.3)
        self.ax_[-1].set_xlabel("round")
        self.ax_[-1].xaxis.get_major_locator().set_params(integer=True)
        n = pluralize(self.history.n_rows, "round")
        titles = {None: n, True: f"Converged after {n}", False: f"Not converged after {n}"}
        self.ax_[0].set_title(titles[self.converged], fontsize="medium")
        return self

    def _choose_panels(self, columns: Sequence[str] | None) -> list[dict[str, str]]:
        """Group columns by panel, with their names: all weights of views together, every other column alone."""
        available = [name for name in self.history if name != "round"]
        if not self.history.n_rows or not available:
            raise ValueError("the history is empty: fit the model with at least one round")
        if columns is None:
            first = [name for name in CRITERIA if name in available][:1] or available[:1]
            columns = first + [name for name in available if name == "agreement" or name.startswith("weight_")]
        if not len(columns):
            names = ", ".join(map(repr, available))
            raise ValueError(f"no columns to draw: omit columns, or choose among {names}")
        if unknown := [name for name in columns if name not in available]:
            raise ValueError(f"the history has no column {unknown[0]!r}; it has {', '.join(map(repr, available))}")
        weights = {name: escape_name(name.removeprefix("weight_")) for name in columns if name.startswith("weight_")}
        others = [{name: NAMES.get(name) or escape_name(name, 40)} for name in columns if name not in weights]
        return [*others, weights] if weights else others

    @classmethod
    def from_estimator(cls, model: Any, *, columns: Sequence[str] | None = None, ax: Any = None) -> ConvergenceDisplay:
        """Draw the history of a fitted model.

        Parameters
        ----------
        %(model)s
        columns : sequence of str, optional
            Columns to draw; see `plot`.
        %(axes_returns_display)s
        """
        history = get_fitted_attribute(model, "history_")
        converged = getattr(model, "converged_", None)
        return cls(history, None if converged is None else bool(converged)).plot(ax, columns=columns)
