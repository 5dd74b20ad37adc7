"""Survival of the clusters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..data import Table
from ..explain import OriginalColumn, SurvivalCurve, compare_clusters, estimate_survival
from ..explain.comparisons import format_p
from ._docs import share_docs
from ._figure import DASHES, NAME_WIDTH, Axes, escape_name, get_axes, luminance, marker_style, pluralize, shorten_names
from ._model import complete_names, find_column

MAX_CURVES = 8  # that are drawn by default
MAX_BANDS = 5  # curves up to which bands are drawn; more would cover each other
TOO_LIGHT = 75  # luminance of colors that get a dark edge on white
LINE_SPACING = 1.45  # of the table, in font sizes


@share_docs
class SurvivalDisplay:
    """Kaplan-Meier curves of the clusters with 95% confidence bands, and below them the numbers at risk.

    Ticks on a curve are times at which an entity was last observed without an event. Bands are left out if there are
    more than five curves. Colors are those of the clusters in the other displays; dashes tell them apart in gray.

    Parameters
    ----------
    curves : mapping of int to SurvivalCurve
        Curves by cluster, from `consilience.explain.estimate_survival`.
    %(names)s
    time_name : str, default='time'
        What the time is, with its unit.
    test : str, default=''
        Result of a test of whether the clusters differ, such as "log-rank p = .003".

    Attributes
    ----------
    %(ax_)s
    lines_ : dict of int to Line2D
        The curves by cluster.
    bands_ : dict of int to PolyCollection
        The confidence bands by cluster, if there are at most five curves.
    at_risk_ : dict of int to list of int
        The numbers in the table, for each tick of the time.

    Examples
    --------
    >>> import numpy as np
    >>> from consilience.explain import OriginalColumn
    >>> from consilience.plot import SurvivalDisplay
    >>> months = OriginalColumn("months", np.arange(1.0, 9.0), "number", event=np.arange(8) != 3)
    >>> SurvivalDisplay.from_labels([0, 0, 0, 0, 1, 1, 1, 1], months).at_risk_[1]
    [4, 4, 4, 3, 1]
    """

    def __init__(
        self,
        curves: Mapping[int, SurvivalCurve],
        names: Sequence[str] | None = None,
        *,
        time_name: str = "time",
        test: str = "",
    ) -> None:
        self.curves, self.time_name, self.test = dict(curves), time_name, test
        n_clusters = max(self.curves, default=-1) + 1
        self.names = complete_names(names, n_clusters)

    def plot(self, ax: Axes | None = None, *, clusters: Sequence[int] | None = None) -> SurvivalDisplay:
        """Draw the curves.

        Parameters
        ----------
        %(ax)s
        clusters : sequence of int, optional
            Clusters to draw; by default the eight with the most entities.

        %(returns_self)s
        """
        by_size = sorted(self.curves, key=lambda c: -int(self.curves[c].at_risk[0]))
        shown = by_size[:MAX_CURVES] if clusters is None else list(clusters)
        if unknown := [c for c in shown if c not in self.curves]:
            raise ValueError(f"cluster {unknown[0]} has no times: choose from {', '.join(map(str, by_size))}")
        if not shown:
            raise ValueError("no cluster has times: there is nothing to draw")
        self.figure_, self.ax_ = get_axes(ax, (6.4, 3.6 + 0.2 * len(shown)))
        self.lines_: dict[int, Any] = {}
        self.bands_: dict[int, Any] = {}
        for c in shown:
            self._draw_curve(c, has_band=len(shown) <= MAX_BANDS)
        ax = self.ax_
        ax.set_ylim(0, 1.02)
        ax.set_xlim(0, max(float(self.curves[c].times[-1]) for c in shown) or 1.0)
        ax.locator_params(axis="x", nbins=6)
        ax.tick_params(labelsize="small")
        ax.set_xlabel(escape_name(self.time_name, 40), fontsize="small")
        ax.set_ylabel("share without event", fontsize="small")
        ax.spines[["top", "right"]].set_visible(False)
        if self.test:
            ax.text(0.03, 0.05, self.test, transform=ax.transAxes, fontsize="small")
        self._draw_table(shown)
        if len(shown) < len(self.curves):
            note = f"{len(shown)} of {pluralize(len(self.curves), 'group')}"
            ax.text(1, 1, note, transform=ax.transAxes, ha="right", va="bottom", fontsize="small", color="#444444")
        return self

    def _draw_curve(self, c: int, has_band: bool) -> None:
        """Draw the steps of a cluster, its confidence band, and a tick where an entity is censored."""
        curve, color = self.curves[c], marker_style(c)[0]
        style = _style_line(c)
        (self.lines_[c],) = self.ax_.step(curve.times, curve.survival, where="post", **style)
        if has_band:
            self.bands_[c] = self.ax_.fill_between(
                curve.times, curve.low, curve.high, step="post", color=color, alpha=0.15, linewidth=0
            )
        is_censored = np.append(False, np.diff(curve.survival) == 0)
        self.ax_.plot(
            curve.times[is_censored], curve.survival[is_censored], "|", color=color, markersize=4, markeredgewidth=0.8
        )

    def _draw_table(self, shown: Sequence[int]) -> None:
        """Write names and numbers at risk below the curves, in points from the lower left corner."""
        from matplotlib.font_manager import FontProperties
        from matplotlib.transforms import Affine2D, ScaledTranslation, blended_transform_factory

        ax: Any = self.ax_
        size = FontProperties(size="small").get_size_in_points()
        points = Affine2D().scale(1 / 72) + self.figure_.dpi_scale_trans + ScaledTranslation(0, 0, ax.transAxes)
        columns = blended_transform_factory(ax.transData, points)
        ticks = [tick for tick in ax.get_xticks().tolist() if ax.get_xlim()[0] <= tick <= ax.get_xlim()[1]]
        ax.set_xticks(ticks)
        y = -4.4 * size
        ax.text(-2.0 * size, y, "at risk", transform=points, ha="right", va="center", fontsize=size, style="italic")
        self.at_risk_, names = {}, shorten_names(self.names, NAME_WIDTH)
        for c in shown:
            y -= LINE_SPACING * size
            key = [-4.2 * size, -2.0 * size]
            ax.plot(key, [y, y], transform=points, clip_on=False, **_style_line(c))
            ax.text(-4.8 * size, y, names[c], transform=points, ha="right", va="center", fontsize=size)
            self.at_risk_[c] = self.curves[c].count_at_risk(ticks).tolist()
            for tick, n in zip(ticks, self.at_risk_[c], strict=True):
                ax.text(tick, y, f"{n:,}", transform=columns, ha="center", va="center", fontsize=size)

    @classmethod
    def from_labels(
        cls,
        labels: Any,
        column: OriginalColumn,
        names: Sequence[str] | None = None,
        *,
        tests: Table | None = None,
        clusters: Sequence[int] | None = None,
        ax: Axes | None = None,
    ) -> SurvivalDisplay:
        """Draw the survival of clusters, with the log-rank test of whether it differs.

        Parameters
        ----------
        labels : array-like of int, shape (n_entities,)
            Clusters of the entities; those with -1 are left out.
        column : OriginalColumn
            Times, with ``event``.
        %(names)s
        tests : Table, optional
            Tests of this and other columns, from `consilience.explain.compare_clusters`; by default only this column
            is tested.
        clusters : sequence of int, optional
            Clusters to draw; by default the eight with the most entities. The test is of all clusters.
        %(ax_returns_display)s
        """
        labels = np.asarray(labels)
        if column.event is None:
            raise ValueError(f"column {column.name!r} has no events, which survival needs: set OriginalColumn.event")
        has_time = np.isfinite(np.asarray(column.values, dtype=np.float64))
        curves = {
            int(c): estimate_survival(column.values[labels == c], column.event[labels == c])
            for c in np.unique(labels[has_time & (labels >= 0)])
        }
        if tests is None:
            tests = compare_clusters(labels, [replace(column, is_description=True)])
        test = next(row for row in tests.rows() if row["column"] == column.name)
        text = "" if np.isnan(test["p"]) else f"{test['test']} {format_p(test['p_adjusted'])}"
        time_name = f"{column.name} ({column.unit})" if column.unit else column.name
        return cls(curves, names, time_name=time_name, test=text).plot(ax, clusters=clusters)

    @classmethod
    def from_result(
        cls, result: Any, *, column: str | None = None, clusters: Sequence[int] | None = None, ax: Axes | None = None
    ) -> SurvivalDisplay:
        """Draw the survival of the clusters of a result of `consilience.cluster`.

        Parameters
        ----------
        %(result)s
        column : str, optional
            Name of the described column of times; by default the first that has events.
        clusters : sequence of int, optional
            Clusters to draw; by default the eight with the most entities.
        %(ax_returns_display)s
        """
        timed = [candidate for candidate in result.columns if candidate.event is not None]
        if not timed:
            raise ValueError("no column says when an event happened: cluster again with describe=['months', 'event']")
        chosen = timed[0] if column is None else find_column(timed, column)
        labels = result.model.labels_
        tests = compare_clusters(labels, result.columns)  # the p-value is adjusted for all descriptions
        return cls.from_labels(labels, chosen, result.names, tests=tests, clusters=clusters, ax=ax)


def _style_line(c: int) -> dict[str, Any]:
    """Return color and dashes of a cluster; light colors get a dark edge."""
    from matplotlib.colors import to_rgb
    from matplotlib.patheffects import Normal, Stroke

    color = marker_style(c)[0]
    is_light = luminance(to_rgb(color)) > TOO_LIGHT
    edge = [Stroke(linewidth=2.4, foreground="#777777"), Normal()] if is_light else []
    return {"color": color, "linestyle": DASHES[c % len(DASHES)], "linewidth": 1.4, "path_effects": edge}
