"""Described columns by cluster."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..data import Table
from ..explain import OriginalColumn, compare_clusters
from ..explain.comparisons import encode_categories, format_p
from ._docs import share_docs
from ._figure import NAME_WIDTH, Axes, escape_name, get_axes_grid, marker_style, pluralize, shorten_names
from ._model import complete_names, find_column

MAX_GROUPS = 20  # that are drawn by default
MAX_COLUMNS = 3  # panels beside each other
MAX_STRIP = 50  # values of a cluster that are drawn as points
BOX_COLOR, OTHER_COLOR = "#C9D6E6", "#F4F4F4"
SHADES = ("#E3DCEE", "#BFAFD8", "#957BBD", "#684597", "#371A5E")  # of categories: other colors than those of clusters
KINDS = ("number", "date", "category")


@share_docs
class DescribedDisplay:
    """Columns in their units by cluster: boxes of numbers and dates, shares of categories.

    A box is between the quartiles, with a line at the median and whiskers to the 5th and 95th percentile; clusters with
    at most 50 values also show them as points.

    Parameters
    ----------
    columns : sequence of OriginalColumn
        The columns: numbers, dates and categories.
    labels : array-like of int, shape (n_entities,)
        Clusters of the entities; those with -1 are left out.
    %(names)s
    tests : Table, optional
        Tests of the columns, from `consilience.explain.compare_clusters`.

    Attributes
    ----------
    ax_ : ndarray of Axes, shape (n_columns,)
        The panels.
    %(figure_)s
    clusters_ : list of int
        The clusters from top to bottom, the largest first.
    boxes_ : dict of str to BarContainer or list of BarContainer
        Boxes of each column, or the shares of each category.

    Examples
    --------
    >>> import numpy as np
    >>> from consilience.explain import OriginalColumn
    >>> from consilience.plot import DescribedDisplay
    >>> age = OriginalColumn("age", np.arange(20.0, 60.0), "number", is_description=True)
    >>> display = DescribedDisplay.from_labels(np.repeat([0, 1], 20), [age])
    >>> [float(box.get_x()) for box in display.boxes_["age"]]
    [24.75, 44.75]
    """

    def __init__(
        self,
        columns: Sequence[OriginalColumn],
        labels: Any,
        names: Sequence[str] | None = None,
        tests: Table | None = None,
    ) -> None:
        self.columns, self.labels = list(columns), np.asarray(labels)
        if not self.columns:
            raise ValueError("there are no columns to draw: give at least one")
        for column in self.columns:
            if column.kind not in KINDS:
                raise ValueError(f"column {column.name!r} has the kind {column.kind!r}: choose {', '.join(KINDS)}")
            if len(column.values) != len(self.labels):
                raise ValueError(
                    f"column {column.name!r} must have a cell per label, {len(self.labels)}, got {len(column.values)}"
                )
        n_clusters = int(self.labels.max(initial=-1)) + 1
        self.names = complete_names(names, n_clusters)
        rows = [] if tests is None else tests.rows()
        self.tests = {str(row["column"]): row for row in rows}

    def plot(self, ax: Any = None, *, clusters: Sequence[int] | None = None) -> DescribedDisplay:
        """Draw the panels.

        Parameters
        ----------
        %(axes)s
        clusters : sequence of int, optional
            Clusters to draw; by default the twenty largest.

        %(returns_self)s
        """
        present, sizes = np.unique(self.labels[self.labels >= 0], return_counts=True)
        by_size = present[np.argsort(-sizes, kind="stable")].tolist()
        self.clusters_ = by_size[:MAX_GROUPS] if clusters is None else list(clusters)
        if unknown := [c for c in self.clusters_ if c not in by_size]:
            raise ValueError(f"there is no cluster {unknown[0]} with entities")
        if not self.clusters_:
            raise ValueError("no clusters to draw: all labels are -1")
        n = len(self.columns)
        has_axes = ax is not None and np.size(ax) > 1
        n_columns = n if has_axes else min(MAX_COLUMNS, n)
        n_rows = -(-n // n_columns)
        size = 2.2 + 2.4 * n_columns, n_rows * (1.3 + 0.22 * max(len(self.clusters_), 3))
        self.figure_, grid = get_axes_grid(ax, (n_rows, n_columns), size)
        for unused in grid.ravel()[n:]:
            unused.set_axis_off()
        self.ax_ = grid.ravel()[:n]
        self.boxes_ = {}
        for i, (panel, column) in enumerate(zip(self.ax_, self.columns, strict=True)):
            draw = self._draw_shares if column.kind == "category" else self._draw_boxes
            self.boxes_[column.name] = draw(panel, column)
            self._label_panel(panel, column, has_names=i % n_columns == 0)
        if len(self.clusters_) < len(by_size):
            note = f"{len(self.clusters_)} of {pluralize(len(by_size), 'group')}"
            below = {"textcoords": "offset points", "ha": "right", "va": "top", "fontsize": "small"}
            self.ax_[0].annotate(note, (0, 0), (-10, -2), "axes fraction", color="#444444", **below)
        return self

    def _draw_boxes(self, panel: Axes, column: OriginalColumn) -> Any:
        """Draw quartiles, medians and percentiles of numbers or dates."""
        values = np.asarray(column.values, dtype=np.float64)
        cells = [values[(self.labels == c) & np.isfinite(values)] for c in self.clusters_]
        if not any(map(len, cells)):
            panel.text(0.5, 0.5, "no values", transform=panel.transAxes, ha="center", fontsize="small")
            return panel.barh([], [])
        quantiles = np.array([np.percentile(x, [5, 25, 50, 75, 95]) if len(x) else [np.nan] * 5 for x in cells])
        low, q1, median, q3, high = quantiles.T
        y = np.arange(len(cells))
        panel.hlines(y, low, high, color="#555555", linewidth=0.8, zorder=1)
        boxes = panel.barh(y, q3 - q1, left=q1, height=0.6, color=BOX_COLOR, edgecolor="#555555", linewidth=0.6)
        panel.vlines(median, y - 0.3, y + 0.3, color="black", linewidth=1.6, zorder=3)
        rng = np.random.default_rng(0)
        for i, (c, x) in enumerate(zip(self.clusters_, cells, strict=True)):
            if len(x) <= MAX_STRIP:
                heights = i + rng.uniform(-0.2, 0.2, len(x))
                color = marker_style(c)[0]
                panel.scatter(x, heights, s=5, c=color, linewidths=0.2, edgecolors="black", zorder=2)
        if column.kind == "date":
            from matplotlib.dates import AutoDateLocator, ConciseDateFormatter

            locator = AutoDateLocator(maxticks=5)
            panel.xaxis.set_major_locator(locator)
            panel.xaxis.set_major_formatter(ConciseDateFormatter(locator))
        else:
            panel.locator_params(axis="x", nbins=4)
        return boxes

    def _draw_shares(self, panel: Axes, column: OriginalColumn) -> Any:
        """Draw the shares of the five most frequent categories, and of all others together."""
        categories, codes = encode_categories(column)
        if not categories:
            panel.text(0.5, 0.5, "no values", transform=panel.transAxes, ha="center", fontsize="small")
            return []
        n_shown = min(len(categories), len(SHADES))
        order = sorted(range(n_shown), key=categories.__getitem__)
        entries = [categories[j] for j in order] + (["other"] if len(categories) > n_shown else [])
        position = np.append(np.argsort(order), [n_shown, -1])  # of each category, of all others, and of empty cells
        codes = position[np.where(codes < 0, -1, np.minimum(codes, n_shown))]
        shades = SHADES[:: (len(SHADES) - 1) // max(n_shown - 1, 1)] if n_shown < 4 else SHADES
        counts = np.array(
            [np.bincount(codes[(self.labels == c) & (codes >= 0)], minlength=len(entries)) for c in self.clusters_]
        )
        shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
        left = np.zeros(len(self.clusters_))
        bars = []
        for j, entry in enumerate(entries):
            color, hatch = (OTHER_COLOR, "////") if j == n_shown else (shades[j], "")
            bars.append(
                panel.barh(
                    range(len(left)), shares[:, j], left=left, height=0.7, color=color, hatch=hatch,
                    edgecolor="#999999", linewidth=0.5, label=escape_name(entry, 16),
                )
            )  # fmt: skip
            left += shares[:, j]
        panel.set_xlim(0, 1)
        panel.set_xticks([0, 0.5, 1], ["0%", "50%", "100%"])
        panel.legend(
            fontsize="small", loc="upper center", bbox_to_anchor=(0.5, 0), borderaxespad=2.8, frameon=False,
            ncols=2 if len(entries) in (2, 4) else 3, handlelength=1.0, handletextpad=0.4, columnspacing=0.8,
        )  # fmt: skip
        return bars

    def _label_panel(self, panel: Axes, column: OriginalColumn, *, has_names: bool) -> None:
        """Name the clusters and the column, and state the test."""
        n = len(self.clusters_)
        panel.set_ylim(max(n, 2) - 0.4, -0.6)
        names = shorten_names(self.names, NAME_WIDTH)
        panel.set_yticks(range(n), [names[c] if has_names else "" for c in self.clusters_])
        panel.tick_params(axis="y", length=0, labelsize="small", pad=10 if has_names else 4)
        panel.tick_params(axis="x", labelsize="small")
        panel.spines[["top", "right"]].set_visible(False)
        if has_names:
            from matplotlib.transforms import ScaledTranslation

            beside = panel.get_yaxis_transform() + ScaledTranslation(-5 / 72, 0, self.figure_.dpi_scale_trans)
            for i, c in enumerate(self.clusters_):
                color, marker = marker_style(c)
                panel.plot(
                    0, i, marker, transform=beside, clip_on=False, color=color, markersize=4.5, markeredgewidth=0.4,
                    markeredgecolor="black",
                )  # fmt: skip
        name = escape_name(f"{column.name} ({column.unit})" if column.unit else column.name, 30)
        test = self.tests.get(column.name)
        p = float("nan") if test is None else float(test["p_adjusted"])
        panel.set_title(name if np.isnan(p) else f"{name}\n{format_p(p)}", fontsize="small")

    @classmethod
    def from_labels(
        cls,
        labels: Any,
        columns: Sequence[OriginalColumn],
        names: Sequence[str] | None = None,
        *,
        clusters: Sequence[int] | None = None,
        ax: Any = None,
    ) -> DescribedDisplay:
        """Draw columns by cluster, and test those that were not used to find the clusters.

        Parameters
        ----------
        labels : array-like of int, shape (n_entities,)
            Clusters of the entities; those with -1 are left out.
        columns : sequence of OriginalColumn
            The columns: numbers, dates and categories.
        %(names)s
        clusters : sequence of int, optional
            Clusters to draw; by default the twenty largest. Tests are of all clusters.
        %(axes_returns_display)s
        """
        return cls(columns, labels, names, compare_clusters(labels, columns)).plot(ax, clusters=clusters)

    @classmethod
    def from_result(
        cls, result: Any, *, columns: Sequence[str] | None = None, clusters: Sequence[int] | None = None, ax: Any = None
    ) -> DescribedDisplay:
        """Draw columns of a result of `consilience.cluster`.

        Parameters
        ----------
        %(result)s
        columns : sequence of str, optional
            Names of the columns; by default those that only describe the clusters, without times until an event.
        clusters : sequence of int, optional
            Clusters to draw; by default the twenty largest.
        %(axes_returns_display)s
        """
        if columns is None:
            chosen = [c for c in result.columns if c.is_description and c.event is None and c.kind in KINDS]
        else:
            chosen = [find_column(result.columns, name) for name in columns]
        if not chosen:
            raise ValueError(
                "no column describes the clusters without having been used to find them: name columns of the data, "
                "columns=['price'], or cluster again with describe=['age']"
            )
        tests = compare_clusters(result.model.labels_, result.columns)  # p-values are adjusted for all descriptions
        return cls(chosen, result.model.labels_, result.names, tests).plot(ax, clusters=clusters)
